"""Slow down where needed: a motion on the same path, later where its motors cannot keep up."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator

from ..clip_solver.bounds import FITS, ORDERS, differences
from ..dynamics import InverseDynamics
from ..dynamics.contact_points import ContactPoints, sole_contacts
from ..dynamics.derivatives import derivatives
from ..errors import ClipError
from ..feet.standing import standing_phases
from ..mechanism.model import Mechanism
from ..mechanism.motor_limits import Limits
from ..motions import BaseTrack, Motion
from ..motions.posing import posed
from ..steps import finish
from .exact import KEPT, ExactTimes
from .pace import Nodes, Torques, fastest_pace

FINEST = 1.0 / 60.0  # [s] between two nodes of the path at the most
FEWEST = 4  # samples of a path
SPARE = 4  # frames that the first plan gets in addition
LONGER = 0.02  # more frames, as a share, where they do not suffice; twice as many the next time
TRIES = 8
TORQUE_TRIES = 4
STILL = 1e-9  # [s] from the path's end: the robot has arrived


@dataclass(frozen=True)
class Slowed:
    """A motion that was slowed down.

    Attributes:
        motion: On the same path.
        along: (T,) the time of the original motion at which each of its samples was [s].
        longer: By how much it is longer [s].
        shares: Largest share of each limit that is used: speed, acceleration, jerk and, where it is kept, torque.
        beyond: What could not be kept, in words; empty if everything was.
    """

    motion: Motion
    along: np.ndarray
    longer: float
    shares: dict[str, float]
    beyond: str = ""

    def later(self, times: np.ndarray) -> np.ndarray:
        """Return the times at which the motion is where the original was at these times [s].

        Before its beginning they stay, after its end they are as late as the end.
        """
        first, last = (
            np.searchsorted(self.along, self.along[0], "right") - 1,
            np.searchsorted(self.along, self.along[-1]),
        )
        kept = slice(int(first), int(last) + 1)
        place, when = self.along[kept], self.motion.times[kept]
        times = np.asarray(times, dtype=float)
        found = np.interp(times, place, when)
        return np.where(times > place[-1], times + self.longer, np.where(times < place[0], times, found))

    def __str__(self) -> str:
        used = ", ".join(f"{name} {100 * share:.4g} %" for name, share in self.shares.items())
        told = (
            f"{self.longer:.3g} s longer: {self.motion.times[-1] - self.motion.times[0]:.4g} s; of the limits: {used}"
        )
        return f"{told}; cannot be kept: {self.beyond}" if self.beyond else told


def slow_down(mechanism: Mechanism, motion: Motion, limits: Limits, catch_up: float = 0.0) -> Slowed:
    """Return a motion on the same path within limits of speed, acceleration, jerk and torque, as fast as it can.

    It has the same rate. To make up for a delay it may be faster than the motion by the share `catch_up`: 0.1 for a
    tenth. Raise ClipError for fewer than four samples, MechanismError for torques of a robot without mass.
    """
    return finish(slowing_down(mechanism, motion, limits, catch_up))


def slowing_down(
    mechanism: Mechanism, motion: Motion, limits: Limits, catch_up: float = 0.0
) -> Generator[float, None, Slowed]:
    """Slow a motion down as `slow_down` does, and yield the share that is done; the generator returns the result."""
    if len(motion.times) < FEWEST:
        raise ClipError(f"a motion is slowed down from {FEWEST} samples on, this one has {len(motion.times)}")
    path = _Path(mechanism, motion)
    held = limits
    for attempt in range(TORQUE_TRIES):
        torques = path.torques() if np.isfinite(held.torque).any() else None
        yield 0.1
        times, along = yield from _timed(path, held, 1.0 + catch_up, torques)
        slowed = path.at(times, along)
        used = path.torque_share(slowed, limits)
        if used <= 1.0 or attempt == TORQUE_TRIES - 1:
            break
        held = replace(held, torque=held.torque * 0.98 / used)
    return _told(motion, slowed, along, limits, used if torques is not None else None)


def _timed(
    path: _Path, limits: Limits, most: float, torques: Torques | None
) -> Generator[float, None, tuple[np.ndarray, np.ndarray]]:
    """Return the frames' times and their places on the path, both (T,) [s]; yields the share that is done."""
    step, jerk = path.step, limits.over_time[2]
    with np.errstate(divide="ignore"):
        start = np.minimum(limits.acceleration * step, 0.5 * jerk * step**2)
        ends = max(float((start / np.abs(path.nodes.first[[0, -1]]).max(axis=0)).min(initial=most)), 1e-3)
    pace = fastest_pace(path.nodes, limits, most, min(ends, most), torques)
    yield 0.4
    ways = 2.0 * path.nodes.h / (pace[1:] + pace[:-1])
    seconds = _never_early(ways, path.grid - path.start)
    place = PchipInterpolator(seconds, path.grid)
    if torques is None:
        values, over_time = path.value, limits.over_time
    else:  # no faster than torques allow: one more row, which counts the seconds of that pace
        paced = CubicSpline(path.grid, np.concatenate([[0.0], np.cumsum(ways)]))
        over_time = np.column_stack([limits.over_time, [1.0, np.inf, np.inf]])

        def values(s: np.ndarray, order: int) -> np.ndarray:
            return np.column_stack([path.value(s, order), paced(s, order)])

    frames = int(np.ceil(seconds[-1] / step)) + SPARE
    for attempt in range(TRIES):
        times = path.start + step * np.arange(frames + 1)
        along = place(np.minimum((times - path.start) * seconds[-1] / (frames * step), seconds[-1]))
        along[[0, -1]] = path.grid[[0, -1]]
        exact = ExactTimes(values, times, along, over_time, most)
        for _ in exact.steps():
            yield 0.4 + 0.5 * (attempt + 1) / TRIES
        if exact.beyond <= KEPT:
            break
        frames = int(np.ceil((1.0 + LONGER * 2**attempt) * frames)) + 1
    arrived = int(np.argmax(exact.along >= path.grid[-1] - STILL))
    return times[: arrived + 1], np.minimum(exact.along[: arrived + 1], path.grid[-1])


def _never_early(ways: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return when a path's nodes are reached (K,) that takes these times between them, never before its own time."""
    found = [0.0]
    for way, least in zip(ways.tolist(), own[1:].tolist(), strict=True):
        found.append(max(found[-1] + way, least))
    return np.array(found)


class _Path:
    """A motion as a path over its own time."""

    def __init__(self, mechanism: Mechanism, motion: Motion):
        self._mechanism, self._motion = mechanism, motion
        times = motion.times
        self.start, self.step = float(times[0]), float(np.median(np.diff(times)))
        self._curve = CubicSpline(times, motion.values)
        fine = max(1, int(np.ceil(self.step / FINEST)))
        count = fine * (len(times) - 1) + 1
        self.grid = np.linspace(times[0], times[-1], max(count, 8))
        first, second, third = (self._curve(self.grid, order) for order in (1, 2, 3))
        self.nodes = Nodes(first, second, third, float(self.grid[1] - self.grid[0]))
        self._room: InverseDynamics | None = None

    def value(self, s: np.ndarray, order: int) -> np.ndarray:
        """Return the motors' values (T, A) at places s (T,), or derivatives by s."""
        inside = np.clip(s, self.grid[0], self.grid[-1])
        return np.asarray(self._curve(inside, order))

    def at(self, times: np.ndarray, along: np.ndarray) -> Motion:
        """Return the motion at times (T,) that is at places `along` (T,), assembled."""
        base, own = self._motion.base, self._motion.times
        if base is not None:
            flips = np.where((base.quaternion[1:] * base.quaternion[:-1]).sum(axis=1) < 0, -1.0, 1.0)
            turns = base.quaternion * np.cumprod(np.concatenate([[1.0], flips]))[:, None]
            turned = CubicSpline(own, turns)(along)
            turned /= np.linalg.norm(turned, axis=1, keepdims=True)
            base = BaseTrack(body=base.body, position=CubicSpline(own, base.position)(along), quaternion=turned)
        lower, upper = self._mechanism.actuator_limits.T
        values = np.clip(self.value(along, 0), lower, upper)  # a curve through a leap may go beyond
        bare = Motion(times=times, actuators=self._motion.actuators, values=values, base=base)
        return posed(self._mechanism, bare)[0]

    def torques(self) -> Torques:
        """Return the torques along the path at rest, by the square of its pace, and by half the change of that."""
        room, motion = self._dynamics(), self.at(self.grid, self.grid)
        q = room.coordinates(motion)
        contacts = self._contacts(motion)
        velocity, bend = derivatives(room.flat, self.grid, q, None)
        none = np.zeros_like(velocity)
        rest = room.solve(self.grid, q, none, none, contacts).torque
        fast = room.solve(self.grid, q, velocity, bend, contacts).torque - rest
        slow = room.solve(self.grid, q, none, velocity, contacts).torque - rest
        return Torques(rest, fast, slow)

    def torque_share(self, motion: Motion, limits: Limits) -> float:
        """Return the largest share of the torques' limits that a motion needs; 0 where none is to be kept."""
        held = np.isfinite(limits.torque)
        if not held.any():
            return 0.0
        room = self._dynamics()
        found = room.forces(motion.times, room.coordinates(motion), self._contacts(motion)).torque
        return float((np.abs(found[:, held]) / limits.torque[held]).max(initial=0.0))

    def _dynamics(self) -> InverseDynamics:
        if self._room is None:
            self._room = InverseDynamics(self._mechanism)
        return self._room

    def _contacts(self, motion: Motion) -> ContactPoints | None:
        """Return where and when a robot that floats stands."""
        if self._dynamics().topology.base is None:
            return None
        return sole_contacts(self._mechanism, standing_phases(self._mechanism, motion), len(motion.times))


def _told(motion: Motion, slowed: Motion, along: np.ndarray, limits: Limits, torque: float | None) -> Slowed:
    """Return the result, with the shares of the limits that it uses."""
    shares, words = {}, []
    for order, limit, name in zip(differences(slowed.times, rests=(True, True)), limits.over_time, ORDERS, strict=True):
        used = np.abs(order.of(slowed.values)) / limit
        shares[name] = float(used.max(initial=0.0))
        if shares[name] > FITS:
            window, motor = np.unravel_index(int(used.argmax()), used.shape)
            when = slowed.times[order.frames[window, 0]]
            words.append(
                f"the {name} of {slowed.actuators[motor]} is {shares[name]:.3g} times its limit at {when:.3g} s"
            )
    if torque is not None:
        shares["torque"] = torque
        if torque > FITS:
            words.append(f"a motor needs {torque:.3g} times its torque, at any pace")
    longer = float((slowed.times[-1] - slowed.times[0]) - (motion.times[-1] - motion.times[0]))
    return Slowed(slowed, along, longer, shares, "; ".join(words))
