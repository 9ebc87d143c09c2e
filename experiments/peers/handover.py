"""A case as files for other libraries: `robot.xml` (MJCF), `robot.urdf`, `case.json` and `targets.npz`.

All link frames sit in their joint's anchor and have the world's orientation in the rest pose, where all coordinates are
zero. The tree is RobIK's; a cut becomes points that are to coincide, each a pair of frames `NAME_a` and `NAME_b`: one
for a ball, two on the axis of a hinge. `rows` has the axes of frame a along which a point says something new, for
libraries that cannot have redundant constraints.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as Xml

import numpy as np

from experiments.peers.cases import Case
from robik.kinematics.assembly import assembled_poses, prepared
from robik.kinematics.kernels import Placement, forward_kinematics, new_placement
from robik.kinematics.mobility import inspect
from robik.mechanism.joints import SLIDES
from robik.mechanism.orientations import quaternion_matrices
from robik.mechanism.parts import WORLD, Joint
from robik.mechanism.pose import matrix_quaternion
from robik.mechanism.topology import Flat, Topology, build_topology
from robik.objectives.look_at import LookAt
from robik.objectives.relative_frame import RelativeFrame
from robik.objectives.settings import Settings

TINY = 1e-6  # kg, kg m²: what MuJoCo wants of every body at least


def write_case(case: Case, folder: Path) -> None:
    """Write a case into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    tree = _Tree(case)
    Xml.ElementTree(tree.mjcf()).write(folder / "robot.xml")
    Xml.ElementTree(tree.urdf()).write(folder / "robot.urdf")
    (folder / "case.json").write_text(json.dumps(tree.data(), indent=1))
    arrays: dict[str, np.ndarray] = {}
    for name, track in case.clip.tracks.items():
        assert track.position is not None and track.quaternion is not None
        arrays |= {f"{name}.position": track.position, f"{name}.rotation": quaternion_matrices(track.quaternion)}
    if case.clip.com is not None:
        arrays["com"] = case.clip.com
    for item in case.clip.objectives:
        if isinstance(item, RelativeFrame):
            assert item.position is not None and item.quaternion is not None
            arrays |= {"relative.position": item.position, "relative.rotation": quaternion_matrices(item.quaternion)}
        elif isinstance(item, LookAt):
            arrays["look.point"] = item.point
        else:
            raise ValueError(f"{item.key}: only relative frames and axes that look at a point are handed over")
    np.savez(folder / "targets.npz", **arrays)


@dataclass(frozen=True)
class Point:
    """Two bodies' points that are to coincide.

    `rows` are the `axes` (3, 3) of the first along which no other row says so.
    """

    name: str
    ends: tuple[str, str]
    position: np.ndarray
    axes: np.ndarray
    rows: list[int]


def independent_points(topology: Topology) -> list[Point]:
    """Points that close all cuts, balls and hinges, with rows that are independent in poses near the rest pose."""
    flat = prepared(topology)
    poses = list(_copies(flat, topology))
    kept: list[list[np.ndarray]] = [[] for _ in poses]
    points = []
    for cut, joint in enumerate(topology.cuts):
        if joint.type not in ("spherical", "revolute"):
            raise ValueError(f"{joint.name}: only balls and hinges are handed over as cuts, not a {joint.type} joint")
        axes = _axes_along(np.array(joint.axis)) if joint.type == "revolute" else np.eye(3)
        shifts = [0.0, flat.size] if joint.type == "revolute" else [0.0]
        for k, shift in enumerate(shifts):
            at, rows = np.array(joint.position) + shift * axes[:, 2], []
            for row in range(3):
                slopes = [_slope(flat, topology, now, cut, at, axes[:, row]) for now in poses]
                if all(
                    np.linalg.matrix_rank(np.array([*old, new]), 1e-7) > len(old)
                    for old, new in zip(kept, slopes, strict=True)
                ):
                    rows.append(row)
                    for old, new in zip(kept, slopes, strict=True):
                        old.append(new)
            if rows or joint.type == "revolute":
                points.append(Point(joint.name + "'" * k, (joint.parent, joint.child), at, axes, rows))
    if sum(len(point.rows) for point in points) != len(flat.before) - inspect(topology.mechanism).mobility:
        raise ValueError(f"{topology.mechanism.name}: its loops are not closed by {points}")
    return points


def _copies(flat: Flat, topology: Topology) -> Iterator[Placement]:
    for _, now in assembled_poses(flat, topology.rest):
        copy = new_placement(flat, now.q)
        forward_kinematics(flat, copy)
        yield copy


def _slope(flat: Flat, topology: Topology, now: Placement, cut: int, at: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Return the derivative (d,) of the distance of a cut's two ends by the tree's coordinates.

    The distance is along an axis of the first.
    """
    a, b = flat.cut_a[cut], flat.cut_b[cut]
    x, way, slope = now.R[b] @ (at - topology.rest_com[b]) + now.c[b], now.R[a] @ axis, np.zeros(len(flat.before))
    for k in range(flat.loop_at[cut], flat.loop_at[cut + 1]):
        i = flat.loop[k]
        slope[i] = flat.loop_sign[k] * way @ (np.cross(now.omega[i], x) + now.v[i])
    return slope


def followed(case: Case) -> list[str]:
    """Return the frames that a case's targets are for, or that they are seen from, each once."""
    pairs = [item for item in case.clip.objectives if isinstance(item, RelativeFrame)]
    return list(dict.fromkeys([*case.clip.tracks, *(name for item in pairs for name in (item.frame, item.other))]))


class _Tree:
    """A robot's tree of links, in world coordinates of the rest pose."""

    def __init__(self, case: Case) -> None:
        self.case, self.mechanism = case, case.mechanism
        self.topology: Topology = build_topology(self.mechanism)
        self.anchor = {WORLD: np.zeros(3)}
        self.children: dict[str, list[str]] = {}
        self.joint: dict[str, Joint] = {}
        root = Joint("(floating base)", "free", WORLD, self.mechanism.bodies[self.topology.order[0]].name)
        joints = {self.topology.joint_at.get(joint.name): joint for joint in self.mechanism.joints} | (
            {1: root} if self.topology.root else {}
        )
        names = [WORLD, *(self.mechanism.bodies[i].name for i in self.topology.order)]
        for b, name in enumerate(names[1:], start=1):
            joint = joints[b]
            self.anchor[name] = np.zeros(3) if joint.type == "free" else np.array(joint.position)
            self.joint[name] = joint
            self.children.setdefault(names[self.topology.flat.parent[b]], []).append(name)
        self.points = independent_points(self.topology)

    def frames(self, body: str) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """Return what is fixed to a body: frames to be followed and ends of loops.

        As (name, position, axes), in world coordinates.
        """
        found = []
        for name in followed(self.case):
            frame = self.mechanism.frame(name)
            if frame.body == body:
                rest = self.mechanism.bodies[self.mechanism.body_index[body]].pose @ frame.pose
                found.append((f"{name}_target", np.array(rest.position), rest.matrix))
        for point in self.points:
            found += [
                (f"{point.name}_{end}", point.position, point.axes)
                for end, side in zip("ab", point.ends, strict=True)
                if side == body
            ]
        return found

    def motions(self, body: str) -> list[tuple[bool, np.ndarray]]:
        """Return the elementary motions of a body's joint, in order.

        Each is whether it is a slide, and its axis in the direction of the tree.
        """
        joint = self.joint[body]
        flipped = joint.child != body
        motions = [(m in SLIDES, joint.matrix[:, "xyz".index(m[1])] * (-1 if flipped else 1)) for m in joint.motions]
        return motions[::-1] if flipped else motions

    def mjcf(self) -> Xml.Element:
        root = Xml.Element("mujoco", model=self.mechanism.name)
        Xml.SubElement(
            root, "compiler", angle="radian", boundmass=str(TINY), boundinertia=str(TINY), autolimits="false"
        )
        Xml.SubElement(root, "option", jacobian="dense")
        world = Xml.SubElement(root, "worldbody")
        self._mjcf_frames(world, WORLD)
        for child in self.children.get(WORLD, ()):
            self._mjcf_body(world, child, np.zeros(3))
        equality = Xml.SubElement(root, "equality")
        for point in self.points:
            Xml.SubElement(equality, "connect", name=point.name, site1=f"{point.name}_a", site2=f"{point.name}_b")
        return root

    def _mjcf_body(self, parent: Xml.Element, name: str, origin: np.ndarray) -> None:
        anchor, body = self.anchor[name], self.mechanism.bodies[self.mechanism.body_index[name]]
        element = Xml.SubElement(parent, "body", name=name, pos=_text(anchor - origin))
        if self.joint[name].type == "free":
            Xml.SubElement(element, "freejoint")
        elif self.joint[name].is_ball:
            Xml.SubElement(element, "joint", type="ball")
        else:
            for k, (slide, axis) in enumerate(self.motions(name)):
                called = self.joint[name].name + "'" * k
                Xml.SubElement(element, "joint", name=called, type="slide" if slide else "hinge", axis=_text(axis))
        com, mass = _text(body.rest_com - anchor), repr(max(body.mass, TINY))
        Xml.SubElement(element, "inertial", pos=com, mass=mass, diaginertia="1e-3 1e-3 1e-3")
        self._mjcf_frames(element, name)
        for child in self.children.get(name, ()):
            self._mjcf_body(element, child, anchor)

    def _mjcf_frames(self, element: Xml.Element, body: str) -> None:
        for name, position, axes in self.frames(body):
            Xml.SubElement(
                element, "site", name=name, pos=_text(position - self.anchor[body]), quat=_text(matrix_quaternion(axes))
            )

    def urdf(self) -> Xml.Element:
        root = Xml.Element("robot", name=self.mechanism.name)
        if self.topology.root is None:
            Xml.SubElement(root, "link", name="ground")
            self._urdf_frames(root, WORLD, "ground")
        for child in self.children.get(WORLD, ()):
            self._urdf_link(root, child, None if self.topology.root else "ground", np.zeros(3))
        return root

    def _urdf_link(self, root: Xml.Element, name: str, parent: str | None, origin: np.ndarray) -> None:
        anchor, body = self.anchor[name], self.mechanism.bodies[self.mechanism.body_index[name]]
        if parent is not None:
            motions: list[tuple[bool, np.ndarray | None]] = [*self.motions(name)] or [(False, None)]
            for k, (slide, axis) in enumerate(motions):
                link = name if k == len(motions) - 1 else f"{name}_step{k}"
                kind = "fixed" if axis is None else "prismatic" if slide else "revolute"
                joint = Xml.SubElement(root, "joint", name=f"{link}_joint", type=kind)
                Xml.SubElement(joint, "parent", link=parent)
                Xml.SubElement(joint, "child", link=link)
                Xml.SubElement(joint, "origin", xyz=_text(anchor - origin if k == 0 else np.zeros(3)), rpy="0 0 0")
                if axis is not None:
                    Xml.SubElement(joint, "axis", xyz=_text(axis))
                    Xml.SubElement(joint, "limit", lower="-100", upper="100", effort="1000", velocity="1000")
                if link != name:
                    self._urdf_inertia(Xml.SubElement(root, "link", name=link), np.zeros(3), 0.0)
                parent, origin = link, anchor
        self._urdf_inertia(Xml.SubElement(root, "link", name=name), body.rest_com - anchor, body.mass)
        self._urdf_frames(root, name, name)
        for child in self.children.get(name, ()):
            self._urdf_link(root, child, name, anchor)

    @staticmethod
    def _urdf_inertia(link: Xml.Element, com: np.ndarray, mass: float) -> None:
        inertial = Xml.SubElement(link, "inertial")
        Xml.SubElement(inertial, "origin", xyz=_text(com), rpy="0 0 0")
        Xml.SubElement(inertial, "mass", value=repr(max(mass, TINY)))
        Xml.SubElement(inertial, "inertia", ixx="1e-3", iyy="1e-3", izz="1e-3", ixy="0", ixz="0", iyz="0")

    def _urdf_frames(self, root: Xml.Element, body: str, link: str) -> None:
        for name, position, axes in self.frames(body):
            joint = Xml.SubElement(root, "joint", name=f"{name}_mount", type="fixed")
            Xml.SubElement(joint, "parent", link=link)
            Xml.SubElement(joint, "child", link=name)
            Xml.SubElement(joint, "origin", xyz=_text(position - self.anchor[body]), rpy=_text(_roll_pitch_yaw(axes)))
            Xml.SubElement(root, "link", name=name)

    def data(self) -> dict:
        settings, clip = self.case.settings, self.case.clip
        weights = {name: settings.weights(name) for name in clip.tracks}
        return {
            "name": self.case.name,
            "frames": len(clip.times),
            "dt": float(np.diff(clip.times)[0]),
            "floating": self.topology.root is not None,
            "bodies": [[b.name, (b.rest_com - self.anchor[b.name]).tolist()] for b in self.mechanism.bodies],
            "targets": {name: [weight.position[0], weight.orientation[0]] for name, weight in weights.items()},
            "com_weight": list(settings.com_weight) if clip.com is not None else None,
            "relative": [_relative(item, settings) for item in clip.objectives if isinstance(item, RelativeFrame)],
            "look": [
                [item.frame, list(item.axis), settings.weight_of(item)]
                for item in clip.objectives
                if isinstance(item, LookAt)
            ],
            "points": [[point.name, point.rows] for point in self.points],
            "damping": settings.state_weight,
        }


def _relative(item: RelativeFrame, settings: Settings) -> list:
    """Return the frame, the one that it is seen from, and the weights of position and orientation."""
    weight = settings.weight_of(item)
    return [item.frame, item.other, weight.position[0], weight.orientation[0]]


def _axes_along(normal: np.ndarray) -> np.ndarray:
    """Return a rotation (3, 3) whose z axis is a direction."""
    z = normal / np.linalg.norm(normal)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _roll_pitch_yaw(R: np.ndarray) -> np.ndarray:
    """About the fixed axes x, y, z in turn [rad]; where the pitch is upright, the yaw is 0."""
    across = np.hypot(R[0, 0], R[1, 0])
    pitch = np.arctan2(-R[2, 0], across)
    if across < 1e-9:
        return np.array([np.arctan2(-R[1, 2], R[1, 1]), pitch, 0.0])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])


def _text(values: np.ndarray | list[float]) -> str:
    return " ".join(repr(float(v) + 0.0) for v in values)
