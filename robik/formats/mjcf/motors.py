"""Which joints MJCF's actuators drive, directly or through tendons that are sums of joints, and how hard."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from math import inf
from xml.etree.ElementTree import Element

from ...errors import FormatError
from ...mechanism import Coupling
from ..imported import Notes, listed
from ..xml_file import number, numbers
from .file import ACTUATOR, Attributes, MjcfFile, is_limited

NO_MOTORS = {"name": "robik_motors", "data": "none"}  # a custom text: the file has no actuators because the robot has no motors


def lacks_motors(file: MjcfFile) -> bool:
    """Whether the file says that its robot has no motors."""
    return any(text.attrib == NO_MOTORS for section in file.root.findall("custom") for text in section.findall("text"))


def read_motors(
    file: MjcfFile, joints: set[str], held: Container[str], couplings: Iterable[Coupling], notes: Notes, report: Notes
) -> dict[str, float]:
    """Joint → the largest effort of its motor [N m or N], for all joints that an actuator drives.

    Args:
        joints: names of those that can be driven.
        held: names of those among them that equalities hold still.
        couplings: between them; a tendon over coupled joints has its motor on the one that leads.

    Raises:
        FormatError: an actuator of a joint or tendon that is not there.
    """
    leader = {coupling.follower: coupling.leader for coupling in couplings}
    tendons = {element.get("name", ""): element for section in file.root.findall("tendon") for element in section}
    motors: dict[str, float] = {}
    for element in (e for section in file.root.findall("actuator") for e in section):
        attributes = file.attributes(element, kind=ACTUATOR)
        where = f"actuator {attributes['name']!r}" if attributes.get("name") else f"a <{element.tag}> actuator"
        name = attributes.get("joint") or attributes.get("jointinparent")
        effort = _effort(element, attributes, file, where)
        if name is not None:
            if name not in joints:
                raise FormatError(f"{where}: there is no joint {name[:60]!r}")
        elif "tendon" in attributes:
            tendon = tendons.get(attributes["tendon"])
            if tendon is None:
                raise FormatError(f"{where}: there is no tendon {attributes['tendon'][:60]!r}")
            if tendon.tag != "fixed":
                notes.add("it pulls a tendon that runs through space, which is not read", where)
                continue
            name, effort = _through(tendon, joints, held, leader, effort, where, notes, report)
            if name is None:
                continue
        else:
            notes.add("it acts on a site or a body and not on a joint, so it was left out", where)
            continue
        motors[name] = min(effort, motors.get(name, inf))
    return motors


def _effort(element: Element, attributes: Attributes, file: MjcfFile, where: str) -> float:
    """The largest force on the joint or tendon."""
    bounds = is_limited(attributes, "forcelimited", "forcerange", file, where)
    if element.tag == "motor":
        control = is_limited(attributes, "ctrllimited", "ctrlrange", file, where)
        bounds = bounds or control
    words = attributes.get("gear", "1").split()
    gear = numbers(" ".join(words), len(words), f"{where}: its gear")[0] if words else 1.0
    effort = inf if bounds is None else max(map(abs, bounds)) * abs(gear)
    return effort if effort > 0 else inf


def _through(
    tendon: Element,
    joints: set[str],
    held: Container[str],
    leader: Mapping[str, str],
    effort: float,
    where: str,
    notes: Notes,
    report: Notes,
) -> tuple[str | None, float]:  # fmt: skip
    """The joint that has the motor of a tendon, none where all that it pulls is held; and the motor's effort there."""
    pulled: dict[str, float] = {}
    parts = tendon.findall("joint")
    if not parts:
        raise FormatError(f"{where}: its tendon pulls no joint")
    for part in parts:
        name = part.get("joint", "")
        if name not in joints:
            raise FormatError(f"{where}: its tendon pulls joint {name[:60]!r}, which is not there")
        if name not in held:
            pulled[_led_by(name, leader)] = pulled.get(_led_by(name, leader), 0.0) + abs(number(part, "coef", f"{where}: its tendon", 1.0))
    if not pulled:
        notes.add("its tendon pulls only joints that equalities hold still, so it was left out", where)
        return None, effort
    first, *others = pulled
    if others:
        notes.add(f"its tendon moves {listed(pulled)} together; {first} has the motor, and the others are free", where)
    else:
        report.add(f"it drives a tendon, whose motor is on {first}", where)
    return first, effort * pulled[first] if pulled[first] > 0 else inf


def _led_by(name: str, leader: Mapping[str, str]) -> str:
    """The joint that a chain of couplings ends at; in a ring of them, any."""
    seen = {name}
    while name in leader and leader[name] not in seen:
        name = leader[name]
        seen.add(name)
    return name
