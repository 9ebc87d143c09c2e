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
    """Factory of lines, workshops and simulators of Dynamixel servos."""

    def open_line(self, chain: ServoChain, port: str, silence: float, emergency: Emergency) -> DynamixelLine:
        """Open a port with a chain behind it.

        Args:
            chain: The chain of servos.
            port: Name of the port.
            silence: How long a servo is asked again before it counts as gone [s], unless goals wait.
            emergency: The emergency stop.

        Returns:
            The line.

        Raises:
            ServoError: The port does not exist or cannot be opened.
        """
        return DynamixelLine(chain, port, silence, emergency)

    def open_workshop(self, port: str, baud_rate: int) -> DynamixelWorkshop:
        """Open a port with unknown servos behind it.

        Args:
            port: Name of the port.
            baud_rate: Rate [bit/s].

        Returns:
            The workshop.

        Raises:
            ServoError: The port does not exist or cannot be opened.
        """
        return DynamixelWorkshop(port, baud_rate)

    def start_simulator(self, chain: ServoChain) -> SimulatorProcess:
        """Start simulated servos in a process of their own.

        Args:
            chain: The chain of servos.

        Returns:
            The simulator, which runs.

        Raises:
            ServoError: It did not start.
        """
        return SimulatorProcess.of(chain)

    def serve(self, chain: ServoChain, over_socket: bool, record: str | Path | None) -> Server:
        """Return simulated servos of this process.

        Args:
            chain: The chain of servos.
            over_socket: On a TCP socket instead of a pseudo-terminal.
            record: File for the packets on the bus, or None.

        Returns:
            The server.

        Raises:
            ServoError: There is no pseudo-terminal here.
        """
        return Server(chain, Socket() if over_socket else PseudoTerminal(), record)


DRIVER = DynamixelDriver()
