"""Pictures of the panels in every language that there is: tests/gui/run starts this inside Blender.

Blender's module is built without languages, so a window is the only place where they are seen.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.append(str(CHECKOUT))

import bpy  # noqa: E402

from tests.gui.shots import PANELS, SERVO_PANELS, character, panels, servos, start, walker  # noqa: E402
from tests.gui.window import call, result, run, until  # noqa: E402
from tools.installed import install  # noqa: E402

ARCHIVE = Path("/tmp/robik.zip")
STAND = {"panel-stand": ("stand",)}
LANGUAGES = ["en_US", *sorted(file.stem for file in (CHECKOUT / "translations").glob("*.po"))]


def shoot() -> Iterator[float]:
    """All panels after a bake, in one language after another."""
    install(ARCHIVE)
    yield from start()
    yield from walker()
    call(bpy.ops.robik.add_character)
    yield from character()
    with bpy.context.temp_override():
        bpy.ops.robik.auto_map()
    call(bpy.ops.robik.bake)
    yield from until(lambda: result().frames > 0, 600, "a bake")
    for language in LANGUAGES:
        spoken(language)
        yield 1.0
        yield from panels({f"{language}-{name}": shown for name, shown in (PANELS | STAND).items()})
        yield from servos({f"{language}-{name}": shown for name, shown in SERVO_PANELS.items()})


def spoken(language: str) -> None:
    """Set the interface to a language: its labels, tooltips and messages, and the names of new data."""
    view = bpy.context.preferences.view
    view.language = language
    view.use_translate_interface = view.use_translate_tooltips = view.use_translate_new_dataname = True


bpy.context.preferences.view.show_splash = False  # before the window is first drawn
run(shoot)
