package prove

import (
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
	"tilecheck/native/explicit/automata"
	"tilecheck/native/explicit/solve"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// automaton translates a path formula that takes one. The minimum is one minus the maximum
// of the negation.
func (t *translation) automaton(x sema.Expr, dir solve.Direction) (value, error) {
	a := &certificate.Automaton{}
	f, err := t.formula(a, x)
	if err != nil {
		return value{}, err
	}
	v := certificate.Vector{Kind: certificate.PathFormula, Reward: -1, Automaton: a, Max: t.max(solve.Max)}
	complement := v.Max && dir == solve.Min
	if a.Formula = f; complement {
		a.Formula = &certificate.Formula{Op: "!", X: f}
	}
	return value{t.vector(v), complement}, nil
}

// someFormula translates E and A of a path formula that takes an automaton. What holds of all
// paths fails of none.
func (t *translation) someFormula(forall bool, x sema.Expr) (int, error) {
	a := &certificate.Automaton{}
	f, err := t.formula(a, x)
	if err != nil {
		return 0, err
	}
	if a.Formula = f; forall {
		a.Formula = &certificate.Formula{Op: "!", X: f}
	}
	v := t.vector(certificate.Vector{Kind: certificate.PathFormula, Reward: -1, Automaton: a, Max: true, Paths: true})
	some := t.set(certificate.Set{Kind: certificate.Bound, Vector: v, Relation: ">=", Threshold: big.NewRat(1, 1)})
	if forall {
		some = t.not(some)
	}
	return some, nil
}

// formula translates a path formula over sets, which become propositions.
func (t *translation) formula(a *certificate.Automaton, x sema.Expr) (*certificate.Formula, error) {
	if x.Type() == sema.Bool {
		set, err := t.nested(x)
		return proposition(a, set), err
	}
	switch x := x.(type) {
	case *sema.Unary:
		f, err := t.formula(a, x.X)
		return &certificate.Formula{Op: "!", X: f}, err
	case *sema.Binary:
		f, err := t.formula(a, x.X)
		if err != nil {
			return nil, err
		}
		g, err := t.formula(a, x.Y)
		op, ok := map[syntax.Op]string{syntax.OpAnd: "&", syntax.OpOr: "|", syntax.OpImplies: "=>"}[x.Op]
		if !ok {
			op = "<=>"
		}
		return &certificate.Formula{Op: op, X: f, Y: g}, err
	case *sema.Temporal:
		return t.temporalFormula(a, x)
	}
	return nil, t.refuse(x, "such a path formula")
}

// maxPropositions is how many a letter has bits for.
const maxPropositions = 64

func proposition(a *certificate.Automaton, set int) *certificate.Formula {
	if set == all {
		return &certificate.Formula{Op: "true"}
	}
	i := slices.Index(a.Sets, set)
	if i < 0 {
		i = len(a.Sets)
		a.Sets = append(a.Sets, set)
	}
	return &certificate.Formula{Op: "p", Prop: i}
}

func (t *translation) temporalFormula(a *certificate.Automaton, x *sema.Temporal) (*certificate.Formula, error) {
	var left *certificate.Formula
	if x.X != nil {
		var err error
		if left, err = t.formula(a, x.X); err != nil {
			return nil, err
		}
	}
	y, err := t.formula(a, x.Y)
	if err != nil {
		return nil, err
	}
	if len(a.Sets) > maxPropositions {
		return nil, t.refuse(x, "a path formula with more than %d state formulas", maxPropositions)
	}
	op := map[syntax.TemporalOp]string{
		syntax.Next: "X", syntax.Future: "F", syntax.Globally: "G", syntax.Until: "U", syntax.WeakUntil: "W", syntax.Release: "R",
	}[x.Op]
	out := &certificate.Formula{Op: op, X: left, Y: y}
	if left == nil {
		out.X, out.Y = y, nil
	}
	if x.Bound == nil {
		return out, nil
	}
	if t.p.Program.Type == syntax.CTMC {
		return nil, t.refuse(x, "a time bound among several temporal operators")
	}
	if op == "W" && x.Bound.Low != nil {
		return nil, t.refuse(x, "a weak until (W) with a lower bound")
	}
	from, to, err := steps(x.Bound)
	if op == "W" { // f W g is !((f & !g) U (!f & !g))
		not := func(f *certificate.Formula) *certificate.Formula { return &certificate.Formula{Op: "!", X: f} }
		out = &certificate.Formula{Op: "U", X: &certificate.Formula{Op: "&", X: left, Y: not(y)}, Y: &certificate.Formula{Op: "&", X: not(left), Y: not(y)}}
		y, out = out, not(out)
	} else {
		y = out
	}
	if y.Low = from; to != solve.Unbounded {
		y.High = &to
	}
	return out, err
}

// maxAutomaton is how many entries the table of an automaton may have.
const maxAutomaton = 200_000

// build makes the automaton for the letters that there are.
func build(a *certificate.Automaton, coSafe bool) error {
	create := automata.New
	if coSafe {
		create = automata.NewPrefixes
	}
	of, err := create(automatonFormula(a.Formula), automata.Limits{States: maxAutomaton/len(a.Letters) + 1})
	if err != nil {
		return err
	}
	a.Next, a.Jumps, a.Accepting = nil, nil, nil
	for q := 0; q < of.NumStates(); q++ { // they become more
		var next, jumps []uint32
		for _, letter := range a.Letters {
			to, err := of.Step(q, letter)
			if err != nil {
				return err
			}
			next = append(next, uint32(to))
		}
		class := of.Class(q)
		switch class {
		case automata.Open:
			list, err := of.Jumps(q)
			if err != nil {
				return err
			}
			for _, to := range list {
				jumps = append(jumps, uint32(to))
			}
			slices.Sort(jumps)
		case automata.Accepted, automata.Safe:
			jumps = []uint32{uint32(q)}
		}
		if coSafe {
			jumps = nil
		}
		a.Next, a.Jumps = append(a.Next, next), append(a.Jumps, slices.Compact(jumps))
		a.Accepting = append(a.Accepting, of.Accepting(q) && (!coSafe || class == automata.Accepted))
	}
	recurring(a)
	return nil
}

// recurring leaves jumps only where a run can come again: one that goes on for ever settles
// among such states, and loses nothing if it jumps there.
func recurring(a *certificate.Automaton) {
	for q := range a.Next {
		if len(a.Jumps[q]) == 0 {
			continue
		}
		seen := make([]bool, len(a.Next))
		queue := []uint32{uint32(q)}
		for ; len(queue) > 0 && !seen[q]; queue = queue[1:] {
			for _, to := range a.Next[queue[0]] {
				if !seen[to] {
					seen[to] = true
					queue = append(queue, to)
				}
			}
		}
		if !seen[q] {
			a.Jumps[q] = nil
		}
	}
}

func automatonFormula(f *certificate.Formula) *automata.Formula {
	if f == nil {
		return nil
	}
	op := map[string]automata.Op{
		"true": automata.True, "p": automata.Prop, "!": automata.Not, "X": automata.Next, "F": automata.Finally, "G": automata.Globally,
		"&": automata.And, "|": automata.Or, "=>": automata.Implies, "<=>": automata.Iff, "U": automata.Until, "W": automata.WeakUntil, "R": automata.Release,
	}[f.Op]
	out := &automata.Formula{Op: op, Prop: f.Prop, X: automatonFormula(f.X), Y: automatonFormula(f.Y)}
	if f.Low > 0 || f.High != nil {
		out.Bound = &automata.Bound{Low: f.Low, High: automata.Unbounded}
		if f.High != nil {
			out.Bound.High = *f.High
		}
	}
	return out
}
