package jani

import (
	"slices"

	"tilecheck/prism/syntax"
)

// edgeInstance is an edge of one instance of an automaton, with its guard translated.
type edgeInstance struct {
	instance      *instance
	pos           syntax.Pos
	action        string
	location      int
	guard         syntax.Expr // the guard; nil is true
	rate          *jsonValue
	destinations  []destination
	accesses      []access
	affectsReward bool // assigns a transient variable that a reward depends on
}

// access is a read or write of a variable by an assignment. index is the index of the assignment in its step.
type access struct {
	slot    *slot
	index   int
	isWrite bool
}

// translateEdges translates the guards of all edges, and records the variables that the edges read and write.
func (t *translator) translateEdges() {
	for _, instance := range t.instances {
		for _, declared := range instance.automaton.edges {
			t.collectError(func() { t.expandEdge(instance, *declared) })
		}
		t.addIdleEdges(instance)
	}
}

// expandEdge adds an edge to an instance. A sampled or selected number makes several edges of it.
func (t *translator) expandEdge(instance *instance, declared edge) {
	context := &exprContext{scope: instance.scope}
	withoutSampling := t.expandSampling(declared, context)
	for _, edge := range t.expandSelections(withoutSampling, context) {
		t.translateEdge(instance, edge)
	}
}

// translateEdge translates the guard of an edge and adds the edge to the instance.
func (t *translator) translateEdge(instance *instance, declared edge) {
	edge := &edgeInstance{
		instance: instance, pos: declared.pos, action: declared.action, location: declared.location,
		rate: declared.rate, destinations: declared.destinations,
	}
	if !isTrivial(declared.guard) {
		edge.guard = t.translateExpr(declared.guard, &exprContext{scope: instance.scope})
	}
	for _, destination := range declared.destinations {
		for _, assignment := range destination.assignments {
			t.recordAccesses(edge, assignment)
		}
	}
	instance.edges = append(instance.edges, edge)
}

// addIdleEdges adds edges without effect for the input-enabled actions of an instance. Such an edge is enabled in a location if no other edge
// with the action is enabled. The instance then never blocks the action.
func (t *translator) addIdleEdges(instance *instance) {
	declared := instance.edges
	var handledActions []string
	for _, action := range t.document.elements[instance.number].inputEnable {
		if slices.Contains(handledActions, action) {
			continue
		}
		handledActions = append(handledActions, action)
		for location := range instance.automaton.locations {
			if newEdge := t.idleEdge(instance, location, withAction(declared, action), action); newEdge != nil {
				instance.edges = append(instance.edges, newEdge)
			}
		}
	}
}

// idleEdge returns an edge without effect that is enabled in a location if none of the given edges is enabled there. It returns nil if one of
// them is always enabled.
func (t *translator) idleEdge(instance *instance, location int, edges []*edgeInstance, action string) *edgeInstance {
	var guards []syntax.Expr
	for _, edge := range edges {
		if edge.location != location {
			continue
		}
		if edge.guard == nil {
			return nil
		}
		guards = append(guards, edge.guard)
	}
	pos := t.document.elements[instance.number].pos
	newEdge := &edgeInstance{instance: instance, pos: pos, action: action, location: location, destinations: []destination{{pos: pos, location: location}}}
	if anyGuard := joinWith(syntax.OpOr, guards); anyGuard != nil {
		newEdge.guard = &syntax.Unary{Op: syntax.OpNot, X: anyGuard, Span: spanAt(pos)}
	}
	return newEdge
}

// recordAccesses records the variables that an assignment of an edge writes and reads.
func (t *translator) recordAccesses(edge *edgeInstance, assign assignment) {
	context := &exprContext{scope: edge.instance.scope, assignedValues: map[*slot]sizedExpr{}}
	t.recordWrites(edge, assign, t.targetsOf(assign.reference, context))
	recordRead := func(variable *slot) {
		edge.accesses = append(edge.accesses, access{variable, assign.index, false})
	}
	t.visitReads(assign.value, edge.instance.scope, map[*function]bool{}, recordRead)
	if index := assign.reference.get("index"); index != nil {
		t.visitReads(index, edge.instance.scope, map[*function]bool{}, recordRead)
	}
}

// recordWrites records the variables that an assignment may write.
func (t *translator) recordWrites(edge *edgeInstance, assign assignment, targets targetTree) {
	for _, target := range targets.variables {
		t.recordWrite(edge, assign, target)
	}
	for _, element := range targets.elements {
		t.recordWrites(edge, assign, element)
	}
	for _, member := range targets.members {
		t.recordWrites(edge, assign, member)
	}
}

// recordWrite records that an assignment may write a variable.
func (t *translator) recordWrite(edge *edgeInstance, assign assignment, target target) {
	variable := target.slot
	if variable == edge.instance.location {
		t.abort(assign.reference.Start, "a location cannot be assigned")
	}
	edge.accesses = append(edge.accesses, access{variable, assign.index, true})
	mayKeepValue := len(target.conditions) > 0
	if mayKeepValue { // then the edge reads the value, too
		edge.accesses = append(edge.accesses, access{variable, assign.index, false})
	}
	edge.affectsReward = edge.affectsReward || variable.affectsReward
	if !variable.isTransient && !slices.Contains(variable.writers, edge.instance.number) {
		variable.writers = append(variable.writers, edge.instance.number)
	}
}

// visitReads calls visit for each variable that an expression may read, also in the bodies of called functions. called has the functions that
// were visited already.
func (t *translator) visitReads(value *jsonValue, scope *scope, called map[*function]bool, visit func(*slot)) {
	if value.kind == text {
		meaning, _ := scope.find(value.text)
		visitSlots(meaning, visit)
		return
	}
	for _, element := range value.elements {
		t.visitReads(element, scope, called, visit)
	}
	for _, member := range value.members {
		switch member.key {
		case "op", "fun", "comment", "member", "var", "type":
			// The value of such a key is not an expression.
		case "function":
			function, functionScope := scope.function(member.value.text)
			if function != nil && !called[function] {
				called[function] = true
				t.visitReads(function.body, functionScope, called, visit)
			}
		default:
			t.visitReads(member.value, scope, called, visit)
		}
	}
}

// visitSlots calls visit for each variable that a name refers to: a single variable, or all parts of an array or datatype.
func visitSlots(meaning symbol, visit func(*slot)) {
	if meaning.slot != nil {
		visit(meaning.slot)
	}
	if meaning.composite != nil {
		for _, element := range meaning.composite.elements {
			visitSlots(element, visit)
		}
		for _, member := range meaning.composite.members {
			visitSlots(member, visit)
		}
	}
}

// step is a synchronisation vector or the silent edges of one instance.
type step struct {
	pos          syntax.Pos
	name         string // of the action; empty for a silent one
	participants []participant
}

// participant is an instance that takes part in a step, with its edges for the step.
type participant struct {
	instance *instance
	edges    []*edgeInstance
}

// listSteps lists the steps of the composition: for each synchronisation vector whose participants all have edges with their action, one step, and for
// each automaton with edges without an action, one step of its own.
func (t *translator) listSteps() {
	for _, vector := range t.synchronisationVectors() {
		if step := t.vectorStep(vector); step != nil {
			t.steps = append(t.steps, step)
		}
	}
	for _, instance := range t.instances {
		if silentEdges := withAction(instance.edges, ""); len(silentEdges) > 0 {
			t.steps = append(t.steps, &step{pos: silentEdges[0].pos, participants: []participant{{instance, silentEdges}}})
		}
	}
}

// synchronisationVectors returns the synchronisation vectors of the document. For a single automaton without vectors, it returns a vector for each action of
// the automaton, because no other automaton takes part.
func (t *translator) synchronisationVectors() []vector {
	if len(t.instances) != 1 || t.document.hasSyncVectors {
		return t.document.syncVectors
	}
	var vectors []vector
	isListed := map[string]bool{"": true}
	for _, edge := range t.instances[0].edges {
		if !isListed[edge.action] {
			isListed[edge.action] = true
			vectors = append(vectors, vector{pos: edge.pos, actions: []string{edge.action}, result: edge.action})
		}
	}
	return vectors
}

// vectorStep returns the step that a synchronisation vector describes. It returns nil if no automaton takes part, or if an automaton that takes
// part has no edge with its action.
func (t *translator) vectorStep(vector vector) *step {
	step := &step{pos: vector.pos, name: vector.result}
	for i, action := range vector.actions {
		if action == "" {
			continue
		}
		edges := withAction(t.instances[i].edges, action)
		if len(edges) == 0 {
			return nil
		}
		if step.name == "" { // the vector has no result
			step.name = action
		}
		step.participants = append(step.participants, participant{t.instances[i], edges})
	}
	if len(step.participants) == 0 {
		return nil
	}
	return step
}

// withAction returns the edges with this action. "" selects silent edges.
func withAction(edges []*edgeInstance, action string) []*edgeInstance {
	var selected []*edgeInstance
	for _, edge := range edges {
		if edge.action == action {
			selected = append(selected, edge)
		}
	}
	return selected
}

// assignModulesWithinLimit assigns the automata to modules of the PRISM model. It aborts if the modules would have more than maxCommands
// commands.
func (t *translator) assignModulesWithinLimit() {
	t.listSteps()
	t.assignModules(false)
	if t.stepBeyondLimit() != nil {
		t.assignModules(true) // with shared variables, which PRISM's language lacks, fewer edges are combined
	}
	if step := t.stepBeyondLimit(); step != nil {
		t.isTooLarge = true
		t.abort(step.pos, "the combinations of edges in one module give more than %d commands, want fewer", maxCommands)
	}
}

// stepBeyondLimit returns the step at which the number of commands exceeds maxCommands; nil if it never does. Each combination of edges is a
// command.
func (t *translator) stepBeyondLimit() *step {
	total := 0
	for _, step := range t.steps {
		for _, module := range t.modulesOf(step) {
			total += combinationCount(step.edgeLists(module))
			if total > maxCommands {
				return step
			}
		}
	}
	return nil
}

// edgeLists returns the edges of a step in one module, as one list for each participant.
func (s *step) edgeLists(module int) [][]*edgeInstance {
	var lists [][]*edgeInstance
	for _, participant := range s.participants {
		if participant.instance.module == module {
			lists = append(lists, participant.edges)
		}
	}
	return lists
}

// combinationCount returns the number of ways to select one edge from each list, but at most maxCommands+1.
func combinationCount(lists [][]*edgeInstance) int {
	count := 1
	for _, edges := range lists {
		count = min(count*len(edges), maxCommands+1)
	}
	return count
}

// assignModules assigns instances and variables to modules. If several modules write the same variable, they are merged, or the variable becomes
// shared if shareVariables is true.
func (t *translator) assignModules(shareVariables bool) {
	// The automata of a Markov automaton race: one command has all their edges with rates.
	usesOneModule := t.document.isMarkovAutomaton && !shareVariables
	for i, instance := range t.instances {
		if usesOneModule {
			instance.module = 0
		} else {
			instance.module = i
		}
	}
	for _, step := range t.steps {
		t.mergeDependentParticipants(step)
	}
	isLabelled, assignedInRace := t.labelledEdges(), t.assignedInRace()
	for _, variable := range t.slots {
		switch {
		case variable.isTransient:
		case assignedInRace[variable] && !usesOneModule:
			variable.module, variable.isShared = -1, true
		case variable.owner >= 0:
		case usesOneModule:
			variable.module = 0
		default:
			t.assignVariable(variable, isLabelled, shareVariables)
		}
	}
}

// assignedInRace returns the variables that steps with rates of a Markov automaton change. The variables include the locations of the automata.
func (t *translator) assignedInRace() map[*slot]bool {
	assignedVariables := make(map[*slot]bool)
	for _, step := range t.steps {
		if !slices.ContainsFunc(step.participants, participant.hasRates) {
			continue
		}
		for _, edge := range step.edges() {
			edge.addAssignedTo(assignedVariables)
		}
	}
	return assignedVariables
}

// hasRates reports whether some of the edges have rates, as in a Markov automaton.
func (p participant) hasRates() bool {
	return slices.ContainsFunc(p.edges, func(edge *edgeInstance) bool { return edge.rate != nil })
}

// addAssignedTo adds the variables that an edge changes to a set. They include the location if a destination of the edge is another location.
func (e *edgeInstance) addAssignedTo(assignedVariables map[*slot]bool) {
	for _, access := range e.accesses {
		if access.isWrite && !access.slot.isTransient {
			assignedVariables[access.slot] = true
		}
	}
	changesLocation := func(destination destination) bool { return destination.location != e.location }
	if e.instance.location != nil && slices.ContainsFunc(e.destinations, changesLocation) {
		assignedVariables[e.instance.location] = true
	}
}

// assignVariable assigns a global variable to the module of the last instance that writes it in a step with an action.
func (t *translator) assignVariable(variable *slot, isLabelled map[*edgeInstance]bool, shareVariables bool) {
	writer := t.lastWriter(variable, isLabelled)
	switch {
	case writer == nil:
	case shareVariables:
		variable.module, variable.isShared = -1, true
	default:
		variable.module = writer.number
		for _, i := range variable.writers {
			t.mergeModules(t.instances[i], writer)
		}
	}
}

// mergeDependentParticipants merges the modules of participants of a step that must be in the same module.
func (t *translator) mergeDependentParticipants(step *step) {
	for i, participant := range step.participants {
		for _, other := range step.participants[:i] {
			if t.mustShareModule(participant, other) {
				t.mergeModules(participant.instance, other.instance)
			}
		}
	}
}

// labelledEdges returns the edges that become commands with an action.
func (t *translator) labelledEdges() map[*edgeInstance]bool {
	labelled := make(map[*edgeInstance]bool)
	for _, step := range t.steps {
		for _, edge := range step.edges() {
			if step.name != "" || edge.affectsReward { // a reward of a silent step needs an action, too
				labelled[edge] = true
			}
		}
	}
	return labelled
}

// edges returns the edges of all participants.
func (s *step) edges() []*edgeInstance {
	var edges []*edgeInstance
	for _, participant := range s.participants {
		edges = append(edges, participant.edges...)
	}
	return edges
}

// lastWriter returns the last instance with a labelled edge that writes a variable, or nil if there is none.
func (t *translator) lastWriter(variable *slot, labelled map[*edgeInstance]bool) *instance {
	writesVariable := func(used access) bool { return used.isWrite && used.slot == variable }
	for _, instance := range slices.Backward(t.instances) {
		for _, edge := range instance.edges {
			if labelled[edge] && slices.ContainsFunc(edge.accesses, writesVariable) {
				return instance
			}
		}
	}
	return nil
}

// mustShareModule reports whether two participants of a step must be in the same module, because two synchronised commands cannot express their
// joint step.
func (t *translator) mustShareModule(first, second participant) bool {
	if first.hasRates() || second.hasRates() {
		return true // one command has the product of the rates
	}
	earnsReward := func(edge *edgeInstance) bool { return edge.affectsReward }
	if slices.ContainsFunc(first.edges, earnsReward) && slices.ContainsFunc(second.edges, earnsReward) {
		return true
	}
	// The updates of two modules of a PRISM model read the values before the step, and cannot write the same variable.
	return dependsOn(first, second) || dependsOn(second, first)
}

// dependsOn reports whether the joint step of two participants depends on the order of their assignments: for some variable that writer assigns, other
// assigns it, too, or reads it after writer has assigned it.
func dependsOn(writer, other participant) bool {
	firstIndices := writer.firstAssignmentIndices()
	for _, edge := range other.edges {
		for _, access := range edge.accesses {
			firstIndex, isAssigned := firstIndices[access.slot]
			if isAssigned && (access.isWrite || access.index > firstIndex) {
				return true
			}
		}
	}
	return false
}

// firstAssignmentIndices returns, for each variable that the edges of a participant assign, the smallest index of such an assignment. In JANI, assignments
// with smaller indices are executed first.
func (p participant) firstAssignmentIndices() map[*slot]int {
	firstIndices := make(map[*slot]int) // by variable
	for _, edge := range p.edges {
		for _, access := range edge.accesses {
			if !access.isWrite {
				continue
			}
			variable := access.slot
			if firstIndex, isAssigned := firstIndices[variable]; !isAssigned || access.index < firstIndex {
				firstIndices[variable] = access.index
			}
		}
	}
	return firstIndices
}

// mergeModules moves the instances of the modules of two instances to one of these modules: the module with the smaller number.
func (t *translator) mergeModules(first, second *instance) {
	removed, kept := max(first.module, second.module), min(first.module, second.module)
	for _, instance := range t.instances {
		if instance.module == removed {
			instance.module = kept
		}
	}
}
