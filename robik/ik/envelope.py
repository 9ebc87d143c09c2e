"""Symmetric systems of which each row begins late: Cholesky's factor begins where the row does.

In a linkage of many loops a motor is tied to those nearby, so that rows of the system hold few entries beside the
diagonal.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..kinematics.dense import four_rows


@kernel
def copy_lower(K, first, chosen, n, H, lead):
    """Copy the lower triangle of K between n `chosen` rows, in rising order, to H[:n, :n].

    `first` has the first entry of each row of K that may not be zero; `lead` (n,) is filled with those of H.
    """
    for a in range(n):
        source, row, low = K[chosen[a]], H[a], first[chosen[a]]
        row[: a + 1] = 0.0
        lead[a] = b = a
        while b >= 0 and chosen[b] >= low:
            row[b] = source[chosen[b]]
            if row[b] != 0.0:
                lead[a] = b
            b -= 1


@kernel(entry=False)
def factor_envelope(H, n, lead):
    """Factor the lower triangle of H[:n, :n] in place; return False unless it is positive definite.

    Rows of H and of its factor begin with the columns `lead` (n,).
    """
    top = 0.0
    for i in range(n):
        top = max(top, abs(H[i, i]))
    for j in range(n):
        own, s, first = H[j], H[j, j], lead[j]
        for k in range(first, j):
            s -= own[k] * own[k]
        if not s > 1e-14 * top:
            return False
        own[j] = np.sqrt(s)
        i = j + 1
        while i + 4 <= n:
            begin = min(min(lead[i], lead[i + 1]), min(lead[i + 2], lead[i + 3]))
            if begin <= j:
                four_rows(H, own, i, j, max(first, begin))
            i += 4
        for rest in range(i, n):
            s = H[rest, j]
            for k in range(max(first, lead[rest]), j):
                s -= H[rest, k] * own[k]
            H[rest, j] = s / own[j]
    return True


@kernel(entry=False)
def solve_envelope(L, n, lead, b):
    """Solve L Lᵀ x = b (n,) in place for a factor L of `factor_envelope`, whose rows begin with columns `lead`."""
    for i in range(n):
        s = b[i]
        for k in range(lead[i], i):
            s -= L[i, k] * b[k]
        b[i] = s / L[i, i]
    for i in range(n - 1, -1, -1):
        f = b[i] / L[i, i]
        b[i] = f
        for k in range(lead[i], i):
            b[k] -= L[i, k] * f
