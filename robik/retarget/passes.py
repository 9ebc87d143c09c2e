"""Passes over one clip: solved frame by frame as often as walls need it, then all at once and judged a last time."""

from __future__ import annotations

from collections.abc import Callable, Generator

from ..clips.clip import TargetClip
from ..motions import Motion
from .retarget import Retargeting


class Passes:
    """Retargetings of a clip and of the same clip with walls.

    Args:
        begin: Makes the retargeting of a clip.

    Attributes:
        last: The retargeting that is under way; None before the first.
    """

    def __init__(self, begin: Callable[[TargetClip], Retargeting]):
        self._begin = begin
        self._made: list[tuple[Motion, Retargeting]] = []
        self._count = 0
        self.last: Retargeting | None = None

    def __len__(self) -> int:
        return self._count

    def of(self, motion: Motion) -> Retargeting:
        """Return the retargeting that a motion is of.

        Args:
            motion: That `solve` or `finish` has returned.

        Returns:
            The retargeting.
        """
        return next(solving for made, solving in self._made if made is motion)

    def solve(self, clip: TargetClip) -> Generator[int, None, Motion]:
        """Solve a clip frame by frame.

        Args:
            clip: The targets, with walls or without.

        Yields:
            Number of frames that are done. The generator returns the motion.
        """
        self._count += 1
        self.last = solving = self._begin(clip)
        yield from solving.frame_by_frame()
        return self._keep(solving.one_by_one, solving)

    def finish(self, motion: Motion, clip: TargetClip) -> Generator[int, None, Motion]:
        """Solve all frames at once, where that is asked for.

        Args:
            motion: That `solve` or `finish` has returned, where the frames begin.
            clip: The targets. With other walls than those of the motion, this is a pass more.

        Yields:
            Number of frames that are as good as done. The generator returns the motion.
        """
        begin = self.of(motion)
        if begin.clip is clip:
            self.last = solving = begin
        else:
            self._count += 1
            self.last = solving = self._begin(clip)
            solving.begin_at(begin)
        yield from solving.finishing()
        return self._keep(solving.motion(), solving)

    def _keep(self, motion: Motion, solving: Retargeting) -> Motion:
        self._made.append((motion, solving))
        return motion
