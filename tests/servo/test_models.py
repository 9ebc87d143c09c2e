"""Control tables against the vendor's pages, typed in here a second time, and data files of the user's."""

from __future__ import annotations

import json
import subprocess
import sys
from math import tau
from pathlib import Path

import pytest

from robik.servo.brands.dynamixel.brand import DYNAMIXEL
from robik.servo.brands.dynamixel.line import watchdog_units
from robik.servo.brands.dynamixel.models import MODEL_NAMES, MODELS, PROBLEMS, torque_places
from robik.servo.brands.registry import BRANDS
from robik.servo.brands.tables import own_folder, read_tables, user_folder

from .independent.table import MODELS as INDEPENDENT
from .independent.table import NEWER_XL330

# From the vendor's pages: number, rev/min without load, then of the control table velocity limit, its highest,
# temperature limit, lowest and highest voltage, current limit and its unit [mA], gains: velocity I and P, position D, I
# and P.
TYPED = """
XH430-W350  1000   30   130 1023 80  95 160  648 2.69  1920 100    0   0  900
XH430-W210  1010   50   210 1023 80  95 160  648 2.69  1920 100    0   0  900
XM430-W350  1020   46   200 1023 80  95 160 1193 2.69  1920 100    0   0  800
XM430-W210  1030   77   330 1023 80  95 160 1193 2.69  1920 100    0   0  800
XH430-V350  1040   31   135 1023 80 110 300  689 1.34  1920 100    0   0  800
XH430-V210  1050   52   230 1023 80 110 300  689 1.34  1920 100    0   0  800
XL430-W250  1060   61   265 1023 72  60 140    0 0     1000 100 4000   0  640
XC430-W150  1070  106   460 1023 80  60 160    0 0     1920 100    0   0  460
XC430-W240  1080   70   306 1023 80  60 160    0 0     1920 100    0   0  700
2XL430-W250 1090   61   250 1023 72  60 140    0 0     1800 100 2000   0  640
XH540-W270  1100   39   167 1023 80  95 160 2047 2.69  1920 100    0   0  800
XH540-W150  1110   70   300 1023 80  95 160 2047 2.69  1920 100    0   0  800
XM540-W270  1120   30   128 1023 80  95 160 2047 2.69  1920 100    0   0  800
XM540-W150  1130   53   230 1023 80  95 160 2047 2.69  1920 100    0   0  800
XH540-V270  1140   34   128 1023 80 110 300 1188 2.69  1920 100    0   0  800
XH540-V150  1150   60   230 1023 80 110 300 1188 2.69  1920 100    0   0  800
2XC430-W250 1160   64   275 1023 80  60 160    0 0     1920 100    0   0  700
XW540-T260  1170   40   167 1023 80  95 160 2047 2.69  1920 100    0   0  800
XW540-T140  1180   72   304 1023 80  95 160 2047 2.69  1920 100    0   0  800
XL330-M077  1190  383  1620 2047 70  35  70 1750 1      400  40    0 400  400
XL330-M288  1200  103   445 2047 70  35  70 1750 1     1600 180    0   0  400
XC330-T181  1210  113   510 2047 70  55 140  910 1     1200  40    0   0  900
XC330-T288  1220   71   320 2047 70  55 140  910 1     1200  40    0   0  900
XC330-M181  1230  129   545 2047 70  35  70 2352 1     1400 100  500   0 1200
XC330-M288  1240   81   350 2047 70  35  70 2352 1     1600  50  500   0 1100
XW430-T333  1270   31   139 1023 80  95 160 2047 2.69  1920 100    0   0  900
XW430-T200  1280   53   235 1023 80  95 160 2047 2.69  1920 100    0   0  900
XW540-H260  1310   33   145 1023 80 110 300 1188 2.69  1920 100    0   0  800
MX-28(2.0)    30   55   380 1023 80  95 160    0 0     1920 100    0   0  850
MX-64(2.0)   311   63   435 1023 80  95 160 1941 3.36  1920 100    0   0  850
MX-106(2.0)  321   45   360 1023 80  95 160 2047 3.36  1920 100    0   0  850
"""
GAINS = ("velocity_i_gain", "velocity_p_gain", "position_d_gain", "position_i_gain", "position_p_gain")
ROWS = [row.split() for row in TYPED.strip().splitlines()]
# what differs besides, by what the names begin with
OTHERS = {
    "XL330": {"shutdown": 53, "present_input_voltage": 50, "pwm_slope": 140},
    "XC330-T": {"pwm_slope": 255},
    "XC330-M": {"present_input_voltage": 50, "pwm_slope": 140},
    "XH430-V": {"present_input_voltage": 240},
    "XH540-V": {"present_input_voltage": 240},
    "XW540-H": {"present_input_voltage": 240},
    "XC430-W150": {"moving_threshold": 20},
    "XW430": {"protocol_type": 1},
    "MX": {"acceleration_limit": 32767},
}


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_factory_values_are_the_vendors(row: list[str]) -> None:
    name, number, *others = row
    rpm, velocity, fastest, celsius, lowest, highest, current = map(int, others[:7])
    model = MODELS[name]
    assert MODEL_NAMES[int(number)] == name
    assert model.max_speed == pytest.approx(rpm / 60 * tau)
    assert (model.current_unit or 0.0) == pytest.approx(float(others[7]) / 1000)
    own = {"model_number": int(number), "velocity_limit": velocity, "temperature_limit": celsius}
    own |= {"max_voltage_limit": highest, "min_voltage_limit": lowest} | dict(
        zip(GAINS, map(int, others[8:]), strict=True)
    )
    for start, values in OTHERS.items():
        own |= values if name.startswith(start) else {}
    if current:
        own |= {"current_limit": current, "goal_current": current}
    shared = {entry.name: entry.initial for entry in INDEPENDENT[1060].entries.values()}
    for item in model.items:
        if not item.name.startswith(("indirect", "external")) and item.name not in ("present_current", "present_load"):
            assert item.initial == own.get(item.name, shared.get(item.name)), item.name
    assert set(own) <= set(model.table)
    assert (model.table["velocity_limit"].high, model.table["min_voltage_limit"].high) == (fastest, highest)


@pytest.mark.parametrize("name", DYNAMIXEL.playable)
def test_addresses_sizes_and_access_are_those_of_the_independent_table(name: str) -> None:
    model, has_current = MODELS[name], "current_limit" in MODELS[name].table
    number = 1200 if "330" in name else 1000 if has_current else 1060
    theirs = {entry.name: entry for entry in INDEPENDENT[number].entries.values()}
    extra = {item.name for item in model.items} - set(theirs)
    lacks = set(theirs) - {item.name for item in model.items}
    assert {name.rstrip("123") for name in extra} <= {
        "external_port_mode_",
        "external_port_data_",
        "acceleration_limit",
    }
    assert lacks == ({"led"} if name.startswith("XW") else set())
    for item in model.items:
        if item.name not in extra:
            entry = theirs[item.name]
            found = (item.address, item.size, "RW" if item.writable else "R", item.is_signed)
            assert found == (entry.address, entry.size, entry.access, entry.low < 0), item.name
    ports = {item.name: item.address for item in model.items if item.name.startswith("external")}
    assert (ports == {}) == (name[1:5] not in ("H540", "M540"))
    assert [ports[name] for name in sorted(ports)] in ([], [152, 154, 156, 56, 57, 58])


def test_newer_firmware_of_the_330_keeps_indirect_data_elsewhere() -> None:
    for name in ("XL330-M077", "XL330-M288", "XC330-T181", "XC330-T288", "XC330-M181", "XC330-M288"):
        assert [MODELS[name].with_firmware(v).indirect for v in (46, 52, 53, 60)] == [(168, 208)] * 2 + [(168, 224)] * 2
    theirs = INDEPENDENT[NEWER_XL330].entries
    newer = MODELS["XL330-M288"].with_firmware(53)
    assert {i.name: i.address for i in newer.items} == {entry.name: entry.address for entry in theirs.values()}
    assert MODELS["XM430-W350"].with_firmware(60).indirect == (168, 224)


def test_the_p_series_and_its_kin_are_known_by_their_addresses_but_not_played() -> None:
    numbers = {"PH42-020-S300": 2000, "PH54-100-S500": 2010, "PH54-200-S500": 2020}
    numbers |= {"PM42-010-S260": 2100, "PM54-040-S250": 2110, "PM54-060-S250": 2120}
    numbers |= {"H42-20-S300-RA": 51201, "H54-100-S500-RA": 53769, "H54-200-S500-RA": 54025}
    numbers |= {"M42-10-S260-RA": 43289, "M54-40-S250-RA": 46097, "M54-60-S250-RA": 46353, "XL-320": 350}
    assert {name: MODELS[name].number for name in set(MODELS) - set(DYNAMIXEL.playable)} == numbers
    theirs = INDEPENDENT[2000].entries
    assert MODELS["XL-320"].table["torque_enable"].address == 24
    for name in set(numbers) - {"XL-320"}:
        for entry in theirs.values():
            if name.endswith("RA") and entry.name in ("protocol_type", "startup_configuration"):
                continue
            item = MODELS[name].table[entry.name]
            assert (item.address, item.size) == (entry.address, entry.size), (name, entry.name)
    assert torque_places() == [(64, 1), (512, 1)]


def test_our_files_have_no_problems_and_each_is_used() -> None:
    assert PROBLEMS == []
    folder = own_folder("dynamixel")
    tables, problems = read_tables(folder)
    assert problems == []
    bases = {"x", "x_load", "x_current", "x540", "x330", "p", "pro_a"}
    assert {path.stem for path in folder.glob("*")} == {table.path.stem for table in tables} | bases
    assert sorted(table.name for table in tables) == sorted(MODELS)


# files of the user's


def models_with(folder: Path, code: str) -> str:
    """What a program prints that looks for data files in a folder."""
    program = f"from robik.servo.brands.dynamixel.models import *; from robik.servo.brands.registry import *; {code}"
    command = ["env", f"ROBIK_DYNAMIXEL_TABLES={folder}", sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("platform", "variables", "folder"),
    [
        ("linux", {}, ".config/robik/os"),
        ("linux", {"XDG_CONFIG_HOME": "HOME/own"}, "own/robik/os"),
        ("darwin", {"XDG_CONFIG_HOME": "HOME/own"}, "Library/Application Support/robik/os"),
        ("win32", {}, "AppData/Roaming/robik/os"),
        ("win32", {"APPDATA": "HOME/roaming"}, "roaming/robik/os"),
        ("win32", {"ROBIK_OS_TABLES": "HOME/chosen"}, "chosen"),
    ],
)
def test_a_user_s_files_are_where_the_platform_keeps_such(
    platform: str, variables: dict[str, str], folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name in ("APPDATA", "XDG_CONFIG_HOME", "ROBIK_OS_TABLES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.replace("HOME", str(tmp_path)))
    assert user_folder("os") == tmp_path / folder


ENTRY = {"address": 65535, "size": 4, "access": "RW", "low": 3, "initial": 3, "high": 3}
FILE = {"name": "A1", "number": 65535, "rpm": 1e9 - 1, "counts_per_turn": 1, "entries": {"a": ENTRY}}


def with_entry(**changes: object) -> dict[str, object]:
    return {"entries": {"a": {**ENTRY, **changes}}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        ({"number": 1}, ""),
        ({"number": 0}, 'needs a "name" and a "number" from 1 to 65535'),
        ({"number": 65536}, 'needs a "name" and a "number" from 1 to 65535'),
        ({"name": 7}, 'needs a "name" and a "number" from 1 to 65535'),
        ({"rpm": 1e-9}, ""),
        ({"rpm": 0}, "its rpm must be a positive number, not 0"),
        ({"rpm": 1e9}, "its rpm must be a positive number"),
        ({"rpm": True}, "its rpm must be a positive number, not True"),
        ({"counts_per_turn": -1}, "its counts_per_turn must be a positive number, not -1"),
        ({"current_unit": "1"}, "its current_unit must be a positive number, not '1'"),
        ({"newer": {"firmware": 1, "indirect": []}}, ""),
        ({"newer": {"firmware": "1"}}, 'its "newer" must be an object with "firmware" and "indirect"'),
        ({"indirect": [{"addresses": 0, "data": 65535, "count": 1}]}, ""),
        ({"indirect": [{"addresses": 0, "data": 65536, "count": 1}]}, 'each bank of "indirect" needs whole numbers'),
        ({"indirect": [{"addresses": -1, "data": 1, "count": 1}]}, 'each bank of "indirect" needs whole numbers'),
        ({"newer": {"firmware": 1, "indirect": 1}}, 'each bank of "indirect" needs whole numbers'),
        (with_entry(address=0), ""),
        (with_entry(address=65536), "its address must be from 0 to 65535, its size 1, 2 or 4"),
        (with_entry(size=3), "its address must be from 0 to 65535, its size 1, 2 or 4"),
        (with_entry(access="W"), "its address must be from 0 to 65535, its size 1, 2 or 4"),
        (with_entry(low=3.0), "initial, low and high must be whole numbers"),
        (with_entry(low=4), "its initial value 3 is not within its range"),
        (with_entry(high=2), "its initial value 3 is not within its range"),
        (with_entry(unit=1), "entry 'a': unknown key 'unit'"),
        ({"entries": {"a": {"address": 1, "size": 1}}}, "needs an address, a size and an access"),
        ({"entries": {"a": ENTRY, "b": {**ENTRY, "address": 65534}}}, "entries 'a' and 'b' share the address 65535"),
        ({"entries": {"a": {**ENTRY, "address": 0}, "b": {**ENTRY, "address": 4}}}, ""),
        ({"without": ["b"]}, "there is no entry 'b' to be without"),
        ({"colour": 1}, "unknown key 'colour'"),
        ({"like": "b"}, "there is no file 'b' for it to be like"),
    ],
)
def test_a_data_file_is_checked_to_the_bounds_of_what_it_may_say(
    changes: dict[str, object], said: str, tmp_path: Path
) -> None:
    (tmp_path / "file.json").write_text(json.dumps({**FILE, **changes}))
    tables, problems = read_tables(tmp_path)
    assert (len(tables), len(problems)) == ((0, 1) if said else (1, 0)), problems
    assert said in "".join(problems)


@pytest.mark.parametrize(("length", "fits"), [(8, True), (9, False)])
def test_files_may_be_like_one_another_a_few_deep(length: int, fits: bool, tmp_path: Path) -> None:
    (tmp_path / "f0.json").write_text(json.dumps({"entries": {"a": ENTRY}}))
    for k in range(1, length + 1):
        named = {"name": "A1", "number": 1} if k == length else {}
        (tmp_path / f"f{k}.json").write_text(json.dumps({"like": f"f{k - 1}", **named}))
    tables, problems = read_tables(tmp_path)
    assert [table.entries["a"] for table in tables] == ([ENTRY] if fits else [])
    assert ("in a ring" in "".join(problems)) != fits
    lacking = read_tables(tmp_path, needed=["b"])[1]
    assert not fits or "it has no entry 'b'" in lacking[0]


def test_a_user_adds_a_model_and_a_vendors_file(tmp_path: Path) -> None:
    entries = {"velocity_limit": {"initial": 150}, "current_limit": {"initial": 900, "high": 900}}
    mine = {
        "name": "XM999-W1",
        "number": 1999,
        "like": "x_current",
        "rpm": 40,
        "current_unit": 0.00269,
        "entries": entries,
    }
    (tmp_path / "mine.json").write_text(json.dumps(mine))
    (tmp_path / "dynamixel.model").write_text("Number\tName\n999\txl999.model\n")
    table = ["[type info]", "name\tvalue", "[control table]", "Address\tSize\tData Name"]
    table += ["0\t2\tModel Number", "24\t1\tTorque Enable"]
    (tmp_path / "xl999.model").write_text("\n".join(table))
    code = "b = brand_of('dynamixel'); m = model_of('dynamixel', 'XM999-W1');"
    code += "print(PROBLEMS, round(m.highest_current, 3));"
    code += "print(MODELS['XL999'].table['torque_enable'].address, 'XL999' in b.playable, torque_places())"
    # a broadcast to address 24 would be a part of others' moving threshold: that one is told by its id
    assert models_with(tmp_path, code) == "[] 2.421\n24 False [(64, 1), (512, 1)]\n"


def test_the_command_lists_models_and_says_where_one_is_added(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{}x")
    code = "from robik.cli import main; main(['servos', 'models']); main(['servos', 'models', '--brand', 'os'])"
    lines = models_with(tmp_path, code).splitlines()
    assert "XM430-W350" in lines
    assert "PH42-020-S300  (its torque can be cut, but it is not played)" in lines
    assert f"a data file in {tmp_path} adds a model; docs/servo-models.md says how" in lines
    assert any(line.startswith(f"left out: {tmp_path / 'bad.json'}: it cannot be read as JSON") for line in lines)
    assert f"robik: unknown brand 'os'; the brands are {', '.join(BRANDS)}" in lines


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "it cannot be read as JSON"),
        ("[1]", "it must be an object"),
        ('{"name": "A", "number": 5, "speed": 1}', "unknown key 'speed'"),
        ('{"name": "A", "like": "x_load"}', 'a model needs a "name" and a "number" from 1 to 65535'),
        ('{"name": "A", "number": true, "like": "x_load"}', 'a model needs a "name" and a "number"'),
        ('{"name": "A", "number": 5, "like": "y"}', "there is no file 'y' for it to be like"),
        ('{"name": "A", "number": 5, "like": "file"}', "like one another in a ring"),
        ('{"name": "A", "number": 5, "like": "x_load", "rpm": "fast"}', "its rpm must be a positive number"),
        ('{"name": "A", "number": 5, "like": "x_load", "without": ["x"]}', "there is no entry 'x' to be without"),
        ('{"name": "A", "number": 5, "entries": {"a": {"size": 1}}}', "entry 'a' needs an address, a size"),
        ('{"name": "A", "number": 5, "like": "x_load", "entries": {"led": {"size": 3}}}', "its size 1, 2 or 4"),
        ('{"name": "A", "number": 5, "like": "x_load", "entries": {"led": {"address": 64}}}', "share the address 64"),
        ('{"name": "A", "number": 5, "like": "x_load", "entries": {"led": {"initial": 2}}}', "is not within its range"),
        ('{"name": "A", "number": 5, "like": "x_load", "entries": {"led": 2}}', "entry 'led' must be an object"),
        ('{"name": "A", "number": 5, "like": "x", "indirect": [{}]}', 'each bank of "indirect" needs whole numbers'),
        ('{"name": "A", "number": 5, "like": "x", "newer": 3}', 'its "newer" must be an object'),
        ('{"name": "A", "number": 5, "like": "x", "without": ["torque_enable"]}', "it has no entry 'torque_enable'"),
        ('{"name": "A", "number": 1000, "like": "x_load"}', "number 1000 is the model XH430-W350's"),
    ],
)  # fmt: skip
def test_a_bad_file_is_left_out_with_a_word(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "file.json").write_text(text)
    said = models_with(tmp_path, "print(len(MODELS), 'A' in MODELS, PROBLEMS)")
    assert said.startswith(f"{len(MODELS)} False")
    assert problem.replace("'", "") in said.replace("\\", "").replace("'", "")
    assert said.count(str(tmp_path / "file.json")) == 2  # in the list, and as a warning
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("seconds", "units"), [(0.0, 0), (0.001, 1), (0.03, 2), (0.06, 3), (1.0, 50), (2.54, 127), (9.0, 127)]
)
def test_the_bus_watchdog_counts_in_20_ms_and_0_is_none(seconds: float, units: int) -> None:
    assert watchdog_units(seconds) == units


def test_motors_are_as_the_vendor_says() -> None:
    """Stall torque [N m], voltage [V] and stall current [A], typed in a second time from the vendor's tables."""
    typed = {
        "XL330-M288": (0.52, 5.0, 1.47), "XC330-T288": (1.0, 12.0, 0.88), "XC430-W150": (1.6, 12.0, 1.4),
        "XM430-W350": (4.1, 12.0, 2.3), "XM430-W210": (3.0, 12.0, 2.3), "XM540-W270": (10.6, 12.0, 4.4),
        "XH430-W210": (2.5, 12.0, 1.3), "XH430-V350": (3.3, 24.0, 0.7), "XH540-W150": (7.1, 12.0, 4.9),
        "XW540-T260": (9.5, 12.0, 4.9), "MX-28(2.0)": (2.5, 12.0, 1.4), "MX-106(2.0)": (8.4, 12.0, 5.2),
    }  # fmt: skip
    for name, wanted in typed.items():
        motor = DYNAMIXEL.models[name].motor
        assert motor is not None
        assert (motor.stall_torque, motor.voltage, motor.stall_current) == wanted
        assert motor.is_checked
        assert motor.highest_gain == 16383


def test_every_model_that_is_played_has_a_motor_and_says_what_is_not_confirmed() -> None:
    wired = [brand for brand in BRANDS.values() if not brand.scheme]  # behind a program, a servo's model is not known
    models = [model for brand in wired for model in brand.models.values() if model.is_playable]
    unknown = {model.name for model in models if model.motor is None}
    assert unknown == set(BRANDS["dynamixel1"].models), "nobody says how stiff those of Protocol 1 are"
    unsure = {model.name for model in models if model.motor is not None and not model.motor.is_checked}
    assert unsure == {"XW430-T200", "XW540-H260", "STS3215"}


@pytest.mark.parametrize(
    "motor",
    [
        3,
        {"voltage": 12},
        {"stall_torque": 1, "voltage": 12, "power": 3},
        {"stall_torque": -1, "voltage": 12},
        {"stall_torque": "much", "voltage": 12},
    ],
)
def test_a_motor_that_cannot_be_is_told(tmp_path: Path, motor: object) -> None:
    data = {"name": "MINE", "number": 999, "like": "xm430_w350", "motor": motor}
    (tmp_path / "mine.json").write_text(json.dumps(data), encoding="utf-8")
    models, problems = read_tables(tmp_path, own_folder("dynamixel"))
    assert not models
    assert "mine.json" in problems[0]
