"""Trees of named points: the chains of a body, measured by the lengths between its joints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

LENGTH_EQUAL = 0.06  # of a chain's length: the two sides of a body differ by less
SUBSTANTIAL = 0.2  # of the tree's size: a limb is not shorter
CLEARLY = 1.3  # times as long are parts that are taken for a limb's against what names tell
NEAR_GROUND = 0.15  # of the tree's height: a limb that ends lower stands on the ground


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes with parents and points.

    Attributes:
        names: of N nodes.
        parents: (N,) index of the parent, −1 for a root.
        points: (P, N, 3) where the nodes are in P poses [m], Z up; the first pose measures the lengths.
        tips: (N, 3) in the first pose, where each node leads to [m].
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    points: np.ndarray
    tips: np.ndarray

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The nodes that hang on each node."""
        made: list[list[int]] = [[] for _ in self.names]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                made[parent].append(node)
        return tuple(map(tuple, made))

    @cached_property
    def heights(self) -> np.ndarray:
        """(N,) mean height of each node over the poses [m]."""
        return self.points[:, :, 2].mean(axis=0)

    @cached_property
    def size(self) -> float:
        """Diagonal of the box around the first pose [m]."""
        return float(np.linalg.norm(np.ptp(self.points[0], axis=0))) if len(self.names) else 0.0

    def path(self, node: int) -> list[int]:
        """Return the nodes from the root to a node, the root first."""
        way = [node]
        while self.parents[way[-1]] >= 0:
            way.append(self.parents[way[-1]])
        return way[::-1]

    def below(self, above: int, node: int) -> list[int]:
        """Return the nodes under `above` on the way to a node, the node last; empty if it does not hang on `above`."""
        way = self.path(node)
        return way[way.index(above) + 1 :] if above in way else []

    def fork(self, one: int, other: int) -> int | None:
        """Return the last common node of the paths to two nodes; None where they have different roots."""
        shared = [a for a, b in zip(self.path(one), self.path(other), strict=False) if a == b]
        return shared[-1] if shared else None

    def lengths(self, chain: Sequence[int]) -> np.ndarray:
        """Return distances (len(chain),) between following nodes of a chain, and from the last to its tip [m]."""
        points = np.vstack([self.points[0][list(chain)], self.tips[chain[-1]]])
        return np.linalg.norm(np.diff(points, axis=0), axis=1)

    def deepest(self, node: int) -> int:
        """Return the leaf under a node to which the way is longest; the node itself where it is one."""
        leaves = [leaf for leaf in self.leaves if leaf == node or self.below(node, leaf)]
        return max(leaves, key=lambda leaf: self.lengths(self.path(leaf)).sum(), default=node)

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """Nodes without children."""
        return tuple(node for node, under in enumerate(self.children) if not under)

    def only(self, kept: Iterable[int]) -> Tree:
        """Return the tree of the nodes that are kept; each hangs on its nearest kept ancestor."""
        order = sorted(set(kept))
        new = {node: k for k, node in enumerate(order)}
        parents = []
        for node in order:
            above = self.parents[node]
            while above >= 0 and above not in new:
                above = self.parents[above]
            parents.append(new.get(above, -1))
        names = tuple(self.names[node] for node in order)
        return Tree(names, tuple(parents), self.points[:, order], self.tips[order])


@dataclass(frozen=True, kw_only=True)
class PairedChains:
    """Two chains of equal lengths that hang on one node.

    Attributes:
        fork: the node that both hang on.
        chains: from the fork, without it, to a leaf.
        low: mean height of the lower end above the lowest node [m].
        length: of one of them [m].
    """

    fork: int
    chains: tuple[tuple[int, ...], tuple[int, ...]]
    low: float
    length: float


def paired_limbs(tree: Tree) -> list[PairedChains]:
    """Return a body's pairs of limbs, the lowest first; of pairs that share nodes only the longest."""
    ground = float(tree.heights.min()) if len(tree.names) else 0.0
    found = []
    for k, one in enumerate(tree.leaves):
        for other in tree.leaves[k + 1 :]:
            fork = tree.fork(one, other)
            if fork is None:
                continue
            a, b = tree.below(fork, one), tree.below(fork, other)
            first, second = tree.lengths(a), tree.lengths(b)
            if len(a) != len(b) or len(a) < 2 or min(first.sum(), second.sum()) < SUBSTANTIAL * tree.size:
                continue
            if np.abs(first - second).max() <= LENGTH_EQUAL * max(first.sum(), second.sum()):
                low = float(tree.heights[[*a, *b]].min()) - ground
                found.append(PairedChains(fork=fork, chains=(tuple(a), tuple(b)), low=low, length=float(first.sum())))
    kept: list[PairedChains] = []
    used: set[int] = set()
    for pair in sorted(found, key=lambda pair: (-round(pair.length, 6), round(_gap(tree, pair), 6))):
        nodes = {*pair.chains[0], *pair.chains[1]}
        if not nodes & used and pair.fork not in used:
            kept.append(pair)
            used |= nodes
    return sorted(kept, key=lambda pair: pair.low)


def _gap(tree: Tree, pair: PairedChains) -> float:
    """Return how far two limbs begin from each other [m]: of four alike, those beside each other are nearer."""
    one, other = (tree.points[0, chain[0]] for chain in pair.chains)
    return float(np.linalg.norm(one - other))


def hinge_in(tree: Tree, chain: Sequence[int], told: int | None = None) -> int:
    """Return the position in a chain of its knee or elbow, between its two longest following parts.

    `told` is the position by names, which is taken where lengths do not clearly speak against it.
    """
    lengths = tree.lengths(chain)
    if len(lengths) < 2:
        return 0
    together = lengths[:-1] + lengths[1:]
    if told is not None and 0 < told <= len(together):
        together[told - 1] *= CLEARLY
    if len(chain) > 2:  # the last length leads to a tip, which is often invented
        together = together[:-1]
    return int(np.argmax(together)) + 1
