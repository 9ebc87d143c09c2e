"""Errors that a user can act on: each message says what is wrong, where, and what would be right."""


class RobikError(Exception):
    """Base of every error that RobIK raises on purpose; its text is one clear sentence for the user."""


class MechanismError(RobikError):
    """A robot that cannot be: a joint to an unknown body, a negative mass, two things of one name."""


class UnconnectedError(MechanismError):
    """A robot in several parts that no joints tie together: one that is still being built."""


class MissingExtraError(RobikError):
    """A package that is not installed, and the extra that brings it."""


class FormatError(RobikError):
    """A file that cannot be read as what it should be."""


class ClipError(RobikError):
    """Targets that cannot be followed: unknown frames, NaN, times that run backwards."""


class AssemblyError(RobikError):
    """A loop that cannot be closed."""


class ServoError(RobikError):
    """A servo chain that is not there, does not answer, or must not be moved."""
