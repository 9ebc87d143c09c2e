"""docs/safety.md, written from a run of the fault matrix."""

from __future__ import annotations

import re
from pathlib import Path

from tests.servo.faults import BEAT, CHAIN, FAULTS, KILLED, SETTINGS, STAGES, Cell

PAGE = Path(__file__).resolve().parents[2] / "docs" / "safety.md"
HEAD = f"""# Safety

What happens when something goes wrong while servos are connected. The tables are the result of a run:
`python -m tests.servo.faults` makes each fault happen at each stage and writes this page. It plays on
{len(CHAIN.servos)} servos of an independent chain (`tests/servo/independent`): a program of its own behind a
pseudo-terminal, with the protocol, the control tables and the servos' motion written from the vendor's manual.
It shares no code with the player. The port is in a process of its own, as in Blender. The tests repeat a part of
the table every time, with more patience, since a machine that stalls is a fault of its own.

Checked in every cell, with what the servos did by the chain's clock: they stand in the end and nothing moves after
that; none is ever faster than its limit; none moves on without a packet for longer than its watchdog's time; the
player says what is wrong instead of hanging; and once the cause is gone the robot plays again, without starting
Blender again. Blender may stall for {SETTINGS.heartbeat:g} s here, the watchdog waits for {SETTINGS.watchdog:g} s,
a soft stop takes {SETTINGS.stop_time:g} s. The machine is shared with others, and horns are looked at every
{1e3 * BEAT:g} ms, so times vary by some hundredths of a second. A cell in which the machine itself stalled is run
again.

- **the servos**: what they did, and how many of the {len(CHAIN.servos)} have torque on at the end. One that lost
  its torque yields; what it carries may fall. *went on*: the fault was survived, and they went on as told until
  Stop was pressed.
- **stood after**: from the fault, or from *Stop*, to the last move of any servo.
- **to go on**: what the user pressed once the cause was gone.

Servos stand at once when nobody speaks to them any more, since each goal is only one step away from the last; their
watchdog then makes sure that a goal which comes late does nothing.
"""
FOOT = """
## What this does not cover

Servos that really are there: gears that slip, supplies that sag under load, adapters that reorder. A servo whose
firmware ignores the bus watchdog cannot be stopped by it when the computer dies; connecting refuses firmware that is
known to be too old. *Torque Off* remains, and so does the switch of the power supply. Keep that switch within reach.
"""


def write_page(cells: list[Cell]) -> None:
    """Writes docs/safety.md."""
    sections = [HEAD]
    for fault in FAULTS:
        rows = [cell for cell in cells if cell.fault == fault]
        table = ["| stage | the servos | stood after | the user saw | to go on |", "|---|---|---|---|---|"]
        rows.sort(key=lambda cell: STAGES.index(cell.stage))
        table += [f"| {c.stage} | {_deeds(c)} | {_time(c)} | {_words(c)} | {c.mended} |" for c in rows]
        sections.append(f"## {fault[0].upper()}{fault[1:]}\n\n" + "\n".join(table) + "\n")
    PAGE.write_text("\n".join([*sections, FOOT.lstrip("\n")]), encoding="utf-8")


def _deeds(cell: Cell) -> str:
    if cell.stage == "connecting" and cell.fastest == 0.0:
        return "did not move"
    yielding = len(CHAIN.servos) - cell.torque
    end = f"{cell.torque} hold, {yielding} yields" if yielding else "all hold"
    return f"went on; {end}" if cell.went_on else f"stopped; {end}"


def _time(cell: Cell) -> str:
    if cell.stage == "connecting" and cell.fastest == 0.0:
        return "–"
    return f"{cell.seconds:.2f} s" + (" after *Stop*" if cell.went_on else "")


def _words(cell: Cell) -> str:
    if cell.fault == KILLED:
        return "nothing, there was nobody left"
    return re.sub(r"/tmp/servos-\w+/port", "/dev/ttyUSB0", cell.saw)
