"""Three contacts where two are possible (Caron): the compromise, the emulated priority, limits that are never
crossed."""

from __future__ import annotations

from math import cos, pi, sqrt

import numpy as np
import pytest

from experiments.tracking.contacts import FAR, KNEE, REACH, reach_for_three

GAP = (FAR - 1) * REACH  # what a limb is short of, from the middle of the contacts


def test_equal_weights_touch_none():
    """By symmetry the hub ends in the middle, every limb stretched towards its contact and as far off as the others."""
    out = reach_for_three((1.0, 1.0, 1.0))
    np.testing.assert_allclose(out.error[-1], GAP, rtol=1e-3)
    np.testing.assert_allclose(out.path[-1, :, 0].mean(axis=0), out.contacts.mean(axis=0), atol=1e-4)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_weights_emulate_priorities(order):
    """With 10⁴, 10² and 1 the errors stand in that order: what each pulls with is of one size."""
    weights = np.zeros(3)
    weights[list(order)] = (1e4, 1e2, 1.0)
    error = reach_for_three(tuple(weights)).error[-1][list(order)]
    apart = (
        2 * FAR * REACH * cos(pi / 6)
    )  # the limbs to the first two span this, and the third hangs from the hub between them
    third = FAR * REACH * 1.5 - sqrt(REACH**2 - (apart / 2) ** 2) - REACH
    assert error[0] < 1e-4 and error[1] < 5e-3
    assert error[2] == pytest.approx(third, rel=0.05)
    pulls = error * (1e4, 1e2, 1.0)
    assert pulls.max() < 3 * pulls.min()


@pytest.mark.parametrize("pair", [(0, 1), (1, 2), (0, 2)])
def test_any_two_are_possible(pair):
    weights = np.zeros(3)
    weights[list(pair)] = 1.0
    assert reach_for_three(tuple(weights)).error[-1][list(pair)].max() < 1e-6


@pytest.mark.parametrize("gain", [0.25, 0.5, 1.0])
def test_the_limit_gain_keeps_every_joint_from_its_end(gain):
    """The limbs stretch until their knees stop them: no step takes more than the gain's share of the way to that
    end."""
    out = reach_for_three((1.0, 1.0, 1.0), limit_gain=gain)
    before = np.vstack([np.ones((1, 3)), out.knees[:-1]]) - KNEE[0]
    after = out.knees - KNEE[0]
    assert (after >= 0).all() and after.min() < 1e-6
    assert (before - after <= gain * before + 1e-12).all()
    share = (before - after)[before > 1e-6] / before[before > 1e-6]
    assert share.max() == pytest.approx(gain, rel=1e-6), "the limit never acted"
