"""Translations of the interface: a gettext file (.po) a language, made known to Blender.

Blender translates by itself what it draws: labels, tooltips, enum items and literal texts. What is put together from
values goes through `sentence`.
"""

from __future__ import annotations

from pathlib import Path

import bpy

from .po import read

FOLDER = Path(__file__).parent
OWN = "RobIK"  # context of names that Blender translates in another sense; its translations come first


def languages() -> dict[str, dict[tuple[str, str], str]]:
    """Return the translations by Blender's name of the locale, which is the file's name, then by context and text."""
    return {file.stem: read(file) for file in sorted(FOLDER.glob("*.po"))}


def sentence(template: str, **values: object) -> str:
    """Return a sentence in the language of Blender's interface."""
    translated: str = bpy.app.translations.pgettext_iface(template)
    return translated.format(**values)


def register() -> None:
    """Make the translations known to Blender."""
    made: dict = languages()
    bpy.app.translations.register(__package__, made)


def unregister() -> None:
    """Take them out again."""
    bpy.app.translations.unregister(__package__)
