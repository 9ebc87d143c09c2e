"""Wish of a robot that sits: on the seat its legs lie before it, and so does its centre of mass.

Elsewhere the wish takes the centre of mass to move rigidly with the hips (`default_wish`). A robot that sits would lean
back to bring it there. So the clip is solved without balance, and near the seat the wish is what comes out.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ..balance.plan import default_wish, hips_held
from ..clips.clip import TargetClip
from ..feet.finding import find_contacts
from ..feet.holding import holding, nearness
from ..mechanism.model import Mechanism
from ..objectives.settings import Settings
from ..retargeting.retarget import Retargeting
from ..straight import straight
from .reach import thinned


def seated_wish(
    mechanism: Mechanism, clip: TargetClip, settings: Settings
) -> Generator[float, None, np.ndarray | None]:
    """Find the preferred path of a sitting robot's centre of mass, and yield the share that is done.

    The generator returns positions (T, 3) [m]; None where no hips sit down, or the clip has a target of the centre of
    mass.
    """
    hips = hips_held(mechanism, clip)
    if hips is None or clip.com is not None or not mechanism.mass > 0:
        return None
    solving = Retargeting(mechanism, thinned(clip), settings.frame_by_frame())
    for frames in solving.steps():
        yield frames / len(solving.clip.times)
    motion, wish = solving.motion(), default_wish(mechanism, clip, find_contacts(mechanism, clip))
    assert motion.com is not None
    found = straight(clip.times - clip.times[0], motion.times, motion.com)
    return wish + nearness(clip.times, holding(mechanism, clip)[hips])[:, None] * (found - wish)
