"""Exported motions, each read back by someone else's reader."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from robik.errors import FormatError, ServoError
from robik.motions import Motion, load_motion
from robik.servo.chain import Servo, ServoChain
from robik.servo.dynamixel.simulator.packet import Decoder
from robik.servo.export import export_motion

NAMES = ("hip", "knee, left", 'the "third"')
TIMES = 2.0 + np.arange(50) / 24
MOTION = Motion(times=TIMES, actuators=NAMES, values=np.random.default_rng(1).normal(0, 0.4, (50, 3)))
CHAIN = ServoChain((Servo("hip", 5, direction=-1), Servo('the "third"', 2, zero=1000), Servo("knee, left", 9, gear_ratio=3.0)))


def test_csv(tmp_path):
    export_motion(MOTION, tmp_path / "m.csv")
    back = load_motion(tmp_path / "m.csv")
    assert back.actuators == NAMES
    assert (back.values == MOTION.values).all()


def test_json(tmp_path):
    export_motion(MOTION, tmp_path / "m.json")
    data = json.loads((tmp_path / "m.json").read_text())
    assert data["time"] == TIMES.tolist()
    assert [data["actuators"][name] for name in NAMES] == MOTION.values.T.tolist()


def test_npz(tmp_path):
    export_motion(MOTION, tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz", allow_pickle=False) as file:
        assert tuple(file["actuators"]) == NAMES
        assert (file["times"] == TIMES).all()
        assert (file["values"] == MOTION.values).all()


def test_ros_2_yaml(tmp_path):
    """What each line holds is in flow style, which a JSON reader takes once its keys are quoted."""
    export_motion(MOTION, tmp_path / "m.yaml")
    data = {"joint_names": [], "points": []}
    for line in (tmp_path / "m.yaml").read_text().splitlines():
        if line.startswith('- "'):
            data["joint_names"].append(json.loads(line[2:]))
        elif found := re.fullmatch(r"(- |  )(positions|velocities|time_from_start): (.*)", line):
            if found[1] == "- ":
                data["points"].append({})
            data["points"][-1][found[2]] = json.loads(re.sub(r"(sec|nanosec):", r'"\1":', found[3]))
    assert data["joint_names"] == list(NAMES)
    points = data["points"]
    times = [p["time_from_start"]["sec"] + p["time_from_start"]["nanosec"] * 1e-9 for p in points]
    assert times == pytest.approx(TIMES - 2.0, abs=1e-9)
    assert all(0 <= p["time_from_start"]["nanosec"] < 10**9 for p in points)
    assert np.array([p["positions"] for p in points]).tolist() == MOTION.values.tolist()
    middle = (MOTION.values[2:] - MOTION.values[:-2]) * 12
    assert np.array([p["velocities"] for p in points])[1:-1] == pytest.approx(middle)


def expected_counts():
    scale = 4096 / (2 * np.pi)
    exact = np.column_stack(
        [2048 - MOTION.values[:, 0] * scale, 1000 + MOTION.values[:, 2] * scale, 2048 + 3 * MOTION.values[:, 1] * scale]
    )
    limits = [np.sort(s.zero + s.counts_per_unit * np.array(s.position_limits)) for s in CHAIN.servos]
    return np.column_stack([np.clip(exact[:, k], *limits[k]) for k in range(3)])


def test_arduino_header(tmp_path):
    export_motion(MOTION, tmp_path / "my-walk.h", chain=CHAIN)
    text = (tmp_path / "my-walk.h").read_text()
    rows = re.search(r"my_walk_counts\[50\]\[3\] PROGMEM = \{(.*?)\n\};", text, re.S)
    counts = np.array([[int(n) for n in re.findall(r"-?\d+", row)] for row in rows[1].strip().split("\n")])
    assert np.abs(counts - expected_counts()).max() <= 0.5 + 1e-6
    assert "my_walk_ids[3] PROGMEM = {5, 2, 9}" in text
    assert "#define MY_WALK_FRAMES 50" in text


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_arduino_header_compiles_and_reads_back(tmp_path):
    export_motion(MOTION, tmp_path / "walk.h", chain=CHAIN)
    (tmp_path / "main.c").write_text(
        '#include "walk.h"\n#include <stdio.h>\nint main(void) { for (int f = 0; f < WALK_FRAMES; f++) { printf("%lu", (unsigned long)'
        'walk_milliseconds[f]); for (int s = 0; s < WALK_SERVOS; s++) printf(" %d", (int)walk_counts[f][s]); printf("\\n"); } return 0; }\n'
    )
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-o", "out", "main.c"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "out"], capture_output=True, text=True, check=True).stdout
    table = np.array([line.split() for line in printed.splitlines()], dtype=int)
    assert np.abs(table[:, 0] - (TIMES - 2.0) * 1e3).max() <= 0.5 + 1e-6
    assert np.abs(table[:, 1:] - expected_counts()).max() <= 0.5 + 1e-6


SHIM = """#pragma once
#include <cstdint>
#include <cstdio>
#define ARDUINO 1
#define PROGMEM
#define pgm_read_byte(place) (*(const uint8_t*)(place))
#define pgm_read_word(place) (*(const uint16_t*)(place))
#define pgm_read_dword(place) (*(const uint32_t*)(place))
static uint32_t now;
inline uint32_t millis() { return now; }
inline void delay(uint32_t time) { now += time; }
struct { void begin(uint32_t baud) { fprintf(stderr, "%u", baud); } void write(uint8_t byte) { putchar(byte); } void flush() {} } Serial1;
void setup();
void loop();
int main() { setup(); loop(); return 0; }
"""


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_arduino_sketch_compiles_and_what_it_sends_is_the_motion(tmp_path):
    """With the host's compiler and a few lines in place of the board's own library; its bytes are read by a simulated servo's decoder."""
    export_motion(MOTION, tmp_path / "walk.ino", chain=CHAIN)
    (tmp_path / "Arduino.h").write_text(SHIM)
    (tmp_path / "walk.cpp").write_text('#include "Arduino.h"\n#include "walk.ino"\n')
    subprocess.run(["c++", "-Wall", "-Wextra", "-Werror", "-I.", "-o", "out", "walk.cpp"], cwd=tmp_path, check=True)
    ran = subprocess.run([tmp_path / "out"], capture_output=True, check=True)
    assert ran.stderr == b"1000000"
    packets = Decoder().feed(ran.stdout)
    assert all(p.intact and p.id == 0xFE and p.instruction == 0x83 for p in packets)
    entries = [(int.from_bytes(p.parameters[:2], "little"), p.parameters[4:]) for p in packets]
    order = [address for address, _ in entries if address != 98]
    assert order == [112, 116, 64, 116, 112, *[116] * 50]
    goals = [[int.from_bytes(body[5 * s + 1 : 5 * s + 5], "little", signed=True) for s in range(3)] for a, body in entries if a == 116]
    assert goals[0] == goals[1] == goals[2]
    assert np.abs(np.array(goals[2:]) - expected_counts()).max() <= 0.5 + 1e-6
    assert next(body[0::5] for a, body in entries if a == 116) == bytes([5, 2, 9])
    assert [body[1] for a, body in entries if a == 98][-1] == 0


AVR = Path("/usr/share/arduino/hardware/arduino/avr")  # as Debian has it, in arduino-core-avr
MEGA = ["-mmcu=atmega2560", "-DF_CPU=16000000L", "-DARDUINO=10819", "-DARDUINO_ARCH_AVR", "-Os"]


@pytest.mark.skipif(shutil.which("avr-g++") is None or not AVR.is_dir(), reason="there is no compiler for AVR boards, or not their library")
def test_arduino_sketch_is_a_program_for_a_board(tmp_path):
    """With the board's own compiler and library, for an Arduino Mega: compiled without a warning and linked."""
    export_motion(MOTION, tmp_path / "walk.ino", chain=CHAIN)
    (tmp_path / "walk.cpp").write_text('#include <Arduino.h>\n#include "walk.ino"\n')
    included = [f"-I{AVR / folder}" for folder in ("cores/arduino", "variants/mega")]
    flags = [*MEGA, *included, "-std=gnu++11", "-fno-exceptions", "-ffunction-sections"]
    subprocess.run(["avr-g++", *flags, "-Wall", "-Wextra", "-Werror", "-c", "walk.cpp"], cwd=tmp_path, check=True)
    library = [f for f in sorted((AVR / "cores" / "arduino").glob("*.c*")) if f.name != "WString.cpp"]  # which newer compilers only take
    for source in library:
        compiler, standard = ("avr-gcc", []) if source.suffix == ".c" else ("avr-g++", flags[-3:-1])
        subprocess.run([compiler, *MEGA, *included, *standard, "-ffunction-sections", "-w", "-c", source], cwd=tmp_path, check=True)
    objects = [str(file) for file in tmp_path.glob("*.o")]
    subprocess.run(["avr-gcc", "-mmcu=atmega2560", "-Wl,--gc-sections", *objects, "-o", "walk.elf"], cwd=tmp_path, check=True)
    sizes = subprocess.run(["avr-size", "walk.elf"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    text, data = map(int, sizes.splitlines()[1].split()[:2])
    assert 50 * 3 * 2 < text + data < 256 * 1024  # of program memory, the motion among it


def test_many_turns_need_four_bytes(tmp_path):
    chain = ServoChain((Servo("hip", 1, gear_ratio=20.0, position_limits=(-9, 9)),))
    export_motion(Motion(times=np.zeros(1), actuators=("hip",), values=np.array([[8.0]])), tmp_path / "m.h", chain=chain)
    assert "const int32_t m_counts" in (tmp_path / "m.h").read_text()


def test_what_cannot_be_exported(tmp_path):
    with pytest.raises(FormatError, match=r"\.csv, \.json, \.npz, \.yaml, \.ino, \.h, not as \.bvh"):
        export_motion(MOTION, tmp_path / "m.bvh")
    with pytest.raises(FormatError, match=r"needs a servo chain; give a \*\.servos\.json"):
        export_motion(MOTION, tmp_path / "m.h")
    with pytest.raises(ServoError, match="no column for ankle"):
        export_motion(MOTION, tmp_path / "m.h", chain=ServoChain((Servo("ankle", 1),)))
    with pytest.raises(FormatError, match="cannot be written"):
        export_motion(MOTION, tmp_path / "nowhere" / "m.json")
    assert list(tmp_path.iterdir()) == []
