"""Anatomy of a character: which bone is which part of the body, by names and by shape.

Names say where limbs are, the tree of bones says where they bend: thigh and shin are the two longest following bones
of a leg, whatever they are called (`LeftLeg` is a thigh in SOMA, a shin in Mixamo). Where names say nothing, legs are
the two equal chains that reach the ground, arms the longest equal chains above them, and the head is the highest end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .names import FRONT, SIDED, WORD, candidates_of, read_name
from .skeleton import Skeleton
from .tree import NEAR_GROUND, PairedChains, Tree, hinge_in, paired_limbs

LEG, ARM, FRONT_LEG = "leg", "arm", "front leg"
PARTS_OF = {  # of a limb: upper part, lower part, end
    LEG: ("thigh", "shin", "foot"),
    ARM: ("upper arm", "forearm", "hand"),
    FRONT_LEG: ("front thigh", "front shin", "front foot"),
}
LOW = 0.2  # of a leg's height: a quadruped's foot begins below it
STRETCHED = 0.5  # of a leg's length: a leg whose hip is higher above its lowest point stands, or swings
SWINGING = 0.25  # quantile over the poses: a foot that swings is turned up or down


@dataclass(frozen=True, kw_only=True)
class Limb:
    """A leg or an arm.

    Attributes:
        kind: `LEG`, `ARM` or `FRONT_LEG`.
        side: "l" or "r"; empty where it is not known.
        upper, lower, end: names of thigh, shin and foot, or of upper arm, forearm and hand; the end is empty where
            there is none.
        beyond: name of the toe, or of what else follows the end; empty where there is none.
    """

    kind: str
    side: str
    upper: str
    lower: str
    end: str = ""
    beyond: str = ""


@dataclass(frozen=True)
class Anatomy:
    """Parts of a body.

    Attributes:
        parts: name by part and side, as `("foot", "l")`; the side of hips, spine, chest, neck and head is empty.
        limbs: those that are known from root to end.
    """

    parts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    limbs: tuple[Limb, ...] = ()

    def limb(self, kind: str, side: str) -> Limb | None:
        """Return a limb by its kind (`leg`, `arm` or `front leg`) and side (`l` or `r`); None where there is none."""
        return next((limb for limb in self.limbs if (limb.kind, limb.side) == (kind, side)), None)

    def part(self, name: str) -> tuple[str, str]:
        """Return part and side of a bone; both empty for one that is no part."""
        return next((part for part, bone in self.parts.items() if bone == name), ("", ""))

    @property
    def is_quadruped(self) -> bool:
        """Return whether it stands on front legs too."""
        return any(limb.kind == FRONT_LEG for limb in self.limbs)


def read_anatomy(skeleton: Skeleton, poses: np.ndarray | None = None) -> Anatomy:
    """Return the parts of a character's body.

    `poses` (P, N, 3) of its bones in some of its motion [m] tell feet from heads where the rest pose is no standing
    one.
    """
    named = named_parts(skeleton.names)
    tree = _bones_of_the_body(skeleton, poses)
    ends = _limb_ends(tree, named)
    biped = all(kind != FRONT_LEG for kind, _ in ends)
    found = (_limb(tree, kind, side, end, named, biped) for (kind, side), end in ends.items())
    limbs = [limb for limb in found if limb is not None]
    parts = dict(named)
    for limb in limbs:
        for part, name in zip(PARTS_OF[limb.kind], (limb.upper, limb.lower, limb.end), strict=True):
            parts[part, limb.side] = name or parts.get((part, limb.side), "")
        if limb.kind == LEG and limb.beyond:
            parts["toe", limb.side] = limb.beyond
    in_limbs = {name for limb in limbs for name in (limb.upper, limb.lower, limb.end)}
    limb_parts = {part for names in PARTS_OF.values() for part in names}
    limb_parts -= {*PARTS_OF[ARM]} if any(limb.kind == FRONT_LEG for limb in limbs) else set()
    parts = {
        key: name for key, name in parts.items() if name not in in_limbs or key[0] in limb_parts
    }  # SMPL's shoulder is an upper arm
    parts |= _trunk(tree, limbs, named)
    return Anatomy({part: name for part, name in parts.items() if name}, tuple(limbs))


def named_parts(names: Iterable[str]) -> dict[tuple[str, str], str]:
    """Return the bone of each (part, side) of a body by names alone."""
    best: dict[tuple[str, str], tuple[tuple[float, ...], str]] = {}
    names = list(names)
    rigify = any(name.startswith("DEF-") for name in names)
    for name in names:
        said = read_name(name)
        if said is None:
            continue
        for rank, part in candidates_of(said):
            if part in SIDED and not said.side:
                continue
            side = said.side if part in SIDED else ""
            if part not in SIDED and said.side:
                continue
            key = (said.steering + 2.0 * (rigify and not name.startswith("DEF-")), rank, float(len(name)))
            if (part, side) not in best or key < best[part, side][0]:
                best[part, side] = (key, name)
    return {part: name for part, (_, name) in best.items()}


def _bones_of_the_body(skeleton: Skeleton, poses: np.ndarray | None) -> Tree:
    """Return the tree of bones without controls, twists and ends."""
    points = (
        skeleton.positions[None]
        if poses is None or not len(poses)
        else np.concatenate([skeleton.positions[None], poses])
    )
    tree = Tree(skeleton.names, tuple(skeleton.parents.tolist()), points, skeleton.tips)
    deforming = any(name.startswith("DEF-") for name in skeleton.names)
    said = [read_name(name) for name in skeleton.names]
    kept = [k for k, name in enumerate(said) if name is not None and not name.steering and not _goes_on(skeleton, k)]
    if deforming:
        kept = [k for k in kept if skeleton.names[k].startswith("DEF-")]
    return tree.only(kept)


def _goes_on(skeleton: Skeleton, bone: int) -> bool:
    """Return whether a bone is the second part of its parent: `DEF-thigh.L.001`."""
    parent = int(skeleton.parents[bone])
    stem, dot, number = skeleton.names[bone].rpartition(".")
    return (
        parent >= 0 and bool(dot) and number.isdigit() and skeleton.names[parent] == stem and stem[-2:] in (".L", ".R")
    )


def _limb_ends(tree: Tree, named: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], tuple[int | None, int]]:
    """Return for each kind and side of a limb the node that it hangs on and the leaf at its end."""
    index = {name: k for k, name in enumerate(tree.names)}
    ends: dict[tuple[str, str], tuple[int | None, int]] = {}
    for kind in (LEG, ARM):
        tops = {
            side: _top_of(tree, [index[n] for p in PARTS_OF[kind] if (n := named.get((p, side))) in index])
            for side in ("l", "r")
        }
        if tops["l"] is not None and tops["r"] is not None:
            leaves = {side: tree.deepest(top) for side, top in tops.items() if top is not None}
            fork = tree.fork(leaves["l"], leaves["r"])
            told = FRONT_LEG if kind == ARM and _stands_on(tree, leaves.values()) else kind  # a cat's arms are legs
            ends |= {(told, side): (fork, leaf) for side, leaf in leaves.items()}
    ends |= _ends_by_shape(tree, ends)
    return ends


def _stands_on(tree: Tree, leaves: Iterable[int]) -> bool:
    """Return whether limbs end near the ground in the rest pose."""
    heights = tree.points[0, :, 2]
    return max(heights[leaf] for leaf in leaves) - heights.min() <= NEAR_GROUND * float(np.ptp(heights))


def _top_of(tree: Tree, nodes: list[int]) -> int | None:
    """Return the uppermost of some nodes of one limb; None where they are not in one chain."""
    if not nodes:
        return None
    ways = sorted((tree.path(node) for node in nodes), key=len)
    return ways[0][-1] if all(ways[0][-1] in way for way in ways) else None


def _ends_by_shape(
    tree: Tree, known: Mapping[tuple[str, str], tuple[int | None, int]]
) -> dict[tuple[str, str], tuple[int | None, int]]:
    """Return the limbs that names do not tell: equal chains, the lowest legs, the longest others front legs or arms."""
    taken = {
        node
        for fork, leaf in known.values()
        for node in tree.path(leaf)
        if fork is None or node in tree.below(fork, leaf)
    }
    pairs = [pair for pair in paired_limbs(tree) if not taken & {*pair.chains[0], *pair.chains[1]}]
    height = float(np.ptp(tree.heights)) if len(tree.names) else 0.0
    found: dict[tuple[str, str], tuple[int | None, int]] = {}
    if (LEG, "l") not in known and pairs:
        legs = _hind(tree, [pair for pair in pairs if pair.low <= NEAR_GROUND * height] or pairs[:1])
        pairs = [pair for pair in pairs if pair is not legs]
        found |= _sided(tree, LEG, legs)
    if not {(ARM, "l"), (FRONT_LEG, "l")} & {*known} and pairs:
        arms = max(pairs, key=lambda pair: pair.length)
        standing = [pair for pair in pairs if pair.low <= NEAR_GROUND * height]
        if standing:
            arms = max(standing, key=lambda pair: pair.length)
        found |= _sided(tree, FRONT_LEG if standing else ARM, arms)
    return found


def _hind(tree: Tree, low: list[PairedChains]) -> PairedChains:
    """Return which of the pairs that reach the ground are hind legs.

    A quadruped's front legs are farther from the root, or called so.
    """
    front = [
        pair for pair in low if any(FRONT & set(map(str.lower, WORD.findall(tree.names[n]))) for n in pair.chains[0])
    ]
    rest = [pair for pair in low if pair not in front] or low
    return min(rest, key=lambda pair: (len(tree.path(pair.fork)), pair.low))


def _sided(tree: Tree, kind: str, pair: PairedChains) -> dict[tuple[str, str], tuple[int | None, int]]:
    """Return the chains of a pair by their sides: as names say, else by where they lie as the body faces its toes."""
    said = [
        next((n.side for node in chain if (n := read_name(tree.names[node])) and n.side), "") for chain in pair.chains
    ]
    if set(said) != {"l", "r"}:
        forward = sum(_ahead(tree, chain) for chain in pair.chains) * [1.0, 1.0, 0.0]
        across = (tree.points[:, pair.chains[0][0]] - tree.points[:, pair.chains[1][0]]) * [1.0, 1.0, 0.0]
        left = float((np.cross([0.0, 0.0, 1.0], forward) * across).sum())
        said = ["l", "r"] if (left if abs(left) > 1e-9 else float(across[:, 0].sum())) > 0 else ["r", "l"]
    return {(kind, side): (pair.fork, chain[-1]) for side, chain in zip(said, pair.chains, strict=True)}


def _ahead(tree: Tree, chain: Sequence[int]) -> np.ndarray:
    """Return where a foot points in every pose (P, 3): from the ankle to its end.

    In the rest pose alone where that is no node [m].
    """
    ankle = min(hinge_in(tree, chain) + 1, len(chain) - 1)
    if ankle < len(chain) - 1:
        return tree.points[:, chain[-1]] - tree.points[:, chain[ankle]]
    ahead = np.zeros((len(tree.points), 3))
    ahead[0] = tree.tips[chain[-1]] - tree.points[0, chain[-1]]
    return ahead


def _limb(
    tree: Tree, kind: str, side: str, end: tuple[int | None, int], named: Mapping[tuple[str, str], str], biped: bool
) -> Limb | None:
    """Return a limb by the way to its end; None where that is too short.

    A biped's foot is what is called so, however short its legs are, where there is a toe, too.
    """
    fork, leaf = end
    chain = tree.path(leaf) if fork is None else tree.below(fork, leaf)
    index = {name: k for k, name in enumerate(tree.names)}
    known = [index[n] for p in PARTS_OF[kind] if (n := named.get((p, side))) in index and index[n] in chain]
    if kind == ARM:  # fingers end where the hand is told
        chain = chain[: max(chain.index(known[-1]) + 2, 3)] if known else chain
    if len(chain) < 2:
        return None
    lower = index.get(named.get((PARTS_OF[kind][1], side), ""))
    bend = hinge_in(tree, chain, chain.index(lower) if lower in chain else None)
    told = named.get((PARTS_OF[kind][2], side))
    if told in index and index[told] in chain[: bend + 1]:  # there is no knee
        return None
    toe = named.get(("toe", side))
    if kind == LEG and biped and {told, toe} <= {tree.names[node] for node in chain[bend + 1 :]}:  # not SMPL's
        foot = chain.index(index[told or ""])
    elif kind == FRONT_LEG or (kind == LEG and len(chain) > bend + 2):
        foot = _foot(tree, chain, bend)
    else:
        foot = bend + 1
    names = [tree.names[node] for node in chain]
    return Limb(
        kind=kind,
        side=side,
        upper=names[bend - 1],
        lower=names[bend],
        end=names[foot] if foot < len(names) else "",
        beyond=names[foot + 1] if foot + 1 < len(names) else "",
    )


def _foot(tree: Tree, chain: list[int], bend: int) -> int:
    """Return the position of the foot in a leg's chain.

    The first after the knee that is near the leg's lowest point while the leg stands, whatever pose it rests in.
    """
    heights = tree.points[:, chain, 2]
    heights = heights - heights.min(axis=1, keepdims=True)
    standing = heights[heights[:, bend - 1] > STRETCHED * tree.lengths(chain)[bend - 1 :].sum()]
    if not len(standing):
        return bend + 1
    shares = np.quantile(standing / standing[:, [bend - 1]], SWINGING, axis=0)
    low = [k for k in range(bend + 1, len(chain)) if shares[k] <= LOW]
    return low[0] if low else bend + 1


def _trunk(tree: Tree, limbs: list[Limb], named: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """Return hips, spine, chest, neck and head."""
    index = {name: k for k, name in enumerate(tree.names)}
    forks = {}
    for kind in (LEG, ARM, FRONT_LEG):
        uppers = [index[limb.upper] for limb in limbs if limb.kind == kind]
        if len(uppers) == 2:
            forks[kind] = tree.fork(*uppers)
    parts: dict[tuple[str, str], str] = {}
    hips, chest = (
        forks.get(LEG),
        next((fork for kind in (ARM, FRONT_LEG) if (fork := forks.get(kind)) is not None), None),
    )
    said = read_name(named.get(("hips", ""), ""))
    if hips is not None and not (said and said.stem in ("hips", "pelvis", "hip")):
        parts["hips", ""] = tree.names[hips]
    if chest is not None and chest != hips:
        parts["chest", ""] = tree.names[chest]
        between = [node for node in tree.below(hips, chest) if node != chest] if hips is not None else []
        if between and ("spine", "") not in named:
            parts["spine", ""] = tree.names[between[0]]
    if ("head", "") not in named and chest is not None:
        parts |= _head(tree, chest, {index[name] for limb in limbs for name in (limb.upper, limb.lower)})
    return parts


def _head(tree: Tree, chest: int, limbs: set[int]) -> dict[tuple[str, str], str]:
    """Return head and neck: the way from the chest to the highest end that is no limb's."""
    ways = [tree.below(chest, leaf) for leaf in tree.leaves]
    ways = [way for way in ways if way and not limbs & set(way)]
    if not ways:
        return {}
    way = max(ways, key=lambda way: tree.heights[way[-1]])
    middle = [node for node in way if not ((said := read_name(tree.names[node])) and said.side)]
    if middle and len(middle) < len(way):  # the highest end is an ear's
        way, head = middle, middle[-1]
    else:
        head = way[-2] if len(way) > 2 else way[-1]
    return {("head", ""): tree.names[head]} | ({("neck", ""): tree.names[way[0]]} if way[0] != head else {})
