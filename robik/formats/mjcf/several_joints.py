"""Bodies with several joints: MJCF's form of a chain of joints whose bodies between have no mass."""

from __future__ import annotations

from dataclasses import replace

from ..export_tree import BALL, Branch, ExportTree


def joined(tree: ExportTree) -> ExportTree:
    """Return a tree without bodies that have no mass and only stand between two joints, as MuJoCo cannot move them.

    The next body has the joints of both.
    """
    ends = [end for joint in tree.cuts for end in (joint.parent, joint.child)]
    needed = {*ends, *(frame.body for frame in tree.mechanism.frames)}
    hanging: dict[str, list[Branch]] = {}
    for branch in tree.branches:
        hanging.setdefault(branch.parent, []).append(branch)
    left: dict[str, Branch] = {}
    branches = []
    for branch in tree.branches:
        name = branch.body.name
        if branch.parent in left:
            before = left[branch.parent]
            branch = replace(branch, parent=before.parent, motions=before.motions + branch.motions)
        if name not in needed and _is_between(branch, hanging.get(name, [])):
            left[name] = branch
        else:
            branches.append(branch)
    return replace(tree, branches=tuple(branches))


def _is_between(branch: Branch, following: list[Branch]) -> bool:
    """Return whether a body is nothing but the place between two joints that one body can have."""
    body = branch.body
    if body.mass or any(body.inertia) or body.visuals or branch.joint is None or len(following) != 1:
        return False
    both = (branch, *following)
    kinds = {motion.kind for each in both for motion in each.motions}
    return BALL not in kinds and all(each.joint is not None and each.joint.type != "free" for each in both)
