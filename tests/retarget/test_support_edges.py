"""Edges of what a robot stands on, and the zero-moment point against each, worked out from the point itself."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from robik.dynamics import Dynamics
from robik.feet.support_edges import SupportEdges, support_edges
from robik.kinematics.forward import ForwardKinematics
from robik.motions import Motion

from .test_giving import two_legs

SQUARE = np.array([[-0.1, -0.2, 0.06], [0.3, -0.2, 0.02], [0.3, 0.2, 0.04], [-0.1, 0.2, 0.08]])  # mean height 0.05
EDGES = SupportEdges(
    bodies=("foot",) * 4,
    points=SQUARE,
    begins=np.array([[0, 1, 2, 3], [0, 1, 2, 2], [1, 1, 1, 1]]),  # all four corners, three of them, none
    ends=np.array([[1, 2, 3, 0], [1, 2, 0, 2], [1, 1, 1, 1]]),
    margin=np.array([0.03, 0.01, 0.0]),
    extent=2.0,
    weight=50.0,
)
POINTS = np.broadcast_to(SQUARE, (3, 4, 3))
HEIGHTS = (0.05, 0.04)  # of the corners, in the mean


def forces(points: list[tuple[float, float]], heights: tuple[float, ...], force: np.ndarray) -> Dynamics:
    """Return forces that act at points on the ground (T, 2), with a moment about the upright there."""
    at = np.column_stack([points, heights])
    wrench = np.hstack([np.cross(at, force) + np.array([0.0, 0.0, 0.7]), np.broadcast_to(force, (len(at), 3))])
    unused = np.zeros((len(at), 0))
    return Dynamics(**{field.name: unused for field in fields(Dynamics)} | {"wrench": wrench})


@pytest.mark.parametrize("force", [np.array([0.0, 0.0, 50.0]), np.array([7.0, -9.0, 80.0])])
def test_a_share_is_the_moment_about_an_edge_and_a_depth_the_distance_from_the_nearest(force: np.ndarray) -> None:
    found = forces([(0.05, -0.12), (0.25, 0.1), (0.0, 0.0)], (*HEIGHTS, 0.0), force)
    unit, push = 0.05 * 2.0 * 50.0, force[2]
    inside = np.array([0.08, 0.25, 0.32, 0.15])  # of the point from each side of the rectangle
    slope = np.array([0.4, 0.4]) / np.hypot(0.4, 0.4)  # of the triangle's third side, from corner 2 to corner 0
    third = slope[1] * (0.25 - 0.3) - slope[0] * (0.1 - 0.2)
    shares = EDGES.shares(found, POINTS)
    np.testing.assert_allclose(shares[0], 1.0 - (inside - 0.03) * push / unit, atol=1e-12)
    np.testing.assert_allclose(shares[1, :3], 1.0 - (np.array([0.3, 0.05, third]) - 0.01) * push / unit, atol=1e-12)
    assert shares[1, 3] == 0.0 and not shares[2].any(), "no edges"
    np.testing.assert_allclose(EDGES.depths(found, POINTS), [0.08, min(0.05, third), np.nan], atol=1e-12)
    part = EDGES.part(np.array([1]))
    np.testing.assert_array_equal(part.shares(forces([(0.25, 0.1)], HEIGHTS[1:], force), POINTS[:1]), shares[1:2])


def test_depths_outside_are_negative_down_to_the_robots_extent() -> None:
    pushed = np.array([0.0, 0.0, 50.0])
    outside = forces([(-0.13, 0.24), (9.0, 0.0), (0.0, 0.0)], (*HEIGHTS, 0.0), pushed)
    np.testing.assert_allclose(EDGES.depths(outside, POINTS), [-0.05, -2.0, np.nan], atol=1e-12)
    assert EDGES.depths(forces([(0.0, 0.0)] * 3, (*HEIGHTS, 0.0), -pushed), POINTS)[0] == -2.0, "nothing pushes"


def test_edges_of_two_soles_of_one_and_of_none() -> None:
    robot = two_legs()
    values = np.tile(robot.actuator_rest, (5, 1))
    position, quaternion, _ = ForwardKinematics(robot).along(values)
    names = tuple(body.name for body in robot.bodies)
    motion = Motion(times=0.1 * np.arange(5.0), actuators=robot.actuators, values=values, bodies=names,
                    position=position, quaternion=quaternion)  # fmt: skip
    wide, narrow = np.array([1, 1, 1, 0, 0], bool), np.array([1, 1, 0, 1, 0], bool)
    found = support_edges(
        robot, motion, {"sole_wide": wide, "head": np.zeros(5, bool), "sole_narrow": narrow}, None, 0.045
    )
    assert found is not None
    sides = [(-0.12, 0.11), (-0.12, 0.11), (-0.01, 0.11), (-0.12, -0.04)]  # of the support, in y; in x ±0.1
    for k, (low, high) in enumerate(sides):
        begins, ends = (found.points[at[k]] for at in (found.begins, found.ends))
        begins, ends = begins[found.there[k]], ends[found.there[k]]
        corners = {(x, y) for x in (-0.1, 0.1) for y in (low, high)}
        assert {tuple(corner) for corner in np.round(begins[:, :2], 9).tolist()} == corners
        np.testing.assert_array_equal(ends, np.roll(begins, -1, axis=0))
        way = ends - begins
        assert (way[:, 0] * np.roll(way[:, 1], -1) - way[:, 1] * np.roll(way[:, 0], -1) > 0.0).all(), "not turned left"
        bodies = {found.bodies[at] for at in found.begins[k]}
        assert bodies == {name for name, stands in (("wide", wide), ("narrow", narrow)) if stands[k]}
    assert not found.there[4].any()
    np.testing.assert_allclose(found.margin, [0.045, 0.045, 0.03, 0.02, 0.0], atol=1e-9)
    assert found.extent == robot.extent and found.weight == pytest.approx(10.0 * 9.81, rel=1e-3)
    shifted = replace(motion, position=position + np.array([0.0, 0.0, 0.3]))
    high = support_edges(robot, shifted, {"sole_wide": wide}, None, 0.0)
    assert high is not None and not high.margin.any() and set(high.bodies) == {"wide"}
