"""A question to servos, and the answers as they come: whoever asks may wait for them, or send goals meanwhile."""

from __future__ import annotations

from collections.abc import Mapping

from .packet import AROUND, Packet, packets
from .port import Port, now

LATENCY = 0.034  # [s] that answers may take beyond their bytes: an adapter's 16 ms, twice
ANSWER_DELAY = 2e-4  # [s] that a servo takes before it answers, at most: from the factory it is half of that


class Question:
    """A packet, and who should answer it with how many bytes.

    Args:
        port: open.
        packet: the question.
        sizes: of each answer's parameters, by the id of the servo.
    """

    def __init__(self, port: Port, packet: bytes, sizes: Mapping[int, int]) -> None:
        self._port, self._packet, self._sizes = port, packet, dict(sizes)
        self._until = 0.0

    @property
    def seconds(self) -> float:
        """Time of the question and its answers on the wire [s]."""
        size = len(self._packet) + sum(AROUND + size for size in self._sizes.values())
        return size * self._port.seconds_per_byte + len(self._sizes) * ANSWER_DELAY

    def send(self, latency: float) -> None:
        """Ask.

        Args:
            latency: How long answers may take beyond their bytes [s].
        """
        self._port.clear()
        self._port.write(self._packet, changes=False)
        self._until = now() + self.seconds + latency

    def answers(self, waits: bool = False) -> dict[int, Packet] | None:
        """Return the answers that have come, by the id of the servo; None while more may come.

        Args:
            waits: Whether to wait a little for more.

        Returns:
            The answers, or None.
        """
        data = self._port.wait() if waits else self._port.arrived()
        if data.startswith(self._packet):  # an adapter may give back what is sent
            data = data[len(self._packet) :]
        found = {}
        for packet, _ in packets(data):
            if self._sizes.get(packet.id) == len(packet.parameters):
                found[packet.id] = packet
        return found if len(found) == len(self._sizes) or now() >= self._until else None
