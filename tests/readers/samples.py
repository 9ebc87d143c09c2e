"""A good file of every kind that is read, to be mutated."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from robik import follow_poses
from robik.clips.clip import TargetClip, Track, load_clip, save_clip
from robik.formats import load_robot
from robik.mechanism import Mechanism
from robik.motions import BaseTrack, Companions, Motion, load_motion, save_motion
from robik.motions.registry import FORMATS, READABLE
from robik.motions.results import load_states, save_states
from robik.objectives.settings import load_settings
from robik.recordings import load_recording, save_recording
from robik.retargeting.transfer import load_table
from robik.servo.chain.export import count_values, export_motion
from robik.servo.chain.file import load_chain
from robik.servo.port.recording import load_recording as load_telemetry
from robik.show.show_file import load_show
from robik.skeleton.mapping_file import load_rows
from tests.recordings.bvh_text import bvh_text
from tests.skeleton.conventions import skeleton
from tests.skeleton.test_fit import walking

SAMPLES = 4
HEADS = [np.eye(4).tolist()] * SAMPLES


@dataclass(frozen=True)
class Sample:
    """A good file: what is in it, its extension, and who reads it."""

    content: bytes
    extension: str
    read: Callable[[Path], object]


def samples(folder: Path) -> dict[str, Sample]:
    """Return a good file of every kind by its name; they are written into a folder of their own."""
    robot, chain = _robot(folder, "free"), load_chain(_written(folder / "c.servos.json", _chain(folder)))
    found = {f"motion {name}": _motion(name, folder, robot) for name in READABLE if not FORMATS[name].files}
    export_motion(_moved(robot), folder / "m.h", "arduino", chain=chain)
    found["motion arduino"] = Sample(
        (folder / "m.h").read_bytes(),
        ".h",
        partial(load_motion, companions=Companions(count_values=count_values(chain))),
    )
    found["motion sonic-csv"] = _sonic(folder, robot)
    return found | _recordings(folder) | _clips(folder, robot) | _texts(folder)


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def _robot(folder: Path, base: str) -> Mechanism:
    """Three motors and a head; their names are those of moves of Reachy Mini."""
    names = ["yaw_body", "right_antenna", "left_antenna"]
    joints = [
        {"name": name, "type": "revolute", "parent": parent, "child": name, "position": [0.1 * k, 0, 0],
         "axis": [0, 1, 0], "actuated": True, "limits": [[-3, 3]]}
        for k, (name, parent) in enumerate(zip(names, ["body", "yaw_body", "yaw_body"], strict=True))
    ]  # fmt: skip
    if base == "free":
        joints.insert(0, {"name": "base", "type": "free", "parent": "world", "child": "body"})
    bodies = [{"name": name, "mass": 1.0, "inertia": [0.01, 0.01, 0.01, 0, 0, 0]} for name in ["body", *names]]
    data = {
        "format": "robik", "version": 1, "name": "r", "bodies": bodies, "joints": joints,
        "frames": [{"name": "head", "body": "yaw_body"}],
    }  # fmt: skip
    return load_robot(_written(folder / f"{base}.robik.json", json.dumps(data)))


def _moved(robot: Mechanism) -> Motion:
    times = np.arange(SAMPLES) / 50.0
    base = BaseTrack(
        body="body", position=np.full((SAMPLES, 3), 0.5), quaternion=np.tile([0.6, 0.8, 0, 0], (SAMPLES, 1))
    )
    values = np.sin(np.arange(SAMPLES)[:, None] + np.arange(3))
    return Motion(times=times, actuators=robot.actuators, values=values, base=base)


def _motion(name: str, folder: Path, robot: Mechanism) -> Sample:
    beside, extension = Companions(robot=robot, follow=follow_poses, fps=50.0), FORMATS[name].extensions[0]
    path = folder / f"m{extension}"
    if name == "reachy-move":
        moves = [{"head": head, "antennas": [0.1, 0.2], "body_yaw": 0.1} for head in HEADS]
        data = {"description": "d", "time": [0.0, 0.02, 0.04, 0.06], "set_target_data": moves}
        path.write_text(json.dumps(data))
    elif name != "arduino":
        save_motion(_moved(robot), path, name, beside)
    else:
        path.write_text("")
    return Sample(path.read_bytes(), extension, partial(load_motion, format=name, companions=beside))


def _sonic(folder: Path, robot: Mechanism) -> Sample:
    """The file of a folder that has most in it; the others stay as they are."""
    inside, beside = folder / "sonic", Companions(robot=robot)
    save_motion(_moved(robot), inside, "sonic-csv", beside)

    def read(path: Path) -> object:
        (inside / "body_quat.csv").write_bytes(path.read_bytes())
        return load_motion(inside, None, beside)

    return Sample((inside / "body_quat.csv").read_bytes(), ".csv", read)


def _recordings(folder: Path) -> dict[str, Sample]:
    motion = walking(skeleton("lafan1")[0], 3)
    save_recording(motion, folder / "character.npz")
    np.savez(
        folder / "joints.npz", positions=motion.positions, names=np.array(motion.skeleton.names), fps=np.array(30.0),
        parents=motion.skeleton.parents, times=motion.times,
    )  # fmt: skip
    np.savez(folder / "free.npz", positions=motion.positions, names=np.array(motion.skeleton.names), fps=np.array(30))
    rng = np.random.default_rng(1)
    parents = np.array([2**32 - 1, *range(23)], dtype=np.int64)
    np.savez(
        folder / "model.npz", J_regressor=np.eye(24), v_template=rng.normal(size=(24, 3)),
        shapedirs=np.zeros((24, 3, 2)), kintree_table=np.stack([parents, np.arange(24)]),
    )  # fmt: skip
    np.savez(
        folder / "amass.npz", poses=rng.normal(size=(3, 72)), trans=np.zeros((3, 3)), betas=np.zeros(2),
        mocap_framerate=np.array(60.0),
    )  # fmt: skip
    text = bvh_text(motion)
    made = {name: (folder / f"{name}.npz").read_bytes() for name in ("character", "joints", "free", "amass", "model")}
    return {
        "recording bvh": Sample(text.encode(), ".bvh", load_recording),
        **{f"recording {name}": Sample(made[name], ".npz", load_recording) for name in ("character", "joints", "free")},
        "recording amass": Sample(
            made["amass"], ".npz", partial(load_recording, body_model=_bytes(folder / "good.npz", made["model"]))
        ),
        "recording body model": Sample(made["model"], ".npz", partial(load_recording, folder / "amass.npz")),
    }


def _bytes(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _clips(folder: Path, robot: Mechanism) -> dict[str, Sample]:
    times = np.arange(SAMPLES) / 50.0
    track = Track(np.zeros((SAMPLES, 3)), np.tile([1.0, 0, 0, 0], (SAMPLES, 1)), np.ones(SAMPLES, dtype=bool))
    save_clip(TargetClip(times, {"head": track}, com=np.zeros((SAMPLES, 3))), folder / "clip.npz")
    rows = np.zeros((SAMPLES, 3))
    np.savez(
        folder / "asked.npz", **{
            "times": times, "head.position": rows, "posture.yaw_body": times, "head.in.body.position": rows,
            "head.look_at": rows + 1.0, "head.look_at.axis": np.array([1.0, 0, 0]), "head.distance.body": times,
            "box.obstacle.vertices": np.eye(3), "box.obstacle.triangles": np.array([[0, 1, 2]]),
            "box.obstacle.position": rows,
        },
    )  # fmt: skip
    motion = Motion(
        times=times, actuators=("a",), values=times[:, None], bodies=("b",), position=np.zeros((SAMPLES, 1, 3)),
        quaternion=np.tile([1.0, 0, 0, 0], (SAMPLES, 1, 1)),
    )  # fmt: skip
    save_states(motion, folder / "states.npz")
    clips = {
        f"clip {name}": Sample((folder / f"{name}.npz").read_bytes(), ".npz", load_clip) for name in ("clip", "asked")
    }
    states = Sample((folder / "states.npz").read_bytes(), ".npz", lambda path: load_states(path, motion, ("b",)))
    return clips | {"states": states}


def _chain(folder: Path) -> str:
    servos = [
        {"actuator": "yaw_body", "id": 1},
        {"actuator": "right_antenna", "id": 2, "p_gain": 800, "port": "a"},
        {"actuator": "left_antenna", "id": 3, "port": "a", "position_limits": [-1.0, 1.0], "velocity_limit": 2.0},
    ]
    imu = {"port": "/dev/ttyUSB1", "type": "witmotion", "mounting": [1.0, 0, 0, 0]}
    data = {"format": "robik-servos", "version": 1, "robot": "r", "brand": "dynamixel", "baud_rate": 1000000,
            "imu": imu, "servos": servos}  # fmt: skip
    return json.dumps(data)


def _texts(folder: Path) -> dict[str, Sample]:
    """Files of JSON, and of telemetry."""
    settings = {
        "targets": {"head": {"position_weight": [1, 1, 1], "orientation_weight": [0, 0, 1], "along": [0, 0, 1]}},
        "com_weight": [1, 1, 1], "state_weight": 1e-7, "velocity_weight": 0.1, "velocity_limit": 3.0, "length": 1.0,
        "joint_limits": True, "enforce_velocity": True, "velocity_share": 0.9, "look_ahead": True, "cyclic": False,
        "acceleration_limit": 20.0, "jerk_limit": {"yaw_body": 100.0}, "zero_moment_margin": 0.01, "contacts": "hold",
        "ranges": {"yaw_body": [-1.0, 1.0]}, "objectives": {"head.look_at": 1.0},
    }  # fmt: skip
    targets = [{"frame": "head", "bone": "Head", "weight": 1.0, "orientation_weight": [0.1, 0.1, 0.1]}]
    mapping = {"format": "robik-mapping", "version": 1, "targets": targets}
    acts = [
        {"name": "a", "start": 1.0, "motions": {"r": {"motion": "m.csv", "range": [0, 1], "speed": 1.5, "repeat": 2}}}
    ]
    show = {
        "format": "robik-show",
        "version": 1,
        "robots": {"r": {"servos": "c.servos.json", "port": "sim"}},
        "acts": acts,
    }
    head = "time,on the way,goal a,position a,current a,celsius a,volts a,errors a\n"
    telemetry = head + "".join(f"{k / 50},{k / 50},0.1,0.1,0.5,30,12.0,0\n" for k in range(SAMPLES))
    read = {"settings": (settings, load_settings), "mapping": (mapping, load_rows), "show": (show, load_show),
            "transfer table": ({"a": "-b", "c": "d"}, load_table)}  # fmt: skip
    found = {name: Sample(json.dumps(data).encode(), ".json", reader) for name, (data, reader) in read.items()}
    found["servo chain"] = Sample(_chain(folder).encode(), ".json", load_chain)
    found["telemetry"] = Sample(telemetry.encode(), ".csv", load_telemetry)
    return found
