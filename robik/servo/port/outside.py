"""Stop from outside the program that plays: each port's holder leaves a notice that others can answer.

A notice is a file `PID.json` in a folder of the user's (ports, state), beside `PID.lock`, which is locked for as long
as the process lives, also where it hangs. Who wants it to stop puts `PID.stop` there. A program that was asked and
leaves has its last words in `PID.left`, which who asked takes away.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ...errors import FormatError, ServoError
from ...files import write_whole
from ..chain.chain import ServoChain
from ..chain.port_name import SIMULATED, device_of
from .own_folder import folder, folders
from .presence import Presence, is_present
from .status import Status
from .users import process_words

RENEWED = 0.5  # [s]: this often a notice is written again, also where nothing has changed
STALE = 3.0  # [s] after which whoever has not written it again hangs
STOPPING = 10.0  # [s] that servos get to come to a stand
TAKING = 0.3  # [s] in which a program takes a request for torque-off; one that does not hangs
CUTTING = 1.0  # [s] after that in which it has done it
GLANCE = 0.01  # [s] between looks at what becomes of a request
STOP, TORQUE_OFF = "stop", "torque off"


class Held(NamedTuple):
    """A port that a program holds."""

    port: str  # its name
    brand: str  # of the servos on it
    baud_rate: int | None  # theirs [bit/s]; None where nobody has said it


def ports_of(chain: ServoChain, port: str) -> list[str]:
    """Return the ports that a chain's servos are on; servos that name none are on `port`."""
    return [part.port or port for part in chain.parts]


def held(chain: ServoChain, port: str) -> list[Held]:
    """Return the ports that whoever plays a chain holds."""
    if port == SIMULATED:
        return [Held(port, chain.brand.name, chain.baud_rate)]
    return [Held(part.port or port, part.brand.name, part.baud_rate) for part in chain.parts]


class Notice:
    """Notice that this process holds one port or several, for as long as the block lasts.

    `status` returns the player's status, also after the player was closed.
    """

    def __init__(self, ports: Sequence[Held], status: Callable[[], Status]) -> None:
        self._ports, self._status, self._written = list(ports), status, -RENEWED
        self._state: tuple[str, bool] | None = None  # as written
        self._file: Path | None = None
        self._asking = ""  # path of what another process writes
        self._was_asked = False
        try:
            file = folder() / f"{os.getpid()}.json"
            self._presence = Presence(file.with_suffix(".lock"))
            asking = file.with_suffix(".stop")
            asking.unlink(missing_ok=True)
            _left(file).unlink(missing_ok=True)
        except (OSError, ServoError) as error:
            _warn(f"warning: these servos cannot be stopped from outside: {error}")
            return
        self._file, self._asking = file, str(asking)

    def __enter__(self) -> Notice:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with suppress(FormatError):
                if self._was_asked:
                    write_whole(_left(self._file), self._words(self._status()))
            with suppress(OSError):
                self._file.unlink(missing_ok=True)
            with suppress(OSError):
                self._presence.end()

    def look(self) -> str:
        """Write the status, and return another process's request, once: `STOP`, `TORQUE_OFF` or an empty text."""
        if self._file is None:
            return ""
        now, status = time.perf_counter(), self._status()
        state = f"{status.state.value}: {status.message}", status.is_off
        with suppress(OSError, FormatError):  # a full disk ends no motion
            if state != self._state or now - self._written > RENEWED:
                self._state, self._written = state, now
                write_whole(self._file, self._words(status))
            if os.path.exists(self._asking):  # a hundred times a second: pathlib takes ten times as long
                asking = Path(self._asking)
                asked = asking.read_text(encoding="utf-8")
                self._was_asked = True
                asking.unlink(missing_ok=True)
                return asked
        return ""

    def _words(self, status: Status) -> str:
        state = f"{status.state.value}: {status.message}"
        devices = [device_of(held.port) for held in self._ports]  # as they are now: an adapter may be another device
        what = {"ports": self._ports, "devices": devices, "state": state}
        return json.dumps(what | {"moves": status.state.is_moving, "is_off": status.is_off})


def _warn(text: str) -> None:
    if sys.stderr is not None:  # without one, `print` would take the standard output, on which the owner listens
        with suppress(OSError, ValueError):
            print(text, file=sys.stderr)


@dataclass(frozen=True)
class Holder:
    """A program that holds ports.

    Attributes:
        file: its notice.
        ports: that it holds.
        devices: theirs, as `device_of` tells them.
        state: of its player, in words.
        moves: whether it moves servos.
        is_off: whether torque was read back as off from all of them.
        is_hung: whether it does not react, or has left without doing what it was asked.
    """

    file: Path
    ports: tuple[Held, ...]
    devices: tuple[str, ...]
    state: str
    moves: bool
    is_off: bool
    is_hung: bool = False

    @property
    def name(self) -> str:
        """Of its ports, in words."""
        return " and ".join(held.port for held in self.ports)

    @property
    def pid(self) -> int:
        """The number of its process."""
        return int(self.file.stem)

    @property
    def process(self) -> str:
        """Its process, in words."""
        return process_words(self.pid)


def holders(port: str = "") -> list[Holder]:
    """Return the processes that hold a port; empty for any port."""
    asked = device_of(port) if port else ""
    found = [_read(file) for place in folders() for file in sorted(place.glob("*.json"))]
    return [one for one in found if one is not None and (not asked or asked in one.devices)]


def _read(file: Path) -> Holder | None:
    if not is_present(file.with_suffix(".lock")):
        return None
    try:
        is_hung = time.time() - file.stat().st_mtime > STALE
        return _said(file, is_hung)
    except OSError:  # it has just left
        return None


def _said(file: Path, is_hung: bool = False) -> Holder | None:
    """Return what a file says of a holder; None where it is gone, or no such file."""
    try:
        what = json.loads(file.read_text(encoding="utf-8"))
        ports = tuple(Held(*one) for one in what["ports"])
        return Holder(file, ports, tuple(what["devices"]), what["state"], what["moves"], what["is_off"], is_hung)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def ask_to_stop(port: str = "", is_torque_off: bool = False) -> list[Holder]:
    """Ask whoever plays on a port to stop softly or turn torque off at once, and return the result of each.

    An empty port is every port. Wait until each has done so. Raise ServoError if nobody holds it, or one does not
    stop.
    """
    asked = holders(port)
    if not asked:
        where = f"the port {port}" if port else "a port of servos"
        raise ServoError(f"no program of this user that plays with RobIK holds {where}")
    for holder in asked:
        _ask(holder, is_torque_off)
    began = time.perf_counter()
    return [_cut(holder, began) if is_torque_off else _stopped(holder, began) for holder in asked]


def tell_torque_off(port: str) -> None:
    """Let whoever else holds a port turn torque off, and do not wait for it."""
    for holder in holders(port):
        if holder.pid != os.getpid():
            with suppress(FormatError):  # what comes of it is seen on the bus
                _ask(holder, is_torque_off=True)


def _ask(holder: Holder, is_torque_off: bool) -> None:
    asking = _request(holder)
    if is_torque_off or not asking.exists():  # a stop takes no torque-off back that nobody has read yet
        write_whole(asking, TORQUE_OFF if is_torque_off else STOP)  # whoever reads it finds all of it


def _stopped(holder: Holder, began: float) -> Holder:
    """Wait until a holder stands; raises ServoError where it does not come to it."""
    while (now := _read(holder.file)) is not None and (now.moves or _request(holder).exists()):
        if now.is_hung:
            raise ServoError(
                f"{now.name} is held by {now.process}, which does not react; robik servos torque-off --port"
                f" {now.ports[0].port} turns torque off beside it"
            )
        if time.perf_counter() > began + STOPPING:
            raise ServoError(f"{now.name} does not stop ({now.state}); switch the servos' power off")
        time.sleep(GLANCE)
    return _last_of(holder)


def _cut(holder: Holder, began: float) -> Holder:
    """Wait until a holder has turned torque off, and no longer than one takes that does not hang."""
    ends = began + TAKING
    while (now := _read(holder.file)) is not None:
        is_taken = not _request(holder).exists()
        if is_taken and now.is_off:
            return now
        if is_taken and ends == began + TAKING:
            ends = time.perf_counter() + CUTTING
        if time.perf_counter() > ends:
            return replace(now, is_hung=not is_taken or now.moves)
        time.sleep(GLANCE)
    left = _last_of(holder)
    return replace(left, is_hung=not left.is_off)


def _request(holder: Holder) -> Path:
    return holder.file.with_suffix(".stop")


def _last_of(holder: Holder) -> Holder:
    """Return what a holder says now, or said when it left."""
    left = _left(holder.file)
    if (said := _read(holder.file) or _said(left)) is None:
        return replace(holder, state="the program has left", moves=False, is_off=False)
    left.unlink(missing_ok=True)
    return replace(said, file=holder.file)


def _left(file: Path) -> Path:
    return file.with_suffix(".left")
