"""Previews of robots: small pictures, drawn without a graphics card in a process of their own.

    python -m robik.gallery.preview ROBOT PICTURE.png [ROBOT PICTURE.png …]

Points are spread evenly over all triangles, and of those behind each pixel the nearest is shown. It is meant for
pictures of a hundred pixels, where that is as good as filling triangles.
"""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ..errors import FormatError, RobikError
from ..formats import import_robot
from ..formats.dae import read_dae
from ..formats.mesh_data import read_mesh
from ..formats.mesh_files import split_inner
from ..mechanism import Mechanism, Visual
from ..skeleton.shapes import primitive_points

SIZE = 128  # pixels, each side
FINER = 3  # points and pixels are finer by this before they are averaged
POINTS = 12 * (SIZE * FINER) ** 2  # over all triangles
TURN, TILT = np.radians(35.0), np.radians(20.0)  # of the camera: from the robot's front and left, and from above
MARGIN = 0.06  # of the picture's side
LIGHT = np.array([0.45, 0.35, 0.82])  # to the right of the camera, towards it, up


def draw(mechanism: Mechanism, robot_file: Path) -> np.ndarray:
    """Return a picture of a robot in its rest pose, RGBA bytes (SIZE, SIZE, 4); empty where nothing can be seen.

    Meshes are named from `robot_file`.
    """
    corners, colors = _triangles(mechanism, robot_file)
    picture = np.zeros((SIZE * FINER, SIZE * FINER, 4))
    if len(corners):
        _splat(picture, *_points(corners, colors))
    alpha = picture[..., 3:]
    fine = np.concatenate([picture[..., :3] * alpha, alpha], axis=2).reshape(SIZE, FINER, SIZE, FINER, 4).mean((1, 3))
    fine[..., :3] /= np.maximum(fine[..., 3:], 1e-9)
    return np.rint(255 * np.clip(fine, 0.0, 1.0)).astype(np.uint8)


def png(picture: np.ndarray) -> bytes:
    """Return a picture, bytes (height, width, 4), as PNG."""
    height, width = picture.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(picture))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def _triangles(mechanism: Mechanism, robot_file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return corners (F, 3, 3) [m] of all that can be seen, in the world, and colours (F, 3)."""
    corners, colors = [np.zeros((0, 3, 3))], [np.zeros((0, 3))]
    for body in mechanism.bodies:
        for visual in body.visuals:
            own = _own_triangles(visual, robot_file)
            pose = body.pose @ visual.pose
            corners.append(own @ pose.matrix.T + np.array(pose.position))
            colors.append(np.tile(visual.color[:3], (len(own), 1)))
    return np.concatenate(corners), np.concatenate(colors)


def _own_triangles(visual: Visual, robot_file: Path) -> np.ndarray:
    """Return corners (F, 3, 3) of a visual in its own coordinates [m]; none of a mesh that cannot be read here."""
    if visual.shape != "mesh":
        points = primitive_points(visual.shape, visual.size)
        try:
            return points[ConvexHull(points).simplices]
        except QhullError:
            return np.zeros((0, 3, 3))
    file, inner = split_inner(visual.file)
    path = robot_file.parent / file
    try:
        if inner or not path.is_file():
            return np.zeros((0, 3, 3))
        if path.suffix.lower() == ".dae":
            points = np.asarray(read_dae(path).points, dtype=float)
            return points[: len(points) // 3 * 3].reshape(-1, 3, 3) * visual.size
        vertices, faces = read_mesh(path)
        return vertices[faces] * visual.size
    except FormatError:
        return np.zeros((0, 3, 3))


def _points(corners: np.ndarray, colors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points (P, 3) spread over triangles, as the camera has them, and their colours in its light."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(normals, axis=1)
    kept = np.isfinite(area) & (area > 0.0)
    corners, colors, normals, area = corners[kept], colors[kept], normals[kept] / area[kept, None], area[kept]
    draws = np.random.default_rng(0)  # the same picture every time
    of = np.searchsorted(np.cumsum(area), area.sum() * (np.arange(POINTS) + draws.random(POINTS)) / POINTS)
    of = np.minimum(of, len(area) - 1)
    u, v = draws.random((2, POINTS))
    over = u + v > 1.0
    u, v = np.where(over, 1.0 - u, u), np.where(over, 1.0 - v, v)
    a, b, c = corners[of].transpose(1, 0, 2)
    camera = _camera()
    seen = (a + u[:, None] * (b - a) + v[:, None] * (c - a)) @ camera.T
    facing = normals[of] @ camera.T
    facing *= np.where(facing[:, 1:2] < 0.0, -1.0, 1.0)  # both sides of a triangle are lit
    light = 0.35 + 0.65 * np.clip(facing @ (LIGHT / np.linalg.norm(LIGHT)), 0.0, 1.0)
    return seen, colors[of] * light[:, None]


def _camera() -> np.ndarray:
    """Return right, towards the camera, and up, as rows in world coordinates."""
    towards = np.array([np.cos(TURN) * np.cos(TILT), np.sin(TURN) * np.cos(TILT), np.sin(TILT)])
    right = np.array([-np.sin(TURN), np.cos(TURN), 0.0])
    return np.stack([right, towards, np.cross(towards, right)])


def _splat(picture: np.ndarray, points: np.ndarray, colors: np.ndarray) -> None:
    """Fill the picture with the points that are nearest to the camera."""
    side = len(picture)
    low, high = points[:, [0, 2]].min(axis=0), points[:, [0, 2]].max(axis=0)
    scale = (1.0 - 2.0 * MARGIN) * (side - 1) / max(float((high - low).max()), 1e-9)
    middle = 0.5 * (low + high)
    x, y = np.rint((points[:, [0, 2]] - middle) * scale + 0.5 * (side - 1)).astype(int).T
    row, order = side - 1 - y, np.argsort(points[:, 1], kind="stable")  # the nearest is written last
    picture[row[order], x[order], :3] = colors[order]
    picture[row[order], x[order], 3] = 1.0


def main(paths: list[str]) -> int:
    """Draw previews; paths are a robot's file and its PNG, in turn. Return 2 where a robot cannot be read, else 0."""
    code = 0
    for robot, picture in zip(paths[::2], paths[1::2], strict=True):
        try:
            found = png(draw(import_robot(robot).mechanism, Path(robot)))
        except RobikError as error:
            print(f"{robot}: {' '.join(str(error).split())}", file=sys.stderr)
            code = 2
            continue
        part = Path(f"{picture}.part")
        part.write_bytes(found)
        part.replace(picture)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
