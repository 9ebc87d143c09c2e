"""A question to servos, and the answers as they come: whoever asks may wait for them, or send goals meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from .packet import AROUND, Packet, packets
from .patience import LATENCY
from .port import Port

ANSWER_DELAY = 2e-4  # [s] that a servo takes before it answers, at most: from the factory it is half of that


class Question:
    """A packet, and who should answer it with how many bytes.

    `sizes` are those of each answer's parameters, by the id of the servo. `on_answer` is called with each answer
    that has come, once all have or their time is over. Answers may take `latency` [s] beyond their bytes.
    """

    def __init__(
        self,
        port: Port,
        packet: bytes,
        sizes: Mapping[int, int],
        on_answer: Callable[[Packet], None],
        latency: float = LATENCY,
    ) -> None:
        self._port, self._packet, self._sizes, self._latency = port, packet, dict(sizes), latency
        self._on_answer = on_answer
        self._until = 0.0

    @property
    def seconds(self) -> float:
        """Time of the question and its answers on the wire [s]."""
        size = len(self._packet) + sum(AROUND + size for size in self._sizes.values())
        return size * self._port.seconds_per_byte + len(self._sizes) * ANSWER_DELAY

    def send(self) -> None:
        """Ask."""
        self._port.clear()
        self._port.write(self._packet, changes=False)
        self._until = time.perf_counter() + self.seconds + self._latency

    def answers(self, waits: bool = False) -> dict[int, bytes] | None:
        """Return the parameters of the answers that have come, by the id of the servo; None while more may come.

        With `waits`, wait a little for more.
        """
        data = self._port.wait() if waits else self._port.arrived()
        data = data.removeprefix(self._packet)  # an adapter may give back what is sent
        found = {
            packet.id: packet for packet, _ in packets(data) if self._sizes.get(packet.id) == len(packet.parameters)
        }
        if len(found) < len(self._sizes) and time.perf_counter() < self._until:
            return None
        for packet in found.values():
            self._on_answer(packet)
        return {id: packet.parameters for id, packet in found.items()}
