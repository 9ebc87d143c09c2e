"""Motors, couplings and joints in series of USD files.

Motors stand in prims of their own, and several joints may stand for one step.

These are not UsdPhysics but the schemas of MuJoCo, Newton and PhysX, which robots in USD come with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import radians
from typing import TYPE_CHECKING

import numpy as np

from ...errors import FormatError
from ...mechanism import Body, Coupling
from ...mechanism.joints import TURNS
from ..assembly.open_joint import OpenJoint
from ..imported import Notes
from ..names import free_name
from .scene import Scene, number, schemas_of

if TYPE_CHECKING:
    from pxr import Sdf, Usd

ACTUATORS = {"MjcActuator": "mjc:target", "NewtonActuator": "newton:targets"}
ALIKE = 1e-6  # how far two joints' zero poses may differ [m, or as a part of a turn] to be the steps of one chain


def motors(scene: Scene, names: Mapping[Sdf.Path, str]) -> set[str]:
    """Return the names of the joints that actuator prims drive; `names` has all joints by path."""
    driven = set()
    for prim in scene.prims:
        relation = ACTUATORS.get(str(prim.GetTypeName()))
        if relation and prim.HasRelationship(relation):
            driven |= {names[path] for path in prim.GetRelationship(relation).GetTargets() if path in names}
    return driven


def couplings(scene: Scene, names: Mapping[Sdf.Path, str], joints: list[OpenJoint], notes: Notes) -> list[Coupling]:
    """Return the couplings between joints with one motion."""
    motion = {joint.name: joint.motions[0] for joint in joints if len(joint.motions) == 1}
    found = []
    for path, name in names.items():
        prim = scene.stage.GetPrimAtPath(path)
        for leader, coefficients in _said(prim, scene, motion.get(name, "")):
            if name not in motion or names.get(leader) not in motion or names[leader] == name:
                notes.add(f"it is coupled to {leader}, but only joints with one motion can be", name)
            else:
                found.append(Coupling(name, name, names[leader], coefficients))
    return found


def _said(prim: Usd.Prim, scene: Scene, motion: str) -> list[tuple[Sdf.Path, tuple[float, ...]]]:
    """Return what a joint follows, and the coefficients of the polynomial."""
    found = []
    unit = radians(1.0) if motion in TURNS else scene.meters

    def leader(relation: str) -> Sdf.Path:
        targets = prim.GetRelationship(relation).GetTargets()
        if len(targets) != 1:
            raise FormatError(f"joint {prim.GetPath()}: its {relation} must name one joint")
        return targets[0]

    for schema in schemas_of(prim):
        if schema == "MjcEqualityJointAPI":
            coefficients = tuple(number(prim, f"mjc:coef{k}", float(k == 1)) for k in range(5))
            found.append((leader("mjc:target"), coefficients))
        elif schema == "NewtonMimicAPI" and prim.GetAttribute("newton:mimicEnabled").Get() is not False:
            offset = number(prim, "newton:mimicCoef0", 0.0) * unit
            found.append((leader("newton:mimicJoint"), (offset, number(prim, "newton:mimicCoef1", 1.0))))
        elif schema.startswith("PhysxMimicJointAPI:"):  # q + gearing · leader + offset = 0
            base = f"physxMimicJoint:{schema.partition(':')[2]}"
            offset, gearing = number(prim, f"{base}:offset", 0.0) * unit, number(prim, f"{base}:gearing", 1.0)
            found.append((leader(f"{base}:referenceJoint"), (-offset, -gearing)))
    return found


def in_series(joints: list[OpenJoint], notes: Notes) -> tuple[list[OpenJoint], list[Body]]:
    """Split joints in series between two bodies; return all joints, and the new massless bodies between them.

    MuJoCo means them so; by the letter each would hold all but its own motion. Hinges about one line (a door's) are
    left as they are.
    """
    groups: dict[tuple[str, str], list[OpenJoint]] = {}
    for joint in joints:
        if joint.type in ("revolute", "prismatic"):
            groups.setdefault((joint.parent, joint.child), []).append(joint)
    changed: dict[str, OpenJoint] = {}
    bodies: list[Body] = []
    taken = {end for joint in joints for end in (joint.parent, joint.child)}
    for (parent, child), group in groups.items():
        if len(group) < 2 or _on_one_line(group) or not _agree(group):
            continue
        notes.add("several joints between the same two bodies were read one after the other", child)
        for k, joint in enumerate(group):
            last = k == len(group) - 1
            own = child if last else free_name(f"{joint.name}_body", taken)
            made = replace(joint, parent=parent, child=own, near=joint.near if k == 0 else joint.far)
            if not last:
                bodies.append(Body(own))
                taken.add(own)
            changed[joint.name] = replace(made, stored=(0.0,))
            parent = made.child
    return [changed.get(joint.name, joint) for joint in joints], bodies


def _on_one_line(group: list[OpenJoint]) -> bool:
    first = group[0].near
    x = first.matrix[:, 0]
    for joint in group[1:]:
        apart = np.array(joint.near.position) - first.position
        if abs(abs(x @ joint.near.matrix[:, 0]) - 1) > ALIKE or np.linalg.norm(np.cross(x, apart)) > ALIKE:
            return False
    return len({joint.type for joint in group}) == 1


def _agree(group: list[OpenJoint]) -> bool:
    """Return whether the joints' zero poses put the child in one place."""
    first, *others = (joint.near @ joint.far.inverse() for joint in group)
    return all(
        np.abs(np.subtract(first.position, other.position)).max() < ALIKE
        and np.abs(first.matrix - other.matrix).max() < ALIKE
        for other in others
    )
