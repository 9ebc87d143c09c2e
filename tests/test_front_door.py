"""The names that `import robik` gives, and what is missing without an extra."""

from __future__ import annotations

import ast
import doctest
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import robik
from robik.extras import EXTRAS, extra

CHECKOUT = Path(__file__).parents[1]
HEAVY = ("numpy", "scipy", "numba", "llvmlite")
BLOCK = """
import sys
for name in {blocked}:
    sys.modules[name] = None  # as if it were not installed
"""


def run(program: str, *blocked: str, folder: Path = CHECKOUT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BLOCK.format(blocked=blocked) + program]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(CHECKOUT)}
    )


def test_importing_it_imports_nothing_heavy() -> None:
    found = run(f"import robik; print([name for name in {HEAVY} if sys.modules.get(name)])")
    assert found.stdout == "[]\n", found.stderr


def test_every_name_is_there_and_typed() -> None:
    assert len(robik.__all__) == len(set(robik.__all__)) > 30
    for name in robik.__all__:
        assert getattr(robik, name) is not None, name
    tree = ast.parse(Path(robik.__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    typed = {
        (f".{node.module}", alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == {(module, name) for module, names in robik._MODULES.items() for name in names}
    errors = {
        "AssemblyError",
        "ClipError",
        "FormatError",
        "MechanismError",
        "MissingExtraError",
        "RobikError",
        "ServoError",
    }
    assert {name for _, name in typed} | errors == set(robik.__all__)
    assert (Path(robik.__file__).parent / "py.typed").is_file()


def test_functions_of_the_front_door_hide_no_package_and_need_no_statistics() -> None:
    program = """
import sys
import robik
import robik.retargeting.seams as seams
from robik.feet import pinning
print(callable(robik.retarget), robik.retarget.__module__, seams.__name__, pinning.__name__)
print("scipy.stats" in sys.modules)  # which takes as long to import as all else
"""
    expected = "True robik.retargeting.retarget robik.retargeting.seams robik.feet.pinning\nFalse"
    assert run(program).stdout.strip() == expected


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'robik' has no attribute 'retarded'"):
        robik.retarded  # noqa: B018


def test_the_example_of_the_docstring() -> None:
    found = doctest.testmod(robik, verbose=False)
    assert found.attempted == 9
    assert found.failed == 0


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_python_example_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [example] = re.findall(r"(?ms)^```python\n(.*?)^```", (CHECKOUT / page).read_text(encoding="utf-8"))
    names: dict = {}
    exec(compile(example, page, "exec"), names)
    assert names["motion"].report.position_error.max() < 1e-6
    assert len(list(tmp_path.iterdir())) == 1


def test_a_robot_is_loaded_by_name_or_from_a_file(tmp_path: Path) -> None:
    boxer = robik.load("boxer")
    robik.save_robot(boxer, tmp_path / "mine.robik.json")
    assert robik.load(tmp_path / "mine.robik.json") == robik.load(str(tmp_path / "mine.robik.json")) == boxer
    assert not robik.load("walker").is_grounded
    assert robik.load("walker", base="fixed").is_grounded
    with pytest.raises(robik.RobikError, match=r"no robot 'boxr', nor such a file; is it boxer\? There are .*walker"):
        robik.load("boxr")
    with pytest.raises(robik.FormatError, match="it is a folder; name the robot's file in it"):
        robik.load(tmp_path)
    with pytest.raises(robik.FormatError, match="no robot file is named"):
        robik.load("")
    with pytest.raises(robik.FormatError, match=r"boxer\.step: not a kind of robot file"):
        robik.load("boxer.step")


def test_extras_are_those_of_the_package() -> None:
    extras = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert set(extras) - {"dev", "all"} == set(EXTRAS)
    assert extras["all"] == [f"robik[{','.join(EXTRAS)}]"]


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("import robik.servo.brands.dynamixel.driver", "servo"),
        ("import robik.servo.brands.dynamixel.port", "servo"),
        ("from robik.tracking import StateBasedTracker", "live"),
        ("from robik.formats.dae import read_dae; read_dae(None)", "formats"),
        ("import robik; robik.load('arm.xacro')", "formats"),
        ("import robik; robik.load('arm.usda')", "usd"),
        ("from robik.batch.cluster import rows_of; next(rows_of(None, [], 'x'))", "dask"),
        ("from robik.report.report_page import _figure; _figure([], None, 'rad')", "report"),
    ],
)
def test_without_an_extra_one_sentence_says_how_to_get_it(program: str, name: str, tmp_path: Path) -> None:
    blocked = [module for _, modules in EXTRAS.values() for module in modules]
    (tmp_path / "arm.xacro").write_text('<robot name="arm"/>')
    (tmp_path / "arm.usda").write_text("#usda 1.0")
    found = run(program, *blocked, folder=tmp_path)
    assert found.returncode == 1
    last = found.stderr.strip().splitlines()[-1]
    assert last.startswith("robik.errors.MissingExtraError: "), found.stderr
    assert last.endswith(f"needs the extra {name!r}: pip install '.[{name}]' in a checkout")


def test_other_missing_modules_stay_what_they_are() -> None:
    with pytest.raises(ModuleNotFoundError, match="nowhere"), extra("servo"):
        import nowhere  # noqa: F401


def test_the_command_says_it_in_one_line(tmp_path: Path) -> None:
    chain = Path(robik.__file__).parent / "data" / "robots" / "walker.servos.json"
    program = f"from robik.cli import main; sys.exit(main(['simulate-servos', '--servos', {str(chain)!r}]))"
    found = run(program, "serial", "dynamixel_sdk", folder=tmp_path)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == "robik: playing on servos needs the extra 'servo': pip install '.[servo]' in a checkout\n"


def test_solving_needs_no_extra(tmp_path: Path) -> None:
    times = np.arange(3) / 30
    hand = np.array([0.25, 0.0, 0.25]) + times[:, None] * [0.1, 0.0, 0.0]
    robik.save_clip(robik.TargetClip(times, {"hand": robik.Track(position=hand)}), tmp_path / "clip.npz")
    blocked = [module for _, modules in EXTRAS.values() for module in modules]
    program = """
from robik.cli import main
commands = ["inspect boxer", "solve boxer clip.npz -o motion.csv", "export motion.csv -o m.npz"]
sys.exit(any([main(command.split()) for command in commands]))
"""
    found = run(program, *blocked, folder=tmp_path)
    assert found.returncode == 0, found.stderr
    assert robik.load_motion(tmp_path / "m.npz").actuators == robik.load("boxer").actuators
