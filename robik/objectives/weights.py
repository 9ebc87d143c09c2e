"""Weights of a target that has a position and an orientation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import ClipError
from ..mechanism.pose import Vector, vector


@dataclass(frozen=True)
class Weights:
    """Weights of a frame's target; 0 where it does not matter.

    The orientation weight of an axis acts on the direction of that axis: with (0, 0, 1) the z axis is held and the
    frame may spin about it. In mink and pink it acts on turns about the axis: there (0, 0, 1) leaves the direction of z
    free.

    Attributes:
        position: along the world's axes.
        orientation: of the directions of the frame's axes.

    Raises:
        ClipError, MechanismError: a weight that is negative, infinite or NaN.
    """

    position: Vector = (1.0, 1.0, 1.0)
    orientation: Vector = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", checked_weights(self.position, "a position weight"))
        object.__setattr__(self, "orientation", checked_weights(self.orientation, "an orientation weight"))


def checked_weights(values: Any, what: str) -> Vector:
    """Return three weights as a vector.

    Args:
        values: Three numbers.
        what: Their name, for the message.

    Returns:
        The weights.

    Raises:
        ClipError, MechanismError: A weight that is negative, infinite or NaN.
    """
    checked = vector(values, what)
    if min(checked) < 0:
        raise ClipError(f"{what} must be zero or more in each direction, not {checked}")
    return checked
