"""The process of an independent chain of Feetech servos."""

from __future__ import annotations

import argparse
import sys
import time

from tests.servo.independent.server import Server, serve

from .bus import Bus
from .servo import Servo
from .table import BAUD_RATES, FASTEST
from .wire import Decoder


class FeetechServer(Server):
    """The chain, and all that a test asks of it."""

    decoder = Decoder
    bus = Bus

    def _servo(self, id: int, config: argparse.Namespace) -> Servo:  # type: ignore[override]
        number = config.models.get(id, config.model)
        servo = Servo(number, id, config.positions.get(id, config.position), time.monotonic(), self._note)
        servo.put("baud_rate", BAUD_RATES.index(config.baud))
        return servo


if __name__ == "__main__":
    sys.exit(serve(FeetechServer, FASTEST, BAUD_RATES))
