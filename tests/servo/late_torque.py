"""Torque On behind a bridge whose answers come late: how often a servo is given a goal where its horn is not.

`python -m tests.servo.late_torque 0.1 200` makes that many tries with answers up to 0.1 s late, and prints what came of
them. The servo is an independent one; the bridge keeps the order of bytes, as a network does.
"""

from __future__ import annotations

import os
import random
import select
import sys
import termios
import threading
import time
import tty
from collections import Counter, deque
from contextlib import suppress

from robik.servo.chain.chain import default_chain
from robik.servo.play.player import Player
from robik.servo.port.status import FARTHEST_WATCHDOG, PlaySettings, PlayState
from tests.servo.independent import IndependentChain

HEADER = b"\xff\xff\xfd\x00"  # of a packet of Protocol 2.0
FROM = 37  # the packet, counted from Torque On, from which on answers are late
STOOD = 3000  # [counts] where the horn is
AWAY = 57  # [counts], 5°: a horn farther from there was driven
PATIENT = PlaySettings(heartbeat=60.0, watchdog=FARTHEST_WATCHDOG)


class Bridge:
    """A line between a program and servos, on which answers can be late.

    Args:
        port: of the servos.
        seed: of the lateness.

    Attributes:
        name: path for the program to open.
    """

    def __init__(self, port: str, seed: int = 0) -> None:
        self._chance, self._late, self._left = random.Random(seed), 0.0, 0
        self._due: deque[tuple[float, bytes]] = deque()
        self._is_over = False
        self._servos = os.open(port, os.O_RDWR | os.O_NOCTTY)
        self._near, self._far = os.openpty()
        for end in (self._servos, self._far):
            tty.setraw(end)
        settings = termios.tcgetattr(self._servos)
        settings[4] = settings[5] = termios.B1000000
        termios.tcsetattr(self._servos, termios.TCSANOW, settings)
        self.name = os.ttyname(self._far)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def delay(self, late: float, after: int = 0) -> None:
        """Let answers be late by up to so many seconds, from so many packets of the program on."""
        self._left, self._late = after, late

    def close(self) -> None:
        """End it."""
        self._is_over = True
        self._thread.join()
        for end in (self._servos, self._near, self._far):
            os.close(end)

    def _run(self) -> None:
        while not self._is_over:
            wait = max(0.0, self._due[0][0] - time.monotonic()) if self._due else 0.05
            ready, _, _ = select.select([self._near, self._servos], [], [], min(wait, 0.05))
            if self._near in ready:
                data = os.read(self._near, 4096)
                self._left -= data.count(HEADER)
                os.write(self._servos, data)
            if self._servos in ready:
                late = self._chance.uniform(0.0, self._late) if self._left < 0 else 0.0
                last = self._due[-1][0] if self._due else 0.0
                self._due.append((max(last, time.monotonic() + late), os.read(self._servos, 4096)))
            while self._due and self._due[0][0] <= time.monotonic():
                with suppress(BlockingIOError):
                    os.write(self._near, self._due.popleft()[1])


def tried(late: float, seed: int) -> tuple[str, float]:
    """Return how Torque On ended, and how far the horn then was from where it stood [counts]."""
    chain = default_chain(("a",), {"a": (-3.0, 3.0)}, model="XH430-W350")
    with IndependentChain(ids=(1,), position=STOOD) as servos:
        bridge = Bridge(servos.port, seed)
        player = Player(chain, bridge.name, PATIENT)
        try:
            player.connect()
            player.wait(PlayState.READY)
            bridge.delay(late, FROM)
            player.torque(True)
            status = player.wait(PlayState.HOLDING, PlayState.FAULT)
            bridge.delay(0.0)
            ends, farthest = time.monotonic() + 0.6, 0.0
            while time.monotonic() < ends:
                farthest = max(farthest, abs(servos.look(1)[1] - STOOD))
                time.sleep(0.02)
            return f"{status.state.value}: {status.message}", farthest
        finally:
            player.close()
            bridge.close()


def main() -> int:
    """Try as often as asked, and print what came of it."""
    late, tries, first = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0
    ends = Counter[str]()
    for seed in range(first, first + tries):
        said, away = tried(late, seed)
        ends[("DRIVEN AWAY, " if away > AWAY else "") + said] += 1
    print(f"{tries} tries, answers up to {1e3 * late:g} ms late:")
    for said, count in ends.most_common():
        print(f"{count:4}  {said}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
