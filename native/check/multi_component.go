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
	productChoice  []uint32      // the choice of the product for each choice
	startNode      []uint32      // for each member of the end component: a node from which the objectives are satisfied, None if there is none
	goals          []*sparse.Set // sets of nodes that must be visited infinitely often
	goodNodes      *sparse.Set   // the nodes in end components that meet all goals
	stayingChoices *sparse.Set   // the choices within end components
	sureNodes      *sparse.Set   // the nodes from which some scheduler reaches goodNodes with probability one
}

// componentNode is a node of an accepting component: a state of the product, and the states of the accepting parts of the automata. tuple is
// the number of the tuple of these automaton states.
type componentNode struct{ productState, tuple uint32 }

// objectivesThatJump returns the indexes of the objectives in satisfied whose automaton is still in its initial component. These automata must jump to
// their accepting components to satisfy the objective. productState is any state of an end component, because all its states give the same result.
func (multi *multiEvaluation) objectivesThatJump(satisfied objectiveSet, productState uint32) []int {
	var jumping []int
	for i, objective := range multi.objectives {
		if !satisfied.contains(i) || objective.form != automatonForm {
			continue
		}
		automatonState := multi.automatonState(multi.memories[productState], i)
		if objective.reader.automaton.Class(automatonState) == automata.Open {
			jumping = append(jumping, i)
		}
	}
	return jumping
}

// newAcceptingComponent builds the product of an end component with the automata that must jump to satisfy the objectives in satisfied. Each automaton
// starts in its accepting component. members are the states of the end component; choices contains its choices.
func (multi *multiEvaluation) newAcceptingComponent(satisfied objectiveSet, members []uint32, choices *sparse.Set) (*acceptingComponent, error) {
	builder := &acceptingComponentBuilder{multi: multi, jumpingObjectives: multi.objectivesThatJump(satisfied, members[0])}
	starts, memberOf, err := builder.startNodes(members)
	if err != nil {
		return nil, err
	}
	product, err := sparse.NewProduct(builder.multi.evaluation.ctx, builder.multi.product.Model, builder, starts, choices, maxProduct)
	if err != nil {
		return nil, builder.multi.productError(err)
	}
	component := &acceptingComponent{Graph: sparse.NewGraph(product.Model), nodes: product.Pairs, productChoice: product.Choice}
	if err := builder.findGoodNodes(component, satisfied); err != nil {
		return nil, err
	}
	component.startNode = slices.Repeat([]uint32{sparse.None}, len(members))
	for i, node := range product.Start {
		member := memberOf[i]
		hasStartNode := component.startNode[member] != sparse.None
		if !hasStartNode && component.sureNodes.Has(int(node)) {
			component.startNode[member] = node
		}
	}
	return component, nil
}

// startNodes returns the nodes in which paths can enter the accepting component: one node for each state in members and each combination of jumps of the
// automata. starts[i] is a node of state members[memberOf[i]].
func (builder *acceptingComponentBuilder) startNodes(members []uint32) (starts []componentNode, memberOf []int, err error) {
	for member, s := range members {
		combinations, err := builder.jumpCombinations(s)
		if err != nil {
			return nil, nil, err
		}
		for _, automatonStates := range combinations {
			starts = append(starts, componentNode{s, builder.tuples.numberTuple(automatonStates)})
			memberOf = append(memberOf, member)
		}
	}
	return starts, memberOf, nil
}

// acceptingComponentBuilder builds an accepting component. It is the sparse.Memory of the product of multi.product with the
// accepting parts of the automata.
type acceptingComponentBuilder struct {
	multi             *multiEvaluation
	jumpingObjectives []int          // the indexes of the objectives whose automata jump
	tuples            tupleNumbering // the tuples of automaton states: one state for each jumping objective
}

// maxCombinations limits the combinations of jumps from one state.
const maxCombinations = 1 << 16

// jumpCombinations returns all combinations of jumps of the automata in a state of the product. A combination lists one target of a jump for each
// objective in builder.jumpingObjectives, in this order.
func (builder *acceptingComponentBuilder) jumpCombinations(productState uint32) ([][]int, error) {
	combinations := [][]int{nil}
	for _, i := range builder.jumpingObjectives {
		successors, err := builder.multi.objectives[i].reader.automaton.Jumps(builder.multi.automatonState(builder.multi.memories[productState], i))
		if err != nil {
			return nil, builder.multi.tooLargeError(err)
		}
		var extended [][]int
		for _, prefix := range combinations {
			for _, successor := range successors {
				extended = append(extended, append(slices.Clip(prefix), successor))
			}
		}
		combinations = extended
		if len(combinations) > maxCombinations {
			return nil, builder.multi.evaluation.unsupportedError(builder.multi.evaluation.property.Expr, "found path formulas in multi(...) whose automata have too many states")
		}
	}
	return combinations, nil
}

// State returns the state of the product.
func (builder *acceptingComponentBuilder) State(node componentNode) uint32 { return node.productState }

// Step returns the node after a transition to a state of the product. The automata read the model's state of target.
func (builder *acceptingComponentBuilder) Step(node componentNode, target uint32) (componentNode, error) {
	tuple, err := builder.tupleAfter(node.tuple, builder.multi.memories[target].modelState)
	return componentNode{target, tuple}, err
}

// Absorbing returns false: no state of the component gets a self-loop.
func (builder *acceptingComponentBuilder) Absorbing(componentNode) bool { return false }

// tupleAfter returns the number of the automata's states after all automata have read a state of the model. tuple is the number of their states before.
// A tuple has one state for each jumping objective.
func (builder *acceptingComponentBuilder) tupleAfter(tuple, modelState uint32) (uint32, error) {
	if len(builder.jumpingObjectives) == 0 {
		return tuple, nil
	}
	before := builder.tuples.list[tuple]
	after := make([]int, len(before))
	for automatonIndex, objective := range builder.jumpingObjectives {
		successor, err := builder.multi.objectives[objective].reader.nextState(before[automatonIndex], modelState)
		if err != nil {
			return 0, builder.multi.tooLargeError(err)
		}
		after[automatonIndex] = successor
	}
	return builder.tuples.numberTuple(after), nil
}

// findGoodNodes computes the goals, the good nodes and the sure nodes of a component, for the objectives in satisfied. A goal is a set of nodes; a
// path satisfies the objectives if it visits each goal infinitely often. Good nodes are in an end component with a node of each goal. From sure
// nodes some scheduler reaches a good node with probability one.
func (builder *acceptingComponentBuilder) findGoodNodes(component *acceptingComponent, satisfied objectiveSet) error {
	notRejected := builder.addAcceptanceGoals(component)
	builder.addRecurrenceGoals(component, satisfied)
	component.goodNodes = sparse.NewSet(len(component.nodes))
	endComponents, err := component.EndComponents(builder.multi.evaluation.ctx, notRejected, nil)
	if err != nil {
		return err
	}
	component.stayingChoices = endComponents.Choices
	for i := range endComponents.Num() {
		members := endComponents.Members(i)
		if !component.visitsAllGoals(members) {
			continue
		}
		for _, node := range members {
			component.goodNodes.Add(int(node))
		}
	}
	component.sureNodes, err = component.Prob1E(builder.multi.evaluation.ctx, sparse.FullSet(len(component.nodes)), component.goodNodes)
	return err
}

// addAcceptanceGoals adds a goal for each automaton that jumps: the nodes whose automaton state is accepting. It returns the nodes in which no
// automaton has rejected.
func (builder *acceptingComponentBuilder) addAcceptanceGoals(component *acceptingComponent) (notRejected *sparse.Set) {
	notRejected = sparse.FullSet(len(component.nodes))
	for automatonIndex, objective := range builder.jumpingObjectives {
		automaton := builder.multi.objectives[objective].reader.automaton
		goal := sparse.NewSet(len(component.nodes))
		for nodeNumber, node := range component.nodes {
			automatonState := builder.tuples.list[node.tuple][automatonIndex]
			switch {
			case automaton.Class(automatonState) == automata.Rejected:
				notRejected.Remove(nodeNumber)
			case automaton.Accepting(automatonState):
				goal.Add(nodeNumber)
			}
		}
		component.goals = append(component.goals, goal)
	}
	return notRejected
}

// addRecurrenceGoals adds a goal for each objective G F a in satisfied: the nodes whose state of the model satisfies a.
func (builder *acceptingComponentBuilder) addRecurrenceGoals(component *acceptingComponent, satisfied objectiveSet) {
	for objectiveNumber, objective := range builder.multi.objectives {
		if !satisfied.contains(objectiveNumber) || objective.form != recurringForm {
			continue
		}
		goal := sparse.NewSet(len(component.nodes))
		for i, node := range component.nodes {
			modelState := builder.multi.memories[node.productState].modelState
			if objective.repeatedStates.Has(int(modelState)) {
				goal.Add(i)
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
