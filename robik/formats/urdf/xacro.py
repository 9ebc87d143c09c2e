"""URDF robots written in xacro: `*.xacro` (docs/robot-formats.md).

Macros and properties are the package xacro's. It computes what stands in `${}` by Python's `eval`, behind a check that
does not hold (nested code is not looked at), reads any file and asks the environment. So each import works on a copy of
the package in which all that reaches out is replaced: expressions by `expressions`, and every file by a contained one.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.dom import minidom
from xml.parsers.expat import ExpatError

from ...errors import FormatError
from ...extras import extra, missing
from ...files import check_file
from ..imported import Imported, Notes
from ..mesh_files import MeshFiles
from ..xml_file import check_xml
from ..yaml_file import Loader, read_yaml
from .expressions import FUNCTIONS, MATHEMATICS, Namespace, evaluate
from .loops import read_beside
from .reader import from_xml

with extra("formats"):
    import yaml

VERSION = "2.1.1"  # of the package; what is replaced in it is that version's
PACKAGE = "package://"
MOST_MACROS = 10_000  # calls
DEEPEST = 50  # files included by files
MOST_TEXT = 1_000_000  # characters of a value
MOST_BYTES = 50_000_000  # of the robot that comes out, and of the files that go in
# What the package lets through where a file is not what it expects.
RAISED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ExpatError,
    LookupError,
    NameError,
    RuntimeError,
    TypeError,
    ValueError,
)
UNITS = {
    "!radians": 1.0,
    "!degrees": MATHEMATICS["pi"] / 180,
    "!meters": 1.0,
    "!millimeters": 1e-3,
    "!foot": 0.3048,
    "!inches": 0.0254,
}


def load(path: Path, packages: Iterable[Path] = (), arguments: Mapping[str, str] | None = None) -> Imported:
    """Return the robot in a xacro file.

    Packages are folders of ROS packages for `$(find NAME)` and `package://`, or folders that hold such. Arguments
    that are not given have their defaults.
    """
    packages, notes = list(packages), Notes()
    try:
        root = _Expansion(path, packages, notes, arguments or {}).root()
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    name = path.stem if path.suffix.lower() == ".xacro" else path.name
    beside = read_beside(path.with_name(name if name.lower().endswith(".urdf") else f"{name}.urdf"))
    return from_xml(root, path, packages, beside, notes)


class _Expansion:
    """One file on its way to a URDF."""

    def __init__(self, path: Path, packages: list[Path], notes: Notes, arguments: Mapping[str, str]) -> None:
        self.path, self.notes, self.arguments = path.resolve(), notes, arguments
        self.asked: dict[str, None] = {}  # which arguments the file has, in its order
        self.files = MeshFiles(path, packages)
        self.xacro = self._contained_package()
        self.calls = self.bytes = 0

    def root(self) -> ElementTree.Element:
        """Return the root element of the URDF."""
        check_file(self.path)
        try:
            document = self.xacro.process_file(str(self.path), mappings=dict(self.arguments), verbosity=0)
            text = document.toxml().replace(f"file://{PACKAGE}", PACKAGE)
        except RecursionError:
            raise FormatError("its macros or properties are nested too deeply; do they call themselves?") from None
        except FormatError:
            raise
        except self.xacro.XacroException as error:
            raise FormatError(self._sentence(error)) from None
        except RAISED as error:
            raise FormatError(
                f"its macros cannot be expanded: {' '.join(str(error).split()) or type(error).__name__}"
            ) from None
        if unknown := [name for name in self.arguments if name not in self.asked]:
            known = f"it has {', '.join(self.asked)}" if self.asked else "it has none"
            raise FormatError(f"it has no argument {', '.join(map(repr, unknown))}; {known}")
        if len(text) > MOST_BYTES:
            raise FormatError(f"its macros expand to more than {MOST_BYTES // 1_000_000} MB")
        try:
            return ElementTree.fromstring(text)
        except (ElementTree.ParseError, ValueError) as error:
            raise FormatError(f"its macros expand to what is not XML: {error}") from None

    def _sentence(self, error: Exception) -> str:
        """Return what the package says, in one line; ours where it wraps one."""
        inner = error
        while isinstance(inner, self.xacro.XacroException) and isinstance(inner.exc, Exception):
            inner = inner.exc
        return " ".join((str(inner) or type(inner).__name__).split())[:400]

    def _contained_package(self) -> ModuleType:
        """Return a copy of the package with nothing in it that reaches out."""
        try:
            found = importlib.metadata.version("xacro")
        except importlib.metadata.PackageNotFoundError:
            raise missing("formats") from None
        if found != VERSION:
            raise FormatError(
                f"xacro files are read by the package xacro {VERSION}, here is {found}; pip install xacro=={VERSION}"
            )
        spec = importlib.util.find_spec("xacro")
        if spec is None or spec.loader is None:
            raise FormatError(f"the package xacro cannot be loaded; pip install xacro=={VERSION}")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        replaced = {
            "safe_eval": lambda text, names, _=None: evaluate(text, names), "eval_extension": self._extension,
            "parse": self._parse,
            "get_include_files": self._included, "load_yaml": self._yaml, **self._watched(module),
            "_global_symbols": self._symbols(module), "warning": self._warning, "error": self._warning,
            "message": self._warning,
            "print_location": lambda *_: None, "glob": None, "os": _Os, "sys": None,
        }  # fmt: skip
        absent = [name for name in replaced if not hasattr(module, name)]
        if absent:
            raise FormatError(
                f"the package xacro is not what it should be ({', '.join(absent)} missing); pip install"
                f" xacro=={VERSION}"
            )
        vars(module).update(
            replaced, open=None, eval=None, compile=None, exec=None
        )  # what it finds before Python's own
        return module

    def _watched(self, module: ModuleType) -> dict[str, Any]:
        """Return what the package does itself, but not without end, and with our words on arguments."""
        expand, compute, check = module.handle_macro_call, module.eval_text, module.check_attrs

        def counted(node: Any, macros: Any, symbols: Any) -> Any:
            self.calls += 1
            if self.calls > MOST_MACROS:
                raise FormatError(f"its macros are called more than {MOST_MACROS} times")
            return expand(node, macros, symbols)

        def bounded(text: str, symbols: Any) -> Any:
            value = compute(text, symbols)
            if isinstance(value, str) and len(value) > MOST_TEXT:
                raise FormatError(f"a value of it is longer than {MOST_TEXT} characters")
            return value

        def attributes(node: Any, required: list[str], optional: list[str]) -> Any:
            if node.tagName == "xacro:arg" and (name := node.getAttribute("name")):
                self.asked[name] = None
                if name in self.arguments:
                    return check(node, ["name"], ["default"])
                if not node.hasAttribute("default"):
                    raise FormatError(_no_default(name))
            return check(node, required, optional)

        return {"handle_macro_call": counted, "eval_text": bounded, "check_attrs": attributes}

    def _symbols(self, module: ModuleType) -> dict[str, Any]:
        """Return what expressions may name beside the file's own properties."""

        def say(*_: Any) -> str:
            return ""

        def fatal(*said: Any) -> None:
            raise FormatError(" ".join(map(str, said)))

        own = {"load_yaml": self._yaml, "abs_filename": self._absolute, "arg": self._argument, "message": say,
               "warning": say, "error": say,
               "fatal": fatal}  # fmt: skip
        python = {"True": True, "False": False, **FUNCTIONS}
        spaces = {"math": Namespace(MATHEMATICS), "python": Namespace(python), "xacro": Namespace(own)}
        return {**MATHEMATICS, **python, "load_yaml": self._yaml, **spaces}

    def _warning(self, *said: Any, **_: Any) -> None:
        self.notes.add(" ".join(" ".join(map(str, said)).split()))

    # Files

    def _absolute(self, name: str) -> str:
        """Return a file's path, if named from the file that is read, or by a URI."""
        if "://" in name:
            if name.startswith(PACKAGE):
                self.files.package(name.removeprefix(PACKAGE).partition("/")[0])  # raises where it is not here
            return str(self.files.folder / self.files.find(name)[0])
        here = Path(self.xacro.filestack[-1]).parent
        return str(here / name)

    def _file(self, name: str) -> Path:
        """Return a file that may be read."""
        found, is_there = self.files.find(Path(self._absolute(name)).as_posix())
        if not is_there:
            raise FileNotFoundError(f"there is no file {name!r}")
        file = self.files.folder / found
        self.bytes += file.stat().st_size
        if self.bytes > MOST_BYTES:
            raise FormatError(f"its files have more than {MOST_BYTES // 1_000_000} MB")
        return file

    def _parse(self, _: Any, name: str) -> minidom.Document:
        if len(self.xacro.filestack) > DEEPEST:
            raise FormatError(f"its files include each other more than {DEEPEST} deep")
        try:
            file = self._file(name)
        except FileNotFoundError as error:
            self.xacro.filestack.pop()  # as the package does, for files that may be missing
            raise self.xacro.XacroException(exc=error) from None
        try:
            check_xml(file)  # refuses entities
            return minidom.parse(str(file))
        except FormatError as error:
            raise FormatError(f"{Path(name).name}: {error}") from None

    def _included(self, spec: str, symbols: Any) -> Iterator[str]:
        name = self.xacro.eval_text(spec, symbols)
        if any(sign in name for sign in "*?["):
            raise FormatError(f"it includes {name!r}; files are included by their names only")
        yield self._absolute(name)

    def _yaml(self, name: str) -> Any:
        file = self._file(name)
        return self.xacro.YamlListWrapper.wrap(read_yaml(file, _UnitLoader))

    def _extension(self, text: str) -> str:
        """Return what stands in `$()`."""
        command, *words = text[2:-1].split()
        if command == "find" and len(words) == 1:
            return self._package(words[0])
        if command == "arg" and len(words) == 1:
            return self._argument(words[0])
        if command == "dirname":
            return str(Path(self.xacro.filestack[-1]).parent)
        if command == "cwd":
            return str(self.path.parent)
        if command == "optenv" and words:  # the environment is not asked
            return " ".join(words[1:])
        if command == "eval":
            arguments = {name: _typed(said) for name, said in self.xacro.substitution_args_context["arg"].items()}
            names = {**arguments, "true": True, "false": False, **self.xacro._global_symbols}
            self.asked |= dict.fromkeys(arguments.keys() & set(re.findall(r"\w+", text)))
            return str(evaluate(text[2:-1].strip().removeprefix("eval"), names))
        raise FormatError(f"{text!r} is not computed; $(find PACKAGE), $(arg NAME) and $(dirname) are")

    def _package(self, name: str) -> str:
        """Return a package's folder; of one that is not here a URI, since plugins name some that no robot needs."""
        if self.files.holds(name):
            return str(self.files.package(name))
        self.notes.add(f"package {name!r} is not here, so its files are left out; name its folder at import")
        return PACKAGE + name

    def _argument(self, name: str) -> str:
        arguments: Mapping[str, str] = self.xacro.substitution_args_context["arg"]
        self.asked[name] = None
        if name not in arguments:
            raise FormatError(_no_default(name))
        return arguments[name]


def _no_default(name: str) -> str:
    return (
        f"its argument {name!r} has no default; give it at import, or import the URDF that `xacro FILE {name}:=…` makes"
        " of it"
    )


def _typed(text: str) -> int | float | bool | str:
    """Return an argument as the number or truth that it says."""
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return {"true": True, "false": False}.get(text.lower(), text)


class _Os:
    """The functions of `os` that the package needs."""

    linesep = "\n"
    curdir = "."


class _UnitLoader(Loader):
    """Plain YAML, with the units that xacro knows."""


def _with_unit(loader: yaml.SafeLoader, suffix: str, node: yaml.ScalarNode) -> float:
    tag = f"!{suffix}"
    if tag not in UNITS:
        raise yaml.constructor.ConstructorError(None, None, f"unknown unit {tag}", node.start_mark)
    return float(evaluate(str(loader.construct_scalar(node)), {**MATHEMATICS})) * UNITS[tag]


_UnitLoader.add_multi_constructor("!", _with_unit)
