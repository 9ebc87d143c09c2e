"""Surroundings of a robot in the scene, where they are seen: ground, obstacles, what its contacts hold on to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from bpy.types import Object, Scene
from scipy.spatial.transform import Rotation

from ...robik.clips.clip import TargetClip
from ...robik.errors import RobikError
from ...robik.mechanism import Pose
from ...robik.mechanism.orientations import quaternions, rotation
from ...robik.surroundings.obstacle import GROUND, Obstacle, named_apart
from ..character.mapping import MappedTarget, check_object
from ..robot.body_mesh import triangles
from ..robot.parts import pose_of


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Surroundings of a robot.

    Attributes:
        ground: mesh on which it stands; None for level ground.
        obstacles: meshes that it must not go into.
        held: by frame, what its contact holds on to.
        root: pose of the robot in the world.
    """

    ground: Object | None
    obstacles: tuple[Object, ...]
    held: dict[str, Object]
    root: Pose

    @property
    def objects(self) -> list[Object]:
        """Objects whose ways are sampled: the ground first, then obstacles, then what is held on to."""
        first = [] if self.ground is None else [self.ground]
        return [*first, *self.obstacles, *self.held.values()]

    def around(self, clip: TargetClip, positions: np.ndarray, turns: np.ndarray) -> TargetClip:
        """Return a clip, in the robot's coordinates, with obstacles, and with what its contacts hold on to.

        The sampled objects are at positions (T, n, 3) [m] with orientations (T, n, 4) wxyz in the world.
        """
        places = [self._placed(positions[:, k], turns[:, k]) for k in range(positions.shape[1])]
        meshes = [*([] if self.ground is None else [(GROUND, self.ground)]), *((o.name, o) for o in self.obstacles)]
        found = [
            _obstacle(name.replace(".", "_"), shown, *place)
            for (name, shown), place in zip(meshes, places, strict=False)
        ]
        tracks = dict(clip.tracks)
        for frame, (place, turn) in zip(self.held, places[len(meshes) :], strict=True):
            if frame in tracks:
                tracks[frame] = replace(tracks[frame], ground_position=place, ground_quaternion=turn)
        return replace(clip, tracks=tracks, obstacles=named_apart(found))

    def _placed(self, position: np.ndarray, turn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return poses in the world in the robot's coordinates."""
        back = Rotation.from_matrix(self.root.matrix).inv()
        own = back * rotation(turn)
        return back.apply(position - np.array(self.root.position)), quaternions(own)


def read_surroundings(root: Object, scene: Scene, targets: Sequence[MappedTarget]) -> Surroundings:
    """Read the obstacles and the ground around a robot, and what its targets' contacts hold on to.

    Raise RobikError if the ground has no surface, or something is not in the scene.
    """
    robot = root.robik.robot
    ground, chosen = robot.balance.ground, robot.bake.obstacles
    if ground is not None:
        check_object(ground, "the ground", scene)
        if ground.type != "MESH" or not len(ground.data.polygons):
            raise RobikError(f"the ground {ground.name!r} has no faces to stand on; choose a mesh with faces, or none")
    own = {root, *root.children_recursive}
    obstacles = () if chosen is None else tuple(o for o in _meshes(chosen.all_objects) if o not in own and o != ground)
    held = {
        t.frame: check_object(t.holds_on, f"the contact of {t.frame!r}", scene)
        for t in targets
        if t.holds_on is not None
    }
    return Surroundings(ground=ground, obstacles=obstacles, held=held, root=pose_of(root.matrix_world))


def _meshes(objects: Sequence[Object]) -> Iterator[Object]:
    """Yield meshes with faces among objects and what hangs on them, each once, as far as they are not disabled."""
    seen: set[Object] = set()
    for found in (part for chosen in objects for part in (chosen, *chosen.children_recursive)):
        if found not in seen and found.type == "MESH" and not found.hide_viewport and len(found.data.polygons):
            seen.add(found)
            yield found


def _obstacle(name: str, shown: Object, position: np.ndarray, turn: np.ndarray) -> Obstacle:
    """Return a mesh object as an obstacle, with its scale."""
    vertices, faces = triangles(shown)
    vertices = vertices * np.array(shown.matrix_world.to_scale())
    if shown.matrix_world.determinant() < 0:
        faces = faces[:, ::-1]
    return Obstacle(name=name, vertices=vertices, triangles=faces.astype(np.int64), position=position, quaternion=turn)
