"""Exceptions and warnings of this package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence


@dataclass(frozen=True)
class Place:
    """A place in a text. Lines and columns count from 1; columns count bytes."""

    file: str
    line: int
    column: int
    message: str


class TilecheckWarning(UserWarning):
    """What the program says about a value, such as "deadlocks in 2 states were given a self-loop"."""


class TilecheckError(Exception):
    """The program could not give an answer.

    places has the places in texts that the error is about; file, line and column are those of the first one, or None.
    results has the fields of what was finished before the error.
    """

    def __init__(
        self,
        message: str,
        exit_code: Optional[int] = None,
        places: Sequence[Place] = (),
        results: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code
        self.places = tuple(places)
        self.results = tuple(results)

    @property
    def file(self) -> Optional[str]:
        """The file of the first place; "-" is a model that was given as a text."""
        return self.places[0].file if self.places else None

    @property
    def line(self) -> Optional[int]:
        """The line of the first place."""
        return self.places[0].line if self.places else None

    @property
    def column(self) -> Optional[int]:
        """The column of the first place."""
        return self.places[0].column if self.places else None


class ProgramNotFoundError(TilecheckError):
    """There is no program tilecheck on this machine, or it is of another version."""


class UsageError(TilecheckError):
    """The program refused an option (exit code 80)."""


class LimitError(TilecheckError):
    """The time or memory limit was reached (exit code 4)."""


class NothingCheckedError(TilecheckError):
    """The program ended well and compared or checked nothing."""


def error_of(
    exit_code: int, message: str, places: Sequence[Place] = (), results: Sequence[Mapping[str, Any]] = ()
) -> TilecheckError:
    """Returns the exception for an exit code."""
    kind = {4: LimitError, 80: UsageError}.get(exit_code, TilecheckError)
    return kind(message, exit_code, places, results)


def places_of(fields: Mapping[str, Any]) -> list[Place]:
    """Returns the places of an error in the JSON."""
    return [Place(p.get("file", ""), p.get("line", 0), p.get("column", 0), p.get("message", "")) for p in fields.get("places", ())]
