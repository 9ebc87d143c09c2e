"""MJCF's equalities: connects and welds become joints that close loops, joint equalities become couplings.

Where bodies are named, MuJoCo takes the two halves to coincide in the pose in which the file gives the robot; where
sites are named, or a weld has a `relpose`, the numbers say where the halves are, and the loop may stand open there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import FormatError
from ...mechanism import WORLD, Coupling, Pose
from ...mechanism.model import TOLERANCE
from ...mechanism.pose import frame_matrix
from ..assembly.open_joint import OpenJoint
from ..imported import Notes
from ..names import free_name
from ..xml_file import numbers
from .file import MjcfFile, vector

APART = 1e-9  # m: pins nearer than this are one
ALIGNED = 1e-6  # of their distance: pins off a line by less than this are on it; rounded numbers may be off by more


@dataclass(frozen=True)
class Pin:
    """A connect: a point of one body held to a point of another."""

    name: str
    bodies: tuple[str, str]
    points: tuple[np.ndarray, np.ndarray]


@dataclass
class Equalities:
    """Content of a file's equalities.

    Attributes:
        closers: joints between bodies.
        couplings: between joint coordinates.
        fixed: joints that are held at a value.
    """

    closers: list[OpenJoint] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)
    fixed: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Tied:
    """Names in equalities.

    Attributes:
        bodies: body → its pose in the world where the file gives the robot; `WORLD` too.
        sites: site → its body and its pose there.
        joints: name → what its coordinate reads where the file gives the robot, for joints with one motion.
        moved_by_hand: mocap bodies, which are no part of the robot's mechanism.
    """

    bodies: Mapping[str, Pose]
    sites: Mapping[str, tuple[str, Pose]]
    joints: Mapping[str, float]
    moved_by_hand: frozenset[str]


def read_equalities(file: MjcfFile, tied: Tied, taken: set[str], notes: Notes, report: Notes) -> Equalities:
    """Return a file's equalities as closers, couplings and fixed joints; names of closers are added to `taken`."""
    found = Equalities()
    pins: list[Pin] = []
    for element in (e for section in file.root.findall("equality") for e in section):
        attributes = file.attributes(element, kind="equality")
        where = f"{element.tag} {element.get('name', '')!r}" if element.get("name") else f"a {element.tag} equality"
        if attributes.get("active", "true") == "false":
            notes.add("an equality that is not active was left out", where)
        elif element.tag == "connect":
            pin = _pin(element, tied, where)
            if tied.moved_by_hand.isdisjoint(pin.bodies):
                pins.append(pin)
            else:
                notes.add("an equality with a mocap body was left out", where)
        elif element.tag == "weld":
            weld = _weld(element, file, tied, where)
            if tied.moved_by_hand.isdisjoint((weld.parent, weld.child)):
                found.closers.append(weld)
            else:
                notes.add("an equality with a mocap body was left out", where)
        elif element.tag == "joint":
            _couple(element, tied, found, where, notes)
        elif element.tag != "tendon":  # which `tendons` reads
            notes.add("this kind of equality is not read, so the robot is freer than the file says", where)
    rounding = TOLERANCE * _size(pins)
    found.closers[:0] = [joint for group in _by_bodies(pins) for joint in _from_pins(group, rounding, report)]
    found.closers = [_named(joint, taken) for joint in found.closers]
    return found


def _named(joint: OpenJoint, taken: set[str]) -> OpenJoint:
    name = free_name(joint.name, taken)
    taken.add(name)
    if joint.child == WORLD:
        return replace(joint, name=name, parent=WORLD, child=joint.parent, near=joint.far, far=joint.near)
    return replace(joint, name=name)


def _bodies(element: Element, tied: Tied, where: str) -> tuple[str, str]:
    first, second = element.get("body1", ""), element.get("body2", WORLD)
    for name in (first, second):
        if name not in tied.bodies:
            raise FormatError(f"{where}: there is no body {name[:60]!r}")
    return _different(first, second, where)


def _different(first: str, second: str, where: str) -> tuple[str, str]:
    if first == second:
        raise FormatError(f"{where} ties body {first!r} to itself; name two bodies")
    return first, second


def _sites(element: Element, tied: Tied, where: str) -> list[tuple[str, Pose]]:
    sites = []
    for key in ("site1", "site2"):
        name = element.get(key, "")
        if name not in tied.sites:
            raise FormatError(f"{where}: there is no site {name[:60]!r}")
        sites.append(tied.sites[name])
    return sites


def _pin(element: Element, tied: Tied, where: str) -> Pin:
    if "site1" in element.attrib or "site2" in element.attrib:
        (a, on_a), (b, on_b) = _sites(element, tied, where)
        bodies = _different(a, b, where)
        points = (np.array(on_a.position), np.array(on_b.position))
    else:
        bodies = a, b = _bodies(element, tied, where)
        anchor = vector(element.attrib, "anchor", "", where)
        points = (np.array(anchor), tied.bodies[b].inverse().point(tied.bodies[a].point(anchor)))
    return Pin(element.get("name") or "_".join(bodies), bodies, points)


def _weld(element: Element, file: MjcfFile, tied: Tied, where: str) -> OpenJoint:
    scale = numbers(element.get("torquescale", "1"), 1, f"{where}: its torquescale")[0]
    kind = "fixed" if scale > 0 else "spherical"  # without torque only the point is held
    if "site1" in element.attrib or "site2" in element.attrib:
        (a, near), (b, far) = _sites(element, tied, where)
        _different(a, b, where)
    else:
        a, b = _bodies(element, tied, where)
        far = Pose(vector(element.attrib, "anchor", "0 0 0", where))
        given = numbers(element.get("relpose", "0 1 0 0 0 0 0"), 7, f"{where}: its relpose")
        if any(given[3:]):  # where the anchor is on the first body, and how the second is turned
            turn = file.rotation({"quat": " ".join(map(repr, given[3:]))}, where)
            near = Pose.of(turn, given[:3])
        else:
            near = tied.bodies[a].inverse() @ tied.bodies[b] @ far
    return OpenJoint(element.get("name") or f"{a}_{b}", kind, a, b, near=near, far=far)


def _couple(element: Element, tied: Tied, found: Equalities, where: str, notes: Notes) -> None:
    """joint1 − its reference = Σ aₖ (joint2 − its reference)ᵏ, as a polynomial of joint2's own coordinate."""
    follower, leader = element.get("joint1", ""), element.get("joint2")
    for name in (follower, leader):
        if name is not None and name not in tied.joints:
            raise FormatError(f"{where}: {name[:60]!r} is not a joint with one motion")
    given = element.get("polycoef", "0 1 0 0 0").split()
    coefficients = numbers(" ".join(given), len(given), f"{where}: its polycoef")
    coefficients = (*coefficients, *(0.0, 1.0, 0.0, 0.0, 0.0)[len(coefficients) :])
    if leader is None:
        value = tied.joints[follower] + coefficients[0]
        if found.fixed.setdefault(follower, value) != value:
            notes.add(f"another equality before it holds joint {follower!r} elsewhere, so it was left out", where)
        return
    if leader == follower:
        raise FormatError(f"{where} couples joint {follower!r} to itself; name two joints")
    shift = np.polynomial.Polynomial([-tied.joints[leader], 1.0])
    whole = (np.polynomial.Polynomial(coefficients)(shift) + tied.joints[follower]).coef.tolist()
    while len(whole) > 2 and whole[-1] == 0.0:
        whole.pop()
    taken = {coupling.name for coupling in found.couplings}
    name = free_name(element.get("name") or follower, taken)
    found.couplings.append(Coupling(name, follower, leader, tuple(whole)))


def _by_bodies(pins: list[Pin]) -> list[list[Pin]]:
    """Pin between the same two bodies together, their points in the first one's order."""
    groups: dict[frozenset[str], list[Pin]] = {}
    for pin in pins:
        group = groups.setdefault(frozenset(pin.bodies), [])
        if group and group[0].bodies != pin.bodies:
            pin = Pin(pin.name, group[0].bodies, pin.points[::-1])
        if not any(np.linalg.norm(pin.points[0] - other.points[0]) < APART for other in group):
            group.append(pin)
    return list(groups.values())


def _size(pins: list[Pin]) -> float:
    """Return the mean distance of pins from their bodies' origins, which are joints' places mostly [m]."""
    spans = [float(np.linalg.norm(point)) for pin in pins for point in pin.points]
    return float(np.mean([span for span in spans if span > 0] or [0.0]))


def _from_pins(pins: list[Pin], rounding: float, report: Notes) -> list[OpenJoint]:
    """Return the joints of pins between the same two bodies: one is a ball; two or more on a line are a hinge along it.

    Others hold the bodies fast. `rounding` is the distance by which rounded numbers may displace a pin [m].
    """
    balls = [
        OpenJoint(pin.name, "spherical", *pin.bodies, near=Pose(_point(pin.points[0])), far=Pose(_point(pin.points[1])))
        for pin in pins
    ]
    first = pins[0]
    near, far = (np.array([pin.points[end] - first.points[end] for pin in pins]) for end in (0, 1))
    if len(pins) == 1 or not _are_congruent(near, far, rounding):  # no one joint holds what is not congruent
        return balls
    longest = int(np.linalg.norm(near, axis=1).argmax())
    off = np.linalg.norm(np.cross(near, near[longest]), axis=1) / float(near[longest] @ near[longest])
    second = int(off.argmax())
    name = "_".join(dict.fromkeys(pin.name for pin in pins[:2]))
    is_hinge = off[second] < max(ALIGNED, rounding / float(np.linalg.norm(near[longest])))
    frames = [
        Pose.of(
            frame_matrix(points[longest], None if is_hinge else points[second], f"loop {name!r}"), first.points[end]
        )
        for end, points in enumerate((near, far))
    ]
    kind = "revolute" if is_hinge else "fixed"
    report.add(f"{len(pins)} connects between the same two bodies are one {kind} joint", name)
    lever = float(np.linalg.norm(near[longest])) if is_hinge else np.inf
    return [OpenJoint(name, kind, *first.bodies, near=frames[0], far=frames[1], lever=lever)]


def _are_congruent(near: np.ndarray, far: np.ndarray, rounding: float) -> bool:
    """Return whether the vectors (k, 3) between pins are alike on both bodies, but for rounding [m]."""
    if np.allclose(near @ near.T, far @ far.T, rtol=ALIGNED, atol=0.0):
        return True
    apart = [np.linalg.norm(side[:, None] - side[None, :], axis=2) for side in (near, far)]
    return bool(np.abs(apart[0] - apart[1]).max() <= 2.0 * rounding)


def _point(values: np.ndarray) -> tuple[float, float, float]:
    x, y, z = values.tolist()
    return x, y, z
