"""Files that are nearly XML, as robots in public repositories are, read as their formats' own readers read them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from robik.errors import FormatError
from robik.formats import import_robot

URDF = '<robot name="r"><link name="a"/><link name="b"/>{}</robot>'
JOINT = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>'
SDF = '<sdf version="1.9"><model name="r"><link name="a"/><link name="b"/>{}</model></sdf>'
SDF_JOINT = '<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>'
MJCF = '<mujoco><worldbody>{}<body name="b"><joint name="j"/></body></worldbody></mujoco>'
NEARLY = {
    "a prefix of Drake's": ("r.sdf",
                            SDF.format("<drake:proximity_properties><drake:k>1</drake:k></drake:proximity_properties>"
                                       + SDF_JOINT)),
    "a prefix of an attribute": ("r.sdf", SDF.format('<frame name="f" gz:custom="1 2"/>' + SDF_JOINT)),
    "a prefix declared below its first use": ("r.urdf",
                                              URDF.format('<gz:a/><gz:b xmlns:gz="http://gazebosim.org"/>' + JOINT)),
    "dashes in a comment": ("r.xml", MJCF.format("<!-- a -- b --- c -->")),
    "a comment that ends in three dashes": ("r.xml", MJCF.format("<!-- a --->")),
    "a prefix in a comment": ("r.xml", MJCF.format("<!-- <drake:a> -- -->")),
    "an empty line first": ("r.urdf", '\n\n<?xml version="1.0"?>\n' + URDF.format(JOINT)),
    "a comment first": ("r.urdf", '<!-- by hand -->\n<?xml version="1.0" encoding="utf-8"?>\n' + URDF.format(JOINT)),
    "text first": ("r.urdf", "This is my robot:\n" + URDF.format(JOINT)),
    "text before the declaration": ("r.sdf", "i<?xml version='1.0' ?>\n" + SDF.format(SDF_JOINT)),
    "a zero at the end": ("r.urdf", URDF.format(JOINT) + "\r\n\0\n"),
    "all of it": ("r.sdf",
                  'i<!-- -- --><?xml version="1.0"?>\n<!-- -- -->' + SDF.format("<gz:a/><drake:b/>" + SDF_JOINT)),
    "what looks like a comment in CDATA": (
        "r.sdf",
        SDF.format("<plugin name='p' filename='q'><a><![CDATA[<!-- -- -->]]></a></plugin><gz:a/>" + SDF_JOINT),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NEARLY)
def test_what_is_nearly_xml_is_read(case: str, tmp_path: Path) -> None:
    name, text = NEARLY[case]
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert "j" in {joint.name for joint in import_robot(tmp_path / name).mechanism.joints}


def test_letters_of_another_encoding_stay_when_the_declaration_moves_to_the_front(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_bytes(
        ('\n<?xml version="1.0" encoding="iso-8859-1"?>' + URDF.format(JOINT).replace('"r"', '"Käfer"')).encode(
            "latin-1"
        )
    )
    assert import_robot(path).mechanism.name == "Käfer"


DOCTYPE = '<!DOCTYPE r [<!ENTITY l0 SYSTEM "../outside/secret.txt">]>'


@pytest.mark.parametrize("text", [
    f'{DOCTYPE}<?xml version="1.0"?>' + URDF.format("<gz:a/>"),
    f'x <?xml version="1.0"?>{DOCTYPE}' + URDF.format("<gz:a/>"),
    f"<!-- -- -->{DOCTYPE}" + URDF.format("&l0;"),
    f"<!-- <!-- -- -->{DOCTYPE}<!-- -->" + URDF.format("<gz:a/>&l0;"),
    f"x<!-->{DOCTYPE}<!-- -- -->{DOCTYPE}" + URDF.format("<gz:a/>"),
])  # fmt: skip
def test_a_doctype_is_refused_in_what_is_nearly_xml_too(text: str, tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match="DOCTYPE"):
        import_robot(tmp_path / "r.urdf")


@pytest.mark.parametrize(("text", "said"), [
    (URDF.format("<a></b>"), "line 1, column 5"),
    ("hello\n\n<!-- -- \n -->" + URDF.format("<gz:a/>\n<a></b>"), "not XML: mismatched tag: line 5, column 5"),
    ("nothing", "not XML"),
    ("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
])  # fmt: skip
def test_what_cannot_be_mended_is_refused_by_its_line(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=said):
        import_robot(tmp_path / "r.urdf")


def test_text_made_to_be_searched_again_and_again_takes_no_time(tmp_path: Path) -> None:
    path, start = tmp_path / "r.urdf", time.process_time()
    for piece in ("<!--", "<?xml ", "<![CDATA[", " a:b", "<a:"):
        path.write_text(piece * 500_000, encoding="utf-8")
        with pytest.raises(FormatError, match="not XML"):
            import_robot(path)
    assert time.process_time() - start < 10
