"""Zero-moment point inside the support over all frames at once: judged by MuJoCo, SciPy and sums by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint, minimize

from robik.clip_solver import sections as of_clips
from robik.clip_solver.clip_solver import ClipSolver
from robik.clips.clip import TargetClip, Track
from robik.dynamics import InverseDynamics
from robik.errors import ClipError
from robik.feet.support import signed_distance, standing_points, support_polygons
from robik.feet.support_edges import SIZE, SupportEdges, support_edges
from robik.kinematics.kernels import difference
from robik.mechanism import Frame, Joint, Mechanism, Pose
from robik.motions import Motion
from robik.motions.report import ZeroMoment
from robik.objectives.settings import Settings
from robik.retargeting.retarget import Retargeting, retarget
from tests.clip_solver.clips import ARM, WALKER, WALKING, hurried_walk, rms
from tests.clip_solver.test_torques import looked_ahead
from tests.physics.robots import tower

FPS, HEIGHT, HALF = 20.0, 0.6, 0.1  # of the tower's clips [Hz]; of its head and of half its sole [m]
BARRIER = {"initial_barrier_parameter": 1e-5, "initial_barrier_tolerance": 1e-5}  # of SciPy's; it starts at a solution
STANDING = Settings(state_weight=None, look_ahead=True)
STEPPING = replace(WALKING, contacts="hold", acceleration_limit=100.0, jerk_limit=5000.0, look_ahead=True)
LIGHT = 0.1  # of the weight on the feet: below, their zero-moment point is nowhere


@cache
def person() -> Mechanism:
    """Return a foot, a leg and a body above it with a head to be followed, on two hinges about y."""
    robot = tower()
    body = replace(robot.bodies[1], name="body", mass=3.0, com=(0.0, 0.0, 0.15), pose=Pose((0.0, 0.0, 0.4)))
    leg = replace(robot.bodies[1], mass=1.0, com=(0.0, 0.0, 0.2))
    hip = Joint("hip", "revolute", "weight", "body", position=(0.0, 0.0, 0.4), axis=(0.0, 1.0, 0.0), actuated=True)
    head = Frame("head", "body", pose=Pose((0.0, 0.0, HEIGHT - 0.4)))
    return Mechanism("person", (robot.bodies[0], leg, body), (*robot.joints, hip), frames=(*robot.frames, head))


def nods(frames: int, reach: float, stands: bool = True, height: float = 0.0) -> TargetClip:
    """Return a head that leaps forwards and back again, by this much [m], over a foot that stands at a height [m]."""
    t = np.arange(frames) / FPS
    shift = reach * np.sin(np.pi * np.clip((t - 0.2) / 0.4, 0.0, 1.0)) ** 2
    up = np.array([0.0, 0.0, height])
    head = np.array(person().rest_pose("head").position) + up + np.outer(shift, [1.0, 0.0, 0.0])
    sole = Track(np.tile(up, (frames, 1)), np.tile([1.0, 0, 0, 0], (frames, 1)), contact=np.full(frames, stands))
    return TargetClip(t, {"head": Track(head), "sole": sole})


def solver_of(clip: TargetClip, settings: Settings, finely: bool = False) -> ClipSolver:
    """Return the solver of a clip of the person's, where looking ahead has left it; finely: at its very optimum."""
    work = Retargeting(person(), clip, settings)
    for _ in work.steps():
        pass
    assert work._looking is not None
    long = work._looking._clip_solver
    solver = long._begin(long.sections[0], None)
    if finely:
        solver._is_solved, solver._improver._most, solver._improver._enough = False, 80, 1e-12
        solver._improver._nothing = 1e-12
        for _ in solver.steps():
            pass
    return solver


def over_edges(q: np.ndarray, solver: ClipSolver, margin: float, height: float = 0.0) -> np.ndarray:
    """Return how far the zero-moment point of the person's frames (T, nq) is on the way out over each edge (T, 4).

    By its distance from the edges of a sole that stays, times the ground's force; the person rests before and after.
    """
    room, support = InverseDynamics(person(), topology=solver._solver.topology), edges_of(solver)
    resting, step = np.concatenate([q[:1], q, q[-1:]]), 1.0 / FPS
    ways = np.zeros((len(resting) - 1, len(room.flat.before)))
    for k, way in enumerate(ways):
        difference(room.flat, resting[k + 1], resting[k], way)
    velocity, acceleration = 0.5 * (ways[1:] + ways[:-1]) / step, np.diff(ways, axis=0) / step**2
    found = room.solve(np.zeros(len(q)), q, velocity, acceleration)
    middles = 0.5 * (support.points[support.begins[0]] + support.points[support.ends[0]])[:, :2]
    apart = HALF - found.zero_moment_point(height) @ middles.T / HALF
    weights = found.wrench[:, 5:] / (person().mass * 9.81)
    return 1.0 - (apart - margin) * weights / (SIZE * person().extent)


def edges_of(solver: ClipSolver) -> SupportEdges:
    """Return the edges of a solver's support."""
    assert solver.constraints.torques is not None
    assert solver.constraints.torques._asked.support is not None
    return solver.constraints.torques._asked.support


def depths_by_mujoco(robot: Mechanism, motion: Motion, clip: TargetClip) -> np.ndarray:
    """Return the depth of the zero-moment point in the support (T,) [m], of bodies that each move by themselves.

    MuJoCo's inverse dynamics of three frames each; the first and the last frame have none, nor have those in which the
    robot hardly weighs on its feet: there a millionth of its motion moves the point by centimetres.
    """
    inertias = (" ".join(map(str, body.inertia)) for body in robot.bodies)
    bodies = "".join(
        f'<body name="{b.name}"><freejoint/><inertial pos="{" ".join(map(str, b.com))}" mass="{b.mass}"'
        f' fullinertia="{inertia}"/></body>'
        for b, inertia in zip(robot.bodies, inertias, strict=True)
    )
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    data, step = mujoco.MjData(model), float(motion.times[1] - motion.times[0])
    weight = -model.opt.gravity[2] * sum(body.mass for body in robot.bodies)
    assert motion.bodies == tuple(body.name for body in robot.bodies)
    poses = np.concatenate([motion.position, motion.quaternion], axis=2)
    contacts = {name: track.contact for name, track in clip.tracks.items() if track.contact is not None}
    polygons = support_polygons(robot, motion, contacts)
    points, found = {n: standing_points(robot, motion, n) for n in contacts}, np.full(len(poses), np.nan)
    for k in range(1, len(poses) - 1):
        if polygons[k] is None or len(polygons[k]) < 3:
            continue
        back, ahead = np.zeros((2, model.nv))
        mujoco.mj_differentiatePos(model, back, step, poses[k - 1].ravel(), poses[k].ravel())
        mujoco.mj_differentiatePos(model, ahead, step, poses[k].ravel(), poses[k + 1].ravel())
        data.qpos[:], data.qvel[:], data.qacc[:] = poses[k].ravel(), 0.5 * (back + ahead), (ahead - back) / step
        mujoco.mj_inverse(model, data)
        force, turn = data.qfrc_inverse.reshape(-1, 6)[:, :3], data.qfrc_inverse.reshape(-1, 6)[:, 3:]
        moment = np.einsum("bij,bj->bi", data.xmat[1:].reshape(-1, 3, 3), turn) + np.cross(poses[k, :, :3], force)
        height = np.mean([points[n][k, :, 2].mean() for n, stands in contacts.items() if stands[k]])
        (fx, fy, fz), (mx, my, _) = force.sum(axis=0), moment.sum(axis=0)
        if abs(fz) < LIGHT * weight:
            continue
        point = np.array([[height * fx - my, height * fy + mx]]) / fz
        found[k] = signed_distance(point, polygons[k])[0] if fz > 0 else -robot.extent
    return found


def tipping(motion: Motion) -> ZeroMoment:
    """Return what a motion's report says of its zero-moment point."""
    found = looked_ahead(motion).zero_moment
    assert found is not None
    return found


def test_slopes_are_those_of_inverse_dynamics_by_differences() -> None:
    """By every coordinate of a frame, of the one before and of the one after."""
    solver = solver_of(nods(16, 0.2, height=0.3), replace(STANDING, zero_moment_margin=0.02))
    torques, q = solver.constraints.torques, solver.q
    assert torques is not None
    assert torques.shares(q)[:, 2:] == pytest.approx(over_edges(q, solver, 0.02, 0.3), abs=1e-9)
    solver._hold((1e-6, 1e-6))
    torques.near[:] = True
    model = solver._improver.model()
    rows = torques.rows(solver.stances, solver._frames, model)
    columns, flat, step = torques.near.shape[1], solver._flat, 1e-5
    assert columns == 2 + 4
    assert set(rows.lowest[rows.of % columns >= 2]) == {-np.inf}
    largest, slopes = 0.0, np.abs(rows.slopes).max()
    for frame in range(2, len(q) - 2):
        assert model.number[frame] == 2
        for a in range(2):
            sides = []
            for way in (step, -step):
                moved = q.copy()
                moved[frame, np.asarray(flat.dof_q)[model.independent[frame, a]]] += way
                sides.append(over_edges(moved, solver, 0.02, 0.3))
            wanted = (sides[0] - sides[1]) / (2.0 * step)
            for row in np.flatnonzero(rows.of % columns >= 2):
                k, edge = divmod(int(rows.of[row]), columns)
                if frame in rows.frames[row]:
                    found = rows.slopes[row, rows.frames[row].tolist().index(frame), a]
                    assert found == pytest.approx(wanted[k, edge - 2], abs=1e-4 * slopes)
                    largest = max(largest, abs(found))
    assert largest > 0.9 * slopes


def test_no_better_clip_over_the_feet_is_found() -> None:
    """SciPy's trust-region method, which shares no line, looks for a lower objective with the same constraints."""
    clip, margin = nods(14, 0.25), 0.02
    free = solver_of(clip, STANDING)
    solver = solver_of(clip, replace(STANDING, zero_moment_margin=margin), finely=True)
    here, at = solver.q.copy(), [int(solver._flat.dof_q[dof]) for dof in solver._improver.model().independent[0]]
    assert over_edges(free.q, solver, margin).max() > 1.5
    assert 0.999 < over_edges(here, solver, margin).max() < 1.0005

    def whole(x: np.ndarray) -> np.ndarray:
        q = here.copy()
        q[:, at] = x.reshape(len(here), 2)
        return q

    frame = np.repeat(np.arange(len(here)), 2)
    near = np.abs(np.repeat(np.arange(len(here)), 4)[:, None] - frame) <= 1
    edges = NonlinearConstraint(
        lambda x: over_edges(whole(x), solver, margin).ravel(), -np.inf, 1.0, finite_diff_jac_sparsity=near
    )
    found = minimize(
        lambda x: solver.objective(whole(x)),
        here[:, at].ravel(),
        method="trust-constr",
        constraints=[edges],
        options={"maxiter": 150, "gtol": 1e-9, "xtol": 1e-10, "initial_tr_radius": 0.01} | BARRIER,
    )
    best = solver.objective(here)
    assert over_edges(whole(found.x), solver, margin).max() < 1.001
    assert best < found.fun + 1e-6
    assert found.fun < 1.05 * best, "the reference has found the same valley"
    assert free.objective(free.q) < 0.9 * best


def test_a_hurried_walk_stays_over_its_feet_as_mujoco_counts_it() -> None:
    clip = hurried_walk(2.0, 60.0).part(0, 100)
    free, kept = retarget(WALKER, clip, STEPPING), retarget(WALKER, clip, replace(STEPPING, zero_moment_margin=0.005))
    before, after = (depths_by_mujoco(WALKER, motion, clip) for motion in (free, kept))
    stands = np.isfinite(before)
    assert stands.sum() > 80
    assert np.mean(before[stands] >= 0.0) < 0.8
    assert np.nanmin(after) >= 0.0
    said = tipping(kept)
    assert said.inside == 1.0
    assert said.inside_before == pytest.approx(np.mean(before[stands] >= 0.0), abs=0.05)
    assert np.nanmin(after) == pytest.approx(0.005, abs=2e-3)
    assert looked_ahead(kept).beyond == ""
    assert looked_ahead(free).zero_moment is None
    assert kept.report.quality.contact_off_mm == pytest.approx(0.0, abs=1e-3)
    assert rms(kept) < 0.01 * WALKER.extent


def test_what_is_cut_out_of_a_moving_clip_is_not_taken_to_rest() -> None:
    """Where it began at rest, the base would jump, and the point would be led far away from where it was before."""
    clip = hurried_walk(2.0, 60.0).part(90, 130)
    free, kept = retarget(WALKER, clip, STEPPING), retarget(WALKER, clip, replace(STEPPING, zero_moment_margin=0.005))
    before, after = (depths_by_mujoco(WALKER, motion, clip) for motion in (free, kept))
    stands = np.isfinite(before)
    assert np.mean(after[stands] >= 0.0) >= np.mean(before[stands] >= 0.0)
    assert after[stands].min() >= before[stands].min()
    ways = [np.diff(motion.base.position[:2], axis=0) for motion in (free, kept)]
    assert np.linalg.norm(ways[0]) > 2e-3
    assert ways[1] == pytest.approx(ways[0], abs=0.4 * np.linalg.norm(ways[0]))
    assert rms(kept) < 1.5e-3


def test_a_point_that_stays_inside_changes_nothing() -> None:
    clip = nods(16, 0.005)
    free, kept = (retarget(person(), clip, replace(STANDING, zero_moment_margin=m)) for m in (None, 0.02))
    assert np.array_equal(free.values, kept.values)
    assert np.array_equal(free.base.position, kept.base.position)
    assert tipping(kept).worst == tipping(kept).worst_before > 0.02
    assert "changes nothing; the zero-moment point is inside the support in 100 → 100 %" in str(looked_ahead(kept))


def test_what_cannot_be_kept_is_said_with_the_least_distance_and_its_place() -> None:
    """A leg that must lean takes the person over its toes, however its body bends back."""
    clip = nods(16, 0.05)
    leaning = replace(STANDING, ranges={"ankle": (0.45, 0.6), "hip": (-0.3, 0.3)})
    kept = retarget(person(), clip, replace(leaning, zero_moment_margin=0.02))
    said, found = looked_ahead(kept), tipping(kept)
    assert found.worst < 0.0
    assert said.beyond == (
        f"the zero-moment point is {-1e3 * found.worst:.3g} mm outside the support, not 20 mm inside it, at"
        f" {clip.times[found.sample]:.3g} s"
    )
    least = _com_ahead(0.45, -0.3)  # of all postures that are allowed the furthest behind
    assert -found.worst == pytest.approx(least - HALF, abs=2e-3)


def _com_ahead(ankle: float, hip: float) -> float:
    """Return how far the person's centre of mass is ahead of the ankle [m]."""
    foot, leg, body = person().bodies
    ahead = leg.mass * 0.2 * np.sin(ankle) + body.mass * (0.35 * np.sin(ankle) + 0.15 * np.sin(ankle + hip))
    return float(ahead / (foot.mass + leg.mass + body.mass))


def test_a_support_without_area_has_no_edges_and_a_narrow_one_a_smaller_margin() -> None:
    robot, clip = person(), nods(5, 0.0)
    motion, stands = (
        retarget(robot, clip, replace(STANDING, look_ahead=False)),
        np.array([True, True, False, True, True]),
    )
    edges = support_edges(robot, motion, {"sole": stands}, None, 0.3)
    assert edges is not None
    assert edges.there.all(axis=1).tolist() == stands.tolist()
    assert edges.margin == pytest.approx(np.where(stands, 0.5 * HALF, 0.0))
    assert support_edges(robot, motion, {"sole": np.zeros(5, bool)}, None, 0.0) is None
    assert support_edges(robot, motion, {"head": np.ones(5, bool)}, None, 0.0) is None


def test_a_clip_without_contacts_is_kept_where_its_motion_stands_and_it_is_said_where_nothing_does() -> None:
    clip, settings = nods(16, 0.2, stands=False), replace(STANDING, zero_moment_margin=0.02)
    kept = retarget(person(), clip, settings)
    assert tipping(kept).worst_before < 0.0
    assert tipping(kept).worst > 0.02 - 1e-4
    way = np.outer(clip.times, [1.0, 0.0, 0.0])
    tracks = {name: replace(track, position=track.position + way) for name, track in clip.tracks.items()}
    slides = looked_ahead(retarget(person(), replace(clip, tracks=tracks), settings))
    assert slides.zero_moment is None
    assert slides.beyond == "the zero-moment point has no support, since no foot stands on more than an edge"
    assert slides.beyond in str(slides)


def test_bad_margins_are_refused() -> None:
    with pytest.raises(ClipError, match=r"zero_moment_margin must be zero or more \[m\], not -0.1"):
        Settings(zero_moment_margin=-0.1)
    with pytest.raises(ClipError, match="zero_moment_margin is kept only where all frames are solved at once"):
        retarget(person(), nods(5, 0.0), Settings(zero_moment_margin=0.0))
    with pytest.raises(ClipError, match="zero_moment_margin keeps a robot from tipping over, and the ground holds"):
        Settings(zero_moment_margin=0.0, look_ahead=True).check(ARM)
    with pytest.raises(ClipError, match="zero_moment_margin needs feet, and robot 'person' has none"):
        Settings(zero_moment_margin=0.0, look_ahead=True).check(person().with_changes(frames=()))
    bare = person().with_changes(bodies=tuple(replace(b, mass=0.0, inertia=(0.0,) * 6) for b in person().bodies))
    with pytest.raises(ClipError, match="zero_moment_margin needs masses"):
        Settings(zero_moment_margin=0.0, look_ahead=True).check(bare)


def test_seams_of_sections_and_of_loops_are_kept_too(monkeypatch: pytest.MonkeyPatch) -> None:
    clip, settings = nods(17, 0.2), replace(STANDING, zero_moment_margin=0.02)
    cyclic = retarget(person(), clip, replace(settings, cyclic=True))
    assert tipping(cyclic).worst_before < 0.0
    assert tipping(cyclic).worst > 0.02 - 1e-4
    assert np.array_equal(cyclic.values[0], cyclic.values[-1])
    long = clip.repeated(6)
    monkeypatch.setattr(of_clips, "SEEN", 0.2)
    monkeypatch.setattr("robik.clip_solver.long_clip.AT_ONCE", 20 * 2)
    work = Retargeting(person(), long, settings)
    for _ in work.steps():
        pass
    assert work._looking is not None
    assert len(work._looking._clip_solver.sections) > 2
    assert tipping(work.motion()).worst > 0.02 - 1e-4
    assert looked_ahead(work.motion()).beyond == ""
