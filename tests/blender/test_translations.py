"""Translations of the interface: complete, not stale, with equal placeholders, and no wider than the sidebar.

Blender's module is built without languages, so that nothing can be switched in it; it measures texts with its fonts.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from string import Formatter

import blf
import pytest

from tests.blender import installed
from tools.translations import ANY, OPERATOR, texts

CHECKOUT = Path(__file__).parents[2]
LANGUAGES = ("ja_JP", "zh_HANS")
PANEL, MARGINS, ICON = 260, 36, 20  # [px] of a panel; of its margins and scroll bar; of an icon beside a text
FONT = 11  # [pt] of Blender's labels at a resolution scale of 1
PAIRED = {  # in rows of two
    *("Import Robot…", "Gallery…", "Rest Pose", "Flip Pose", "Remove Joint", "Limits…", "Add Motor", "Remove Motor"),
    *("Set Ground", "Make Foot", "Match Now", "Match Rest", "Test in Physics", "Make It Stand", "Carry Weight"),
    *("Tilt Feedback", "Follow Live", "Rebuild Bodies", "Reduce Keys", "Slow Down…", "Calm Vibration…", "Penetration"),
    *("Export Motion…", "Motor Graph", "Report…", "Connect", "Disconnect", "Preflight", "Stop", "Torque Off", "Ghost"),
    *("Real Pose", "Zero Here", "Save Servos…", "Key", "Record", "Contacts", "Limits"),
}
SHORT = 24  # English letters up to which a label is one that buttons and fields bear
UNTRANSLATED = re.compile(r"[a-z]{3,}")  # words of f-strings; units are shorter


@pytest.fixture(scope="module")
def found() -> dict[tuple[str, str], str]:
    return texts()


@pytest.fixture(scope="module")
def languages() -> dict[str, dict[tuple[str, str], str]]:
    return installed.module("translations").languages()


def fields(text: str) -> list[tuple[str, str, str]]:
    """Placeholders with their formats, in a set order."""
    return sorted((name, form or "", kind or "") for _, name, form, kind in Formatter().parse(text) if name is not None)


def test_each_text_of_the_interface_is_translated_and_nothing_else(found, languages) -> None:
    assert set(languages) == set(LANGUAGES)
    for name, language in languages.items():
        missing = found.keys() - language.keys()
        assert not missing, f"{name}.po lacks {sorted(missing)[:5]}; python -m tools.translations adds them"
        stale = language.keys() - found.keys()
        assert not stale, (
            f"{name}.po has {sorted(stale)[:5]}, which are nowhere; python -m tools.translations removes them"
        )


def test_the_extraction_finds_every_kind_of_text(found) -> None:
    expected = [
        (OPERATOR, "Bake All Actions"),  # an operator's name
        (ANY, "Go to this frame"),  # its tooltip
        (ANY, "NLA Strips"),  # its property
        (ANY, "Pin Feet"),  # a property of the scene
        (ANY, "Hold standing feet flat on the ground, exactly where they land"),
        (ANY, "Prismatic"),  # enum items
        (ANY, "A slide: runs along the axis"),
        (ANY, "Each Servo"),  # a panel
        (OPERATOR, "Report…"),  # literal texts
        (OPERATOR, "Show Joints"),
        (ANY, "Motors show their"),
        (ANY, "Choose a robot above"),
        (ANY, "Choose the object to follow"),
        (ANY, "{count} robots: choose the one to work on"),  # with values
        (ANY, "a motor jumps in {count} samples"),
        (ANY, "{count} loops"),
    ]
    assert [key for key in expected if key not in found] == []


def test_placeholders_are_equal(languages) -> None:
    count = 0
    for name, language in languages.items():
        for (_, text), translation in language.items():
            if "{" in text:
                count += 1
                assert fields(text) == fields(translation), (name, text, translation)
    assert count > 100


def test_panels_put_no_words_together_without_a_translation() -> None:
    """Words belong into `sentence`, not into f-strings."""
    for file in sorted((CHECKOUT / "panels").rglob("*.py")):
        if file.name == "manual.py":  # addresses
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            parts = node.values if isinstance(node, ast.JoinedStr) else ()
            words = [one.value for one in parts if isinstance(one, ast.Constant) and UNTRANSLATED.search(one.value)]
            assert [word for word in words if word != "robik_"] == [], f"{file.name}:{node.lineno}"


def test_texts_are_whole(languages) -> None:
    """Neither blanks at the ends, nor another ellipsis, nor letters that only another language has."""
    for name, language in languages.items():
        foreign = re.compile("[ぁ-ヿ]" if name == "zh_HANS" else "[们这为动关节执轴]")
        for (_, text), translation in language.items():
            assert translation == translation.strip(), text
            assert text.endswith("…") == translation.endswith("…"), (name, text)
            assert not foreign.search(translation), (name, text, translation)


def width(text: str) -> float:
    """Of a label in Blender's own font [px]."""
    blf.size(0, FONT)
    return blf.dimensions(0, text)[0]


@pytest.mark.one_blender
def test_no_label_is_clipped(found, languages) -> None:
    """Buttons that lie in pairs have half of a panel, others all of it."""
    half = (PANEL - MARGINS) / 2 - ICON
    assert width("漢") > 1.5 * width("a") > 0  # with the font of these languages
    for name, language in languages.items():
        for key in found:
            if len(key[1]) <= SHORT and "{" not in key[1]:
                translation = language[key]
                room = half if key[1] in PAIRED else PANEL - MARGINS - ICON
                assert width(translation) <= room, (name, key[1], translation)


@pytest.mark.parametrize("language", LANGUAGES)
def test_lines_of_status_are_broken_before_the_panel_ends(languages, language) -> None:
    wrapped = installed.module("panels.tab")._wrapped
    for (context, text), translation in languages[language].items():
        if context != ANY:
            continue
        lines = wrapped(translation, 36)
        assert "".join(lines).replace(" ", "") == translation.replace(" ", ""), text
        assert max(map(width, lines)) <= PANEL - MARGINS - ICON + 2 * FONT, (text, lines)
        assert not any(line[0] in "、。，：；）」”" for line in lines[1:] if line), lines


def test_the_reader_takes_gettexts_files_and_says_what_is_wrong(tmp_path) -> None:
    read = installed.module("translations.po").read
    file = tmp_path / "xx.po"
    file.write_text(
        '# A translator\nmsgid ""\nmsgstr "Language: xx\\n"\n\n#: panels/a.py\nmsgctxt "Operator"\nmsgid "Bake"\n'
        'msgstr "B\\"k"\n\nmsgid ""\n"Long "\n"text\\n"\nmsgstr ""\n"Langer "\n"Text\\n"\n\n'
        '#, fuzzy\nmsgid "Old"\nmsgstr "Alt"\n\nmsgid "New"\nmsgstr ""\n',
        encoding="utf-8",
    )
    assert read(file) == {("Operator", "Bake"): 'B"k', ("*", "Long text\n"): "Langer Text\n"}
    for text, told in {
        'msgid "a"\nmsgstr "b"\n\nmsgid "a"\nmsgstr "c"\n': "xx.po, line 4: 'a' is there twice",
        'msgid "a"\nnonsense\n': "xx.po, line 2: not a line of a .po file: nonsense",
        "msgid a\n": "xx.po, line 1: a text in double quotes belongs here, not a",
        'msgid "a\n': 'xx.po, line 1: a text in double quotes belongs here, not "a',
    }.items():
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
            read(file)


def test_words_of_katakana_are_not_broken() -> None:
    wrapped = installed.module("panels.tab")._wrapped
    assert wrapped("3 個中 3 個のターゲットが追従、スケール 0.318", 36) == [
        "3 個中 3 個のターゲットが追従、",
        "スケール 0.318",
    ]
    assert wrapped("one two three", 7) == ["one two", "three"]
