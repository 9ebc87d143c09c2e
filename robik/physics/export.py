"""Export of a plan for MuJoCo's viewer: a robot's file that stands and plays, and a scene around it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ..errors import FormatError
from ..files import check_writable, write_whole
from ..formats.imported import Notes
from ..formats.mesh_copies import carried
from ..formats.mjcf.stage import Stage, floor_text
from ..formats.mjcf.writer import staged_text
from ..formats.xml_file import XmlText
from .plan import Plan

KEYS = 1000  # at most


def save_scene(plan: Plan, path: str | Path, read_from: str | Path | None = None) -> tuple[Path, Path, tuple[str, ...]]:
    """Write a scene and, beside it, the robot that it includes; return both paths and what cannot be shown.

    The robot has the shapes that it shows, collision spheres in its soles' corners, stiff loops and position actuators
    with the motors' stiffness and limits of torque and speed; the scene has the floor and a key per sample of the
    motion, with the motors' set-points.

    Meshes that would lie outside the folder of `read_from`, the robot's own file, are copied beside the scene; without
    it they are named as they are. Raise FormatError if a file cannot be written, or the scene is not called `.xml`.
    """
    scene = Path(path)
    if scene.suffix.lower() != ".xml":
        raise FormatError(f"{path}: a scene for MuJoCo is an .xml file")
    robot = scene.with_name(f"{scene.stem}_robot.xml")
    check_writable(scene, robot)
    mechanism = plan.mechanism if read_from is None else carried(plan.mechanism, Path(read_from), robot)
    notes = Notes()
    text, _ = staged_text(mechanism, _with_speeds(plan), robot.resolve().parent, notes)
    times = plan.motion.times - plan.motion.times[0]
    every = max(1, -(-len(times) // KEYS))
    goals = np.minimum((times * plan.rate + 1e-6).astype(int), len(plan.goals) - 1)
    keys = [(float(times[k]), plan.positions[k], plan.goals[goals[k]]) for k in range(0, len(times), every)]
    xml = XmlText()
    with xml.within("mujoco", model=f"{plan.mechanism.name} scene"):
        xml.put("include", file=robot.name)
    around = xml.text.rstrip().removesuffix("</mujoco>") + floor_text(plan.stage, keys) + "</mujoco>\n"
    write_whole(robot, text)
    write_whole(scene, around)
    return scene, robot, notes.sentences


def _with_speeds(plan: Plan) -> Stage:
    """Return the stage with the motors' limits of speed, which a simulation of ours keeps itself."""
    own = dict(zip(plan.mechanism.actuators, plan.mechanism.actuator_velocity_limits.tolist(), strict=True))
    drives = {
        name: replace(drive, speed=min(plan.drives[name].speed, own[name])) for name, drive in plan.stage.drives.items()
    }
    return replace(plan.stage, drives=drives)
