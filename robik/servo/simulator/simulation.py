"""A whole chain simulated: a process per brand, each with its own port."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from ..chain.chain import ServoChain
from ..imu.boards import BOARDS
from .process import SimulatorProcess


def with_one_imu(parts: Sequence[ServoChain]) -> list[ServoChain]:
    """Return the parts of a chain, one per brand, with its sensor in one of them: that of its bus, or the first."""
    imu = parts[0].imu
    brand = BOARDS[imu.type].brand if imu is not None and imu.is_on_bus else parts[0].brand.name
    first = next((k for k, part in enumerate(parts) if part.brand.name == brand), -1)
    return [replace(part, imu=imu if k == first else None) for k, part in enumerate(parts)]


class Simulation:
    """Simulated servos of a chain, of one brand or of several, in processes that end with this one.

    Attributes:
        processes: one per brand, in the chain's order.
        port: of the first, on which the chain is played.
        chain: the servos on their simulated ports.
    """

    def __init__(self, chain: ServoChain) -> None:
        parts = chain.on_one_port().parts
        with ExitStack() as started:
            self.processes = [started.enter_context(SimulatorProcess.of(part)) for part in with_one_imu(parts)]
            self._started = started.pop_all()
        self.port = self.processes[0].port
        names = {part.port: process.port for part, process in zip(parts, self.processes, strict=True)}
        imu = chain.imu and replace(chain.imu, port=self.processes[0].imu_port)  # none of a board on the bus
        self.chain = replace(chain.on_one_port().on_ports(names | {"": ""}), imu=imu)

    def end(self) -> None:
        """End all and wait until they are gone."""
        self._started.close()
