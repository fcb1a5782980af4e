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

// conditionalOptimum translates the minimal or maximal conditional probability of an MDP. The minimum is 1 minus the maximum for the negation
// of the formula.
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

// buildConditional builds the automaton of a conditional probability from the automata of its two parts: of the paths that satisfy the formula
// and the condition, and of those that violate the condition. Until the automaton jumps, its state is a pair of states of both; after a jump
// it is a state of one of them.
func buildConditional(automaton *certificate.Automaton) error {
	parts := automaton.Parts()
	for _, part := range parts {
		if err := buildAutomaton(part, false); err != nil {
			return err
		}
	}
	pairs, next, err := pairParts(parts, len(automaton.Letters))
	if err != nil {
		return err
	}
	numPairs := len(pairs)
	automaton.Next, automaton.Jumps = next, make([][]uint32, numPairs)
	automaton.Accepting, automaton.Excluded = make([]bool, numPairs), make([]bool, numPairs)
	for k, part := range parts {
		offset := uint32(len(automaton.Next))
		for i, pair := range pairs {
			automaton.Jumps[i] = append(automaton.Jumps[i], shifted(part.Jumps[pair[k]], offset)...)
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

// pairParts returns the pairs of states that two automata reach when they read the same letters, and the index of the next pair: next[i][k]
// for the letter k in pair i. Pair 0 is that of the initial states.
func pairParts(parts [2]*certificate.Automaton, numLetters int) (pairs [][2]uint32, next [][]uint32, err error) {
	pairs = [][2]uint32{{}}
	index := map[[2]uint32]uint32{{}: 0}
	for i := 0; i < len(pairs); i++ { // the loop appends to pairs
		if len(pairs)*numLetters > maxAutomaton {
			return nil, nil, automata.ErrTooLarge
		}
		row := make([]uint32, numLetters)
		for letter := range row {
			pair := [2]uint32{parts[0].Next[pairs[i][0]][letter], parts[1].Next[pairs[i][1]][letter]}
			if _, isKnown := index[pair]; !isKnown {
				index[pair] = uint32(len(pairs))
				pairs = append(pairs, pair)
			}
			row[letter] = index[pair]
		}
		next = append(next, row)
	}
	return pairs, next, nil
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

// maxPayoffStates is the greatest number of states of a product whose payoffs are computed. They are fractions, so the computation is slow.
const maxPayoffStates = 5000

// maxConditional computes the bounds and columns of a maximal conditional probability (rule 11 of package certify). The bounds are those of
// the single initial state. Another state has them too where its columns prove them, and otherwise 0 and 1.
func (proof *vectorProof) maxConditional() (*solve.Values, error) {
	problem, err := proof.newPayoffProblem()
	if err != nil {
		return nil, err
	}
	isCertain, err := problem.findCertain()
	if err != nil {
		return nil, err
	}
	if !isCertain {
		if err := problem.findBracket(); err != nil {
			return nil, err
		}
	}
	lower, upper := proof.Given.Lower, proof.Given.Upper
	n, bounds := proof.Model.NumStates(), interval.Between(lower, upper)
	if isCertain {
		bounds = interval.Between(upper, upper)
	}
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

// newPayoffProblem builds the product. The error says why there is no certificate.
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

// endPayoff returns the payoff of a path that ends in a pair: 1 if it satisfies the formula and the condition, q if it violates the condition,
// and 0 if it cannot end there.
func (problem *payoffProblem) endPayoff(pair int, q *big.Rat) *big.Rat {
	switch {
	case problem.product.targets.Has(pair):
		return big.NewRat(1, 1)
	case problem.product.excluded.Has(pair):
		return q
	}
	return new(big.Rat)
}

// payoffs returns the greatest mean payoff of each pair, for the payoff q of a path that violates the condition. It is the maximal probability
// of reaching a target state in the model of endingModel. Only usable choices are taken; nil stands for all.
func (problem *payoffProblem) payoffs(q *big.Rat, usable *sparse.Set) ([]*big.Rat, error) {
	model, err := problem.endingModel(q, usable)
	if err != nil {
		return nil, err
	}
	numPairs, n := problem.graph.NumStates(), model.NumStates()
	target := sparse.SetOf(n, numPairs)
	values, err := solve.Until(problem.ctx, sparse.NewGraph(model), sparse.FullSet(n), target, solve.Max, solve.Options{Exact: true, MaxWork: maxWork})
	if err != nil {
		return nil, err
	}
	return values.Exact[:numPairs], nil
}

// endingModel returns the product with two additional states, won and lost, which are absorbing. In a pair where a path can end, the model has
// an additional choice: it leads to won with the payoff as its probability, and otherwise to lost. The index of won is the number of pairs.
// A pair without a usable choice has this choice, too.
func (problem *payoffProblem) endingModel(q *big.Rat, usable *sparse.Set) (*sparse.Model, error) {
	numPairs, one := problem.graph.NumStates(), big.NewRat(1, 1)
	won, lost := numPairs, numPairs+1
	builder := sparse.NewBuilder(sparse.MDP)
	for pair := range numPairs {
		builder.State()
		payoff, hasChoice := problem.endPayoff(pair, q), false
		first, end := problem.graph.Choices(pair)
		for c := first; c < end; c++ {
			if usable != nil && !usable.Has(c) {
				continue
			}
			hasChoice = true
			builder.Choice(sparse.NoAction)
			firstTransition, endTransition := problem.graph.Row(c)
			for k := firstTransition; k < endTransition; k++ {
				builder.AddRat(int(problem.graph.Target[k]), problem.graph.Rat(k), sparse.NoAction)
			}
		}
		if payoff.Sign() > 0 || !hasChoice {
			builder.Choice(sparse.NoAction)
			if payoff.Sign() > 0 {
				builder.AddRat(won, payoff, sparse.NoAction)
			}
			if payoff.Cmp(one) < 0 {
				builder.AddRat(lost, new(big.Rat).Sub(one, payoff), sparse.NoAction)
			}
		}
	}
	for _, s := range [...]int{won, lost} {
		builder.State()
		builder.Choice(sparse.NoAction)
		builder.AddRat(s, one, sparse.NoAction)
	}
	model, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	model.Initial = []uint32{uint32(problem.start)}
	return model, nil
}

// isBelow reports whether q is below the maximal conditional probability: whether some scheduler has a mean payoff above q.
func (problem *payoffProblem) isBelow(q *big.Rat) (bool, error) {
	values, err := problem.payoffs(q, nil)
	if err != nil {
		return false, err
	}
	return values[problem.start].Cmp(q) > 0, nil
}

// bracket returns a number below the maximal conditional probability, and one that it does not exceed. It bisects until their relative
// distance is at most half the wanted width, or until upper is below a least number. lower is nil if it found no number below.
func (problem *payoffProblem) bracket() (lower, upper *big.Rat, err error) {
	upper = big.NewRat(1, 1)
	width := new(big.Rat).SetFloat64(problem.opts.epsilon() / 2)
	leastUpper := math.Ldexp(1, -60)
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
		if float, _ := upper.Float64(); float < leastUpper {
			return lower, upper, nil
		}
	}
}

// findBracket finds two bounds and sets their columns.
func (problem *payoffProblem) findBracket() error {
	lower, upper, err := problem.bracket()
	if err != nil {
		return err
	}
	if lower == nil {
		return errors.New("there is no certificate of a maximal conditional probability of 0")
	}
	x, err := problem.payoffs(lower, nil)
	if err != nil {
		return err
	}
	y, err := problem.payoffs(upper, nil)
	if err != nil {
		return err
	}
	problem.Given = &certificate.Given{Lower: lower, Upper: upper}
	problem.setColumns(x, y, nil)
	return nil
}

// findCertain sets the columns that prove the value 1, if a scheduler ends almost every path with a payoff, and some paths with the payoff 1. It
// reports whether one does.
func (problem *payoffProblem) findCertain() (bool, error) {
	n := problem.graph.NumStates()
	ends := problem.product.targets.Union(problem.product.excluded)
	safe, err := problem.graph.Prob1E(problem.ctx, sparse.FullSet(n), ends)
	if err != nil || !safe.Has(problem.start) {
		return false, err
	}
	usable, half := problem.graph.ChoicesWithin(safe), big.NewRat(1, 2)
	x, err := problem.payoffs(half, usable)
	if err != nil || x[problem.start].Cmp(half) <= 0 {
		return false, err
	}
	y := make([]*big.Rat, n)
	for i := range y {
		y[i] = big.NewRat(1, 1)
	}
	problem.Given = &certificate.Given{Lower: half, Upper: y[0], Certain: true}
	problem.setColumns(x, y, usable)
	return true, nil
}

// setColumns sets the columns: the payoffs x and y for both bounds, the ranks of the pairs in which it is better to go on by usable choices than to
// end the path, and the layers of the losing runs.
func (problem *payoffProblem) setColumns(x, y []*big.Rat, usable *sparse.Set) {
	lower, upper := problem.Given.Lower, problem.Given.Upper
	goesOn := sparse.SelectStates(len(x), func(i int) bool { return x[i].Cmp(problem.endPayoff(i, lower)) > 0 })
	equations := &bellmanEquations{graph: problem.graph, bound: make([]float64, len(x)), exactBound: x}
	proof := problem.vectorProof
	proof.Rank = rankByDistance(problem.graph, goesOn.Complement(), goesOn, func(s, c int) bool {
		return (usable == nil || usable.Has(c)) && equations.compareChoice(s, c) >= 0
	})
	proof.Lower, proof.Upper = &certificate.Values{Rats: x}, &certificate.Values{Rats: y}
	proof.Layer = problem.product.losingLayers(proof.Upper, [2]*big.Rat{big.NewRat(1, 1), upper})
}
