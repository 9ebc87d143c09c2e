"""Clusters of degrees of freedom that have to be solved for together.

Loops and couplings tie them, and so does a joint of several motions. Those of a large cluster are listed so that what
second derivatives tie together stands near to each other (reverse Cuthill-McKee).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import coo_array

FEW = 64  # degrees of freedom up to which a cluster keeps its order


def path_to_root(tip: int, before: np.ndarray) -> list[int]:
    """Return the degrees of freedom from `tip` to the root.

    Args:
        tip: Index of the first; negative for none.
        before: Degree of freedom before each (d,), negative at the root.

    Returns:
        Indices, `tip` first.
    """
    path = []
    while tip >= 0:
        path.append(tip)
        tip = int(before[tip])
    return path


def coupled_dofs(couplings: dict[str, np.ndarray]) -> list[list[int]]:
    """Return the degrees of freedom of each coupling, the follower first, from the arrays of `Flat` on couplings.

    Args:
        couplings: Arrays of `Flat` about couplings, by name.

    Returns:
        Indices for each coupling.
    """
    at, others = couplings["coupling_other_at"].tolist(), couplings["coupling_other"].tolist()
    pairs = zip(couplings["coupling_follower"].tolist(), couplings["coupling_leader"].tolist(), strict=True)
    return [[follower, leader, *others[at[g] : at[g + 1]]] for g, (follower, leader) in enumerate(pairs)]


def find_clusters(
    bodies: dict[str, np.ndarray],
    closure: dict[str, np.ndarray],
    couplings: dict[str, np.ndarray],
    groups: dict[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """Return the arrays of `Flat` that describe clusters, from those of its bodies, cuts, couplings and groups.

    A cluster is connected in the tree: where a coupling ties degrees of freedom far apart, those between them belong to
    it too.

    Args:
        bodies: Arrays of `Flat` about bodies, by name.
        closure: Arrays about cuts.
        couplings: Arrays about couplings.
        groups: Arrays about groups of closure equations.

    Returns:
        Arrays about clusters, by name.
    """
    first, last, tip, at_v, before, parent = (
        bodies[name] for name in ("first", "last", "tip", "at_v", "before", "parent")
    )
    d, n = len(before), len(parent)
    own = [list(range(at_v[first[b]], tip[b] + 1)) if first[b] < last[b] else [] for b in range(n)]
    members = np.split(groups["group_columns"], groups["group_column_at"][1:-1])
    between = [
        sorted(set(path_to_root(f, before)) ^ set(path_to_root(g, before)) | {f, g})
        for f, *leaders in coupled_dofs(couplings)
        for g in leaders
    ]
    tied = [(k[0], i) for k in [*own, *(m.tolist() for m in members), *between] for i in k[1:]]
    label = _connected(tied, d)
    of = np.full(n, -1)
    for b in range(1, n):
        of[b] = label[own[b][0]] if own[b] else of[parent[b]]
    order = list(dict.fromkeys(of[of >= 0].tolist()))  # by the first body: parents before children
    number = {old: new for new, old in enumerate(order)}
    of = np.array([number.get(old, -1) for old in of.tolist()])
    of_dof = np.array([number[old] for old in label.tolist()], dtype=np.int64)
    cluster_bodies = [np.flatnonzero(of == c) for c in range(len(order))]
    ties = _ties(before, closure, of_dof)
    cluster_dofs = [_near_each_other(np.flatnonzero(of_dof == c), ties) for c in range(len(order))]
    cluster_groups = [[g for g, m in enumerate(members) if len(m) and of_dof[m[0]] == c] for c in range(len(order))]
    place = np.zeros(d, np.int64)
    for dofs in cluster_dofs:
        place[dofs] = np.arange(len(dofs))
    on = [next(int(parent[b]) for b in found if of[parent[b]] != c) for c, found in enumerate(cluster_bodies)]
    return {
        "cluster_on": np.array(on, dtype=np.int64), "cluster_of": of.astype(np.int64), "cluster_of_dof": of_dof,
        "place_in": place,
        **_listed("cluster_body", cluster_bodies), **_listed("cluster_dof", cluster_dofs),
        **_listed("cluster_group", cluster_groups), **_spans(cluster_dofs, place, ties),
    }  # fmt: skip


def _ties(before: np.ndarray, closure: dict[str, np.ndarray], cluster: np.ndarray) -> coo_array:
    """Return the graph (d, d) of what second derivatives tie together in a cluster: on one path, or in one loop."""
    pairs = []
    for i in range(len(before)):
        j = i
        while j >= 0 and cluster[j] == cluster[i]:
            pairs.append((i, j))
            j = int(before[j])
    for loop in np.split(closure["loop"], closure["loop_at"][1:-1]):
        pairs += [(i, j) for i in loop.tolist() for j in loop.tolist()]
    return _graph(pairs, len(before))


def _near_each_other(dofs: np.ndarray, ties: coo_array) -> np.ndarray:
    """Return degrees of freedom in an order that keeps those near to each other which are tied; few keep theirs."""
    if len(dofs) <= FEW:
        return dofs
    from scipy.sparse.csgraph import reverse_cuthill_mckee  # takes long to import

    own = ties.tocsr()[dofs][:, dofs]
    return dofs[reverse_cuthill_mckee((own + own.T).tocsr(), symmetric_mode=True)]


def _spans(cluster_dofs: list[np.ndarray], place: np.ndarray, ties: coo_array) -> dict[str, np.ndarray]:
    """Return the first place in its cluster that each of `cluster_dof` is tied to, and the place after the last one."""
    first, beyond = place.copy(), place + 1
    for one, other in ((ties.row, ties.col), (ties.col, ties.row)):
        np.minimum.at(first, one, place[other])
        np.maximum.at(beyond, one, place[other] + 1)
    listed = np.concatenate([np.zeros(0, np.int64), *cluster_dofs])
    return {"span_first": first[listed], "span_beyond": beyond[listed]}


def _listed(name: str, lists: list) -> dict[str, np.ndarray]:
    """Return one array of all entries, and where each list starts."""
    entries = np.concatenate([np.zeros(0, np.int64), *lists]).astype(np.int64)
    return {name: entries, f"{name}_at": np.cumsum([0, *map(len, lists)]).astype(np.int64)}


def _connected(pairs: list[tuple[int, int]], count: int) -> np.ndarray:
    """Return for each of so many vertices of a graph which connected part it belongs to, from the edges."""
    from scipy.sparse.csgraph import connected_components  # takes long to import

    return connected_components(_graph(pairs, count), directed=False)[1] if count else np.zeros(0, int)


def _graph(pairs: list[tuple[int, int]], count: int) -> coo_array:
    """Return a graph of so many vertices from its edges."""
    from scipy.sparse import coo_array  # takes long to import

    rows, columns = zip(*pairs, strict=True) if pairs else ((), ())
    return coo_array((np.ones(len(pairs)), (rows, columns)), shape=(count, count))
