"""Degrees of freedom of a robot's tree, its base held: whose they are, what one of each is, which ones are driven."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..mechanism.constraints import SLIDE
from ..mechanism.topology import Topology


class Coordinates:
    """Coordinates of a robot's tree, its base held.

    Attributes:
        kept: Degrees of freedom (d,) without the base's.
        unit: What one of each is [rad or m], for all: 1, and the robot's size for slides.
        driven: Whether an actuator moves it, for all.
        names: Joint of each.
    """

    def __init__(self, topology: Topology):
        self.topology, flat = topology, topology.flat
        count, mechanism = len(flat.before), topology.mechanism
        base = set(self.of(topology.base.name)) if topology.base else set()
        self.kept = np.array([i for i in range(count) if i not in base], dtype=int)
        slides = flat.at_v[np.flatnonzero(flat.kind == SLIDE)]
        self.unit, self.driven = np.ones(count), np.zeros(count, bool)
        self.unit[slides] = flat.size
        self.names = {i: joint.name for joint in mechanism.joints for i in self.of(joint.name)}
        for joint in mechanism.actuated:
            self.driven[[i for i in self.of(joint.name) if i not in base]] = True

    def of(self, joint: str) -> range:
        """Return the degrees of freedom of a joint."""
        b, flat = self.topology.joint_at.get(joint), self.topology.flat
        if b is None or flat.first[b] == flat.last[b]:
            return range(0)
        return range(int(flat.at_v[flat.first[b]]), int(flat.tip[b]) + 1)

    def joints_of(self, columns: Iterable[int]) -> tuple[str, ...]:
        """Return the names of the joints of some degrees of freedom, those of the tree."""
        return tuple(dict.fromkeys(self.names[int(i)] for i in columns if int(i) in self.names))
