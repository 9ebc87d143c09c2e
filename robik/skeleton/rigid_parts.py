"""A robot as a tree of rigid parts: bodies that are fixed to each other count as one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..mechanism.model import Mechanism
from ..mechanism.parts import WORLD, Joint
from .names import FRONT, HIND, WORD, part_of, robot_name
from .tree import Tree


@dataclass(frozen=True, kw_only=True, eq=False)
class RigidParts:
    """A robot as a tree of rigid parts.

    Attributes:
        tree: a node for each rigid part, called by the body that its joint moves.
        members: names of bodies and frames of each part.
        joints: by which each part hangs on its parent; None for a root.
        closings: pairs of parts that a joint holds to each other, so that a loop is closed.
        places: (3,) of each body from the point of its part [m].
    """

    tree: Tree
    members: tuple[tuple[str, ...], ...]
    joints: tuple[Joint | None, ...]
    closings: tuple[tuple[int, int], ...]
    places: dict[str, np.ndarray]

    def fixed_end(self, node: int, part: str) -> tuple[str, np.ndarray]:
        """Return name and position (3,) [m] of the foot or hand that is fixed on a lower leg or forearm.

        Where none is called so it is the part's tip.
        """
        for name in self.members[node]:
            if name in self.places and part_of(robot_name(name))[0] == part and self.places[name].any():
                return name, self.tree.points[0, node] + self.places[name]
        return (self.tree.names[node] if part == "foot" else ""), self.tree.tips[node]

    def says(self, node: int, parts: Iterable[str]) -> str | None:
        """Return the side ("l", "r" or empty) of a rigid part that is called one of `parts`; None for others."""
        said = [part_of(robot_name(name)) for name in self.members[node]]
        return next((side for part in parts for found, side in said if found == part), None)

    def side_of(self, chain: Iterable[int]) -> str:
        """Return the side, "l" or "r", that most names along a limb say; empty where they say none."""
        said = [part_of(robot_name(name))[1] for node in chain for name in self.members[node]]
        return "" if said.count("l") == said.count("r") else max("lr", key=said.count)

    def to_the_ground(self, chain: Iterable[int]) -> list[int]:
        """Return a leg, from the trunk on, without the rods that lead from its foot back up."""
        kept = list(chain)
        while len(kept) > 1 and kept[-1] in self._looped and self._lowest(kept[-1]) > self._lowest(kept[-2]):
            kept.pop()
        return kept

    def _lowest(self, node: int) -> float:
        return float(min(self.tree.tips[node, 2], self.tree.points[0, node, 2]))

    @cached_property
    def _looped(self) -> frozenset[int]:
        """Parts of loops, but the one on which a loop hangs."""
        return frozenset(node for a, b in self.closings for node in {*self.tree.path(a)} ^ {*self.tree.path(b)})

    def is_one_loop(self, one: Iterable[int], other: Iterable[int]) -> bool:
        """Return True if a joint holds one chain to the other: sides of a loop, as an ankle's rods, and no limbs."""
        a, b = {*one}, {*other}
        return any((x in a and y in b) or (x in b and y in a) for x, y in self.closings)

    def is_ahead(self, chain: Iterable[int]) -> bool | None:
        """Return True if names along a limb say front, as LF and FL, False if they say behind; None for neither."""
        words = {word.lower() for node in chain for name in self.members[node] for word in WORD.findall(name)}
        return None if bool(words & FRONT) == bool(words & HIND) else bool(words & FRONT)


@dataclass(eq=False)
class _Walk:
    """Bodies in the order of their distance from the base, each with the part that it belongs to."""

    part: dict[str, int] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    moved: list[Joint | None] = field(default_factory=list)
    members: list[list[str]] = field(default_factory=list)
    closings: list[tuple[int, int]] = field(default_factory=list)

    def go(self, mechanism: Mechanism) -> None:
        """Visit every body once; a joint to one that was visited closes a loop."""
        joints: dict[str, list[Joint]] = {}
        for each in mechanism.joints:
            joints.setdefault(each.parent, []).append(each)
        held = {each.child for each in mechanism.joints if each.parent != WORLD}
        roots = [body.name for body in mechanism.bodies if body.name not in held] or [mechanism.bodies[0].name]
        queue: deque[tuple[str, int, Joint | None]] = deque((root, -1, None) for root in roots)
        while queue:
            body, parent, joint = queue.popleft()
            if body in self.part:
                self.closings += [(parent, self.part[body])] if parent >= 0 else []
                continue
            self.add(body, parent, joint)
            queue.extend((hung.child, self.part[body], hung) for hung in joints.get(body, ()))

    def add(self, body: str, parent: int, joint: Joint | None) -> None:
        """Take a body in: as a part of its own, or as one more of the part that it is fixed to."""
        if joint is not None and not joint.motions:
            self.part[body] = parent
            self.members[parent].append(body)
            return
        self.part[body] = len(self.names)
        self.names.append(body)
        self.parents.append(parent)
        self.moved.append(joint)
        self.members.append([body])


def rigid_parts(mechanism: Mechanism) -> RigidParts:
    """Return a robot's tree; a body that several joints hold hangs on the one with the shortest way to the base."""
    walk = _Walk()
    walk.go(mechanism)
    for frame in mechanism.frames:
        if frame.body in walk.part:
            walk.members[walk.part[frame.body]].insert(1, frame.name)
    rest = {body.name: np.array(body.pose.position) for body in mechanism.bodies}
    points = np.array(
        [
            rest[name] if joint is None else np.array(joint.position)
            for name, joint in zip(walk.names, walk.moved, strict=True)
        ]
    )
    tips = np.array([_farthest(mechanism, points[k], walk.members[k]) for k in range(len(walk.names))])
    return RigidParts(
        tree=Tree(tuple(walk.names), tuple(walk.parents), points[None], tips),
        members=tuple(map(tuple, walk.members)),
        joints=tuple(walk.moved),
        closings=tuple(walk.closings),
        places={name: rest[name] - points[k] for name, k in walk.part.items()},
    )


def _farthest(mechanism: Mechanism, point: np.ndarray, members: Iterable[str]) -> np.ndarray:
    """Return where a part leads to: the farthest of its bodies' origins and centres of mass."""
    bodies = [mechanism.bodies[k] for name in members if (k := mechanism.body_index.get(name)) is not None]
    ends = [end for body in bodies for end in (np.array(body.pose.position), body.rest_com)]
    return max(ends, key=lambda end: float(np.linalg.norm(end - point)))
