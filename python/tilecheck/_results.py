"""Answers of the program as dataclasses and tables."""

from __future__ import annotations

import builtins
import html
import importlib
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence, Union, overload

from ._process import Answer
from .errors import NothingCheckedError, TilecheckError, error_of, places_of

Value = Union[bool, int, float, str, Sequence[Any]]


@dataclass(frozen=True)
class Result:
    """The answer to one property, or one row of another table. docs/json.md says what each field means.

    fields has all members of the JSON, also those without an attribute.
    """

    property: str = ""
    name: str = ""
    constants: Mapping[str, Any] = field(default_factory=dict)
    fraction: Optional[Fraction] = None
    kind: str = ""
    lower: Optional[float] = None
    upper: Optional[float] = None
    accuracy: str = ""
    resolution: str = ""
    engine: str = ""
    method: str = ""
    outcome: str = ""
    states: Optional[int] = None
    choices: Optional[int] = None
    transitions: Optional[int] = None
    samples: Optional[int] = None
    seed: Optional[int] = None
    seconds: Optional[float] = None
    warnings: tuple[str, ...] = ()
    doubt: str = ""
    error: Optional[TilecheckError] = None
    fields: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @builtins.property  # the name property is that of a field here
    def value(self) -> Value:
        """A number, a Boolean, [low, high] over several initial states, the points of a curve, or a formula as a text.

        Raises the error of this property if there is no value.
        """
        if "value" in self.fields:
            value: Value = _value(self.fields["value"])
            return value
        if self.error is not None:
            raise self.error
        raise NothingCheckedError(f"there is no value of {self.property or self.fields}")

    @builtins.property  # the name property is that of a field here
    def holds(self) -> bool:
        """Whether a property such as P>=0.5 [ F x=1 ] is true. Raises TypeError if the value is no Boolean."""
        value = self.value
        if not isinstance(value, bool):
            raise TypeError(f"the value of {self.property} is {value}, not true or false")
        return value

    def __float__(self) -> float:
        value = self.value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"the value of {self.property} is {value}, not a number")
        return float(value)

    def __bool__(self) -> bool:
        """Refuses to be a condition: that there is an answer does not mean that it is true."""
        raise TypeError("a result is neither true nor false: use .holds or .value")


def result_of(fields: Mapping[str, Any]) -> Result:
    """Returns the dataclass for a member of "results"."""
    error = fields.get("error")
    fraction = fields.get("fraction")
    same = {name: fields[name] for name in _SAME if name in fields}
    return Result(
        **same,
        constants=fields.get("constants", {}),
        fraction=Fraction(fraction) if isinstance(fraction, str) else None,
        lower=_bound(fields.get("lower")),
        upper=_bound(fields.get("upper")),
        warnings=tuple(fields.get("warnings", ())),
        error=error_of(_code_of(error), error["message"], places_of(error)) if error else None,
        fields=fields,
    )


_SAME = (
    "property name kind accuracy resolution engine method outcome states choices transitions samples seed seconds doubt"
).split()


def _code_of(error: Mapping[str, Any]) -> int:
    """Returns the exit code for the error of one property."""
    return 4 if error.get("class") in ("timeout", "memory") else 1


def _value(value: Any) -> Any:
    """Returns a value of the JSON, in which numbers that JSON does not have are texts."""
    if isinstance(value, list):
        return [_value(item) for item in value]
    return float(value) if value in ("NaN", "Infinity", "-Infinity") else value


def _bound(value: Any) -> Optional[float]:
    """Returns a bound as a number; None if there is none or if it is a list."""
    value = _value(value)
    return float(value) if isinstance(value, (int, float)) else None


class Table:
    """Rows with names for columns. Notebooks show it as a table."""

    def _rows(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    def _notes(self) -> Sequence[str]:
        return ()

    def to_dataframe(self) -> Any:
        """Returns the table as a pandas.DataFrame. Raises ModuleNotFoundError if there is no pandas."""
        return importlib.import_module("pandas").DataFrame(self._rows())

    def _repr_html_(self) -> Optional[str]:
        rows = self._rows()
        names = _columns(rows)
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(_cell(row.get(name)))}</td>" for name in names) + "</tr>" for row in rows)
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self._notes())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"

    def __repr__(self) -> str:
        rows = self._rows()
        names = _columns(rows)
        cells = [names, *([_cell(row.get(name)) for name in names] for row in rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(names))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
        return "\n".join([*lines, *self._notes()])


def _columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns the names of all columns in the order in which they first appear."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _cell(value: Any) -> str:
    """Returns the text of a cell. A number has as many digits as the program printed."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class Results(Table, Sequence[Result]):
    """The answers of one command, in order.

    notes has paragraphs for people, summary has facts about all answers, version is the program's.
    """

    def __init__(self, answer: Answer) -> None:
        self.version = answer.version
        self.command = answer.command
        self.exit_code = answer.exit_code
        self.summary = answer.summary
        self.notes = answer.notes
        self._results = tuple(map(result_of, answer.results))

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Result]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Result, Sequence[Result]]:
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def __bool__(self) -> bool:
        """Refuses to be a condition: that there are answers does not mean that they are true."""
        raise TypeError("results are neither true nor false: use .holds or .value of one of them")

    @property
    def value(self) -> Value:
        """The value of the only result. Raises ValueError if there are several."""
        return self._only().value

    @property
    def holds(self) -> bool:
        """Whether the only property is true. Raises ValueError if there are several results."""
        return self._only().holds

    def _only(self) -> Result:
        if len(self) != 1:
            raise ValueError(f"there are {len(self)} results, want one: select it, as in results[0]")
        return self[0]

    def _notes(self) -> Sequence[str]:
        return self.notes

    def _rows(self) -> list[dict[str, Any]]:
        return [{name: value for name, value in _flat(result.fields) if name not in _NO_COLUMNS} for result in self]


_NO_COLUMNS = ("kind", "witnesses", "listings")  # fields that a table does not show; Result.fields has them


def _flat(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yields the columns of a result: a column for each constant, errors and warnings as texts."""
    for name, value in fields.items():
        if name == "constants":
            yield from value.items()
        elif name == "error":
            yield name, value["message"]
        elif name in ("warnings", "notes"):
            yield name, "; ".join(value)
        elif isinstance(value, Mapping):
            yield from ((f"{name}_{key}", _value(member)) for key, member in value.items())
        else:
            yield name, _value(value)
