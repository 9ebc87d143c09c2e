"""Corners of an STL made one where they lie in the same place."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robik.formats import solids
from robik.formats.mesh_data import read_mesh, welded, write_stl


def test_cube_of_an_stl_has_eight_corners_again(tmp_path: Path) -> None:
    vertices, faces = solids.hull(np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (-1, 1)], dtype=float))
    write_stl(tmp_path / "cube.stl", vertices, faces)
    corners, triangles = read_mesh(tmp_path / "cube.stl")
    found, tied = welded(corners[triangles.ravel()])
    assert len(found) == 8
    assert len(tied) == 12
    np.testing.assert_array_equal(found[tied], vertices[faces].astype(np.float32))
    assert abs(solids.mesh(found.astype(float), tied).volume - 2.0) < 1e-6


def test_triangles_without_area_are_left_out_and_zeros_have_no_sign() -> None:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [-0.0, 0, 0], [1, -0.0, 0], [1, 0, 0]])
    found, tied = welded(corners)
    assert len(found) == 3
    assert len(tied) == 1


def test_many_random_places_stay_apart() -> None:
    corners = np.repeat(np.random.default_rng(3).uniform(-1, 1, (3000, 3)).astype(np.float32), 2, axis=0)
    found, tied = welded(corners)
    assert len(found) == 3000
    assert len(tied) == 0  # every triangle has a corner twice
