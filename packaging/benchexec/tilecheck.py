# Tool-info module of tilecheck for BenchExec (https://github.com/sosy-lab/benchexec), version 3.3 or later.
#
# Copy it into benchexec/tools/, or name it in the benchmark definition: tool="tilecheck" with the folder on PYTHONPATH
# as a package (tool="mytools.tilecheck"). docs/bench.md shows a run.
#
# SPDX-License-Identifier: Apache-2.0

import benchexec.result as result
import benchexec.tools.template


class Tool(benchexec.tools.template.BaseTool2):
    """tilecheck, a probabilistic model checker: it compares the values of models with the expected ones."""

    def executable(self, tool_locator):
        return tool_locator.find_executable("tilecheck")

    def name(self):
        return "tilecheck"

    def version(self, executable):
        return self._version_from_tool(executable, arg="version", line_prefix="tilecheck")

    def cmdline(self, executable, options, task, rlimits):
        limits = []
        if rlimits.memory:
            limits = ["--memory", f"{rlimits.memory // 1000}kB"]
        return [executable, "test", "--no-cache", "--quiet", *limits, *options, *task.input_files]

    def determine_result(self, run):
        # The exit codes of the README. BenchExec itself notices its limits.
        return {
            0: result.RESULT_TRUE_PROP,
            2: result.RESULT_FALSE_PROP,
            3: "ERROR (engines disagree)",
            4: "TIMEOUT" if any("time limit" in line for line in run.output) else "OUT OF MEMORY",
            80: "ERROR (usage)",
        }.get(run.exit_code.value, result.RESULT_ERROR)

    def get_value_from_output(self, output, identifier):
        # <column title="passed">passed</column>: the number in front of the word in the last line, "3 passed in 5ms".
        words = output[-1].replace(",", " ").split() if output else []
        for number, word in zip(words, words[1:]):
            if word == identifier:
                return number
        return None
