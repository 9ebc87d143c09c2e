"""Timeline of a show: when each act begins, and one motion per robot, from the begin of the show to its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..errors import RobikError, ServoError
from ..motions import Motion
from ..servo.chain.chain import ServoChain
from ..servo.chain.trajectory import part
from ..servo.play.softening import soften
from .show_file import Act, Part
from .ways import Stretch, Ways

NOTICEABLE = 1e-3  # [rad or m] of difference that softening makes
TOGETHER = 1e-6  # [s]: times nearer than this are one


@dataclass(frozen=True)
class Begun:
    """An act on the timeline.

    Attributes:
        start, end: [s].
        act: what.
    """

    start: float
    end: float
    act: Act


@dataclass(frozen=True)
class Timeline:
    """A show as it is played.

    Attributes:
        acts: in their order.
        motions: by the robots' names, each from 0 s on.
    """

    acts: tuple[Begun, ...]
    motions: Mapping[str, Motion]

    @property
    def duration(self) -> float:
        """Return how long the show takes [s]; every robot's motion is as long."""
        return max(float(motion.times[-1]) for motion in self.motions.values())


@dataclass
class _Piece:
    """A motion in an act, with the ways around it."""

    who: str
    motion: Stretch
    speed_up: Stretch
    slow_down: Stretch


class Track:
    """One robot's motion of a show, put together piece by piece, with the ways between."""

    def __init__(self, name: str, columns: tuple[str, ...], ways: Ways) -> None:
        self.name, self.columns, self.ways = name, columns, ways
        self.end = 0.0  # of what is there so far [s]
        self._last: np.ndarray | None = None  # where it stands then
        self._times: list[np.ndarray] = []
        self._values: list[np.ndarray] = []

    def earliest(self, piece: _Piece) -> float:
        """Return the earliest time at which a piece's motion can begin [s]."""
        if self._last is None:
            return piece.speed_up.duration
        return self.end + self._over(piece).duration + piece.speed_up.duration

    def _over(self, piece: _Piece) -> Stretch:
        assert self._last is not None
        return self.ways.over(self._last, piece.speed_up.values[0])

    def add(self, piece: _Piece, start: float) -> None:
        """Add a piece whose motion begins at `start` [s]; a ServoError says when the robot can be there."""
        if self._last is None and start < TOGETHER:  # as any motion that is played: from a stand at its first frame
            piece.speed_up = Stretch(np.zeros(1), piece.motion.values[:1])
        earliest = self.earliest(piece)
        if start < earliest - TOGETHER:
            raise ServoError(
                f"{piece.who}: {self.name} is there at {earliest:.2f} s at the earliest, after {start:.2f} s; start it"
                " later"
            )
        if self._last is not None:
            self._append(self._over(piece), self.end)
        self._append(piece.speed_up, max(start - piece.speed_up.duration, self.end))
        self._append(piece.motion, start)
        self._append(piece.slow_down, start + piece.motion.duration)

    def _append(self, stretch: Stretch, start: float) -> None:
        """Add values from a time on; until then it stands where it was, or where the first of them are."""
        times, values = stretch.times + start, stretch.values
        if not self._times and start > TOGETHER:
            times, values = np.concatenate([[0.0], times]), np.concatenate([values[:1], values])
        kept = times > self.end + TOGETHER if self._times else np.ones(len(times), dtype=bool)
        self._times.append(times[kept])
        self._values.append(values[kept])
        self.end, self._last = max(self.end, float(times[-1])), values[-1]

    def until(self, end: float) -> Motion:
        """Return the whole motion, from 0 s on; from its own end to that of the show [s] the robot stands."""
        assert self._last is not None
        if end > self.end + TOGETHER:
            self._append(Stretch(np.zeros(1), self._last[None, :]), end)
        return Motion(times=np.concatenate(self._times), actuators=self.columns, values=np.concatenate(self._values))


@dataclass
class Stage:
    """Robots, and the motions that a show has for them.

    Attributes:
        chains: by the robots' names.
        motions: by the paths of their files, as read.
        approach_speed: of the servos' horns between motions, at most [rad/s].
        rate: of goals [Hz].
        softens: whether motions that ask too much of the servos are rounded off.
        notes: what that did to them, in words.
    """

    chains: Mapping[str, ServoChain]
    motions: Mapping[tuple[str, object], Motion]
    approach_speed: float = 0.5
    rate: float = 100.0
    softens: bool = False
    notes: list[str] = field(default_factory=list)
    tracks: dict[str, Track] = field(default_factory=dict)

    def timeline(self, acts: tuple[Act, ...], least: float = 0.0) -> Timeline:
        """Return the timeline of acts, which takes `least` [s] at least, for the sound of the show.

        A RobikError names an act that cannot begin when it is to, or whose motion has no column for a servo.
        """
        self.tracks = {}
        for name, chain in self.chains.items():
            columns = tuple(dict.fromkeys(chain.actuators))
            self.tracks[name] = Track(name, columns, Ways(chain, columns, self.approach_speed, self.rate))
        begun: list[Begun] = []
        over = 0.0
        for k, act in enumerate(acts, 1):
            who = f"act {k}"
            pieces = {name: self._pieces(f"{who}, {name}", name, one) for name, one in act.parts.items()}
            start = act.start
            if start is None:
                start = max([over, *(self.tracks[name].earliest(those[0]) for name, those in pieces.items())])
            for name, those in pieces.items():
                self._add(self.tracks[name], those, start)
            over = max(self.tracks[name].end for name in pieces)
            begun.append(Begun(start, over, act))
        end = max([least, *(track.end for track in self.tracks.values())])
        return Timeline(tuple(begun), {name: track.until(end) for name, track in self.tracks.items()})

    def _softened(self, who: str, motion: Motion, chain: ServoChain) -> Motion:
        softened = soften(motion, chain, self.rate)
        name, worst = max(softened.deviation.items(), key=lambda item: item[1])
        if worst > NOTICEABLE:
            self.notes.append(f"{who}: softened, {name} leaves the motion by {worst:.3g} at most")
        return softened.motion

    def _add(self, track: Track, pieces: list[_Piece], start: float) -> None:
        track.add(pieces[0], start)
        for piece in pieces[1:]:
            track.add(piece, track.earliest(piece))

    def _pieces(self, who: str, name: str, one: Part) -> list[_Piece]:
        track = self.tracks[name]
        try:
            begin, end = one.range or (None, None)
            motion = part(self.motions[name, one.motion], begin, end, one.speed)
            if missing := [column for column in track.columns if column not in motion.actuators]:
                there = ", ".join(motion.actuators)
                raise ServoError(f"{one.motion.name} has no column for {', '.join(missing)}; it has {there}")
            if self.softens:
                motion = self._softened(who, motion, self.chains[name])
            values = motion.values[:, [motion.actuators.index(column) for column in track.columns]]
            stretch, repeat = _round(Stretch(motion.times - motion.times[0], values), one.repeat, track.ways)
            values = stretch.values
            first, last = _end_speeds(stretch)
            speed_up, slow_down = track.ways.speed_up(values[0], first), track.ways.slow_down(values[-1], last)
        except RobikError as error:
            raise ServoError(f"{who}: {error}") from None
        return [_Piece(who, stretch, speed_up, slow_down) for _ in range(repeat)]


def _round(stretch: Stretch, repeat: int, ways: Ways) -> tuple[Stretch, int]:
    """Return a motion and how often it is played; in one where its end is a step away from its begin."""
    if repeat == 1 or len(stretch.times) < 2:
        return stretch, repeat
    step, frame = np.abs(stretch.values[-1] - stretch.values[0]), float(np.median(np.diff(stretch.times)))
    if (step > ways.top_speeds * frame).any():
        return stretch, repeat
    is_same = bool((step < 1e-9).all())
    length = stretch.duration + (0.0 if is_same else frame)
    times, values = stretch.times[is_same:], stretch.values[is_same:]
    rounds = [times + k * length for k in range(1, repeat)]
    whole = Stretch(
        np.concatenate([stretch.times, *rounds]), np.concatenate([stretch.values, *[values] * (repeat - 1)])
    )
    return whole, 1


def _end_speeds(stretch: Stretch) -> tuple[np.ndarray, np.ndarray]:
    """Return the speeds (n,) at the first and the last sample."""
    return _first_speed(stretch.times, stretch.values), _first_speed(stretch.times[::-1], stretch.values[::-1])


def _first_speed(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the speed (n,) at the first sample: by the parabola through three, no faster than between them."""
    if len(times) < 2:
        return np.zeros(values.shape[1])
    steps = np.diff(times[:3])
    speeds = np.diff(values[:3], axis=0) / steps[:, None]
    if len(speeds) < 2:
        return speeds[0]
    fastest = np.abs(speeds).max(axis=0)
    return np.clip(speeds[0] - (speeds[1] - speeds[0]) * steps[0] / steps.sum(), -fastest, fastest)
