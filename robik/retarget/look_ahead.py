"""Look-ahead: a clip that was solved frame by frame, improved over all its frames at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..clip_solver.bounds import FITS, ORDERS, Peak, differences
from ..clip_solver.long_clip import LongClipSolver
from ..clip_solver.torques import TorqueLimits
from ..clips.clip import TargetClip
from ..clips.standing import standing_phases
from ..dynamics import InverseDynamics
from ..dynamics.contact_points import sole_contacts
from ..errors import ClipError
from ..ik.memory import Output
from ..ik.solver import ClipTargets, Solver
from ..kinematics.frames import com_of_states, own_frames
from ..mechanism.model import Mechanism
from ..mechanism.motor_limits import torque_limits
from ..motions import Motion
from ..motions.report import LookAhead
from .distances import distances
from .own_range import OwnRange

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
    """Check that a clip asks for the same in its last frame as in its first.

    Args:
        mechanism: The robot.
        clip: The targets.

    Raises:
        ClipError: Names the target that does not come back.
    """
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
    """Look-ahead under way.

    Args:
        solver: of one frame.
        clip: what is followed.
        clip_targets: the same in the solver's terms.
        output: of the frames one by one, which is replaced.
        earlier: that left the output, with other walls.
        own_range: frames that are solved, and what the others stay at; None for all frames.
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
        self._clip_solver: LongClipSolver = LongClipSolver(
            solver, clip_targets, clip.times, output.q, settings.cyclic, begun, self._torque_limits(),
            None if own_range is None else own_range.frames,
        )  # fmt: skip

    def steps(self) -> Iterator[float]:
        """Improve the output.

        Yields:
            Share of the work that is done, 0 to 1.
        """
        yield from self._clip_solver.steps()
        self._clip_solver.write(self._output)

    def report(self) -> LookAhead:
        """Return what came out, once all steps are done."""
        solver, error = self._clip_solver, self._before.position_error
        found = dict(zip(ORDERS, ((peak, self._name(peak)) for peak in solver.peaks()), strict=True))
        if torque := solver.torque_peak():
            found["torque"] = torque, self._solver.mechanism.actuators[torque.row]
        some = np.isfinite(error).any()
        return LookAhead(
            iterations=solver.iterations,
            converged=solver.converged,
            shares={what: peak.share for what, (peak, _) in found.items()},
            beyond="; ".join(
                f"the {what} of {name} is {peak.share:.3g} times its limit at {self._clip.times[peak.frame]:.3g} s"
                for what, (peak, name) in found.items()
                if peak.share > FITS
            ),
            position_error_max=float(np.nanmax(error)) if some else 0.0,
            position_error_mean=float(np.nanmean(error)) if some else 0.0,
            peak_acceleration=float(np.abs(self._before.acceleration).max(initial=0.0)),
        )

    def _torque_limits(self) -> TorqueLimits | None:
        """Return the limits of the motors' torques; None where none is asked for."""
        mechanism, topology = self._solver.mechanism, self._solver.topology
        if self._solver.settings.torque_limit is None:
            return None
        limits = torque_limits(mechanism, self._solver.settings.torque_limit)
        dynamics, contacts = InverseDynamics(mechanism, topology=topology), None
        if topology.base is not None:
            stands = standing_phases(mechanism, self._posed())
            contacts = sole_contacts(mechanism, stands, len(self._clip.times), friction=np.inf)
        return TorqueLimits(dynamics, limits, contacts)

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
