"""docs/safety.md, written from a run of the fault matrix."""

from __future__ import annotations

from pathlib import Path

from tests.servo.faults import BEAT, KILLED, SETTINGS, STAGES, Cell
from tests.servo.machine import IDS

COUNT = {ports: sum(map(len, ids)) for ports, ids in IDS.items()}  # of servos
PAGE = Path(__file__).resolve().parents[2] / "docs" / "safety.md"
HEAD = f"""# Safety

What happens when something goes wrong while servos are connected. The tables are the result of a run:
`python -m tests.servo.faults` makes each fault happen at each stage and writes this page. It plays on
{COUNT[1]} servos of an independent chain (`tests/servo/independent`): a program of its own behind a
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

- **the servos**: what they did, and how many of the {COUNT[1]} have torque on at the end. One that lost
  its torque yields; what it carries may fall. *went on*: the fault was survived, and they went on as told until
  Stop was pressed.
- **stood after**: from the fault, or from *Stop*, to the last move of any servo.
- **to go on**: what the user pressed once the cause was gone.

Where a servo does not take torque, *Torque On* was pressed while connecting: torque that is on already it cannot
refuse.

Servos stand at once when nobody speaks to them any more, since each goal is only one step away from the last; their
watchdog then makes sure that a goal which comes late does nothing.

**Torque On** asks twice where the servos stand, 0.3 s apart and for another number of bytes each time, and
refuses where they do not agree with what connecting found; where a horn leaves its place after torque is on, torque
goes off again. Behind a bridge whose answers came up to 100 or 150 ms late it drove a lone servo elsewhere in
0 of 224 tries each; before, in 0 and 9 (`python -m tests.servo.late_torque 0.15 224`). Such a bridge is too slow to
play on: most tries end with a servo that does not answer.

**A second program that sends goals** is seen by the goal that a servo has, at every look; some 20 times a second, and
four times with an adapter that holds answers back for 16 ms, one servo is looked at just before the next goals, since
right after a goal of ours none of somebody else's is ever to be seen. The second goal that nobody here sent stops all.
With 50 goals a second of somebody else's on one of four servos, and 100 of ours, that took 0.6 s, and 3 s or more
behind such an adapter; the more servos there are, the longer it takes. A goal
within 1.1° of one of the last 0.5 s is not told apart, a single one is replaced by the next of ours, and nothing holds
the other program back: end it, or switch the power off. Dynamixel servos that take no indirect addresses are looked
at in several questions, and never just before goals.
"""
SEVERAL = f"""# One of four ports

{COUNT[4]} servos on four ports, each an independent chain of its own. The fault befalls the third port, which has
five of them. Written by `python -m tests.servo.faults 4`; one clock sends to all, and what stops one port stops all.
"""
FEETECH = f"""# Feetech servos

The same faults, and some of their own, with {COUNT[1]} servos of an independent Feetech chain
(`tests/servo/feetech/independent`). Written by `python -m tests.servo.feetech.faults`.

**They are guarded less than Dynamixel servos.** They have no bus watchdog: when nobody speaks to them any more, they go
on to their last goal and hold there, with torque on, for as long as they have power. Nothing in a servo notices that
the computer is gone. Instead:

- A goal is never farther ahead than one period's step. It is also never farther from where the servo was last seen
  than the servo gets there at its speed limit in the watchdog's time ({SETTINGS.watchdog:g} s here), and 9° more for
  what a loaded servo gives way. A servo that was held, and is let go after the computer died, turns no farther.
- Each goal carries its speed, so that a servo that restarted, or whose speed limit somebody took, is never without one
  for longer than a period.
- The process that plays stops softly when Blender dies or hangs. A servo that is silent for
  {SETTINGS.silence:g} s stops all others.
- Each servo that is played has a torque limit 0.1 % below its own. A restart takes that mark away, and is noticed.

Where they stay weaker:

- **A goal turns torque on.** A servo that restarts in mid play loses its torque, and the next goal gives it back before
  anybody has looked. It then goes on from where it fell to, at the goal's speed, until the mark is missed; from then on
  it gets no goals, and holds. In the same way torque that *another program* turns off is back with the next goal. Stop
  with RobIK's own stop: `robik servos torque-off` asks the program that plays.
- **A goal ends the overload protection.** In mid play it starts over with each goal, so that it never cuts in. RobIK
  watches the same load, and stops all before the servo would have cut its torque.
- **The check of a packet is one byte.** One garbled packet in 256 passes. Settings and positions that matter are read
  twice; a garbled goal that passes is replaced by the next one, a period later.
- **A computer that dies with torque on leaves it on.** Where that must not be, power has to be switched off.

What a servo does here is what the maker's memory table and sheets say, and what users measured. Nobody has confirmed
that a restart leaves torque off in all firmware, that other models behave as the STS3215 does, or how long the EEPROM
takes to keep a setting: leave the power on for two seconds after `prepare`, `set` and `zero`.
"""
DYNAMIXEL1 = f"""# Dynamixel servos of Protocol 1

The same faults with {COUNT[1]} AX-12A of an independent chain (`tests/servo/dynamixel1/independent`), written from
ROBOTIS's e-Manual. Written by `python -m tests.servo.dynamixel1.faults`.

**They are guarded less than Dynamixel servos of Protocol 2.** Like Feetech servos they have no bus watchdog: when
nobody speaks to them any more, they go on to their last goal and hold there, with torque on. What guards them instead
is the same as for [Feetech servos](#feetech-servos): goals near to where each servo was last seen, a speed with every
goal (a moving speed of 0 would be no limit at all), a soft stop by the process that plays, and a torque limit 0.1 %
below the servo's own, which a restart takes away.

Where they stay weaker:

- **A servo is looked at by itself.** There is no read of several servos, so that each is looked at less often the more
  there are and the longer an adapter holds answers back: with 16 ms, twelve servos only four times a second each. A
  servo that falls silent is missed that much later, and goals may be farther ahead of where it was last seen. Set the
  adapter's latency to 1 ms, and the return delay to 0 (`prepare` does).
- **Errors are in answers only.** There is no register of hardware errors, so that a servo which says nothing has none.
  The load is what the controller puts out, not what a sensor measures.
- **A shutdown leaves torque on, with a torque limit of 0.** Whoever writes another limit lets the servo run to its old
  goal. RobIK plays none before *Reboot*, which gives the limit back once torque is read back as off; other programs may
  not.
- **A goal may turn torque on.** The e-Manual does not say so, users do. The simulated servos do it and the independent
  ones do not, and both are played in tests. Stop with RobIK's own stop, not with another program.
- **The check of a packet is one byte.** One garbled packet in 256 passes. Settings and positions that matter are read
  twice; a garbled goal that passes is replaced by the next one, a period later.
- **A computer that dies with torque on leaves it on.** Where that must not be, power has to be switched off.
- An AX-12A knows 300° in steps of 0.29°, and has no gains but its compliance: under a load it stands a degree or more
  from its goal. Within 9° that is no fault.

Nothing of this has met a real servo yet.
"""
REACHY = """# Reachy Mini's daemon

Motors that are spoken to through the robot's daemon (`reachy:HOST:PORT`). Each line is a test with a daemon that is a
program of its own and shares no code with the player (`tests/servo/reachy`), and the maker's own daemon 1.13.0 played a
move. Nothing of it has met a robot.

**They are guarded less than servos on their own bus.** The daemon has no watchdog, no limits of speed, and no owner:
whoever speaks last moves the robot. It answers nothing that it is told, and says nothing of heat, load and supply.
Instead:

- A goal is never farther ahead than one period's step, never outside the limits, and never farther from where its
  motor was last seen than the speed limit takes it in 0.2 s, and 9° more for what a loaded motor gives way.
- While the daemon says nothing for 0.1 s it gets no goals; after 0.5 s everything ends (3 s if nothing is played).
- Torque and the daemon's own moves are asked for, not assumed. While it plays a move, connecting is refused.

| what happens | the motors | then |
|---|---|---|
| Stop, ESC, Blender hangs or is killed | slow down along the motion and hold | play again |
| *Torque Off* | torque off with the next message; a move of the daemon's ends, too | torque on |
| the process that plays is killed | stand within 0.2 s and hold, torque on as long as the daemon runs | connect again |
| the daemon is killed | are left as they are: the robot's servos hold their last goal | start it, connect again |
| the daemon stalls for less than 0.5 s | get no goals meanwhile; what waited for it is 0.1 s of the motion | |
| the daemon stalls for longer | hold where they are | connect again |
| the daemon begins a move of its own | **go along with that move**, and get no goals | wait for its end, torque on |
| another program turns torque off | yield; noticed within a second | torque on |
| another program sends goals, too | **go to and fro**; noticed where one is 20° off for 0.5 s | end the other program |
| the daemon does not turn torque off | hold; the player says so | switch the power off |

- **A daemon that dies, or a computer that dies with torque on, leaves it on.** Where that must not be, switch the power
  off.
- The daemon tells of moves that were begun by HTTP, as its own pages do; of those that another program begins through
  its SDK it does not tell.
- Its MuJoCo simulation always has torque, so that *Torque Off* there is never confirmed.
- The connection is neither encrypted nor is anybody asked who he is. The address is this computer unless you type
  another one.
"""
HOLDERS = """# Who has the port

Each line is a test with real processes, some of which are stopped by SIGSTOP, on independent and simulated chains
(`tests/servo/test_hung.py`, `test_two_names.py`, `test_own_folder.py`).

| what happens | the servos | then |
|---|---|---|
| `robik servos torque-off` or `stop` names the port otherwise than who plays: device, link, path | as asked | |
| the program that plays hangs, `torque-off` | torque off beside it 0.3 s later; the process is named | connect again |
| it hangs, `stop` | as they are; the process is named, and how torque goes off | `torque-off` |
| it wakes after `torque-off` | torque stays off, no goal comes | torque on |
| another program has the port, `torque-off` or *Torque Off* | torque off beside it 0.3 s later; it is named | end it |
| the process that has Blender's port hangs in *Live* | stand, by their watchdog or at their last goal | *Torque Off* |
| another user made the folder of notices, or a link of its name | as without; notices are elsewhere | |

- Blender never waits for the process that has its port; *Torque Off* ends one that hangs, and is on the wire within a
  second.
- Servos whose torque a goal turns on (Feetech, some of Protocol 1) get it back from a program that is none of RobIK's
  and still sends goals. The command reads torque back, and says so.
- On Windows nobody can open a port beside another program. The command names the process if it plays with RobIK; end
  it.
- Commands ask the programs of their own user. Beside those of others torque-off goes out where the system lets this
  user open the port.
"""
PERFORM = """# A performance in Blender

*Servos > Perform* moves the robot in the view; servos follow it only while they are *Live*, which the user pressed, by
the same limiter as when a slider is dragged. Each line is a test with a simulated chain
(`tests/blender/test_perform.py`), those of ESC and undo in a real window, too (`tests/gui/performing.py`).

| what happens | servos that are live | the performance |
|---|---|---|
| ESC, Return, *End* | slow down and hold | ends; what was recorded is kept |
| *Stop*, *Torque Off*; ESC of *Live*; `robik servos stop`; any fault | as without it | ends within 0.03 s |
| undo or redo | slow down and hold | ends |
| another file is opened | stop softly and hold; the port is closed | ends |
| the frame is changed, playback begins | slow down and hold | ends |
| the robot is deleted, *Follow Live* is switched on, another scene is shown | slow down and hold | ends |
| the message `/robik/stop` | slow down and hold | ends |
| the window loses the keyboard while a key is held | follow the clip as it fades out | goes on |
| an unknown address, a packet that is no OSC, no number | go on within all limits | goes on; the panel says it |
| the gamepad is pulled out | go on within all limits | goes on; all of it counts as let go |
| Blender stands still | slow down and hold after *Bear Stalls* | catches up with 0.1 s at most |

OSC has no password: whoever can send to the port triggers clips. It is closed but while the robot performs, and hears
this computer alone unless the user types another address. No message begins a performance, or turns *Live* or torque
on.
"""
PARTS: dict[int | str, str] = {
    1: HEAD,
    4: SEVERAL,
    "feetech": FEETECH,
    "dynamixel1": DYNAMIXEL1,
    "reachy": REACHY,
    "holders": HOLDERS,
    "perform": PERFORM,
}  # the last three have no cells
FOOT_HEAD = "# Limits of this page"
FOOT = f"""{FOOT_HEAD}

Servos that really are there: gears that slip, supplies that sag under load, adapters that reorder. A servo whose
firmware ignores the bus watchdog cannot be stopped by it when the computer dies; connecting refuses firmware that is
known to be too old. *Torque Off* remains, and so does the switch of the power supply. Keep that switch within reach.

All of this ran on Linux. Of Windows and macOS nothing ran: what is different there was read, and read again later,
against the systems' documentation, and is untested:

- The process that plays: that it starts without a window of its own and outlives Blender (on Windows it does not where
  Blender was started in a job that ends its processes together: then the servos' watchdog stops them), its priority
  (Windows: high, its threads time-critical, timers of 1 ms; macOS: the class of service of what a user waits for), and
  its end with Blender's.
- The clock: `time.perf_counter`, which counts finely on Windows, too. On Windows and macOS a machine that wakes is
  noticed by a clock that went on or by the servos' own watchdog; which of them comes first is not known.
- The port: exclusive use, baud rates beyond 115,200, what a port that is pulled out answers, the adapter's latency and
  the words about setting it (Windows: Device Manager; macOS: the adapter's own driver, if it has such a setting).
- Keys in a terminal and signals. Windows gives a program no time when its terminal is closed: there the servos are
  stopped by their watchdog, not softly. Ctrl-C and Ctrl-Break stop softly.
- Notices for `robik servos stop` (Windows: in `%LOCALAPPDATA%`; macOS: in the user's temporary folder), and names of
  ports (Windows: `COM3`, `com3`, `\\\\.\\COM3`; macOS: the two devices of each).
"""


def write_page(cells: list[Cell], ports: int | str) -> None:
    """Write what was found on so many ports, or of a brand, into docs/safety.md; the other parts of the page stay."""
    sections = [PARTS[ports]]
    for fault in dict.fromkeys(cell.fault for cell in cells):
        rows = [cell for cell in cells if cell.fault == fault]
        table = ["| stage | the servos | stood after | the user saw | to go on |", "|---|---|---|---|---|"]
        rows.sort(key=lambda cell: STAGES.index(cell.stage))
        table += [f"| {c.stage} | {_deeds(c)} | {_time(c)} | {_words(c)} | {c.mended} |" for c in rows]
        sections.append(f"## {fault[0].upper()}{fault[1:]}\n\n" + "\n".join(table) + "\n")
    parts = _parts() | {ports: "\n".join(sections)}
    PAGE.write_text("\n".join([*(parts[one] for one in PARTS if one in parts), FOOT]), encoding="utf-8")


def _parts() -> dict[int | str, str]:
    """Return the parts of the page that there are."""
    heads: dict[int | str, str] = {ports: text.split("\n", 1)[0] for ports, text in PARTS.items()} | {0: FOOT_HEAD}
    found: dict[int | str, list[str]] = {}
    ports: int | str = 0
    for line in PAGE.read_text(encoding="utf-8").split("\n"):
        ports = next((one for one, head in heads.items() if line == head), ports)
        found.setdefault(ports, []).append(line)
    return {ports: "\n".join(lines).rstrip("\n") + "\n" for ports, lines in found.items() if ports}


def _deeds(cell: Cell) -> str:
    if cell.stage == "connecting" and cell.fastest == 0.0:
        return "did not move" + (f"; {cell.torque} of {COUNT[cell.ports]} have torque" if cell.torque else "")
    yielding = COUNT[cell.ports] - cell.torque
    end = f"{cell.torque} hold, {yielding} yields" if yielding else "all hold"
    return f"went on; {end}" if cell.went_on else f"stopped; {end}"


def _time(cell: Cell) -> str:
    if cell.stage == "connecting" and cell.fastest == 0.0:
        return "–"
    return f"{cell.seconds:.2f} s" + (" after *Stop*" if cell.went_on else "")


def _words(cell: Cell) -> str:
    if cell.fault == KILLED:
        return "nothing, there was nobody left"
    return cell.saw
