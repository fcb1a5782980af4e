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

// probabilities reports whether an export has a probability for each state.
func probabilities(name string) bool {
	return slices.Contains([]string{"exportsteadystate", "exportss", "exporttransient", "exporttr"}, strings.TrimLeft(name, "-"))
}

// probabilities writes the probability of each state, in the long run or at the time of the switch -transient.
func (e *exporter) probabilities(w io.Writer, name string) error {
	var times []*big.Rat
	if strings.HasPrefix(name, "exporttr") {
		if e.switches.Transient == "" {
			return errors.New("PRISM writes probabilities at a time only with -transient, which is not there")
		}
		var err error
		if times, err = check.ParseTimes(e.switches.Transient); err != nil {
			return fmt.Errorf("-transient: %w", err)
		}
		if len(times) > 1 {
			return refusal("files at several times (-transient %s)", e.switches.Transient)
		}
	}
	if err := e.build(); err != nil {
		return err
	}
	opts := check.Options{Workers: e.workers}
	if e.switches.Exact || e.entrant.Accuracy == result.Exact && times == nil && e.space.Model().Exact() {
		opts.Accuracy = result.Exact
	}
	matlab := slices.ContainsFunc(e.switches.Switches, func(s suite.Switch) bool { return s.Name() == "exportmatlab" })
	return check.Distributions(e.ctx, e.space, times, opts, func(d *check.Distribution) error { return d.Write(e.ctx, w, e.space, matlab) })
}

// compareNumbers lets a file of numbers pass if they are as close to ours as results must be, because PRISM computes
// them by iteration.
func (u *unit) compareNumbers(r *report.TestResult, file string, got []byte) {
	want, err := u.read(file)
	if err != nil {
		return
	}
	theirs, ours := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	if len(theirs) != len(ours) {
		return
	}
	for i := range theirs {
		if !sameNumbers(string(theirs[i]), string(ours[i])) {
			r.Line = i + 1
			r.Got = fmt.Sprintf("%q instead of %q", ours[i], theirs[i])
			r.Reason = fmt.Sprintf("line %d differs by more than %g, relatively", i+1, expect.DefaultRelative)
			return
		}
	}
	r.Outcome, r.Line, r.Reason = report.TestPassed, 0, ""
	r.Got = fmt.Sprintf("the same but for %g, relatively", expect.DefaultRelative)
}

// sameNumbers compares lines with a number, which may follow the number of a state.
func sameNumbers(theirs, ours string) bool {
	if theirs == ours {
		return true
	}
	i, j := strings.IndexByte(theirs, '=')+1, strings.IndexByte(ours, '=')+1
	x, errX := strconv.ParseFloat(theirs[i:], 64)
	y, errY := strconv.ParseFloat(ours[j:], 64)
	return theirs[:i] == ours[:j] && errX == nil && errY == nil && math.Abs(x-y) <= expect.DefaultRelative*math.Abs(y)
}
