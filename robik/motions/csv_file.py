"""CSV motion files: `time`, a column per actuator and, for a floating robot, seven columns for its base.

    # base: pelvis
    # needs: {"carry_weight": true}
    time,hip,knee,base.x,base.y,base.z,base.qw,base.qx,base.qy,base.qz

The comments name the base's body and what the motion needs (`needs.py`), where there are such. Numbers are written with
all their digits.
"""

from __future__ import annotations

import csv
import io
import json
import re
from array import array
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..errors import ClipError
from .format import Companions, MotionFormat
from .motion import BaseTrack, Motion
from .needs import Needs, needs_from

TIME = "time"
BASE_COLUMNS = tuple(f"base.{part}" for part in ("x", "y", "z", "qw", "qx", "qy", "qz"))
COMMENT = re.compile(r"#([^\r\n]*)(?:\r\n|\r|\n|$)")
HEAD = 1 << 16  # bytes in which the first line must begin


def matches(content: bytes) -> bool:
    """Return True if the first line that is no comment begins with `time`."""
    text = content[:HEAD].decode("utf-8-sig", errors="replace")
    return re.match(rf'("?){TIME}\1(,|\r|\n|$)', text[_comments(text)[1] :]) is not None


def write(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a motion as CSV; raise ClipError if an actuator has the name of another column."""
    if taken := [name for name in motion.actuators if name in (TIME, *BASE_COLUMNS)]:
        raise ClipError(
            f"an actuator cannot be called {taken[0]!r} in a CSV file, where that is another column; choose json"
        )
    names, table, lines = [TIME, *motion.actuators], np.column_stack([motion.times, motion.values]), []
    if motion.base is not None:
        names += BASE_COLUMNS
        table = np.column_stack([table, motion.base.position, motion.base.quaternion])
        if motion.base.body:
            lines.append(f"# base: {_line_text(motion.base.body)}")
    if motion.needs is not None:
        lines.append(f"# needs: {json.dumps(motion.needs.as_data())}")
    lines.append(",".join(map(_cell, names)))
    lines += [",".join(map(repr, row)) for row in table.tolist()]
    return ("\n".join(lines) + "\n").encode()


def read(content: bytes, companions: Companions) -> Motion:
    """Return the motion in a CSV file; a byte order mark, any line ends and empty lines are accepted."""
    try:
        comments, start = _comments(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ClipError(f"not a motion (.csv): not UTF-8 text: {error.reason} at byte {error.start}") from None
    lines, skipped = io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline=""), len(comments)
    lines.read(start)
    rows = csv.reader(lines)
    numbers = array("d")
    try:
        names = _checked_names(next(rows, []))
        for row in rows:
            if row:
                numbers.extend(_numbers(row, names, skipped + rows.line_num))
    except csv.Error as error:
        raise ClipError(f"line {skipped + rows.line_num}: not CSV: {error}") from None
    if not numbers:
        raise ClipError("there is no line with numbers")
    motion = _motion(names, np.array(numbers).reshape(-1, len(names)), _base_body(comments))
    return replace(motion, needs=_needs(comments))


def _checked_names(row: list[str]) -> list[str]:
    """Return the names of the columns, once none is there twice and the base's are complete."""
    if not row or row[0] != TIME:
        raise ClipError(
            f"the first line must name the columns, '{TIME}' first, then the actuators, with commas between"
        )
    for k, name in enumerate(row):
        if name in row[:k]:
            raise ClipError(
                f"two columns are called {name!r}, the {row.index(name) + 1}. and the {k + 1}.; names must differ"
            )
    found = [name for name in BASE_COLUMNS if name in row]
    if found and (missing := [name for name in BASE_COLUMNS if name not in row]):
        raise ClipError(f"no column for {', '.join(missing)}; a base has {', '.join(BASE_COLUMNS)}")
    return row


def _numbers(row: list[str], names: list[str], line: int) -> list[float]:
    if len(row) != len(names):
        raise ClipError(f"line {line}: {len(row)} columns where the first line names {len(names)}")
    numbers = []
    for name, cell in zip(names, row, strict=True):
        try:
            numbers.append(float(cell))
        except ValueError:
            raise ClipError(f"line {line}, column {name!r}: {cell!r} is not a number") from None
        if not np.isfinite(numbers[-1]):
            raise ClipError(f"line {line}, column {name!r}: {cell} is not a finite number")
    return numbers


def _motion(names: list[str], table: np.ndarray, body: str) -> Motion:
    base = None
    if BASE_COLUMNS[0] in names:
        pose = table[:, [names.index(name) for name in BASE_COLUMNS]]
        base = BaseTrack(body=body, position=pose[:, :3], quaternion=pose[:, 3:])
    own = [k for k, name in enumerate(names) if k > 0 and name not in BASE_COLUMNS]
    return Motion(times=table[:, 0], actuators=tuple(names[k] for k in own), values=table[:, own], base=base)


def _comments(text: str) -> tuple[list[str], int]:
    """Return the lines of comment at the beginning, and the index at which they end."""
    lines, end = [], 0
    while line := COMMENT.match(text, end):
        lines.append(line[1])
        end = line.end()
    return lines, end


def _base_body(comments: list[str]) -> str:
    """Return the body that a comment names; empty where none does."""
    named = [found[1] for line in comments if (found := re.fullmatch(r"\s*base:\s*(.*?)\s*", line))]
    if not named or not named[0].startswith('"'):
        return named[0] if named else ""
    try:
        return str(json.loads(named[0]))
    except ValueError:
        return named[0]


def _needs(comments: list[str]) -> Needs | None:
    """Return what a comment says that the motion needs; None where none does."""
    for line in comments:
        if found := re.fullmatch(r"\s*needs:\s*(\{.*\})\s*", line):
            try:
                return needs_from(json.loads(found[1]))
            except ValueError:
                raise ClipError(f"needs: not JSON: {found[1][:60]}") from None
    return None


def _line_text(name: str) -> str:
    """Return a name as the rest of a line; in quotes as JSON has them where it would not survive plainly."""
    return name if name.isprintable() and name == name.strip() and '"' not in name else json.dumps(name)


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n\r') else text


FORMAT = MotionFormat(name="csv", label="CSV", extensions=(".csv",), matches=matches, read=read, write=write)
