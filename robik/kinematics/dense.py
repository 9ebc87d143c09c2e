"""Dense symmetric systems of a few dozen unknowns, compiled.

At this size they are faster than calls of LAPACK, and quick to compile.
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined, kernel

ROUNDING = 2.0**-52
SWEEPS = 60  # of one eigenvalue, most of which need two


@inlined
def four_rows(H, own, i, j, first):
    """Fill column j of Cholesky's factor in rows i to i + 3 of H, from row j, `own`.

    Entries of these rows before `first` are zero. Four rows go side by side: a sum alone waits for its last
    addition.
    """
    a, b, c, d = H[i, j], H[i + 1, j], H[i + 2, j], H[i + 3, j]
    for k in range(first, j):
        f = own[k]
        a -= H[i, k] * f
        b -= H[i + 1, k] * f
        c -= H[i + 2, k] * f
        d -= H[i + 3, k] * f
    H[i, j], H[i + 1, j], H[i + 2, j], H[i + 3, j] = a / own[j], b / own[j], c / own[j], d / own[j]


@kernel(entry=False)
def cholesky(H, n):
    """Factor the lower triangle of H[:n, :n] in place; return False unless it is positive definite."""
    top = 0.0
    for i in range(n):
        top = max(top, abs(H[i, i]))
    for j in range(n):
        own, s = H[j], H[j, j]
        for k in range(j):
            s -= own[k] * own[k]
        if not s > 1e-14 * top:
            return False
        own[j] = np.sqrt(s)
        i = j + 1
        while i + 4 <= n:
            four_rows(H, own, i, j, 0)
            i += 4
        for rest in range(i, n):
            s = H[rest, j]
            for k in range(j):
                s -= H[rest, k] * own[k]
            H[rest, j] = s / own[j]
    return True


@kernel(entry=False)
def solve_lower(L, n, b):
    """Solve L x = b (n,) in place for a factor L that `cholesky` left."""
    for i in range(n):
        s = b[i]
        for k in range(i):
            s -= L[i, k] * b[k]
        b[i] = s / L[i, i]


@kernel(entry=False)
def solve_upper(L, n, b):
    """Solve Lᵀ x = b (n,) in place for a factor L that `cholesky` left."""
    for i in range(n - 1, -1, -1):
        f = b[i] / L[i, i]
        b[i] = f
        for k in range(i):
            b[k] -= L[i, k] * f


@kernel(entry=False)
def solve_factored(H, V, n, exact, b, scratch):
    """Solve for b (n,) in place by the factor or the eigenvectors of a matrix.

    H holds the factor of `cholesky` where the matrix is positive definite (`exact`), else the eigenvalues on its
    diagonal, and V the eigenvectors of `diagonalise`.
    """
    if exact:
        solve_lower(H, n, b)
        solve_upper(H, n, b)
    else:
        solve_diagonalised(H, V, n, b, scratch)


@kernel(entry=False)
def solve_diagonalised(H, V, n, b, scratch):
    """Solve for b (n,) in place by the eigenvalues on H's diagonal and the eigenvectors V of `diagonalise`."""
    for k in range(n):
        scratch[k] = 0.0
        for a in range(n):
            scratch[k] += V[k, a] * b[a]
        scratch[k] /= H[k, k]
    for a in range(n):
        b[a] = 0.0
    for k in range(n):
        for a in range(n):
            b[a] += scratch[k] * V[k, a]


@kernel(entry=False)
def add_absolute(H, V, n, K, chosen):
    """Replace the `chosen` rows and columns of K by those with the absolute eigenvalues.

    H's diagonal holds the n eigenvalues and V the eigenvectors, row by row; the smallest eigenvalues are raised
    above rounding. K has more rows and columns.
    """
    top = 1e-300
    for k in range(n):
        top = max(top, abs(H[k, k]))
    for k in range(n):
        more = max(abs(H[k, k]), 1e-12 * top) - H[k, k]
        if more > 0.0:
            for a in range(n):
                f, row = more * V[k, a], K[chosen[a]]
                for b in range(n):
                    row[chosen[b]] += f * V[k, b]


@kernel(entry=False)
def diagonalise(H, V, n):
    """Diagonalise the symmetric H[:n, :n] in place; V[:n, :n] becomes its eigenvectors, row by row.

    V has a row n for scratch. Householder's reflections make H tridiagonal, then rotations with shifts diagonal
    (the implicit QL method). It is called only where a step meets negative curvature; linking LAPACK for that would
    double the time to compile.
    """
    for i in range(n):
        for j in range(n):
            V[i, j] = 1.0 if i == j else 0.0
    off = V[n]
    for k in range(n - 2):
        _reflect(H, V, off, k, n)
    for k in range(n - 1):
        off[k] = H[k, k + 1]
    for first in range(n - 1):
        for _ in range(SWEEPS):
            last = first
            while last < n - 1 and abs(off[last]) > ROUNDING * (abs(H[last, last]) + abs(H[last + 1, last + 1])):
                last += 1
            if last == first:
                break
            _sweep(H, V, off, first, last, n)


@kernel
def _reflect(H, V, p, k, n):
    """Reflect rows and columns beyond k of a symmetric H so that row k keeps one entry beside the diagonal.

    With p (n,) for scratch.
    """
    v, square = H[k], 0.0
    for j in range(k + 2, n):
        square += v[j] * v[j]
    if square == 0.0:
        return
    beside = -np.sqrt(square + v[k + 1] * v[k + 1]) if v[k + 1] > 0.0 else np.sqrt(square + v[k + 1] * v[k + 1])
    v[k + 1] -= beside
    scale = 2.0 / (square + v[k + 1] * v[k + 1])
    p[:] = 0.0
    for i in range(k + 1, n):
        row = H[i]
        for j in range(k + 1, n):
            p[j] += scale * v[i] * row[j]
    along = 0.0
    for j in range(k + 1, n):
        along += 0.5 * scale * p[j] * v[j]
    for j in range(k + 1, n):
        p[j] -= along * v[j]
    for i in range(k + 1, n):
        row = H[i]
        for j in range(k + 1, n):
            row[j] -= v[i] * p[j] + p[i] * v[j]
    p[:] = 0.0
    for i in range(k + 1, n):
        row = V[i]
        for j in range(n):
            p[j] += scale * v[i] * row[j]
    for i in range(k + 1, n):
        row = V[i]
        for j in range(n):
            row[j] -= v[i] * p[j]
    v[k + 1] = beside


@kernel
def _sweep(H, V, off, first, last, n):
    """Rotate a tridiagonal block from its end to its beginning.

    H's diagonal and `off` beside it hold the block. By the implicit QL method with Wilkinson's shift.
    """
    apart = (H[first + 1, first + 1] - H[first, first]) / (2.0 * off[first])
    root = np.sqrt(apart * apart + 1.0)
    bulge = H[last, last] - H[first, first] + off[first] / (apart + (root if apart >= 0.0 else -root))
    s, c, shift = 1.0, 1.0, 0.0
    for i in range(last - 1, first - 1, -1):
        f, b = s * off[i], c * off[i]
        root = np.sqrt(f * f + bulge * bulge)
        off[i + 1] = root
        if root == 0.0:
            H[i + 1, i + 1] -= shift
            off[last] = 0.0
            return
        s, c = f / root, bulge / root
        bulge = H[i + 1, i + 1] - shift
        root = (H[i, i] - bulge) * s + 2.0 * c * b
        shift = s * root
        H[i + 1, i + 1] = bulge + shift
        bulge = c * root - b
        x, y = V[i], V[i + 1]
        for k in range(n):
            x[k], y[k] = c * x[k] - s * y[k], s * x[k] + c * y[k]
    H[first, first] -= shift
    off[first] = bulge
    off[last] = 0.0


@kernel(entry=False)
def copy_chosen(K, chosen, n, H):
    """Copy the n `chosen` rows and columns of K to H[:n, :n]."""
    for a in range(n):
        for b in range(n):
            H[a, b] = K[chosen[a], chosen[b]]


@kernel
def negative_pivots(B, n):
    """Replace a symmetric B[:n, :n] by its L D Lᵀ (D on the diagonal, L below).

    Return the number of negative entries of D, n + 1 where one is zero.
    """
    negative = 0
    for k in range(n):
        if B[k, k] == 0.0:
            return n + 1
        if B[k, k] < 0.0:
            negative += 1
        for i in range(k + 1, n):
            f = B[i, k] / B[k, k]
            for j in range(k + 1, n):
                B[i, j] -= f * B[k, j]
            B[i, k] = f
    return negative
