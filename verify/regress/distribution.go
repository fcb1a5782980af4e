package regress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/native/check"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/verify/expect"
	"tilecheck/verify/suite"
)

// exportsProbabilities reports whether a switch exports a probability for each state.
func exportsProbabilities(name string) bool {
	return slices.Contains([]string{"exportsteadystate", "exportss", "exporttransient", "exporttr"}, strings.TrimLeft(name, "-"))
}

// writeProbabilities writes the probability of each state. The switch says whether these are long-run probabilities, or probabilities at the time
// of the switch -transient.
func (e *exporter) writeProbabilities(w io.Writer, exportSwitch string) error {
	times, err := e.exportedTimes(exportSwitch)
	if err != nil {
		return err
	}
	if err := e.buildOnce(); err != nil {
		return err
	}
	options := check.Options{Workers: e.workers}
	isLongRun := times == nil
	canBeExact := isLongRun && e.space.Model().Exact()
	if e.switches.Exact || canBeExact && e.engine.Accuracy == result.Exact {
		options.Accuracy = result.Exact
	}
	isMatlab := slices.ContainsFunc(e.switches.Switches, func(option suite.Switch) bool { return option.Name() == "exportmatlab" })
	return check.Distributions(e.ctx, e.space, times, options, func(distribution *check.Distribution) error {
		return distribution.Write(e.ctx, w, e.space, isMatlab)
	})
}

// exportedTimes returns the time of the exported probabilities, as a list with one element. It returns nil for the long run.
func (e *exporter) exportedTimes(exportSwitch string) ([]*big.Rat, error) {
	if !strings.HasPrefix(exportSwitch, "exporttr") {
		return nil, nil
	}
	if e.switches.Transient == "" {
		return nil, errors.New("found no switch -transient, want one with the time of the exported probabilities")
	}
	times, err := check.ParseTimes(e.switches.Transient)
	if err != nil {
		return nil, fmt.Errorf("-transient: %w", err)
	}
	if len(times) > 1 {
		return nil, unsupported("files at several times (-transient %s)", e.switches.Transient)
	}
	return times, nil
}

// compareNumbers compares an exported file with the expected file, with a relative tolerance for the number at the end of each line. compared is
// the result of an exact comparison that failed. If all lines agree within the tolerance, the result becomes passed.
func (run *testRun) compareNumbers(compared *report.TestResult, expectedFile string, exported []byte) {
	expected, err := run.read(expectedFile)
	if err != nil {
		return
	}
	expectedLines, exportedLines := bytes.Split(expected, []byte("\n")), bytes.Split(exported, []byte("\n"))
	if len(expectedLines) != len(exportedLines) {
		return
	}
	for i := range expectedLines {
		if !haveCloseNumbers(string(expectedLines[i]), string(exportedLines[i])) {
			compared.Line = i + 1
			compared.Got = fmt.Sprintf("%q instead of %q", exportedLines[i], expectedLines[i])
			compared.Reason = fmt.Sprintf("line %d differs by more than %g, relatively", i+1, expect.DefaultRelative)
			return
		}
	}
	compared.Outcome, compared.Line, compared.Reason = report.TestPassed, 0, ""
	compared.Got = fmt.Sprintf("the same but for %g, relatively", expect.DefaultRelative)
}

// haveCloseNumbers reports whether two lines are equal, or differ only in a final number by at most the default relative error.
func haveCloseNumbers(expectedLine, exportedLine string) bool {
	if expectedLine == exportedLine {
		return true
	}
	expectedState, expectedText := splitNumber(expectedLine)
	exportedState, exportedText := splitNumber(exportedLine)
	if expectedState != exportedState {
		return false
	}
	expected, err := strconv.ParseFloat(expectedText, 64)
	if err != nil {
		return false
	}
	exported, err := strconv.ParseFloat(exportedText, 64)
	if err != nil {
		return false
	}
	return math.Abs(expected-exported) <= expect.DefaultRelative*math.Abs(exported)
}

// splitNumber splits a line such as 3:(1,0)=0.25 after its first "=", into the state and the number. A line without "=" has only a number.
func splitNumber(line string) (state, number string) {
	start := strings.IndexByte(line, '=') + 1 // 0 without =
	return line[:start], line[start:]
}
