"""State graphs of small models."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path as FilePath
from typing import Any, Optional, Union

from ._pictures import Picture, draw_graph, join
from ._results import Table

Weight = Union[int, float, Fraction, str]

_CHAINS = ("DTMC", "CTMC", "IDTMC")  # models whose states have one choice
_DRAWN = 200  # states of the largest graph that is drawn


@dataclass(frozen=True)
class State:
    """A state with the values of its variables and the names of its labels."""

    number: int
    variables: dict[str, Union[int, bool]]
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Transition:
    """A transition. choice is the number of the choice in its state; weight is a probability, a rate, or an interval as a text."""

    source: int
    choice: int
    target: int
    weight: Weight
    action: str = ""


@dataclass(frozen=True, repr=False)
class StateGraph(Table):
    """The reachable states of a model. Notebooks show a small one as a picture. kind is DTMC, MDP, CTMC, ..."""

    kind: str
    states: tuple[State, ...]
    transitions: tuple[Transition, ...]

    @property
    def initial(self) -> list[int]:
        """The numbers of the initial states."""
        return [state.number for state in self.states if "init" in state.labels]

    def picture(self) -> Picture:
        """Draws the graph. Raises ValueError if it has more than 200 states."""
        if len(self.states) > _DRAWN:
            raise ValueError(f"a picture of {len(self.states)} states cannot be read: want at most {_DRAWN}")
        texts: dict[tuple[int, int], list[str]] = {}
        several = {t.source for t in self.transitions if t.choice > 0}
        for t in self.transitions:
            choice = t.action or (f"#{t.choice}" if t.source in several else "")
            texts.setdefault((t.source, t.target), []).append(f"{choice} {_short(t.weight)}".strip())
        boxes = []
        for state in self.states:
            labels = ", ".join(label for label in state.labels if label != "init")
            boxes.append([join(state.variables), labels] if labels else [join(state.variables)])
        return draw_graph(boxes, {edge: "; ".join(parts) for edge, parts in texts.items()}, self.initial)

    def _repr_svg_(self) -> Optional[str]:
        return self.picture().svg if len(self.states) <= _DRAWN else None

    def _repr_html_(self) -> Optional[str]:
        return self.picture()._repr_html_() if len(self.states) <= _DRAWN else super()._repr_html_()

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {
                **{f"{name}": value for name, value in self.states[t.source].variables.items()},
                "action": t.action,
                "weight": t.weight,
                **{f"{name}'": value for name, value in self.states[t.target].variables.items()},
            }
            for t in self.transitions
        ]


def read_graph(states: FilePath, transitions: FilePath, labels: FilePath) -> StateGraph:
    """Reads the files .sta, .tra and .lab that tilecheck export has written."""
    labels_of = _read_labels(labels.read_text(encoding="utf-8"))
    kind, arrows = _read_transitions(transitions.read_text(encoding="utf-8"))
    names, *lines = _without_comments(states.read_text(encoding="utf-8"))
    variables = names.strip("()").split(",")
    found = []
    for line in lines:
        number, valuation = line.split(":", 1)
        values = map(_variable, valuation.strip("()").split(","))
        found.append(State(int(number), dict(zip(variables, values)), labels_of.get(int(number), ())))
    return StateGraph(kind, tuple(found), arrows)


def _read_labels(text: str) -> dict[int, tuple[str, ...]]:
    """Returns the names of the labels of each state that has some."""
    head, *lines = _without_comments(text)
    names = dict(re.findall(r'(\d+)="([^"]*)"', head))
    split = (line.split(":", 1) for line in lines)
    return {int(state): tuple(names[number] for number in numbers.split()) for state, numbers in split}


def _read_transitions(text: str) -> tuple[str, tuple[Transition, ...]]:
    """Returns the kind of the model and its transitions."""
    found = re.match(r"# Transitions \((\w+)\)", text)
    kind = found[1] if found else ""
    _, *lines = _without_comments(text)
    transitions = []
    for line in lines:
        source, *rest = line.split()
        choice = 0 if kind in _CHAINS else int(rest.pop(0))
        target, weight, *action = rest
        # In a game the number of the player is behind that of the state.
        transitions.append(Transition(int(source.split(":")[0]), choice, int(target), _weight(weight), "".join(action)))
    return kind, tuple(transitions)


def _without_comments(text: str) -> list[str]:
    """Returns the lines that are neither empty nor comments."""
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _variable(text: str) -> Union[int, bool]:
    """Returns the value of a variable."""
    return text == "true" if text in ("true", "false") else int(text)


def _weight(text: str) -> Weight:
    """Returns a weight: a fraction if the file has fractions, the text itself if it is an interval."""
    if "/" in text:
        return Fraction(text)
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        return text


def _short(weight: Weight) -> str:
    """Returns a weight with at most four digits, for pictures."""
    return f"{weight:.4g}" if isinstance(weight, float) else str(weight)
