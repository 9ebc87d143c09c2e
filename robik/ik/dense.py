"""Dense symmetric systems of a few dozen unknowns, compiled: at this size faster than calling LAPACK, and quick to
compile."""

from __future__ import annotations

import numpy as np

from ..jit import kernel


@kernel(entry=False)
def cholesky(H, n):
    """Factors the lower triangle of H[:n, :n] in place; False where it is not positive definite."""
    top = 0.0
    for i in range(n):
        top = max(top, abs(H[i, i]))
    for i in range(n):
        for j in range(i + 1):
            s = H[i, j]
            for k in range(j):
                s -= H[i, k] * H[j, k]
            if i == j:
                if not s > 1e-14 * top:
                    return False
                H[i, i] = np.sqrt(s)
            else:
                H[i, j] = s / H[j, j]
    return True


@kernel(entry=False)
def solve_factored(H, V, n, exact, b, scratch):
    """Solves for b (n,) in place: by the factor that `cholesky` left in H where the matrix was positive definite
    (`exact`), else by the eigenvectors V that `diagonalise` found, with the eigenvalues on H's diagonal."""
    if exact:
        for i in range(n):
            s = b[i]
            for k in range(i):
                s -= H[i, k] * b[k]
            b[i] = s / H[i, i]
        for i in range(n - 1, -1, -1):
            s = b[i]
            for k in range(i + 1, n):
                s -= H[k, i] * b[k]
            b[i] = s / H[i, i]
        return
    for k in range(n):
        scratch[k] = 0.0
        for a in range(n):
            scratch[k] += V[a, k] * b[a]
        scratch[k] /= H[k, k]
    for a in range(n):
        b[a] = 0.0
        for k in range(n):
            b[a] += scratch[k] * V[a, k]


@kernel(entry=False)
def make_positive(H, n):
    """Replaces the eigenvalues that `diagonalise` left on H's diagonal by their absolute values, the smallest raised
    above rounding."""
    top = 1e-300
    for k in range(n):
        top = max(top, abs(H[k, k]))
    for k in range(n):
        H[k, k] = max(abs(H[k, k]), 1e-12 * top)


@kernel(entry=False)
def diagonalise(H, V, n):
    """In place: the symmetric H[:n, :n] becomes diagonal and V[:n, :n] its eigenvectors, column by column, by Jacobi's
    rotations.

    It is called only where a step meets negative curvature; linking LAPACK for that would double the time to compile.
    """
    for i in range(n):
        for j in range(n):
            V[i, j] = 1.0 if i == j else 0.0
    for _ in range(30):
        off, on = 0.0, 0.0
        for i in range(n):
            on += H[i, i] * H[i, i]
            for j in range(i):
                off += H[i, j] * H[i, j]
        if off <= 1e-24 * on:
            return
        for p in range(n):
            for q in range(p + 1, n):
                if H[p, q] == 0.0:
                    continue
                theta = 0.5 * (H[q, q] - H[p, p]) / H[p, q]
                t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
                if theta < 0.0:
                    t = -t
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                for k in range(n):
                    a, b = H[k, p], H[k, q]
                    H[k, p], H[k, q] = c * a - s * b, s * a + c * b
                    a, b = V[k, p], V[k, q]
                    V[k, p], V[k, q] = c * a - s * b, s * a + c * b
                for k in range(n):
                    a, b = H[p, k], H[q, k]
                    H[p, k], H[q, k] = c * a - s * b, s * a + c * b


@kernel(entry=False)
def copy_chosen(K, chosen, n, H):
    """H[:n, :n] = the rows and columns of K that are listed in `chosen`."""
    for a in range(n):
        for b in range(n):
            H[a, b] = K[chosen[a], chosen[b]]
