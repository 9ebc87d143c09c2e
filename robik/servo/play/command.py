"""The commands `robik play` and `robik simulate-servos`."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ServoError
from ...motions import Motion, load_motion
from ...tilt_feedback import TiltPlan
from ..chain.file import load_chain
from ..chain.trajectory import part
from ..port.outside import Notice, held
from ..port.status import PlaySettings, PlayState, Status
from ..port.thread import SIMULATED
from ..simulator.imu import SimulatedImu
from ..simulator.port import PseudoTerminal, Socket
from ..simulator.server import Server
from ..simulator.simulation import with_one_imu
from .controls import controls, on_endings
from .player import Player
from .softening import soften
from .terminal import GLANCE, STOPPED, TIMEOUT, UNMOVED, AtTerminal, Stopped, say


@dataclass(frozen=True)
class How:
    """Options of playing a motion file.

    Attributes:
        loop: over and over.
        stretch: from when to when [s]; all of it if left out.
        speed: 2 is twice as fast.
        soften: round off what the motors cannot do.
        carry: makes goals that carry the weight, of a whole motion, the servos' position P gains by id and a speed, and
            says what is to be said of them; the motion itself is played if left out.
        tilt: makes of a whole motion, a stretch of it [s] and a speed what tilt feedback must know; None to play
            without.
        hold: says of the stretch that is played where the motors lose hold of the robot; None where it is not known.
        may_lose_hold: whether it is played where they do not.
    """

    loop: bool = False
    stretch: tuple[float, float] | None = None
    speed: float = 1.0
    soften: bool = False
    carry: Callable[[Motion, Mapping[int, float], float], tuple[Motion, str]] | None = None
    tilt: Callable[[Motion, tuple[float, float] | None, float], TiltPlan] | None = None
    hold: Callable[[Motion], str] | None = None
    may_lose_hold: bool = False


def play(motion_path: str | Path, servos_path: str | Path, port: str, how: How = How(), **settings: Any) -> int:
    """Play a motion file on a chain, print its progress, and return 0 if it came to its end, 1 if it was stopped.

    ESC, Ctrl-C, SIGTERM and a terminal that is closed stop softly; T turns torque off, and so does a second stop,
    two seconds later or more; space pauses. Whatever ends it before anything moved leaves torque as it was found.
    The port is a device path, a URL that pyserial opens, or `sim`; settings are those of `PlaySettings`. After a
    RobikError the servos are in a defined state.
    """
    whole, chain = load_motion(motion_path), load_chain(servos_path)
    player = Player(chain, port, PlaySettings(**settings))
    motion = _prepared(whole, player, how)
    tilt = how.tilt(whole, how.stretch, how.speed) if how.tilt is not None else None
    checked = player.preflight(motion).with_needs(whole.needs, chain, how.carry is not None, how.tilt is not None)
    if how.hold is not None:
        start, end = how.stretch or (None, None)
        checked = checked.with_hold(how.hold(part(whole, start, end, how.speed)), how.may_lose_hold)
    elif chain.robot:
        unknown = f"whether its motors keep hold of robot {chain.robot!r}"
        say(f"note: {unknown} is not checked; give the robot's file (--robot ROBOT)", sys.stderr)
    checked.check()
    for warning in checked.warnings:
        say(f"warning: {warning}", sys.stderr)
    with controls() as pressed, Notice(held(chain, port), lambda: player.status) as notice:
        player.connect()
        try:
            return _Play(player, pressed, notice).run(whole, motion, how, tilt)
        finally:
            player.close()
            if said := player.status.recording:
                say(f"warning: {said}", sys.stderr)


def _prepared(motion: Motion, player: Player, how: How) -> Motion:
    start, end = how.stretch or (None, None)
    if how.carry is not None:
        motion, said = how.carry(motion, player.status.p_gains, how.speed)
        if said:
            say(said, sys.stderr)
    motion = part(motion, start, end, how.speed)
    if not how.soften:
        return motion
    softened = soften(motion, player.chain, player.settings.rate, player.settings.interpolation)
    name, worst = max(softened.deviation.items(), key=lambda item: item[1])
    found = (
        f"{name} leaves the motion by {worst:.3g} at most" if worst else "nothing, the motion keeps the servos' limits"
    )
    say(f"softened: {found}", sys.stderr)
    return softened.motion


class _Play(AtTerminal):
    """A player and its user's controls, from connecting to the end."""

    def run(self, whole: Motion, motion: Motion, how: How, tilt: TiltPlan | None = None) -> int:
        """Connect, check everything that can be known, turn torque on, play, and return the exit code.

        `whole` is the motion of the file; `motion` what is played of it, as far as that is known before connecting.
        `tilt` is None to play without feedback.
        """
        player, has_moved = self._player, False
        try:
            say(self._wait(PlayState.READY, PlayState.HOLDING).message)
            if player.status.missing:
                say(f"warning: {player.status.missing}", sys.stderr)
            if player.status.adapter:
                say(f"warning: {player.status.adapter}", sys.stderr)
            if how.carry is not None:
                self._read_p_gains()
                motion = _prepared(whole, player, how)
            player.check(motion, how.soften)
            player.torque(True)
            self._wait(PlayState.HOLDING)
            player.play(motion, loop=how.loop, from_afar=how.soften, tilt=tilt)
            has_moved = True
            return self._watch(motion, how)
        except Stopped:
            say(f"{UNMOVED}; {self._leave_torque()}")
            return STOPPED
        except ServoError as error:
            left = self._turn_off_if_asked() if has_moved else self._leave_torque()
            raise ServoError(f"{error}; {left}" if player.has_touched_torque else str(error)) from None

    def _read_p_gains(self) -> None:
        """Wait until the servos' position P gains are known."""
        self._player.ask_tunings()
        ends = time.perf_counter() + TIMEOUT
        while not self._player.status.tunings:
            self._wait(PlayState.READY, PlayState.HOLDING)
            if time.perf_counter() > ends:
                raise ServoError("the servos' position P gains cannot be read")
            time.sleep(GLANCE / 5)

    def _watch(self, motion: Motion, how: How) -> int:
        player, pauses = self._player, 0
        while True:
            player.heartbeat()
            status = player.status
            is_stop = self._obey()
            if self._pressed.pauses != pauses:
                pauses = self._pressed.pauses
                player.resume() if status.state is PlayState.PAUSED else player.pause()
            if is_stop:
                player.stop()
            _show(status)
            if status.state is PlayState.FAULT:
                raise ServoError(status.message)
            if status.state in (PlayState.HOLDING, PlayState.READY, PlayState.CLOSED):
                break
            time.sleep(GLANCE)
        late = f"{status.lateness_p99 * 1e3:.2f} ms late at the 99th percentile"
        say(f"{status.message} ({status.sent} goals at {player.settings.rate:g} Hz, {status.dropped} dropped, {late})")
        if status.stopped_at and status.state is PlayState.HOLDING:
            times = motion.times[0] + np.array([status.stopped_at, motion.times[-1] - motion.times[0]])
            start, end = times * how.speed
            say(f"--range {start:.2f} {end:.2f} goes on from there")
        return STOPPED if self._stops or self._is_off else 0


def _show(status: Status) -> None:
    try:
        if sys.stderr is None or not sys.stderr.isatty():
            return
    except ValueError:  # closed
        return
    done = f"{status.time:6.1f} of {status.duration:.1f} s" if status.state is PlayState.PLAYING else status.message
    done += f"  {status.righting}" if status.righting else ""
    end = "\r" if status.state.is_moving else "\r\033[K"
    hint = "[ESC stops, space pauses, T torque off]"
    say(f"\r\033[K{status.state.value} {done}  dropped {status.dropped}  {hint}", sys.stderr, end)


def simulate(servos_path: str | Path, record: str | Path | None = None, over_socket: bool = False) -> None:
    """Serve a simulated chain until it is ended, its port in the first line of the output.

    Servos of several brands are on a port each, a line per port; a sensor of tilt with a port of its own is on the
    last one, after the word `imu`. `record` gets a line `time,id,counts` per goal that a servo of the first brand
    takes. `over_socket` serves on a TCP socket instead of a pseudo-terminal, which Windows has not.
    """
    parts = with_one_imu(load_chain(servos_path).on_one_port().parts)
    mount = parts[0].imu
    imu = SimulatedImu(mount, over_socket) if mount is not None and not mount.is_on_bus else None
    servers = [
        Server(part, Socket() if over_socket else PseudoTerminal(), None if k else record)
        for k, part in enumerate(parts)
    ]
    for server in servers:
        print(server.name, flush=True)
    if imu is not None:
        print(f"imu {imu.port.name}", flush=True)
    first, *others = servers
    threads = [threading.Thread(target=server.run, daemon=True) for server in others]
    for thread in threads:
        thread.start()

    def end() -> None:
        for server in servers:
            server.end()

    with on_endings(end):
        first.run()


__all__ = ["SIMULATED", "play", "simulate"]
