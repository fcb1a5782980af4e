"""Checks probabilistic models with the program tilecheck.

    import tilecheck
    tilecheck.check("die.prism", "P=? [ F d=6 ]", exact=True).value

The program is the one that the environment variable TILECHECK names, or tilecheck on PATH. A model is a path, or a text
of PRISM's language, which has several lines. A keyword that no parameter has is an option of the command:
max_states=1000 is --max-states=1000, exact=True is --exact.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from ._graph import State, StateGraph, Transition, read_graph
from ._pictures import Picture
from ._process import Answer, ask, program, write
from ._results import Result, Results, Table
from .errors import LimitError, NothingCheckedError, Place, ProgramNotFoundError, TilecheckError, TilecheckWarning, UsageError

__all__ = [
    "Experiment", "LimitError", "NothingCheckedError", "Path", "Picture", "Place", "ProgramNotFoundError", "Result", "Results",
    "State", "StateGraph", "Step", "Table", "TilecheckError", "TilecheckWarning", "Transition", "UsageError",
    "check", "compare", "compare_players", "crosscheck", "experiment", "explore", "export", "program", "simulate",
]  # fmt: skip

Model = Union[str, "os.PathLike[str]"]
Properties = Union[str, "os.PathLike[str]", Sequence[str]]
Constants = Mapping[str, Any]


def check(model: Model, properties: Properties, constants: Constants = {}, **options: Any) -> Results:
    """Checks properties of a model. A property is a text, or several in a list; a path (pathlib.Path) is a properties file.

    Raises TilecheckError if nothing could be checked. If some properties have no value, reading their values raises the error.
    """
    return _checked(_ask_model(["check"], model, properties, constants, options))


def crosscheck(model: Model, properties: Properties = (), constants: Constants = {}, **options: Any) -> Results:
    """Compares the answers of several engines, engine=["native", "native:exact"] for example, or with state_space=True their states.

    The outcome of each result is agree, disagree, undecided or unchecked. Raises NothingCheckedError if nothing was compared.
    """
    results = _checked(_ask_model(["crosscheck"], model, properties, constants, options))
    if all(result.outcome in ("unchecked", "not compared") for result in results):
        reason = next((result.fields["reason"] for result in results if "reason" in result.fields), "no engine answered")
        raise NothingCheckedError("\n".join([f"no answers were compared: {reason}", *results.notes]), results.exit_code)
    return results


def compare(*strategies: str, **options: Any) -> Results:
    """Checks models of the game 2048 for several strategies: compare("random", "orthogonal", max=[64, 128])."""
    return _checked(ask(["compare", "models"], [*_options(options), *strategies], None))


def compare_players(*strategies: str, **options: Any) -> Results:
    """Has strategies of the game 2048 play, and says who is better."""
    return _checked(ask(["compare", "players"], [*_options(options), *strategies], None))


class Experiment(Results):
    """The answers for each combination of constants. plot is the chart of them, None if there is none."""

    plot: Optional[Picture] = None


def experiment(model: Model, properties: Properties, constants: Constants, **options: Any) -> Experiment:
    """Checks properties for ranges of constants, and draws the values.

    A value of constants is a value, a text "0:0.1:1" (first, step, last), a Python range, or a list.
    With a list the program runs once for each of its values, and there is no plot.
    """
    lists = {name: value for name, value in constants.items() if isinstance(value, (list, tuple))}
    if not lists:
        return _plotted(model, properties, constants, options)
    runs = [
        _ask_model(["check"], model, properties, {**constants, **dict(zip(lists, values))}, options)
        for values in itertools.product(*lists.values())
    ]
    if not runs:
        raise NothingCheckedError("a list of constants is empty")
    return _checked_experiment(_joined(runs), None)


def _plotted(model: Model, properties: Properties, constants: Constants, options: Mapping[str, Any]) -> Experiment:
    """Runs an experiment in one run, which draws its plot. Truth values have no plot."""
    with tempfile.TemporaryDirectory(prefix="tilecheck-") as folder:
        file = FilePath(folder, "plot.svg")
        try:
            answer = _ask_model(["check"], model, properties, constants, {**options, "plot": file})
        except TilecheckError as error:
            if not error.results or "plot.svg" not in error.message:
                raise
            answer = _ask_model(["check"], model, properties, constants, options)
        plot = Picture(file.read_text(encoding="utf-8")) if file.exists() else None
        return _checked_experiment(answer, plot)


def _checked_experiment(answer: Answer, plot: Optional[Picture]) -> Experiment:
    """Returns the answers with their plot. Raises an exception if nothing was checked."""
    _checked(answer)
    experiment = Experiment(answer)
    experiment.plot = plot
    return experiment


def _joined(runs: Sequence[Answer]) -> Answer:
    """Returns the answers of several runs as one."""
    results = tuple(result for run in runs for result in run.results)
    notes = tuple(dict.fromkeys(note for run in runs for note in run.notes))
    code = max(run.exit_code for run in runs)
    return Answer(runs[0].version, runs[0].command, code, {}, results, notes)


@dataclass(frozen=True)
class Step:
    """A state of a path and the step into it. time is when a CTMC enters the state."""

    number: int
    variables: Mapping[str, Union[int, bool]]
    action: str = ""
    time: Optional[float] = None
    probability: Optional[float] = None


class Path(Table, Sequence[Step]):
    """A path of a model. seed in one of the notes repeats it."""

    def __init__(self, answer: Answer) -> None:
        self.notes = answer.notes
        self._fields = answer.results
        self._steps = tuple(
            Step(f["step"], f.get("variables", {}), f.get("action", ""), f.get("time"), f.get("probability")) for f in answer.results
        )

    def __getitem__(self, index: Any) -> Any:
        return self._steps[index]

    def __len__(self) -> int:
        return len(self._steps)

    def _notes(self) -> Sequence[str]:
        return self.notes

    def _rows(self) -> list[dict[str, Any]]:
        rows = []
        for fields in self._fields:
            row = {"step": fields["step"], "action": fields.get("action", ""), **fields.get("variables", {})}
            row.update((name, fields[name]) for name in ("time", "probability") if name in fields)
            for rewards in ("state_rewards", "step_rewards"):
                row.update((f"{rewards} {name}", value) for name, value in fields.get(rewards, {}).items())
            rows.append(row)
        return rows


def simulate(model: Model, constants: Constants = {}, **options: Any) -> Path:
    """Draws a random path: simulate(model, steps=100, seed=1, rewards=True)."""
    return Path(_ask_model(["simulate"], model, (), constants, options))


def explore(model: Model, constants: Constants = {}, max_states: int = 1000, **options: Any) -> StateGraph:
    """Builds the reachable states of a small model. Raises LimitError if there are more than max_states."""
    with tempfile.TemporaryDirectory(prefix="tilecheck-") as folder:
        write(["export"], *_model(model, [f"--output={folder}/m.sta,tra,lab", *_constants(constants), *_options({**options, "max_states": max_states})]))
        return read_graph(FilePath(folder, "m.sta"), FilePath(folder, "m.tra"), FilePath(folder, "m.lab"))


def export(model: Model, *files: Union[str, "os.PathLike[str]"], constants: Constants = {}, **options: Any) -> None:
    """Writes the state space to files, whose endings say the formats: export(model, "m.tra,sta,lab", "m.dot")."""
    if not files:
        raise UsageError("export has no file to write")
    outputs = [f"--output={os.fspath(file)}" for file in files]
    write(["export"], *_model(model, [*outputs, *_constants(constants), *_options(options)]))


def _ask_model(command: Sequence[str], model: Model, properties: Properties, constants: Constants, options: Mapping[str, Any]) -> Answer:
    """Runs a command about a model and properties."""
    flags = [*_constants(constants), *_options(options)]
    file: list[str] = []
    if isinstance(properties, str):
        flags.append(f"--prop={properties}")
    elif isinstance(properties, os.PathLike):
        file = [_argument(os.fspath(properties))]
    else:
        flags += [f"--prop={text}" for text in properties]
    arguments, text = _model(model, flags)
    return ask(command, [*arguments, *file], text)


def _checked(answer: Answer) -> Results:
    """Returns the results. Raises an exception if no property has a value."""
    results = Results(answer)
    errors = [result.error for result in results if result.error is not None and "value" not in result.fields]
    if errors and len(errors) == len(results):
        raise errors[0]
    if len(results) == 0:
        raise NothingCheckedError("\n".join(["nothing was checked", *results.notes]), answer.exit_code)
    return results


def _model(model: Model, flags: Sequence[str]) -> tuple[list[str], Optional[str]]:
    """Returns the arguments with the model, and the text of standard input. A text of several lines is a model, not a path."""
    if isinstance(model, str) and "\n" in model:
        return [*flags, "-"], model
    return [*flags, _argument(os.fspath(model))], None


def _argument(path: str) -> str:
    """Returns a path that is not read as a flag or as standard input."""
    return f"./{path}" if path.startswith("-") else path


def _constants(constants: Constants) -> list[str]:
    """Returns the flags for the values of constants."""
    return [f"--const={name}={_text(value)}" for name, value in constants.items()]


def _text(value: Any) -> str:
    """Returns the value of a constant or option as the command line has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, range):
        if len(value) == 0 or value.step < 0:
            raise ValueError(f"{value} is no ascending range with values")
        return f"{value.start}:{value.step}:{value[-1]}"
    return str(value)  # a path, too


def _options(options: Mapping[str, Any]) -> Iterable[str]:
    """Yields the flags of options. True is a flag without a value; False and None are left out; a list repeats the flag."""
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is True:
                yield flag
            elif item is not None and item is not False:
                yield f"{flag}={_text(item)}"
