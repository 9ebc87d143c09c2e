"""Clearance: derivatives against finite differences, segments against a search, a robot that would go into itself."""

import numpy as np
import pytest
from scipy.optimize import minimize

from robik import Settings, TargetClip, Track, retarget, robots
from robik.errors import ClipError
from robik.kinematics.forward import ForwardKinematics, body_poses
from robik.kinematics.frames import frame_poses
from robik.kinematics.segments import nearest
from robik.objectives.clearance import Clearance
from robik.objectives.objective import States
from robik.objectives.rows import Row

APART = 0.2  # m, less than at first, more than the clip leaves in the end


@pytest.mark.parametrize("seed", range(20))
def test_segments_are_nearest_where_a_search_finds_them_so(seed: int) -> None:
    random = np.random.default_rng(seed)
    p, u, q, v = random.normal(size=(4, 3)) * random.choice([0.1, 1.0, 3.0], size=(4, 1))
    if seed % 4 == 0:
        v = -0.7 * u  # parallel
    if seed % 5 == 0:
        u = np.zeros(3)  # a point

    def gap(where: np.ndarray) -> float:
        return float(np.sum((p + where[0] * u - q - where[1] * v) ** 2))

    starts = ([0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.5, 0.5])
    least = min(minimize(gap, start, bounds=[(0, 1), (0, 1)], tol=1e-14).fun for start in starts)
    found = np.array(nearest(p, u, q, v))
    assert ((found >= 0) & (found <= 1)).all()
    assert gap(found) == pytest.approx(least, rel=1e-6, abs=1e-10)


def hand_to_shoulder() -> tuple:
    """Return the boxer, a clip that leads its hand into its shoulder, and a wall between the two."""
    boxer = robots.load("boxer")
    start, aim = (np.array(boxer.rest_pose(name).position) for name in ("hand", "shoulder"))
    way = np.linspace(0.0, 1.0, 60)[:, None]
    clip = TargetClip(np.arange(60) / 60, {"hand": Track(start + way * (aim - start), None)})
    segments = np.array([[[0.0, 0.0, -0.05], [0.0, 0.0, 0.05]], [[-0.04, 0.0, 0.0], [0.04, 0.0, 0.0]]])
    return boxer, clip, Clearance("hand", "shoulder", least=np.full(60, APART), points=segments)


def gaps(robot, motion, wall: Clearance) -> np.ndarray:
    return wall.gaps(States(robot, motion.position, motion.quaternion))


def test_a_wall_keeps_bodies_apart_and_costs_nothing_where_they_are() -> None:
    boxer, clip, wall = hand_to_shoulder()
    settings = Settings(state_weight=1e-6)
    free = retarget(boxer, clip, settings)
    walled = retarget(boxer, TargetClip(clip.times, clip.tracks, objectives=(wall,)), settings)
    before, after = gaps(boxer, free, wall), gaps(boxer, walled, wall)
    assert before.min() < 0.3 * APART
    assert after.min() > 0.98 * APART, "weighs a hundred times what the hand does"
    first = int(np.argmax(before < APART))
    assert first > 5
    assert walled.values[: first - 1] == pytest.approx(free.values[: first - 1], abs=1e-9)
    assert np.median(walled.report.iterations) <= 3, "second derivatives are exact"


def test_where_no_distance_is_asked_there_is_no_wall() -> None:
    boxer, clip, wall = hand_to_shoulder()
    none = Clearance(wall.frame, wall.other, least=np.zeros(60), points=wall.points)
    settings = Settings(state_weight=1e-6)
    free = retarget(boxer, clip, settings)
    assert retarget(boxer, TargetClip(clip.times, clip.tracks, objectives=(none,)), settings).values == pytest.approx(
        free.values, abs=1e-12
    )


def test_the_walled_pose_is_the_best_there_is() -> None:
    """Against SciPy, from the solver's own pose and from others near by, by the objective as it is written down."""
    boxer, clip, wall = hand_to_shoulder()
    settings = Settings(state_weight=1e-9, joint_limits=False)
    walled = retarget(boxer, TargetClip(clip.times, clip.tracks, objectives=(wall,)), settings)
    kinematics = ForwardKinematics(boxer)

    def value(q: np.ndarray) -> float:
        position, quaternion, _ = kinematics.poses(q[None])
        states = States(boxer, position, quaternion)
        off = frame_poses(boxer, "hand", position, quaternion)[0][0] - clip.tracks["hand"].position[-1]
        short = min(0.0, float(wall.gaps(states)[0]) - APART)
        return 0.5 * float(off @ off) + 0.5 * Clearance.WEIGHT * short**2

    last = walled.values[-1]
    random = np.random.default_rng(3)
    least = min(
        minimize(value, last + 0.02 * random.normal(size=last.size), method="Nelder-Mead",
                 options={"maxiter": 4000, "xatol": 1e-10, "fatol": 1e-14}).fun
        for _ in range(4)
    )  # fmt: skip
    assert value(last) <= least + 1e-6 * max(least, 1e-6)


def test_a_row_keeps_the_origins_of_its_frames_apart() -> None:
    boxer = robots.load("boxer")
    ((asked, weight),) = Clearance.of_row(
        boxer, Row(frame="hand", other="shoulder", samples=3, distance=0.2, weight=7.0)
    )
    wall = asked.checked(3)
    assert weight == 7.0 and wall.least.tolist() == [0.2] * 3
    q = np.array([joint.rest for joint in boxer.joints if joint.actuated]).reshape(1, -1) + 0.2
    position, quaternion, _ = body_poses(boxer, q)
    hand, shoulder = (frame_poses(boxer, name, position, quaternion)[0][0] for name in ("hand", "shoulder"))
    assert wall.gaps(States(boxer, position, quaternion)) == pytest.approx(np.linalg.norm(hand - shoulder), abs=1e-14)


def test_what_is_checked_cannot_be_written_to_any_more() -> None:
    _, _, wall = hand_to_shoulder()
    checked = wall.checked(60)
    for array in (checked.points, checked.least):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    assert wall.points.flags.writeable


def test_files_keep_walls_and_wrong_ones_are_refused() -> None:
    _, _, wall = hand_to_shoulder()
    arrays = wall.arrays()
    (read,) = Clearance.take(dict(arrays))
    assert read.key == "hand.clearance.shoulder" and (read.points == wall.points).all()
    assert not Clearance.take({"hand.position": np.zeros(3)})
    with pytest.raises(ClipError, match=r"needs hand\.clearance\.shoulder\.segments"):
        Clearance.take({"hand.clearance.shoulder": wall.least})
    with pytest.raises(ClipError, match="zero or more; sample 0 is -1"):
        Clearance("hand", "shoulder", least=-np.ones(3), points=wall.points).checked(3)
    with pytest.raises(ClipError, match=r"segments must be finite numbers of the shape \(2, 2, 3\)"):
        Clearance("hand", "shoulder", least=np.ones(3), points=np.zeros((2, 3))).checked(3)
