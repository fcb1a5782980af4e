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
	if t.document.isMarkovAutomaton {
		race = t.raceCommands(steps, modules)
	}
	actions := make(names)
	commands := make(map[int][]*syntax.Command) // by module
	t.nameSteps(steps, modules, actions, commands)
	if len(race) > 0 {
		name := actions.unusedName("delay")
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

// immediateGuards returns a condition for each step without rates: all modules of the step have an enabled command. It ignores commands with an edge for which
// excludes returns true.
func immediateGuards(steps []stepCommands, modules []int, excludes func(*edgeInstance) bool) []syntax.Expr {
	var guards []syntax.Expr
	for _, step := range steps {
		if guard, ok := step.enabledCondition(modules, excludes); ok {
			guards = append(guards, guard)
		}
	}
	return guards
}

// enabledCondition returns the condition that each module of a step has an enabled command. It ignores commands with an edge for which excludes returns true.
// ok is false if a module then has no commands left, or if the step has no modules.
func (s *stepCommands) enabledCondition(modules []int, excludes func(*edgeInstance) bool) (guard syntax.Expr, ok bool) {
	for _, module := range modules {
		commands := s.commandsOfModule[module]
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
		for _, rewardClass := range combined.rewardClasses {
			name := combined.step.name
			if name == "" && rewardClass != "" && !haveEqualRewards {
				name = "tau" // a silent step needs an action only if silent steps have different rewards
			}
			var action *syntax.Ident
			if name != "" {
				action = &syntax.Ident{Name: usedActions.unusedName(name), Span: spanAt(combined.step.pos)}
			}
			rewards := combined.addCommands(modules, action, rewardClass, commands)
			t.addStepRewards(combined.step, action, rewards)
		}
	}
}

// stepCommands holds the commands of a step by module, and the classes of their rewards.
type stepCommands struct {
	step             *step
	commandsOfModule map[int][]*combinedCommand
	rewardClasses    []string
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

// addCommands adds commands of the step, with this action, to the commands of their modules. It selects the commands whose rewards are in the given
// class, and returns these rewards.
func (s *stepCommands) addCommands(modules []int, action *syntax.Ident, rewardClass string, commands map[int][]*syntax.Command) []syntax.Expr {
	var stepRewards []syntax.Expr
	for _, module := range modules {
		moduleCommands := s.commandsOfModule[module]
		haveRewards := hasRewards(moduleCommands)
		for _, combined := range moduleCommands {
			if haveRewards && combined.rewardClass != rewardClass { // commands without rewards are in the steps of all classes
				continue
			}
			namedCommand := *combined.command
			namedCommand.Action = action
			commands[module] = append(commands[module], &namedCommand)
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

// combineStep returns the commands of a step. A command of a module combines one edge of each automaton of the module that takes part in the step; there
// is a command for each such combination.
func (t *translator) combineStep(step *step) stepCommands {
	commands := stepCommands{step: step, commandsOfModule: make(map[int][]*combinedCommand)}
	modules := t.modulesOf(step)
	for _, module := range modules {
		edgesOfParticipants := step.edgeLists(module)
		numEdges := func(i int) int { return len(edgesOfParticipants[i]) }
		forEachCombination(len(edgesOfParticipants), numEdges, func(edgeIndices []int) {
			command := t.combineEdges(selectOneOfEach(edgesOfParticipants, edgeIndices))
			if t.document.isMarkovAutomaton && command.rate != nil { // raceCommands makes the commands of the step from these
				t.rateCommands = append(t.rateCommands, command)
			} else {
				commands.commandsOfModule[module] = append(commands.commandsOfModule[module], command)
			}
		})
	}
	commands.listRewardClasses(modules)
	return commands
}

// selectOneOfEach returns element chosen[i] of each list i.
func selectOneOfEach[T any](lists [][]T, chosen []int) []T {
	var selected []T
	for i, list := range lists {
		selected = append(selected, list[chosen[i]])
	}
	return selected
}

// listRewardClasses sets s.rewardClasses to the different classes of rewards that the commands earn. Commands of one class earn equal rewards. Without rewards,
// there is one class with an empty name.
func (s *stepCommands) listRewardClasses(modules []int) {
	for _, module := range modules {
		if !hasRewards(s.commandsOfModule[module]) {
			continue
		}
		for _, combined := range s.commandsOfModule[module] {
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
	numbers := make([]int, count)
	for {
		visit(numbers)
		position := count - 1
		for position >= 0 && numbers[position]+1 >= limit(position) {
			numbers[position] = 0
			position--
		}
		if position < 0 {
			return
		}
		numbers[position]++
	}
}

// combineEdges makes one command of several edges, which automata take in the same step. The command has an update for each combination of the edges'
// destinations.
func (t *translator) combineEdges(edges []*edgeInstance) *combinedCommand {
	span := spanAt(edges[0].pos)
	rate := t.combinedRate(edges)
	command := &syntax.Command{Guard: combinedGuard(edges), Span: span}
	t.addSize(edges[0].pos, 2*len(edges))
	var stepRewards [][]syntax.Expr
	var probabilities []syntax.Expr
	numDestinations := func(i int) int { return len(edges[i].destinations) }
	forEachCombination(len(edges), numDestinations, func(destinationIndices []int) {
		probability := t.probability(edges, destinationIndices)
		values := t.valuesAfter(edges, destinationIndices)
		addLocations(values, edges, destinationIndices)
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

// probability returns the probability that each edge i leads to its destination destinationIndices[i], the product of the probabilities of these
// destinations. It returns nil if all of them are 1.
func (t *translator) probability(edges []*edgeInstance, destinationIndices []int) syntax.Expr {
	var product syntax.Expr
	for i, edge := range edges {
		if destination := edge.destinations[destinationIndices[i]]; destination.probability != nil {
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

// orderedAssignments returns the assignments of the destinations destinationIndices[i] of all edges i, sorted by their indices.
func orderedAssignments(edges []*edgeInstance, destinationIndices []int) []instanceAssignment {
	var ordered []instanceAssignment
	for i, edge := range edges {
		for _, assignment := range edge.destinations[destinationIndices[i]].assignments {
			ordered = append(ordered, instanceAssignment{edge.instance.scope, assignment})
		}
	}
	slices.SortStableFunc(ordered, func(first, second instanceAssignment) int { return first.index - second.index })
	return ordered
}

// valuesAfter returns the values of the variables that a step assigns. Each edge i leads to its destination destinationIndices[i].
func (t *translator) valuesAfter(edges []*edgeInstance, destinationIndices []int) map[*slot]sizedExpr {
	assignments := orderedAssignments(edges, destinationIndices)
	// Assignments with the same index are simultaneous: they read the values after the assignments with smaller indices.
	values := make(map[*slot]sizedExpr)        // values after the assignments with smaller indices
	pendingValues := make(map[*slot]sizedExpr) // values that the assignments with the current index give
	for i, assignment := range assignments {
		context := &exprContext{scope: assignment.scope, assignedValues: values}
		targets, value := t.targetsOf(assignment.reference, context), t.symbolOf(assignment.value, context)
		t.assignValue(pendingValues, values, targets, value, assignment.assignment)
		isLastOfIndex := i+1 == len(assignments) || assignments[i+1].index != assignment.index
		if isLastOfIndex {
			maps.Copy(values, pendingValues)
			clear(pendingValues)
		}
	}
	return values
}

// assignValue stores in pendingValues the new values of the variables that one assignment changes. For an array or a datatype, it assigns each
// part. values has the values before all assignments with the same index.
func (t *translator) assignValue(pendingValues, values map[*slot]sizedExpr, targets targetTree, assigned symbol, assignment assignment) {
	if len(targets.variables) > 0 {
		if assigned.expr == nil {
			t.abort(assignment.value.Start, "found an array or a datatype, want a single value")
		}
		for _, target := range targets.variables {
			t.assignScalar(pendingValues, values, target, sizedExpr{expr: assigned.expr, size: assigned.size}, assignment)
		}
		return
	}
	newValue := assigned.composite
	if newValue == nil || len(newValue.elements) != len(targets.elements) || len(newValue.members) != len(targets.members) {
		t.abort(assignment.pos, "the assigned value has another shape than the variable, want arrays of equal length or the same datatype")
	}
	for i, element := range targets.elements {
		t.assignValue(pendingValues, values, element, newValue.elements[i], assignment)
	}
	for name, member := range targets.members {
		t.assignValue(pendingValues, values, member, newValue.members[name], assignment)
	}
}

// assignScalar stores in pendingValues the new value that an assignment gives to one variable. If the target has conditions, the new value is:
// conditions ? assigned : current.
func (t *translator) assignScalar(pendingValues, values map[*slot]sizedExpr, target target, assigned sizedExpr, assignment assignment) {
	variable := target.slot
	current, isAssigned := pendingValues[variable]
	if len(target.conditions) == 0 {
		// Only two unconditional assignments certainly contradict each other.
		if isAssigned && !current.isConditional && !sameExpr(current.expr, assigned.expr) {
			t.abort(assignment.pos, "the variable %q is assigned twice at the same index of a step, want one assignment", shortened(variable.janiName))
		}
		pendingValues[variable] = assigned
		return
	}
	if !isAssigned {
		current = valueBefore(values, variable, assignment.reference.Span)
	}
	size := current.size + assigned.size + 1
	var conditions []syntax.Expr
	for _, condition := range target.conditions {
		conditions = append(conditions, condition.expr)
		size += condition.size + 1
	}
	t.addSize(assignment.pos, size)
	conditionalValue := &syntax.Cond{Condition: conjunction(conditions...), Then: assigned.expr, Else: current.expr, Span: spanAt(assignment.pos)}
	pendingValues[variable] = sizedExpr{expr: conditionalValue, size: size, isConditional: true}
}

// valueBefore returns the value of a variable before an assignment: its value in values or, if values lacks the variable, its value before the step.
func valueBefore(values map[*slot]sizedExpr, variable *slot, span syntax.Span) sizedExpr {
	if value, ok := values[variable]; ok {
		return value
	}
	if variable.isTransient {
		return sizedExpr{expr: variable.initial, size: 1}
	}
	return sizedExpr{expr: &syntax.Ident{Name: variable.name, Span: span}, size: 1}
}

// addLocations adds the new locations of the automata to values, after a step in which each edge i leads to its destination destinationIndices[i].
// It omits automata that stay in their location.
func addLocations(values map[*slot]sizedExpr, edges []*edgeInstance, destinationIndices []int) {
	for i, edge := range edges {
		destination := edge.destinations[destinationIndices[i]]
		if location := edge.instance.location; location != nil && destination.location != edge.location {
			number := &syntax.IntLit{Value: int32(destination.location), Span: spanAt(destination.pos)}
			values[location] = sizedExpr{expr: number, size: 1}
		}
	}
}

// updateAssigns returns the assignments that give variables their values in values. It skips transient variables and assignments without effect.
func (t *translator) updateAssigns(values map[*slot]sizedExpr) []*syntax.Assign {
	var assignments []*syntax.Assign
	for _, variable := range t.slots {
		newValue, ok := values[variable]
		if !ok || variable.isTransient || isVariable(newValue.expr, variable.name) {
			continue
		}
		span := syntax.Span{Start: newValue.expr.Pos(), Stop: newValue.expr.End()}
		assignments = append(assignments, &syntax.Assign{Name: &syntax.Ident{Name: variable.name, Span: span}, Value: newValue.expr, Span: span})
	}
	return assignments
}

// isVariable reports whether an expression is the variable with this name.
func isVariable(expr syntax.Expr, name string) bool {
	ident, ok := expr.(*syntax.Ident)
	return ok && ident.Name == name
}

// writeModules adds the modules with their variables and commands, and the global variables.
func (t *translator) writeModules(modules []int, commands map[int][]*syntax.Command) {
	for _, newModule := range modules {
		t.modules = append(t.modules, t.module(newModule, commands[newModule]))
	}
	for _, variable := range t.slots {
		if !variable.isTransient && variable.module < 0 {
			declaration := t.newDeclaration(variable)
			declaration.Shared = variable.isShared
			t.globals = append(t.globals, &syntax.GlobalDecl{Var: declaration, Span: declaration.Span})
		}
	}
}

// module returns the module with a number, with its variables and commands. The name of the module joins the names of its first automata.
func (t *translator) module(number int, commands []*syntax.Command) *syntax.Module {
	const maxNames = 3
	module := &syntax.Module{Commands: commands}
	var automata []string
	for _, instance := range t.instances {
		if instance.module == number {
			automata = append(automata, instance.automaton.name)
			module.Span = spanAt(instance.automaton.pos)
		}
	}
	name := strings.Join(automata[:min(len(automata), maxNames)], "_")
	module.Name = &syntax.Ident{Name: t.usedNames.unusedName(name), Span: module.Span}
	for _, variable := range t.slots {
		if !variable.isTransient && variable.module >= 0 && t.instances[variable.module].module == number {
			module.Vars = append(module.Vars, t.newDeclaration(variable))
		}
	}
	module.Invariant = t.invariantOf(number)
	return module
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

// newDeclaration returns the declaration of a variable in PRISM's language. If a variable has only one bound, the other bound is the smallest or the largest
// 32-bit integer.
func (t *translator) newDeclaration(variable *slot) *syntax.VarDecl {
	span := variable.declaration.Span
	declaration := &syntax.VarDecl{Name: &syntax.Ident{Name: variable.name, Span: span}, TypePos: span.Start, Span: span}
	if t.initialCondition == nil {
		declaration.Init = variable.initial
	}
	low, high := variable.valueType.low, variable.valueType.high
	switch {
	case variable.valueType.kind == boolType:
		declaration.Type = syntax.BoolVar
		return declaration
	case variable.valueType.kind == clockType:
		declaration.Type, declaration.Init = syntax.ClockVar, nil
		return declaration
	case low == nil && high == nil:
		declaration.Type = syntax.IntVar
		return declaration
	case low == nil:
		low = numberValue(math.MinInt32, span.Start)
	case high == nil:
		high = numberValue(math.MaxInt32, span.Start)
	}
	context := &exprContext{scope: t.globalScope}
	if variable.owner >= 0 {
		context.scope = t.instances[variable.owner].scope
	}
	declaration.Low, declaration.High = t.translateExpr(low, context), t.translateExpr(high, context)
	return declaration
}

// modelItems returns the items of the model in the order of a PRISM file: type, constants, formulas, variables, modules, labels and rewards.
func (t *translator) modelItems() []syntax.Item {
	var items []syntax.Item
	if t.document.modelType != syntax.LTS { // an LTS has no keyword
		items = append(items, &syntax.TypeDecl{Type: t.document.modelType, Word: strings.ToLower(t.document.modelType.String())})
	}
	items = append(items, t.constants...)
	items = append(items, t.formulas...)
	items = append(items, t.globals...)
	items = append(items, t.modules...)
	if t.initialCondition != nil {
		items = append(items, &syntax.InitBlock{X: t.initialCondition})
	}
	items = append(items, t.labelItems...)
	for _, reward := range t.rewards {
		if reward.err == nil {
			items = append(items, reward.declaration)
		}
	}
	return items
}
