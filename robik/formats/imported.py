"""What an import gives: the robot, and what its user should know about how its file was read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from robik.mechanism import Mechanism

SHOWN = 6  # names in a sentence, before the rest is only counted


@dataclass(frozen=True)
class Imported:
    """A robot read from a file.

    Attributes:
        mechanism: assembled in its rest pose.
        warnings: one sentence each: what the file says and RobIK read otherwise, or could not use.
        report: one sentence each: what the import decided where the file left it open.
    """

    mechanism: Mechanism
    warnings: tuple[str, ...] = ()
    report: tuple[str, ...] = ()


class Notes:
    """Collects what there is to say, one sentence for all elements that it holds of."""

    def __init__(self) -> None:
        self._elements: dict[str, list[str]] = {}

    def add(self, sentence: str, element: str = "") -> None:
        """Remembers a sentence, with the element that it holds of."""
        elements = self._elements.setdefault(sentence, [])
        if element and element not in elements:
            elements.append(element)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Each with its elements, in the order in which they came up."""
        return tuple(f"{listed(elements)}: {sentence}" if elements else sentence for sentence, elements in self._elements.items())


def listed(names: Iterable[str]) -> str:
    """The first few names, and how many more there are."""
    names = list(names)
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
