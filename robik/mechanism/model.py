"""Mechanism: bodies, joints between them, frames on them, couplings between joint coordinates.

Everything is given for the rest pose, in which every loop is closed. What ties bodies together (a joint's anchor and
axes) is given in world coordinates; what belongs to one body (its centre of mass, visuals, frames) in the body's own
frame. SI units, radians, Z up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property

import numpy as np

from ..errors import MechanismError, UnconnectedError
from .parts import WORLD, Body, Coupling, Frame, Joint
from .pose import Pose, numbers

KEPT = "_kept"  # attribute of `kept_with_robot`
TOLERANCE = 3e-5  # of the robot's size: what manufacturing tolerances and rounded numbers explain


@dataclass(frozen=True)
class Mechanism:
    """A robot: immutable, checked when made, assembled in its rest pose.

    Attributes:
        tolerance: manufacturing tolerance, in sizes of the robot (the mean distance between neighbouring joints). Loops
            that would move if their numbers were off by no more are taken to move; 0 takes numbers by the letter.
        rounding: how far its joints are from where its file's rounded numbers have them [m].

    Raises:
        MechanismError: names the element that is wrong and what would be right.
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...] = ()
    _: KW_ONLY
    frames: tuple[Frame, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    tolerance: float = TOLERANCE
    rounding: float = 0.0

    def __post_init__(self) -> None:
        for field in ("tolerance", "rounding"):
            (value,) = numbers((getattr(self, field),), f"robot {self.name!r}: its {field}", 1)
            if value < 0.0:
                raise MechanismError(f"robot {self.name!r}: its {field} must be zero or more, not {value:g}")
            object.__setattr__(self, field, value)
        for field in ("bodies", "joints", "frames", "couplings"):
            object.__setattr__(self, field, tuple(getattr(self, field)))
        if not isinstance(self.name, str) or not self.name:
            raise MechanismError(f"a robot must have a name, not {self.name!r}")
        if not self.bodies:
            raise MechanismError(f"robot {self.name!r} has no bodies; it needs at least one")
        names = [b.name for b in self.bodies] + [f.name for f in self.frames]
        _unique([WORLD, *names], "body or frame")
        _unique([j.name for j in self.joints], "joint")
        _unique([n for j in self.joints for n in j.coordinate_names], "joint coordinate")
        _unique([c.name for c in self.couplings], "coupling")
        bodies = {b.name for b in self.bodies}
        for joint in self.joints:
            for end in (joint.parent, joint.child):
                if end != WORLD and end not in bodies:
                    raise MechanismError(
                        f"joint {joint.name!r}: unknown body {end!r}; the bodies are {_listed(bodies)}"
                    )
        for frame in self.frames:
            if frame.body not in bodies:
                raise MechanismError(
                    f"frame {frame.name!r}: unknown body {frame.body!r}; the bodies are {_listed(bodies)}"
                )
        coordinates = {n for j in self.joints for n in j.coordinate_names}
        for coupling in self.couplings:
            for end in coupling.ends:
                if end not in coordinates:
                    raise MechanismError(
                        f"coupling {coupling.name!r}: unknown coordinate {end!r}; there are {_listed(coordinates)}"
                    )
        self._check_connected()

    def _check_connected(self) -> None:
        group = {name: name for name in [WORLD, *(b.name for b in self.bodies)]}

        def root(name: str) -> str:
            while group[name] != name:
                group[name] = group[group[name]]
                name = group[name]
            return name

        for joint in self.joints:
            group[root(joint.child)] = root(joint.parent)
        parts: dict[str, list[str]] = {}
        for name in group:
            parts.setdefault(root(name), []).append(name)
        loose = [part for part in parts.values() if part != [WORLD]]
        if len(loose) > 1:
            listed = "; ".join(_listed(part) for part in loose)
            raise UnconnectedError(
                f"robot {self.name!r} falls into {len(loose)} unconnected parts ({listed}); tie them by joints"
            )

    def __getstate__(self) -> dict[str, object]:
        """Return what a copy or a pickle has: all but what `kept_with_robot` keeps, which is large and made again."""
        return {name: value for name, value in vars(self).items() if name != KEPT}

    @cached_property
    def body_index(self) -> dict[str, int]:
        """Index in `bodies` by name."""
        return {b.name: i for i, b in enumerate(self.bodies)}

    @cached_property
    def actuated(self) -> tuple[Joint, ...]:
        """The joints with motors, in order."""
        return tuple(j for j in self.joints if j.actuated)

    @cached_property
    def actuators(self) -> tuple[str, ...]:
        """The actuators' names, in order: one per motion of each actuated joint."""
        return tuple(n for j in self.actuated for n in j.coordinate_names)

    @cached_property
    def actuator_units(self) -> tuple[str, ...]:
        """The actuators' units, "rad" or "m", in order."""
        return tuple(unit for j in self.actuated for unit in j.coordinate_units)

    @cached_property
    def actuator_limits(self) -> np.ndarray:
        """The actuators' lowest and highest values (A, 2) [rad or m], in order."""
        return _constant([pair for j in self.actuated for pair in j.limits]).reshape(-1, 2)

    @cached_property
    def actuator_velocity_limits(self) -> np.ndarray:
        """The actuators' highest speeds (A,) [rad/s or m/s], in order; infinite where none is known."""
        return _constant([j.velocity_limit for j in self.actuated for _ in j.motions])

    @cached_property
    def actuator_rest(self) -> np.ndarray:
        """The actuators' values (A,) in the rest pose [rad or m], in order."""
        return _constant([value for j in self.actuated for value in j.rest])

    @cached_property
    def extent(self) -> float:
        """The diagonal of the box around centres of mass and joints in the rest pose [m].

        1 where they are all in one point.
        """
        points = [body.rest_com for body in self.bodies] + [np.array(joint.position) for joint in self.joints]
        return float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0

    @property
    def mass(self) -> float:
        """Of all bodies [kg]."""
        return sum(b.mass for b in self.bodies)

    @property
    def has_loops(self) -> bool:
        """Return whether joints tie bodies beside the tree."""
        return len(self.joints) > len(self.bodies) - all(WORLD not in (j.parent, j.child) for j in self.joints)

    @property
    def is_grounded(self) -> bool:
        """Return whether a joint other than a free one ties some body to the world."""
        return any(j.parent == WORLD and j.type != "free" for j in self.joints)

    def frame(self, name: str) -> Frame:
        """Return the frame of that name; a body's name stands for its own frame.

        Args:
            name: Name of a frame or body.

        Returns:
            The frame.

        Raises:
            MechanismError: Lists the names that exist.
        """
        for frame in self.frames:
            if frame.name == name:
                return frame
        if name in self.body_index:
            return Frame(name, name)
        raise MechanismError(
            f"robot {self.name!r} has no frame or body {name!r}; there are {_listed(self.frame_names)}"
        )

    def rest_pose(self, name: str) -> Pose:
        """Return where a frame is in the world, in the rest pose.

        Args:
            name: Name of a frame or body.

        Returns:
            Its pose in the world [m].
        """
        frame = self.frame(name)
        return self.bodies[self.body_index[frame.body]].pose @ frame.pose

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Everything that can be a target: frames, then bodies."""
        return tuple(f.name for f in self.frames) + tuple(b.name for b in self.bodies)

    def with_changes(self, **fields: object) -> Mechanism:
        """Return a checked copy with some fields replaced."""
        return replace(self, **fields)  # type: ignore[arg-type]


def _constant(values: Iterable[Iterable[float] | float]) -> np.ndarray:
    """Return values as an array that nobody can change, since it is kept."""
    array = np.array(list(values), dtype=float)
    array.flags.writeable = False
    return array


def _unique(names: list[str], kind: str) -> None:
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not name:
            raise MechanismError(f"a {kind} must have a name, not {name!r}")
        if name == WORLD and name in seen:
            raise MechanismError(f"{WORLD!r} is the name of the ground; give the {kind} another")
        if name in seen:
            raise MechanismError(f"two of one name: {kind} {name!r}; names must differ")
        seen.add(name)


def _listed(names: Iterable[str], most: int = 12) -> str:
    names = sorted(names)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
