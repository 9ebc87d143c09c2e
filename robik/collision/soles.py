"""Soles on the ground: swinging feet that did not follow their targets are lifted over what they went into.

A mesh's planes under a foot are those at its target. Where the foot is late or held back, it is over another place.
Above level ground limits of motors may press a foot into the ground harder than its plane pushes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from ..clips.clip import TargetClip
from ..feet.finding import ground_of, standing_feet
from ..feet.support import standing_points
from ..feet.terrain import NOWHERE, Terrain, raised_over
from ..kinematics.frames import frame_poses
from ..mechanism import Mechanism
from ..mechanism.orientations import quaternions
from ..motions import Motion
from ..objectives.above import Above
from ..surroundings.obstacle import GROUND
from .judge import Pair

MARGIN = 1e-3  # m between a lifted sole and the ground
SHALLOW = 1e-4  # m: what goes into the ground by less is rounding, as where it touches
SOLES = -1  # the first number of a sole's pair; the second is the foot's


class Soles:
    """Keeper of swinging soles out of the ground on which a clip's feet stand, by their contact phases."""

    def __init__(self, mechanism: Mechanism, clip: TargetClip) -> None:
        self._mechanism, ground = mechanism, ground_of(mechanism, clip)
        self._swings: dict[str, np.ndarray] = {}  # (T,) by foot
        if ground is not None:
            self._ground, self._terrain = ground, None if ground.mesh is None else Terrain(mechanism, ground)
            self._swings = {name: ~clip.tracks[name].contact for name in standing_feet(mechanism, clip)}  # type: ignore[operator]
        self._feet = tuple(self._swings)
        self._step = float(np.median(np.diff(clip.times))) if len(clip.times) > 1 else 1.0
        # By foot: normals (T, 3) of the planes, heights (T,) of its sole along them, and what it is lifted by (T,) [m]
        self._lifted: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def depths(self, motion: Motion) -> dict[Pair, np.ndarray]:
        """Return the depths (T,) [m] of soles in the ground by pair of `SOLES` and number of the foot.

        Soles that stand and were pushed off their place are included.
        """
        return {(SOLES, k): self._depth(motion, name) for k, name in enumerate(self._feet)}

    def walls(self, motion: Motion, pairs: Sequence[Pair]) -> list[Above]:
        """Return a plane for each foot in the ground; it lifts the foot smoothly above all that is under it."""
        return [self._wall(motion, self._feet[k]) for _, k in pairs]

    def _depth(self, motion: Motion, name: str) -> np.ndarray:
        return np.asarray(self._ground.depths(standing_points(self._mechanism, motion, name)).max(axis=1))

    def _wall(self, motion: Motion, name: str) -> Above:
        """Return a foot's plane, lifted by what is still missing beyond what the passes before have lifted it by."""
        assert motion.position is not None and motion.quaternion is not None
        place, turn = frame_poses(self._mechanism, name, motion.position, motion.quaternion)
        if self._terrain is None:
            normal, over = np.tile([0.0, 0.0, 1.0], (len(place), 1)), np.full(len(place), self._ground.level)
        else:
            normal, over = self._terrain.planes_over(name, place, quaternions(Rotation.from_matrix(turn)))
        low = np.einsum("ti,tsi->ts", normal, standing_points(self._mechanism, motion, name)).min(axis=1)
        is_late = self._swings[name] & (self._depth(motion, name) > SHALLOW)
        missing = np.where(is_late, np.maximum(over - low, 0.0) + MARGIN, 0.0)
        normal, low, lifted = self._lifted.get(name, (normal, low, 0.0))
        self._lifted[name] = normal, low, lifted + missing
        raised = raised_over(lifted + missing, self._step)
        least = np.where(raised > 0.0, low + raised, NOWHERE)
        return Above(name, least=least, points=np.array(self._mechanism.frame(name).sole), normal=normal, of=GROUND)
