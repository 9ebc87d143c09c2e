"""BVH recordings: a hierarchy of joints with offsets and channels, and a row of channels' values per frame.

A joint's rotation is the product of its channels' rotations in their order, each about an axis of the frame that the
ones before have turned. Position channels take the place of the joint's offset. Both are what Blender's importer does.
"""

from __future__ import annotations

import logging
import re
from array import array
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import ClipError
from ..mechanism.orientations import quaternions
from ..skeleton.skeleton import Skeleton, SkeletonMotion

LOG = logging.getLogger(__name__)
AXES = {"x": 0, "y": 1, "z": 2}
WHOLE = re.compile("[0-9]{1,12}")


@dataclass
class Joint:
    """A joint as the file has it.

    Attributes:
        name: unique in the file.
        parent: index; −1 for a root.
        offset: (3,) from the parent, in the file's unit.
        positions: pairs of column and axis of its position channels.
        rotations: pairs of column and axis of its rotation channels, in their order.
        end: (3,) offset of its end site; None where it has none.
    """

    name: str
    parent: int
    offset: np.ndarray = field(default_factory=lambda: np.zeros(3))
    positions: list[tuple[int, int]] = field(default_factory=list)
    rotations: list[tuple[int, int]] = field(default_factory=list)
    end: np.ndarray | None = None


def matches(content: bytes) -> bool:
    """Return True if a file's first word is `HIERARCHY`."""
    return content[:200].removeprefix(b"\xef\xbb\xbf").lstrip()[:9].upper() == b"HIERARCHY"


def read(content: bytes, name: str | Path = "the recording") -> SkeletonMotion:
    """Return the motion in a BVH file, in the file's unit and axes; warn of one with fewer frames than it says.

    A ClipError names the line that is wrong.
    """
    lines = content.decode("utf-8-sig", errors="replace").splitlines()
    joints, columns, start = _hierarchy(lines)
    step, said, start = _motion_head(lines, start)
    rows = _rows(lines, start, columns)
    if len(rows) < said:
        LOG.warning("%s: it says that it has %d frames, and has %d; is it cut off?", name, said, len(rows))
    return _moved(joints, rows, np.arange(len(rows)) * step)


def _hierarchy(lines: list[str]) -> tuple[list[Joint], int, int]:
    """Return the joints, the number of channels, and the line after `MOTION`."""
    joints: list[Joint] = []
    names: set[str] = set()
    open_joints: list[int | None] = []  # None for an end site
    declared, columns = -1, 0
    for k, line in enumerate(lines):
        words = line.split()
        word = words[0].lower() if words else ""
        if word in ("root", "joint"):
            parent = open_joints[-1] if open_joints else -1
            joints.append(Joint(_free("_".join(words[1:]) or word, names), -1 if parent is None else parent))
            declared = len(joints) - 1
        elif word == "end":
            declared = -1
        elif word == "{":
            open_joints.append(declared if declared >= 0 else None)
        elif word == "}":
            if not open_joints:
                raise ClipError(f"line {k + 1}: a bracket is closed that was not opened")
            open_joints.pop()
        elif word == "offset":
            _put_offset(joints, open_joints, _numbers(words[1:], 3, k), k)
        elif word == "channels":
            columns = _put_channels(joints, open_joints, words, columns, k)
        elif word == "motion":
            if not joints or open_joints:
                raise ClipError(f"line {k + 1}: the motion begins before the hierarchy of joints is complete")
            return joints, columns, k + 1
        elif word and word != "hierarchy":
            raise ClipError(f"line {k + 1}: {words[0]!r} is no word of a BVH hierarchy")
    raise ClipError("there is no MOTION after the hierarchy; the file is cut off")


def _put_offset(joints: list[Joint], open_joints: list[int | None], offset: np.ndarray, line: int) -> None:
    if not open_joints:
        raise ClipError(f"line {line + 1}: an OFFSET outside of a joint")
    own = open_joints[-1]
    if own is not None:
        joints[own].offset = offset
    elif len(open_joints) > 1 and (above := open_joints[-2]) is not None:
        joints[above].end = offset


def _put_channels(joints: list[Joint], open_joints: list[int | None], words: list[str], column: int, line: int) -> int:
    """Give a joint its channels; returns the next column."""
    own = open_joints[-1] if open_joints else None
    if own is None or len(words) < 2 or not WHOLE.fullmatch(words[1]) or len(words) - 2 != int(words[1]):
        raise ClipError(f"line {line + 1}: CHANNELS needs their number and as many names, inside of a joint")
    for name in (word.lower() for word in words[2:]):
        axis, kind = AXES.get(name[:1]), name[1:]
        if axis is None or kind not in ("position", "rotation"):
            raise ClipError(f"line {line + 1}: {name!r} is no channel; they are Xposition … Zrotation")
        (joints[own].positions if kind == "position" else joints[own].rotations).append((column, axis))
        column += 1
    return column


def _motion_head(lines: list[str], start: int) -> tuple[float, int, int]:
    """Return the time step [s], the number of frames that is said, 0 if none is, and the first line of values."""
    step, said = 0.0, 0
    for k in range(start, len(lines)):
        name, colon, value = lines[k].partition(":")
        if not lines[k].strip():
            continue
        if not colon:
            break
        if name.strip().lower() == "frames" and WHOLE.fullmatch(value.strip()):
            said = int(value)
        if name.strip().lower() == "frame time":
            step = float(_numbers(value.split(), 1, k)[0])
            if not 0 < step < np.inf:
                raise ClipError(f"line {k + 1}: the frame time must be positive, not {value.strip()} s")
        start = k + 1
    if not step:
        raise ClipError("no line 'Frame Time:' after MOTION")
    return step, said, start


def _rows(lines: list[str], start: int, columns: int) -> np.ndarray:
    """Return the values (T, columns)."""
    numbers, numbered = array("d"), []
    for k in range(start, len(lines)):
        if not (words := lines[k].split()):
            continue
        if len(words) != columns:
            raise ClipError(f"line {k + 1}: {len(words)} values where the joints have {columns} channels")
        numbers.extend(_numbers(words, columns, k))
        numbered.append(k)
    if not numbered:
        raise ClipError("it holds no frame of motion")
    rows = np.array(numbers).reshape(len(numbered), columns)
    if not (finite := np.isfinite(rows).all(axis=1)).all():
        raise ClipError(f"line {numbered[int(np.argmin(finite))] + 1}: a value is not a finite number")
    return rows


def _numbers(words: list[str], count: int, line: int) -> np.ndarray:
    if len(words) != count:
        raise ClipError(f"line {line + 1}: {count} numbers are needed here, not {len(words)}")
    found = []
    for word in words:
        try:
            found.append(float(word))
        except ValueError:
            raise ClipError(f"line {line + 1}: {word!r} is not a number") from None
    return np.array(found)


def _free(name: str, taken: set[str]) -> str:
    """Return a name that no joint has yet, as Blender's importer makes it."""
    made, number = name, 0
    while made in taken:
        number += 1
        made = f"{name}.{number:03d}"
    taken.add(made)
    return made


def _moved(joints: list[Joint], rows: np.ndarray, times: np.ndarray) -> SkeletonMotion:
    """Return the joints' poses by their channels; bones are along the file's axes where all rotations are zero."""
    parents = np.array([joint.parent for joint in joints])
    rest, positions = np.zeros((len(joints), 3)), np.zeros((len(rows), len(joints), 3))
    turns: list[Rotation] = []
    for k, joint in enumerate(joints):
        local = np.tile(joint.offset, (len(rows), 1))
        if joint.positions:
            local[:] = 0.0
            for column, axis in joint.positions:
                local[:, axis] = rows[:, column]
        order = "".join("XYZ"[axis] for _, axis in joint.rotations)
        own = Rotation.identity(len(rows))
        for letter, (column, _) in zip(order, joint.rotations, strict=True):
            own = own * Rotation.from_euler(letter, rows[:, column], degrees=True)
        above = joint.parent
        rest[k] = joint.offset + (rest[above] if above >= 0 else 0.0)
        positions[:, k] = positions[:, above] + turns[above].apply(local) if above >= 0 else local
        turns.append(turns[above] * own if above >= 0 else own)
    turned = np.stack([quaternions(turn) for turn in turns], axis=1)
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (len(joints), 1))
    skeleton = Skeleton(tuple(joint.name for joint in joints), parents, rest, upright, _tips(joints, rest))
    return SkeletonMotion(skeleton, times, positions, turned)


def _tips(joints: list[Joint], rest: np.ndarray) -> np.ndarray:
    """Return where bones end (N, 3): at their children, their end site, else as far as their parent is long."""
    tips = rest.copy()
    for k, joint in enumerate(joints):
        children = [c for c, other in enumerate(joints) if other.parent == k]
        if children:
            tips[k] = rest[children].mean(axis=0)
        elif joint.end is not None and joint.end.any():
            tips[k] = rest[k] + joint.end
        elif joint.parent >= 0:
            tips[k] = 2.0 * rest[k] - rest[joint.parent]
    return tips
