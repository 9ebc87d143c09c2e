"""Couplings of several joints, which MJCF says by fixed tendons: sums of joints, Σ coefᵢ qᵢ.

A tendon with limits so narrow that its joints hardly move against each other, and one that an equality holds, is a
coupling: a differential, as waists, wrists and necks have them. Other limits of tendons are told.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, tau
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import FormatError
from ...mechanism import Coupling
from ..assembly.open_joint import OpenJoint
from ..imported import Notes
from ..names import free_name
from ..xml_file import number, numbers
from .equalities import Equalities
from .file import ACTUATOR, MjcfFile, is_limited

NARROW = 0.05  # of what its joints' ranges make of a tendon's length: limits within hold the joints together
TOO_FREE = "the limits of a tendon are not read, so the robot can move further than the file says"
Terms = dict[str, float]  # joint → its coefficient in a tendon


def read_tendons(
    file: MjcfFile,
    found: Equalities,
    joints: Mapping[str, OpenJoint],
    drawn: Mapping[str, float],
    notes: Notes,
    report: Notes,
) -> None:
    """Add the couplings and holds of tendons to `found`, those of the equalities.

    `drawn` is the coordinate [rad or m] of each joint with one motion where the file draws it.
    """
    coupler = _Coupler(file, found, drawn, notes)
    for name, element in coupler.elements.items():
        attributes = file.attributes(element, kind="tendon")
        where = f"tendon {name!r}"
        bounds = is_limited(attributes, "limited", "range", file, where)
        if bounds is None:
            continue
        terms = coupler.terms(element, where) if element.tag == "fixed" else {}
        if not terms or not bounds[1] - bounds[0] <= NARROW * _span(terms, joints):
            notes.add(TOO_FREE, where)
            continue
        coupler.add(terms, [0.5 * (bounds[0] + bounds[1])], None, name)
        report.add("its limits are so narrow that it couples its joints", where)
    for element in (e for section in file.root.findall("equality") for e in section.findall("tendon")):
        coupler.equality(element)


def _span(terms: Terms, joints: Mapping[str, OpenJoint]) -> float:
    """Return by how much the joints of a tendon can change its length, within their limits or a turn."""
    span = 0.0
    for name, coefficient in terms.items():
        joint = joints.get(name)
        low, high = joint.limits[0] if joint is not None and joint.limits else (0.0, tau)
        span += abs(coefficient) * (high - low if isfinite(high - low) else tau)
    return span


class _Coupler:
    """Tendons of one file as couplings."""

    def __init__(self, file: MjcfFile, found: Equalities, drawn: Mapping[str, float], notes: Notes) -> None:
        self.file, self.found, self.drawn, self.notes = file, found, drawn, notes
        sections = file.root.findall("tendon")
        listed = [e for section in sections for e in section]
        self.elements = {e.get("name") or f"number {k + 1}": e for k, e in enumerate(listed)}
        actuators = (e for section in file.root.findall("actuator") for e in section)
        self.driven = {file.attributes(e, kind=ACTUATOR).get("joint") for e in actuators}

    def terms(self, element: Element, where: str) -> Terms:
        """Return what a fixed tendon sums up."""
        terms: Terms = {}
        for part in element.findall("joint"):
            name = part.get("joint", "")
            if name not in self.drawn:
                raise FormatError(f"{where}: {name[:60]!r} is not a joint with one motion")
            terms[name] = terms.get(name, 0.0) + number(part, "coef", where, 1.0)
        return {name: coefficient for name, coefficient in terms.items() if coefficient}

    def equality(self, element: Element) -> None:
        """Read length1 − its reference = Σ aₖ (length2 − its reference)ᵏ."""
        attributes = self.file.attributes(element, kind="equality")
        where = f"tendon equality {attributes.get('name', '')!r}"
        if attributes.get("active", "true") == "false":
            self.notes.add("an equality that is not active was left out", where)
            return
        sides = [self._side(attributes[key], where) for key in ("tendon1", "tendon2") if key in attributes]
        given = attributes.get("polycoef", "0 1 0 0 0").split()
        coefficients = list(numbers(" ".join(given), len(given), f"{where}: its polycoef"))
        coefficients += [0.0, 1.0, 0.0, 0.0, 0.0][len(coefficients) :]
        if not sides or None in sides:
            self.notes.add("it ties a tendon that runs through space, which is not read", where)
            return
        first = dict(sides[0] or {})
        if len(sides) == 1:
            self.add(first, [self._drawn_length(first) + coefficients[0]], None, attributes.get("name") or "tendon")
            return
        second = sides[1] or {}
        if any(coefficients[2:]) and len(second) != 1:
            self.notes.add("it bends the sum of several joints, which is not read", where)
            return
        constant = self._drawn_length(first) + coefficients[0]
        if len(second) != 1:
            for name, slope in second.items():
                first[name] = first.get(name, 0.0) - coefficients[1] * slope
            constant -= coefficients[1] * self._drawn_length(second)
            self.add({n: c for n, c in first.items() if c}, [constant], None, attributes.get("name") or "tendon")
            return
        ((leader, slope),) = second.items()
        shift = np.polynomial.Polynomial([-slope * self.drawn[leader], slope])
        bent = np.polynomial.Polynomial([0.0, *coefficients[1:]])(shift).coef.tolist()
        bent[0] += constant
        while len(bent) > 2 and bent[-1] == 0.0:
            bent.pop()
        if leader in first:
            bent[1] -= first.pop(leader)
        self.add(first, bent, leader, attributes.get("name") or "tendon")

    def _side(self, name: str, where: str) -> Terms | None:
        if name not in self.elements:
            raise FormatError(f"{where}: there is no tendon {name[:60]!r}")
        element = self.elements[name]
        return self.terms(element, where) if element.tag == "fixed" else None

    def _drawn_length(self, terms: Terms) -> float:
        return sum(coefficient * self.drawn[name] for name, coefficient in terms.items())

    def add(self, terms: Terms, polynomial: list[float], leader: str | None, name: str) -> None:
        """Add Σ termᵢ qᵢ = Σ polynomialₖ leaderᵏ; without a leader, the constant alone."""
        if not terms:
            self.notes.add("it sums up no joint, so it was left out", f"tendon {name!r}")
            return
        followers = {coupling.follower for coupling in self.found.couplings}
        follower = min(terms, key=lambda joint: (joint in followers, joint in self.driven, list(terms).index(joint)))
        weight = terms.pop(follower)
        coefficients = [c / weight for c in polynomial]
        others = [(joint, -coefficient / weight) for joint, coefficient in terms.items()]
        if leader is None and not others:
            if self.found.fixed.setdefault(follower, coefficients[0]) != coefficients[0]:
                self.notes.add(f"something else holds joint {follower!r} elsewhere, so it was left out", name)
            return
        if leader is None:
            leader, slope = others.pop(0)
            coefficients = [coefficients[0], slope]
        taken = {coupling.name for coupling in self.found.couplings}
        made = Coupling(free_name(name, taken), follower, leader, tuple(coefficients), tuple(others))
        self.found.couplings.append(made)
