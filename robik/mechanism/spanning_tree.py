"""Choice of a mechanism's spanning tree: which joints its bodies hang on, which ones are cut, and where the root is."""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Collection
from dataclasses import replace

from .model import Mechanism
from .parts import WORLD, Joint

Tree = list[tuple[str, Joint]]  # (body, joint it hangs on), parents first, twins last


def spanning_tree(mechanism: Mechanism, asked: Collection[str] = ()) -> tuple[Tree, list[Joint]]:
    """Return the bodies with the joints they hang on, parents first and twins last, and the joints that are cut.

    Actuated, coupled and asked joints are preferred for the tree, then limited ones; joints with many free motions
    for the cuts: a cut's equations are what its joint does not leave free. A robot that nothing ties to the world
    floats: its first body hangs on the world by all six motions. `asked` are names of coordinates.
    """
    tied = any(j.parent == WORLD for j in mechanism.joints)
    floating = Joint(
        "(floating base)", "free", WORLD, mechanism.bodies[0].name, position=tuple(mechanism.bodies[0].rest_com)
    )
    joints = list(mechanism.joints) if tied else [floating, *mechanism.joints]
    named = {end for c in mechanism.couplings for end in c.ends} | {*asked}
    wanted = {j.name for j in joints if j.actuated or not named.isdisjoint(j.coordinate_names)}
    chosen = _chosen(joints, wanted)
    tree = [(body, joints[i]) for body, i in chosen]
    hung = {i for _, i in chosen}
    cuts = []
    for joint in (joint for i, joint in enumerate(joints) if i not in hung):
        if joint.name in wanted or joint.is_limited:
            twin = f"{joint.child} (twin at {joint.name})"
            tree.append((twin, replace(joint, child=twin)))
            cuts.append(
                Joint(
                    joint.name, "fixed", twin, joint.child, position=joint.position, axis=joint.axis, axis2=joint.axis2
                )
            )
        else:
            cuts.append(joint)
    return tree, cuts


def _chosen(joints: list[Joint], wanted: set[str]) -> list[tuple[str, int]]:
    """Return (body, index of the joint it hangs on), parents first.

    By Prim's algorithm: `wanted` joints first, then limited ones, then those with few motions; ties go to the body
    nearer to the root.
    """
    touching: dict[str, list[int]] = {}
    for i, joint in enumerate(joints):
        for end in (joint.parent, joint.child):
            touching.setdefault(end, []).append(i)
    depth = {WORLD: 0}
    queue: list[tuple] = []
    result: list[tuple[str, int]] = []

    def open_up(body: str) -> None:
        for i in touching.get(body, ()):
            joint = joints[i]
            other = joint.child if joint.parent == body else joint.parent
            if other not in depth:
                heapq.heappush(
                    queue,
                    (joint.name not in wanted, not joint.is_limited, len(joint.motions), depth[body], i, other, body),
                )

    open_up(WORLD)
    while queue:
        *_, i, body, near = heapq.heappop(queue)
        if body in depth:
            continue
        depth[body] = depth[near] + 1
        result.append((body, i))
        open_up(body)
    return result


def rerooted(tree: Tree, bodies: int, contact: Joint, base: Joint) -> Tree:
    """Return a tree with its root at a contact: the same joints, but for the base and some the other way round.

    The first `bodies` entries of the tree are bodies, the rest twins. `contact` ties a body to the world and
    replaces `base`, which lets the robot float.
    """
    touching: dict[str, list[Joint]] = {}
    for joint in [contact, *(joint for _, joint in tree[:bodies] if joint is not base)]:
        for end in (joint.parent, joint.child):
            touching.setdefault(end, []).append(joint)
    found: dict[str, Joint] = {}
    queue = deque([WORLD])
    while queue:
        near = queue.popleft()
        for joint in touching.get(near, ()):
            far = joint.child if joint.parent == near else joint.parent
            if far != WORLD and far not in found:
                found[far] = joint
                queue.append(far)
    return [*found.items(), *tree[bodies:]]


def connected_without(mechanism: Mechanism, joint: Joint, body: str) -> set[str]:
    """Return the names of the bodies connected with `body`, itself included, without `joint` and free joints."""
    ways = defaultdict(list)
    for other in mechanism.joints:
        if other is not joint and other.type != "free":
            ways[other.parent].append(other.child)
            ways[other.child].append(other.parent)
    found, reached = {body}, [body]
    while reached:
        new = {near for near in ways[reached.pop()] if near not in found}
        found |= new
        reached += new
    return found
