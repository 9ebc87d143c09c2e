"""Resistance of a joint against its own motion: friction, damping, armature, spring."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..errors import MechanismError
from .pose import numbers


@dataclass(frozen=True)
class Resistance:
    """Resistance of a joint, whatever drives it; of each of its motions alike.

    Against a motion q of the joint acts

        friction · sign q̇ + damping · q̇ + armature · q̈ + stiffness · (q − relaxed)        [N m or N]

    A ball has no spring.

    Attributes:
        friction: that does not depend on speed [N m or N].
        damping: [N m s/rad or N s/m].
        armature: inertia of what turns with the joint beyond its bodies, as a rotor behind a gear [kg m² or kg].
        stiffness: of a spring [N m/rad or N/m].
        relaxed: coordinate at which the spring pulls nowhere [rad or m].
    """

    friction: float = 0.0
    damping: float = 0.0
    armature: float = 0.0
    stiffness: float = 0.0
    relaxed: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            (value,) = numbers((getattr(self, field.name),), f"its {field.name}", 1)
            if value < 0 and field.name != "relaxed":
                raise MechanismError(f"its {field.name} must be zero or more, not {value:g}")
            object.__setattr__(self, field.name, value)


FREE = Resistance()
