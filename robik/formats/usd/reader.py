"""UsdPhysics robots: `*.usd`, `*.usda`, `*.usdc`, `*.usdz` (docs/robot-formats.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...errors import FormatError
from ...mechanism import WORLD, Coupling
from ..assembly.assemble import assemble
from ..assembly.connection import based, connected
from ..assembly.open_joint import OpenJoint
from ..assembly.open_robot import OpenRobot
from ..imported import Imported, Notes, listed, reading
from ..names import free_name
from .bodies import Bodies
from .gears import TYPES as GEARS
from .gears import Gears
from .joints import Joints
from .scene import Scene, names_of
from .stage import open_stage, pxr_errors
from .ties import couplings, in_series, motors

if TYPE_CHECKING:
    from pxr import Sdf

FAR = 1e-5  # of the robot's size: bodies that stand further than this from where their joints have them are reported


def load(path: Path, packages: Iterable[Path] = ()) -> Imported:
    """Return the robot in a USD file; packages are further folders that its references may lead to."""
    with reading(path), pxr_errors():
        return _Reader(path, packages).read()


class _Reader:
    """One file on its way in."""

    def __init__(self, path: Path, packages: Iterable[Path]) -> None:
        self.path = path
        self.notes, self.report = Notes(), Notes()
        self.stage = open_stage(path, packages)
        self.scene = Scene(self.stage, self.notes, self.report)

    def read(self) -> Imported:
        missing = [
            f"a part of it is missing: {' '.join(str(error).split())}"
            for error in getattr(self.stage, "GetCompositionErrors", list)()
        ]
        for each in missing:
            self.notes.add(each)
        try:
            return self._robot()
        except FormatError as error:  # whose cause may be what is missing
            raise FormatError("; ".join([str(error), *missing[:1]])) from None

    def _robot(self) -> Imported:
        if not self.scene.bodies:
            raise FormatError("it has no rigid body (PhysicsRigidBodyAPI); a robot needs at least one")
        reader = Joints(self.scene, self.notes)
        joints, names = self._joints(reader)
        kept = connected(self.scene.bodies.values(), joints, self._roots(), self.notes)
        joints = [j for j in joints if {j.parent, j.child} & kept]
        bodies = Bodies(self.scene, kept, self.path.name, self.notes)
        made = [
            bodies.read(self.stage.GetPrimAtPath(at), name) for at, name in self.scene.bodies.items() if name in kept
        ]
        made += [body for body in reader.bodies if body.name in kept]
        joints = self._based(joints, kept)
        robot = OpenRobot(self._name(), tuple(made), tuple(joints), frames=tuple(bodies.frames()))
        ties = couplings(self.scene, names, joints, self.notes)
        ties += Gears(self.scene, reader, names, joints, self.notes).couplings(c.name for c in ties)
        robot = replace(robot, couplings=tuple(self._of_the_tree(ties, robot)))
        self._compare(robot)
        return assemble(robot, self.notes, self.report)

    def _of_the_tree(self, ties: list[Coupling], robot: OpenRobot) -> Iterator[Coupling]:
        for coupling in ties:
            if set(coupling.ends) <= set(robot.coordinates):
                yield coupling
            else:
                self.notes.add("it couples a joint that closes a loop, so the coupling was left out", coupling.name)

    def _name(self) -> str:
        root = self.stage.GetDefaultPrim()
        return root.GetName() if root else self.path.stem

    def _joints(self, reader: Joints) -> tuple[list[OpenJoint], dict[Sdf.Path, str]]:
        """Return all joints, those that the file takes out of the tree last; and their names."""
        from pxr import UsdPhysics

        prims = [
            prim for prim in self.scene.prims if prim.IsA(UsdPhysics.Joint) or prim.HasRelationship("physics:body1")
        ]
        prims = [prim for prim in prims if prim.GetTypeName() not in GEARS]
        names = names_of([prim.GetPath() for prim in prims], set())
        driven = motors(self.scene, names)
        tree: list[OpenJoint] = []
        closers: list[OpenJoint] = []
        for prim in prims:
            name = names[prim.GetPath()]
            found = [
                replace(j, actuated=True) if name in driven and j.name == name and j.motions else j
                for j in reader.read(prim, name)
            ]
            excluded = prim.GetAttribute("physics:excludeFromArticulation").Get()
            (closers if excluded else tree).extend(found)
        tree, between = in_series(tree, self.notes)
        reader.bodies += between
        return tree + closers, names

    def _roots(self) -> set[str]:
        """Bodies that are marked as an articulation's root, or stand below a prim that is."""
        from pxr import UsdPhysics

        roots = [prim.GetPath() for prim in self.scene.prims if prim.HasAPI(UsdPhysics.ArticulationRootAPI)]
        return {name for path, name in self.scene.bodies.items() if any(path.HasPrefix(root) for root in roots)}

    def _based(self, joints: list[OpenJoint], kept: set[str]) -> list[OpenJoint]:
        """Return the joints with one that lets the robot float, if none ties it to the world."""
        from pxr import UsdPhysics

        names = {joint.name for joint in joints}
        fixed = []
        for path, name in self.scene.bodies.items():
            if name in kept and UsdPhysics.RigidBodyAPI(self.stage.GetPrimAtPath(path)).GetKinematicEnabledAttr().Get():
                self.report.add("it is moved by nothing but animation (kinematic), so it was fixed to the world", name)
                free = free_name(f"{name}_fixed", names)
                names.add(free)
                fixed.append(OpenJoint(free, "fixed", WORLD, name, near=self.scene.poses[name]))
        marked = [name for path, name in self.scene.bodies.items() if name in kept and self._is_root(path)]
        base = (marked or [name for name in self.scene.bodies.values() if name in kept])[0]
        return based(fixed + joints, base, self.scene.poses, self.report)

    def _is_root(self, path: Sdf.Path) -> bool:
        from pxr import UsdPhysics

        return bool(self.stage.GetPrimAtPath(path).HasAPI(UsdPhysics.ArticulationRootAPI))

    def _compare(self, robot: OpenRobot) -> None:
        """Note bodies that are not where the joints have them."""
        now = robot.placed(robot.stored)
        moved = {}
        for name, pose in self.scene.poses.items():
            if name in robot.order:
                distance = float(np.linalg.norm(now.p[robot.order[name]] - pose.position))
                if distance > FAR * robot.size:
                    moved[name] = distance
        if moved:
            most = max(moved.values())
            self.notes.add(
                f"not where the joints have it (by up to {1e3 * most:.3g} mm); the joints were believed", listed(moved)
            )
