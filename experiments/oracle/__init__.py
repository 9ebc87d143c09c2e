"""The oracle: the paper's problem solved the paper's way, slow, dense and independent of the library's solver, to judge
it by."""
