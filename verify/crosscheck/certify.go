package crosscheck

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"tilecheck/certify"
	"tilecheck/native/explicit"
	"tilecheck/native/explicit/check"
	"tilecheck/native/explicit/prove"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/agree"
)

// Proof is what a certificate says of the answer of an engine.
type Proof struct {
	// Refuted says that the answer cannot be true; otherwise it is proven. What is near
	// agrees with the truth as with another engine's answer.
	Refuted, near bool
	basis         agree.Basis
	// Off is how far a number is from the truth, at most; what is proven of several
	// initial states it is of the farthest.
	Off float64
	// States is of how many states the engine told values, and StatesOff how far the
	// worst of them is off at most, that of state Worst.
	States    int
	StatesOff float64
	Worst     string
	// Widened says that what the engine told of all states, widened by so much, is a
	// certificate by itself, from both sides, and was checked; none is that lies within
	// less than AtLeast of it.
	Widened         bool
	Within, AtLeast float64
}

// ValueTeller is an engine that can tell the values of a property in all states, in
// the order of PRISM.
type ValueTeller interface {
	Values(ctx context.Context, plan *runner.Plan, task int, model, property sema.Valuation) ([]float64, error)
}

// certifiedWidth is the relative width of the intervals that are proven, if that can be had.
const certifiedWidth = 1e-10

// certify proves the truth of every property, and judges the answers by it. What
// decides is the checker of certificates; who found them need not be believed.
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

// certify proves the truth of one property.
func (r *row) certify(ctx context.Context, c *comparison, prover *prove.Prover, space *explicit.Space) error {
	s := c.subjects[0]
	t := s.plan.Tasks[r.task]
	if t.Rejected != nil {
		return t.Rejected
	}
	props, full, err := t.Source.Props.Instantiate(space.Program(), []int{t.Index}, r.property.Map())
	if err != nil {
		return err
	}
	p := &prove.Property{Property: props[0], Program: full, File: t.Source.File}
	i, truth, err := prover.Proven(ctx, p)
	if err != nil {
		return err
	}
	proven := verdictOf(truth)
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
			x.Off = off(truth.Lower, truth.Upper, v.Num)
			if v.Kind == result.Range {
				x.Off = max(x.Off, off(truth.Lower, truth.Upper, v.Hi))
			}
			r.states(ctx, c, k, x, prover, i, space)
		}
	}
	return nil
}

// verdictOf is what is proven, as an engine would say it.
func verdictOf(r *certify.Result) *result.Verdict {
	v := &result.Verdict{Accuracy: result.Proven, Value: result.Value{Kind: result.Boolean, Bool: r.Holds}}
	if !r.Number {
		return v
	}
	bound := result.Enclose(r.Lower, r.Upper)
	v.Bound = &bound
	v.Value = result.Value{Kind: result.Number, Num: v.Bound.Lo}
	return v
}

// off is how far a number is at most from what lies between two others; nil is infinity.
func off(lower, upper *big.Rat, x float64) float64 {
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

// states judges what an engine tells of all states.
func (r *row) states(ctx context.Context, c *comparison, k int, x *Proof, prover *prove.Prover, claim int, space *explicit.Space) {
	e, f := c.entries[k], &prover.File
	teller, ok := runner.As[ValueTeller](e.Engine)
	cl := &f.Claims[claim]
	if cl.Vector < 0 { // a count
		return
	}
	v := &f.Vectors[cl.Vector]
	exact := e.Accuracy == result.Exact || e.Accuracy == result.Unknown && e.subject.plan.Job.Numeric.Accuracy == result.Exact
	if !ok || exact || e.sampling() != "" || cl.Complement || cl.Of != "" || v.Lower == nil || v.Upper == nil {
		return
	}
	plan := e.subject.plan
	if e.Method != "" || e.Accuracy != result.Unknown {
		plan = plan.With(func(job *runner.Job) { job.Method, job.Numeric.Accuracy = e.Method, e.Accuracy })
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
		if d := off(v.Lower.Rat(at), v.Upper.Rat(at), value); d > x.StatesOff || x.Worst == "" {
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
	_, x.Within = result.Around(w.by)
	x.AtLeast, _ = result.Around(w.least)
}

// text says what is proven of an answer, whose truth lies in an interval unless that is nil.
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

// settle makes an answer that is refuted a disagreement, and one that nobody else gave
// an agreement with what is proven.
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

// proven lists what certificates say of the answers.
func (r *Report) proven() []string {
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
