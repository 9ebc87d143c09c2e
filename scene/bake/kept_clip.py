"""Clip that a bake followed, kept with the action that it made.

Overlays and reports hold the robot against it, also in a file that is opened later.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import inf

import numpy as np
from bpy.types import Action, Object

from ...robik.clips.clip import TargetClip, Track
from ...robik.objectives.objective import Objective
from ...robik.objectives.registry import ASKED
from ...robik.objectives.settings import Settings
from ...robik.objectives.weights import Weights
from ...robik.surroundings.obstacle import Obstacle, take_obstacles
from ..animation.sources import actions_at_work

KEY = "robik_clip"
POSES = ("position", "quaternion", "ground_position", "ground_quaternion")  # arrays of a track


@dataclass(frozen=True)
class KeptClip:
    """A clip with the frames of the scene that its samples are for.

    Attributes:
        frames: (T,) increasing, with fractions for sub-frames.
        clip: in the robot's coordinates.
        settings: the weights that targets and centre of mass had.
    """

    frames: np.ndarray
    clip: TargetClip
    settings: Settings

    def sample(self, frame: float) -> int | None:
        """Return the sample that is nearest to a frame; None outside the bake."""
        half = 0.5 * (self.frames[1] - self.frames[0]) if len(self.frames) > 1 else 0.5
        if not self.frames[0] - half <= frame <= self.frames[-1] + half:
            return None
        return int(np.argmin(np.abs(self.frames - frame)))


def keep_clip(action: Action, frames: np.ndarray, clip: TargetClip, settings: Settings) -> None:
    """Keep a clip with an action, in place of what it had.

    Positions and turns in single precision, as Blender keeps keys.
    """
    tracks = {}
    for k, (name, track) in enumerate(clip.tracks.items()):
        weights = settings.weights(name)
        numbers = [*weights.position, *weights.orientation, *(weights.along or ())]
        kept: dict[str, object] = {"name": name, "weights": np.array(numbers)}
        for what in POSES:
            if (values := getattr(track, what)) is not None:
                kept[what] = values.astype(np.float32).ravel()
        if track.contact is not None:
            kept["contact"] = track.contact.astype(np.int32)
        tracks[str(k)] = kept
    data = {
        "frames": frames.astype(float),
        "times": np.array(clip.times),
        "tracks": tracks,
        "com_weight": np.array(settings.com_weight),
        "contacts": settings.contacts,
    }
    arrays = [*(item.arrays() for item in clip.objectives), *(item.arrays() for item in clip.obstacles)]
    asked = {key: np.asarray(values) for found in arrays for key, values in found.items()}
    data["asked"] = {
        str(k): {
            "key": key,
            "shape": np.array(values.shape, dtype=np.int32),
            "values": values.astype(np.float32).ravel(),
        }
        for k, (key, values) in enumerate(asked.items())
    }
    data["asked_weights"] = json.dumps({item.key: _plain(settings.weight_of(item)) for item in clip.objectives})
    if clip.com is not None:
        data["com"] = clip.com.astype(np.float32).ravel()
    action[KEY] = data


def kept_clip(root: Object) -> KeptClip | None:
    """Return what the bake that moves a robot followed; None where none does."""
    action = next((action for action in actions_at_work(root) if action.get(KEY) is not None), None)
    return None if action is None else _restored(action)


def _restored(action: Action) -> KeptClip:
    data = action[KEY]
    tracks, weights = {}, {}
    for k in range(len(data["tracks"])):
        kept = data["tracks"][str(k)]
        tracks[kept["name"]] = Track(
            _rows(kept, "position", 3),
            _rows(kept, "quaternion", 4),
            contact=np.array(kept["contact"]) != 0 if "contact" in kept else None,
            ground_position=_rows(kept, "ground_position", 3),
            ground_quaternion=_rows(kept, "ground_quaternion", 4),
        )
        numbers = tuple(kept["weights"])
        weights[kept["name"]] = Weights(numbers[:3], numbers[3:6], numbers[6:] or None)
    objectives, obstacles = _beside(data)
    com = _rows(data, "com", 3)
    clip = TargetClip(np.array(data["times"]), tracks, com=com, objectives=objectives, obstacles=obstacles)
    settings = Settings(
        targets=weights,
        com_weight=tuple(data["com_weight"]),
        velocity_limit=inf,
        objectives=json.loads(data.get("asked_weights", "{}")),
        contacts=data.get("contacts", "ignore"),
    )
    return KeptClip(np.array(data["frames"]), clip, settings)


def _beside(data: dict) -> tuple[tuple[Objective, ...], tuple[Obstacle, ...]]:
    """Return what was asked for beside poses of frames, and obstacles; files of earlier versions hold nothing of it."""
    kept = [data["asked"][str(k)] for k in range(len(data["asked"]))] if "asked" in data else []
    arrays = {one["key"]: np.array(one["values"], dtype=float).reshape(tuple(one["shape"])) for one in kept}
    arrays |= {key: values.astype(np.int64) for key, values in arrays.items() if key.endswith(".obstacle.triangles")}
    obstacles = take_obstacles(arrays)
    return tuple(item for kind in ASKED for item in kind.take(arrays)), obstacles


def _plain(weight: float | Weights) -> object:
    """Return an objective's weight as a file of settings has it."""
    if isinstance(weight, Weights):
        return {"position_weight": list(weight.position), "orientation_weight": list(weight.orientation)}
    return float(weight)


def _rows(group: dict, name: str, width: int) -> np.ndarray | None:
    return np.array(group[name], dtype=float).reshape(-1, width) if name in group else None
