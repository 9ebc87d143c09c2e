"""TargetClip → Motion: every frame of a clip, each from the one before."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import cache, cached_property, partial
from time import perf_counter
from typing import Any

import numpy as np

from ..clips.clip import TargetClip
from ..clocks import cpu_seconds
from ..errors import ClipError
from ..feet.contact import Contact
from ..ik.prior_solver import PriorSolver
from ..ik.solver import ClipTargets, Solver
from ..ik.standing import StandingSolver
from ..ik.starts_within_limits import start_of_first_frame
from ..kinematics.calls import actuator_row
from ..kinematics.forward import ForwardKinematics
from ..kinematics.locked import warn_of_locked_motors
from ..mechanism.model import Mechanism
from ..motions import BaseTrack, LookAhead, Motion
from ..objectives.pose_prior import WEIGHT, PosePrior
from ..objectives.settings import Settings
from ..report.judging import judged
from ..report.speed_cost import measure_speed_cost, without_speeds
from .asked import check_asked
from .look_ahead import LookingAhead, check_cyclic
from .own_range import OwnRange
from .reasons import Reasons
from .solved import SolvedFrames

CHUNK, MOST = 16, 256  # frames solved between two looks at the clock: at first, and where they are quick
QUICK = 0.01  # s for a chunk; each call of the solver takes as long as a few quick frames


class Retargeting:
    """A retargeting under way, so that a caller can show progress and stop between chunks of frames.

    Args:
        mechanism: the robot, which starts in its rest pose.
        clip: what it should follow.
        settings: weights, regularizers, limits.
        formulation: of the inverse kinematics; `ImplicitSolver` is there to compare with.
        speed_cost: whether to solve the clip a second time where speeds are held back, to report what that costs.
        prior: poses like an example's, where the targets leave a choice; none if left out.
        prior_weight: of the pull towards them, per body, beside targets that weigh 1.
        own_range: frames that are solved, while all others stay as a motion before has them; all frames if left out.
        start: actuator values (A,) [rad or m] from which the first frame is solved; the rest pose if left out.

    Attributes:
        looks_ahead_now: whether all frames are being solved at once, after they were one by one.

    Raises:
        ClipError: an unknown frame, a weight for a frame that is not followed, nothing to follow, another robot's
            prior, an own range that the clip or the motion before does not fit.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        clip: TargetClip,
        settings: Settings = Settings(),  # noqa: B008 - immutable
        formulation: type[Solver] = StandingSolver,
        speed_cost: bool = False,
        prior: PosePrior | None = None,
        prior_weight: float = WEIGHT,
        own_range: OwnRange | None = None,
        start: np.ndarray | None = None,
    ):
        check_asked(mechanism, clip, settings)
        if own_range is not None:
            self._check_range(own_range, mechanism, clip, settings)
        self.mechanism, self.clip, self.settings, self._own_range = mechanism, clip, settings, own_range
        arguments = mechanism, tuple(clip.tracks), settings, clip.com is not None, clip.objectives
        self.solver = formulation(*arguments) if prior is None else PriorSolver(*arguments, prior, prior_weight)
        self._looks_ahead = settings.look_ahead and len(clip.times) > 1
        self._solved = SolvedFrames(self.solver, clip, settings, self._looks_ahead or own_range is not None)
        self._ahead_milliseconds = 0.0  # of each frame, in looking ahead
        self._part = own_range.frames if own_range else (0, len(clip.times))
        self._done = self._part[0]
        self._start = None if start is None else actuator_row(mechanism, start)
        self._ahead: LookAhead | None = None
        self._looking: LookingAhead | None = None
        self.looks_ahead_now = False
        if settings.cyclic:
            check_cyclic(mechanism, clip)
        unheld = without_speeds(settings) if speed_cost else None
        how = formulation, False, prior, prior_weight, own_range, start
        self._free = _Unheld(mechanism, clip, unheld, *how) if unheld else None

    def _check_range(self, own_range: OwnRange, mechanism: Mechanism, clip: TargetClip, settings: Settings) -> None:
        """Check that an own range can be solved."""
        own_range.check(mechanism, clip.times, settings)

    def steps(self) -> Iterator[int]:
        """Solve frame by frame, then all frames at once where that is asked for.

        Yields:
            Number of frames that are done; where the cost of speeds is asked for, it counts up a second time.
        """
        yield from self.frame_by_frame()
        yield from self.finishing()

    def run(self) -> Motion:
        """Take all steps.

        Returns:
            The motion.
        """
        for _ in self.steps():
            pass
        return self.motion()

    def frame_by_frame(self) -> Generator[int, None, None]:
        """Solve every frame from the one before, chunk by chunk.

        Yields:
            Number of frames that are done.
        """
        (first, frames), chunk = self._part, CHUNK
        clip_targets, contacts = self._compiled()
        if self._own_range is not None and self._done == first:
            self._keep_before(self._own_range, clip_targets, contacts)
        elif self._done == 0:
            self._begin(clip_targets, contacts)
        while self._done < frames:
            stop = min(self._done + chunk, frames)
            began = perf_counter()
            self._solved.solve(self._done, stop, clip_targets, contacts)
            took = perf_counter() - began
            self._done = stop
            chunk = min(2 * chunk, MOST) if took < QUICK else max(chunk // 2, CHUNK)
            yield stop

    def _keep_before(self, own: OwnRange, clip_targets: ClipTargets, contacts: list[Contact]) -> None:
        """Take all frames as the motion before has them, and go on from the one before the range."""
        q, first = own.coordinates(self.mechanism, self.solver.topology), own.first
        self._solved.keep(q, clip_targets, contacts)
        if first > 0:
            self.solver.go_on_from(q[first - 1], clip_targets.targets[first - 1], q[first - 2] if first > 1 else None)

    def _begin(self, clip_targets: ClipTargets, contacts: list[Contact]) -> None:
        """Put the robot where the first frame should start: as asked, or where one is met that is not from rest."""
        solver, first = self.solver, clip_targets.targets[0]
        if self._start is not None:
            forward = ForwardKinematics(self.mechanism, solver.topology)
            forward.move(self._start)
            solver.go_on_from(forward.coordinates, first)
        elif solver.topology.root is None and not contacts and solver.BY_COORDINATES:
            better = start_of_first_frame(solver, self._solved.room, clip_targets)
            if better is not None:
                solver.go_on_from(better, first)

    def _compiled(self) -> tuple[ClipTargets, list[Contact]]:
        """Return what the clip asks for in the solver's terms, and the contacts that are held."""
        holds = self.settings.contacts == "hold" and isinstance(self.solver, StandingSolver)
        held = self._solved.figures.held if holds else {}
        targets = {name: (track.position, track.quaternion) for name, track in self.clip.tracks.items()}
        targets |= {name: (track.position, track.quaternion) for name, track in held.items()}
        clip_targets = self.solver.compile_targets(targets, self.clip.com, self.clip.times)
        if self._looks_ahead:
            self._targets = clip_targets
        return clip_targets, [track.contact for track in held.values()]

    def begin_at(self, other: Retargeting) -> None:
        """Begin where all frames of another clip were solved at once, instead of solving frame by frame.

        Args:
            other: That solved as many frames of the same robot, with other walls.
        """
        clip_targets, contacts = self._compiled()
        if isinstance(self.solver, StandingSolver):
            self.solver.stand(clip_targets, contacts)
        self._solved.take(other._solved)
        self._looking = other._looking
        self._done = self._part[1]

    def finishing(self) -> Generator[int, None, None]:
        """Do what comes once the frames are solved one by one: all at once, and the cost of speeds, as asked for.

        Yields:
            Number of frames that are as good as done, counted again.
        """
        if self._looks_ahead and self._ahead is None:
            yield from self._look_ahead()
        if self._free is not None:
            yield from self._free.steps()

    def _look_ahead(self) -> Iterator[int]:
        """Improve all frames at once; yields how many are as good as done, counted again."""
        frames, began = len(self.clip.times), cpu_seconds()
        room, own = self._solved.room, self._own_range
        looking = LookingAhead(self.solver, self.clip, self._targets, room, self._looking, own)
        self._looking = looking
        self.looks_ahead_now = True
        for share in looking.steps():
            yield max(1, int(share * frames))
        self.looks_ahead_now = False
        self._ahead = looking.report()
        self._ahead_milliseconds = 1e3 * (cpu_seconds() - began) / frames

    def motion(self) -> Motion:
        """Return what came out, once every frame is done.

        Raises:
            ClipError: some frames are not.
        """
        if self._done < self._part[1]:
            raise ClipError(f"only {self._done} of {self._part[1]} frames are solved; run all steps first")
        if self._looks_ahead and self._ahead is None:
            raise ClipError("the frames are solved one by one, but not yet all at once; run all steps first")
        return self._motion

    @cached_property
    def _motion(self) -> Motion:
        """Return the motion that is read off the solved frames, with what keeping speeds costs."""
        motion = self.one_by_one if self._ahead is None else self._read()
        if self._free is None:
            return motion
        cost = measure_speed_cost(self.mechanism, self.clip, self.settings, motion, self._free.motion())
        assert motion.report is not None
        return replace(motion, report=replace(motion.report, speed_cost=cost))

    @cached_property
    def one_by_one(self) -> Motion:
        """The motion as the frames were solved one by one, once `frame_by_frame` is through."""
        return self._read()

    def _read(self) -> Motion:
        """Return the motion where the frames are.

        The poses of its bodies, of a long clip the most, and its report are worked out when they are first asked for.
        """
        found, poses, moves_on = self._solved.read(), cache(self._solved.poses), self._looks_ahead and not self._ahead
        told = {"milliseconds": self._solved.milliseconds + self._ahead_milliseconds, "look_ahead": self._ahead}
        report = cache(partial(self.reasons.report, found, not moves_on, **told))
        if moves_on:
            poses(), report()
        on_demand: dict[str, Any] = {"position": lambda: poses()[0], "quaternion": lambda: poses()[1], "report": report}
        motion = Motion(
            times=self.clip.times,
            actuators=self.mechanism.actuators,
            values=found.values,
            base=None if found.base is None else self._base(*found.base),
            passive=found.passive,
            bodies=tuple(b.name for b in self.mechanism.bodies),
            com=found.com,
            **on_demand,
        )
        return motion if self._own_range is None else self._own_range.joined(self.mechanism, motion)

    def remade(self, motion: Motion, values: np.ndarray, base: tuple[np.ndarray, np.ndarray] | None) -> Motion:
        """Return the solved motion with other actuator values, held against the same clip.

        `base` as for `body_poses`.

        Args:
            motion: The solved motion.
            values: Actuator values (T, A) [rad or m].
            base: Positions (T, 3) [m] and quaternions (T, 4) wxyz of the base; None for a robot on the ground.

        Returns:
            The motion, with a report of its own.
        """
        found = judged(self.mechanism, self.clip, self.settings, replace(motion, values=values), base)
        assert found.report is not None and found.position is not None and found.quaternion is not None
        root, out, cost = self.solver.topology.root, self._solved, motion.report.speed_cost if motion.report else None
        index = 0 if root is None else self.mechanism.body_index[root]
        report = replace(
            found.report,
            speed_cost=cost,
            iterations=out.iterations.copy(),
            milliseconds=self._solved.milliseconds + self._ahead_milliseconds,
            look_ahead=self._ahead,
        )
        track = None if root is None else self._base(found.position[:, index], found.quaternion[:, index])
        return replace(found, base=track, report=report)

    def _base(self, position: np.ndarray, quaternion: np.ndarray) -> BaseTrack:
        """Return the floating base's pose from positions (T, 3) and quaternions (T, 4)."""
        return BaseTrack(body=self.solver.topology.root or "", position=position, quaternion=quaternion)

    @cached_property
    def reasons(self) -> Reasons:
        """Reasons why frames miss their targets, where they are."""
        return Reasons(self.solver, self._solved, self.clip, self.settings)


class _Unheld(Retargeting):
    """Retargeting of the same frames with no speed held back: nothing leads an own range back into what is there."""

    def _check_range(self, own_range: OwnRange, mechanism: Mechanism, clip: TargetClip, settings: Settings) -> None:
        """Leave what has been checked."""


def retarget(
    mechanism: Mechanism,
    clip: TargetClip,
    settings: Settings = Settings(),  # noqa: B008 - immutable
    prior: PosePrior | None = None,
    prior_weight: float = WEIGHT,
    look_ahead: bool = False,
    own_range: OwnRange | None = None,
    start: np.ndarray | None = None,
) -> Motion:
    """Follow a clip with a robot, every frame from the one before, and then all at once where that is asked for.

    Args:
        mechanism: the robot.
        clip: T samples of targets.
        settings: weights, regularizers, limits.
        prior: poses like an example's, where the targets leave a choice; none if left out.
        prior_weight: of the pull towards them, per body, beside targets that weigh 1.
        look_ahead: whether to solve all frames at once afterwards, whatever the settings say of it.
        own_range: frames that are solved, by looking ahead, while all others stay as a motion before has them; all
            frames if left out.
        start: actuator values (A,) [rad or m] from which the first frame is solved; if left out, the rest pose, or for
            an arm another pose where the first frame is met from there alone.

    Returns:
        T samples of the actuators and the bodies, with a report of errors and residuals.

    Raises:
        ClipError: an unknown frame, a weight for a frame that is not followed, nothing to follow, another robot's
            prior, an own range that the clip or the motion before does not fit.
    """
    if look_ahead:
        settings = replace(settings, look_ahead=True)
    warn_of_locked_motors(mechanism)
    return Retargeting(
        mechanism, clip, settings, speed_cost=True, prior=prior, prior_weight=prior_weight, own_range=own_range,
        start=start,
    ).run()  # fmt: skip
