package jani

import (
	"maps"
	"math"
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

// buildModules combines the edges of each step into commands. It writes the modules with these commands, and gives the commands actions and
// rewards.
func (t *translator) buildModules() {
	modules := t.modulesInOrder()
	var steps []stepCommands
	for _, step := range t.steps {
		steps = append(steps, t.combineStep(step))
	}
	var race []*syntax.Command // the commands for the edges with rates of a Markov automaton
	if t.doc.markov {
		race = t.raceCommands(steps, modules)
	}
	actions := make(names)
	commands := make(map[int][]*syntax.Command) // by module
	t.nameSteps(steps, modules, actions, commands)
	if len(race) > 0 {
		name := actions.unused("delay")
		for _, command := range race {
			command.Action = &syntax.Ident{Name: name, Span: command.Span}
		}
		commands[modules[0]] = append(commands[modules[0]], race...)
	}
	t.writeModules(modules, commands)
}

// modulesInOrder returns the numbers of all modules, in the order of their first instances.
func (t *translator) modulesInOrder() []int {
	var modules []int
	for _, instance := range t.instances {
		if !slices.Contains(modules, instance.module) {
			modules = append(modules, instance.module)
		}
	}
	return modules
}

// immediateGuards returns a condition for each step without rates: that all of its modules have an enabled command. Commands with an edge that
// excludes accepts are ignored.
func immediateGuards(steps []stepCommands, modules []int, excludes func(*edgeInstance) bool) []syntax.Expr {
	var guards []syntax.Expr
	for _, step := range steps {
		if guard, ok := step.enabled(modules, excludes); ok {
			guards = append(guards, guard)
		}
	}
	return guards
}

// enabled returns the condition that all modules of a step have an enabled command. Commands with an edge that excludes accepts are ignored. It
// returns false if this leaves a module without commands, or if there are no modules.
func (s *stepCommands) enabled(modules []int, excludes func(*edgeInstance) bool) (guard syntax.Expr, ok bool) {
	for _, module := range modules {
		commands := s.byModule[module]
		if len(commands) == 0 {
			continue
		}
		var guards []syntax.Expr
		for _, combined := range commands {
			if !slices.ContainsFunc(combined.edges, excludes) {
				guards = append(guards, combined.command.Guard)
			}
		}
		if len(guards) == 0 {
			return nil, false
		}
		guard = conjunction(guard, joinWith(syntax.OpOr, guards))
	}
	return guard, guard != nil
}

// nameSteps gives an action to the commands of each step, and adds the commands to their modules. Commands with different rewards get different
// actions, because a reward of PRISM's language depends on the action. usedActions has the names in use.
func (t *translator) nameSteps(steps []stepCommands, modules []int, usedActions names, commands map[int][]*syntax.Command) {
	haveEqualRewards := silentRewardsEqual(steps)
	for _, combined := range steps {
		for _, class := range combined.rewardClasses {
			name := combined.step.name
			if name == "" && class != "" && !haveEqualRewards {
				name = "tau" // a silent step needs an action only if silent steps have different rewards
			}
			var action *syntax.Ident
			if name != "" {
				action = &syntax.Ident{Name: usedActions.unused(name), Span: spanAt(combined.step.pos)}
			}
			rewards := combined.addNamed(modules, action, class, commands)
			t.addStepRewards(combined.step, action, rewards)
		}
	}
}

// stepCommands holds the commands of a step by module, and the classes of their rewards.
type stepCommands struct {
	step          *step
	byModule      map[int][]*combinedCommand
	rewardClasses []string
}

// silentRewardsEqual reports whether all silent steps, which have no action, earn the same rewards.
func silentRewardsEqual(steps []stepCommands) bool {
	var classes []string
	for _, step := range steps {
		if step.step.name == "" {
			classes = append(classes, step.rewardClasses...)
		}
	}
	return len(slices.Compact(classes)) <= 1
}

// addNamed adds commands of the step, with this action, to the commands of their modules. It selects the commands whose rewards are in the given
// class, and returns these rewards.
func (s *stepCommands) addNamed(modules []int, action *syntax.Ident, class string, commands map[int][]*syntax.Command) []syntax.Expr {
	var stepRewards []syntax.Expr
	for _, module := range modules {
		moduleCommands := s.byModule[module]
		haveRewards := hasRewards(moduleCommands)
		for _, combined := range moduleCommands {
			if haveRewards && combined.rewardClass != class { // commands without rewards are in the steps of all classes
				continue
			}
			named := *combined.command
			named.Action = action
			commands[module] = append(commands[module], &named)
			if stepRewards == nil || haveRewards {
				stepRewards = combined.stepRewards
			}
		}
	}
	return stepRewards
}

// hasRewards reports whether some of the commands earn rewards.
func hasRewards(commands []*combinedCommand) bool {
	return slices.ContainsFunc(commands, func(combined *combinedCommand) bool { return combined.rewardClass != "" })
}

// combineStep returns the commands of a step. Each participant of a module contributes one edge to a command, and each combination of edges is a
// command of the module.
func (t *translator) combineStep(step *step) stepCommands {
	result := stepCommands{step: step, byModule: make(map[int][]*combinedCommand)}
	modules := t.modulesOf(step)
	for _, module := range modules {
		edgesOfParticipants := step.edgeLists(module)
		numEdges := func(i int) int { return len(edgesOfParticipants[i]) }
		forEachCombination(len(edgesOfParticipants), numEdges, func(chosen []int) {
			command := t.combine(selectOneOfEach(edgesOfParticipants, chosen))
			if t.doc.markov && command.rate != nil { // raceCommands converts these commands
				t.rateCommands = append(t.rateCommands, command)
			} else {
				result.byModule[module] = append(result.byModule[module], command)
			}
		})
	}
	result.listRewardClasses(modules)
	return result
}

// selectOneOfEach returns element chosen[i] of each list i.
func selectOneOfEach[T any](lists [][]T, chosen []int) []T {
	var selected []T
	for i, list := range lists {
		selected = append(selected, list[chosen[i]])
	}
	return selected
}

// listRewardClasses sets s.rewardClasses to the classes of the rewards that the commands earn, without duplicates. Without rewards, it has one
// empty class.
func (s *stepCommands) listRewardClasses(modules []int) {
	for _, module := range modules {
		if !hasRewards(s.byModule[module]) {
			continue
		}
		for _, combined := range s.byModule[module] {
			if !slices.Contains(s.rewardClasses, combined.rewardClass) {
				s.rewardClasses = append(s.rewardClasses, combined.rewardClass)
			}
		}
	}
	if len(s.rewardClasses) == 0 {
		s.rewardClasses = []string{""}
	}
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

// forEachCombination calls visit with every list of count numbers in which number i is at least 0 and below limit(i). The last number changes
// fastest.
func forEachCombination(count int, limit func(int) int, visit func([]int)) {
	chosen := make([]int, count)
	for {
		visit(chosen)
		last := count - 1
		for last >= 0 && chosen[last]+1 >= limit(last) {
			chosen[last] = 0
			last--
		}
		if last < 0 {
			return
		}
		chosen[last]++
	}
}

// combine makes one command of several edges, which automata take in the same step. The command has an update for each combination of the edges'
// destinations.
func (t *translator) combine(edges []*edgeInstance) *combinedCommand {
	span := spanAt(edges[0].pos)
	rate := t.combinedRate(edges)
	command := &syntax.Command{Guard: combinedGuard(edges), Span: span}
	t.addSize(edges[0].pos, 2*len(edges))
	var stepRewards [][]syntax.Expr
	var probabilities []syntax.Expr
	numDestinations := func(i int) int { return len(edges[i].destinations) }
	forEachCombination(len(edges), numDestinations, func(chosen []int) {
		probability := t.probability(edges, chosen)
		values := t.valuesAfter(edges, chosen)
		addLocations(values, edges, chosen)
		update := &syntax.Update{Prob: productOf(rate, probability), Span: span, Assigns: t.updateAssigns(values)}
		command.Updates = append(command.Updates, update)
		probabilities = append(probabilities, probability)
		stepRewards = append(stepRewards, t.stepRewardsAfter(values))
	})
	combined := &combinedCommand{edges: edges, command: command, rate: rate}
	t.setExpectedRewards(combined, probabilities, stepRewards)
	return combined
}

// combinedGuard returns the condition that all edges are enabled: each automaton is in the location of its edge, and the guards of all edges
// hold.
func combinedGuard(edges []*edgeInstance) syntax.Expr {
	var conditions []syntax.Expr
	for _, edge := range edges {
		conditions = append(conditions, edge.instance.atLocation(edge.location, edge.pos), edge.guard)
	}
	guard := conjunction(conditions...)
	if guard == nil {
		return trueExpr(spanAt(edges[0].pos))
	}
	return guard
}

// combinedRate returns the product of the rates of the edges, or nil if no edge has a rate.
func (t *translator) combinedRate(edges []*edgeInstance) syntax.Expr {
	var product syntax.Expr
	for _, edge := range edges {
		if edge.rate != nil {
			product = productOf(product, t.translateExpr(edge.rate, &exprContext{scope: edge.instance.scope}))
		}
	}
	return product
}

// probability returns the probability that each edge i leads to its destination chosen[i], the product of the probabilities of these
// destinations. It returns nil if all of them are 1.
func (t *translator) probability(edges []*edgeInstance, chosen []int) syntax.Expr {
	var product syntax.Expr
	for i, edge := range edges {
		if destination := edge.destinations[chosen[i]]; destination.probability != nil {
			product = productOf(product, t.translateExpr(destination.probability, &exprContext{scope: edge.instance.scope}))
		}
	}
	return product
}

// productOf returns left*right without factors 1. nil stands for 1.
func productOf(left, right syntax.Expr) syntax.Expr {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	case isNumber(left, "1"):
		return right
	case isNumber(right, "1"):
		return left
	}
	return &syntax.Binary{Op: syntax.OpMul, X: left, Y: right, OpPos: right.Pos(), Span: syntax.Span{Start: left.Pos(), Stop: right.End()}}
}

// isNumber reports whether an expression is a literal with these digits.
func isNumber(expr syntax.Expr, digits string) bool {
	switch expr := expr.(type) {
	case *syntax.IntLit:
		return syntax.ExprString(expr) == digits
	case *syntax.DoubleLit:
		return expr.Text == digits || expr.Text == digits+".0"
	}
	return false
}

// instanceAssignment is an assignment of an automaton, with the scope of the instance that makes it.
type instanceAssignment struct {
	scope *scope
	assignment
}

// orderedAssignments returns the assignments of the destinations chosen[i] of all edges i, sorted by their indices.
func orderedAssignments(edges []*edgeInstance, chosen []int) []instanceAssignment {
	var ordered []instanceAssignment
	for i, edge := range edges {
		for _, assignment := range edge.destinations[chosen[i]].assigns {
			ordered = append(ordered, instanceAssignment{edge.instance.scope, assignment})
		}
	}
	slices.SortStableFunc(ordered, func(first, second instanceAssignment) int { return first.index - second.index })
	return ordered
}

// valuesAfter returns the values of the variables that a step assigns. Each edge i leads to its destination chosen[i].
func (t *translator) valuesAfter(edges []*edgeInstance, chosen []int) map[*slot]sizedExpr {
	assigns := orderedAssignments(edges, chosen)
	// Assignments with the same index are simultaneous: they read the values after the assignments with smaller indices.
	env := make(map[*slot]sizedExpr)  // values after the assignments with smaller indices
	next := make(map[*slot]sizedExpr) // values that the assignments with the current index give
	for i, assign := range assigns {
		context := &exprContext{scope: assign.scope, assigned: env}
		targets, value := t.targetsOf(assign.ref, context), t.symbolOf(assign.value, context)
		t.assignValue(next, env, targets, value, assign.assignment)
		isLastOfIndex := i+1 == len(assigns) || assigns[i+1].index != assign.index
		if isLastOfIndex {
			maps.Copy(env, next)
			clear(next)
		}
	}
	return env
}

// assignValue stores the new values of the variables that one assignment changes in next. For an array or a datatype, it assigns each part. env
// has the values before all assignments with the same index.
func (t *translator) assignValue(next, env map[*slot]sizedExpr, targets targetTree, assigned symbol, assignment assignment) {
	if len(targets.scalar) > 0 {
		if assigned.expr == nil {
			t.abort(assignment.value.Start, "found an array or a datatype, want a single value")
		}
		for _, target := range targets.scalar {
			t.assignScalar(next, env, target, sizedExpr{expr: assigned.expr, size: assigned.size}, assignment)
		}
		return
	}
	parts := assigned.composite
	if parts == nil || len(parts.elements) != len(targets.elements) || len(parts.members) != len(targets.members) {
		t.abort(assignment.pos, "the assigned value has another shape than the variable, want arrays of equal length or the same datatype")
	}
	for i, element := range targets.elements {
		t.assignValue(next, env, element, parts.elements[i], assignment)
	}
	for name, member := range targets.members {
		t.assignValue(next, env, member, parts.members[name], assignment)
	}
}

// assignScalar stores the new value that an assignment gives to one variable in next. With conditions, the new value is condition ? assigned :
// current.
func (t *translator) assignScalar(next, env map[*slot]sizedExpr, target target, assigned sizedExpr, assignment assignment) {
	variable := target.slot
	current, assignedBefore := next[variable]
	if len(target.conditions) == 0 {
		// Only two unconditional assignments certainly contradict each other.
		if assignedBefore && !current.conditional && !sameExpr(current.expr, assigned.expr) {
			t.abort(assignment.pos, "the variable %q is assigned twice at the same index of a step, want one assignment", shortened(variable.janiName))
		}
		next[variable] = assigned
		return
	}
	if !assignedBefore {
		current = valueBefore(env, variable, assignment.ref.Span)
	}
	size := current.size + assigned.size + 1
	var conditions []syntax.Expr
	for _, condition := range target.conditions {
		conditions = append(conditions, condition.expr)
		size += condition.size + 1
	}
	t.addSize(assignment.pos, size)
	chosen := &syntax.Cond{C: conjunction(conditions...), T: assigned.expr, E: current.expr, Span: spanAt(assignment.pos)}
	next[variable] = sizedExpr{expr: chosen, size: size, conditional: true}
}

// valueBefore returns the value of a variable before an assignment: its value in env or, if env lacks the variable, its value before the step.
func valueBefore(env map[*slot]sizedExpr, variable *slot, span syntax.Span) sizedExpr {
	if assigned, ok := env[variable]; ok {
		return assigned
	}
	if variable.transient {
		return sizedExpr{expr: variable.initial, size: 1}
	}
	return sizedExpr{expr: &syntax.Ident{Name: variable.name, Span: span}, size: 1}
}

// addLocations adds the new locations of the automata to env, after a step in which each edge i leads to its destination chosen[i]. It omits
// automata that stay in their location.
func addLocations(env map[*slot]sizedExpr, edges []*edgeInstance, chosen []int) {
	for i, edge := range edges {
		destination := edge.destinations[chosen[i]]
		if location := edge.instance.location; location != nil && destination.location != edge.location {
			number := &syntax.IntLit{Value: int32(destination.location), Span: spanAt(destination.pos)}
			env[location] = sizedExpr{expr: number, size: 1}
		}
	}
}

// updateAssigns returns the assignments that give variables their values in env. It skips transient variables and assignments without effect.
func (t *translator) updateAssigns(env map[*slot]sizedExpr) []*syntax.Assign {
	var assigns []*syntax.Assign
	for _, variable := range t.slots {
		assigned, ok := env[variable]
		if !ok || variable.transient || isVariable(assigned.expr, variable.name) {
			continue
		}
		span := syntax.Span{Start: assigned.expr.Pos(), Stop: assigned.expr.End()}
		assigns = append(assigns, &syntax.Assign{Name: &syntax.Ident{Name: variable.name, Span: span}, Value: assigned.expr, Span: span})
	}
	return assigns
}

// isVariable reports whether an expression is the variable with this name.
func isVariable(expr syntax.Expr, name string) bool {
	ident, ok := expr.(*syntax.Ident)
	return ok && ident.Name == name
}

// writeModules adds the modules with their variables and commands, and the global variables.
func (t *translator) writeModules(modules []int, commands map[int][]*syntax.Command) {
	for _, module := range modules {
		t.modules = append(t.modules, t.module(module, commands[module]))
	}
	for _, variable := range t.slots {
		if !variable.transient && variable.module < 0 {
			decl := t.declaration(variable)
			decl.Shared = variable.shared
			t.globals = append(t.globals, &syntax.GlobalDecl{Var: decl, Span: decl.Span})
		}
	}
}

// module returns the module with a number, with its variables and commands. The name of the module joins the names of its first automata.
func (t *translator) module(number int, commands []*syntax.Command) *syntax.Module {
	const maxNames = 3
	result := &syntax.Module{Commands: commands}
	var automata []string
	for _, instance := range t.instances {
		if instance.module == number {
			automata = append(automata, instance.automaton.name)
			result.Span = spanAt(instance.automaton.pos)
		}
	}
	name := strings.Join(automata[:min(len(automata), maxNames)], "_")
	result.Name = &syntax.Ident{Name: t.usedNames.unused(name), Span: result.Span}
	for _, variable := range t.slots {
		if !variable.transient && variable.module >= 0 && t.instances[variable.module].module == number {
			result.Vars = append(result.Vars, t.declaration(variable))
		}
	}
	result.Invariant = t.invariantOf(number)
	return result
}

// invariantOf returns the invariant of a module: the conjunction of the time-progress conditions of its locations. nil means true.
func (t *translator) invariantOf(module int) syntax.Expr {
	var conditions []syntax.Expr
	for _, instance := range t.instances {
		if instance.module != module {
			continue
		}
		for i := range instance.automaton.locations {
			conditions = append(conditions, t.locationInvariant(instance, i))
		}
	}
	return conjunction(conditions...)
}

// locationInvariant returns the condition "at this location => time-progress condition of the location"; nil means true.
func (t *translator) locationInvariant(instance *instance, location int) syntax.Expr {
	progress := instance.automaton.locations[location].progress
	if isTrivial(progress) {
		return nil
	}
	condition := t.translateExpr(progress, &exprContext{scope: instance.scope})
	atLocation := instance.atLocation(location, progress.Start)
	if atLocation == nil {
		return condition
	}
	return &syntax.Binary{Op: syntax.OpImplies, X: atLocation, Y: condition, OpPos: progress.Start, Span: progress.Span}
}

// isTrivial reports whether a condition is missing or true.
func isTrivial(condition *jsonValue) bool {
	return condition == nil || condition.kind == boolean && condition.isTrue
}

// declaration returns the declaration of a variable in PRISM's language. If only one of its bounds is missing, this bound is the one of 32-bit
// integers.
func (t *translator) declaration(variable *slot) *syntax.VarDecl {
	span := variable.decl.Span
	decl := &syntax.VarDecl{Name: &syntax.Ident{Name: variable.name, Span: span}, TypePos: span.Start, Span: span}
	if t.init == nil {
		decl.Init = variable.initial
	}
	low, high := variable.typ.low, variable.typ.high
	switch {
	case variable.typ.kind == boolType:
		decl.Type = syntax.BoolVar
		return decl
	case variable.typ.kind == clockType:
		decl.Type, decl.Init = syntax.ClockVar, nil
		return decl
	case low == nil && high == nil:
		decl.Type = syntax.IntVar
		return decl
	case low == nil:
		low = numberValue(math.MinInt32, span.Start)
	case high == nil:
		high = numberValue(math.MaxInt32, span.Start)
	}
	context := &exprContext{scope: t.global}
	if variable.owner >= 0 {
		context.scope = t.instances[variable.owner].scope
	}
	decl.Low, decl.High = t.translateExpr(low, context), t.translateExpr(high, context)
	return decl
}

// modelItems returns the items of the model in the order of a PRISM file: type, constants, formulas, variables, modules, labels and rewards.
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
