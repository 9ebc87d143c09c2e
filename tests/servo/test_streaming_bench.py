"""The benchmark's own arithmetic, on arrivals that are known."""

import numpy as np
import pytest

from experiments.streaming import AMPLITUDE, PHASES, arrival_lateness

pytestmark = pytest.mark.real_time

COUNT = 2 * np.pi / 4096  # [rad]


@pytest.mark.parametrize("rate", [100.0, 500.0, 1000.0])
def test_lateness_of_arrival_is_told_whatever_was_dropped(rate):
    """With 1 % dropped, four hundred in a row dropped, and a lag that grows by 50 ms."""
    random = np.random.default_rng(0)
    numbers = np.arange(20_000)
    numbers = numbers[(random.random(20_000) > 0.01) & ((numbers < 5000) | (numbers > 5400))]
    lag = random.exponential(3e-4, len(numbers)) + np.linspace(0.0, 0.05, len(numbers))
    turned = numbers[:, None] / rate + PHASES
    goals = np.rint(AMPLITUDE * (np.sin(turned) - np.sin(PHASES)) / COUNT) * COUNT
    assert arrival_lateness(123.0 + numbers / rate + lag, goals, rate) == pytest.approx(lag - lag.min(), abs=1e-9)
