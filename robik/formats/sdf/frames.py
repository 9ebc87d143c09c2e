"""Models of an SDF file, nested and included ones unfolded, and where their frames are.

Every model, link, joint and frame is a frame of its own, by a name that starts with the names of the models around it
(`arm::hand`). The outermost model's things have their plain names; `__model__` is a model's own frame. A merged model's
things stand in the model around it.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

from ...errors import FormatError
from ...mechanism import WORLD, Pose
from ...mechanism.pose import IDENTITY
from ..imported import Notes, listed
from ..mesh_files import MeshFiles
from ..names import free_name
from ..xml_file import name_of, read_xml
from .elements import KINDS, MODEL, Node, join, node_of, pose_of, text_of, version_of

MOST = 5000  # links, joints and frames
MOST_FILES = 500
DEEPEST = 20
BEFORE = {"joint": ("link", "model"), "frame": ("link", "model", "joint")}  # kind → those whose names count first
TRUE = ("1", "true")


class Frames:
    """The frames of a file, by name."""

    def __init__(self, files: MeshFiles, notes: Notes) -> None:
        self.files, self.notes = files, notes
        self.nodes: dict[str, Node] = {}
        self.plugins: list[tuple[str, Element]] = []  # scope and element
        self.static: list[str] = []  # models that are held
        self._around: dict[str, str] = {}  # model → the model that it stands in
        self._merged: dict[str, list[str]] = {}
        self._own: dict[str, set[str]] = {}  # model → names of what stands in it by its own file's words
        self.renamed: dict[
            str, str
        ] = {}  # joint or frame that shares its name in the file with something else → that name
        self._not_included: list[str] = []
        self._placed: dict[str, Pose] = {}
        self._read = 0

    def add_file(self, path: Path) -> str:
        """Add what an SDF file holds."""
        root = read_xml(path)
        version = version_of(root)
        world = root.find("world")
        model = root.find("model")
        if model is not None:
            for other in root.findall("model")[1:]:
                self.notes.add(
                    "only the file's first model is read, so it was left out", f"model {other.get('name', '')!r}"
                )
            self._add_model(model, "", "", version, path, 0)
            return model.get("name") or path.stem
        if world is None:
            raise FormatError("it has no <model>; a robot needs one")
        self.nodes[MODEL] = Node(
            "model", world, scope="", pose=IDENTITY, relative_to="", attached_to="", version=version, file=path
        )
        self.add_content(world, "", version, path, 0)
        return world.get("name") or path.stem

    def _add_model(self, model: Element, scope: str, outer: str, version: tuple[int, int], file: Path, depth: int,
                   include: Element | None = None) -> None:  # fmt: skip
        """Add a model as scope.

        `include` is what includes it, whose words on pose, placement and whether it is static count first.
        """
        said = [e for e in (include, model) if e is not None]
        if next((text for e in said if (text := text_of(e, "static"))), "") in TRUE:
            self.static.append(scope)
        if scope:
            self._around[scope] = outer
        posed = next((e for e in said if e.find("pose") is not None), model)
        pose, relative_to = pose_of(posed, f"model {scope or model.get('name')!r}")
        placement = next((p for e in said if (p := text_of(e, "placement_frame") or e.get("placement_frame", ""))), "")
        node = Node(
            "model",
            model,
            scope=outer,
            pose=pose,
            relative_to=relative_to or (MODEL if scope else ""),
            attached_to="",
            version=version,
            file=file,
        )
        self.add(join(scope, MODEL), node)
        self.add_content(model, scope, version, file, depth)
        if placement:
            inside = self._chain(
                self.find(placement, scope, f"model {scope!r}: its placement_frame"), join(scope, MODEL)
            )
            self.nodes[join(scope, MODEL)] = Node(
                "model", model, scope=outer, pose=pose @ inside.inverse(), relative_to=node.relative_to,
                attached_to="", version=version, file=file,
            )  # fmt: skip

    def add_content(self, model: Element, scope: str, version: tuple[int, int], file: Path, depth: int) -> None:
        """Add what stands in a model."""
        if depth > DEEPEST:
            raise FormatError(f"its models are nested more than {DEEPEST} deep")
        self.plugins += [(scope, plugin) for plugin in model.findall("plugin")]
        self._own[scope] = {e.get("name") or text_of(e, "name") for e in model if e.tag in (*KINDS, "model", "include")}
        for element in model:
            if element.tag in KINDS:
                name = self._name(element, model, scope)
                self.add(name, node_of(element, name, scope, version, file))
            elif element.tag == "model":
                self._add_model(element, self._called(name_of(element), scope), scope, version, file, depth + 1)
            elif element.tag == "include":
                self._include(element, scope, file, depth)

    def _include(self, include: Element, scope: str, file: Path, depth: int) -> None:
        """Add a model of another file."""
        uri = text_of(include, "uri")
        self._read += 1
        if self._read > MOST_FILES:
            raise FormatError(f"it includes more than {MOST_FILES} files")
        try:
            path = self._file_of(uri, file)
        except FormatError as error:
            self.notes.add(f"a model was not included: {error}", uri)
            self._not_included.append(uri)
            return
        if depth > DEEPEST:
            raise FormatError(f"{uri!r} is included more than {DEEPEST} deep; does it include itself?")
        try:
            root = read_xml(path)
            version, model = version_of(root), root.find("model")
        except FormatError as error:
            raise FormatError(f"{uri!r}, which it includes: {error}") from None
        if model is None:
            raise FormatError(f"{uri!r}, which it includes, has no <model>")
        name = text_of(include, "name") or name_of(model)
        inner = self._called(name, scope)
        if include.get("merge") in TRUE:
            inner = join(scope, f"_merged__{name}__")
            self._merged.setdefault(scope, []).append(inner)
        self._add_model(model, inner, scope, version, path, depth + 1, include)

    def _file_of(self, uri: str, file: Path) -> Path:
        """Return the SDF file that a URI names: itself, or the one that the `model.config` of its folder names."""
        if "://" not in uri and not uri.startswith("/"):  # beside the file that says it, or a model's name alone
            beside = file.resolve().parent / uri
            uri = f"model://{uri}" if uri and "/" not in uri and not beside.exists() else beside.as_posix()
        base = uri.rstrip("/")
        model = base.removeprefix("model://").split("/")[0] if base.startswith("model://") else ""

        def there(name: str) -> Path | None:
            found, is_there = self.files.find(name)
            path = (self.files.folder / found).resolve()
            return path if is_there and (not model or model in path.parts) else None

        found = there(base) or there(f"{base}/model.sdf")
        config = there(f"{base}/model.config")
        if found is None and config is not None:
            names = [(said.text or "").strip() for said in reversed(read_xml(config).findall("sdf"))]
            found = next((path for name in names if (path := there(f"{base}/{name}"))), None)
        if found is None:
            raise FormatError("there is no such file")
        return found

    def _name(self, element: Element, model: Element, scope: str) -> str:
        """Return the full name of a link, joint or frame.

        Another than the file's where a thing that goes before it has that one.
        """
        said = name_of(element)
        name = self._called(said, scope)
        before = BEFORE.get(element.tag, ())
        if any(other.tag in before and other.get("name") == said for other in model):
            taken = {join(scope, own) for own in self._own[scope] if own} | self.nodes.keys()
            renamed = free_name(f"{name}_{element.tag}", taken)
            self.notes.add(
                f"a {element.tag} has the name of another thing in its model, so it is called {renamed!r}", name
            )
            self.renamed[renamed] = name
            return renamed
        return name

    def _called(self, name: str, scope: str) -> str:
        """Return the full name of something in a model.

        In a merged one, what it would be called in the model around that, if that is free.
        """
        around = self._around.get(scope, "")
        if scope in self._merged.get(around, ()) and name not in self._own[around]:
            full = self._called(name, around)
            if full not in self.nodes and join(full, MODEL) not in self.nodes:
                return full
        return join(scope, name)

    def add(self, name: str, node: Node) -> None:
        """Add a frame."""
        if name == WORLD and node.kind == "link":
            raise FormatError(f"a link is called {WORLD!r}, which is the name of the ground; give it another")
        if name in self.nodes:
            raise FormatError(
                f"two things are called {name!r}; the names of a model's links, joints and frames must differ"
            )
        if len(self.nodes) > MOST:
            raise FormatError(f"it has more than {MOST} links, joints and frames")
        self.nodes[name] = node

    # Looking up

    def of_kind(self, kind: str) -> dict[str, Node]:
        """Return the nodes of a kind (`link`, `joint` or `frame`) by full name."""
        return {name: node for name, node in self.nodes.items() if node.kind == kind}

    def find(self, name: str, scope: str, where: str) -> str:
        """Return the full name of whatever the file calls `name` in a model; raise FormatError if there is none.

        `scope` is the model's full name, empty for the world.
        """
        candidates = [join(scope, name), join(scope, f"{name}::{MODEL}")]
        candidates += [join(inner, end) for inner in self._merged.get(scope, []) for end in (name, f"{name}::{MODEL}")]
        found = next((full for full in candidates if full in self.nodes), None)
        around = self._around.get(scope, "")
        if found is None and scope in self._merged.get(around, ()):
            return self.find(name, around, where)
        if found is None:
            known = [n.removeprefix(f"{scope}::") for n in self.nodes if n.startswith(scope)]
            missing = f"; {listed(self._not_included)} could not be included" if self._not_included else ""
            raise FormatError(f"{where}: nothing is called {name!r}; there are {listed(known)}{missing}")
        return found

    def find_joint(self, name: str, scope: str, where: str) -> str:
        """Return the full name of the joint that the file calls `name` in a model; raise FormatError if none is."""
        full = join(scope, name)
        alike = (new for new, old in self.renamed.items() if old == full and self.nodes[new].kind == "joint")
        return next(alike, None) or self.find(name, scope, where)

    def links_in(self, scope: str) -> list[str]:
        """Return the full names of the links in a model and in those inside it; an empty scope is the world."""
        return [name for name, node in self.nodes.items() if node.kind == "link" and self._is_in(node.scope, scope)]

    def _is_in(self, scope: str, outer: str) -> bool:
        while scope != outer and scope:
            scope = self._around[scope]
        return scope == outer

    def body(self, name: str) -> str:
        """Return the full name of the link that a frame moves with, or WORLD; raise FormatError for a frame ring."""
        seen: list[str] = []
        while self.nodes[name].kind != "link":
            node = self.nodes[name]
            if name in seen:
                raise FormatError(f"{listed(seen)}: attached to each other in a ring")
            seen.append(name)
            if node.kind == "model":
                if node.element.tag == "world":
                    return WORLD
                name = self._canonical(name.removesuffix(MODEL).removesuffix("::"), node)
            elif node.attached_to == WORLD:
                return WORLD
            else:
                name = self.find(node.attached_to, node.scope, f"{node.kind} {name!r}")
        return name

    def _canonical(self, scope: str, node: Node) -> str:
        """Return the link that stands for a model."""
        said = node.element.get("canonical_link")
        if said:
            return self.find(said, scope, f"model {scope!r}: its canonical link")
        links = self.links_in(scope)
        if not links:
            raise FormatError(f"model {scope!r} has no link, so nothing can be tied to it")
        return links[0]

    def placed(self, name: str) -> Pose:
        """Return a frame's pose [m] in the world, as the file has it; raise FormatError for a ring of poses."""
        if name not in self._placed:
            way: list[str] = []
            while name not in self._placed:
                if name in way:
                    raise FormatError(f"{listed(way)}: their poses are relative to each other in a ring")
                way.append(name)
                to = self._reference(name)
                if to is None:
                    break
                name = to
            for each in reversed(way):
                to = self._reference(each)
                pose = self.nodes[each].pose
                self._placed[each] = pose if to is None else self._placed[to] @ pose
            name = way[0]
        return self._placed[name]

    def _chain(self, name: str, end: str) -> Pose:
        """Return a frame's pose in a frame that its pose is relative to, maybe by others between."""
        pose, seen = IDENTITY, set()
        while name != end:
            to = self._reference(name)
            if to is None or name in seen:
                raise FormatError(f"{name!r} is not placed inside its model")
            seen.add(name)
            pose, name = self.nodes[name].pose @ pose, to
        return pose

    def _reference(self, name: str) -> str | None:
        """Return what a frame's pose is relative to; None for the world."""
        node = self.nodes[name]
        if not node.relative_to or node.relative_to == WORLD:
            return None
        found = self.find(node.relative_to, node.scope, f"{node.kind} {name!r}: its pose is relative to a frame")
        return None if found == name else found
