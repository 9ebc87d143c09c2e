"""An entry of the gallery, and what is known of robots by other makers (`robik/data/gallery`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "data" / "gallery"
SERVOS = ".servos.json"
PICTURE = ".png"


@dataclass(frozen=True, kw_only=True)
class Known:
    """Knowledge of a robot by another maker, whose files are not RobIK's to ship.

    Attributes:
        name: of its data file, without extension.
        title: for people.
        maker: who makes it.
        files: robot files inside wheel or repository, the best first.
        wheel: the package that holds its files; empty for none.
        repository: the folder that holds them in the cache of `robot_descriptions`; empty for none.
        about: a sentence on what there is to animate.
        turned: motors with a handle of their own although they move other handles, such as the turn of a body.
    """

    name: str
    title: str
    maker: str
    files: tuple[str, ...]
    turned: tuple[str, ...] = ()
    wheel: str = ""
    repository: str = ""
    about: str = ""

    @property
    def servos(self) -> Path | None:
        """Servo file with ids, limits and zeros as the maker documents them; None where there is none."""
        file = FOLDER / f"{self.name}{SERVOS}"
        return file if file.is_file() else None


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A robot that can be imported.

    Attributes:
        title: for people.
        file: the robot's file, or the wheel that holds it.
        place: where it was found, for people.
        maker: who makes it; empty where nobody knows.
        inside: path of the robot's file in that wheel; empty where `file` is the robot's own.
        servos: its servo file, or None.
        about: what there is to animate.
        picture: its preview, where that comes with RobIK; else None.
    """

    title: str
    file: Path
    place: str
    maker: str = ""
    inside: str = ""
    servos: Path | None = None
    about: str = ""
    picture: Path | None = None

    @property
    def key(self) -> str:
        """Identity: the path of its file, and where in a wheel it is."""
        return f"{self.file}#{self.inside}" if self.inside else str(self.file)


def known_at(path: Path) -> tuple[Known, str] | None:
    """Return the known robot of a file, by the end of its path, and the folder that holds its files; else None."""
    text = path.as_posix()
    for known in known_robots():
        for file in known.files:
            if text.endswith(f"/{file}"):
                return known, text.removesuffix(file)
    return None


@cache
def known_robots() -> tuple[Known, ...]:
    """Return the robots by other makers that RobIK knows, by their titles."""
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        if not path.name.endswith(SERVOS):
            data = json.loads(path.read_text(encoding="utf-8"))
            lists = {key: tuple(data.get(key, ())) for key in ("files", "turned")}
            found.append(Known(name=path.stem, **(data | lists)))
    return tuple(sorted(found, key=lambda robot: robot.title))
