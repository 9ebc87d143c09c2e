"""Joints of SDF as joints of ours, and couplings between them."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, replace
from math import inf, pi
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import FormatError
from ...mechanism import WORLD, Body, Coupling, Pose, Resistance
from ...mechanism.pose import frame_matrix
from ...mechanism.resistance import FREE
from ..assembly.open_joint import OpenJoint, turned_round, with_frame
from ..imported import SWAPPED, Notes
from ..mimics import Mimic, mimics_of_plugins
from ..names import free_name
from ..xml_file import number_within, numbers
from .elements import MODEL, Node, join
from .frames import Frames

ONE_AXIS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic"}
TWO_AXES = ("universal", "revolute2")
TYPES = (*ONE_AXIS, *TWO_AXES, "screw", "ball", "fixed", "gearbox")
HUGE = 1e15  # SDF's limits for none are ±1e16
SQUARE = 1e-9  # how far from a right angle the axes of a universal joint may be


@dataclass(frozen=True)
class Axis:
    """An axis of a joint.

    Attributes:
        direction: (3,) in the joint's frame.
        limits: [rad or m].
        velocity, effort: of the motor; inf for none.
        resistance: of the joint along it.
    """

    direction: np.ndarray
    limits: tuple[float, float]
    velocity: float
    effort: float
    resistance: Resistance = FREE


class Joints:
    """Reads the joints of a file.

    Attributes:
        bodies: those that they need beside the links.
        couplings: what ties their coordinates.
        second: hinge about a joint's second axis → that joint.
    """

    def __init__(self, frames: Frames, notes: Notes, given: Iterable[OpenJoint] = ()) -> None:
        self.frames, self.notes, self._given = frames, notes, list(given)
        self.bodies: list[Body] = []
        self.couplings: list[Coupling] = []
        self.second: dict[str, str] = {}
        self._gears: list[tuple[str, Node]] = []
        self._mimics: list[tuple[str, str, Node, Element]] = []
        self._coordinate = {(j.name, "axis"): j.name for j in self._given if len(j.motions) == 1}  # joint and axis → it

    def read(self) -> list[OpenJoint]:
        """Return all joints but those that were given."""
        joints = [joint for name, node in self.frames.of_kind("joint").items() for joint in self._joint(name, node)]
        every = [*self._given, *joints]
        moving = {c for joint in every for c in joint.coordinate_names}
        for name, node in self._gears:
            self._gear(name, node, every)
        for name, coordinate, node, mimic in self._mimics:
            self._mimic(name, coordinate, node, mimic, moving)
        for scope, plugin in self.frames.plugins:
            for said in mimics_of_plugins([plugin]):
                self._follow(said, scope, moving)
        return joints

    def _joint(self, name: str, node: Node) -> list[OpenJoint]:
        where, kind = f"joint {name!r}", node.element.get("type", "")
        if kind not in TYPES:
            raise FormatError(f"{where}: unknown type {kind!r}; the types are {', '.join(TYPES)}")
        if kind == "gearbox":
            self._gears.append((name, node))
            return []
        (parent, near), (child, far) = (self._end(name, node, end) for end in ("parent", "child"))
        if parent == child:
            raise FormatError(f"{where}: it ties {parent!r} to itself")
        joint = OpenJoint(name, "fixed", parent, child, near=near, far=far)
        if kind in ("fixed", "ball"):
            made = [replace(joint, type="spherical" if kind == "ball" else "fixed")]
        elif kind in ONE_AXIS:
            made = [self._one_axis(joint, kind, node)]
        else:
            made = self._screw(joint, node) if kind == "screw" else self._two_axes(joint, node)
        return [turned_round(each) if each.child == WORLD else each for each in made]

    def _end(self, name: str, node: Node, end: str) -> tuple[str, Pose]:
        """Return the body on one side, and the joint's frame in it."""
        where = f"joint {name!r}: its {end}"
        said = (node.element.findtext(end) or "").strip()
        if not said:
            raise FormatError(f"{where} must be the name of a link or frame")
        body = self._body(said, node, where)
        pose = self.frames.placed(name)
        return body, pose if body == WORLD else self.frames.placed(body).inverse() @ pose

    def _body(self, said: str, node: Node, where: str) -> str:
        """Return what a joint names: a link, or what a frame moves with."""
        return WORLD if said == WORLD else self.frames.body(self.frames.find(said, node.scope, where))

    def _axis(self, name: str, node: Node, tag: str) -> Axis:
        where = f"joint {name!r}: its {tag}"
        element = node.element.find(tag)
        if element is None:
            raise FormatError(f"{where} is missing")
        xyz = element.find("xyz")
        direction = np.array(numbers("0 0 1" if xyz is None or xyz.text is None else xyz.text, 3, f"{where}'s xyz"))
        expressed_in = "" if xyz is None else xyz.get("expressed_in", "")
        asked = (element.findtext("use_parent_model_frame") or "").strip() in ("1", "true")
        in_model = node.version < (1, 5) or (asked and node.version < (1, 7))
        if in_model or expressed_in:
            frame = self.frames.find(expressed_in, node.scope, where) if expressed_in else join(node.scope, MODEL)
            direction = self.frames.placed(name).matrix.T @ self.frames.placed(frame).matrix @ direction
        limit = element.find("limit")
        low, high = (_limit(limit, key, where, sign * inf) for key, sign in (("lower", -1), ("upper", 1)))
        if low > high:
            self.notes.add(SWAPPED, f"joint {name!r}")
            low, high = high, low
        velocity, effort = (_limit(limit, key, where, inf) for key in ("velocity", "effort"))
        velocity, effort = (rate if rate > 0 else inf for rate in (velocity, effort))
        return Axis(direction, (low, high), velocity, effort, self._resistance(name, element.find("dynamics")))

    def _resistance(self, name: str, dynamics: Element | None) -> Resistance:
        """Return what an axis says of friction, damping and spring."""
        where = f"joint {name!r}: its dynamics"
        friction, damping, stiffness, relaxed = (
            number_within(dynamics, key, where, 0.0)
            for key in ("friction", "damping", "spring_stiffness", "spring_reference")
        )
        if min(friction, damping, stiffness) < 0:
            self.notes.add("what its dynamics say is negative, so it was left out", f"joint {name!r}")
            return FREE
        return Resistance(friction, damping, 0.0, stiffness, relaxed if stiffness else 0.0)

    def _one_axis(self, joint: OpenJoint, kind: str, node: Node) -> OpenJoint:
        axis = self._axis(joint.name, node, "axis")
        frame = frame_matrix(axis.direction, None, f"joint {joint.name!r}")
        joint = with_frame(
            replace(joint, type=ONE_AXIS[kind], velocity_limit=axis.velocity, effort_limit=axis.effort), frame
        )
        joint = replace(joint, resistance=axis.resistance)
        limits = (-inf, inf) if kind == "continuous" else axis.limits
        self._remember(joint.name, node, "axis", joint.coordinate_names[0])
        return replace(joint, limits=_limits(limits))

    def _screw(self, joint: OpenJoint, node: Node) -> list[OpenJoint]:
        """Return a hinge, which may have a motor, and a slide that follows it."""
        axis = self._axis(joint.name, node, "axis")
        turn, slide = self._one_by_one(
            joint, (("revolute", axis), ("prismatic", Axis(axis.direction, (-inf, inf), inf, inf))), "slide"
        )
        self._remember(joint.name, node, "axis", turn.name)
        self.couplings.append(
            Coupling(slide.name, slide.name, turn.name, (0.0, self._pitch(joint.name, node) / (2 * pi)))
        )
        return [turn, slide]

    def _pitch(self, name: str, node: Node) -> float:
        """Metres per turn: a right-handed screw's is positive."""
        where = f"joint {name!r}"
        if node.element.find("screw_thread_pitch") is None and node.element.find("thread_pitch") is not None:
            turns = number_within(node.element, "thread_pitch", where)  # radians per metre, left-handed positive
            if turns == 0:
                raise FormatError(f"{where}: its thread_pitch must not be zero")
            return -2 * pi / turns
        return number_within(node.element, "screw_thread_pitch", where, 1.0)

    def _two_axes(self, joint: OpenJoint, node: Node) -> list[OpenJoint]:
        """Return a universal joint; where its axes are not square, two hinges with a massless body between."""
        first, second = (self._axis(joint.name, node, tag) for tag in ("axis", "axis2"))
        a, b = (axis.direction / max(float(np.linalg.norm(axis.direction)), 1e-300) for axis in (first, second))
        limits = (first.limits, second.limits)
        velocity, effort = min(first.velocity, second.velocity), min(first.effort, second.effort)
        if abs(float(a @ b)) < SQUARE:
            joint = with_frame(joint, frame_matrix(a, b, f"joint {joint.name!r}"))
            if second.resistance != first.resistance:
                self.notes.add("its two axes' dynamics differ; those of the first were taken for both", joint.name)
            joint = replace(joint, resistance=first.resistance)
            joint = replace(
                joint, type="universal", velocity_limit=velocity, effort_limit=effort, limits=_limits(*limits)
            )
            for tag, coordinate in zip(("axis", "axis2"), joint.coordinate_names, strict=True):
                self._remember(joint.name, node, tag, coordinate)
            return [joint]
        made = self._one_by_one(joint, (("revolute", first), ("revolute", second)), "axis2")
        for tag, hinge in zip(("axis", "axis2"), made, strict=True):
            self._remember(joint.name, node, tag, hinge.name)
        self.second[made[1].name] = joint.name
        return made

    def _one_by_one(
        self, joint: OpenJoint, steps: tuple[tuple[str, Axis], tuple[str, Axis]], second: str
    ) -> list[OpenJoint]:
        """Return two joints with a massless body between, by their types and axes.

        `second` is what the other one's name ends with.
        """
        middle, other = (free_name(f"{joint.name}_{what}", self.frames.nodes) for what in ("between", second))
        self.bodies.append(Body(middle))
        one, two = (
            Pose.of(frame_matrix(axis.direction, None, f"joint {joint.name!r}"), (0, 0, 0)) for _, axis in steps
        )
        made = []
        for name, ends, poses, (kind, axis) in (
            (joint.name, (joint.parent, middle), (joint.near @ one, one), steps[0]),
            (other, (middle, joint.child), (two, joint.far @ two), steps[1]),
        ):
            limits = _limits(axis.limits)
            near, far = poses
            joint = OpenJoint(name, kind, *ends, near=near, far=far, limits=limits)
            joint = replace(joint, velocity_limit=axis.velocity, effort_limit=axis.effort)
            made.append(replace(joint, resistance=axis.resistance))
        return made

    # Couplings

    def _remember(self, name: str, node: Node, tag: str, coordinate: str) -> None:
        self._coordinate[name, tag] = coordinate
        axis = node.element.find(tag)
        mimic = None if axis is None else axis.find("mimic")
        if mimic is not None:
            self._mimics.append((name, coordinate, node, mimic))

    def _mimic(self, name: str, coordinate: str, node: Node, mimic: Element, moving: Iterable[str]) -> None:
        where = f"joint {name!r}: its mimic"
        leader = self._coordinate.get(
            (self.frames.find_joint(mimic.get("joint", ""), node.scope, where), mimic.get("axis", "axis"))
        )
        if leader is None or leader not in moving or leader == coordinate:
            raise FormatError(f"{where} must name another joint with an axis, not {mimic.get('joint', '')!r}")
        multiplier, offset, reference = (
            number_within(mimic, key, where, default)
            for key, default in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
        )
        self.couplings.append(Coupling(coordinate, coordinate, leader, (offset - multiplier * reference, multiplier)))

    def _follow(self, said: Mimic, scope: str, moving: Set[str]) -> None:
        """Couple two joints as a plugin says, unless the follower's own axis says more."""
        ends = [self._coordinate.get((join(scope, end), "axis"), "") for end in (said.follower, said.leader)]
        follower, leader = ends
        if follower == leader or not all(end in moving for end in ends):
            told = f"it couples {said.follower!r} to {said.leader!r}, which are not two joints with an axis"
            self.notes.add(f"{told}, so they move freely", said.source)
        elif all(coupling.follower != follower for coupling in self.couplings):
            self.couplings.append(Coupling(follower, follower, leader, (said.offset, said.multiplier)))

    def _gear(self, name: str, node: Node, joints: list[OpenJoint]) -> None:
        """θ₂ = −ratio · θ₁: the turns of child and parent against the reference body."""
        where = f"joint {name!r}"
        ratio = number_within(node.element, "gearbox_ratio", where, 1.0)
        said = (node.element.findtext("gearbox_reference_body") or "").strip()
        if not said:
            raise FormatError(f"{where}: a gearbox must name its gearbox_reference_body")
        reference = self._body(said, node, f"{where}: its gearbox_reference_body")
        turns: list[tuple[str, float]] = []
        for end, tag in (("parent", "axis"), ("child", "axis2")):
            body, _ = self._end(name, node, end)
            turn = self._turn(
                body, reference, self.frames.placed(name).matrix @ self._axis(name, node, tag).direction, joints
            )
            turns += [turn] if turn else []
        if len(turns) < 2 or ratio == 0:
            self.notes.add("its wheels turn by no hinges on its reference body, so the gearbox was left out", name)
            return
        (leader, sign), (follower, other) = turns
        self.couplings.append(Coupling(name, follower, leader, (0.0, -ratio * sign * other)))

    def _turn(self, body: str, reference: str, axis: np.ndarray, joints: list[OpenJoint]) -> tuple[str, float] | None:
        """Return the coordinate of the hinge between two bodies, and its direction.

        1 along the axis, -1 against it.
        """
        for joint in joints:
            if joint.type == "revolute" and {joint.parent, joint.child} == {body, reference}:
                own = (self.frames.placed(body) if body != WORLD else Pose()).matrix
                x = own @ (joint.far if joint.child == body else joint.near).matrix[:, 0]
                sign = 1.0 if x @ axis > 0 else -1.0
                return joint.name, sign if joint.child == body else -sign
        return None


def _limits(*limits: tuple[float, float]) -> tuple[tuple[float, float], ...]:
    return () if all(limit == (-inf, inf) for limit in limits) else limits


def _limit(limit: Element | None, key: str, where: str, default: float) -> float:
    value = number_within(limit, key, where, default, infinite=True)
    return float(np.sign(value) * inf) if abs(value) > HUGE else value
