"""Sensors of tilt beside the bus and on it: their bytes by the vendors' own examples, and playing with one through a
real pty."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.errors import ServoError
from robik.motions import Motion
from robik.servo.chain.chain import ServoChain, default_chain
from robik.servo.chain.file import load_chain, read_chain, save_chain
from robik.servo.imu.boards import BOARDS
from robik.servo.imu.mount import ImuMount
from robik.servo.imu.protocols import PROTOCOLS, Packets
from robik.servo.imu.reader import Imu
from robik.servo.play.player import Player
from robik.servo.port.status import PlayState
from robik.servo.simulator.process import SimulatorProcess
from robik.tilt_feedback import BOUNDS, TiltPlan

from .conftest import PATIENT, until

NEEDS_PTY = pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")
NAMES = ("ankle", "hip")
MOUNT = ImuMount("simulated")
CHAIN = replace(default_chain(NAMES, dict.fromkeys(NAMES, (-1.0, 1.0)), robot="test"), imu=MOUNT)
PER_RADIAN = 4096 / (2 * np.pi)
TIMES = np.arange(0.0, 20.0, 0.05)
STILL = Motion(times=TIMES, actuators=NAMES, values=np.zeros((len(TIMES), 2)))
LEAN = np.array([0.0, 0.08, 0.0])  # [rad] about the body's y


def upright(gains: float = 1.0) -> TiltPlan:
    """A body that stands upright; the ankle turns it about y, the hip against x."""
    rows = gains * np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    up = np.tile([0.0, 0.0, 1.0], (len(TIMES), 1))
    return TiltPlan(body="base", actuators=NAMES, times=TIMES, up=up, gains=np.tile(rows, (len(TIMES), 1, 1)))


# what they say


def test_the_example_of_the_bno08x_datasheet() -> None:
    data = bytes.fromhex("AA AA DE 01 00 92 FF 25 08 8D FE EC FF D1 03 00 00 00 E7")
    (up,) = Packets(PROTOCOLS["bno08x"]).feed(data)
    body = Rotation.from_euler("ZYX", [0.01, -1.10, 20.85], degrees=True)
    assert up == pytest.approx(body.inv().apply([0, 0, 1]), abs=1e-6)


def witmotion(kind: int, *numbers: int) -> bytes:
    body = struct.pack("<2B4h", 0x55, kind, *numbers)
    return body + bytes([sum(body) % 256])


def test_angles_and_quaternions_of_witmotion_say_the_same() -> None:
    body = Rotation.from_euler("ZYX", [70.0, -12.0, 33.0], degrees=True)
    x, y, z, w = (round(32767 * one) for one in body.as_quat())
    angles = witmotion(0x53, round(33 / 180 * 32768), round(-12 / 180 * 32768), 0, 0)
    packets = Packets(PROTOCOLS["witmotion"])
    others = witmotion(0x51, 1, 2, 3, 4) + witmotion(0x52, 0x5355, 0x5355, 0x5955, 0x5955)
    for data in (others + angles, others + witmotion(0x59, w, x, y, z)):
        (up,) = packets.feed(data)
        assert up == pytest.approx(body.inv().apply([0, 0, 1]), abs=2e-4)
    assert packets.feed(witmotion(0x59, 20000, 0, 0, 0)) == [], "no quaternion"


@pytest.mark.parametrize("type", PROTOCOLS)
def test_bytes_in_any_pieces_and_spoilt_ones(type: str) -> None:
    protocol, random = PROTOCOLS[type], np.random.default_rng(3)
    tilts = random.uniform(-1.2, 1.2, (200, 2))
    data, spoilt = b"", 0
    for count, (roll, pitch) in enumerate(tilts.tolist()):
        packet = bytearray(protocol.packet(roll, pitch, count))
        if count % 5 == 4:
            packet[random.integers(len(packet))] ^= 1 << int(random.integers(8))
            spoilt += 1
        data += bytes(packet) + random.bytes(int(random.integers(0, 4)))
    packets, found, at = Packets(protocol), [], 0
    while at < len(data):
        size = int(random.integers(1, 30))
        found += packets.feed(data[at : at + size])
        at += size
    wanted = [Rotation.from_euler("ZYX", [0, p, r]).inv().apply([0, 0, 1]) for r, p in tilts.tolist()]
    off = [min(float(np.abs(up - one).max()) for one in wanted) for up in found]
    assert max(off) < 1e-3, "nothing that nobody said"
    assert len(found) >= 0.97 * (len(tilts) - spoilt)


def test_a_board_says_tenths_of_a_degree() -> None:
    """As the firmware of OP3's OpenCR packs them: `int16_t Roll; int16_t Pitch` at 44, `rpy[k] * 10`."""
    body = Rotation.from_euler("ZYX", [70.0, -12.3, 33.4], degrees=True)
    up = BOARDS["opencr"].up(b"\x4e\x01\x85\xff")
    assert up == pytest.approx(body.inv().apply([0, 0, 1]), abs=1e-9)
    assert (BOARDS["opencr"].id, BOARDS["opencr"].number, BOARDS["opencr"].address) == (200, 29696, 44)


def test_a_sensor_may_sit_in_any_way() -> None:
    mounting = Rotation.from_euler("xyz", [90.0, 0.0, 30.0], degrees=True)
    x, y, z, w = mounting.as_quat()
    body = Rotation.from_euler("xyz", [5.0, -8.0, 100.0], degrees=True)
    said = (body * mounting).inv().apply([0, 0, 1])
    assert ImuMount("p", mounting=(w, x, y, z)).on_body(said) == pytest.approx(body.inv().apply([0, 0, 1]))


# the file


def test_a_chain_keeps_its_sensor(tmp_path: Path) -> None:
    chain = replace(CHAIN, imu=ImuMount("/dev/ttyUSB1", "bno08x", 115200, "pelvis", (0.0, 0.0, 0.0, 2.0)))
    save_chain(chain, tmp_path / "c.servos.json")
    assert load_chain(tmp_path / "c.servos.json") == chain
    assert chain.imu is not None
    assert chain.imu.mounting == (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("imu", "words"),
    [
        ({}, "at least"),
        ({"port": ""}, "port must be a name"),
        ({"port": "p", "type": "gyro"}, "witmotion, bno08x"),
        ({"port": "p", "mounting": [0, 0, 0, 0]}, "quaternion"),
        ({"port": "p", "mounting": "up"}, "quaternion"),
        ({"port": "p", "baud_rate": 1}, "baud_rate must be one of"),
        ({"port": "p", "axes": 1}, "unknown entry 'axes'"),
        ({"port": "p", "id": 200}, "id must be left out, since a witmotion has none"),
        ({"type": "opencr", "id": 253}, "id must be a number up to 252"),
        ({"type": "opencr", "id": 1}, "the imu and the servo of 'a' have the same id 1"),
        ({"type": "opencr", "baud_rate": 115200}, "whose baud_rate it has"),
    ],
)
def test_a_wrong_sensor_is_told(imu: object, words: str) -> None:
    data = {"format": "robik-servos", "version": 1, "imu": imu, "servos": [{"actuator": "a", "id": 1}]}
    with pytest.raises(ServoError, match=words):
        read_chain(data, "robot.servos.json")


# playing


@pytest.fixture(params=[*PROTOCOLS, *BOARDS])
def simulated(request: pytest.FixtureRequest) -> Iterator[tuple[SimulatorProcess, ServoChain]]:
    asked = replace(CHAIN, imu=replace(MOUNT, type=request.param))
    with SimulatorProcess.of(asked) as simulator:
        yield simulator, replace(asked, imu=replace(asked.imu, port=simulator.imu_port))


@pytest.fixture
def board() -> Iterator[tuple[SimulatorProcess, ServoChain]]:
    """A board on the servos' bus."""
    asked = replace(CHAIN, imu=ImuMount(type="opencr"))
    with SimulatorProcess.of(asked) as simulator:
        assert not simulator.imu_port
        yield simulator, asked


@pytest.fixture
def one() -> Iterator[tuple[SimulatorProcess, ServoChain]]:
    with SimulatorProcess.of(CHAIN) as simulator:
        yield simulator, replace(CHAIN, imu=replace(MOUNT, port=simulator.imu_port))


def tilt(simulator: SimulatorProcess, turn: np.ndarray) -> None:
    roll, pitch = np.degrees(turn[:2])
    simulator.command(f"imu tilt {roll} {pitch}")


def goals(simulator: SimulatorProcess) -> np.ndarray:
    """The servos' goals from where they are without a lean [rad]."""
    return np.array([servo["goal_position"] - 2048 for servo in simulator.state().values()]) / PER_RADIAN


def playing(simulator: SimulatorProcess, chain: ServoChain, plan: TiltPlan, is_apart: bool = False) -> Player:
    player = Player(chain, simulator.port, PATIENT, is_apart=is_apart)
    player.connect()
    player.wait(PlayState.READY)
    player.torque(True)
    player.wait(PlayState.HOLDING)
    player.play(STILL, tilt=plan)
    player.wait(PlayState.PLAYING)
    return player


def settles_at(simulator: SimulatorProcess, player: Player, wanted: list[float], within: float = 0.006) -> None:
    until(lambda: np.abs(goals(simulator) - wanted).max() < within, player.heartbeat)


@NEEDS_PTY
@pytest.mark.parametrize("is_apart", [False, True])
def test_a_lean_goes_to_the_servos_and_back(simulated, is_apart: bool) -> None:
    simulator, chain = simulated
    player = playing(simulator, chain, upright(), is_apart)
    settles_at(simulator, player, [0.0, 0.0])
    tilt(simulator, LEAN)
    settles_at(simulator, player, [-BOUNDS.gain * LEAN[1], 0.0])
    until(lambda: "leans 4." in player.status.righting, player.heartbeat)
    tilt(simulator, np.array([0.05, 0.0, 0.0]))
    settles_at(simulator, player, [0.0, BOUNDS.gain * 0.05])
    player.stop()
    player.wait(PlayState.HOLDING)
    player.close()


@NEEDS_PTY
def test_a_sensor_that_goes_silent_or_mad_leaves_plain_goals(one) -> None:
    simulator, chain = one
    player = playing(simulator, chain, upright())
    for fault, again in (("silent", "answer"), ("garble", "clear")):
        tilt(simulator, LEAN)
        settles_at(simulator, player, [-BOUNDS.gain * LEAN[1], 0.0])
        simulator.command(f"imu {fault}")
        settles_at(simulator, player, [0.0, 0.0], 1e-9)
        until(lambda: "is silent: goals are as planned" in player.status.righting, player.heartbeat)
        assert player.status.state is PlayState.PLAYING
        simulator.command(f"imu {again}")
    settles_at(simulator, player, [-BOUNDS.gain * LEAN[1], 0.0])
    simulator.command("imu unplug")
    settles_at(simulator, player, [0.0, 0.0], 1e-9)
    assert player.status.state is PlayState.PLAYING
    player.close()


@NEEDS_PTY
@pytest.mark.parametrize(("fault", "again"), [("silent", "answer"), ("garble", "clear")])
def test_a_board_that_goes_silent_or_mad_leaves_plain_goals_and_looks(board, fault: str, again: str) -> None:
    """Servos are looked at all the while, and goals go out."""
    simulator, chain = board
    player = playing(simulator, chain, upright())
    tilt(simulator, LEAN)
    settles_at(simulator, player, [-BOUNDS.gain * LEAN[1], 0.0])
    simulator.command(f"imu {fault}")
    settles_at(simulator, player, [0.0, 0.0], 1e-9)
    until(lambda: "with id 200 on the servos' bus is silent: goals are" in player.status.righting, player.heartbeat)
    looks, sent = player.status.looks, player.status.sent
    until(lambda: player.status.looks > looks + 10 and player.status.sent > sent + 10, player.heartbeat)
    assert player.status.state is PlayState.PLAYING
    simulator.command(f"imu {again}")
    settles_at(simulator, player, [-BOUNDS.gain * LEAN[1], 0.0])
    player.close()


@NEEDS_PTY
def test_the_emergency_stop_comes_through_while_a_board_is_asked(board) -> None:
    simulator, chain = board
    player = playing(simulator, chain, upright())
    tilt(simulator, LEAN)
    settles_at(simulator, player, [-BOUNDS.gain * LEAN[1], 0.0])
    player.emergency_stop()
    until(lambda: not any(servo["torque_enable"] for servo in simulator.state().values()), player.heartbeat)
    player.close()


@NEEDS_PTY
@pytest.mark.parametrize(
    ("mount", "words"),
    [
        (ImuMount(type="opencr", id=199), "with id 199 on the servos' bus says nothing"),
        (ImuMount(type="opencr", port="/dev/other"), "the chain has none on /dev/other"),
    ],
)
def test_a_board_that_is_not_there_is_told_before_anything_moves(board, mount: ImuMount, words: str) -> None:
    simulator, chain = board
    with pytest.raises(ServoError, match=words):
        playing(simulator, replace(chain, imu=mount), upright())
    assert goals(simulator) == pytest.approx(0.0, abs=0.01)


@NEEDS_PTY
def test_another_device_with_the_boards_id_is_not_taken_for_it(board) -> None:
    """A servo's limits are bytes at that address, too."""
    simulator, chain = board
    one, two = chain.servos
    with pytest.raises(ServoError, match="is no opencr: its model number is"):
        playing(simulator, replace(chain, servos=(one,), imu=ImuMount(type="opencr", id=two.id)), upright())


@NEEDS_PTY
def test_a_robot_that_has_fallen_stops_softly_and_holds(one) -> None:
    simulator, chain = one
    player = playing(simulator, chain, upright())
    tilt(simulator, np.array([0.0, 1.0, 0.0]))
    with pytest.raises(ServoError, match=r"leans 5\d° against the motion: it has fallen; the servos stopped and hold"):
        player.wait(PlayState.HOLDING)
    assert all(servo["torque_enable"] for servo in simulator.state().values())
    assert np.abs(goals(simulator)).max() <= BOUNDS.motor + 1e-3
    player.close()


@NEEDS_PTY
def test_however_it_shakes_no_goal_leaves_the_limits_or_the_bounds(one) -> None:
    simulator, chain = one
    player = playing(simulator, chain, upright(50.0))
    random = np.random.default_rng(0)
    for _ in range(30):
        tilt(simulator, random.uniform(-0.5, 0.5, 3))
        player.heartbeat()
        time.sleep(0.02)
        assert np.abs(goals(simulator)).max() <= BOUNDS.motor + 1e-3
    player.close()


@NEEDS_PTY
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("imu silent", "says nothing; check its power"),
        ("imu garble", "says nothing that a sensor of type witmotion would"),
        ("imu rate 10", "gives 1?[0-9] readings a second, but 40 are needed"),
        ("imu tilt 0 90", "leans 90° against the first frame"),
    ],
)
def test_what_is_wrong_with_it_is_said_before_anything_moves(one, command: str, words: str) -> None:
    simulator, chain = one
    player = Player(chain, simulator.port, PATIENT)
    player.connect()
    player.wait(PlayState.READY)
    player.torque(True)
    player.wait(PlayState.HOLDING)
    simulator.command(command)
    before = goals(simulator)
    player.play(STILL, tilt=upright())
    with pytest.raises(ServoError, match=words):
        player.wait(PlayState.PLAYING)
    assert goals(simulator) == pytest.approx(before)
    player.close()


def test_a_port_that_is_not_there_is_told() -> None:
    with pytest.raises(ServoError, match="the IMU: port /dev/nothing cannot be opened"):
        Imu(ImuMount("/dev/nothing"))


def test_without_a_sensor_there_is_no_feedback() -> None:
    player = Player(replace(CHAIN, imu=None), "sim", PATIENT)
    with pytest.raises(ServoError, match="needs an IMU"):
        player.play(STILL, tilt=upright())
