"""The loop of adjustments: a draft of a clip is solved, judged and changed until nothing is left to change.

Each adjustment is a judge and a change, and begins where the one before came to rest. Drafts are solved frame by
frame, at about `RATE` samples a second, and none is solved twice. What can be an objective, a bound or a contact of the
problem itself is no adjustment.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..clips.clip import TargetClip
from ..feet.contact import hold_of
from ..feet.phases import runs
from ..ik.standing import FlatSolver, StandingSolver
from ..mechanism.model import Mechanism
from ..motions import Motion
from ..motions.adjusted import Adjusted
from ..objectives.settings import Settings
from ..retargeting.retarget import Retargeting
from ..steps import clocked, relay
from .draft import Draft, thinning
from .progress import Progress


@dataclass(frozen=True, kw_only=True, eq=False)
class Solution:
    """Solution of a draft.

    Attributes:
        part: what was solved: the draft's clip with fewer samples, from 0 s on.
        motion: that follows it.
        solving: the retargeting, done.
    """

    part: TargetClip
    motion: Motion
    solving: Retargeting


@dataclass(frozen=True, kw_only=True, eq=False)
class Finding:
    """Finding of an adjustment in a solution.

    Attributes:
        cost: how bad it is, by which drafts are compared; 0 where nothing is to be done.
        off: the same as a length, for the report [m].
        where: (T,) flags of the samples of the part that are to be mended.
        details: what the change needs to know.
    """

    cost: float
    off: float
    where: np.ndarray
    details: Any = None


class Adjustment(Protocol):
    """Adjustment of a draft.

    Attributes:
        name: for the report, as "footholds".
        doing: what it does, for whoever waits.
        most: changes at most.
        patience: changes after which nothing has become better, and it gives up.
        is_flat: whether it is judged on soles that lie flat, whatever that costs.
    """

    name: str
    doing: str
    most: int
    patience: int
    is_flat: bool

    def applies(self, bench: Bench, draft: Draft) -> bool:
        """Return whether a draft, as it has come so far, is to be judged at all."""
        return True

    def judge(self, bench: Bench, draft: Draft, solution: Solution) -> Generator[Any, None, Finding]:
        """Yield while judging a draft's solution; return what is found."""

    def change(self, bench: Bench, draft: Draft, solution: Solution, finding: Finding) -> Draft | None:
        """Return the draft with what was found mended; None where nothing can be changed."""


@dataclass(eq=False)
class Bench:
    """Robot and settings with which drafts are solved.

    Attributes:
        mechanism: the robot.
        quick: settings of the solver, frame by frame.
        part: returns what is solved of a draft: its clip, with fewer samples.
        table: what was done so far.
    """

    mechanism: Mechanism
    quick: Settings
    part: Callable[[Draft], TargetClip]
    table: list[Adjusted] = field(default_factory=list)
    _solves: int = 0
    _solved: dict[tuple[Draft, bool], Solution] = field(default_factory=dict)

    def begin(
        self, part: TargetClip, flat: bool = False, mechanism: Mechanism | None = None, settings: Settings | None = None
    ) -> Retargeting:
        """Return the retargeting of a part of a clip, about to begin; it is counted."""
        self._solves += 1
        formulation = FlatSolver if flat else StandingSolver
        return Retargeting(mechanism or self.mechanism, part, settings or self.quick, formulation)

    def solve(self, draft: Draft, flat: bool) -> Generator[float, None, Solution]:
        """Solve a draft, unless it was solved already; yield the share that is done."""
        key = draft, flat and _may_roll(self.mechanism, draft.pinned)
        if key not in self._solved:
            solving = self.begin(self.part(draft), key[1])
            for frames in solving.steps():
                yield frames / len(solving.clip.times)
            self._solved[key] = Solution(part=solving.clip, motion=solving.motion(), solving=solving)
        return self._solved[key]

    def adjust(self, draft: Draft, adjustments: Sequence[Adjustment]) -> Generator[Progress, None, Draft]:
        """Adjust a draft by each of these in turn, and yield how far it is."""
        for k, adjustment in enumerate(adjustments):
            if not adjustment.applies(self, draft):
                continue
            rounds, seconds, solves = _Rounds(draft), [0.0], self._solves

            def shown(share: float) -> Progress:
                whole = (k + (len(rounds.found) + min(share, 1.0)) / (adjustment.most + 1)) / len(adjustments)  # noqa: B023
                return Progress(share=whole, stage=_stage(adjustment, len(rounds.found)), is_planning=True)  # noqa: B023

            yield from relay(clocked(self._settle(adjustment, rounds), seconds), shown)
            draft, first = rounds.best, rounds.found[0]
            self.table.append(
                Adjusted(
                    name=adjustment.name, frames=_runs(draft, first), before=first.off, after=rounds.left.off,
                    changes=len(rounds.found) - 1, solves=self._solves - solves, seconds=seconds[0],
                )
            )  # fmt: skip
        return draft

    def _settle(self, adjustment: Adjustment, rounds: _Rounds) -> Generator[float, None, None]:
        """Change a draft until nothing is found, nothing can be changed, or changes bring nothing; yield shares."""
        draft = rounds.best
        while True:
            solution = yield from self.solve(draft, adjustment.is_flat)
            finding = yield from relay(adjustment.judge(self, draft, solution), lambda _: 1.0)
            rounds.take(draft, finding)
            if not finding.cost or len(rounds.found) > adjustment.most or rounds.worse >= adjustment.patience:
                return
            changed = adjustment.change(self, draft, solution, finding)
            if changed is None:
                return
            draft = changed


class _Rounds:
    """Drafts that an adjustment has judged: what was `found`, the `best` of them with what it has `left`."""

    left: Finding

    def __init__(self, draft: Draft) -> None:
        self.best, self.found, self.worse = draft, list[Finding](), 0

    def take(self, draft: Draft, finding: Finding) -> None:
        """Note what was found in a draft."""
        if not self.found or finding.cost < self.left.cost:
            self.best, self.left, self.worse = draft, finding, 0
        else:
            self.worse += 1
        self.found.append(finding)


def _stage(adjustment: Adjustment, changes: int) -> str:
    if not changes:
        return f"Looking at {adjustment.name}"
    return f"{adjustment.doing}, round {changes} of {adjustment.most} at most"


def _runs(draft: Draft, finding: Finding) -> tuple[tuple[int, int], ...]:
    """Return the runs of a clip's samples, first and last, in which something was found."""
    last = len(draft.pinned.times) - 1
    step = thinning(draft.pinned)
    return tuple((start * step, min((stop - 1) * step, last)) for start, stop in runs(finding.where))


def _may_roll(mechanism: Mechanism, clip: TargetClip) -> bool:
    """Return whether some sole that stands may roll about its length."""
    return any(
        hold_of(mechanism, name, True).rolls
        for name, track in clip.tracks.items()
        if track.contact is not None and track.contact.any()
    )
