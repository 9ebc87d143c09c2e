"""Driver of Dynamixel servos of Protocol 1.0."""

from __future__ import annotations

from ..driver import Driver
from .line import Dynamixel1Line
from .simulator.chain import SimulatedChain
from .workshop import Dynamixel1Workshop

DRIVER = Driver(open_line=Dynamixel1Line, open_workshop=Dynamixel1Workshop, simulate=SimulatedChain)
