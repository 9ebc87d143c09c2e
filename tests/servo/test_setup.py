"""Setting servos up, over the wire."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from robik.errors import ServoError
from robik.motions import Motion
from robik.servo.brands.dynamixel.models import BAUD_RATES
from robik.servo.brands.registry import DEFAULT
from robik.servo.bus.telemetry import Seen, Telemetry
from robik.servo.chain.chain import ServoChain, default_chain
from robik.servo.chain.file import load_chain, save_chain
from robik.servo.chain.servo import Servo
from robik.servo.play.player import Player
from robik.servo.port.recording import Recorder, load_recording
from robik.servo.port.status import PlaySettings, PlayState
from robik.servo.setup.recording_report import tracking_table, write_report
from robik.servo.setup.setup import (
    Dragging,
    assigned,
    edited,
    open_workshop,
    rate_warning,
    turned_round,
    with_another,
    without,
    zeroed,
)

pytestmark = pytest.mark.real_time


@pytest.fixture
def workshop(simulator):
    opened = open_workshop(simulator.port)
    yield opened
    opened.close()


def seen(id, baud_rate=1_000_000):
    return Seen(id, "XH430-W210", 1010, 46, baud_rate)


def report(position: int, load: int = 9, volts: float = 12.0, celsius: float = 41.0) -> Telemetry:
    """A servo that plays."""
    state = {"torque": True, "is_guarded": True, "is_stopped": False, "errors": 0, "error": ""}
    return Telemetry(**state, load=load, position=position, volts=volts, celsius=celsius)


def make_factory_new(simulator, id):
    simulator.command(f"set {id} baud_rate 1")
    simulator.command(f"set {id} return_delay_time 250")


def test_scan_finds_everybody_at_any_baud_rate(workshop, simulator):
    make_factory_new(simulator, 5)
    simulator.command("set 6 model_number 4242")
    simulator.command("set 12 baud_rate 7")
    said = []
    found = workshop.scan((57_600, 1_000_000, 4_500_000), said.append)
    assert said == ["asking at 57600 baud", "asking at 1000000 baud", "asking at 4500000 baud"]
    assert found[0] == Seen(5, "XH430-W210", 1010, 46, 57_600)
    assert [one.id for one in found[1:]] == [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12]
    assert found[-1] == Seen(12, "XH430-W210", 1010, 46, 4_500_000)
    assert found[5] == Seen(6, None, 4242, 46, 1_000_000)
    assert [change.servo.id for change in workshop.advice(found, 1_000_000)] == [5, 5, 12]
    assert workshop.unfit(found) == ["servo 6 is of an unknown model, number 4242; it can be seen, but not set up"]
    with pytest.raises(ServoError, match="unknown model, number 4242"):
        workshop.set_id(found[5], 60)


def test_factory_servos_are_brought_to_streaming_settings(workshop, simulator):
    for id in (2, 3):
        make_factory_new(simulator, id)
    simulator.command("set 3 operating_mode 1")
    simulator.command("set 3 drive_mode 5")
    simulator.command("set 3 homing_offset -7")
    found = [seen(1), seen(2, 57_600), seen(3, 57_600)]
    changes = workshop.advice(found, 1_000_000)
    assert [(c.servo.id, c.entry, c.now, c.wanted) for c in changes] == [
        (2, "return_delay_time", 250, 0),
        (2, "baud_rate", 1, 3),
        (3, "return_delay_time", 250, 0),
        (3, "drive_mode", 5, 1),
        (3, "homing_offset", -7, 0),
        (3, "operating_mode", 1, 3),
        (3, "baud_rate", 1, 3),
    ]
    assert str(changes[1]) == "servo 2: baud rate 1 → 3, 57600 → 1000000 baud"
    workshop.apply(changes)
    assert workshop.advice([seen(1), seen(2), seen(3)], 1_000_000) == []


def test_which_one_is_moved_by_hand(workshop, simulator):
    dragging = Dragging(workshop, [seen(id) for id in range(1, 13)])
    simulator.command("place 4 2060")
    assert dragging.moved() is None
    simulator.command("place 4 2200")
    simulator.command("place 5 2130")  # the next joint gives a little
    assert dragging.moved().id == 4
    assert dragging.moved() is None
    simulator.command("place 7 1900")
    assert dragging.moved().id == 7
    simulator.command("set 2 torque_enable 1")
    with pytest.raises(ServoError, match="servo 2 has its torque on"):
        Dragging(workshop, [seen(2)])


def test_zeros_from_the_pose_by_hand(chain, simulator, tmp_path):
    rng = np.random.default_rng(2)
    placed = rng.integers(1500, 2600, 12)
    for id, counts in enumerate(placed, start=1):
        simulator.command(f"place {id} {counts}")
    mirrored = replace(chain, servos=tuple(replace(s, direction=1 if s.id % 2 else -1) for s in chain.servos))
    rest = {"motor_2": 0.5, "motor_3": -0.25}
    made = zeroed(mirrored, simulator.port, rest)
    with closing(open_workshop(simulator.port)) as workshop:
        values = made.values(np.array([workshop.position(seen(id)) for id in made.ids]))
    assert values == pytest.approx([rest.get(name, 0.0) for name in made.actuators], abs=1e-3)
    save_chain(made, tmp_path / "made.servos.json")
    assert load_chain(tmp_path / "made.servos.json") == made


def test_zeros_of_servos_that_were_turned_beyond_their_turn_by_hand(judged):
    """A single-turn servo counts on while torque is off; with torque on it is within its turn, and so is its zero."""
    servos, judge = judged
    names = ("a", "b", "c", "d")
    chain = default_chain(names, dict.fromkeys(names, (-0.5, 0.5)))
    servos.place(1, 5000)
    servos.place(2, -700)
    servos.change(3, operating_mode=4)
    servos.place(3, 5000)
    judge.port.closePort()
    made = zeroed(chain, servos.port)
    assert [servo.zero for servo in made.servos] == [5000 - 4096, 4096 - 700, 5000, 2048]
    player = Player(made, servos.port, PlaySettings(heartbeat=30.0, watchdog=2.0, silence=2.0))
    player.connect()
    player.wait(PlayState.READY)
    player.torque(True)
    player.wait(PlayState.HOLDING)
    assert player.preflight(Motion(times=np.zeros(1), actuators=names, values=np.zeros((1, 4)))).problems == ()
    player.close()


def test_editing_a_chain():
    chain = default_chain(("a", "b", "c"))
    other = turned_round(chain, 2)
    assert [servo.direction for servo in other.servos] == [1, -1, 1]
    assert turned_round(other, 2) == chain
    with pytest.raises(ServoError, match="no servo 9; it has 1, 2, 3"):
        turned_round(chain, 9)
    made = assigned(chain, "b", Seen(7, "XM540-W270", 1120, 46, 1_000_000))
    assert [(s.actuator, s.id, s.model) for s in made.servos] == [
        ("a", 1, "XH430-W350"),
        ("b", 7, "XM540-W270"),
        ("c", 3, "XH430-W350"),
    ]
    swapped = assigned(chain, "a", Seen(2, "XH430-W350", 1000, 46, 1_000_000))
    assert [(s.actuator, s.id) for s in swapped.servos] == [("a", 2), ("c", 3)]


def test_a_second_servo_comes_in_mirror_and_shares_the_limits():
    chain = default_chain(("a", "b"))
    pair = with_another(chain, replace(chain.servos[0], direction=-1))
    assert [(s.actuator, s.id, s.direction) for s in pair.servos] == [("a", 1, 1), ("a", 3, -1), ("b", 2, 1)]
    narrow = edited(pair, 3, position_limits=(-0.5, 0.5), velocity_limit=2.0, gear_ratio=2.0)
    assert [s.position_limits for s in narrow.servos] == [(-0.5, 0.5), (-0.5, 0.5), chain.servos[1].position_limits]
    assert [s.gear_ratio for s in narrow.servos] == [1.0, 2.0, 1.0]
    assert with_another(without(chain, 1), chain.servos[0]).ids == (2, 1)
    with pytest.raises(ServoError, match="servos of 'a' and 'b' have the same id 2; ids must differ"):
        edited(pair, 3, id=2)
    with pytest.raises(ServoError, match="servo of 'a': its position_limits must be two finite numbers, low then high"):
        edited(pair, 1, position_limits=(1.0, 0.5))
    with pytest.raises(ServoError, match="a chain needs at least one servo"):
        without(without(chain, 1), 2)


def test_a_rate_that_the_baud_cannot_carry_comes_with_the_arithmetic():
    slow = ServoChain(tuple(Servo(f"m{k}", k) for k in range(12)), 57_600)
    assert "74 bytes × 10 bits / 57600 baud = 12.85 ms of the 10.00 ms between goals" in rate_warning(
        slow, PlaySettings()
    )
    assert rate_warning(replace(slow, baud_rate=BAUD_RATES[3]), PlaySettings()) == ""
    assert "122 bytes" in rate_warning(
        replace(slow, baud_rate=BAUD_RATES[3]), PlaySettings(rate=1000.0, feed_forward=True)
    )


def test_from_the_shell(chain, simulator, tmp_path, capsys, monkeypatch):
    from robik.cli import main

    monkeypatch.setitem(vars(DEFAULT), "likely_bauds", (57_600, 1_000_000))
    make_factory_new(simulator, 5)
    on = ["--port", simulator.port]
    assert main(["servos", "scan", *on, "--baud", "57600"]) == 0
    assert "id   5  XH430-W210    firmware 46  57600 baud" in capsys.readouterr().out
    monkeypatch.setattr("builtins.input", lambda _: "n")
    assert main(["servos", "prepare", *on]) == 0
    assert "nothing was changed" in capsys.readouterr().out
    assert main(["servos", "prepare", *on, "--yes"]) == 0
    assert "servo 5: baud rate 1 → 3, 57600 → 1000000 baud\n2 changes made" in capsys.readouterr().out
    simulator.command("place 2 2100")
    save_chain(chain, tmp_path / "c.servos.json")
    assert main(["servos", "zero", *on, "--servos", str(tmp_path / "c.servos.json")]) == 0
    assert load_chain(tmp_path / "c.servos.json").servos[1].zero == 2100
    assert main(["servos", "set", *on, "--id", "77", "--new-id", "78"]) == 2
    assert "no servo of id 77" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")
def test_nobody_can_answer_where_the_standard_input_is_closed(servos):
    servos.change(1, return_delay_time=250)
    code = f"from robik.cli import main; raise SystemExit(main(['servos', 'prepare', '--port', {servos.port!r}]))"
    for shell in ("<&-", "</dev/null"):
        command = f'"$PYTHON" -c "$CODE" {shell}'
        told = subprocess.run(
            ["sh", "-c", command],
            env=os.environ | {"PYTHON": sys.executable, "CODE": code},
            capture_output=True,
            text=True,
            check=False,
        )
        assert told.returncode == 2, told
        assert (
            told.stderr
            == "robik: nothing was changed: nobody can answer here; --yes makes the changes without asking\n"
        )
    assert servos.registers(1)["return_delay_time"] == 250


def test_telemetry_of_earlier_versions_is_read(tmp_path):
    """They wrote every load in the servo's own unit."""
    columns = ("goal", "position", "load", "celsius", "volts", "errors")
    head = ["time", "on the way", *(f"{column} {name}" for name in ("a", "current b") for column in columns)]
    (tmp_path / "t.csv").write_text(",".join(head) + "\n0,0,0.5,0.4,-37,31,12.1,0,1,2,88,32,12.0,0\n")
    recording = load_recording(tmp_path / "t.csv")
    assert recording.names == ("a", "current b")
    assert recording.load.tolist() == [[-37, 88]]
    assert np.isnan(recording.current).all()
    assert (recording.position.tolist(), recording.celsius.tolist()) == ([[0.4, 2]], [[31, 32]])


def test_a_take_is_never_overwritten_and_a_full_disk_ends_it_with_a_word(tmp_path):
    chain = default_chain(("a", "b"))
    one, goals = report(2100), np.array([2048, 2048])
    Recorder(tmp_path / "t.csv", chain).close()
    assert list(tmp_path.iterdir()) == []  # an approach that was aborted
    said = []
    for seen in ([one, None], [None, one], [one, one]):
        recorder = Recorder(tmp_path / "t.csv", chain)
        recorder.add(0.5, 0.25, goals, seen)
        recorder.close()
        said.append(recorder.said)
    assert said[0] == ""
    assert "t-3.csv, since" in said[2]
    takes = [load_recording(tmp_path / name) for name in ("t.csv", "t-2.csv", "t-3.csv")]
    assert [np.isfinite(take.position).tolist() for take in takes] == [[[True, False]], [[False, True]], [[True, True]]]
    assert [take.times.tolist() for take in takes] == [[0.5]] * 3
    full = Recorder("/dev/full", chain)
    full._open = lambda: open("/dev/full", "w")  # noqa: SIM115  (a device is there already: no take would go to it)
    for k in range(1000):
        full.add(0.01 * k, 0.0, goals, [one, one])
    full.close()
    assert full.said == "the recording of telemetry ended early: No space left on device"


def test_the_report_leaves_gaps_where_nobody_looked(tmp_path):
    chain = default_chain(("a", "b", "c"))
    recorder = Recorder(tmp_path / "t.csv", chain)
    for k in range(300):
        time = 0.01 * k
        goals, late = (chain.counts(np.full(3, np.sin(t))) for t in (time, time - 0.03))
        row = [None, None, None]
        row[k % 2] = report(int(late[k % 2]))
        recorder.add(time, time, goals, row)
    recorder.close()
    recording = load_recording(tmp_path / "t.csv")
    assert recording.lag == pytest.approx([0.03, 0.03, 0.0], abs=2e-3)
    table = tracking_table(recording)
    assert [row[4] for row in table] == pytest.approx([41, 41, np.nan], nan_ok=True)
    write_report(recording, tmp_path / "t.html")
    page = (tmp_path / "t.html").read_text()
    assert page.count("<polyline") == 6
    assert "never looked at" in page
    assert "nan" not in page.split("</table>")[1]


def test_how_well_they_followed(tmp_path, capsys):
    from robik.cli import main

    chain = default_chain(("knee <l>", "hip"))
    chain = replace(chain, servos=(chain.servos[0], replace(chain.servos[1], model="XL430-W250")))
    recorder, lag = Recorder(tmp_path / "t.csv", chain), 0.05
    for time in np.arange(0.0, 8.0, 0.01):
        counts = [chain.counts(np.array([np.sin(t), 0.2]))[0] for t in (time, time - lag)]
        seen = [report(int(counts[1])), report(2180, load=5, volts=11.8, celsius=30.0)]
        recorder.add(time, time, np.array([counts[0], 2178]), seen)
    recorder.close()
    assert main(["servos", "report", str(tmp_path / "t.csv"), "-o", str(tmp_path / "t.html")]) == 0
    printed = capsys.readouterr().out
    assert "  50 ms behind; at most 41 °C, 0.02 A" in printed
    assert "at most 30 °C, –" in printed, "it measures no current"
    page = (tmp_path / "t.html").read_text()
    assert page.count("<polyline") == 6
    assert "knee &lt;l&gt;" in page
    assert "<td>41 °C</td><td>0.02 A</td>" in page
    recording = load_recording(tmp_path / "t.csv")
    assert recording.current[0] == pytest.approx([9 * 0.00269, np.nan], abs=1e-4, nan_ok=True)
    assert recording.load[0] == pytest.approx([np.nan, 5], nan_ok=True)
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    assert main(["servos", "report", str(tmp_path / "x.csv"), "-o", str(tmp_path / "t.html")]) == 2
    assert "not a recording of telemetry" in capsys.readouterr().err
