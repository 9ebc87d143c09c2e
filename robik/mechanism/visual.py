"""Visuals of a body."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from ..errors import MechanismError
from .pose import IDENTITY, Pose, numbers

SHAPES = {"box": 3, "cylinder": 2, "capsule": 2, "sphere": 1, "mesh": 3}  # shape → how many numbers its size has


@dataclass(frozen=True)
class Visual:
    """Something to see of a body.

    Attributes:
        shape: "box" (size: x, y, z), "cylinder" and "capsule" (size: radius, length, along z), "sphere" (size: radius),
            all [m], or "mesh" (size: the scale factors x, y, z).
        size: as the shape wants it.
        pose: in the body's frame.
        color: red, green, blue, alpha, 0 to 1.
        file: of a mesh, its path as the robot's file gives it (relative to that file); of one inside a USD file,
            `FILE#/path/of/the/prim`; of one that stands in an MJCF file itself, `FILE#NAME`.
    """

    shape: str
    size: tuple[float, ...]
    _: KW_ONLY
    pose: Pose = IDENTITY
    color: tuple[float, float, float, float] = (0.8, 0.8, 0.8, 1.0)
    file: str = ""

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise MechanismError(f"a visual's shape must be one of {', '.join(SHAPES)}, not {self.shape!r}")
        size = numbers(self.size, f"a {self.shape}'s size", SHAPES[self.shape])
        if self.shape != "mesh" and min(size) <= 0:
            raise MechanismError(f"a {self.shape}'s size must be positive, not {size}")
        if (self.shape == "mesh") != bool(self.file):
            raise MechanismError("a visual names a file exactly if its shape is a mesh")
        object.__setattr__(self, "size", size)
        color = numbers(self.color, "a visual's color", 4)
        if not all(0.0 <= c <= 1.0 for c in color):
            raise MechanismError(f"a visual's color must be red, green, blue, alpha from 0 to 1, not {color}")
        object.__setattr__(self, "color", color)
