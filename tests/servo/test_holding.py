"""Torque On, and what holds then, on independent chains of each brand."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from robik.errors import ServoError
from robik.motions import Motion
from robik.servo.brands.driver import driver_of
from robik.servo.bus.emergency import Emergency
from robik.servo.bus.line import ServoSilent
from robik.servo.chain.chain import ServoChain, default_chain
from robik.servo.chain.file import load_chain, save_chain
from robik.servo.play.player import Player
from robik.servo.port.status import FARTHEST_WATCHDOG, PlaySettings, PlayState
from robik.servo.setup.command import zero
from robik.servo.simulator.process import SimulatorProcess

from .dynamixel1.independent import Dynamixel1Chain
from .feetech.independent import FeetechChain
from .independent import IndependentChain
from .late_torque import AWAY, Bridge, tried

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]
NAMES = ("a", "b", "c")
PATIENT = PlaySettings(heartbeat=30.0, watchdog=FARTHEST_WATCHDOG, silence=2.0)
DEADLINE = 30.0  # [s]
MODEL = "XH430-W350"


@dataclass(frozen=True)
class Kind:
    """A brand's servos.

    Attributes:
        brand, model: of theirs.
        chain: an independent one.
        goal: the name that the independent chain has for the goal position.
        other: an entry of as many bytes as the position, that is written while torque is turned on.
        turned: an entry with which counts mean something else, the independent chain's name for it, and such a value.
    """

    brand: str
    model: str
    chain: type[IndependentChain]
    goal: str
    other: str
    turned: tuple[str, str, int]

    def robot(self, names: tuple[str, ...] = NAMES) -> ServoChain:
        return default_chain(names, dict.fromkeys(names, (-2.0, 2.0)), model=self.model, brand=self.brand)


KINDS = [
    Kind("dynamixel", MODEL, IndependentChain, "goal_position", "profile_velocity", ("drive_mode", "drive_mode", 1)),
    Kind("feetech", "STS3215", FeetechChain, "goal", "goal_speed", ("homing_offset", "offset", 300)),
    Kind("dynamixel1", "AX-12A", Dynamixel1Chain, "goal", "moving_speed", ("ccw_angle_limit", "ccw_limit", 900)),
]


@pytest.fixture(params=KINDS, ids=[kind.brand for kind in KINDS])
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param


@pytest.fixture
def servos(kind: Kind) -> Iterator[IndependentChain]:
    with kind.chain(ids=(1, 2, 3)) as chain:
        yield chain


@contextmanager
def connected(chain: ServoChain, port: str, **settings: object) -> Iterator[Player]:
    player = Player(chain, port, replace(PATIENT, **settings))
    try:
        player.connect()
        player.wait(PlayState.READY, PlayState.HOLDING, PlayState.FAULT)
        yield player
    finally:
        player.close()


def hold(player: Player) -> None:
    player.torque(True)
    player.wait(PlayState.HOLDING)


def ended(player: Player) -> str:
    """How it stands once it holds, or why it does not."""
    status = player.wait(PlayState.HOLDING, PlayState.FAULT, timeout=DEADLINE)
    return f"{status.state.value}: {status.message}"


@contextmanager
def meanwhile(act: Callable[[int], object], every: float) -> Iterator[None]:
    """Does something over and over, with its number."""
    is_over = threading.Event()

    def run() -> None:
        number = 0
        while not is_over.wait(every):
            act(number := number + 1)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


# where they stand


def test_no_late_answer_is_taken_for_a_position(kind: Kind) -> None:
    """Another entry of the same size, asked for by turns, on a bridge whose answers are up to 150 ms late."""
    chain, seen = kind.robot(("a",)), list[int]()
    with kind.chain(ids=(1,), position=700) as servos:
        bridge = Bridge(servos.port, seed=1)
        with closing(driver_of(kind.brand).open_line(chain, bridge.name, 0.15, Emergency())) as line:
            bridge.delay(0.15, after=0)
            for _ in range(40):
                with suppress(ServoSilent):
                    line._wire.read_each(kind.other)
                with suppress(ServoSilent):
                    seen += line.positions().tolist()
        bridge.close()
    assert len(seen) > 10
    assert set(seen) == {700}


@pytest.mark.parametrize("seed", range(6))
def test_a_lone_servo_stays_where_it_is_while_answers_are_late(seed: int) -> None:
    said, away = tried(0.15, seed)
    assert away <= AWAY, said


def test_torque_stays_off_while_somebody_turns_a_horn(kind: Kind, servos: IndependentChain) -> None:
    start = servos.look(2)[1]
    turning = meanwhile(lambda number: servos.place(2, start + 20 * number), every=0.05)
    with connected(kind.robot(), servos.port) as player, turning:
        player.torque(True)
        said = ended(player)
    assert said.startswith("fault: servo 2 (b) stood at ")
    assert "torque is not turned on; hold it still" in said
    assert servos.powered == set()


def test_torque_goes_off_again_where_a_horn_leaves_its_place(kind: Kind, servos: IndependentChain) -> None:
    start = round(servos.look(2)[1])
    with connected(kind.robot(), servos.port) as player:
        player.torque(True)
        while not servos.powered >= {1, 2, 3}:
            time.sleep(0.005)
        servos.change(2, **{kind.goal: start + 250})
        said = ended(player)
    assert said.startswith("fault: servo 2 (b) left ")
    assert "when torque was turned on, which is off again" in said
    assert servos.powered == set()


# what holding needs


@pytest.fixture
def dynamixels() -> Iterator[IndependentChain]:
    with IndependentChain(ids=(1, 2, 3)) as chain:
        yield chain


@pytest.mark.parametrize("mode", [3, 5])
def test_pwm_and_current_that_another_tool_took_are_given_back(dynamixels: IndependentChain, mode: int) -> None:
    limits = {id: dynamixels.registers(id) for id in (1, 2, 3)}
    dynamixels.change(operating_mode=mode)
    dynamixels.change(goal_pwm=0, goal_current=0)
    with connected(KINDS[0].robot(), dynamixels.port) as player:
        hold(player)
    for id in (1, 2, 3):
        now = dynamixels.registers(id)
        assert now["goal_pwm"] == limits[id]["pwm_limit"] == 885
        assert now["goal_current"] == (limits[id]["current_limit"] if mode == 5 else 0)


@pytest.mark.parametrize(
    ("index", "entries", "words"),
    [
        (0, {"position_p_gain": 0}, "P gain of 0"),
        (0, {"pwm_limit": 0}, "PWM limit of 0"),
        (0, {"operating_mode": 5, "current_limit": 0}, "current limit of 0"),
        (1, {"p": 0}, "P gain of 0"),
        (1, {"max_torque": 0}, "max torque limit of 0"),
        (2, {"cw_margin": 200}, "compliance margin of 200 counts"),
        (2, {"max_torque": 0, "torque_limit": 0}, "max torque of 0"),
    ],
)
def test_a_servo_that_would_hold_nothing_is_not_called_holding(index: int, entries: dict[str, int], words: str) -> None:
    kind = KINDS[index]
    with kind.chain(ids=(1, 2, 3)) as servos:
        servos.change(2, **entries)
        with connected(kind.robot(), servos.port) as player:
            player.torque(True)
            said = ended(player)
        assert said.startswith("fault: servo 2 (b) has a ")
        assert words in said
        assert servos.powered == set()


# goals of somebody else's


def test_a_goal_that_somebody_else_sends_is_named_while_they_hold(kind: Kind, servos: IndependentChain) -> None:
    start = round(servos.look(2)[1])
    with connected(kind.robot(), servos.port) as player:
        hold(player)
        servos.change(2, **{kind.goal: start + 40})
        said = player.wait(PlayState.FAULT, timeout=DEADLINE).message
    assert f"servo 2 (b) has a goal of {start + 40} counts that nobody here sent" in said


@pytest.mark.parametrize("rate", [50.0, 100.0])
def test_a_second_program_that_sends_goals_stops_what_plays(kind: Kind, servos: IndependentChain, rate: float) -> None:
    start = round(servos.look(2)[1])
    times = np.arange(0.0, 20.0, 1 / 60)
    values = 0.1 * np.sin(times[:, None] + np.zeros(3))
    with connected(kind.robot(), servos.port, rate=rate) as player:
        hold(player)
        player.play(Motion(times=times, actuators=NAMES, values=values))
        player.wait(PlayState.PLAYING)
        with meanwhile(lambda number: servos.change(2, **{kind.goal: start + 150 * (-1) ** number}), every=0.021):
            said = player.wait(PlayState.FAULT, timeout=DEADLINE).message
    assert "that nobody here sent: another program moves it; end that program" in said
    assert "the others stopped and hold" in said


def test_nobody_is_suspected_where_servos_miss_goals(kind: Kind, servos: IndependentChain) -> None:
    times = np.arange(0.0, 3.0, 1 / 60)
    values = 0.5 * np.sin(3.0 * times[:, None] + np.zeros(3))
    with connected(kind.robot(), servos.port) as player:
        hold(player)
        servos.faults(misses=0.1, jitter=0.02)
        player.play(Motion(times=times, actuators=NAMES, values=values))
        player.wait(PlayState.PLAYING)
        assert ended(player) == "holding: played to the end, holding"


# the settings under which a zero was taken


def test_what_changes_a_zeros_meaning_is_named_at_connecting(
    kind: Kind, servos: IndependentChain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "robot.servos.json"
    save_chain(kind.robot(), file)
    zero(servos.port, file)
    kept = json.loads(file.read_text())["servos"][1]["zero_settings"]
    name, theirs, value = kind.turned
    assert kept[name] == servos.registers(2)[theirs] != value
    with connected(load_chain(file), servos.port) as player:
        assert player.status.state is PlayState.READY
        assert dict(player.status.zero_settings[1]) == kept
    servos.change(2, **{theirs: value})
    with connected(load_chain(file), servos.port) as player:
        said = player.status.message
        assert player.status.state is PlayState.FAULT
    changed = f"its {name.replace('_', ' ')} is {value} instead of {kept[name]}"
    assert f"servo 2 (b) is not set as when its zero was taken: {changed}; set it back" in said
    zero(servos.port, file)
    with connected(load_chain(file), servos.port) as player:
        assert player.status.state is PlayState.READY


def test_a_chain_with_a_robots_settings_plays_on_simulated_servos(kind: Kind) -> None:
    ours = {"dynamixel": ("operating_mode", 4), "feetech": ("homing_offset", -700)}
    settings = ours.get(kind.brand, (kind.turned[0], kind.turned[2]))
    robot = kind.robot()
    robot = replace(robot, servos=tuple(replace(one, zero_settings=(settings,)) for one in robot.servos))
    with SimulatorProcess.of(robot) as process, connected(robot, process.port) as player:
        hold(player)
        assert np.abs(player.status.present).max() < 0.02


def test_settings_that_are_none_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "robot.servos.json"
    save_chain(KINDS[0].robot(), file)
    data = json.loads(file.read_text())
    data["servos"][0]["zero_settings"] = {"drive_mode": "reverse"}
    file.write_text(json.dumps(data))
    with pytest.raises(ServoError, match=r"its zero_settings must be whole numbers by name, not .*reverse"):
        load_chain(file)
