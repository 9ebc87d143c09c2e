"""Own range of a clip: frames that are solved again between frames that stay as a motion before has them.

Its first frames go on from the motion before in position, speed and acceleration, and its last ones lead back into it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..clips.clip import TargetClip
from ..errors import ClipError
from ..kinematics.forward import ForwardKinematics
from ..mechanism.model import Mechanism
from ..mechanism.topology import Topology
from ..motions import Motion, Report
from ..motions.coordinates import tree_coordinates
from ..motions.motion import values_for
from ..objectives.settings import Settings
from ..report.quality import QualityFigures

PER_FRAME = (
    "position_error", "orientation_error", "com_error", "residual", "iterations", "velocity", "acceleration", "jerk",
    "milliseconds", "missed",
)  # fmt: skip
ALIKE = 1e-6  # s: times that are no further apart are the same


@dataclass(frozen=True, eq=False)
class OwnRange:
    """Own range of a clip, which look-ahead solves between ends that are fixed.

    Attributes:
        first: Its first frame; a clip's frames count from 0.
        last: Its last frame.
        before: The motion of the whole clip before. Frames outside of the range stay as it has them.
        source: The motion in words, for errors.

    Raises:
        ClipError: The range ends before it begins.
    """

    first: int
    last: int
    before: Motion
    source: str = "the motion before"

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise ClipError(
                f"an own range is its first frame and its last one, in this order, not {self.first} and {self.last}"
            )

    @property
    def frames(self) -> tuple[int, int]:
        """Return the first frame, and the one after the last."""
        return self.first, self.last + 1

    def check(self, mechanism: Mechanism, times: np.ndarray, settings: Settings) -> None:
        """Check that a clip can be solved in the range.

        Args:
            mechanism: The robot.
            times: Of the clip (T,) [s].
            settings: Of the solver.

        Raises:
            ClipError: Says what is wrong and what would be right.
        """
        if self.first < 0 or self.last >= len(times):
            raise ClipError(
                f"the own range from frame {self.first} to {self.last} is not within the clip, whose frames are 0 to"
                f" {len(times) - 1}"
            )
        if not settings.look_ahead:
            raise ClipError("an own range is solved where all frames are solved at once; set look_ahead as well")
        if settings.cyclic:
            raise ClipError("an own range leaves the ends of a clip as they are; leave out cyclic, or the range")
        if settings.acceleration_limit is None:
            raise ClipError(
                "an own range goes on from the motion before as fast as that is, which takes a limit of acceleration;"
                " set acceleration_limit as well"
            )
        self._check_before(mechanism, times)

    def _check_before(self, mechanism: Mechanism, times: np.ndarray) -> None:
        """Check that the motion before is one of the robot, at the times (T,) of the clip."""
        before = self.before
        if len(before.times) != len(times) or np.abs(before.times - times).max() > ALIKE:
            raise ClipError(
                f"{self.source} goes from {before.times[0]:g} to {before.times[-1]:g} s in {len(before.times)} frames,"
                f" the clip from {times[0]:g} to {times[-1]:g} s in {len(times)}; an own range needs a motion of the"
                " whole clip, at the same times"
            )
        values_for(mechanism, before, self.source)
        root = ForwardKinematics(mechanism).root
        if root is None:
            return
        if before.base is None:
            raise ClipError(f"{self.source} has no base, so nobody knows where robot {mechanism.name!r} was")
        if before.base.body not in ("", root):
            raise ClipError(
                f"{self.source} has the base {before.base.body!r}, but robot {mechanism.name!r} floats by its body"
                f" {root!r}"
            )

    def coordinates(self, mechanism: Mechanism, topology: Topology) -> np.ndarray:
        """Return the tree's coordinates along the motion before, by forward kinematics.

        Args:
            mechanism: The robot.
            topology: Its tree.

        Returns:
            Coordinates (T, nq) [rad or m, wxyz for balls].

        Raises:
            MechanismError: Loops that do not close, with the frame.
        """
        return tree_coordinates(ForwardKinematics(mechanism, topology), self.before, self.source)

    def joined(self, mechanism: Mechanism, solved: Motion) -> Motion:
        """Return a solved motion whose frames outside of the range are those of the motion before, to the last bit.

        Args:
            mechanism: The robot.
            solved: The motion of all frames.

        Returns:
            The motion.
        """
        outside = np.ones(len(solved.times), bool)
        outside[slice(*self.frames)] = False
        values = np.where(outside[:, None], values_for(mechanism, self.before, self.source), solved.values)
        base, old = solved.base, self.before.base
        if base is not None and old is not None:
            signs = np.where((base.quaternion * old.quaternion).sum(axis=1) < 0, -1.0, 1.0)[:, None]
            position = np.where(outside[:, None], old.position, base.position)
            quaternion = np.where(outside[:, None], old.quaternion, signs * base.quaternion)
            base = replace(base, position=position, quaternion=quaternion)
        return replace(solved, values=values, base=base)

    def part(self, mechanism: Mechanism, clip: TargetClip, solved: Motion) -> Motion:
        """Return the frames of the range alone, as a motion that begins at 0 s.

        Args:
            mechanism: The robot.
            clip: What all frames follow.
            solved: The motion of all frames, with its report.

        Returns:
            The motion. Its report is of these frames: speeds are those from the frame before on.
        """
        assert solved.report is not None and solved.position is not None and solved.quaternion is not None
        kept, base = slice(*self.frames), solved.base
        passive = solved.passive and {name: column[kept] for name, column in solved.passive.items()}
        part = Motion(
            times=solved.times[kept] - solved.times[self.first],
            actuators=solved.actuators,
            values=solved.values[kept],
            base=base and replace(base, position=base.position[kept], quaternion=base.quaternion[kept]),
            passive=passive,
            bodies=solved.bodies,
            position=solved.position[kept],
            quaternion=solved.quaternion[kept],
            com=None if solved.com is None else solved.com[kept],
        )
        return replace(part, report=self._report(mechanism, clip.part(*self.frames), part, solved.report))

    def _report(self, mechanism: Mechanism, clip: TargetClip, part: Motion, whole: Report) -> Report:
        """Return the report of the range's frames, from that of all."""
        kept, cost, ahead = slice(*self.frames), whole.speed_cost, whole.look_ahead
        if cost is not None:
            cost = replace(cost, moved=cost.moved[kept], turned=cost.turned[kept], lag=cost.lag[kept])
        if ahead is not None and ahead.zero_moment is not None:
            sample = ahead.zero_moment.sample - self.first
            ahead = replace(ahead, zero_moment=replace(ahead.zero_moment, sample=sample))
        figures = QualityFigures(mechanism, clip)
        assert part.position is not None and part.quaternion is not None
        figures.add(slice(0, len(part.times)), part.position, part.quaternion)
        return replace(
            whole,
            **{name: getattr(whole, name)[kept] for name in PER_FRAME},
            short=tuple((k - self.first, why) for k, why in whole.short if self.first <= k <= self.last),
            objectives=tuple(replace(item, values=item.values[kept]) for item in whole.objectives),
            speed_cost=cost,
            look_ahead=ahead,
            quality=figures.quality(part.values, whole.jerk[kept]),
            moved=clip.moved,
            hold=None if whole.hold is None else whole.hold.part(*self.frames),
        )
