"""Places in which robots are found: RobIK's folder, installed wheels, robot_descriptions' cache, the user's folders."""

from __future__ import annotations

import os
import re
import sysconfig
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from .. import robots
from ..formats import READERS
from ..formats.mesh_files import FORMAT_FOLDERS
from ..formats.native import EXTENSION as NATIVE
from .entry import PICTURE, SERVOS, Entry, Known, known_at, known_robots

CACHE = "ROBOT_DESCRIPTIONS_CACHE"  # environment variable of the package robot_descriptions
DEEPEST, MOST = 5, 5_000  # folders below one of the user's, and files in all that are looked at
HEAD = 4_096  # bytes of a file in which it must say what it is
TELLING = re.compile(rb"<robot[\s>]|<mujoco[\s>]|<sdf[\s>]")
PART = re.compile(r"(^|[_.-])(scene|keyframes?|include|defaults?|world)([_.-]|$)", re.IGNORECASE)  # of other files
XACRO, WHOLE = ".xacro", ".urdf"  # NAME.urdf.xacro is a robot; other xacro files are mostly parts of one
NAMELESS = ("robot", "model", "main", "index")  # names that say nothing: the folder's does


@dataclass(frozen=True, kw_only=True)
class Places:
    """Folders that are looked through.

    Attributes:
        sites: in which Python's packages are installed.
        descriptions: the cache of `robot_descriptions`, or None.
        folders: of the user, each with robots or wheels below it.
    """

    sites: tuple[Path, ...] = ()
    descriptions: Path | None = None
    folders: tuple[Path, ...] = ()

    @classmethod
    def of_this_machine(cls, folders: Iterable[str | Path] = ()) -> Places:
        """Return the places of this machine, and the user's folders."""
        return cls(
            sites=tuple(dict.fromkeys(path for path in _sites() if path.is_dir())),
            descriptions=Path(os.environ.get(CACHE) or Path.home() / ".cache" / "robot_descriptions").expanduser(),
            folders=tuple(Path(folder).expanduser() for folder in folders if str(folder).strip()),
        )


def entries(places: Places) -> tuple[Entry, ...]:
    """Return the robots that can be imported, each file once.

    RobIK's own come first, then other makers' that are known, then the user's. Nothing is downloaded, and no code of a
    package runs.
    """
    others = [entry for known in known_robots() if (entry := _found(known, places)) is not None]
    of_user = [entry for folder in places.folders for entry in _in_folder(folder)]
    found: dict[str, Entry] = {}
    for entry in (*_own(), *others, *sorted(of_user, key=lambda entry: entry.title.lower())):
        found.setdefault(entry.key, entry)
    return tuple(found.values())


def _own() -> Iterator[Entry]:
    """Yield the robots that come with RobIK."""
    for name in robots.names():
        servos = robots.FOLDER / f"{name}{SERVOS}"
        yield Entry(
            title=name.upper() if name[-1].isdigit() else name.replace("_", " ").title(),
            maker="RobIK",
            file=robots.path(name),
            place="RobIK",
            servos=servos if servos.is_file() else None,
            picture=robots.FOLDER / f"{name}{PICTURE}",
        )


def _found(known: Known, places: Places) -> Entry | None:
    """Return a known robot where one of the places holds it, else None."""
    homes = [(folder / known.wheel, f"package {known.wheel}") for folder in places.sites if known.wheel]
    if known.repository and places.descriptions is not None:
        homes.append((places.descriptions / known.repository, "robot_descriptions"))
    for home, place in homes:
        for inside in known.files:
            if (home / inside).is_file():
                return _entry(known, home / inside, place)
    return next(filter(None, (_in_wheel(known, folder) for folder in places.folders if known.wheel)), None)


def _entry(known: Known, file: Path, place: str) -> Entry:
    return Entry(
        title=known.title, maker=known.maker, file=file, place=place, servos=known.servos, about=known.about
    )  # fmt: skip


def _in_wheel(known: Known, folder: Path) -> Entry | None:
    """Return a known robot in the newest wheel of a folder that holds it."""
    for wheel in sorted(folder.glob(f"{known.wheel}-*.whl"), key=lambda path: path.stat().st_mtime, reverse=True):
        try:
            with zipfile.ZipFile(wheel) as opened:
                held = set(opened.namelist())
        except (OSError, zipfile.BadZipFile):
            continue
        for inside in (f"{known.wheel}/{file}" for file in known.files):
            if inside in held:
                return replace(_entry(known, wheel, wheel.name), inside=inside)
    return None


def _in_folder(folder: Path) -> Iterator[Entry]:
    """Yield the robot files below a folder of the user.

    What is only a part of others is left out by its name. Other makers' robots that are known are told by the end of
    their path, each once: in a copy of their repository wherever it is.
    """
    seen: set[tuple[str, str]] = set()
    for path in islice(_files(folder), MOST):
        if (match := known_at(path)) is not None:
            known, home = match
            if (known.name, home) not in seen:
                seen.add((known.name, home))
                best = next(file for file in known.files if Path(home, file).is_file())
                yield _entry(known, Path(home, best), Path(best).name)
            continue
        extension = next((ending for ending in READERS if path.name.lower().endswith(ending)), "")
        title = path.name[: len(path.name) - len(extension)]
        is_part = extension == XACRO and not title.lower().endswith(WHOLE)
        if not extension or is_part or PART.search(title) or not _tells(path, extension):
            continue
        servos, title = path.with_name(title + SERVOS), title.removesuffix(WHOLE)
        yield Entry(
            title=_telling_name(path, title),
            file=path,
            place=path.name,
            servos=servos if servos.is_file() else None,
        )


def _telling_name(path: Path, title: str) -> str:
    """Return the first name on the way up that says which robot it is."""
    folders = (folder.name for folder in path.parents)
    names = (title, *(name for name in folders if name.lower() not in FORMAT_FOLDERS))
    return next((name for name in names if name.lower() not in NAMELESS), title)


def _files(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        depth = len(Path(here).relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth < DEEPEST else []
        yield from (Path(here) / name for name in sorted(files))


def _tells(path: Path, extension: str) -> bool:
    """Return whether a file says at its head that it is a robot; USD and RobIK's own say so by their extension."""
    if extension == NATIVE or extension.startswith(".usd"):
        return True
    try:
        with path.open("rb") as file:
            return TELLING.search(file.read(HEAD)) is not None
    except OSError:
        return False


def _sites() -> Iterator[Path]:
    """Yield folders of Python's packages: this Python's, the active environments', the user's."""
    yield from (Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib"))
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if root := os.environ.get(variable):
            yield from sorted(Path(root).glob("lib/python3*/site-packages"))
            yield Path(root) / "Lib" / "site-packages"
    yield from sorted((Path.home() / ".local" / "lib").glob("python3*/site-packages"), reverse=True)
