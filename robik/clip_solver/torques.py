"""Torques of a clip's motors and moments about the support's edges, and how they change with the frames.

    τₖ = inverse dynamics (qₖ, vₖ, aₖ),   v and a by differences of the frames k − 1, k and k + 1

Inverse dynamics is that of `robik.dynamics`: through the loops, with the smallest torques where motors must agree, and
with the smallest forces of the ground where feet stand. The ground holds these feet, as contacts do: it can pull, or
torques would leap where a motion asks for what no ground gives. Torques are linear in acceleration; their change with
pose and speed is taken by differences, again at every iterate. Beyond an end at which a clip rests it stays; beyond
another one it goes on at its speed.

Where the zero-moment point is to stay inside the support, the moments about the support's edges stand behind the
torques, as columns of their own with a bound on one side (`feet/support_edges.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..dynamics import ContactPoints, Dynamics, InverseDynamics
from ..feet.support_edges import SupportEdges
from ..mechanism.constraints import HINGE
from .bounds import Bounds, Peak
from .model import Frames, Model
from .quadratic import unbounded
from .stances import Stances
from .torque_kernel import VARIED, steps_between, tangents, vary_frames

NEAR = 0.8  # of a limit: a torque that has come so near once has a row
BLOCK = 20_000  # poses at a time whose torques are taken


@dataclass(frozen=True)
class TorqueLimits:
    """Limits of the motors' torques along a clip, and of moments about the support's edges.

    Attributes:
        dynamics: In the coordinates of the clip's frames.
        limits: (A,) of the actuators [N m or N]; infinite where there is none.
        contacts: Where and when the ground can push, over the clip; None for nowhere.
        rests: Whether the clip rests before its first frame, and after its last.
        support: Edges inside of which the zero-moment point stays, over the clip; None for wherever it is.
    """

    dynamics: InverseDynamics
    limits: np.ndarray
    contacts: ContactPoints | None = None
    rests: tuple[bool, bool] = (True, True)
    support: SupportEdges | None = None

    @property
    def one_sided(self) -> np.ndarray:
        """Return whether each column (A + E,) is the moment about an edge, which has no bound below."""
        edges = 0 if self.support is None else self.support.begins.shape[1]
        return np.arange(len(self.limits) + edges) >= len(self.limits)

    def begun(self, bounds: Bounds, times: np.ndarray, period: float | None, q: np.ndarray) -> TorqueLimits:
        """Return the limits of a clip that rests beyond its ends where bounds have it so, and torques allow it.

        A base has no bounds: what is cut out of a longer motion may have slow motors and a quick base, which no
        feet bring to rest. Bounds say where the motors rest, if they limit accelerations. After `period` [s] the
        first frame comes again; None for a clip that ends.
        """
        still = ~bounds.outside[1:].any(axis=1)
        if self.support is not None or not np.isfinite(bounds.limits[1:]).any():
            resting, going_on = (
                Torques(self, times, period, ends).used(q)[[0, -1]].max(axis=1, initial=0.0)
                for ends in ((True, True), (False, False))
            )
            still &= resting <= np.maximum(going_on, 1.0)
        return replace(self, rests=(bool(still[0]), bool(still[1])))

    def part(self, frames: np.ndarray) -> TorqueLimits:
        """Return the limits of some frames, by indices (F,)."""
        support = self.support and self.support.part(frames)
        return replace(self, contacts=_contacts_of(self.contacts, frames), support=support)


@dataclass(frozen=True)
class TorqueRows:
    """Torques that are near their limits, to first order, as shares of these; moments about edges among them.

    Attributes:
        of: (N,) which of all torques each is, as an index.
        lowest: (N,) bound below of each, as a share.
        shares: (T, A + E) all torques.
        frames: (N, 3) frames that each depends on.
        slopes: (N, 3, m) derivatives by the independent coordinates of these.
    """

    of: np.ndarray
    lowest: np.ndarray
    shares: np.ndarray
    frames: np.ndarray
    slopes: np.ndarray

    def pull(self, multipliers: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Return what rows add to a gradient (T, m) of this shape, by the multipliers (T, A + E) of all torques."""
        found = np.zeros(shape)
        np.add.at(found, self.frames, self.slopes * multipliers.ravel()[self.of][:, None, None])
        return found


class Torques:
    """Torques of T frames, and moments about the edges of the support.

    After `period` [s] the first frame comes again; None for a clip that ends. `ends` says if there are no other
    frames before the first, and after the last. Torques without a frame that `moves` (T,) are not judged. `frames`
    (T, 3) has the frame before each, the frame and the one after it, an end's own where there is none; `near` (T, A
    + E) flags torques that have come near their limits.
    """

    def __init__(
        self,
        asked: TorqueLimits,
        times: np.ndarray,
        period: float | None,
        ends: tuple[bool, bool],
        moves: np.ndarray | None = None,
    ):
        self._asked, self._flat, self._cyclic = asked, asked.dynamics.flat, period is not None
        self._rests = asked.rests[0] and ends[0], asked.rests[1] and ends[1]
        count = len(times)
        index = np.arange(count)[:, None] + np.arange(-1, 2)
        self.frames = index % count if self._cyclic else np.clip(index, 0, count - 1)
        self._judged = np.ones(count, bool) if moves is None else moves[self.frames].any(axis=1)
        steps = np.diff(times)
        seam = None if period is None else period - (times[-1] - times[0])
        self._back = np.concatenate([[steps[0] if seam is None else seam], steps])
        self._ahead = np.concatenate([steps, [steps[-1] if seam is None else seam]])
        self._hinges = np.asarray(self._flat.at_v)[np.asarray(self._flat.kind) == HINGE]
        self._last = np.zeros((0, 0)), np.zeros((0, 0))  # coordinates and their torques
        self._one_sided = asked.one_sided
        self.near = np.zeros((count, len(self._one_sided)), bool)

    def shares(self, q: np.ndarray) -> np.ndarray:
        """Return shares (T, A + E) of limits at q (T, nq), with signs: torques', then moments' about edges."""
        if not np.array_equal(q, self._last[0]):
            self._last = q.copy(), self._shares(np.arange(len(q)), q, *self._steps(q))
        return self._last[1]

    def used(self, q: np.ndarray) -> np.ndarray:
        """Return used shares (T, A + E) of limits: torques without sign, moments about edges negative far off."""
        shares = self.shares(q)
        return np.where(self._one_sided, shares, np.abs(shares))

    def depths(self, q: np.ndarray) -> np.ndarray:
        """Return the zero-moment point's depths (T,) [m] in the support, negative outside, NaN where not judged."""
        support = self._asked.support
        if support is None:
            return np.full(len(q), np.nan)
        k = np.arange(len(q))
        forces = self._forces(k, q, *self._steps(q))
        return np.where(self._judged, support.part(k).depths(forces, self._ends_of(forces)), np.nan)

    def beyond(self, q: np.ndarray) -> np.ndarray:
        """Return the shares of limits (T, A + E) by which torques exceed them; zeros where they are kept."""
        return np.maximum(self.used(q) - 1.0, 0.0) * self._judged[:, None]

    def peak(self, q: np.ndarray, edges: bool = True) -> Peak:
        """Return the largest used share of a limit, with its frame and its actuator, or edge behind these."""
        shares = np.maximum(self.used(q), 0.0) * self._judged[:, None]
        shares = shares if edges else shares[:, ~self._one_sided]
        frame, motor = np.unravel_index(int(shares.argmax()), shares.shape)
        return Peak(float(shares[frame, motor]), int(motor), int(frame))

    def grow(self, q: np.ndarray) -> bool:
        """Note torques that are near their limits at q (T, nq); return True if some are new."""
        found = self.used(q) > NEAR
        is_new = bool((found & ~self.near).any())
        self.near |= found
        return is_new

    def rows(self, stances: Stances, frames: Frames, model: Model) -> TorqueRows:
        """Return the torques that have come near their limits, to first order."""
        self.grow(frames.q)
        chosen, m = np.flatnonzero(self.near.any(axis=1)), model.gradient.shape[1]
        now, place = self.shares(frames.q), np.full(len(self.near), -1)
        if not len(chosen):
            return TorqueRows(chosen, np.zeros(0), now, np.zeros((0, 3), np.int64), np.zeros((0, 3, m)))
        needed = np.unique(self.frames[chosen])
        place[needed] = np.arange(len(needed))
        Z = np.zeros((len(needed), m, len(self._flat.before)))
        for stance, first, last in stances.placed():
            tangents(stance.flat, stance.work, stance.beside, frames.q, first, last, place, model, Z)
        slopes = []
        for k in np.array_split(chosen, 1 + len(chosen) * 3 * m // BLOCK):
            changed = self._varied(frames.q, k, place, model, Z) - now[k][:, None, None]
            which, motor = np.nonzero(self.near[k])
            slopes.append(changed[which, :, :, motor] / VARIED)
        of, columns = np.flatnonzero(self.near), self.near.shape[1]
        lowest = np.where(self._one_sided[of % columns], -np.inf, -1.0)
        return TorqueRows(of, lowest, now, self.frames[of // columns], np.concatenate(slopes))

    def _varied(self, q: np.ndarray, k: np.ndarray, place: np.ndarray, model: Model, Z: np.ndarray) -> np.ndarray:
        """Return the torques (n, 3, m, A + E) of frames k (n,) after a small step of each coordinate, as shares."""
        n, m, d = len(k), Z.shape[1], Z.shape[2]
        varied, room = np.zeros((n, 3 * m, q.shape[1])), np.zeros((3, q.shape[1]))
        back, ahead = np.zeros((2, n, 3 * m, d))
        vary_frames(self._flat, q, self.frames[k], place, model, Z, room, varied, back, ahead)
        rows = (each.reshape(n * 3 * m, -1) for each in (varied, back, ahead))
        return self._shares(np.repeat(k, 3 * m), *rows).reshape(n, 3, m, -1)

    def _shares(self, k: np.ndarray, q: np.ndarray, back: np.ndarray, ahead: np.ndarray) -> np.ndarray:
        """Return the torques (n, A + E) of frames k (n,), as shares, from coordinates and the steps beside them."""
        forces, support = self._forces(k, q, back, ahead), self._asked.support
        torques: np.ndarray = forces.torque / self._asked.limits
        if support is None:
            return torques
        return np.concatenate([torques, support.part(k).shares(forces, self._ends_of(forces))], axis=1)

    def _steps(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the steps (T, d) into frames and out of them."""
        back, ahead = np.zeros((2, len(q), len(self._flat.before)))
        steps_between(self._flat, q, self.frames[:, 0], self.frames[:, 2], back, ahead)
        return back, ahead

    def _ends_of(self, forces: Dynamics) -> np.ndarray:
        """Return where the ends of the support's edges are (n, K, 3) [m]."""
        assert self._asked.support is not None
        return forces.point[:, forces.point.shape[1] - len(self._asked.support.bodies) :]

    def _forces(self, k: np.ndarray, q: np.ndarray, back: np.ndarray, ahead: np.ndarray) -> Dynamics:
        """Return the forces of frames k (n,) from coordinates and the steps beside them."""
        self._meet_ends(k, back, ahead)
        before, after = self._back[k][:, None], self._ahead[k][:, None]
        arrived, leaving = back / before, ahead / after
        velocity = (after * arrived + before * leaving) / (before + after)
        acceleration = 2.0 * (leaving - arrived) / (before + after)
        contacts = _with_ends(_contacts_of(self._asked.contacts, k), self._asked.support, len(k))
        return self._asked.dynamics.solve(k, q, velocity, acceleration, contacts)

    def _meet_ends(self, k: np.ndarray, back: np.ndarray, ahead: np.ndarray) -> None:
        """Set the steps (n, d) of frames k (n,) beyond the clip's ends, or across the seam of a cyclic one."""
        first, last = np.flatnonzero(k == 0), np.flatnonzero(k == len(self.frames) - 1)
        if self._cyclic:
            for steps, seam in ((back, first), (ahead, last)):
                at = np.ix_(seam, self._hinges)
                steps[at] -= 2.0 * np.pi * np.round(steps[at] / (2.0 * np.pi))
            return
        back[first] = 0.0 if self._rests[0] else ahead[first]
        ahead[last] = 0.0 if self._rests[1] else back[last]


def free(model: Model, rows: TorqueRows | None) -> np.ndarray:
    """Return flags (T, m) of coordinates that no bound is on, nor a torque near its limit depends on."""
    found = unbounded(model)
    if rows is not None:
        found[rows.frames.ravel()] = False
    return found


def _contacts_of(contacts: ContactPoints | None, frames: np.ndarray) -> ContactPoints | None:
    """Return the contact points in some frames, as indices (F,)."""
    return contacts and replace(contacts, touches=contacts.touches[frames])


def _with_ends(contacts: ContactPoints | None, support: SupportEdges | None, samples: int) -> ContactPoints | None:
    """Return contact points, and behind them the ends of the support's edges, which take no force."""
    if support is None:
        return contacts
    idle = np.zeros((samples, len(support.bodies)), bool)
    if contacts is None:
        return ContactPoints(support.bodies, support.points, idle)
    return replace(
        contacts,
        bodies=contacts.bodies + support.bodies,
        points=np.concatenate([contacts.points, support.points]),
        touches=np.concatenate([contacts.touches, idle], axis=1),
    )
