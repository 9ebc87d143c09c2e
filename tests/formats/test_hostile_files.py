"""The same bad intentions in every format: refused or contained in one sentence, nothing run, nothing read outside the
robot's folder."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from robik.errors import RobikError
from robik.formats import import_robot
from tests.formats import fuzz

HAS_PXR = importlib.util.find_spec("pxr") is not None
NS = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
LAUGHS = "".join(f'<!ENTITY l{k} "{"".join(f"&l{k - 1};" for _ in range(10))}">' for k in range(1, 11))
BOMB, OUTER = f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]>', '<!DOCTYPE r [<!ENTITY l10 SYSTEM "../outside/secret.txt">]>'


def urdf(inner: str = "", head: str = "", name: str = "r") -> str:
    return f'{head}<robot name="{name}"><link name="a">{inner}</link></robot>'


def xacro(inner: str = "", head: str = "", name: str = "r") -> str:
    return f'{head}<robot {NS} name="{name}"><link name="a"/>{inner}</robot>'


def mjcf(inner: str = "", head: str = "", name: str = "r", rest: str = "") -> str:
    return f'{head}<mujoco model="{name}">{rest}<worldbody><body name="a">{inner}</body></worldbody></mujoco>'


def sdf(inner: str = "", head: str = "", name: str = "r", rest: str = "") -> str:
    return f'{head}<sdf version="1.9"><model name="{name}"><link name="a">{inner}</link>{rest}</model></sdf>'


def usda(inner: str = "", head: str = "", name: str = "r") -> str:
    return (
        f'#usda 1.0\n({head})\ndef Xform "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI",'
        f' "PhysicsMassAPI"])\n{{\n{inner}\n}}\n'
    )


def native(inner: str = "", name: str = "r") -> str:
    return f'{{"format": "robik", "version": 1, "name": "{name}", "bodies": [{{"name": "a"{inner}}}]}}'


URDF_MESH, MJCF_MESH = (
    '<visual><geometry><mesh filename="{}"/></geometry></visual>',
    '<asset><mesh name="m" file="{}"/></asset>',
)
SDF_MESH = '<visual name="v"><geometry><mesh><uri>{}</uri></mesh></geometry></visual>'
NATIVE_MESH = ', "visuals": [{{"shape": "mesh", "size": [1, 1, 1], "file": "{}"}}]'
SDF_INCLUDE = "<include><uri>{}</uri></include>"
ELSEWHERE = [
    "../outside/secret.stl", "../../../../../../../etc/passwd", "/etc/passwd", "file:///etc/passwd",
    "http://127.0.0.1:9/a", "//host/a"
]  # fmt: skip
NO_FILE = "leads out|not a file|no file|another computer|not XML"
RING = """<robot name="r"><link name="a"/><link name="b"/>
    <joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>
    <joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint></robot>"""

# What is written as the robot's file → what its refusal says; None where the robot is read without what it reaches for.
CASES: dict[str, tuple[str, str | bytes, str | None]] = {
    **{f"bomb in {e}": (f"r.{e}", f(name="&l10;", head=BOMB), "DOCTYPE")
       for e, f in (("urdf", urdf), ("xacro", xacro), ("xml", mjcf), ("sdf", sdf))},
    **{f"external entity in {e}": (f"r.{e}", f(name="&l10;", head=OUTER), "DOCTYPE")
       for e, f in (("urdf", urdf), ("xacro", xacro), ("xml", mjcf), ("sdf", sdf))},
    "itself in xml": ("r.xml", mjcf(rest='<include file="r.xml"/>'), "ring"),
    "itself in xacro": ("r.xacro", xacro('<xacro:include filename="r.xacro"/>'), "deep|nested"),
    "itself in sdf": ("r.sdf", sdf(rest=SDF_INCLUDE.format("r.sdf")), "includes? (itself|more)|deep"),
    "itself in usda": ("r.usda", usda(head="subLayers = [@r.usda@]"), None),
    "NaN in urdf": ("r.urdf", urdf('<inertial><mass value="nan"/></inertial>'), "finite"),
    "NaN in xml": ("r.xml", mjcf('<inertial pos="0 0 0" mass="nan" diaginertia="1 1 1"/>'), "finite"),
    "NaN in sdf": ("r.sdf", sdf("<inertial><mass>nan</mass></inertial>"), "finite"),
    "NaN in usda": ("r.usda", usda("float physics:mass = nan"), "must be a number"),
    "NaN in json": ("r.robik.json", native(', "mass": NaN'), "finite"),
    "infinite in json": ("r.robik.json", native(', "mass": 1e999'), "finite"),
    "half a character in json": ("r.robik.json", native().replace('"a"', '"\\ud800"'), "half of a character"),
    "ring in urdf": ("r.urdf", RING, "ring"),
    "ring in sdf": ("r.sdf", sdf(rest='<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>'), "ring"),
    **{f"not UTF-8 in {name}": (name, text.replace('"r"', '"\udcff\udcfe"').encode("utf-8", "surrogateescape"),
                                "not XML|not USD|as text")
       for name, text in (("r.urdf", urdf()), ("r.xacro", xacro()), ("r.xml", mjcf()), ("r.sdf", sdf()),
                          ("r.robik.json", native()))},
    **{f"nothing in {name}": (name, "", "it is empty|not USD")
       for name in ("r.urdf", "r.xacro", "r.xml", "r.sdf", "r.usda", "r.robik.json")},
    **{f"noise in {name}": (name, bytes(range(256)) * 9, "not XML|not USD|opened as USD|as text|not JSON")
       for name in ("r.urdf", "r.xacro", "r.xml", "r.sdf", "r.usd", "r.usdc", "r.usdz", "r.robik.json")},
    **{f"mesh at {uri} in {name}": (name, make(uri), None) for uri in ELSEWHERE for name, make in (
        ("r.urdf", lambda uri: urdf(URDF_MESH.format(uri))), ("r.sdf", lambda uri: sdf(SDF_MESH.format(uri))),
        ("r.xml", lambda uri: mjcf('<geom type="mesh" mesh="m"/>', rest=MJCF_MESH.format(uri))),
        ("r.robik.json", lambda uri: native(NATIVE_MESH.format(uri))))},
    **{f"file at {uri} in xml": ("r.xml", mjcf(rest=f'<include file="{uri}"/>'), NO_FILE) for uri in ELSEWHERE},
    **{f"file at {uri} in xacro": ("r.xacro", xacro(f'<xacro:include filename="{uri}"/>'),
                                   NO_FILE) for uri in ELSEWHERE},
    **{f"file at {uri} in sdf": ("r.sdf", sdf(rest=SDF_INCLUDE.format(uri)), None) for uri in ELSEWHERE},
    **{f"file at {uri} in usda": ("r.usda", usda(head=f"subLayers = [@{uri}@]"),
                                  "refers to") for uri in ELSEWHERE if ":" not in uri},
    **{f"file at {uri} in usda": ("r.usda", usda(head=f"subLayers = [@{uri}@]"),
                                  None) for uri in ELSEWHERE if ":" in uri},
}  # fmt: skip


@contextmanager
def watched() -> Iterator[list[str]]:
    """What Python opens, starts, or connects to meanwhile."""
    seen: list[str] = []
    _WATCHES.append(seen)
    try:
        yield seen
    finally:
        _WATCHES.remove(seen)


_WATCHES: list[list[str]] = []


def _heard(event: str, arguments: tuple) -> None:
    if _WATCHES and event in ("open", "os.system", "subprocess.Popen", "socket.connect", "socket.getaddrinfo"):
        _WATCHES[-1].append(f"{event} {arguments[0]}")


sys.addaudithook(_heard)


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_or_contained(case: str, tmp_path: Path) -> None:
    name, content, says = CASES[case]
    if ".usd" in name and not HAS_PXR:
        pytest.skip("needs usd-core")
    (tmp_path / "outside").mkdir()
    for secret in ("secret.stl", "secret.txt"):
        (tmp_path / "outside" / secret).write_text("solid")
    path = tmp_path / "robot" / name
    path.parent.mkdir()
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = sorted(tmp_path.rglob("*"))
    said = None
    with watched() as seen:
        try:
            imported = import_robot(path)
            assert [b.name for b in imported.mechanism.bodies] == (["a"] if ".usd" not in name else ["r"])
            assert all(v.shape != "mesh" for b in imported.mechanism.bodies for v in b.visuals)
        except RobikError as error:
            said = str(error)
    if says is None:
        assert said is None
        assert imported.warnings or "itself" in case
    else:
        assert said is not None
        assert said.startswith(str(path)) and re.search(says, said), said
        assert "\n" not in said and len(said) < len(str(path)) + 300
    outside = [each for each in seen if "outside" in each or "passwd" in each or not each.startswith("open ")]
    assert not outside
    assert sorted(tmp_path.rglob("*")) == before


def test_the_watch_sees_what_is_opened(tmp_path: Path) -> None:
    with watched() as seen:
        (tmp_path / "outside").write_text("x")
    assert any("outside" in each for each in seen)


@pytest.mark.parametrize("name", ["r.loops.json", "robot.yaml"])
def test_files_beside_the_robot_s_are_not_read_elsewhere(name: str, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("{}")
    (tmp_path / "robot").mkdir()
    (tmp_path / "robot" / name).symlink_to("../outside/secret")
    (tmp_path / "robot" / "r.urdf").write_text(urdf())
    with pytest.raises(RobikError, match="leads out"):
        import_robot(tmp_path / "robot" / "r.urdf")


@pytest.mark.parametrize(
    ("inner", "says"),
    [
        ('"rest": {"j": HUGE}', "'j': a number of 401 digits"),
        ('"loops": [{"frames": ["a", "a"], "type": "revolute", "axis": [HUGE, 0, 0]}]', "401"),
    ],
)
def test_numbers_beyond_all_size_are_refused(inner: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(urdf())
    (tmp_path / "r.loops.json").write_text(
        '{"format": "robik-loops", "version": 1, ' + inner.replace("HUGE", "1" + "0" * 400) + "}"
    )
    with pytest.raises(RobikError, match=says):
        import_robot(tmp_path / "r.urdf")


def test_merged_mappings_do_not_multiply(tmp_path: Path) -> None:
    merged = "".join(f"a{i + 1}: &a{i + 1}\n  <<: [{', '.join([f'*a{i}'] * 9)}]\n" for i in range(12))
    (tmp_path / "robot.yaml").write_text(f"a0: &a0 {{x: 1}}\n{merged}")
    (tmp_path / "r.urdf").write_text(urdf())
    with pytest.raises(RobikError, match="more than 10000 keys"):
        import_robot(tmp_path / "r.urdf")


def test_warnings_are_one_line_whatever_the_names(tmp_path: Path) -> None:
    joint = (
        '<joint name="j&#10;k" type="continuous"><parent link="a"/><child link="b&#10;c"/><limit effort="0"'
        ' velocity="-1"/></joint>'
    )
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="a"/><link name="b&#10;c"/>{joint}</robot>')
    warnings = import_robot(tmp_path / "r.urdf").warnings
    assert len(warnings) == 2
    assert not any("\n" in warning for warning in warnings)


@pytest.mark.parametrize("name", ["r.urdf", "r.xml", "r.sdf", "r.xacro", "r.robik.json"])
def test_files_of_absurd_size_are_not_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with open(path, "wb") as file:
        file.truncate(50_000_001)  # of holes
    with pytest.raises(RobikError, match=r"(more|larger) than 50 MB"):
        import_robot(path)


def outcome_within(seconds: float, path: Path) -> object:
    """What comes of an import; None where it does not end."""
    found: list[object] = [None]
    thread = Thread(target=lambda: found.__setitem__(0, fuzz.outcome_of(path)), daemon=True)
    thread.start()
    thread.join(seconds)
    return found[0]


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes among the files")
@pytest.mark.parametrize("name", ["r.urdf", "r.xml", "r.sdf", "r.xacro", "r.robik.json", "r.usda", "r.usdz"])
def test_what_is_no_file_is_not_waited_for(name: str, tmp_path: Path) -> None:
    if ".usd" in name and not HAS_PXR:
        pytest.skip("needs usd-core")
    path = tmp_path / name
    makers = {
        "it is a pipe or a device; name a file": (os.mkfifo, lambda path: path.symlink_to("/dev/zero")),
        "it is a folder; name a file": (Path.mkdir, lambda path: path.symlink_to(tmp_path)),
        "there is no such file": (lambda path: path.symlink_to("none"),),
    }
    for said, ways in makers.items():
        for make in ways:
            make(path)
            assert str(outcome_within(10.0, path)) == f"{path}: {said}"
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes among the files")
def test_what_a_robot_s_file_names_is_a_file(tmp_path: Path) -> None:
    mesh = mjcf('<geom type="mesh" mesh="m"/>', rest=MJCF_MESH.format("m.stl"))
    cases = {
        "m.stl": ("r.xml", mesh),
        "r.loops.json": ("r.urdf", urdf()),
        "robot.yaml": ("r.urdf", urdf()),
        "package.xml": ("r.urdf", urdf(URDF_MESH.format("package://other/m.stl"))),
        "part.xml": ("r.xml", mjcf(rest='<include file="part.xml"/>')),
        "part.sdf": ("r.sdf", sdf(rest=SDF_INCLUDE.format("part.sdf"))),
        "part.xacro": ("r.xacro", xacro('<xacro:include filename="part.xacro"/>')),
        "part.yaml": (
            "r.xacro",
            xacro("<xacro:property name='p' value=\"${load_yaml('part.yaml')}\"/><link name='${p}'/>"),
        ),
        **({"part.usda": ("r.usda", usda(head="subLayers = [@part.usda@]"))} if HAS_PXR else {}),
    }
    for pipe, (name, text) in cases.items():
        folder = tmp_path / pipe
        folder.mkdir()
        os.mkfifo(folder / pipe)
        (folder / name).write_text(text)
        assert outcome_within(10.0, folder / name) is not None, pipe
    assert "part.usda': it is a pipe" in str(outcome_within(10.0, tmp_path / "part.usda" / "r.usda")) or not HAS_PXR


@pytest.mark.skipif(not HAS_PXR, reason="needs usd-core")
def test_archives_that_are_cut_off_are_refused(tmp_path: Path) -> None:
    from pxr import UsdUtils

    (tmp_path / "r.usda").write_text(usda("float physics:mass = 1"))
    whole = tmp_path / "whole.usdz"
    assert UsdUtils.CreateNewUsdzPackage(str(tmp_path / "r.usda"), str(whole))
    assert [b.name for b in import_robot(whole).mechanism.bodies] == ["r"]
    content = whole.read_bytes()
    for k, end in enumerate(range(0, len(content) - 1, max(len(content) // 20, 1))):
        cut = tmp_path / f"cut{k}.usdz"
        cut.write_bytes(content[:end])
        outcome = fuzz.outcome_of(cut)
        assert "\n" not in str(outcome)
        assert isinstance(outcome, RobikError) or (
            outcome.mass == 1.0 and 2 * end > len(content)
        )  # pxr needs no list at the end
    with pytest.raises(RobikError, match=r"opened as USD|not USD"):
        import_robot(tmp_path / "cut8.usdz")
