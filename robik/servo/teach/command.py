"""The commands `robik servos record` and `robik teleoperate`: motions that a hand makes."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import RobikError, ServoError
from ...motions import save_motion
from ..chain.file import load_chain
from ..play.controls import controls
from ..play.player import Player
from ..play.terminal import STOPPED, UNMOVED, AtTerminal, Stopped, say
from ..port.outside import Notice, held
from ..port.recording import check_writable
from ..port.status import PlaySettings, PlayState
from .teaching import HandRecording, between_poses
from .teleoperation import Teleoperation, check_ports

if TYPE_CHECKING:
    from ...motions import Motion

GLANCE = 0.01  # [s] between looks at the servos' positions
HINT = "ESC or Ctrl-C ends it, T turns torque off"


@dataclass(frozen=True, kw_only=True)
class Made:
    """File that a hand's motion goes into.

    Attributes:
        path: a `MOTION.csv`; empty for none.
        as_poses: whether only the poses in which the robot was held still count, with smooth ways between them.
    """

    path: str = ""
    as_poses: bool = False

    def check(self) -> None:
        """Check that the file can be written; else raise ServoError."""
        if self.path:
            check_writable(self.path, "motion")

    def write(self, recording: HandRecording) -> None:
        """Write it, if there is a file; raise RobikError if nothing was recorded, or that fails."""
        if not self.path:
            return
        motion, path = self._motion(recording), Path(self.path)
        if recording.silence:
            say(f"warning: {recording.silence}", sys.stderr)
        names = (path.with_stem(f"{path.stem}-{k}") for k in count(2))
        path = next(name for name in chain([path], names) if not name.exists())  # an earlier take stays
        save_motion(motion, path)
        say(f"{motion.times[-1]:.1f} s of {len(motion.actuators)} motors in {path}")

    def keep(self, recording: HandRecording) -> None:
        """Write it if possible; else print why not, and end nothing."""
        try:
            self.write(recording)
        except RobikError as error:
            say(f"warning: {self.path} was not written: {error}", sys.stderr)

    def _motion(self, recording: HandRecording) -> Motion:
        return between_poses(recording.poses(), recording.actuators) if self.as_poses else recording.motion()


def record(port: str, servos_path: str | Path, made: Made, **settings: Any) -> int:
    """Record a robot that is moved by hand, until ESC, Ctrl-C, SIGTERM or a closed terminal; return 0.

    Nothing is moved. Torque is left as it is; the key T turns it off. The port is a device path, a URL that
    pyserial opens, or `sim`; settings are those of `PlaySettings`. After a RobikError of the servos, the recording
    until then is kept.
    """
    servos = load_chain(servos_path)
    made.check()
    player = Player(servos, port, PlaySettings(**settings))
    with controls() as pressed, Notice(held(servos, port), lambda: player.status) as notice:
        player.connect()
        try:
            return _Record(player, pressed, notice).run(made)
        finally:
            player.close()


class _Record(AtTerminal):
    """A player whose servos are moved by hand."""

    def run(self, made: Made) -> int:
        """Record until the user ends it, and return the exit code."""
        player = self._player
        try:
            say(self._wait(PlayState.READY, PlayState.HOLDING).message)
        except Stopped:
            say("stopped before anything was recorded")
            return STOPPED
        if player.status.torque:
            say("warning: torque is on, so that no hand can move the robot; T turns it off", sys.stderr)
        say(f"recording; {HINT}", sys.stderr)
        player.watch(True)
        recording = HandRecording(player.chain)
        while not self._obey() and player.status.state is not PlayState.FAULT:
            player.heartbeat()
            recording.take(player.status)
            time.sleep(GLANCE)
        if player.status.state is PlayState.FAULT:
            made.keep(recording)
            raise ServoError(f"{player.status.message}; what was recorded until then is kept")
        made.write(recording)
        return 0


def teleoperate(
    leader: tuple[str | Path, str], follower: tuple[str | Path, str], made: Made, soften: bool, **settings: Any
) -> int:
    """Let one robot follow another that is moved by hand, until ESC, Ctrl-C, SIGTERM or a closed terminal.

    Then it stops softly and holds. T turns its torque off, space lets it stand and go on. Leader and follower are a
    `*.servos.json` and a port each; settings are those of `PlaySettings`, for the follower. With `soften` it may go
    slowly to a leader that is far away, instead of refusing. Return 0, or 1 where torque was turned off, or nothing
    began. After a RobikError the servos are in a defined state.
    """
    made.check()
    leading = Player(load_chain(leader[0]), leader[1], PlaySettings())
    following = Player(load_chain(follower[0]), follower[1], PlaySettings(**settings))
    check_ports(leading, following)
    ports = [*held(leading.chain, leading.port), *held(following.chain, following.port)]
    with ExitStack() as opened:
        pressed = opened.enter_context(controls())
        notice = opened.enter_context(Notice(ports, lambda: following.status))
        for player in (leading, following):
            opened.callback(player.close)
        return _Teleoperate(following, pressed, notice).run(leading, made, soften)


class _Teleoperate(AtTerminal):
    """A follower, and the controls of whoever leads."""

    def run(self, leader: Player, made: Made, soften: bool) -> int:
        """Connect both, check, turn the follower's torque on, follow until the user ends it, and return the exit code.

        With `soften` the follower may be far away.
        """
        follower, has_moved = self._player, False
        try:
            leader.connect()
            at_leader = AtTerminal(leader, self._pressed, self._notice)
            say(f"leader: {at_leader._wait(PlayState.READY, PlayState.HOLDING).message}")
            follower.connect()
            say(f"follower: {self._wait(PlayState.READY, PlayState.HOLDING).message}")
            pair = Teleoperation(leader, follower)
            if pair.alone:
                say(f"warning: the leader has no {', '.join(pair.alone)}; the follower's stays there", sys.stderr)
            pair.check(soften)
            follower.torque(True)
            self._wait(PlayState.HOLDING)
            pair.begin()
            has_moved = True
            say(f"following; {HINT}, space pauses", sys.stderr)
            self._follow(pair)
        except Stopped:
            say(f"{UNMOVED}; {self._leave_torque()}")
            return STOPPED
        except ServoError as error:
            left = self._stood() if has_moved else self._leave_torque()
            if has_moved:
                made.keep(pair.recording)
            raise ServoError(f"{error}; {left}" if follower.has_touched_torque else str(error)) from None
        say(follower.status.message)
        made.keep(pair.recording)
        return STOPPED if self._pressed.is_torque_off else 0

    def _follow(self, pair: Teleoperation) -> None:
        """Follow until the follower stands again."""
        follower = self._player
        while follower.status.state.is_moving:
            pair.step(self._pressed.pauses % 2 == 0)
            if self._obey():
                follower.stop()
            time.sleep(GLANCE)
        if follower.status.state is PlayState.FAULT:
            raise ServoError(follower.status.message)

    def _stood(self) -> str:
        """Wait until the follower stands; returns its torque in words."""
        while self._player.status.state.is_moving:
            self._player.heartbeat()
            self._obey()
            time.sleep(GLANCE)
        return self._turn_off_if_asked()
