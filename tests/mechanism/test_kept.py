"""Values kept with a robot: worked out once each, for that robot alone, and not for what is made of it."""

from __future__ import annotations

import pickle

from robik.mechanism import Body, Frame, Mechanism
from robik.mechanism.kept import kept_with_robot

CALLS: list[tuple[str, str, bool]] = []


@kept_with_robot
def told(mechanism: Mechanism, name: str, loud: bool = False) -> str:
    CALLS.append((mechanism.name, name, loud))
    return f"{mechanism.name} {name}{'!' * loud} {len(mechanism.frames)}"


def test_each_value_is_worked_out_once_for_each_robot() -> None:
    CALLS.clear()
    one, other = Mechanism("one", (Body("a"),)), Mechanism("other", (Body("a"),))
    for _ in range(2):
        assert (told(one, "a"), told(other, "a")) == ("one a 0", "other a 0")
        assert (told(one, "b"), told(one, "a", loud=True)) == ("one b 0", "one a! 0")
    assert sorted(CALLS) == [("one", "a", False), ("one", "a", True), ("one", "b", False), ("other", "a", False)]
    assert told(one.with_changes(frames=(Frame("tip", "a"),)), "a") == "one a 1", "a changed robot is another one"
    assert one == Mechanism("one", (Body("a"),)) and hash(one) == hash(Mechanism("one", (Body("a"),)))
    assert told(pickle.loads(pickle.dumps(one)), "c") == "one c 0"
