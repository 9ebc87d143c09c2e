"""Live targets: whatever arrives, what comes out keeps speeds, accelerations and ends, and rests where nothing good
arrives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from robik.errors import ClipError, MechanismError
from robik.kinematics.forward import ForwardKinematics
from robik.robots import load
from robik.tracking import DifferentialTracker, ForwardDynamicsTracker, Health, Live, StateBasedTracker, Target, Targets
from robik.tracking.feed import Feed, FeedSettings
from robik.tracking.live import COM

TRACKERS = (DifferentialTracker, StateBasedTracker, ForwardDynamicsTracker)
HAND = "hand"


@pytest.fixture(scope="module", params=TRACKERS, ids=lambda kind: kind.__name__)
def live(request):
    return Live(request.param(load("boxer")))


@pytest.fixture(scope="module")
def differential():
    return Live(DifferentialTracker(load("boxer")))


def begin(live: Live) -> np.ndarray:
    """The robot in its rest pose, and where its hand is then."""
    live.restart(np.array([v for j in live.tracker.mechanism.actuated for v in j.rest]))
    return np.array(live.tracker.frame(HAND).position)


def run(live: Live, samples: list[tuple[float, np.ndarray]], until: float) -> np.ndarray:
    """Values (T, A) at 200 Hz, the samples received when their time has come."""
    waiting, out = list(samples), [live.tracker.values]
    while live.time < until:
        while waiting and waiting[0][0] <= live.time:
            when, position = waiting.pop(0)
            live.receive(Targets({HAND: Target(position)}), when)
        out.append(live.step())
    return np.array(out)


def check_limits(live: Live, values: np.ndarray) -> None:
    limits, velocity = live.limits, np.diff(values, axis=0) * live.rate
    assert np.isfinite(values).all()
    assert (np.abs(velocity) <= limits.velocity * (1 + 1e-6) + 1e-9).all()
    acceleration = np.diff(np.vstack([np.zeros_like(velocity[:1]), velocity]), axis=0) * live.rate
    assert (np.abs(acceleration) <= limits.acceleration * (1 + 1e-6) + 1e-6).all()
    assert (values >= limits.lower - 1e-9).all() and (values <= limits.upper + 1e-9).all()


def wave(start: np.ndarray, t: float) -> np.ndarray:
    return start + np.array([-0.05 * (1 - np.cos(3 * t)), 0.08 * np.sin(3 * t), 0.05 * np.sin(2 * t)])


def uneven(start: np.ndarray, rate: float, until: float, seed: int) -> list[tuple[float, np.ndarray]]:
    """Samples of a wave at a rate, each up to 40 % of a period late, one in ten missing."""
    rng = np.random.default_rng(seed)
    return [
        (k / rate + float(rng.uniform(0, 0.4 / rate)), wave(start, k / rate))
        for k in range(int(until * rate))
        if rng.random() > 0.1
    ]


@pytest.mark.parametrize("rate", [10, 30, 60])
def test_a_wave_is_followed_within_limits(live, rate):
    """Late by about a period, and, seen so much later, near."""
    start = begin(live)
    values = run(live, uneven(start, rate, 4.0, seed=rate), 4.0)
    check_limits(live, values)
    begin(live)
    path = []
    for row in values[400::4]:
        live.tracker.reset(row)
        path.append(live.tracker.frame(HAND).position)
    times = np.arange(400, len(values), 4) / live.rate
    apart = {late: float(np.mean([np.linalg.norm(p - wave(start, t - late)) for p, t in zip(path, times, strict=True)]))
             for late in np.arange(0.0, 0.4, 0.01)}  # fmt: skip
    late = min(apart, key=apart.__getitem__)
    assert apart[late] < 0.012
    assert late < 2.2 / rate + 0.08


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**6), st.sampled_from([10.0, 30.0, 60.0]), st.floats(0.0, 1.0))
def test_nothing_that_arrives_breaks_a_limit(live, seed, rate, wildness):
    """Jumps, holes, not-a-numbers and infinities, at random."""
    rng, start = np.random.default_rng(seed), begin(live)
    samples, where, t = [], start.copy(), 0.0
    while t < 1.5:
        t += float(rng.uniform(0.3, 2.0)) / rate
        where = where + rng.normal(scale=0.02, size=3)
        if rng.random() < 0.3 * wildness:
            where = start + rng.normal(scale=rng.choice([0.1, 1.0, 100.0]), size=3)
        sample = where.copy()
        if rng.random() < 0.2 * wildness:
            sample[rng.integers(3)] = rng.choice([np.nan, np.inf, -np.inf, 1e300])
        if rng.random() > 0.2 * wildness:
            samples.append((t, sample))
    check_limits(live, run(live, samples, 2.0))


@pytest.mark.parametrize(
    ("trouble", "health"),
    [("lost", Health.LOST), ("nan", Health.LOST), ("frozen", Health.FROZEN), ("elsewhere", Health.JUMPED)],
)
def test_trouble_ends_in_a_smooth_stop(live, trouble, health):
    """While the hand moves: it comes to rest near its last good target, says why, and follows again when the trouble is
    over."""
    start = begin(live)
    good = [(k / 30, wave(start, k / 30)) for k in range(45)]
    last = good[-1][1]
    after = {
        "lost": [],
        "nan": [(1.5 + k / 30, np.array([np.nan, 0, 0])) for k in range(90)],
        "frozen": [(1.5 + k / 30, last) for k in range(90)],
        "elsewhere": [(1.5 + k / 30, last + (1.0 if k % 4 < 2 else -1.0)) for k in range(90)],
    }[trouble]
    values = run(live, good + after, 4.5)
    check_limits(live, values)
    assert live.health[HAND] is health
    assert (trouble == "nan") == (live.bad > 0)
    moving = np.abs(np.diff(values[:300], axis=0)).max() * live.rate
    assert moving > 0.3
    assert np.abs(np.diff(values[-100:], axis=0)).max() * live.rate < 1e-3, "it does not rest"
    assert np.linalg.norm(live.tracker.frame(HAND).position - last) < 5e-3
    back = run(live, [(4.5 + k / 30, wave(start, 1.5)) for k in range(30)], 5.5)
    check_limits(live, back)
    assert live.health[HAND] is Health.FOLLOWING


def test_a_new_place_is_believed_in_time_and_approached_slowly(live):
    start = begin(live)
    far = start + np.array([-0.2, 0.25, -0.1])
    values = run(live, [(k / 30, start if k < 15 else far) for k in range(120)], 0.7)
    assert live.health[HAND] is Health.JUMPED
    assert np.linalg.norm(live.tracker.frame(HAND).position - start) < 1e-3
    values = run(live, [(0.7 + k / 30, far + 1e-4 * (k % 2)) for k in range(120)], 3.5)
    check_limits(live, values)
    assert live.health[HAND] is Health.FOLLOWING
    assert np.linalg.norm(live.tracker.frame(HAND).position - far) < 1e-2


REST = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def fed(samples, until: float, settings: FeedSettings | None = None) -> tuple[Feed, np.ndarray, list[Health]]:
    """A feed after samples (by time) at 30 Hz; its smooth position (T,) along z at 200 Hz, and how it was doing."""
    feed, path, health = Feed(REST, settings or FeedSettings()), [], []
    for k in range(1, round(200 * until) + 1):
        if k % 7 == 1:
            feed.receive(np.array([1e-5 * (k % 2), 0.0, samples((k - 1) / 200), *REST[3:]]), (k - 1) / 200)
        path.append(feed.step(k / 200)[2])
        health.append(feed.health)
    return feed, np.array(path), health


@pytest.mark.parametrize("away", [1.0, 10.0, 29.0, 100.0, 1e3, 1e155, 1e300])
def test_after_a_second_elsewhere_a_target_is_followed_again_within_seconds(away):
    """However far that was; and what is too far to be true is not followed at all."""
    feed, path, health = fed(lambda t: 0.02 if t < 1 else away if t < 2 else 0.05, 6.0)
    assert abs(path[-1] - 0.05) < 1e-3
    assert health[-1] is Health.FOLLOWING
    assert abs(path[1150] - 0.05) < 1e-3, "it is later than belief and the longest way allow"
    believed = away < 30.0
    assert (feed.bad == 0) == believed
    assert (Health.APPROACHING in health) == believed
    assert (path.max() > 0.1) == believed
    assert all(h is not Health.FOLLOWING for h, z in zip(health, path, strict=True) if abs(z) > 0.2)
    change = np.abs(np.diff(path, n=2)) * 200  # of speed, from step to step
    assert change.max() <= 0.5 * (1.0 + 10.0 * np.abs(np.diff(path)).max() * 200 / 3.0), "its speed jumps"


def test_a_slow_way_stops_where_it_is_when_the_new_place_is_in_doubt():
    _, path, health = fed(lambda t: 0.0 if t < 0.5 else 3.0 if t < 2 else 8.0 * (int(t * 30) % 2) - 4.0, 4.0)
    assert health[390] is Health.APPROACHING
    assert health[-1] is Health.JUMPED
    assert 0.5 < path[-1] < 2.5
    assert np.abs(np.diff(path[-200:])).max() < 1e-9


def test_a_new_place_is_gone_to_at_a_steady_pace_from_where_the_target_is_led():
    """0.6 m a second up to six jumps away; its time does not count on from a place that was left."""
    _, path, health = fed(lambda t: 0.0 if t < 0.5 else 1.5, 4.0)
    way = [k for k, h in enumerate(health) if h is Health.APPROACHING]
    assert len(way) / 200 == pytest.approx(2.5, abs=0.02)
    assert np.abs(np.diff(path)).max() * 200 == pytest.approx(0.6, rel=0.02)
    assert abs(path[way[-1]] - 1.5) < 0.03


def test_times_that_are_no_arrival_on_this_clock_have_an_answer(differential):
    """Not a number: an error at once. Beyond the next step, as of another clock: now. Before the last sample's: as that
    one's."""
    for wrong in (np.nan, np.inf, -np.inf):
        with pytest.raises(ClipError, match="finite number of seconds"):
            differential.receive(Targets({HAND: Target(np.zeros(3))}), wrong)
    for odd in (1.7e9, -5.0):
        start = begin(differential)
        for k in range(200):
            if k % 7 == 0:
                differential.receive(
                    Targets({HAND: Target(start + np.array([-0.05, 0.05, 1e-5 * (k % 2)]))}), odd if k else 0.0
                )
            differential.step()
        late = odd < 0
        assert differential.health[HAND] is (Health.LOST if late else Health.FOLLOWING)
        assert np.linalg.norm(differential.tracker.frame(HAND).position - start - [-0.05, 0.05, 0]) < 5e-3


@pytest.mark.parametrize(
    ("length", "taken"), [(0.6, False), (0.998, False), (0.9995, True), (1.0005, True), (1.002, False), (1.9, False)]
)
def test_a_quaternion_is_as_long_for_samples_as_for_targets(differential, length, taken):
    begin(differential)
    turn = length * np.array(differential.tracker.frame(HAND).quaternion)
    differential.receive(Targets({HAND: Target(quaternion=turn)}))
    assert differential.bad == (not taken)
    tracker = DifferentialTracker(differential.tracker.mechanism)
    if taken:
        tracker.step(Targets({HAND: Target(quaternion=turn)}), 0.01)
    else:
        with pytest.raises(ClipError, match="length 1"):
            tracker.step(Targets({HAND: Target(quaternion=turn)}), 0.01)


def test_frames_and_centre_of_mass_of_a_robot_with_loops():
    live = Live(DifferentialTracker(load("walker")))
    home, com = {n: live.tracker.frame(n) for n in ("foot_l", "foot_r")}, live.tracker.com
    out = [live.tracker.values]
    for k in range(300):
        if k % 7 == 0:
            sway = 0.02 * np.sin(k / 30)
            frames = {n: Target(np.array(p.position), np.array(p.quaternion)) for n, p in home.items()}
            live.receive(Targets(frames, com + np.array([0, sway, 0])))
        out.append(live.step())
        assert live.tracker.residual < 1e-9
    check_limits(live, np.array(out))
    assert set(live.health) == {"foot_l", "foot_r", COM}
    assert set(live.health.values()) == {Health.FOLLOWING}
    assert np.abs(live.tracker.com - com - np.array([0, sway, 0])).max() < 5e-3


@pytest.mark.parametrize("kind", TRACKERS, ids=lambda kind: kind.__name__)
def test_motors_tied_by_loops_are_held_back_together(kind):
    """The dancer, eight motors for six freedoms, whose pelvis is to leap to and fro: motors that each kept their own
    limits, and nothing else, would have torn its loops open by up to 45 mm."""
    live = Live(kind(load("dancer")))
    start, fk = np.array(live.tracker.frame("pelvis_frame").position), ForwardKinematics(live.tracker.mechanism)
    out = [live.tracker.values]
    for k in range(800):
        if k % 7 == 0:
            away = 0.04 * np.sign(np.sin(k / 60))
            live.receive(Targets({"pelvis_frame": Target(start + np.array([away, -away, 0.0]))}))
        out.append(live.step())
        assert fk.move(out[-1]) < 1e-6
    check_limits(live, np.array(out))
    assert np.abs(np.diff(out, axis=0)).max() * live.rate > 1.0, "it has hardly moved"


def test_what_cannot_be_received_is_said(differential):
    begin(differential)
    with pytest.raises(MechanismError, match="no frame or body 'paw'"):
        differential.receive(Targets({"paw": Target(np.zeros(3))}))
    with pytest.raises(ClipError, match="three numbers"):
        differential.receive(Targets({HAND: Target(np.zeros(2))}))
    with pytest.raises(ClipError, match="steps a second"):
        Live(differential.tracker, rate=0.0)
