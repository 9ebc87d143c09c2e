"""Motion that a bake wrote, kept with its action: what differs from it was changed by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from bpy.types import Action, Object

from ...robik.mechanism import Mechanism
from ...robik.mechanism.topology import build_topology
from ...robik.motions import BaseTrack, Motion

KEY = "robik_plain"


@dataclass(frozen=True, kw_only=True)
class Plain:
    """Motion as it was written.

    Attributes:
        frames: (T,) of the scene, increasing.
        values: (T, A) of the motors [rad or m].
        base: pose of a floating robot's base (T, 7), position [m] and quaternion wxyz; None without one.
    """

    frames: np.ndarray
    values: np.ndarray
    base: np.ndarray | None

    def outside(self, first: float, last: float) -> Plain:
        """Return what there is before a frame and after another one."""
        return self._only((self.frames < first) | (self.frames > last))

    def inside(self, first: float, last: float) -> Plain:
        """Return what there is from a frame to another one."""
        return self._only((self.frames >= first) & (self.frames <= last))

    def _only(self, kept: np.ndarray) -> Plain:
        base = None if self.base is None else self.base[kept]
        return Plain(frames=self.frames[kept], values=self.values[kept], base=base)

    @property
    def track(self) -> BaseTrack | None:
        """The base's path."""
        return None if self.base is None else BaseTrack(body="", position=self.base[:, :3], quaternion=self.base[:, 3:])


def plain_of(mechanism: Mechanism, motion: Motion, frames: np.ndarray) -> Plain:
    """Return a solved motion as it is about to be written."""
    root, base = build_topology(mechanism).root, None
    if root is not None and motion.position is not None and motion.quaternion is not None:
        index = mechanism.body_index[root]
        base = np.hstack([motion.position[:, index], motion.quaternion[:, index]])
    return Plain(frames=np.asarray(frames, dtype=float), values=motion.values, base=base)


def keep_plain(root: Object, mechanism: Mechanism, plain: Plain, rest: Plain | None = None) -> None:
    """Store a motion with the action of a robot, in single precision as Blender keeps keys.

    `rest` is what stays outside of its frames, None where nothing does.
    """
    if rest is not None and len(rest.frames) and (rest.base is None) == (plain.base is None):
        order = np.argsort(np.concatenate([plain.frames, rest.frames]))
        both = [np.concatenate(pair)[order] for pair in ((plain.frames, rest.frames), (plain.values, rest.values))]
        base = None if plain.base is None or rest.base is None else np.concatenate([plain.base, rest.base])[order]
        plain = Plain(frames=both[0], values=both[1], base=base)
    kept: dict[str, object] = {
        "frames": plain.frames,
        "actuators": json.dumps(mechanism.actuators),
        "values": plain.values.astype(np.float32).ravel(),
    }
    if plain.base is not None:
        kept["base"] = plain.base.astype(np.float32).ravel()
    root.animation_data.action[KEY] = kept


def kept_plain(root: Object, mechanism: Mechanism) -> Plain | None:
    """Return the motion kept with a robot's present action; None where there is none, or of other motors."""
    action = root.animation_data.action if root.animation_data else None
    kept = None if action is None else action.get(KEY)
    if kept is None or tuple(json.loads(kept["actuators"])) != tuple(mechanism.actuators):
        return None
    base = np.array(kept["base"], dtype=float).reshape(-1, 7) if "base" in kept else None
    values = np.array(kept["values"], dtype=float).reshape(-1, len(mechanism.actuators))
    return Plain(frames=np.array(kept["frames"], dtype=float), values=values, base=base)


def forget_plain(action: Action | None) -> None:
    """Drop what is kept with an action, which is about to hold another motion."""
    if action is not None and action.get(KEY) is not None:
        del action[KEY]
