//go:build !js

package prove

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/internal/interval"
	"tilecheck/internal/noun"
	"tilecheck/native/solve"
	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
)

// conditionalOptimum translates the minimal or maximal conditional probability of an MDP. The minimum is 1 minus the maximum of the negation.
func (t *translation) conditionalOptimum(path *logic.Path, dir solve.Direction) (vectorValue, error) {
	if t.property.Program.Type != syntax.MDP {
		return vectorValue{}, t.unsupported(path.X, "%s in %s", logic.Describe(path.X), noun.WithArticle(t.property.Program.Type.String()))
	}
	automaton := &certificate.Automaton{}
	formula, err := t.pathFormula(automaton, path.Left)
	if err != nil {
		return vectorValue{}, err
	}
	if automaton.Condition, err = t.pathFormula(automaton, path.Right); err != nil {
		return vectorValue{}, err
	}
	automaton.Formula = formula
	if dir == solve.Min {
		automaton.Formula = negation(formula)
	}
	vector := certificate.Vector{Kind: certificate.MaxConditional, Max: true, Reward: -1, Automaton: automaton, Given: &certificate.Given{}}
	return vectorValue{t.vectorIndex(vector), dir == solve.Min}, nil
}

// buildConditional builds the automaton of a conditional probability. Until it jumps, it reads the path with the automata of both parts; then it is in the
// automaton of one part.
func buildConditional(automaton *certificate.Automaton) error {
	parts := automaton.Parts()
	for _, part := range parts {
		if err := buildAutomaton(part, false); err != nil {
			return err
		}
	}
	index := map[[2]uint32]uint32{{}: 0}
	states := [][2]uint32{{}} // the states of both automata, before a jump
	var next [][]uint32
	for i := 0; i < len(states); i++ { // which grow
		if len(states)*len(automaton.Letters) > maxAutomaton {
			return automata.ErrTooLarge
		}
		row := make([]uint32, len(automaton.Letters))
		for k := range row {
			to := [2]uint32{parts[0].Next[states[i][0]][k], parts[1].Next[states[i][1]][k]}
			if _, isKnown := index[to]; !isKnown {
				index[to] = uint32(len(states))
				states = append(states, to)
			}
			row[k] = index[to]
		}
		next = append(next, row)
	}
	n := len(states)
	automaton.Next, automaton.Jumps = next, make([][]uint32, n)
	automaton.Accepting, automaton.Excluded = make([]bool, n), make([]bool, n)
	for k, part := range parts {
		offset := uint32(len(automaton.Next))
		for i, state := range states {
			automaton.Jumps[i] = append(automaton.Jumps[i], shifted(part.Jumps[state[k]], offset)...)
		}
		for q, row := range part.Next {
			automaton.Next = append(automaton.Next, shifted(row, offset))
			automaton.Jumps = append(automaton.Jumps, nil)
			automaton.Accepting = append(automaton.Accepting, part.Accepting[q])
			automaton.Excluded = append(automaton.Excluded, k == 1)
		}
	}
	return nil
}

// shifted returns numbers increased by an offset.
func shifted(numbers []uint32, offset uint32) []uint32 {
	var result []uint32
	for _, number := range numbers {
		result = append(result, number+offset)
	}
	return result
}

// payoffProblem is the greatest mean payoff of the product with the automaton of a conditional probability (rule 11 of package certify).
type payoffProblem struct {
	*vectorProof
	product *product
	graph   *sparse.Graph // of the pairs
	start   int           // the initial state
}

// maxPayoffStates is the greatest number of states of a product whose payoffs are computed, as fractions.
const maxPayoffStates = 5000

// maxConditional computes the bounds and columns of a maximal conditional probability (rule 11 of package certify), for the single initial state.
func (proof *vectorProof) maxConditional() (*solve.Values, error) {
	problem, err := proof.newPayoffProblem()
	if err != nil {
		return nil, err
	}
	lower, upper, err := problem.bracket()
	if err != nil {
		return nil, err
	}
	if lower == nil {
		return nil, errors.New("there is no certificate of a maximal conditional probability of 0")
	}
	proof.Given = &certificate.Given{Lower: lower, Upper: upper}
	if err = problem.setColumns(); err != nil {
		return nil, err
	}
	n, bounds := proof.Model.NumStates(), interval.Between(lower, upper)
	result := &solve.Values{Lower: make([]float64, n), Upper: make([]float64, n), Converged: true}
	for k, s := range proof.orderedStates() {
		result.Upper[s] = 1
		if proof.Lower.Rats[k].Cmp(lower) > 0 {
			result.Lower[s] = bounds.Lo
		}
		if proof.Upper.Rats[k].Cmp(upper) <= 0 {
			result.Upper[s] = bounds.Hi
		}
	}
	return result, nil
}

// newPayoffProblem builds the product.
func (proof *vectorProof) newPayoffProblem() (*payoffProblem, error) {
	tooLarge := fmt.Errorf("there is no certificate of a conditional probability of an MDP whose product with its automaton has more than %d states", maxPayoffStates)
	initial := proof.Prover.graph.Initial
	switch {
	case len(initial) != 1:
		return nil, errors.New("there is no certificate of a conditional probability of an MDP with several initial states")
	case proof.Model.NumStates() > maxPayoffStates:
		return nil, tooLarge
	}
	product, err := proof.automatonProduct()
	if err != nil {
		return nil, err
	}
	if len(product.pairs.Of) > maxPayoffStates {
		return nil, tooLarge
	}
	return &payoffProblem{vectorProof: proof, product: product, graph: product.Prover.graph, start: int(proof.indexOf(initial[0]))}, nil
}

// endPayoff returns the payoff of a path that ends in a pair, for the payoff q of a path that violates the condition. It is 0 if the path cannot end there.
func (problem *payoffProblem) endPayoff(pair int, q *big.Rat) *big.Rat {
	switch {
	case problem.product.targets.Has(pair):
		return big.NewRat(1, 1)
	case problem.product.excluded.Has(pair):
		return q
	}
	return new(big.Rat)
}

// payoffs returns the greatest mean payoff of each pair, for the payoff q of a path that violates the condition. It is a reachability probability in an MDP in
// which a scheduler can end a path.
func (problem *payoffProblem) payoffs(q *big.Rat) ([]*big.Rat, error) {
	n, one := problem.graph.NumStates(), big.NewRat(1, 1)
	won, lost := n, n+1
	builder := sparse.NewBuilder(sparse.MDP)
	for i := range n {
		builder.State()
		first, last := problem.graph.Choices(i)
		for c := first; c < last; c++ {
			builder.Choice(sparse.NoAction)
			firstTransition, endTransition := problem.graph.Row(c)
			for k := firstTransition; k < endTransition; k++ {
				builder.AddRat(int(problem.graph.Target[k]), problem.graph.Rat(k), sparse.NoAction)
			}
		}
		if payoff := problem.endPayoff(i, q); payoff.Sign() > 0 {
			builder.Choice(sparse.NoAction)
			builder.AddRat(won, payoff, sparse.NoAction)
			if payoff.Cmp(one) < 0 {
				builder.AddRat(lost, new(big.Rat).Sub(one, payoff), sparse.NoAction)
			}
		}
	}
	for i := won; i <= lost; i++ {
		builder.State()
		builder.Choice(sparse.NoAction)
		builder.AddRat(i, one, sparse.NoAction)
	}
	model, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	model.Initial = []uint32{uint32(problem.start)}
	target := sparse.SetOf(n+2, won)
	values, err := solve.Until(problem.ctx, sparse.NewGraph(model), sparse.FullSet(n+2), target, solve.Max, solve.Options{Exact: true, MaxWork: maxWork})
	if err != nil {
		return nil, err
	}
	return values.Exact[:n], nil
}

// isBelow reports whether q is below the maximal conditional probability: whether some scheduler has a mean payoff above q.
func (problem *payoffProblem) isBelow(q *big.Rat) (bool, error) {
	values, err := problem.payoffs(q)
	if err != nil {
		return false, err
	}
	return values[problem.start].Cmp(q) > 0, nil
}

// bracket returns a number below the maximal conditional probability, and one that it does not exceed, with a relative distance of half the
// wanted width. lower is nil if no number is below.
func (problem *payoffProblem) bracket() (lower, upper *big.Rat, err error) {
	upper = big.NewRat(1, 1)
	width := new(big.Rat).SetFloat64(problem.opts.epsilon() / 2)
	least := math.Ldexp(1, -60)
	for {
		middle := new(big.Rat).Set(upper)
		if lower != nil {
			middle.Add(middle, lower)
		}
		middle.Quo(middle, big.NewRat(2, 1))
		below, err := problem.isBelow(middle)
		if err != nil {
			return nil, nil, err
		}
		if below {
			lower = middle
		} else {
			upper = middle
		}
		if lower != nil && new(big.Rat).Sub(upper, lower).Cmp(new(big.Rat).Mul(width, upper)) <= 0 {
			return lower, upper, nil
		}
		if float, _ := upper.Float64(); float < least {
			return lower, upper, nil
		}
	}
}

// setColumns sets the columns: the payoffs for both bounds, the ranks of the pairs from which a path goes on, and the layers of the losing runs.
func (problem *payoffProblem) setColumns() error {
	lower, upper := problem.Given.Lower, problem.Given.Upper
	x, err := problem.payoffs(lower)
	if err != nil {
		return err
	}
	y, err := problem.payoffs(upper)
	if err != nil {
		return err
	}
	goesOn := sparse.SelectStates(len(x), func(i int) bool { return x[i].Cmp(problem.endPayoff(i, lower)) > 0 })
	equations := &bellmanEquations{graph: problem.graph, bound: make([]float64, len(x)), exactBound: x}
	proof := problem.vectorProof
	proof.Rank = rankByDistance(problem.graph, goesOn.Complement(), goesOn, func(s, c int) bool { return equations.compareChoice(s, c) >= 0 })
	proof.Lower, proof.Upper = &certificate.Values{Rats: x}, &certificate.Values{Rats: y}
	proof.Layer = problem.product.losingLayers(proof.Upper, [2]*big.Rat{big.NewRat(1, 1), upper})
	return nil
}
