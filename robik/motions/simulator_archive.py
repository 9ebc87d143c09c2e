"""NumPy archives of simulators: joints and the poses and velocities of all bodies, per sample.

    mjlab-npz     fps joint_pos joint_vel body_pos_w body_quat_w body_lin_vel_w body_ang_vel_w
    holosoma-npz  the same with joint_names and body_names; joint_pos is MuJoCo's qpos, joint_vel its qvel
    isaac-npz     fps dof_names body_names dof_positions dof_velocities body_positions body_rotations
                  body_linear_velocities body_angular_velocities

Quaternions are wxyz, all is in the world, samples are at equal distances. Linear velocities are those of the bodies'
frames in mjlab-npz, and those of their centres of mass in the others.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..arrays import finite, names_in, read_npz, texts
from ..errors import ClipError
from ..mechanism.orientations import quaternion_matrices
from .format import Companions, MotionFormat
from .layout import Numbers, layout_of, motion_by_names, motion_from, numbers_of
from .motion import Motion
from .rates import even_rate, point_velocities

BODIES = ("body_pos_w", "body_quat_w", "body_lin_vel_w", "body_ang_vel_w")
MJLAB = ("joint_pos", "joint_vel", *BODIES)
NAMED = ("joint_names", "body_names")
ISAAC = (
    "dof_names", "body_names", "dof_positions", "dof_velocities", "body_positions", "body_rotations",
    "body_linear_velocities", "body_angular_velocities",
)  # fmt: skip
QPOS = "qpos"
WORLD = "world"


def load(content: bytes, needed: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Return the arrays of an archive by name, `fps` as a number.

    Raise ClipError where one of those needed is missing, or it is no archive.
    """
    arrays = read_npz(content, needed)
    is_text = {name: name.endswith("names") for name in needed}
    return {
        name: np.array(texts(arrays, name), dtype=str) if is_text[name] else finite(arrays[name], name)
        for name in needed
    }


def times_by(fps: np.ndarray, samples: int) -> np.ndarray:
    """Return times (T,) from 0 on by an archive's frames per second (1,); raise ClipError where it is no rate."""
    if np.size(fps) != 1 or not 0 < float(np.ravel(fps)[0]) < np.inf:
        raise ClipError(f"fps must be one positive number, not {np.ravel(fps)[:4].tolist()}")
    return np.arange(samples) / float(np.ravel(fps)[0])


def _robot_numbers(motion: Motion, companions: Companions) -> Numbers:
    assert companions.robot is not None  # as `needs` says
    return numbers_of(motion, companions.robot, companions.order)


def _body_arrays(numbers: Numbers, of_masses: bool) -> tuple[np.ndarray, ...]:
    """Return positions, quaternions, linear and angular velocities of the bodies (T, B, …)."""
    _, velocity, omega = numbers.speeds
    if of_masses:
        velocity = point_velocities(velocity, omega, numbers.quaternion, numbers.com)
    return numbers.position, numbers.quaternion, velocity, omega


def _saved(arrays: dict[str, np.ndarray]) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def qpos_of(numbers: Numbers) -> np.ndarray:
    """Return MuJoCo's qpos (T, nq): the base of a robot that floats, wxyz, then the joints."""
    return np.hstack([*numbers.base, numbers.coordinates]) if numbers.layout.root else numbers.coordinates


def qvel_of(numbers: Numbers) -> np.ndarray:
    """Return MuJoCo's qvel (T, nv) [m/s, rad/s]: base, then joints.

    A base has its velocity in the world and its angular velocity along its own axes.
    """
    joints, linear, angular = numbers.speeds
    if not numbers.layout.root:
        return joints
    turns = quaternion_matrices(np.ascontiguousarray(numbers.base[1]))
    own = np.einsum("tij,ti->tj", turns, angular[:, numbers.root])
    return np.hstack([linear[:, numbers.root], own, joints])


def motion_of_qpos(qpos: np.ndarray, times: np.ndarray, companions: Companions) -> Motion:
    """Return the motion of rows of MuJoCo's qpos (T, nq).

    Raise ClipError for a number of columns that the robot does not have.
    """
    robot = companions.robot
    assert robot is not None  # as `needs` says
    if qpos.ndim != 2 or qpos.shape[1] < 7 * bool(layout_of(robot, companions.order).root):
        raise ClipError(f"qpos must have a row per sample, not the shape {qpos.shape}")
    if not layout_of(robot, companions.order).root:
        return motion_from(robot, companions.order, times, None, qpos)
    return motion_from(robot, companions.order, times, (qpos[:, :3], qpos[:, 3:7]), qpos[:, 7:])


def write_mjlab(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a motion as mjlab loads it; in breadth order as whole_body_tracking, made for Isaac, does.

    Their recorders differ in linear velocities: MuJoCo's are those of the bodies' frames, Isaac's of the masses.
    """
    numbers = _robot_numbers(motion, companions)
    as_isaac = companions.order == "breadth"
    bodies = dict(zip(BODIES, _body_arrays(numbers, of_masses=as_isaac), strict=True))
    joints = {"joint_pos": numbers.coordinates, "joint_vel": numbers.speeds.coordinates}
    return _saved({"fps": np.array([even_rate(numbers.times)]), **joints, **bodies})


def read_mjlab(content: bytes, companions: Companions) -> Motion:
    """Return the motion in an archive of mjlab; its base is the first body of the companions' order."""
    arrays = load(content, ("fps", *MJLAB))
    robot = companions.robot
    assert robot is not None  # as `needs` says
    found = layout_of(robot, companions.order)
    position, quaternion = arrays["body_pos_w"], arrays["body_quat_w"]
    if (
        position.ndim != 3
        or position.shape[1:] != (len(found.bodies), 3)
        or quaternion.shape[1:] != (*position.shape[1:2], 4)
    ):
        raise ClipError(
            f"body_pos_w has the shape {position.shape}, but robot {robot.name!r} has {len(found.bodies)} bodies; "
            "is it another robot?"
        )
    first = found.bodies.index(found.root) if found.root else 0
    times = times_by(arrays["fps"], len(position))
    return motion_from(robot, companions.order, times, (position[:, first], quaternion[:, first]), arrays["joint_pos"])


def write_holosoma(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a motion as holosoma loads it: bodies with the world first, the base among the joints.

    Raise ClipError for a robot that does not float.
    """
    numbers = _robot_numbers(motion, companions)
    if not numbers.layout.root:
        raise ClipError("this format is for robots that float; choose mjlab-npz")
    bodies = []
    for array, still in zip(_body_arrays(numbers, of_masses=True), (0.0, (1.0, 0.0, 0.0, 0.0), 0.0, 0.0), strict=True):
        world = np.broadcast_to(np.array(still), (len(array), 1, array.shape[2]))
        bodies.append(np.concatenate([world, array], axis=1))
    names = {
        "joint_names": np.array(numbers.layout.coordinates),
        "body_names": np.array([WORLD, *numbers.layout.bodies]),
    }
    joints = {"joint_pos": qpos_of(numbers), "joint_vel": qvel_of(numbers)}
    arrays = dict(zip(BODIES, bodies, strict=True))
    return _saved({"fps": np.array([even_rate(numbers.times)]), **joints, **arrays, **names})


def read_holosoma(content: bytes, companions: Companions) -> Motion:
    """Return the motion in an archive of holosoma."""
    arrays = load(content, ("fps", "joint_pos", *NAMED))
    qpos, bodies = arrays["joint_pos"], [name for name in arrays["body_names"].tolist() if name != WORLD]
    if qpos.ndim != 2 or qpos.shape[1] < 7 or not bodies:
        raise ClipError(f"joint_pos must have a row per sample that begins with the base's pose, not {qpos.shape}")
    base = bodies[0], qpos[:, :3], qpos[:, 3:7]
    names = tuple(map(str, arrays["joint_names"].tolist()))
    return motion_by_names(companions.robot, names, times_by(arrays["fps"], len(qpos)), base, qpos[:, 7:])


def write_isaac(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a motion as the MotionLoader of Isaac Lab reads it."""
    numbers = _robot_numbers(motion, companions)
    joints = numbers.coordinates, numbers.speeds.coordinates
    names = np.array(numbers.layout.coordinates, dtype=str), np.array(numbers.layout.bodies, dtype=str)
    values = (*names, *joints, *_body_arrays(numbers, of_masses=True))
    return _saved({"fps": np.array(even_rate(numbers.times)), **dict(zip(ISAAC, values, strict=True))})


def read_isaac(content: bytes, companions: Companions) -> Motion:
    """Return the motion in an archive of Isaac Lab; its base floats, or is the first body without a robot."""
    arrays = load(content, ("fps", *ISAAC))
    bodies = tuple(map(str, arrays["body_names"].tolist()))
    position, quaternion = arrays["body_positions"], arrays["body_rotations"]
    if position.ndim != 3 or position.shape[1:] != (len(bodies), 3) or quaternion.shape != (*position.shape[:2], 4):
        raise ClipError(f"body_positions must have the shape (T, {len(bodies)}, 3), not {position.shape}")
    root = bodies[0] if companions.robot is None else layout_of(companions.robot).root
    if root and root not in bodies:
        raise ClipError(f"no body {root!r}, by which the robot floats; there are {', '.join(bodies)}")
    base = (root, position[:, bodies.index(root)], quaternion[:, bodies.index(root)]) if root else None
    names = tuple(map(str, arrays["dof_names"].tolist()))
    times = times_by(arrays["fps"], len(position))
    return motion_by_names(companions.robot, names, times, base, arrays["dof_positions"])


def write_qpos(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a motion as rows of MuJoCo's qpos."""
    numbers = _robot_numbers(motion, companions)
    return _saved({QPOS: qpos_of(numbers), "fps": np.array(even_rate(numbers.times))})


def read_qpos(content: bytes, companions: Companions) -> Motion:
    """Return the motion of rows of MuJoCo's qpos."""
    arrays = load(content, (QPOS, "fps"))
    qpos = finite(arrays[QPOS], QPOS, (None, None))
    return motion_of_qpos(qpos, times_by(arrays["fps"], len(qpos)), companions)


def _matching(wanted: tuple[str, ...], unwanted: tuple[str, ...] = ()) -> Callable[[bytes], bool]:
    def matches(content: bytes) -> bool:
        names = names_in(content)
        return names >= {*wanted} and not names & {*unwanted}

    return matches


MJLAB_FORMAT = MotionFormat(
    name="mjlab-npz", label="mjlab, whole_body_tracking", extensions=(".npz",), needs=("robot",), by_extension=False,
    matches=_matching(MJLAB, NAMED), read=read_mjlab, write=write_mjlab,
)  # fmt: skip
HOLOSOMA_FORMAT = MotionFormat(
    name="holosoma-npz", label="holosoma", extensions=(".npz",), needs=("robot",), needs_to_read=(), by_extension=False,
    matches=_matching(("joint_pos", *NAMED)), read=read_holosoma, write=write_holosoma,
)  # fmt: skip
ISAAC_FORMAT = MotionFormat(
    name="isaac-npz", label="Isaac Lab", extensions=(".npz",), needs=("robot",), needs_to_read=(), by_extension=False,
    matches=_matching(ISAAC), read=read_isaac, write=write_isaac,
)  # fmt: skip
QPOS_FORMAT = MotionFormat(
    name="qpos-npz", label="MuJoCo qpos", extensions=(".npz",), needs=("robot",), by_extension=False,
    matches=_matching((QPOS, "fps")), read=read_qpos, write=write_qpos,
)  # fmt: skip
