"""Compiled kernels for symmetric matrices that are bands: their products, Cholesky factors, and solutions by these.

A band of n columns holds at [j, i] the element in row j + i of column j, up to its width; what would be below the last
row is zero. Threads of a library for linear algebra wait longer on such narrow bands than they work.
"""

from __future__ import annotations

from ..jit import kernel

TOGETHER = 4  # columns by which the rest is updated at once, so that it is read and written less often


@kernel
def add_products(band, indptr, indices, data, weights):
    """Add Rᵀ diag(w) R to a band, with R (m, n) by rows."""
    for row in range(indptr.shape[0] - 1):
        for a in range(indptr[row], indptr[row + 1]):
            scaled, i = weights[row] * data[a], indices[a]
            for b in range(indptr[row], indptr[row + 1]):
                if indices[b] >= i:
                    band[i, indices[b] - i] += scaled * data[b]


@kernel
def factor(band):
    """Replace a band (n, w + 1) by its lower Cholesky factor; return whether it is positive definite."""
    n, w = band.shape[0], band.shape[1] - 1
    for j in range(0, n, TOGETHER):
        m = min(TOGETHER, n - j)
        for p in range(m):  # among themselves
            own = band[j + p]
            if not own[0] > 0.0:
                return False
            inverse = 1.0 / own[0] ** 0.5
            for i in range(w + 1):
                own[i] *= inverse
            for q in range(p + 1, min(m, p + w + 1)):
                off, share, other = q - p, own[q - p], band[j + q]
                for i in range(w + 1 - off):
                    other[i] -= share * own[i + off]
        if m < TOGETHER:
            break
        c0, c1, c2, c3 = band[j], band[j + 1], band[j + 2], band[j + 3]
        for k in range(j + 4, min(n, j + 4 + w)):
            rest, o = band[k], k - j
            s0 = c0[o] if o <= w else 0.0
            s1 = c1[o - 1] if o - 1 <= w else 0.0
            s2 = c2[o - 2] if o - 2 <= w else 0.0
            s3 = c3[o - 3]
            whole = max(w - o + 1, 0)
            r, u0, u1, u2, u3 = rest[:whole], c0[o:], c1[o - 1 :], c2[o - 2 :], c3[o - 3 :]
            for i in range(whole):
                r[i] -= s0 * u0[i] + s1 * u1[i] + s2 * u2[i] + s3 * u3[i]
            for i in range(whole, max(w - o + 2, 0)):
                rest[i] -= s1 * c1[o - 1 + i] + s2 * c2[o - 2 + i] + s3 * c3[o - 3 + i]
            for i in range(max(w - o + 2, 0), max(w - o + 3, 0)):
                rest[i] -= s2 * c2[o - 2 + i] + s3 * c3[o - 3 + i]
            for i in range(max(w - o + 3, 0), w - o + 4):
                rest[i] -= s3 * c3[o - 3 + i]
    return True


@kernel
def solve(band, x):
    """Replace x (n,) by the solution for it as the right side, with a band's factor."""
    n, w = band.shape[0], band.shape[1] - 1
    for j in range(n):
        x[j] /= band[j, 0]
        reach, found = min(w, n - 1 - j), x[j]
        own, below = band[j, 1 : reach + 1], x[j + 1 : j + 1 + reach]
        for i in range(reach):
            below[i] -= own[i] * found
    for j in range(n - 1, -1, -1):
        reach = min(w, n - 1 - j)
        own, below = band[j, 1 : reach + 1], x[j + 1 : j + 1 + reach]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0  # sums of their own, since one waits for each addition
        for i in range(0, reach - 3, 4):
            s0 += own[i] * below[i]
            s1 += own[i + 1] * below[i + 1]
            s2 += own[i + 2] * below[i + 2]
            s3 += own[i + 3] * below[i + 3]
        for i in range(reach - reach % 4, reach):
            s0 += own[i] * below[i]
        x[j] = (x[j] - (s0 + s1) - (s2 + s3)) / band[j, 0]
