package crosscheck

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"tilecheck/certify"
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
	// Refuted says that the answer is proven wrong. near says that it agrees with the proven value, by the rules for two
	// engines' answers.
	Refuted, near bool
	basis         agree.Basis
	// Off is the greatest possible distance of the number from the true value; with several initial states, from the
	// farthest one.
	Off float64
	// States is the number of states for which the engine gave values. StatesOff is the greatest possible distance of
	// one of them from the truth, in the state Worst.
	States    int
	StatesOff float64
	Worst     string
	// Widened says that the engine's values of all states, widened by Within, are a certificate that was checked.
	// No certificate lies within less than AtLeast of the engine's values.
	Widened         bool
	Within, AtLeast float64
}

// ValueTeller is an engine that can return the values of a property in all states, in PRISM's order of states.
type ValueTeller interface {
	Values(ctx context.Context, plan *runner.Plan, task int, model, property sema.Valuation) ([]float64, error)
}

// certifiedWidth is the relative width of the proven intervals that the prover aims at.
const certifiedWidth = 1e-10

// certify proves the true value of every property and judges the answers by it. The proofs are checked by package
// certify, so they do not depend on the engine that found them.
func (c *comparison) certify(ctx context.Context) {
	s := c.subjects[0]
	for i, in := range s.instances {
		var prover *prove.Prover
		space, err := in.Exact(ctx)
		if err == nil {
			prover, err = prove.New(space, prove.Options{Epsilon: certifiedWidth, Ordered: true})
		}
		for _, r := range c.mine {
			if r.instance != i {
				continue
			}
			failure := err
			if failure == nil {
				failure = r.certify(ctx, c, prover, space)
			}
			if failure != nil {
				r.Notes = append(r.Notes, "no certificate: "+check.Failure(failure, s.plan.Job.File, syntax.Pos{}).Message)
			}
		}
	}
}

// certify proves the true value of one property.
func (r *row) certify(ctx context.Context, c *comparison, prover *prove.Prover, space *explicit.Space) error {
	s := c.subjects[0]
	t := s.plan.Tasks[r.task]
	if t.Rejected != nil {
		return t.Rejected
	}
	of, err := t.Instance(space.Program(), r.property)
	if err != nil {
		return err
	}
	i, truth, err := prover.Proven(ctx, &prove.Property{Property: of})
	if err != nil {
		return err
	}
	proven := provenVerdict(truth)
	r.Truth, r.Proofs = proven.Bound, make([]*Proof, len(c.entries))
	known := agree.Read("the certificate", proven, r.questions[0], 0)
	for k := range r.answers {
		if !r.answers[k].Given() {
			continue
		}
		is := agree.Compare(&known, &r.answers[k], agree.Options{Tolerance: c.opt.Tolerance, Precision: c.opt.Precision})
		x := &Proof{Refuted: is.Relation == agree.Different, near: is.Relation == agree.Same, basis: is.Basis}
		r.Proofs[k] = x
		if v := r.Verdicts[k].Value; truth.Number && v.Kind != result.Boolean {
			x.Off = maxDistance(truth.Lower, truth.Upper, v.Num)
			if v.Kind == result.Range {
				x.Off = max(x.Off, maxDistance(truth.Lower, truth.Upper, v.Hi))
			}
			r.judgeAllStates(ctx, c, k, x, prover, i, space)
		}
	}
	return nil
}

// provenVerdict returns what is proven as a verdict.
func provenVerdict(r *certify.Result) *result.Verdict {
	v := &result.Verdict{Accuracy: result.Proven, Value: result.Value{Kind: result.Boolean, Bool: r.Holds}}
	if !r.Number {
		return v
	}
	bound := result.Enclose(r.Lower, r.Upper)
	v.Bound = &bound
	v.Value = result.Value{Kind: result.Number, Num: v.Bound.Lo}
	return v
}

// maxDistance returns the greatest distance of x from a number between lower and upper; nil is infinity.
func maxDistance(lower, upper *big.Rat, x float64) float64 {
	switch {
	case lower == nil && math.IsInf(x, 1):
		return 0
	case upper == nil || math.IsInf(x, 0) || math.IsNaN(x):
		return math.Inf(1)
	}
	at := new(big.Rat).SetFloat64(x)
	most := new(big.Rat)
	for _, end := range []*big.Rat{lower, upper} {
		if d := new(big.Rat).Sub(at, end); d.Abs(d).Cmp(most) > 0 {
			most = d
		}
	}
	_, out := result.Around(most)
	return out
}

// judgeAllStates judges the values that an engine gives for all states.
func (r *row) judgeAllStates(ctx context.Context, c *comparison, k int, x *Proof, prover *prove.Prover, claim int, space *explicit.Space) {
	e, f := c.entries[k], &prover.File
	teller, ok := runner.As[ValueTeller](e.Engine)
	cl := &f.Claims[claim]
	if cl.Vector < 0 { // the claim is a count
		return
	}
	v := &f.Vectors[cl.Vector]
	exact := e.Accuracy == result.Exact || e.Accuracy == result.Unknown && e.subject.plan.Job.Numeric.Accuracy == result.Exact
	if !ok || exact || e.sampling() != "" || cl.Complement || cl.Of != "" || v.Lower == nil || v.Upper == nil {
		return
	}
	plan := e.subject.plan
	if e.Method != "" || e.Accuracy != result.Unknown {
		plan = plan.WithSettings(func(s *runner.Settings) { s.Method, s.Numeric.Accuracy = e.Method, e.Accuracy })
	}
	values, err := teller.Values(ctx, plan, r.task, e.subject.instances[r.instance].valuation, r.property)
	if err == nil && len(values) != space.Model().NumStates() {
		err = fmt.Errorf("found %d values, wanted one for each of %d states", len(values), space.Model().NumStates())
	}
	if err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("%s: the values of all states are not proven: %v", e.label, err))
		return
	}
	order := space.Order()
	x.States = len(values)
	for at, value := range values {
		if d := maxDistance(v.Lower.Rat(at), v.Upper.Rat(at), value); d > x.StatesOff || x.Worst == "" {
			x.StatesOff, x.Worst = d, space.Compiled().StateText(space.State(nil, int(order[at])))
		}
	}
	w, ok := widen(v, values)
	if !ok {
		return
	}
	if err := prover.Accepts(ctx, claim, w.vector); err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("%s: its values of all states are not inductive when they are widened: %v", e.label, err))
		return
	}
	x.Widened = true
	_, x.Within = result.Around(w.distance)
	x.AtLeast, _ = result.Around(w.leastDistance)
}

// text returns what is proven about an answer. truth is the proven interval, nil for true and false.
func (x *Proof) text(truth *result.Interval) string {
	switch {
	case x.Refuted && truth == nil:
		return "is refuted: the contrary is proven"
	case x.Refuted:
		return "is refuted: the true value lies in " + intervalText(truth.Lo, truth.Hi) + ", which is proven"
	case truth == nil:
		return "is proven"
	}
	text := "is proven to " + strconv.FormatFloat(x.Off, 'g', 2, 64)
	if x.States > 0 {
		text += fmt.Sprintf(", in all %d states to %s (the worst is %s)", x.States, strconv.FormatFloat(x.StatesOff, 'g', 2, 64), x.Worst)
	}
	if x.Widened {
		text += "; a certificate by itself when widened by " + strconv.FormatFloat(x.Within, 'g', 2, 64)
		if x.AtLeast > 0 {
			text += ", and not by less than " + strconv.FormatFloat(x.AtLeast, 'g', 2, 64)
		}
	}
	return text
}

// settle makes a refuted answer a disagreement. It makes a row that only one engine answered an agreement if the answer
// is near the proven value.
func (r *row) settle(c *comparison) {
	for k, x := range r.Proofs {
		switch {
		case x == nil:
		case x.Refuted:
			r.Status, r.Basis, r.Reason = Disagree, agree.Proven, c.entries[k].label+"'s "+said(&r.Verdicts[k])+" "+x.text(r.Truth)
			return
		case x.near && r.Status == Unchecked:
			r.Status, r.Basis, r.Reason = Agree, x.basis, ""
		}
	}
}

// proofNotes lists what certificates prove about the answers.
func (r *Report) proofNotes() []string {
	var out []string
	for i := range r.Rows {
		row := &r.Rows[i]
		for k, x := range row.Proofs {
			if x != nil {
				out = append(out, fmt.Sprintf("%s: %s's %s %s", key(row.Property, row.Constants), r.Engines[k], said(&row.Verdicts[k]), x.text(row.Truth)))
			}
		}
	}
	return out
}
