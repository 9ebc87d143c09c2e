"""Parts of a robot: bodies, joints between them, frames on them, couplings between joint coordinates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from math import asin, inf, isnan, pi, sin

import numpy as np

from ..errors import MechanismError
from .directions import any_perpendicular, perpendicular, unit
from .joints import JOINT_TYPES, MOTIONS, SLIDES, TURNS
from .pose import IDENTITY, Pose, Vector, cross, numbers, vector
from .resistance import FREE, Resistance
from .visual import Visual

WORLD = "world"
UNLIMITED = (-inf, inf)


@dataclass(frozen=True)
class Body:
    """A rigid body.

    Attributes:
        name: unique among bodies, frames and the world.
        mass: [kg], 0 or more.
        com: centre of mass in the body's frame [m].
        inertia: about the centre of mass, along the body's axes: xx, yy, zz, xy, xz, yz [kg m²].
        pose: of the body's own frame in the world, in the rest pose.
        visuals: what to see of it.
    """

    name: str
    mass: float = 0.0
    _: KW_ONLY
    com: Vector = (0.0, 0.0, 0.0)
    inertia: tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    pose: Pose = IDENTITY
    visuals: tuple[Visual, ...] = ()

    def __post_init__(self) -> None:
        (mass,) = numbers((self.mass,), f"body {self.name!r}: its mass", 1)
        if mass < 0:
            raise MechanismError(f"body {self.name!r}: its mass must be zero or more kilograms, not {self.mass}")
        inertia = numbers(self.inertia, f"body {self.name!r}: its inertia", 6)
        object.__setattr__(self, "mass", mass)
        object.__setattr__(self, "com", vector(self.com, f"body {self.name!r}: its com"))
        object.__setattr__(self, "inertia", inertia)
        object.__setattr__(self, "visuals", tuple(self.visuals))

    @classmethod
    def of(
        cls, name: str, mass: float, com: Iterable[float], inertia: np.ndarray, visuals: Iterable[Visual] = ()
    ) -> Body:
        """Return a body from an inertia matrix in its own frame.

        Args:
            name: Name of the body.
            mass: Mass [kg].
            com: Centre of mass (3,) in the body's frame [m].
            inertia: Inertia (3, 3) about it [kg m²].
            visuals: Shapes to be seen.

        Returns:
            The body, in the world's origin.
        """
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.tolist()
        return cls(
            name,
            mass,
            com=vector(com, f"body {name!r}: its com"),
            inertia=(xx, yy, zz, xy, xz, yz),
            visuals=tuple(visuals),
        )

    @property
    def inertia_matrix(self) -> np.ndarray:
        """Inertia (3, 3) about the centre of mass, along the body's axes [kg m²]."""
        xx, yy, zz, xy, xz, yz = self.inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    @property
    def rest_com(self) -> np.ndarray:
        """Centre of mass (3,) in the world, in the rest pose [m]."""
        return self.pose.point(self.com)


@dataclass(frozen=True)
class Joint:
    """Freedom of two bodies relative to each other.

    Attributes:
        name: unique among joints.
        type: a row of `JOINT_TYPES`.
        parent, child: names of bodies; the parent may be `WORLD`.
        position: the anchor in the world, in the rest pose [m].
        axis: the joint frame's x axis in the world, in the rest pose; made a unit vector.
        axis2: the joint frame's y axis, made perpendicular to `axis`; None where it does not matter (one is chosen).
        actuated: driven by a motor.
        limits: lower and upper bound per motion [rad or m]; empty for none; must hold `rest`.
        velocity_limit, effort_limit: of the motor, per motion alike [rad/s or m/s; N m or N]; inf where unknown.
        gain: of its position loop, likewise [N m/rad or N/m]; inf where the motor keeps none or nobody knows.
        rest: the coordinates' values in the rest pose, per motion [rad or m]; a ball's are a rotation vector.
        motions: the free motions, for the type "general" only (subset of `MOTIONS`).
        cone: of a ball: the largest angle between its axis on both sides [rad]; inf for none. Turns about it are free.
        turn_limit: of a ball: the largest angle of its whole rotation [rad]; inf for none.
        resistance: friction, damping, armature and spring of the joint itself.
    """

    name: str
    type: str
    parent: str
    child: str
    _: KW_ONLY
    position: Vector = (0.0, 0.0, 0.0)
    axis: Vector = (1.0, 0.0, 0.0)
    axis2: Vector | None = None
    actuated: bool = False
    limits: tuple[tuple[float, float], ...] = ()
    velocity_limit: float = inf
    effort_limit: float = inf
    gain: float = inf
    rest: tuple[float, ...] = ()
    motions: tuple[str, ...] = ()
    cone: float = inf
    turn_limit: float = inf
    resistance: Resistance = FREE

    def __post_init__(self) -> None:
        where = f"joint {self.name!r}"
        if self.type not in JOINT_TYPES:
            raise MechanismError(f"{where}: unknown type {self.type!r}; the types are {', '.join(JOINT_TYPES)}")
        row = JOINT_TYPES[self.type]
        if row.motions is None:
            if not set(self.motions) <= set(MOTIONS) or len(set(self.motions)) != len(self.motions):
                raise MechanismError(
                    f"{where}: its motions must be a choice of {', '.join(MOTIONS)}, not {self.motions}"
                )
            motions = tuple(self.motions)
            if motions != tuple(
                m for m in MOTIONS if m in motions
            ):  # values come per motion: a sorted copy would mix them up
                raise MechanismError(
                    f"{where}: its motions must be in the order {', '.join(MOTIONS)}, not {', '.join(motions)}"
                )
        else:
            if self.motions and tuple(self.motions) != row.motions:
                raise MechanismError(f"{where}: a {self.type} joint has its own motions; only a general one lists them")
            motions = row.motions
        object.__setattr__(self, "motions", motions)
        if self.parent == self.child:
            raise MechanismError(f"{where}: it must tie two bodies, not {self.parent!r} to itself")
        if self.child == WORLD:
            raise MechanismError(f"{where}: the world can only be a parent; swap parent and child")
        if self.actuated and not motions:
            raise MechanismError(f"{where}: a joint without motion cannot be actuated")
        object.__setattr__(self, "position", vector(self.position, f"{where}: its position"))
        object.__setattr__(self, "axis", unit(self.axis, f"{where}: its axis"))
        if self.axis2 is not None:
            object.__setattr__(self, "axis2", perpendicular(self.axis, self.axis2, f"{where}: its axis2"))
        self._check_values(where, motions)

    def _check_values(self, where: str, motions: tuple[str, ...]) -> None:
        rest = numbers(self.rest, f"{where}: its rest values") or (0.0,) * len(motions)
        try:
            limits = tuple((float(lo), float(hi)) for lo, hi in self.limits) or (UNLIMITED,) * len(motions)
        except (TypeError, ValueError, OverflowError):
            raise MechanismError(
                f"{where}: its limits must be a pair of numbers per motion, not {self.limits!r}"
            ) from None
        for what, values in (("rest", rest), ("limits", limits)):
            if len(values) != len(motions):
                raise MechanismError(
                    f"{where}: its {what} must have {len(motions)} entries ({', '.join(motions)}), not {len(values)}"
                )
        for motion, value, (lo, hi) in zip(motions, rest, limits, strict=True):
            if isnan(lo) or isnan(hi) or lo > hi:
                raise MechanismError(
                    f"{where}: its limits of {motion} must run from low to high, not from {lo:g} to {hi:g}"
                )
            if not lo - 1e-9 <= value <= hi + 1e-9:
                raise MechanismError(
                    f"{where}: its rest value {value:g} of {motion} lies outside its limits {lo:g} to {hi:g}"
                )
        if self.is_ball and any(limit != UNLIMITED for limit in limits[-len(TURNS) :]):
            raise MechanismError(
                f"{where}: it turns every way, so its turns are one rotation and have no limits of their own; give a"
                " cone or a turn_limit, or three hinges in a row"
            )
        for what in ("velocity_limit", "effort_limit", "gain"):
            if not float(getattr(self, what)) > 0:
                raise MechanismError(f"{where}: its {what} must be positive, not {getattr(self, what)}")
            object.__setattr__(self, what, float(getattr(self, what)))
        object.__setattr__(self, "rest", rest)
        object.__setattr__(self, "limits", limits)
        self._check_ball(where)

    def _check_ball(self, where: str) -> None:
        """Check cone and turn limit, which only a ball without slides has."""
        tilt, turn = ball_angles(self.rest) if self.turns_freely else (0.0, 0.0)
        for what, now in (("cone", tilt), ("turn_limit", turn)):
            most = float(getattr(self, what))
            if not most > 0:
                raise MechanismError(f"{where}: its {what} must be a positive angle, not {getattr(self, what)}")
            if most < inf and not self.turns_freely:
                raise MechanismError(f"{where}: only a ball without slides has a {what}")
            if now > most + 1e-9:
                raise MechanismError(f"{where}: it rests at {now:g} rad, outside its {what} of {most:g} rad")
            object.__setattr__(self, what, most)

    @property
    def is_limited(self) -> bool:
        """Return whether some motion of it has a bound."""
        bounds = (bound for limit in self.limits for bound in limit)
        return min(self.cone, self.turn_limit) < inf or any(bound not in UNLIMITED for bound in bounds)

    @property
    def is_ball(self) -> bool:
        """Return whether all three turns are free, so that they are one ball and not three hinges."""
        return set(TURNS) <= set(self.motions)

    @property
    def turns_freely(self) -> bool:
        """Return whether it is a ball without slides, whose centre stays where it is."""
        return self.motions == TURNS

    @property
    def matrix(self) -> np.ndarray:
        """The joint frame's axes as columns (3, 3), in the world, in the rest pose."""
        x = np.array(self.axis)
        y = np.array(self.axis2) if self.axis2 is not None else any_perpendicular(x)
        return np.stack([x, y, cross(x, y)], axis=1)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """A name per motion: the joint's own where there is one motion, else `joint.rx` and so on."""
        return (self.name,) if len(self.motions) == 1 else tuple(f"{self.name}.{m}" for m in self.motions)

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        """Per motion: m or rad."""
        return tuple("m" if m in SLIDES else "rad" for m in self.motions)


def ball_angles(values: Sequence[float]) -> tuple[float, float]:
    """Return the angle between a ball's axis on both sides, and that of its whole rotation.

    Args:
        values: Rotation vector (3,) [rad].

    Returns:
        Both angles [rad], from 0 to π.
    """
    length = float(np.linalg.norm(values))
    if length == 0.0:
        return 0.0, 0.0
    across = float(np.hypot(values[1], values[2])) / length
    return 2.0 * asin(min(1.0, abs(sin(0.5 * length)) * across)), abs((length + pi) % (2 * pi) - pi)


@dataclass(frozen=True)
class Frame:
    """A named frame on a body, to be followed or looked at.

    Attributes:
        name: unique among bodies, frames and the world.
        body: the body that carries it.
        pose: in the body's frame.
        sole: where it is a foot, the outline of its sole as points in the frame's coordinates [m]; else empty.
    """

    name: str
    body: str
    pose: Pose = IDENTITY
    sole: tuple[Vector, ...] = ()

    def __post_init__(self) -> None:
        sole = tuple(vector(p, f"frame {self.name!r}: a point of its sole") for p in self.sole)
        if 0 < len(sole) < 3:
            raise MechanismError(f"frame {self.name!r}: its sole needs at least three points, not {len(sole)}")
        object.__setattr__(self, "sole", sole)

    @property
    def is_foot(self) -> bool:
        """Return whether the robot can stand on it."""
        return bool(self.sole)


@dataclass(frozen=True)
class Coupling:
    """A gear, a mimic joint or a differential, between joint coordinates [rad or m].

        follower = Σₖ coefficients[k] · leaderᵏ + Σⱼ slopeⱼ · otherⱼ

    Attributes:
        name: unique among couplings.
        follower, leader: coordinate names (`Joint.coordinate_names`).
        coefficients: of the polynomial, the constant first.
        others: further leaders, each with its slope.
    """

    name: str
    follower: str
    leader: str
    coefficients: tuple[float, ...] = (0.0, 1.0)
    others: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        coefficients = numbers(self.coefficients, f"coupling {self.name!r}: its coefficients")
        if not coefficients:
            raise MechanismError(
                f"coupling {self.name!r}: it needs coefficients; [0, 1] makes the follower equal the leader"
            )
        object.__setattr__(self, "coefficients", coefficients)
        try:
            names, slopes = tuple(name for name, _ in self.others), tuple(slope for _, slope in self.others)
        except (TypeError, ValueError):
            raise MechanismError(
                f"coupling {self.name!r}: its others must be pairs of a leader and its slope, not {self.others!r}"
            ) from None
        slopes = numbers(slopes, f"coupling {self.name!r}: the slopes of its others")
        object.__setattr__(self, "others", tuple(zip(names, slopes, strict=True)))
        twice = next((name for name in self.ends if self.ends.count(name) > 1), None)
        if twice == self.follower:
            raise MechanismError(f"coupling {self.name!r}: a coordinate cannot follow itself")
        if twice is not None:
            raise MechanismError(f"coupling {self.name!r}: {twice!r} leads twice; add its slopes up")

    @property
    def leaders(self) -> tuple[str, ...]:
        """All leaders' names."""
        return (self.leader, *(name for name, _ in self.others))

    @property
    def ends(self) -> tuple[str, ...]:
        """Names of all coordinates that it ties, the follower first."""
        return (self.follower, *self.leaders)

    def value(self, at: Mapping[str, float]) -> float:
        """Return the follower's value.

        Args:
            at: Value of each leader [rad or m].

        Returns:
            The value [rad or m].
        """
        value = 0.0
        for coefficient in reversed(self.coefficients):
            value = value * at[self.leader] + coefficient
        return float(value + sum(slope * at[name] for name, slope in self.others))

    def slopes(self, at: Mapping[str, float]) -> dict[str, float]:
        """Return the derivatives of the follower's value.

        Args:
            at: Value of each leader [rad or m].

        Returns:
            Derivative by leader.
        """
        own = 0.0
        for k in range(len(self.coefficients) - 1, 0, -1):
            own = own * at[self.leader] + k * self.coefficients[k]
        return {self.leader: float(own), **dict(self.others)}

    def renamed(self, now: Callable[[str], str]) -> Coupling:
        """Return the coupling between coordinates of new names; its own name stays.

        Args:
            now: Returns the new name of a coordinate.

        Returns:
            The coupling.
        """
        others = tuple((now(name), slope) for name, slope in self.others)
        return replace(self, follower=now(self.follower), leader=now(self.leader), others=others)
