"""Setting up and playing servos of Protocol 1.0, on the independent and the simulated chain."""

from __future__ import annotations

import os
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robik.errors import ServoError
from robik.motions import Motion, save_motion
from robik.physics.motors import motor_data
from robik.servo.brands.driver import driver_of
from robik.servo.bus.emergency import Emergency
from robik.servo.bus.telemetry import Seen
from robik.servo.chain.chain import ServoChain
from robik.servo.chain.file import load_chain, save_chain
from robik.servo.chain.servo import Servo
from robik.servo.chain.tuning import Tuning
from robik.servo.play.command import play
from robik.servo.play.player import Player
from robik.servo.port.status import FARTHEST_WATCHDOG, PlaySettings, PlayState
from robik.servo.setup.command import prepare, scan, torque_off, zero
from robik.servo.setup.setup import assigned, open_workshop, other_brand
from tests.servo.feetech.independent import FeetechChain

from .conftest import NAMES, chain_of, eventually
from .independent import Dynamixel1Chain

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]
PATIENT = PlaySettings(approach_speed=3.0, heartbeat=30.0, watchdog=FARTHEST_WATCHDOG, silence=2.0)
COUNTS_PER_RAD = 1024 / np.radians(300.0)
GOAL = 30
OVERLOAD = 32


def wave(names: tuple[str, ...], seconds: float = 1.0) -> Motion:
    times = np.arange(0.0, seconds + 1e-9, 1 / 60)
    return Motion(times=times, actuators=names, values=0.4 * np.sin(2.0 * times[:, None] + np.arange(len(names))))


def holding(chain: ServoChain, port: str, settings: PlaySettings = PATIENT) -> Player:
    player = Player(chain, port, settings)
    player.connect()
    player.wait(PlayState.READY, PlayState.HOLDING)
    player.torque(True)
    player.wait(PlayState.HOLDING)
    return player


# setting up


@pytest.mark.flaky(reruns=2)  # on a busy machine the other process sees late at which baud rate it was asked
def test_scan_prepare_and_ids(servos: Dynamixel1Chain, capsys: pytest.CaptureFixture[str]) -> None:
    servos.change(2, baud_rate=34, return_delay=250, ccw_limit=0)
    servos.faults(3, noise_after="ff")
    scan(servos.port, None, "dynamixel1")
    said = capsys.readouterr().out
    assert "id   1  AX-12A        firmware 24  1000000 baud" in said
    assert "id   2  AX-12A        firmware 24  57600 baud" in said
    assert "3 servos found" in said
    prepare(servos.port, None, True, "dynamixel1")
    said = capsys.readouterr().out
    assert "servo 2: return delay time 250 → 0, so that it answers at once" in said
    assert "servo 2: ccw angle limit 0 → 1023, since it turns as a wheel without limits" in said
    assert "servo 2: baud rate 34 → 1, 57600 → 1000000 baud" in said
    assert "3 changes made" in said
    assert [servos.registers(2)[name] for name in ("baud_rate", "return_delay", "ccw_limit")] == [1, 0, 1023]
    with closing(open_workshop(servos.port, brand="dynamixel1")) as workshop:
        one, _, three = workshop.scan([1_000_000])
        with pytest.raises(ServoError, match="id 2 is taken by another servo"):
            workshop.set_id(three, 2)
        assert workshop.set_id(three, 9).id == 9
        with pytest.raises(ServoError, match=r"one of 1000000, 500000, .*, 9600, not 3000000"):  # which an AX has not
            workshop.set_baud_rate(one, 3_000_000)
        servos.change(1, lock=1)
        with pytest.raises(ServoError, match="the settings of servo 1 are locked; switch its power off and on"):
            workshop.set_id(one, 7)
    servos.reboot(seconds=0.1)
    eventually(lambda: len(servos.log.events(what="started")) == 3)
    with closing(open_workshop(servos.port, brand="dynamixel1")) as workshop:
        assert [seen.id for seen in workshop.scan([1_000_000])] == [1, 2, 9]  # all was kept without power
        assert workshop.advice(workshop.scan([1_000_000]), 1_000_000) == []


def test_a_scan_finds_every_model_and_every_id() -> None:
    with (
        Dynamixel1Chain(ids=(0, 7, 100, 253), models={7: 18, 100: 310, 253: 107}) as those,
        closing(open_workshop(those.port, brand="dynamixel1")) as workshop,
    ):
        found = workshop.scan([1_000_000])
        assert {one.id: one.model for one in found} == {0: "AX-12A", 7: "AX-18A", 100: "MX-64", 253: "EX-106+"}
        those.line(echo=True)
        assert workshop.scan([1_000_000]) == found
        those.line(echo=False)
        those.change(7, return_level=0)
        silent = next(one for one in workshop.scan([1_000_000]) if one.id == 7)
        level = "its status return level is 0; set it to 2 with DYNAMIXEL Wizard"
        assert workshop.unfit([silent]) == [f"servo 7 answers nothing but pings, as where {level}"]


def test_a_scan_says_as_which_brand_servos_answer(servos: Dynamixel1Chain, capsys: pytest.CaptureFixture[str]) -> None:
    scan(servos.port, 1_000_000, "dynamixel")
    said = capsys.readouterr().out
    assert "no known servo answers as Dynamixel, but 3 as Dynamixel Protocol 1 (AX-12A); add --brand dynamixel1" in said
    scan(servos.port, 1_000_000, "feetech")
    assert "add --brand dynamixel1" in capsys.readouterr().out.splitlines()[-1]
    with FeetechChain(ids=(1, 2)) as others:
        scan(others.port, 1_000_000, "dynamixel1")
        assert "but 2 as Feetech (STS3215); add --brand feetech" in capsys.readouterr().out
    servos.faults(silent=True)
    assert other_brand(servos.port, "feetech") == ("", "")


def test_the_pose_becomes_all_zeros_in_the_file(servos: Dynamixel1Chain, tmp_path: Path) -> None:
    save_chain(chain_of(), tmp_path / "arm.servos.json")
    for id, place in ((1, 540), (2, 500), (3, 512)):
        servos.place(id, place)
    zero(servos.port, tmp_path / "arm.servos.json")
    assert [servo.zero for servo in load_chain(tmp_path / "arm.servos.json").servos] == [540, 500, 512]
    assert servos.powered == set()


def test_torque_off_from_the_shell(servos: Dynamixel1Chain, capsys: pytest.CaptureFixture[str]) -> None:
    servos.change([1, 3], torque=1)
    assert torque_off(servos.port, 1_000_000, "dynamixel1") == 0
    assert servos.powered == set()
    assert capsys.readouterr().out.count("torque is off") == 3


@pytest.mark.parametrize(
    ("number", "change", "problem"),
    [
        (12, {"ccw_limit": 0}, "is in the wheel mode: both its angle limits are 0"),
        (29, {"cw_limit": 4095}, "is in the multi-turn mode: both its angle limits are 4095"),
        (29, {"divider": 2}, "has a resolution divider of 2"),
        (12, {"max_torque": 0}, "has a max torque of 0"),
        (107, {"drive_mode": 2}, "is the slave of another servo"),
        (310, {"torque_mode": 1}, "is in the torque control mode"),
        (12, {"model": 18}, "is AX-18A, not AX-12A as the chain says"),
    ],
)
def test_what_cannot_be_played_is_said(number: int, change: dict[str, int], problem: str) -> None:
    name = {12: "AX-12A", 29: "MX-28", 107: "EX-106+", 310: "MX-64"}[number]
    with Dynamixel1Chain(ids=(1, 2, 3), model=number) as servos:
        servos.change(2, **change)
        player = Player(chain_of(model=name), servos.port, PATIENT)
        player.connect()
        with pytest.raises(ServoError, match=rf"servo 2 \(b\) {problem}"):
            player.wait(PlayState.READY)
        player.close()


def test_a_servo_of_the_other_protocol_wants_a_port_of_its_own() -> None:
    mine = Servo("a", 1, "MX-28", brand="dynamixel1")
    other = Servo("b", 2, "MX-28(2.0)")
    with pytest.raises(ServoError, match="servos of dynamixel1 and dynamixel cannot share a port"):
        ServoChain((mine, other))
    assert ServoChain((mine, replace(other, port="COM9"))).ports == ("COM9",)
    seen = Seen(7, "MX-28", 29, 36, 1_000_000)
    assert assigned(chain_of(), "new", seen).servos[-1].zero == 2048
    assert assigned(chain_of(), "b", seen).servos[1].zero == 2048


# playing


def recorded(path: Path, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Goals and positions (K, n) [rad] of a telemetry."""
    head, *rows = [line.split(",") for line in path.read_text().splitlines()]
    table = np.array([[float(cell or "nan") for cell in row] for row in rows])
    return tuple(table[:, [head.index(f"{what} {name}") for name in names]] for what in ("goal", "position"))  # type: ignore[return-value]


def test_a_motion_file_is_played_and_recorded_back(servos: Dynamixel1Chain, tmp_path: Path) -> None:
    save_chain(chain_of(), tmp_path / "arm.servos.json")
    motion = wave(NAMES)
    save_motion(motion, tmp_path / "wave.csv")
    for id, place in zip((1, 2, 3), motion.values[0] * COUNTS_PER_RAD + 512, strict=True):
        servos.place(id, round(place))
    record = tmp_path / "telemetry.csv"
    patient = {"approach_speed": 3.0, "heartbeat": 30.0, "watchdog": FARTHEST_WATCHDOG, "silence": 2.0}
    assert play(tmp_path / "wave.csv", tmp_path / "arm.servos.json", servos.port, record=str(record), **patient) == 0
    _, positions = recorded(record, NAMES)
    asked = 512 + motion.values[-1] * COUNTS_PER_RAD
    assert np.abs(np.array([servos.look(id)[1] for id in (1, 2, 3)]) - asked).max() <= 1
    seen = [column[~np.isnan(column)] for column in positions.T]
    assert min(map(len, seen)) > 5
    assert all(abs(one[-1] - motion.values[-1, k]) < 0.1 for k, one in enumerate(seen))
    assert [servos.registers(id)["torque_limit"] for id in (1, 2, 3)] == [1022] * 3
    assert [servos.registers(id)["lock"] for id in (1, 2, 3)] == [0] * 3  # only the power would open it again


@pytest.mark.parametrize(("number", "name"), [(12, "AX-12A"), (107, "EX-106+"), (29, "MX-28")])
@pytest.mark.parametrize("where", ["independent", "simulated"])
def test_every_kind_gets_to_where_the_motion_ends(where: str, number: int, name: str, tmp_path: Path) -> None:
    chain = chain_of(model=name)
    motion = wave(NAMES, 2.0)
    with Dynamixel1Chain(ids=(1, 2, 3), model=number, position=chain.servos[0].zero) as servos:
        player = holding(chain, servos.port if where == "independent" else "sim")
        player.play(motion, from_afar=True)
        player.wait(PlayState.HOLDING)
        time.sleep(0.3)
        end = np.array(player.status.present)
        player.close()
    assert np.abs(end - motion.values[-1]).max() <= 1.5 / abs(chain.servos[0].counts_per_unit)


def test_goals_are_small_steps_that_carry_their_speed(servos: Dynamixel1Chain) -> None:
    player = holding(chain_of(), servos.port)
    before = time.monotonic()
    player.play(wave(NAMES), from_afar=True)
    player.wait(PlayState.HOLDING)
    player.close()
    limit = 59 * 6 * 1024 / 300
    for id in (1, 2, 3):
        goals = [goal.counts for goal in servos.log.goals(before, id)]
        assert len(goals) > 50
        assert np.abs(np.diff(goals)).max() <= limit * 0.05  # a computer that stalls for a moment drops goals
    written = [packet.parameters for packet in servos.log.packets(before, instruction=0x83)]
    assert {(parameters[0], parameters[1]) for parameters in written} == {(GOAL, 4)}
    speeds = {int.from_bytes(p[k + 3 : k + 5], "little") for p in written for k in range(2, len(p), 5)}
    assert 0 not in speeds and max(speeds) <= 532  # 59 rev/min in units of 0.111


def test_all_servos_are_looked_at_between_goals(servos: Dynamixel1Chain) -> None:
    player = holding(chain_of(), servos.port)
    before = time.monotonic()
    player.play(wave(NAMES, 2.0), from_afar=True)
    player.wait(PlayState.HOLDING)
    player.close()
    reads = [len(servos.log.packets(before, id, 2)) for id in (1, 2, 3)]
    goals = len(servos.log.packets(before, instruction=0x83))
    assert min(reads) > 0.5 * goals  # each after every goal, but where the machine is busy


def test_a_look_counts_on_the_delay_that_a_servo_is_set_to(servos: Dynamixel1Chain) -> None:
    servos.change(2, return_delay=250)
    with closing(driver_of("dynamixel1").open_line(chain_of(), servos.port, 0.5, Emergency())) as line:
        for servo in line.servos:
            line.inquire(servo)
        at_once, later = (line.begin_look([id]).seconds for id in (1, 2))
    assert later - at_once == pytest.approx(500e-6)


def test_a_goal_is_never_far_from_where_the_servo_was_seen(servos: Dynamixel1Chain) -> None:
    """A servo that is held while its goals go on: let go after all is gone, it turns no farther than its reach."""
    player = holding(chain_of(), servos.port, replace(PATIENT, watchdog=0.1))
    times = np.linspace(0.0, 1.0, 61)
    servos.hold(2)
    held = servos.look(2)[1]
    before = time.monotonic()
    player.play(Motion(times=times, actuators=NAMES, values=np.outer(times, [0.0, 1.5, 0.0])))
    eventually(lambda: player.status.state is PlayState.FAULT)
    assert "servo 2 (b) does not follow" in player.status.message or "servo 2 (b) bears" in player.status.message
    player.close()
    farthest = max(abs(goal.counts - held) for goal in servos.log.goals(before, 2))
    assert farthest < 270 < 1.5 * COUNTS_PER_RAD  # 31, and what 1,208 counts/s make of 0.1 s and of two looks


def test_torque_off_reaches_every_servo_at_once(servos: Dynamixel1Chain) -> None:
    player = holding(chain_of(), servos.port)
    player.play(wave(NAMES, 30.0), from_afar=True)
    player.wait(PlayState.PLAYING)
    player.emergency_stop()
    eventually(lambda: servos.powered == set())
    cut = max(change.time for change in servos.log.torque(on=False))
    time.sleep(0.3)
    assert servos.log.goals(cut) == []  # none comes after it, which might turn torque on again
    player.close()


def test_a_servo_that_was_shut_down_is_let_go_before_it_gets_its_strength_back(servos: Dynamixel1Chain) -> None:
    """One that cooled down says no error any more, has its torque and an old goal, and would run there."""
    servos.change(2, goal=900, speed=0)
    servos.change(2, torque_limit=0)
    servos.change(2, torque=1)
    player = Player(chain_of(), servos.port, PATIENT)
    player.connect()
    with pytest.raises(ServoError, match=r"servo 2 .b. has a hardware error .shut down by an alarm.; .* and reboot it"):
        player.wait(PlayState.READY)
    assert servos.registers(2)["torque_limit"] == 0
    player.reboot()
    player.wait(PlayState.READY)
    assert servos.registers(2)["torque_limit"] == 1023
    player.torque(True)
    player.wait(PlayState.HOLDING)
    player.close()
    assert abs(servos.look(2)[1] - 512) <= 1
    assert servos.powered == {1, 2, 3}


def test_a_servo_whose_supply_is_out_of_range_is_found_and_said(servos: Dynamixel1Chain) -> None:
    """Its answer to a ping is the ping, byte for byte."""
    servos.sense(2, volts=15.0)
    with closing(open_workshop(servos.port, brand="dynamixel1")) as workshop:
        for echo in (False, True):
            servos.line(echo=echo)
            assert [seen.id for seen in workshop.scan([1_000_000])] == [1, 2, 3]
            assert [workshop.wire.ping(id) for id in (2, 4)] == [12, None]
        servos.line(echo=False)
    player = Player(chain_of(), servos.port, PATIENT)
    player.connect()
    with pytest.raises(ServoError, match=r"servo 2 .b. has a hardware error .voltage out of range."):
        player.wait(PlayState.READY)
    player.close()


def test_reboot_gives_an_overloaded_servo_its_strength_back(servos: Dynamixel1Chain) -> None:
    player = holding(chain_of(), servos.port)
    servos.fail(2, OVERLOAD)
    eventually(lambda: player.status.state is PlayState.FAULT)
    assert "servo 2 (b) has a hardware error (overload, shut down by an alarm)" in player.status.message
    assert servos.powered == {1, 3}
    player.reboot()
    eventually(lambda: player.status.state is PlayState.READY)
    player.torque(True)
    player.wait(PlayState.HOLDING)
    assert servos.powered == {1, 2, 3}
    assert servos.registers(2)["torque_limit"] == 1022
    player.close()


def test_weight_is_not_carried_by_servos_whose_stiffness_is_unknown(servos: Dynamixel1Chain) -> None:
    with closing(driver_of("dynamixel1").open_line(chain_of(), servos.port, 0.5, Emergency())) as line:
        assert line.tunings() == [Tuning()] * 3
        line.tune(line.servos[0], Tuning())
    with pytest.raises(ServoError, match="what the motor of an AX-12A can is unknown"):
        motor_data(chain_of().servos[0])
