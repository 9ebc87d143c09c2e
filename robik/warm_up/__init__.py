"""Compilation of the solver before anybody waits for it, in processes of its own, which leave it on disk.

    from robik.warm_up import status, warm_up

`python -m robik.warm_up` compiles here and now, in two processes: one solves two tiny problems (`problems`), and so
compiles what it comes to; the other meanwhile compiles what solving comes to last (`ahead`).
"""

from .processes import help_compiling, status, warm_up

__all__ = ["help_compiling", "status", "warm_up"]
