"""Target clips, and their file `*.npz`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..arrays import NUMBERS, listed, pack, read_npz
from ..errors import ClipError, FormatError
from ..files import read_whole, write_whole
from ..mechanism.model import Mechanism
from ..motions.adjusted import MovedFoothold
from ..objectives.objective import Objective
from ..objectives.registry import ASKED
from ..surroundings.obstacle import GROUND, Obstacle, take_obstacles

MOST = 1_000_000_000  # bytes of a clip
COM = "com"
ARRAYS = ("position", "quaternion", "contact", "ground_position", "ground_quaternion")  # of a track
ROUNDING = 4e-16  # of the length of a unit quaternion


@dataclass(frozen=True)
class Track:
    """Targets of one frame of the robot, over time.

    Attributes:
        position: (T, 3) world coordinates [m], or None where only the orientation matters. At any finite distance for a
            robot that stands; one that floats goes along and comes back as long as rounding there leaves its joints be,
            up to 1e7 times its size.
        quaternion: (T, 4) unit quaternions wxyz, or None where only the position matters. Lengths that are off by at
            most 1e-3 are taken for rounding and made unit; others, and zero, are errors.
        contact: (T,) whether it stands on the ground, or holds on to something, where its phases are known; else None.
        ground_position: (T, 3) of the object that it stands on [m], where that moves; None for the ground.
        ground_quaternion: (T, 4) unit quaternions wxyz of that object; None where it does not turn.
    """

    position: np.ndarray | None = None
    quaternion: np.ndarray | None = None
    contact: np.ndarray | None = None
    ground_position: np.ndarray | None = None
    ground_quaternion: np.ndarray | None = None


@dataclass(frozen=True)
class TargetClip:
    """Targets over time: a track per frame and one for the centre of mass.

    Attributes:
        times: (T,) increasing [s].
        tracks: by the name of a frame or a body of the robot.
        com: (T, 3) world coordinates [m], or None.
        objectives: what else is asked for, one of a key.
        moved: footholds that were out of reach, or put legs into each other, and are elsewhere.
        obstacles: what the robot must not go into; feet stand on the one called "ground".

    Raises:
        ClipError: names the track and the sample that is wrong: NaN and infinite numbers, quaternions not of unit
            length, times that stand still (a frame time of zero) or run backwards.
    """

    times: np.ndarray
    tracks: Mapping[str, Track] = field(default_factory=dict)
    com: np.ndarray | None = None
    objectives: tuple[Objective, ...] = ()
    moved: tuple[MovedFoothold, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()

    def __post_init__(self) -> None:
        times = np.ascontiguousarray(self.times, dtype=float)
        if times.ndim != 1 or not len(times):
            raise ClipError(f"a clip's times must be one row of numbers, not an array of shape {times.shape}")
        if not np.isfinite(times).all():
            raise ClipError(f"the clip's times must be finite; sample {int(np.argmin(np.isfinite(times)))} is not")
        if len(times) > 1 and (late := np.diff(times) <= 0).any():
            k = int(np.argmax(late)) + 1
            raise ClipError(f"the clip's times must increase; sample {k} at {times[k]:g} s follows {times[k - 1]:g} s")
        object.__setattr__(self, "times", _frozen(times))
        tracks = {name: self._checked(name, track) for name, track in self.tracks.items()}
        object.__setattr__(self, "tracks", tracks)
        if self.com is not None:
            object.__setattr__(self, "com", self._array("com.position", self.com, 3))
        object.__setattr__(self, "objectives", tuple(item.checked(len(times)) for item in self.objectives))
        object.__setattr__(self, "obstacles", tuple(item.checked(len(times)) for item in self.obstacles))
        keys = [item.key for item in self.objectives]
        keys += [f"obstacle {item.name!r}" for item in self.obstacles]
        if twice := {key for key in keys if keys.count(key) > 1}:
            raise ClipError(f"the clip asks for {', '.join(sorted(twice))} more than once")

    def part(self, start: int, stop: int, every: int = 1) -> TargetClip:
        """Return samples `start` to `stop`, the first of them at 0 s.

        Args:
            start: First sample.
            stop: Sample after the last.
            every: How many samples to go from one that is kept to the next.

        Returns:
            The part.
        """
        kept = slice(start, stop, every)
        begin, end = float(self.times[start]), float(self.times[kept][-1])
        moved = tuple(
            replace(item, start=item.start - begin, end=item.end - begin)
            for item in self.moved
            if item.start <= end and item.end >= begin
        )
        return replace(self._with(kept, self.times[kept] - self.times[start]), moved=moved)

    def repeated(self, laps: int) -> TargetClip:
        """Return the clip in a row, the last sample of each lap being the first one of the next.

        Args:
            laps: How often.

        Returns:
            Laps (T - 1) + 1 samples.
        """
        lap, length = np.arange(1, len(self.times)), self.times[-1] - self.times[0]
        kept = np.concatenate([[0], np.tile(lap, laps)])
        later = np.concatenate([[0.0], np.repeat(np.arange(laps) * length, len(lap))])
        return self._with(kept, self.times[kept] + later)

    def _with(self, kept: slice | np.ndarray, times: np.ndarray) -> TargetClip:
        """Return the clip's samples of these indices at other times."""
        tracks = {
            name: Track(**{what: values[kept] for what, values in arrays_of(track).items()})
            for name, track in self.tracks.items()
        }
        return TargetClip(
            times,
            tracks,
            com=None if self.com is None else self.com[kept],
            objectives=tuple(item.part(kept) for item in self.objectives),
            obstacles=tuple(item.part(kept) for item in self.obstacles),
        )

    @property
    def ground(self) -> Obstacle | None:
        """Return the mesh on which feet stand; None where the ground is level."""
        return next((item for item in self.obstacles if item.name == GROUND), None)

    def _checked(self, name: str, track: Track) -> Track:
        if track.position is None and track.quaternion is None:
            raise ClipError(f"track {name!r} has neither a position nor a quaternion; it needs one of them")
        position = None if track.position is None else self._array(f"{name}.position", track.position, 3)
        ground = (
            None if track.ground_position is None else self._array(f"{name}.ground_position", track.ground_position, 3)
        )
        contact = None
        if track.contact is not None:
            contact = np.asarray(track.contact, dtype=bool)
            if contact.shape != self.times.shape:
                raise ClipError(
                    f"track {name!r}: its contact must have one entry per time, {len(self.times)}, not {contact.shape}"
                )
            contact = _frozen(contact)
        turns = self._turns(name, "quaternion", track.quaternion)
        ground_turns = self._turns(name, "ground_quaternion", track.ground_quaternion)
        return Track(position, turns, contact, ground, ground_turns)

    def _turns(self, name: str, what: str, values: np.ndarray | None) -> np.ndarray | None:
        if values is None:
            return None
        turns = self._array(f"{name}.{what}", values, 4)
        lengths = np.linalg.norm(turns, axis=1)
        if (bad := np.abs(lengths - 1.0) > 1e-3).any():
            k = int(np.argmax(bad))
            raise ClipError(f"track {name!r}: its quaternions must have length 1; sample {k} has {lengths[k]:g}")
        off = np.abs(lengths - 1.0) > ROUNDING  # what is unit already must survive a copy to the last bit
        return _frozen(np.where(off[:, None], turns / lengths[:, None], turns))

    def _array(self, what: str, values: np.ndarray, width: int) -> np.ndarray:
        array = np.ascontiguousarray(values, dtype=float)
        if array.shape != (len(self.times), width):
            raise ClipError(f"{what} must have the shape ({len(self.times)}, {width}), not {array.shape}")
        if not (finite := np.isfinite(array).all(axis=1)).all():
            raise ClipError(f"{what} must be finite; sample {int(np.argmin(finite))} is not")
        return _frozen(array)

    def check(self, mechanism: Mechanism) -> None:
        """Check that the robot has what the clip wants to move.

        Args:
            mechanism: The robot.

        Raises:
            ClipError: Lists the frames that exist.
        """
        known = mechanism.frame_names
        for name in self.tracks:
            if name not in known:
                raise ClipError(
                    f"the clip follows {name!r}, which robot {mechanism.name!r} does not have; it has"
                    f" {', '.join(known)}"
                )
        for item in self.objectives:
            item.check(mechanism)


def arrays_of(track: Track) -> dict[str, np.ndarray]:
    """Return the arrays that a track has, by their names.

    Args:
        track: The track.

    Returns:
        Position, quaternion and contact, as far as there are any.
    """
    return {what: values for what in ARRAYS if (values := getattr(track, what)) is not None}


def save_clip(clip: TargetClip, path: str | Path) -> None:
    """Write a clip to an `.npz` file.

    `times`, the tracks' arrays (`NAME.position`, `NAME.quaternion`, `NAME.contact`, …), `com.position` and the
    objectives' arrays.

    Args:
        clip: The targets.
        path: The file.

    Raises:
        FormatError: The file cannot be written.
    """
    arrays = {"times": clip.times}
    for name, track in clip.tracks.items():
        arrays |= {f"{name}.{what}": values for what, values in arrays_of(track).items()}
    if clip.com is not None:
        arrays[f"{COM}.position"] = clip.com
    for asked in clip.objectives:
        arrays |= asked.arrays()
    for obstacle in clip.obstacles:
        arrays |= obstacle.arrays()
    content = pack(arrays)
    write_whole(path, lambda file: file.write(content))


def load_clip(path: str | Path) -> TargetClip:
    """Read what `save_clip` writes.

    Args:
        path: The file.

    Returns:
        The clip.

    Raises:
        ClipError: Names the file and the array that is wrong.
    """
    try:
        return _clip(read_npz(read_whole(path, MOST), ("times",), more=None))
    except (ClipError, FormatError) as error:
        raise ClipError(f"{path}: {error}") from None


def _clip(arrays: dict[str, np.ndarray]) -> TargetClip:
    """Return the clip that a file's arrays are. Raises ClipError."""
    for key, values in arrays.items():
        if values.dtype.kind not in f"{NUMBERS}b":
            raise ClipError(f"{listed([key])} must hold numbers, not {values.dtype}")
    objectives = [item for kind in ASKED for item in kind.take(arrays)]
    obstacles = take_obstacles(arrays)
    parts: dict[str, dict[str, np.ndarray]] = {}
    for key, values in arrays.items():
        if key == "times":
            continue
        name, _, what = key.rpartition(".")
        if not name or what not in ARRAYS or (name == COM and what != "position"):
            known = f"times, {', '.join(f'NAME.{array}' for array in ARRAYS)}, com.position"
            more = ", ".join([*(form for kind in ASKED for form in kind.forms()), "NAME.obstacle.vertices, …"])
            raise ClipError(f"unknown array {key!r}; a clip has {known}, {more}")
        parts.setdefault(name, {})[what] = values
    com = parts.pop(COM, {}).get("position")
    tracks = {name: Track(**part) for name, part in parts.items()}
    return TargetClip(arrays["times"], tracks, com=com, objectives=tuple(objectives), obstacles=obstacles)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array
