"""Result of an import: the robot, and notes on how its file was read."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..budget import OutOfTimeError, current
from ..errors import AssemblyError, FormatError, MechanismError
from ..mechanism import Mechanism
from ..words import counted

if TYPE_CHECKING:
    from ..kinematics.mobility import Inspection

SWAPPED = "its lower limit lies above its upper one, so they were exchanged"
UNMOVED = "the robot can be looked at, but not moved: {error}"
UNKNOWN = (
    "{seconds:g} s were too short to find its degrees of freedom and whether its motors move it; robik inspect tells, "
    "however long it takes"
)
LOG = logging.getLogger(__name__)
SHOWN = 6  # names in a sentence, before the rest is only counted


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Put the file's name before every FormatError, AssemblyError and MechanismError of this context.

    A MechanismError becomes a FormatError. Overflows do not warn: they are refused where they are used.
    """
    try:
        with np.errstate(all="ignore"):
            yield
    except AssemblyError as error:
        raise AssemblyError(f"{path}: {error}") from None
    except (FormatError, MechanismError) as error:
        raise FormatError(f"{path}: {error}") from None


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


def described(imported: Imported) -> Imported:
    """Return an import with sentences on the robot's loops, its mobility and the closure of its rest pose.

    What is not known when the time for it is over (`budget.py`) is said.
    """
    from ..kinematics.locked import locked_motors  # with compiled kernels, which reading alone does not need
    from ..kinematics.mobility import inspect

    budget = current()
    try:
        with budget.limited(budget.describing):
            found, locked = inspect(imported.mechanism), locked_motors(imported.mechanism)
    except MechanismError as error:
        return replace(imported, warnings=(*imported.warnings, UNMOVED.format(error=error)))
    except OutOfTimeError:
        return replace(imported, warnings=(*imported.warnings, UNKNOWN.format(seconds=budget.describing)))
    report = (*imported.report, *_in_words(imported.mechanism, found))
    return replace(imported, warnings=(*imported.warnings, *locked), report=report)


def warn(imported: Imported, path: Path) -> None:
    """Log an import's warnings, and which motors its loops lock, as far as there is time to find them."""
    mechanism, said = imported.mechanism, list(imported.warnings)
    if mechanism.actuated and (mechanism.couplings or mechanism.has_loops):
        from ..kinematics.locked import warn_of_locked_motors  # with compiled kernels, which trees do not need

        try:
            with current().limited(current().describing):
                warn_of_locked_motors(mechanism)
        except MechanismError as error:
            said.append(UNMOVED.format(error=error))
        except OutOfTimeError:
            said.append(UNKNOWN.format(seconds=current().describing))
    for warning in said:
        LOG.warning("%s: %s", path, warning)


def _in_words(mechanism: Mechanism, found: Inspection) -> list[str]:
    """Return what an inspection found: what no motor moves, and the robot's numbers last."""
    loops = "no loops" if not found.loops else "one loop" if found.loops == 1 else f"{found.loops} loops"
    said = [f"{loops}, {counted(found.mobility, 'degree')} of freedom, {counted(len(found.actuators), 'motor')}"]
    if found.loops or mechanism.couplings:
        said.append(f"the rest pose is closed to {found.closure_residual:.1e} m")
    if found.rounding > 0.0:
        said.append(
            f"joints stand up to {found.rounding:.1e} m from where the file's rounded numbers have them, so that it can"
            " move"
        )
    idle = [f"{listed(names)}: no motor moves {'it' if len(names) == 1 else 'them'}" for names in found.actuation.idle]
    more = [f"and {len(idle) - SHOWN} more ways to move that no motor moves"] if len(idle) > SHOWN else []
    return [*idle[:SHOWN], *more, "; ".join(said)]


class Notes:
    """Collects what there is to say, one sentence for all elements that it holds of."""

    def __init__(self) -> None:
        self._elements: dict[str, list[str]] = {}

    def copy(self) -> Notes:
        """Return the same notes, to which others may be added."""
        other = Notes()
        other._elements = {sentence: list(elements) for sentence, elements in self._elements.items()}
        return other

    def add(self, sentence: str, element: str = "") -> None:
        """Add an element to a sentence's; without a name the sentence is about the whole file."""
        sentence, element = " ".join(sentence.split()), " ".join(element.split())  # a name may hold line breaks
        elements = self._elements.setdefault(sentence, [])
        if element and element not in elements:
            elements.append(element)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Each with its elements, in the order in which they came up."""
        return tuple(
            f"{listed(elements)}: {sentence}" if elements else sentence for sentence, elements in self._elements.items()
        )


def listed(names: Iterable[str]) -> str:
    """Return the first few names and the number of the others, such as "a, b and 7 more"."""
    names = list(names)
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
