"""URDF robots, their loops closed: `*.urdf` with what stands beside it (docs/robot-formats.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from math import inf
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import FormatError
from ...mechanism import WORLD, Body, Coupling, Pose, Resistance, Visual
from ...mechanism.pose import frame_matrix, roll_pitch_yaw
from ..assembly.connection import coupled
from ..assembly.motor_choice import left_out_motors
from ..assembly.open_joint import OpenJoint
from ..assembly.open_robot import OpenRobot
from ..holds import held_through, with_held
from ..imported import SWAPPED, Imported, Notes, listed, reading
from ..mesh_files import MeshFiles, placeholder
from ..names import free_name
from ..solids import turned
from ..xml_file import name_of, number, numbers, read_xml
from .closing import assembled, checked, joints_of_loops, stored_as_told
from .gazebo import read_gazebo, tying_joints
from .loops import Loops, loops_by_name, read_beside
from .mimics import mimic_couplings

EXTENSION = ".urdf"
MOST_LINKS = 2000
BEYOND = 1e9  # a limit that is none, for readers that want a number
TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
    "spherical": "spherical",
}  # fmt: skip; spherical is Bullet's
GREY = (0.8, 0.8, 0.8, 1.0)


def load(path: Path, packages: Iterable[Path] = ()) -> Imported:
    """Return the robot in a URDF file, fixed to the world at its root.

    Packages are folders of ROS packages for `package://`, or folders that hold such.
    """
    beside = read_beside(path)
    with reading(path):
        root = read_xml(path)
    return from_xml(root, path, packages, beside, Notes())


def from_xml(root: Element, path: Path, packages: Iterable[Path], beside: Loops | None, notes: Notes) -> Imported:
    """Return the robot of a URDF's root element; its meshes' paths are relative to `path`.

    `beside` is the content of its side file.
    """
    with reading(path):
        return _Reader(root, path, packages, beside, notes).read()


class _Reader:
    """One file on its way in."""

    def __init__(self, root: Element, path: Path, packages: Iterable[Path], beside: Loops | None, notes: Notes) -> None:
        self.root, self.path, self.beside = root, path, beside
        if self.root.tag != "robot":
            raise FormatError(f"its root element must be <robot>, not <{self.root.tag[:40]}>")
        self.meshes = MeshFiles(path, packages)
        self.notes, self.report = notes, Notes()
        self.seen = "visual" if root.find("link/visual") is not None else "collision"
        if self.seen == "collision" and root.find("link/collision") is not None:
            self.report.add("no link of it has a visual, so its collision shapes are shown")
        self.colors = {name_of(m): c for m in self.root.findall("material") if (c := self.own_color(m)) is not None}

    def links(self) -> dict[str, Element]:
        links: dict[str, Element] = {}
        for element in self.root.findall("link"):
            if links.setdefault(name_of(element), element) is not element:
                raise FormatError(f"two links are called {name_of(element)!r}; names must differ")
        if not links:
            raise FormatError("it has no <link>; a robot needs at least one")
        return links

    def read(self) -> Imported:
        links, elements = self.links(), self.root.findall("joint")
        beside = self.beside or loops_by_name(links, self.notes)
        tied = tying_joints(self.root, self.path, beside, self.report)
        if max(len(links), len(beside.loops), len(tied)) > MOST_LINKS:
            raise FormatError(
                f"it has {len(links)} links and {max(len(beside.loops), len(tied))} loops; up to {MOST_LINKS} of each"
                " can be read"
            )
        names = [name_of(element) for element in elements]
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise FormatError(f"two joints are called {twice[0]!r}; names must differ")
        for name in beside.joints:
            if name not in names:
                raise FormatError(f"{beside.source} gives joint {name!r} another type, but there is no such joint")
        if WORLD not in links and any(_end(element, "parent") == WORLD for element in elements):
            self.notes.add(f"joints hang on {WORLD!r}, which is no link of it; it was taken for the ground")
            links = {WORLD: Element("link", {"name": WORLD}), **links}
        joints = stored_as_told([self.joint(element, links, beside) for element in elements], beside)
        base, hanging = self.tree(links, joints)
        if base == WORLD and (any(True for _ in links[base].iter("mass")) or links[base].find("visual") is not None):
            self.notes.add("its root link 'world' is the ground, so that link's mass and looks were left out")
        links = {name: element for name, element in links.items() if name in hanging and not name == base == WORLD}
        return self.assembled(base, links, [joint for joint in joints if joint.child in hanging], beside, tied)

    def assembled(
        self, base: str, links: dict[str, Element], joints: list[OpenJoint], beside: Loops, tied: list[Element]
    ) -> Imported:
        """Return the robot of a tree of links and joints, with what ties them beside."""
        bodies = [self.body(element) for element in links.values()]
        mimics = mimic_couplings(self.root, joints, beside.couplings, self.notes)
        couplings = (*mimics, *(checked(coupling, joints, beside) for coupling in beside.couplings))
        closing: list[OpenJoint] = []
        if tied:
            gazebo = read_gazebo(self.root, self.path, links, joints, self.meshes, self.notes)
            closing = gazebo.read()
            bodies += gazebo.bodies
            couplings += tuple(gazebo.couplings)
        if base != WORLD and all(joint.parent != WORLD for joint in closing):
            joints = [
                OpenJoint(free_name("base", {j.name for j in (*joints, *closing)}), "fixed", WORLD, base),
                *joints,
            ]
        tree = self.with_motors([*joints, *closing], beside, couplings, is_tree=not (beside.loops or closing))
        closers = joints_of_loops(beside.loops, links, tree)
        name = self.root.get("name") or self.path.stem
        robot = OpenRobot(name, tuple(bodies), (*tree, *closers), lacks_motors=beside.motors == ())
        fixed = {joint.name: 0.0 for joint in tree if joint.type == "fixed"}
        held, couplings = held_through(fixed, couplings, self.notes)
        robot = with_held(robot, {name: value for name, value in held.items() if name not in fixed}, self.notes)
        return assembled(coupled(robot, couplings, self.notes), beside.loops, self.notes, self.report)

    def tree(self, links: dict[str, Element], joints: list[OpenJoint]) -> tuple[str, set[str]]:
        """Return the link that is no joint's child, and all that hang on it; of several such trees the largest."""
        by_child: dict[str, str] = {}
        children: dict[str, list[str]] = {}
        for joint in joints:
            if joint.child in by_child:
                raise FormatError(
                    f"link {joint.child!r} is the child of two joints, {by_child[joint.child]!r} and {joint.name!r}; "
                    "a URDF is a tree: close the loop by a pair of frames instead"
                )
            by_child[joint.child] = joint.name
            children.setdefault(joint.parent, []).append(joint.child)
        trees: dict[str, list[str]] = {name: [name] for name in links if name not in by_child}
        for tree in trees.values():
            for name in tree:  # which grows meanwhile
                tree += children.get(name, [])
        if ring := set(links).difference(*trees.values()):
            raise FormatError(
                f"joints run in a ring: {listed(name for name in links if name in ring)} hang on each other; cut the"
                " ring"
            )
        root = max(trees, key=lambda name: len(trees[name]))
        if len(trees) > 1 and len(trees[root]) == 1:
            raise FormatError(
                f"it falls apart: {listed(map(repr, trees))} are no joint's child; joints must tie them together"
            )
        for name in links:
            if name not in trees[root]:
                self.notes.add("no joint ties it to the robot, so it was left out", name)
        return root, set(trees[root])

    # Links

    def body(self, element: Element) -> Body:
        name = name_of(element)
        where = f"link {name!r}"
        mass, com, inertia = 0.0, (0.0, 0.0, 0.0), np.zeros((3, 3))
        if (inertial := element.find("inertial")) is not None:
            pose = _origin(inertial, where)
            com = pose.position
            mass = number(inertial.find("mass"), "value", f"{where}: its mass", 0.0)
            tensor = inertial.find("inertia")
            xx, yy, zz, xy, xz, yz = (
                number(tensor, key, where, 0.0) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
            )
            inertia = turned(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), pose)
        visuals = tuple(v for each in element.findall(self.seen) if (v := self.seen_of(each, where)) is not None)
        return Body.of(name, mass, com, inertia, visuals)

    def seen_of(self, element: Element, where: str) -> Visual | None:
        """Return a link's visual; None, with a note, where it is none: what only looks costs no robot."""
        try:
            return self.visual(element, where)
        except FormatError as error:
            self.notes.add(f"{error}, so it is not shown", where)
            return None

    def visual(self, element: Element, where: str) -> Visual | None:
        what = f"its {element.tag}"
        pose = _origin(element, what)
        color = self.color(element)
        for shape in element.findall("geometry/*"):
            size: tuple[float, ...] | None = None
            if shape.tag == "box":
                size = numbers(shape.get("size"), 3, f"{what}: its box's size")
            elif shape.tag in ("cylinder", "capsule"):
                size = number(shape, "radius", what), number(shape, "length", what)
            elif shape.tag == "sphere":
                size = (number(shape, "radius", what),)
            if size is not None and min(size) > 0:
                return Visual(shape.tag, size, pose=pose, color=color)
            if size is not None:
                self.notes.add(f"a {shape.tag} without extent is not shown", where)
                return None
            if shape.tag == "mesh":
                return self.mesh(shape, pose, color, where)
        self.notes.add(f"a {element.tag} without a box, cylinder, sphere, capsule or mesh was left out", where)
        return None

    def mesh(self, shape: Element, pose: Pose, color: tuple[float, float, float, float], where: str) -> Visual:
        uri = shape.get("filename", "")
        said = shape.get("scale", "1 1 1")
        scale = numbers(" ".join(said.split() * 3) if len(said.split()) == 1 else said, 3, "its mesh's scale")
        file = self.meshes.mesh(uri, self.notes, where)
        return Visual("mesh", scale, pose=pose, color=color, file=file) if file else placeholder(pose, color)

    def color(self, visual: Element) -> tuple[float, float, float, float]:
        """Return a visual's own colour, or that of the material it names."""
        if (material := visual.find("material")) is None:
            return GREY
        own = self.own_color(material)
        if own is not None:
            self.colors.setdefault(material.get("name", ""), own)
            return own
        return self.colors.get(material.get("name", ""), GREY)

    def own_color(self, material: Element) -> tuple[float, float, float, float] | None:
        """Return the colour that a material says itself; None too where that is none."""
        if (color := material.find("color")) is None:
            return None
        rgba = color.get("rgba", "")
        opaque = f"{rgba} 1" if len(rgba.split()) == 3 else rgba
        try:
            r, g, b, a = (min(max(v, 0.0), 1.0) for v in numbers(opaque, 4, "its rgba"))
        except FormatError as error:
            self.notes.add(f"{error}, so it was left out", f"material {material.get('name', '')!r}")
            return None
        return (r, g, b, a)

    # Joints

    def joint(self, element: Element, links: dict[str, Element], beside: Loops) -> OpenJoint:
        name, kind = name_of(element), element.get("type", "")
        where = f"joint {name!r}"
        if kind not in TYPES:
            raise FormatError(f"{where}: unknown type {kind!r}; the types are {', '.join(TYPES)}")
        parent, child = (_link(element, end, where, links) for end in ("parent", "child"))
        near = _origin(element, where)
        if (replaced := beside.joints.get(name)) is not None:
            frame = Pose.of(frame_matrix(*replaced[1:], where), (0, 0, 0))
            self.report.add(f"its type is {replaced[0]}, as {Path(beside.source).name} says", name)
            own = self.resistance(element, name)
            return OpenJoint(name, replaced[0], parent, child, near=near @ frame, far=frame, resistance=own)
        if TYPES[kind] in ("fixed", "free"):
            return OpenJoint(name, TYPES[kind], parent, child, near=near)
        if TYPES[kind] == "spherical":  # in Bullet a motor turns it, as the other joints
            own = self.resistance(element, name)
            return OpenJoint(name, "spherical", parent, child, near=near, is_passive=False, resistance=own)
        axis = element.find("axis")
        x = numbers(axis.get("xyz", "1 0 0") if axis is not None else "1 0 0", 3, f"{where}: its axis")
        frame = Pose.of(frame_matrix(x, None, where), (0, 0, 0))
        limits, velocity, effort = self.limits(element, kind, name)
        return OpenJoint(
            name,
            TYPES[kind],
            parent,
            child,
            near=near @ frame,
            far=frame,
            actuated=False,
            limits=limits,
            velocity_limit=velocity,
            effort_limit=effort,
            resistance=self.resistance(element, name),
        )

    def resistance(self, element: Element, name: str) -> Resistance:
        """Friction and damping of a joint."""
        dynamics, values = element.find("dynamics"), []
        for key in ("friction", "damping"):
            value = number(dynamics, key, f"joint {name!r}: its dynamics", 0.0)
            if value < 0:
                self.notes.add(f"its {key} is negative, so it was left out", name)
            values.append(max(value, 0.0))
        return Resistance(*values)

    def limits(self, element: Element, kind: str, name: str) -> tuple[tuple[tuple[float, float], ...], float, float]:
        """Bounds, and the motor's limits of speed and effort."""
        where, limit = f"joint {name!r}: its limit", element.find("limit")
        rates = []
        for key in ("velocity", "effort"):
            rate = number(limit, key, where, inf, infinite=True)
            if rate <= 0:
                self.notes.add(f"its {key} limit is not positive, so it was taken for none", name)
                rate = inf
            rates.append(rate if rate < BEYOND else inf)
        bounds: tuple[tuple[float, float], ...] = ()
        is_said = limit is not None and not (limit.get("lower") is None and limit.get("upper") is None)
        if kind == "continuous" and is_said:
            told = "it is continuous, so its lower and upper limit do not count; a joint with limits is called revolute"
            self.notes.add(told, name)
        if kind in ("revolute", "prismatic"):
            if not is_said:
                told = "no lower and upper limit, which by the letter would lock it; it was taken for unlimited"
                self.notes.add(told, name)
            elif all(
                number(limit, key, where, 0.0, infinite=True) == 0.0 for key in ("lower", "upper", "velocity", "effort")
            ):
                self.notes.add(
                    "its limits are all zero, as of a form that was not filled in; it was taken for unlimited", name
                )
            else:
                low, high = (number(limit, key, where, 0.0, infinite=True) for key in ("lower", "upper"))
                if low > high:
                    self.notes.add(SWAPPED, name)
                low, high = min(low, high), max(low, high)
                low, high = self.within_soft(element, low, high, name)
                if low == high:
                    self.notes.add("its lower limit is its upper limit, which locks it", name)
                bounds = ((low if low > -BEYOND else -inf, high if high < BEYOND else inf),)
        return bounds, rates[0], rates[1]

    def within_soft(self, element: Element, low: float, high: float, name: str) -> tuple[float, float]:
        """Return limits within those that a safety controller keeps, where it keeps some."""
        controller, where = element.find("safety_controller"), f"joint {name!r}: its safety_controller"
        soft_low = number(controller, "soft_lower_limit", where, 0.0, infinite=True)
        soft_high = number(controller, "soft_upper_limit", where, 0.0, infinite=True)
        kept = max(low, soft_low), min(high, soft_high)
        if soft_low >= soft_high or kept[0] >= kept[1]:  # left out, or of a form that was not filled in
            return low, high
        if kept != (low, high):
            self.report.add("its limits are those that its safety_controller keeps", name)
        return kept

    def with_motors(
        self, joints: list[OpenJoint], beside: Loops, couplings: Iterable[Coupling], is_tree: bool
    ) -> list[OpenJoint]:
        """Return the joints with those actuated that the side file names.

        Else those of the transmissions and of `ros2_control`; in a tree, joints with a motor's limits that these leave
        out, too.
        """
        motors, source = beside.motors, Path(beside.source).name
        if motors is None:
            commanded = [j for j in self.root.findall("ros2_control/joint") if j.find("command_interface") is not None]
            motors = tuple(j.get("name", "") for j in (*self.root.findall("transmission/joint"), *commanded))
            source = "a transmission or ros2_control"
        movable = {j.name for j in joints if j.motions}
        for name in (name for name in motors if name not in movable):
            self.notes.add(f"{source} names it as a motor, but no joint of that name moves", name)
        if beside.motors is None and not movable.isdisjoint(motors):
            leaders = {coupling.follower: coupling.leader for coupling in couplings}
            motors = tuple(name for name in motors if leaders.get(name) not in motors)  # else Gazebo would not move it
            left_out = left_out_motors(joints, motors, set(leaders)) if is_tree else []
            for name in left_out:
                self.report.add(f"{source} does not name it, but its limits of speed and effort are a motor's", name)
            motors = (*motors, *left_out)
        return [replace(j, actuated=True) if j.name in motors and j.motions else j for j in joints]


def _end(joint: Element, end: str) -> str:
    element = joint.find(end)
    return "" if element is None else element.get("link", "")


def _link(joint: Element, end: str, where: str, links: dict[str, Element]) -> str:
    name = _end(joint, end)
    if name not in links:
        raise FormatError(f"{where}: its {end} must be the name of a link, not {name!r}")
    return name


def _origin(element: Element, where: str) -> Pose:
    origin = element.find("origin")
    if origin is None:
        return Pose()
    xyz = numbers(origin.get("xyz", "0 0 0"), 3, f"{where}: its origin's xyz")
    angles = numbers(origin.get("rpy", "0 0 0"), 3, f"{where}: its origin's rpy")
    return Pose.of(roll_pitch_yaw(*angles), xyz)
