"""Balance of a clip: pinned feet, footholds within reach, and a centre of mass over what stands."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from math import ceil

from ..clips.clip import TargetClip
from ..collision.apart import Walls
from ..feet.pinning import pin_feet
from ..mechanism.model import Mechanism
from ..motions.adjusted import Adjusted
from ..objectives.settings import Settings
from ..retargeting.look_ahead import check_cyclic
from ..steps import finish
from .adjusting import Adjustment, Bench
from .draft import Draft
from .planned import Planned
from .progress import Progress
from .reach import Reach
from .rolled_soles import RolledSoles
from .seated import Seated, sits
from .settings import Balance
from .whole_body import WholeBody

SETTLES = 4.0  # s: so much later a plan of balance does not depend on how it began


@dataclass(frozen=True, kw_only=True, eq=False)
class Balanced:
    """Clip that is balanced, with what was adjusted on the way."""

    clip: TargetClip
    table: tuple[Adjusted, ...] = ()


def balanced(
    clip: TargetClip,
    mechanism: Mechanism,
    balance: Balance,
    settings: Settings | None = None,
    walls: Walls | None = None,
    keeps_apart: bool = False,
) -> TargetClip:
    """Return the clip with pinned feet and a target of the centre of mass over them, as `balance` asks for.

    With the settings that the clip will be solved with, a motion's plan takes all bodies into account, and
    footholds are moved that are out of reach. With walls, footholds are moved that put legs into each other. What is
    solved for that stays above the ground with `keeps_apart`.
    """
    return finish(balancing(clip, mechanism, balance, settings, walls, keeps_apart)).clip


def balancing(
    clip: TargetClip,
    mechanism: Mechanism,
    balance: Balance,
    settings: Settings | None = None,
    walls: Walls | None = None,
    keeps_apart: bool = False,
) -> Generator[Progress, None, Balanced]:
    """Balance a clip as `balanced` does; yield how far it is.

    A cyclic clip is balanced as if it had gone on for a while, and would go on.
    """
    if settings is None or not settings.cyclic:
        return (yield from _balancing(clip, mechanism, balance, settings, walls, keeps_apart))
    check_cyclic(mechanism, clip)
    last = len(clip.times) - 1
    before = ceil(SETTLES / (clip.times[-1] - clip.times[0]))
    several, quick = clip.repeated(2 * before + 1), settings.frame_by_frame()
    laps = yield from _balancing(several, mechanism, balance, quick, walls, keeps_apart)
    lap = before * last, (before + 1) * last + 1
    table = tuple(row.within(*lap) for row in laps.table)
    return Balanced(clip=replace(laps.clip.part(*lap), times=clip.times), table=table)


def _balancing(
    clip: TargetClip,
    mechanism: Mechanism,
    balance: Balance,
    settings: Settings | None,
    walls: Walls | None,
    keeps_apart: bool,
) -> Generator[Progress, None, Balanced]:
    """Balance a clip, adjustment by adjustment in the order that stands here."""
    planned = Planned(mechanism, balance, keeps_apart)
    draft = Draft(pinned=pin_feet(mechanism, clip) if balance.pin_feet else clip)
    if settings is None:
        return Balanced(clip=planned(draft))
    holds = settings.contacts == "hold" and balance.pin_feet
    draft = replace(draft, is_balanced=not (balance.over_feet and sits(mechanism, draft.pinned)))
    adjustments: list[Adjustment] = [
        *([Seated()] if balance.over_feet else []),
        *([Reach(walls)] if holds else []),
        *([WholeBody(planned, balance.whole_margin(mechanism))] if balance.over_feet else []),
        *([RolledSoles(planned)] if holds else []),
    ]
    bench = Bench(mechanism, settings.frame_by_frame(), planned.solved)
    draft = yield from bench.adjust(draft, adjustments)
    return Balanced(clip=planned(draft), table=tuple(bench.table))
