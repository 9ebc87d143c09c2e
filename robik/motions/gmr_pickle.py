"""Pickles of General Motion Retargeting (GMR): a dictionary of arrays.

`fps`, `root_pos` (T, 3), `root_rot` (T, 4) xyzw, `dof_pos` (T, n) in the order of MuJoCo, `local_body_pos` (T, B, 3)
seen from the base, `link_body_list` (B names). They are read by an unpickler that makes arrays and nothing else.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import RATIO, SPARE, finite
from ..errors import ClipError
from ..mechanism.orientations import quaternion_matrices
from .format import Companions, MotionFormat
from .layout import motion_from, numbers_of
from .motion import Motion
from .rates import even_rate
from .simulator_archive import times_by

ARRAYS = ("root_pos", "root_rot", "dof_pos")
PROTOCOL = 4
MANY = 8  # names that an error lists


def matches(content: bytes) -> bool:
    """Return True if it is a pickle that names a base's position and its joints."""
    return content[:1] in (b"\x80", b"(", b"}") and b"root_pos" in content and b"dof_pos" in content


def write(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a motion as a pickle; raise ClipError for a robot that does not float, or uneven times."""
    assert companions.robot is not None  # as `needs` says
    numbers = numbers_of(motion, companions.robot, companions.order)
    if not numbers.layout.root:
        raise ClipError("this format is for robots that float; choose npz")
    position, quaternion = numbers.base
    turns = quaternion_matrices(np.ascontiguousarray(quaternion))
    local = np.einsum("tji,tbj->tbi", turns, numbers.position - position[:, None])
    data = {
        "fps": even_rate(numbers.times),
        "root_pos": np.ascontiguousarray(position),
        "root_rot": np.ascontiguousarray(quaternion[:, [1, 2, 3, 0]]),
        "dof_pos": numbers.coordinates,
        "local_body_pos": local,
        "link_body_list": list(numbers.layout.bodies),
    }
    file = io.BytesIO()
    _ForEveryNumpy(file, PROTOCOL).dump(data)
    return file.getvalue()


def read(content: bytes, companions: Companions) -> Motion:
    """Return the motion in a pickle."""
    assert companions.robot is not None  # as `needs` says
    data = load_arrays(content)
    if not isinstance(data, dict) or not all(isinstance(data.get(name), np.ndarray) for name in ARRAYS):
        there = f"it has {', '.join(map(str, list(data)[:MANY]))}" if isinstance(data, dict) and data else "it is none"
        raise ClipError(f"a motion of GMR is a dictionary with the arrays {', '.join(ARRAYS)} and fps; {there}")
    position = finite(np.asarray(data["root_pos"]), "root_pos", (None, 3))
    rotation = finite(np.asarray(data["root_rot"]), "root_rot", (len(position), 4))
    joints = finite(np.asarray(data["dof_pos"]), "dof_pos", (None, None))
    rate = data.get("fps", companions.fps)
    if not isinstance(rate, int | float | np.ndarray | np.number) or isinstance(rate, bool):
        raise ClipError("no fps with the samples per second; give them (--fps HZ)")
    times = times_by(np.asarray(rate, dtype=float), len(position))
    return motion_from(companions.robot, companions.order, times, (position, rotation[:, [3, 0, 1, 2]]), joints)


def load_arrays(content: bytes) -> Any:
    """Return the arrays, numbers and texts of a pickle, and lists and dictionaries of them; run no code.

    Raise ClipError where it holds anything else, or is no pickle.
    """
    try:
        _check_places(content)
        return _Arrays(content).load()
    except ClipError:
        raise
    except Exception as error:  # a pickle that is broken can fail in any way
        raise ClipError(f"not a pickle of arrays: {' '.join(str(error).split()) or type(error).__name__}") from None


def _check_places(content: bytes) -> None:
    """Check where a pickle puts what it will name again: a list of as many places is made. Raises ClipError."""
    for opcode, place, _ in pickletools.genops(content):
        if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and place is not None and place > len(content):
            raise ClipError(f"not a pickle of arrays: it has a place number {place}")


class _ForEveryNumpy(pickle.Pickler):
    """A pickler of arrays that NumPy 1 reads from NumPy 2: what makes them by itself has moved between the two."""

    def reducer_override(self, obj: Any) -> Any:
        """Return how an array is made, which can be written to; the rest is pickled as usual."""
        if type(obj) is not np.ndarray:
            return NotImplemented
        return np.ndarray, (obj.shape, obj.dtype.str, bytearray(obj.tobytes()))


class _Arrays(pickle.Unpickler):
    """An unpickler that knows arrays and nothing else, and makes no more of them than the file is large."""

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content))
        self._left = SPARE + RATIO * len(content)  # bytes: a pickle can name the same ones again and again
        self._makers: dict[str, dict[str, Callable]] = {
            "builtins": {"bytearray": self._buffer},
            "numpy": {"ndarray": _array, "dtype": _dtype},
            "numpy.core.multiarray": {"_reconstruct": self._empty, "scalar": _scalar},
            "numpy.core.numeric": {"_frombuffer": _from_buffer},
            "_codecs": {"encode": self._encoded},
        }

    def find_class(self, module: str, name: str) -> Any:
        """Return what makes an array; anything else is refused."""
        makers = self._makers.get(module.replace("numpy._core", "numpy.core"), {})
        if name in makers:
            return makers[name]
        raise ClipError(f"it holds {module}.{name}, which is no array and is not opened; save arrays and numbers alone")

    def persistent_load(self, _pid: Any) -> Any:
        """Refuse what lies outside of the file."""
        raise ClipError("it refers to something outside of the file; save arrays and numbers alone")

    def take(self, size: int) -> None:
        """Count bytes that are made."""
        self._left -= size
        if self._left < 0:
            raise ClipError("its arrays would take far more memory than the file is large; save each of them once")

    def _buffer(self, content: Any = b"") -> bytearray:
        """Return bytes that can be written to; of a number they would be that many, whatever it is."""
        if not isinstance(content, bytes):
            raise ClipError("it makes bytes of something else; save arrays and numbers alone")
        self.take(len(content))
        return bytearray(content)

    def _encoded(self, text: str, _encoding: str = "latin1") -> bytes:
        """Return the bytes that a pickle of Python 2's protocol holds as a text."""
        self.take(len(text))
        return text.encode("latin1")

    def _empty(self, _of: Any, _shape: tuple, _code: bytes) -> np.ndarray:
        """Return an array that the pickle then fills; its size is told by what fills it."""
        made = np.ndarray(0, dtype="b").view(_Filled)
        made.owner = self
        return made


class _Filled(np.ndarray):
    """An array that a pickle fills."""

    owner: _Arrays

    def __setstate__(self, state: Any) -> None:
        self.owner.take(len(state[-1]))
        super().__setstate__(state)


def _array(*arguments: Any) -> np.ndarray:
    """Return an array of a shape, a type and its bytes; without bytes it would take whatever memory it asks for."""
    if len(arguments) != 3 or not isinstance(arguments[2], bytearray):
        raise ClipError("it makes an array without content; save arrays and numbers alone")
    shape, code, content = arguments
    return np.ndarray(shape, _dtype(code), content)


def _dtype(code: Any, *_flags: Any) -> np.dtype:
    """Return a type of numbers or texts; raise ClipError for one of Python objects."""
    found = np.dtype(code if isinstance(code, str) else "O", copy=True)  # the pickle then sets its byte order
    if found.hasobject:
        raise ClipError("it holds an array of Python objects, which are not opened; save arrays of numbers alone")
    return found


def _scalar(dtype: np.dtype, content: bytes) -> Any:
    return np.frombuffer(content, dtype=dtype, count=1)[0]


def _from_buffer(content: Any, dtype: np.dtype, shape: tuple, order: str) -> np.ndarray:
    return np.frombuffer(content, dtype=dtype).reshape(shape, order=order)  # type: ignore[call-overload]


FORMAT = MotionFormat(
    name="gmr-pkl", label="GMR (pickle)", extensions=(".pkl",), needs=("robot",), by_extension=True,
    matches=matches, read=read, write=write,
)  # fmt: skip
