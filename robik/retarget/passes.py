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
    """

    def __init__(self, begin: Callable[[TargetClip], Retargeting]):
        self._begin = begin
        self._all: list[Retargeting] = []

    def __len__(self) -> int:
        return len(self._all)

    @property
    def last(self) -> Retargeting:
        """The retargeting that is under way, and of what came out in the end."""
        return self._all[-1]

    def solve(self, clip: TargetClip) -> Generator[int, None, Motion]:
        """Solve a clip frame by frame.

        Args:
            clip: The targets, with walls or without.

        Yields:
            Number of frames that are done. The generator returns the motion.
        """
        self._all.append(self._begin(clip))
        yield from self.last.frame_by_frame()
        return self.last.one_by_one

    def finish(self, motion: Motion) -> Generator[int, None, Motion]:
        """Solve all frames at once on the walls of the pass that a motion is of, where that is asked for.

        Args:
            motion: That `solve` has returned.

        Yields:
            Number of frames that are as good as done. The generator returns the motion.
        """
        solving = next(each for each in self._all if each.one_by_one is motion)
        self._all.append(solving)
        yield from solving.finishing()
        return solving.motion()
