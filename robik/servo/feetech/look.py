"""Looks at Feetech servos: all that they report lies in one run of their tables, which one packet asks of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..telemetry import Telemetry
from .models import TABLE, describe_hardware_error
from .reading import Reader

FIRST, LAST = TABLE["torque_enable"], TABLE["error_status"]
GLANCED = FIRST.address, LAST.address + LAST.size - FIRST.address  # address and size of the run


def value(block: bytes, entry: str) -> int:
    """Return an entry of the run.

    Args:
        block: Its bytes.
        entry: Name of the entry.

    Returns:
        The value.
    """
    item = TABLE[entry]
    return item.decode(block[item.address - FIRST.address :][: item.size])


def telemetry(block: bytes, mark: int) -> Telemetry:
    """Return what a servo reports.

    Args:
        block: Bytes of the run.
        mark: Its torque limit, if it has not restarted.

    Returns:
        Its telemetry.
    """
    errors = value(block, "error_status")
    return Telemetry(
        torque=bool(value(block, "torque_enable")),
        is_guarded=value(block, "goal_torque_limit") == mark and value(block, "goal_speed") > 0,
        is_stopped=False,
        errors=errors,
        error=describe_hardware_error(errors) if errors else "",
        load=value(block, "present_load"),
        position=value(block, "present_position"),
        volts=value(block, "present_voltage") / 10,
        celsius=float(value(block, "present_temperature")),
    )


class FeetechLook:
    """A look at some servos, in one question whose answers nobody waits for: see `Look`.

    Args:
        reader: of the servos.
        ids: theirs.
        decode: makes what a servo reports of its id and the bytes of the run.

    Attributes:
        ids: see above.
        is_asked: whether answers are on their way.
        seen: what those report who have answered, by id.
        is_over: whether nothing more comes.
    """

    def __init__(self, reader: Reader, ids: Sequence[int], decode: Callable[[int, bytes], Telemetry]) -> None:
        self.ids, self.is_asked, self.is_over = tuple(ids), False, False
        self.seen: dict[int, Telemetry] = {}
        self._reader, self._decode = reader, decode
        self._question = reader.question(self.ids, *GLANCED)

    @property
    def seconds(self) -> float:
        """Time of the question and its answers on the wire [s]."""
        return self._question.seconds

    def ask(self) -> None:
        """Send the question."""
        self._reader.ask(self._question)
        self.is_asked = True

    def collect(self) -> None:
        """Take in what has been answered."""
        answers = self._reader.answers()
        if answers is None:
            return
        self.is_asked, self.is_over = False, True
        self.seen = {id: self._decode(id, packet.parameters) for id, packet in answers.items()}
