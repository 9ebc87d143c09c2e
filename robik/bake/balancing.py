"""Balance of a clip: pinned feet, footholds within reach, and a centre of mass over what stands."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from math import ceil

import numpy as np

from ..balance.plan import BalancePlan
from ..clips.clip import TargetClip
from ..collision.apart import Walls
from ..feet.pinning import pin_feet
from ..mechanism.model import Mechanism
from ..objectives.settings import Settings
from ..retargeting.look_ahead import check_cyclic
from ..steps import finish
from .reach import reaching
from .rolled_soles import on_rolled_soles
from .seated import seated_wish
from .settings import Balance
from .whole_body import passes

SETTLES = 4.0  # s: so much later a plan of balance does not depend on how it began


def balanced(
    clip: TargetClip,
    mechanism: Mechanism,
    balance: Balance,
    settings: Settings | None = None,
    walls: Walls | None = None,
) -> TargetClip:
    """Return the clip with pinned feet and a target of the centre of mass over them, as `balance` asks for.

    With the settings that the clip will be solved with, a motion's plan takes all bodies into account, and
    footholds are moved that are out of reach. With walls, footholds are moved that put legs into each other.
    """
    return finish(balancing(clip, mechanism, balance, settings, walls))


def balancing(
    clip: TargetClip,
    mechanism: Mechanism,
    balance: Balance,
    settings: Settings | None = None,
    walls: Walls | None = None,
) -> Generator[float, None, TargetClip]:
    """Balance a clip as `balanced` does; yield the share that is done, 0 to 1, and return the clip.

    A cyclic clip is balanced as if it had gone on for a while, and would go on.
    """
    if settings is None or not settings.cyclic:
        return (yield from _balancing(clip, mechanism, balance, settings, walls))
    check_cyclic(mechanism, clip)
    last = len(clip.times) - 1
    before = ceil(SETTLES / (clip.times[-1] - clip.times[0]))
    laps = yield from _balancing(clip.repeated(2 * before + 1), mechanism, balance, settings.frame_by_frame(), walls)
    return replace(laps.part(before * last, (before + 1) * last + 1), times=clip.times)


def _balancing(
    clip: TargetClip, mechanism: Mechanism, balance: Balance, settings: Settings | None, walls: Walls | None
) -> Generator[float, None, TargetClip]:
    if balance.pin_feet:
        clip = pin_feet(mechanism, clip)
    wish = None
    if settings is not None and balance.over_feet:
        wish = yield from seated_wish(mechanism, clip, settings)

    def planned(pinned: TargetClip) -> TargetClip:
        return _planned(mechanism, pinned, balance, wish)[1]

    reached = None
    if settings is not None and settings.contacts == "hold" and balance.pin_feet:
        reached = yield from reaching(mechanism, clip, settings, planned, walls)
        clip = reached.pinned
    plan, clip = _planned(mechanism, clip, balance, wish)
    if settings is not None and plan is not None:
        for share, found in passes(plan, mechanism, settings, balance.whole_margin(mechanism), clip, reached):
            clip = found
            yield share
    if settings is not None and settings.contacts == "hold" and balance.pin_feet:
        clip = yield from on_rolled_soles(mechanism, clip, settings)
    return clip


def _planned(
    mechanism: Mechanism, clip: TargetClip, balance: Balance, wish: np.ndarray | None
) -> tuple[BalancePlan | None, TargetClip]:
    """Return the plan of a clip's balance, and the clip with it; none where nothing is to be balanced."""
    if not balance.over_feet:
        return None, clip
    plan = BalancePlan(
        mechanism, clip, margin=balance.whole_margin(mechanism), wish=wish, lead=balance.lead, pace=balance.mode
    )
    return plan, plan.clip()
