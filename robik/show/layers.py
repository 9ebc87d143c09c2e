"""Layers of a performance: an idle motion, clips that are triggered on top of it, and a stick that leans on the sum.

    w(t)  = S((t − begin) / fade) · (1 − S((t − leave) / fade)),   S(u) = 10 u³ − 15 u⁴ + 6 u⁵
    x(t)  = idle(t);  for each clip, the latest last:  x ← x + w(t) (clip(t) − x),  for what the clip moves
    wish  = x(t) + stick(t)

A clip that is triggered while another plays fades in over it. The wish goes through a `Limiter`, so that what comes out
keeps the limits of position, speed and acceleration, whatever is pressed. The stick is smoothed first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import RobikError
from ..limiter import Limiter
from ..motions import BaseTrack, Motion
from ..motions.curves import Curves
from ..motions.seam import closed_motion

RATE = 100.0  # steps a second [Hz]
STILL = 1e-4  # [rad or m]: a clip moves what leaves its first value by more
LEAN = 0.08  # [s] time constant of the stick, critically damped
BEGIN = 1.0  # [s] from where the robot is to the idle motion
SEAM = 0.5  # [s] over which the end of an idle motion is led into its beginning, at most a quarter of the motion
MOST = 16  # clips at a time; a key that is hammered adds no more
LONGEST = 0.1  # [s]: of a stall no more is caught up with
MARGIN = 0.98  # of speeds and accelerations that is used, so that rounding does not cross them
BASE = 7  # position and quaternion of the base, behind the actuators' columns
LARGEST = 1e6  # [rad, m, per second…]: the limiter wants finite limits
ROUNDING = 1e-9  # [s]


def smooth(share: float) -> float:
    """Return S(u) of the equations above, 0 to 1, with no speed and no acceleration at both ends; u is clipped."""
    u = min(max(share, 0.0), 1.0)
    return u**3 * (10 - 15 * u + 6 * u**2)


@dataclass(frozen=True, eq=False)
class Clip:
    """A motion as a layer plays it.

    Attributes:
        name: by which it is triggered and released.
        rows: (K, n + 7) at `RATE`: the actuators' values [rad or m], the base's position [m] and quaternion wxyz.
        moves: (n + 7) whether it takes over this column.
        duration: [s].
        is_round: whether it goes on and on; its last row is its first.
    """

    name: str
    rows: np.ndarray
    moves: np.ndarray
    duration: float
    is_round: bool

    def at(self, seconds: float) -> np.ndarray:
        """Return the clip's row (n + 7) at a time since its begin [s]; one that is not round stands at its ends."""
        if len(self.rows) == 1:
            return self.rows[0]
        inside = seconds % self.duration if self.is_round else min(max(seconds, 0.0), self.duration)
        place = inside * (len(self.rows) - 1) / self.duration
        below = min(int(place), len(self.rows) - 2)
        return self.rows[below] + (place - below) * (self.rows[below + 1] - self.rows[below])


def clip_of(
    name: str, motion: Motion, actuators: tuple[str, ...], moved_only: bool = False, is_round: bool = False
) -> Clip:
    """Return a motion as a clip that is triggered by a name, with columns in the order of the robot's actuators.

    With `moved_only` it takes over only what it moves, else all columns of the motion. A round clip goes on and on;
    where its end is not its beginning, its last part leads there. Raise RobikError if it has none of the actuators,
    or is too short to go round.
    """
    if not set(motion.actuators) & set(actuators):
        raise RobikError(f"{name!r} moves none of the robot's motors; it has {', '.join(motion.actuators)}")
    if is_round and len(motion.times) > 2:
        motion = closed_motion(motion, min(SEAM, 0.25 * float(motion.times[-1] - motion.times[0])))
    duration = float(motion.times[-1] - motion.times[0])
    times = motion.times[0] + np.linspace(0.0, duration, max(1, int(np.ceil(duration * RATE - ROUNDING))) + 1)
    found = Curves(motion).at(times if duration > 0 else motion.times[:1])
    rows, moves = np.zeros((len(found.times), len(actuators) + BASE)), np.zeros(len(actuators) + BASE, dtype=bool)
    for k, actuator in enumerate(actuators):
        if actuator in found.actuators:
            rows[:, k] = found.values[:, found.actuators.index(actuator)]
            moves[k] = True
    if found.base is not None:
        rows[:, -BASE:-4], rows[:, -4:] = found.base.position, found.base.quaternion
        moves[-BASE:] = True
    if moved_only:
        left = np.abs(rows - rows[0]).max(axis=0) > STILL
        left[-BASE:] = left[-BASE:].any()
        moves &= left
    return Clip(name, rows, moves, duration, is_round)


@dataclass(eq=False)
class _Playing:
    """A clip that was triggered."""

    clip: Clip
    begin: float
    leave: float  # when it begins to fade out; infinite while it is held

    def weight(self, time: float, fade: float) -> float:
        return smooth((time - self.begin) / fade) * (1.0 - smooth((time - self.leave) / fade))

    def fade(self, fade: float) -> float:
        """Return how long it fades: a clip that is shorter than two fades does in half of its time."""
        return fade if self.clip.is_round else max(min(fade, 0.5 * self.clip.duration), 1.0 / RATE)


class Layers:
    """Mixer of a robot's layers: an idle clip, which is round, or a stand; triggered clips; and a stick.

    The actuators' `limits` are (n, 2) [rad or m], their highest `speeds` (n,) [rad/s or m/s] and `accelerations`
    (n,) [rad/s² or m/s²]. Triggered clips fade in `fade` [s]. Where no layer moves the base, it stays.

    Attributes:
        time: since the begin [s].
        values: of now (n,) [rad or m].
        base: of now (7): position [m] and quaternion wxyz.
        taken: rows (n + 7) of all steps so far, where they are kept.
        keeps: whether they are.
    """

    def __init__(
        self,
        limits: np.ndarray,
        speeds: np.ndarray,
        accelerations: np.ndarray,
        values: np.ndarray,
        base: np.ndarray,
        idle: Clip | None = None,
        fade: float = 0.3,
    ) -> None:
        possible = np.clip(np.minimum(MARGIN * speeds, LARGEST), 0.0, None), np.minimum(MARGIN * accelerations, LARGEST)
        self._limiter = Limiter(np.clip(limits, -LARGEST, LARGEST), *possible, 1.0 / RATE)
        self._limiter.place(values)
        self._start, self._idle, self._fade = np.concatenate([values, base]), idle, max(fade, 1.0 / RATE)
        self._playing: list[_Playing] = []
        self._lean = self._lean_speed = self._lean_aim = np.zeros(len(values))
        self._left, self.time = 0.0, 0.0
        self.values, self.base = self._limiter.position, np.array(base, dtype=float)
        self.keeps, self.taken = False, [self._row()]

    @property
    def names(self) -> list[str]:
        """Return the names of the clips that play, the latest last."""
        return list(dict.fromkeys(one.clip.name for one in self._playing))

    def trigger(self, clip: Clip) -> bool:
        """Begin a clip over all that plays, and return whether it does: not while `MOST` clips play.

        A round one goes on until it is released.
        """
        if len(self._playing) >= MOST:
            return False
        one = _Playing(clip, self.time, np.inf)
        if not clip.is_round:
            one.leave = self.time + max(clip.duration - one.fade(self._fade), 0.0)
        self._playing.append(one)
        return True

    def release(self, name: str) -> None:
        """Fade a clip out from now on, wherever it is."""
        for one in self._playing:
            if one.clip.name == name:
                one.leave = min(one.leave, self.time)

    def release_all(self) -> None:
        """Let all clips fade out; the idle motion goes on."""
        for name in self.names:
            self.release(name)

    def lean(self, offsets: np.ndarray) -> None:
        """Add these offsets (n,) [rad or m] of the stick to the actuators, from now on."""
        self._lean_aim = np.where(np.isfinite(offsets), offsets, 0.0)

    def advance(self, seconds: float) -> None:
        """Go on by `seconds`, but no more than `LONGEST` after a stall."""
        self._left += min(max(seconds, 0.0), LONGEST)
        while self._left >= 1.0 / RATE - ROUNDING:
            self._left -= 1.0 / RATE
            self._step()

    def motion(self, actuators: tuple[str, ...], base: str | None) -> Motion:
        """Return the motion, from 0 s on, of the steps that were kept; `base` is the body that floats, or None."""
        rows = np.array(self.taken)
        track = None if base is None else BaseTrack(body=base, position=rows[:, -BASE:-4], quaternion=rows[:, -4:])
        return Motion(times=np.arange(len(rows)) / RATE, actuators=actuators, values=rows[:, :-BASE], base=track)

    def _row(self) -> np.ndarray:
        return np.concatenate([self.values, self.base])

    def _step(self) -> None:
        period, n = 1.0 / RATE, len(self.values)
        self.time += period
        now, then = self._sum(self.time), self._sum(self.time + period)
        self._step_lean(period)
        speed = (then[:n] - now[:n]) / period + self._lean_speed
        self.values = self._limiter.step(now[:n] + self._lean, speed)
        self.base = now[n:]
        self._forget_what_is_over()
        if self.keeps:
            self.taken.append(self._row())

    def _step_lean(self, period: float) -> None:
        """Bring the stick nearer to where it is held: a critically damped spring, exact for a step of any length."""
        off, decay = self._lean - self._lean_aim, np.exp(-period / LEAN)
        change = self._lean_speed + off / LEAN
        self._lean = self._lean_aim + decay * (off + change * period)
        self._lean_speed = decay * (self._lean_speed - change * period / LEAN)

    def _sum(self, time: float) -> np.ndarray:
        row = self._start
        if self._idle is not None:
            row = _over(row, self._idle.at(time), smooth(time / BEGIN) * self._idle.moves)
        for one in self._playing:
            row = _over(row, one.clip.at(time - one.begin), one.weight(time, one.fade(self._fade)) * one.clip.moves)
        return row

    def _forget_what_is_over(self) -> None:
        """Forget clips that have faded out, and those below one that is all there and moves all that they move."""
        kept: list[_Playing] = []
        covered = np.zeros(len(self._start), dtype=bool)
        for one in reversed(self._playing):
            fade = one.fade(self._fade)
            if self.time >= one.leave + fade or (one.clip.moves & ~covered).sum() == 0:
                continue
            kept.append(one)
            if self.time >= one.begin + fade and self.time + 1.0 / RATE < one.leave:
                covered |= one.clip.moves
        self._playing = kept[::-1]


def _over(below: np.ndarray, above: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return a row (n + 7) with another one over it, each column as far as its weight says."""
    turn = above[-4:] if above[-4:] @ below[-4:] >= 0 else -above[-4:]
    row = below + weights * (np.concatenate([above[:-4], turn]) - below)
    row[-4:] /= max(float(np.linalg.norm(row[-4:])), 1e-12)
    return row
