"""Rows of an editor's list: every kind shows its fields, and makes objectives that a robot follows."""

from __future__ import annotations

import numpy as np
import pytest

from robik import robots
from robik.clips.clip import TargetClip, Track
from robik.mechanism.pose import Pose
from robik.objectives.objective import Objective
from robik.objectives.registry import ASKED, ROWS, objective_of, row_kind
from robik.objectives.relative_frame import RelativeFrame
from robik.objectives.rows import Row
from robik.objectives.settings import Settings
from robik.retargeting.retarget import retarget

TIMES = np.arange(5) / 60
FIELDS = {"source", "frame", "other", "axis", "distance", "offset", "axes"}


def test_every_kind_is_listed_with_fields_that_rows_have() -> None:
    # Blender's files keep the kind of a row by its place in the list: new ones come last.
    assert [kind.label for kind in ROWS] == ["Position and Rotation", "Look At", "Relative To", "Distance", "Rest Pose"]
    assert objective_of("POSE") is None
    assert [objective_of(kind.key) for kind in ROWS[1:]] == [kind for kind in ASKED if kind.ROW]
    for kind in ROWS:
        assert row_kind(kind.key) is kind
        assert {name for name, _ in kind.fields} <= FIELDS


@pytest.mark.parametrize("kind", ASKED)
def test_what_a_row_asks_for_is_solved(kind: type[Objective]) -> None:
    boxer = robots.load("boxer")
    row = Row(frame="hand", other="shoulder", samples=len(TIMES), offset=Pose((0.1, 0.0, 0.3)), distance=0.2)
    asked = kind.of_row(boxer, row)
    assert asked
    clip = TargetClip(
        TIMES, {"hand": Track(np.tile(boxer.rest_pose("hand").position, (5, 1)))}, objectives=tuple(o for o, _ in asked)
    )
    motion = retarget(boxer, clip, Settings(objectives={o.key: weight for o, weight in asked}))
    assert np.isfinite(motion.values).all()


def test_a_hand_stays_on_a_box_that_moves() -> None:
    """The box slides and turns; the hand keeps its place on it."""
    boxer = robots.load("boxer")
    rest = boxer.rest_pose("hand")
    slide = np.column_stack([np.zeros(5), 0.01 * np.arange(5), np.zeros(5)])
    half = 0.02 * np.arange(5)
    turns = np.column_stack([np.cos(half), np.zeros(5), np.zeros(5), np.sin(half)])
    row = Row(
        frame="hand",
        position=rest.position + slide - [0.0, 0.0, 0.05],
        quaternion=turns,
        samples=5,
        offset=Pose((0.0, 0.0, 0.05)),
    )
    ((held, _),) = RelativeFrame.of_row(boxer, row)
    assert held.key == "hand.in.world"
    clip = TargetClip(TIMES, objectives=(RelativeFrame("hand", "world", held.position),))
    report = retarget(boxer, clip, Settings()).report
    assert report is not None
    assert report.objectives[0].values.max() < 1e-6
    assert np.allclose(held.position, rest.position + slide, atol=1e-12)
    assert np.allclose(held.quaternion, turns, atol=1e-12)


def test_a_row_with_both_moves_as_what_it_follows_moves_against_the_other() -> None:
    """A bone 0.2 m ahead of another, which turns by 90°: in the other frame it stays 0.2 m ahead."""
    root = np.sqrt(0.5)
    row = Row(
        frame="hand", other="shoulder", position=np.array([[1.0, 0.2, 0.0]]),
        quaternion=np.array([[root, 0.0, 0.0, root]]),
        other_position=np.array([[1.0, 0.0, 0.0]]), other_quaternion=np.array([[root, 0.0, 0.0, root]]), samples=1,
    )  # fmt: skip
    ((asked, _),) = RelativeFrame.of_row(robots.load("boxer"), row)
    assert np.allclose(asked.position, [[0.2, 0.0, 0.0]], atol=1e-12)
    assert np.allclose(asked.quaternion, [[1.0, 0.0, 0.0, 0.0]], atol=1e-12)
