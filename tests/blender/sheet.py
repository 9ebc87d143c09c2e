"""A sheet on which panels draw: Blender's module has no window, so that texts are measured here.

A row's items get what they need while there is room, a split's their shares, and a name beside its field two fifths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import blf

FONT = 11  # [pt] of Blender's labels at a resolution scale of 1
WIDTH = 236  # [px] of what a panel holds at the sidebar's default width
ICON, GAP = 20, 8  # [px] of an icon; on both sides of a text together
NUMBER = 34  # [px] of digits in a field
NAMES, EDGE = 0.4, 4  # of the width, for names beside fields; of it, what stays free [px]
Words = Callable[[str, str], str]  # a text's context and English to what is drawn


def measured(text: str) -> float:
    """Return the width of a text in Blender's own font [px]."""
    blf.size(0, FONT)
    return float(blf.dimensions(0, text)[0])


class Sheet:
    """A layout, or a part of one."""

    def __init__(self, words: Words, kind: str = "column", factor: float = 0.0, is_split: bool = False) -> None:
        self.words, self.kind, self.factor, self.use_property_split = words, kind, factor, is_split
        self.parts: list[Sheet | Text] = []
        self.controls: list[str] = []  # what can be pressed or typed into

    def row(self, heading: str = "", **_: object) -> Sheet:
        return self._below("row", heading=heading)

    def column(self, **_: object) -> Sheet:
        return self._below("column")

    def box(self) -> Sheet:
        return self._below("column")

    def grid_flow(self, **_: object) -> Sheet:
        return self._below("grid", factor=0.5)

    def split(self, factor: float = 0.5, **_: object) -> Sheet:
        return self._below("split", factor=factor)

    def panel(self, _name: str, default_closed: bool = False) -> tuple[Sheet, Sheet | None]:
        return self._below("row"), None if default_closed else self._below("column")

    def _below(self, kind: str, factor: float = 0.0, heading: str = "") -> Sheet:
        part = Sheet(self.words, kind, factor, self.use_property_split)
        part.controls = self.controls
        if heading:
            self.parts.append(Text(self.words("*", heading), share=NAMES, pad=EDGE))
            part.use_property_split = False
        self.parts.append(part)
        return part

    def separator(self) -> None:
        """Nothing to measure."""

    def template_list(self, kind: str, *_: object, **__: object) -> None:
        self.controls.append(kind)

    def label(self, text: str = "", icon: str = "NONE", translate: bool = True) -> None:
        self.parts.append(Text(self.words("*", text) if translate else text, icon != "NONE"))

    def progress(self, text: str = "", **_: object) -> None:
        self.parts.append(Text(self.words("*", text)))

    def menu(self, name: str, text: str | None = None, icon: str = "NONE") -> None:
        self.controls.append(name)
        self.parts.append(Text(self.words("*", text or ""), icon != "NONE"))

    def operator(self, name: str, text: str | None = None, icon: str = "NONE", **_: object) -> SimpleNamespace:
        import bpy

        label = getattr(bpy.ops.robik, name.partition(".")[2]).get_rna_type().name if text is None else text
        self.controls.append(name)
        self.parts.append(Text(self.words("Operator", label), icon != "NONE", pad=GAP))
        return SimpleNamespace()

    def operator_menu_enum(self, name: str, _property: str, text: str | None = None, icon: str = "NONE") -> None:
        self.operator(name, text, icon)

    def prop_search(self, data: object, name: str, *_: object, **drawn: object) -> None:
        self.prop(data, name, text=drawn.get("text"))

    def prop(
        self, data: object, name: str, text: str | None = None, icon: str = "NONE", toggle: int = -1, **how: object
    ) -> None:
        rna = data.bl_rna.properties.get(name)
        self.controls.append(name)
        if rna is None:  # a slider among an object's own properties
            return
        drawn = self.words("*", rna.name if text is None else text)
        is_switch = rna.type == "BOOLEAN" and toggle != 1
        if how.get("expand"):
            row = self._below("row")
            row.parts += [Text(self.words("*", item.name), pad=GAP) for item in rna.enum_items]
        elif is_switch:
            share = 1.0 - NAMES if self.use_property_split else 0.0
            self.parts.append(Text(drawn, has_icon=True, share=share))
        elif self.use_property_split:
            self.parts.append(Text(drawn, share=NAMES, pad=EDGE))
            self.parts += [Text(choice, True, share=1.0 - NAMES) for choice in _choices(rna, self.words)]
        else:
            own = NUMBER if rna.type in ("INT", "FLOAT") and drawn else 0
            choices = _choices(rna, self.words)
            longest = max([drawn, *choices], key=measured)
            self.parts.append(Text(longest, icon != "NONE" or bool(choices), pad=GAP + own))

    def cut(self, width: float = WIDTH) -> Iterator[str]:
        """Yield the texts that find no room in a layout of this width [px]."""
        if self.kind == "row" and self.need() > width:
            yield " | ".join(self.said())
        elif self.kind == "split":
            for k, part in enumerate(self.parts):
                room = width * (self.factor if k == 0 else (1.0 - self.factor) / max(len(self.parts) - 1, 1))
                yield from part.cut(room)
        elif self.kind != "row":
            room = width * (self.factor if self.kind == "grid" else 1.0)
            for part in self.parts:
                yield from part.cut(room)

    def need(self) -> float:
        """Return the width that all texts want [px]."""
        wanted = [part.need() for part in self.parts]
        if self.kind == "split":
            return wanted[0] / self.factor if wanted else 0.0
        return sum(wanted) if self.kind == "row" else max(wanted, default=0.0)

    def said(self) -> Iterator[str]:
        """Yield all texts."""
        for part in self.parts:
            yield from part.said()


class Text:
    """A text in a layout, in all of it or in a share of it."""

    def __init__(self, text: str, has_icon: bool = False, share: float = 0.0, pad: float = 0.0) -> None:
        self.text, self.share, self.own = text, share or 1.0, pad + ICON * has_icon

    def cut(self, width: float) -> Iterator[str]:
        if self.text and self.need() > self.share * width:
            yield self.text

    def need(self) -> float:
        return measured(self.text) + self.own if self.text else self.own

    def said(self) -> Iterator[str]:
        yield self.text


def _choices(rna: object, words: Words) -> list[str]:
    """Return the names of an enum's items."""
    return [words("*", item.name) for item in rna.enum_items] if rna.type == "ENUM" else []
