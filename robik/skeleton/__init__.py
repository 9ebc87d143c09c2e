"""Characters in the library's own terms: skeletons, the parts of a body, and how a robot follows them."""
