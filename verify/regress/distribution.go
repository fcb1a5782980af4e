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

// writeProbabilities writes the probability of each state: in the long run, or at the time of the switch -transient.
func (e *exporter) writeProbabilities(w io.Writer, exportSwitch string) error {
	times, err := e.exportedTimes(exportSwitch)
	if err != nil {
		return err
	}
	if err := e.buildOnce(); err != nil {
		return err
	}
	options := check.Options{Workers: e.workers}
	exactLongRun := e.engine.Accuracy == result.Exact && times == nil && e.space.Model().Exact()
	if e.switches.Exact || exactLongRun {
		options.Accuracy = result.Exact
	}
	matlab := slices.ContainsFunc(e.switches.Switches, func(option suite.Switch) bool { return option.Name() == "exportmatlab" })
	return check.Distributions(e.ctx, e.space, times, options, func(distribution *check.Distribution) error {
		return distribution.Write(e.ctx, w, e.space, matlab)
	})
}

// exportedTimes returns the time at which a switch exports probabilities; nil for the long run.
func (e *exporter) exportedTimes(exportSwitch string) ([]*big.Rat, error) {
	if !strings.HasPrefix(exportSwitch, "exporttr") {
		return nil, nil
	}
	if e.switches.Transient == "" {
		return nil, errors.New("PRISM writes probabilities at a time only with -transient, which is not there")
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

// compareNumbers compares the numbers of two files that differ as texts. It changes the outcome to TestPassed if each number differs by at most the
// relative error expect.DefaultRelative, because PRISM computes the numbers by iteration. Otherwise it records the first line that differs more.
func (run *testRun) compareNumbers(compared *report.TestResult, file string, got []byte) {
	want, err := run.read(file)
	if err != nil {
		return
	}
	wantLines, gotLines := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	if len(wantLines) != len(gotLines) {
		return
	}
	for i := range wantLines {
		if !closeNumbers(string(wantLines[i]), string(gotLines[i])) {
			compared.Line = i + 1
			compared.Got = fmt.Sprintf("%q instead of %q", gotLines[i], wantLines[i])
			compared.Reason = fmt.Sprintf("line %d differs by more than %g, relatively", i+1, expect.DefaultRelative)
			return
		}
	}
	compared.Outcome, compared.Line, compared.Reason = report.TestPassed, 0, ""
	compared.Got = fmt.Sprintf("the same but for %g, relatively", expect.DefaultRelative)
}

// closeNumbers reports whether two lines of the form "text=number", or "number", are equal except for a small relative difference of the numbers.
func closeNumbers(want, got string) bool {
	if want == got {
		return true
	}
	wantStart, gotStart := strings.IndexByte(want, '=')+1, strings.IndexByte(got, '=')+1
	wantNumber, wantErr := strconv.ParseFloat(want[wantStart:], 64)
	gotNumber, gotErr := strconv.ParseFloat(got[gotStart:], 64)
	if want[:wantStart] != got[:gotStart] || wantErr != nil || gotErr != nil {
		return false
	}
	return math.Abs(wantNumber-gotNumber) <= expect.DefaultRelative*math.Abs(gotNumber)
}
