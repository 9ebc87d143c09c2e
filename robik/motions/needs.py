"""Settings of motors with which a motion was made to stand, as its file keeps them.

In files they are an object of those that are set: {"carry_weight": true, "p_gain": 10500}.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..errors import ClipError

SWITCHES, NUMBERS = ("carry_weight", "tilt_feedback"), ("p_gain", "stiffness")


@dataclass(frozen=True, kw_only=True)
class Needs:
    """Settings of motors.

    Attributes:
        carry_weight: whether goals carry the weight.
        tilt_feedback: whether tilt is fed back to ankles and hips.
        p_gain: position P gain of the servos; None for that of the factory.
        stiffness: of legs without servos, at least this share of m g h; None for the robot's own.
    """

    carry_weight: bool = False
    tilt_feedback: bool = False
    p_gain: float | None = None
    stiffness: float | None = None

    def __str__(self) -> str:
        """Return them in words."""
        told = ["Carry Weight"] * self.carry_weight + ["Tilt Feedback"] * self.tilt_feedback
        told += [] if self.p_gain is None else [f"a P gain of {self.p_gain:g}"]
        told += [] if self.stiffness is None else [f"legs of {self.stiffness:g} times what standing needs (m g h)"]
        return " and ".join(filter(None, [", ".join(told[:-1]), *told[-1:]]))

    def as_data(self) -> dict[str, Any]:
        """Return what is set, as plain data."""
        return {name: value for name, value in asdict(self).items() if value}


def needs_from(data: object) -> Needs | None:
    """Return the settings in plain data, None where there are none; a ClipError says what is wrong in it."""
    if not isinstance(data, dict):
        raise ClipError(f"needs: it must be an object with {', '.join((*SWITCHES, *NUMBERS))}")
    for name, value in data.items():
        if name in SWITCHES and isinstance(value, bool):
            continue
        if name not in NUMBERS or isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
            raise ClipError(
                f"needs: {str(name)[:60]!r} cannot be {str(value)[:60]}; {' and '.join(SWITCHES)} are true or false,"
                f" {' and '.join(NUMBERS)} positive numbers"
            )
    return Needs(**data) if data else None
