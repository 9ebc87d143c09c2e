"""Arduino motion files: servo counts in program memory, as a header, or as a sketch that plays them by itself."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from .format import Companions, MotionFormat, ServoCounts
from .motion import Motion

APPROACH_TIME = 6.0  # [s] that the way to the first frame is given
HEADER = ".h"


def write(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a header where the path ends so, else a sketch."""
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
    """Return a program for boards whose Serial1 goes to the servos: slowly to the first frame, once along the motion."""
    program = _PROGRAM.replace("NAME", name.upper()).replace("name", name)
    for word, number in (("SLOW", servos.slow), ("FAST", servos.fast), ("WAIT", round(1e3 * APPROACH_TIME))):
        program = program.replace(word, str(number))
    return program


def _data(motion: Motion, name: str, chain: ServoCounts) -> str:
    """Return a row of counts per frame, with ids and times in milliseconds."""
    counts = chain.counts
    milliseconds = np.rint((motion.times - motion.times[0]) * 1e3).astype(np.int64)
    fits = np.iinfo(np.int16).min <= counts.min() and counts.max() <= np.iinfo(np.int16).max
    kind = ("int16_t", "word") if fits else ("int32_t", "dword")
    frames, servos = counts.shape
    rows = ",\n".join("  {" + ", ".join(map(str, row)) + "}" for row in counts.tolist())
    return f"""// Goal positions of {servos} servos in counts, {frames} frames; baud rate {chain.baud_rate}.
// Columns: {", ".join(chain.actuators)}
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
// Take care: there is nobody to press Stop but the switch of the power supply. The servos' watchdog stops them when this board dies.

uint16_t crc;

void put(uint8_t byte) {
  Serial1.write(byte);
  crc ^= (uint16_t)byte << 8;
  for (uint8_t k = 0; k < 8; k++) crc = crc & 0x8000 ? (crc << 1) ^ 0x8005 : crc << 1;
}

// A Sync Write of `size` bytes at `address` of all servos: `value`, or where `frame` is not negative the goals of that frame.
// None of these values holds FF FF FD, so there is nothing to stuff.
void send(uint16_t address, uint8_t size, int32_t value, int32_t frame) {
  uint16_t length = 7 + NAME_SERVOS * (size + 1);
  crc = 0;
  put(0xFF); put(0xFF); put(0xFD); put(0); put(0xFE); put(length & 0xFF); put(length >> 8); put(0x83);
  put(address & 0xFF); put(address >> 8); put(size); put(0);
  for (uint8_t s = 0; s < NAME_SERVOS; s++) {
    if (frame >= 0) value = (int32_t)NAME_READ(&name_counts[frame][s]);
    put(pgm_read_byte(&name_ids[s]));
    for (uint8_t k = 0; k < size; k++) put((uint32_t)value >> (8 * k));
  }
  uint16_t sum = crc;
  Serial1.write((uint8_t)(sum & 0xFF));
  Serial1.write((uint8_t)(sum >> 8));
  Serial1.flush();
}

void setup() {
  Serial1.begin(NAME_BAUD);
  delay(500);
  send(98, 1, 0, -1);       // watchdog off, and cleared
  send(112, 4, SLOW, -1);    // profile velocity: slowly
  send(116, 4, 0, 0);       // to the first frame
  send(64, 1, 1, -1);       // torque on
  send(116, 4, 0, 0);
  delay(WAIT);
  send(112, 4, FAST, -1);
  send(98, 1, 10, -1);      // watchdog: 0.2 s
  uint32_t start = millis();
  for (int32_t frame = 0; frame < NAME_FRAMES; frame++) {
    while (millis() - start < pgm_read_dword(&name_milliseconds[frame])) {
      send(98, 1, 10, -1);  // keeps the watchdog fed between slow frames
      delay(1);
    }
    send(116, 4, 0, frame);
  }
  send(98, 1, 0, -1);
}

void loop() {}
"""


FORMAT = MotionFormat(name="arduino", label="Arduino", extensions=(".ino", HEADER), needs=("servos",), write=write)
