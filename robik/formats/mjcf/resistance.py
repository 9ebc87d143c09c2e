"""Resistance of a joint in MJCF: frictionloss, damping, armature and spring, beside what its motor adds."""

from __future__ import annotations

from dataclasses import replace

from ...mechanism import Resistance
from ..imported import Notes
from ..xml_file import numbers
from .file import Attributes
from .stage import PositionDrive

SOFTENING = ("stiffness", "damping")  # which MuJoCo also takes as polynomials


def read_resistance(attributes: Attributes, unit: float, where: str, notes: Notes, is_ball: bool = False) -> Resistance:
    """Return the resistance that a joint's attributes state, its class defaults included.

    `unit` is that of the joint's coordinate [rad or m]. A ball has no spring here.
    """
    name = where.partition(" ")[2].strip("'")
    values = {key: _first(attributes, key, where, notes, name) for key in (*SOFTENING, "armature", "frictionloss")}
    if is_ball and values["stiffness"]:
        notes.add("the spring of a ball is not read", name)
        values["stiffness"] = 0.0
    if any(numbers(attributes.get("springdamper", "0 0"), 2, f"{where}: its springdamper")):
        notes.add(
            "its springdamper, which MuJoCo turns into a spring and damping by the robot's masses, is not read", name
        )
    relaxed = unit * numbers(attributes.get("springref", "0"), 1, f"{where}: its springref")[0]
    return Resistance(
        values["frictionloss"],
        values["damping"],
        values["armature"],
        values["stiffness"],
        relaxed if values["stiffness"] else 0.0,
    )


def _first(attributes: Attributes, key: str, where: str, notes: Notes, name: str) -> float:
    """Return the first number of an attribute, which is all of it but where it is a polynomial."""
    words = attributes.get(key, "0").split()
    value, *more = numbers(" ".join(words), max(len(words), 1), f"{where}: its {key}")
    if key in SOFTENING and any(more):
        notes.add(f"its {key} is a polynomial, of which only the first number is read", name)
    if value < 0:
        notes.add(f"its {key} is negative, so it was left out", name)
        return 0.0
    return value


def with_motor(own: Resistance, drive: PositionDrive | None) -> Resistance:
    """Return the resistance of a joint together with its motor, nothing counted twice.

    A file's armature is that of the motor that is in the joint, so the motor's own counts only where the file has
    none. Of both dampings the larger one is the joint's.
    """
    if drive is None:
        return own
    return replace(own, armature=own.armature or drive.armature, damping=max(own.damping, drive.joint_damping))


def resistance_attributes(resistance: Resistance, is_ball: bool = False) -> dict[str, float | None]:
    """Return a resistance as attributes of a joint, None for what it lacks; a ball has no spring."""
    stiffness = 0.0 if is_ball else resistance.stiffness
    return {
        "armature": resistance.armature or None,
        "damping": resistance.damping or None,
        "frictionloss": resistance.friction or None,
        "stiffness": stiffness or None,
        "springref": (resistance.relaxed or None) if stiffness else None,
    }
