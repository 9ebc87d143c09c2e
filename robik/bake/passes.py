"""Passes over one clip: solved frame by frame as often as walls need it, then all at once and judged a last time."""

from __future__ import annotations

from collections.abc import Callable, Generator

from ..clips.clip import TargetClip
from ..motions import Motion
from ..retargeting.retarget import Retargeting
from ..steps import clocked


class Passes:
    """Retargetings of a clip and of the same clip with walls.

    `begin` makes the retargeting of a clip; `last` is the one under way, None before the first.
    """

    def __init__(self, begin: Callable[[TargetClip], Retargeting]):
        self._begin = begin
        self._made: list[tuple[Motion, Retargeting]] = []
        self._count = 0
        self.last: Retargeting | None = None
        self._frames, self._all = [0.0], [0.0]

    def __len__(self) -> int:
        return self._count

    @property
    def seconds(self) -> dict[str, float]:
        """Processor time [s] frame by frame, and all at once."""
        return {"frames": self._frames[0], "look_ahead": self._all[0]}

    def of(self, motion: Motion) -> Retargeting:
        """Return the retargeting of a motion that `solve` or `finish` has returned."""
        return next(solving for made, solving in self._made if made is motion)

    def solve(self, clip: TargetClip) -> Generator[int, None, Motion]:
        """Solve a clip frame by frame and yield the number of frames done; the generator returns the motion."""
        self._count += 1
        self.last = solving = self._begin(clip)
        yield from clocked(solving.frame_by_frame(), self._frames)
        return self._keep(solving.one_by_one, solving)

    def finish(self, motion: Motion, clip: TargetClip) -> Generator[int, None, Motion]:
        """Solve all frames at once where that is asked for, from a motion that `solve` or `finish` has returned.

        A clip with other walls than the motion's is a pass more. Yield the number of frames that are as good as done;
        the generator returns the motion.
        """
        begin = self.of(motion)
        if begin.clip is clip:
            self.last = solving = begin
        else:
            self._count += 1
            self.last = solving = self._begin(clip)
            solving.begin_at(begin)
        yield from clocked(solving.finishing(), self._all)
        return self._keep(solving.motion(), solving)

    def _keep(self, motion: Motion, solving: Retargeting) -> Motion:
        self._made.append((motion, solving))
        return motion
