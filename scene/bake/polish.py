"""After the bake: fewer keys, and keys set by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from bpy.types import Object, Scene

from ...robik.kinematics.forward import body_poses
from ...robik.mechanism import Mechanism
from ...robik.report.shortfall import open_beyond
from ...robik.retargeting.reduce import Keys, reduce_keys
from ..animation import actions
from ..motion import POSE_CHANNELS, base_body, continuous, motion_frames, read_base, read_values
from ..robot import posing
from ..robot.parts import local_pose
from ..robot.reading import read_moving_parts
from ..robot.sliders import data_path, slider_values
from . import bakes
from .curves import sign_at, write_bodies
from .plain import keep_plain, kept_plain


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """Result of thinning out the keys.

    Attributes:
        before, after: how many keys the motors had and have.
        turned_off, slid_off: how far a motor is from where it was, at worst [rad] and [m]; None without such motors.
        bodies_off: how far a body is from where it was, at worst [m].
        broken: frames in which the loops do not close any more.
    """

    before: int
    after: int
    turned_off: float | None
    slid_off: float | None
    bodies_off: float
    broken: list[float]


def reduce_motors(root: Object, scene: Scene, angle: float, length: float, with_base: bool = False) -> Reduction:
    """Thin out the motors' keys to a tolerance, and key the bodies again from what is left.

    `angle` [rad] is that of motors that turn, `length` [m] that of motors that slide; with `with_base` a floating
    base's keys are thinned out to both. Raise RobikError, with nothing changed, if a motor has no keys.
    """
    mechanism = read_moving_parts(root)
    frames = motion_frames(root, mechanism, scene)
    values, base = read_values(root, mechanism, frames, scene), read_base(root, mechanism, frames, scene)
    units = mechanism.actuator_units
    keys = [reduce_keys(frames, values[:, k], angle if unit == "rad" else length) for k, unit in enumerate(units)]
    reduced = np.column_stack([k.at(frames) for k in keys])
    there, _, _ = body_poses(mechanism, values, base)
    base_keys = _reduced_base(frames, base, angle, length) if with_base and base is not None else []
    position, quaternion, residual = body_poses(mechanism, reduced, _pose_at(frames, base_keys) if base_keys else base)
    before = sum(len(actions.curves_of(root)[data_path(n), 0].keyframe_points) for n in mechanism.actuators)
    plain = kept_plain(root, mechanism)
    added = None if plain is None else read_values(root, mechanism, plain.frames, scene) - plain.values
    bakes.make_own(root)
    for name, kept in zip(mechanism.actuators, keys, strict=True):
        actions.write_smooth(root, data_path(name), 0, kept, "Motors")
    actions.bring_to_front(root)
    if plain is not None and added is not None:  # what was changed by hand stays as it was, and nothing else is that
        keep_plain(root, mechanism, replace(plain, values=read_values(root, mechanism, plain.frames, scene) - added))
    off = np.abs(read_values(root, mechanism, frames, scene) - values).max(axis=0)
    turned, slid = (
        max((float(o) for o, u in zip(off, units, strict=True) if u == unit), default=None) for unit in ("rad", "m")
    )
    write_bodies(root, frames, position, quaternion)
    if base_keys and (body := base_body(root, mechanism)) is not None:
        for (path, index), kept in zip(POSE_CHANNELS, base_keys, strict=True):
            actions.write_smooth(body, path, index, kept, "Body")
    far = float(np.linalg.norm(position - there, axis=2).max())
    return Reduction(
        before=before,
        after=sum(len(k.times) for k in keys),
        turned_off=turned,
        slid_off=slid,
        bodies_off=far,
        broken=frames[residual > open_beyond(mechanism)].tolist(),
    )


def _reduced_base(frames: np.ndarray, base: tuple[np.ndarray, np.ndarray], angle: float, length: float) -> list[Keys]:
    """Return the keys of a base's seven channels."""
    # four numbers of a quaternion that are off by d each turn a body by 4 d at most
    columns = np.hstack([base[0], continuous(base[1])]).T
    return [reduce_keys(frames, c, length if k < 3 else 0.25 * angle) for k, c in enumerate(columns)]


def _pose_at(frames: np.ndarray, keys: list[Keys]) -> tuple[np.ndarray, np.ndarray]:
    """Return where these keys put a base."""
    pose = np.column_stack([k.at(frames) for k in keys])
    return pose[:, :3], pose[:, 3:] / np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)


def key_pose(root: Object, frame: float) -> bool:
    """Key all sliders as they stand, and a floating base; return whether the bodies are then to be rebuilt.

    Without a motion of theirs the bodies follow the sliders by themselves.
    """
    mechanism = read_moving_parts(root)
    values = slider_values(root, mechanism.actuators)
    moving = posing.has_baked_bodies(root)
    if moving:
        bakes.make_own(root)
    for name, value in zip(mechanism.actuators, values.tolist(), strict=True):
        actions.set_key(root, data_path(name), 0, frame, value, "Motors")
    if moving:
        _key_base(root, mechanism, frame)
    return moving


def _key_base(root: Object, mechanism: Mechanism, frame: float) -> None:
    """Keys a floating robot's base where it stands."""
    body = base_body(root, mechanism)
    if body is None:
        return
    pose = local_pose(body)
    turn = np.array(pose.quaternion)
    turn *= sign_at(body, frame, turn)
    for (path, index), value in zip(POSE_CHANNELS, [*pose.position, *turn.tolist()], strict=True):
        actions.set_key(body, path, index, frame, value, "Body")
