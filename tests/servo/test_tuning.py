"""Gains and profiles of servos: in chains, written and read back on the independent chains, traces, nudges."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robik.cli import main
from robik.errors import ServoError
from robik.motions import Motion
from robik.servo.chain.chain import ServoChain, default_chain
from robik.servo.chain.file import chain_text, load_chain, save_chain
from robik.servo.chain.servo import Servo
from robik.servo.chain.tuning import Tuning
from robik.servo.play.player import Player
from robik.servo.port.response import response
from robik.servo.port.status import PlayState
from robik.servo.port.trace import Sample
from robik.servo.setup.nudge import quick_nudge, slow_nudge
from robik.servo.simulator.process import SimulatorProcess

from .conftest import PATIENT, open_player, until
from .feetech.independent import FeetechChain
from .independent import IndependentChain

REAL = "this system has no pseudo-terminals"
NAMES = ("a", "b", "c")
FEETECH = default_chain(NAMES, dict.fromkeys(NAMES, (-2.0, 2.0)), model="STS3215", brand="feetech")
DYNAMIXEL = default_chain(NAMES, dict.fromkeys(NAMES, (-2.0, 2.0)), model="XH430-W210")


def with_servo(chain: ServoChain, k: int, **entries: object) -> ServoChain:
    servos = list(chain.servos)
    servos[k] = replace(servos[k], **entries)  # type: ignore[arg-type]
    return replace(chain, servos=tuple(servos))


# what a chain may ask for


def test_gains_are_kept_in_the_file_and_left_out_where_nobody_asks_for_them(tmp_path: Path) -> None:
    chain = with_servo(DYNAMIXEL, 1, p_gain=1200, d_gain=40, profile_acceleration=50.0)
    save_chain(chain, tmp_path / "x.servos.json")
    assert load_chain(tmp_path / "x.servos.json") == chain
    assert chain_text(chain).count("gain") == 2  # that nobody asks for is not there
    assert "p_gain" not in chain_text(DYNAMIXEL)
    assert "profile" not in chain_text(DYNAMIXEL)


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ({"p_gain": 0}, "its p_gain must be a whole number from 1 to 16383, not 0"),
        ({"p_gain": 16384}, "from 1 to 16383, not 16384"),
        ({"i_gain": 2.5}, "its i_gain must be a whole number from 0 to 16383, not 2.5"),
        ({"d_gain": True}, "its d_gain must be a whole number from 0 to 16383, not True"),
        ({"profile_acceleration": 7.0}, "its profile_acceleration must be from 7.5, which stops it"),
        ({"profile_acceleration": 13_000.0}, "to 1.227e.04, not 13000"),
        ({"profile_acceleration": -1.0}, "profile_acceleration"),
        ({"model": "STS3215", "brand": "feetech", "p_gain": 255}, "from 1 to 254, not 255"),
        ({"model": "Reachy Mini", "brand": "reachy", "d_gain": 1}, "an Reachy Mini takes no d_gain; leave it out"),
    ],
)
def test_what_a_servo_cannot_be_tuned_to_is_said(entries: dict[str, object], why: str) -> None:
    with pytest.raises(ServoError, match=why):
        Servo("knee", 1, velocity_limit=3.0, **entries)  # type: ignore[arg-type]


def test_units_are_the_servos_own() -> None:
    unit = 214.577 / 60**2 * 2 * np.pi  # rev/min² in rad/s², from the vendor's page
    assert Servo("a", 1, profile_acceleration=100 * unit / 2, gear_ratio=2.0, velocity_limit=1.0).tuning == Tuning(
        acceleration=100
    )
    gentle = Servo("a", 1, profile_acceleration=0.4 * unit, velocity_limit=0.05)
    assert gentle.tuning == Tuning(acceleration=1), "0 would be none at all"
    assert Servo("a", 1, velocity_limit=0.5).tuning == Tuning(acceleration=0)
    made = Servo(
        "a", 1, "STS3215", brand="feetech", p_gain=16, velocity_limit=1.0, profile_acceleration=2 * np.pi * 2000 / 4096
    )
    assert made.tuning == Tuning(16, None, None, 20)  # in 100 counts/s²


def test_a_p_gain_many_times_the_factorys_is_warned_of() -> None:
    assert Servo("knee", 1, p_gain=3599).tuning_warning == ""
    assert Servo("knee", 1, p_gain=3600).tuning_warning.startswith("P is 4.0 times the factory's 900: knee may shake")
    assert Servo("knee", 1).tuning_warning == ""


# written, and read back

TABLES = {  # names of P, I, D and the profile's acceleration in the independent chains' own tables
    "dynamixel": ("position_p_gain", "position_i_gain", "position_d_gain", "profile_acceleration"),
    "feetech": ("p", "i", "d", "acceleration"),
}
FACTORY = {"dynamixel": (900, 0, 0, 0), "feetech": (32, 0, 32, 0)}


@contextmanager
def chains(brand: str) -> Iterator[tuple[IndependentChain, ServoChain]]:
    made = FeetechChain(ids=(1, 2, 3)) if brand == "feetech" else IndependentChain(ids=(1, 2, 3), model=1000)
    chain = FEETECH if brand == "feetech" else with_model(DYNAMIXEL, "XH430-W350")
    with made as servos:
        yield servos, chain


def with_model(chain: ServoChain, model: str) -> ServoChain:
    return replace(chain, servos=tuple(replace(s, model=model, velocity_limit=3.0) for s in chain.servos))


def own(servos: IndependentChain, brand: str, id: int) -> tuple[int, ...]:
    """What a servo of the independent chain has."""
    registers = servos.registers(id)
    return tuple(registers[name] for name in TABLES[brand])


@pytest.mark.parametrize("is_apart", [False, True])
@pytest.mark.parametrize("brand", TABLES)
@pytest.mark.real_time
@pytest.mark.skipif(not hasattr(os, "openpty"), reason=REAL)
def test_gains_are_written_at_torque_on_and_at_once_and_read_back(brand: str, is_apart: bool) -> None:
    with chains(brand) as (servos, chain):
        asked = with_servo(chain, 1, p_gain=20, profile_acceleration=30.0)
        with closing(Player(asked, servos.port, PATIENT, is_apart=is_apart)) as player:
            player.connect()
            player.wait(PlayState.READY)
            player.ask_tunings()
            until(lambda: player.status.tunings)
            assert [own(servos, brand, id) for id in (1, 2, 3)] == [FACTORY[brand]] * 3  # connecting writes nothing
            assert [tuple(one) for one in player.status.tunings] == [FACTORY[brand]] * 3
            player.tune(replace(asked.servos[0], d_gain=7))  # at once, also without torque
            until(lambda: player.status.tunings[0].d == 7)
            assert own(servos, brand, 1) == (*FACTORY[brand][:2], 7, 0)
            player.torque(True)
            player.wait(PlayState.HOLDING)
            units = asked.servos[1].tuning.acceleration
            assert own(servos, brand, 2) == (20, *FACTORY[brand][1:3], units)
            assert own(servos, brand, 3) == FACTORY[brand]
            player.tune(replace(asked.servos[1], p_gain=21, profile_acceleration=None))  # with torque
            until(lambda: player.status.tunings[1].p == 21)
            assert own(servos, brand, 2) == (21, *FACTORY[brand][1:3], 0)
            player.tune(replace(asked.servos[1], p_gain=None, profile_acceleration=None))  # as it was found
            until(lambda: own(servos, brand, 2) == FACTORY[brand])
            assert (player.status.state, player.status.untuned) == (PlayState.HOLDING, "")
            assert player.chain.servos[0].d_gain == 7
            player.torque(False)
            player.wait(PlayState.READY)
            player.torque(True)
            player.wait(PlayState.HOLDING)
            assert own(servos, brand, 1) == (*FACTORY[brand][:2], 7, 0)
            assert player.chain.servos[0].d_gain == 7


@pytest.mark.parametrize("brand", TABLES)
@pytest.mark.real_time
@pytest.mark.skipif(not hasattr(os, "openpty"), reason=REAL)
def test_a_gain_that_is_not_taken_is_said_and_nothing_stops(brand: str) -> None:
    with chains(brand) as (servos, chain), closing(open_player(chain, servos)) as player:
        servos.faults(2, swallow=[TABLES[brand][0]])
        player.tune(replace(chain.servos[1], p_gain=50))
        until(lambda: player.status.untuned)
        assert player.status.untuned.startswith("servo 2 (b) does not take")
        assert f"stays at {FACTORY[brand][0]}" in player.status.untuned.replace("P ", "")
        assert (player.status.state, player.status.torque) == (PlayState.HOLDING, True)
        servos.mend(2)
        player.tune(replace(chain.servos[1], p_gain=50))
        until(lambda: player.status.tunings and player.status.tunings[1].p == 50)
        assert player.status.untuned == ""


@pytest.mark.real_time
@pytest.mark.skipif(not hasattr(os, "openpty"), reason=REAL)
def test_gains_of_feetech_servos_are_forgotten_without_power_and_wear_nothing_out() -> None:
    with chains("feetech") as (servos, chain), closing(Player(chain, servos.port, PATIENT)) as player:
        servos.change(1, lock=0)
        player.connect()
        player.wait(PlayState.READY)
        player.tune(replace(chain.servos[0], p_gain=50))
        until(lambda: player.status.tunings and player.status.tunings[0].p == 50)
        player.close()
        servos.power_off(1)
        servos.power_on(1)
        until(lambda: own(servos, "feetech", 1)[0] == 32)


@pytest.mark.real_time
@pytest.mark.skipif(not hasattr(os, "openpty"), reason=REAL)
def test_a_servo_that_restarted_gets_its_gains_again() -> None:
    with chains("dynamixel") as (servos, chain), closing(open_player(tuned(chain), servos)) as player:
        servos.reboot(1)
        until(lambda: player.status.state is PlayState.FAULT)
        assert own(servos, "dynamixel", 1)[0] == 900
        until(lambda: servos.log.events(id=1, what="started"))
        player.torque(True)
        player.wait(PlayState.HOLDING)
        assert own(servos, "dynamixel", 1)[0] == 700
        assert player.status.untuned == ""


def tuned(chain: ServoChain) -> ServoChain:
    return with_servo(chain, 0, p_gain=700)


def test_gains_are_refused_while_servos_move(simulator: SimulatorProcess, chain: ServoChain, wave) -> None:
    with closing(open_player(chain, simulator)) as player:
        player.play(wave(5.0), from_afar=True)
        with pytest.raises(ServoError, match="stop them first"):
            player.tune(replace(chain.servos[0], p_gain=1000))
        player.stop()
        player.wait(PlayState.HOLDING)


@pytest.mark.real_time
@pytest.mark.skipif(not hasattr(os, "openpty"), reason=REAL)
def test_the_command_reads_and_sets_gains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with chains("dynamixel") as (servos, chain):
        path = tmp_path / "x.servos.json"
        save_chain(chain, path)
        how = ["servos", "gains", "--port", servos.port, "--servos", str(path)]
        assert main(how) == 0
        assert capsys.readouterr().out.count("P 900, I 0, D 0") == 3
        assert main([*how, "--id", "2", "--p", "4000", "--d", "5"]) == 0
        said = capsys.readouterr().out
        assert "P 4000, I 0, D 5" in said
        assert "P is 4.4 times the factory's 900" in said
        assert own(servos, "dynamixel", 2) == (4000, 0, 5, 0)
        assert not servos.powered
        kept = load_chain(path)
        assert kept == with_servo(chain, 1, p_gain=4000, d_gain=5)
        servos.faults(2, swallow=["position_p_gain"])
        assert main([*how, "--id", "2", "--p", "100"]) != 0
        assert "servo 2 (b) does not take P 100" in capsys.readouterr().err
        assert load_chain(path) == kept
        for wrong in (["--p", "100"], ["--id", "9", "--p", "100"], ["--id", "2", "--p", "0"]):
            assert main([*how, *wrong]) != 0
        said = capsys.readouterr().err
        assert "--id says which servo" in said
        assert "no servo 9" in said
        assert "from 1 to 16383, not 0" in said


# traces


def test_a_trace_follows_one_servo_while_it_holds_and_while_it_plays(
    simulator: SimulatorProcess, chain: ServoChain
) -> None:
    with closing(open_player(chain, simulator)) as player:
        until(lambda: player.status.seen)
        assert player.status.trace == ()
        player.trace(5)
        until(lambda: len(player.status.trace) > 20)
        held = player.status.trace
        assert np.diff([one.time for one in held]).min() > 0
        assert {one.goal for one in held} == {player.status.goals[4]}
        assert held[-1].position == pytest.approx(held[-1].goal, abs=0.002)
        player.trace(6)
        until(lambda: len(player.status.trace) < 20)  # a trace of its own
        rest = dict(zip(chain.actuators, player.status.goals, strict=True))
        player.play(quick_nudge(chain, rest, chain.actuators[5], 0.1))
        seen: dict[float, Sample] = {}
        until(
            lambda: player.status.state is PlayState.HOLDING,
            lambda: seen.update((one.time, one) for one in player.status.trace),
        )
        seen.update((one.time, one) for one in player.status.trace)
        goals = np.array([one.goal for one in seen.values()]) - rest[chain.actuators[5]]
        assert goals.max() == pytest.approx(0.1, abs=0.002)
        assert abs(goals[-1]) < 0.002
        assert 0.09 < max(one.position for one in seen.values()) - rest[chain.actuators[5]] < 0.11
        assert player.status.goals[5] == pytest.approx(rest[chain.actuators[5]], abs=0.002)
        player.trace(None)
        until(lambda: player.status.trace == ())


def test_torque_off_leaves_no_goals(simulator: SimulatorProcess, chain: ServoChain) -> None:
    with closing(open_player(chain, simulator)) as player:
        player.trace(1)
        until(lambda: player.status.trace)
        player.torque(False)
        player.wait(PlayState.READY)
        assert player.status.goals == ()
        until(lambda: player.status.trace and np.isnan(player.status.trace[-1].goal))


# responses


def test_error_and_lag_of_a_late_servo() -> None:
    times = np.arange(0.0, 4.0, 0.01)
    made = [Sample(t, float(np.sin(2 * t)), float(np.sin(2 * (t - 0.05))), 0.1) for t in times]
    found = response(made)
    assert found is not None
    assert found.lag == pytest.approx(0.05, rel=0.02)
    assert found.error == pytest.approx(0.1 / np.sqrt(2), rel=0.05)
    assert found.worst == pytest.approx(0.1, rel=0.02)


def test_a_servo_that_stands_has_no_lag_and_one_without_goals_no_response() -> None:
    still = response([Sample(0.01 * k, 0.3, 0.29, 0.0) for k in range(10)])
    assert still is not None
    assert (still.lag, still.error) == (None, pytest.approx(0.01))
    assert response([Sample(0.01 * k, float("nan"), 0.3, 0.0) for k in range(10)]) is None
    assert response([]) is None


# nudges


def checked(motion: Motion, chain: ServoChain) -> Motion:
    speeds = np.diff(motion.values, axis=0) / np.diff(motion.times)[:, None]
    changes = np.diff(speeds, axis=0) / np.diff(motion.times)[0]
    servo = chain.servos[1]
    assert np.abs(speeds).max() <= servo.velocity_limit
    assert np.abs(changes).max() <= servo.acceleration_limit
    return motion


@pytest.mark.parametrize("way", [0.001, 0.087, 0.35])
@pytest.mark.parametrize("limits", [{}, {"velocity_limit": 0.3}, {"acceleration_limit": 3.0}])
def test_a_quick_nudge_is_as_quick_as_the_limits_let_it_be(way: float, limits: dict[str, float]) -> None:
    chain = with_servo(DYNAMIXEL, 1, **limits)
    motion = checked(quick_nudge(chain, {"a": 0.1, "b": -0.2, "c": 0.3}, "b", way), chain)
    assert motion.values[0].tolist() == motion.values[-1].tolist() == [0.1, -0.2, 0.3]
    assert motion.values[:, 1].max() == pytest.approx(-0.2 + way)
    assert np.ptp(motion.values[:, [0, 2]], axis=0).tolist() == [0.0, 0.0]
    least = max(way / chain.servos[1].velocity_limit, 2 * np.sqrt(way / chain.servos[1].acceleration_limit))
    out = motion.times[int(np.argmax(motion.values[:, 1]))]
    assert least - 0.01 <= out <= 3 * least + 0.02


def test_a_nudge_goes_the_other_way_where_there_is_no_room_and_not_at_all_between_narrow_limits() -> None:
    rest = {"a": 0.0, "b": 1.95, "c": 0.0}
    assert quick_nudge(DYNAMIXEL, rest, "b", 0.1).values[:, 1].min() == pytest.approx(1.85)
    assert slow_nudge(DYNAMIXEL, rest, "b", 0.1, 1.0).values.tolist()[1] == pytest.approx([0.0, 1.85, 0.0])
    with pytest.raises(ServoError, match=r"'b' has no room for 5\.73°"):
        quick_nudge(with_servo(DYNAMIXEL, 1, position_limits=(-0.05, 0.05)), {"a": 0.0, "b": 0.0, "c": 0.0}, "b", 0.1)
    with pytest.raises(ServoError, match="'x' has no servo"):
        quick_nudge(DYNAMIXEL, rest, "x", 0.1)
