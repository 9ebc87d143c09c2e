"""Judgement of solved motions for the commands that write reports."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..clips.clip import TargetClip
    from ..mechanism import Mechanism
    from ..motions import Motion


def judged(mechanism: Mechanism, motion: Motion, clip: TargetClip, robot_file: str | Path) -> Motion:
    """Return a motion with the depths of the robot in itself and the ground in its report, and print these.

    Without MuJoCo the motion stays as it was, with a note on stderr.
    """
    from ..collision.judge import can_judge
    from ..collision.measure import with_penetration

    if not can_judge():
        print("note: penetration is not judged; that needs the extra 'physics'", file=sys.stderr)
        return motion
    motion = with_penetration(mechanism, motion, clip, robot_file)
    if motion.report and motion.report.penetration:
        print(motion.report.penetration)
    return motion
