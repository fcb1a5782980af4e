package native

import (
	"context"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/native/check"
	"tilecheck/native/explain/subsystem"
	"tilecheck/native/explain/witness"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// maxWitness is the largest number of paths that are added up to exceed a bound.
const maxWitness = 1_000_000

// checkAndWitness checks a property and adds its witnesses. If there is no witness, the verdict has a warning, or an error if the
// context has ended.
func (b *states) checkAndWitness(ctx context.Context, p *check.Property) result.Verdict {
	r, v, err := b.checker.Reach(ctx, p)
	if err == nil {
		err = b.witnesses(ctx, r, &v)
	}
	if err == nil || v.Err != nil {
		return v
	}
	if ctx.Err() != nil {
		return unfinished(v, b.missing(&v), check.Failure(err, p.File, p.Pos))
	}
	v.Warnings = append(slices.Clip(v.Warnings), noWitness+check.Failure(err, p.File, p.Pos).Message)
	return v
}

// Witness checks as Check does, and adds the most likely path to each verdict that has one.
func (e *Engine) Witness(ctx context.Context, plan *runner.Plan) ([]result.Verdict, error) {
	plan = plan.WithSettings(func(s *runner.Settings) { s.Method = runner.States })
	return e.Check(ctx, plan.WithOutputs(func(o *runner.Outputs) {
		o.Witness, o.Scheduler, o.Certificate = &runner.Witness{Paths: 1}, nil, nil
	}))
}

// question asks for a set of paths, as a witness of a property.
type question struct {
	holds  bool     // the formula holds on the paths; otherwise it fails on them
	exceed *big.Rat // their probability exceeds this; nil asks for the most likely paths
	reach  bool     // it is sufficient that their probability reaches exceed
	shown  bool     // such paths prove the answer to the property
}

// ask returns the question whose paths show that a bound p holds or fails: either the formula has a probability of more than p, or
// its negation one of more than 1-p.
func ask(r *check.Reach, v *result.Verdict) question {
	satisfied := v.Value.Bool
	isLowerBound := r.Rel == syntax.OpGe || r.Rel == syntax.OpGt
	isStrict := r.Rel == syntax.OpGt || r.Rel == syntax.OpLt
	q := question{holds: isLowerBound == satisfied, exceed: r.Bound, shown: !satisfied || r.Choices == nil}
	if !q.holds {
		q.exceed = new(big.Rat).Sub(big.NewRat(1, 1), r.Bound)
	}
	q.reach = isStrict != satisfied
	return q
}

// witnesses finds the witnesses of a verdict. If the context ends, the last witness may be incomplete.
func (b *states) witnesses(ctx context.Context, r *check.Reach, v *result.Verdict) error {
	var all []question
	switch {
	case r.Bound != nil:
		all = []question{ask(r, v)}
	case b.wants.Witness.Misses:
		all = []question{{holds: true}, {}}
	default:
		all = []question{{holds: true}}
	}
	for _, q := range all {
		w, chain, err := b.witness(ctx, r, q)
		if w != nil {
			v.Witnesses = append(v.Witnesses, *w)
			b.answered(v)
		}
		if err == nil && b.wants.Witness.Part && q.exceed != nil && q.shown {
			err = b.part(ctx, &v.Witnesses[len(v.Witnesses)-1], &subsystem.Question{
				Space: r.Space, Chain: chain, Formula: pathFormula(r, q), From: r.From, Bound: q.exceed, Reach: q.reach,
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pathFormula returns the set of paths that answer a question.
func pathFormula(r *check.Reach, q question) *witness.PathFormula {
	return &witness.PathFormula{Left: r.Left, Right: r.Right, Low: r.Steps.Low, High: r.Steps.High, Violating: q.holds == r.Negated}
}

// witness finds the paths that answer a question, and the Markov chain that has them. If the context ends, it returns the paths
// found so far.
func (b *states) witness(ctx context.Context, r *check.Reach, q question) (*result.Witness, *witness.Chain, error) {
	chain, err := witness.New(ctx, r.Space.Model(), pathFormula(r, q), r.Choices, r.From)
	if err != nil {
		return nil, nil, err
	}
	paths, err := chain.Paths(ctx)
	if err != nil {
		return nil, nil, err
	}
	limit, bound := maxWitness, q.exceed
	if bound == nil {
		limit, bound = b.wants.Witness.Paths, big.NewRat(1, 1)
	}
	set, err := witness.Exceed(ctx, paths, bound, q.reach, limit, b.wants.Witness.Paths)
	if set.Count == 0 && err != nil {
		return nil, nil, err
	}
	w := &result.Witness{Holds: q.holds, Scheduler: r.Choices != nil, Count: set.Count, All: set.All, Longest: set.Steps, Paths: []result.WitnessPath{}}
	if w.Sum, w.SumFraction = result.WitnessNumber(set.Sum); err != nil {
		w.SumFraction = "" // a lower bound
	}
	if q.exceed != nil {
		w.Wanted = map[bool]string{true: ">=", false: ">"}[q.reach] + q.exceed.RatString()
		w.Enough, w.Shown = set.Enough, set.Enough && q.shown
	}
	d := &describer{chain: chain, m: r.Space.Model(), r: r}
	for _, p := range set.Paths {
		w.Paths = append(w.Paths, d.path(p))
	}
	if b.generated != nil {
		w.Columns = b.generated.Columns(r.Space.Program())
	}
	return w, chain, err
}

// part finds a critical subsystem, first of states, then of commands.
func (b *states) part(ctx context.Context, w *result.Witness, q *subsystem.Question) error {
	states, err := subsystem.States(ctx, q)
	if err != nil {
		return err
	}
	p := &result.WitnessPart{States: states.Kept.Count(), Of: states.Candidates, Minimal: states.Minimal}
	p.Lower, _ = result.WitnessNumber(states.Lower)
	w.Part = p
	if b.tree == nil {
		return nil
	}
	commands, err := subsystem.Commands(ctx, q, states)
	if err != nil {
		return err
	}
	prog := q.Space.Program()
	var list []result.WitnessCommand
	for n := range commands.Kept.All() {
		m, cmd := subsystem.TextOf(b.tree, prog, n)
		text, err := subsystem.CommandText(cmd)
		if err != nil {
			return err
		}
		list = append(list, result.WitnessCommand{Module: m.Name.Name, File: b.tree.File, Line: cmd.Pos().Line, Text: text})
	}
	p.Commands, p.OfCommands, p.CommandsMinimal = list, commands.Candidates, commands.Minimal
	p.LowerCommands, _ = result.WitnessNumber(commands.Lower)
	if b.wants.Witness.Model == nil {
		return nil
	}
	text, err := subsystem.Model(b.tree, prog, commands.Kept)
	if err != nil {
		return err
	}
	return b.wants.Witness.Model(text)
}

// describer writes paths with the names of the model.
type describer struct {
	chain *witness.Chain
	m     *sparse.Model
	r     *check.Reach
	state []int32
}

func (d *describer) path(p *witness.Path) result.WitnessPath {
	out := result.WitnessPath{}
	out.Probability, out.Fraction = result.WitnessNumber(p.Prob)
	for i, v := range p.Nodes {
		s := result.WitnessStep{Probability: 1, State: d.valuation(int(d.chain.State[v]))}
		if i > 0 {
			from := p.Nodes[i-1]
			s.Action, s.Probability = d.action(from, d.chain.State[v]), d.probability(from, v)
		}
		out.Steps = append(out.Steps, s)
	}
	return out
}

func (d *describer) valuation(s int) result.Valuation {
	d.state = d.r.Space.State(d.state, s)
	var out result.Valuation
	for i, x := range d.r.Space.Program().Vars {
		text := strconv.Itoa(int(d.state[i]))
		if x.Type == sema.Bool {
			text = strconv.FormatBool(d.state[i] != 0)
		}
		out = append(out, result.Constant{Name: x.Name, Value: text})
	}
	return out
}

func (d *describer) probability(from, to uint32) result.JSONNumber {
	m := d.chain.Model
	first, end := m.Row(int(from))
	for i := first; i < end; i++ {
		if m.Target[i] == to {
			return result.JSONNumber(m.Prob(i))
		}
	}
	return 0 // not reached: a path has transitions
}

// action returns the action of a step. In a Markov chain several transitions may lead to the same state: it returns all of them.
func (d *describer) action(from, to uint32) string {
	if d.m.Actions == nil {
		return ""
	}
	names := d.r.Space.Program().Actions
	c := d.chain.Choice[from]
	if d.m.Kind == sparse.MDP {
		if a := d.m.Actions[c]; a != sparse.NoAction {
			return names[a-1]
		}
		return ""
	}
	var out []string
	first, end := d.m.Row(int(c))
	for i := first; i < end; i++ {
		if a := d.m.Actions[i]; d.m.Target[i] == to && a != sparse.NoAction {
			out = append(out, names[a-1])
		}
	}
	return strings.Join(out, "|")
}
