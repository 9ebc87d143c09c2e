"""Driver of the brand Feetech: its STS and SMS series."""

from __future__ import annotations

from ..driver import Driver
from .line import FeetechLine
from .simulator.chain import SimulatedChain
from .workshop import FeetechWorkshop

DRIVER = Driver(open_line=FeetechLine, open_workshop=FeetechWorkshop, simulate=SimulatedChain)
