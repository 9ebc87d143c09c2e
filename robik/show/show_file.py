"""Files of shows, `*.show.json`: robots, acts, a sound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Any

from ..errors import FormatError
from ..files import is_number, read_json

FORMAT, VERSION = "robik-show", 1
STOP, GO_ON = "stop", "go on"
ENTRIES = ("format", "version", "robots", "acts", "sound", "sound_start", "others")
OF_ROBOT = ("servos", "port", "robot")
OF_ACT = ("name", "start", "motions")
OF_PART = ("motion", "range", "speed", "repeat")
MOST = 10_000  # times that a motion is repeated


@dataclass(frozen=True, kw_only=True)
class Performer:
    """A robot of a show.

    Attributes:
        servos: its servo file.
        port: that it is played on.
        robot: a robot file, or the name of a robot, for motion files that need one; empty where none does.
    """

    servos: Path
    port: str
    robot: str = ""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Motion of one robot in an act.

    Attributes:
        motion: the motion file.
        range: the stretch of it [s]; None for all of it.
        speed: 2 is twice as fast.
        repeat: how often.
    """

    motion: Path
    range: tuple[float, float] | None = None
    speed: float = 1.0
    repeat: int = 1


@dataclass(frozen=True, kw_only=True)
class Act:
    """Motions of one robot or several that begin together.

    Attributes:
        parts: by the robots' names.
        start: when in the show [s]; None for as soon as the act before is over and all its robots are in place.
        name: by which it is begun from outside; empty for none.
    """

    parts: Mapping[str, Part]
    start: float | None = None
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Show:
    """A show as its file says it.

    Attributes:
        path: of the file.
        robots: by name.
        acts: in the order in which they are listed.
        sound: a sound file, or None.
        sound_start: when in the show it begins [s]; below 0 leaves out its beginning.
        goes_on: whether the other robots go on where one fails.
    """

    path: Path
    robots: Mapping[str, Performer]
    acts: tuple[Act, ...]
    sound: Path | None = None
    sound_start: float = 0.0
    goes_on: bool = False


def load_show(path: str | Path) -> Show:
    """Read a show, whose paths are relative to its folder; a FormatError names the entry that is wrong."""
    data = read_json(path)
    try:
        return _show(data, Path(path))
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None


def _show(data: Any, path: Path) -> Show:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise FormatError(f'it is not a show; it must be an object with "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        raise FormatError(f"version {data.get('version')!r} is not known; this RobIK reads version {VERSION}")
    _check_entries(data, ENTRIES, ("robots", "acts"), "the show")
    robots, acts = data["robots"], data["acts"]
    if not isinstance(robots, dict) or not robots:
        raise FormatError('"robots" must be an object with a robot or more, by their names')
    if not isinstance(acts, list) or not acts:
        raise FormatError('"acts" must be a list with an act or more')
    others = data.get("others", STOP)
    if others not in (STOP, GO_ON):
        raise FormatError(f'"others" must be "{STOP}" or "{GO_ON}": what they do where a robot fails; not {others!r}')
    sound = _text(data, "sound", "the show") if "sound" in data else ""
    made = {name: _performer(name, entry, path.parent) for name, entry in robots.items()}
    listed = tuple(_act(f"act {k}", entry, path.parent, made) for k, entry in enumerate(acts, 1))
    names = [act.name for act in listed if act.name]
    if twice := [name for name in names if names.count(name) > 1]:
        raise FormatError(f"two acts are called {twice[0]!r}; give each a name of its own")
    if idle := [name for name in made if not any(name in act.parts for act in listed)]:
        raise FormatError(f"no act has a motion for {idle[0]}; give it one, or leave it out of the robots")
    return Show(
        path=path,
        robots=made,
        acts=listed,
        sound=path.parent / sound if sound else None,
        sound_start=_number(data, "sound_start", 0.0, "the show", -inf),
        goes_on=others == GO_ON,
    )


def _performer(name: str, entry: Any, folder: Path) -> Performer:
    who = f"robot {name}"
    if not name.strip() or name != name.strip():
        raise FormatError(f"{name!r} is no name for a robot")
    _check_entries(entry, OF_ROBOT, ("servos", "port"), who)
    robot = _text(entry, "robot", who) if "robot" in entry else ""
    inside = folder / robot
    return Performer(
        servos=folder / _text(entry, "servos", who),
        port=_text(entry, "port", who),
        robot=str(inside) if robot and inside.exists() else robot,
    )


def _act(who: str, entry: Any, folder: Path, robots: Mapping[str, Performer]) -> Act:
    _check_entries(entry, OF_ACT, ("motions",), who)
    motions = entry["motions"]
    if not isinstance(motions, dict) or not motions:
        raise FormatError(f'{who}: "motions" must be an object with a motion file for each of its robots')
    if unknown := [name for name in motions if name not in robots]:
        raise FormatError(f"{who}: there is no robot {unknown[0]!r}; there are {', '.join(robots)}")
    start = None if entry.get("start") is None else _number(entry, "start", 0.0, who, 0.0)
    return Act(
        parts={name: _part(f"{who}, {name}", one, folder) for name, one in motions.items()},
        start=start,
        name=_text(entry, "name", who).strip() if "name" in entry else "",
    )


def _part(who: str, entry: Any, folder: Path) -> Part:
    if isinstance(entry, str):
        entry = {"motion": entry}
    _check_entries(entry, OF_PART, ("motion",), who)
    repeat = entry.get("repeat", 1)
    if type(repeat) is not int or not 1 <= repeat <= MOST:
        raise FormatError(f'{who}: "repeat" must be a whole number from 1 to {MOST}, not {repeat!r}')
    speed = _number(entry, "speed", 1.0, who, 0.0)
    if speed == 0.0:
        raise FormatError(f'{who}: "speed" must be above 0')
    return Part(
        motion=folder / _text(entry, "motion", who), range=_range(entry.get("range"), who), speed=speed, repeat=repeat
    )


def _range(entry: Any, who: str) -> tuple[float, float] | None:
    if entry is None:
        return None
    if not (isinstance(entry, list) and len(entry) == 2 and all(is_number(one) and isfinite(one) for one in entry)):
        raise FormatError(f'{who}: "range" must be two times [s], such as [0, 2.5], not {entry!r}')
    return float(entry[0]), float(entry[1])


def _check_entries(entry: Any, known: tuple[str, ...], needed: tuple[str, ...], who: str) -> None:
    listed = ", ".join(known)
    if not isinstance(entry, dict):
        raise FormatError(f"{who} must be an object with {listed}, not {entry!r}")
    if unknown := [key for key in entry if key not in known]:
        raise FormatError(f"{who}: unknown entry {unknown[0]!r}; there are {listed}")
    if missing := [key for key in needed if key not in entry]:
        raise FormatError(f'{who}: "{missing[0]}" is missing')


def _text(entry: Mapping[str, Any], key: str, who: str) -> str:
    if not isinstance(entry[key], str) or not entry[key].strip():
        raise FormatError(f'{who}: "{key}" must be a text, not {entry[key]!r}')
    return entry[key]


def _number(entry: Mapping[str, Any], key: str, usual: float, who: str, least: float) -> float:
    value = entry.get(key, usual)
    if not (is_number(value) and isfinite(value) and value >= least):
        at_least = f" of at least {least:g}" if isfinite(least) else ""
        raise FormatError(f'{who}: "{key}" must be a number{at_least}, not {value!r}')
    return float(value)
