"""Mapping files: which bone each frame of a robot follows, and how much, as JSON.

    {"format": "robik-mapping", "version": 1, "targets": [
        {"frame": "pelvis", "bone": "Hips"},
        {"frame": "foot_l", "bone": "LeftFoot", "orientation_weight": [0.05, 0.05, 0.05]}]}

`weight`, `position_weight` and `orientation_weight` may be left out; they are 1 then. `{"pelvis": "Hips"}` will do too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import ClipError, FormatError
from ..files import read_json, write_whole
from .mapping import ALL, Row

KIND, VERSION = "robik-mapping", 1
FIELDS = ("frame", "bone", "weight", "position_weight", "orientation_weight")


def load_rows(path: str | Path) -> list[Row]:
    """Read the rows of a mapping from a file; a ClipError names the file and the entry that is wrong."""
    try:
        data = read_json(path)
    except FormatError as error:
        raise ClipError(str(error)) from None
    try:
        return [_row(entry) for entry in _entries(data)]
    except ClipError as error:
        raise ClipError(f"{path}: {error}") from None


def save_rows(rows: Iterable[Row], path: str | Path) -> None:
    """Write the rows of a mapping, without those that have no bone; raise FormatError if that fails."""
    targets = [{name: getattr(row, name) for name in FIELDS} for row in rows if row.bone]
    data = {"format": KIND, "version": VERSION, "targets": targets}
    write_whole(path, json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def _entries(data: Any) -> list[Any]:
    if isinstance(data, dict) and data and all(isinstance(bone, str) for bone in data.values()):
        return [{"frame": frame, "bone": bone} for frame, bone in data.items()]
    if not isinstance(data, dict) or data.get("format") != KIND or not isinstance(data.get("targets"), list):
        raise ClipError(
            f'not a mapping; it says "format": "{KIND}" and lists "targets", or names a bone for each frame'
        )
    if data.get("version") != VERSION:
        raise ClipError(f'its version is {data.get("version")!r}, but this RobIK reads "version": {VERSION}')
    return data["targets"]


def _row(entry: Any) -> Row:
    if not isinstance(entry, dict) or not all(isinstance(entry.get(name), str) for name in ("frame", "bone")):
        raise ClipError(f"a target names a frame and a bone, not {entry!r}")
    if unknown := sorted(set(entry) - set(FIELDS)):
        raise ClipError(
            f"the target of {entry['frame']!r} has the unknown entry {unknown[0]!r}; there are {', '.join(FIELDS)}"
        )
    weight = _numbers(entry, "weight", [1.0])
    return Row(
        frame=entry["frame"],
        bone=entry["bone"],
        weight=weight[0],
        position_weight=_numbers(entry, "position_weight", ALL),  # type: ignore[arg-type]
        orientation_weight=_numbers(entry, "orientation_weight", ALL),  # type: ignore[arg-type]
    )


def _numbers(entry: dict[str, Any], name: str, default: Iterable[float]) -> tuple[float, ...]:
    """Return as many weights as the default has."""
    wanted = list(default)
    if name not in entry:
        return tuple(wanted)
    given = [entry[name]] if len(wanted) == 1 else entry[name]
    fits = isinstance(given, list) and len(given) == len(wanted)
    if not fits or not all(isinstance(v, int | float) and not isinstance(v, bool) and 0 <= v < 1e9 for v in given):
        count = "a number" if len(wanted) == 1 else f"{len(wanted)} numbers"
        raise ClipError(
            f"the target of {entry['frame']!r}: its {name} must be {count}, zero or more, not {entry.get(name)!r}"
        )
    return tuple(map(float, given))
