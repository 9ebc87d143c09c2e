"""A robot's actuators as sliders: one custom property of its root each."""

from __future__ import annotations

from collections.abc import Iterable
from math import degrees, isfinite, pi

import numpy as np
from bpy.types import Object
from bpy.utils import escape_identifier

from ...robik.errors import RobikError
from ...robik.mechanism import Mechanism

LONGEST = 63  # bytes of a custom property's name
LARGEST = 3.4e38


def check_names(names: Iterable[str]) -> None:
    """Check that Blender can hold actuators of these names as custom properties."""
    for name in names:
        size = len(name.encode())
        if size > LONGEST:
            raise RobikError(
                f"actuator {name!r}: its name has {size} bytes, Blender takes {LONGEST}; shorten the joint's name"
            )


def match_sliders(root: Object, mechanism: Mechanism) -> None:
    """Give the robot a custom property for each actuator, with the joint's limits and unit.

    One that was there keeps its value (within the limits), a new one gets its rest value, and those of motors that are
    gone go.
    """
    for name in [name for name, value in root.items() if isinstance(value, float) and _described(root, name)]:
        if name not in mechanism.actuators:
            del root[name]
    for joint in mechanism.actuated:
        rows = zip(joint.coordinate_names, joint.coordinate_units, joint.limits, joint.rest, strict=True)
        for name, unit, (lower, upper), rest in rows:
            root[name] = min(max(float(root.get(name, rest)), lower), upper)
            root.property_overridable_library_set(data_path(name), True)
            reach = pi if unit == "rad" else 1.0
            root.id_properties_ui(name).update(
                min=lower if isfinite(lower) else -LARGEST,
                max=upper if isfinite(upper) else LARGEST,
                soft_min=lower if isfinite(lower) else rest - reach,
                soft_max=upper if isfinite(upper) else rest + reach,
                default=float(rest),
                subtype="ANGLE" if unit == "rad" else "DISTANCE",
                description=_description(name),
            )


def _description(name: str) -> str:
    return f"Motor {name}: poses the robot"


def _described(root: Object, name: str) -> bool:
    """Return whether a number on a root is a slider of ours."""
    ui = root.id_properties_ui(name)
    return ui is not None and ui.as_dict().get("description") == _description(name)


def slider_values(root: Object, names: tuple[str, ...]) -> np.ndarray:
    """Return the sliders' values (A,) [rad or m]."""
    values = []
    for name in names:
        value = root.get(name)
        if not isinstance(value, (int, float)) or not isfinite(value):
            raise RobikError(
                f"robot {root.name!r}: its slider {name!r} is missing or not a number; import the robot again"
            )
        values.append(float(value))
    return np.array(values)


def slider_limits(root: Object, names: tuple[str, ...]) -> np.ndarray:
    """Return the ranges (2, A) [rad or m] in which Blender keeps animated sliders, in its single precision."""
    said: list[dict[str, float]] = [root.id_properties_ui(name).as_dict() for name in names]  # type: ignore[attr-defined]
    return np.array([[one[end] for one in said] for end in ("min", "max")], dtype=np.float32).astype(float)


def set_sliders(root: Object, names: tuple[str, ...], values: np.ndarray) -> None:
    """Move the sliders; the robot follows at the next update."""
    for name, value in zip(names, values, strict=True):
        root[name] = float(value)
    root.update_tag()


def slides(root: Object, name: str) -> bool:
    """Return whether a motor slides instead of turning."""
    ui = root.id_properties_ui(name) if name in root else None
    return ui is not None and ui.as_dict().get("subtype") == "DISTANCE"


def shown(root: Object, name: str, value: float) -> str:
    """Return a motor's value [rad or m] in words: millimetres where it slides, else degrees."""
    return f"{1e3 * value:.0f} mm" if slides(root, name) else f"{degrees(value):.0f}°"


def data_path(name: str) -> str:
    """Of a slider, from its root, for F-curves and panels."""
    return f'["{escape_identifier(name)}"]'
