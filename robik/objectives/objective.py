"""The interface of objectives that a clip asks for one by one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import ClipError
from ..mechanism.model import Mechanism
from ..mechanism.topology import Topology
from .rows import Row, RowKind

Own = Callable[[np.ndarray], np.ndarray]  # from an array in `ObjectiveTables.targets` to its part (T, …) of a clip's


@dataclass(frozen=True)
class TargetError:
    """Error of a robot against an objective.

    Attributes:
        values: (T,); NaN where nothing is asked for.
        unit: m or rad.
        text: what is said of a miss, with {} for the amount.
        weight: of the target; the largest where it has one by axis.
    """

    values: np.ndarray
    unit: str
    text: str
    weight: float


@dataclass(frozen=True)
class States:
    """Poses of a robot over time.

    Attributes:
        mechanism: the robot.
        position, quaternion: (T, n, 3) [m] and (T, n, 4) of the bodies' own frames.
    """

    mechanism: Mechanism
    position: np.ndarray
    quaternion: np.ndarray


class Objective(ABC):
    """Something that a clip asks of a robot, over T samples.

    Attributes:
        key: its name in the clip and in the settings, as `hand.in.pelvis`.
        FIELD: of `ObjectiveTables`, where its compiled table lies.
        WEIGHT: where the settings say nothing.
        KEYS: forms of its keys in `CLIP.npz`, for messages.
        TIES: whether an objective over two bodies takes a slot of its own for its forces.
        ROW: how an editor lists it; None where it does not.
    """

    FIELD: ClassVar[str]
    WEIGHT: ClassVar[Any]
    KEYS: ClassVar[tuple[str, ...]]
    TIES: ClassVar[bool] = True
    ROW: ClassVar[RowKind | None]

    @property
    @abstractmethod
    def key(self) -> str:
        """Its name in the clip and in the settings."""

    @property
    def layout(self) -> tuple[Any, ...]:
        """Return what its compiled table depends on beside its targets."""
        return (self.key,)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the frames (or bodies) that it is about."""
        return ()

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """Return its arrays by their keys in `CLIP.npz`."""

    @classmethod
    @abstractmethod
    def take(cls, arrays: dict[str, np.ndarray]) -> list[Any]:
        """Return the objectives of this kind in a clip's arrays, whose keys are taken out.

        Args:
            arrays: By key, as `CLIP.npz` has them.

        Returns:
            The objectives found.
        """

    @abstractmethod
    def part(self, kept: slice | np.ndarray) -> Objective:
        """Return it for some of its samples.

        Args:
            kept: The samples that stay.

        Returns:
            The objective, cut.
        """

    @abstractmethod
    def checked(self, samples: int) -> Objective:
        """Return the objective with its arrays frozen, in their exact form.

        Args:
            samples: Of the clip.

        Returns:
            The objective, checked.

        Raises:
            ClipError: Names the key and what would be right.
        """

    def check(self, mechanism: Mechanism) -> None:
        """Check that a robot has what it is about.

        Args:
            mechanism: The robot.

        Raises:
            ClipError: Lists what exists.
        """
        for name in self.bodies:
            if name not in mechanism.frame_names:
                raise ClipError(
                    f"the clip's {self.key!r} is about {name!r}, which robot {mechanism.name!r} does not have; it has "
                    f"{', '.join(mechanism.frame_names)}"
                )

    @classmethod
    def weight_from(cls, data: Any, key: str) -> Any:
        """Return a checked weight from plain data, as `SETTINGS.json` has it: a number.

        Args:
            data: The weight as `SETTINGS.json` has it.
            key: The objective's key, for errors.

        Returns:
            The weight.

        Raises:
            ClipError: Names the key and what would be right.
        """
        return scalar_weight(data, key)

    @abstractmethod
    def fill(self, table: Any, i: int, own: Own, weight: Any, per_square_metre: float) -> None:
        """Write its targets over time and its weights into entry i of its kind's table.

        Args:
            table: its kind's, of `ObjectiveTables`.
            i: its place among its kind.
            own: gives the clip's targets (T, …) for an array of the table.
            weight: as the settings have it.
            per_square_metre: 1/ℓ² [1/m²].
        """

    @classmethod
    @abstractmethod
    def table(cls, topology: Topology, items: Sequence[Any], slots: Sequence[int], views: Sequence[np.ndarray]) -> Any:
        """Return the compiled table of t objectives of this kind, all weights zero.

        Args:
            topology: The robot.
            items: t objectives.
            slots: (t,) where their forces go.
            views: Their targets in `ObjectiveTables.targets`, of the shapes that `shapes` gives.

        Returns:
            Arrays for the kernels.
        """

    @staticmethod
    @abstractmethod
    def shapes(t: int) -> list[tuple[int, ...]]:
        """Return the shapes of the targets of t objectives.

        Args:
            t: Number of objectives of the kind.

        Returns:
            A shape per array of targets.
        """

    @classmethod
    @abstractmethod
    def of_row(cls, mechanism: Mechanism, row: Row) -> list[tuple[Any, Any]]:
        """Return the objectives of this kind that a row of an editor's list asks for, each with its weight.

        Args:
            mechanism: The robot.
            row: Sampled.

        Returns:
            Pairs of objective and weight.
        """

    @abstractmethod
    def errors(self, states: States, weight: Any) -> list[TargetError]:
        """Return how far a robot is from it.

        Args:
            states: The bodies' poses along a motion.
            weight: The objective's weight.

        Returns:
            Errors (T,) with unit and wording, one per quantity.
        """


def samples_of(key: str, values: Any, samples: int, width: int | None = None) -> np.ndarray:
    """Return an array of a clip as frozen numbers, (T,) or (T, width).

    Args:
        key: The array's key in the clip.
        values: What the clip has.
        samples: Number of samples T.
        width: Numbers per sample; one without an axis of its own if left out.

    Returns:
        Read-only numbers.

    Raises:
        ClipError: Names the key and what would be right.
    """
    shape = (samples,) if width is None else (samples, width)
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ClipError(f"{key} must be numbers of the shape {shape}") from None
    if array.shape != shape:
        raise ClipError(f"{key} must have the shape {shape}, not {array.shape}")
    if not (finite := np.isfinite(array).reshape(samples, -1).all(axis=1)).all():
        raise ClipError(f"{key} must be finite; sample {int(np.argmin(finite))} is not")
    array.setflags(write=False)
    return array


def lengths_of(key: str, values: Any, samples: int) -> np.ndarray:
    """Return an array of a clip as frozen lengths (T,), zero or more.

    Args:
        key: The array's key in the clip.
        values: What the clip has [m].
        samples: Number of samples T.

    Returns:
        Read-only lengths [m].

    Raises:
        ClipError: Names the key and what would be right.
    """
    lengths = samples_of(key, values, samples)
    if (lengths < 0).any():
        k = int(np.argmax(lengths < 0))
        raise ClipError(f"{key} must be zero or more; sample {k} is {lengths[k]:g}")
    return lengths


def scalar_weight(data: Any, key: str) -> float:
    """Return a checked scalar weight.

    Args:
        data: The weight as `SETTINGS.json` has it.
        key: The objective's key, for errors.

    Returns:
        The weight.

    Raises:
        ClipError: Names the key.
    """
    if isinstance(data, bool) or not isinstance(data, (int, float)) or not (np.isfinite(data) and data >= 0):
        raise ClipError(f"the weight of {key!r} must be a number, zero or more, not {data!r}")
    return float(data)


def ints(values: Sequence[int]) -> np.ndarray:
    """Return whole numbers as compiled code takes them.

    Args:
        values: Whole numbers.

    Returns:
        Array (n,) of int64.
    """
    return np.array(values, dtype=np.int64).reshape(-1)


def stacked(values: Sequence[Any], *shape: int) -> np.ndarray:
    """Return arrays of one shape, none of them too, as one array (t, *shape).

    Args:
        values: Arrays of the shape, or nothing.
        *shape: The shape of each.

    Returns:
        Array (t, *shape).
    """
    return np.array(values, dtype=float).reshape(-1, *shape)
