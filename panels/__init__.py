"""What a user can do: gather, call, report."""


def register() -> None:
    pass


def unregister() -> None:
    pass
