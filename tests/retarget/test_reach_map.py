"""Where a frame may go: against the closed form of a five-bar, an arm's limits, and boxes inside known surfaces."""

from __future__ import annotations

import numpy as np
import pytest

import robik
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.retargeting.boxes import largest_box, sphere
from robik.retargeting.reach_map import ENDS, _surface
from tests.kinematics import five_bar
from tests.kinematics.linkages import stewart


def test_a_five_bar_s_hand_goes_as_far_as_its_closed_form_has_hold() -> None:
    found = robik.reach_map(five_bar.robot(), "hand", hold=0.1)
    star = found.position
    assert star is not None and not found.together and not len(star.faces), "in its plane"
    np.testing.assert_allclose(star.directions[:, 1], 0.0, atol=1e-12)
    places, rest = star.points[:, [0, 2]], np.array(five_bar.REST)
    down = int(np.argmin(star.directions[:, 2]))
    assert ENDS[star.ends[down]] == "hold"
    for k, way in enumerate(places):
        along = [five_bar.hold(*(rest + part * way)) for part in np.linspace(0.0, 0.9, 12)]
        assert min(along) > 0.099, "hold is kept on the way"
        if ENDS[star.ends[k]] == "hold":
            assert five_bar.hold(*(rest + way)) == pytest.approx(star.hold[k], rel=0.05)
    ended = star.ends == ENDS.index("hold")
    assert 0.1 <= star.hold[ended].min() < 0.125 and ended.any()
    corners = 0.999 * _surface(star.box)[:, [0, 2]]
    assert min(five_bar.hold(*(rest + corner)) for corner in corners) > 0.099
    assert (star.box[[0, 2], 1] - star.box[[0, 2], 0]).min() > 0.02


def test_an_arm_ends_at_its_limits_and_its_reach() -> None:
    """Two links at a right angle, 0.4 and 0.3 m, whose shoulder turns by 0.3 rad at most."""
    z = (0.0, 0.0, 1.0)
    arm = Mechanism("arm", [Body("upper", 1.0), Body("fore", 1.0)], [
        Joint("shoulder", "revolute", WORLD, "upper", position=(0, 0, 0), axis=z, actuated=True, limits=((-0.3, 0.3),)),
        Joint("elbow", "revolute", "upper", "fore", position=(0.4, 0, 0), axis=z, actuated=True),
    ], frames=[Frame("hand", "fore", Pose((0.4, 0.3, 0.0)))])  # fmt: skip
    star = robik.reach_map(arm, "hand").position
    assert star is not None and np.isinf(star.hold).all() and star.share["hold"] == 0.0
    for end, (x, y) in zip(star.ends, star.points[:, :2] + (0.4, 0.3), strict=True):
        far = np.hypot(x, y)
        bend = np.arccos(np.clip((far**2 - 0.25) / 0.24, -1.0, 1.0))
        shoulder = np.arctan2(y, x) - np.arctan2(0.3 * np.sin(bend), 0.4 + 0.3 * np.cos(bend))
        assert abs(shoulder) < 0.31 and 0.099 < far < 0.701
        if ENDS[end] == "limit":
            assert abs(shoulder) > 0.28
        else:
            assert far > 0.69 or far < 0.11
    assert star.share["limit"] > 0.3 and star.share["reach"] > 0.05


def test_a_stewart_platform_s_box_is_reached_with_hold() -> None:
    robot = stewart()
    found = robik.reach_map(robot, "platform", fineness=2)
    assert found.together and found.position is not None and found.rotation is not None and found.cone > 0.3
    for star, turns in ((found.position, False), (found.rotation, True)):
        corners = _surface(star.box)
        outside = 1.2 * star.points[star.ends == ENDS.index("hold")]
        assert min((star.box[:, 1] - star.box[:, 0]) / (star.far.max() or 1.0)) > 0.05
        for points, is_inside in ((corners, True), (outside, False)):
            motions = [_there(robot, point, turns) for point in points[::3]]
            assert all(holds > 0.049 for holds in motions) == is_inside


def _there(robot: robik.Mechanism, point: np.ndarray, turns: bool) -> float:
    """Return the least hold on the way to a place or an orientation (roll, pitch, yaw), any pose allowed."""
    from scipy.spatial.transform import Rotation

    part, rest = np.linspace(0.0, 1.0, 40)[:, None], robot.rest_pose("platform")
    place, turn = np.tile(rest.position, (40, 1)), Rotation.identity(40)
    place, turn = (place, Rotation.from_euler("xyz", part * point)) if turns else (place + part * point, turn)
    track = robik.Track(position=place, quaternion=turn.as_quat(scalar_first=True))
    report = robik.retarget(
        robot, robik.TargetClip(np.arange(40) / 60.0, {"platform": track}), robik.Settings(hold=0.0)
    ).report
    assert report is not None and report.hold is not None
    return report.hold.least if report.position_error.max() < 1e-3 else 0.0


@pytest.mark.parametrize("size", [(1.0, 1.0, 1.0), (3.0, 1.0, 0.2)])
def test_boxes_fill_an_ellipsoid(size: tuple[float, float, float]) -> None:
    directions, faces = sphere(np.eye(3), 8)
    assert len(directions) == 4 * 8**2 + 2 and len(faces) == 8 * 8**2
    normals = np.cross(*(directions[faces[:, k]] - directions[faces[:, 0]] for k in (1, 2)))
    assert (np.einsum("ij,ij->i", normals, directions[faces[:, 0]]) > 0).all(), "all face outward"
    far = 1.0 / np.linalg.norm(directions / size, axis=1)
    box = largest_box(directions, far)
    assert np.linalg.norm(np.abs(box).max(axis=1) / size) < 1.4, "between the rays it may stand out"
    volume = np.prod(box[:, 1] - box[:, 0]) / np.prod(size)
    assert volume > 0.85 * (2.0 / np.sqrt(3.0)) ** 3


def test_a_frame_that_there_is_not() -> None:
    with pytest.raises(robik.MechanismError, match="has no frame or body 'nose'"):
        robik.reach_map(stewart(), "nose")
