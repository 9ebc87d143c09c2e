"""Commands `robik play` and `robik simulate-servos`."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robik.errors import ServoError
from robik.motions import load_motion
from robik.servo.chain import load_chain
from robik.servo.player import SIMULATED, Player
from robik.servo.simulator.port import PseudoTerminal, Socket
from robik.servo.simulator.server import Server
from robik.servo.softening import soften
from robik.servo.status import PlaySettings, PlayState, Status
from robik.servo.trajectory import part

ESCAPE, PAUSE = "\x1b", " "
GLANCE = 0.05  # [s] between looks at the keyboard and the player
CONNECT_TIMEOUT = 30.0  # [s]
STOPPED = 1  # the exit code when the user stopped it


@dataclass(frozen=True)
class How:
    """What to play of a motion file, and how: over and over, a stretch [s] of it, at another speed, softened."""

    loop: bool = False
    stretch: tuple[float, float] | None = None
    speed: float = 1.0
    soften: bool = False


def play(motion_path: str | Path, servos_path: str | Path, port: str, how: How = How(), **settings: Any) -> int:
    """Plays a motion file on a chain and says how it goes. ESC or Ctrl-C stops softly, a second one turns torque off; space pauses.

    Args:
        motion_path: a `MOTION.csv`.
        servos_path: a `*.servos.json`.
        port: a device path, a URL that pyserial opens, or `sim`.
        how: which part of it.
        settings: of `PlaySettings`.

    Returns:
        0 when it was played to the end, 1 when it was stopped.

    Raises:
        RobikError: what is wrong, and what would be right; the servos are in a defined state.
    """
    motion, chain = load_motion(motion_path), load_chain(servos_path)
    player = Player(chain, port, PlaySettings(**settings))
    start, end = how.stretch or (None, None)
    motion = part(motion, start, end, how.speed)
    if how.soften:
        softened = soften(motion, chain, player.settings.rate, player.settings.interpolation)
        name, worst = max(softened.deviation.items(), key=lambda item: item[1])
        print(f"softened: {name} leaves the motion by {worst:.3g} at most", file=sys.stderr)
        motion = softened.motion
    checked = player.preflight(motion)
    checked.check()
    for warning in checked.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    player.connect()
    try:
        print(player.wait(PlayState.READY, PlayState.HOLDING, timeout=CONNECT_TIMEOUT).message)
        player.torque(True)
        if missing := player.wait(PlayState.HOLDING).missing:
            print(f"warning: {missing}", file=sys.stderr)
        player.play(motion, loop=how.loop, from_afar=how.soften)
        return _watch(player)
    except KeyboardInterrupt:  # before anything moved
        player.emergency_stop()
        return STOPPED
    finally:
        player.close()


def _watch(player: Player) -> int:
    stops = 0
    interrupts: list[None] = []
    with _on_interrupt(lambda: interrupts.append(None)), _keys() as keys:
        while True:
            player.heartbeat()
            status = player.status
            pressed = keys()
            asked = sum(key == ESCAPE for key in pressed)
            while interrupts:  # one by one: another may come at any time
                interrupts.pop()
                asked += 1
            if PAUSE in pressed:
                player.resume() if status.state is PlayState.PAUSED else player.pause()
            if asked:
                stops += asked
                player.stop() if stops == 1 else player.emergency_stop()
            _show(status)
            if status.state is PlayState.FAULT:
                raise ServoError(status.message)
            if status.state in (PlayState.HOLDING, PlayState.READY) or (status.state is PlayState.CLOSED):
                break
            time.sleep(GLANCE)
    late = f"{status.lateness_p99 * 1e3:.2f} ms late at the 99th percentile"
    print(f"{status.message} ({status.sent} goals at {player.settings.rate:g} Hz, {status.dropped} dropped, {late})")
    return STOPPED if stops else 0


def _show(status: Status) -> None:
    if not sys.stderr.isatty():
        return
    done = f"{status.time:6.1f} of {status.duration:.1f} s" if status.state is PlayState.PLAYING else status.message
    end = "\r" if status.state.is_moving else "\r\033[K"
    print(f"\r\033[K{status.state.value} {done}  dropped {status.dropped}  [ESC stops, space pauses]", end=end, file=sys.stderr, flush=True)


@contextmanager
def _on_interrupt(act: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C acts so, instead of throwing us out, where signals can be had at all."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: act())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _keys() -> Iterator[Callable[[], str]]:
    """A function that gives the keys pressed since it was last asked, without waiting and without Enter."""
    if not sys.stdin or not sys.stdin.isatty():
        yield lambda: ""
    elif sys.platform == "win32":
        import msvcrt

        yield lambda: "".join(msvcrt.getwch() for _ in range(16) if msvcrt.kbhit())
    else:
        import select
        import termios
        import tty

        before = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)
        try:
            yield lambda: os.read(sys.stdin.fileno(), 64).decode("ascii", "ignore") if select.select([sys.stdin], [], [], 0)[0] else ""
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def simulate(servos_path: str | Path, record: str | Path | None = None, over_socket: bool = False) -> None:
    """Serves a simulated chain, its port in the first line of the output, until it is ended.

    Args:
        servos_path: a `*.servos.json`.
        record: a file that gets a line `time,id,counts` per goal position that a servo takes.
        over_socket: on a TCP socket instead of a pseudo-terminal.

    Raises:
        RobikError: a bad chain, or no pseudo-terminals on this system.
    """
    server = Server(load_chain(servos_path), Socket() if over_socket else PseudoTerminal(), record)
    print(server.port.name, flush=True)
    with _on_interrupt(server.end):
        server.run()


__all__ = ["SIMULATED", "play", "simulate"]
