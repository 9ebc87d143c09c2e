"""Rehearsal: a motion that falls becomes one that stands, as MuJoCo has it without the planner."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from robik.cli import main
from robik.commands import rehearsal as command
from robik.dynamics.drives import Drive
from robik.formats import save_robot
from robik.motions import BaseTrack, Motion, load_motion, save_motion
from robik.physics import planned, run
from robik.physics.export import save_scene
from robik.physics.rehearsal import Rehearsal, rehearse

from .robots import standing_still, tower

STRONG = {"ankle": Drive(400.0, 100.0)}


def swinging(seconds: float = 0.8) -> Motion:
    """The weight swings so fast that its foot is torn off the floor."""
    times = np.arange(int(100 * seconds) + 1) / 100.0
    values = 0.3 * np.sin(2.0 * np.pi * 1.3 * times) * np.clip(times / 0.3, 0.0, 1.0)
    still = BaseTrack(
        body="foot", position=np.zeros((len(times), 3)), quaternion=np.tile([1.0, 0, 0, 0], (len(times), 1))
    )
    return Motion(times=times, actuators=("ankle",), values=values[:, None], base=still)


@pytest.fixture(scope="module")
def rehearsed() -> Rehearsal:
    return rehearse(tower(), swinging(), STRONG)


def falls_at(folder: Path, goals: Motion) -> float | None:
    """Return when the foot leans by 0.6 rad, with 100 goals a second for the scene of the viewer."""
    plan = planned(tower(), swinging(), STRONG)
    model = mujoco.MjModel.from_xml_path(str(save_scene(plan, folder / "stage.xml")[0]))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    for time, row in zip(goals.times, goals.values, strict=True):
        data.ctrl[:] = row
        mujoco.mj_step(model, data, 10)
        if data.body("foot").xmat[8] < np.cos(0.6):
            return float(time)
    return None


def test_a_motion_that_falls_stands_rehearsed(rehearsed: Rehearsal, tmp_path: Path) -> None:
    for carry in (False, True):
        plan = planned(tower(), swinging(), STRONG, carry=carry)
        assert not run(plan).stands
        assert falls_at(tmp_path, replace(plan.reference, values=plan.goals)) is not None
    assert rehearsed.stands
    assert falls_at(tmp_path, rehearsed.goals) is None


def test_what_comes_out_is_what_physics_made(rehearsed: Rehearsal) -> None:
    """Speeds are the values' derivatives, torques the springs', and goals begin half a second before."""
    made, goals = rehearsed.motion, rehearsed.goals
    assert made.times == pytest.approx(swinging().times)
    assert goals.times[[0, -1]] == pytest.approx([-0.5, 0.8])
    assert made.rates is not None
    assert np.median(np.abs(np.gradient(made.values[:, 0], made.times) - made.rates.values[:, 0])) < 0.1
    sent = goals.values[goals.times > -1e-9, 0]
    spring = 400.0 * (np.roll(sent, 1) - made.values[:, 0]) - 8.0 * made.rates.values[:, 0]
    assert np.median(np.abs(np.clip(spring, -100.0, 100.0) - rehearsed.torque[:, 0])[1:]) < 1.0
    assert rehearsed.contact["sole"].mean() > 0.9
    assert 0.0 < rehearsed.likeness.base_mean_m < 0.1
    assert rehearsed.replay is not None
    assert rehearsed.replay.stands, "on this very plant the goals alone do the same"


def test_the_same_seed_gives_the_same_bits() -> None:
    one, other = (rehearse(tower(), swinging(0.1), STRONG, seed=1) for _ in range(2))
    assert np.array_equal(one.goals.values, other.goals.values)
    assert np.array_equal(one.motion.values, other.motion.values)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    save_robot(tower(), tmp_path / "tower.robik.json")
    save_motion(swinging(2.0), tmp_path / "swinging.csv")
    return str(tmp_path / "tower.robik.json"), str(tmp_path / "swinging.csv")


def test_the_command_writes_what_stands_and_nothing_else(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short, over, out, goals = (tmp_path / name for name in ("short.csv", "over.csv", "out.npz", "goals.csv"))
    save_motion(swinging(0.3), short)
    assert main(["rehearse", files[0], str(short), "-o", str(out), "--goals", str(goals)]) == 0
    assert "stands to the end, rehearsed" in capsys.readouterr().out
    assert load_motion(out).times == pytest.approx(swinging(0.3).times)
    assert load_motion(goals).times[0] == pytest.approx(-0.5)
    out.unlink()
    save_motion(replace(swinging(0.3), values=np.full((31, 1), 1.2)), over)
    assert main(["rehearse", files[0], str(over), "-o", str(out)]) == 1
    told = capsys.readouterr()
    assert told.out.startswith("no goals were found that keep it up: falls at frame 0: weight left sole forwards")
    assert "out.npz was not written" in told.err
    assert not out.exists()


def test_an_interrupt_keeps_what_there_is(
    files: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pressed: list[float] = []  # once: a second time ends the command

    def press(_: object, text: str) -> None:
        until = float(text.removeprefix("stands until ").split()[0])
        if until > 0.1 and not pressed:
            pressed.append(until)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(command.ProgressLine, "tell", press)
    out, before = tmp_path / "out.csv", signal.getsignal(signal.SIGINT)
    assert main(["rehearse", *files, "-o", str(out), "--json"]) == 130
    told = json.loads(capsys.readouterr().out)
    assert 0.1 < told["until_s"] < 1.0
    assert told["stands"] is False
    assert load_motion(out).times[-1] == pytest.approx(told["until_s"], abs=0.02)
    assert signal.getsignal(signal.SIGINT) is before


def test_bad_input_is_told_in_a_sentence(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    robot, motion = files
    bare = tmp_path / "bare.csv"
    save_motion(replace(swinging(), base=None), bare)
    boxer = tmp_path / "boxer.csv"
    still = replace(standing_still(tower()), base=None)
    save_motion(still, boxer)
    for arguments, said in (
        ([robot, str(bare), "-o", str(tmp_path / "out.csv")], "no base columns"),
        ([robot, motion, "-o", str(tmp_path / "out.unknown")], "out.unknown"),
        ([robot, motion, "-o", str(tmp_path / "out.csv"), "--p-gain", "900"], "--servos"),
        ([robot, str(tmp_path / "none.csv"), "-o", str(tmp_path / "out.csv")], "none.csv"),
        (["boxer", motion, "-o", str(tmp_path / "out.csv")], "swinging.csv"),
    ):
        assert main(["rehearse", *arguments]) == 2
        told = capsys.readouterr().err
        assert said in told
        assert told.count("\n") == 1
        assert not list(tmp_path.glob("out*"))
