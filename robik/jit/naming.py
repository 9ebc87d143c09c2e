"""Compiled code that is good under each name that the library may have.

By pip the library is called `robik`; in Blender it is a part of the add-on, whose name depends on the repository that
it was installed from. Code that one process kept on disk must serve the other. So names of the library's modules are
kept without the name of the library itself.
"""

from __future__ import annotations

import io
import pickle
import sys
from typing import Any

from numba.core.caching import IndexDataCacheFile
from numba.core.serialize import NumbaPickler

LIBRARY = __name__.removesuffix("jit.naming")  # what the names of its modules begin with in this process


class CacheFile(IndexDataCacheFile):
    """numba's files of one function, with the library's modules named so."""

    def _dump(self, found):
        written = io.BytesIO()
        _Pickler(written, protocol=4).dump(found)
        return written.getvalue()

    def _load_index(self):
        try:
            with open(self._index_path, "rb") as file:
                if pickle.load(file) != self._version:
                    return {}  # the rest may not be readable
                stamp, overloads = _Unpickler(file).load()
        except FileNotFoundError:
            return {}
        return overloads if stamp == self._source_stamp else {}

    def _load_data(self, name):
        with open(self._data_path(name), "rb") as file:
            return _Unpickler(file).load()


class _Pickler(NumbaPickler):
    """Pickler that takes names of modules apart.

    Of classes and functions, too, since those are pickled by the name of their module.
    """

    def persistent_id(self, found: Any) -> str | None:
        """Return what follows the library's name in the name of one of its modules, None for all else."""
        is_ours = type(found) is str and found.startswith(LIBRARY) and found in sys.modules
        return found.removeprefix(LIBRARY) if is_ours else None


class _Unpickler(pickle.Unpickler):
    """Its counterpart."""

    def persistent_load(self, module: str) -> str:
        """Return the name that a module of the library has in this process."""
        return LIBRARY + module
