"""Each script in examples/ runs alone, and produces what its docstring says."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import robik
from robik.motions import FORMATS

CHECKOUT = Path(__file__).parents[2]
SCRIPTS = sorted((CHECKOUT / "examples").glob("*.py"))
IN_REAL_TIME = ("play_simulated_servos", "two_robots_show")


def numbers(text: str, pattern: str) -> list[float]:
    """Return the numbers that a pattern's groups find, which must be there."""
    found = re.search(pattern, text)
    assert found, f"{pattern!r} is not in:\n{text}"
    return [float(number) for number in found.groups()]


def solve_an_arm(said: str, out: Path) -> None:
    assert numbers(said, r"off by at most ([\d.]+) µm")[0] < 1.0
    motion = robik.load_motion(out / "arm.csv")
    arm = robik.load("arm7")
    states, _ = robik.posed(arm, motion)
    tool = arm.frame("tool")
    body = states.bodies.index(tool.body)
    path = np.array(
        [
            (robik.Pose(position=tuple(p), quaternion=tuple(q)) @ tool.pose).position
            for q, p in zip(states.quaternion[:, body], states.position[:, body], strict=True)
        ]
    )
    centre = path[0] - [0.0, 0.0, 0.08]
    np.testing.assert_allclose(np.linalg.norm(path - centre, axis=1), 0.08, atol=1e-6)


def solve_loops(said: str, out: Path) -> None:
    assert numbers(said, r"(\d+) loop, (\d+) motors, (\d+) degrees of freedom") == [1, 8, 6]
    assert numbers(said, r"open by at most ([\d.e+-]+) m")[0] < 1e-10
    assert numbers(said, r"pelvis is off by at most ([\d.]+) mm")[0] < 0.1
    assert numbers(said, r"travel by up to ([\d.]+)°")[0] > 1.0


def target_centre_of_mass(said: str, out: Path) -> None:
    start, end = numbers(said, r"from y = ([-\d.]+) mm to y = ([-\d.]+) mm")
    assert abs(start) < 5.0
    assert end == pytest.approx(50.0, abs=0.5)  # over the left foot
    assert numbers(said, r"feet off by at most ([\d.]+) mm")[0] < 0.5


def keep_speeds(said: str, out: Path) -> None:
    [free] = numbers(said, r"enforce_velocity=False: fastest motor at ([\d.]+) %")
    [held] = numbers(said, r"enforce_velocity=True: fastest motor at ([\d.]+) %")
    assert free > 110.0 > 100.1 > held > 99.0


def clip_file(said: str, out: Path) -> None:
    clip, motion = robik.load_clip(out / "punch.npz"), robik.load_motion(out / "punch.csv")
    assert set(clip.tracks) == {"hand"}
    np.testing.assert_array_equal(motion.times, clip.times)
    assert motion.actuators == robik.load("boxer").actuators


def forward_kinematics(said: str, out: Path) -> None:
    assert numbers(said, r"open by at most ([\d.e+-]+) m")[0] < 1e-10
    assert numbers(said, r"the coupler moves by ([\d.]+) mm")[0] > 10.0


def export_formats(said: str, out: Path) -> None:
    written = {line.partition(":")[0] for line in said.splitlines()}
    assert written == {name for name, row in FORMATS.items() if row.write} - {"reachy-move"}  # of one robot alone
    back = dict(re.findall(r"(?m)^(\S+): .* read back within (\S+) rad$", said))
    assert back.keys() == written
    assert 0.0 < float(back.pop("arduino")) < 1e-3, "whole counts"
    assert 0.0 < float(back.pop("lafan1-csv")) < 1e-3, "30 samples per second, of which most lie between those of 50"
    assert max(map(float, back.values())) < 1e-12
    motions = [robik.load_motion(out / "formats" / f"nod-{name}.{name}") for name in ("csv", "json", "npz")]
    for motion in motions[1:]:
        np.testing.assert_array_equal(motion.values, motions[0].values)


def partial_targets(said: str, out: Path) -> None:
    rows = dict(re.findall(r"(?m)^(.+): (\d+) frames fall short", said))
    assert len(rows) == 5
    assert set(rows.values()) == {"0"}
    [both] = numbers(said, r"(?m)^both: .* travel ([\d.]+)°")
    [spinning] = numbers(said, r"free to spin about its z axis: .* travel ([\d.]+)°")
    [anywhere] = numbers(said, r"position only: .* travel ([\d.]+)°")
    assert anywhere < both
    assert spinning < both


def play_simulated_servos(said: str, out: Path) -> None:
    assert "12 servos" in said
    assert said.rstrip().endswith("torque is off")


def track_live(said: str, out: Path) -> None:
    assert numbers(said, r"off by at most ([\d.]+) mm")[0] < 0.5


def ten_tasks(said: str, out: Path) -> None:
    assert [line.split()[0] for line in said.splitlines()] == [str(k) for k in range(1, 11)]
    assert numbers(said, r"(?m)^2 found: True, ([\d.]+) µm off")[0] < 1.0
    assert numbers(said, r"(?m)^3 motors moved by ([\d.e+-]+) rad")[0] < 1e-3
    assert re.search(r"(?m)^5 found: False, flange is \d+\.\d mm off$", said)
    assert numbers(said, r"at most ([\d.]+) µm")[0] < 10.0
    assert numbers(said, r"(?m)^9 live, ([\d.]+) mm off")[0] < 0.5
    assert numbers(said, r"(?m)^10 loops open by ([\d.e+-]+) m")[0] < 1e-10


def inspect_robot(said: str, out: Path) -> None:
    assert "walker: 31 bodies, 6 loops" in said
    assert "four_bar: 4 bodies, 1 loops, mobility 1" in said


def robot_in_code(said: str, out: Path) -> None:
    assert "1 loop, mobility 2" in said
    assert "equal when read: True" in said
    assert json.loads((out / "five_bar.robik.json").read_text(encoding="utf-8"))["name"] == "five_bar"
    assert numbers(said, r"off its line by at most ([\d.]+) µm")[0] < 1.0


def two_robots_show(said: str, out: Path) -> None:
    assert re.search(r"0\.00 to +2\.00 s  act 1: ann bow\.csv, bob bow\.csv", said)
    assert re.search(r"5\.00 to +[\d.]+ s  act 2: ann wave\.csv × 2", said)
    assert len(re.findall(r"(?m)^(ann|bob): played to the end, torque is off ", said)) == 2
    assert (out / "duet.wav").stat().st_size > 100_000


CHECKS: dict[str, Callable[[str, Path], None]] = {
    check.__name__: check
    for check in (
        solve_an_arm, solve_loops, ten_tasks, target_centre_of_mass, keep_speeds, clip_file, forward_kinematics,
        export_formats, partial_targets,
        play_simulated_servos, two_robots_show, track_live, inspect_robot, robot_in_code,
    )
}  # fmt: skip


def test_every_script_has_a_check() -> None:
    assert {script.stem for script in SCRIPTS} == set(CHECKS)
    assert len(CHECKS) == 14


@pytest.mark.parametrize(
    "script",
    [pytest.param(one, id=one.stem, marks=[pytest.mark.real_time] * (one.stem in IN_REAL_TIME)) for one in SCRIPTS],
)
def test_a_script_runs_alone(script: Path, tmp_path: Path) -> None:
    assert ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))), "an example begins with what it shows"
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    found = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
    )
    assert found.returncode == 0, found.stderr
    CHECKS[script.stem](found.stdout, tmp_path / "out")
