"""Bodies by VMC, through a real UDP socket; turns worked out by hand."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest
from pythonosc.udp_client import SimpleUDPClient

from robik.show.osc import Listener, Message
from robik.show.vmc import BONE, Body

HALF = float(np.sqrt(0.5))
ARM, UP, LEFT, BACK = np.eye(3)[0], np.eye(3)[2], np.eye(3)[0], np.eye(3)[1]


@pytest.fixture
def wire() -> Iterator[tuple[Listener, SimpleUDPClient]]:
    with Listener("0") as listener:
        host, port = listener.address.split(":")
        yield listener, SimpleUDPClient(host, int(port))


def take(body: Body, listener: Listener, count: int) -> list[bool]:
    """What came of the messages, once so many are there."""
    found: list[bool] = []
    ends = time.monotonic() + 10.0
    while len(found) < count and time.monotonic() < ends:
        found += [isinstance(message, Message) and body.take(message) for message in listener.messages()]
    return found


def bone(name: str, turn: list[float], place: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> list:
    return [name, *place, *turn]


def test_a_body_through_a_socket(wire) -> None:
    """Hips that turn to the right by 90°, in Unity about +y, and a left forearm that bends forwards by 90°, about +y
    in Unity, too, since the left arm points to −x there."""
    listener, client = wire
    body = Body()
    client.send_message(BONE, bone("Hips", [0.0, HALF, 0.0, HALF], (0.1, 0.9, 0.3)))
    client.send_message(BONE, bone("LeftLowerArm", [0.0, HALF, 0.0, HALF]))
    assert take(body, listener, 2) == [True, True]
    assert body.is_new
    parts = body.parts()
    assert not body.is_new
    assert set(parts) == {("hips", ""), ("forearm", "l")}
    np.testing.assert_allclose(body.hips, [-0.1, -0.3, 0.9], atol=1e-6)
    np.testing.assert_allclose(parts["hips", ""].apply(-BACK), -LEFT, atol=1e-6)  # it faced −y, and faces −x, its right
    np.testing.assert_allclose(parts["hips", ""].apply(LEFT), -BACK, atol=1e-6)
    # the forearm pointed to +x; bent forwards to −y; then turned with the hips to −x
    np.testing.assert_allclose(parts["forearm", "l"].apply(ARM), -LEFT, atol=1e-6)


def test_a_nod_in_unity_is_a_nod_here() -> None:
    """About Unity's +x, which is right: left-handed, forward turns down."""
    body = Body()
    assert body.take(Message(BONE, ("Head", 0.0, 0.0, 0.0, HALF, 0.0, 0.0, HALF)))
    np.testing.assert_allclose(body.parts()["head", ""].apply(-BACK), -UP, atol=1e-9)


def test_a_lifted_left_arm() -> None:
    """About Unity's z, forward: the left arm, at −x, goes up by a turn of −90°."""
    body = Body()
    assert body.take(Message(BONE, ("LeftUpperArm", 0.0, 0.0, 0.0, 0.0, 0.0, -HALF, HALF)))
    np.testing.assert_allclose(body.parts()["upper arm", "l"].apply(ARM), UP, atol=1e-9)


def test_the_upper_chest_is_the_chest_and_carries_the_head() -> None:
    body = Body()
    turn = (0.0, 0.0, 0.0, 0.0, float(np.sin(0.1)), 0.0, float(np.cos(0.1)))
    for name in ("Spine", "Chest", "UpperChest", "Head"):
        assert body.take(Message(BONE, (name, *turn)))
    angles = {part: np.degrees(turned.magnitude()) for (part, _), turned in body.parts().items()}
    assert angles == pytest.approx({k: np.degrees(0.2) * n for k, n in
                                    (("spine", 1), ("chest", 3), ("head", 4))})  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("Hips",),
        ("Hips", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        ("Hips", 0.0, 0.0, 0.0, float("nan"), 0.0, 0.0, 1.0),
        ("Hips", 0.0, "a", 0.0, 0.0, 0.0, 0.0, 1.0),
        (3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
    ],
)
def test_what_is_no_bone_changes_nothing(arguments: tuple) -> None:
    body = Body()
    assert not body.take(Message(BONE, arguments))
    assert body.parts() == {} and body.hips is None and not body.is_new


def test_other_messages_of_vmc_are_heard_and_those_of_others_not() -> None:
    body = Body()
    assert body.take(Message("/VMC/Ext/OK", (1,)))
    assert body.take(Message(BONE, ("LeftEye", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)))
    assert not body.take(Message("/wave", (1,)))
    assert not body.is_new
