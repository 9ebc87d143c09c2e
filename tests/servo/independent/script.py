"""Faults that a test scripts: of a servo, and of the line between the servos and the computer."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from .wire import STATUS, instruction


@dataclass(frozen=True)
class ServoFaults:
    """What is wrong with a servo and its answers.

    Attributes:
        late, jitter: how late its answers are: always, and at random beyond that [s].
        silent: it obeys but never answers.
        deaf: it hears nothing.
        misses: the share of packets that it does not hear.
        answer_id: the id that its answers carry instead of its own.
        wrong_crc: the checksum of its answers is wrong.
        cut: how many bytes at the end of its answers are missing.
        noise_before, noise_after: bytes around its answers, as hexadecimal digits.
        refuse: the error number with which it refuses to write an entry, by name.
        swallow: entries that it says it wrote, but does not.
        answers: after so many answers with these faults there are none; None for never.
    """

    late: float = 0.0
    jitter: float = 0.0
    silent: bool = False
    deaf: bool = False
    misses: float = 0.0
    answer_id: int | None = None
    wrong_crc: bool = False
    cut: int = 0
    noise_before: str = ""
    noise_after: str = ""
    refuse: Mapping[str, int] = field(default_factory=dict)
    swallow: tuple[str, ...] = ()
    answers: int | None = None

    def delay(self, chance: random.Random) -> float:
        """Return how late an answer is now [s]."""
        return self.late + chance.uniform(0.0, self.jitter)

    def answer(self, id: int, error: int, data: bytes) -> bytes:
        """Return the bytes of a status packet with these faults; none if it is silent."""
        if self.silent:
            return b""
        return self.spoil(instruction(id if self.answer_id is None else self.answer_id, STATUS, bytes([error]) + data))

    def spoil(self, whole: bytes) -> bytes:
        """Return a status packet with a wrong checksum, shorter, or with noise around it."""
        if self.wrong_crc:
            whole = whole[:-1] + bytes([whole[-1] ^ 0x5A])
        whole = whole[: len(whole) - self.cut]
        return bytes.fromhex(self.noise_before) + whole + bytes.fromhex(self.noise_after)

    def after_an_answer(self) -> ServoFaults:
        """Return the faults that are left after one more answer."""
        if self.answers is None:
            return self
        return replace(self, answers=self.answers - 1) if self.answers > 1 else type(self)()


@dataclass(frozen=True)
class LineFaults:
    """What is wrong with the adapter and the cable.

    Attributes:
        latency: how long the adapter collects answers before it delivers them in one burst [s]; 0.016 for FTDI's.
        echo: whether the adapter gives back all that is sent.
        noise, corrupt, loss: the share of answers with up to eight random bytes before them, with one wrong byte,
            without one byte.
    """

    latency: float = 0.0
    echo: bool = False
    noise: float = 0.0
    corrupt: float = 0.0
    loss: float = 0.0

    def spoil(self, data: bytes, chance: random.Random) -> bytes:
        """Return an answer as it comes through."""
        changed = bytearray(data)
        if changed and chance.random() < self.corrupt:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        if changed and chance.random() < self.loss:
            del changed[chance.randrange(len(changed))]
        if chance.random() < self.noise:
            changed[:0] = chance.randbytes(chance.randint(1, 8))
        return bytes(changed)


def changed(faults: Any, changes: dict[str, Any]) -> Any:
    """Return faults with some of them changed, refusing names that do not exist."""
    known = {one.name for one in fields(faults)}
    if unknown := sorted(set(changes) - known):
        raise ValueError(f"there is no fault {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    if "swallow" in changes:
        changes = changes | {"swallow": tuple(changes["swallow"])}
    return replace(faults, **changes)
