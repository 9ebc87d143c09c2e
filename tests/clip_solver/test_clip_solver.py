"""All frames at once: nearer to the targets at the same speeds, every limit kept, loops closed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from robik.clip_solver import program
from robik.clip_solver.bounds import bounds_of
from robik.clip_solver.clip_solver import ClipSolver, Start
from robik.clips.clip import TargetClip, Track
from robik.errors import ClipError
from robik.motions import Motion
from robik.objectives.settings import Settings
from robik.retargeting.look_ahead import check_cyclic
from robik.retargeting.retarget import Retargeting, retarget
from tests.clip_solver.clips import ARM, BOXER, SPEEDS, WALKER, WALKING, both, hurried_walk, lissajous, rms, waving


def rates(motion: Motion) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the largest speed, acceleration and jerk of each motor, by differences of the values."""
    middle = 0.5 * (motion.times[1:] + motion.times[:-1])
    speed = np.diff(motion.values, axis=0) / np.diff(motion.times)[:, None]
    acceleration = np.diff(speed, axis=0) / np.diff(middle)[:, None]
    jerk = np.diff(acceleration, axis=0) / np.diff(0.5 * (middle[1:] + middle[:-1]))[:, None]
    return tuple(np.abs(found).max(axis=0) for found in (speed, acceleration, jerk))


def speed_limits(motion: Motion) -> np.ndarray:
    """Return the motors' own speed limits (A,)."""
    assert motion.report is not None
    return motion.report.velocity_limit


@pytest.mark.parametrize(("speed", "factor"), [(1.5, 10.0), (2.0, 2.5)])
def test_an_arm_is_nearer_to_its_targets_at_the_same_speeds(speed: float, factor: float) -> None:
    single, whole = both(ARM, lissajous(speed), SPEEDS)
    assert rms(single) > 1e-3
    assert rms(whole) * factor <= rms(single)
    for motion in (single, whole):
        assert (rates(motion)[0] <= 1.0005 * speed_limits(motion)).all()


def test_a_robot_with_loops_is_nearer_to_its_targets_at_the_same_speeds() -> None:
    single, whole = both(WALKER, hurried_walk(8.0), WALKING)
    assert rms(whole) * 1.4 <= rms(single)
    assert (rates(whole)[0] <= 1.0005 * speed_limits(whole)).all()
    assert whole.report is not None
    assert whole.report.residual.max() <= 1e-9


@pytest.mark.parametrize("fps", [60.0, 120.0, 480.0, 960.0])
def test_limits_hold_alike_at_any_frame_rate(fps: float) -> None:
    clip = waving(round(fps), fps)
    settings = replace(SPEEDS, acceleration_limit=60.0, jerk_limit=3000.0, look_ahead=True)
    motion = retarget(BOXER, clip, settings)
    speed, acceleration, jerk = rates(motion)
    assert (speed <= 1.0005 * speed_limits(motion)).all()
    assert jerk.max() <= 1.0005 * 3000
    assert 0.95 * 60 <= acceleration.max() <= 1.0005 * 60
    assert motion.report is not None
    assert motion.report.look_ahead is not None
    assert motion.report.look_ahead.beyond == ""
    steps = np.abs(np.diff(motion.values, axis=0))[[0, -1]]
    assert steps.max() <= 1.0005 * 3000 / fps**3, "it begins and ends at rest"
    assert motion.report.look_ahead.shares["acceleration"] == pytest.approx(acceleration.max() / 60, abs=1e-6)


def test_a_robot_with_loops_keeps_all_limits() -> None:
    limits = {name: 40.0 + k for k, name in enumerate(WALKER.actuators)}
    motion = retarget(
        WALKER, hurried_walk(6.0), replace(WALKING, acceleration_limit=limits, jerk_limit=2000.0), look_ahead=True
    )
    _, acceleration, jerk = rates(motion)
    assert (acceleration <= 1.0005 * np.array([limits[name] for name in motion.actuators])).all()
    assert jerk.max() <= 1.0005 * 2000
    assert motion.report is not None
    assert motion.report.residual.max() <= 1e-9


def test_targets_within_reach_are_met_as_frame_by_frame() -> None:
    single, whole = both(BOXER, replace(waving(40), tracks=_gentle()), Settings(state_weight=None))
    assert rms(single) < 1e-6
    assert rms(whole) < 1e-6
    assert np.abs(whole.values - single.values).max() < 0.05


def _gentle() -> dict[str, Track]:
    swing = 0.02 * np.sin(np.arange(40) / 12)[:, None] * np.array([0.0, 1.0, 0.5])
    return {"hand": Track(np.array(BOXER.rest_pose("hand").position) + swing)}


@pytest.mark.parametrize("frames", [1, 2, 3, 4])
def test_clips_too_short_for_a_difference_are_solved(frames: int) -> None:
    motion = retarget(BOXER, waving(frames), replace(SPEEDS, acceleration_limit=5.0, jerk_limit=50.0, look_ahead=True))
    assert motion.report is not None
    assert np.isfinite(motion.values).all()
    assert motion.report.jerk.shape == motion.values.shape


def test_limits_hold_between_frames_of_different_lengths() -> None:
    clip = waving(60)
    times = np.cumsum(np.random.default_rng(3).uniform(0.01, 0.06, 60))
    motion = retarget(
        BOXER, replace(clip, times=times), replace(SPEEDS, acceleration_limit=40.0, jerk_limit=900.0, look_ahead=True)
    )
    speed, acceleration, jerk = rates(motion)
    assert (speed <= 1.0005 * speed_limits(motion)).all()
    assert acceleration.max() <= 1.0005 * 40
    assert jerk.max() <= 1.0005 * 900


def test_what_cannot_be_kept_is_said_with_the_least_violation_and_its_place() -> None:
    """Between two poses that are held, a motor must go a way that its acceleration does not allow."""
    clip, settings = waving(24), replace(SPEEDS, acceleration_limit=4.0, look_ahead=True)
    work = Retargeting(BOXER, clip, replace(settings, look_ahead=False, acceleration_limit=None))
    for _ in work.steps():
        pass
    targets = {name: (track.position, track.quaternion) for name, track in clip.tracks.items()}
    work.solver.settings = settings
    wanted = work.solver.compile_targets(targets, None, clip.times)
    held = np.zeros(24, bool)
    held[[0, 1, 2, 11, 12, 13, 21, 22, 23]] = True
    begun = work._solved.q
    start = Start(bounds_of(work.solver, clip.times, begun, False), {}, goes_on=(True, True))
    solver = ClipSolver(work.solver, wanted, clip.times, begun, start, held=held)
    for _ in solver.steps():
        pass
    acceleration = solver.peaks()[1]
    assert acceleration.share > 1.001
    assert solver.violation(begun) > 1.01 * solver.violation(solver.q)
    assert np.array_equal(solver.q[held], begun[held])


def test_settings_that_need_look_ahead_say_so() -> None:
    with pytest.raises(ClipError, match="acceleration_limit is kept only where all frames are solved at once"):
        retarget(BOXER, waving(5), replace(SPEEDS, acceleration_limit=5.0))
    with pytest.raises(ClipError, match=r"jerk_limit of tail, which robot 'boxer' does not have; its actuators are "):
        retarget(BOXER, waving(5), replace(SPEEDS, jerk_limit={"tail": 5.0}, look_ahead=True))
    for wrong in (-1.0, 0.0, float("nan"), "fast", True, {BOXER.actuators[0]: -2.0}):
        with pytest.raises(ClipError, match="must be a positive number"):
            replace(SPEEDS, acceleration_limit=wrong)


def test_a_clip_that_does_not_come_back_is_not_cyclic() -> None:
    clip = TargetClip(np.arange(6) / 30, {"hand": Track(np.array([[0.2, 0.0, 0.2]]) + 0.03 * np.arange(6)[:, None])})
    with pytest.raises(ClipError, match=r"ends where it begins, but the targets of 'hand' are 260 mm apart"):
        retarget(BOXER, clip, replace(SPEEDS, look_ahead=True, cyclic=True))


def test_a_cyclic_clip_comes_back_in_its_orientations_and_its_centre_of_mass_too() -> None:
    half = 0.5 * np.radians([0.0, 20.0, 30.0, 15.0, 0.0])
    turns = np.stack([np.cos(half), 0.0 * half, 0.0 * half, np.sin(half)], axis=1)
    com = np.array([[0.0, 0, 1], [0.2, 0, 1], [0.3, 0, 1], [0.1, 0, 1], [0.0, 0, 1]])
    clip = TargetClip(np.arange(5) / 30, {"hand": Track(com, turns), "elbow": Track(quaternion=-turns)}, com=com)
    check_cyclic(BOXER, clip)
    turned = turns.copy()
    turned[-1] = -turns[1]  # the same orientation as the second one
    with pytest.raises(ClipError, match="the targets of 'hand' are turned by 20° between the first frame and the"):
        check_cyclic(BOXER, replace(clip, tracks={"hand": Track(com, turned)}))
    with pytest.raises(ClipError, match="'hand' are 200 mm apart"):
        check_cyclic(BOXER, replace(clip, tracks={"hand": Track(com[[0, 1, 2, 3, 1]])}))
    with pytest.raises(ClipError, match="the centre of mass' are 200 mm apart"):
        check_cyclic(BOXER, replace(clip, com=com[[0, 1, 2, 3, 1]]))
    with pytest.raises(ClipError, match="a cyclic clip needs at least 5 frames, not 4"):
        check_cyclic(BOXER, TargetClip(np.arange(4) / 30, {}))


def test_a_cyclic_clip_has_no_seam() -> None:
    t = np.arange(61) / 30
    u = 2 * np.pi * t / t[-1]
    hand = np.array([0.25, 0.0, 0.25]) + 0.07 * np.stack([np.cos(u), np.sin(u), np.sin(2 * u)], axis=1)
    settings = replace(SPEEDS, acceleration_limit=15.0, jerk_limit=300.0, look_ahead=True, cyclic=True)
    motion = retarget(BOXER, TargetClip(t, {"hand": Track(hand)}), settings)
    assert np.abs(motion.values[-1] - motion.values[0]).max() <= 1e-12
    twice = replace(
        motion,
        times=np.concatenate([t[:-1], t + t[-1]]),
        values=np.concatenate([motion.values[:-1], motion.values]),
    )
    speed, acceleration, jerk = rates(twice)
    assert (speed <= 1.0005 * speed_limits(motion)).all()
    assert acceleration.max() <= 1.0005 * 15
    assert jerk.max() <= 1.0005 * 300


def test_a_motion_within_its_limits_stays_as_it_is() -> None:
    single, whole = both(BOXER, replace(waving(40), tracks=_gentle()), replace(SPEEDS, acceleration_limit=500.0))
    assert np.array_equal(single.values, whole.values)
    assert whole.report is not None
    assert whole.report.look_ahead is not None
    assert whole.report.look_ahead.iterations == 0


def test_motors_that_may_not_move_are_no_unknowns(monkeypatch: pytest.MonkeyPatch) -> None:
    """As fingers that nothing follows; what comes out is the same as with them."""
    clip, sizes = lissajous(2.0, 60.0), []
    name = ARM.actuators[-1]
    held = replace(SPEEDS, look_ahead=True, acceleration_limit=30.0, ranges={name: (0.0, 0.0)})
    solve = program.Program.solve

    def counted(self: program.Program, *args: Any, **how: Any) -> Any:
        sizes.append(self._size / len(self._order))
        return solve(self, *args, **how)

    monkeypatch.setattr(program.Program, "solve", counted)
    motion = retarget(ARM, clip, held)
    assert np.ptp(motion.values[:, -1]) == 0.0
    assert set(sizes) == {len(ARM.actuators) - 1}
    monkeypatch.setattr(program, "_fixed", lambda values, bounds, dofs: np.zeros((len(values), dofs), bool))
    again = retarget(ARM, clip, held)
    assert max(sizes) == len(ARM.actuators)
    assert rms(motion) == pytest.approx(rms(again), rel=1e-3)
    np.testing.assert_allclose(motion.values, again.values, atol=0.02)


def test_feet_in_contact_stay_where_they_stand() -> None:
    clip = hurried_walk(3.0, 60.0)
    settings = replace(WALKING, contacts="hold", acceleration_limit=60.0, jerk_limit=3000.0, look_ahead=True)
    motion = retarget(WALKER, clip, settings)
    assert motion.report is not None
    assert motion.report.look_ahead is not None
    assert motion.report.look_ahead.beyond == ""
    assert motion.report.residual.max() <= 1e-9
    speed, acceleration, jerk = rates(motion)
    assert (speed <= 1.0005 * speed_limits(motion)).all()
    assert acceleration.max() <= 1.0005 * 60
    assert jerk.max() <= 1.0005 * 3000
    quality = motion.report.quality
    assert quality.contact_off_mm is not None
    assert quality.contact_off_mm < 1e-6


def test_contacts_that_bounds_forbid_are_late_and_bounds_are_kept() -> None:
    clip = hurried_walk(7.0, 60.0)
    motion = retarget(WALKER, clip, replace(WALKING, contacts="hold", acceleration_limit=15.0, look_ahead=True))
    assert motion.report is not None
    assert motion.report.look_ahead is not None
    assert motion.report.look_ahead.beyond == ""
    assert rates(motion)[1].max() <= 1.0005 * 15
    assert motion.report.quality.contact_off_mm is not None
    assert 1.0 < motion.report.quality.contact_off_mm < 100.0


def test_what_is_cut_out_of_a_motion_is_not_bent_at_its_ends() -> None:
    """The arm draws on at speed where the clip begins and ends; it is hurried in between alone."""
    whole = lissajous(1.0, 120.0, 5.0)
    frames = slice(180, 420)
    tracks = {"tool": Track(whole.tracks["tool"].position[frames])}
    pull = 0.05 * np.exp(-(np.linspace(-6, 6, 240) ** 2))[:, None] * np.array([1.0, 0.0, 0.0])
    pulled = {"tool": Track(tracks["tool"].position + 2.0 * pull)}
    settings = replace(SPEEDS, acceleration_limit=12.0, jerk_limit=600.0)
    single, ahead = both(ARM, TargetClip(whole.times[frames], pulled), settings)
    assert single.report is not None and ahead.report is not None and ahead.report.look_ahead is not None
    assert ahead.report.look_ahead.iterations > 0 and ahead.report.look_ahead.beyond == ""
    at_ends = np.abs(np.diff(single.values, axis=0))[[0, -1]].max(axis=1) * 120
    assert at_ends.min() > 0.1, "it moves there"
    ends = [0, 1, -2, -1]
    assert ahead.report.position_error[ends].max() < 1e-5
    assert np.abs(np.diff(ahead.values - single.values, axis=0))[[0, -1]].max() * 120 < 3e-2, "as it was"
    _, acceleration, jerk = rates(ahead)
    assert acceleration.max() <= 1.0005 * 12.0 and jerk.max() <= 1.0005 * 600.0
