"""A robot whose file is read again: what was built by hand is carried over, and what no longer matches is listed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import bpy
from bpy.types import Object, Scene

from ...robik.errors import RobikError
from ...robik.feet.sole_turns import ground_height
from ...robik.formats import Imported
from ...robik.formats.changes import changes
from ...robik.formats.imported import described, listed
from ...robik.mechanism import WORLD, Body, Joint, Mechanism, Pose
from ...robik.mechanism.base import raised
from ..robot import posing
from ..robot.chain import chain_file, servo_chain
from ..robot.parts import parts
from ..robot.reading import read_robot
from ..robot.sliders import set_sliders, slider_values

LEVEL = 1e-9  # of the robot's size: ground so near to height 0 is there
BY_HAND = ("BODY", "JOINT", "FRAME")  # parts that can be made by hand on a robot that has a file


class Before:
    """A robot, and what refers to its parts, before its file is read again."""

    def __init__(self, scene: Scene, root: Object) -> None:
        self.scene, self.root = scene, root
        try:
            self.mechanism: Mechanism | None = read_robot(root)
        except RobikError:  # reading the file again is what mends it
            self.mechanism = None
        self.by_hand = {
            (part.robik.kind, part.robik.label) for kind in BY_HAND for part in parts(root)[kind] if part.robik.by_hand
        }
        self.lost: list[str] = []
        self.hanging = self._hanging()

    def with_hand_built(self, imported: Imported) -> tuple[Imported, set[tuple[str, str]]]:
        """Return the robot as its file has it, with the parts that were made by hand.

        Bodies, joints and feet, and these parts' kinds and names.

        A joint stays where it was on its parent; on the world, where it was on its child. A body goes with what it is
        tied to.
        """
        if not self.by_hand or self.mechanism is None:
            return imported, set()
        old, new = self.mechanism, imported.mechanism
        tied = self._tied(old, new)
        bodies = [
            b
            for b in old.bodies
            if ("BODY", b.name) in self.by_hand and self._has_place("BODY", b.name, (b.name,), tied, new)
        ]
        joints = [
            j
            for j in old.joints
            if ("JOINT", j.name) in self.by_hand and self._has_place("JOINT", j.name, (j.parent, j.child), tied, new)
        ]
        frames = [
            f
            for f in old.frames
            if ("FRAME", f.name) in self.by_hand and self._has_place("FRAME", f.name, (f.body,), tied, new)
        ]
        before = {body.name: body.pose for body in old.bodies}
        all_bodies = (*new.bodies, *_moved_along(bodies, old.joints, before, new))
        after = {body.name: body.pose for body in all_bodies}
        carried = (_carried(joint, before, after) for joint in joints)
        both = new.with_changes(bodies=all_bodies, joints=(*new.joints, *carried), frames=(*new.frames, *frames))
        if self._rests_on_floor(old) and not _is_level(both):
            both = raised(both, -ground_height(both))
        kept = (
            {("BODY", b.name) for b in bodies}
            | {("JOINT", j.name) for j in joints}
            | {("FRAME", f.name) for f in frames}
        )
        return described(replace(imported, mechanism=both, report=imported.report[:-1])), kept

    def _rests_on_floor(self, old: Mechanism) -> bool:
        """Return whether the robot's rest pose was raised or lowered onto the feet that were found on it."""
        has_feet = any(("FRAME", frame.name) in self.by_hand for frame in old.frames if frame.is_foot)
        return has_feet and not old.is_grounded and _is_level(old)

    def _tied(self, old: Mechanism, new: Mechanism) -> set[str]:
        """Return the bodies of the file as it is now, and those made by hand that joints made by hand tie to them."""
        tied, taken = {WORLD, *new.body_index}, {joint.name for joint in new.joints}
        ours = [(j.parent, j.child) for j in old.joints if ("JOINT", j.name) in self.by_hand and j.name not in taken]
        for _ in ours:  # they may be tied to one another
            for ends in ours:
                if tied.intersection(ends):
                    tied.update(end for end in ends if ("BODY", end) in self.by_hand)
        return tied

    def _has_place(self, kind: str, name: str, ends: tuple[str, ...], tied: set[str], new: Mechanism) -> bool:
        """Return whether a part that was made by hand fits into the robot as its file has it; notes why not."""
        what, mesh = (
            f"{kind.lower()} {name!r} was made by hand",
            "; its mesh was left in the scene" if kind == "BODY" else "",
        )
        taken = name in ([j.name for j in new.joints] if kind == "JOINT" else new.frame_names)
        missing = [end for end in ends if end not in tied]
        if taken:
            self.lost.append(f"{what}; the file now has one of that name, which took its place{mesh}")
        elif missing:
            self.lost.append(
                f"{what} and is gone with"
                f" {f'what it was tied to{mesh}' if kind == 'BODY' else f'its body {missing[0]!r}'}"
            )
        return not taken and not missing

    def compared(self, new: Mechanism) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what has changed, and what no longer matches.

        The robot is posed as its sliders stand, if it can be.
        """
        changed = changes(self.mechanism, new) if self.mechanism is not None else ()
        moves = self.mechanism is None or _moving(self.mechanism) != _moving(new)
        self._pose(new)
        return changed, (
            *self.lost,
            *self._targets(new),
            *self._servos(new),
            *self._bakes(new, moves),
            *self._left_hanging(),
        )

    def _pose(self, new: Mechanism) -> None:
        rest = tuple(value for joint in new.actuated for value in joint.rest)
        if tuple(slider_values(self.root, new.actuators)) == rest:
            return
        with posing.paused():
            if not posing.pose_by_sliders(self.root):
                set_sliders(self.root, new.actuators, rest)  # type: ignore[arg-type]
                posing.pose_by_sliders(self.root)
        posing.settled(self.root)

    def _targets(self, new: Mechanism) -> list[str]:
        gone = [t.frame for t in self.root.robik.robot.character.targets if t.frame not in new.frame_names]
        return [f"targets whose frame is gone: {listed(gone)}; choose another frame, or remove them"] if gone else []

    def _servos(self, new: Mechanism) -> list[str]:
        """Of a chain that the user has set up; without one, the motors are numbered by themselves."""
        if not self.scene.robik.playing.chain and chain_file(self.root, self.scene) is None:
            return []
        try:
            chain = servo_chain(self.root, new, self.scene)
        except RobikError as error:
            return [str(error)]
        gone = [name for name in chain.actuators if name not in new.actuators]
        come = [name for name in new.actuators if name not in chain.actuators]
        return [
            *(
                [f"servos whose motor is gone: {listed(gone)}; change the servo file, or set the chain up again"]
                if gone
                else []
            ),
            *([f"motors that no servo drives yet: {listed(come)}"] if come else []),
        ]

    def _bakes(self, new: Mechanism, moves: bool) -> list[str]:
        robot = self.root.robik.robot
        if not robot.bakes:
            return []
        known = {"", *(body.name for body in new.bodies)}
        gone = sorted({part.name for bake in robot.bakes for part in bake.parts} - known)
        motors = [n for n in self.mechanism.actuators if n not in new.actuators] if self.mechanism is not None else []
        return [
            *([f"baked curves whose body is gone: {listed(gone)}"] if gone else []),
            *([f"baked curves whose motor is gone: {listed(motors)}"] if motors else []),
            *(
                ["the robot moves differently now: bake again, or rebuild the bodies from the motors' curves"]
                if moves
                else []
            ),
        ]

    def _hanging(self) -> list[tuple[str, str]]:
        """Other objects that are parented or constrained to parts of the robot: their names and the parts'."""
        own = {self.root, *(part for listed in parts(self.root).values() for part in listed)}
        found = []
        for other in bpy.data.objects:
            if other not in own:
                ends = [other.parent, *(getattr(c, "target", None) for c in other.constraints)]
                found += [(other.name, end.name) for end in ends if end is not None and end in own and end != self.root]
        return found

    def _left_hanging(self) -> list[str]:
        lost = [name for name, part in self.hanging if part not in bpy.data.objects]
        return [f"objects that hung on a part that is gone: {listed(lost)}"] if lost else []


def _moved_along(bodies: list[Body], joints: Iterable[Joint], before: dict[str, Pose], new: Mechanism) -> list[Body]:
    """Bodies that were made by hand, moved as those of the file were that they are tied to."""
    shift = {
        b.name: None if b.pose == before[b.name] else b.pose @ before[b.name].inverse()
        for b in new.bodies
        if b.name in before
    }
    for _ in bodies:  # they may be tied to one another
        for joint in joints:
            for known, other in ((joint.parent, joint.child), (joint.child, joint.parent)):
                if known in shift:
                    shift.setdefault(other, shift[known])
    return [b if (by := shift.get(b.name)) is None else replace(b, pose=by @ b.pose) for b in bodies]


def _carried(joint: Joint, before: dict[str, Pose], after: dict[str, Pose]) -> Joint:
    """Return a joint where it was on its body."""
    end = joint.child if joint.parent == WORLD else joint.parent
    if before[end] == after[end]:
        return joint
    moved = after[end] @ before[end].inverse() @ Pose.of(joint.matrix, joint.position)
    axes = moved.matrix
    return replace(
        joint,
        position=moved.position,
        axis=tuple(axes[:, 0]),
        axis2=None if joint.axis2 is None else tuple(axes[:, 1]),
        motions=joint.motions if joint.type == "general" else (),
    )


def _moving(mechanism: Mechanism) -> tuple:
    """Return all that decides how it moves."""
    return tuple((b.name, b.pose) for b in mechanism.bodies), mechanism.joints, mechanism.couplings


def _is_level(mechanism: Mechanism) -> bool:
    """Return whether a robot's ground is at height 0."""
    return abs(ground_height(mechanism)) < LEVEL * mechanism.extent
