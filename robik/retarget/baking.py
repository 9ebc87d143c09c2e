"""Baking of a character: the solver's settings and the balance that animators ask for, in Blender and in the shell."""

from __future__ import annotations

import logging
from collections.abc import Collection, Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil, inf, isfinite
from typing import Any, Self

import numpy as np

from ..clips.clip import TargetClip
from ..collision.apart import Walls
from ..errors import ClipError
from ..extras import is_installed, missing
from ..mechanism.model import Mechanism
from ..mechanism.motor_limits import Limits, limits_of, named_efforts
from ..objectives.settings import Settings
from ..objectives.weights import Weights
from ..skeleton.hips import hips_of
from ..skeleton.limb_ranges import limb_ranges
from ..skeleton.robot import limb_directions
from ..skeleton.single import single
from ..steps import finish
from .balance import BalancePlan
from .giving import sole_share
from .look_ahead import check_cyclic
from .pinning import pin_feet
from .reach import reaching
from .rolled_soles import on_rolled_soles
from .seated import seated_wish
from .unfollowed import unfollowed_ranges
from .whole_body import passes

LOG = logging.getLogger(__name__)

OFF, STILL, MOVING, AUTO, OBJECT = "off", "still", "moving", "auto", "object"
BALANCES = (OFF, STILL, MOVING, AUTO)  # those that need no object
SETTLES = 4.0  # s: so much later a plan of balance does not depend on how it began
FIRST = 100.0  # times its weight counts a centre of mass over the feet: balance goes before how limbs point


@dataclass(frozen=True, kw_only=True)
class Balance:
    """Balance of a clip.

    Attributes:
        mode: "still", "moving" or "auto" for a centre of mass over the feet at one of `with_balance`'s paces,
            "object" for a track of its own, "off" for none.
        margin: distance that it keeps inside the outline of the standing foot [m], beside what motors give way by.
        gives: what motors give way by [m]; None for a share of the sole's size.
        lead: time before a foot lifts at which the weight is off it [s].
        give_way: whether balance alone says where the hips are sideways.
        pin_feet: whether standing feet are held flat and without sliding.
        weight: (3,) of the centre of mass along the world's axes; over the feet it counts `FIRST` times as much.
    """

    mode: str = AUTO
    margin: float = field(default=single(0.01))
    gives: float | None = None
    lead: float = field(default=single(0.06))
    give_way: bool = True
    pin_feet: bool = True
    weight: tuple[float, float, float] = (1.0, 1.0, 1.0)

    @property
    def over_feet(self) -> bool:
        """Return whether the centre of mass is kept over the feet."""
        return self.mode in (STILL, MOVING, AUTO)

    @property
    def needs_contacts(self) -> bool:
        """Return whether it depends on when the feet stand."""
        return self.pin_feet or self.over_feet

    def as_far_as(self, mechanism: Mechanism, frames: Iterable[str]) -> Self:
        """Return the balance that a robot can keep: none by itself, and no foot pinned, where no foot follows.

        Args:
            mechanism: The robot.
            frames: Names of the frames that follow.

        Returns:
            The balance.
        """
        stands = not mechanism.is_grounded and any(mechanism.frame(name).is_foot for name in frames)
        is_free = self.mode == AUTO and not (stands and mechanism.mass > 0)
        return replace(self, mode=OFF if is_free else self.mode, pin_feet=self.pin_feet and stands)

    def whole_margin(self, mechanism: Mechanism) -> float:
        """Return the margin with what motors give way by.

        Args:
            mechanism: The robot.

        Returns:
            The margin [m].
        """
        return self.margin + (sole_share(mechanism) if self.gives is None else self.gives)


@dataclass(frozen=True, kw_only=True)
class BakeSettings:
    """Settings of a bake, as its panel shows them.

    Attributes:
        enforce_velocity: whether no motor turns faster than it can.
        speed: share of each motor's speed that may be used [%].
        soften: whether what turns faster than that share of the slowest motor's speed is held back.
        velocity_limit: above which it is, where no motor's speed is known [rad/s].
        velocity_weight: of holding back.
        still: pull towards the frame before, times the time step [s].
        posture: pull of the motors to their rest pose.
        joint_limits: whether joints keep their limits.
        keep_apart: whether the robot's bodies are kept out of each other.
        look_ahead: whether all frames are solved at once where motors have speeds to keep; without limits that are
            given here, only if that is possible.
        acceleration: that motors keep then [rad/s²]; 0 for their servos', and where none is known as in `limits_of`.
        jerk: likewise [rad/s³].
        torque: whether the efforts that the robot's file names are kept then, too.
        zero_moment: whether the zero-moment point is kept inside the support then, by the balance's margin.
        servo_acceleration: of motors whose servos are known, by actuator [rad/s² or m/s²].
        cyclic: whether the last frame is the first then.
    """

    enforce_velocity: bool = True
    speed: float = 100.0
    soften: bool = False
    velocity_limit: float = 5.0
    velocity_weight: float = field(default=single(1e-2))
    still: float = field(default=single(Settings().stillness))
    posture: float = field(default=single(Settings().posture))
    joint_limits: bool = True
    keep_apart: bool = True
    look_ahead: bool = True
    acceleration: float = 0.0
    jerk: float = 0.0
    torque: bool = False
    zero_moment: bool = False
    servo_acceleration: Mapping[str, float] = field(default_factory=dict)
    cyclic: bool = False

    def limits(self, mechanism: Mechanism) -> Limits:
        """Return the limits that motors keep where all frames are solved at once: their own where none are given.

        Args:
            mechanism: The robot.

        Returns:
            Speeds, accelerations and jerks by motor.

        Raises:
            ClipError: A limit of a motor that the robot does not have, or that is no positive number.
        """
        acceleration = self.acceleration or {
            name: limit for name, limit in self.servo_acceleration.items() if name in mechanism.actuators
        }
        return limits_of(mechanism, acceleration, self.jerk or None, self.speed / 100.0)


def balance_by_name(name: str, pin_feet: bool = True) -> Balance:
    """Return a balance by its name in the shell.

    Args:
        name: One of `BALANCES`.
        pin_feet: Whether standing feet are held flat and without sliding.

    Returns:
        The balance.

    Raises:
        ClipError: There is none of that name; lists those there are.
    """
    if name not in BALANCES:
        raise ClipError(f"unknown balance {name!r}; there are {', '.join(BALANCES)}")
    return Balance(mode=name, pin_feet=pin_feet)


def solver_settings(
    mechanism: Mechanism,
    weights: Mapping[str, Weights],
    balance: Balance,
    bake: BakeSettings,
    objectives: Mapping[str, Any] | None = None,
    holds: Collection[str] = (),
    others: Collection[str] | None = (),
) -> Settings:
    """Return the solver's settings that targets, balance and bake ask for.

    Args:
        mechanism: The robot.
        weights: Of the frames that follow.
        balance: Of the clip.
        bake: Settings of the bake.
        objectives: Weights of what the clip asks for beside frames and centre of mass.
        holds: Frames that are no feet and are in contact at some time; hips among them do not give way.
        others: Frames of the other objectives; motors that move none of all these stay at rest. None where an example's
            poses move all.

    Returns:
        The settings.
    """
    targets, com_weight = along_limbs(mechanism, weights), balance.weight
    resting = {} if others is None else unfollowed_ranges(mechanism, frozenset([*weights, *others]))
    if balance.over_feet:
        com_weight = (FIRST * com_weight[0], FIRST * com_weight[1], 0.0)  # at whatever height the motion wants
        if balance.give_way and (hips := hips_of(mechanism, targets)) and hips not in holds:
            targets[hips] = replace(targets[hips], position=(0.0, 0.0, targets[hips].position[2]))
    return Settings(
        targets=targets,
        com_weight=com_weight,
        state_weight=None,
        stillness=bake.still,
        posture=bake.posture,
        velocity_weight=bake.velocity_weight if bake.soften else 0.0,
        velocity_limit=_soften_above(mechanism, bake) if bake.soften else inf,
        joint_limits=bake.joint_limits,
        enforce_velocity=bake.enforce_velocity,
        velocity_share=bake.speed / 100.0,
        objectives=objectives or {},
        **_ahead(mechanism, bake, balance.margin),
        contacts="hold" if balance.pin_feet or holds else "ignore",
        ranges=limb_ranges(mechanism, weights) | resting,
    )


def _ahead(mechanism: Mechanism, bake: BakeSettings, margin: float) -> dict[str, Any]:
    """Return what is asked of all frames at once, as settings: limits only where they or speeds are to be kept.

    The margin of balance [m] is that of the zero-moment point.
    """
    is_asked = bool(bake.acceleration or bake.jerk or bake.torque or bake.zero_moment or bake.cyclic)
    if not bake.look_ahead or not (is_asked or bake.enforce_velocity):
        return {}
    if not is_asked and (hindrance := _hindrance(mechanism)):
        LOG.warning("robot %r is solved frame by frame: %s", mechanism.name, hindrance)
        return {}
    asked: dict[str, Any] = {"look_ahead": True, "cyclic": bake.cyclic}
    if bake.enforce_velocity or bake.acceleration or bake.jerk:
        limits = bake.limits(mechanism)
        for name, values in (("acceleration_limit", limits.acceleration), ("jerk_limit", limits.jerk)):
            asked[name] = dict(zip(mechanism.actuators, values.tolist(), strict=True))
    if bake.torque:
        asked["torque_limit"] = named_efforts(mechanism)
    if bake.zero_moment:
        asked["zero_moment_margin"] = margin
    return asked


def _hindrance(mechanism: Mechanism) -> str:
    """Return why all frames cannot be solved at once within motors' speeds; empty if they can."""
    if balls := [joint.name for joint in mechanism.actuated if joint.is_ball]:
        return f"look-ahead does not keep the speed of a motor that turns every way, as that of {balls[0]!r}"
    return "" if is_installed("look-ahead") else str(missing("look-ahead"))


def along_limbs(mechanism: Mechanism, weights: Mapping[str, Weights]) -> dict[str, Weights]:
    """Return weights with parts of limbs that follow one direction held along themselves, not along an axis nearby.

    Args:
        mechanism: The robot.
        weights: Of the frames that follow.

    Returns:
        The weights by frame.
    """
    directed = {n for n, w in weights.items() if not any(w.position) and np.count_nonzero(w.orientation) == 1}
    ways = limb_directions(mechanism) if directed else {}
    return {n: replace(w, along=ways[n]) if n in directed and n in ways else w for n, w in weights.items()}


def _soften_above(mechanism: Mechanism, bake: BakeSettings) -> float:
    """Return the angular velocity above which bodies are held back [rad/s].

    It is the slowest motor's, where its limit is known.
    """
    turning = [joint.velocity_limit for joint in mechanism.actuated if "rad" in joint.coordinate_units]
    slowest = min(turning, default=inf)
    return bake.speed / 100.0 * slowest if isfinite(slowest) else bake.velocity_limit


def balanced(
    clip: TargetClip,
    mechanism: Mechanism,
    balance: Balance,
    settings: Settings | None = None,
    walls: Walls | None = None,
) -> TargetClip:
    """Return the clip with pinned feet and a target of the centre of mass over them, as far as asked for.

    Args:
        clip: The targets.
        mechanism: The robot.
        balance: What is asked for.
        settings: With which the clip will be solved; with them a motion's plan takes all bodies into account, and
            footholds are moved that are out of reach.
        walls: That keep the robot's bodies apart, if any; footholds are moved that put legs into each other.

    Returns:
        The clip to be baked.
    """
    return finish(balancing(clip, mechanism, balance, settings, walls))


def balancing(
    clip: TargetClip,
    mechanism: Mechanism,
    balance: Balance,
    settings: Settings | None = None,
    walls: Walls | None = None,
) -> Generator[float, None, TargetClip]:
    """Balance a clip as `balanced` does, and yield the share that is done.

    A cyclic clip is balanced as if it had gone on for a while, and would go on.

    Args:
        clip: The targets.
        mechanism: The robot.
        balance: What is asked for.
        settings: With which the clip will be solved.
        walls: That keep the robot's bodies apart, if any.

    Yields:
        Share that is done, 0 to 1. The generator returns the clip.
    """
    if settings is None or not settings.cyclic:
        return (yield from _balancing(clip, mechanism, balance, settings, walls))
    check_cyclic(mechanism, clip)
    last = len(clip.times) - 1
    before = ceil(SETTLES / (clip.times[-1] - clip.times[0]))
    laps = yield from _balancing(clip.repeated(2 * before + 1), mechanism, balance, settings.frame_by_frame(), walls)
    return replace(laps.part(before * last, (before + 1) * last + 1), times=clip.times)


def _balancing(
    clip: TargetClip, mechanism: Mechanism, balance: Balance, settings: Settings | None, walls: Walls | None
) -> Generator[float, None, TargetClip]:
    if balance.pin_feet:
        clip = pin_feet(mechanism, clip)
    wish = None
    if settings is not None and balance.over_feet:
        wish = yield from seated_wish(mechanism, clip, settings)

    def planned(pinned: TargetClip) -> TargetClip:
        return _planned(mechanism, pinned, balance, wish)[1]

    reached = None
    if settings is not None and settings.contacts == "hold" and balance.pin_feet:
        reached = yield from reaching(mechanism, clip, settings, planned, walls)
        clip = reached.pinned
    plan, clip = _planned(mechanism, clip, balance, wish)
    if settings is not None and plan is not None:
        for share, found in passes(plan, mechanism, settings, balance.whole_margin(mechanism), clip, reached):
            clip = found
            yield share
    if settings is not None and settings.contacts == "hold" and balance.pin_feet:
        clip = yield from on_rolled_soles(mechanism, clip, settings)
    return clip


def _planned(
    mechanism: Mechanism, clip: TargetClip, balance: Balance, wish: np.ndarray | None
) -> tuple[BalancePlan | None, TargetClip]:
    """Return the plan of a clip's balance, and the clip with it; none where nothing is to be balanced."""
    if not balance.over_feet:
        return None, clip
    plan = BalancePlan(
        mechanism, clip, margin=balance.whole_margin(mechanism), wish=wish, lead=balance.lead, pace=balance.mode
    )
    return plan, plan.clip()
