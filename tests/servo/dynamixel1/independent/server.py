"""The process of an independent chain of Dynamixel servos of Protocol 1.0."""

from __future__ import annotations

import argparse
import sys
import time

from tests.servo.feetech.independent.wire import Decoder
from tests.servo.independent.server import Server, serve

from .bus import Bus
from .servo import Servo
from .table import BAUD_CODES, MODELS


class Dynamixel1Server(Server):
    """The chain, and all that a test asks of it."""

    decoder = Decoder
    bus = Bus

    def _servo(self, id: int, config: argparse.Namespace) -> Servo:  # type: ignore[override]
        model = MODELS[config.models.get(id, config.model)]
        servo = Servo(model, id, config.positions.get(id, config.position), time.monotonic(), self._note)
        servo.put("baud_rate", BAUD_CODES[config.baud])
        servo.put("return_delay", config.return_delay)
        servo.put("firmware", config.firmware)
        return servo


if __name__ == "__main__":
    sys.exit(serve(Dynamixel1Server, MODELS, BAUD_CODES))
