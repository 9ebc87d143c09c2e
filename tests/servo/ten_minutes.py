"""A show of ten minutes: two robots on simulated chains, and a sound on a device whose clock goes 0.02 % too fast.

`python -m tests.servo.ten_minutes` plays it and prints, for each robot, how far it was behind the sound in each second,
as its servos and the device have it, and what was dropped. Unguided, it would end 125 ms apart.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from contextlib import ExitStack, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from robik.servo.chain.chain import default_chain
from robik.servo.chain.file import save_chain
from robik.servo.port.status import PlaySettings
from robik.servo.simulator.process import SimulatorProcess
from robik.show import sound
from robik.show.command import Asked, show

from .two_robots import NAMES, RATE, Heard, Robot, Stage, song

SKEWED = 48_010  # [Hz]
ROUND, WIDTH, START = 6.0, 0.8, 2.0  # [s], [rad], and when in the show it begins [s]


def wave(times: np.ndarray) -> np.ndarray:
    """Return what both robots play (K,) [rad], from 0 s on: from a stand, over and over."""
    return -WIDTH * np.cos(2 * np.pi * times / ROUND)


def main() -> None:
    """Play, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    seconds = parser.parse_args().seconds
    with TemporaryDirectory() as folder, ExitStack() as opened:
        place, robots = Path(folder), {}
        save_chain(default_chain(NAMES), place / "it.servos.json")
        for name in ("ann", "bob"):
            record = place / f"{name}.goals.csv"
            servos = opened.enter_context(SimulatorProcess(place / "it.servos.json", record=record))
            robots[name] = Robot(servos, record)
        stage, device = Stage(place, robots), Heard(SKEWED)
        times = np.arange(0.0, ROUND + 1e-9, 1 / 60)
        stage.save("wave", times, wave(times))
        part = {"motion": "wave.csv", "repeat": int((seconds - START) // ROUND)}
        acts = [{"start": START, "motions": {"ann": part, "bob": part}}]
        path = stage.write(acts=acts, sound=song(place, seconds))
        sound.default_device = lambda: device
        said = StringIO()
        with redirect_stdout(said):
            show(
                path, Asked(), PlaySettings(approach_speed=1.0, watchdog=1.5, silence=1.5, heartbeat=5.0)
            )  # as hour.py
        found = {name: behind(robot, device) for name, robot in robots.items()}
    print(said.getvalue(), file=sys.stderr)
    counted = re.findall(r"(\w+): played to the end.*\((\d+) goals at .*?, (\d+) dropped", said.getvalue())
    print(json.dumps({"robots": found, "sent and dropped": counted, "apart": apart(found)}, indent=2))


def behind(robot: Robot, device: Heard) -> dict[str, object]:
    """Return how far a robot was behind the sound, second by second [ms]."""
    asked = np.array(device.asked)
    zeros = asked[:, 0] - asked[:, 1] / RATE
    each = [zeros[k : k + 25].min() for k in range(0, len(zeros) - 25, 25)]
    slope, offset = np.polyfit(asked[12 : 12 + 25 * len(each) : 25, 0] - asked[0, 0], each, 1)
    times, values = robot.goals()
    heard = times - (offset + slope * (times - asked[0, 0])) - 0.08 - device.first / RATE  # by the device's clock
    since = heard - START
    speeds = 2 * np.pi / ROUND * WIDTH * np.sin(2 * np.pi * since / ROUND)
    late = []
    for second in np.arange(ROUND, since[-1] - ROUND):
        one = (since > second) & (since < second + 1.0)
        if one.sum() > 20:
            late.append(-np.sum((values[one] - wave(since[one])) * speeds[one]) / np.sum(speeds[one] ** 2))
    late = 1e3 * np.array(late)
    return {
        "seconds": len(late),
        "device slower by [ppm]": round(1e6 * slope, 1),
        "median [ms]": round(float(np.median(late)), 3),
        "drift from first to last minute [ms]": round(float(np.median(late[-60:]) - np.median(late[:60])), 3),
        "worst second [ms]": round(float(late[np.argmax(np.abs(late))]), 3),
        "seconds beyond 5 ms": np.flatnonzero(np.abs(late) > 5.0).tolist(),
        "worst second but for those [ms]": round(float(np.abs(late[np.abs(late) <= 5.0]).max()), 3),
        "each": late.round(2).tolist(),
    }


def apart(found: dict[str, dict]) -> dict[str, float]:
    """Return how far the robots are from each other [ms], and take the lists of seconds away."""
    ann, bob = (np.array(one.pop("each")) for one in found.values())
    both = min(len(ann), len(bob))
    away = np.abs(ann[:both] - bob[:both])
    return {"median [ms]": round(float(np.median(away)), 3), "worst second [ms]": round(float(away.max()), 3)}


if __name__ == "__main__":
    main()
