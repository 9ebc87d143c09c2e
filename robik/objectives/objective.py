"""The interface of objectives that a clip asks for one by one, and what follows from the fields of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from ..errors import ClipError
from ..jit import by_reference
from ..kinematics.frames import frame_poses
from ..mechanism.model import Mechanism
from ..mechanism.parts import WORLD
from ..mechanism.topology import Topology
from .ends import Ends, ends
from .fields import Field, K
from .keys import KeyForm
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

    def of(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return where a frame or body is along the motion.

        Args:
            name: Of the frame or body.

        Returns:
            Positions (T, 3) [m] and orientations (T, 3, 3) in the world.
        """
        return frame_poses(self.mechanism, name, self.position, self.quaternion)


class Kernels(NamedTuple):
    """Value and derivatives of one kind of objective, in compiled form."""

    value: Callable  # (flat, now, table, total) -> `total` with the objectives added
    terms: Callable  # (flat, now, table, terms, share): add forces, and stiffness with a share of the forces
    rows: Callable | None = None  # (flat, now, table, terms): append low-rank rows
    answer: Callable | None = None  # (table, xi, out): add how wrenches change where bodies move by the screws `xi`


@dataclass(frozen=True)
class Objective(ABC):
    """Something that a clip asks of a robot, over T samples.

    A kind of objective is a frozen dataclass. Its attributes are names (`frame` and `other` for frames of the robot)
    and the arrays that `FIELDS` describes. It says its error; the rest follows from what its class declares.

    Attributes:
        KEY: form of its name in the clip and in the settings, as `hand.in.pelvis`.
        FIELDS: the arrays by which a clip asks for it.
        NAME: of its compiled table in `ObjectiveTables.asked`.
        TABLE: class of that table. It has some fields of `Ends`, a column (t, …) for each field over time, `weight`
            (t,), and those that `constants` returns.
        KERNELS: value and derivatives of all objectives in the table.
        UNIT: of what it minimises the square of: m, so that its weight counts over ℓ², or rad.
        WEIGHT: where the settings say nothing.
        TIES: whether an objective over two bodies takes a slot of its own for its forces.
        ROW: how an editor lists it; None where it does not.
    """

    KEY: ClassVar[KeyForm]
    FIELDS: ClassVar[tuple[Field, ...]]
    NAME: ClassVar[str]
    TABLE: ClassVar[Any]
    KERNELS: ClassVar[Kernels]
    UNIT: ClassVar[str] = "m"
    WEIGHT: ClassVar[Any] = 1.0
    TIES: ClassVar[bool] = True
    ROW: ClassVar[RowKind | None] = None

    @property
    def key(self) -> str:
        """Its name in the clip and in the settings."""
        return self.KEY.key_of(self)

    @property
    def layout(self) -> tuple[Any, ...]:
        """Return what its compiled table depends on beside its targets."""
        still = (getattr(self, field.name) for field in self.FIELDS if not field.is_over_time)
        return self.key, *(np.asarray(values, dtype=float).tobytes() for values in still)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the frames (or bodies) of the robot that it is about."""
        named = (getattr(self, name, None) for name in ("frame", "other"))
        return tuple(name for name in named if name not in (None, WORLD))

    @property
    def is_tied(self) -> bool:
        """Return whether it is about two frames of the robot."""
        return len(self.bodies) > 1

    def _given(self) -> list[tuple[Field, Any]]:
        """Return its arrays but for those that are None, each with its field."""
        values = ((field, getattr(self, field.name)) for field in self.FIELDS)
        return [(field, value) for field, value in values if value is not None]

    @classmethod
    def _needed(cls) -> list[Field]:
        """Return the fields that a clip cannot leave out."""
        needed = {item.name for item in fields(cls) if item.default is MISSING}
        return [field for field in cls.FIELDS if field.name in needed]

    @classmethod
    def forms(cls) -> tuple[str, ...]:
        """Return the forms of its keys in `CLIP.npz`, for messages."""
        return tuple(field.key_beside(cls.KEY.shown) for field in cls.FIELDS)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its arrays by their keys in `CLIP.npz`."""
        return {field.key_beside(self.key): np.asarray(values) for field, values in self._given()}

    @classmethod
    def read_key(cls, key: str) -> dict[str, str] | None:
        """Return the names in a key of such an objective.

        Args:
            key: Of an array or a weight.

        Returns:
            Names by attribute; None where it is a key of something else.
        """
        return cls.KEY.read(key)

    @classmethod
    def take(cls, arrays: dict[str, np.ndarray]) -> list[Self]:
        """Return the objectives of this kind in a clip's arrays, whose keys are taken out.

        Args:
            arrays: By key, as `CLIP.npz` has them.

        Returns:
            The objectives found.

        Raises:
            ClipError: Names an array that is missing.
        """
        of_end = {field.end: field for field in cls.FIELDS}
        found: dict[str, dict[str, str]] = {}  # by key of an objective and by name of a field, the array's key
        for key in arrays:
            head, _, end = key.rpartition(".")
            own, field = (head, of_end[end]) if end and end in of_end else (key, of_end.get(""))
            if field and cls.read_key(own) is not None:
                found.setdefault(own, {})[field.name] = key
        taken = []
        for own, keys in found.items():
            missing = [field for field in cls._needed() if field.name not in keys]
            if missing and not missing[0].end:
                continue  # the clip says that it does not know what is left
            if missing:
                raise ClipError(f"{own!r} needs {missing[0].key_beside(own)}: {missing[0].about} {missing[0].form}")
            given: dict[str, Any] = {name: arrays.pop(key) for name, key in keys.items()}
            taken.append(cls(**(cls.read_key(own) or {}), **given))
        return taken

    def part(self, kept: slice | np.ndarray) -> Self:
        """Return it for some of its samples.

        Args:
            kept: The samples that stay.

        Returns:
            The objective, cut.
        """
        return replace(self, **{field.name: values[kept] for field, values in self._given() if field.is_over_time})

    def checked(self, samples: int) -> Self:
        """Return the objective with its arrays frozen, in their exact form.

        Args:
            samples: Of the clip.

        Returns:
            The objective, checked.

        Raises:
            ClipError: Names the key and what would be right.
        """
        key, given = self.key, self._given()
        return replace(self, **{f.name: f.checked(f.key_beside(key), values, samples) for f, values in given})

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
        if isinstance(data, bool) or not isinstance(data, (int, float)) or not (np.isfinite(data) and data >= 0):
            raise ClipError(f"the weight of {key!r} must be a number, zero or more, not {data!r}")
        return float(data)

    @classmethod
    @cache
    def columns(cls) -> dict[str, Field]:
        """Return the fields over time by their columns of the compiled table."""
        columns = {field.column or field.name: field for field in cls.FIELDS if field.is_over_time}
        if taken := columns.keys() & {"weight", *Ends._fields}:
            raise TypeError(f"{cls.__name__}: its table has another {', '.join(taken)}; give the field a column")
        return columns

    def fill(self, table: Any, i: int, own: Own, weight: Any, per_square_metre: float) -> None:
        """Write its targets over time and its weights into entry i of its kind's table.

        Args:
            table: its kind's, of `ObjectiveTables`.
            i: its place among its kind.
            own: gives the clip's targets (T, …) for an array of the table.
            weight: as the settings have it.
            per_square_metre: 1/ℓ² [1/m²].
        """
        for column, field in self.columns().items():
            values = getattr(self, field.name)
            own(getattr(table, column))[:, i] = field.otherwise if values is None else field.compiled(values)
        self.weigh(table, i, weight, per_square_metre)

    def weigh(self, table: Any, i: int, weight: Any, per_square_metre: float) -> None:
        """Write its weight into its kind's table, as `fill` does.

        Args:
            table: Of its kind.
            i: Its entry.
            weight: Of the objective.
            per_square_metre: 1/ℓ² [1/m²], by which squares of lengths count.
        """
        table.weight[i] = weight * per_square_metre if self.UNIT == "m" else weight

    @classmethod
    def table(cls, topology: Topology, items: Sequence[Any], slots: Sequence[int], views: Sequence[np.ndarray]) -> Any:
        """Return the compiled table of t objectives of this kind, all weights zero.

        Args:
            topology: The robot.
            items: t objectives.
            slots: (t,) where their forces go.
            views: Their targets (t, …) in `ObjectiveTables.targets`, one for each of `columns`.

        Returns:
            Arrays for the kernels.
        """
        both = ends(topology, items, slots)
        targets = dict(zip(cls.columns(), views, strict=True))
        known = both._asdict() | {"weight": np.zeros(len(items))} | targets | cls.constants(topology, items, both)
        return by_reference(cls.TABLE(**{name: known[name] for name in cls.TABLE._fields if name in known}))

    @classmethod
    def constants(cls, topology: Topology, items: Sequence[Any], both: Ends) -> dict[str, np.ndarray]:
        """Return further fields of the compiled table of t objectives.

        Args:
            topology: The robot.
            items: t objectives.
            both: Their ends.

        Returns:
            Arrays (t, …), and scratch, by their names in `TABLE`.
        """
        return {}

    @classmethod
    def of_row(cls, mechanism: Mechanism, row: Row) -> list[tuple[Any, Any]]:
        """Return the objectives of this kind that a row of an editor's list asks for, each with its weight.

        Numbers over time are the row's distance, points over time its position; what stays is zero.

        Args:
            mechanism: The robot.
            row: Sampled.

        Returns:
            Pairs of objective and weight.
        """
        names: dict[str, Any] = {name: getattr(row, name) for name in cls.KEY.attributes if hasattr(row, name)}
        arrays = {field.name: _of_row(field, row) for field in cls._needed()}
        return [(cls(**names, **arrays), row.weight)]

    @abstractmethod
    def errors(self, states: States, weight: Any) -> list[TargetError]:
        """Return how far a robot is from it.

        Args:
            states: The bodies' poses along a motion.
            weight: The objective's weight.

        Returns:
            Errors (T,) with unit and wording, one per quantity; none where it has no weight, or is a preference.
        """


def _of_row(field: Field, row: Row) -> np.ndarray:
    """Return the values of a field that a row asks for."""
    if not field.is_over_time:
        return np.zeros([1 if n == K else int(n) for n in field.shape])
    if not field.width:
        return np.full(row.samples, row.distance)
    return np.zeros((row.samples, *field.width)) if row.position is None else row.position
