"""Exported motions, each read back by someone else's reader."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robik.errors import ClipError, FormatError, ServoError
from robik.motions import Companions, Motion, load_motion
from robik.servo.chain.chain import ServoChain
from robik.servo.chain.export import count_values, export, export_motion
from robik.servo.chain.file import save_chain
from robik.servo.chain.servo import Servo

from .conftest import until
from .independent import IndependentChain

NAMES = ("hip", "knee, left", 'the "third"')
TIMES = 2.0 + np.arange(50) / 24
MOTION = Motion(times=TIMES, actuators=NAMES, values=np.random.default_rng(1).normal(0, 0.4, (50, 3)))
CHAIN = ServoChain(
    (
        Servo("hip", 5, direction=-1),
        Servo('the "third"', 2, zero=1000),
        Servo("knee, left", 9, gear_ratio=3.0, velocity_limit=1.0),
    )
)


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
    steps = np.abs(np.diff(MOTION.values, axis=0) / np.diff(TIMES)[:, None])
    fastest = np.maximum(np.vstack([steps[:1], steps]), np.vstack([steps, steps[-1:]]))  # of the ways to either side
    assert (np.abs([p["velocities"] for p in points]) <= 1.01 * fastest + 1e-9).all()


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


@pytest.mark.parametrize("name", ["my-walk.h", "my-walk.ino"])
def test_arduino_files_are_read_back_within_half_a_count(tmp_path, name):
    file = tmp_path / name
    export_motion(MOTION, file, chain=CHAIN)
    save_chain(CHAIN, tmp_path / "s.servos.json")
    export(file, tmp_path / "back.csv", servos=tmp_path / "s.servos.json")
    back = load_motion(tmp_path / "back.csv")
    assert back.actuators == CHAIN.actuators
    assert np.abs(back.times - (TIMES - 2.0)).max() <= 0.5e-3 + 1e-9
    assert np.abs(CHAIN.counts(back.values) - expected_counts()).max() <= 0.5 + 1e-6
    text = file.read_text()
    for content, words in (
        (text.replace("{5, 2, 9}", "{5, 2, 8}"), r"by the servos \(5, 2, 8\); the chain has .* \(5, 2, 9\)"),
        (text.replace("{5, 2, 9}", "{5, 2}"), "150 counts, but 50 frames of 2 servos"),
        (text[: text.index("counts[50]") + 200], "it has no whole table of counts"),
        (text.replace("PROGMEM = {5", "PROGMEM = {five"), "its table of ids holds something else than whole numbers"),
    ):
        file.write_text(content)
        with pytest.raises(ClipError, match=words):
            load_motion(file, "arduino", Companions(count_values=count_values(CHAIN)))


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_arduino_header_compiles_and_reads_back(tmp_path):
    export_motion(MOTION, tmp_path / "walk.h", chain=CHAIN)
    (tmp_path / "main.c").write_text(
        '#include "walk.h"\n#include <stdio.h>\nint main(void) { for (int f = 0; f < WALK_FRAMES; f++) { printf("%lu",'
        ' (unsigned long)walk_milliseconds[f]); for (int s = 0; s < WALK_SERVOS; s++) printf(" %d",'
        ' (int)walk_counts[f][s]); printf("\\n"); } return 0; }\n'
    )
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-o", "out", "main.c"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "out"], capture_output=True, text=True, check=True).stdout
    table = np.array([line.split() for line in printed.splitlines()], dtype=int)
    assert np.abs(table[:, 0] - (TIMES - 2.0) * 1e3).max() <= 0.5 + 1e-6
    assert np.abs(table[:, 1:] - expected_counts()).max() <= 0.5 + 1e-6


BOARD = r"""#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <thread>
#include <unistd.h>
#define ARDUINO 1
#define PROGMEM
#define OUTPUT 1
#define HIGH 1
#define LED_BUILTIN 13
#define pgm_read_byte(place) (*(const uint8_t*)(place))
#define pgm_read_word(place) (*(const uint16_t*)(place))
#define pgm_read_dword(place) (*(const uint32_t*)(place))
inline uint32_t millis() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}
inline void delay(uint32_t time) { std::this_thread::sleep_for(std::chrono::milliseconds(time)); }
inline void pinMode(int, int) {}
inline void digitalWrite(int pin, int level) { printf("pin %d is %d\n", pin, level); }
struct {
  int file;
  uint8_t waiting[4096];
  size_t count = 0;
  void begin(uint32_t baud) {
    printf("baud %u\n", baud);
    file = open(getenv("PORT"), O_RDWR | O_NOCTTY);
    termios raw;
    tcgetattr(file, &raw);
    cfmakeraw(&raw);
    cfsetspeed(&raw, B1000000);
    tcsetattr(file, TCSANOW, &raw);
  }
  void write(uint8_t byte) { waiting[count++] = byte; }
  void flush() {
    if (::write(file, waiting, count) != (ssize_t)count) exit(1);
    count = 0;
  }
  int available() {
    int there = 0;
    ioctl(file, FIONREAD, &there);
    return there;
  }
  int read() {
    uint8_t byte;
    return ::read(file, &byte, 1) == 1 ? byte : -1;
  }
} Serial1;
void setup();
void loop();
int main() { setup(); loop(); return 0; }
"""
BOARD_CHAIN = ServoChain(
    (
        Servo("hip", 5, direction=-1, velocity_limit=1.0),
        Servo('the "third"', 2, zero=1500, velocity_limit=3.0),
        Servo("knee, left", 9, gear_ratio=3.0, velocity_limit=0.9, model="XH430-W210", position_limits=(-0.6, 0.6)),
    )
)
BOARD_MOTION = replace(MOTION, values=0.3 + 0.3 * np.sin(2 * TIMES[:, None] + np.arange(3)))
NEAR = {5: 2100, 2: 1500, 9: 2048}
FAR = {5: 3900, 2: 200, 9: 100}
UNIT = 0.229 / 60 * 4096  # [counts/s] of profile velocities
needs_a_compiler = pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """Return a sketch as a program for this computer, where Serial1 is the port in the environment's PORT."""
    folder = tmp_path_factory.mktemp("sketch")
    export_motion(BOARD_MOTION, folder / "walk.ino", chain=BOARD_CHAIN)
    (folder / "Arduino.h").write_text(BOARD)
    (folder / "walk.cpp").write_text('#include "Arduino.h"\n#include "walk.ino"\n')
    flags = ["-Wall", "-Wextra", "-Werror", "-I.", "-o", "out", "walk.cpp"]
    subprocess.run(["c++", "-std=c++11", *flags], cwd=folder, check=True)
    return folder / "out"


def run(board, servos):
    return subprocess.run([board], env={"PORT": servos.port}, capture_output=True, text=True, check=True).stdout


def board_counts():
    scale = 4096 / (2 * np.pi)
    values = BOARD_MOTION.values
    return np.column_stack([2048 - values[:, 0] * scale, 1500 + values[:, 2] * scale, 2048 + 3 * values[:, 1] * scale])


@needs_a_compiler
@pytest.mark.real_time
@pytest.mark.parametrize("start", [NEAR, FAR])
def test_a_board_plays_the_sketch(board, start):
    """On the independent chain: each servo at its own speeds, the way to the first frame as long as the farthest
    takes."""
    with IndependentChain(ids=(2, 5, 9), model=1010, positions=start) as servos:
        assert run(board, servos) == "baud 1000000\n"
        packets = [packet for packet in servos.log.packets() if packet.instruction == 0x83]
        order = [int.from_bytes(packet.parameters[:2], "little") for packet in packets]
        assert [address for address in order if address != 98] == [112, 116, 64, 116, 112, *[116] * 50]
        rows = [packet.goals for packet in packets if packet.goals]
        assert [list(row) for row in rows] == [[5, 2, 9]] * 52
        goals = np.array([list(row.values()) for row in rows])
        assert (goals[0] == goals[1]).all()
        assert (goals[1] == goals[2]).all()
        assert np.abs(goals[2:] - board_counts()).max() <= 0.5 + 1e-6
        profiles = [packet.writes(112, 4) for packet in packets if packet.writes(112, 4)]
        slow, fast = profiles
        assert slow == dict.fromkeys((5, 2, 9), 21)  # 0.5 rad/s of the horn
        assert fast == {5: 42, 2: 126, 9: 113}  # 1.0, 3.0 and 3 × 0.9 rad/s
        times = [packet.time for packet in packets if packet.goals]
        farthest = max(abs(start[id] - rows[0][id]) for id in start) / (21 * UNIT)
        assert times[2] - times[1] == pytest.approx(farthest + 0.5, abs=0.3)
        assert np.median(np.diff(times[2:])) == pytest.approx(1 / 24, abs=2e-3)
        late = np.array(times[2:]) - times[2] - np.arange(50) / 24
        assert np.quantile(np.abs(late), 0.9) < 0.1, "but where it waits for a core"
        assert packets[-1].writes(98) == {5: 0, 2: 0, 9: 0}
        fastest = servos.fastest()
        assert all(fastest[id] <= fast[id] * UNIT * 1.01 for id in fast)
        assert servos.powered == {2, 5, 9}


@needs_a_compiler
@pytest.mark.real_time
def test_a_board_gives_up_where_a_servo_is_missing_or_held(board):
    with IndependentChain(ids=(2, 5, 9), model=1010, positions=NEAR) as servos:
        servos.power_off(9)
        assert run(board, servos) == "baud 1000000\npin 13 is 1\n"
        assert servos.powered == set()
        servos.power_on(9)
        servos.place(2, 1800)
        servos.hold(2)
        until(lambda: servos.log.events(id=9, what="started"))
        assert run(board, servos) == "baud 1000000\npin 13 is 1\n"
        assert max(servos.fastest().values()) <= 21 * UNIT * 1.01


def test_a_motion_too_long_for_a_board(tmp_path):
    motion = replace(MOTION, times=np.linspace(0.0, 1e12, 50))
    with pytest.raises(ClipError, match=r"m\.ino: a board plays 50 days at most, not 1e\+12 s"):
        export_motion(motion, tmp_path / "m.ino", chain=CHAIN)


def test_a_motion_too_long_for_ros_2(tmp_path):
    motion = replace(MOTION, times=np.linspace(0.0, 1e12, 50))
    with pytest.raises(ClipError, match=r"m\.yaml: .* counts seconds up to 2,147,483,647, the motion takes 1e\+12 s"):
        export_motion(motion, tmp_path / "m.yaml", chain=CHAIN)


AVR = Path("/usr/share/arduino/hardware/arduino/avr")  # as Debian has it, in arduino-core-avr
MEGA = ["-mmcu=atmega2560", "-DF_CPU=16000000L", "-DARDUINO=10819", "-DARDUINO_ARCH_AVR", "-Os"]


@pytest.mark.skipif(
    shutil.which("avr-g++") is None or not AVR.is_dir(),
    reason="there is no compiler for AVR boards, or not their library",
)
def test_arduino_sketch_is_a_program_for_a_board(tmp_path):
    """With the board's own compiler and library, for an Arduino Mega: compiled without a warning and linked."""
    export_motion(MOTION, tmp_path / "walk.ino", chain=CHAIN)
    (tmp_path / "walk.cpp").write_text('#include <Arduino.h>\n#include "walk.ino"\n')
    included = [f"-I{AVR / folder}" for folder in ("cores/arduino", "variants/mega")]
    flags = [*MEGA, *included, "-std=gnu++11", "-fno-exceptions", "-ffunction-sections"]
    subprocess.run(["avr-g++", *flags, "-Wall", "-Wextra", "-Werror", "-c", "walk.cpp"], cwd=tmp_path, check=True)
    library = [
        f for f in sorted((AVR / "cores" / "arduino").glob("*.c*")) if f.name != "WString.cpp"
    ]  # which newer compilers only take
    for source in library:
        compiler, standard = ("avr-gcc", []) if source.suffix == ".c" else ("avr-g++", flags[-3:-1])
        subprocess.run(
            [compiler, *MEGA, *included, *standard, "-ffunction-sections", "-w", "-c", source], cwd=tmp_path, check=True
        )
    objects = [str(file) for file in tmp_path.glob("*.o")]
    subprocess.run(
        ["avr-gcc", "-mmcu=atmega2560", "-Wl,--gc-sections", *objects, "-o", "walk.elf"], cwd=tmp_path, check=True
    )
    sizes = subprocess.run(["avr-size", "walk.elf"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    text, data = map(int, sizes.splitlines()[1].split()[:2])
    assert 50 * 3 * 2 < text + data < 256 * 1024  # of program memory, the motion among it


def test_many_turns_need_four_bytes(tmp_path):
    chain = ServoChain((Servo("hip", 1, gear_ratio=20.0, velocity_limit=0.1, position_limits=(-9, 9)),))
    export_motion(
        Motion(times=np.zeros(1), actuators=("hip",), values=np.array([[8.0]])), tmp_path / "m.h", chain=chain
    )
    assert "const int32_t m_counts" in (tmp_path / "m.h").read_text()


def test_a_board_never_sends_the_header_of_a_packet_as_a_goal(tmp_path):
    chain = ServoChain((Servo("hip", 1, gear_ratio=20.0, velocity_limit=0.1, position_limits=(-12, 12)),))
    values = np.array([[-133_121 / (20 * 4096 / (2 * np.pi))]])
    export_motion(Motion(times=np.zeros(1), actuators=("hip",), values=values), tmp_path / "m.h", chain=chain)
    assert (-131_073).to_bytes(4, "little", signed=True).startswith(b"\xff\xff\xfd")
    assert "{-131072}" in (tmp_path / "m.h").read_text()


def test_what_cannot_be_exported(tmp_path):
    with pytest.raises(FormatError, match=r"\.csv, \.json, \.npz, .*\.yaml, \.ino, \.h, not as \.bvh"):
        export_motion(MOTION, tmp_path / "m.bvh")
    with pytest.raises(FormatError, match=r"needs a servo chain; give a \*\.servos\.json"):
        export_motion(MOTION, tmp_path / "m.h")
    with pytest.raises(ServoError, match="no column for ankle"):
        export_motion(MOTION, tmp_path / "m.h", chain=ServoChain((Servo("ankle", 1),)))
    with pytest.raises(FormatError, match="cannot be written"):
        export_motion(MOTION, tmp_path / "nowhere" / "m.json")
    assert list(tmp_path.iterdir()) == []
