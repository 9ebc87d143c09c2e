"""Robots as URDF, with a side file `*.loops.json` for what a tree of joints cannot say (docs/robot-formats.md)."""

from __future__ import annotations

import json
from math import atan2, cos, inf, sin
from pathlib import Path

import numpy as np

from ...files import write_whole
from ...mechanism import WORLD, Body, Joint, Mechanism, Pose, Resistance, Visual
from ...mechanism.constraints import joint_matrices, rotation_vector_matrix
from ...mechanism.resistance import FREE
from ..export_tree import Branch, ExportTree, Motion, export_tree
from ..imported import Notes
from ..mesh_files import split_inner
from ..names import free_name
from ..xml_file import XmlText
from . import loops
from .reader import BEYOND

ON_AXIS = 1e-13  # m: a body's frame this near to its hinge is on it


def save(mechanism: Mechanism, path: Path) -> tuple[str, ...]:
    """Write a URDF file, and its side file where needed, and return one sentence each on what URDF cannot say.

    Meshes are named as the visuals name them, relative to the file. Raise FormatError for what URDF cannot hold at
    all.
    """
    notes = Notes()
    writer = _Writer(mechanism, notes)
    text, beside = writer.text(), writer.beside()
    side_file = path.with_name(path.stem + loops.EXTENSION)
    if (
        beside or side_file.exists() or path.with_name(loops.YAML_NAME).exists()
    ):  # what is there of another robot must not count
        write_whole(
            side_file,
            json.dumps({"format": "robik-loops", "version": 1, **beside}, indent=2, ensure_ascii=False) + "\n",
        )
    write_whole(path, text)
    return notes.sentences


class _Writer:
    """One file on its way out."""

    def __init__(self, mechanism: Mechanism, notes: Notes) -> None:
        self.tree: ExportTree = export_tree(mechanism, lambda joint: joint.type in loops.TYPES)
        self.mechanism = self.tree.mechanism
        self.notes, self.xml = notes, XmlText()
        self.pose = {WORLD: Pose(), **{b.name: b.pose for b in self.mechanism.bodies}}
        self.link_names = {WORLD, *self.mechanism.frame_names}
        self.joint_names = {name for j in self.mechanism.joints for name in (j.name, *j.coordinate_names)}
        self.colors: dict[tuple[float, ...], str] = {}
        self.resistance = {
            name: joint.resistance for joint in self.mechanism.joints for name in (joint.name, *joint.coordinate_names)
        }
        self.rest: dict[str, float] = {}
        self.balls: dict[str, str] = {}
        self.driven: list[str] = []
        self.loops: list[dict] = []
        self.couplings: list[dict] = []
        self.mimics: dict[str, tuple[str, float, float]] = {}
        for coupling in self.mechanism.couplings:
            if len(coupling.coefficients) <= 2 and not coupling.others and coupling.follower not in self.mimics:
                offset, multiplier = (*coupling.coefficients, 0.0)[:2]
                self.mimics[coupling.follower] = (coupling.leader, offset, multiplier)
            else:
                said = {"name": coupling.name, "follower": coupling.follower, "leader": coupling.leader}
                others = {"others": [list(pair) for pair in coupling.others]} if coupling.others else {}
                self.couplings.append({**said, "coefficients": list(coupling.coefficients), **others})
        for old, new in self.tree.renamed:
            notes.add(f"another joint's coordinate has its name, so it is called {new!r}", old)
        for half in self.tree.halves:
            notes.add(
                "its joint is driven or limited and closes a loop, so it ends at a massless link that a loop holds to"
                " its own",
                half,
            )

    def text(self) -> str:
        """Return the URDF's content."""
        with self.xml.within("robot", name=self.mechanism.name):
            self.xml.put("link", name=WORLD)
            for branch in self.tree.branches:
                self.branch(branch)
            for frame in self.mechanism.frames:
                self.massless(frame.name, frame.body, frame.pose)
                if frame.sole:
                    self.notes.add("URDF has no place for its sole", frame.name)
            for joint in self.tree.cuts:
                self.closer(joint)
                if joint.resistance != FREE:
                    self.notes.add("URDF has no friction, damping or spring for a joint that closes a loop", joint.name)
            for name in self.driven:
                self.transmission(name)
            for joint in self.mechanism.actuated:
                if joint.is_ball:
                    self.notes.add("its motors turn about the axes of its body", joint.name)
        return self.xml.text

    def beside(self) -> dict:
        """Return the side file's content, empty where none is needed."""
        content = {"loops": self.loops, "joints": self.balls, "rest": self.rest, "couplings": self.couplings}
        content = {key: value for key, value in content.items() if value}
        undriven = [joint for joint in self.mechanism.joints if not joint.actuated]
        looks_driven = any(max(joint.velocity_limit, joint.effort_limit) < inf for joint in undriven)
        return {**content, "motors": self.driven} if self.tree.lacks_motors or looks_driven else content

    # Links

    def link(self, body: Body) -> None:
        if not (body.mass or any(body.inertia) or body.visuals):
            self.xml.put("link", name=body.name)
            return
        with self.xml.within("link", name=body.name):
            if body.mass or any(body.inertia):
                xx, yy, zz, xy, xz, yz = body.inertia
                with self.xml.within("inertial"):
                    self.xml.put("origin", xyz=body.com, rpy="0 0 0")
                    self.xml.put("mass", value=body.mass)
                    self.xml.put("inertia", ixx=xx, ixy=xy, ixz=xz, iyy=yy, iyz=yz, izz=zz)
            for visual in body.visuals:
                self.visual(visual)

    def visual(self, visual: Visual) -> None:
        if split_inner(visual.file)[1]:
            self.notes.add("URDF names no meshes inside other files, so this one was left out", visual.file)
            return
        with self.xml.within("visual"):
            self.origin(visual.pose)
            with self.xml.within("geometry"):
                match visual.shape:
                    case "mesh":
                        self.xml.put("mesh", filename=visual.file, scale=visual.size)
                    case "box":
                        self.xml.put("box", size=visual.size)
                    case "sphere":
                        self.xml.put("sphere", radius=visual.size[0])
                    case shape:
                        self.xml.put(shape, radius=visual.size[0], length=visual.size[1])
            name = self.colors.setdefault(visual.color, f"color_{len(self.colors) + 1}")
            with self.xml.within("material", name=name):
                self.xml.put("color", rgba=visual.color)

    def massless(self, wanted: str, parent: str, pose: Pose, is_new: bool = False) -> str:
        """Return a link without mass, fixed to another at a pose; its name."""
        name = free_name(wanted, self.link_names) if is_new else wanted
        self.link_names.add(name)
        self.xml.put("link", name=name)
        self.joint(self.new_joint(f"{name}_fixed"), "fixed", parent, name, pose)
        return name

    def new_joint(self, wanted: str) -> str:
        name = free_name(wanted, self.joint_names)
        self.joint_names.add(name)
        return name

    # Joints

    def branch(self, branch: Branch) -> None:
        """Write a body and the joints that it hangs on, one for each motion, with massless links between them."""
        body, parent, before = branch.body, branch.parent, self.pose[branch.parent]
        self.link(body)
        floats = branch.joint is None or (
            branch.joint.type == "free" and parent == WORLD and branch.joint.child == body.name
        )
        if floats or not branch.motions:
            name = branch.joint.name if branch.joint is not None else self.new_joint("root")
            self.joint(name, "floating" if floats else "fixed", parent, body.name, before.inverse() @ body.pose)
            self.driven += [name] if branch.joint is not None and branch.joint.actuated else []
            return
        if branch.joint is not None and branch.joint.actuated:
            self.driven += [motion.name for motion in branch.motions]
        for k, motion in enumerate(branch.motions):
            here = Pose((motion.anchor[0], motion.anchor[1], motion.anchor[2]), body.pose.quaternion)
            off = np.cross(motion.axis, motion.anchor - np.array(body.pose.position)) if motion.kind == "turn" else (
                motion.anchor - np.array(body.pose.position) if motion.kind == "ball" else np.zeros(3)
            )  # fmt: skip
            is_last = k == len(branch.motions) - 1
            if is_last and np.linalg.norm(off) < ON_AXIS:
                link, here = body.name, body.pose
            else:
                link = free_name(f"{body.name}_{motion.name}", self.link_names)
                self.link_names.add(link)
                self.xml.put("link", name=link)
            self.moving(motion, branch.joint, parent, link, before.inverse() @ here, body.pose)
            parent, before = link, here
        if parent != body.name:
            self.joint(self.new_joint(f"{body.name}_fixed"), "fixed", parent, body.name, before.inverse() @ body.pose)

    def moving(self, motion: Motion, joint: Joint | None, parent: str, link: str, at_rest: Pose, pose: Pose) -> None:
        """Write a joint of one motion, or a ball."""
        axis = pose.matrix.T @ motion.axis
        if motion.kind == "ball":
            self.balls[motion.name] = "spherical"
            self.notes.add("URDF has no ball, so it is a floating joint that the side file makes one", motion.name)
            if joint is not None and min(joint.cone, joint.turn_limit) < inf:
                self.notes.add("URDF has no limits for a ball", motion.name)
            own = self.dynamics(self.resistance[motion.name], motion.name)
            self.joint(motion.name, "floating", parent, link, at_rest, dynamics=own)
            return
        back = -motion.rest * axis
        undone = (
            Pose((back[0], back[1], back[2]))
            if motion.kind == "slide"
            else Pose.of(rotation_vector_matrix(back), (0, 0, 0))
        )
        if motion.rest:
            self.rest[motion.name] = motion.rest
        low, high = motion.limits
        kind = "prismatic" if motion.kind == "slide" else "continuous" if (low, high) == (-inf, inf) else "revolute"
        velocity, effort = (joint.velocity_limit, joint.effort_limit) if joint is not None else (inf, inf)
        bounds = {} if kind == "continuous" else {"lower": max(low, -BEYOND), "upper": min(high, BEYOND)}
        self.joint(motion.name, kind, parent, link, at_rest @ undone, axis,
                   {**bounds, "effort": min(effort, BEYOND), "velocity": min(velocity, BEYOND)},
                   self.dynamics(self.resistance[motion.name], motion.name))  # fmt: skip

    def dynamics(self, own: Resistance, name: str) -> dict[str, float] | None:
        """Return what a joint's <dynamics> says, None where there is nothing to say."""
        if own.armature or own.stiffness:
            self.notes.add("URDF has no place for the armature or spring of a joint", name)
        return {"damping": own.damping, "friction": own.friction} if own.damping or own.friction else None

    def joint(
        self,
        name: str,
        kind: str,
        parent: str,
        child: str,
        origin: Pose,
        axis: np.ndarray | None = None,
        limit: dict | None = None,
        dynamics: dict | None = None,
    ) -> None:
        with self.xml.within("joint", name=name, type=kind):
            self.origin(origin)
            self.xml.put("parent", link=parent)
            self.xml.put("child", link=child)
            if axis is not None:
                self.xml.put("axis", xyz=axis)
            if limit is not None:
                self.xml.put("limit", **limit)
            if dynamics is not None:
                self.xml.put("dynamics", **dynamics)
            if name in self.mimics:
                leader, offset, multiplier = self.mimics[name]
                self.xml.put("mimic", joint=leader, multiplier=multiplier, offset=offset)

    def origin(self, pose: Pose) -> None:
        self.xml.put("origin", xyz=pose.position, rpy=_rpy(pose.matrix))

    def transmission(self, joint: str) -> None:
        with self.xml.within("transmission", name=f"{joint}_transmission"):
            with self.xml.within("joint", name=joint):
                pass
            self.xml.put("actuator", name=f"{joint}_motor")

    def closer(self, joint: Joint) -> None:
        """Write a pair of frames that coincide, and the joint between them in the side file."""
        near_R, near_p, far_R = joint_matrices(joint)
        frames = []
        for number, (body, R, p) in enumerate(
            ((joint.parent, near_R, near_p), (joint.child, far_R, np.array(joint.position))), 1
        ):
            frame = self.pose[body].inverse() @ Pose.of(R, p)
            frames.append(self.massless(f"{joint.name}_frame_{number}", body, frame, is_new=True))
        self.loops.append(
            {"name": joint.name, "frames": frames, "type": joint.type, "axis": [1, 0, 0], "axis2": [0, 1, 0]}
        )


def _rpy(R: np.ndarray) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation matrix.

    The roll follows from the yaw, so both together are exact where the pitch is upright.
    """
    yaw = atan2(R[1, 0], R[0, 0])
    c, s = cos(yaw), sin(yaw)
    return atan2(R[0, 2] * s - R[1, 2] * c, R[1, 1] * c - R[0, 1] * s), atan2(-R[2, 0], R[0, 0] * c + R[1, 0] * s), yaw
