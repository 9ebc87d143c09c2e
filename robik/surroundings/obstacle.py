"""Obstacle: a triangle mesh around the robot, at rest or moving. The one called "ground" is what feet stand on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import ClipError, FormatError
from ..mechanism.orientations import rotation
from ..objectives.fields import samples_of

GROUND = "ground"  # name of the obstacle on which feet stand
PARTS = ("vertices", "triangles", "position", "quaternion")
FORM = re.compile(rf"(?P<name>.+)\.obstacle\.(?P<part>{'|'.join(PARTS)})")


@dataclass(frozen=True, kw_only=True, eq=False)
class Obstacle:
    """A triangle mesh around the robot.

    Attributes:
        name: of it.
        vertices: (N, 3) in coordinates of its own [m].
        triangles: (M, 3) numbers of three vertices each, counter-clockwise from outside.
        position: (T, 3) of its origin in the world [m]; None where that is the world's.
        quaternion: (T, 4) unit quaternions wxyz of its axes; None where those are the world's.
    """

    name: str
    vertices: np.ndarray
    triangles: np.ndarray
    position: np.ndarray | None = field(default=None)
    quaternion: np.ndarray | None = field(default=None)

    @property
    def moves(self) -> bool:
        """Return whether it is not in one place all the time."""
        tracks = (track for track in (self.position, self.quaternion) if track is not None)
        return any((track != track[0]).any() for track in tracks)

    def poses(self, samples: int) -> tuple[np.ndarray, Rotation]:
        """Return where it is.

        Args:
            samples: Number of samples T of the clip.

        Returns:
            Positions (T, 3) [m] and T rotations.
        """
        place = np.zeros((samples, 3)) if self.position is None else self.position
        if self.quaternion is None:
            return place, Rotation.identity(samples)
        return place, rotation(self.quaternion)

    def placed(self) -> Obstacle:
        """Return one that does not move with its vertices in the world; of one that moves, where it is at first."""
        place, turn = self.poses(1 if self.position is None and self.quaternion is None else len(self._track))
        vertices = turn[0].apply(self.vertices) + place[0]
        return replace(self, vertices=vertices, position=None, quaternion=None)

    @property
    def _track(self) -> np.ndarray:
        track = self.quaternion if self.position is None else self.position
        assert track is not None
        return track

    def part(self, kept: slice | np.ndarray) -> Obstacle:
        """Return it for some of its samples.

        Args:
            kept: The samples that stay.

        Returns:
            The obstacle, cut.
        """
        cut = (None if track is None else track[kept] for track in (self.position, self.quaternion))
        position, quaternion = cut
        return replace(self, position=position, quaternion=quaternion)

    def checked(self, samples: int) -> Obstacle:
        """Return it with frozen arrays.

        Args:
            samples: Number of samples T of the clip.

        Returns:
            The obstacle, checked.

        Raises:
            ClipError: Names what is wrong and what would be right.
        """
        if not self.name or "." in self.name:
            raise ClipError(f"an obstacle's name must be a word without dots, not {self.name!r}")
        where = f"{self.name}.obstacle"
        vertices, triangles = np.array(self.vertices, dtype=float), np.array(self.triangles)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
            raise ClipError(f"{where}.vertices must be finite numbers of the shape (N, 3)")
        whole = triangles.ndim == 2 and triangles.shape[1] == 3 and np.issubdtype(triangles.dtype, np.integer)
        if not whole or not len(triangles) or triangles.min() < 0 or triangles.max() >= len(vertices):
            raise ClipError(f"{where}.triangles must be whole numbers (M, 3), each less than {len(vertices)}")
        for array in (vertices, triangles):
            array.setflags(write=False)
        position, quaternion = self.position, self.quaternion
        if position is not None:
            position = samples_of(f"{where}.position", position, samples, 3)
        if quaternion is not None:
            quaternion = samples_of(f"{where}.quaternion", quaternion, samples, 4)
            if (bad := np.abs(np.linalg.norm(quaternion, axis=1) - 1.0) > 1e-3).any():
                raise ClipError(f"{where}.quaternion must have length 1; sample {int(bad.argmax())} has not")
        return replace(self, vertices=vertices, triangles=triangles, position=position, quaternion=quaternion)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its arrays by their keys in `CLIP.npz`."""
        known = {part: getattr(self, part) for part in PARTS}
        return {f"{self.name}.obstacle.{part}": array for part, array in known.items() if array is not None}


def take_obstacles(arrays: dict[str, np.ndarray]) -> tuple[Obstacle, ...]:
    """Return the obstacles in a clip's arrays, whose keys are taken out.

    Args:
        arrays: Arrays of a clip file by key.

    Returns:
        The obstacles.

    Raises:
        ClipError: One lacks its vertices or triangles.
    """
    found: dict[str, dict[str, np.ndarray]] = {}
    for key in list(arrays):
        if match := FORM.fullmatch(key):
            found.setdefault(match["name"], {})[match["part"]] = arrays.pop(key)
    for name, parts in found.items():
        if lacking := [part for part in ("vertices", "triangles") if part not in parts]:
            raise ClipError(f"obstacle {name!r} needs {name}.obstacle.{lacking[0]}")
    return tuple(Obstacle(name=name, **parts) for name, parts in found.items())


def read_obstacle(file: str | Path, name: str = "") -> Obstacle:
    """Read an obstacle from a mesh file, in metres and the robot's world: STL or OBJ.

    Args:
        file: The file.
        name: Of the obstacle; that of the file if left out.

    Returns:
        The obstacle.

    Raises:
        FormatError: Names the file and what is wrong.
    """
    path = Path(file)
    try:
        from ..formats.mesh_data import read_mesh  # readers of robots take long to import

        vertices, triangles = read_mesh(path)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}") from None
    vertices, triangles = np.asarray(vertices, dtype=float), np.asarray(triangles, dtype=np.int64)
    return Obstacle(name=name or path.stem.replace(".", "_"), vertices=vertices, triangles=triangles)


def read_surroundings(obstacles: Iterable[str | Path] = (), ground: str | Path | None = None) -> tuple[Obstacle, ...]:
    """Read what is around a robot from mesh files.

    Args:
        obstacles: Files of what it must not go into.
        ground: File of the mesh on which it stands; None for level ground.

    Returns:
        The obstacles, no two of the same name.

    Raises:
        FormatError: Names the file and what is wrong.
    """
    first = () if ground is None else (read_obstacle(ground, GROUND),)
    return named_apart([*first, *map(read_obstacle, obstacles)])


def named_apart(obstacles: Iterable[Obstacle]) -> tuple[Obstacle, ...]:
    """Return obstacles of which no two have the same name.

    Args:
        obstacles: With names that may be alike.

    Returns:
        The obstacles, numbered where names are alike.
    """
    seen: set[str] = set()
    found = []
    for item in obstacles:
        name, number = item.name, 1
        while name in seen:
            number += 1
            name = f"{item.name}_{number}"
        seen.add(name)
        found.append(replace(item, name=name))
    return tuple(found)
