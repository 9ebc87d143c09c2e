"""Settings of the solver that targets, balance and bake ask for."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import replace
from math import inf, isfinite
from typing import Any

import numpy as np

from ..extras import is_installed, missing
from ..mechanism.model import Mechanism
from ..mechanism.motor_limits import named_efforts
from ..objectives.settings import Settings
from ..objectives.weights import Weights
from ..skeleton.hips import hips_of
from ..skeleton.limb_ranges import limb_ranges
from ..skeleton.robot import limb_directions
from .settings import BakeSettings, Balance
from .unfollowed import unfollowed_ranges

LOG = logging.getLogger(__name__)
FIRST = 100.0  # times its weight counts a centre of mass over the feet: balance goes before how limbs point


def solver_settings(
    mechanism: Mechanism,
    weights: Mapping[str, Weights],
    balance: Balance,
    bake: BakeSettings,
    objectives: Mapping[str, Any] | None = None,
    holds: Collection[str] = (),
    others: Collection[str] | None = (),
    drawn: Collection[str] = (),
) -> Settings:
    """Return the solver's settings for the weights of followed frames, balance and bake.

    `objectives` has the weights of the other objectives, by name, and `others` their frames: motors that move none
    of all these stay at rest, but not those of coordinates in `drawn`, which a posture draws away. `others` is None
    where an example's poses move all. `holds` are frames that are no feet and are in contact at some time; hips
    among them do not give way.
    """
    targets, com_weight = along_limbs(mechanism, weights), balance.weight
    resting = {} if others is None else unfollowed_ranges(mechanism, frozenset([*weights, *others]))
    resting = {name: bounds for name, bounds in resting.items() if name not in drawn}
    if balance.over_feet:
        com_weight = (FIRST * com_weight[0], FIRST * com_weight[1], 0.0)  # at whatever height the motion wants
        if balance.give_way and (hips := hips_of(mechanism, targets)) and hips not in holds:
            targets[hips] = replace(targets[hips], position=(0.0, 0.0, targets[hips].position[2]))
    return Settings(
        targets=targets,
        com_weight=com_weight,
        state_weight=None,
        stillness=bake.stillness,
        posture=bake.posture,
        velocity_weight=bake.velocity_weight if bake.soften else 0.0,
        velocity_limit=_soften_above(mechanism, bake) if bake.soften else inf,
        joint_limits=bake.joint_limits,
        hold=bake.hold,
        enforce_velocity=bake.enforce_velocity,
        velocity_share=bake.velocity_share,
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
    """Return weights by frame, with parts of limbs that follow one direction held along themselves.

    They are not held along an axis nearby.
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
    return bake.velocity_share * slowest if isfinite(slowest) else bake.velocity_limit
