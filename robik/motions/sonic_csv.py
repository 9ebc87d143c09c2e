"""Reference motions of SONIC (GR00T Whole-Body Control): a folder of CSV files, 50 samples per second.

    joint_pos.csv joint_vel.csv        a column per joint coordinate
    body_pos.csv body_quat.csv         three and four (wxyz) columns per body, the one that floats first
    body_lin_vel.csv body_ang_vel.csv  three columns per body
    metadata.txt                       which bodies these are, by their numbers in Isaac Lab, and the number of samples
    info.txt                           the names of joints and bodies, for people

Joints are in Isaac Lab's order, by breadth. Body 0 is the one that floats, body k + 1 the one that joint k carries;
those that are fixed to another one have no columns. All is in the world; linear velocities are those of the bodies'
frames. The first line of a CSV file names its columns.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ..errors import ClipError
from .format import Companions, MotionFormat
from .layout import layout_of, motion_from, numbers_of
from .motion import Motion
from .rates import even_rate

RATE = 50.0  # samples per second, of SONIC's control loop
ORDER = "breadth"
NEEDED = ("joint_pos.csv", "body_pos.csv", "body_quat.csv")
FILES = (*NEEDED, "joint_vel.csv", "body_lin_vel.csv", "body_ang_vel.csv", "metadata.txt", "info.txt")
INDEXES = "Body part indexes:"
GROUNDED = "this format is for robots that float, whose base is the first body; choose csv"


def matches(content: dict[str, bytes]) -> bool:
    """Return True if a folder, given as bytes by file name, holds the files that a motion is read from."""
    return content.keys() >= {*NEEDED}


def write(motion: Motion, path: Path, companions: Companions) -> dict[str, bytes]:
    """Return a motion as the files of a folder, bytes by name.

    Raise ClipError for a robot that does not float, or a rate other than 50 samples per second.
    """
    assert companions.robot is not None  # as `needs` says
    numbers = numbers_of(motion, companions.robot, ORDER)
    times, layout = numbers.times, numbers.layout
    if not layout.root:
        raise ClipError(GROUNDED)
    if (rate := even_rate(times)) != RATE:
        raise ClipError(f"SONIC plays {RATE:g} samples a second, and the motion has {rate:g}; give a rate (--rate 50)")
    names = (layout.root, *layout.carried)
    own = [layout.bodies.index(name) for name in names]
    position, quaternion = numbers.position[:, own], numbers.quaternion[:, own]
    speeds = numbers.speeds
    joints, bodies = range(len(layout.coordinates)), range(len(names))
    tables = {
        "joint_pos.csv": ([f"joint_{k}" for k in joints], numbers.coordinates),
        "joint_vel.csv": ([f"joint_vel_{k}" for k in joints], speeds.coordinates),
        "body_pos.csv": ([f"body_{k}_{axis}" for k in bodies for axis in "xyz"], position),
        "body_quat.csv": ([f"body_{k}_{part}" for k in bodies for part in "wxyz"], quaternion),
        "body_lin_vel.csv": ([f"body_{k}_vel_{axis}" for k in bodies for axis in "xyz"], speeds.linear[:, own]),
        "body_ang_vel.csv": (
            [f"body_{k}_angvel_{axis}" for k in bodies for axis in "xyz"],
            speeds.angular[:, own],
        ),
    }
    files = {name: _csv(header, table.reshape(len(times), -1)) for name, (header, table) in tables.items()}
    title = " ".join(path.name.split())
    files["metadata.txt"] = _metadata(title, len(names), len(times))
    files["info.txt"] = _info(title, companions.robot.name, layout.coordinates, names, len(times))
    return files


def read(content: dict[str, bytes], companions: Companions) -> Motion:
    """Return the motion in the files of a folder, by its joints and the pose of its first body.

    It has 50 samples per second unless the companions say otherwise.
    """
    robot = companions.robot
    assert robot is not None  # as `needs` says
    if not layout_of(robot, ORDER).root:
        raise ClipError(GROUNDED)
    joints, positions, quaternions = (_table(content, name) for name in NEEDED)
    for name, table, width in (("body_pos.csv", positions, 3), ("body_quat.csv", quaternions, 4)):
        if table.shape[1] % width:
            raise ClipError(f"{name}: {table.shape[1]} columns; every body has {width}")
        if len(table) != len(joints):
            raise ClipError(f"{name}: {len(table)} samples, but joint_pos.csv has {len(joints)}")
    _check_first(content)
    times = np.arange(len(joints)) / (companions.fps or RATE)
    return motion_from(robot, ORDER, times, (positions[:, :3], quaternions[:, :4]), joints)


def _csv(header: list[str], table: np.ndarray) -> bytes:
    rows = [",".join(map(repr, row)) for row in table.tolist()]
    return ("\n".join([",".join(header), *rows]) + "\n").encode()


def _metadata(title: str, bodies: int, samples: int) -> bytes:
    """Return what SONIC reads beside the tables; the numbers of the bodies are in one line, however many."""
    listed = " ".join(map(str, range(bodies)))
    return f"Metadata for: {title}\n{'=' * 30}\n\n{INDEXES}\n[{listed}]\n\nTotal timesteps: {samples}\n".encode()


def _info(title: str, robot: str, joints: tuple[str, ...], bodies: tuple[str, ...], samples: int) -> bytes:
    """Return what the columns are, for people."""
    lines = [f"Motion: {title}", f"Robot: {robot}", f"Samples: {samples}, {RATE:g} per second", ""]
    lines += [f"joint_{k}: {name}" for k, name in enumerate(joints)] + [""]
    lines += [f"body_{k}: {name}" for k, name in enumerate(bodies)]
    return ("\n".join(lines) + "\n").encode()


def _table(content: dict[str, bytes], name: str) -> np.ndarray:
    """Return the numbers (T, columns) of a CSV file; a ClipError names the file and the line that is wrong."""
    if name not in content:
        raise ClipError(f"no {name}; a motion of SONIC is a folder with {', '.join(NEEDED[:2])} and {NEEDED[2]}")
    lines = content[name].decode("utf-8-sig", errors="replace").splitlines()
    if not lines or _numbers(lines[0]) is not None:
        raise ClipError(f"{name}: the first line must name the columns")
    width, rows = len(lines[0].split(",")), []
    for k, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        if (row := _numbers(line)) is None:
            raise ClipError(f"{name}, line {k}: not a row of numbers")
        if len(row) != width:
            raise ClipError(f"{name}, line {k}: {len(row)} columns where the first line names {width}")
        if not np.isfinite(row).all():
            raise ClipError(f"{name}, line {k}: its numbers must be finite")
        rows.append(row)
    if not rows:
        raise ClipError(f"{name}: there is no line with numbers")
    return np.array(rows)


def _numbers(line: str) -> list[float] | None:
    """Return the numbers of a line; None where it holds anything else."""
    try:
        return [float(cell) for cell in line.split(",")]
    except ValueError:
        return None


def _check_first(content: dict[str, bytes]) -> None:
    """Check that the first columns are those of the body that floats, as far as the folder says."""
    said = content.get("metadata.txt", b"").decode(errors="replace").partition(INDEXES)[2]
    if (found := re.search(r"\d+", said)) is not None and found[0].strip("0"):
        raise ClipError(f"metadata.txt: the first body is number {found[0]}; it must be 0, by which the robot floats")


FORMAT = MotionFormat(
    name="sonic-csv", label="SONIC (folder of CSVs)", extensions=("",), files=FILES, needs=("robot",), rate=RATE,
    by_extension=False, matches=matches, read=read, write=write,
)  # fmt: skip
