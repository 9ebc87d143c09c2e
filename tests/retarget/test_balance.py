"""Contacts, support polygons and CoM targets, against analytic polygons and gaits whose phases are known."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from robik.balance.com_path import outside
from robik.balance.plan import with_balance
from robik.clips.clip import TargetClip, Track
from robik.errors import ClipError
from robik.feet.finding import below_ground, find_contacts
from robik.feet.footholds import Footholds
from robik.feet.phases import runs
from robik.feet.pinning import pin_feet
from robik.feet.sole_turns import ground_height
from robik.feet.support import (
    convex_hull,
    inset,
    margins,
    nearest,
    placed,
    signed_distance,
    sole_width,
    thin_feet,
    zero_moment_margins,
)
from robik.mechanism import Body, Frame, Joint, Mechanism, Pose
from robik.motions import Motion
from robik.surroundings.ground import Ground
from robik.surroundings.obstacle import Obstacle

SQUARE = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
SOLE = ((-0.04, -0.03, 0.0), (0.08, -0.03, 0.0), (0.08, 0.03, 0.0), (-0.04, 0.03, 0.0))
HEIGHT = 0.03  # of the foot frames' bodies above their soles


@pytest.fixture(scope="module")
def biped() -> Mechanism:
    bodies = [Body("pelvis", 2.0, pose=Pose((0.0, 0.0, 0.4)))]
    joints, frames = [], [Frame("hips", "pelvis")]
    for side, y in (("l", 0.06), ("r", -0.06)):
        bodies.append(Body(f"foot_{side}", 0.2, pose=Pose((0.0, y, HEIGHT))))
        joints.append(Joint(f"leg_{side}", "free", "pelvis", f"foot_{side}"))
        frames.append(Frame(f"sole_{side}", f"foot_{side}", Pose((0.0, 0.0, -HEIGHT)), SOLE))
    return Mechanism("biped", tuple(bodies), tuple(joints), frames=tuple(frames))


def gait(
    fps=60.0, steps=6, stride=0.06, swing=0.6, double=0.4, stand=0.6, lift=0.03, start=0.0, scale=1.0, noise=0.0,
    slope=0.0,
):  # fmt: skip
    """A walk along x, up steps by a slope, whose phases are known: the clip, and whether each foot stands."""
    times = np.arange(round((2 * stand + steps * swing + max(steps - 1, 0) * double) * fps) + 1) / fps
    x, z, stands = np.zeros((2, len(times))), np.zeros((2, len(times))), np.ones((2, len(times)), bool)
    begin = stand
    for k in range(steps):
        u = np.clip((times - begin) / swing, 0.0, 1.0)
        x[k % 2] += (stride if k in (0, steps - 1) else 2 * stride) * u * u * (3 - 2 * u)
        z[k % 2] += lift * np.sin(np.pi * u) ** 2
        stands[k % 2] &= ~((u > 0) & (u < 1))
        begin += swing + double
    random, upright = np.random.default_rng(1), np.tile([1.0, 0.0, 0.0, 0.0], (len(times), 1))
    z += slope * x
    tracks = {"hips": np.column_stack([x.mean(axis=0), 0 * times, slope * x.mean(axis=0) + 0.4])}
    tracks |= {f"sole_{s}": np.column_stack([x[i], 0 * times + (0.06, -0.06)[i], z[i]]) for i, s in enumerate("lr")}
    keep = times >= start
    made = {
        n: Track(scale * (p + noise * random.standard_normal(p.shape))[keep], upright[keep]) for n, p in tracks.items()
    }
    return TargetClip(times[keep], made), {"sole_l": stands[0][keep], "sole_r": stands[1][keep]}


def outlines(clip: TargetClip, name: str) -> np.ndarray:
    track = clip.tracks[name]
    return placed(np.array(SOLE), track.position, track.quaternion)[..., :2]


def given_by_hand(clip: TargetClip, contacts: dict) -> TargetClip:
    return replace(clip, tracks={n: replace(t, contact=contacts.get(n)) for n, t in clip.tracks.items()})


# --- polygons


@pytest.mark.parametrize(
    ("point", "distance", "closest"),
    [
        ((1, 1), 1, (1, 1)),
        ((0.5, 1), 0.5, (0.5, 1)),
        ((3, 1), -1, (2, 1)),
        ((5, 6), -5, (2, 2)),
        ((1, -2), -2, (1, 0)),
        ((2, 1), 0, (2, 1)),
    ],
)
def test_distance_and_nearest_point_of_a_square(point, distance, closest):
    point = np.array([point], float)
    assert signed_distance(point, SQUARE)[0] == pytest.approx(distance)
    assert nearest(point, SQUARE)[0] == pytest.approx(closest)


def test_a_segment_and_a_point_have_no_inside():
    points = np.array([[1.0, 0.0], [1.0, 3.0], [5.0, 0.0]])
    segment = convex_hull(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.0]]))
    assert sorted(map(tuple, segment)) == [(0, 0), (2, 0)]
    assert signed_distance(points, segment) == pytest.approx([0, -3, -3])
    assert nearest(points, segment) == pytest.approx(np.array([[1, 0], [1, 0], [2, 0]]))
    dot = convex_hull(np.array([[1.0, 1.0]] * 4))
    assert len(dot) == 1
    assert signed_distance(np.array([[4.0, 5.0]]), dot) == pytest.approx([-5])


def test_hull_drops_inner_points_and_runs_counter_clockwise():
    hull = convex_hull(np.vstack([SQUARE[[2, 0, 3, 1]], [[1.0, 1.0], [0.3, 0.2]]]))
    x, y = hull.T
    assert len(hull) == 4
    assert 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1)) == pytest.approx(4.0)


def test_inset_of_a_square_is_a_smaller_square_and_never_empty():
    inner = inset(SQUARE, 0.25)
    assert inner.min() == pytest.approx(0.25)
    assert inner.max() == pytest.approx(1.75)
    assert len(inner) == 4
    assert signed_distance(inset(SQUARE, 7.0), SQUARE).min() > 0.9


# --- contacts


@pytest.mark.parametrize("fps", [24, 30, 60, 120, 1200])
@pytest.mark.parametrize("noise", [0.0, 0.0007])
def test_contacts_at_any_frame_rate_with_noise(biped, fps, noise):
    clip, truth = gait(fps, noise=noise)
    for name, found in find_contacts(biped, clip).items():
        swings, known = runs(~found), runs(~truth[name])
        assert len(swings) == len(known) == 3
        edges = np.array([[clip.times[a], clip.times[b - 1]] for a, b in swings]) - [
            [clip.times[a], clip.times[b - 1]] for a, b in known
        ]
        assert np.abs(edges).max() < 0.06


def test_contacts_do_not_depend_on_scale_or_the_height_of_the_ground(biped):
    clip, _ = gait()
    soles = tuple(tuple(5 * v for v in point) for point in SOLE)
    frames = tuple(replace(f, sole=soles) if f.is_foot else f for f in biped.frames)
    large, _ = gait(scale=5.0)
    raised = replace(
        clip, tracks={n: replace(t, position=t.position + np.array([0, 0, 0.7])) for n, t in clip.tracks.items()}
    )
    plain = find_contacts(biped, clip)
    for other in (find_contacts(biped.with_changes(frames=frames), large), find_contacts(biped, raised)):
        for name in plain:
            assert (other[name] == plain[name]).all()


def test_a_foot_held_up_never_stands_and_one_held_down_always_does(biped):
    clip, _ = gait(steps=0, stand=1.0)
    up = clip.tracks["sole_r"]
    clip = replace(clip, tracks={**clip.tracks, "sole_r": replace(up, position=up.position + np.array([0, 0, 0.05]))})
    contacts = find_contacts(biped, clip)
    assert contacts["sole_l"].all()
    assert not contacts["sole_r"].any()


def test_a_foot_that_is_only_ever_on_its_toes_stands_on_them(biped):
    """A dancer's heel that never comes down: the middle of the sole is higher than that of the other foot."""
    clip, _ = gait(steps=0, stand=1.0)
    sole, tipped = np.array(SOLE), Rotation.from_euler("y", 0.7)
    track = clip.tracks["sole_r"]
    on_toes = -tipped.apply(sole)[:, 2].min() + sole[:, 2].min()
    assert on_toes + tipped.apply(sole.mean(axis=0))[2] - sole.mean(axis=0)[2] > 0.25 * np.ptp(sole[:, 0])
    raised = replace(
        track,
        position=track.position + np.array([0.0, 0.0, on_toes]),
        quaternion=np.tile(tipped.as_quat()[[3, 0, 1, 2]], (len(clip.times), 1)),
    )
    contacts = find_contacts(biped, replace(clip, tracks={**clip.tracks, "sole_r": raised}))
    assert contacts["sole_r"].all() and contacts["sole_l"].all()


def test_phases_by_hand_stay(biped):
    clip, truth = gait()
    by_hand = np.roll(truth["sole_l"], 7)
    assert (find_contacts(biped, given_by_hand(clip, {"sole_l": by_hand}))["sole_l"] == by_hand).all()


def test_a_clip_that_moves_no_foot_is_refused_with_the_feet_there_are(biped):
    clip, _ = gait()
    with pytest.raises(ClipError, match="sole_l, sole_r"):
        find_contacts(biped, replace(clip, tracks={"hips": clip.tracks["hips"]}))
    with pytest.raises(ClipError, match="no feet"):
        find_contacts(biped.with_changes(frames=(Frame("hips", "pelvis"),)), clip)


# --- CoM targets

GAITS = st.fixed_dictionaries(
    {
        "fps": st.sampled_from([24.0, 30.0, 60.0, 120.0, 240.0]),
        "steps": st.integers(0, 5),
        "stride": st.floats(-0.08, 0.12),
        "swing": st.floats(0.3, 1.0),
        "double": st.floats(0.25, 1.0),
        "stand": st.floats(0.3, 1.5),
    }
)


@settings(max_examples=25, deadline=None)
@given(GAITS)
def test_balanced_walks(biped, walk):
    """Inside the standing foot by the margin, on the line between both, and as continuous as a path of bounded
    acceleration is."""
    clip, truth = gait(**walk)
    balanced = with_balance(biped, given_by_hand(clip, truth), margin=0.01)
    com = balanced.com[:, :2]
    both = truth["sole_l"] & truth["sole_r"]
    for name, stands in truth.items():
        only = stands & ~both
        assert (signed_distance(com[only], outlines(clip, name)[only]) > 0.0098).all()
    centres = np.stack([outlines(clip, n).mean(axis=1) for n in truth], axis=1)
    times = clip.times
    settled = np.array([both[max(k, 0) : k + 1].all() for k in range(len(times))])
    for start, stop in runs(both):
        lead = (times >= times[start] + 0.09 * (start > 0)) & (times <= times[stop - 1] - 0.09 * (stop < len(times)))
        on_line = settled & lead & (np.arange(len(times)) >= start) & (np.arange(len(times)) < stop)
        assert (signed_distance(com[on_line], centres[on_line]) > -5e-4).all()
    velocity = np.diff(com, axis=0) / np.diff(times)[:, None]
    assert np.linalg.norm(velocity, axis=1).max() < 1.5
    assert np.linalg.norm(np.diff(velocity, axis=0), axis=1).max(initial=0.0) * walk["fps"] < 40.0
    assert (balanced.tracks["sole_l"].contact == truth["sole_l"]).all()


def test_the_shift_is_done_before_the_foot_lifts(biped):
    clip, truth = gait()
    com = with_balance(biped, given_by_hand(clip, truth), lead=0.1).com
    lift = runs(~truth["sole_l"])[0][0]
    early = clip.times >= clip.times[lift] - 0.095
    early &= np.arange(len(clip.times)) <= lift
    assert signed_distance(com[early][:, :2], outlines(clip, "sole_r")[early]).min() > 0.0098


def test_a_wish_inside_the_support_is_kept(biped):
    clip, truth = gait(steps=0, stand=1.5)
    sway = np.column_stack([0 * clip.times + 0.02, 0.03 * np.sin(1.5 * clip.times), 0 * clip.times + 0.35])
    com = with_balance(biped, given_by_hand(clip, truth), wish=sway, stiffness=0.05).com
    assert np.abs(com - sway).max() < 1e-3


def test_without_double_support_the_shift_takes_time_from_both_sides(biped):
    clip, _ = gait(steps=0, stand=1.0)
    first = clip.times < 1.0
    com = with_balance(biped, given_by_hand(clip, {"sole_l": first, "sole_r": ~first})).com
    assert np.linalg.norm(np.diff(com, axis=0), axis=1).max() * 60 < 1.0
    away = np.abs(clip.times - 1.0) > 0.2
    for name, stands in (("sole_l", first), ("sole_r", ~first)):
        assert signed_distance(com[stands & away][:, :2], outlines(clip, name)[stands & away]).min() > 0.0098


def test_a_jump_is_bridged(biped):
    clip, truth = gait(steps=0, stand=1.0)
    air = (clip.times > 0.8) & (clip.times < 1.1)
    com = with_balance(biped, given_by_hand(clip, dict.fromkeys(truth, ~air))).com
    assert np.isfinite(com).all()
    assert np.linalg.norm(np.diff(com, n=2, axis=0), axis=1).max() * 3600 < 10.0


@pytest.mark.parametrize("start", [0.5, 0.8, 1.0, 1.3])
def test_clips_that_begin_mid_step(biped, start):
    clip, truth = gait(start=start)
    com = with_balance(biped, given_by_hand(clip, truth)).com
    only = truth["sole_r"] & ~truth["sole_l"]
    assert signed_distance(com[only][:, :2], outlines(clip, "sole_r")[only]).min() > 0.0098


@pytest.mark.parametrize("count", [1, 2, 3])
def test_clips_of_a_few_samples(biped, count):
    clip, _ = gait()
    short = TargetClip(
        clip.times[:count], {n: Track(t.position[:count], t.quaternion[:count]) for n, t in clip.tracks.items()}
    )
    assert with_balance(biped, short).com.shape == (count, 3)


def test_one_foot_alone_and_without_other_tracks(biped):
    clip, _ = gait(steps=0)
    com = with_balance(biped, replace(clip, tracks={"sole_l": clip.tracks["sole_l"]})).com
    assert com[:, :2] == pytest.approx(outlines(clip, "sole_l").mean(axis=1), abs=1e-4)


def test_a_robot_that_never_stands_is_refused(biped):
    clip, truth = gait(steps=0)
    with pytest.raises(ClipError, match="ever stands"):
        with_balance(biped, given_by_hand(clip, dict.fromkeys(truth, np.zeros(len(clip.times), bool))))


@pytest.mark.parametrize("margin", [-0.01, float("nan")])
def test_a_margin_that_cannot_be_is_refused(biped, margin):
    with pytest.raises(ClipError, match="margin"):
        with_balance(biped, gait()[0], margin=margin)


# --- in motion


def zero_moment(clip: TargetClip, com: np.ndarray, ground: np.ndarray | float = 0.0) -> np.ndarray:
    """The zero-moment point of a mass on a table at a height, by differences of the path itself."""
    step = clip.times[1] - clip.times[0]
    acceleration = np.gradient(np.gradient(com, step, axis=0), step, axis=0)
    return com[:, :2] - ((com[:, 2] - ground) / (9.81 + acceleration[:, 2]))[:, None] * acceleration[:, :2]


@pytest.mark.parametrize("pace", [0.5, 1.0, 2.0])
def test_in_motion_the_zero_moment_point_is_over_what_stands(biped, pace):
    clip, truth = gait(fps=120.0, swing=0.6 / pace, double=0.3 / pace, stride=0.08, steps=8)
    clip = given_by_hand(clip, truth)
    made = with_balance(biped, clip, margin=0.01, lead=0.0, pace="moving")
    point = zero_moment(clip, made.com)
    inside = np.array(
        [
            signed_distance(
                point[k : k + 1], convex_hull(np.concatenate([outlines(clip, n)[k] for n in truth if truth[n][k]]))
            )[0]
            for k in range(len(clip.times))
        ]
    )
    assert np.mean(inside > 0.009) > 0.97  # but where a foot lands or lifts, within a sample of the plan
    assert inside.min() > -0.01
    still = with_balance(biped, clip, margin=0.01)
    assert np.ptp(made.com[:, 1]) < np.ptp(still.com[:, 1])


@pytest.mark.parametrize("slope", [0.67, -0.67], ids=["up", "down"])
def test_up_and_down_steps_the_zero_moment_point_is_over_what_stands(biped, slope):
    """Ten steps of 40 mm: by the ground of the clip's middle, 6 to 13 % of the samples were outside, by up to 94 mm."""
    clip, truth = gait(swing=0.4, double=0.1, steps=16, slope=slope)
    made = with_balance(biped, given_by_hand(clip, truth), margin=0.01, pace="moving")
    ground = np.mean([clip.tracks[n].position[:, 2] for n in truth], axis=0, where=np.array([*truth.values()]))
    point = zero_moment(clip, made.com, ground)
    feet = Footholds.of(biped, clip, truth, clip.times, 0.0)
    assert outside(point, feet.for_moving(0.0)).max() < 1e-3


def test_the_pace_is_chosen_by_what_momentum_does(biped):
    for rate, chosen in ((0.3, "still"), (2.0, "moving")):
        clip, truth = gait(swing=0.6 / rate, double=0.4 / rate, stand=0.6 / rate)
        clip = given_by_hand(clip, truth)
        auto, same = with_balance(biped, clip, pace="auto"), with_balance(biped, clip, pace=chosen)
        assert (auto.com == same.com).all()


def test_who_stands_still_stands_over_the_feet_at_any_pace(biped):
    clip, truth = gait(steps=0, stand=1.5)
    wish = np.column_stack([0 * clip.times + 0.2, 0 * clip.times + 0.2, 0 * clip.times + 0.35])
    com = with_balance(biped, given_by_hand(clip, truth), wish=wish, pace="moving").com
    corners = np.concatenate([outlines(clip, name)[0] for name in truth])
    assert com[:, :2] == pytest.approx(
        nearest(wish[:1, :2], inset(convex_hull(corners), 0.01)).repeat(len(com), 0), abs=2e-3
    )


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_few_samples_in_motion(biped, count):
    clip, _ = gait()
    short = TargetClip(
        clip.times[:count], {n: Track(t.position[:count], t.quaternion[:count]) for n, t in clip.tracks.items()}
    )
    assert np.isfinite(with_balance(biped, short, pace="moving").com).all()


def test_a_flight_in_motion_is_bridged(biped):
    clip, truth = gait(steps=0, stand=1.0)
    air = (clip.times > 0.8) & (clip.times < 1.1)
    com = with_balance(biped, given_by_hand(clip, dict.fromkeys(truth, ~air)), pace="moving").com
    assert np.linalg.norm(np.diff(com, n=2, axis=0), axis=1).max() * 3600 < 10.0


def test_a_pace_that_is_none_is_refused(biped):
    with pytest.raises(ClipError, match="still, moving, auto"):
        with_balance(biped, gait()[0], pace="running")


# --- pinned feet


def test_pinned_feet_stand_flat_still_and_on_the_ground(biped):
    clip, _ = gait(fps=120, noise=0.001)
    tilt = 0.15 * np.sin(3.0 * clip.times)
    turn = Rotation.from_euler("xyz", np.column_stack([tilt, 0.7 * tilt, 0.3 + 0.2 * tilt])).as_quat()[:, [3, 0, 1, 2]]
    tracks = {n: replace(t, quaternion=turn) if n != "hips" else t for n, t in clip.tracks.items()}
    pinned = pin_feet(biped, replace(clip, tracks=tracks), ground=-0.002)
    for name in ("sole_l", "sole_r"):
        track = pinned.tracks[name]
        sole = placed(np.array(SOLE), track.position, track.quaternion)
        assert sole[..., 2].min() > -0.002 - 1e-9
        for start, stop in runs(track.contact):
            assert np.ptp(sole[start:stop], axis=0).max() < 1e-9
            assert sole[start:stop, :, 2] == pytest.approx(-0.002, abs=1e-9)
        steps = np.linalg.norm(np.diff(sole, axis=0), axis=2).max()
        assert steps < 0.02  # continuous: the swing itself moves 3 mm a frame, its tilt and the noise the rest
        heading = Rotation.from_quat(track.quaternion[:, [1, 2, 3, 0]]).as_euler("ZYX")[:, 0]
        assert np.abs(heading - 0.3).max() < 0.1


def test_feet_are_pinned_to_the_ground_that_the_robot_rests_on(biped):
    """As many files have it, the hips may be at height 0."""
    clip, truth = gait()
    sunk = Pose((0.0, 0.0, -0.4))
    joints = tuple(replace(j, position=sunk.point(j.position)) for j in biped.joints)
    low = replace(biped, bodies=tuple(replace(b, pose=sunk @ b.pose) for b in biped.bodies), joints=joints)
    assert ground_height(biped) == pytest.approx(0.0, abs=1e-12)
    assert ground_height(low) == pytest.approx(-0.4, abs=1e-12)
    pinned = pin_feet(low, given_by_hand(clip, truth))
    for name, stands in truth.items():
        track = pinned.tracks[name]
        assert placed(np.array(SOLE), track.position, track.quaternion)[stands, :, 2] == pytest.approx(-0.4, abs=1e-9)


def test_long_before_its_first_phase_a_foot_is_left_where_it_was(biped):
    clip, _ = gait(steps=2)
    stands = dict.fromkeys(("sole_l", "sole_r"), clip.times > 2.3)
    aside = replace(
        clip, tracks={n: replace(t, position=t.position + np.array([0.0, 0.0, 0.01])) for n, t in clip.tracks.items()}
    )
    pinned = pin_feet(biped, given_by_hand(aside, stands))
    for name in stands:
        off = pinned.tracks[name].position - aside.tracks[name].position
        assert np.abs(off[clip.times < 1.7]).max() < 1e-9
        assert off[clip.times > 2.3, 2] == pytest.approx(-0.01, abs=1e-9)
        assert np.abs(np.diff(off, axis=0)).max() < 0.001


def test_a_foot_that_is_still_a_little_higher_than_later_stands(biped):
    """Recorded feet tilt and sink by a centimetre or two from stand to stand."""
    clip, truth = gait()
    raised = 0.012 * (clip.times < clip.times[-1] / 2)[:, None] * [0.0, 0.0, 1.0]
    clip = replace(clip, tracks={n: replace(t, position=t.position + raised) for n, t in clip.tracks.items()})
    found = find_contacts(biped, clip)
    for name, stands in truth.items():
        assert (found[name] != stands).mean() < 0.05


def test_a_foot_on_a_step_is_pinned_there(biped):
    clip, truth = gait(noise=0.001)
    up = 0.1 * (clip.times > clip.times[-1] / 2)[:, None] * [0.0, 0.0, 1.0]
    clip = replace(clip, tracks={n: replace(t, position=t.position + up) for n, t in clip.tracks.items()})
    pinned = pin_feet(biped, given_by_hand(clip, truth), ground=0.0)
    levels = set()
    for name, stands in truth.items():
        track = pinned.tracks[name]
        sole = placed(np.array(SOLE), track.position, track.quaternion)
        for start, stop in runs(stands):
            assert np.ptp(sole[start:stop], axis=0).max() < 1e-9
            levels.add(round(float(sole[start, 0, 2]), 2))
    assert levels == {0.0, 0.1}


def test_pinning_a_flat_still_walk_changes_little(biped):
    clip, truth = gait()
    pinned = pin_feet(biped, given_by_hand(clip, truth))
    for name in truth:
        assert pinned.tracks[name].position == pytest.approx(clip.tracks[name].position, abs=1.5e-3)
        assert np.abs(pinned.tracks[name].quaternion[:, 1:]).max() < 1e-9


# --- margins of a motion


def standing_motion(com, lift=0.0, tip=0.0):
    """The biped standing still, its right foot lifted and its left one tipped about y."""
    half = 0.5 * tip
    position = np.array([[[0, 0, 0.4], [0, 0.06, HEIGHT], [0, -0.06, HEIGHT + lift]]])
    quaternion = np.array([[[1, 0, 0, 0], [np.cos(half), 0, np.sin(half), 0], [1, 0, 0, 0]]])
    return Motion(
        times=np.zeros(1),
        actuators=(),
        values=np.zeros((1, 0)),
        bodies=("pelvis", "foot_l", "foot_r"),
        position=position,
        quaternion=quaternion,
        com=np.array([com], float),
    )


BOTH, LEFT = {"sole_l": [True], "sole_r": [True]}, {"sole_l": [True], "sole_r": [False]}


def test_margins_by_hand(biped):
    assert margins(biped, standing_motion((0.02, 0.0, 0.3)), BOTH) == pytest.approx([0.06])
    assert margins(biped, standing_motion((0.07, 0.0, 0.3)), BOTH) == pytest.approx([0.01])
    assert margins(biped, standing_motion((0.02, 0.0, 0.3)), LEFT) == pytest.approx([-0.03])
    assert margins(biped, standing_motion((0.02, 0.05, 0.3)), LEFT) == pytest.approx([0.02])
    assert np.isnan(margins(biped, standing_motion((0, 0, 0.3)), {"sole_l": [False], "sole_r": [False]})).all()


def test_hips_that_sit_carry_weight(biped):
    """The hull of the left sole and the hips' place; its nearest edge goes from there to the sole's rear corner."""
    motion = standing_motion((0.0, 0.02, 0.3))
    assert margins(biped, motion, {**LEFT, "hips": [True]}) == pytest.approx([0.016])
    assert margins(biped, motion, {**LEFT, "hips": [False]}) == pytest.approx(margins(biped, motion, LEFT))
    assert margins(biped, motion, {"hips": [True]}) == pytest.approx([-0.02])  # a point has no inside


def test_a_tipped_foot_stands_on_its_edge(biped):
    """Tipped by 0.2 rad about y the toes carry: their line, not the sole, is the support."""
    motion = standing_motion((0.02, 0.06, 0.3), tip=0.2)
    toes = 0.08 * np.cos(0.2) - HEIGHT * np.sin(0.2)
    assert margins(biped, motion, LEFT) == pytest.approx([-(toes - 0.02)])


def test_on_a_slope_the_whole_sole_stands(biped):
    """The same foot on a slope of 0.2 rad lies flat on it."""
    toes = 0.08 * np.cos(0.2) - HEIGHT * np.sin(0.2)
    x, y = (far.ravel() for far in np.meshgrid([-1.0, 1.0], [-1.0, 1.0]))
    slope = np.column_stack([x, y, -np.tan(0.2) * x + HEIGHT - HEIGHT / np.cos(0.2)])
    mesh = Obstacle(name="ground", vertices=slope, triangles=np.array([[0, 1, 3], [0, 3, 2]]))
    motion = standing_motion((toes - 0.01, 0.06, 0.3), tip=0.2)
    assert margins(biped, motion, LEFT) == pytest.approx([-0.01])
    assert margins(biped, motion, LEFT, Ground(0.0, mesh)) == pytest.approx([0.01])


@pytest.mark.parametrize("others", [{}, {"hand": True}, {"toe": False}])
def test_the_zero_moment_point_of_a_box_that_sways_on_a_step(others: dict[str, bool]) -> None:
    """Its centre of mass is 0.4 m above its sole and sways by x = A sin ωt: it is h/g ω² x off the sole's middle."""
    sole = tuple((x, y, 0.0) for x in (-0.1, 0.1) for y in (-0.1, 0.1))
    frames = (
        Frame("sole", "box", pose=Pose((0.0, 0.0, -0.4)), sole=sole),
        Frame("toe", "box", sole=sole),
        Frame("hand", "box"),
    )
    box = Mechanism("box", (Body("box", 2.0, pose=Pose((0.0, 0.0, 0.5))),), frames=frames)
    times = np.arange(400) / 100
    x = 0.1 * np.sin(2.0 * times)
    position = np.stack([x, 0.0 * x, 0.0 * x + 1.1], axis=1)  # so the step is 0.7 m high
    motion = Motion(
        times=times, actuators=(), values=np.zeros((400, 0)), bodies=("box",), position=position[:, None],
        quaternion=np.tile([1.0, 0.0, 0.0, 0.0], (400, 1, 1)), com=position,
    )  # fmt: skip
    contacts = {name: np.full(400, stands) for name, stands in {"sole": True, **others}.items()}
    found = zero_moment_margins(box, motion, contacts)
    inner = slice(50, -50)  # at its ends a filter knows less
    assert found[inner] == pytest.approx((0.1 - 0.4 / 9.81 * 4.0 * np.abs(x))[inner], abs=2e-4)


def test_margins_need_body_poses(biped):
    with pytest.raises(ClipError, match="forward kinematics"):
        margins(biped, Motion(times=np.zeros(1), actuators=(), values=np.zeros((1, 0)), com=np.zeros((1, 3))), BOTH)


def test_the_pelvis_leans_with_the_com_and_the_feet_stay(biped):
    clip, truth = gait()
    plain = given_by_hand(clip, truth)
    wish = clip.tracks["hips"].position - [0.0, 0.0, 0.1]
    balanced = with_balance(biped, plain, wish=wish)
    lean = balanced.tracks["hips"].position - clip.tracks["hips"].position
    assert lean == pytest.approx(balanced.com - wish)
    assert np.abs(lean[:, 2]).max() == 0.0
    for name in truth:
        assert (balanced.tracks[name].position == clip.tracks[name].position).all()


def test_soles_below_the_ground_are_measured_from_where_feet_stand(biped: Mechanism) -> None:
    clip, truth = gait()
    clip = given_by_hand(clip, truth)
    raised = replace(
        clip, tracks={n: replace(t, position=t.position + np.array([0.0, 0.0, 0.2])) for n, t in clip.tracks.items()}
    )
    sunk = np.where(np.arange(len(clip.times)) == 30, 0.007, 0.0)
    position = np.zeros((len(clip.times), 3, 3))
    for i, name in enumerate(("hips", "sole_l", "sole_r")):
        position[:, i] = raised.tracks[name].position + ([0.0, 0.0, HEIGHT] if i else [0.0, 0.0, 0.0])
    position[:, 1, 2] -= sunk
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (len(clip.times), 3, 1))
    motion = Motion(
        times=clip.times,
        actuators=(),
        values=np.zeros((len(clip.times), 0)),
        bodies=tuple(b.name for b in biped.bodies),
        position=position,
        quaternion=turns,
    )
    assert below_ground(biped, raised, motion) == pytest.approx(sunk, abs=1e-12)
    assert not below_ground(biped, given_by_hand(raised, {}), motion).any()


def test_a_clip_between_two_places_of_the_plan_is_balanced_on_a_line(biped: Mechanism) -> None:
    times, contact = np.array([0.0, 0.004, 0.016]), np.ones(3, bool)
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (3, 1))
    tracks = {
        f"sole_{s}": Track(np.tile([0.0, y, 0.0], (3, 1)), upright, contact=contact)
        for s, y in zip("lr", (0.06, -0.06), strict=True)
    }
    com = with_balance(biped, TargetClip(times, tracks)).com
    np.testing.assert_allclose(com[1], com[0] + 0.25 * (com[2] - com[0]), atol=1e-12)
    np.testing.assert_allclose(com[:, :2], 0.02 * np.array([[1.0, 0.0]] * 3), atol=2e-3)


def on_soles(width: float, turn: float = 0.0) -> Mechanism:
    """A robot on two feet with soles of 120 mm times a width [m], turned by an angle [rad] in their frame."""
    c, s = np.cos(turn), np.sin(turn)
    corners = [(x * c - y * s, x * s + y * c, 0.0) for x, y in
               ((0.06, width / 2), (-0.06, width / 2), (-0.06, -width / 2), (0.06, -width / 2))]  # fmt: skip
    frames = [Frame(f"foot_{side}", side, Pose(), tuple(corners)) for side in ("left", "right")]
    joints = [Joint("hip", "spherical", "left", "right")]
    return Mechanism("r", [Body("left", 1.0), Body("right", 1.0)], joints, frames=frames)


def test_the_width_of_a_triangle_is_its_least_height() -> None:
    sole = ((0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.05, 0.1, 0.0))
    assert sole_width(Frame("foot", "a", Pose(), sole)) == pytest.approx(0.1)


@pytest.mark.parametrize("turn", [0.0, 0.4, 1.5])
@pytest.mark.parametrize("width", [0.0, 0.004, 0.019, 0.021, 0.06])
def test_a_sole_that_cannot_stand_alone_is_said(width: float, turn: float) -> None:
    robot = on_soles(width, turn)
    assert sole_width(robot.frames[0]) == pytest.approx(width, abs=1e-9)
    said = thin_feet(robot, 0.01)
    if width >= 0.02:
        assert said == ""
    else:
        assert f"foot_left, foot_right are {1e3 * width:.0f} mm wide" in said
        assert "cannot stand on one of them alone" in said
