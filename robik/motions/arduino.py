"""Arduino motion files: servo counts in program memory, as a header, or as a sketch that plays them by itself.

They are read back by the lines that `_data` writes: whole counts and whole milliseconds.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ..errors import ClipError
from .format import Companions, MotionFormat, ServoCounts
from .motion import Motion

HEADER = ".h"
ARRIVED = 40  # [counts], 3.5°: how near the servos must be to the first frame before the motion starts
LONGEST = 2**32 / 1e3  # [s] that a board's clock of milliseconds holds
HEADER_COUNTS = -131_073  # whose bytes are those of a packet's header, FF FF FD
COLUMNS = "// Columns: "
TABLE = r"(?s)\w+ \w+_{name}\[[^;=]*= *\{{(.*?)\}};"


def matches(content: bytes) -> bool:
    """Return True if a file names its columns and has tables of counts and milliseconds."""
    return COLUMNS.encode() in content and b"_counts[" in content and b"_milliseconds[" in content


def read(content: bytes, companions: Companions) -> Motion:
    """Return the motion of a header or a sketch, from 0 s on.

    The companions give servos' counts as motors' values. Raise ClipError where a table is missing or does not fit the
    columns, or the servos are others.
    """
    assert companions.count_values is not None  # as FORMAT.needs_to_read says
    text = content.decode("utf-8", errors="replace")
    ids, milliseconds, counts = (_table(text, name) for name in ("ids", "milliseconds", "counts"))
    if len(counts) != len(milliseconds) * len(ids) or not len(counts):
        raise ClipError(f"{len(counts)} counts, but {len(milliseconds)} frames of {len(ids)} servos")
    table = counts.reshape(len(milliseconds), len(ids))
    columns = text.partition(COLUMNS)[2].partition("\n")[0].rstrip("\r")
    actuators, values = companions.count_values(columns, tuple(ids.tolist()), table)
    return Motion(times=milliseconds / 1e3, actuators=actuators, values=values)


def _table(text: str, name: str) -> np.ndarray:
    """Return the whole numbers of a table in program memory.

    Raises ClipError where it is not there, or holds something else.
    """
    found = re.search(TABLE.format(name=name), text)
    if found is None:
        raise ClipError(f"it has no whole table of {name}; only files that RobIK wrote are read")
    words = re.sub(r"[{},]", " ", found[1]).split()
    if not all(re.fullmatch(r"-?\d{1,10}", word) for word in words):
        raise ClipError(f"its table of {name} holds something else than whole numbers")
    return np.array(words, dtype=np.int64)


def write(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a header where the path ends so, else a sketch; raise ClipError if a board's clock is too short."""
    assert companions.servos is not None  # as FORMAT.needs says
    name, data = _name(path), _data(motion, _name(path), companions.servos)
    text = (
        data
        if path.suffix.lower() == HEADER
        else data.replace("#pragma once\n", "") + _program(name, companions.servos)
    )
    return text.encode()


def _name(path: Path) -> str:
    name = re.sub(r"\W", "_", path.stem) or "motion"
    return f"_{name}" if name[0].isdigit() else name


def _program(name: str, servos: ServoCounts) -> str:
    """Return a program for boards whose Serial1 goes to the servos.

    Slowly to the first frame, once along the motion.
    """
    program = _PROGRAM.replace("ARRIVED;", f"{ARRIVED};")
    for word, numbers in (("{SLOW}", servos.slow), ("{FAST}", servos.fast), ("{PACE}", servos.pace)):
        program = program.replace(word, f"{{{', '.join(map(str, numbers))}}}")
    return program.replace("NAME", name.upper()).replace("name", name)


def _data(motion: Motion, name: str, chain: ServoCounts) -> str:
    """Return a row of counts per frame, with ids and times in milliseconds.

    Raises ClipError where it lasts too long.
    """
    if motion.times[-1] - motion.times[0] >= LONGEST:
        raise ClipError(
            f"a board plays {LONGEST / 86400:.0f} days at most, not {motion.times[-1] - motion.times[0]:g} s"
        )
    counts = np.where(chain.counts == HEADER_COUNTS, HEADER_COUNTS + 1, chain.counts)
    milliseconds = np.rint((motion.times - motion.times[0]) * 1e3).astype(np.int64)
    fits = np.iinfo(np.int16).min <= counts.min() and counts.max() <= np.iinfo(np.int16).max
    kind = ("int16_t", "word") if fits else ("int32_t", "dword")
    frames, servos = counts.shape
    rows = ",\n".join("  {" + ", ".join(map(str, row)) + "}" for row in counts.tolist())
    return f"""// Goal positions of {servos} servos in counts, {frames} frames; baud rate {chain.baud_rate}.
{COLUMNS}{", ".join(chain.actuators)}
// Read a goal by {name.upper()}_READ(&{name}_counts[frame][servo]).
#pragma once
#include <stdint.h>
#if defined(ARDUINO)
#include <Arduino.h>
#endif
#if !defined(PROGMEM)
#define PROGMEM
#endif

#define {name.upper()}_FRAMES {frames}
#define {name.upper()}_SERVOS {servos}
#define {name.upper()}_BAUD {chain.baud_rate}
#define {name.upper()}_READ(place) (({kind[0]})pgm_read_{kind[1]}(place))

const uint8_t {name}_ids[{servos}] PROGMEM = {{{", ".join(map(str, chain.ids))}}};
const uint32_t {name}_milliseconds[{frames}] PROGMEM = {{{", ".join(map(str, milliseconds.tolist()))}}};
const {kind[0]} {name}_counts[{frames}][{servos}] PROGMEM = {{
{rows}
}};
"""


_PROGRAM = r"""
// Plays the motion once. Serial1 must lead to the servos' bus, through a shield that turns its direction by itself.
// Take care: there is nobody to press Stop but the switch of the power supply. The servos' watchdog stops them when
// this
// board dies. Where a servo does not answer, torque stays off; where one does not get to the first frame, all hold.
// Then
// the board's LED is on.

const uint32_t name_slow[NAME_SERVOS] PROGMEM = {SLOW};  // profile velocities on the way to the first frame
const uint32_t name_fast[NAME_SERVOS] PROGMEM = {FAST};  // and along the motion
const uint32_t name_pace[NAME_SERVOS] PROGMEM = {PACE};  // counts per second of the slow ones

const int32_t ARRIVED_COUNTS = ARRIVED;
int32_t values[NAME_SERVOS];  // of the next packet
uint16_t crc;

void put_byte(uint8_t byte) {
  Serial1.write(byte);
  crc ^= (uint16_t)byte << 8;
  for (uint8_t k = 0; k < 8; k++) crc = crc & 0x8000 ? (crc << 1) ^ 0x8005 : crc << 1;
}

void begin_packet(uint8_t id, uint16_t length, uint8_t instruction) {
  crc = 0;
  put_byte(0xFF); put_byte(0xFF); put_byte(0xFD); put_byte(0); put_byte(id);
  put_byte(length & 0xFF); put_byte(length >> 8); put_byte(instruction);
}

void end_packet() {
  uint16_t sum = crc;
  Serial1.write((uint8_t)(sum & 0xFF));
  Serial1.write((uint8_t)(sum >> 8));
  Serial1.flush();
}

// A Sync Write of `values` at `address` of all servos, `size` bytes each. None of them holds FF FF FD, so there is
// nothing to stuff.
void send_values(uint16_t address, uint8_t size) {
  begin_packet(0xFE, 7 + NAME_SERVOS * (size + 1), 0x83);
  put_byte(address & 0xFF); put_byte(address >> 8); put_byte(size); put_byte(0);
  for (uint8_t s = 0; s < NAME_SERVOS; s++) {
    put_byte(pgm_read_byte(&name_ids[s]));
    for (uint8_t k = 0; k < size; k++) put_byte((uint32_t)values[s] >> (8 * k));
  }
  end_packet();
}

void send_to_all(uint16_t address, uint8_t size, int32_t value) {
  for (uint8_t s = 0; s < NAME_SERVOS; s++) values[s] = value;
  send_values(address, size);
}

void send_each(uint16_t address, const uint32_t *table) {
  for (uint8_t s = 0; s < NAME_SERVOS; s++) values[s] = pgm_read_dword(&table[s]);
  send_values(address, 4);
}

void send_frame(int32_t frame) {
  for (uint8_t s = 0; s < NAME_SERVOS; s++) values[s] = (int32_t)NAME_READ(&name_counts[frame][s]);
  send_values(116, 4);
}

// The present position of a servo into `position`; false if it does not answer.
bool read_position(uint8_t s, int32_t *position) {
  uint8_t id = pgm_read_byte(&name_ids[s]);
  for (uint8_t attempt = 0; attempt < 3; attempt++) {
    while (Serial1.available()) Serial1.read();
    begin_packet(id, 7, 0x02);
    put_byte(132); put_byte(0); put_byte(4); put_byte(0);
    end_packet();
    uint8_t answer[15] = {0xFF, 0xFF, 0xFD, 0, id, 8, 0, 0x55};
    uint8_t there = 0;
    crc = 0;
    for (uint32_t asked = millis(); there < 15 && millis() - asked < 50;) {
      if (!Serial1.available()) continue;
      uint8_t byte = Serial1.read();
      if (there < 8 && byte != answer[there]) {
        there = crc = 0;  // a shield may give back what was sent
        if (byte != 0xFF) continue;
      }
      answer[there++] = byte;
      if (there > 13) continue;
      crc ^= (uint16_t)byte << 8;
      for (uint8_t k = 0; k < 8; k++) crc = crc & 0x8000 ? (crc << 1) ^ 0x8005 : crc << 1;
    }
    if (there < 15 || (answer[8] & 0x7F) || answer[13] != (crc & 0xFF) || answer[14] != crc >> 8) continue;
    uint32_t found = 0;
    for (uint8_t k = 0; k < 4; k++) found |= (uint32_t)answer[9 + k] << (8 * k);
    *position = (int32_t)found;
    return true;
  }
  return false;
}

// How far a servo is from the first frame, in counts, into `counts`; false if it does not answer.
bool read_distance(uint8_t s, uint32_t *counts) {
  int32_t position;
  if (!read_position(s, &position)) return false;
  int32_t way = (int32_t)NAME_READ(&name_counts[0][s]) - position;
  *counts = way < 0 ? -way : way;
  return true;
}

// To the first frame, each servo at its own slow speed, for as long as the farthest one takes; false if one does not
// get
// there.
bool approach() {
  uint32_t distance, longest = 0;
  send_frame(0);
  for (uint8_t s = 0; s < NAME_SERVOS; s++) {
    if (!read_distance(s, &distance)) return false;
  }
  send_to_all(64, 1, 1);  // torque on
  for (uint8_t s = 0; s < NAME_SERVOS; s++) {
    if (!read_distance(s, &distance)) return false;
    uint32_t pace = pgm_read_dword(&name_pace[s]);
    uint32_t milliseconds = distance / pace * 1000 + distance % pace * 1000 / pace;
    if (milliseconds > longest) longest = milliseconds;
  }
  send_frame(0);
  delay(longest + 500);
  for (uint8_t s = 0; s < NAME_SERVOS; s++) {
    if (!read_distance(s, &distance) || distance > (uint32_t)ARRIVED_COUNTS) return false;
  }
  return true;
}

void play() {
  send_each(112, name_fast);
  send_to_all(98, 1, 10);  // watchdog: 0.2 s
  uint32_t start = millis();
  for (int32_t frame = 0; frame < NAME_FRAMES; frame++) {
    while (millis() - start < pgm_read_dword(&name_milliseconds[frame])) {
      send_to_all(98, 1, 10);  // keeps the watchdog fed between slow frames
      delay(1);
    }
    send_frame(frame);
  }
  send_to_all(98, 1, 0);
}

void give_up() {
#if defined(LED_BUILTIN)
  pinMode(LED_BUILTIN, OUTPUT);
  digitalWrite(LED_BUILTIN, HIGH);
#endif
}

void setup() {
  Serial1.begin(NAME_BAUD);
  delay(500);
  send_to_all(98, 1, 0);  // watchdog off, and cleared
  send_each(112, name_slow);
  if (approach()) play();
  else give_up();
}

void loop() {}
"""


FORMAT = MotionFormat(
    name="arduino", label="Arduino", extensions=(".ino", HEADER), needs=("servos",), needs_to_read=("count_values",),
    matches=matches, read=read, write=write,
)  # fmt: skip
