package witness

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"tilecheck/native/space/sparse"
)

// Unbounded is the PathFormula.High of a formula without upper step bound.
const Unbounded = -1

// PathFormula selects paths: those that satisfy Left U[Low,High] Right, or those that violate it. Bounds count
// steps, not time.
type PathFormula struct {
	Left, Right *sparse.Set
	Low, High   int
	// Violating selects the violating paths. Each ends in the first state from which no continuation
	// satisfies the formula.
	Violating bool
}

// maxNodes limits the pairs of a state and a number of steps.
const maxNodes = 20_000_000

// LimitError says that there are too many pairs of a state and a number of steps.
type LimitError struct{ Limit int }

func (e *LimitError) Error() string {
	return fmt.Sprintf("there are more than %d pairs of a state and a number of steps", e.Limit)
}

// errInexact says that the weights are known as float64 or intervals only.
var errInexact = errors.New("the probabilities are not exact")

// Chain is the Markov chain whose paths are enumerated: the model under a scheduler. Its nodes are
// states, paired with the number of steps if the formula or the scheduler depends on it. They are
// numbered breadth-first from node 0.
type Chain struct {
	// Model has the nodes as states, all of them reachable. A node where the path is decided has a
	// self-loop.
	Model *sparse.Model
	// Target are the nodes in which the selected paths end.
	Target *sparse.Set
	// State and Choice are the state of each node, and the choice that the scheduler makes there. In a
	// Markov chain the choice is the state.
	State, Choice []uint32

	products *products
}

// unrolling builds a Chain.
type unrolling struct {
	model         *sparse.Model
	formula       *PathFormula
	choices       [][]uint32
	maxStep       int // greater step numbers are not distinguished
	nodeNumbers   map[uint64]uint32
	steps         []uint32
	currentRow    *chainRow
	builder       *sparse.Builder
	isSatisfiedAt []bool // of each node: the formula is satisfied
	*Chain
}

// New returns the Markov chain of the paths from state `from`. A path ends where it satisfies or violates the formula. For an MDP, choices[i][s] is the
// scheduler's choice in state s after i steps, or sparse.None for any choice; the last row is used for all later steps. For a Markov chain choices is
// nil. For a CTMC the result is the embedded chain.
//
// It is an error if the weights of the model are not fractions. The error is a *LimitError if the chain has too many nodes, or ctx.Err().
func New(ctx context.Context, model *sparse.Model, formula *PathFormula, choices [][]uint32, from int) (*Chain, error) {
	if !model.Exact() || model.Intervals() {
		return nil, errInexact
	}
	builder := newUnrolling(model, formula, choices)
	if _, err := builder.nodeOf(from, 0); err != nil {
		return nil, err
	}
	for node := 0; node < len(builder.State); node++ { // expand appends to builder.State
		if node&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := builder.expand(uint32(node)); err != nil {
			return nil, err
		}
	}
	if err := builder.setModel(); err != nil {
		return nil, err
	}
	builder.setTarget()
	return builder.Chain, nil
}

// newUnrolling returns the unrolling of a model under a scheduler into pairs of a state and a number of steps. It has no nodes yet.
func newUnrolling(model *sparse.Model, formula *PathFormula, choices [][]uint32) *unrolling {
	maxStep := max(formula.Low, len(choices)-1, 0) // the formula and the scheduler do not distinguish later steps
	if formula.High >= 0 {
		maxStep = formula.High
	}
	return &unrolling{
		Chain: &Chain{}, model: model, formula: formula, choices: choices, maxStep: maxStep,
		nodeNumbers: map[uint64]uint32{}, builder: sparse.NewBuilder(sparse.DTMC),
		currentRow: &chainRow{model: model, sums: map[uint32]*big.Rat{}},
	}
}

// nodeOf returns the node for a state after a number of steps. It adds the node if it is new.
func (unrolling *unrolling) nodeOf(state, step int) (uint32, error) {
	step = min(step, unrolling.maxStep)
	key := uint64(step)<<32 | uint64(state)
	if node, isKnown := unrolling.nodeNumbers[key]; isKnown {
		return node, nil
	}
	node := uint32(len(unrolling.State))
	if node >= maxNodes {
		return 0, &LimitError{maxNodes}
	}
	unrolling.nodeNumbers[key] = node
	unrolling.State = append(unrolling.State, uint32(state))
	unrolling.steps = append(unrolling.steps, uint32(step))
	return node, nil
}

// expand adds the transitions of a node, and the nodes that they lead to. If the formula is satisfied or violated in the node, the node gets a
// self-loop instead.
func (unrolling *unrolling) expand(node uint32) error {
	state, step := int(unrolling.State[node]), int(unrolling.steps[node])
	choice := unrolling.choiceOf(state, step)
	unrolling.Choice = append(unrolling.Choice, uint32(choice))
	isSatisfied := unrolling.formula.Right.Has(state) && step >= unrolling.formula.Low
	isViolated := !unrolling.formula.Left.Has(state) || step == unrolling.formula.High
	unrolling.isSatisfiedAt = append(unrolling.isSatisfiedAt, isSatisfied)
	unrolling.builder.State()
	if isSatisfied || isViolated {
		unrolling.builder.AddRat(int(node), big.NewRat(1, 1), sparse.NoAction)
		return nil
	}
	targets, probs := unrolling.currentRow.transitions(choice)
	for i, targetState := range targets {
		target, err := unrolling.nodeOf(int(targetState), step+1)
		if err != nil {
			return err
		}
		unrolling.builder.AddRat(int(target), probs[i], sparse.NoAction)
	}
	return nil
}

// choiceOf returns the scheduler's choice in a state after a number of steps. It returns the first choice of the state in a Markov chain, and if the
// scheduler allows any choice.
func (unrolling *unrolling) choiceOf(state, step int) int {
	first, _ := unrolling.model.Choices(state)
	if len(unrolling.choices) == 0 {
		return first
	}
	if choice := unrolling.choices[min(step, len(unrolling.choices)-1)][state]; choice != sparse.None {
		return int(choice)
	}
	return first
}

// setModel builds the model of the chain from its transitions. It also creates the store that computes the probabilities of paths as products of the
// weights.
func (unrolling *unrolling) setModel() error {
	model, err := unrolling.builder.Finish()
	if err != nil {
		return err
	}
	model.Initial = []uint32{0}
	for _, weight := range model.Weights {
		if !sparse.InRange(weight) {
			model.RelErr = inf
		}
	}
	unrolling.Model = model
	unrolling.products = newProducts(model.Fractions)
	return nil
}

// setTarget sets the nodes where the paths of a witness end. Satisfying paths end where the formula is satisfied; violating paths end where it
// can no longer be satisfied.
func (unrolling *unrolling) setTarget() {
	satisfiedNodes := sparse.NewSet(len(unrolling.State))
	for node, isSatisfied := range unrolling.isSatisfiedAt {
		if isSatisfied {
			satisfiedNodes.Add(node)
		}
	}
	if !unrolling.formula.Violating {
		unrolling.Target = satisfiedNodes
		return
	}
	allNodes := sparse.FullSet(len(unrolling.State))
	canSatisfy := sparse.NewGraph(unrolling.Model).ExistsUntil(allNodes, satisfiedNodes)
	unrolling.Target = canSatisfy.Complement()
}

// chainRow computes the probabilities of a choice: the probabilities of the model, or sums if several
// transitions lead to one state, and in a CTMC quotients by the exit rate.
type chainRow struct {
	model   *sparse.Model
	targets []uint32
	probs   []*big.Rat
	sums    map[uint32]*big.Rat
}

// transitions returns the distinct targets of a choice with their probabilities. The next call overwrites the two slices.
func (row *chainRow) transitions(choice int) (targets []uint32, probs []*big.Rat) {
	row.targets = row.targets[:0]
	row.probs = row.probs[:0]
	if row.model.Kind != sparse.MDP {
		row.normalize(choice)
		return row.targets, row.probs
	}
	first, end := row.model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		row.targets = append(row.targets, row.model.Target[transition])
		row.probs = append(row.probs, row.model.Fraction(transition))
	}
	return row.targets, row.probs
}

// normalize merges the transitions of a choice to the same target, and divides their weights by the total weight, so that rates become probabilities.
func (row *chainRow) normalize(choice int) {
	clear(row.sums)
	totalWeight := new(big.Rat)
	first, end := row.model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		target := row.model.Target[transition]
		if row.sums[target] == nil {
			row.sums[target] = new(big.Rat)
			row.targets = append(row.targets, target)
		}
		row.sums[target].Add(row.sums[target], row.model.Fraction(transition))
		totalWeight.Add(totalWeight, row.model.Fraction(transition))
	}
	for _, target := range row.targets {
		row.probs = append(row.probs, row.sums[target].Quo(row.sums[target], totalWeight))
	}
}
