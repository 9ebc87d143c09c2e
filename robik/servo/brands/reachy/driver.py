"""Driver of Reachy Mini's motors behind its daemon."""

from __future__ import annotations

from typing import NoReturn

from ....errors import ServoError
from ....extras import extra
from ...chain.chain import ServoChain
from ...simulator.simulated import OnGoal
from ..driver import Driver

with extra("servo"):
    from .line import ReachyLine
    from .workshop import ReachyWorkshop


def _simulate(chain: ServoChain, now: float, on_goal: OnGoal | None) -> NoReturn:
    raise ServoError("Reachy Mini's daemon simulates its motors itself: start reachy-mini-daemon --mockup-sim")


DRIVER = Driver(open_line=ReachyLine, open_workshop=ReachyWorkshop, simulate=_simulate)
