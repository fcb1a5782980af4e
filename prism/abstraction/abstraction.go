package abstraction

import (
	"iter"
	"slices"

	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Abstraction says which variables of a program are hidden for one property. At first, these variables are visible: those that the property reads,
// those in probabilities of updates, and those in the values that updates give to visible variables.
type Abstraction struct {
	program   *sema.Program
	isVisible []bool // by slot
}

// New returns an abstraction of the MDP of a property: a program that hides as many variables as the property allows. It returns nil unless the property is
// Pmax=? of F or U over variables, and the MDP has one initial state and only supported constructs.
func New(property *logic.Property) *Abstraction {
	if !isSupported(property.Program) {
		return nil
	}
	formula := logic.FormulaOf(property.Expr)
	if !formula.IsMaximalReachability() {
		return nil
	}
	a := &Abstraction{program: property.Program, isVisible: make([]bool, len(property.Program.Vars))}
	if !a.showVariables(formula.Path.Left) || !a.showVariables(formula.Path.Right) {
		return nil
	}
	for update := range updatesOf(a.program) {
		a.Show(sema.SlotsOf(update.Prob))
	}
	a.showSources()
	return a
}

// updatesOf iterates over the updates of all commands of a program.
func updatesOf(program *sema.Program) iter.Seq[sema.Update] {
	return func(yield func(sema.Update) bool) {
		for _, module := range program.Modules {
			for _, command := range module.Commands {
				for _, update := range command.Updates {
					if !yield(update) {
						return
					}
				}
			}
		}
	}
}

// isSupported reports whether a program is an MDP with one initial state, without constants that stay open. It is not the MDP of a Markov automaton.
func isSupported(program *sema.Program) bool {
	return program.Type == syntax.MDP && program.Rate == nil && program.System == nil && program.Init == nil && !program.HasParameters
}

// showVariables makes the variables of a state formula visible. A nil formula has no variables. It returns false if the formula is not supported.
func (a *Abstraction) showVariables(expr sema.Expr) bool {
	formulas, isSupported := logic.OverVariables(a.program, expr)
	for _, formula := range formulas {
		for _, slot := range sema.SlotsOf(formula) {
			a.isVisible[slot] = true
		}
	}
	return isSupported
}

// Show makes variables visible, with those that determine their values.
func (a *Abstraction) Show(slots []int) {
	for _, slot := range slots {
		a.isVisible[slot] = true
	}
	a.showSources()
}

// showSources makes the variables visible that updates read to compute new values of visible variables. It repeats this until nothing changes.
func (a *Abstraction) showSources() {
	for isChanged := true; isChanged; {
		isChanged = false
		for update := range updatesOf(a.program) {
			for _, assign := range update.Assigns {
				if a.isVisible[assign.Slot] && a.showAll(sema.SlotsOf(assign.Value)) {
					isChanged = true
				}
			}
		}
	}
}

// showAll makes variables visible. isChanged reports whether some of them were hidden before.
func (a *Abstraction) showAll(slots []int) (isChanged bool) {
	for _, slot := range slots {
		isChanged = isChanged || !a.isVisible[slot]
		a.isVisible[slot] = true
	}
	return isChanged
}

// NumHidden returns the number of hidden variables.
func (a *Abstraction) NumHidden() int {
	count := 0
	for _, isVisible := range a.isVisible {
		if !isVisible {
			count++
		}
	}
	return count
}

// Program returns the program without the hidden variables: no guard reads them, and no update writes them. Its maximal probability is at least that of the
// model. An additional module has a command that is always enabled and changes nothing, because this program may continue in a deadlock of the model.
func (a *Abstraction) Program() *sema.Program {
	abstract := *a.program
	abstract.Rewards = nil
	abstract.Modules = slices.Clone(a.program.Modules)
	for i := range abstract.Modules {
		abstract.Modules[i].Commands = slices.Clone(a.program.Modules[i].Commands)
		for j := range abstract.Modules[i].Commands {
			a.hideIn(&abstract.Modules[i].Commands[j])
		}
	}
	wait := sema.Command{Action: sema.Unlabelled, Guard: sema.ConstantExpr(sema.BoolValue(true), syntax.Pos{}), Updates: []sema.Update{{Prob: sema.ConstantExpr(sema.IntValue(1), syntax.Pos{})}}}
	abstract.Modules = append(abstract.Modules, sema.Module{Commands: []sema.Command{wait}})
	return &abstract
}

// hideIn removes from a command the conjuncts of the guard that read hidden variables, and the assignments to hidden variables.
func (a *Abstraction) hideIn(command *sema.Command) {
	visible, _ := a.split(command.Guard)
	command.Guard = conjunction(visible, command.Pos)
	command.Updates = slices.Clone(command.Updates)
	for i := range command.Updates {
		update := &command.Updates[i]
		update.Assigns = slices.DeleteFunc(slices.Clone(update.Assigns), func(assign sema.Assign) bool { return !a.isVisible[assign.Slot] })
	}
}

// split divides the conjuncts of a guard: visible has those that read only visible variables, and hidden has all others.
func (a *Abstraction) split(guard sema.Expr) (visible, hidden []sema.Expr) {
	for _, conjunct := range sema.Conjuncts(guard) {
		if len(a.hiddenOf(conjunct)) > 0 {
			hidden = append(hidden, conjunct)
		} else {
			visible = append(visible, conjunct)
		}
	}
	return visible, hidden
}

// hiddenOf returns the hidden variables of an expression.
func (a *Abstraction) hiddenOf(expr sema.Expr) []int {
	return slices.DeleteFunc(sema.SlotsOf(expr), func(slot int) bool { return a.isVisible[slot] })
}

// conjunction returns the conjunction of Boolean expressions.
func conjunction(exprs []sema.Expr, pos syntax.Pos) sema.Expr {
	if len(exprs) == 0 {
		return sema.ConstantExpr(sema.BoolValue(true), pos)
	}
	result := exprs[0]
	for _, expr := range exprs[1:] {
		result = &sema.Binary{Base: sema.Base{ValueType: sema.Bool, Position: pos}, Op: syntax.OpAnd, X: result, Y: expr}
	}
	return result
}
