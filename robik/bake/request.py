"""Request for a bake: everything that its result depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..clips.clip import TargetClip
from ..collision.apart import Walls
from ..mechanism.model import Mechanism
from ..objectives.pose_prior import WEIGHT, PosePrior
from ..objectives.posture import Posture, rest_values
from ..objectives.settings import Settings
from ..objectives.weights import Weights
from ..retargeting.own_range import OwnRange
from ..retargeting.retarget import Retargeting
from ..retargeting.seams import led_through
from .settings import BakeSettings, Balance
from .solver_settings import solver_settings


@dataclass(frozen=True, kw_only=True, eq=False)
class BakeRequest:
    """Request for a bake. Equal requests give the same motion to the last bit, whoever asks.

    Attributes:
        mechanism: the robot.
        clip: what it follows, with obstacles and with contacts set by hand, before balance.
        weights: of the frames that follow, by name.
        balance: of the clip.
        settings: of the bake.
        objectives: weights of what the clip asks for beside frames and centre of mass, by key.
        walls: makes what keeps the robot's bodies apart; None where nothing is known of their shapes.
        solved: first sample that is solved, and the one after the last; balance looks at all. All if left out.
        own_range: samples among the solved ones that are baked, while the others stay as a motion before has them.
        share: (S,) of the clip's own targets in the solved samples, from 0 outside of the own range to 1; None where
            they count from the range's first sample on.
        prior: poses like an example's, where the targets leave a choice.
        prior_weight: of the pull towards them, per body, beside targets that weigh 1.
    """

    mechanism: Mechanism
    clip: TargetClip
    weights: Mapping[str, Weights]
    balance: Balance
    settings: BakeSettings = field(default_factory=BakeSettings)
    objectives: Mapping[str, Any] = field(default_factory=dict)
    walls: Callable[[], Walls | None] | None = None
    solved: tuple[int, int] | None = None
    own_range: OwnRange | None = None
    share: np.ndarray | None = None
    prior: PosePrior | None = None
    prior_weight: float = WEIGHT

    @cached_property
    def solver(self) -> Settings:
        """Settings of the solver that targets, balance and bake ask for."""
        return solver_settings(
            self.mechanism,
            self.weights,
            self.balance,
            self.settings,
            self.objectives,
            holds=self._holds,
            others=None if self.prior is not None else {name for item in self.clip.objectives for name in item.bodies},
            drawn=self._drawn,
        )

    @property
    def _holds(self) -> set[str]:
        """Frames that are no feet and are in contact at some time."""
        held = {name for name, track in self.clip.tracks.items() if track.contact is not None and track.contact.any()}
        return {name for name in held if not self.mechanism.frame(name).is_foot}

    @property
    def _drawn(self) -> set[str]:
        """Coordinates that a posture draws away from rest."""
        rest = rest_values(self.mechanism)
        postures = [item for item in self.clip.objectives if isinstance(item, Posture)]
        return {item.joint for item in postures if np.any(item.value != rest.get(item.joint))}

    def keep_apart(self) -> Walls | None:
        """Return what keeps the robot's bodies out of each other, where that is asked for and their shapes are known.

        Returns:
            The walls.
        """
        return self.walls() if self.walls is not None and self.settings.keep_apart else None

    def solved_part(self, clip: TargetClip) -> TargetClip:
        """Return the samples of a balanced clip that are solved, led out of the motion around an own range and back.

        Args:
            clip: The balanced clip.

        Returns:
            The clip that is solved.
        """
        part = clip if self.solved is None else clip.part(*self.solved)
        if self.own_range is None or self.share is None:
            return part
        return led_through(self.mechanism, part, self.own_range, self.share)

    def retargeting(self, clip: TargetClip) -> Retargeting:
        """Return the retargeting of a clip, about to begin.

        Args:
            clip: The balanced clip, with walls or without.

        Returns:
            The retargeting.
        """
        return Retargeting(
            self.mechanism,
            clip,
            self.solver,
            speed_cost=True,
            prior=self.prior,
            prior_weight=self.prior_weight,
            own_range=self.own_range,
        )
