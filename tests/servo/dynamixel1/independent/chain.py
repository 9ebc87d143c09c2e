"""A chain of independent servos of Protocol 1.0 as a test has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.servo.independent import IndependentChain


class Dynamixel1Chain(IndependentChain):
    """Servos behind a pseudo-terminal, in a process of their own.

    Args:
        ids: of the servos.
        model: their model number: 12 AX-12A, 18 AX-18A, 28 RX-28, 107 EX-106+, 29 MX-28, 310 MX-64.
        options: as of `IndependentChain`.
    """

    server = "tests.servo.dynamixel1.independent.server"

    def __init__(self, ids: Sequence[int] = (1, 2, 3, 4), model: int = 12, **options: Any) -> None:
        super().__init__(ids, model, **({"position": 512, "firmware": 24} | options))
