"""Convex parts, surfaces and obstacles of meshes, against what is known by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from robik import Obstacle, TargetClip, Track, load_clip, read_obstacle, save_clip
from robik.errors import ClipError, FormatError
from robik.surroundings.convex import convex_parts
from robik.surroundings.ground import Ground
from robik.surroundings.obstacle import read_surroundings
from robik.surroundings.surface import Surface, planes_above, resting_plane
from tests.surroundings.meshes import box, hills, joined, table

RANDOM = np.random.default_rng(3)


def volumes(parts: list[np.ndarray]) -> list[float]:
    return sorted(round(float(ConvexHull(part).volume), 6) for part in parts)


def test_a_table_is_its_top_and_its_legs() -> None:
    vertices, triangles = table()
    turned = Rotation.from_euler("xyz", [0.3, 0.2, 1.0]).apply(vertices)
    legs = 4 * [0.06 * 0.06 * 0.68]
    assert volumes(convex_parts(turned, triangles)) == pytest.approx([*legs, 1.2 * 0.8 * 0.04], abs=1e-6)


def test_what_is_convex_is_one_part_whichever_way_its_faces_look() -> None:
    ball = RANDOM.normal(size=(80, 3))
    hull = ConvexHull(ball / np.linalg.norm(ball, axis=1)[:, None])  # its faces look anywhere
    assert volumes(convex_parts(hull.points, hull.simplices)) == pytest.approx([hull.volume], abs=1e-6)


def test_a_tray_is_not_filled() -> None:
    tray = joined(box((0, 0, 0.01), (0.5, 0.3, 0.01)), *(box((x, 0, 0.06), (0.01, 0.3, 0.06)) for x in (-0.49, 0.49)))
    inside = np.array([0.0, 0.0, 0.08])
    for part in convex_parts(*tray):
        sides = ConvexHull(part).equations
        assert (sides[:, :3] @ inside + sides[:, 3]).max() > 0.0


def test_an_open_floor_is_a_slab_below_its_faces() -> None:
    (part,) = convex_parts(*hills(lambda x, y: 0.0 * x, 1.0, 4))
    assert part[:, 2].max() == 0.0 and part[:, 2].min() == pytest.approx(-0.02)


def test_heights_are_those_of_the_topmost_face() -> None:
    vertices, triangles = joined(hills(lambda x, y: 0.3 * x - 0.2 * y, 1.0), box((0.0, 0.0, 0.9), (0.2, 0.2, 0.1)))
    places = RANDOM.uniform(-1.4, 1.4, (400, 2))
    on_box, outside = (np.abs(places) < 0.2).all(axis=1), (np.abs(places) > 1.0).any(axis=1)
    wanted = np.where(on_box, 1.0, np.where(outside, -7.0, places @ [0.3, -0.2]))
    assert np.abs(Surface(vertices, triangles, -7.0).heights(places) - wanted).max() < 1e-12


def test_a_plate_rests_on_the_upper_hull_of_what_is_below_it() -> None:
    points = np.column_stack([RANDOM.uniform(-1, 1, (60, 2)), RANDOM.uniform(0, 0.2, 60)])
    centre = np.array([0.1, -0.2])
    normal, height = resting_plane(points, centre)
    above = points @ normal - height
    assert above.max() < 1e-12 and (above > -1e-9).sum() == 3
    feet = points[above > -1e-9, :2] - centre
    turns = [feet[i][0] * feet[(i + 1) % 3][1] - feet[i][1] * feet[(i + 1) % 3][0] for i in range(3)]
    assert np.all(np.sign(turns) == np.sign(turns[0])), "its weight is between the three points that bear it"
    normals, heights = planes_above(points[None])
    assert (points @ normals[0] - heights[0]).max() < 1e-12


def test_depth_in_the_ground_is_the_way_out() -> None:
    step = box((0.5, 0.0, 0.1), (0.5, 1.0, 0.1))
    ground = Ground(0.0, Obstacle(name="ground", vertices=step[0], triangles=step[1]))
    points = np.array([[[0.5, 0.0, 0.15], [0.02, 0.0, 0.1], [-0.5, 0.0, -0.01], [-0.5, 0.0, 0.3]]])
    assert ground.depths(points)[0] == pytest.approx([0.05, 0.02, 0.01, 0.0], rel=0.3)
    assert Ground(0.25).depths(points)[0] == pytest.approx([0.1, 0.15, 0.26, 0.0])


def test_a_clip_keeps_its_obstacles(tmp_path: Path) -> None:
    vertices, triangles = table()
    path, turn = RANDOM.normal(size=(5, 3)), Rotation.random(5, random_state=1).as_quat()[:, [3, 0, 1, 2]]
    made = Obstacle(name="table", vertices=vertices, triangles=triangles, position=path, quaternion=turn)
    clip = TargetClip(np.arange(5) / 10, {"hand": Track(path)}, obstacles=(made,))
    save_clip(clip, tmp_path / "clip.npz")
    (read,) = load_clip(tmp_path / "clip.npz").part(1, 4).obstacles
    assert read.name == "table" and np.array_equal(read.triangles, triangles)
    assert np.array_equal(read.position, path[1:4]) and read.moves and load_clip(tmp_path / "clip.npz").ground is None


WRONG = {
    "a.b": ({}, "a word without dots"),
    "far": ({"triangles": np.array([[0, 1, 99]])}, r"far\.obstacle\.triangles must be whole numbers \(M, 3\)"),
    "nan": ({"vertices": np.full((8, 3), np.nan)}, r"nan\.obstacle\.vertices must be finite"),
    "late": ({"position": np.zeros((3, 3))}, r"late\.obstacle\.position must have the shape \(2, 3\)"),
    "long": ({"quaternion": np.ones((2, 4))}, r"long\.obstacle\.quaternion must have length 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name: str) -> None:
    vertices, triangles = box((0, 0, 0), (1, 1, 1))
    changed, said = WRONG[name]
    obstacle = Obstacle(**{"name": name, "vertices": vertices, "triangles": triangles, **changed})
    with pytest.raises(ClipError, match=said):
        TargetClip(np.arange(2) / 10, {}, obstacles=(obstacle,))


def test_files_that_are_no_meshes_are_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"none\.stl"):
        read_obstacle(tmp_path / "none.stl")
    (tmp_path / "tree.glb").write_bytes(b"glTF")
    with pytest.raises(FormatError, match=r"tree\.glb: triangles are read from \.stl, \.obj"):
        read_obstacle(tmp_path / "tree.glb")
    cube = "".join(f"v {x} {y} {z}\n" for x, y, z in box((0, 0, 0), (1, 1, 1))[0]) + "f 1 2 4\n"
    for name in ("a.obj", "ground.obj"):
        (tmp_path / name).write_text(cube, encoding="utf-8")
    found = read_surroundings([tmp_path / "a.obj", tmp_path / "ground.obj", tmp_path / "a.obj"], tmp_path / "a.obj")
    assert [item.name for item in found] == ["ground", "a", "ground_2", "a_2"]
