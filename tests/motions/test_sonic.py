"""SONIC's folders: there and back, held against MuJoCo in Isaac's order, and folders that are wrong."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import mujoco
import numpy as np
import pytest

from robik import robots
from robik.errors import ClipError, FormatError
from robik.formats import import_robot
from robik.mechanism import Mechanism
from robik.motions import BaseTrack, Companions, Motion, load_motion, save_motion
from tests import shell
from tests.contacts.test_legs import biped
from tests.motions.test_exchange import swinging

FORMAT = "sonic-csv"


@pytest.fixture(scope="module")
def g1_file(shared_data: Path) -> Path:
    return shared_data / "unitree_g1/g1_29dof.xml"


@pytest.fixture(scope="module")
def g1(g1_file: Path) -> Mechanism:
    return import_robot(g1_file).mechanism


def written(folder: Path, robot: Mechanism) -> Path:
    save_motion(swinging(robot)[0], folder / "walk", FORMAT, Companions(robot=robot))
    return folder / "walk"


def table(folder: Path, name: str) -> np.ndarray:
    return np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1, ndmin=2)


def by_breadth(model: mujoco.MjModel) -> list[int]:
    """Bodies of a MuJoCo model with joints, level by level, the floating one first."""
    waiting, found = deque(k for k in range(1, model.nbody) if model.body_parentid[k] == 0), []
    while waiting:
        body = waiting.popleft()
        if model.body_jntnum[body]:
            found.append(body)
        waiting.extend(k for k in range(1, model.nbody) if model.body_parentid[k] == body)
    return found


def test_a_motion_comes_back_as_it_was(tmp_path: Path) -> None:
    robot = biped(True)
    motion, _, _ = swinging(robot)
    folder = written(tmp_path, robot)
    for path in (folder, folder / "joint_pos.csv"):
        back = load_motion(path, None, Companions(robot=robot))
        assert back.actuators == robot.actuators
        np.testing.assert_allclose(back.times, motion.times, atol=1e-12)
        np.testing.assert_array_equal(back.values, motion.values)
        assert back.base is not None and back.base.body == "pelvis"
        np.testing.assert_array_equal(back.base.position, motion.base.position)
        np.testing.assert_allclose(back.base.quaternion, motion.base.quaternion, atol=1e-15)
    written(tmp_path, robot)  # once more, in its own place
    assert sorted(file.name for file in tmp_path.iterdir()) == ["walk"]


def test_mujoco_has_the_same_bodies_where_columns_are_isaacs(tmp_path: Path, g1: Mechanism, g1_file: Path) -> None:
    folder, model = written(tmp_path, g1), mujoco.MjModel.from_xml_path(str(g1_file))
    bodies, data = by_breadth(model), mujoco.MjData(model)
    joints, positions, turns = (table(folder, name) for name in ("joint_pos", "body_pos", "body_quat"))
    assert joints.shape[1] == len(bodies) - 1 and positions.shape[1] == 3 * len(bodies)
    for row, place, turn in zip(joints[::20], positions[::20], turns[::20], strict=True):
        data.qpos[:7] = [*place[:3], *turn[:4]]
        for body, value in zip(bodies[1:], row, strict=True):
            data.qpos[model.jnt_qposadr[model.body_jntadr[body]]] = value
        mujoco.mj_forward(model, data)
        assert np.abs(data.xpos[bodies] - place.reshape(-1, 3)).max() < 1e-9
        quaternions = turn.reshape(-1, 4)
        alike = np.abs((data.xquat[bodies] * quaternions).sum(axis=1))
        assert alike == pytest.approx(1.0, abs=1e-12)


def test_velocities_are_those_of_the_curves(tmp_path: Path, g1: Mechanism) -> None:
    folder = written(tmp_path, g1)
    inner = slice(4, -4)  # at its ends a spline knows less
    assert table(folder, "body_ang_vel")[inner, :3] == pytest.approx(np.tile([0.0, 0.0, 1.5], (72, 1)), abs=1e-3)
    differences = np.gradient(table(folder, "body_pos"), 1 / 50, axis=0)
    assert table(folder, "body_lin_vel")[inner] == pytest.approx(differences[inner], abs=2e-2)


def test_a_motion_at_another_rate_names_the_option(tmp_path: Path) -> None:
    robot = biped(True)
    motion = swinging(robot)[0]
    with pytest.raises(ClipError, match=r"plays 50 samples a second, and the motion has 30; give a rate \(--rate 50\)"):
        save_motion(motion, tmp_path / "walk", FORMAT, Companions(robot=robot, fps=30.0))
    assert not list(tmp_path.iterdir())


def test_robots_that_stand_fast_are_refused(tmp_path: Path) -> None:
    boxer = robots.load("boxer")
    motion = still(boxer)
    with pytest.raises(ClipError, match="for robots that float"):
        save_motion(motion, tmp_path / "walk", FORMAT, Companions(robot=boxer))


def still(robot: Mechanism):
    return Motion(times=np.arange(4) / 50, actuators=robot.actuators, values=np.zeros((4, len(robot.actuators))))


def spoiled(folder: Path, name: str, change) -> None:
    lines = (folder / name).read_text().splitlines()
    (folder / name).write_text("\n".join(change(lines)))


WRONG = {
    "a file is missing": (lambda f: (f / "body_quat.csv").unlink(), "no body_quat.csv"),
    "a column is missing": (
        lambda f: spoiled(f, "joint_pos.csv", lambda rows: [rows[0], rows[1].rpartition(",")[0], *rows[2:]]),
        r"joint_pos.csv, line 2: \d+ columns where the first line names \d+",
    ),
    "another robot's": (
        lambda f: spoiled(f, "joint_pos.csv", lambda rows: [row.rpartition(",")[0] for row in rows]),
        r"\d+ .*\d+",
    ),
    "not a number": (
        lambda f: spoiled(f, "body_pos.csv", lambda rows: [*rows[:3], "nan" + rows[3][rows[3].index(",") :]]),
        "body_pos.csv, line 4: its numbers must be finite",
    ),
    "words": (lambda f: (f / "body_pos.csv").write_text("a,b,c\nx,y,z\n"), "line 2: not a row of numbers"),
    "no header": (
        lambda f: spoiled(f, "joint_pos.csv", lambda rows: rows[1:]), "joint_pos.csv: the first line must name"
    ),
    "fewer samples": (lambda f: spoiled(f, "body_pos.csv", lambda rows: rows[:-2]), "body_pos.csv: 78 samples, but"),
    "another body first": (
        lambda f: spoiled(f, "metadata.txt", lambda rows: [row.replace("[0 1", "[7 1") for row in rows]),
        "first body is number 7",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_folders_get_one_sentence(tmp_path: Path, case: str) -> None:
    robot = biped(True)
    spoil, words = WRONG[case]
    spoil(folder := written(tmp_path, robot))
    with pytest.raises((ClipError, FormatError), match=words) as told:
        load_motion(folder, None, Companions(robot=robot))
    assert "\n" not in str(told.value) and "walk" in str(told.value)


def test_folders_that_hold_something_else_are_left_alone(tmp_path: Path) -> None:
    robot = biped(True)
    with pytest.raises(ClipError, match="a folder of motions; name one of them: walk"):
        load_motion(written(tmp_path, robot).parent, None, Companions(robot=robot))
    (tmp_path / "walk" / "notes.txt").write_text("mine")
    with pytest.raises(FormatError, match=r"the folder holds something else, notes\.txt; name a new folder"):
        written(tmp_path, robot)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ClipError, match="a folder without a motion"):
        load_motion(tmp_path / "empty", None, Companions(robot=robot))


def test_the_command_writes_and_reads_folders(tmp_path: Path) -> None:
    def run(*words: str) -> shell.Done:
        return shell.robik(tmp_path, *words)

    walker = robots.load("walker")
    times, rest = np.arange(20) / 60, np.array([0.0] * len(walker.actuators))
    base = BaseTrack(body="torso", position=np.zeros((20, 3)), quaternion=np.tile([1.0, 0, 0, 0], (20, 1)))
    save_motion(Motion(times=times, actuators=walker.actuators, values=np.tile(rest, (20, 1)), base=base),
                tmp_path / "w.csv")  # fmt: skip
    done = run("export", "w.csv", "--robot", "walker", "--rate", "50", "--format", FORMAT, "-o", "out")
    assert (done.returncode, done.stderr) == (0, ""), "a robot with loops, by the tree of its joints"
    assert (tmp_path / "out" / "joint_pos.csv").is_file()
    done = run("export", "out", "--robot", "walker", "-o", "back.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert load_motion(tmp_path / "back.csv").values == pytest.approx(np.tile(rest, (16, 1)), abs=1e-12)
