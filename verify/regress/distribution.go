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

// compareNumbers changes a failed comparison of two files to a passed one if their numbers differ by at most the relative error that results
// may have, because PRISM computes them by iteration.
func (u *testRun) compareNumbers(compared *report.TestResult, file string, got []byte) {
	want, err := u.read(file)
	if err != nil {
		return
	}
	theirs, ours := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	if len(theirs) != len(ours) {
		return
	}
	for i := range theirs {
		if !closeNumbers(string(theirs[i]), string(ours[i])) {
			compared.Line = i + 1
			compared.Got = fmt.Sprintf("%q instead of %q", ours[i], theirs[i])
			compared.Reason = fmt.Sprintf("line %d differs by more than %g, relatively", i+1, expect.DefaultRelative)
			return
		}
	}
	compared.Outcome, compared.Line, compared.Reason = report.TestPassed, 0, ""
	compared.Got = fmt.Sprintf("the same but for %g, relatively", expect.DefaultRelative)
}

// closeNumbers reports whether two lines have nearly equal numbers, with the same text before the numbers.
func closeNumbers(theirs, ours string) bool {
	if theirs == ours {
		return true
	}
	theirStart, ourStart := strings.IndexByte(theirs, '=')+1, strings.IndexByte(ours, '=')+1
	theirNumber, theirErr := strconv.ParseFloat(theirs[theirStart:], 64)
	ourNumber, ourErr := strconv.ParseFloat(ours[ourStart:], 64)
	return theirs[:theirStart] == ours[:ourStart] && theirErr == nil && ourErr == nil && math.Abs(theirNumber-ourNumber) <= expect.DefaultRelative*math.Abs(ourNumber)
}
