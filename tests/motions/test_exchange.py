"""Motion files of simulators and learning labs: there and back, and held against MuJoCo."""

from __future__ import annotations

import pickle
import pickletools
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from robik import robots
from robik.errors import ClipError, FormatError
from robik.formats import import_robot
from robik.mechanism import Mechanism
from robik.motions import BaseTrack, Companions, Motion, load_motion, save_motion
from robik.motions.curves import Curves
from robik.motions.layout import layout_of
from robik.motions.posing import posed
from robik.motions.resampling import resampled

FLOATING = ("lafan1-csv", "gmr-pkl", "mjlab-npz", "holosoma-npz", "isaac-npz", "qpos-npz", "mujoco-keys")
SUFFIX = {"lafan1-csv": ".csv", "gmr-pkl": ".pkl", "mujoco-keys": ".xml", "ros2": ".yaml"}
RATE = 50.0


@pytest.fixture(scope="module")
def g1_file(shared_data: Path) -> Path:
    return shared_data / "unitree_g1/g1_29dof.xml"


@pytest.fixture(scope="module")
def g1(g1_file: Path) -> Mechanism:
    return import_robot(g1_file).mechanism


def swinging(robot: Mechanism, samples: int = 80) -> tuple[Motion, np.ndarray, np.ndarray]:
    """A motion by sines, with its joints' velocities (T, A) and its base's angular velocity in the world (T, 3)."""
    times = np.arange(samples) / RATE
    limits = np.array([limit for joint in robot.actuated for limit in joint.limits])
    middle, half = limits.mean(axis=1), 0.3 * np.ptp(limits, axis=1)
    phase = np.arange(len(limits))
    values = middle + half * np.sin(2.0 * times[:, None] + phase)
    speeds = 2.0 * half * np.cos(2.0 * times[:, None] + phase)
    way = np.column_stack([0.5 * times, np.sin(times), 0.8 + 0.1 * np.cos(3 * times)])
    turn = Rotation.from_euler("z", 1.5 * times) * Rotation.from_euler("x", 0.4)
    quaternion = turn.as_quat()[:, [3, 0, 1, 2]]
    base = BaseTrack(body=layout_of(robot).root, position=way, quaternion=quaternion)
    motion = Motion(times=times, actuators=robot.actuators, values=values, base=base)
    return motion, speeds, np.tile([0.0, 0.0, 1.5], (samples, 1))


def file_of(folder: Path, format: str) -> Path:
    return folder / f"motion{SUFFIX.get(format, '.npz')}"


def in_mujoco(file: Path, qpos: np.ndarray, qvel: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Positions of MuJoCo's bodies (T, B, 3), and their velocities (T, B, 6), angular first, in the world."""
    model = mujoco.MjModel.from_xml_path(str(file))
    data, found, speeds = mujoco.MjData(model), [], []
    for k, row in enumerate(qpos):
        data.qpos[:] = row
        data.qvel[:] = 0.0 if qvel is None else qvel[k]
        mujoco.mj_forward(model, data)
        found.append(data.xpos[1:].copy())
        speed = np.zeros((model.nbody, 6))
        for body in range(model.nbody):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, speed[body], 0)
        speeds.append(speed[1:])
    return np.array(found), np.array(speeds)


@pytest.mark.parametrize("format", FLOATING)
def test_a_motion_comes_back_as_it_was(tmp_path: Path, g1: Mechanism, format: str) -> None:
    motion, _, _ = swinging(g1)
    file, beside = file_of(tmp_path, format), Companions(robot=g1, fps=RATE)
    save_motion(motion, file, format, beside)
    back = load_motion(file, None, beside)
    assert back.actuators == g1.actuators
    np.testing.assert_allclose(back.times, motion.times, atol=1e-12)
    np.testing.assert_allclose(back.values, motion.values, atol=1e-12)
    assert back.base is not None and back.base.body == "pelvis"
    np.testing.assert_allclose(back.base.position, motion.base.position, atol=1e-12)
    np.testing.assert_allclose(back.base.quaternion, motion.base.quaternion, atol=1e-12)


@pytest.mark.parametrize("format", FLOATING)
def test_mujoco_poses_the_bodies_as_robik_does(tmp_path: Path, g1: Mechanism, g1_file: Path, format: str) -> None:
    """qpos is put together from each file by its loader's own keys, without RobIK's readers."""
    motion, _, _ = swinging(g1, 20)
    states, _ = posed(g1, motion)
    file = file_of(tmp_path, format)
    save_motion(motion, file, format, Companions(robot=g1, fps=RATE))
    qpos = qpos_by_keys(file, format)
    there, _ = in_mujoco(g1_file, qpos)
    model = mujoco.MjModel.from_xml_path(str(g1_file))
    names = [model.body(k).name for k in range(1, model.nbody)]
    own = np.array(states.position)[:, [states.bodies.index(name) for name in names]]
    assert np.abs(there - own).max() < 1e-9


def qpos_by_keys(file: Path, format: str) -> np.ndarray:
    """Rows of qpos, by what the loaders of each format do."""
    if format == "lafan1-csv":  # whole_body_tracking scripts/csv_to_npz.py
        table = np.loadtxt(file, delimiter=",")
        return np.hstack([table[:, :3], table[:, [6, 3, 4, 5]], table[:, 7:]])
    if format == "gmr-pkl":  # GMR general_motion_retargeting/data_loader.py
        data = pickle.loads(file.read_bytes())
        return np.hstack([data["root_pos"], data["root_rot"][:, [3, 0, 1, 2]], data["dof_pos"]])
    if format == "mujoco-keys":
        rows = [key.get("qpos", "").split() for key in ElementTree.parse(file).getroot().iter("key")]
        return np.array(rows, dtype=float)
    with np.load(file) as data:
        if format == "qpos-npz":
            return data["qpos"]
        if format == "holosoma-npz":  # holosoma managers/command/terms/wbt.py
            assert data["joint_pos"][:, 7:].shape[1] == len(data["joint_names"])
            assert data["body_names"].tolist()[0] == "world"
            return data["joint_pos"]
        if format == "isaac-npz":  # Isaac Lab humanoid_amp/motions/motion_loader.py
            root = data["body_names"].tolist().index("pelvis")
            return np.hstack([data["body_positions"][:, root], data["body_rotations"][:, root], data["dof_positions"]])
        return np.hstack([data["body_pos_w"][:, 0], data["body_quat_w"][:, 0], data["joint_pos"]])


def test_velocities_are_those_of_the_curves(tmp_path: Path, g1: Mechanism, g1_file: Path) -> None:
    motion, speeds, turning = swinging(g1)
    save_motion(motion, tmp_path / "m.npz", "mjlab-npz", Companions(robot=g1))
    save_motion(motion, tmp_path / "h.npz", "holosoma-npz", Companions(robot=g1))
    inner = slice(4, -4)  # at its ends a spline knows less
    with np.load(tmp_path / "m.npz") as link, np.load(tmp_path / "h.npz") as masses:
        assert link["fps"].tolist() == [50]
        assert np.abs(link["joint_vel"] - speeds)[inner].max() < 1e-4
        assert np.abs(link["body_ang_vel_w"][:, 0] - turning)[inner].max() < 1e-4
        qvel = masses["joint_vel"]
        _, there = in_mujoco(g1_file, masses["joint_pos"], qvel)
        assert np.abs(there[:, :, 3:] - link["body_lin_vel_w"]).max() < 1e-7, (
            "by the same joints' velocities, everywhere"
        )
        assert np.abs(there[:, :, :3] - link["body_ang_vel_w"]).max() < 1e-7
        of_masses = masses["body_lin_vel_w"][:, 1:]
        arms = np.abs(of_masses - link["body_lin_vel_w"]).max(axis=(0, 2))
        assert arms.max() > 0.05, "where the centre of mass is off the frame, they differ"


def test_velocities_at_another_rate_are_those_of_the_same_curves(g1: Mechanism) -> None:
    """From 50 to 37 samples a second: the derivatives of the curves, not of lines between samples."""
    motion, _, _ = swinging(g1)
    again = resampled(motion, 37.0)
    limits = np.array([limit for joint in g1.actuated for limit in joint.limits])
    angle = 2.0 * again.times[:, None] + np.arange(len(limits))
    half = 0.3 * np.ptp(limits, axis=1)
    inner = slice(4, -4)
    assert np.abs(again.values - limits.mean(axis=1) - half * np.sin(angle))[inner].max() < 1e-5
    assert np.abs(again.rates.values - 2.0 * half * np.cos(angle))[inner].max() < 1e-4
    assert np.abs(again.rates.angular - [0.0, 0.0, 1.5]).max() < 1e-9
    way = np.column_stack([0.5 + 0 * again.times, np.cos(again.times), -0.3 * np.sin(3 * again.times)])
    assert np.abs(again.rates.linear - way)[inner].max() < 1e-4


def test_what_rests_between_two_samples_rests_between_them_at_every_rate() -> None:
    """A joint that runs into its limit and stays there never goes beyond it, nor back and forth."""
    times = np.arange(40) / 20
    values = np.clip(3.0 * times - 2.0, -0.5, 1.0)[:, None]
    again = resampled(Motion(times=times, actuators=("a",), values=values), 1000.0)
    assert again.values.max() == 1.0 and again.values.min() == -0.5
    held = again.times > 1.01
    assert (again.values[held] == 1.0).all() and (again.rates.values[held] == 0.0).all()
    assert np.diff(again.values[:, 0]).min() >= 0.0
    back_and_forth = Motion(times=times, actuators=("a",), values=0.1 * (np.arange(40)[:, None] // 2 % 2))
    assert np.abs(resampled(back_and_forth, 20.0).rates.values).max() <= 1.01 * 0.1 * 20


def test_in_isaacs_order_linear_velocities_are_those_of_the_masses(tmp_path: Path, g1: Mechanism) -> None:
    """As the recorder of whole_body_tracking has them; mjlab's are those of the frames."""
    motion, _, _ = swinging(g1, 20)
    save_motion(motion, tmp_path / "w.npz", "mjlab-npz", Companions(robot=g1, order="breadth"))
    save_motion(motion, tmp_path / "h.npz", "holosoma-npz", Companions(robot=g1))
    with np.load(tmp_path / "w.npz") as wide, np.load(tmp_path / "h.npz") as deep:
        names = deep["body_names"].tolist()
        order = [names.index(name) for name in layout_of(g1, "breadth").bodies]
        assert np.abs(wide["body_lin_vel_w"] - deep["body_lin_vel_w"][:, order]).max() < 1e-12


def test_order_by_breadth_is_that_of_isaac(g1: Mechanism) -> None:
    found = layout_of(g1, "breadth")
    assert found.coordinates[:6] == (
        "left_hip_pitch_joint", "right_hip_pitch_joint", "waist_yaw_joint", "left_hip_roll_joint",
        "right_hip_roll_joint", "waist_roll_joint",
    )  # fmt: skip
    deep = layout_of(g1)
    assert deep.coordinates == g1.actuators
    assert sorted(deep.bodies) == sorted(found.bodies)
    with pytest.raises(ClipError, match="the order of bodies and joints is depth or breadth, not 'wide'"):
        layout_of(g1, "wide")


def test_order_goes_there_and_back(tmp_path: Path, g1: Mechanism) -> None:
    motion, _, _ = swinging(g1, 10)
    wide = Companions(robot=g1, order="breadth", fps=RATE)
    for format in ("mjlab-npz", "lafan1-csv"):
        file = file_of(tmp_path, format)
        save_motion(motion, file, format, wide)
        np.testing.assert_allclose(load_motion(file, format, wide).values, motion.values, atol=1e-12)
        deep = load_motion(file, format, Companions(robot=g1, fps=RATE))
        assert np.abs(deep.values - motion.values).max() > 0.1


def test_a_header_is_written_when_asked_for_and_read_by_its_names(tmp_path: Path, g1: Mechanism) -> None:
    motion = resampled(swinging(g1, 10)[0], 30.0)
    plain, named, file = (tmp_path / name for name in ("plain.csv", "named.csv", "shuffled.csv"))
    save_motion(motion, plain, "lafan1-csv", Companions(robot=g1))
    save_motion(motion, named, "lafan1-csv", Companions(robot=g1, header=True))
    head, *rows = named.read_text().splitlines()
    assert rows == plain.read_text().splitlines()
    assert head == ",".join(["x", "y", "z", "qx", "qy", "qz", "qw", *g1.actuators])
    shuffled = np.array([line.split(",") for line in (head, *rows)])[:, [*range(7), *range(35, 6, -1)]]
    file.write_text("\r\n".join(map(",".join, shuffled)), "utf-8-sig")
    for written in (named, file):
        back = load_motion(written, companions=Companions(robot=g1))
        np.testing.assert_allclose(back.values, motion.values, atol=1e-15)
    named.write_text(named.read_text().replace("left_knee_joint", "knee"))
    with pytest.raises(ClipError, match=r"the header must name the base .* each once; see 'knee'"):
        load_motion(named, companions=Companions(robot=g1))


def test_rows_without_times_are_as_many_as_readers_take(
    tmp_path: Path, g1: Mechanism, caplog: pytest.LogCaptureFixture
) -> None:
    motion, _, _ = swinging(g1)
    file, robot = tmp_path / "m.csv", Companions(robot=g1)
    save_motion(motion, file, "lafan1-csv", robot)
    assert "#" not in file.read_text()
    assert len(np.loadtxt(file, delimiter=",")) == int(30 * motion.times[-1]) + 1
    at = Curves(motion).at(np.arange(48) / 30.0)
    back = load_motion(file, companions=robot)
    np.testing.assert_allclose(back.times, at.times, atol=1e-12)
    np.testing.assert_allclose(back.values, at.values, atol=1e-12)
    save_motion(back, tmp_path / "again.csv", "lafan1-csv", robot)
    np.testing.assert_allclose(
        *(np.loadtxt(path, delimiter=",") for path in (tmp_path / "again.csv", file)), atol=1e-12
    )
    assert not caplog.messages


@pytest.mark.parametrize("header", [False, True])
def test_rows_at_another_rate_say_so(
    tmp_path: Path, g1: Mechanism, header: bool, caplog: pytest.LogCaptureFixture
) -> None:
    motion, _, _ = swinging(g1)
    file = tmp_path / "m.csv"
    save_motion(motion, file, "lafan1-csv", Companions(robot=g1, header=header, fps=120.0))
    assert caplog.messages == [f"{file}: others read 30 samples per second unless they are told 120"]
    assert len(np.loadtxt(file, delimiter=",", skiprows=int(header))) == int(120 * motion.times[-1]) + 1
    back = load_motion(file, companions=Companions(robot=g1))
    np.testing.assert_allclose(back.times, np.arange(190) / 120.0, atol=1e-12)
    told = load_motion(file, companions=Companions(robot=g1, fps=60.0))
    assert told.times[-1] == pytest.approx(2.0 * back.times[-1])
    file.write_text(file.read_text().replace("# 120", "# 0"))
    with pytest.raises(ClipError, match=r"line \d: 0 samples per second; there must be some"):
        load_motion(file, companions=Companions(robot=g1))


def test_ros2_comes_back(tmp_path: Path) -> None:
    robot = robots.load("boxer")
    times = np.arange(5) / 25
    motion = Motion(times=times, actuators=robot.actuators, values=np.outer(np.sin(times), [0.1, 0.2, 0.3, 0.4]))
    save_motion(motion, tmp_path / "m.yaml")
    back = load_motion(tmp_path / "m.yaml")
    assert back.actuators == motion.actuators
    np.testing.assert_allclose(back.times, times, atol=1e-9)
    assert back.values.tolist() == motion.values.tolist()
    (tmp_path / "m.yaml").write_text("joint_names: [a]\npoints:\n- positions: [1, 2]\n  time_from_start: {sec: 0}\n")
    with pytest.raises(ClipError, match="point 0: it needs 1 positions and time_from_start"):
        load_motion(tmp_path / "m.yaml")


def test_ros2_has_the_path_of_the_base(tmp_path: Path, g1: Mechanism) -> None:
    motion, _, turning = swinging(g1, 40)
    save_motion(motion, tmp_path / "m.yaml", "ros2")
    data = yaml.safe_load((tmp_path / "m.yaml").read_text())
    assert data["joint_trajectory"]["joint_names"] == list(g1.actuators)
    path = data["multi_dof_joint_trajectory"]
    assert (path["joint_names"], path["header"]["frame_id"]) == (["pelvis"], "world")
    point = path["points"][20]
    assert point["time_from_start"] == {"sec": 0, "nanosec": 400000000}
    rotation = point["transforms"][0]["rotation"]
    assert [rotation[axis] for axis in "wxyz"] == motion.base.quaternion[20].tolist()
    twist = point["velocities"][0]
    assert [twist["angular"][axis] for axis in "xyz"] == pytest.approx(turning[20].tolist(), abs=1e-9)
    assert twist["linear"]["x"] == pytest.approx(0.5, abs=1e-9)
    for robot in (g1, None):
        back = load_motion(tmp_path / "m.yaml", None, Companions(robot=robot))
        assert back.values.tolist() == motion.values.tolist()
        assert back.base is not None and back.base.body == "pelvis"
        assert back.base.position.tolist() == motion.base.position.tolist()
        assert back.base.quaternion.tolist() == motion.base.quaternion.tolist()
    text = (tmp_path / "m.yaml").read_text()
    (tmp_path / "m.yaml").write_text(text.replace("rotation: {x:", "rotation: {v:"))
    with pytest.raises(ClipError, match="point 0: it needs a transform and time_from_start"):
        load_motion(tmp_path / "m.yaml")


def test_a_looped_robot_is_written_as_its_mjcf(tmp_path: Path) -> None:
    """Columns of joints without a motor too, in the order of the MJCF that `robik convert` writes."""
    from robik.formats import save_robot

    robot = robots.load("walker")
    times = np.arange(12) / 30
    values = 0.1 * np.sin(3 * times[:, None] + np.arange(len(robot.actuators)))
    motion = Motion(times=times, actuators=robot.actuators, values=values)
    states, _ = posed(robot, motion)
    save_motion(motion, tmp_path / "q.npz", "qpos-npz", Companions(robot=robot))
    save_robot(robot, tmp_path / "walker.xml", robots.path("walker"))
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "walker.xml"))
    with np.load(tmp_path / "q.npz") as file:
        there, _ = in_mujoco(tmp_path / "walker.xml", file["qpos"])
    names = [model.body(k).name for k in range(1, model.nbody)]
    own = [k for k, name in enumerate(names) if name in states.bodies]
    wanted = np.array(states.position)[:, [states.bodies.index(names[k]) for k in own]]
    assert np.abs(there[:, own] - wanted).max() < 1e-9
    back = load_motion(tmp_path / "q.npz", None, Companions(robot=robot))
    np.testing.assert_allclose(back.values, values, atol=1e-12)
    assert back.passive, "the joints without a motor come back too"


class Evil:
    """Runs a command when it is unpickled by an unpickler that lets it."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple:
        return (Path.touch, (self.file,))


def test_a_pickle_runs_nothing(tmp_path: Path, g1: Mechanism) -> None:
    beside = Companions(robot=g1)
    objects = np.array([Evil(tmp_path / "ran")], dtype=object)
    words = {
        "call": Evil(tmp_path / "ran"),
        "inside": {"root_pos": Evil(tmp_path / "ran"), "dof_pos": 0},
        "objects": {"root_pos": objects, "dof_pos": objects},
        "evaluated": {"root_pos": eval, "dof_pos": 0},
    }
    for case, data in words.items():
        (tmp_path / "m.pkl").write_bytes(pickle.dumps(data))
        with pytest.raises(ClipError, match=r"m\.pkl: it holds .*(no array|Python objects)") as caught:
            load_motion(tmp_path / "m.pkl", "gmr-pkl", beside)
        assert "\n" not in str(caught.value), case
    assert not (tmp_path / "ran").exists()
    for content in (b"", b"\x80\x04", b"\x80\x04.", b"c" * 50, pickle.dumps({"fps": 30}), pickle.dumps([1, 2])):
        (tmp_path / "m.pkl").write_bytes(content)
        with pytest.raises(ClipError, match=r"m\.pkl: "):
            load_motion(tmp_path / "m.pkl", "gmr-pkl", beside)


def test_a_pickle_is_read_by_every_numpy(tmp_path: Path, g1: Mechanism) -> None:
    """NumPy 2 has moved what makes arrays; TWIST's NumPy 1.23 fails at `numpy._core`."""
    motion, _, _ = swinging(g1, 6)
    save_motion(motion, tmp_path / "m.pkl", "gmr-pkl", Companions(robot=g1))
    content = (tmp_path / "m.pkl").read_bytes()
    texts = [value for _, value, _ in pickletools.genops(content) if isinstance(value, str)]
    assert [text for text in texts if "core" in text or "multiarray" in text] == []
    data = pickle.loads(content)
    assert data["dof_pos"].flags.writeable and data["dof_pos"].dtype == np.float64
    np.testing.assert_array_equal(data["dof_pos"], motion.values)
    for made in (Call(bytearray, 10**15), Call(np.ndarray, 10**15), Call(np.ndarray, (2,), "O", bytearray(16))):
        (tmp_path / "m.pkl").write_bytes(pickle.dumps({"root_pos": made, "dof_pos": 0}))
        with pytest.raises(ClipError, match=r"m\.pkl: (it|not a pickle)"):
            load_motion(tmp_path / "m.pkl", "gmr-pkl", Companions(robot=g1))


class Call:
    """Becomes a call when it is pickled."""

    def __init__(self, made: Callable, *arguments: object) -> None:
        self.call = made, arguments

    def __reduce__(self) -> tuple:
        return self.call


@pytest.mark.parametrize("order", ["<f4", ">f4", ">f8"])
@pytest.mark.parametrize("protocol", [0, 2, 3, 4, 5])
def test_pickles_of_every_protocol_are_read(tmp_path: Path, g1: Mechanism, protocol: int, order: str) -> None:
    motion, _, _ = swinging(g1, 6)
    data = {
        "fps": np.float64(50.0), "root_pos": np.asfortranarray(motion.base.position),
        "root_rot": motion.base.quaternion[:, [1, 2, 3, 0]], "dof_pos": motion.values.astype(order),
        "local_body_pos": None, "link_body_list": None,
    }  # fmt: skip
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(data, protocol=protocol))
    back = load_motion(tmp_path / "m.pkl", "gmr-pkl", Companions(robot=g1))
    np.testing.assert_allclose(back.values, motion.values, atol=1e-6)
    np.testing.assert_allclose(back.base.position, motion.base.position, atol=1e-12)


def test_what_does_not_fit_gets_one_sentence(tmp_path: Path, g1: Mechanism) -> None:
    motion, _, _ = swinging(g1, 6)
    file = tmp_path / "m.npz"
    with pytest.raises(FormatError, match="the format mjlab-npz needs its robot"):
        save_motion(motion, file, "mjlab-npz")
    uneven = Motion(times=motion.times**2, actuators=motion.actuators, values=motion.values, base=motion.base)
    with pytest.raises(ClipError, match="samples at equal distances; give a rate"):
        save_motion(uneven, file, "mjlab-npz", Companions(robot=g1))
    assert not list(tmp_path.iterdir())
    save_motion(motion, file, "mjlab-npz", Companions(robot=g1))
    with pytest.raises(ClipError, match="the format mjlab-npz needs its robot"):
        load_motion(file)
    walker = robots.load("walker")
    with pytest.raises(ClipError, match="but robot 'walker' has 31 bodies; is it another robot"):
        load_motion(file, None, Companions(robot=walker))
    (tmp_path / "m.csv").write_text("1,2,3,0,0,0,1,0.5\n")
    with pytest.raises(ClipError, match=r"line 1: 8 columns; 'g1_mocap' needs 7 for its base, 29 for its joints"):
        load_motion(tmp_path / "m.csv", None, Companions(robot=g1))
    data = {"fps": 50, "root_pos": motion.base.position, "root_rot": motion.base.quaternion, "dof_pos": motion.values}
    for change, words in (
        ({"dof_pos": motion.values[:4]}, r"joints must have a row for each of the 6 samples, not the shape \(4, 29\)"),
        ({"dof_pos": motion.values[:, :23]}, "23 columns of joints, but robot 'g1_mocap' has 29: left_hip_pitch"),
        ({"root_pos": None}, "with the arrays root_pos, root_rot, dof_pos and fps; it has fps, root_pos, root_rot"),
    ):
        (tmp_path / "m.pkl").write_bytes(pickle.dumps(data | change))
        with pytest.raises(ClipError, match=words):
            load_motion(tmp_path / "m.pkl", None, Companions(robot=g1))
    with np.load(file) as written:
        arrays = dict(written)
    for joints in (np.array(1.0), arrays["joint_pos"][0], arrays["joint_pos"][:3]):
        np.savez(file, **arrays | {"joint_pos": joints})
        with pytest.raises(ClipError, match="joints must have a row for each of the 6 samples"):
            load_motion(file, None, Companions(robot=g1))
    rows = "".join(f"0,0,1,0,0,0,1,{'0.1,' * 29}\r\n" for _ in range(3))
    (tmp_path / "m.csv").write_text(rows)
    assert load_motion(tmp_path / "m.csv", None, Companions(robot=g1)).values.shape == (3, 29), "a comma at the end"
    (tmp_path / "m.xml").write_text("<mujoco><keyframe><key qpos='1 2'/></keyframe></mujoco>")
    with pytest.raises(ClipError, match="every key of a motion needs a time"):
        load_motion(tmp_path / "m.xml", None, Companions(robot=g1))
