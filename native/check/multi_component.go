package check

import (
	"slices"

	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
)

// acceptingComponent is an end component of the product together with the accepting parts of the automata of some linear
// objectives. The automata make their nondeterministic jumps when the component is entered.
//
// Within the component some scheduler satisfies all objectives with probability one if and only if one does so from some
// state after some jumps. The reason: on almost every path that satisfies them, some jumps are right. There are finitely many
// jumps, so by Lévy's zero-one law some history has jumps that are right with a probability near one. The supremum of these
// probabilities is one, and in a finite model it is attained.
type acceptingComponent struct {
	*sparse.Graph
	nodes          []componentNode
	choice         []uint32      // the choice of the product for each choice
	startNode      []uint32      // for each member of the end component: a node from which the objectives are satisfied, None if there is none
	goals          []*sparse.Set // sets of nodes that must be visited infinitely often
	goodNodes      *sparse.Set   // the nodes in end components that meet all goals
	stayingChoices *sparse.Set   // the choices within end components
	sureNodes      *sparse.Set   // the nodes from which some scheduler reaches goodNodes with probability one
}

// componentNode is a state of the product, with the number of a list of states of the automata's accepting parts.
type componentNode struct{ state, list uint32 }

// jumpingObjectives returns the indexes of the objectives in a set whose automata accept in the end component of a state only after a
// jump. The result is the same for each state of the component. satisfied is the set: bit i stands for objective i.
func (m *multi) jumpingObjectives(satisfied, state uint32) []int {
	var jumping []int
	for i, objective := range m.objectives {
		isInSet := satisfied>>i&1 == 1
		if !isInSet || objective.form != automatonForm {
			continue
		}
		if objective.reader.auto.Class(m.automatonState(m.states[state], i)) == automata.Open {
			jumping = append(jumping, i)
		}
	}
	return jumping
}

// newAcceptingComponent builds the accepting component of an end component for a set of objectives. members are the states of the end
// component, and choices contains its choices. satisfied is the set: bit i stands for objective i.
func (m *multi) newAcceptingComponent(satisfied uint32, members []uint32, choices *sparse.Set) (*acceptingComponent, error) {
	builder := &acceptingComponentBuilder{multi: m, jumpingObjectives: m.jumpingObjectives(satisfied, members[0])}
	starts, owner, err := builder.startNodes(members)
	if err != nil {
		return nil, err
	}
	product, err := sparse.NewProduct(builder.ctx, builder.product.Model, builder, starts, choices, maxProduct)
	if err != nil {
		return nil, builder.productError(err)
	}
	component := &acceptingComponent{Graph: sparse.NewGraph(product.Model), nodes: product.Pairs, choice: product.Choice}
	if err := builder.findGoodNodes(component, satisfied); err != nil {
		return nil, err
	}
	component.startNode = slices.Repeat([]uint32{sparse.None}, len(members))
	for i, node := range product.Start {
		hasStart := component.startNode[owner[i]] != sparse.None
		if !hasStart && component.sureNodes.Has(int(node)) {
			component.startNode[owner[i]] = node
		}
	}
	return component, nil
}

// startNodes returns the nodes in which a path can start: one for each member of the end component and each combination of jumps
// from it. owner has the index of the member of each node.
func (builder *acceptingComponentBuilder) startNodes(members []uint32) (starts []componentNode, owner []int, err error) {
	for member, s := range members {
		jumps, err := builder.jumps(s)
		if err != nil {
			return nil, nil, err
		}
		for _, successors := range jumps {
			starts = append(starts, componentNode{s, builder.parts.numberOf(successors)})
			owner = append(owner, member)
		}
	}
	return starts, owner, nil
}

// acceptingComponentBuilder builds an accepting component. It is the sparse.Memory of the product of multi.product with the
// accepting parts of the automata.
type acceptingComponentBuilder struct {
	*multi
	jumpingObjectives []int // the objectives whose automata jump
	parts             lists // lists of states of their accepting parts
}

// jumps returns all combinations of jumps from a state of the product. A combination has one jump successor for each
// automaton that can jump.
func (builder *acceptingComponentBuilder) jumps(state uint32) ([][]int, error) {
	combinations := [][]int{nil}
	for _, i := range builder.jumpingObjectives {
		successors, err := builder.objectives[i].reader.auto.Jumps(builder.automatonState(builder.states[state], i))
		if err != nil {
			return nil, builder.tooLargeError(err)
		}
		var extended [][]int
		for _, prefix := range combinations {
			for _, successor := range successors {
				extended = append(extended, append(slices.Clip(prefix), successor))
			}
		}
		combinations = extended
		if len(combinations) > 1<<16 {
			return nil, builder.unsupported(builder.property.X, "found path formulas in multi(...) whose automata have too many states")
		}
	}
	return combinations, nil
}

// State returns the state of the product.
func (builder *acceptingComponentBuilder) State(node componentNode) uint32 { return node.state }

// Step returns the node after a transition to state target of the product, which the accepting parts read.
func (builder *acceptingComponentBuilder) Step(node componentNode, target uint32) (componentNode, error) {
	list, err := builder.step(node.list, builder.states[target].state)
	return componentNode{target, list}, err
}

// Absorbing returns false: no state of the component gets a self-loop.
func (builder *acceptingComponentBuilder) Absorbing(componentNode) bool { return false }

// step returns the number of the list of automaton states after the accepting parts of the automata read a state of the model. list is
// the number of the list before.
func (builder *acceptingComponentBuilder) step(list, state uint32) (uint32, error) {
	if len(builder.jumpingObjectives) == 0 {
		return list, nil
	}
	next := make([]int, len(builder.jumpingObjectives))
	for k, i := range builder.jumpingObjectives {
		successor, err := builder.objectives[i].reader.step(builder.parts.entries[list][k], state)
		if err != nil {
			return 0, builder.tooLargeError(err)
		}
		next[k] = successor
	}
	return builder.parts.numberOf(next), nil
}

// findGoodNodes sets the goals of a component, and finds the end components that visit all goals, and the nodes from which some scheduler
// reaches these end components with probability one. satisfied is the set of objectives: bit i stands for objective i.
func (builder *acceptingComponentBuilder) findGoodNodes(component *acceptingComponent, satisfied uint32) error {
	notRejected := builder.addAcceptanceGoals(component)
	builder.addRecurrenceGoals(component, satisfied)
	component.goodNodes = sparse.NewSet(len(component.nodes))
	ends, err := component.EndComponents(builder.ctx, notRejected, nil)
	if err != nil {
		return err
	}
	component.stayingChoices = ends.Choices
	for i := range ends.Num() {
		members := ends.Members(i)
		if !component.visitsAllGoals(members) {
			continue
		}
		for _, node := range members {
			component.goodNodes.Add(int(node))
		}
	}
	component.sureNodes, err = component.Prob1E(builder.ctx, sparse.FullSet(len(component.nodes)), component.goodNodes)
	return err
}

// addAcceptanceGoals adds a goal for each automaton that jumps: the nodes in which its state is accepting. It returns the nodes in which
// no automaton has rejected.
func (builder *acceptingComponentBuilder) addAcceptanceGoals(component *acceptingComponent) (notRejected *sparse.Set) {
	notRejected = sparse.FullSet(len(component.nodes))
	for k, i := range builder.jumpingObjectives {
		auto := builder.objectives[i].reader.auto
		goal := sparse.NewSet(len(component.nodes))
		for node, member := range component.nodes {
			q := builder.parts.entries[member.list][k]
			switch {
			case auto.Class(q) == automata.Rejected:
				notRejected.Remove(node)
			case auto.Accepting(q):
				goal.Add(node)
			}
		}
		component.goals = append(component.goals, goal)
	}
	return notRejected
}

// addRecurrenceGoals adds a goal for each recurring objective in a set: the nodes whose state is in the set that the objective visits
// infinitely often. satisfied is the set of objectives: bit i stands for objective i.
func (builder *acceptingComponentBuilder) addRecurrenceGoals(component *acceptingComponent, satisfied uint32) {
	for i, objective := range builder.objectives {
		isInSet := satisfied>>i&1 == 1
		if !isInSet || objective.form != recurringForm {
			continue
		}
		goal := sparse.NewSet(len(component.nodes))
		for node, member := range component.nodes {
			if objective.set.Has(int(builder.states[member.state].state)) {
				goal.Add(node)
			}
		}
		component.goals = append(component.goals, goal)
	}
}

// visitsAllGoals reports whether a set of nodes has a node of each goal.
func (component *acceptingComponent) visitsAllGoals(nodes []uint32) bool {
	for _, goal := range component.goals {
		if !slices.ContainsFunc(nodes, func(node uint32) bool { return goal.Has(int(node)) }) {
			return false
		}
	}
	return true
}
