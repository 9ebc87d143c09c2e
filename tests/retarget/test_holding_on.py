"""Balance beside contacts of what is no foot: hips that sit down, a hand on a table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik import robots
from robik.bake.balancing import balanced
from robik.bake.settings import BakeSettings, Balance
from robik.bake.solver_settings import solver_settings
from robik.balance.plan import with_balance
from robik.clips.clip import TargetClip, Track
from robik.feet.holding import APPROACH, nearness
from robik.mechanism import Body, Frame, Joint, Mechanism, Pose
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget
from tests.retarget.test_balance import biped, given_by_hand  # noqa: F401 (a fixture)

TIMES = np.arange(361) / 60.0
SEATED = (TIMES >= 2.5) & (TIMES <= 3.5)
BACK = 0.25  # m, of the seat behind the feet
UPRIGHT = np.tile([1.0, 0.0, 0.0, 0.0], (len(TIMES), 1))


def sitting(seated: np.ndarray | None = SEATED) -> TargetClip:
    """Both feet stand; the hips go back and down onto a seat and come up again."""
    u = np.clip(np.minimum(TIMES - 0.5, 5.5 - TIMES) / 2.0, 0.0, 1.0)
    down = u * u * (3 - 2 * u)
    hips = np.column_stack([0.02 - BACK * down, 0.0 * down, 0.4 - 0.15 * down])
    tracks = {"hips": Track(hips, UPRIGHT)}
    for side, y in (("l", 0.06), ("r", -0.06)):
        tracks[f"sole_{side}"] = Track(np.tile([0.0, y, 0.0], (len(TIMES), 1)), UPRIGHT)
    stands = {side: np.ones(len(TIMES), bool) for side in ("sole_l", "sole_r")}
    return given_by_hand(TargetClip(TIMES, tracks), stands | ({} if seated is None else {"hips": seated}))


@pytest.mark.parametrize("pace", ["still", "moving", "auto"])
def test_hips_come_to_the_seat_and_the_weight_with_them(biped: Mechanism, pace: str) -> None:  # noqa: F811
    clip, free = sitting(), with_balance(biped, sitting(None), pace=pace)
    found = with_balance(biped, clip, pace=pace)
    np.testing.assert_allclose(found.tracks["hips"].position[SEATED], clip.tracks["hips"].position[SEATED], atol=1e-12)
    seated = (TIMES > 2.7) & (TIMES < 3.3)
    assert found.com[seated, 0].max() < -0.1  # over the seat's side of the feet
    assert free.com[seated, 0].min() > -0.035  # held over the feet
    early = TIMES < 0.5
    assert np.abs(found.com[early] - free.com[early]).max() < 0.01
    jumps = np.diff(found.tracks["hips"].position, 2, axis=0) * 3600
    assert np.linalg.norm(jumps, axis=1).max() < 6.0  # m/s²: no jump onto the seat


def test_a_hand_that_leans_carries_weight_only_while_it_does(biped: Mechanism) -> None:  # noqa: F811
    """The feet's centres are at x = 0.02; the wish is 0.2, where only a hand before the robot carries it."""
    armed = replace(
        biped,
        bodies=(*biped.bodies, Body("arm", 0.1, pose=Pose((0.2, 0.0, 0.6)))),
        joints=(*biped.joints, Joint("shoulder", "free", "pelvis", "arm")),
        frames=(*biped.frames, Frame("hand", "arm")),
    )
    clip = sitting(None)
    hand = Track(np.tile([0.5, 0.0, 0.6], (len(TIMES), 1)), UPRIGHT, contact=SEATED)
    wish = np.tile([0.2, 0.0, 0.4], (len(TIMES), 1))
    found = with_balance(armed, replace(clip, tracks={**clip.tracks, "hand": hand}), wish=wish)
    leans = (TIMES > 2.8) & (TIMES < 3.2)
    assert found.com[leans, 0].min() > 0.1
    assert np.abs(found.com[(TIMES < 2.2) | (TIMES > 3.8), 0] - 0.02).max() < 0.02
    np.testing.assert_allclose(found.tracks["hand"].position[SEATED], hand.position[SEATED], atol=1e-12)


def walker_sits(back: float, down: float) -> tuple[Mechanism, TargetClip, Settings]:
    """The walker on a low seat, as it is baked by default, before its balance."""
    walker = robots.load("walker")
    hips = walker.rest_pose("pelvis")
    u = np.clip(np.minimum(TIMES - 0.5, 5.5 - TIMES) / 2.0, 0.0, 1.0)
    way = (u * u * (3 - 2 * u))[:, None] * [-back, 0.0, -down]
    tracks = {"pelvis": Track(hips.position + way, np.tile(hips.quaternion, (len(TIMES), 1)), contact=SEATED)}
    for name in ("foot_l", "foot_r"):
        pose = walker.rest_pose(name)
        place, turn = (np.tile(each, (len(TIMES), 1)) for each in (pose.position, pose.quaternion))
        tracks[name] = Track(place, turn, contact=np.ones(len(TIMES), bool))
    clip = TargetClip(TIMES, tracks)
    weights = dict.fromkeys(tracks, Weights())
    return walker, clip, solver_settings(walker, weights, Balance(), BakeSettings(), holds={"pelvis"})


def test_the_walker_sits_upright_where_it_was_put() -> None:
    """Its centre of mass goes where a robot's is whose legs lie before it, so that nothing pulls it off the seat."""
    walker, clip, settings = walker_sits(0.08, 0.06)
    planned = balanced(clip, walker, Balance(), settings)
    motion = retarget(walker, planned, settings)
    pelvis = motion.bodies.index(walker.frame("pelvis").body)
    assert motion.report.quality.contact_off_mm < 1e-6
    np.testing.assert_allclose(motion.position[SEATED, pelvis], clip.tracks["pelvis"].position[SEATED], atol=1e-9)
    assert motion.report.quality.jump_rad < 0.05
    seated = (TIMES > 2.8) & (TIMES < 3.2)
    assert np.abs(motion.com[seated, :2] - planned.com[seated, :2]).max() < 0.01
    rigid = with_balance(walker, clip, margin=Balance().whole_margin(walker))
    assert np.abs(motion.com[seated, 0] - rigid.com[seated, 0]).min() > 0.015  # what the hips alone would say


def test_hips_that_sit_do_not_give_way(biped: Mechanism) -> None:  # noqa: F811
    weights = {"hips": Weights(), "sole_l": Weights(), "sole_r": Weights()}
    balance, bake = Balance(mode="still"), BakeSettings()
    assert solver_settings(biped, weights, balance, bake).targets["hips"].position[:2] == (0.0, 0.0)
    assert solver_settings(biped, weights, balance, bake, holds={"hips"}).targets["hips"].position == (1.0, 1.0, 1.0)


def test_nearness_of_a_contact() -> None:
    times = APPROACH * np.array([0.0, 1.0, 1.5, 2.0, 2.25, 2.5, 3.0, 4.0])
    contact = (times >= 2.0 * APPROACH) & (times <= 2.25 * APPROACH)
    np.testing.assert_allclose(nearness(times, contact), [0, 0, 0.5, 1, 1, 0.84375, 0.15625, 0], atol=1e-12)
