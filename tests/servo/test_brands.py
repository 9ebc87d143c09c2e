"""A brand is a package and a row: nobody else names a register, and another brand needs nothing else."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from robik.errors import ServoError
from robik.motions import Motion
from robik.servo.brands import registry as brands
from robik.servo.brands.brand import Brand, ServoModel
from robik.servo.brands.driver import Driver
from robik.servo.brands.dynamixel.brand import DYNAMIXEL
from robik.servo.brands.dynamixel.models import MODELS
from robik.servo.brands.dynamixel1.models import MODELS as DYNAMIXEL1_MODELS
from robik.servo.brands.feetech.models import MODELS as FEETECH_MODELS
from robik.servo.brands.registry import BRANDS
from robik.servo.bus.bus import Bus
from robik.servo.bus.line import PortGone
from robik.servo.bus.telemetry import Found, Telemetry
from robik.servo.chain.chain import ServoChain, default_chain
from robik.servo.chain.file import load_chain, save_chain
from robik.servo.chain.servo import Servo
from robik.servo.chain.trajectory import Along
from robik.servo.chain.tuning import Tuning
from robik.servo.port.board import Board
from robik.servo.port.session import Session
from robik.servo.port.status import PlaySettings
from robik.servo.port.stream import Wishes
from robik.servo.setup.setup import open_workshop

CHECKOUT = Path(__file__).parents[2]
BRAND_ROOM = CHECKOUT / "robik/servo/brands"
PACKAGES = [BRAND_ROOM / name for name in BRANDS]
PLACES = ("robik", "scene", "operators", "panels", "demo", "examples")
REGISTRY = "robik/servo/brands/registry.py"
# Names of entries that are words of our own, too: a field, an argument or a property, but never a register.
OUR_WORDS = {
    "id",
    "baud_rate",
    "velocity_limit",
    "torque_limit",
    "current_limit",
    "acceleration_limit",
    "moving",
    "led",
    "lock",
    "p_gain",
    "i_gain",
    "d_gain",
    "punch",
    "profile_acceleration",
}


def sources() -> dict[str, Path]:
    """Our modules outside the brands' packages, by path."""
    files = [file for place in PLACES for file in sorted((CHECKOUT / place).rglob("*.py"))]
    files = [file for file in files if not set(PACKAGES) & set(file.parents)]
    return {str(file.relative_to(CHECKOUT)): file for file in files}


@cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module; four tests look at them."""
    return tuple(ast.walk(ast.parse(file.read_text("utf-8"))))


def imported(file: Path) -> set[str]:
    """Names of the modules that a file imports, as it writes them."""
    found = set()
    for node in nodes(file):
        found |= {node.module or ""} if isinstance(node, ast.ImportFrom) else set()
        found |= {alias.name for alias in node.names} if isinstance(node, ast.Import | ast.ImportFrom) else set()
    return found


def test_nobody_but_the_brand_imports_its_protocol() -> None:
    protocols = re.compile(rf"\b({'|'.join(BRANDS)})\b|dynamixel_sdk|scservo_sdk")
    found = {name: sorted(filter(protocols.search, imported(file))) for name, file in sources().items()}
    assert {name: modules for name, modules in found.items() if modules} == {
        REGISTRY: [f"{name}.brand" for name in sorted(BRANDS)]
    }


def test_no_brand_imports_another() -> None:
    for package in PACKAGES:
        others = re.compile(rf"\b({'|'.join(set(BRANDS) - {package.name})})\b")
        assert not [module for file in package.rglob("*.py") for module in imported(file) if others.search(module)]


def test_ports_are_opened_in_one_place() -> None:
    files = sources() | {str(file.relative_to(CHECKOUT)): file for one in PACKAGES for file in one.rglob("*.py")}
    serial = [name for name, file in files.items() if any(re.match(r"serial\b", one) for one in imported(file))]
    assert serial == ["robik/servo/bus/serial_port.py"]


def test_an_sdk_is_imported_with_its_driver_and_not_before() -> None:
    code = """
import sys
import robik.servo.play.player, robik.servo.setup.command
from robik.servo.brands.driver import driver_of
for brand in ("", "feetech", "dynamixel1", "dynamixel"):
    brand and driver_of(brand)
    print(sorted({"dynamixel_sdk", "scservo_sdk", "serial"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=CHECKOUT)
    assert done.stdout.splitlines() == ["[]", *["['serial']"] * 2, "['dynamixel_sdk', 'serial']"]


def test_what_takes_long_to_import_is_not_waited_for_before_servos_play() -> None:
    code = """
import sys
import robik.motions, robik.servo.play.command, robik.servo.play.player
print(sorted({"numba", "scipy"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=CHECKOUT)
    assert done.stdout == "[]\n"


def test_nobody_but_the_brand_names_its_registers() -> None:
    played = [MODELS[name] for name in DYNAMIXEL.playable]
    registers = {re.sub(r"_\d+$", "", item.name) for model in played for item in model.items}
    registers |= {
        name for models in (FEETECH_MODELS, DYNAMIXEL1_MODELS) for one in models.values() for name in one.table
    }
    registers -= OUR_WORDS
    assert {"torque_enable", "bus_watchdog", "goal_position", "indirect_address"} <= registers
    assert len(sources()) > 250
    found = set()
    for name, file in sources().items():
        for node in nodes(file):
            words = [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
            words += [node.attr] if isinstance(node, ast.Attribute) else [node.id] if isinstance(node, ast.Name) else []
            found |= {(name, word) for word in words if word in registers}
    assert found == set()


# another brand


class ToyLine:
    """Servos of another brand, of which every packet is a line in a list."""

    lines: list[ToyLine] = []

    def __init__(self, chain: ServoChain, port: str) -> None:
        self.name, self._chain, self.servos = port, chain, chain.servos
        self.said: list[str] = []
        self.powered = dict.fromkeys(chain.ids, False)
        self.at = {servo.id: servo.zero for servo in chain.servos}
        self.is_gone = self.is_open = False
        self.takes_speeds, self.latency = True, 0.001
        self.is_open = True
        ToyLine.lines.append(self)

    def _say(self, text: str) -> None:
        if self.is_gone:
            raise PortGone(f"port {self.name} is gone")
        self.said.append(text)

    def close(self) -> None:
        self.is_open = False

    def forget(self) -> None:
        self.servos = self._chain.servos

    def tunings(self) -> list[Tuning]:
        return [Tuning()] * len(self.servos)

    def inquire(self, servo: Servo) -> Found:
        self._say(f"inquire {servo.id}")
        state = {"torque": self.powered[servo.id], "position": self.at[servo.id], "low": 0, "high": 999}
        return Found(**state, is_single_turn=True, volts=6.0, celsius=30.0, celsius_limit=70.0, load_limit=100)

    def leave_out(self, missing) -> None:
        self.servos = tuple(servo for servo in self._chain.servos if servo not in missing)

    def prepare(self) -> None:
        self._say("prepare")

    def positions(self) -> np.ndarray:
        self._say("positions")
        return np.array([self.at[servo.id] for servo in self.servos])

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return (tuple(servo.id for servo in self.servos),)

    def begin_late_look(self, id) -> None:
        """Its goal is not among what it says."""

    def begin_look(self, ids) -> ToyLook:
        return ToyLook(self, ids)

    def look(self) -> list[Telemetry]:
        return [self.look_at(servo, True) for servo in self.servos]

    def look_at(self, servo: Servo, hastily: bool) -> Telemetry:
        self._say(f"look {servo.id}")
        state = {"torque": self.powered[servo.id], "is_guarded": True, "is_stopped": False, "errors": 0, "error": ""}
        return Telemetry(**state, load=1, position=self.at[servo.id], volts=6.0, celsius=30.0)

    def glance(self, servo: Servo) -> Telemetry:
        return self.look_at(servo, True)

    def has_error(self, servo: Servo) -> bool:
        return False

    def are_stopped(self) -> list[bool]:
        return [False] * len(self.servos)

    def set_watchdog(self, seconds: float) -> None:
        self._say(f"watchdog {seconds:g}")

    def send_watchdog_off(self, servos) -> None:
        self._say(f"watchdog off {[servo.id for servo in servos]}")

    def set_speed_limit(self, speeds: np.ndarray) -> None:
        self._say(f"speeds {speeds.round(3).tolist()}")

    def hold_at(self, counts: np.ndarray) -> None:
        self._say(f"hold {counts.tolist()}")

    def send_goals(self, counts: np.ndarray, speeds, places) -> None:
        self._say("goals")
        for k in places:
            self.at[self.servos[k].id] = int(counts[k])

    def set_torque(self, powered) -> None:
        self._say(f"torque {list(powered)}")
        self.powered |= dict(zip((servo.id for servo in self.servos), powered, strict=True))

    def send_torque_off(self) -> None:
        self._say("off")
        self.powered = dict.fromkeys(self.powered, False)

    def confirm_torque_off(self) -> list[bool | None]:
        self._say("confirm")
        return [self.powered[servo.id] for servo in self.servos]

    def reboot(self, servo: Servo) -> None:
        self._say(f"reboot {servo.id}")


class ToyLook:
    """A look that is answered at once."""

    def __init__(self, line: ToyLine, ids) -> None:
        self.ids, self.is_asked, self.seconds = tuple(ids), False, 1e-4
        self.seen: dict[int, Telemetry] = {}
        self._line = line

    @property
    def is_over(self) -> bool:
        return bool(self.seen)

    def ask(self) -> None:
        self.is_asked = True

    def collect(self) -> None:
        self.is_asked = False
        self.seen = {servo.id: self._line.look_at(servo, True) for servo in self._line.servos if servo.id in self.ids}


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Brand:
    """Another brand: a package with a driver, and a row of the registry."""
    unit = 0.01
    model = ServoModel(
        name="T1", counts_per_turn=1000, centre=500, farthest=1500, velocity_unit=unit, factory_velocity=4.0,
        highest_velocity=6.0, max_speed=5.0,
    )  # fmt: skip
    made = Brand(
        name="toy", title="Toy", models={"T1": model}, default_model="T1", baud_rates=(500_000, 1_000_000),
        streaming_baud=500_000, likely_bauds=(500_000,), goal_bytes=(8, 7), speed_bytes=2, look_bytes=20, waking=0.1,
    )  # fmt: skip
    driver = ModuleType("robik.servo.brands.toy.driver")
    driver.DRIVER = Driver(  # type: ignore[attr-defined]
        open_line=lambda chain, port, silence, emergency: ToyLine(chain, port),
        open_workshop=lambda port, baud_rate, emergency: (port, baud_rate),  # type: ignore[arg-type, return-value]
        simulate=lambda chain, now, on_goal: pytest.fail("nobody simulates it"),
    )
    monkeypatch.setitem(brands.BRANDS, "toy", made)
    monkeypatch.setitem(sys.modules, "robik.servo.brands.toy", ModuleType("robik.servo.brands.toy"))
    monkeypatch.setitem(sys.modules, "robik.servo.brands.toy.driver", driver)
    ToyLine.lines.clear()
    return made


def test_a_chain_of_another_brand(toy: Brand, tmp_path: Path) -> None:
    chain = default_chain(("a", "b"), model="T1", baud_rate=500_000, brand="toy")
    assert chain.limits == pytest.approx(np.array([[-np.pi, np.pi * 499 / 500]] * 2))
    assert [servo.velocity_limit for servo in chain.servos] == [4.0, 4.0]
    assert (chain.goal_bytes, chain.packet_bytes(with_speeds=True)) == (22, 26)
    assert chain.servos[0].velocity_units(1.0) == 100
    save_chain(chain, tmp_path / "toy.servos.json")
    data = json.loads((tmp_path / "toy.servos.json").read_text())
    assert data["brand"] == "toy"
    assert "brand" not in data["servos"][0]
    assert load_chain(tmp_path / "toy.servos.json") == chain
    del data["servos"][0]["model"]
    (tmp_path / "toy.servos.json").write_text(json.dumps(data))
    assert load_chain(tmp_path / "toy.servos.json") == chain
    for changes, problem in (
        ({"brand": "other"}, f"unknown brand 'other'; the brands are {', '.join(BRANDS)}"),
        ({"brand": 3}, "unknown brand 3"),
        ({"brand": "dynamixel"}, "unknown model 'T1'"),
        ({"baud_rate": 57_600}, "the baud_rate must be one of 500000, 1000000, not 57600"),
    ):
        (tmp_path / "bad.servos.json").write_text(json.dumps(data | changes))
        with pytest.raises(ServoError, match=problem):
            load_chain(tmp_path / "bad.servos.json")
    with pytest.raises(ServoError, match="its velocity_limit 7 is 7 rad/s at its horn, more than an T1 can be set to"):
        Servo("a", 1, "T1", brand="toy", zero=500, velocity_limit=7.0)
    with pytest.raises(ServoError, match="servos of toy and dynamixel cannot share a port"):
        ServoChain((chain.servos[0], Servo("c", 9)))
    assert open_workshop("COM7", brand="toy") == ("COM7", 500_000)


def session_of(chain: ServoChain, **settings: float) -> Session:
    return Session(Bus(chain, "here"), PlaySettings(**settings), Wishes(60.0), Board(), lambda chain, limits: None)


def test_another_brand_plays(toy: Brand) -> None:
    chain = default_chain(("a", "b"), model="T1", baud_rate=500_000, brand="toy")
    session = session_of(chain, rate=100.0, approach_speed=4.0)
    session.connect()
    session.torque_on()
    (line,) = ToyLine.lines
    told = [text for text in line.said if not text.startswith("look")]
    assert told[-2:] == ["hold [500, 500]", "torque [True, True]"]
    times = np.linspace(0.0, 0.2, 20)
    motion = Motion(times=times, actuators=("a", "b"), values=np.column_stack([times, -times]))
    session.play(Along(motion, chain), False, 0.01)
    assert "played to the end" in session._board.status.message
    assert line.at == {1: 500 + 32, 2: 500 - 32}
    session.torque_off()
    assert line.said[-2:] == ["off", "confirm"]
    assert line.powered == {1: False, 2: False}


# several ports


def two_ports(toy: Brand) -> ServoChain:
    """Three servos, the second one on a port of its own."""
    a, b = default_chain(("a", "b"), model="T1", baud_rate=1_000_000, brand="toy").servos
    return ServoChain((a, Servo("c", 3, "T1", zero=500, brand="toy", port="second"), b))


def test_a_bus_is_cut_on_every_line_before_any_is_read_back(toy: Brand) -> None:
    chain = two_ports(toy)
    bus = Bus(chain, "here")
    here, second = ToyLine.lines
    assert [(line.name, [servo.id for servo in line.servos]) for line in (here, second)] == [
        ("here", [1, 2]), ("second", [3])
    ]  # fmt: skip
    order: list[str] = []
    for line in (here, second):
        line._say = lambda text, line=line: order.append(f"{line.name} {text}")  # type: ignore[method-assign]
    assert bus.cut_torque() == [False, False, False]
    assert order == ["here off", "second off", "here confirm", "second confirm"]


def test_what_lines_say_is_in_the_order_of_the_chain(toy: Brand) -> None:
    bus = Bus(two_ports(toy), "here")
    here, second = ToyLine.lines
    here.at, second.at = {1: 101, 2: 102}, {3: 103}
    assert bus.positions().tolist() == [101, 103, 102]
    seen = bus.look()
    assert seen is not None
    assert [one.position for one in seen] == [101, 103, 102]
    bus.failed.add(2)
    bus.send_goals(np.array([1, 3, 2]))
    assert (here.at, second.at) == ({1: 1, 2: 102}, {3: 3})
    bus.leave_out((bus.chain.servos[0],))
    assert bus.positions().tolist() == [3, 102]
    bus.leave_out((bus._asked.servos[1],))  # nobody is left on the second port, and nothing is asked there
    assert bus.positions().tolist() == [1, 102]
    assert bus.cut_torque() == [False, False]


def test_a_port_that_is_gone_does_not_keep_the_others_from_being_cut(toy: Brand) -> None:
    bus = Bus(two_ports(toy), "here")
    here, second = ToyLine.lines
    bus.set_torque([True] * 3)
    here.is_gone = True
    bus.emergency.press()
    with pytest.raises(PortGone, match="port here is gone"):
        bus.cut_torque()
    assert second.said[-2:] == ["off", "confirm"]
    assert second.powered == {3: False}
    assert bus.emergency.is_pending  # the other port has not been told
    bus.close()
    assert not here.is_open
    assert not second.is_open


def test_a_port_that_cannot_be_opened_leaves_none_open(toy: Brand, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: ToyLine, chain: ServoChain, port: str) -> None:
        if port == "second":
            raise ServoError("port second cannot be opened")
        original(self, chain, port)

    original = ToyLine.__init__
    monkeypatch.setattr(ToyLine, "__init__", refuse)
    with pytest.raises(ServoError, match="port second cannot be opened"):
        Bus(two_ports(toy), "here")
    assert [line.is_open for line in ToyLine.lines] == [False]
