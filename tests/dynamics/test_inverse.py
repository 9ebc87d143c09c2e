"""Inverse dynamics: on trees against MuJoCo, on loops against the balance of every single body."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.optimize import minimize

from robik.dynamics import ContactPoints, InverseDynamics, inverse_dynamics
from robik.dynamics.contact_points import sole_contacts
from robik.dynamics.derivatives import derivatives, low_pass
from robik.errors import MechanismError
from robik.formats import save_robot
from robik.kinematics.assembly import assembled_poses
from robik.kinematics.kernels import integrate
from robik.mechanism import WORLD, Body, Joint, Mechanism, Resistance
from robik.mechanism.pose import matrix_quaternion
from robik.motions import BaseTrack, Motion
from robik.robots import load
from tests.dynamics.every_body import Balance, needed, placed

CLOSED = 1e-8  # of the largest force


def pose_near(room: InverseDynamics, seed: int) -> np.ndarray:
    """An assembled pose near the rest pose."""
    poses = [now.q.copy() for residual, now in assembled_poses(room.flat, room.topology.rest) if residual < 1e-9]
    return poses[seed % len(poses)]


class Tree:
    """A robot without loops in MuJoCo, as RobIK exports it."""

    def __init__(self, mechanism: Mechanism, folder: Path) -> None:
        bare = mechanism.with_changes(bodies=tuple(replace(b, visuals=()) for b in mechanism.bodies))
        save_robot(bare, folder / "robot.xml")
        self.model = mujoco.MjModel.from_xml_path(str(folder / "robot.xml"))
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # limits are not what is asked for
        self.data = mujoco.MjData(self.model)

    def inverse(
        self, room: InverseDynamics, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The motors' torques, and the base's force and moment [world]; the base's dofs are the first six."""
        model, data, top = self.model, self.data, room.topology
        for name, (dof, sign) in top.dofs.items():
            joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
            if top.base is not None and name.startswith(f"{top.base.name}."):
                continue
            at = model.jnt_dofadr[joint]
            data.qpos[model.jnt_qposadr[joint]] = sign * q[room.flat.dof_q[dof]]
            data.qvel[at], data.qacc[at] = sign * v[dof], sign * a[dof]
        R = np.eye(3)
        if top.base is not None:
            b, pose = top.body_at[top.base.child], placed(room, q)
            body = next(b for b in top.mechanism.bodies if b.name == top.base.child)
            assert np.allclose(top.base.position, body.pose.position)  # so that its slides move the body's own origin
            R = pose.R[b] @ body.pose.matrix
            data.qpos[:3], data.qpos[3:7] = pose.c[b] - R @ np.array(body.com), matrix_quaternion(R)
            data.qvel[:3], data.qvel[3:6], data.qacc[:3], data.qacc[3:6] = v[:3], R.T @ v[3:6], a[:3], R.T @ a[3:6]
        mujoco.mj_inverse(model, data)
        at = [model.jnt_dofadr[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, n)] for n in top.mechanism.actuators]
        force, moment = data.qfrc_inverse[:3].copy(), R @ data.qfrc_inverse[3:6]
        return data.qfrc_inverse[at].copy(), np.concatenate([moment + np.cross(data.qpos[:3], force), force])


@pytest.mark.parametrize("name", ["arm7", "ur10", "unitree_g1/g1_29dof.xml"])
def test_trees_agree_with_mujoco(name: str, tmp_path: Path, shared_data: Path) -> None:
    room = InverseDynamics(load(name if "/" not in name else shared_data / name))
    tree, rng = Tree(room.mechanism, tmp_path), np.random.default_rng(1)
    for _ in range(5):
        q, d = room.topology.rest.copy(), len(room.flat.before)
        integrate(room.flat, room.topology.rest, rng.uniform(-0.5, 0.5, d), 1.0, q)
        v, a = rng.normal(size=d), 5.0 * rng.normal(size=d)
        found = room.solve(np.zeros(1), q[None], v[None], a[None])
        torque, wrench = tree.inverse(room, q, v, a)
        assert np.abs(found.torque[0] - torque).max() < 1e-8 * np.abs(torque).max()
        if room.topology.base is not None:
            assert np.abs(found.wrench[0] - wrench).max() < 1e-8 * np.abs(wrench).max()


def resisting(mechanism: Mechanism, friction: float = 0.0) -> Mechanism:
    """The robot with damping, armatures and springs in all its hinges and slides."""
    rng = np.random.default_rng(5)
    joints = [
        replace(j, resistance=Resistance(friction, *rng.uniform(0.1, 2.0, 3), rng.uniform(-0.5, 0.5)))
        if len(j.motions) == 1
        else j
        for j in mechanism.joints
    ]
    return mechanism.with_changes(joints=tuple(joints))


@pytest.mark.parametrize("name", ["arm7", "ur10", "unitree_g1/g1_29dof.xml"])
def test_damping_armature_and_springs_are_mujocos(name: str, tmp_path: Path, shared_data: Path) -> None:
    room = InverseDynamics(resisting(load(name if "/" not in name else shared_data / name)))
    tree, rng, d = Tree(room.mechanism, tmp_path), np.random.default_rng(1), len(room.flat.before)
    q = room.topology.rest.copy()
    integrate(room.flat, room.topology.rest, rng.uniform(-0.5, 0.5, d), 1.0, q)
    v, a = rng.normal(size=d), 5.0 * rng.normal(size=d)
    torque, wrench = tree.inverse(room, q, v, a)
    found = room.solve(np.zeros(1), q[None], v[None], a[None])
    assert np.abs(found.torque[0] - torque).max() < 1e-8 * np.abs(torque).max()
    if room.topology.base is not None:
        assert np.abs(found.wrench[0] - wrench).max() < 1e-8 * np.abs(wrench).max()
    free = InverseDynamics(load(name if "/" not in name else shared_data / name)).solve(
        np.zeros(1), q[None], v[None], a[None]
    )
    assert np.abs(found.torque - free.torque).max() > 0.1


def test_a_motor_gives_what_all_joints_of_its_loop_resist() -> None:
    """By power: what the motor gives more is what the joints of the tree take, at any speed of theirs."""
    plain = load("four_bar")
    stiff = resisting(plain, friction=0.3)
    times = np.arange(0.0, 1.0, 1e-3)
    crank = plain.actuated[0].rest[0] + 0.4 * np.sin(4.0 * times)
    motion = Motion(times=times, actuators=plain.actuators, values=crank[:, None])
    room, free = InverseDynamics(stiff), InverseDynamics(plain)
    q = room.coordinates(motion)
    velocity, acceleration = derivatives(room.flat, times, q, None)
    more = room.solve(times, q, velocity, acceleration).torque - free.solve(times, q, velocity, acceleration).torque
    taken = np.zeros(len(times))
    for joint in stiff.joints:
        if joint.name in room.topology.dofs:
            dof, sign = room.topology.dofs[joint.name]
            own, at = joint.resistance, sign * q[:, room.flat.dof_q[dof]]
            speed, change = sign * velocity[:, dof], sign * acceleration[:, dof]
            force = own.friction * np.sign(speed) + own.damping * speed + own.armature * change
            taken += speed * (force + own.stiffness * (at - own.relaxed))
    speed = 1.6 * np.cos(4.0 * times)
    fast = np.abs(velocity).min(axis=1) > 0.05
    assert fast.sum() > 100
    assert np.abs(more[fast, 0] * speed[fast] - taken[fast]).max() < 1e-5 * np.abs(taken).max()


def driven_by_more(mechanism: Mechanism, *names: str) -> Mechanism:
    """The robot with motors in more joints."""
    assert set(names) <= {j.name for j in mechanism.joints}
    joints = tuple(replace(j, actuated=j.actuated or j.name in names) for j in mechanism.joints)
    return mechanism.with_changes(joints=joints)


def looped(name: str, shared_data: Path) -> Mechanism:
    if name == "four_bar with two motors":
        robot = load("four_bar")
        return driven_by_more(robot, *(j.name for j in robot.joints if j.motions and not j.actuated))
    if name.endswith("stewart"):
        return load(next((shared_data / "stewart_sdf").rglob("*.sdf")))
    return load(name)


LOOPED = ["boxer", "four_bar", "four_bar with two motors", "dancer", "validation", "walker"]


@pytest.mark.parametrize("name", LOOPED)
def test_every_body_of_a_looped_robot_is_in_balance(name: str, shared_data: Path) -> None:
    room = InverseDynamics(looped(name, shared_data))
    rng, d = np.random.default_rng(2), len(room.flat.before)
    for seed in range(1, 4):
        q = pose_near(room, seed)
        v, a = 0.5 * rng.normal(size=d), rng.normal(size=d)
        balance, wanted = Balance(room, q), needed(room, q, v, a).ravel()
        if room.topology.base is not None:
            wanted = wanted - held(room, balance, wanted)
        found = room.solve(np.zeros(1), q[None], v[None], a[None])
        torque = balance.smallest_torques(wanted)
        scale = max(np.abs(wanted).max(), np.abs(torque).max())
        assert np.abs(found.torque[0] - torque).max() < CLOSED * scale
        assert balance.left_over(wanted - balance.motors @ found.torque[0]) < CLOSED * scale


def held(room: InverseDynamics, balance: Balance, wanted: np.ndarray) -> np.ndarray:
    """The wrench on a floating robot's base that keeps the whole in balance (6 n,): what a stand would give."""
    mechanism, base = room.topology.mechanism, room.topology.base
    assert base is not None
    rows, total = wanted.reshape(-1, 6), np.zeros(6)
    at = balance.pose.c[balance.at[base.child]]
    for body, row in zip(mechanism.bodies, rows, strict=True):
        total[:3] += row[:3]
        total[3:] += row[3:] + np.cross(balance.pose.c[balance.at[body.name]] - at, row[:3])
    out = np.zeros((len(mechanism.bodies), 6))
    out[mechanism.body_index[base.child]] = total
    return out.ravel()


def standing_points(mechanism: Mechanism, samples: int = 1) -> ContactPoints:
    feet = {f.name: np.ones(samples, bool) for f in mechanism.frames if f.is_foot}
    return sole_contacts(mechanism, feet, samples)


def test_a_standing_robot_is_in_balance_by_its_contacts_alone() -> None:
    walker = load("walker")
    room, points = InverseDynamics(walker), standing_points(walker)
    d, rng = len(room.flat.before), np.random.default_rng(3)
    for seed in range(4):
        q, v, a = pose_near(room, seed), 0.05 * rng.normal(size=d), 0.1 * rng.normal(size=d)
        found = room.solve(np.zeros(1), q[None], v[None], a[None], points)
        balance = Balance(room, q)
        left = needed(room, q, v, a).ravel() - balance.motors @ found.torque[0]
        left -= balance.contacts(points.bodies, found.point[0], found.force[0])
        assert balance.left_over(left) < CLOSED * walker.mass * room.gravity
        assert found.missing[0] < CLOSED
        assert in_cones(found.force[0], points.friction)


def in_cones(forces: np.ndarray, friction: float) -> bool:
    along = np.linalg.norm(forces[:, :2], axis=1)
    return bool((along <= friction * forces[:, 2] * (1 + 1e-9) + 1e-9).all())


def block(corners: np.ndarray, com: tuple[float, float, float]) -> tuple[InverseDynamics, ContactPoints]:
    """A floating body with contact points."""
    body = Body("block", 2.0, com=com, inertia=(0.1, 0.1, 0.1, 0.0, 0.0, 0.0))
    floating = Joint("floating", "free", WORLD, "block", axis2=(0.0, 1.0, 0.0))
    room = InverseDynamics(Mechanism("block", (body,), (floating,)))
    names = ("block",) * len(corners)
    return room, ContactPoints(names, corners, np.ones((1, len(corners)), bool), friction=0.5)


@pytest.mark.parametrize("seed", range(6))
def test_contact_forces_are_the_smallest_in_their_cones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    corners = np.column_stack([rng.uniform(-0.2, 0.2, (5, 2)), np.zeros(5)])
    centre = corners.mean(axis=0) * 0.7
    room, points = block(corners, (float(centre[0]), float(centre[1]), 0.3))
    push = np.array([*rng.uniform(-2.5, 2.5, 2), 0.0, 0.0, 0.0, 0.0])  # friction binds at some points
    found = room.solve(np.zeros(1), room.topology.rest[None], np.zeros((1, 6)), push[None], points)

    def open_by(f: np.ndarray) -> np.ndarray:
        forces = f.reshape(-1, 3)
        return np.concatenate([np.cross(corners, forces).sum(axis=0), forces.sum(axis=0)]) - found.wrench[0]

    def room_left(f: np.ndarray) -> np.ndarray:
        forces = f.reshape(-1, 3)
        return points.friction * forces[:, 2] - np.sqrt((forces[:, :2] ** 2).sum(axis=1) + 1e-16)

    judged = minimize(
        lambda f: 0.5 * f @ f,
        np.tile([0.0, 0.0, 4.0], 5),
        jac=lambda f: f,
        constraints=[{"type": "eq", "fun": open_by}, {"type": "ineq", "fun": room_left}],
        options={"ftol": 1e-14, "maxiter": 500},
    )
    if not judged.success or np.abs(open_by(judged.x)).max() > 1e-6:
        assert found.missing[0] > 1e-4  # no forces can do it, and we say so
        return
    assert found.missing[0] < 1e-9
    assert in_cones(found.force[0], points.friction)
    assert np.sum(found.force**2) <= np.sum(judged.x**2) + 1e-4
    assert np.abs(found.force[0].ravel() - judged.x).max() < 2e-3 * np.abs(judged.x).max()


def test_what_no_foot_can_give_is_told() -> None:
    corners = np.array([[0.1, 0.1, 0.0], [-0.1, 0.1, 0.0], [-0.1, -0.1, 0.0], [0.1, -0.1, 0.0]])
    room, points = block(corners, (0.15, 0.0, 0.3))
    still = np.zeros((1, 6))
    found = room.solve(np.zeros(1), room.topology.rest[None], still, still, points)
    assert found.zero_moment_point()[0] == pytest.approx([0.15, 0.0])
    assert 0.01 < found.missing[0] < 1.0  # of a weight
    assert in_cones(found.force[0], points.friction)


def test_in_the_air_the_ground_gives_nothing() -> None:
    room, _ = block(np.zeros((1, 3)), (0.0, 0.0, 0.0))
    falling = np.array([[0.0, 0.0, -room.gravity, 0.0, 0.0, 0.0]])
    found = room.solve(np.zeros(1), room.topology.rest[None], np.zeros((1, 6)), falling)
    assert np.abs(found.wrench).max() < 1e-12
    assert np.isnan(found.zero_moment_point()).all()


def test_momentum_is_that_of_the_bodies() -> None:
    room = InverseDynamics(load("walker"))
    d, rng, step = len(room.flat.before), np.random.default_rng(5), 1e-4
    q, v = pose_near(room, 2), rng.normal(size=d)
    found = room.solve(np.zeros(1), q[None], v[None], np.zeros((1, d)))
    ahead, behind = q.copy(), q.copy()
    integrate(room.flat, q, v, step, ahead)
    integrate(room.flat, q, v, -step, behind)
    after, before, now = placed(room, ahead), placed(room, behind), placed(room, q)
    linear, about = np.zeros(3), np.zeros(3)
    for body in room.topology.mechanism.bodies:
        b = room.topology.body_at[body.name]
        speed = (after.c[b] - before.c[b]) / (2 * step)
        spin = (after.R[b] - before.R[b]) / (2 * step) @ now.R[b].T
        turn = body.pose.matrix.T @ now.R[b].T
        omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        linear += body.mass * speed
        about += turn.T @ body.inertia_matrix @ turn @ omega + np.cross(now.c[b] - found.com[0], body.mass * speed)
    assert found.momentum[0] == pytest.approx(linear, abs=1e-6)
    assert found.angular_momentum[0] == pytest.approx(about, abs=1e-6)


def test_noise_of_a_bake_is_not_taken_for_force() -> None:
    times = np.arange(240) / 120.0
    clean = 0.3 * np.sin(2 * np.pi * 0.5 * times)[:, None]
    noisy = clean + 1e-4 * np.random.default_rng(0).normal(size=clean.shape)
    exact = -((2 * np.pi * 0.5) ** 2) * clean

    def worst(values: np.ndarray) -> float:
        change = np.gradient(np.gradient(values, times, axis=0), times, axis=0)
        return float(np.abs(change - exact)[20:-20].max())

    assert worst(noisy) > 1.0
    assert worst(low_pass(times, noisy, 6.0)) < 0.3


def test_derivatives_of_turning_are_exact() -> None:
    room, _ = block(np.zeros((1, 3)), (0.0, 0.0, 0.0))
    times, spin = np.linspace(0.0, 1.0, 400), np.array([0.4, -1.1, 0.7])
    angle = times + 0.5 * times**2
    q = np.zeros((len(times), 7))
    half = 0.5 * angle * np.linalg.norm(spin)
    q[:, 3], q[:, 4:] = np.cos(half), np.sin(half)[:, None] * spin / np.linalg.norm(spin)
    q[len(times) // 2 :, 3:] *= -1  # the same turns
    velocity, acceleration = derivatives(room.flat, times, q, cutoff=None)
    assert velocity[:, 3:] == pytest.approx((1 + times)[:, None] * spin, abs=1e-6)
    assert acceleration[5:-5, 3:] == pytest.approx(np.tile(spin, (len(times) - 10, 1)), abs=1e-3)


def test_a_pendulum_needs_the_torque_of_the_textbook() -> None:
    swinging = Joint("hinge", "revolute", WORLD, "rod", axis=(0.0, 1.0, 0.0), actuated=True)
    body = Body("rod", 3.0, com=(0.0, 0.0, -0.5), inertia=(0.1, 0.1, 0.0, 0.0, 0.0, 0.0))
    rod = Mechanism("pendulum", (body,), (swinging,))
    times = np.arange(300) / 100.0
    angle = 0.2 * np.sin(2.0 * times)
    found = inverse_dynamics(rod, Motion(times=times, actuators=("hinge",), values=angle[:, None]), cutoff=None)
    textbook = (0.1 + 3.0 * 0.25) * (-4.0 * angle) + 3.0 * 9.81 * 0.5 * np.sin(angle)
    assert found.torque[3:-3, 0] == pytest.approx(textbook[3:-3], abs=1e-4)


def test_a_moved_base_is_part_of_the_motion() -> None:
    room, _ = block(np.zeros((1, 3)), (0.0, 0.0, 0.0))
    times = np.arange(120) / 60.0
    place = np.column_stack([0.1 * np.sin(3.0 * times), 0 * times, 0 * times + 0.5])
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (len(times), 1))
    base = BaseTrack(body="block", position=place, quaternion=turn)
    found = inverse_dynamics(
        room.mechanism, Motion(times=times, actuators=(), values=np.zeros((len(times), 0)), base=base), cutoff=None
    )
    assert found.wrench[5:-5, 3] == pytest.approx(-2.0 * 0.9 * np.sin(3.0 * times)[5:-5], abs=1e-3)
    assert found.wrench[:, 5] == pytest.approx(np.full(len(times), 2.0 * 9.81))


def test_a_robot_without_mass_is_told() -> None:
    with pytest.raises(MechanismError, match="has no mass"):
        InverseDynamics(Mechanism("ghost", (Body("a"),)))
