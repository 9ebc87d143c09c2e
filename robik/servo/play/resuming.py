"""Going on with a motion from where it was stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..chain.chain import ServoChain
from ..chain.trajectory import Along
from ..port.status import Status

if TYPE_CHECKING:
    from ...motions import Motion

STILL_THERE = 0.1  # [rad or m] from where it was stopped, at most, for it to go on from there


def stopped_in(motion: Motion, last: Motion | None, chain: ServoChain, interpolation: str, status: Status) -> float:
    """Return the time on the way [s] at which a motion begins: where it was stopped, if the robot stands there, else 0.

    `last` is the motion that was played last, None for none.
    """
    if last is None or not status.stopped_at or last.actuators != motion.actuators:
        return 0.0
    if not (np.array_equal(last.times, motion.times) and np.array_equal(last.values, motion.values)):
        return 0.0
    along = Along(motion, chain, interpolation)
    if status.stopped_at > along.duration:  # of a loop, on a later round or on the way back
        return 0.0
    away = np.abs(along.at(np.array([status.stopped_at]))[0] - np.array(status.present))
    return status.stopped_at if away.max() < STILL_THERE else 0.0
