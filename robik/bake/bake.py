"""BakeRequest → Bake: contacts and balance, then every frame, then all at once, with bodies kept apart."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any

from ..clips.clip import TargetClip
from ..collision.apart import solved_apart
from ..collision.standing_walls import StandingWalls
from ..feet.finding import above_ground
from ..feet.phases import runs
from ..motions import Motion
from ..motions.adjusted import Adjusted
from ..report.kept_balance import with_kept_balance
from ..retargeting.retarget import Retargeting
from ..steps import clocked, finish, relay
from .balancing import balancing
from .passes import Passes
from .progress import Progress
from .request import BakeRequest

PLANNING = 0.2  # of the whole: what planning balance takes of it


@dataclass(frozen=True, kw_only=True, eq=False)
class Bake:
    """Result of a bake.

    Attributes:
        request: for it.
        clip: what was followed in the solved samples, with contacts and balance.
        followed: the same with walls between bodies.
        motion: what came out, with its report.
        solving: the retargeting that it is of.
    """

    request: BakeRequest
    clip: TargetClip
    followed: TargetClip
    motion: Motion
    solving: Retargeting


def bake(request: BakeRequest, tell: Callable[[Progress], Any] | None = None) -> Bake:
    """Bake a clip onto a robot.

    Args:
        request: Everything that it depends on.
        tell: Called with each progress.

    Returns:
        The motion, and what it follows.

    Raises:
        ClipError: A clip that does not fit the robot, or that cannot be balanced or followed as asked for.
    """
    return finish(baking(request), tell)


def baking(request: BakeRequest) -> Generator[Progress, None, Bake]:
    """Bake as `bake` does, and yield how far it is.

    Args:
        request: Everything that it depends on.

    Yields:
        Progress. The generator returns the bake.
    """
    most = 0.0

    def forward(now: Progress) -> Progress:
        nonlocal most
        most = max(most, now.share)
        return replace(now, share=most)

    return (yield from relay(_baking(request), forward))


def _baking(request: BakeRequest) -> Generator[Progress, None, Bake]:
    """Bake, and yield how far each part of it is; shares go back where a pass counts again."""
    mechanism, walls, balance, solving = request.mechanism, request.keep_apart(), [0.0], [0.0]
    apart = request.settings.keep_apart
    plan = balancing(request.clip, mechanism, request.balance, request.solver, walls, apart)
    planned = yield from relay(clocked(plan, balance), _planning)
    clip = request.solved_part(planned.clip)
    asked = above_ground(mechanism, clip, apart)
    passes, standing = Passes(request.retargeting), list[StandingWalls]()

    def stage(done: int) -> Progress:
        return _stage(passes, done, len(clip.times), walls is not None)

    solved = solved_apart(asked, passes.solve, walls, passes.finish, standing.append)
    followed, motion = yield from relay(clocked(solved, solving), stage)
    made = passes.of(motion)
    seconds = passes.seconds | {"walls": solving[0] - sum(passes.seconds.values()), "balance": balance[0]}
    solved_part = request.solved or (0, len(request.clip.times))
    table = (
        *(row.within(*solved_part) for row in planned.table),
        *(_walls(walled, seconds["walls"]) for walled in standing),
    )
    motion = with_kept_balance(mechanism, followed, motion).reported(adjustments=table, seconds=seconds)
    return Bake(request=request, clip=clip, followed=followed, motion=motion, solving=made)


def _walls(standing: StandingWalls, seconds: float) -> Adjusted:
    return Adjusted(
        name="bodies in each other", frames=tuple((start, stop - 1) for start, stop in runs(standing.where)),
        before=standing.before, after=standing.least, changes=standing.tried, solves=standing.tried, seconds=seconds,
    )  # fmt: skip


def _planning(now: Progress) -> Progress:
    return replace(now, share=PLANNING * now.share)


def _stage(passes: Passes, done: int, samples: int, is_apart: bool) -> Progress:
    """Return what is being solved; each further pass is taken for half as long as the one before."""
    share, count = done / samples, len(passes)
    if is_apart:
        share = 1.0 - (1.0 - 0.5 * share) * 0.5 ** (count - 1)
    share = PLANNING + (1.0 - PLANNING) * share
    if passes.last is not None and passes.last.looks_ahead_now:
        return Progress(share=share, stage=f"Looking ahead: {100 * done / samples:.0f} %")
    again = f" with bodies kept apart, pass {count - 1}" if count > 1 else ""
    return Progress(share=share, stage=f"Solving{again}", done=done)
