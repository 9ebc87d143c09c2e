"""Teleoperation: one robot, the follower, does what another one, the leader, is moved to by hand.

Actuators are paired by name, values as they are: what differs between the two arms, such as directions, zeros and gear
ratios, is in their servo files.
"""

from __future__ import annotations

import time

import numpy as np

from ...errors import ServoError
from ..chain.port_name import SIMULATED, device_of
from ..chain.trajectory import Between
from ..play.player import Player
from ..play.preflight import FAR
from ..port.outside import ports_of
from ..port.status import PlayState
from .teaching import HandRecording

SILENT = 0.25  # [s] without news of the leader, after which the follower comes to a stand


class Teleoperation:
    """A follower that is live after a leader, which is moved by hand; both are connected.

    Raise ServoError if the two have no actuator in common, or share a port.

    Attributes:
        alone: actuators of the follower that the leader has not: they stay where they are.
        recording: what the follower was told to do, within its limits.
    """

    def __init__(self, leader: Player, follower: Player) -> None:
        self._leader, self._follower = leader, follower
        check_ports(leader, follower)
        led = leader.chain.actuators
        names = follower.chain.actuators
        self._columns = {k: led.index(name) for k, name in enumerate(names) if name in led}
        if not self._columns:
            raise ServoError(
                f"leader and follower have no actuator in common; the leader has {', '.join(led)}, the follower"
                f" {', '.join(names)}"
            )
        self.alone = tuple(dict.fromkeys(name for name in names if name not in led))
        self.recording = HandRecording(follower.chain)
        self._start = np.array(follower.status.present, dtype=float)

    def check(self, from_afar: bool = False) -> None:
        """Check that the leader is moved by hand, and is near the follower; else raise ServoError.

        With `from_afar` the follower may be far away, and goes there slowly.
        """
        status = self._leader.status
        if status.torque:
            raise ServoError(
                f"the leader's torque is on, so that no hand can move it; robik servos torque-off --port"
                f" {self._leader.port} turns it off"
            )
        chain = self._follower.chain
        wished = np.clip(self._wished(), *np.sort(chain.limits.T, axis=0))
        speeds = chain.approach_speeds(self._follower.settings.approach_speed)
        seconds = Between(self._start, wished, speeds).duration
        if seconds > FAR and not from_afar:
            k = int(np.argmax(np.abs(wished - self._start) / speeds))
            raise ServoError(
                f"the leader is far from where the follower stands, {chain.actuators[k]} by"
                f" {abs(wished[k] - self._start[k]):.3g}; bring it nearer, or ask for softening, and the follower goes"
                " there slowly"
            )

    def begin(self) -> None:
        """Let the follower follow from now on; raise ServoError unless it holds."""
        self._start = np.array(self._follower.status.present, dtype=float)
        self._leader.watch(True)
        self._follower.live()

    def step(self, goes: bool = True) -> bool:
        """Beat for both and aim, some hundred times a second; return whether the leader said lately where it is.

        The follower comes to a stand unless it `goes`. Raise ServoError if the leader has failed; the follower has
        been told to stop.
        """
        self._leader.heartbeat()
        self._follower.heartbeat()
        status = self._leader.status
        if status.state in (PlayState.FAULT, PlayState.CLOSED):
            self._follower.aim(None)
            self._follower.stop()
            raise ServoError(f"the leader is gone ({status.message}); the follower stops and holds")
        leads = goes and time.perf_counter() - status.seen < SILENT
        if not leads or self._follower.status.state is not PlayState.LIVE:
            self._follower.aim(None)
            return False
        chain, wished = self._follower.chain, self._wished()
        self._follower.aim(dict(zip(chain.actuators, wished.tolist(), strict=True)))
        self.recording.add(status.seen, np.clip(wished, *np.sort(chain.limits.T, axis=0)))
        return True

    def _wished(self) -> np.ndarray:
        """Return where the follower's servos should be (n,) [rad or m]."""
        wished = self._start.copy()
        for k, column in self._columns.items():
            wished[k] = self._leader.status.present[column]
        return wished


def check_ports(leader: Player, follower: Player) -> None:
    """Raise ServoError for a port that both would open."""
    led = {device_of(port) for port in ports_of(leader.chain, leader.port)}
    both = [port for port in ports_of(follower.chain, follower.port) if device_of(port) in led - {SIMULATED}]
    if both:
        raise ServoError(f"leader and follower are both on {both[0]}; each needs a port of its own")
