"""Runs the program tilecheck."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from dataclasses import dataclass
from typing import IO, Any, Callable, Mapping, Optional, Sequence

from ._progress import Display, StderrReader
from .errors import Place, ProgramNotFoundError, TilecheckError, TilecheckWarning, error_of, places_of

SCHEMA = 3  # the version of the JSON that this package reads

_POLL = 0.1  # seconds between two looks at a running program
_PATIENCE = 0.8  # seconds that an interrupted program has to end by itself


@dataclass(frozen=True)
class Finished:
    """A run that has ended."""

    exit_code: int
    stdout: str
    lines: tuple[str, ...]  # of standard error


@dataclass(frozen=True)
class Answer:
    """What a command printed in JSON."""

    version: str
    command: str
    exit_code: int
    summary: Mapping[str, Any]
    results: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]


def program() -> str:
    """Returns the path of the program: the value of the environment variable TILECHECK, or tilecheck on PATH."""
    named = os.environ.get("TILECHECK", "")
    found = shutil.which(named or "tilecheck")
    if found is None:
        where = f"TILECHECK={named} is no program" if named else "there is no tilecheck on PATH"
        raise ProgramNotFoundError(f"{where}: install it, or let the environment variable TILECHECK name it")
    return found


def ask(command: Sequence[str], arguments: Sequence[str], text: Optional[str]) -> Answer:
    """Runs a command and returns what it answers in JSON. text is its standard input.

    Raises an exception if the command could not begin or did not end. Warnings of the results are issued as TilecheckWarning.
    """
    finished = run([*command, "--format=json", *arguments], text)
    try:
        envelope = json.loads(finished.stdout)
    except ValueError:
        raise _unreadable(finished) from None
    if envelope.get("schema") != SCHEMA:
        raise ProgramNotFoundError(f"{program()} prints JSON of schema {envelope.get('schema')}, want {SCHEMA}: install this package and tilecheck from one version")
    results = tuple(envelope["results"])
    error = envelope.get("error")
    _warn(_remarks(finished.lines, results))
    if error is not None:
        raise error_of(error.get("exit_code", finished.exit_code), _with_source(error["message"], finished.lines), places_of(error), results)
    if finished.exit_code not in (0, 1, 2, 3, 4):
        raise _unreadable(finished)
    notes = [*envelope["notes"], *_beginning_with("note: ", finished.lines)]
    return Answer(envelope["tilecheck"], envelope["command"], finished.exit_code, envelope.get("summary", {}), results, tuple(dict.fromkeys(notes)))


def write(command: Sequence[str], arguments: Sequence[str], text: Optional[str]) -> None:
    """Runs a command that writes files and prints no JSON. Raises an exception if it fails."""
    finished = run([*command, *arguments], text)
    _warn(_beginning_with("warning: ", finished.lines))
    if finished.exit_code == 0:
        return
    message = "\n".join(line for line in finished.lines if not line.startswith("warning: ")).strip()
    message = message[len("tilecheck: ") :] if message.startswith("tilecheck: ") else message
    places = [Place(p[1], int(p[2]), int(p[3]), p[4]) for p in re.finditer(r"^(.+?):(\d+):(\d+): (.*)$", message, re.M)]
    raise error_of(finished.exit_code, message or f"ended with exit code {finished.exit_code}", places)


def run(arguments: Sequence[str], text: Optional[str]) -> Finished:
    """Runs the program to its end. Whatever interrupts that, KeyboardInterrupt for example, stops the program, too."""
    path = program()
    display = Display("tilecheck " + arguments[0])
    ours, theirs = _stderr_pipe(display.wanted())
    # In a session of its own the program does not get the Ctrl-C of the terminal beside ours, and can be stopped with all its children.
    process = subprocess.Popen(
        [path, "--no-color", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    stderr = StderrReader()
    output: list[bytes] = []
    assert process.stdin is not None and process.stdout is not None
    stdin, stdout = process.stdin, process.stdout
    tasks = [
        _start(lambda: _send(stdin, text)),
        _start(lambda: _collect(stdout, output)),
        _start(lambda: _receive(ours, stderr)),
    ]
    try:
        for task in tasks:
            while task.is_alive():
                task.join(_POLL)
                display.update(stderr.progress)
        exit_code = process.wait()
    except BaseException:
        _stop(process)
        raise
    finally:
        display.close()
    stderr.end()
    return Finished(exit_code, b"".join(output).decode("utf-8", "replace"), tuple(stderr.lines))


def _start(task: Callable[[], None]) -> threading.Thread:
    """Runs a task in a thread that does not keep Python from ending."""
    thread = threading.Thread(target=task, daemon=True)
    thread.start()
    return thread


def _send(stdin: IO[bytes], text: Optional[str]) -> None:
    """Writes the standard input of the program."""
    try:
        with stdin:
            stdin.write((text or "").encode())
    except BrokenPipeError:
        pass  # it ended without reading; its exit code and message say why


def _collect(stdout: IO[bytes], output: list[bytes]) -> None:
    """Reads the standard output of the program to its end."""
    with stdout:
        output.append(stdout.read())


def _receive(source: int, reader: StderrReader) -> None:
    """Reads the standard error of the program to its end."""
    with open(source, "rb", buffering=0) as stream:
        while True:
            try:
                part = stream.read(4096)
            except OSError:  # Linux says so if the other end of a terminal is closed
                return
            if not part:
                return
            reader.feed(part.decode("utf-8", "replace"))


def _stderr_pipe(progress: bool) -> tuple[int, int]:
    """Returns both ends of a pipe. With progress it is a terminal, because the program draws its progress only there."""
    if sys.platform != "win32" and progress:
        import pty
        import tty

        ours, theirs = pty.openpty()
        tty.setraw(theirs)
        return ours, theirs
    return os.pipe()


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Interrupts the program, and kills it if it does not end in time. Only the program and its children get the signals."""
    if sys.platform == "win32":
        process.kill()
        return
    try:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(_PATIENCE)
    except ProcessLookupError:
        pass  # it has ended
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _warn(remarks: Sequence[str]) -> None:
    """Issues warnings at the line that has called this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    for remark in remarks:
        warnings.warn(remark, TilecheckWarning, stacklevel=level)


def _beginning_with(prefix: str, lines: Sequence[str]) -> list[str]:
    """Returns the texts of the lines with a prefix, without it."""
    return [line[len(prefix) :] for line in lines if line.startswith(prefix)]


def _remarks(lines: Sequence[str], results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns each warning and doubt of a run once."""
    remarks = _beginning_with("warning: ", lines)
    for result in results:
        remarks.extend(result.get("warnings", ()))
        if result.get("doubt"):
            remarks.append(result["doubt"])
    return list(dict.fromkeys(remarks))


def _with_source(message: str, lines: Sequence[str]) -> str:
    """Adds the line of the text and the mark below it that standard error has behind the message."""
    first = message.splitlines()[0] if message else ""
    for i, line in enumerate(lines):
        if first and line.endswith(first):
            source = [line for line in lines[i + 1 : i + 3] if line.startswith(" ")]
            return "\n".join([message, *source])
    return message


def _unreadable(finished: Finished) -> TilecheckError:
    """Returns the exception for a run that printed no JSON, for example because it was killed."""
    said = "\n".join(finished.lines[-5:])
    return TilecheckError(f"tilecheck ended with exit code {finished.exit_code} and without an answer\n{said}".rstrip(), finished.exit_code)
