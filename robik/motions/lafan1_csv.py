"""CSV motion files of Unitree's LAFAN1 retargeting data set: a row per sample, no times, no header unless asked for.

Base position, base quaternion xyzw, then the joints in the order of MuJoCo, or of a header's names. The data set has 30
samples per second. Where a file has others, a comment above the numbers, which loaders skip, says so:

    # 120 samples per second
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from math import inf
from pathlib import Path

import numpy as np

from ..errors import ClipError
from .format import Companions, MotionFormat
from .layout import layout_of, motion_from, numbers_of
from .motion import Motion
from .rates import even_rate

RATE = 30.0  # samples per second of the data set
BASE = ("x", "y", "z", "qx", "qy", "qz", "qw")  # in a header
HEAD = ",".join(BASE)
COMMENT = re.compile(r"#\s*(\d+(?:\.\d+)?(?:e[-+]\d+)?) samples per second\s*")
END = rb"(\r\n|\r|\n|$)"
ROW = re.compile(rb"(\s*#[^\r\n]*" + END + rb")*\s*[-+.\d][-+.\deE]*(\s*,\s*[-+.\d][-+.\deE]*){7,}[ \t]*,?\s*" + END)


def matches(content: bytes) -> bool:
    """Return True if the first line holds numbers alone, eight at least, or begins as a header does."""
    return ROW.match(content[: 1 << 16]) is not None or content.removeprefix(BOM_UTF8).startswith(HEAD.encode())


def write(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a motion as rows of numbers; raise ClipError for a robot that does not float, or uneven times."""
    assert companions.robot is not None  # as `needs` says
    numbers = numbers_of(motion, companions.robot, companions.order)
    if not numbers.layout.root:
        raise ClipError("this format is for robots that float, whose base comes first; choose csv")
    rate = even_rate(numbers.times)
    position, quaternion = numbers.base
    table = np.hstack([position, quaternion[:, [1, 2, 3, 0]], numbers.coordinates])
    rows = [",".join(map(repr, row)) for row in table.tolist()]
    head = [",".join((*BASE, *numbers.layout.coordinates))] if companions.header else []
    if rate != RATE:
        head.append(f"# {rate:.17g} samples per second")
    return ("\n".join((*head, *rows)) + "\n").encode()


def read(content: bytes, companions: Companions) -> Motion:
    """Return the motion in rows of numbers, 30 per second unless the companions or a comment say otherwise."""
    robot = companions.robot
    assert robot is not None  # as `needs` says
    names = layout_of(robot, companions.order).coordinates
    joints = len(names)
    lines = content.decode("utf-8-sig", errors="replace").splitlines()
    columns: list[int] | None = None
    rate, rows = RATE, list[list[float]]()
    for k, line in enumerate(lines):
        if told := COMMENT.fullmatch(line):
            rate = float(told[1])
            if not 0.0 < rate < inf:
                raise ClipError(f"line {k + 1}: {told[1]} samples per second; there must be some")
        if not line.strip() or line.startswith("#"):
            continue
        if columns is None and not rows and line.startswith(HEAD):
            columns = _columns(line, names, robot.name)
            continue
        cells = line.rstrip().removesuffix(",").split(",")
        if len(cells) != 7 + joints:
            raise ClipError(
                f"line {k + 1}: {len(cells)} columns; {robot.name!r} needs 7 for its base, {joints} for its joints"
            )
        try:
            rows.append([float(cell) for cell in cells])
        except ValueError:
            raise ClipError(f"line {k + 1}: not a row of numbers") from None
    if not rows:
        raise ClipError("there is no line with numbers")
    table = np.array(rows)
    if columns is not None:
        table = table[:, [*range(7), *columns]]
    if not (finite := np.isfinite(table).all(axis=1)).all():
        raise ClipError(f"row {int(np.argmin(finite)) + 1}: its numbers must be finite")
    base = table[:, :3], table[:, [6, 3, 4, 5]]
    times = np.arange(len(table)) / (companions.fps or rate)
    return motion_from(robot, companions.order, times, base, table[:, 7:])


def _columns(head: str, names: tuple[str, ...], robot: str) -> list[int]:
    """Return the column of each joint by a header, in the order of the names."""
    found = [cell.strip() for cell in head.split(",")]
    if len(found) != 7 + len(names) or set(found[7:]) != set(names):
        wrong = [*(set(names) - set(found)), *(set(found[7:]) - set(names))]
        raise ClipError(
            f"the header must name the base ({HEAD}) and the joints of {robot!r}, each once"
            + (f"; see {sorted(wrong)[0]!r}" if wrong else "")
        )
    return [found.index(name) for name in names]


FORMAT = MotionFormat(
    name="lafan1-csv", label="Unitree, LAFAN1 (CSV)", extensions=(".csv",), needs=("robot",), rate=RATE,
    by_extension=False, matches=matches, read=read, write=write,
)  # fmt: skip
