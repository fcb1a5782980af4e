package confluence

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Range is a condition of a step: the value of a variable is between Low and High.
type Range struct {
	Slot      int
	Low, High int32
}

// Change is an effect of a step: By is added to a variable.
type Change struct {
	Slot int
	By   int32
}

// Step is a command without probabilities, action and priorities, that can be executed at once.
type Step struct {
	Guard   []Range
	Changes []Change
}

// conjunction is a guard.
type conjunction struct {
	ranges     map[int]Range // by variable, within its declared range
	impossible bool          // the ranges contradict each other
	inhibitors []conjunction // none of these holds
	others     []sema.Expr   // conjuncts of another form
}

// guardReader takes guards apart.
type guardReader struct {
	program *sema.Program
	nodes   int // that were read
}

// maxNodes limits the size of the guards that are taken apart.
const maxNodes = 1 << 22

// add adds an expression to a conjunction. The expression is negated if isNegated is set.
func (r *guardReader) add(guard *conjunction, expr sema.Expr, isNegated bool) {
	r.nodes++
	if r.nodes > maxNodes {
		return
	}
	if binary, ok := expr.(*sema.Binary); ok && binary.Op == syntax.OpAnd && !isNegated {
		r.add(guard, binary.X, false)
		r.add(guard, binary.Y, false)
		return
	}
	if not, ok := expr.(*sema.Unary); ok && not.Op == syntax.OpNot {
		r.add(guard, not.X, !isNegated)
		return
	}
	if constant, ok := expr.(*sema.Const); ok && constant.Val.Bool != isNegated {
		return // true
	}
	if bound, ok := r.rangeOf(expr, isNegated); ok {
		r.restrict(guard, bound)
		return
	}
	if isNegated {
		r.addInhibitors(guard, expr)
		return
	}
	guard.others = append(guard.others, expr)
}

// addInhibitors adds the operands of a disjunction that must not hold.
func (r *guardReader) addInhibitors(guard *conjunction, expr sema.Expr) {
	if binary, ok := expr.(*sema.Binary); ok && binary.Op == syntax.OpOr {
		r.add(guard, binary.X, true)
		r.add(guard, binary.Y, true)
		return
	}
	inhibitor := conjunction{ranges: map[int]Range{}}
	r.add(&inhibitor, expr, false)
	guard.inhibitors = append(guard.inhibitors, inhibitor)
}

// restrict adds a range to a conjunction.
func (r *guardReader) restrict(guard *conjunction, bound Range) {
	variable := &r.program.Vars[bound.Slot]
	known, ok := guard.ranges[bound.Slot]
	if !ok {
		known = Range{bound.Slot, variable.Low, variable.High}
	}
	bound.Low, bound.High = max(bound.Low, known.Low), min(bound.High, known.High)
	guard.ranges[bound.Slot] = bound
	guard.impossible = guard.impossible || bound.Low > bound.High
}

// rangeOf reads a comparison of a variable with an integer, or a Boolean variable.
func (r *guardReader) rangeOf(expr sema.Expr, isNegated bool) (Range, bool) {
	if variable, ok := expr.(*sema.Var); ok && variable.Type() == sema.Bool {
		value := int32(1)
		if isNegated {
			value = 0
		}
		return Range{variable.Slot, value, value}, true
	}
	comparison, ok := expr.(*sema.Binary)
	if !ok {
		return Range{}, false
	}
	op, left, right := comparison.Op, comparison.X, comparison.Y
	if _, ok := left.(*sema.Const); ok {
		op, left, right = mirrored(op), right, left
	}
	variable, isVariable := left.(*sema.Var)
	constant, isConstant := right.(*sema.Const)
	if !isVariable || !isConstant || constant.Val.Type != sema.Int || variable.Type() != sema.Int || !r.program.Vars[variable.Slot].Bounded {
		return Range{}, false
	}
	if isNegated {
		op = complement(op)
	}
	return rangeOf(op, variable.Slot, constant.Val.Int, &r.program.Vars[variable.Slot])
}

// rangeOf returns the values of a variable whose comparison with a number holds.
func rangeOf(op syntax.Op, slot int, number int32, variable *sema.Variable) (Range, bool) {
	low, high := variable.Low, variable.High
	if number < low || number > high { // so that number-1 and number+1 are no overflows that matter
		return Range{}, false
	}
	switch op {
	case syntax.OpEq:
		return Range{slot, number, number}, true
	case syntax.OpLe:
		return Range{slot, low, number}, true
	case syntax.OpGe:
		return Range{slot, number, high}, true
	case syntax.OpLt:
		return Range{slot, low, number - 1}, number > low
	case syntax.OpGt:
		return Range{slot, number + 1, high}, number < high
	}
	return Range{}, false
}

// mirrored returns the comparison with exchanged operands.
func mirrored(op syntax.Op) syntax.Op {
	switch op {
	case syntax.OpLt:
		return syntax.OpGt
	case syntax.OpGt:
		return syntax.OpLt
	case syntax.OpLe:
		return syntax.OpGe
	case syntax.OpGe:
		return syntax.OpLe
	}
	return op
}

// complement returns the comparison that holds exactly if another one does not.
func complement(op syntax.Op) syntax.Op {
	switch op {
	case syntax.OpLt:
		return syntax.OpGe
	case syntax.OpGt:
		return syntax.OpLe
	case syntax.OpLe:
		return syntax.OpGt
	case syntax.OpGe:
		return syntax.OpLt
	case syntax.OpEq:
		return syntax.OpNe
	case syntax.OpNe:
		return syntax.OpEq
	}
	return op
}

// key identifies the ranges of a conjunction.
func (c *conjunction) key() string {
	var b strings.Builder
	for _, slot := range slices.Sorted(maps.Keys(c.ranges)) {
		fmt.Fprint(&b, c.ranges[slot], " ")
	}
	return b.String()
}

// command is a command whose guard and updates are taken apart.
type command struct {
	guard conjunction
	// above are the commands of higher priority: the command is enabled only if the ranges of none of them hold.
	above map[int]bool
	// inhibitors are commands that disable the command whenever they are enabled.
	inhibitors map[int]bool
	// isPlain says that the command has no action, and is enabled if its ranges hold and those of no command above it.
	isPlain bool
	// isStep says that the command may become a step: it is plain, and its one update adds numbers to variables.
	isStep bool
	// changes are the effects of each update on the variables that only additions change. Other written variables are in overwritten.
	changes     []map[int]int32
	overwritten map[int]bool
	// reads has the variables that decide whether the command is enabled, except for its priorities, and what it does, except for changes.
	reads map[int]bool
}

// newCommand takes a command apart, except for its priorities.
func (r *guardReader) newCommand(source *sema.Command) *command {
	created := &command{above: map[int]bool{}, inhibitors: map[int]bool{}, overwritten: map[int]bool{}, reads: map[int]bool{}}
	created.guard.ranges = map[int]Range{}
	r.add(&created.guard, source.Guard, false)
	for slot := range created.guard.ranges {
		created.reads[slot] = true
	}
	for _, other := range created.guard.others {
		created.addReads(other)
	}
	for i := range source.Updates {
		update := &source.Updates[i]
		if len(source.Updates) > 1 { // the probability of a single update is 1, or the model is wrong
			created.addReads(update.Prob)
		}
		created.addUpdate(update)
	}
	created.isPlain = source.Action == sema.Unlabelled && len(created.guard.others) == 0
	created.isStep = created.isPlain && len(source.Updates) == 1 && len(created.overwritten) == 0 && !created.guard.impossible
	return created
}

// addReads adds the variables of an expression to those that the command reads.
func (c *command) addReads(expr sema.Expr) {
	sema.Inspect(expr, func(operand sema.Expr) bool {
		if variable, ok := operand.(*sema.Var); ok {
			c.reads[variable.Slot] = true
		}
		return true
	})
}

// addUpdate adds the effects of an update.
func (c *command) addUpdate(update *sema.Update) {
	changes := map[int]int32{}
	for _, assignment := range update.Assigns {
		slot := assignment.Slot
		by, isChange := c.changeOf(&assignment)
		switch {
		case !isChange:
			c.overwritten[slot] = true
			c.addReads(assignment.Value)
		case by != 0:
			changes[slot] = by
		}
	}
	c.changes = append(c.changes, changes)
}

// changeOf returns the number that an assignment adds to its variable. A constant is added to a variable with one possible value.
func (c *command) changeOf(assignment *sema.Assign) (by int32, ok bool) {
	base, offset, ok := linear(assignment.Value)
	if !ok {
		return 0, false
	}
	if base == assignment.Slot {
		return offset, true
	}
	known, isKnown := c.guard.ranges[assignment.Slot]
	if base == constantBase && isKnown && known.Low == known.High {
		return offset - known.Low, true
	}
	return 0, false
}

// constantBase stands for no variable.
const constantBase = -1

// maxOffset bounds the integers in sums, so that sums do not overflow.
const maxOffset = 1 << 24

// linear reads a variable plus an integer, or an integer.
func linear(expr sema.Expr) (base int, offset int32, ok bool) {
	switch expr := expr.(type) {
	case *sema.Var:
		return expr.Slot, 0, true
	case *sema.Const:
		switch {
		case expr.Val.Type == sema.Bool && expr.Val.Bool:
			return constantBase, 1, true
		case expr.Val.Type == sema.Bool:
			return constantBase, 0, true
		}
		return constantBase, expr.Val.Int, expr.Val.Type == sema.Int && -maxOffset < expr.Val.Int && expr.Val.Int < maxOffset
	case *sema.Binary:
		if expr.Type() != sema.Int || expr.Op != syntax.OpAdd && expr.Op != syntax.OpSub {
			return 0, 0, false
		}
		base, left, isLeft := linear(expr.X)
		other, right, isRight := linear(expr.Y)
		if base == constantBase && expr.Op == syntax.OpAdd {
			base, other = other, base
		}
		if expr.Op == syntax.OpSub {
			right = -right
		}
		sum := left + right
		return base, sum, isLeft && isRight && other == constantBase && -maxOffset < sum && sum < maxOffset
	}
	return 0, 0, false
}

// excludes reports whether two commands are never enabled in the same state.
func (c *command) excludes(other *command) bool {
	for slot, bound := range c.guard.ranges {
		if known, ok := other.guard.ranges[slot]; ok && (bound.High < known.Low || known.High < bound.Low) {
			return true
		}
	}
	return false
}

// keepsEnabled reports whether a command stays enabled, except for priorities, when another one is executed. The guard of the command must
// consist of ranges.
func (c *command) keepsEnabled(program *sema.Program, executed *command) bool {
	for slot, bound := range c.guard.ranges {
		if executed.overwritten[slot] {
			return false
		}
		variable := &program.Vars[slot]
		for _, changes := range executed.changes {
			by := changes[slot]
			if by > 0 && bound.High < variable.High || by < 0 && bound.Low > variable.Low {
				return false
			}
		}
	}
	return true
}

// writes reports whether a command writes a variable.
func (c *command) writes(slot int) bool {
	return c.overwritten[slot] || slices.ContainsFunc(c.changes, func(changes map[int]int32) bool { return changes[slot] != 0 })
}
