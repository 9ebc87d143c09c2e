"""Files that a mesh file names beside itself: materials, buffers, pictures.

They are found so that none is read that lies elsewhere.
"""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

from ..errors import FormatError

GLB = b"glTF"
LONGEST = 50_000_000  # bytes of a glTF's JSON


def check_references(path: Path, allowed: Iterable[Path]) -> None:
    """Check that all files that a mesh file names lie in its own folder or in those allowed.

    Else raise FormatError, which leaves the mesh file's name to the caller.
    """
    readers = {".obj": _obj, ".gltf": _gltf, ".glb": _gltf}
    folders = [path.resolve().parent, *(Path(folder).resolve() for folder in allowed)]
    for name in readers.get(path.suffix.lower(), lambda _path: iter(()))(path):
        if not is_inside(path.parent / name, folders):
            raise FormatError(f"it names {name!r}, which leads out of the robot's folder; copy that beside the mesh")


def is_inside(path: Path, folders: Iterable[Path]) -> bool:
    """Return whether a path lies in one of these folders, links followed."""
    try:
        found = path.resolve()
    except (OSError, ValueError, RuntimeError):  # no name that this system can have, links in a ring
        return False
    return any(found.is_relative_to(folder) for folder in folders)


def _obj(path: Path) -> Iterator[str]:
    """Return the files that an OBJ file names.

    Its material libraries, also the one of its own name, which Blender looks for too, and all that may be a picture in
    them.

    Blender takes lines that go on after a backslash as one, and quotes away.
    """
    libraries = [path.stem + ".mtl", *(_unquoted(rest) for rest in _lines(path, rb"mtllib"))]
    for name in libraries:
        yield name
        if (path.parent / name).is_file():
            for rest in _lines(path.parent / name, rb"(?:map_\w+|bump|disp|decal|refl|norm)"):
                words = rest.split()
                yield from (_unquoted(" ".join(words[k:])) for k in range(len(words)))  # wherever its options end


def _unquoted(name: str) -> str:
    return name.strip().strip("\"'").replace("\\", "/")


def _lines(path: Path, word: bytes) -> list[str]:
    """Return what follows a word at the beginning of lines."""
    if not path.stat().st_size:
        return []
    pattern = re.compile(word + rb"[ \t]((?:[^\n\\]|\\\r?\n|\\)*)")  # begins with the word, which a search is quick for
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        places = ((each, content.rfind(b"\n", 0, each.start()) + 1) for each in pattern.finditer(content))
        found = [each[1] for each, line in places if not content[line : each.start()].strip()]
    return [re.sub(rb"\\\r?\n", b" ", each).decode("utf-8", errors="replace") for each in found]


def _gltf(path: Path) -> Iterator[str]:
    """Its buffers and pictures that are files."""
    with open(path, "rb") as file:
        head = file.read(20)
        length = int.from_bytes(head[12:16], "little") if head[:4] == GLB else path.stat().st_size
        if length > LONGEST:
            raise FormatError(f"its description is larger than {LONGEST // 1_000_000} MB")
        content = file.read(length) if head[:4] == GLB else head + file.read()
    try:
        described = json.loads(content)
        rows = [row for kind in ("buffers", "images") for row in described.get(kind, ())]
        uris = [row["uri"] for row in rows if isinstance(row.get("uri", 0), str)]
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise FormatError("it is no glTF that can be read") from None
    yield from (unquote(uri).replace("\\", "/") for uri in uris if not uri.startswith("data:"))
