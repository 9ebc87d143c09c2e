"""Export of a plan for MuJoCo's viewer: a robot's file that stands and plays, and a scene around it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..errors import FormatError
from ..files import check_writable, write_whole
from ..formats.mjcf.stage import floor_text
from ..formats.mjcf.writer import staged_text
from ..formats.xml_file import XmlText
from .plan import Plan

KEYS = 1000  # at most


def save_scene(plan: Plan, path: str | Path) -> tuple[Path, Path]:
    """Write a scene and, beside it, the robot that it includes.

    The robot has collision spheres in its soles' corners, stiff loops and position actuators with the motors' stiffness
    and limits; the scene has the floor and a key per sample of the motion, with what the motors are told.

    Args:
        plan: The simulation.
        path: The scene's file, `.xml`.

    Returns:
        Paths of scene and robot.

    Raises:
        FormatError: A file that cannot be written, or a scene that is not called `.xml`.
    """
    scene = Path(path)
    if scene.suffix.lower() != ".xml":
        raise FormatError(f"{path}: a scene for MuJoCo is an .xml file")
    robot = scene.with_name(f"{scene.stem}_robot.xml")
    check_writable(scene, robot)
    text, _ = staged_text(plan.mechanism, plan.stage)
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
    return scene, robot
