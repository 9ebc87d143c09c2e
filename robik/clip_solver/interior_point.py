"""Compiled kernels of the interior point method for programs whose unknowns are coupled with near ones alone.

Bounds are a list: the k-th keeps `sign` times a value, a row of Rx or an unknown behind these, below `most`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import kernel
from .band import add_products, factor, solve

ITERATIONS = 40
BACK = 0.995  # of the way to the nearest bound that is taken
SHORT, STALLS = 1e-3, 4  # so many steps in a row that are shorter bring nothing: no solution, or a hard one


class Entries(NamedTuple):
    """Entries of a matrix by rows, or by columns, as SciPy has them."""

    indptr: np.ndarray  # (rows + 1,) where each begins, and where the last ends
    indices: np.ndarray  # (entries,) columns
    data: np.ndarray  # (entries,) values


class Quadratic(NamedTuple):
    """A program of n unknowns and m rows with K finite bounds."""

    upper: Entries  # upper triangle of the Hessian, by columns
    gradient: np.ndarray  # (n,)
    rows: Entries  # by rows
    at: np.ndarray  # (K,) value that each bound is on
    sign: np.ndarray  # (K,) 1 at upper bounds, -1 at lower ones
    most: np.ndarray  # (K,)


class Point(NamedTuple):
    """Point of the method, or a step of it."""

    x: np.ndarray  # (n,) unknowns
    s: np.ndarray  # (K,) slacks
    z: np.ndarray  # (K,) multipliers


class Scratch(NamedTuple):
    """Scratch of the method."""

    dual: np.ndarray  # (n,) what is left of the Lagrangian's gradient
    primal: np.ndarray  # (K,) by how much slacks are wrong
    wanted: np.ndarray  # (K,) change of the products of slacks and multipliers
    values: np.ndarray  # (m + n,) of rows and unknowns
    band: np.ndarray  # (n, width + 1)
    step: Point  # that is taken next


@kernel
def _value(program, x, values):
    """Fill the values (m + n,) of rows and unknowns."""
    rows, m = program.rows, program.rows.indptr.shape[0] - 1
    for row in range(m):
        total = 0.0
        for a in range(rows.indptr[row], rows.indptr[row + 1]):
            total += rows.data[a] * x[rows.indices[a]]
        values[row] = total
    for i in range(x.shape[0]):
        values[m + i] = x[i]


@kernel
def _add_back(program, values, share, out):
    """Add a share of the transposed rows times values (m + n,) to `out` (n,)."""
    rows, m = program.rows, program.rows.indptr.shape[0] - 1
    for row in range(m):
        scaled = share * values[row]
        if scaled != 0.0:
            for a in range(rows.indptr[row], rows.indptr[row + 1]):
                out[rows.indices[a]] += scaled * rows.data[a]
    for i in range(out.shape[0]):
        out[i] += share * values[m + i]


@kernel
def _look(program, now, room):
    """Fill what is left of the conditions of an optimum; return the largest of both parts, and x times the first."""
    dual, primal, upper = room.dual, room.primal, program.upper
    _value(program, now.x, room.values)
    short = 0.0
    for k in range(primal.shape[0]):
        primal[k] = program.sign[k] * room.values[program.at[k]] + now.s[k] - program.most[k]
        short = max(short, abs(primal[k]))
    for i in range(dual.shape[0]):
        dual[i] = program.gradient[i]
    for j in range(dual.shape[0]):
        for a in range(upper.indptr[j], upper.indptr[j + 1]):
            i = upper.indices[a]
            dual[i] += upper.data[a] * now.x[j]
            if i != j:
                dual[j] += upper.data[a] * now.x[i]
    room.values[:] = 0.0
    for k in range(primal.shape[0]):
        room.values[program.at[k]] += program.sign[k] * now.z[k]
    _add_back(program, room.values, 1.0, dual)
    steep, work = 0.0, 0.0
    for i in range(dual.shape[0]):
        steep = max(steep, abs(dual[i]))
        work += abs(dual[i]) * abs(now.x[i])
    return short, steep, work


@kernel
def _factored(program, now, room):
    """Fill the band with the factor of H + Cᵀ diag(z/s) C; return whether rounding leaves one."""
    band, upper, rows, values = room.band, program.upper, program.rows, room.values
    band[:] = 0.0
    for j in range(band.shape[0]):
        for a in range(upper.indptr[j], upper.indptr[j + 1]):
            band[upper.indices[a], j - upper.indices[a]] += upper.data[a]
    values[:] = 0.0
    for k in range(now.s.shape[0]):
        values[program.at[k]] += now.z[k] / now.s[k]
    m = rows.indptr.shape[0] - 1
    for i in range(band.shape[0]):
        band[i, 0] += values[m + i]
    add_products(band, rows.indptr, rows.indices, rows.data, values)
    return factor(band)


@kernel
def _step(program, now, room):
    """Fill the step by which the products of slacks and multipliers change as wanted."""
    step, primal, wanted, values = room.step, room.primal, room.wanted, room.values
    values[:] = 0.0
    for k in range(primal.shape[0]):
        values[program.at[k]] += program.sign[k] * (wanted[k] + now.z[k] * primal[k]) / now.s[k]
    for i in range(step.x.shape[0]):
        step.x[i] = -room.dual[i]
    _add_back(program, values, -1.0, step.x)
    solve(room.band, step.x)
    _value(program, step.x, values)
    for k in range(primal.shape[0]):
        step.s[k] = -primal[k] - program.sign[k] * values[program.at[k]]
        step.z[k] = (wanted[k] - now.z[k] * step.s[k]) / now.s[k]


@kernel
def _longest(values, steps):
    """Return the largest share of steps, up to 1, after which values are still positive."""
    share = 1.0
    for k in range(values.shape[0]):
        if -steps[k] * share > values[k]:
            share = -values[k] / steps[k]
    return share


@kernel
def _products(first, second):
    """Return the sum of the products of two lists (K,)."""
    total = 0.0
    for k in range(first.shape[0]):
        total += first[k] * second[k]
    return total


@kernel
def _predict(program, now, room):
    """Ask for what Mehrotra's corrector changes the products by, after the predictor's step."""
    step, wanted, count = room.step, room.wanted, now.s.shape[0]
    for k in range(count):
        wanted[k] = -now.s[k] * now.z[k]
    _step(program, now, room)
    slack, price = _longest(now.s, step.s), _longest(now.z, step.z)
    after = 0.0
    for k in range(count):
        after += (now.s[k] + slack * step.s[k]) * (now.z[k] + price * step.z[k])
    mean = _products(now.s, now.z) / count
    centre = (after / count / mean) ** 3 * mean
    for k in range(count):
        wanted[k] = centre - now.s[k] * now.z[k] - step.s[k] * step.z[k]


@kernel
def interior_point(program, now, room, tolerance, flat, accuracy):
    """Improve a point until it is the solution; return whether it is.

    Rows are met to `tolerance`, the objective to `accuracy`, and of the Lagrangian's gradient `flat` may be left.
    """
    step, stalls = room.step, 0
    for _ in range(ITERATIONS):
        short, steep, work = _look(program, now, room)
        if short <= tolerance and steep <= flat and _products(now.s, now.z) + work <= accuracy:
            return True
        if not _factored(program, now, room):
            return False
        if now.s.shape[0]:
            _predict(program, now, room)
        _step(program, now, room)
        slack, price = min(1.0, BACK * _longest(now.s, step.s)), min(1.0, BACK * _longest(now.z, step.z))
        if now.s.shape[0] == 0:
            slack = 1.0
        stalls = stalls + 1 if min(slack, price) < SHORT else 0
        if stalls >= STALLS:
            return False
        for i in range(now.x.shape[0]):
            if not np.isfinite(step.x[i]):
                return False
            now.x[i] += slack * step.x[i]
        for k in range(now.s.shape[0]):
            now.s[k] += slack * step.s[k]
            now.z[k] += price * step.z[k]
    return False
