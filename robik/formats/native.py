"""The native robot format, `*.robik.json`: a `Mechanism` as JSON, field by field (docs/format.md, robik.schema.json).

A record of the file is a dataclass of the model; a table says how each of its fields is read. Fields that are left out
take the dataclass's defaults, and saving leaves out what equals them. JSON has no infinity: null stands for "no limit".
"""

from __future__ import annotations

import dataclasses
import difflib
import json
from collections.abc import Callable
from math import inf, isfinite, isinf
from pathlib import Path
from typing import Any

from ..errors import FormatError, MechanismError
from ..files import read_json, write_whole
from ..mechanism import Body, Coupling, Frame, Joint, Mechanism, Pose, Resistance, Visual

EXTENSION = ".robik.json"
FORMAT = "robik"
VERSION = 1
LINE = 140  # what fits within is written on one line

Reader = Callable[[Any, str], Any]  # (what the file says, where) -> what the model wants


def load(path: Path) -> Mechanism:
    """Return the robot in a native file; a FormatError has the file, the element and the remedy."""
    content = _expect(read_json(path), dict, f"{path}: its content", "an object {…}")
    if content.get("format") != FORMAT:
        raise FormatError(f'{path}: not a RobIK robot; such a file says "format": "{FORMAT}"')
    version = content.get("version")
    if isinstance(version, bool) or version != VERSION:
        raise FormatError(
            f'{path}: its version is {_shown(version)}, but this RobIK reads "version": {VERSION}; update RobIK'
        )
    return _read_record(Mechanism, {k: v for k, v in content.items() if k not in ("format", "version")}, str(path))


def save(mechanism: Mechanism, path: Path) -> tuple[str, ...]:
    """Write a native file, whole or not at all, and return what the format cannot say: nothing."""
    content = {"format": FORMAT, "version": VERSION, **_plain(mechanism)}
    write_whole(path, _layout(content) + "\n")
    return ()


# Reading


def _read_record(cls: type, value: Any, where: str) -> Any:
    value = _expect(value, dict, where, "an object {…}")
    readers = _FIELDS[cls]
    for key in value:
        if key not in readers:
            nearest = difflib.get_close_matches(key, readers, 1, 0.5)
            hint = f"did you mean {nearest[0]!r}?" if nearest else f"there are {', '.join(readers)}"
            raise FormatError(f"{where}: unknown key {key!r}; {hint}")
    for field in dataclasses.fields(cls):
        if field.default is dataclasses.MISSING and field.name not in value:
            raise FormatError(f"{where}: its {field.name!r} is missing")
    fields = {key: readers[key](item, f"{where}: its {key}") for key, item in value.items()}
    try:
        return cls(**fields)
    except MechanismError as error:
        element = str(error).partition(": ")[0]  # what has a name says it itself
        raise FormatError(f"{where.removesuffix(f': {element}')}: {error}") from None


def _record(cls: type) -> Reader:
    return lambda value, where: _read_record(cls, value, where)


def _records(cls: type, kind: str) -> Reader:
    """Return a list of records, each called by its name in errors, or by its number from 1."""

    def read(value: Any, where: str) -> tuple[Any, ...]:
        items = _expect(value, list, where, "a list […]")
        outer = where.rpartition(": ")[0]
        return tuple(
            _read_record(cls, item, f"{outer}: {kind} {_called(item, number)}") for number, item in enumerate(items, 1)
        )

    return read


def _called(item: Any, number: int) -> str:
    name = item.get("name") if isinstance(item, dict) else None
    return repr(name) if isinstance(name, str) and name else str(number)


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FormatError(f"{where} must be a number, not {_shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = inf
    if not isfinite(number):
        raise FormatError(f"{where} must be a finite number, not {_shown(value)}")
    return number


def _bound(default: float) -> Reader:
    return lambda value, where: default if value is None else _number(value, where)


def _text(value: Any, where: str) -> str:
    return _expect(value, str, where, "a text in quotes")


def _flag(value: Any, where: str) -> bool:
    return _expect(value, bool, where, "true or false")


def _list(read: Reader, length: int | None = None) -> Reader:
    def read_all(value: Any, where: str) -> tuple[Any, ...]:
        items = _expect(value, list, where, "a list […]" if length is None else f"a list of {length}")
        if length is not None and len(items) != length:
            raise FormatError(f"{where} must have {length} entries, not {len(items)}")
        return tuple(read(item, where) for item in items)

    return read_all


def _slope(value: Any, where: str) -> tuple[str, float]:
    pair = _expect(value, list, f"{where}, each,", "a pair [coordinate, slope]")
    if len(pair) != 2:
        raise FormatError(f"{where} must be pairs [coordinate, slope], not {_shown(pair)}")
    return _text(pair[0], f"{where}: a coordinate"), _number(pair[1], f"{where}: a slope")


def _limits(value: Any, where: str) -> tuple[float, float]:
    pair = _expect(value, list, f"{where}, each,", "a pair [low, high], null for none")
    if len(pair) != 2:
        raise FormatError(f"{where} must be pairs [low, high], null for none, not {_shown(pair)}")
    return _bound(-inf)(pair[0], where), _bound(inf)(pair[1], where)


def _expect(value: Any, kind: type, where: str, wanted: str) -> Any:
    if not isinstance(value, kind):
        raise FormatError(f"{where} must be {wanted}, not {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value)
    except ValueError:  # an integer of more digits than Python prints
        return "that"
    return text if len(text) <= 40 else text[:37] + "..."


_VECTOR = _list(_number, 3)
_FIELDS: dict[type, dict[str, Reader]] = {
    Pose: {"position": _VECTOR, "quaternion": _list(_number, 4)},
    Visual: {"shape": _text, "size": _list(_number), "pose": _record(Pose), "color": _list(_number, 4), "file": _text},
    Body: {
        "name": _text,
        "mass": _number,
        "com": _VECTOR,
        "inertia": _list(_number, 6),
        "pose": _record(Pose),
        "visuals": _records(Visual, "visual"),
    },
    Joint: {
        "name": _text,
        "type": _text,
        "parent": _text,
        "child": _text,
        "position": _VECTOR,
        "axis": _VECTOR,
        "axis2": lambda value, where: None if value is None else _VECTOR(value, where),
        "actuated": _flag,
        "limits": _list(_limits),
        "velocity_limit": _bound(inf),
        "effort_limit": _bound(inf),
        "gain": _bound(inf),
        "rest": _list(_number),
        "motions": _list(_text),
        "cone": _bound(inf),
        "turn_limit": _bound(inf),
        "resistance": _record(Resistance),
    },
    Resistance: dict.fromkeys(("friction", "damping", "armature", "stiffness", "relaxed"), _number),
    Frame: {"name": _text, "body": _text, "pose": _record(Pose), "sole": _list(_VECTOR)},
    Coupling: {
        "name": _text,
        "follower": _text,
        "leader": _text,
        "coefficients": _list(_number),
        "others": _list(_slope),
    },
    Mechanism: {
        "name": _text,
        "bodies": _records(Body, "body"),
        "joints": _records(Joint, "joint"),
        "frames": _records(Frame, "frame"),
        "couplings": _records(Coupling, "coupling"),
        "tolerance": _number,
        "rounding": _number,
    },
}


# Writing


def _plain(thing: Any) -> Any:
    """As JSON: records without the fields that equal their defaults to the last bit, infinities as null."""
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        defaults = _defaults(thing)
        fields = {f.name: getattr(thing, f.name) for f in dataclasses.fields(thing)}
        return {name: _plain(value) for name, value in fields.items() if repr(value) != repr(defaults.get(name))}
    if isinstance(thing, (tuple, list)):
        return [_plain(item) for item in thing]
    return None if isinstance(thing, float) and isinf(thing) else thing


def _defaults(thing: Any) -> dict[str, Any]:
    """Return the values that fields take when a file leaves them out; a joint's depend on its type."""
    defaults = {f.name: f.default for f in dataclasses.fields(thing) if f.default is not dataclasses.MISSING}
    if isinstance(thing, Joint):
        motions = thing.motions if thing.type == "general" else ()
        blank = Joint(thing.name, thing.type, thing.parent, thing.child, motions=motions)
        defaults.update(limits=blank.limits, rest=blank.rest, motions=() if motions else blank.motions)
    return defaults


def _layout(value: Any, indent: str = "") -> str:
    """JSON text with short things on one line each and long ones opened."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not isinstance(value, (dict, list)) or not value or len(indent) + len(line) <= LINE:
        return line
    inner = indent + "  "
    if isinstance(value, list):
        return "[\n" + ",\n".join(inner + _layout(item, inner) for item in value) + f"\n{indent}]"
    rows = (f"{json.dumps(key, ensure_ascii=False)}: {_layout(item, inner)}" for key, item in value.items())
    return "{\n" + ",\n".join(inner + row for row in rows) + f"\n{indent}}}"
