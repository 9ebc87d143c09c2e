"""A clip of targets as a file: written, read, and followed with weights.

The same from the shell: `robik solve boxer out/punch.npz -o out/punch.csv`.
"""

from pathlib import Path

import numpy as np

import robik

robot = robik.load("boxer")
times = np.arange(60) / 60
punch = np.array([0.2, 0.0, 0.3]) + 0.1 * np.sin(2 * np.pi * times)[:, None] * [1.0, 0.0, 0.2]

file = Path("out/punch.npz")
file.parent.mkdir(exist_ok=True)
robik.save_clip(robik.TargetClip(times, {"hand": robik.Track(position=punch)}), file)

clip = robik.load_clip(file)
settings = robik.Settings(targets={"hand": robik.Weights(position=(1.0, 1.0, 0.0))})  # the height does not matter
motion = robik.retarget(robot, clip, settings)
robik.save_motion(motion, "out/punch.csv")
print(f"{file}: {len(clip.times)} samples of {', '.join(clip.tracks)}")
print(f"{len(motion.times)} frames of {', '.join(motion.actuators)} in out/punch.csv")
