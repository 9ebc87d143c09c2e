"""Extras: packages that only a part of RobIK needs, and the sentence for where one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from .errors import MissingExtraError

EXTRAS = {  # as in pyproject.toml: what needs them, and the modules that they bring
    "servo": ("playing on servos", ("serial", "dynamixel_sdk", "websockets")),
    "sound": ("the sound of a show", ("miniaudio",)),
    "osc": ("taking OSC messages", ("pythonosc",)),
    "gamepad": ("a gamepad", ("sdl2",)),
    "report": ("a report page", ("plotly",)),
    "formats": ("this kind of file", ("yaml", "xacro", "collada")),
    "usd": ("reading USD, which Blender from blender.org does by itself and elsewhere the package usd-core,", ("pxr",)),
    "live": ("following live", ("daqp",)),
    "look-ahead": ("solving all frames at once", ("piqp",)),
    "physics": ("testing a motion in physics", ("mujoco",)),
    "dask": ("a batch on a cluster", ("distributed", "dask")),
}


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Import what an extra brings."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in EXTRAS[name][1]:
            raise
        raise missing(name) from None


def is_installed(name: str) -> bool:
    """Return whether all modules of an extra, a key of `EXTRAS`, can be imported."""
    return all(find_spec(module) for module in EXTRAS[name][1])


def missing(name: str) -> MissingExtraError:
    """Return the error that says how to install an extra, a key of `EXTRAS`."""
    return MissingExtraError(f"{EXTRAS[name][0]} needs the extra {name!r}: pip install '.[{name}]' in a checkout")
