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

// access is a read or write of a variable by an assignment; index is the index of the assignment in its
// step.
type access struct {
	slot   *slot
	index  int
	writes bool
}

// translateEdges translates the guards of all edges and records which variables the edges read and
// write.
func (t *translator) translateEdges() {
	for _, instance := range t.instances {
		for _, declared := range instance.automaton.edges {
			t.collectError(func() {
				for _, edge := range t.expandSelections(*declared, &exprContext{scope: instance.scope}) {
					t.translateEdge(instance, edge)
				}
			})
		}
		t.addIdleEdges(instance)
	}
}

// translateEdge translates the guard of an edge and adds the edge to the instance.
func (t *translator) translateEdge(instance *instance, e edge) {
	edge := &edgeInstance{instance: instance, pos: e.pos, action: e.action, location: e.location, rate: e.rate, destinations: e.destinations}
	if e.guard != nil && (e.guard.kind != boolean || !e.guard.isTrue) {
		edge.guard = t.expr(e.guard, &exprContext{scope: instance.scope})
	}
	for _, d := range e.destinations {
		for _, assignment := range d.assigns {
			t.recordAccesses(edge, assignment)
		}
	}
	instance.edges = append(instance.edges, edge)
}

// addIdleEdges adds, for the input-enabled actions of an instance, edges without effect that are enabled
// where the instance has no other enabled edge with the action.
func (t *translator) addIdleEdges(instance *instance) {
	var actions []string
	for _, action := range t.doc.elements[instance.number].inputEnable {
		if !slices.Contains(actions, action) {
			actions = append(actions, action)
		}
	}
	edges := instance.edges
	for _, action := range actions {
		for location := range instance.automaton.locations {
			var guards []syntax.Expr
			always := false
			for _, edge := range edges {
				if edge.action == action && edge.location == location {
					guards = append(guards, edge.guard)
					always = always || edge.guard == nil
				}
			}
			if always {
				continue
			}
			pos := t.doc.elements[instance.number].pos
			idle := &edgeInstance{instance: instance, pos: pos, action: action, location: location, destinations: []destination{{pos: pos, location: location}}}
			if anyGuard := joinWith(syntax.OpOr, guards); anyGuard != nil {
				idle.guard = &syntax.Unary{Op: syntax.OpNot, X: anyGuard, Span: spanAt(pos)}
			}
			instance.edges = append(instance.edges, idle)
		}
	}
}

// recordAccesses records the variables that an assignment of an edge writes and reads.
func (t *translator) recordAccesses(edge *edgeInstance, assign assignment) {
	context := &exprContext{scope: edge.instance.scope, assigned: map[*slot]sizedExpr{}}
	var write func(tree targetTree)
	write = func(tree targetTree) {
		for _, target := range tree.scalar {
			variable := target.slot
			if variable == edge.instance.location {
				t.refuse(assign.ref.Start, "a location cannot be assigned")
			}
			edge.accesses = append(edge.accesses, access{variable, assign.index, true})
			if len(target.conditions) > 0 {
				edge.accesses = append(edge.accesses, access{variable, assign.index, false}) // may keep its value
			}
			edge.affectsReward = edge.affectsReward || variable.affectsReward
			if !variable.transient && !slices.Contains(variable.writers, edge.instance.number) {
				variable.writers = append(variable.writers, edge.instance.number)
			}
		}
		for _, subtree := range tree.elements {
			write(subtree)
		}
		for _, subtree := range tree.members {
			write(subtree)
		}
	}
	write(t.targetsOf(assign.ref, context))
	t.visitReads(assign.value, edge.instance.scope, map[*function]bool{}, func(variable *slot) {
		edge.accesses = append(edge.accesses, access{variable, assign.index, false})
	})
	if assign.ref.kind == object && assign.ref.get("index") != nil {
		t.visitReads(assign.ref.get("index"), edge.instance.scope, map[*function]bool{}, func(variable *slot) {
			edge.accesses = append(edge.accesses, access{variable, assign.index, false})
		})
	}
}

// visitReads calls visit for all variables that an expression may read, possibly for more. called holds
// the functions whose bodies have been visited.
func (t *translator) visitReads(value *jsonValue, scope *scope, called map[*function]bool, visit func(*slot)) {
	switch value.kind {
	case text:
		meaning, _ := scope.find(value.text)
		visitSlots(meaning, visit)
	case array:
		for _, element := range value.elements {
			t.visitReads(element, scope, called, visit)
		}
	case object:
		for _, member := range value.members {
			switch member.key {
			case "op", "fun", "comment", "member", "var", "type":
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
}

// visitSlots calls visit for each variable in the meaning of a name.
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

// step is a synchronisation vector, or the silent edges of one instance. name is its action, empty for a
// silent step.
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

// listSteps lists the steps in which every participant has edges. Without synchronisation vectors a
// single automaton has one step per action.
func (t *translator) listSteps() {
	syncs := t.doc.syncs
	if len(t.instances) == 1 && !t.doc.hasSyncs {
		syncs = nil
		var seen []string
		for _, edge := range t.instances[0].edges {
			if edge.action != "" && !slices.Contains(seen, edge.action) {
				seen = append(seen, edge.action)
				syncs = append(syncs, vector{pos: edge.pos, actions: []string{edge.action}, result: edge.action})
			}
		}
	}
	for _, vector := range syncs {
		step := &step{pos: vector.pos, name: vector.result}
		possible := true
		for i, action := range vector.actions {
			if action == "" {
				continue
			}
			if step.name == "" {
				step.name = action
			}
			step.participants = append(step.participants, participant{t.instances[i], withAction(t.instances[i].edges, action)})
			possible = possible && len(step.participants[len(step.participants)-1].edges) > 0
		}
		if possible && len(step.participants) > 0 {
			t.steps = append(t.steps, step)
		}
	}
	for _, instance := range t.instances {
		if silent := withAction(instance.edges, ""); len(silent) > 0 {
			t.steps = append(t.steps, &step{pos: silent[0].pos, participants: []participant{{instance, silent}}})
		}
	}
}

// withAction returns the edges with an action; "" for silent ones.
func withAction(edges []*edgeInstance, action string) []*edgeInstance {
	var found []*edgeInstance
	for _, edge := range edges {
		if edge.action == action {
			found = append(found, edge)
		}
	}
	return found
}

// assignModulesWithinLimit assigns instances to modules of the PRISM model. Instances must share a module
// if they write the same variable in steps with actions, if one reads in a step what another wrote earlier
// in the step, or if they earn rewards in the same step. If the combined edges of a module become too many
// commands, instances that write the same variable in different steps get separate modules; then the
// variable is shared, which PRISM's language itself does not allow.
func (t *translator) assignModulesWithinLimit() {
	t.listSteps()
	t.assignModules(false)
	if !t.doc.markov && t.findTooLarge() != nil {
		t.assignModules(true)
	}
	if step := t.findTooLarge(); step != nil {
		t.tooLarge = true
		t.refuse(step.pos, "the edges that are taken together in one module make more than %d commands, want fewer", maxCommands)
	}
}

// findTooLarge returns the step at which the number of combined edges exceeds maxCommands; nil if there is
// none.
func (t *translator) findTooLarge() *step {
	count := 0
	for _, step := range t.steps {
		for _, module := range t.modulesOf(step) {
			n := 1
			for _, participant := range step.participants {
				if participant.instance.module == module {
					n = min(n*len(participant.edges), maxCommands+1)
				}
			}
			if count += n; count > maxCommands {
				return step
			}
		}
	}
	return nil
}

// assignModules assigns instances and variables to modules. If shareVariables is set, a variable that
// several modules write becomes shared; otherwise these modules are merged.
func (t *translator) assignModules(shareVariables bool) {
	for i, instance := range t.instances {
		if instance.module = i; t.doc.markov {
			instance.module = 0 // edges of different automata race
		}
	}
	labelled := make(map[*edgeInstance]bool) // moves in a step that has an action
	for _, step := range t.steps {
		for _, participant := range step.participants {
			for _, edge := range participant.edges {
				labelled[edge] = labelled[edge] || step.name != "" || edge.affectsReward
			}
		}
		for i, participant := range step.participants {
			for _, other := range step.participants[:i] {
				if t.mustShareModule(participant, other) {
					t.mergeModules(participant.instance, other.instance)
				}
			}
		}
	}
	for _, variable := range t.slots {
		if variable.owner >= 0 || variable.transient {
			continue
		}
		if t.doc.markov {
			variable.module = 0
			continue
		}
		var writer *instance
		for _, instance := range t.instances {
			for _, edge := range instance.edges {
				if !labelled[edge] || !slices.ContainsFunc(edge.accesses, func(used access) bool { return used.writes && used.slot == variable }) {
					continue
				}
				writer = instance
			}
		}
		if writer == nil {
			continue
		}
		if shareVariables {
			variable.module, variable.shared = -1, true
			continue
		}
		variable.module = writer.number
		for _, i := range variable.writers {
			t.mergeModules(t.instances[i], writer)
		}
	}
}

// mustShareModule reports whether two participants cannot take a step as separate modules.
func (t *translator) mustShareModule(first, second participant) bool {
	earns := func(edge *edgeInstance) bool { return edge.affectsReward }
	if slices.ContainsFunc(first.edges, earns) && slices.ContainsFunc(second.edges, earns) {
		return true
	}
	return dependsOn(first, second) || dependsOn(second, first)
}

// dependsOn reports whether one participant accesses a variable after the writer has assigned it in the
// same step, or assigns it too.
func dependsOn(writer, other participant) bool {
	firstWrite := make(map[*slot]int) // smallest index of a write
	for _, edge := range writer.edges {
		for _, used := range edge.accesses {
			if i, ok := firstWrite[used.slot]; used.writes && (!ok || used.index < i) {
				firstWrite[used.slot] = used.index
			}
		}
	}
	for _, edge := range other.edges {
		for _, used := range edge.accesses {
			if i, ok := firstWrite[used.slot]; ok && (used.index > i || used.writes) {
				return true
			}
		}
	}
	return false
}

// mergeModules merges the modules of two instances.
func (t *translator) mergeModules(first, second *instance) {
	from, to := max(first.module, second.module), min(first.module, second.module)
	for _, instance := range t.instances {
		if instance.module == from {
			instance.module = to
		}
	}
}
