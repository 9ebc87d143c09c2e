"""Doubles beside what Blender shows.

Blender keeps properties and transforms in single precision, a robot's file has doubles. Every number of a robot is
therefore kept twice: as the property or transform that a user sees and edits, and as a double in an ID property of the
same object. The visible one decides: the double counts only as long as the visible number is its rounding, so an edit
is never overruled.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import copysign, inf

from bpy.types import Object

from ...robik.mechanism import Pose

KEY = "robik_exact"
LARGEST = 3.4028234663852886e38  # what Blender makes of an infinite property
ROUNDING = 1.5e-7  # relative, of single precision
SMALLEST = 1e-44  # what single precision cannot tell from zero
PLACEMENT = 1e-6  # of a transform that went through a product of matrices [m], or per unit length


def keep(target: Object, **values: float | Iterable[float]) -> None:
    """Keep doubles by name: numbers or rows of numbers."""
    kept = dict(target[KEY].to_dict()) if KEY in target else {}
    for name, value in values.items():
        kept[name] = float(value) if isinstance(value, (int, float)) else [float(v) for v in value]
    target[KEY] = kept


def kept(target: Object, name: str) -> tuple[float, ...] | None:
    """Return the doubles of that name, or None."""
    if KEY not in target or name not in target[KEY]:
        return None
    value = target[KEY][name]
    return (value,) if isinstance(value, float) else tuple(value)


def number(target: Object, name: str, visible: float) -> float:
    """Return the double behind a visible number."""
    return row(target, name, (visible,))[0]


def row(target: Object, name: str, visible: Iterable[float]) -> tuple[float, ...]:
    """Return the doubles behind a row of visible numbers.

    Where an edit changed one, all of them are the visible ones.
    """
    seen = tuple(float(v) for v in visible)
    exact = kept(target, name)
    if exact is None or len(exact) != len(seen):
        return tuple(_unbounded(v) for v in seen)
    bounded = (max(-LARGEST, min(LARGEST, e)) for e in exact)
    same = all(abs(b - v) <= ROUNDING * abs(v) + SMALLEST for b, v in zip(bounded, seen, strict=True))
    return exact if same else tuple(_unbounded(v) for v in seen)


def placement(target: Object, name: str, visible: Iterable[float]) -> tuple[float, ...]:
    """Return the doubles behind a position or direction that was derived from transforms."""
    seen = tuple(float(v) for v in visible)
    exact = kept(target, name)
    if exact is None or len(exact) != len(seen):
        return seen
    lever = max(1.0, *(abs(v) for v in seen), *(abs(c) for c in target.location))
    same = all(abs(e - v) <= PLACEMENT * lever for e, v in zip(exact, seen, strict=True))
    return exact if same else seen


def _unbounded(value: float) -> float:
    return copysign(inf, value) if abs(value) >= LARGEST else value


def pose(target: Object, visible: Pose) -> Pose:
    """Return the pose kept as `position` and `quaternion` behind one that was derived from transforms."""
    position = placement(target, "position", visible.position)
    exact = kept(target, "quaternion")
    if exact is None or 1.0 - abs(sum(e * v for e, v in zip(exact, visible.quaternion, strict=True))) > PLACEMENT**2:
        return Pose(position, visible.quaternion)  # type: ignore[arg-type]
    return Pose(position, exact)  # type: ignore[arg-type]
