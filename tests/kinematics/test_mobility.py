"""Degrees of freedom and redundant rows of mechanisms whose numbers are known from books."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from robik import robots
from robik.errors import MechanismError
from robik.kinematics.mobility import inspect
from robik.mechanism import WORLD, Body, Joint, Mechanism
from robik.mechanism.base import with_base


def four_bar(closing: str = "revolute") -> Mechanism:
    y = (0.0, 1.0, 0.0)
    return Mechanism(
        "four-bar",
        [Body(n, 1.0) for n in "abc"],
        [
            Joint("j1", "revolute", WORLD, "a", position=(0, 0, 0), axis=y, actuated=True),
            Joint("j2", "revolute", "a", "b", position=(0, 0, 1), axis=y),
            Joint("j3", closing, "b", "c", position=(1, 0, 1), axis=y),
            Joint("j4", "revolute", WORLD, "c", position=(1, 0, 0), axis=y),
        ],
    )


@pytest.mark.parametrize(("closing", "redundant"), [("revolute", 3), ("cylindrical", 2), ("spherical", 1)])
def test_four_bar_has_one_freedom_whatever_closes_it(closing: str, redundant: int) -> None:
    found = inspect(four_bar(closing))
    assert (found.loops, found.mobility, found.redundant_rows) == (1, 1, redundant)


def test_stewart_platform_has_six_and_no_redundancy() -> None:
    from math import cos, pi, sin

    bodies, joints = [Body("platform", 1.0, com=(0, 0, 1))], []
    for i in range(6):
        a, b = (
            (i // 2) * 2 * pi / 3 + (0.2 if i % 2 else -0.2),
            ((i + 1) // 2) * 2 * pi / 3 - pi / 3 + (-0.2 if i % 2 else 0.2),
        )
        low, high = (cos(a), sin(a), 0.0), (0.6 * cos(b), 0.6 * sin(b), 1.0)
        way = tuple(h - l for h, l in zip(high, low, strict=True))  # noqa: E741
        bodies += [Body(f"cylinder{i}", 1.0, com=low), Body(f"rod{i}", 1.0, com=high)]
        joints += [
            Joint(f"foot{i}", "universal", WORLD, f"cylinder{i}", position=low, axis=(1, 0, 0), axis2=(0, 1, 0)),
            Joint(f"leg{i}", "prismatic", f"cylinder{i}", f"rod{i}", position=low, axis=way, actuated=True),
            Joint(f"head{i}", "spherical", f"rod{i}", "platform", position=high),
        ]
    found = inspect(Mechanism("stewart", bodies, joints))
    assert (found.loops, found.mobility, found.redundant_rows, len(found.actuators)) == (5, 6, 0, 6)


def test_our_robots() -> None:
    boxer, walker = inspect(robots.load("boxer")), inspect(robots.load("walker"))
    assert (boxer.bodies, boxer.mobility, boxer.loops) == (5, 4, 0)
    assert (walker.bodies, walker.mobility, walker.loops, walker.redundant_rows) == (31, 18, 6, 12)
    assert walker.closure_residual < 1e-12
    assert len(walker.actuators) == 12


def test_bases() -> None:
    walker, boxer = robots.load("walker"), robots.load("boxer")
    assert inspect(with_base(walker, "fixed")).mobility == 12
    assert inspect(with_base(with_base(walker, "fixed"), "floating")).mobility == 18
    assert inspect(with_base(boxer, "floating")).mobility == 10
    assert with_base(boxer, "auto") is boxer
    with pytest.raises(MechanismError, match="only one fixed joint can be freed"):
        with_base(four_bar(), "floating")


def test_a_base_is_the_robot_s_whatever_stands_beside_it() -> None:
    """A shelf is held by the world: the arm beside it can float, one that floats already does, and can be held."""
    boxer = robots.load("boxer")
    shelf = Joint("screws", "fixed", WORLD, "shelf")
    beside = boxer.with_changes(bodies=(*boxer.bodies, Body("shelf", 1.0)), joints=(shelf, *boxer.joints))
    floating = with_base(beside, "floating")
    assert inspect(floating).mobility == inspect(boxer).mobility + 6
    assert with_base(floating, "floating") is floating
    assert inspect(with_base(floating, "fixed")).mobility == inspect(boxer).mobility


def test_what_no_loop_ties_is_counted_without_a_matrix_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The decomposition of a matrix as large as the robot took most of the import of a long chain."""
    sizes, svd = [], np.linalg.svd
    monkeypatch.setattr(
        np.linalg, "svd", lambda a, *rest, **more: sizes.append(np.shape(a)[-1]) or svd(a, *rest, **more)
    )
    z = (0.0, 0.0, 1.0)
    linkage = robots.load("four_bar")
    names = [f"link_{k}" for k in range(200)]
    joints = [
        Joint(n, "revolute", m, n, position=(k, 0.0, 0.0), axis=z, actuated=k > 4)
        for k, (m, n) in enumerate(pairwise([WORLD, *names]))
    ]
    chain = linkage.with_changes(
        bodies=(*linkage.bodies, *(Body(n, 1.0) for n in names)), joints=(*linkage.joints, *joints)
    )
    found = inspect(chain)
    assert (found.mobility, found.actuation.freedoms, found.actuation.surplus) == (201, 201, 0)
    assert found.actuation.idle == tuple((n,) for n in names[:5])
    assert 0 < max(sizes) <= 4
