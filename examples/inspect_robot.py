"""A robot file in numbers: bodies, joints, loops, degrees of freedom. The same as `robik inspect walker`."""

import robik

found = robik.inspect(robik.load("walker"))
print("\n".join(found.lines()))

for name in ("four_bar", "validation", "dancer", "walker"):
    found = robik.inspect(robik.load(name))
    print(
        f"{name}: {found.bodies} bodies, {found.loops} loops, mobility {found.mobility}, {found.redundant_rows}"
        " redundant rows"
    )
