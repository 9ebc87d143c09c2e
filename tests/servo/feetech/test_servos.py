"""Setting up and playing Feetech servos, on the independent and the simulated chain, which the vendor's SDK judges."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robik.errors import ServoError
from robik.motions import Motion, save_motion
from robik.robots import load
from robik.servo.brands.driver import driver_of
from robik.servo.bus.telemetry import Seen
from robik.servo.chain.chain import ServoChain, default_chain
from robik.servo.chain.file import load_chain, save_chain
from robik.servo.chain.servo import Servo
from robik.servo.play.command import play
from robik.servo.play.player import Player
from robik.servo.port.status import FARTHEST_WATCHDOG, PlaySettings, PlayState
from robik.servo.setup.command import prepare, scan, torque_off, zero
from robik.servo.setup.setup import assigned, edited, open_workshop
from robik.servo.simulator.process import SimulatorProcess
from tests.servo.independent import IndependentChain

from .conftest import OK, opened
from .independent import FeetechChain

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]
PATIENT = PlaySettings(approach_speed=3.0, heartbeat=30.0, watchdog=FARTHEST_WATCHDOG, silence=2.0)
NAMES = ("a", "b", "c")
COUNTS_PER_RAD = 4096 / (2 * np.pi)
TORQUE, GOAL, SPEED, LOCK, POSITION = 40, 42, 46, 55, 56


def chain_of(names: tuple[str, ...] = NAMES) -> ServoChain:
    return default_chain(names, dict.fromkeys(names, (-2.0, 2.0)), model="STS3215", brand="feetech", robot="arm")


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


def eventually(is_so: Callable[[], object]) -> None:
    ends = time.monotonic() + 60.0
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.02)


# the vendor's SDK on both chains


@pytest.fixture(params=["independent", "simulated"])
def judged(request: pytest.FixtureRequest, servos: FeetechChain) -> Iterator[str]:
    if request.param == "independent":
        yield servos.port
        return
    with SimulatorProcess.of(chain_of()) as process:
        yield process.port


def test_the_sdk_finds_servos_as_they_should_be(judged: str) -> None:
    sdk = opened(judged)
    assert sdk.ping(2) == (777, *OK)
    assert sdk.ReadPos(2) == (2048, *OK)
    assert sdk.WritePosEx(2, 2148, 0, 0) == OK  # a goal turns torque on
    eventually(lambda: sdk.ReadPos(2)[0] == 2148)
    assert sdk.read1ByteTxRx(2, TORQUE) == (1, *OK)
    assert sdk.write1ByteTxRx(2, TORQUE, 0) == OK
    assert sdk.RegWritePosEx(3, 2000, 0, 0) == OK
    assert sdk.read1ByteTxRx(3, TORQUE) == (0, *OK)
    sdk.RegAction()
    eventually(lambda: sdk.ReadPos(3)[0] == 2000)
    sdk.write1ByteTxRx(3, TORQUE, 0)
    assert sdk.unLockEprom(1) == OK
    assert sdk.write1ByteTxRx(3, TORQUE, 128) == OK  # its middle is here
    assert sdk.ReadPos(3) == (2048, *OK)
    raw, *ok = sdk.read2ByteTxRx(3, 31)
    assert (sdk.scs_tohost(raw, 11), *ok) == (-48, *OK)
    assert sdk.LockEprom(1) == OK
    sdk.portHandler.closePort()


def test_what_is_written_with_the_lock_closed_is_gone_with_the_power() -> None:
    """Of the simulated servo; of the independent one the test is below."""
    bus = driver_of("feetech").simulate(chain_of(), 0.0)
    servo = bus.servos[0]
    servo.write(LOCK, b"\x01")
    servo.write(21, b"\x40")
    assert servo.read(21, 1) == b"\x40"
    servo.reboot(1.0)
    assert servo.read(21, 1) == b"\x20"
    servo.write(LOCK, b"\x00")
    servo.write(21, b"\x40")
    servo.reboot(2.0)
    assert servo.read(21, 1) == b"\x40"
    assert servo.read(TORQUE, 1) == b"\x00"


def test_overload_leaves_a_fifth_of_the_torque_until_the_next_goal() -> None:
    bus = driver_of("feetech").simulate(chain_of(), 0.0)
    servo = bus.servos[0]
    servo.motor.blocked = True
    servo.write(GOAL, (2500).to_bytes(2, "little"))
    servo.advance(1.9)
    assert servo.read(65, 1) == b"\x00"
    servo.advance(2.1)
    assert servo.read(65, 1) == b"\x20"
    assert servo.motor.strength == pytest.approx(0.2)
    servo.write(GOAL, (2501).to_bytes(2, "little"))
    assert (servo.read(65, 1), servo.motor.strength) == (b"\x00", 1.0)


# setting up


def test_scan_prepare_and_ids(servos: FeetechChain, capsys: pytest.CaptureFixture[str]) -> None:
    servos.change(2, baud_rate=4, mode=3, phase=28, min_angle=0, max_angle=0, lock=1)
    scan(servos.port, None, "feetech")
    said = capsys.readouterr().out
    assert "id   1  STS3215       firmware 306  1000000 baud" in said
    assert "id   2  STS3215       firmware 306  115200 baud" in said
    assert "3 servos found" in said
    prepare(servos.port, None, True, "feetech")
    assert "5 changes made" not in capsys.readouterr().out.splitlines()[0]
    entries = servos.registers(2)
    assert [entries[name] for name in ("baud_rate", "mode", "phase", "max_angle", "lock")] == [0, 0, 12, 4095, 1]
    with closing(open_workshop(servos.port, brand="feetech")) as workshop:
        one = workshop.scan([1_000_000])[2]
        with pytest.raises(ServoError, match="id 2 is taken by another servo"):
            workshop.set_id(one, 2)
        assert workshop.set_id(one, 9).id == 9
        moved = next(entries for entries in (one["entries"] for one in servos.state().values()) if entries["id"] == 9)
        assert moved["lock"] == 1
    servos.reboot(seconds=0.1)
    eventually(lambda: len(servos.log.events(what="started")) == 3)
    with closing(open_workshop(servos.port, brand="feetech")) as workshop:
        assert [seen.id for seen in workshop.scan([1_000_000])] == [1, 2, 9]  # all was kept without power
        assert workshop.advice(workshop.scan([1_000_000]), 1_000_000) == []


def test_a_baud_rate_that_an_adapter_lost_is_written_again(
    servos: FeetechChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_workshop(servos.port, brand="feetech")) as workshop:
        (one, *_) = workshop.scan([1_000_000])
        send, lost = workshop.wire.send, ["baud_rate"]

        def losing(entry: str, *rest: object) -> None:
            if entry in lost:
                lost.remove(entry)
            else:
                send(entry, *rest)

        monkeypatch.setattr(workshop.wire, "send", losing)
        assert workshop.set_baud_rate(one, 115_200).baud_rate == 115_200
        assert (lost, servos.registers(1)["baud_rate"], servos.registers(1)["lock"]) == ([], 4, 1)


def test_the_lock_is_closed_again_after_an_error(servos: FeetechChain) -> None:
    with closing(open_workshop(servos.port, brand="feetech")) as workshop:
        (one, *_) = workshop.scan([1_000_000])
        servos.change(1, mode=1)
        servos.faults(1, swallow=["mode"])
        with pytest.raises(ServoError, match=r"servo 1 .* does not take 0 as operating mode; it stays at 1"):
            workshop.apply(workshop.advice([one], 1_000_000))
        assert servos.registers(1)["lock"] == 1
        servos.mend(1)
        servos.faults(1, swallow=["id"])
        with pytest.raises(ServoError, match="servo 1 does not take 77 as id"):
            workshop.set_id(one, 77)
        assert servos.registers(1)["lock"] == 1
        servos.mend(1)
        servos.change(1, torque=1)
        with pytest.raises(ServoError, match="has its torque on, which locks its settings"):
            workshop.set_id(one, 77)


def test_zero_makes_the_pose_the_middle_and_keeps_it(servos: FeetechChain, tmp_path: Path) -> None:
    save_chain(chain_of(), tmp_path / "arm.servos.json")
    for id, place in ((1, 2100), (2, 3990), (3, 3)):  # one would count over the end of its turn
        servos.place(id, place)
    zero(servos.port, tmp_path / "arm.servos.json")
    assert [servo.zero for servo in load_chain(tmp_path / "arm.servos.json").servos] == [2048] * 3
    assert [servos.registers(id)["offset"] for id in (1, 2, 3)] == [52, 1942, -2045]
    assert [servos.registers(id)["lock"] for id in (1, 2, 3)] == [1] * 3
    assert servos.powered == set()
    servos.reboot(2, seconds=0.1)
    eventually(lambda: servos.log.events(what="started"))
    assert servos.registers(2)["position"] == 2048
    servos.change(3, torque=1)
    with pytest.raises(ServoError, match=r"servo 3 .* has its torque on; turn it off first"):
        zero(servos.port, tmp_path / "arm.servos.json")


def test_torque_off_from_the_shell(servos: FeetechChain, capsys: pytest.CaptureFixture[str]) -> None:
    servos.change([1, 3], torque=1)
    assert torque_off(servos.port, 1_000_000, "feetech") == 0
    assert servos.powered == set()
    assert capsys.readouterr().out.count("torque is off") == 3


def test_what_cannot_be_played_is_said(servos: FeetechChain) -> None:
    for change, problem in (
        ({"mode": 1}, "is in operating mode 1, not in the position mode"),
        ({"resolution": 2}, "has an angular resolution of 2"),
        ({"phase": 28}, "reports positions beyond one turn"),
        ({"status": 4}, "has a hardware error .overheating."),
        ({"end": 1}, "is of the SCS series"),
        ({"model": 2825}, "is STS3250, not STS3215 as the chain says"),
    ):
        before = {name: servos.registers(2)[name] for name in change}
        servos.change(2, **change)
        player = Player(chain_of(), servos.port, PATIENT)
        player.connect()
        with pytest.raises(ServoError, match=f"servo 2 .b. {problem}"):
            player.wait(PlayState.READY)
        player.close()
        servos.change(2, **before)


def test_another_brand_is_that_of_all_on_the_port() -> None:
    chain = edited(default_chain(NAMES), 2, brand="feetech", model="STS3215")
    assert {(one.brand, one.model) for one in chain.servos} == {("feetech", "STS3215")}
    seen = Seen(7, "STS3250", 2825, 306, 1_000_000)
    assert assigned(chain, "new", seen).servos[-1].brand == "feetech"


# playing


def recorded(path: Path, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Goals and positions (K, n) [rad] of a telemetry."""
    head, *rows = [line.split(",") for line in path.read_text().splitlines()]
    table = np.array([[float(cell or "nan") for cell in row] for row in rows])
    return tuple(table[:, [head.index(f"{what} {name}") for name in names]] for what in ("goal", "position"))  # type: ignore[return-value]


def test_a_motion_file_is_played_and_recorded_back(servos: FeetechChain, tmp_path: Path) -> None:
    save_chain(chain_of(), tmp_path / "arm.servos.json")
    motion = wave(NAMES)
    save_motion(motion, tmp_path / "wave.csv")
    values = motion.values[0] * COUNTS_PER_RAD + 2048
    for id, place in zip((1, 2, 3), values, strict=True):
        servos.place(id, round(place))
    record = tmp_path / "telemetry.csv"
    patient = {"approach_speed": 3.0, "heartbeat": 30.0, "watchdog": FARTHEST_WATCHDOG, "silence": 2.0}
    assert play(tmp_path / "wave.csv", tmp_path / "arm.servos.json", servos.port, record=str(record), **patient) == 0
    _, positions = recorded(record, NAMES)
    asked = np.array([2048 + motion.values[-1] * COUNTS_PER_RAD])
    there = np.array([servos.look(id)[1] for id in (1, 2, 3)])
    assert np.abs(there - asked).max() <= 2
    begin, error = motion.values[:20], 2 / COUNTS_PER_RAD  # a late look already finds the servos on their way
    assert np.all((begin.min(axis=0) - error <= positions[0]) & (positions[0] <= begin.max(axis=0) + error))
    assert np.abs(positions[-1] - motion.values[-1]).max() * COUNTS_PER_RAD <= 40  # on its way there
    took = {goal.id: goal.counts for goal in servos.log.goals()}
    assert np.abs(np.array([took[id] for id in (1, 2, 3)]) - asked).max() <= 1
    assert [servos.registers(id)["torque_limit"] for id in (1, 2, 3)] == [999] * 3
    assert [servos.registers(id)["lock"] for id in (1, 2, 3)] == [1] * 3


def test_goals_are_small_steps_that_carry_their_speed(servos: FeetechChain) -> None:
    player = holding(chain_of(), servos.port)
    before = time.monotonic()
    player.play(wave(NAMES), from_afar=True)
    player.wait(PlayState.HOLDING)
    player.close()
    limit = 3414
    for id in (1, 2, 3):
        goals = [goal.counts for goal in servos.log.goals(before, id)]
        assert len(goals) > 50
        assert np.abs(np.diff(goals)).max() <= limit * 0.05  # a computer that stalls for a moment drops goals
    written = [packet.parameters for packet in servos.log.packets(before, instruction=0x83)]
    assert {(parameters[0], parameters[1]) for parameters in written} == {(GOAL, 6)}
    speeds = {int.from_bytes(p[k + 5 : k + 7], "little") for p in written for k in range(2, len(p), 7)}
    assert 0 not in speeds and max(speeds) <= limit


def test_a_goal_is_never_far_from_where_the_servo_was_seen(servos: FeetechChain) -> None:
    """A servo that is held while its goals go on: let go after all is gone, it turns no farther than its reach."""
    settings = replace(PATIENT, watchdog=0.1)
    player = holding(chain_of(), servos.port, settings)
    times = np.linspace(0.0, 1.0, 61)
    servos.hold(2)
    held = servos.look(2)[1]
    before = time.monotonic()
    player.play(Motion(times=times, actuators=NAMES, values=np.outer(times, [0.0, 1.5, 0.0])))
    eventually(lambda: player.status.state is PlayState.FAULT)
    assert "servo 2 (b) does not follow" in player.status.message or "servo 2 (b) bears" in player.status.message
    player.close()
    farthest = max(abs(goal.counts - held) for goal in servos.log.goals(before, 2))
    assert farthest < 900 < 1.5 * COUNTS_PER_RAD  # 100, and what 3,414 counts/s make of 0.1 s and of two looks


def test_torque_off_reaches_every_servo_at_once(servos: FeetechChain) -> None:
    player = holding(chain_of(), servos.port)
    player.play(wave(NAMES, 30.0), from_afar=True)
    player.wait(PlayState.PLAYING)
    player.emergency_stop()
    eventually(lambda: servos.powered == set())
    cut = max(change.time for change in servos.log.torque(on=False))
    time.sleep(0.3)
    assert servos.log.goals(cut) == []  # none comes after it, which would turn torque on again
    player.close()


def test_a_dynamixel_and_a_feetech_port_play_by_one_clock(servos: FeetechChain) -> None:
    feetech = replace(chain_of(), servos=chain_of().servos).servos
    with IndependentChain(ids=(11, 12)) as others:
        mixed = tuple(replace(one, port=servos.port) for one in feetech)
        chain = ServoChain((Servo("x", 11, "XH430-W350"), *mixed, Servo("y", 12, "XH430-W350")))
        player = holding(chain, others.port)
        before = time.monotonic()
        motion = wave(chain.actuators, 30.0)
        player.play(motion, from_afar=True)
        player.wait(PlayState.PLAYING)
        time.sleep(0.5)
        servos.fail(2, 0x08)
        with pytest.raises(ServoError, match=r"servo 2 \(b\) has a hardware error .too much current."):
            player.wait(PlayState.HOLDING)
        stood = [others.look(id)[1] for id in (11, 12)] + [servos.look(id)[1] for id in (1, 3)]
        time.sleep(0.3)
        assert stood == [others.look(id)[1] for id in (11, 12)] + [servos.look(id)[1] for id in (1, 3)]
        assert others.log.goals(before) and servos.log.goals(before)
        player.emergency_stop()
        eventually(lambda: not servos.powered and not others.powered)
        player.close()


def test_a_mixed_chain_is_simulated_on_a_port_per_brand(tmp_path: Path) -> None:
    mixed = tuple(replace(one, port="COM9") for one in chain_of().servos)
    chain = ServoChain((Servo("x", 11, "XH430-W350"), *mixed))
    save_chain(chain, tmp_path / "mixed.servos.json")
    assert load_chain(tmp_path / "mixed.servos.json") == chain
    player = holding(chain, "sim")
    player.play(wave(chain.actuators, 0.3), from_afar=True)
    assert "to the end" in player.wait(PlayState.HOLDING).message
    player.close()


@pytest.mark.parametrize("where", ["independent", "simulated"])
def test_an_so100_is_played_and_recorded_back_within_two_counts(where: str, shared_data: Path, tmp_path: Path) -> None:
    robot = load(shared_data / "example-robot-data/robots/so_arm_description/urdf/so100.urdf")
    names = robot.actuators
    limits = dict(zip(names, map(tuple, robot.actuator_limits.tolist()), strict=True))
    chain = default_chain(names, limits, dict.fromkeys(names, 3.0), "STS3215", robot="so100", brand="feetech")
    middle, room = chain.limits.mean(axis=1), np.ptp(chain.limits, axis=1) / 2
    times = np.linspace(0.0, 4.0, 241)
    sway = np.minimum(0.5, 0.6 * room) * np.sin(np.pi * times[:, None] / 2 + np.arange(len(names)))
    motion = Motion(times=times, actuators=names, values=middle + sway)
    with FeetechChain(ids=tuple(range(1, len(names) + 1))) as servos:
        record = tmp_path / "telemetry.csv"
        port = servos.port if where == "independent" else "sim"
        player = holding(chain, port, replace(PATIENT, record=str(record)))
        player.play(motion, from_afar=True)
        player.wait(PlayState.HOLDING)
        time.sleep(0.3)
        end, late = np.array(player.status.present), player.status.lateness_p99
        player.close()
    goals, positions = recorded(record, names)
    assert np.abs(end - motion.values[-1]).max() * COUNTS_PER_RAD <= 2
    behind = np.abs(positions[1:] - goals[:-1])  # where a look finds a servo: at the goal before the one just sent
    counts = np.rint(behind * COUNTS_PER_RAD)  # the record has five digits, so two counts are 2.001 there
    fastest = np.abs(np.diff(motion.values, axis=0) / np.diff(times)[:, None]).max() * COUNTS_PER_RAD
    assert np.nanpercentile(counts, 95) <= 2 + fastest * late  # a servo is further on where a computer is late
