"""Loops of a robot whose file cannot hold any.

Pairs of frames that coincide, from a file beside it or from the frames' names.

Three sources, the first that is there counts: our own `NAME.loops.json` beside `NAME.urdf` (docs/import.md); the
`robot.yaml` that robots exported from Onshape for Pinocchio have; links called `closing_NAME_1` and `closing_NAME_2`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from itertools import permutations
from math import inf
from pathlib import Path
from typing import Any

from ...errors import FormatError
from ...files import read_json
from ...mechanism import JOINT_TYPES, Coupling
from ...mechanism.pose import Vector
from ..imported import Notes
from ..mesh_files import MeshFiles
from ..mesh_references import is_inside

EXTENSION = ".loops.json"
YAML_NAME = "robot.yaml"
TYPES = tuple(name for name in JOINT_TYPES if name not in ("free", "general"))
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
YAML_CLOSURES = {"3d": "spherical", "6d": "fixed"}
# Name → type, and the joint frame's x and y axis in the joint's own frame.
YAML_JOINTS: dict[str, tuple[str, Vector, Vector]] = {
    "SPHERICAL": ("spherical", X, Y),
    "FIXED": ("fixed", X, Y),
    "CARDAN": ("universal", X, Y),
    **{f"UJOINT_{a}{b}": ("universal", u, v) for (a, u), (b, v) in permutations(zip("XYZ", (X, Y, Z), strict=True), 2)},
}


@dataclass(frozen=True)
class Loop:
    """Two frames that a joint holds together.

    Attributes:
        frames: names of links, or of joints, which stand for their child links.
        type: of the joint that holds them, one of `TYPES`.
        axis, axis2: the joint frame's x and y axis, in each of the two frames.
        is_guess: whether the type is only what such frames mostly mean, so that a ball may be tried.
    """

    name: str
    _: KW_ONLY
    frames: tuple[str, str]
    type: str
    axis: Vector = X
    axis2: Vector | None = None
    is_guess: bool = False


@dataclass(frozen=True)
class Loops:
    """Loops and motors in a file beside a robot's.

    Attributes:
        source: the file that says it, for messages.
        loops: the frames to be held together.
        tells_loops: whether these are all, whatever the robot file says of loops.
        motors: names of joints; none where it is said that there are none; None where nothing is said.
        joints: joint → its type, and the joint frame's x and y axis in the joint's own frame, instead of the robot
            file's.
        rest: coordinate → its value in the stored pose [rad or m]; 0 for those left out.
        couplings: beside those that the robot file knows.
    """

    source: str = ""
    _: KW_ONLY
    loops: tuple[Loop, ...] = ()
    tells_loops: bool = False
    motors: tuple[str, ...] | None = None
    joints: dict[str, tuple[str, Vector, Vector]] = field(default_factory=dict)
    rest: dict[str, float] = field(default_factory=dict)
    couplings: tuple[Coupling, ...] = ()


def read_beside(robot_file: Path) -> Loops | None:
    """Return the loops and motors in a file beside the robot's; None where there is no such file."""
    own, foreign = robot_file.with_name(robot_file.stem + EXTENSION), robot_file.with_name(YAML_NAME)
    for path, read in ((own, _own), (foreign, _from_yaml)):
        if path.is_file():
            if not is_inside(path, [path.parent.resolve(), *MeshFiles(robot_file, ()).allowed]):
                raise FormatError(f"{path}: it is a link that leads out of the robot's folder; copy the file there")
            return read(path)
    return None


def loops_by_name(links: Iterable[str], notes: Notes) -> Loops:
    """Return the loops that links' names tell of, without motors; note those whose other half is missing."""
    links = list(links)
    known = set(links)
    pairs = [(m[1], name, f"closing_{m[1]}_2") for name in links if (m := re.fullmatch(r"closing_(.+)_1", name))]
    for name in links:
        if (half := re.fullmatch(r"closing_(.+)_([12])", name)) and (
            other := f"closing_{half[1]}_{3 - int(half[2])}"
        ) not in known:
            notes.add(f"half of a loop, but there is no link {other!r}, so nothing is closed there", name)
    return Loops(
        loops=tuple(
            Loop(name, frames=(a, b), type="revolute", axis=Z, is_guess=True) for name, a, b in pairs if b in known
        )
    )


def _own(path: Path) -> Loops:
    content = _expect(read_json(path), dict, f"{path}: its content", "an object {…}")
    if (content.get("format"), content.get("version")) != ("robik-loops", 1):
        raise FormatError(f'{path}: not a file of loops; such a file says "format": "robik-loops", "version": 1')
    _check_keys(content, ("format", "version", "loops", "motors", "joints", "rest", "couplings"), str(path))
    loops = []
    for number, item in enumerate(_expect(content.get("loops", []), list, f"{path}: its loops", "a list […]"), 1):
        where = f"{path}: loop {number}"
        _check_keys(_expect(item, dict, where, "an object {…}"), ("name", "frames", "type", "axis", "axis2"), where)
        frames = _names(item.get("frames"), f"{where}: its frames")
        if len(frames) != 2:
            raise FormatError(f"{where}: its frames must be two names, not {len(frames)}")
        name = _expect(item.get("name", f"{frames[0]}_{frames[1]}"), str, f"{where}: its name", "a text in quotes")
        kind = _type(item.get("type"), where)
        axis2 = None if item.get("axis2") is None else _axis(item["axis2"], where)
        loops.append(
            Loop(name, frames=(frames[0], frames[1]), type=kind, axis=_axis(item.get("axis", X), where), axis2=axis2)
        )
    motors = None if content.get("motors") is None else _names(content["motors"], f"{path}: its motors")
    joints = {}
    for name, item in _expect(content.get("joints", {}), dict, f"{path}: its joints", "an object {…}").items():
        where = f"{path}: joint {name!r}"
        joints[name] = (_type(item, where), X, Y)
    rest = _expect(content.get("rest", {}), dict, f"{path}: its rest", "an object {…}")
    values = {name: _finite(value, f"{path}: the rest of {name!r}") for name, value in rest.items()}
    items = _expect(content.get("couplings", []), list, f"{path}: its couplings", "a list […]")
    couplings = tuple(_coupling(item, f"{path}: coupling {number}") for number, item in enumerate(items, 1))
    return Loops(
        str(path), loops=tuple(loops), tells_loops="loops" in content, motors=motors, joints=joints, rest=values,
        couplings=couplings,
    )  # fmt: skip


def _coupling(item: Any, where: str) -> Coupling:
    keys = ("name", "follower", "leader", "coefficients", "others")
    _check_keys(_expect(item, dict, where, "an object {…}"), keys, where)
    name, follower, leader = (
        _expect(item.get(key), str, f"{where}: its {key}", "a text in quotes") for key in keys[:3]
    )
    coefficients = _expect(item.get("coefficients"), list, f"{where}: its coefficients", "a list of numbers")
    others = []
    for pair in _expect(item.get("others", []), list, f"{where}: its others", "a list of pairs"):
        if not isinstance(pair, list) or len(pair) != 2:
            raise FormatError(f"{where}: its others must be pairs of a coordinate and a number, not {pair!r}")
        other = _expect(pair[0], str, f"{where}: another leader", "a text in quotes")
        others.append((other, _finite(pair[1], f"{where}: a slope")))
    numbers = tuple(_finite(value, f"{where}: a coefficient") for value in coefficients)
    return Coupling(name, follower, leader, numbers, tuple(others))


def _finite(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < inf:
        raise FormatError(f"{where} must be a finite number")
    return _float(value, where)


def _from_yaml(path: Path) -> Loops | None:
    from ..yaml_file import read_yaml  # needs an extra

    content = _expect(read_yaml(path), dict, f"{path}: its content", "keys with values")
    if not {"closed_loop", "name_mot", "joint_name"} & set(content):  # another program's file of that name
        return None
    pairs = _expect(content.get("closed_loop") or [], list, f"{path}: closed_loop", "a list of pairs of frames")
    types = _names(content.get("type") or ["6d"] * len(pairs), f"{path}: type")
    loops = []
    for number, (pair, kind) in enumerate(_matched(pairs, types, f"{path}: closed_loop and type"), 1):
        frames = _names(pair, f"{path}: closed_loop {number}")
        if len(frames) != 2:
            raise FormatError(f"{path}: closed_loop {number} must be a pair of frames, not {len(frames)}")
        if kind.lower() not in YAML_CLOSURES:
            raise FormatError(f"{path}: type {number} must be {' or '.join(YAML_CLOSURES)}, not {kind!r}")
        loops.append(
            Loop(
                _common(*frames) or f"{frames[0]}_{frames[1]}",
                frames=(frames[0], frames[1]),
                type=YAML_CLOSURES[kind.lower()],
            )
        )
    names = _names(content.get("joint_name") or [], f"{path}: joint_name")
    kinds = _names(content.get("joint_type") or [], f"{path}: joint_type")
    joints = {}
    for name, kind in _matched(names, kinds, f"{path}: joint_name and joint_type"):
        if kind not in YAML_JOINTS:
            raise FormatError(f"{path}: joint {name!r}: unknown type {kind!r}; there are {', '.join(YAML_JOINTS)}")
        joints[name] = YAML_JOINTS[kind]
    motors = (
        _names(content.get("name_mot") or [], f"{path}: name_mot") or None
    )  # an empty list is one that was not filled in
    return Loops(str(path), loops=tuple(loops), tells_loops="closed_loop" in content, motors=motors, joints=joints)


def _common(a: str, b: str) -> str:
    """Return the common beginning of a pair's names: `closedloop1` of `closedloop1_A` and `closedloop1_B`."""
    first, second = a.rpartition("_")[0], b.rpartition("_")[0]
    return first if first == second else ""


def _matched(a: list | tuple, b: list | tuple, where: str) -> zip:
    if len(a) != len(b):
        raise FormatError(f"{where} must have as many entries one as the other, not {len(a)} and {len(b)}")
    return zip(a, b, strict=True)


def _type(value: Any, where: str) -> str:
    if not isinstance(value, str) or value not in TYPES:
        raise FormatError(f"{where}: its type must be one of {', '.join(TYPES)}")
    return value


def _axis(value: Any, where: str) -> Vector:
    numbers = (
        [v for v in value if isinstance(v, (int, float)) and not isinstance(v, bool)]
        if isinstance(value, (list, tuple))
        else []
    )
    if len(numbers) != 3 or len(value) != 3 or not any(numbers):
        raise FormatError(f"{where}: an axis must be three numbers, not all zero")
    x, y, z = (_float(number, where) for number in numbers)
    return (x, y, z)


def _float(value: float, where: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise FormatError(f"{where}: a number of {len(str(abs(value)))} digits is too large") from None


def _names(value: Any, where: str) -> tuple[str, ...]:
    names = _expect(value, list, where, "a list of names")
    return tuple(_expect(name, str, f"{where}, each,", "a name") for name in names)


def _expect(value: Any, kind: type, where: str, wanted: str) -> Any:
    if not isinstance(value, kind):
        raise FormatError(f"{where} must be {wanted}")
    return value


def _check_keys(item: dict, known: tuple[str, ...], where: str) -> None:
    for key in item:
        if key not in known:
            raise FormatError(f"{where}: unknown key {key!r}; there are {', '.join(known)}")
