"""Joints that follow others: by URDF's <mimic>, a parameter of ros2_control, or a plugin of Gazebo."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from xml.etree.ElementTree import Element

from ...errors import FormatError
from ...mechanism import Coupling
from ..assembly.open_joint import OpenJoint
from ..imported import Notes
from ..mimics import Mimic, mimics_of_plugins
from ..xml_file import name_of, number, numbers


def mimic_couplings(
    root: Element, joints: Collection[OpenJoint], beside: Collection[Coupling], notes: Notes
) -> tuple[Coupling, ...]:
    """Return the couplings of joints that follow others.

    Of several for one joint, or for the same two, the first counts: the side file's before ros2_control's and a
    plugin's, <mimic> before them all.
    """
    left_out = {joint.get("name") for joint in root.findall("joint")}.difference(joint.name for joint in joints)
    told = {coupling.follower for coupling in beside}
    found: list[Mimic] = []
    for mimic in (*_elements(root), *_parameters(root), *mimics_of_plugins(root.findall("gazebo/plugin"))):
        if mimic.follower in left_out or (mimic.follower in told and mimic.source != "<mimic>"):
            continue
        pair = {mimic.follower, mimic.leader}
        earlier = next((m for m in found if m.follower == mimic.follower or {m.follower, m.leader} == pair), None)
        if earlier is None:
            found += [mimic] if _can_follow(mimic, joints, notes) else []
        elif not mimic.says_as(earlier):
            notes.add(f"{mimic.source} couples it otherwise than {earlier.source}, which counts", mimic.follower)
    return tuple(Coupling(m.follower, m.follower, m.leader, (m.offset, m.multiplier)) for m in found)


def _can_follow(mimic: Mimic, joints: Collection[OpenJoint], notes: Notes) -> bool:
    """Return whether a joint and its leader are there to be coupled; notes why not."""
    name, leader = mimic.follower, mimic.leader
    types = {joint.name: joint.type for joint in joints}
    if name not in types:
        notes.add(f"{mimic.source} says what it mimics, but there is no joint of that name", name)
        return False
    if types[name] == "fixed":
        notes.add("it is fixed, so what it mimics was left out", name)
        return False
    if leader not in types:
        notes.add(f"it mimics {leader!r}, but there is no joint of that name, so it moves freely", name)
        return False
    scalar = {joint.name for joint in joints if len(joint.motions) == 1}
    for end in (name, leader):
        if end not in scalar and types[end] != "fixed":  # it stands still then, at its offset
            raise FormatError(f"joint {name!r}: it mimics {leader!r}, but {end!r} is not a joint with one motion")
    if name == leader:
        raise FormatError(f"joint {name!r}: it mimics itself; name another joint")
    return True


def _elements(root: Element) -> Iterator[Mimic]:
    for joint in root.findall("joint"):
        if (mimic := joint.find("mimic")) is not None:
            name = name_of(joint)
            offset, multiplier = (
                number(mimic, key, f"joint {name!r}: its mimic", default)
                for key, default in (("offset", 0.0), ("multiplier", 1.0))
            )
            yield Mimic(name, mimic.get("joint", ""), offset, multiplier, "<mimic>")


def _parameters(root: Element) -> Iterator[Mimic]:
    for joint in root.findall("ros2_control/joint"):
        said = {param.get("name"): (param.text or "").strip() for param in joint.findall("param")}
        if leader := said.get("mimic"):
            name = name_of(joint)
            offset, multiplier = (
                numbers(said.get(key, default), 1, f"joint {name!r} of ros2_control: its {key}")[0]
                for key, default in (("offset", "0"), ("multiplier", "1"))
            )
            yield Mimic(name, leader, offset, multiplier, "ros2_control")
