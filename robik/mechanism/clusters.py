"""Clusters of degrees of freedom that have to be solved for together.

Loops and couplings tie them, and so does a joint of several motions. Those of a large cluster are listed so that what
second derivatives tie together stands near to each other (reverse Cuthill-McKee).
"""

from __future__ import annotations

import numpy as np

FEW = 64  # degrees of freedom up to which a cluster keeps its order


def path_to_root(tip: int, before: np.ndarray) -> list[int]:
    """Return the degrees of freedom from `tip` to the root; none for a negative `tip`."""
    path = []
    while tip >= 0:
        path.append(tip)
        tip = int(before[tip])
    return path


def coupled_dofs(couplings: dict[str, np.ndarray]) -> list[list[int]]:
    """Return the degrees of freedom of each coupling, the follower first, from `Flat`'s arrays on couplings."""
    at, others = couplings["coupling_other_at"].tolist(), couplings["coupling_other"].tolist()
    pairs = zip(couplings["coupling_follower"].tolist(), couplings["coupling_leader"].tolist(), strict=True)
    return [[follower, leader, *others[at[g] : at[g + 1]]] for g, (follower, leader) in enumerate(pairs)]


def find_clusters(
    bodies: dict[str, np.ndarray],
    closure: dict[str, np.ndarray],
    couplings: dict[str, np.ndarray],
    groups: dict[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """Return `Flat`'s arrays on clusters by name, from those on bodies, cuts, couplings and groups.

    A cluster is connected in the tree: where a coupling ties degrees of freedom far apart, those between them
    belong to it too.
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
    ties = _Ties(before, np.split(closure["loop"], closure["loop_at"][1:-1]), of_dof)
    cluster_dofs = [ties.near_each_other(np.flatnonzero(of_dof == c)) for c in range(len(order))]
    cluster_groups = [[g for g, m in enumerate(members) if len(m) and of_dof[m[0]] == c] for c in range(len(order))]
    place = np.zeros(d, np.int64)
    for dofs in cluster_dofs:
        place[dofs] = np.arange(len(dofs))
    on = [next(int(parent[b]) for b in found if of[parent[b]] != c) for c, found in enumerate(cluster_bodies)]
    return {
        "cluster_on": np.array(on, dtype=np.int64), "cluster_of": of.astype(np.int64), "cluster_of_dof": of_dof,
        "place_in": place,
        **_listed("cluster_body", cluster_bodies), **_listed("cluster_dof", cluster_dofs),
        **_listed("cluster_group", cluster_groups), **_spans(cluster_dofs, *ties.spans(place)),
    }  # fmt: skip


class _Ties:
    """Degrees of freedom that second derivatives tie together: those on one path, or in one loop.

    Each loop ties all its own to each other, so a long one is never written out pair by pair where that tells nothing.
    """

    def __init__(self, before: np.ndarray, loops: list[np.ndarray], cluster: np.ndarray) -> None:
        self.loops, self.cluster = [loop for loop in loops if len(loop)], cluster
        inside = (before >= 0) & (cluster[before] == cluster) if len(before) else np.zeros(0, dtype=bool)
        self.before = np.where(inside, before, -1)  # the one that it hangs on in its own cluster

    def near_each_other(self, dofs: np.ndarray) -> np.ndarray:
        """Return a cluster in an order that keeps near to each other what is tied; a small one keeps its own."""
        if len(dofs) <= FEW:
            return dofs
        loops = [loop for loop in self.loops if self.cluster[loop[0]] == self.cluster[dofs[0]]]
        if max(map(len, loops), default=0) == len(dofs) or (self.before[dofs[1:]] == dofs[:-1]).all():
            return dofs  # each is tied to each: all orders are alike
        from scipy.sparse import coo_array  # takes long to import
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        paths = [np.array(path_to_root(i, self.before)) for i in dofs.tolist()]
        rows = [np.repeat(loop, len(loop)) for loop in loops] + [np.repeat(path[:1], len(path)) for path in paths]
        columns = [np.tile(loop, len(loop)) for loop in loops] + paths
        at = [np.searchsorted(dofs, np.concatenate(ends)) for ends in (rows, columns)]
        own = coo_array((np.ones(len(at[0])), (at[0], at[1])), shape=(len(dofs), len(dofs))).tocsr()
        return dofs[reverse_cuthill_mckee((own + own.T).tocsr(), symmetric_mode=True)]

    def spans(self, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the first place (d,) that each degree of freedom is tied to, and the place after the last one."""
        first, beyond = self._least(place), -self._least(-place) + 1
        for loop in self.loops:
            first[loop] = np.minimum(first[loop], place[loop].min())
            beyond[loop] = np.maximum(beyond[loop], place[loop].max() + 1)
        return first, beyond

    def _least(self, place: np.ndarray) -> np.ndarray:
        """Return the least place (d,) on the paths through each degree of freedom."""
        above, below, before = place.tolist(), place.tolist(), self.before.tolist()
        for i, j in enumerate(before):
            if j >= 0:
                above[i] = min(above[i], above[j])
        for i in reversed(range(len(before))):
            if before[i] >= 0:
                below[before[i]] = min(below[before[i]], below[i])
        return np.minimum(above, below)


def _spans(cluster_dofs: list[np.ndarray], first: np.ndarray, beyond: np.ndarray) -> dict[str, np.ndarray]:
    """Return spans (d,) in the order of `cluster_dof`."""
    listed = np.concatenate([np.zeros(0, np.int64), *cluster_dofs])
    return {"span_first": first[listed].astype(np.int64), "span_beyond": beyond[listed].astype(np.int64)}


def _listed(name: str, lists: list) -> dict[str, np.ndarray]:
    """Return one array of all entries, and where each list starts."""
    entries = np.concatenate([np.zeros(0, np.int64), *lists]).astype(np.int64)
    return {name: entries, f"{name}_at": np.cumsum([0, *map(len, lists)]).astype(np.int64)}


def _connected(pairs: list[tuple[int, int]], count: int) -> np.ndarray:
    """Return for each of so many vertices of a graph which connected part it belongs to, from the edges."""
    first = list(range(count))  # vertex of the same part that is nearer to its first one

    def root(i: int) -> int:
        while first[i] != i:
            first[i] = i = first[first[i]]
        return i

    for a, b in pairs:
        low, high = sorted((root(a), root(b)))
        first[high] = low
    return np.unique([root(i) for i in range(count)], return_inverse=True)[1].astype(np.int64)
