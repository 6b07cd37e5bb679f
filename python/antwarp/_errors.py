"""What antwarp raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._solution import Solution


class Error(Exception):
    """Anything that antwarp raises of its own."""


class InputError(Error, ValueError):
    """What is to be solved, or a file that belongs to it, is malformed, cannot be read, is ambiguous or contradicts itself. The
    message names the remedy."""


class OptionError(Error, ValueError):
    """An option is unknown, out of range or without effect, or names what does not exist."""


class BackendError(Error, RuntimeError):
    """A GPU, threads or memory are not available or failed.

    Attributes:
        solution: the best tour until then, if it failed during the run; else None.
    """

    solution: Solution | None = None


class NoTourError(Error):
    """No tour was found that uses only pairs with a road.

    Attributes:
        solution: the best tour that was found, with pairs that have no road; its cost leaves them out.
    """

    def __init__(self, message: str, solution: Solution) -> None:
        super().__init__(message, solution)
        self.solution = solution

    def __str__(self) -> str:
        return str(self.args[0])


class InternalError(Error, RuntimeError):
    """A bug in antwarp."""
