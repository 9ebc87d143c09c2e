"""Balance of a clip: pinned feet, and the target of the centre of mass."""

from __future__ import annotations

from dataclasses import dataclass

from bpy.types import Object

from ...robik.mechanism import Mechanism
from ...robik.retarget.balance import with_balance
from ...robik.retarget.clip import TargetClip
from ...robik.retarget.pinning import pin_feet


@dataclass(frozen=True, kw_only=True)
class Balance:
    """Balance as the animator has set it.

    Attributes:
        source: what the centre of mass follows: NONE, FEET or OBJECT.
        target: the object that it follows; None where none is chosen.
        pace: key of `with_balance`'s paces: still, moving or auto.
        margin: distance that it keeps inside the outline of the standing foot [m].
        lead: time before a foot lifts at which the weight is off it [s].
        give_way: whether balance alone says where the hips are sideways.
        pin_feet: whether standing feet are held flat and without sliding.
        weight: (3,) of the centre of mass along the world's axes.
    """

    source: str
    target: Object | None
    pace: str
    margin: float
    lead: float
    give_way: bool
    pin_feet: bool
    weight: tuple[float, float, float]

    @property
    def needs_contacts(self) -> bool:
        """Whether it depends on when the feet stand."""
        return self.pin_feet or self.source == "FEET"


def read_balance(root: Object) -> Balance:
    """Return the balance settings of a robot."""
    group = root.robik.robot.balance
    return Balance(
        source=group.source,
        target=group.target,
        pace=group.pace.lower(),
        margin=float(group.margin),
        lead=float(group.lead),
        give_way=bool(group.give_way),
        pin_feet=bool(group.pin_feet),
        weight=tuple(float(weight) for weight in group.weight),  # type: ignore[arg-type]
    )


def balanced(clip: TargetClip, mechanism: Mechanism, balance: Balance) -> TargetClip:
    """Return the clip with pinned feet and a target of the centre of mass over them, as far as asked for."""
    if balance.pin_feet:
        clip = pin_feet(mechanism, clip)
    if balance.source == "FEET":
        clip = with_balance(mechanism, clip, balance.margin, lead=balance.lead, pace=balance.pace)
    return clip
