"""Stop from outside the program that plays: each port's holder leaves a notice that others can answer.

A notice is a file `PID.json` in a folder of the user's (port, state); who wants it to stop puts `PID.stop` beside it.
A program that was asked and leaves has its last words in `PID.left`, which who asked takes away.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import ServoError
from ..files import write_whole
from .chain import ServoChain
from .status import Status

RENEWED = 0.5  # [s]: this often a notice is written again, also where nothing has changed
STALE = 3.0  # [s] after which whoever wrote it is gone
STOPPING = 10.0  # [s] that servos get to come to a stand
VARIABLE = "ROBIK_PORTS_DIR"
STOP, TORQUE_OFF = "stop", "torque off"


def folder() -> Path:
    """Return where the notices are: a folder that only this user can write to."""
    if named := os.environ.get(VARIABLE):
        place = Path(named)
    elif sys.platform == "win32":
        place = Path(os.environ.get("LOCALAPPDATA") or tempfile.gettempdir()) / "robik" / "ports"
    else:
        place = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"robik-ports-{os.getuid()}"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place


def ports_of(chain: ServoChain, port: str) -> list[str]:
    """Return the ports that a chain's servos are on, where `port` is the one that is played on.

    Args:
        chain: The chain of servos.
        port: The port that is played on.

    Returns:
        Names of ports.
    """
    return [part.port or port for part in chain.parts]


class Notice:
    """That this process holds one port or several, for as long as the block lasts.

    Args:
        ports: their names.
        status: gives the player's status, also after the player was closed.
    """

    def __init__(self, ports: Sequence[str], status: Callable[[], Status]) -> None:
        self._ports, self._status, self._state, self._written = list(ports), status, "", -STALE
        self._file: Path | None = None
        self._asking = ""  # path of what another process writes
        self._was_asked = False
        with suppress(OSError):  # without such a folder nobody can stop it from outside; it plays all the same
            self._file = folder() / f"{os.getpid()}.json"
            asking = self._file.with_suffix(".stop")
            asking.unlink(missing_ok=True)
            _left(self._file).unlink(missing_ok=True)
            self._asking = str(asking)

    def __enter__(self) -> Notice:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with suppress(OSError):
                if self._was_asked:
                    write_whole(_left(self._file), self._words(self._status()))
                self._file.unlink(missing_ok=True)

    def look(self) -> str:
        """Write the status, and return what another process asks for.

        Returns:
            `STOP` or `TORQUE_OFF`, once, and nothing otherwise.
        """
        if self._file is None:
            return ""
        now, words = time.perf_counter(), self._words(self._status())
        with suppress(OSError):
            if words != self._state or now - self._written > RENEWED:
                self._state, self._written = words, now
                write_whole(self._file, words)
            if os.path.exists(self._asking):  # a hundred times a second: pathlib takes ten times as long
                asking = Path(self._asking)
                asked = asking.read_text(encoding="utf-8")
                self._was_asked = True
                asking.unlink(missing_ok=True)
                return asked
        return ""

    def _words(self, status: Status) -> str:
        state = f"{status.state.value}: {status.message}"
        what = {"ports": self._ports, "state": state, "moves": status.state.is_moving, "is_off": status.is_off}
        return json.dumps(what)


@dataclass(frozen=True)
class Holder:
    """A program that holds ports.

    Attributes:
        file: its notice.
        ports: their names.
        state: of its player, in words.
        moves: whether it moves servos.
        is_off: whether torque was read back as off from all of them.
    """

    file: Path
    ports: tuple[str, ...]
    state: str
    moves: bool
    is_off: bool

    @property
    def name(self) -> str:
        """Of its ports, in words."""
        return " and ".join(self.ports)


def holders(port: str = "") -> list[Holder]:
    """Return the processes that hold a port, this one or any.

    Args:
        port: Name of the port; empty for any.

    Returns:
        The processes.
    """
    found = []
    for file in sorted(folder().glob("*.json")):
        holder = _read(file)
        if holder is not None and (not port or port in holder.ports):
            found.append(holder)
    return found


def _read(file: Path) -> Holder | None:
    try:
        if time.time() - file.stat().st_mtime > STALE:
            return None
        what = json.loads(file.read_text(encoding="utf-8"))
        return Holder(file, tuple(what["ports"]), what["state"], what["moves"], what["is_off"])
    except (OSError, ValueError, KeyError):  # it has just left
        return None


def ask_to_stop(port: str = "", is_torque_off: bool = False) -> list[Holder]:
    """Let whoever plays stop softly, or turn torque off at once, and wait until it has.

    Args:
        port: of whom; empty for everybody.
        is_torque_off: which.

    Returns:
        What became of each.

    Raises:
        ServoError: nobody holds a port, or one does not stop.
    """
    asked = holders(port)
    if not asked:
        where = f"the port {port}" if port else "a port of servos"
        raise ServoError(f"no program of this user that plays with RobIK holds {where}")
    for holder in asked:
        asking = holder.file.with_suffix(".stop")
        if is_torque_off or not asking.exists():  # a stop takes no torque-off back that nobody has read yet
            write_whole(asking, TORQUE_OFF if is_torque_off else STOP)  # whoever reads it finds all of it
    ends = time.perf_counter() + STOPPING
    while left := [holder for holder in asked if _is_waited_for(holder)]:
        if time.perf_counter() > ends:
            raise ServoError(f"{left[0].name} does not stop ({left[0].state}); switch the servos' power off")
        time.sleep(0.02)
    return [_last_of(holder) for holder in asked]


def _is_waited_for(holder: Holder) -> bool:
    now = _read(holder.file)
    return now is not None and (now.moves or holder.file.with_suffix(".stop").exists())


def _last_of(holder: Holder) -> Holder:
    """Return what a holder says now, or said when it left."""
    left = _left(holder.file)
    if (said := _read(holder.file) or _read(left)) is None:
        return replace(holder, state="the program has left", moves=False, is_off=False)
    left.unlink(missing_ok=True)
    return said


def _left(file: Path) -> Path:
    return file.with_suffix(".left")
