"""JSON motion files: times, values, base and passive coordinates by name.

    {"format": "robik-motion", "version": 1, "time": […], "actuators": {"hip": […]},
     "base": {"body": "pelvis", "position": [[x, y, z]], "quaternion": [[w, x, y, z]]}, "passive": {"knee": […]}}

`base`, `passive` and `needs` (`needs.py`) are there only where they are known. Numbers are written with all their
digits.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import finite
from ..errors import ClipError
from ..files import parse_json
from .format import Companions, MotionFormat
from .motion import BaseTrack, Motion
from .needs import needs_from

KIND, VERSION = "robik-motion", 1
HEAD = 4096  # bytes in which the kind must stand


def matches(content: bytes) -> bool:
    """Return True if it is an object that says that it is a motion."""
    head = content[:HEAD].decode("utf-8-sig", errors="replace").lstrip()
    return head.startswith("{") and f'"{KIND}"' in head


def write(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a motion as JSON."""
    data: dict[str, Any] = {
        "format": KIND,
        "version": VERSION,
        "time": motion.times.tolist(),
        "actuators": {name: motion.values[:, k].tolist() for k, name in enumerate(motion.actuators)},
    }
    if (base := motion.base) is not None:
        data["base"] = {"body": base.body, "position": base.position.tolist(), "quaternion": base.quaternion.tolist()}
    if motion.passive is not None:
        data["passive"] = {name: column.tolist() for name, column in motion.passive.items()}
    if motion.needs is not None:
        data["needs"] = motion.needs.as_data()
    return (json.dumps(data, indent=1) + "\n").encode()


def read(content: bytes, companions: Companions) -> Motion:
    """Return the motion in a JSON file."""
    data = parse_json(content, _unique)
    if not isinstance(data, dict) or data.get("format") != KIND:
        raise ClipError(f'not a motion (.json); such a file says "format": "{KIND}"')
    if data.get("version") != VERSION:
        raise ClipError(
            f'its version is {data.get("version")!r}, but this RobIK reads "version": {VERSION}; update RobIK'
        )
    times = finite(data.get("time"), "time", (None,))
    columns = _columns(data.get("actuators"), "actuators", len(times))
    values = np.column_stack(list(columns.values())) if columns else np.zeros((len(times), 0))
    base, passive = data.get("base"), data.get("passive")
    return Motion(
        times=times,
        actuators=tuple(columns),
        values=values,
        base=None if base is None else _base(base),
        passive=None if passive is None else _columns(passive, "passive", len(times)),
        needs=needs_from(data.get("needs", {})),
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, once none of its names is there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ClipError(f"{next(name for name in names if names.count(name) > 1)!r} is there twice; names must differ")
    return found


def _base(data: object) -> BaseTrack:
    if not isinstance(data, dict) or not isinstance(data.get("body"), str):
        raise ClipError("base: it must be an object with body, position and quaternion")
    position, quaternion = (finite(data.get(key), f"base.{key}") for key in ("position", "quaternion"))
    return BaseTrack(body=data["body"], position=position, quaternion=quaternion)


def _columns(data: object, where: str, samples: int) -> dict[str, np.ndarray]:
    if not isinstance(data, dict):
        raise ClipError(f"{where}: it must be an object with a list of numbers per name")
    columns = {name: finite(column, f"{where}.{name}") for name, column in data.items()}
    for name, column in columns.items():
        if column.shape != (samples,):
            raise ClipError(
                f"{where}.{name}: it must have {samples} numbers, one per time, not the shape {column.shape}"
            )
    return columns


FORMAT = MotionFormat(name="json", label="JSON", extensions=(".json",), matches=matches, read=read, write=write)
