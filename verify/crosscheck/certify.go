package crosscheck

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/internal/interval"
	"tilecheck/internal/noun"
	"tilecheck/native/check"
	"tilecheck/native/prove"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/runner"
)

// Proof is what a certificate proves about an engine's answer.
type Proof struct {
	// Refuted says that the answer is proven wrong. agrees says that it agrees with the proven value, by the rules for two
	// engines' answers.
	Refuted, isConfirmed bool
	confirmedBasis       agree.Basis
	// MaxError is an upper bound of the distance of the answer from the true value. With several initial states, it is
	// the largest of their bounds.
	MaxError float64
	// States is the number of states for which the engine gave values. MaxStateError is an upper bound of the distance
	// of these values from the true ones. WorstState is the state for which it is largest.
	States        int
	MaxStateError float64
	WorstState    string
	// Widened says that the engine's values of all states, widened by WideningDistance, are a certificate that was checked.
	// LeastDistance is a lower bound of the distance for every certificate.
	Widened                         bool
	WideningDistance, LeastDistance float64
}

// StateValuer is an engine that can return the values of a property in all states, in PRISM's order of states.
type StateValuer interface {
	Values(ctx context.Context, plan *runner.Plan, task int, model, property sema.Valuation) ([]float64, error)
}

// certifiedWidth is the relative width of the proven intervals that the prover aims at.
const certifiedWidth = 1e-10

// proveRows tries to find a certificate of the true value of every property of the first model. It judges the answers of the engines by this
// value. A row without a certificate gets a note with the reason.
func (c *comparison) proveRows(ctx context.Context) {
	for i, instance := range c.models[0].instances {
		space, prover, proverErr := newProver(ctx, instance)
		for _, row := range c.rowsToCheck {
			if row.instance != i {
				continue
			}
			err := proverErr
			if err == nil {
				err = row.prove(ctx, c, prover, space)
			}
			if err != nil {
				row.Notes = append(row.Notes, "no certificate: "+check.Failure(err, c.models[0].plan.Job.File, syntax.Pos{}).Message)
			}
		}
	}
}

// newProver returns the exact state space of a model, and a prover for it.
func newProver(ctx context.Context, instance *instance) (*explicit.Space, *prove.Prover, error) {
	space, err := instance.Exact(ctx)
	if err != nil {
		return nil, nil, err
	}
	prover, err := prove.New(space, prove.Options{Epsilon: certifiedWidth, Ordered: true})
	return space, prover, err
}

// provenProperty is a property with its proven value.
type provenProperty struct {
	truth  *certify.Result // what the check of the certificate shows
	prover *prove.Prover   // has the certificate
	claim  int             // the index of the claim about the property in the certificate
	space  *explicit.Space
}

// prove finds a certificate of the true value of the property of the row, and judges the answers of all engines by this value. It returns an
// error if it finds no certificate.
func (r *row) prove(ctx context.Context, comparison *comparison, prover *prove.Prover, space *explicit.Space) error {
	task := comparison.models[0].plan.Tasks[r.task]
	if task.Rejected != nil {
		return task.Rejected
	}
	property, err := task.Instance(space.Program(), r.property)
	if err != nil {
		return err
	}
	claim, truth, err := prover.Proven(ctx, &prove.Property{Property: property})
	if err != nil {
		return err
	}
	proven := &provenProperty{truth: truth, prover: prover, claim: claim, space: space}
	verdict := provenVerdict(truth)
	r.Truth, r.Proofs = verdict.Bound, make([]*Proof, len(comparison.engineRuns))
	const confidence = 0 // the value is not sampled
	provenAnswer := agree.ReadAnswer("the certificate", verdict, r.questions[0], confidence)
	for engine := range r.answers {
		if r.answers[engine].IsGiven() {
			r.Proofs[engine] = r.judgeByTruth(ctx, comparison, engine, &provenAnswer, proven)
		}
	}
	return nil
}

// judgeByTruth compares the answer of an engine, given by its index, with the proven value. It returns what the proof shows about the answer. If
// the engine can also return the values of all states, it compares them with the proven bounds.
func (r *row) judgeByTruth(ctx context.Context, comparison *comparison, engine int, provenAnswer *agree.Answer, proven *provenProperty) *Proof {
	outcome := agree.Compare(provenAnswer, &r.answers[engine], comparison.agreeOptions())
	proof := &Proof{Refuted: outcome.Relation == agree.Different, isConfirmed: outcome.Relation == agree.Same, confirmedBasis: outcome.Basis}
	value, truth := r.Verdicts[engine].Value, proven.truth
	if !truth.Number || value.Kind == result.Boolean {
		return proof
	}
	proof.MaxError = maxDistance(truth.Lower, truth.Upper, value.Num)
	if value.Kind == result.Range {
		proof.MaxError = max(proof.MaxError, maxDistance(truth.Lower, truth.Upper, value.Hi))
	}
	r.judgeAllStates(ctx, comparison.engineRuns[engine], proof, proven)
	return proof
}

// provenVerdict converts the result of a checked certificate to a verdict.
func provenVerdict(proven *certify.Result) *result.Verdict {
	verdict := &result.Verdict{Accuracy: result.Proven, Value: result.Value{Kind: result.Boolean, Bool: proven.Holds}}
	if !proven.Number {
		return verdict
	}
	bound := interval.Between(proven.Lower, proven.Upper)
	verdict.Bound = &bound
	verdict.Value = result.Value{Kind: result.Number, Num: verdict.Bound.Lo}
	return verdict
}

// maxDistance returns an upper bound of the distance of a number from any value between lower and upper. A nil bound is plus infinity.
func maxDistance(lower, upper *big.Rat, number float64) float64 {
	isInfinite := lower == nil
	switch {
	case isInfinite && math.IsInf(number, 1):
		return 0
	case upper == nil || math.IsInf(number, 0) || math.IsNaN(number):
		return math.Inf(1)
	}
	exact := new(big.Rat).SetFloat64(number)
	maximum := new(big.Rat)
	for _, bound := range []*big.Rat{lower, upper} {
		if distance := new(big.Rat).Sub(exact, bound); distance.Abs(distance).Cmp(maximum) > 0 {
			maximum = distance
		}
	}
	return interval.Around(maximum).Hi
}

// judgeAllStates compares an engine's values of all states with the proven bounds, and stores the greatest error in proof. It also tests whether the engine's
// values are nearly a certificate: whether bounds that are widened by a constant to contain them are still a certificate.
func (r *row) judgeAllStates(ctx context.Context, run *engineRun, proof *Proof, proven *provenProperty) {
	engineValues, givesValues := runner.As[StateValuer](run.Engine)
	if !givesValues || run.computesFractions() || run.samplingMethod() != "" {
		return
	}
	bounds := proven.bounds()
	if bounds == nil {
		return
	}
	values, err := r.valuesOfAllStates(ctx, run, engineValues, proven.space.Model().NumStates())
	if err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("%s: the values of all states are not proven: %v", run.label, err))
		return
	}
	proof.recordErrors(bounds, values, proven.space)
	widening, canWiden := widen(bounds, values)
	if !canWiden {
		return
	}
	if err := proven.prover.Accepts(ctx, proven.claim, widening.vector); err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("%s: its values of all states are not inductive when they are widened: %v", run.label, err))
		return
	}
	proof.Widened = true
	proof.WideningDistance = interval.Around(widening.distance).Hi
	proof.LeastDistance = interval.Around(widening.leastDistance).Lo
}

// valuesOfAllStates returns an engine's values of all states. states is the wanted number of values.
func (r *row) valuesOfAllStates(ctx context.Context, run *engineRun, valuer StateValuer, states int) ([]float64, error) {
	plan := run.model.plan
	if run.Method != "" || run.Accuracy != result.Unknown {
		plan = plan.WithSettings(func(settings *runner.Settings) { settings.Method, settings.Numeric.Accuracy = run.Method, run.Accuracy })
	}
	values, err := valuer.Values(ctx, plan, r.task, run.model.instances[r.instance].valuation, r.property)
	if err == nil && len(values) != states {
		err = fmt.Errorf("found %d values, wanted one for each of %d states", len(values), states)
	}
	return values, err
}

// bounds returns the proven lower and upper bounds of the value in each state; nil if the certificate does not have both.
func (p *provenProperty) bounds() *certificate.Vector {
	claim := &p.prover.File.Claims[p.claim]
	if claim.Vector < 0 || claim.Complement || claim.Operator != "" { // the claim is about another quantity than the vector
		return nil
	}
	vector := &p.prover.File.Vectors[claim.Vector]
	if vector.Lower == nil || vector.Upper == nil {
		return nil
	}
	return vector
}

// recordErrors records the greatest possible error of an engine's values of all states, and the state with this error. The values and the bounds are in
// PRISM's order of states.
func (p *Proof) recordErrors(bounds *certificate.Vector, values []float64, space *explicit.Space) {
	order := space.Order()
	p.States = len(values)
	for i, value := range values {
		distance := maxDistance(bounds.Lower.Rat(i), bounds.Upper.Rat(i), value)
		if distance > p.MaxStateError || p.WorstState == "" {
			p.MaxStateError = distance
			p.WorstState = space.Compiled().StateText(space.State(nil, int(order[i])))
		}
	}
}

// computesFractions reports whether the engine computes in rational arithmetic. The accuracy of the engine takes precedence over the accuracy of
// the job.
func (e *engineRun) computesFractions() bool {
	if e.Accuracy != result.Unknown {
		return e.Accuracy == result.Exact
	}
	return e.model.plan.Job.Numeric.Accuracy == result.Exact
}

// text describes in words what the proof shows about an answer. truth is the proven interval; nil if the property is true or false.
func (p *Proof) text(truth *result.Interval) string {
	switch {
	case p.Refuted && truth == nil:
		return "is refuted: the contrary is proven"
	case p.Refuted:
		return "is refuted: the true value lies in " + intervalText(truth.Lo, truth.Hi) + ", which is proven"
	case truth == nil:
		return "is proven"
	}
	text := "is proven to " + twoDigits(p.MaxError)
	if p.States > 0 {
		text += fmt.Sprintf(", in all %s to %s (the worst is %s)", noun.Count(p.States, "state"), twoDigits(p.MaxStateError), p.WorstState)
	}
	if p.Widened {
		text += "; a certificate by itself when widened by " + twoDigits(p.WideningDistance)
		if p.LeastDistance > 0 {
			text += ", and not by less than " + twoDigits(p.LeastDistance)
		}
	}
	return text
}

// twoDigits returns a number with two digits; an infinite error is "Infinity".
func twoDigits(x float64) string {
	if name, special := result.SpecialNumber(x); special {
		return name
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

// judgeByProofs sets the status Disagree if a certificate refutes an answer. It sets the status Agree if a certificate confirms the only answer.
func (r *row) judgeByProofs(comparison *comparison) {
	for engine, proof := range r.Proofs {
		switch {
		case proof == nil: // no answer, or no certificate
		case proof.Refuted:
			r.Status, r.Basis = Disagree, agree.Proven
			r.Reason = comparison.engineRuns[engine].label + "'s " + verdictText(&r.Verdicts[engine]) + " " + proof.text(r.Truth)
			return
		case proof.isConfirmed && r.Status == Unchecked:
			r.Status, r.Basis, r.Reason = Agree, proof.confirmedBasis, ""
		}
	}
}

// proofNotes returns a note for every answer that was compared with a certificate.
func (r *Report) proofNotes() []string {
	var notes []string
	for i := range r.Rows {
		row := &r.Rows[i]
		for engine, proof := range row.Proofs {
			if proof == nil {
				continue
			}
			answer := r.Engines[engine] + "'s " + verdictText(&row.Verdicts[engine])
			notes = append(notes, fmt.Sprintf("%s: %s %s", key(result.NamedProperty(row.Name, row.Property), row.Constants), answer, proof.text(row.Truth)))
		}
	}
	return notes
}
