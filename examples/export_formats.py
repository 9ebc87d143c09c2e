"""One motion in every format and back: chosen by name, with servo counts for a board that plays alone."""

from pathlib import Path

import numpy as np

import robik
from robik.motions import FORMATS, Companions
from robik.robots import servos_path
from robik.servo.chain.export import count_values, export_motion
from robik.servo.chain.file import load_chain

robot = robik.load("walker")
rest = np.concatenate([joint.rest for joint in robot.actuated])


def nod(times: np.ndarray) -> np.ndarray:
    """Return the motors' values (T, A) [rad] at times (T,) [s]."""
    return rest + 0.1 * np.sin(2 * np.pi * times)[:, None] ** 2


times = np.arange(50) / 50
motion = robik.Motion(times=times, actuators=robot.actuators, values=nod(times))

folder = Path("out/formats")
folder.mkdir(parents=True, exist_ok=True)
chain = load_chain(servos_path("walker"))
for name, row in FORMATS.items():
    if row.write and name != "reachy-move":  # of one robot alone
        file = folder / f"nod-{name}{row.extensions[0]}"
        export_motion(motion, file, name, chain=chain, robot=robot)
        told = f"{name}: {file}, {file.stat().st_size} bytes"
        # What is needed to read differs: the robot for columns without names, a rate, servos for their counts. Formats
        # that do not say their rate are written at the one that their readers take.
        companions = Companions(robot=robot, fps=row.rate or 50.0, count_values=count_values(chain))
        back = robik.load_motion(file, name, companions)
        print(f"{told}, read back within {np.abs(back.values - nod(back.times)).max():.1e} rad")
