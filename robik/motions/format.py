"""Interface of a motion format: one module a format, whose `FORMAT` is a row of the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..files import check_folder_writable, check_writable
from ..mechanism.model import Mechanism
from .motion import Motion


@dataclass(frozen=True, kw_only=True)
class ServoCounts:
    """A motion in the counts of a servo chain, for boards that play it alone.

    Attributes:
        actuators: (n,) names, one per servo.
        ids: (n,) of the servos.
        baud_rate: of their bus.
        counts: (T, n) goal positions at the motion's times, whole numbers.
        slow, fast: (n,) profile velocities on the way to the first frame and along the motion [servo's unit].
        pace: (n,) speeds of the slow ones [counts/s], rounded down.
    """

    actuators: tuple[str, ...]
    ids: tuple[int, ...]
    baud_rate: int
    counts: np.ndarray
    slow: tuple[int, ...]
    fast: tuple[int, ...]
    pace: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class FramePoses:
    """Poses of a robot's frames over time, which a solver turns into a motion, and coordinates that are given.

    Attributes:
        times: (T,) increasing [s].
        position: (T, 3) by frame, in the robot's coordinates [m].
        quaternion: (T, 4) by frame, unit quaternions wxyz.
        coordinates: (T,) by name [rad or m] (`Joint.coordinate_names`).
    """

    times: np.ndarray
    position: Mapping[str, np.ndarray]
    quaternion: Mapping[str, np.ndarray]
    coordinates: Mapping[str, np.ndarray]


Follow = Callable[[Mechanism, FramePoses], Motion]
CountValues = Callable[[str, tuple[int, ...], np.ndarray], tuple[tuple[str, ...], np.ndarray]]
"""Actuators and their values (T, n) [rad or m] from their names in a line, the servos' ids and counts (T, n)."""


@dataclass(frozen=True, kw_only=True)
class Companions:
    """Things that some formats need beside the motion.

    Attributes:
        servos: the motion in servo counts, or None.
        robot: whose motion it is, or None.
        count_values: what a servo chain's counts are in motors' values, or None.
        follow: a solver for files that hold poses of frames instead of motors' values, or None.
        order: of bodies and joints in formats that do not name them: depth or breadth (`layout.py`).
        header: whether a row of names is written above rows of numbers, in formats that have none.
        fps: samples per second of what is written, and of what is read where it does not say [Hz]; None for the
            format's own, else the motion's.
    """

    servos: ServoCounts | None = None
    robot: Mechanism | None = None
    count_values: CountValues | None = None
    follow: Follow | None = None
    order: str = "depth"
    header: bool = False
    fps: float | None = None


NEEDS = {
    "servos": "a servo chain; give a *.servos.json",
    "count_values": "a servo chain; give a *.servos.json",
    "robot": "its robot; give a robot file or the robot's name",
    "follow": "a solver; give follow=robik.follow_poses",
}


@dataclass(frozen=True, kw_only=True)
class MotionFormat:
    """A file format of motions: of one file, or of a folder of several.

    The content of a file is its bytes; that of a folder is a dict of the bytes of its files, by name.

    Attributes:
        name: by which it is chosen (`--format`).
        label: in menus.
        extensions: of its files, with the dot and in lower case; the first is for new ones. Empty for folders.
        files: names of a folder's files; none where a motion is one file.
        needs: fields of `Companions` without which it cannot be written.
        needs_to_read: likewise to be read; what writing needs if left out, but for the servos.
        rate: samples per second of files that do not say how many [Hz]; None where they say.
        by_extension: whether a file is written in it by its extension alone, without the format's name.
        sounds: extensions of sound files that belong to a motion when they lie beside it under its name, the first that
            is there; none where a motion has no sound.
        matches: whether content is of this format; None for formats that are only written.
        read: the motion in content. Raises ClipError, without the file's name, which `load_motion` adds.
        write: the content at a path; None for formats that are only read. Raises ClipError likewise.
    """

    name: str
    label: str
    extensions: tuple[str, ...]
    files: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    needs_to_read: tuple[str, ...] | None = None
    rate: float | None = None
    by_extension: bool = True
    sounds: tuple[str, ...] = ()
    matches: Callable[[Any], bool] | None = None
    read: Callable[[Any, Companions], Motion] | None = None
    write: Callable[[Motion, Path, Companions], bytes | dict[str, bytes]] | None = None

    def check_writable(self, path: str | Path) -> None:
        """Before long work: check that a motion can be written at a path.

        Args:
            path: Of the file or the folder.

        Raises:
            FormatError: It cannot; nothing was written.
        """
        if self.files:
            check_folder_writable(path, self.files)
        else:
            check_writable(path)
