package abstraction

import (
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

// New returns an abstraction for Pmax=? of F or U over variables, in an MDP with one initial state. It returns nil if the property or the program is
// not supported.
func New(property *logic.Property) *Abstraction {
	if !isSupported(property.Program) {
		return nil
	}
	formula := logic.FormulaOf(property.Expr)
	isMaximum := formula.Kind == logic.Probability && formula.IsQuery() && formula.Extremum == syntax.Max
	if !isMaximum || !formula.Path.Reaches() {
		return nil
	}
	a := &Abstraction{program: property.Program, isVisible: make([]bool, len(property.Program.Vars))}
	if !a.showVariables(formula.Path.Left) || !a.showVariables(formula.Path.Right) {
		return nil
	}
	for i := range a.program.Modules {
		for j := range a.program.Modules[i].Commands {
			for _, update := range a.program.Modules[i].Commands[j].Updates {
				a.Show(sema.SlotsOf(update.Prob))
			}
		}
	}
	a.showSources()
	return a
}

// isSupported reports whether a program is an MDP with one initial state, without constants that stay open. It is not the MDP of a Markov automaton.
func isSupported(program *sema.Program) bool {
	return program.Type == syntax.MDP && program.Rate == nil && program.System == nil && program.Init == nil && !program.HasParameters
}

// showVariables makes the variables of a state formula visible, if expr is not nil. It returns false if the formula is not supported.
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

// showSources makes the variables visible that determine the new values of visible variables.
func (a *Abstraction) showSources() {
	for isChanged := true; isChanged; {
		isChanged = false
		for i := range a.program.Modules {
			for j := range a.program.Modules[i].Commands {
				for _, update := range a.program.Modules[i].Commands[j].Updates {
					for _, assign := range update.Assigns {
						for _, slot := range sema.SlotsOf(assign.Value) {
							if a.isVisible[assign.Slot] && !a.isVisible[slot] {
								a.isVisible[slot], isChanged = true, true
							}
						}
					}
				}
			}
		}
	}
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

// Program returns the program without the hidden variables: no guard reads them, and no update writes them. Its maximal probability is at least that
// of the model. In every state it has another choice that changes nothing, by a command of a last module without a name: a state of the model may be a
// deadlock where this program continues.
func (a *Abstraction) Program() *sema.Program {
	abstract := *a.program
	abstract.Rewards = nil
	abstract.Modules = slices.Clone(a.program.Modules)
	for i := range abstract.Modules {
		abstract.Modules[i].Commands = slices.Clone(a.program.Modules[i].Commands)
		for j := range abstract.Modules[i].Commands {
			command := &abstract.Modules[i].Commands[j]
			visible, _ := a.split(command.Guard)
			command.Guard = conjunction(visible, command.Pos)
			command.Updates = slices.Clone(command.Updates)
			for k := range command.Updates {
				update := &command.Updates[k]
				update.Assigns = slices.DeleteFunc(slices.Clone(update.Assigns), func(assign sema.Assign) bool { return !a.isVisible[assign.Slot] })
			}
		}
	}
	wait := sema.Command{Action: sema.Unlabelled, Guard: sema.ConstantExpr(sema.BoolValue(true), syntax.Pos{}), Updates: []sema.Update{{Prob: sema.ConstantExpr(sema.IntValue(1), syntax.Pos{})}}}
	abstract.Modules = append(abstract.Modules, sema.Module{Commands: []sema.Command{wait}})
	return &abstract
}

// split divides the conjuncts of a guard. visible has those that read visible variables only, and hidden those that read some hidden variable.
func (a *Abstraction) split(guard sema.Expr) (visible, hidden []sema.Expr) {
	if and, ok := guard.(*sema.Binary); ok && and.Op == syntax.OpAnd {
		visible, hidden = a.split(and.X)
		moreVisible, moreHidden := a.split(and.Y)
		return append(visible, moreVisible...), append(hidden, moreHidden...)
	}
	if len(a.hiddenOf(guard)) > 0 {
		return nil, []sema.Expr{guard}
	}
	return []sema.Expr{guard}, nil
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
