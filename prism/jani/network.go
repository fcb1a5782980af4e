package jani

import (
	"maps"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// maxCommands is the largest number of commands that combined edges may become.
const maxCommands = 100_000

// combinedCommand is a command for edges of the instances in one module that are taken together.
type combinedCommand struct {
	edges   []*edgeInstance
	command *syntax.Command
	// stepRewards are the rewards that a step with this command earns, one per reward structure.
	// rewardClass is their text, or empty if they equal the rewards of a step without assignments.
	stepRewards []syntax.Expr
	rewardClass string
	rate        syntax.Expr // nil if the edges have no rates
}

// buildModules combines the edges of each step to commands, gives them actions and rewards, and writes the
// modules.
func (t *translator) buildModules() {
	var modules []int
	commands := make(map[int][]*syntax.Command)
	for _, instance := range t.instances {
		if !slices.Contains(modules, instance.module) {
			modules = append(modules, instance.module)
		}
	}
	var combinedSteps []stepCommands
	for _, step := range t.steps {
		byGroup, classes := t.combineStep(step)
		combinedSteps = append(combinedSteps, stepCommands{step, byGroup, classes})
	}
	var raceCommand *syntax.Command
	if t.doc.markov {
		var immediate []syntax.Expr
		for _, combined := range combinedSteps {
			for _, command := range combined.byModule[modules[0]] {
				immediate = append(immediate, command.command.Guard)
			}
		}
		raceCommand = t.raceCommand(immediate)
	}
	actions := make(names)
	silentEqual := silentRewardsEqual(combinedSteps)
	for _, combined := range combinedSteps {
		for _, class := range combined.rewardClasses {
			name := combined.step.name
			if name == "" && class != "" && !silentEqual {
				name = "tau"
			}
			var action *syntax.Ident
			if name != "" {
				action = &syntax.Ident{Name: actions.unused(name), Span: spanAt(combined.step.pos)}
			}
			t.addStepRewards(combined.step, action, combined.addNamed(modules, action, class, commands))
		}
	}
	if raceCommand != nil {
		raceCommand.Action = &syntax.Ident{Name: actions.unused("delay"), Span: raceCommand.Span}
		commands[modules[0]] = append(commands[modules[0]], raceCommand)
	}
	t.writeModules(modules, commands)
}

// stepCommands holds the commands of a step by module, and the classes of their rewards.
type stepCommands struct {
	step          *step
	byModule      map[int][]*combinedCommand
	rewardClasses []string
}

// silentRewardsEqual reports whether all silent steps have the same rewards. Then the rewards can be
// those of unlabelled commands.
func silentRewardsEqual(steps []stepCommands) bool {
	var classes []string
	for _, s := range steps {
		if s.step.name == "" {
			classes = append(classes, s.rewardClasses...)
		}
	}
	return len(slices.Compact(classes)) <= 1
}

// addNamed adds the commands of one reward class to the modules, with an action, and returns their
// rewards.
func (s *stepCommands) addNamed(modules []int, action *syntax.Ident, class string, commands map[int][]*syntax.Command) (stepRewards []syntax.Expr) {
	for _, module := range modules {
		combined := s.byModule[module]
		rewarded := hasRewards(combined)
		for _, c := range combined {
			if rewarded && c.rewardClass != class {
				continue
			}
			command := *c.command
			command.Action = action
			commands[module] = append(commands[module], &command)
			if stepRewards == nil || rewarded {
				stepRewards = c.stepRewards
			}
		}
	}
	return stepRewards
}

// hasRewards reports whether some of the commands earn rewards in their step.
func hasRewards(commands []*combinedCommand) bool {
	return slices.ContainsFunc(commands, func(combined *combinedCommand) bool { return combined.rewardClass != "" })
}

// combineStep combines the edges of a step by module, and lists the classes of their rewards.
func (t *translator) combineStep(step *step) (byModule map[int][]*combinedCommand, classes []string) {
	var edgeLists [][]*edgeInstance
	var modules []int
	byModule = make(map[int][]*combinedCommand)
	for _, module := range t.modulesOf(step) {
		edgeLists = edgeLists[:0]
		for _, participant := range step.participants {
			if participant.instance.module == module {
				edgeLists = append(edgeLists, participant.edges)
			}
		}
		modules = append(modules, module)
		forEachCombination(len(edgeLists), func(i int) int { return len(edgeLists[i]) }, func(index []int) {
			var edges []*edgeInstance
			for i, k := range index {
				edges = append(edges, edgeLists[i][k])
			}
			command := t.combine(edges)
			if t.doc.markov && command.rate != nil {
				t.rateCommands = append(t.rateCommands, command)
				return
			}
			byModule[module] = append(byModule[module], command)
		})
	}
	for _, module := range modules {
		if !hasRewards(byModule[module]) {
			continue
		}
		for _, combined := range byModule[module] {
			if !slices.Contains(classes, combined.rewardClass) {
				classes = append(classes, combined.rewardClass)
			}
		}
	}
	if len(classes) == 0 {
		classes = []string{""}
	}
	return byModule, classes
}

// modulesOf returns the modules of the participants of a step.
func (t *translator) modulesOf(step *step) []int {
	var modules []int
	for _, participant := range step.participants {
		if !slices.Contains(modules, participant.instance.module) {
			modules = append(modules, participant.instance.module)
		}
	}
	return modules
}

// forEachCombination calls visit for all combinations of count numbers, where number i is below limit(i).
func forEachCombination(count int, limit func(int) int, visit func([]int)) {
	index := make([]int, count)
	for {
		visit(index)
		i := count - 1
		for ; i >= 0; i-- {
			if index[i]++; index[i] < limit(i) {
				break
			}
			index[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// combine makes one command from edges that are taken together, with an update for each combination of
// their destinations.
func (t *translator) combine(edges []*edgeInstance) *combinedCommand {
	first := edges[0]
	span := spanAt(first.pos)
	combined := &combinedCommand{edges: edges, command: &syntax.Command{Span: span}}
	var guards []syntax.Expr
	var rate syntax.Expr
	for _, edge := range edges {
		guards = append(guards, edge.instance.atLocation(edge.location, edge.pos), edge.guard)
		if edge.rate != nil {
			rate = productOf(rate, t.expr(edge.rate, &exprContext{scope: edge.instance.scope}))
		}
	}
	combined.command.Guard = conjunction(guards...)
	if combined.command.Guard == nil {
		combined.command.Guard = &syntax.BoolLit{Value: true, Span: span}
	}
	combined.rate = rate
	t.addSize(first.pos, 2*len(edges))
	var stepRewards [][]syntax.Expr
	var probabilities []syntax.Expr
	forEachCombination(len(edges), func(i int) int { return len(edges[i].destinations) }, func(index []int) {
		probability := t.probability(edges, index)
		env := t.valuesAfter(edges, index)
		update := &syntax.Update{Prob: productOf(rate, probability), Span: span, Assigns: t.updateAssigns(edges, index, env)}
		combined.command.Updates = append(combined.command.Updates, update)
		probabilities = append(probabilities, probability)
		stepRewards = append(stepRewards, t.stepRewardsAfter(env))
	})
	t.setExpectedRewards(combined, probabilities, stepRewards)
	return combined
}

// probability returns the probability of a combination of destinations; nil if it is 1. index[i] is the
// destination of edge i.
func (t *translator) probability(edges []*edgeInstance, index []int) syntax.Expr {
	var product syntax.Expr
	for i, edge := range edges {
		if destination := edge.destinations[index[i]]; destination.probability != nil {
			product = productOf(product, t.expr(destination.probability, &exprContext{scope: edge.instance.scope}))
		}
	}
	return product
}

// productOf returns left*right, where nil stands for 1.
func productOf(left, right syntax.Expr) syntax.Expr {
	if left == nil || isNumber(left, "1") {
		if right == nil {
			return left
		}
		return right
	}
	if right == nil || isNumber(right, "1") {
		return left
	}
	return &syntax.Binary{Op: syntax.OpMul, X: left, Y: right, OpPos: right.Pos(), Span: syntax.Span{Start: left.Pos(), Stop: right.End()}}
}

// isNumber reports whether an expression is a literal with the given digits.
func isNumber(expr syntax.Expr, digits string) bool {
	switch expr := expr.(type) {
	case *syntax.IntLit:
		return syntax.ExprString(expr) == digits
	case *syntax.DoubleLit:
		return expr.Text == digits || expr.Text == digits+".0"
	}
	return false
}

// valuesAfter returns the values of the assigned variables after a combination of destinations.
// Assignments with the same index are simultaneous; they read the values that smaller indices left.
func (t *translator) valuesAfter(edges []*edgeInstance, index []int) map[*slot]sizedExpr {
	type instanceAssignment struct {
		scope *scope
		assignment
	}
	var assigns []instanceAssignment
	for i, edge := range edges {
		for _, assignment := range edge.destinations[index[i]].assigns {
			assigns = append(assigns, instanceAssignment{edge.instance.scope, assignment})
		}
	}
	slices.SortStableFunc(assigns, func(first, second instanceAssignment) int { return first.index - second.index })
	env := make(map[*slot]sizedExpr)
	next := make(map[*slot]sizedExpr)
	for i, first := range assigns {
		context := &exprContext{scope: first.scope, assigned: env}
		t.assignValue(next, env, t.targetsOf(first.ref, context), t.symbolOf(first.value, context), first.assignment)
		if i+1 == len(assigns) || assigns[i+1].index != first.index {
			maps.Copy(env, next)
			clear(next)
		}
	}
	return env
}

// assignValue records the values that an assignment gives to variables in next; env has the values before
// the assignments of the same index.
func (t *translator) assignValue(next, env map[*slot]sizedExpr, targets targetTree, assigned symbol, assignment assignment) {
	switch {
	case len(targets.scalar) > 0:
		if assigned.expr == nil {
			t.refuse(assignment.value.Start, "found an array or a datatype, want a single value")
		}
		for _, one := range targets.scalar {
			t.assignScalar(next, env, one, sizedExpr{expr: assigned.expr, size: assigned.size}, assignment)
		}
	case assigned.composite == nil || len(assigned.composite.elements) != len(targets.elements) || len(assigned.composite.members) != len(targets.members):
		t.refuse(assignment.pos, "the assigned value has another shape than the variable, want arrays of equal length or the same datatype")
	default:
		for i, tree := range targets.elements {
			t.assignValue(next, env, tree, assigned.composite.elements[i], assignment)
		}
		for name, member := range targets.members {
			t.assignValue(next, env, member, assigned.composite.members[name], assignment)
		}
	}
}

// assignScalar records the value that an assignment gives to one variable. If the target has conditions,
// the variable keeps its current value where they do not hold.
func (t *translator) assignScalar(next, env map[*slot]sizedExpr, target target, assigned sizedExpr, assignment assignment) {
	variable := target.slot
	current, assignedBefore := next[variable]
	if len(target.conditions) == 0 {
		// Two assignments with variable indices may or may not write the same element.
		if assignedBefore && !current.conditional && syntax.ExprString(current.expr) != syntax.ExprString(assigned.expr) {
			t.refuse(assignment.pos, "the variable %q is assigned twice at the same index of a step, want one assignment", shortened(variable.janiName))
		}
		next[variable] = assigned
		return
	}
	if !assignedBefore {
		var ok bool
		if current, ok = env[variable]; !ok {
			current = sizedExpr{expr: &syntax.Ident{Name: variable.name, Span: assignment.ref.Span}, size: 1}
			if variable.transient {
				current.expr = variable.initial
			}
		}
	}
	size := current.size + assigned.size + 1
	var conditions []syntax.Expr
	for _, w := range target.conditions {
		conditions = append(conditions, w.expr)
		size += w.size + 1
	}
	t.addSize(assignment.pos, size)
	next[variable] = sizedExpr{&syntax.Cond{C: conjunction(conditions...), T: assigned.expr, E: current.expr, Span: spanAt(assignment.pos)}, size, true}
}

// updateAssigns returns the assignments of an update in the order of the variables, including new
// locations.
func (t *translator) updateAssigns(edges []*edgeInstance, index []int, env map[*slot]sizedExpr) []*syntax.Assign {
	for i, edge := range edges {
		if destination := edge.destinations[index[i]]; edge.instance.location != nil && destination.location != edge.location {
			env[edge.instance.location] = sizedExpr{expr: &syntax.IntLit{Value: int32(destination.location), Span: spanAt(destination.pos)}, size: 1}
		}
	}
	var assigns []*syntax.Assign
	for _, variable := range t.slots {
		assigned, ok := env[variable]
		if ident, isIdent := assigned.expr.(*syntax.Ident); !ok || variable.transient || isIdent && ident.Name == variable.name {
			continue
		}
		span := syntax.Span{Start: assigned.expr.Pos(), Stop: assigned.expr.End()}
		assigns = append(assigns, &syntax.Assign{Name: &syntax.Ident{Name: variable.name, Span: span}, Value: assigned.expr, Span: span})
	}
	return assigns
}

// writeModules adds the modules with their variables and commands, and the global variables.
func (t *translator) writeModules(modules []int, commands map[int][]*syntax.Command) {
	for _, module := range modules {
		m := &syntax.Module{Commands: commands[module]}
		var name []string
		for _, instance := range t.instances {
			if instance.module == module {
				name = append(name, instance.automaton.name)
				m.Span = spanAt(instance.automaton.pos)
			}
		}
		m.Name = &syntax.Ident{Name: t.usedNames.unused(strings.Join(name[:min(len(name), 3)], "_")), Span: m.Span}
		for _, variable := range t.slots {
			if !variable.transient && variable.module >= 0 && t.instances[variable.module].module == module {
				m.Vars = append(m.Vars, t.declaration(variable))
			}
		}
		m.Invariant = t.invariantOf(module)
		t.modules = append(t.modules, m)
	}
	for _, variable := range t.slots {
		if !variable.transient && variable.module < 0 {
			d := t.declaration(variable)
			d.Shared = variable.shared
			t.globals = append(t.globals, &syntax.GlobalDecl{Var: d, Span: d.Span})
		}
	}
}

// invariantOf returns the conjunction of the time-progress conditions of a module's instances, each for
// its location; nil means true.
func (t *translator) invariantOf(module int) syntax.Expr {
	var conditions []syntax.Expr
	for _, instance := range t.instances {
		for i := range instance.automaton.locations {
			value := instance.automaton.locations[i].progress
			if instance.module != module || value == nil || value.kind == boolean && value.isTrue {
				continue
			}
			expr := t.expr(value, &exprContext{scope: instance.scope})
			if at := instance.atLocation(i, value.Start); at != nil {
				expr = &syntax.Binary{Op: syntax.OpImplies, X: at, Y: expr, OpPos: value.Start, Span: value.Span}
			}
			conditions = append(conditions, expr)
		}
	}
	return conjunction(conditions...)
}

// declaration returns the declaration of a variable. A missing bound becomes that of a 32-bit int.
func (t *translator) declaration(variable *slot) *syntax.VarDecl {
	span := variable.decl.Span
	decl := &syntax.VarDecl{Name: &syntax.Ident{Name: variable.name, Span: span}, TypePos: span.Start, Span: span}
	if t.init == nil {
		decl.Init = variable.initial
	}
	switch {
	case variable.typ.kind == boolType:
		decl.Type = syntax.BoolVar
	case variable.typ.kind == clockType:
		decl.Type, decl.Init = syntax.ClockVar, nil
	case variable.typ.low == nil && variable.typ.high == nil:
		decl.Type = syntax.IntVar
	default:
		context := &exprContext{scope: t.global}
		if variable.owner >= 0 {
			context.scope = t.instances[variable.owner].scope
		}
		low, high := numberValue(-1<<31, span.Start), numberValue(1<<31-1, span.Start)
		if variable.typ.low != nil {
			low = variable.typ.low
		}
		if variable.typ.high != nil {
			high = variable.typ.high
		}
		decl.Low, decl.High = t.expr(low, context), t.expr(high, context)
	}
	return decl
}

// modelItems returns the items of the model in order.
func (t *translator) modelItems() []syntax.Item {
	var items []syntax.Item
	if t.doc.modelType != syntax.LTS { // an LTS has no keyword
		items = append(items, &syntax.TypeDecl{Type: t.doc.modelType, Word: strings.ToLower(t.doc.modelType.String())})
	}
	items = append(items, t.constants...)
	items = append(items, t.formulas...)
	items = append(items, t.globals...)
	items = append(items, t.modules...)
	if t.init != nil {
		items = append(items, &syntax.InitBlock{X: t.init})
	}
	items = append(items, t.labelItems...)
	for _, reward := range t.rewards {
		if reward.err == nil {
			items = append(items, reward.decl)
		}
	}
	return items
}
