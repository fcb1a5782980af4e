package crosscheck

import (
	"fmt"

	"tilecheck/result"
)

// Status is what a cross-check says about one property under one valuation.
type Status string

// The statuses.
const (
	Agree     Status = "agree"
	Disagree  Status = "disagree"
	Undecided Status = "undecided"
	Unchecked Status = "unchecked" // fewer than two engines answered
	Invalid   Status = "invalid"   // the model is wrong, whatever engines say
)

// Basis is what a status rests on.
type Basis string

// The bases. A comparison has the weakest of its answers' bases.
const (
	Proven      Basis = "proven"      // fractions, bounds and truth values that hold for certain
	Estimated   Basis = "estimated"   // a value of floating-point arithmetic or of an iteration without bounds
	Statistical Basis = "statistical" // confidence intervals that hold with Report.Confidence
)

// Row is one property under one valuation of the constants.
type Row struct {
	Property, Name string // as in result.Verdict
	Constants      []result.Constant
	// Verdicts are the engines' latest, in the order of Report.Engines.
	Verdicts []result.Verdict
	Status   Status
	Basis    Basis  // empty when Status is Unchecked or Invalid
	Reason   string // never empty unless Status is Agree
	// Notes are further things to know: engines that did not answer, different
	// counts of states.
	Notes []string
}

// Validity is what is known of a model before any engine is believed.
type Validity string

// The validities.
const (
	Valid      Validity = "valid"       // in every reachable state
	Sampled    Validity = "sampled"     // along random paths; there are too many states
	Broken     Validity = "invalid"     // ModelCheck.Failure says where
	NotChecked Validity = "not checked" // ModelCheck.Failure says why
)

// ModelCheck is the strict check of a model under one valuation of its
// constants: that no update leaves the range of its variable and that
// probabilities are not negative, are numbers and sum to one.
type ModelCheck struct {
	Model     string // the file
	Constants []result.Constant
	Validity  Validity
	// States, Choices and Transitions are those of the state space, when there is one.
	States, Choices, Transitions int
	// Deterministic says that no reachable state has several choices.
	Deterministic bool
	Failure       *result.Failure
	Note          string // what Sampled looked at
}

// Diagnosis compares two state spaces under one valuation of the constants.
type Diagnosis struct {
	First, Second string // whose they are
	Constants     []result.Constant
	Difference    *Difference     // the first one found, nil if there is none
	Err           *result.Failure // why they could not be compared
}

// Report is the outcome of a cross-check.
type Report struct {
	Engines []string // the labels of the entrants, or of their models
	Models  []ModelCheck
	Rows    []Row
	// Diagnoses of Run compare the tools' state spaces with ours where engines
	// disagree; those of Against compare the models.
	Diagnoses []Diagnosis
	// Confidence is the probability, over the random numbers, that every
	// statistical comparison of the run is right; 1 if there was none.
	Confidence float64
	Notes      []string // how to read the statuses
	Seconds    float64
}

// The exit codes.
const (
	ExitAgree    = 0
	ExitOpen     = 1
	ExitDisagree = 3
)

// ExitCode is ExitDisagree if a property or a state space is different or a
// model is invalid: what was compared is not right. Otherwise it is ExitOpen if
// anything was left undecided or unchecked, or there was nothing to compare, and
// ExitAgree if every property agreed. That a model was too large for the strict
// check, or is of a kind that it does not know, changes nothing: Models says so.
func (r *Report) ExitCode() int {
	code := ExitAgree
	if len(r.Rows) == 0 {
		code = ExitOpen
	}
	for i := range r.Rows {
		switch r.Rows[i].Status {
		case Disagree, Invalid:
			return ExitDisagree
		case Undecided, Unchecked:
			code = ExitOpen
		}
	}
	for _, m := range r.Models {
		if m.Validity == Broken {
			return ExitDisagree
		}
	}
	for i := range r.Diagnoses {
		switch d := &r.Diagnoses[i]; {
		case d.Difference != nil:
			return ExitDisagree
		case d.Err != nil:
			code = ExitOpen
		}
	}
	return code
}

// Count returns the number of rows with a status.
func (r *Report) Count(s Status) int {
	n := 0
	for i := range r.Rows {
		if r.Rows[i].Status == s {
			n++
		}
	}
	return n
}

// String is a sentence for the whole report.
func (r *Report) String() string {
	text := ""
	for _, s := range []Status{Agree, Disagree, Undecided, Unchecked, Invalid} {
		if n := r.Count(s); n > 0 {
			text += fmt.Sprintf(", %d %s", n, s)
		}
	}
	if text == "" {
		return "nothing was compared"
	}
	return text[2:]
}
