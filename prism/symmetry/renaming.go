package symmetry

import (
	"fmt"
	"slices"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// renaming writes expressions as texts after a permutation of variables and actions. It sorts operands that can be exchanged, so equal texts
// mean equivalent expressions.
type renaming struct {
	program *sema.Program
	slots   map[int]int // the images of variables; a variable that is missing is its own image
	actions map[int]int // the images of actions, likewise
	texts   sema.Memo[string]
}

// newRenaming returns a renaming by permutations of variables and actions; nil stands for no change.
func newRenaming(program *sema.Program, slots, actions map[int]int) *renaming {
	return &renaming{program: program, slots: slots, actions: actions}
}

// image returns the image of i under a permutation. A number that is not in the map is its own image.
func image(permutation map[int]int, i int) int {
	if to, ok := permutation[i]; ok {
		return to
	}
	return i
}

// commandTexts returns a list of texts for each module: its actions, its invariant and its commands after the renaming. The list is sorted, so
// modules that differ only in the order of their commands have equal lists.
func (f *finder) commandTexts(renaming *renaming) [][]string {
	perModule := make([][]string, len(f.program.Modules))
	for i := range f.program.Modules {
		module := &f.program.Modules[i]
		texts := []string{"invariant " + renaming.exprText(module.Invariant)}
		for _, action := range module.Alphabet {
			texts = append(texts, fmt.Sprint("action ", image(renaming.actions, action)))
		}
		for j := range module.Commands {
			texts = append(texts, renaming.commandText(&module.Commands[j]))
		}
		slices.Sort(texts)
		perModule[i] = texts
	}
	return perModule
}

// commandText returns the text of a command after the renaming. Equal commands have equal texts.
func (r *renaming) commandText(command *sema.Command) string {
	updates := make([]string, len(command.Updates))
	for i, update := range command.Updates {
		assignments := make([]string, len(update.Assigns))
		for j, assignment := range update.Assigns {
			assignments[j] = fmt.Sprintf("(%d'=%s)", image(r.slots, assignment.Slot), r.exprText(assignment.Value))
		}
		updates[i] = r.exprText(update.Prob) + ":" + joinSorted(assignments, "&")
	}
	return fmt.Sprintf("[%d] %s -> %s", image(r.actions, command.Action), r.exprText(command.Guard), joinSorted(updates, " + "))
}

// textsOfRewards returns the texts, after the renaming, of the reward structures that the properties use.
func (f *finder) textsOfRewards(renaming *renaming) []string {
	var texts []string
	for i := range f.program.Rewards {
		if f.usedRewards[i] {
			texts = append(texts, renaming.rewardsText(&f.program.Rewards[i]))
		}
	}
	return texts
}

// rewardsText returns the text of a reward structure.
func (r *renaming) rewardsText(rewards *sema.RewardStruct) string {
	items := make([]string, len(rewards.Items))
	for i, item := range rewards.Items {
		items[i] = fmt.Sprintf("%v [%d] %s : %s", item.IsTransition, image(r.actions, item.Action), r.exprText(item.Guard), r.exprText(item.Value))
	}
	return joinSorted(items, "; ")
}

// joinSorted sorts texts and joins them.
func joinSorted(texts []string, separator string) string {
	slices.Sort(texts)
	return strings.Join(texts, separator)
}

// exprText returns the text of an expression after the renaming; "" for nil. It caches the text.
func (r *renaming) exprText(expr sema.Expr) string {
	if expr == nil {
		return ""
	}
	if text, ok := r.texts.Get(expr); ok {
		return text
	}
	return r.texts.Put(expr, r.buildText(expr))
}

// buildText returns the text of an expression after the renaming. Expressions with equal texts have equal values in every state.
func (r *renaming) buildText(expr sema.Expr) string {
	switch expr := expr.(type) {
	case *sema.Const:
		return constantText(expr)
	case *sema.Var:
		return fmt.Sprintf("v%d", image(r.slots, expr.Slot))
	case *sema.Unary:
		return fmt.Sprintf("%v(%s)", expr.Op, r.exprText(expr.X))
	case *sema.Binary:
		return r.binaryText(expr)
	case *sema.Cond:
		return fmt.Sprintf("(%s ? %s : %s)", r.exprText(expr.Condition), r.exprText(expr.Then), r.exprText(expr.Else))
	case *sema.Call:
		operands := make([]string, len(expr.Args))
		for i, operand := range expr.Args {
			operands[i] = r.exprText(operand)
		}
		if expr.Func == sema.FuncMin || expr.Func == sema.FuncMax {
			slices.Sort(operands)
		}
		return fmt.Sprintf("%v(%s)", expr.Func, strings.Join(operands, ", "))
	}
	// Other expressions, such as erroneous ones, are equal only to themselves.
	return fmt.Sprintf("%T at %v", expr, expr.Pos())
}

// constantText returns the text of a constant. A number without a fraction gets its position in the text, because its float64 does not
// identify it.
func constantText(expr *sema.Const) string {
	value := expr.Val
	if value.Type == sema.Double && value.Rat == nil {
		return fmt.Sprintf("%v at %v", value, expr.Pos())
	}
	return fmt.Sprintf("%v %v %v", value.Type, value, value.Rat)
}

// binaryText returns the text of a binary operation. If the operator is commutative, the texts of its operands are sorted. If it is also
// associative, the operands of a whole chain such as a+b+c are sorted.
func (r *renaming) binaryText(expr *sema.Binary) string {
	if !isCommutative(expr) {
		return fmt.Sprintf("(%s %v %s)", r.exprText(expr.X), expr.Op, r.exprText(expr.Y))
	}
	operands := []sema.Expr{expr.X, expr.Y}
	if isAssociative(expr) {
		operands = chainOperands(expr, expr, nil)
	}
	texts := make([]string, len(operands))
	for i, operand := range operands {
		texts[i] = r.exprText(operand)
	}
	return "(" + joinSorted(texts, fmt.Sprintf(" %v ", expr.Op)) + ")"
}

// chainOperands appends the operands of a chain such as a+b+c to a list. A nested operation with the same operator and type belongs to the
// chain.
func chainOperands(chain *sema.Binary, operand sema.Expr, operands []sema.Expr) []sema.Expr {
	inner, ok := operand.(*sema.Binary)
	if ok && inner.Op == chain.Op && inner.Type() == chain.Type() {
		operands = chainOperands(chain, inner.X, operands)
		return chainOperands(chain, inner.Y, operands)
	}
	return append(operands, operand)
}

// isCommutative reports whether a binary operation has the same value with its operands exchanged. For & and |, the operands must not fail,
// because the second one is not always evaluated.
func isCommutative(expr *sema.Binary) bool {
	switch expr.Op {
	case syntax.OpAnd, syntax.OpOr:
		return !canFail(expr.X) && !canFail(expr.Y)
	case syntax.OpAdd, syntax.OpMul, syntax.OpEq, syntax.OpNe, syntax.OpIff:
		return true
	}
	return false
}

// isAssociative reports whether a chain of a commutative operator can be evaluated in any order. A sum of float64 values cannot, because
// rounding depends on the order.
func isAssociative(expr *sema.Binary) bool {
	switch expr.Op {
	case syntax.OpAnd, syntax.OpOr:
		return true
	case syntax.OpAdd, syntax.OpMul:
		return expr.Type() == sema.Int
	}
	return false
}

// canFail reports whether the evaluation of an expression may end with an error.
func canFail(expr sema.Expr) bool { return !sema.Every(expr, isTotal) }

// isTotal reports whether an operator or function has a value for all operands. It looks only at the outermost operator of the expression.
func isTotal(expr sema.Expr) bool {
	switch expr := expr.(type) {
	case *sema.Call:
		return expr.Func == sema.FuncMin || expr.Func == sema.FuncMax
	case *sema.Binary:
		return expr.Op != syntax.OpPow
	}
	return true
}
