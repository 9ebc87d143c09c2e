"""Fields: the arrays by which a clip asks for an objective, each with its shape, its unit and what it must hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ClipError
from ..mechanism.orientations import quaternion_matrices

T = "T"  # in a shape: the samples of the clip
K = "K"  # in a shape: any number of rows, one or more


@dataclass(frozen=True)
class Field:
    """Finite numbers: an attribute of an objective, an array in `CLIP.npz` and, over time, a column of its table.

    A clip may leave out a field whose attribute has a default.

    Attributes:
        name: of the attribute.
        shape: such as `(T, 3)` over time, `(K, 3)` for what stays.
        unit: such as m; empty for a direction or a quaternion.
        end: of its key in the clip, after the objective's own key and a dot; empty where it has that key itself.
        about: its content, for the message where it is missing.
        column: of the compiled table, if it has another name than the attribute.
        otherwise: what the column holds where the field is None.
    """

    name: str
    shape: tuple[int | str, ...]
    unit: str = ""
    end: str = ""
    about: str = ""
    column: str = ""
    otherwise: Any = 0.0

    @property
    def is_over_time(self) -> bool:
        """Return whether it has a value for each sample of the clip."""
        return self.shape[0] == T

    @property
    def width(self) -> tuple[int, ...]:
        """Shape of a sample in the compiled table."""
        return tuple(int(n) for n in self.shape[1:])

    @property
    def form(self) -> str:
        """Shape and unit for messages, such as (K, 3) [m]."""
        return str(self.shape).replace("'", "") + (f" [{self.unit}]" if self.unit else "")

    def key_beside(self, key: str) -> str:
        """Return its key in `CLIP.npz` for an objective's key."""
        return f"{key}.{self.end}" if self.end else key

    def checked(self, key: str, values: Any, samples: int) -> np.ndarray:
        """Return an array of a clip as read-only numbers; raise ClipError that names its key where it is wrong."""
        if not self.is_over_time:
            return self._still(key, values)
        shape = (samples, *self.shape[1:])
        try:
            array = np.array(values, dtype=float)
        except (TypeError, ValueError):
            raise ClipError(f"{key} must be numbers of the shape {shape}") from None
        if array.shape != shape:
            raise ClipError(f"{key} must have the shape {shape}, not {array.shape}")
        if not (finite := np.isfinite(array).reshape(samples, -1).all(axis=1)).all():
            raise ClipError(f"{key} must be finite; sample {int(np.argmin(finite))} is not")
        return self._frozen(key, array)

    def _still(self, key: str, values: Any) -> np.ndarray:
        """Return what stays as read-only numbers."""
        try:
            array = np.array(values, dtype=float)
        except (TypeError, ValueError):
            array = np.array(np.nan)
        has_shape = array.ndim == len(self.shape) and all(
            n in (K, m) for n, m in zip(self.shape, array.shape, strict=True)
        )
        if not (has_shape and array.size and np.isfinite(array).all()):
            raise ClipError(f"{key} must be finite numbers of the shape {self.form}")
        return self._frozen(key, array)

    def _frozen(self, key: str, array: np.ndarray) -> np.ndarray:
        array = self.kept(key, array)
        array.setflags(write=False)
        return array

    def kept(self, key: str, array: np.ndarray) -> np.ndarray:
        """Return finite numbers as the objective keeps them; raise ClipError where they are none of this kind."""
        return array

    def compiled(self, values: np.ndarray) -> np.ndarray:
        """Return values (T, …) as the column of the compiled table has them."""
        return values


class Lengths(Field):
    """Lengths [m], zero or more."""

    def kept(self, key: str, array: np.ndarray) -> np.ndarray:
        if (array < 0).any():
            k = int(np.argmax(array < 0))
            raise ClipError(f"{key} must be zero or more; sample {k} is {array[k]:g}")
        return array


class UnitVectors(Field):
    """Directions (T, 3) of length 1."""

    def kept(self, key: str, array: np.ndarray) -> np.ndarray:
        if (bad := np.abs(np.linalg.norm(array, axis=1) - 1.0) > 1e-6).any():
            raise ClipError(f"{key} must have length 1; sample {int(bad.argmax())} has not")
        return array


class Quaternions(Field):
    """Orientations (T, 4) wxyz, whose column holds rotation matrices; lengths near 1 are taken for rounding."""

    @property
    def width(self) -> tuple[int, ...]:
        return (3, 3)

    def kept(self, key: str, array: np.ndarray) -> np.ndarray:
        lengths = np.linalg.norm(array, axis=1)
        if (bad := np.abs(lengths - 1.0) > 1e-3).any():
            k = int(np.argmax(bad))
            raise ClipError(f"{key} must have length 1; sample {k} has {lengths[k]:g}")
        return array / lengths[:, None]

    def compiled(self, values: np.ndarray) -> np.ndarray:
        return quaternion_matrices(values)


def samples_of(key: str, values: Any, samples: int, width: int) -> np.ndarray:
    """Return an array (T, width) of a clip as read-only numbers; raise ClipError that names its key otherwise."""
    return Field(key, (T, width)).checked(key, values, samples)
