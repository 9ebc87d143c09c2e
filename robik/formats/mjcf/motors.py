"""Joints that MJCF's actuators drive, directly or through tendons that are sums of joints, and their efforts."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import FormatError
from ...mechanism import Coupling
from ..assembly.open_joint import OpenJoint, with_frame
from ..imported import Notes, listed
from ..xml_file import number, numbers
from .file import ACTUATOR, Attributes, MjcfFile, is_limited

SQUARE = 1e-6  # how far the cosine between a ball's axes may be from nothing
NO_MOTORS = {
    "name": "robik_motors",
    "data": "none",
}  # a custom text: the file has no actuators because the robot has no motors


UNIT = 1.0  # [N m or N] of a motor whose control is normalised


@dataclass(frozen=True)
class Motor:
    """Motor of a joint.

    Attributes:
        effort: the largest [N m or N].
        gain: of the position that it keeps [N m/rad or N/m]; inf where it keeps none.
        reach: least and greatest value of the joint that it can be sent to [rad or m].
        axes: the first three numbers of its gear, in the body's axes; of several actuators on a ball, one after the
            other.
        normalised: whether the effort is a control range of ±1 without a gear, which says nothing where the joint
            itself tells what its motor gives.
    """

    effort: float = inf
    gain: float = inf
    reach: tuple[float, float] = (-inf, inf)
    axes: tuple[tuple[float, ...], ...] = ()
    normalised: bool = False

    def beside(self, other: Motor) -> Motor:
        """Return one motor for two of one joint: what they can do together."""
        return Motor(
            min(self.effort, other.effort),
            min(self.gain, other.gain),
            _both(self.reach, other.reach),
            other.axes + self.axes,
            self.normalised and other.effort >= self.effort,
        )


def driven(joint: OpenJoint, motor: Motor, notes: Notes, report: Notes) -> OpenJoint:
    """Return a joint with its motor, within the limits of both."""
    if motor.normalised and motor.effort < joint.effort_limit < inf:
        report.add("its motor's ctrlrange is ±1 without a gear, so the joint's actuatorfrcrange counts", joint.name)
        joint = replace(joint, actuated=True)
    else:
        joint = replace(joint, actuated=True, gain=motor.gain, effort_limit=min(joint.effort_limit, motor.effort))
    if joint.type == "spherical":
        return _about(joint, np.array(motor.axes).T)
    if len(joint.motions) != 1:
        return joint
    own = joint.limits[0] if joint.limits else (-inf, inf)
    both = _both(own, motor.reach)
    if both == own:
        return joint
    if not both[0] < both[1]:
        notes.add("its motor's ctrlrange lies outside its limits, so that range was left out", joint.name)
        return joint
    report.add("its motor's ctrlrange is narrower than its limits, so that counts", joint.name)
    return replace(joint, limits=(both,))


def _about(joint: OpenJoint, axes: np.ndarray) -> OpenJoint:
    """Return a ball that counts its turns about the axes (3, n) of its actuators, if these are three square ones."""
    if axes.shape != (3, 3):
        return joint
    axes = axes / np.maximum(np.linalg.norm(axes, axis=0), 1e-300)
    if np.abs(axes.T @ axes - np.eye(3)).max() > SQUARE or np.linalg.det(axes) < 0:
        return joint
    stored = tuple((axes.T @ joint.stored).tolist()) if joint.stored else ()
    return replace(with_frame(joint, axes), stored=stored)


def _both(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    """Return what lies in two ranges."""
    return max(a[0], b[0]), min(a[1], b[1])


def lacks_motors(file: MjcfFile) -> bool:
    """Return whether RobIK wrote into the file that its robot has no motors."""
    return any(text.attrib == NO_MOTORS for section in file.root.findall("custom") for text in section.findall("text"))


def read_motors(
    file: MjcfFile, joints: set[str], held: Container[str], couplings: Iterable[Coupling], notes: Notes, report: Notes
) -> dict[str, Motor]:
    """Return joint → its motor, for all of `joints` that an actuator drives.

    `held` are those that equalities hold still. A tendon over coupled joints has its motor on the one that leads.
    Raise FormatError for an actuator of a joint or tendon that is not there.
    """
    leader = {coupling.follower: coupling.leader for coupling in couplings if not coupling.others}
    tendons = {element.get("name", ""): element for section in file.root.findall("tendon") for element in section}
    motors: dict[str, Motor] = {}
    for element in (e for section in file.root.findall("actuator") for e in section):
        attributes = file.attributes(element, kind=ACTUATOR)
        where = f"actuator {attributes['name']!r}" if attributes.get("name") else f"a <{element.tag}> actuator"
        name = attributes.get("joint") or attributes.get("jointinparent")
        effort, reach, gain = _effort(element, attributes, file, where), (-inf, inf), inf
        if name is not None:
            reach, gain = _reach(element, attributes, file, where), _gain(element, attributes, where)
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
        normalised = effort == UNIT and element.tag == "motor" and "forcerange" not in attributes
        motor = Motor(effort, gain, reach, _axis(attributes, where), normalised)
        motors[name] = motor.beside(motors.get(name, Motor()))
    return motors


def _effort(element: Element, attributes: Attributes, file: MjcfFile, where: str) -> float:
    """Return the largest force on the joint or tendon."""
    bounds = is_limited(attributes, "forcelimited", "forcerange", file, where)
    if element.tag == "motor":
        control = is_limited(attributes, "ctrllimited", "ctrlrange", file, where)
        bounds = bounds or control
    effort = inf if bounds is None else max(map(abs, bounds)) * abs(_gear(attributes, where))
    return effort if effort > 0 else inf


def _axis(attributes: Attributes, where: str) -> tuple[tuple[float, ...], ...]:
    """Return what a gear says of a ball's axis; nothing where it is of one number."""
    words = attributes.get("gear", "1").split()[:3]
    return (numbers(" ".join(words), 3, f"{where}: its gear"),) if len(words) == 3 else ()


def _gear(attributes: Attributes, where: str) -> float:
    """Return the first number of a gear, which is that of a joint with one motion."""
    words = attributes.get("gear", "1").split()
    return numbers(" ".join(words), len(words), f"{where}: its gear")[0] if words else 1.0


def _reach(element: Element, attributes: Attributes, file: MjcfFile, where: str) -> tuple[float, float]:
    """Return the values of a joint that its position actuator can be sent to [rad or m].

    ctrl · gain / stiffness / gear.
    """
    stiffness = _stiffness(element, attributes, where)
    bounds = is_limited(attributes, "ctrllimited", "ctrlrange", file, where)
    gear = _gear(attributes, where)
    if stiffness is None or bounds is None or gear == 0.0:
        return -inf, inf
    low, high = sorted(bound * stiffness / gear for bound in bounds)
    return low, high


def _gain(element: Element, attributes: Attributes, where: str) -> float:
    """Return the gain of a position actuator at its joint [N m/rad or N/m]; inf where the file leaves it open."""
    if _stiffness(element, attributes, where) is None:
        return inf
    word = attributes.get("kp", "inf") if element.tag == "position" else attributes["biasprm"].split()[1]
    gain = abs(numbers(word, 1, f"{where}: its gain")[0]) * _gear(attributes, where) ** 2 if word != "inf" else inf
    return gain if gain > 0 else inf


def _stiffness(element: Element, attributes: Attributes, where: str) -> float | None:
    """Return what one unit of control moves a position actuator's length by.

    None of an actuator that keeps no position.
    """
    if element.tag == "position":
        return 1.0
    if (
        element.tag != "general"
        or attributes.get("biastype") != "affine"
        or attributes.get("dyntype", "none") == "integrator"
    ):
        return None
    gain, bias = (attributes.get(key, "0").split() for key in ("gainprm", "biasprm"))
    gains = numbers(" ".join(gain), len(gain), f"{where}: its gainprm")
    biases = (*numbers(" ".join(bias), len(bias), f"{where}: its biasprm"), 0.0, 0.0)
    keeps = gains and biases[0] == 0.0 and biases[1] < 0.0 and attributes.get("gaintype", "fixed") == "fixed"
    return gains[0] / -biases[1] if keeps else None


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
    """Return the joint that has the motor of a tendon, none where all that it pulls is held.

    And the motor's effort there.
    """
    pulled: dict[str, float] = {}
    parts = tendon.findall("joint")
    if not parts:
        raise FormatError(f"{where}: its tendon pulls no joint")
    for part in parts:
        name = part.get("joint", "")
        if name not in joints:
            raise FormatError(f"{where}: its tendon pulls joint {name[:60]!r}, which is not there")
        if name not in held:
            pulled[_led_by(name, leader)] = pulled.get(_led_by(name, leader), 0.0) + abs(
                number(part, "coef", f"{where}: its tendon", 1.0)
            )
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
    """Return the joint that a chain of couplings ends at; in a ring of them, any."""
    seen = {name}
    while name in leader and leader[name] not in seen:
        name = leader[name]
        seen.add(name)
    return name
