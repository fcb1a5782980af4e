package jani

import "tilecheck/prism/syntax"

// race makes one command of the edges with rates of a Markov automaton: where no
// other edge can be taken (maximal progress), all that can be taken race, and one
// wins with its share of the sum of the rates. So the model becomes the MDP that is
// embedded in the automaton, in which time is a reward: what is earned for each
// unit of it is earned as long as such a state lasts on average.
//
// Source: Hermanns, Katoen and others, as in Guck et al.: Analysis of Timed and
// Long-Run Objectives for Markov Automata, LMCS 10(3), 2014, sections 2 and 4;
// all immediate states are left at once.
func (t *translator) race(immediate []syntax.Expr) *syntax.Command {
	at := t.doc.at
	total := zero(at)
	for _, c := range t.delays {
		total = join(syntax.OpAdd, []syntax.Expr{total, &syntax.Cond{C: c.command.Guard, T: c.rate, E: zero(at), Span: at}})
	}
	t.charge(at.Start, 4*len(t.delays))
	for _, r := range t.rewards {
		r.decl.Items = nil // no time passes in immediate states
	}
	rate := t.formula("exit_rate", total)
	var none syntax.Expr
	if some := join(syntax.OpOr, immediate); some != nil {
		none = &syntax.Unary{Op: syntax.OpNot, X: some, Span: at}
	}
	compared := func(op syntax.Op) syntax.Expr {
		return &syntax.Binary{Op: op, X: rate, Y: zero(at), OpPos: at.Start, Span: at}
	}
	waits := t.formula("waits", and(compared(syntax.OpGt), none))
	t.out.Rate = &syntax.Cond{C: waits, T: rate, E: zero(at), Span: at}
	over := func(x syntax.Expr) syntax.Expr {
		return &syntax.Binary{Op: syntax.OpDiv, X: x, Y: rate, OpPos: at.Start, Span: at}
	}
	out := &syntax.Command{Guard: waits, Span: at}
	for _, c := range t.delays {
		for _, u := range c.command.Updates {
			share := &syntax.Cond{C: c.command.Guard, T: u.Prob, E: zero(at), Span: at}
			out.Updates = append(out.Updates, &syntax.Update{Prob: over(share), Assigns: u.Assigns, Span: u.Span})
		}
		t.charge(at.Start, 6*len(c.command.Updates))
	}
	// lasts makes a structure earn x for each unit of time.
	lasts := func(decl *syntax.Rewards, x syntax.Expr) {
		decl.Items = append(decl.Items, &syntax.RewardItem{Guard: waits, Value: over(x), Span: decl.Span},
			&syntax.RewardItem{Guard: and(compared(syntax.OpEq), none), Value: x, Span: decl.Span}) // for ever, at the rate that PRISM gives a deadlock
	}
	lasts(t.out.Time, one(at))
	for i, r := range t.rewards {
		if r.refused != nil {
			continue
		}
		if x := r.lasting; x != nil && !isNumber(x, "0") {
			lasts(r.decl, x)
		}
		for _, c := range t.delays {
			if x := c.earned[i]; x != nil && !isNumber(x, "0") {
				r.decl.Items = append(r.decl.Items, &syntax.RewardItem{Guard: and(waits, c.command.Guard), Value: over(times(c.rate, x)), Span: r.at})
			}
		}
	}
	if len(t.delays) == 0 {
		return nil
	}
	return out
}

func zero(at syntax.Span) syntax.Expr { return &syntax.IntLit{Span: at} }
func one(at syntax.Span) syntax.Expr  { return &syntax.IntLit{Value: 1, Span: at} }

// formula gives an expression a name, so that it is written and looked at once.
func (t *translator) formula(name string, x syntax.Expr) syntax.Expr {
	id := &syntax.Ident{Name: t.taken.take(name), Span: t.doc.at}
	t.formulas = append(t.formulas, &syntax.FormulaDecl{Name: id, X: x, Span: t.doc.at})
	return id
}

// NotTimed says which bounds on its time a Markov automaton may have.
const NotTimed = "bounds on the time of a Markov automaton are supported with F and U that have no other bounds"

// Elapse makes the bound of an operator one on the time of the Markov automaton, which its
// embedded model only knows by the rates of its states. It reports false if that is none.
func (t *Translation) Elapse(x *syntax.Temporal) bool {
	if x.Op != syntax.Future && x.Op != syntax.Until || len(x.Costs) > 0 {
		return false
	}
	x.Costs = []*syntax.CostBound{{Word: "time", Rate: t.Rate, Bound: x.Bound, Span: x.Bound.Span}}
	x.Bound = nil
	return true
}
