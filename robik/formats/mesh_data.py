"""The triangles of mesh files: STL (binary and text), OBJ, and MuJoCo's MSH."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ..errors import FormatError
from ..files import read_whole

MOST = 500_000_000  # bytes
STL_FACE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("color", "<u2")])


def read_mesh(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices (v, 3), in the file's own unit, and the triangles (f, 3) of a mesh file.

    A FormatError leaves the file's name to the caller.
    """
    readers = {".stl": _stl, ".obj": _obj, ".msh": _msh}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise FormatError(f"triangles are read from {', '.join(readers)} only")
    vertices, faces = reader(read_whole(path, MOST))
    if not len(faces) or faces.min() < 0 or faces.max() >= len(vertices) or not np.isfinite(vertices).all():
        raise FormatError("its triangles do not name vertices with finite coordinates")
    return vertices, faces


def write_stl(path: Path, vertices: np.ndarray, faces: np.ndarray) -> None:
    """Write triangles (f, 3) of vertices (v, 3) as a binary STL."""
    corners = np.asarray(vertices, dtype=float)[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    written = np.zeros(len(faces), dtype=STL_FACE)
    written["normal"], written["corners"] = normals / np.where(lengths > 0, lengths, 1.0), corners
    try:
        for folder in (path.parent.parent, path.parent):  # no more: the rest of a path that is not there is a mistake
            folder.mkdir(exist_ok=True)
        path.write_bytes(bytes(80) + len(faces).to_bytes(4, "little") + written.tobytes())
    except OSError as error:
        raise FormatError(f"mesh {path} cannot be written: {error.strerror or error}") from None


def is_binary_stl(path: Path) -> bool:
    """Return whether a file is a whole binary STL: its size is what its head says.

    Half a file is none, and neither is what Git LFS puts in its place.
    """
    with open(path, "rb") as file:
        head = file.read(84)
    count = int.from_bytes(head[80:84], "little")
    return len(head) == 84 and path.stat().st_size == 84 + STL_FACE.itemsize * count


def _stl(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    count = int.from_bytes(content[80:84], "little")
    if len(content) >= 84 and len(content) == 84 + STL_FACE.itemsize * count:
        corners = np.frombuffer(content, STL_FACE, count, 84)["corners"].reshape(-1, 3).astype(float)
    elif content.lstrip()[:5] == b"solid":
        found = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", content)
        try:
            corners = np.array(found, dtype=float).reshape(-1, 3)
        except ValueError:
            raise FormatError("an STL whose vertices are not numbers") from None
    else:
        raise FormatError("not an STL, or one that is cut off")
    return corners, np.arange(len(corners) // 3 * 3).reshape(-1, 3)


def welded(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices (v, 3) and triangles (f', 3) of corners (3 f, 3), those in the same place made one.

    An STL needs it; it takes a second per four million. Vertices have single precision, and triangles without area,
    whose corners are the same, are left out.
    """
    corners = np.ascontiguousarray(corners, dtype=np.float32) + np.float32(0.0)  # no -0
    bits = corners.view(np.uint32).astype(np.uint64)
    keys = bits @ np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
    _, first, of = np.unique(keys, return_index=True, return_inverse=True)
    if not np.array_equal(corners[first][of], corners):  # two places of one key
        _, first, of = np.unique(corners, axis=0, return_index=True, return_inverse=True)
    faces = of.reshape(-1, 3)
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return corners[first], faces[whole].astype(np.int32)


def _obj(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    vertices: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    try:
        for line in content.decode("utf-8", errors="replace").splitlines():
            words = line.split()
            if words[:1] == ["v"]:
                vertices.append([float(w) for w in words[1:4]])
            elif words[:1] == ["f"]:
                corners = [int(w.partition("/")[0]) for w in words[1:]]
                corners = [c - 1 if c > 0 else len(vertices) + c for c in corners]
                faces += [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
        return np.array(vertices, dtype=float).reshape(-1, 3), np.array(faces, dtype=int).reshape(-1, 3)
    except (ValueError, IndexError, OverflowError):
        raise FormatError("an OBJ whose vertices or faces are not numbers") from None


def _msh(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    sizes = np.frombuffer(content[:16], "<i4").tolist()
    if len(sizes) == 4 and min(sizes) >= 0:
        vertices, normals, texcoords, faces = sizes
        if len(content) == 16 + 12 * vertices + 12 * normals + 8 * texcoords + 12 * faces:
            at_faces = 16 + 12 * vertices + 12 * normals + 8 * texcoords
            points = np.frombuffer(content, "<f4", 3 * vertices, 16).reshape(-1, 3).astype(float)
            return points, np.frombuffer(content, "<i4", 3 * faces, at_faces).reshape(-1, 3)
    raise FormatError("not an MSH, or one that is cut off")
