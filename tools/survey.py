"""Imports every robot file that two packages on PyPI carry, and prints how it went.

    python -m tools.survey                   downloads 140 MB into .cache/survey, once
    python -m tools.survey --json out.json

`newton` (a simulator) brings USD, MJCF and URDF; `example-robot-data` (robots of Gepetto and others) URDF, SDF and xacro.
A file that is no robot is to be refused with a reason that is true; the table says it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
import zipfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from robik.errors import RobikError
from robik.formats import READERS, import_robot
from robik.kinematics.mobility import inspect

PACKAGES = {"newton": "1.8.0", "example-robot-data": "6.0.0"}
CACHE = Path(__file__).resolve().parents[1] / ".cache" / "survey"
KINDS = (".usd", ".usda", ".usdc", ".usdz", ".urdf", ".sdf", ".xacro", ".xml", ".mjcf")
ROOTS = ("mujoco", "robot", "sdf")  # of the .xml files that mean to be robots


@dataclass(frozen=True)
class Outcome:
    """How one file went; `said` is the reason of a refusal, or the first warning."""

    file: str
    imported: bool
    bodies: int = 0
    loops: int = 0
    mobility: int = 0
    motors: int = 0
    warnings: int = 0
    seconds: float = 0.0
    said: str = ""


def downloaded() -> list[Path]:
    """The folders of the packages' content."""
    folders = []
    for name, version in PACKAGES.items():
        folder = CACHE / f"{name}-{version}"
        if not folder.is_dir():
            wheels = CACHE / "wheels"
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(wheels), f"{name}=={version}"]
            subprocess.run(pip, check=True)
            wheel = next(wheels.glob(f"{name.replace('-', '_')}-{version}-*.whl"))
            unfinished = CACHE / f"{name}.part"
            with zipfile.ZipFile(wheel) as content:
                content.extractall(unfinished)
            unfinished.rename(folder)
        folders.append(folder)
    return folders


def is_candidate(path: Path) -> bool:
    """Whether a file's name, and for XML its root, say that it may be a robot."""
    if path.suffix.lower() not in KINDS:
        return False
    if path.suffix.lower() != ".xml":
        return True
    try:
        return ElementTree.parse(path).getroot().tag in ROOTS
    except ElementTree.ParseError:
        return False


def packages_around(path: Path, top: Path) -> list[Path]:
    """Folders with a `package.xml` below the package, and what holds them: what a user would name at import."""
    found = {p.parent for p in top.rglob("package.xml")}
    return sorted(found | {p.parent for p in found} | {p.parent.parent for p in found if p != top})


def tried(path: Path, top: Path, packages: list[Path]) -> Outcome:
    """One import."""
    name, start = path.relative_to(top.parent).as_posix(), time.perf_counter()
    try:
        imported = import_robot(path, packages)
        found = inspect(imported.mechanism)
    except RobikError as error:
        return Outcome(name, False, seconds=time.perf_counter() - start, said=str(error).removeprefix(f"{path}: "))
    seconds = time.perf_counter() - start
    warnings = imported.warnings
    return Outcome(name, True, found.bodies, found.loops, found.mobility, len(found.actuators), len(warnings), seconds, *warnings[:1])


def main() -> None:
    parser = argparse.ArgumentParser(description="Imports every robot file that two packages on PyPI carry.")
    parser.add_argument("--json", metavar="FILE", help="the table as JSON too")
    arguments = parser.parse_args()
    outcomes = []
    for top in downloaded():
        packages = packages_around(top, top)
        for path in sorted(filter(is_candidate, top.rglob("*"))):
            outcome = tried(path, top, packages)
            outcomes.append(outcome)
            print(row(outcome), flush=True)
    print()
    for kind in KINDS:
        count = Counter(o.imported for o in outcomes if o.file.lower().endswith(kind))
        if count:
            print(f"{kind:6} {count[True]:4} imported, {count[False]:4} refused")
    unread = sorted(set(KINDS) - set(READERS))
    if unread:
        print(f"not read: {', '.join(unread)}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps([asdict(o) for o in outcomes], indent=1), encoding="utf-8")


def row(o: Outcome) -> str:
    """A line of the table."""
    numbers = f"{'refused':44}"
    if o.imported:
        numbers = f"{o.bodies:3} bodies {o.loops:2} loops {o.mobility:3} dof {o.motors:3} motors {o.seconds:5.1f} s"
    return f"{numbers}  {o.file}" + (f"\n      {o.said}" if o.said else "")


if __name__ == "__main__":
    main()
