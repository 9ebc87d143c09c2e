"""The vendor's SDK, made to pass over answers of another length than was asked for, which are late ones."""

from __future__ import annotations

from ....extras import extra

with extra("servo"):
    from dynamixel_sdk import BROADCAST_ID, COMM_SUCCESS, INST_PING, INST_READ, PortHandler, Protocol2PacketHandler

ID, LENGTH, INSTRUCTION, PARAMETERS = 4, 5, 7, 8  # places in a packet; in an answer, the error is before the data
SIZE = 10  # place in a read of how many bytes it asks for
AROUND = 4  # bytes that an answer's length counts beside its data: instruction, error, checksum
AROUND_FAST = 1  # likewise of the common answer to a fast read: whatever is between its data is counted as such
STATUS = 11  # bytes of an answer without data
PING_SIZE = 3  # bytes of data in an answer to a ping
REFUSED = 0x7F  # the bits of an answer's error that say why; the other one is the alert


class Packets(Protocol2PacketHandler):
    """Packets of the SDK."""

    def txRxPacket(self, port: PortHandler, txpacket: list[int]) -> tuple[list[int] | None, int, int]:
        """Send a packet to one servo, and wait for its answer."""
        if txpacket[ID] == BROADCAST_ID:
            return super().txRxPacket(port, txpacket)
        result = self.txPacket(port, txpacket)
        if result != COMM_SUCCESS:
            return None, result, 0
        size = _asked(txpacket)
        port.setPacketTimeout(size + STATUS)
        return self._answer(port, txpacket[ID], size)

    def readRx(self, port: PortHandler, dxl_id: int, length: int) -> tuple[list[int], int, int]:
        """Wait for a servo's answer to a read."""
        answer, result, error = self._answer(port, dxl_id, length)
        data = answer[PARAMETERS + 1 :][:length] if result == COMM_SUCCESS and not error & REFUSED else []
        return data, result, error

    def fastSyncReadRx(self, port: PortHandler, dxl_id: int, length: int) -> tuple[list[int], int, int]:
        """Wait for the common answer to a fast read."""
        while True:
            answer, result = self.rxPacket(port, True)
            if result != COMM_SUCCESS:
                return [], result, 0
            if answer[ID] == dxl_id and _number(answer, LENGTH) == length + AROUND_FAST:
                return answer[PARAMETERS:][:length], result, answer[PARAMETERS]

    def _answer(self, port: PortHandler, id: int, size: int) -> tuple[list[int], int, int]:
        """Return the first answer of a servo that has so many bytes of data, or that refuses."""
        while True:
            answer, result = self.rxPacket(port, False)
            if result != COMM_SUCCESS:
                return answer, result, 0
            error = answer[PARAMETERS]
            if answer[ID] == id and (_number(answer, LENGTH) == size + AROUND or error & REFUSED):
                return answer, result, error


def _asked(packet: list[int]) -> int:
    """Return how many bytes of data the answer to a packet has."""
    if packet[INSTRUCTION] == INST_READ:
        return _number(packet, SIZE)
    return PING_SIZE if packet[INSTRUCTION] == INST_PING else 0


def _number(packet: list[int], place: int) -> int:
    return packet[place] | packet[place + 1] << 8
