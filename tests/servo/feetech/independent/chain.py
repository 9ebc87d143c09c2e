"""A chain of independent Feetech servos as a test has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.servo.independent import IndependentChain


class FeetechChain(IndependentChain):
    """Servos behind a pseudo-terminal, in a process of their own.

    Args:
        ids: of the servos.
        model: their model number: 777 STS3215, 2825 STS3250.
        options: as of `IndependentChain`.
    """

    server = "tests.servo.feetech.independent.server"

    def __init__(self, ids: Sequence[int] = (1, 2, 3, 4), model: int = 777, **options: Any) -> None:
        super().__init__(ids, model, **options)
