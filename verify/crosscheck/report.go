package crosscheck

import (
	"fmt"
	"slices"

	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/verify/validity"
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

// Row is one property under one valuation of the constants.
type Row struct {
	Property, Name string // as in result.Verdict
	Constants      []result.Constant
	// Verdicts are the engines' latest, in the order of Report.Engines.
	Verdicts []result.Verdict
	Status   Status
	// Basis is what the status rests on, the weakest of the answers' bases; empty
	// when Status is Unchecked or Invalid.
	Basis  agree.Basis
	Reason string // never empty unless Status is Agree
	// Notes are further things to know: engines that did not answer, doubts, and,
	// unless Status is Agree, different numbers of states.
	Notes []string
	// Truth is the interval that a certificate proves of the value, nil without one or
	// of a truth value; and Proofs, nil without one, what follows for the Verdicts.
	Truth  *result.Interval
	Proofs []*Proof
}

// Validity is what is known of a model before any engine is believed.
type Validity = validity.Validity

// The validities.
const (
	Valid      = validity.Valid
	Sampled    = validity.Sampled
	Broken     = validity.Broken
	NotChecked = validity.NotChecked
)

// ModelCheck is the strict check of a model under one valuation of its
// constants: that no update leaves the range of its variable and that
// probabilities are not negative, are numbers and sum to one.
type ModelCheck = validity.Check

// Diagnosis compares two state spaces under one valuation of the constants.
type Diagnosis struct {
	First, Second string // whose they are
	Constants     []result.Constant
	Difference    *Difference     // the first one found, nil if there is none
	Err           *result.Failure // why they could not be compared

	instance int // of the constants
}

// Report is the outcome of a cross-check.
type Report struct {
	Engines []string // the labels of the engines, or of their models
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
	ExitLimit    = 4
)

// ExitCode is ExitDisagree if a property or a state space is different or a
// model is invalid: what was compared is not right. Otherwise it is ExitOpen if
// anything was left undecided or unchecked, or there was nothing to compare, but
// ExitLimit if an engine reached a limit of time or memory there, and
// ExitAgree if every property agreed. That a model was too large for the strict
// check, or is of a kind that it does not know, changes nothing: Models says so.
func (r *Report) ExitCode() int {
	code := ExitAgree
	if len(r.Rows) == 0 {
		code = ExitOpen
	}
	limited := func(v result.Verdict) bool { return v.Err != nil && v.Err.Class.Limited() }
	for i := range r.Rows {
		switch r.Rows[i].Status {
		case Disagree, Invalid:
			return ExitDisagree
		case Undecided, Unchecked:
			if code = max(code, ExitOpen); slices.ContainsFunc(r.Rows[i].Verdicts, limited) {
				code = ExitLimit
			}
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
			code = max(code, ExitOpen)
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
		text = ", nothing was compared"
	}
	if r.Count(Disagree)+r.Count(Invalid) == 0 && r.differ() > 0 { // which is why the exit code is ExitDisagree
		text += "; but the models differ"
	}
	return text[2:]
}

// differ counts the pairs of state spaces that are different.
func (r *Report) differ() int {
	n := 0
	for i := range r.Diagnoses {
		if r.Diagnoses[i].Difference != nil {
			n++
		}
	}
	return n
}
