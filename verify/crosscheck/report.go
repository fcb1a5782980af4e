package crosscheck

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/verify/validity"
)

// Status is the result of a cross-check for one property under one valuation.
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
	// Basis is the strength of the evidence for the status: the weakest basis of the answers; empty
	// when Status is Unchecked or Invalid.
	Basis  agree.Basis
	Reason string // never empty unless Status is Agree
	// Notes name engines that did not answer, doubtful values and, unless Status is
	// Agree, different numbers of states.
	Notes []string
	// Truth is the interval in which the value lies, proven by a certificate; nil without a
	// certificate or if the value is a truth value. Proofs says what follows for each of
	// the Verdicts; nil without a certificate.
	Truth  *result.Interval
	Proofs []*Proof
}

// Validity is the result of the strict check of a model.
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
	First, Second string // the tools or models that the spaces are from
	Constants     []result.Constant
	Difference    *Difference     // the first one found, nil if there is none
	Err           *result.Failure // why they could not be compared

	instance int // index of the valuation
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

// ExitCode returns ExitDisagree if answers or state spaces differ or a model is invalid, and ExitAgree if the engines agree on every property. If
// something was not decided, it returns ExitLimit for a limit of time or memory, and ExitOpen for other reasons.
func (r *Report) ExitCode() int {
	if r.disagrees() {
		return ExitDisagree
	}
	code := ExitAgree
	diagnosisFailed := func(diagnosis Diagnosis) bool { return diagnosis.Err != nil }
	if len(r.Rows) == 0 || slices.ContainsFunc(r.Diagnoses, diagnosisFailed) {
		code = ExitOpen
	}
	for i := range r.Rows {
		code = max(code, r.Rows[i].exitCode())
	}
	return code
}

// exitCode returns the exit code of an undecided or unchecked row: ExitLimit if an engine reached a limit of time or memory, ExitOpen otherwise.
// Other rows have ExitAgree, also if the engines disagree.
func (r *Row) exitCode() int {
	if r.Status != Undecided && r.Status != Unchecked {
		return ExitAgree
	}
	reachedLimit := func(verdict result.Verdict) bool { return verdict.Err != nil && verdict.Err.Class.Limited() }
	if slices.ContainsFunc(r.Verdicts, reachedLimit) {
		return ExitLimit
	}
	return ExitOpen
}

// disagrees reports whether answers or state spaces differ, or a model is invalid.
func (r *Report) disagrees() bool {
	for i := range r.Rows {
		if r.Rows[i].Status == Disagree || r.Rows[i].Status == Invalid {
			return true
		}
	}
	for _, model := range r.Models {
		if model.Validity == Broken {
			return true
		}
	}
	return slices.ContainsFunc(r.Diagnoses, func(diagnosis Diagnosis) bool { return diagnosis.Difference != nil })
}

// Count returns the number of rows with a status.
func (r *Report) Count(status Status) int {
	count := 0
	for i := range r.Rows {
		if r.Rows[i].Status == status {
			count++
		}
	}
	return count
}

// String returns a line such as "3 agree, 1 unchecked" with the number of rows of each status. It adds a note if only the state spaces differ.
func (r *Report) String() string {
	var counts []string
	for _, status := range []Status{Agree, Disagree, Undecided, Unchecked, Invalid} {
		if n := r.Count(status); n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, status))
		}
	}
	text := cmp.Or(strings.Join(counts, ", "), "nothing was compared")
	rowsDisagree := r.Count(Disagree)+r.Count(Invalid) > 0
	if !rowsDisagree && r.countModelDifferences() > 0 {
		text += "; but the models differ (their first difference is below)"
	}
	return text
}

// countModelDifferences returns the number of diagnoses with a difference.
func (r *Report) countModelDifferences() int {
	count := 0
	for i := range r.Diagnoses {
		if r.Diagnoses[i].Difference != nil {
			count++
		}
	}
	return count
}
