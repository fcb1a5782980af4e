"""Tests of how the program is found, run, stopped, and distrusted."""

import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import tilecheck
from tilecheck._progress import Display, StderrReader

LARGE = "dtmc\nmodule M\n  x : [0..100000000];\n  [] x<100000000 -> (x'=x+1);\n  [] x=100000000 -> true;\nendmodule\n"


def alive(pid: int) -> bool:
    """Reports whether a process runs."""
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


class ProgramTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def replace(self, script: str) -> None:
        """Makes a shell script the program until the end of the test."""
        file = self.folder / "double"
        file.write_text("#!/bin/sh\n" + script)
        file.chmod(0o755)
        patch = mock.patch.dict(os.environ, TILECHECK=str(file))
        patch.start()
        self.addCleanup(patch.stop)

    def test_no_program(self) -> None:
        with mock.patch.dict(os.environ, TILECHECK="", PATH=str(self.folder)):
            self.assertRaisesRegex(tilecheck.ProgramNotFoundError, "no tilecheck on PATH", tilecheck.check, LARGE, "P=? [ F x=1 ]")
        with mock.patch.dict(os.environ, TILECHECK="/missing"):
            self.assertRaisesRegex(tilecheck.ProgramNotFoundError, "TILECHECK=/missing", tilecheck.check, LARGE, "P=? [ F x=1 ]")

    def test_other_schema(self) -> None:
        self.replace("""echo '{"tilecheck": "9", "schema": 4, "command": "check", "results": [], "notes": []}'""")
        self.assertRaisesRegex(tilecheck.ProgramNotFoundError, "schema 4, want 3", tilecheck.check, LARGE, "P=? [ F x=1 ]")

    def test_no_answer_is_an_error(self) -> None:
        for script, message in [
            ("echo all is well", "exit code 0 and without an answer"),
            ("echo panic >&2; exit 2", "exit code 2 and without an answer\npanic"),
            ("kill -9 $$", "exit code -9"),
            ("""echo '{"tilecheck": "0", "schema": 3, "command": "check", "results": [], "notes": ["none asked"]}'""", "nothing was checked\nnone asked"),
        ]:
            with self.subTest(script):
                self.replace(script)
                self.assertRaisesRegex(tilecheck.TilecheckError, message, tilecheck.check, LARGE, "P=? [ F x=1 ]")

    def interrupt(self, script: str) -> None:
        """Runs a script, which writes its number to the file pid, until KeyboardInterrupt, and checks that it ends within a second."""
        self.replace(script)
        bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        self.addCleanup(bystander.wait)
        self.addCleanup(bystander.kill)
        interrupted: list[float] = []

        def interrupt() -> None:
            interrupted.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(1, interrupt)
        timer.start()
        self.addCleanup(timer.cancel)
        with self.assertRaises(KeyboardInterrupt):
            tilecheck.check(LARGE, "P=? [ F x=100000000 ]")
        self.assertLess(time.monotonic() - interrupted[0], 1.3)  # a second, and a machine that has other work
        self.assertFalse(alive(int((self.folder / "pid").read_text())))
        self.assertIsNone(bystander.poll(), "another process was killed")

    def test_interrupt(self) -> None:
        self.interrupt(f'echo $$ >"{self.folder}/pid"\nexec "{tilecheck.program()}" "$@"')

    def test_interrupt_of_a_program_that_ignores_it(self) -> None:
        self.interrupt(f'trap "" INT\necho $$ >"{self.folder}/pid"\nsleep 60')


class ProgressTest(unittest.TestCase):
    def test_lines_and_bars(self) -> None:
        reader = StderrReader()
        reader.feed("warning: a\n\rbuilding 10\x1b[0m %   \r")
        self.assertEqual((reader.lines, reader.progress), (["warning: a"], "building 10 %"))
        reader.feed("\rbuilding 20 %\r      \rnote")
        reader.feed(": b\nlast")
        reader.end()
        self.assertEqual(reader.lines, ["warning: a", "note: b", "last"])

    def test_terminal(self) -> None:
        screen = io.StringIO()
        with mock.patch.object(sys, "stderr", screen), mock.patch.object(screen, "isatty", return_value=True):
            with mock.patch("tilecheck._progress._DELAY", 0):
                display = Display("tilecheck check")
                display.update("building 10 %")
                display.close()
        self.assertEqual(screen.getvalue(), "\r\x1b[Ktilecheck check: building 10 %\r\x1b[K")

    @unittest.skipIf(sys.platform == "win32", "there is no progress on Windows")
    def test_progress_of_the_program(self) -> None:
        shown: list[str] = []
        with mock.patch.object(Display, "wanted", return_value=True), mock.patch.object(Display, "update", lambda _, text: shown.append(text)):
            with self.assertRaises(tilecheck.LimitError):
                tilecheck.check(LARGE, "P=? [ F x=100000000 ]", timeout="2s")
        self.assertTrue(any("building the state space" in text for text in shown), shown)

    def test_no_terminal_shows_nothing(self) -> None:
        screen = io.StringIO()
        with mock.patch.object(sys, "stderr", screen):
            Display("tilecheck check").update("building 10 %")
        self.assertEqual(screen.getvalue(), "")


if __name__ == "__main__":
    unittest.main()
