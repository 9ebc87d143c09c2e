"""Look-ahead: a clip that was solved frame by frame, improved over all its frames at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..clip_solver.bounds import FITS, ORDERS, Peak, differences
from ..clip_solver.long_clip import LongClipSolver
from ..clip_solver.torques import TorqueLimits
from ..clips.clip import TargetClip
from ..dynamics import InverseDynamics
from ..dynamics.contact_points import sole_contacts
from ..errors import ClipError
from ..feet.finding import ground_of
from ..feet.standing import standing_phases
from ..feet.support_edges import SupportEdges, support_edges
from ..ik.memory import Output
from ..ik.solver import ClipTargets, Solver
from ..kinematics.frames import com_of_states, own_frames
from ..mechanism.model import Mechanism
from ..mechanism.motor_limits import torque_limits
from ..motions import Motion
from ..motions.report import LookAhead, ZeroMoment
from ..report.distances import distances
from .own_range import OwnRange

TOLD = 1e-4  # m: by so much less than its margin the zero-moment point may be inside
APART, TURNED = 0.05, 0.1  # of the robot's size, and rad: what the ends of a cyclic clip may be apart


@dataclass(frozen=True)
class FrameByFrame:
    """Result of solving frame by frame, for comparison.

    Attributes:
        position_error: (T, targets) [m].
        acceleration: (T - 2, actuators) [rad/s² or m/s²].
    """

    position_error: np.ndarray
    acceleration: np.ndarray


def _frame_by_frame(solver: Solver, clip: TargetClip, output: Output) -> FrameByFrame:
    """Return what an output of frames one by one comes to."""
    topology = solver.topology
    poses = own_frames(topology, output.position, output.quaternion)
    com = com_of_states(topology, output.position)
    apart, _, _ = distances(solver.mechanism, clip, solver.settings, *poses, com)
    return FrameByFrame(apart, differences(clip.times)[1].of(solver.actuator_values(output)))


def check_cyclic(mechanism: Mechanism, clip: TargetClip) -> None:
    """Check that a clip ends as it begins; raise ClipError for the target that does not come back."""
    if len(clip.times) < 5:
        raise ClipError(f"a cyclic clip needs at least 5 frames, not {len(clip.times)}")
    for name, track in clip.tracks.items():
        if track.position is not None:
            _check_back(name, float(np.linalg.norm(track.position[-1] - track.position[0])), mechanism)
        if track.quaternion is not None:
            turned = 2 * np.arccos(min(1.0, abs(track.quaternion[0] @ track.quaternion[-1])))
            if turned > TURNED:
                raise ClipError(
                    f"a cyclic clip ends where it begins, but the targets of {name!r} are turned by"
                    f" {np.degrees(turned):.0f}° between the first frame and the last"
                )
    if clip.com is not None:
        _check_back("the centre of mass", float(np.linalg.norm(clip.com[-1] - clip.com[0])), mechanism)


def _check_back(name: str, apart: float, mechanism: Mechanism) -> None:
    """Raise ClipError where a target's ends are far apart [m]."""
    if apart > APART * mechanism.extent:
        raise ClipError(
            f"a cyclic clip ends where it begins, but the targets of {name!r} are {1e3 * apart:.0f} mm apart between"
            " the first frame and the last"
        )


class LookingAhead:
    """Look-ahead under way, which replaces the output of the frames one by one.

    `earlier` is the look-ahead, with other walls, that left the output. `own_range` names the frames that are solved,
    and the motion at which the others stay; None for all frames.
    """

    def __init__(
        self,
        solver: Solver,
        clip: TargetClip,
        clip_targets: ClipTargets,
        output: Output,
        earlier: LookingAhead | None = None,
        own_range: OwnRange | None = None,
    ):
        self._solver, self._clip, self._output = solver, clip, output
        settings = solver.settings
        if settings.cyclic:
            check_cyclic(solver.mechanism, clip)
        self._before: FrameByFrame = earlier._before if earlier else _frame_by_frame(solver, clip, output)
        begun: LongClipSolver | None = earlier._clip_solver if earlier else None
        self._support = self._edges()
        self._clip_solver: LongClipSolver = LongClipSolver(
            solver, clip_targets, clip.times, output.q, settings.cyclic, begun, self._torque_limits(),
            None if own_range is None else own_range.frames,
        )  # fmt: skip
        self._depths_before: np.ndarray | None = (
            earlier._depths_before if earlier else self._clip_solver.zero_moment_depths()
        )

    def steps(self) -> Iterator[float]:
        """Improve the output, and yield the share that is done."""
        yield from self._clip_solver.steps()
        self._clip_solver.write(self._output)

    def report(self) -> LookAhead:
        """Return what came out, once all steps are done."""
        solver, error = self._clip_solver, self._before.position_error
        found = dict(zip(ORDERS, ((peak, self._name(peak)) for peak in solver.peaks()), strict=True))
        if torque := solver.torque_peak():
            found["torque"] = torque, self._solver.mechanism.actuators[torque.row]
        beyond = [
            f"the {what} of {name} is {peak.share:.3g} times its limit at {self._clip.times[peak.frame]:.3g} s"
            for what, (peak, name) in found.items()
            if peak.share > FITS
        ]
        some, depths = np.isfinite(error).any(), solver.zero_moment_depths()
        return LookAhead(
            iterations=solver.iterations,
            converged=solver.converged,
            shares={what: peak.share for what, (peak, _) in found.items()},
            beyond="; ".join([*beyond, *self._tipping(depths)]),
            position_error_max=float(np.nanmax(error)) if some else 0.0,
            position_error_mean=float(np.nanmean(error)) if some else 0.0,
            peak_acceleration=float(np.abs(self._before.acceleration).max(initial=0.0)),
            zero_moment=self._zero_moment(depths),
        )

    def _zero_moment(self, depths: np.ndarray | None) -> ZeroMoment | None:
        """Return how the zero-moment point was kept; None where it was not to be, or nothing stands."""
        before = self._depths_before
        if depths is None or before is None or not np.isfinite(depths).any():
            return None
        known, known_before = (found[np.isfinite(found)] for found in (depths, before))
        return ZeroMoment(
            inside=float(np.mean(known >= 0.0)),
            worst=float(known.min()),
            sample=int(np.nanargmin(depths)),
            inside_before=float(np.mean(known_before >= 0.0)),
            worst_before=float(known_before.min()),
        )

    def _tipping(self, depths: np.ndarray | None) -> list[str]:
        """Return where the zero-moment point is furthest from keeping its margin, in words; empty where it does."""
        support = self._support
        if depths is None or support is None:
            is_asked = self._solver.settings.zero_moment_margin is not None
            return ["the zero-moment point has no support, since no foot stands on more than an edge"] * is_asked
        missing = np.nan_to_num(support.margin[: len(depths)] - depths)
        k = int(missing.argmax())
        if missing[k] <= TOLD:
            return []
        where = f"{1e3 * abs(depths[k]):.3g} mm {'outside' if depths[k] < 0 else 'inside'} the support"
        asked = f", not {1e3 * support.margin[k]:.3g} mm inside it," if support.margin[k] > 0 else ""
        return [f"the zero-moment point is {where}{asked} at {self._clip.times[k]:.3g} s"]

    def _torque_limits(self) -> TorqueLimits | None:
        """Return the limits of the motors' torques and of tipping over; None where none is asked for."""
        mechanism, topology, settings = self._solver.mechanism, self._solver.topology, self._solver.settings
        if settings.torque_limit is None and self._support is None:
            return None
        dynamics, contacts = InverseDynamics(mechanism, topology=topology), None
        limits = np.full(len(mechanism.actuators), np.inf)
        if settings.torque_limit is not None:
            limits = torque_limits(mechanism, settings.torque_limit)
            if topology.base is not None:
                stands = standing_phases(mechanism, self._posed())
                contacts = sole_contacts(mechanism, stands, len(self._clip.times), friction=np.inf)
        return TorqueLimits(dynamics, limits, contacts, support=self._support)

    def _edges(self) -> SupportEdges | None:
        """Return the edges of what the robot stands on where the frames are; None where it may tip over."""
        mechanism, margin, clip = self._solver.mechanism, self._solver.settings.zero_moment_margin, self._clip
        if margin is None:
            return None
        motion = self._posed()
        contacts = {n: t.contact for n, t in clip.tracks.items() if t.contact is not None and t.contact.any()}
        if not any(mechanism.frame(name).is_foot for name in contacts):
            contacts |= standing_phases(mechanism, motion)
        return support_edges(mechanism, motion, contacts, ground_of(mechanism, clip), margin)

    def _posed(self) -> Motion:
        """Return the motion where the frames are, with its bodies' poses."""
        position, quaternion = own_frames(self._solver.topology, self._output.position, self._output.quaternion)
        return Motion(
            times=self._clip.times,
            actuators=self._solver.mechanism.actuators,
            values=self._solver.actuator_values(self._output),
            bodies=tuple(body.name for body in self._solver.mechanism.bodies),
            position=position,
            quaternion=quaternion,
        )

    def _name(self, peak: Peak) -> str:
        """Return the name of an actuator whose differences over time are bounded; empty where none is."""
        if not len(self._clip_solver.bounds.dof):
            return ""
        dof = self._clip_solver.bounds.dof[peak.row]
        return next(name for name, (own, _) in self._solver.topology.dofs.items() if own == dof)
