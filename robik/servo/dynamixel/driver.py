"""Driver of the brand Dynamixel: see the interface `Driver`."""

from __future__ import annotations

from pathlib import Path

from ..chain import ServoChain
from ..emergency import Emergency
from .line import DynamixelLine
from .simulator.port import PseudoTerminal, Socket
from .simulator.server import Server, SimulatorProcess
from .workshop import DynamixelWorkshop


class DynamixelDriver:
    """What opens lines, workshops and simulators of Dynamixel servos."""

    def open_line(self, chain: ServoChain, port: str, silence: float, emergency: Emergency) -> DynamixelLine:
        """Open a port with a chain behind it; raises ServoError where that fails."""
        return DynamixelLine(chain, port, silence, emergency)

    def open_workshop(self, port: str, baud_rate: int) -> DynamixelWorkshop:
        """Open a port with whomever behind it; raises ServoError where that fails."""
        return DynamixelWorkshop(port, baud_rate)

    def start_simulator(self, chain: ServoChain) -> SimulatorProcess:
        """Start simulated servos in a process of their own; raises ServoError where that fails."""
        return SimulatorProcess.of(chain)

    def serve(self, chain: ServoChain, over_socket: bool, record: str | Path | None) -> Server:
        """Return simulated servos of this process, on a TCP socket or behind a pseudo-terminal; raises ServoError."""
        return Server(chain, Socket() if over_socket else PseudoTerminal(), record)


DRIVER = DynamixelDriver()
