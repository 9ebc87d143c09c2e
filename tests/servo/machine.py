"""A robot whose servos are independent chains on one port or on several, for the fault matrix."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from robik.motions import Motion
from robik.servo.chain.chain import ServoChain, default_chain
from tests.servo.independent import IndependentChain

IDS: dict[int, tuple[range, ...]] = {  # of the servos on each port, by how many ports there are
    1: (range(1, 5),),
    4: (range(1, 6), range(6, 11), range(11, 16), range(16, 20)),
}
MODEL, NUMBER = "XH430-W350", 1000
TIMES = np.arange(0.0, 20.0, 1 / 60)
NEAR = 0.4  # [rad] from the first frame, where the approach is not what is looked at
STANDS, LOOKS = 0.3, 5  # [s] and looks without a move


@dataclass(frozen=True)
class Robot:
    """A chain, and what it plays."""

    chain: ServoChain
    motion: Motion

    @property
    def names(self) -> tuple[str, ...]:
        """Of the motors, by the ids of their servos."""
        return self.motion.actuators


def robot_on(ports: Sequence[str], model: str = MODEL, brand: str = "dynamixel") -> Robot:
    """Return a robot with servos on these ports, of which the first is the player's."""
    port_of = {id: port for ids, port in zip(IDS[len(ports)], ports, strict=True) for id in ids}
    names = tuple(f"motor_{k}" for k in range(len(port_of)))
    chain = default_chain(names, dict.fromkeys(names, (-2.0, 2.0)), model=model, brand=brand)
    placed = [replace(one, port="" if port_of[one.id] == ports[0] else port_of[one.id]) for one in chain.servos]
    values = 0.8 * np.sin(1.5 * TIMES[:, None] + 1.0 + np.arange(len(names)))
    return Robot(replace(chain, servos=tuple(placed)), Motion(times=TIMES, actuators=names, values=values))


class Machine:
    """Servos behind ports, and who of them a fault befalls.

    Args:
        ports: how many, 1 or 4.

    Attributes:
        chains: the servos of each port.
        robot: theirs.
        struck: the chain that a fault befalls.
        victim: the id of the servo on it that one befalls.
    """

    model, brand, number, chain = MODEL, "dynamixel", NUMBER, IndependentChain

    def __init__(self, ports: int) -> None:
        with ExitStack() as opened:
            made = [self.chain(ids=tuple(ids), model=self.number) for ids in IDS[ports]]
            self.chains = [opened.enter_context(one) for one in made]
            self._opened = opened.pop_all()
        self.robot = robot_on([one.port for one in self.chains], self.model, self.brand)
        self.struck = self.chains[2 if ports > 1 else 0]
        self.victim = IDS[ports][2 if ports > 1 else 0][1]

    def __enter__(self) -> Machine:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    @property
    def port(self) -> str:
        """The player's."""
        return self.chains[0].port

    def named(self, words: str) -> str:
        """Return words with the ports' names as a user's would be."""
        for k, one in enumerate(self.chains):
            words = words.replace(one.port, f"/dev/ttyUSB{k}")
        return words

    def place(self, stage: str) -> None:
        """Put the horns where a stage begins soon."""
        start = self.robot.motion.values[0] if stage != "live" else np.zeros(len(self.robot.names))
        away = 0.1 if stage in ("playing", "stopping") else NEAR if stage == "approaching" else 0.0
        counts = dict(zip(self.robot.chain.ids, self.robot.chain.counts(start - away).tolist(), strict=True))
        for one, ids in zip(self.chains, IDS[len(self.chains)], strict=True):
            for id in ids:
                one.place(id, counts[id])


class Watcher:
    """Looks at the servos beside the bus, and at when they last moved, by their own clock."""

    def __init__(self, machine: Machine) -> None:
        self._chains = machine.chains
        self.fastest, self.moved, self._still = 0.0, time.monotonic(), 0
        self._seen: list[list[tuple[float, bool]]] = [[] for _ in self._chains]
        self._horns: dict[int, float] = {}
        for one in self._chains:
            one.mark()
        self.look()

    def look(self) -> None:
        """Now."""
        states = [one.motion() for one in self._chains]
        horns = {id: one["horn"] for state in states for id, one in state.items()}
        now = max(one["time"] for state in states for one in state.values())
        is_moving = horns != self._horns
        self._horns = horns
        self.torque = sum(bool(one["torque"]) for state in states for one in state.values())
        self.fastest = max(self.fastest, *(one["fastest"] for state in states for one in state.values()))
        for seen, state in zip(self._seen, states, strict=True):
            when = max(one["time"] for one in state.values())
            seen.append((when, any(one["velocity"] for one in state.values())))
        if is_moving and now > self.moved:
            self.moved, self._still = now, 0
        self._still += 1

    @property
    def stands(self) -> bool:
        """Whether nothing has moved for a while."""
        return time.monotonic() - self.moved > STANDS and self._still > LOOKS

    @property
    def outlasted(self) -> float:
        """How long any of them moved on without a packet on its port [s]."""
        longest = 0.0
        for one, seen in zip(self._chains, self._seen, strict=True):
            packets = [packet.time for packet in one.log.packets()]
            moving = [now for now, is_moving in seen if is_moving]
            since = [now - packets[bisect_right(packets, now) - 1] for now in moving if packets and packets[0] <= now]
            longest = max([longest, *since])
        return longest
