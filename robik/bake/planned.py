"""Drafts with their balance planned: what is solved."""

from __future__ import annotations

from dataclasses import dataclass

from ..balance.plan import BalancePlan
from ..clips.clip import TargetClip
from ..feet.finding import above_ground
from ..mechanism.model import Mechanism
from .draft import Draft, thinned
from .settings import Balance


@dataclass(eq=False)
class Planned:
    """Plans of balance, made once for the footholds of a draft; what is solved may be kept above the ground."""

    mechanism: Mechanism
    balance: Balance
    keeps_apart: bool = False
    _made: tuple[Draft, BalancePlan] | None = None

    def __call__(self, draft: Draft) -> TargetClip:
        """Return a draft's clip with its balance planned, and with feet that rise."""
        if not draft.is_balanced or not self.balance.over_feet:
            return draft.put_on(draft.pinned)
        return draft.put_on(self.plan(draft).clip(draft.limbs))

    def solved(self, draft: Draft) -> TargetClip:
        """Return what is solved of a draft: its clip, with soles that clear the ground where bodies are kept apart."""
        return thinned(above_ground(self.mechanism, self(draft), self.keeps_apart))

    def plan(self, draft: Draft) -> BalancePlan:
        """Return the plan of a draft's balance."""
        if self._made is None or self._made[0].pinned is not draft.pinned or self._made[0].wish is not draft.wish:
            margin = self.balance.whole_margin(self.mechanism)
            self._made = (
                draft,
                BalancePlan(
                    self.mechanism, draft.pinned, margin=margin, wish=draft.wish, lead=self.balance.lead,
                    pace=self.balance.mode,
                ),
            )  # fmt: skip
        return self._made[1]
