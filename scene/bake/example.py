"""The example of a bake: an action of the robot whose poses it prefers where its targets leave it a choice."""

from __future__ import annotations

import numpy as np
from bpy.types import Action, PropertyGroup

from ...robik.errors import RobikError
from ...robik.mechanism import Mechanism
from ...robik.objectives.pose_prior import PosePrior
from ..animation import actions
from ..robot.sliders import data_path


def can_be_example(bake: PropertyGroup, action: Action) -> bool:
    """Return whether an action moves a slider of the robot that is baked."""
    sliders = {(data_path(name), 0) for name in bake.id_data.keys()}  # noqa: SIM118 - the object's custom properties
    return any(not sliders.isdisjoint(curves) for curves in actions.objects_in(action))


def example_prior(action: Action | None, mechanism: Mechanism) -> PosePrior | None:
    """Return the prior of the poses in an example's action; None without one.

    Raise RobikError if it does not move all of the robot's motors, or is too short.
    """
    if action is None:
        return None
    try:
        return PosePrior.of(_poses(action, mechanism))
    except RobikError as error:
        raise RobikError(f"{action.name!r} cannot be the example under Bake > Style > Poses Like: {error}") from None


def _poses(action: Action, mechanism: Mechanism) -> np.ndarray:
    """Return the motors' values (T, A) [rad or m] in every frame from an action's first key to its last."""
    channels = [(data_path(name), 0) for name in mechanism.actuators]
    found = max(actions.objects_in(action), key=lambda curves: sum(c in curves for c in channels), default={})
    missing = [name for name, channel in zip(mechanism.actuators, channels, strict=True) if channel not in found]
    if missing:
        raise RobikError(f"it has no keys of the motor {missing[0]!r}; choose a bake of this robot")
    curves = [found[channel] for channel in channels]
    keys = np.concatenate([actions.key_frames(curve) for curve in curves])
    if not len(keys):
        raise RobikError("it has no keys; choose a bake of this robot")
    frames = np.arange(np.floor(keys.min()), np.ceil(keys.max()) + 1).tolist()
    return np.array([[curve.evaluate(frame) for curve in curves] for frame in frames])
