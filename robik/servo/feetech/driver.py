"""Driver of the brand Feetech: see the interface `Driver`."""

from __future__ import annotations

from ..chain import ServoChain
from ..emergency import Emergency
from ..simulator.simulated import OnGoal
from .line import FeetechLine
from .simulator.chain import SimulatedChain
from .workshop import FeetechWorkshop


class FeetechDriver:
    """Factory of lines, workshops and simulated servos of Feetech's STS and SMS series."""

    def open_line(self, chain: ServoChain, port: str, silence: float, emergency: Emergency) -> FeetechLine:
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
        return FeetechLine(chain, port, silence, emergency)

    def open_workshop(self, port: str, baud_rate: int) -> FeetechWorkshop:
        """Open a port with unknown servos behind it.

        Args:
            port: Name of the port.
            baud_rate: Rate [bit/s].

        Returns:
            The workshop.

        Raises:
            ServoError: The port does not exist or cannot be opened.
        """
        return FeetechWorkshop(port, baud_rate)

    def simulate(self, chain: ServoChain, now: float, on_goal: OnGoal | None = None) -> SimulatedChain:
        """Return simulated servos, set up for streaming at the chain's baud rate.

        Args:
            chain: The servos, all of this brand.
            now: Time by the servos' clock [s].
            on_goal: Called with each goal position that a servo takes.

        Returns:
            The servos on their bus.
        """
        return SimulatedChain(chain, now, on_goal)


DRIVER = FeetechDriver()
