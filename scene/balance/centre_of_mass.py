"""Balance of a clip as a robot's panels set it."""

from __future__ import annotations

from dataclasses import dataclass, fields

from bpy.types import Object, Scene

from ...robik.bake import settings
from ...robik.mechanism import Mechanism
from ...robik.physics import servo_limits
from ..character.mapping import CharacterMapping
from ..robot.chain import known_chain


@dataclass(frozen=True, kw_only=True)
class Balance(settings.Balance):
    """Balance as the animator has set it.

    Attributes:
        target: the object that the centre of mass follows; None where none is chosen.
    """

    target: Object | None = None

    @property
    def plain(self) -> settings.Balance:
        """The same as the library has it."""
        return settings.Balance(**{field.name: getattr(self, field.name) for field in fields(settings.Balance)})


def read_balance(root: Object, mechanism: Mechanism, mapping: CharacterMapping) -> Balance:
    """Return the balance that a robot's panel asks for, as far as the feet that follow can keep it."""
    group = root.robik.robot.balance
    asked = Balance(
        mode=group.mode.lower(),
        target=group.target,
        margin=float(group.margin),
        gives=None if group.add_give else 0.0,
        lead=float(group.lead),
        give_way=bool(group.give_way),
        pin_feet=bool(group.pin_feet),
        weight=tuple(float(weight) for weight in group.weight),  # type: ignore[arg-type]
    )
    return asked.as_far_as(mechanism, (target.frame for target in mapping.targets))


def with_give(balance: Balance, root: Object, mechanism: Mechanism, scene: Scene) -> Balance:
    """Return the balance with what the robot's servos give way by, where they are known and are to be added."""
    return servo_limits.with_give(balance, mechanism, known_chain(root, scene), root.robik.robot.physics.p_gain or None)
