"""Balance of a clip as a robot's panels set it."""

from __future__ import annotations

from dataclasses import dataclass

from bpy.types import Object

from ...robik.retarget import baking


@dataclass(frozen=True, kw_only=True)
class Balance(baking.Balance):
    """Balance as the animator has set it.

    Attributes:
        target: the object that the centre of mass follows; None where none is chosen.
    """

    target: Object | None = None


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
