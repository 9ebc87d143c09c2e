"""A whole chain simulated: a process per brand, each with its own port."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from ..chain import ServoChain
from .server import SimulatorProcess


class Simulation:
    """Simulated servos of a chain, in processes that end with this one.

    Args:
        chain: what to simulate, of one brand or of several.

    Attributes:
        processes: one per brand, in the chain's order.
        port: of the first, on which the chain is played.
        chain: the servos on their simulated ports.

    Raises:
        ServoError: one did not start.
    """

    def __init__(self, chain: ServoChain) -> None:
        parts = chain.on_one_port().parts
        with ExitStack() as started:
            alone = [replace(part, imu=None if k else part.imu) for k, part in enumerate(parts)]
            self.processes = [started.enter_context(SimulatorProcess.of(part)) for part in alone]
            self._started = started.pop_all()
        self.port = self.processes[0].port
        names = {part.port: process.port for part, process in zip(parts, self.processes, strict=True)}
        imu = chain.imu and replace(chain.imu, port=self.processes[0].imu_port)
        self.chain = replace(chain.on_one_port().on_ports(names | {"": ""}), imu=imu)

    def end(self) -> None:
        """End all and wait until they are gone."""
        self._started.close()
