package prove

import (
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
	"tilecheck/native/solve"
	"tilecheck/native/space/automata"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// pathAutomaton translates P of a path formula that needs an automaton. Pmin is 1 minus Pmax of the negated formula.
func (t *translation) pathAutomaton(x sema.Expr, dir solve.Direction) (value, error) {
	a := &certificate.Automaton{}
	f, err := t.pathFormula(a, x)
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

// quantifyAutomaton translates E and A of a path formula that needs an automaton. A [f] is !E [!f].
func (t *translation) quantifyAutomaton(forall bool, x sema.Expr) (int, error) {
	a := &certificate.Automaton{}
	f, err := t.pathFormula(a, x)
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

// pathFormula translates a path formula. Its state formulas become propositions of the automaton.
func (t *translation) pathFormula(a *certificate.Automaton, x sema.Expr) (*certificate.Formula, error) {
	p := logic.PathOf(x)
	f, err := t.positiveFormula(a, p)
	if p.Negated {
		f = &certificate.Formula{Op: "!", X: f}
	}
	return f, err
}

// positiveFormula is pathFormula without the negation.
func (t *translation) positiveFormula(a *certificate.Automaton, p *logic.Path) (*certificate.Formula, error) {
	if p.Form == logic.InitialState {
		set, err := t.nested(p.Right)
		return proposition(a, set), err
	}
	if p.Operator {
		return t.temporalFormula(a, p)
	}
	x, ok := p.X.(*sema.Binary)
	if !ok {
		return nil, t.refuse(p.X, "such a path formula")
	}
	f, err := t.pathFormula(a, x.X)
	if err != nil {
		return nil, err
	}
	g, err := t.pathFormula(a, x.Y)
	op, ok := map[syntax.Op]string{syntax.OpAnd: "&", syntax.OpOr: "|", syntax.OpImplies: "=>"}[x.Op]
	if !ok {
		op = "<=>"
	}
	return &certificate.Formula{Op: op, X: f, Y: g}, err
}

// maxPropositions is the number of propositions that a letter has bits for.
const maxPropositions = 64

// proposition returns the proposition for a set, which it adds to the automaton if it is new.
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

// temporalFormula translates a temporal operator with its step bound.
func (t *translation) temporalFormula(a *certificate.Automaton, p *logic.Path) (*certificate.Formula, error) {
	var left *certificate.Formula
	if p.Left != nil {
		var err error
		if left, err = t.pathFormula(a, p.Left); err != nil {
			return nil, err
		}
	}
	right, err := t.pathFormula(a, p.Right)
	if err != nil {
		return nil, err
	}
	if len(a.Sets) > maxPropositions {
		return nil, t.refuse(p.X, "a path formula with more than %d state formulas", maxPropositions)
	}
	out := &certificate.Formula{Op: p.Op.String(), X: left, Y: right}
	if left == nil {
		out.X, out.Y = right, nil
	}
	if p.Bound == nil {
		return out, nil
	}
	if t.p.Program.Type == syntax.CTMC {
		return nil, t.refuse(p.X, "a time bound among several temporal operators")
	}
	if p.Op == syntax.WeakUntil && p.Bound.Low != nil {
		return nil, t.refuse(p.X, "a weak until (W) with a lower bound")
	}
	bounded := out
	if p.Op == syntax.WeakUntil { // f W g is !((f & !g) U (!f & !g))
		not := func(f *certificate.Formula) *certificate.Formula { return &certificate.Formula{Op: "!", X: f} }
		bounded = &certificate.Formula{Op: "U", X: &certificate.Formula{Op: "&", X: left, Y: not(right)}, Y: &certificate.Formula{Op: "&", X: not(left), Y: not(right)}}
		out = not(bounded)
	}
	from, to, err := logic.Steps(p.Bound)
	if bounded.Low = from; to != logic.Unbounded {
		bounded.High = &to
	}
	return out, err
}

// maxAutomaton is the greatest number of entries of an automaton's transition table.
const maxAutomaton = 200_000

// buildAutomaton builds the automaton of a.Formula over the letters a.Letters.
func buildAutomaton(a *certificate.Automaton, coSafe bool) error {
	create := automata.New
	if coSafe {
		create = automata.NewPrefixes
	}
	source, err := create(automatonFormula(a.Formula), automata.Limits{States: maxAutomaton/len(a.Letters) + 1})
	if err != nil {
		return err
	}
	a.Next, a.Jumps, a.Accepting = nil, nil, nil
	for q := 0; q < source.NumStates(); q++ { // Step adds states
		var next, jumps []uint32
		for _, letter := range a.Letters {
			to, err := source.Step(q, letter)
			if err != nil {
				return err
			}
			next = append(next, uint32(to))
		}
		class := source.Class(q)
		switch class {
		case automata.Open:
			list, err := source.Jumps(q)
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
		a.Next = append(a.Next, next)
		a.Jumps = append(a.Jumps, slices.Compact(jumps))
		a.Accepting = append(a.Accepting, source.Accepting(q) && (!coSafe || class == automata.Accepted))
	}
	keepRecurringJumps(a)
	return nil
}

// keepRecurringJumps deletes the jumps from states that lie on no cycle. An accepting run visits some state
// infinitely often and can jump there, so nothing is lost.
func keepRecurringJumps(a *certificate.Automaton) {
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

// automatonFormula converts a formula of a certificate to one of package automata.
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
