"""A robot written in code: a planar five-bar linkage whose pen is driven by two motors.

It is checked, saved, and then draws a line.
"""

from pathlib import Path

import numpy as np

import robik

Y = (0.0, 1.0, 0.0)  # every hinge turns about the y axis
HIPS, KNEES, PEN = ((-0.1, 0.0, 0.0), (0.1, 0.0, 0.0)), ((-0.2, 0.0, 0.2), (0.2, 0.0, 0.2)), (0.0, 0.0, 0.4)


def bar(name: str, a: tuple[float, float, float], b: tuple[float, float, float]) -> robik.Body:
    """Return a bar between two points, its own frame at the first of them."""
    return robik.Body(name=name, mass=0.1, com=tuple(0.5 * (np.array(b) - a)), pose=robik.Pose(position=a))


def hinge(
    name: str, parent: str, child: str, position: tuple[float, float, float], actuated: bool = False
) -> robik.Joint:
    """Return a revolute joint about y."""
    return robik.Joint(
        name=name, type="revolute", parent=parent, child=child, position=position, axis=Y, actuated=actuated
    )


robot = robik.Mechanism(
    name="five_bar",
    bodies=(
        bar("thigh_l", HIPS[0], KNEES[0]),
        bar("thigh_r", HIPS[1], KNEES[1]),
        bar("shin_l", KNEES[0], PEN),
        bar("shin_r", KNEES[1], PEN),
    ),
    joints=(
        hinge("hip_l", robik.WORLD, "thigh_l", HIPS[0], actuated=True),
        hinge("hip_r", robik.WORLD, "thigh_r", HIPS[1], actuated=True),
        hinge("knee_l", "thigh_l", "shin_l", KNEES[0]),
        hinge("knee_r", "thigh_r", "shin_r", KNEES[1]),
        hinge("tip", "shin_l", "shin_r", PEN),  # closes the loop
    ),
    frames=(robik.Frame(name="pen", body="shin_l", pose=robik.Pose(position=tuple(np.subtract(PEN, KNEES[0])))),),
)
found = robik.inspect(robot)
print(f"{found.loops} loop, mobility {found.mobility}")

output = Path("out/five_bar.robik.json")
output.parent.mkdir(exist_ok=True)
robik.save_robot(robot, output)
print(f"written: {output}, equal when read: {robik.load(output) == robot}")

times = np.arange(31) / 30
line = np.array(PEN) + 0.05 * np.sin(2 * np.pi * times)[:, None] * [1.0, 0.0, 0.0]
motion = robik.retarget(robot, robik.TargetClip(times, {"pen": robik.Track(position=line)}))
print(f"the pen is off its line by at most {1e6 * motion.report.position_error.max():.2f} µm")
