"""Shows what a running program says of its progress, in a terminal or in a notebook."""

from __future__ import annotations

import html
import importlib
import re
import sys
import time
from typing import Any

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_DELAY = 0.5  # seconds before anything is shown


class StderrReader:
    """Separates the standard error of the program into lines and the progress bar, which ends with a carriage return."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.progress = ""
        self._rest = ""

    def feed(self, text: str) -> None:
        """Reads a part of the stream."""
        *ended, self._rest = (self._rest + text).split("\n")
        self.lines.extend(line for line in map(_visible, ended) if line)
        drawn = [part.strip() for part in _ESCAPES.sub("", self._rest).split("\r")]
        self.progress = next((part for part in reversed(drawn) if part), self.progress)

    def end(self) -> None:
        """Takes the rest of the stream as a line if it is no progress bar."""
        if "\r" not in self._rest and self._rest.strip():
            self.lines.append(_visible(self._rest))


def _visible(line: str) -> str:
    """Returns what a terminal would show of a line: the text behind the last carriage return."""
    return _ESCAPES.sub("", line).rstrip("\r").rsplit("\r", 1)[-1].rstrip()


class Display:
    """One line that changes: in the output of a notebook's cell, or on a terminal. Elsewhere it shows nothing."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._began = time.monotonic()
        self._shown = ""
        self._handle: Any = None
        self._notebook = _in_notebook()
        self._terminal = not self._notebook and sys.stderr is not None and sys.stderr.isatty()

    def wanted(self) -> bool:
        """Reports whether somebody sees the progress."""
        return self._notebook or self._terminal

    def update(self, progress: str) -> None:
        """Shows the progress, or the seconds that have passed if the program says nothing."""
        seconds = time.monotonic() - self._began
        text = f"{self._title}: {progress or f'{seconds:.0f} s'}"
        if not self.wanted() or seconds < _DELAY or text == self._shown:
            return
        self._shown = text
        if self._terminal:
            sys.stderr.write("\r\x1b[K" + text[:120])
            sys.stderr.flush()
            return
        content = {"text/plain": text, "text/html": f"<code>{html.escape(text)}</code>"}
        if self._handle is None:
            display = importlib.import_module("IPython.display").display
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)

    def close(self) -> None:
        """Removes the line."""
        if self._shown and self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        if self._handle is not None:
            self._handle.update({"text/plain": "", "text/html": ""}, raw=True)


def _in_notebook() -> bool:
    """Reports whether a Jupyter kernel runs this code."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")
