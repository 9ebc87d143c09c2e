"""Opening USD files.

They are checked first, so that nothing outside the robot's folders is read and no reference multiplies without end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import FormatError
from ...extras import extra
from ...files import check_file
from ..mesh_files import MeshFiles

if TYPE_CHECKING:
    from pxr import Sdf, Usd

EXTENSIONS = (".usd", ".usda", ".usdc", ".usdz")
MOST = 1_000_000_000  # bytes
MOST_PRIMS = 1_000_000


def open_stage(path: Path, packages: Iterable[Path] = ()) -> Usd.Stage:
    """Return the composed content of a USD file; packages are further folders that its references may lead to.

    A FormatError leaves the file's name to the caller.
    """
    with extra("usd"):
        from pxr import Sdf, Usd
    check_file(path)
    with pxr_errors():
        layer = Sdf.Layer.FindOrOpen(str(path.resolve()))
        if layer is None:
            raise FormatError("it cannot be opened as USD")
        _Layers(path, packages).check(layer)
        stage = Usd.Stage.Open(layer)
        stage.Reload()  # what pxr remembers of files that have changed since
        return stage


@contextmanager
def pxr_errors() -> Iterator[None]:
    """Turn what pxr raises into a `FormatError`."""
    try:
        yield
    except UnicodeDecodeError:
        raise FormatError("not USD that can be read: it has names that are not text") from None
    except RuntimeError as error:  # the base of pxr's own; of a class that is there only once pxr is
        if type(error).__module__.partition(".")[0] != "pxr":
            raise
        raise FormatError(f"not USD that can be read: {_plain(error)}") from None


def _plain(error: Exception) -> str:
    """Return what pxr says, without the places in its own source."""
    said = " ".join(str(error).split()).partition(" : ")[2].strip("'") or type(error).__name__
    place = re.search(r":(\d+):(\d+): ", said)
    return f"line {place[1]}, column {place[2]}" if place else said[:200]


class _Layers:
    """The files that a stage is composed of, looked at one by one before they are composed."""

    def __init__(self, path: Path, packages: Iterable[Path]) -> None:
        self.allowed = MeshFiles(path, packages).allowed
        self.leads_to: dict[tuple[str, str], Sdf.Layer | None] = {}
        self.checked: set[str] = set()
        self.counts: dict[tuple[str, Any], int] = {}

    def check(self, root: Sdf.Layer) -> None:
        """Raise a `FormatError` if something may not be read, or if there is too much of it."""
        from pxr import Sdf

        waiting, size = [root], 0
        while waiting:
            layer = waiting.pop()
            if layer.identifier in self.checked:
                continue
            self.checked.add(layer.identifier)
            file = _file(layer)
            if file.is_file():
                size += file.stat().st_size
            if size > MOST:
                raise FormatError(f"larger than {MOST // 1_000_000} MB together with what it refers to")
            for name in filter(None, layer.GetCompositionAssetDependencies()):
                found = self._open(layer, name)
                self.leads_to[layer.identifier, name] = found
                if found is not None:
                    waiting.append(found)
            self._check_clips(layer)
        if self._count(root, Sdf.Path.absoluteRootPath) > MOST_PRIMS:
            raise FormatError(f"its references unfold to more than {MOST_PRIMS} prims")

    def _open(self, layer: Sdf.Layer, name: str) -> Sdf.Layer | None:
        """Return what a layer refers to; None where it is not there, which USD forgives."""
        from pxr import Ar, Sdf

        _check_local(name)
        asset, _ = Sdf.Layer.SplitIdentifier(Sdf.ComputeAssetPathRelativeToLayer(layer, name))
        resolved = str(Ar.GetResolver().Resolve(asset))
        if not resolved:
            return None
        if ":SDF_FORMAT_ARGS:" in name or not resolved.rstrip("]").lower().endswith(EXTENSIONS):
            raise FormatError(f"it refers to {name!r}; only references to {', '.join(EXTENSIONS)} files are followed")
        file = Path(Ar.SplitPackageRelativePathOuter(resolved)[0])
        self._check_place(file, name)
        try:
            check_file(file)
        except FormatError as error:
            raise FormatError(f"it refers to {name!r}: {error}") from None
        return Sdf.Layer.FindOrOpen(asset)

    def _check_clips(self, layer: Sdf.Layer) -> None:
        """Check value clips.

        They compose nothing, and only an animation uses them, but USD opens their files all the same.
        """
        from pxr import Sdf

        prims: list[Any] = []
        layer.Traverse(
            Sdf.Path.absoluteRootPath, lambda path: prims.append(layer.GetPrimAtPath(path)) if _is_prim(path) else None
        )
        for key, value in [
            item
            for prim in prims
            if prim is not None and prim.HasInfo("clips")
            for item in _leaves(prim.GetInfo("clips"))
        ]:
            if isinstance(value, Sdf.AssetPath):
                self._open(layer, value.path)
            elif isinstance(value, Sdf.AssetPathArray):
                for asset in value:
                    self._open(layer, asset.path)
            elif key == "templateAssetPath" and isinstance(value, str):
                _check_local(value)
                self._check_place(_file(layer).parent / value, value)

    def _check_place(self, file: Path, name: str) -> None:
        if not any(file.resolve().is_relative_to(folder) for folder in self.allowed):
            raise FormatError(
                f"it refers to {name!r}, which leads out of its folder; copy it there, or name its folder at import"
            )

    def _count(self, layer: Sdf.Layer, path: Sdf.Path, above: tuple[tuple[str, Any], ...] = ()) -> int:
        """Prims below a path of a layer, references unfolded.

        A reference to itself counts nothing: USD leaves it out.
        """
        key = (layer.identifier, path)
        if key in above:
            return 0
        if key not in self.counts:
            if len(above) > 200:
                raise FormatError("its references are nested too deeply")
            total = 0
            prims: list[Any] = []
            layer.Traverse(path, lambda p: prims.append(p) if _is_prim(p) else None)
            for prim in prims:
                total += 1
                for other, goal in self._arcs(layer, prim):
                    total += self._count(other, goal, (*above, key))
            if path.IsAbsoluteRootPath():
                for name in layer.subLayerPaths:
                    other = self.leads_to.get((layer.identifier, name))
                    if other is not None:
                        total += self._count(other, path, (*above, key))
            self.counts[key] = min(total, 2 * MOST_PRIMS)
        return self.counts[key]

    def _arcs(self, layer: Sdf.Layer, path: Sdf.Path) -> list[tuple[Sdf.Layer, Sdf.Path]]:
        """Return where a prim's content comes from beside its own lines."""
        spec = layer.GetPrimAtPath(path)
        if spec is None:
            return []
        arcs = [
            (layer, goal)
            for edits in (spec.inheritPathList, spec.specializesList)
            for goal in edits.GetAddedOrExplicitItems()
        ]
        for edits in (spec.referenceList, spec.payloadList):
            for item in edits.GetAddedOrExplicitItems():
                other = self.leads_to.get((layer.identifier, item.assetPath)) if item.assetPath else layer
                if other is not None:
                    goal = item.primPath
                    if goal.isEmpty and other.defaultPrim:
                        goal = path.absoluteRootPath.AppendPath(other.defaultPrim.lstrip("/"))
                    if not goal.isEmpty:
                        arcs.append((other, goal))
        return arcs


def _check_local(name: str) -> None:
    if name.startswith(("//", "\\\\", "`")):
        where = "computed" if name[0] == "`" else "on another computer"
        raise FormatError(f"it refers to {name!r}, which is {where}; name a file beside it")


def _is_prim(path: Sdf.Path) -> bool:
    return path.IsPrimPath() or path.IsPrimVariantSelectionPath()


def _leaves(values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Keys and values of a dictionary and those inside it."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _leaves(value)
        else:
            yield key, value


def _file(layer: Sdf.Layer) -> Path:
    from pxr import Ar

    return Path(Ar.SplitPackageRelativePathOuter(layer.realPath)[0]).resolve()
