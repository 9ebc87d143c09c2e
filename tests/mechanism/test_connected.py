"""Connected parts of a graph, against SciPy's."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from robik.mechanism.clusters import _connected


def test_parts_of_a_graph_are_numbered_by_their_first_vertex() -> None:
    rng = np.random.default_rng(3)
    for count, edges in ((1, 0), (12, 7), (60, 40), (300, 500)):
        pairs = [(int(a), int(b)) for a, b in rng.integers(0, count, (edges, 2))]
        rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        graph = coo_array((np.ones(edges), (rows, columns)), shape=(count, count))
        assert (_connected(pairs, count) == connected_components(graph, directed=False)[1]).all()
    assert len(_connected([], 0)) == 0
