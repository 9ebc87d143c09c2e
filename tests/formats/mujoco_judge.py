"""MuJoCo's own reading of a robot, as a judge of ours."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from robik.formats.assembly.open_robot import OpenRobot
from robik.formats.imported import Notes
from robik.formats.mjcf import reader
from robik.mechanism import WORLD, Mechanism
from robik.mechanism.pose import matrix_quaternion

MOTIONS = {
    mujoco.mjtJoint.mjJNT_HINGE: 1,
    mujoco.mjtJoint.mjJNT_SLIDE: 1,
    mujoco.mjtJoint.mjJNT_BALL: 3,
    mujoco.mjtJoint.mjJNT_FREE: 6,
}


class Judge:
    """A model that MuJoCo loaded."""

    def __init__(self, path: Path | None = None, text: str = "") -> None:
        self.model = mujoco.MjModel.from_xml_path(str(path)) if path else mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        self.names = [self.model.body(i).name for i in range(1, self.model.nbody)]

    def random(self, rng: np.random.Generator, spread: float = 1.0) -> np.ndarray:
        """Any coordinates (nq,)."""
        step = rng.uniform(-spread, spread, self.model.nv)
        qpos = self.model.qpos0.copy()
        mujoco.mj_integratePos(self.model, qpos, step, 1.0)
        return qpos

    def place(self, qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The bodies' positions (n, 3) and rotations (n, 3, 3), the world left out."""
        self.data.qpos[:] = qpos
        mujoco.mj_forward(self.model, self.data)
        return self.data.xpos[1:].copy(), self.data.xmat[1:].reshape(-1, 3, 3).copy()

    def open_by(self) -> np.ndarray:
        """What the equalities are open by, row by row, where it was placed last."""
        return self.data.efc_pos[: self.data.ne].copy()

    def coordinates(self, qpos: np.ndarray, robot: OpenRobot) -> np.ndarray:
        """The same pose in our coordinates (d,), joint by joint in the file's order."""
        ours = [joint for joint in robot.joints[: len(robot.bodies)] if joint.motions]
        assert len(ours) == self.model.njnt
        q = np.zeros(len(robot.stored))
        for k, joint in enumerate(ours):
            start, at = int(self.model.jnt_qposadr[k]), robot.at[joint.name]
            size = MOTIONS[mujoco.mjtJoint(self.model.jnt_type[k])]
            if size == 1:
                q[at] = qpos[start]
                continue
            turn = np.zeros(3)
            quaternion = qpos[start + 3 : start + 7] if size == 6 else qpos[start : start + 4]
            if size == 6:
                inverse, relative = np.zeros(4), np.zeros(4)
                mujoco.mju_negQuat(inverse, np.array(joint.near.quaternion))
                mujoco.mju_mulQuat(relative, inverse, quaternion)
                q[at : at + 3] = joint.near.inverse().point(qpos[start : start + 3])
                quaternion = relative
            mujoco.mju_quat2Vel(turn, quaternion, 1.0)
            q[at + size - 3 : at + size] = turn
        return q

    def qpos_at_rest(self, mechanism: Mechanism) -> np.ndarray:
        """MuJoCo's coordinates of a mechanism's rest pose, by the names of joints and bodies."""
        qpos = self.model.qpos0.copy()
        joints = {j.name: j for j in mechanism.joints}
        bodies = {b.name: b for b in mechanism.bodies}
        for k in range(self.model.njnt):
            start, kind = int(self.model.jnt_qposadr[k]), MOTIONS[mujoco.mjtJoint(self.model.jnt_type[k])]
            body = bodies[self.model.body(self.model.jnt_bodyid[k]).name]
            if kind == 6:
                qpos[start : start + 7] = [*body.pose.position, *body.pose.quaternion]
            elif kind == 1:
                [qpos[start]] = joints[self.model.joint(k).name].rest
            else:
                parent = self.model.body(self.model.body_parentid[self.model.jnt_bodyid[k]])
                around = np.eye(3) if parent.name == WORLD else bodies[parent.name].pose.matrix
                stored = np.zeros(9)
                mujoco.mju_quat2Mat(stored, self.model.body(self.model.jnt_bodyid[k]).quat)
                qpos[start : start + 4] = matrix_quaternion((around @ stored.reshape(3, 3)).T @ body.pose.matrix)
        return qpos

    def mass(self, name: str) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass, centre of mass (3,) and inertia (3, 3) of a body, in its own frame."""
        body = self.model.body(name)
        axes = np.zeros(9)
        mujoco.mju_quat2Mat(axes, body.iquat)
        R = axes.reshape(3, 3)
        return float(body.mass[0]), body.ipos.copy(), R @ np.diag(body.inertia) @ R.T


def open_at_poses(judge: Judge, mechanism: Mechanism, position: np.ndarray, quaternion: np.ndarray) -> float:
    """Brings MuJoCo's bodies to the given poses, by Newton steps of its own Jacobians, and gives what is left: the
    largest distance from a pose, or of an equality [m or rad].

    Args:
        position, quaternion: (n, 3) [m] and (n, 4) wxyz of the mechanism's bodies.
    """
    model, data = judge.model, judge.data
    index = [(model.body(b.name).id, position[i], quaternion[i]) for i, b in enumerate(mechanism.bodies)]
    at_body = {body: (at, turned) for body, at, turned in index}
    welds = [k for k in range(model.neq) if model.eq_type[k] == mujoco.mjtEq.mjEQ_WELD]
    ends = [(int(model.eq_obj1id[k]), int(model.eq_obj2id[k])) for k in welds]
    index += [
        (half, *at_body[whole]) for half, whole in ends if half not in at_body
    ]  # a half stands where its whole does
    judge.place(model.qpos0)
    for _ in range(30):
        errors, rows = [], []
        for body, at, turned in index:
            slide, turn = np.zeros((3, model.nv)), np.zeros((3, model.nv))
            mujoco.mj_jacBody(model, data, slide, turn, body)
            away, back, relative = np.zeros(3), np.zeros(4), np.zeros(4)
            mujoco.mju_negQuat(back, data.xquat[body])
            mujoco.mju_mulQuat(relative, turned, back)
            mujoco.mju_quat2Vel(away, relative, 1.0)
            errors += [at - data.xpos[body], away]
            rows += [slide, turn]
        error = np.concatenate(errors)
        if np.abs(error).max() < 1e-11:
            break
        qpos = data.qpos.copy()
        mujoco.mj_integratePos(model, qpos, np.linalg.lstsq(np.vstack(rows), error, rcond=1e-10)[0], 1.0)
        judge.place(qpos)
    return max(float(np.abs(error).max()), float(np.abs(judge.open_by()).max(initial=0.0)))


def as_stored(path: Path) -> OpenRobot:
    """Our own reading, its loops not closed yet."""
    return reader.read(path, (), Notes(), Notes())


def compare_with_mujoco(path: Path, poses: int = 5, precision: float = 1e-9) -> None:
    """Bodies, masses and what the equalities are open by, at random coordinates."""
    robot, judge = as_stored(path), Judge(path)
    rng = np.random.default_rng(1)
    bodies = {b.name: b for b in robot.bodies}
    order = [robot.order[name] for name in judge.names]
    for _ in range(poses):
        qpos = judge.random(rng)
        position, rotation = judge.place(qpos)
        q = judge.coordinates(qpos, robot)
        now = robot.placed(q)
        assert np.allclose(now.p[order], position, atol=1e-9, rtol=0)
        assert np.allclose(now.R[order], rotation, atol=1e-9, rtol=0)
        compare_equalities(robot, q, judge)
    for name in judge.names:
        mass, com, inertia = judge.mass(name)
        body = bodies[name]
        assert body.mass == pytest.approx(mass, rel=precision, abs=1e-15), name
        assert np.allclose(body.com, com, atol=precision, rtol=0) or mass == 0, name
        own, largest = body.inertia_matrix, float(inertia.max())
        # MuJoCo turns to the main axes up to 1e-4 rad, which changes the moments by that squared, and counts meshes in
        # single precision.
        assert np.allclose(own, inertia, atol=1e-4 * largest, rtol=0), name
        assert np.allclose(
            np.linalg.eigvalsh(own), np.linalg.eigvalsh(inertia), atol=precision * largest + 1e-10, rtol=0
        ), name


def compare_equalities(robot: OpenRobot, q: np.ndarray, judge: Judge) -> None:
    """Connects by their gap, welds by gap and turn, joint equalities by value; all in the order of the file."""
    now, rows = robot.placed(q), judge.open_by()
    gaps = {joint.name: robot.joint_frames(joint, now) for joint in robot.closers}
    ours = [float(np.linalg.norm(pb - pa)) for _, pa, _, pb in gaps.values()]
    theirs = []
    at = 0
    types = [int(t) for t in judge.model.eq_type]
    for kind, active in zip(types, judge.data.eq_active, strict=True):
        size = {0: 3, 1: 6, 2: 1}[kind] if active else 0
        if active and kind in (0, 1):
            theirs.append(float(np.linalg.norm(rows[at : at + 3])))
        at += size
    assert np.allclose(sorted(ours), sorted(theirs), atol=1e-9)
    values = []
    for coupling in robot.couplings:
        follower, leader = (q[robot.coordinates[end]] for end in (coupling.follower, coupling.leader))
        others = sum(slope * q[robot.coordinates[name]] for name, slope in coupling.others)
        values.append(abs(follower - np.polynomial.Polynomial(coupling.coefficients)(leader) - others))
    sizes = np.cumsum([0, *({0: 3, 1: 6, 2: 1}[k] for k in types)])
    assert np.allclose(values, [abs(rows[sizes[i]]) for i, k in enumerate(types) if k == 2], atol=1e-9)
