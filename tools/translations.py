"""Texts of the interface, and the translators' files: `python -m tools.translations` brings these up to date.

New texts come in with an empty translation, and those that are no longer there go. It needs Blender's module.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.installed import PACKAGE, add_on, installed_extension

CHECKOUT = Path(__file__).parents[1]
FOLDER = CHECKOUT / "translations"
PARTS = ("scene", "operators", "panels")
ANY, OPERATOR = "*", "Operator"  # contexts, as Blender names them
SAYING = {  # functions whose arguments are texts
    "sentence", "pgettext_iface", "line", "axes", "jump", "_draw_row", "_draw_said", "_draw_target", "_draw_motors",
    "_unlimited",
}  # fmt: skip
DRAWING = {"operator", "operator_menu_enum", "label", "prop", "prop_search", "menu", "progress", "invoke_props_dialog"}
KEYWORDS = {"text", "title", "confirm_text", "placeholder"}
IDENTIFIER = re.compile(r"[a-z_]+|mm")
WORDS = re.compile(r"[A-Za-z]*[a-z]|[a-z]")  # what has none is no text, such as an icon

Key = tuple[str, str]  # context and English text


def texts() -> dict[Key, str]:
    """Return the texts of the interface by context and text, each with the place where it was found first.

    The extension must be installed in this process's Blender.
    """
    found: dict[Key, str] = {}
    for context, text, place in (*_of_classes(), *_of_objectives(), *_of_sources()):
        if WORDS.search(text):
            found.setdefault((context, text), place)
    return found


def _of_classes() -> Iterator[tuple[str, str, str]]:
    """Yield what Blender draws of registered classes: names, tooltips, enum items."""
    import bpy

    kinds = (bpy.types.Operator, bpy.types.Panel, bpy.types.Menu, bpy.types.UIList, bpy.types.PropertyGroup)
    for cls in sorted({cls for kind in kinds for cls in _below(kind)}, key=lambda cls: (cls.__module__, cls.__name__)):
        if not cls.__module__.startswith(f"{PACKAGE}.") or not cls.is_registered:
            continue
        rna, place = cls.bl_rna, cls.__module__.removeprefix(f"{PACKAGE}.").replace(".", "/") + ".py"
        if issubclass(cls, bpy.types.Operator):
            rna = getattr(bpy.ops.robik, cls.bl_idname.partition(".")[2]).get_rna_type()
            yield OPERATOR, rna.name, place
        elif not issubclass(cls, bpy.types.PropertyGroup):
            is_preset = hasattr(cls, "preset_subdir")  # whose label becomes the name of the preset that was used last
            yield rna.translation_context, "Presets" if is_preset else getattr(cls, "bl_label", ""), place
        if not issubclass(cls, bpy.types.PropertyGroup):
            yield ANY, rna.description, place
        inherited = {property.identifier for property in rna.base.properties} if rna.base else set()
        for property in rna.properties:
            if property.identifier not in inherited:
                yield from ((*text, place) for text in _of_property(property))


def _below(cls: Any) -> Iterator[Any]:
    for sub in cls.__subclasses__():
        yield sub
        yield from _below(sub)


def _of_property(property: Any) -> Iterator[Key]:
    if property.name != property.identifier:  # else it has no name, and is not drawn
        yield property.translation_context, property.name
    yield ANY, property.description
    for item in property.enum_items_static if property.type == "ENUM" else ():
        yield property.translation_context, item.name
        yield ANY, item.description


def _of_objectives() -> Iterator[tuple[str, str, str]]:
    """Yield the labels of targets' fields, which the library knows."""
    for kind in add_on("robik.objectives.registry").ROWS:
        yield from ((ANY, label, "robik/objectives/registry.py") for _, label in kind.fields)


def _of_sources() -> Iterator[tuple[str, str, str]]:
    """Yield literal texts that are drawn or reported."""
    for part in PARTS:
        for file in sorted((CHECKOUT / part).rglob("*.py")):
            tree = ast.parse(file.read_text("utf-8"))
            for scope in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
                for context, text in _of_function(scope, part == "panels"):
                    if not IDENTIFIER.fullmatch(text):
                        yield context, text, file.relative_to(CHECKOUT).as_posix()


def _of_function(scope: ast.FunctionDef, is_panel: bool) -> Iterator[Key]:
    assigned = list(_assigned(scope))
    for node in ast.walk(scope):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            context = OPERATOR if name in ("operator", "operator_menu_enum") else ANY
            values = [word.value for word in node.keywords if name in DRAWING and word.arg in KEYWORDS]
            if name in SAYING:
                values += [*node.args, *(word.value for word in node.keywords if word.arg == "why")]
            elif name == "report":
                values += node.args[1:]
            for value in values:
                yield from ((context, text) for text in _literals(value, assigned))
        elif isinstance(node, ast.Return) and node.value is not None and is_panel:  # of functions that say a status
            yield from ((ANY, text) for text in _literals(node.value, assigned) if " " in text)


def _assigned(scope: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """Yield names and what is assigned to them."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from ((name, node.value) for name in _names(target))
        elif isinstance(node, ast.For):
            yield from ((name, node.iter) for name in _names(node.target))


def _names(target: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]


def _literals(value: ast.expr, assigned: list[tuple[str, ast.expr]]) -> Iterator[str]:
    """Yield the texts that an expression may be, by names of the function too; not those within f-strings and calls."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, ast.IfExp):
        yield from _literals(value.body, assigned)
        yield from _literals(value.orelse, assigned)
    elif isinstance(value, ast.Tuple | ast.List):
        for one in value.elts:
            yield from _literals(one, assigned)
    elif isinstance(value, ast.Starred):
        yield from _literals(value.value, assigned)
    elif isinstance(value, ast.Name):
        for name, expression in assigned:
            if name == value.id and not isinstance(expression, ast.Name):
                yield from _literals(expression, assigned)
    elif isinstance(value, ast.Call) and getattr(value.func, "id", "") in ("zip", "enumerate"):
        for one in value.args:
            yield from _literals(one, assigned)


def write(file: Path, found: dict[Key, str]) -> None:
    """Write a translators' .po file: all texts by their places, with translations it had; make it if missing."""
    read = add_on("translations.po").read
    had = read(file) if file.exists() else {}
    lines = ['msgid ""', 'msgstr "Content-Type: text/plain; charset=UTF-8\\n"', ""]
    for key, place in sorted(found.items(), key=lambda item: (item[1], item[0][1], item[0][0])):
        lines.append(f"#: {place}")
        if key[0] != ANY:
            lines.append(f"msgctxt {_quoted(key[0])}")
        lines += [f"msgid {_quoted(key[1])}", f"msgstr {_quoted(had.get(key, ''))}", ""]
    file.write_text("\n".join(lines), encoding="utf-8")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def main() -> None:
    """Bring all files up to date, and say how many texts each lacks."""
    os.environ.pop("NUMBA_CACHE_DIR", None)
    with installed_extension():
        found = texts()
        for file in sorted(FOLDER.glob("*.po")):
            write(file, found)
            left = len(found) - len(add_on("translations.po").read(file))
            print(f"{file.name}: {len(found)} texts, {left} not translated yet", flush=True)
    os._exit(0)  # Blender 4.2 and 4.5 may crash when Python winds up


if __name__ == "__main__":
    main()
