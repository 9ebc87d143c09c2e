"""Driver of the brand Dynamixel."""

from __future__ import annotations

from ..driver import Driver
from .line import DynamixelLine
from .simulator.chain import SimulatedChain
from .workshop import DynamixelWorkshop

DRIVER = Driver(open_line=DynamixelLine, open_workshop=DynamixelWorkshop, simulate=SimulatedChain)
