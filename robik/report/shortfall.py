"""Tolerances of targets, and shortfalls in words.

Distances go by the robot's size, so that a robot of any size is judged alike.
"""

from __future__ import annotations

import numpy as np

from ..mechanism.model import Mechanism
from ..motions import Motion

NOTHING = 1e-6  # m: of less, nobody wants to know the digits
POSITION_MET = 1 / 500  # of the robot's extent: 1 mm for one of half a metre
ORIENTATION_MET = 1e-2  # rad
FAR = 0.1  # of the robot's extent: a clip that is missed by more is beyond the robot
NAMED = 6  # frames, where there are more
OPEN = 1e-3  # of what counts as met: loops further open make a motion that no robot can play


def position_met(mechanism: Mechanism) -> float:
    """Return the distance from its target within which a frame of the robot meets it [m]."""
    return POSITION_MET * mechanism.extent


def open_beyond(mechanism: Mechanism) -> float:
    """Return the closure residual above which the robot's loops are open [m]."""
    return OPEN * position_met(mechanism)


def unassembled(mechanism: Mechanism, residual: np.ndarray) -> str:
    """Return a sentence on the frames whose loops do not close, by residuals (T,) [m]; empty if all close."""
    frames = np.flatnonzero(residual > open_beyond(mechanism))
    if not len(frames):
        return ""
    named, worst = ", ".join(map(str, frames[:NAMED])), int(np.argmax(residual))
    more = ", …" if len(frames) > NAMED else ""
    return (
        f"{len(frames)} of {len(residual)} frames cannot be assembled with these actuator values: {named}{more}; "
        f"the loops stay open by up to {millimetres(residual[worst])}, in frame {worst}"
    )


def beyond_the_robot(mechanism: Mechanism, motion: Motion) -> str:
    """Return a sentence on where a robot misses a clip most, if it cannot do it as asked; empty if it can."""
    report = motion.report
    assert report is not None  # a solved motion has one
    names = [*report.targets, "the centre of mass"]
    off = np.nan_to_num(np.column_stack([report.position_error, report.com_error]))
    k, worst = np.unravel_index(int(off.argmax()), off.shape)
    if off[k, worst] <= FAR * mechanism.extent:
        return ""
    told = dict(report.short).get(int(k), "").split("; ")
    why = next((f"; {part}" for part in told if part.startswith("at its limit")), "")
    return (
        f"robot {mechanism.name!r} cannot do this clip as asked: at {motion.times[k]:.2f} s {names[worst]} is"
        f" {millimetres(off[k, worst])} off, {100 * off[k, worst] / mechanism.extent:.0f} % of the robot's size{why}"
    )


def millimetres(distance: float) -> str:
    """Return a distance [m] in words, such as "12.3 mm": to a tenth, below one millimetre to two digits."""
    if distance < NOTHING:
        return "less than 0.001 mm"
    return f"{1e3 * distance:.1f} mm" if distance >= 1e-3 else f"{1e3 * distance:.2g} mm"
