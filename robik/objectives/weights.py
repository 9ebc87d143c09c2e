"""Weights of a target that has a position and an orientation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import ClipError, MechanismError
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
        along: a direction in the frame, as of a thigh that is askew to all axes of its body. Where it is given, it
            alone is held, with the largest of the orientation's weights.

    Raises:
        ClipError, MechanismError: a weight that is negative, infinite or NaN.
    """

    position: Vector = (1.0, 1.0, 1.0)
    orientation: Vector = (1.0, 1.0, 1.0)
    along: Vector | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", checked_weights(self.position, "a position weight"))
        object.__setattr__(self, "orientation", checked_weights(self.orientation, "an orientation weight"))
        if self.along is not None:
            way = vector(self.along, "the direction of a target")
            if not np.linalg.norm(way) > 1e-9:
                raise ClipError("the direction along which a target is held must not be zero")
            object.__setattr__(self, "along", tuple((np.array(way) / np.linalg.norm(way)).tolist()))

    def scaled(self, factor: float) -> Weights:
        """Return the weights times a factor.

        Args:
            factor: Zero or more.

        Returns:
            The weights.
        """
        (x, y, z), (i, j, k) = self.position, self.orientation
        position, orientation = (factor * x, factor * y, factor * z), (factor * i, factor * j, factor * k)
        return replace(self, position=position, orientation=orientation)

    @property
    def directions(self) -> Vector:
        """Weights of the directions of `axes`."""
        return self.orientation if self.along is None else (max(self.orientation), 0.0, 0.0)

    @property
    def axes(self) -> np.ndarray:
        """Axes (3, 3) whose directions are weighed, in columns, in the frame: its own, or first the one along which."""
        if self.along is None:
            return np.eye(3)
        first = np.array(self.along)
        second = np.cross(first, np.eye(3)[int(np.argmin(np.abs(first)))])
        second /= np.linalg.norm(second)
        return np.column_stack([first, second, np.cross(first, second)])


def checked_weights(values: Any, what: str) -> Vector:
    """Return three weights as a vector.

    Args:
        values: Three numbers.
        what: Their name, for the message.

    Returns:
        The weights.

    Raises:
        ClipError: A weight that is negative, infinite or NaN.
    """
    try:
        checked = vector(values, what)
    except MechanismError as error:
        raise ClipError(str(error)) from None
    if min(checked) < 0:
        raise ClipError(f"{what} must be zero or more in each direction, not {checked}")
    return checked
