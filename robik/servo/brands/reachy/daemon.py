"""Reachy Mini's daemon: what it says of the robot by itself, what it is asked, and what it is told.

It says the motors' angles 50 times a second and its own state once a second, and answers nothing that it is told: what
matters is asked for by HTTP. While it plays a move of its own it ignores goals without a word, so it is listened to for
moves as well. The last one to speak wins: it knows no owner.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ....errors import ServoError
from ...bus.emergency import Emergency
from ...bus.line import PortGone
from .address import parse_address
from .brand import ANTENNA_MOTORS, HEAD_MOTORS
from .web_socket import WebSocket

STATE, MOVES = "/ws/sdk", "/api/move/ws/updates"  # its WebSockets
ANSWERING = 2.0  # [s] that a question by HTTP may take
STARTING = 3.0  # [s] that it gets to say where the motors are for the first time
OLD = 0.1  # [s] after which what it said last does not count as the present any more
QUIET, IDLE = 0.5, 3.0  # [s] without a word after which it counts as gone: while goals go out, and else
STEP = 0.002  # [s] between looks at what has arrived
OBEYING = 1.0  # [s] that it gets to do what it is told
OUT_OF_DATE = 1.2  # [s] after a change during which what it says once a second may be from before


class Daemon:
    """A daemon that is spoken to. One thread at a time uses it.

    Its name is a port such as `reachy:localhost:8000`. While goals go out it may be silent for `silence` [s] at
    least. Raise ServoError if there is no daemon, or it has no robot; its methods raise PortGone if it is gone.

    Attributes:
        name: of the port.
        is_hurried: whether goals go out, so that it must not be silent for long.
        angles: of its motors by id, as it last said [rad].
        mode: of its motors, as it last said: `enabled`, `disabled` or `gravity_compensation`.
        heard: when it last said where the motors are [s, `time.perf_counter`].
        words: how often it has.
    """

    def __init__(self, name: str, silence: float, emergency: Emergency) -> None:
        self.name, self.address = name, parse_address(name)
        self.angles: dict[int, float] = {}
        self.mode, self.heard, self.words = "", 0.0, 0
        self._silence, self._emergency, self.is_hurried = max(silence, QUIET), emergency, False
        self._moves: set[str] = set()
        self._error, self._told = "", -OUT_OF_DATE
        self._sockets: list[WebSocket] = []
        try:
            for path in (STATE, MOVES):
                self._sockets.append(WebSocket(self.address, path))
        except OSError as error:
            self.close()
            raise ServoError(self._unopened(error)) from None

    def _unopened(self, error: OSError) -> str:
        """Return why it cannot be spoken to, in words."""
        with suppress(ServoError):
            status = self.ask("/api/daemon/status")
            why = f": {status['error']}" if status.get("error") else ""
            return f"the daemon on {self.name} has no robot (it is {status.get('state')}{why}); see to it, then connect"
        reason = (error.strerror or str(error)).lower()
        return (
            f"port {self.name} cannot be opened ({reason}); start Reachy Mini's daemon: reachy-mini-daemon, or"
            " reachy-mini-daemon --mockup-sim without a robot"
        )

    def close(self) -> None:
        """Let go of it; whatever the motors do, they go on doing."""
        for each in self._sockets:
            each.close()

    # what it says by itself

    def listen(self) -> None:
        """Read its latest messages; raise PortGone if it has been silent for too long."""
        try:
            state, moves = self._sockets
            for text in state.pump():
                self._take_state(json.loads(text))
            for text in moves.pump():
                self._take_move(json.loads(text))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise PortGone(
                f"the daemon on {self.name} is gone ({reason.lower()}); start it, then connect again"
            ) from None
        if self.heard and time.perf_counter() - self.heard > self._patience:
            why = f" ({self._error})" if self._error else ""
            raise PortGone(f"the daemon on {self.name} says nothing any more{why}; see to it, then connect again")

    @property
    def _patience(self) -> float:
        return self._silence if self.is_hurried else max(self._silence, IDLE)

    def _take_state(self, said: dict[str, Any]) -> None:
        if said.get("type") == "joint_positions":
            for motors, key in ((HEAD_MOTORS, "head_joint_positions"), (ANTENNA_MOTORS, "antennas_joint_positions")):
                self.angles |= zip(motors, map(float, said[key]), strict=True)
            self.heard, self.words = time.perf_counter(), self.words + 1
        elif said.get("type") == "daemon_status":
            backend = said.get("backend_status") or {}
            self._error = said.get("error") or backend.get("error") or ""
            if time.perf_counter() - self._told > OUT_OF_DATE:
                self.mode = backend.get("motor_control_mode", self.mode)

    def _take_move(self, said: dict[str, Any]) -> None:
        if said.get("type") == "move_started":
            self._moves.add(said["uuid"])
        else:
            self._moves.discard(said["uuid"])

    @property
    def plays(self) -> bool:
        """Return whether it plays a move of its own, as far as it says so: then it ignores goals."""
        return bool(self._moves)

    @property
    def is_fresh(self) -> bool:
        """Return whether it has just said where the motors are, and takes what it is told."""
        return time.perf_counter() - self.heard < OLD and not self._sockets[0].is_clogged

    def wait_for_angles(self) -> None:
        """Wait until the daemon says again where the motors are."""
        words, until = self.words, time.perf_counter() + (self._patience if self.heard else STARTING)
        while self.words == words:
            self.listen()
            if time.perf_counter() > until:
                raise PortGone(f"the daemon on {self.name} does not say where the motors are; is the robot on?")
            self._emergency.pause(STEP)

    # what it is asked

    def ask(self, path: str, method: str = "GET") -> Any:
        """Ask for a path by HTTP (`GET` or `POST`), and return its answer, from JSON."""
        connection = http.client.HTTPConnection(*self.address, timeout=ANSWERING)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            said = json.loads(answer.read())
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise PortGone(f"the daemon on {self.name} does not answer ({error or type(error).__name__})") from None
        finally:
            connection.close()
        if answer.status >= 300:
            why = said.get("detail", said) if isinstance(said, dict) else said
            raise PortGone(f"the daemon on {self.name} refuses {path}: {why}")
        return said

    def look(self) -> None:
        """Ask for the motors' mode and for its moves."""
        self.mode = self.ask("/api/motors/status")["mode"]
        self._moves |= {move["uuid"] for move in self.ask("/api/move/running")}

    # what it is told

    def tell(self, what: str, **content: Any) -> None:
        """Send it a message of the type `what`, which it does not answer."""
        try:
            self._sockets[0].send(json.dumps({"type": what, **content}))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise PortGone(f"the daemon on {self.name} is gone ({reason}); start it, then connect again") from None

    def tell_goals(self, angles: dict[int, float], ids: Sequence[int]) -> None:
        """Send goals for the motors with these ids, and for the rest of the head.

        `angles` has all motors by id [rad].
        """
        if any(id in HEAD_MOTORS for id in ids):
            self.tell("set_head_joints", joints=[angles[id] for id in HEAD_MOTORS])
        if any(id in ANTENNA_MOTORS for id in ids):
            self.tell("set_antennas", antennas=[angles[id] for id in ANTENNA_MOTORS])

    def tell_torque(self, is_on: bool) -> None:
        """Tell it to turn torque on or off; a move that it plays ends with torque."""
        self._told = time.perf_counter()
        self.tell("set_motor_mode", mode="enabled" if is_on else "disabled")
        if not is_on:
            self.tell("stop_move")

    def confirm_torque(self, is_on: bool) -> bool:
        """Ask until torque is as it was told, by HTTP as well where it is not, and return whether it is on."""
        until, mode = time.perf_counter() + OBEYING, "enabled" if is_on else "disabled"
        self.mode = self.ask("/api/motors/status")["mode"]
        while self.mode != mode and time.perf_counter() < until:
            self.ask(f"/api/motors/set_mode/{mode}", "POST")
            self.mode = self.ask("/api/motors/status")["mode"]
            time.sleep(STEP)
        self._told = time.perf_counter()
        return self.has_torque

    @property
    def has_torque(self) -> bool:
        """Return whether its motors have torque, as it last said."""
        return self.mode != "disabled"
