"""A show of two simulated robots and a sound: out/duet.show.json and its files, and how it goes.

From the shell: `robik show out/duet.show.json`. With real robots, name their ports instead of `sim`.
"""

import json
import wave
from pathlib import Path

import numpy as np

import robik
from robik.servo.chain.chain import default_chain
from robik.servo.chain.file import save_chain
from robik.servo.port.status import PlaySettings
from robik.show.command import Asked, show

out = Path("out")
out.mkdir(exist_ok=True)
joints = ("shoulder", "elbow")
save_chain(default_chain(joints), out / "arm.servos.json")

times = np.arange(121) / 60
bow = 0.3 * (1 - np.cos(np.pi * times))
shake = 0.4 * np.sin(np.pi * times)
for name, values in {"bow": [bow, -bow], "wave": [shake, 2 * shake]}.items():
    robik.save_motion(robik.Motion(times=times, actuators=joints, values=np.array(values).T), out / f"{name}.csv")

rate, seconds = 48_000, np.arange(8 * 48_000) / 48_000
with wave.open(str(out / "duet.wav"), "wb") as file:
    file.setparams((1, 2, rate, 0, "NONE", "not compressed"))
    file.writeframes((8000 * np.sin(2 * np.pi * 330 * seconds) * np.exp(-(seconds % 1.0) * 5)).astype("<i2").tobytes())

robots = {name: {"servos": "arm.servos.json", "port": "sim"} for name in ("ann", "bob")}
acts = [
    {"start": 0, "motions": {"ann": "bow.csv", "bob": "bow.csv"}},
    {"start": 5, "motions": {"ann": {"motion": "wave.csv", "repeat": 2}}},  # ann goes over by itself; bob stands
]
duet = {"format": "robik-show", "version": 1, "robots": robots, "acts": acts, "sound": "duet.wav", "others": "stop"}
(out / "duet.show.json").write_text(json.dumps(duet, indent=2), encoding="utf-8")

show(out / "duet.show.json", Asked(is_check=True), PlaySettings())  # what would play, and when
show(out / "duet.show.json", Asked(), PlaySettings(torque_after=False))
