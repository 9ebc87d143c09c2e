"""Objectives in clips, settings and reports: files come back as they were, and what is wrong is told in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from robik import robots
from robik.cli import main
from robik.clips.clip import TargetClip, Track, load_clip, save_clip
from robik.errors import RobikError
from robik.mechanism.model import Mechanism
from robik.motions import report_summary
from robik.objectives.distance import Distance
from robik.objectives.look_at import LookAt
from robik.objectives.objective import Objective
from robik.objectives.posture import Posture
from robik.objectives.relative_frame import RelativeFrame
from robik.objectives.settings import Settings, settings_from
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget

TIMES = np.arange(3) / 60
TURNED = np.tile([0.6, 0.0, 0.8, 0.0], (3, 1))
EVERY: tuple[Objective, ...] = (
    RelativeFrame("hand", "shoulder", np.full((3, 3), 0.1), TURNED),
    RelativeFrame("hand", "base", None, TURNED),
    LookAt("hand", np.full((3, 3), 0.7), axis=(0.0, 0.0, 2.0)),
    LookAt("upper_arm", np.zeros((3, 3)), "base"),
    Distance("hand", np.full(3, 0.3), "base"),
    Distance("forearm", np.full(3, 0.2), point=np.ones((3, 3))),
    Posture("elbow", np.linspace(0.0, 0.2, 3)),
)
KEYS = [
    "hand.in.shoulder", "hand.in.base", "hand.look_at", "upper_arm.look_at.in.base", "hand.distance.base",
    "forearm.distance.world",
    "posture.elbow",
]  # fmt: skip


@pytest.fixture(scope="module")
def boxer() -> Mechanism:
    return robots.load("boxer")


def test_a_clip_s_file_comes_back(tmp_path: Path) -> None:
    clip = TargetClip(
        TIMES, {"hand": Track(np.zeros((3, 3)), contact=np.ones(3, bool))}, com=np.ones((3, 3)), objectives=EVERY
    )
    save_clip(clip, tmp_path / "clip.npz")
    loaded = load_clip(tmp_path / "clip.npz")
    assert list(loaded.tracks) == ["hand"]
    assert sorted(item.key for item in loaded.objectives) == sorted(KEYS)
    by_key = {item.key: item for item in loaded.objectives}
    for item in clip.objectives:
        again = by_key[item.key]
        assert type(again) is type(item)
        assert again.bodies == item.bodies
        assert again.arrays().keys() == item.arrays().keys()
        for key, values in item.arrays().items():
            np.testing.assert_array_equal(again.arrays()[key], values)
    assert by_key["hand.look_at"].arrays()["hand.look_at.axis"].tolist() == [0.0, 0.0, 1.0]


def test_part_of_a_clip_has_part_of_its_objectives() -> None:
    part = TargetClip(TIMES, objectives=EVERY).part(1, 3)
    assert [item.key for item in part.objectives] == KEYS
    posture = part.objectives[-1]
    assert isinstance(posture, Posture)
    np.testing.assert_allclose(posture.value, [0.1, 0.2])


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (RelativeFrame("hand", "base"), "neither a position nor a quaternion"),
        (RelativeFrame("hand", "base", None, 2 * TURNED), "length 1; sample 0 has 2"),
        (LookAt("hand", np.zeros((2, 3))), r"hand.look_at must have the shape \(3, 3\), not \(2, 3\)"),
        (LookAt("hand", np.full((3, 3), np.nan)), "must be finite; sample 0 is not"),
        (LookAt("hand", np.zeros((3, 3)), axis=(0.0, 0.0, 0.0)), "axis must not be zero"),
        (Distance("hand", np.ones(3)), r"needs another frame of the robot, or hand\.distance\.world\.point"),
        (Distance("hand", np.array([0.1, -0.2, 0.1]), "base"), "zero or more; sample 1 is -0.2"),
        (Posture("elbow", np.zeros((3, 1))), r"posture.elbow must have the shape \(3,\)"),
    ],
)
def test_wrong_arrays(item: Objective, said: str) -> None:
    with pytest.raises(RobikError, match=said):
        TargetClip(TIMES, objectives=(item,))


def test_the_same_twice() -> None:
    with pytest.raises(RobikError, match=r"asks for posture\.elbow more than once"):
        TargetClip(TIMES, objectives=(EVERY[-1], EVERY[-1]))


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (
            LookAt("head", np.zeros((3, 3))),
            "'head.look_at' is about 'head', which robot 'boxer' does not have; it has hand",
        ),
        (Posture("knee", np.zeros(3)), r"no coordinate of robot 'boxer' that can be drawn"),
    ],
)
def test_what_a_robot_does_not_have(boxer: Mechanism, item: Objective, said: str) -> None:
    with pytest.raises(RobikError, match=said):
        retarget(boxer, TargetClip(TIMES, objectives=(item,)))


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"hand.look_at": -1.0}, "the weight of 'hand.look_at' must be a number, zero or more"),
        ({"hand.look_at": [1.0]}, "the weight of 'hand.look_at' must be a number, zero or more"),
        ({"hand.in.base": 1.0}, "must be an object with position_weight and orientation_weight"),
        ({"hand.in.base": {"position_weight": [1, -1, 1]}}, "zero or more in each direction"),
        ({"hand.distance.elbow": 1.0}, "weights for hand.distance.elbow, which the clip does not ask for"),
    ],
)
def test_wrong_weights(boxer: Mechanism, weights: dict, said: str) -> None:
    with pytest.raises(RobikError, match=said):
        retarget(boxer, TargetClip(TIMES, objectives=EVERY), settings_from({"objectives": weights}))


def test_a_report_measures_and_words_each_miss(boxer: Mechanism) -> None:
    """The base stands still, so its distance from a point, what it looks past, and the shoulder's pose in it are
    known."""
    here = np.array(boxer.rest_pose("base").position)
    axes = boxer.rest_pose("base").matrix
    asked: tuple[Objective, ...] = (
        Distance("base", np.full(3, 1.0), point=np.tile(here + np.array([0.0, 3.0, 4.0]), (3, 1))),
        LookAt("base", np.tile(here + axes @ [1.0, 1.0, 0.0], (3, 1))),
        RelativeFrame("base", "base", np.tile([0.0, 0.3, 0.4], (3, 1)), np.tile([0.6, 0.8, 0.0, 0.0], (3, 1))),
    )
    chosen = Settings(objectives={"base.in.base": Weights((1.0, 0.0, 1.0), (0.0, 0.0, 1.0))})
    motion = retarget(boxer, TargetClip(TIMES, objectives=asked), chosen)
    found = {
        row["name"] + key: value
        for row in report_summary(motion)["objectives"]
        for key, value in row.items()
        if key != "name"
    }
    assert found["base.distance.worlderror_max_m"] == pytest.approx(4.0)
    assert found["base.look_aterror_mean_rad"] == pytest.approx(np.pi / 4)
    assert found["base.in.baseerror_max_m"] == pytest.approx(0.4)
    assert found["base.in.baseerror_max_rad"] == pytest.approx(2 * np.arcsin(0.8))
    why = motion.report.short[0][1]  # type: ignore[union-attr]
    assert "the distance of base from its point is 4000.0 mm off" in why
    assert "base looks 45.0° past its target" in why
    assert "base is 400.0 mm off, seen from base; base is turned 106.3° off, seen from base" in why


def test_the_command_line_solves_them(tmp_path: Path) -> None:
    save_clip(TargetClip(TIMES, objectives=(LookAt("hand", np.full((3, 3), 0.7)),)), tmp_path / "clip.npz")
    (tmp_path / "settings.json").write_text(json.dumps({"objectives": {"hand.look_at": 2.0}}))
    arguments = [
        "solve",
        str(robots.path("boxer")),
        str(tmp_path / "clip.npz"),
        "--settings",
        str(tmp_path / "settings.json"),
    ]
    assert not main([*arguments, "-o", str(tmp_path / "motion.csv"), "--report", str(tmp_path / "report.json")])
    report = json.loads((tmp_path / "report.json").read_text())
    assert [row["name"] for row in report["objectives"]] == ["hand.look_at"]
    assert report["objectives"][0]["error_max_rad"] < 1e-2
