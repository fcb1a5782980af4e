//go:build !js

package prove

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
	"tilecheck/internal/interval"
	"tilecheck/internal/noun"
	"tilecheck/native/solve"
	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
)

// conditionalOptimum translates the minimal or maximal conditional probability of an MDP, such as Pmax=? [ a || b ], to a vector of the
// certificate: the probability from each state. path is a || b. The minimum is 1 minus the maximum for the negation of a.
func (translation *translation) conditionalOptimum(path *logic.Path, direction solve.Direction) (vectorValue, error) {
	if translation.property.Program.Type != syntax.MDP {
		return vectorValue{}, translation.unsupported(path.Expr, "%s in %s", logic.Describe(path.Expr), noun.WithArticle(translation.property.Program.Type.String()))
	}
	automaton := &certificate.Automaton{}
	formula, err := translation.pathFormula(automaton, path.Left)
	if err != nil {
		return vectorValue{}, err
	}
	if automaton.Condition, err = translation.pathFormula(automaton, path.Right); err != nil {
		return vectorValue{}, err
	}
	automaton.Formula = formula
	isComplement := direction == solve.Min
	if isComplement {
		automaton.Formula = negation(formula)
	}
	vector := certificate.Vector{Kind: certificate.MaxConditional, IsMaximum: true, Reward: -1, Automaton: automaton, ConditionalBounds: &certificate.ConditionalBounds{}}
	return vectorValue{translation.vectorIndex(vector), isComplement}, nil
}

// buildConditionalAutomaton builds the automaton of a conditional probability from two automata, its parts. Part 0 accepts the paths that satisfy
// the formula and the condition; part 1 accepts the paths that violate the condition. The new automaton begins in a pair of states, one of each
// part, and may once jump to a state of one part. Its states are first all pairs, then the states of part 0, then the states of part 1.
func buildConditionalAutomaton(automaton *certificate.Automaton) error {
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
	for partIndex, part := range parts {
		offset := uint32(len(automaton.Next))
		for i, pair := range pairs {
			automaton.Jumps[i] = append(automaton.Jumps[i], shifted(part.Jumps[pair[partIndex]], offset)...)
		}
		for state, successors := range part.Next {
			automaton.Next = append(automaton.Next, shifted(successors, offset))
			automaton.Jumps = append(automaton.Jumps, nil)
			automaton.Accepting = append(automaton.Accepting, part.Accepting[state])
			automaton.Excluded = append(automaton.Excluded, partIndex == 1)
		}
	}
	return nil
}

// pairParts returns the pairs of states that two automata reach when both read the same letters. Pair 0 has the initial states. next[i][letter]
// is the index of the successor of pair i. The error is automata.ErrTooLarge if there are too many pairs.
func pairParts(parts [2]*certificate.Automaton, numLetters int) (pairs [][2]uint32, next [][]uint32, err error) {
	pairs = [][2]uint32{{}}
	pairIndex := map[[2]uint32]uint32{{}: 0}
	for i := 0; i < len(pairs); i++ { // the loop appends to pairs
		if len(pairs)*numLetters > maxAutomaton {
			return nil, nil, automata.ErrTooLarge
		}
		successors := make([]uint32, numLetters)
		for letter := range successors {
			pair := [2]uint32{parts[0].Next[pairs[i][0]][letter], parts[1].Next[pairs[i][1]][letter]}
			if _, isKnown := pairIndex[pair]; !isKnown {
				pairIndex[pair] = uint32(len(pairs))
				pairs = append(pairs, pair)
			}
			successors[letter] = pairIndex[pair]
		}
		next = append(next, successors)
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
	proof   *vectorProof
	product *product
	graph   *sparse.Graph // of the product
	start   int           // the initial state of the product
}

// maxPayoffStates is the greatest number of states of a product whose payoffs are computed. They are fractions, so the computation is slow.
const maxPayoffStates = 5000

// maxConditional computes bounds of a maximal conditional probability in the initial state, and the columns of the certificate that prove them (rule 11
// of package certify). The result has these bounds in each state for which the columns prove them too, and the bounds 0 and 1 in all other states.
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
		if err := problem.findBounds(); err != nil {
			return nil, err
		}
	}
	lower, upper := proof.ConditionalBounds.Lower, proof.ConditionalBounds.Upper
	numStates, bounds := proof.Model.NumStates(), interval.Between(lower, upper)
	if isCertain {
		bounds = interval.Between(upper, upper)
	}
	result := &solve.Values{Lower: make([]float64, numStates), Upper: make([]float64, numStates), Converged: true}
	for index, state := range proof.orderedStates() {
		result.Upper[state] = 1
		if proof.Lower.Fractions[index].Cmp(lower) > 0 {
			result.Lower[state] = bounds.Lo
		}
		if proof.Upper.Fractions[index].Cmp(upper) <= 0 {
			result.Upper[state] = bounds.Hi
		}
	}
	return result, nil
}

// newPayoffProblem builds the product of the model with the automaton of the conditional probability. It is an error if there are several
// initial states, or if the product is too large for a certificate.
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
	if len(product.pairs.ModelState) > maxPayoffStates {
		return nil, tooLarge
	}
	return &payoffProblem{proof: proof, product: product, graph: product.Prover.graph, start: int(proof.indexOf(initial[0]))}, nil
}

// endPayoff returns the payoff of a path that ends in a pair of a state and an automaton state: 1 if the path then satisfies the formula and the
// condition, violationPayoff if it violates the condition, and 0 if the pair cannot end a path.
func (problem *payoffProblem) endPayoff(pair int, violationPayoff *big.Rat) *big.Rat {
	switch {
	case problem.product.targets.Has(pair):
		return big.NewRat(1, 1)
	case problem.product.excluded.Has(pair):
		return violationPayoff
	}
	return new(big.Rat)
}

// payoffs returns the maximal expected payoff from each pair of a state and an automaton state. A path has the payoff 1 if it satisfies the formula and
// the condition, violationPayoff if it violates the condition, and else 0. Only usableChoices are allowed; nil allows all choices.
func (problem *payoffProblem) payoffs(violationPayoff *big.Rat, usableChoices *sparse.Set) ([]*big.Rat, error) {
	model, err := problem.endingModel(violationPayoff, usableChoices)
	if err != nil {
		return nil, err
	}
	// A pair with payoff p can end the path: with probability p in wonState. So the maximal payoff is the maximal probability of reaching wonState.
	wonState, numStates := problem.graph.NumStates(), model.NumStates()
	options := solve.Options{Exact: true, MaxWork: maxWork}
	values, err := solve.Until(problem.proof.ctx, sparse.NewGraph(model), sparse.FullSet(numStates), sparse.SetOf(numStates, wonState), solve.Max, options)
	if err != nil {
		return nil, err
	}
	return values.Exact[:wonState], nil
}

// endingModel returns the product with only its usable choices, and with two additional absorbing states: wonState and lostState. A pair with a positive
// endPayoff p, or without a usable choice, gets an additional choice. This choice leads to wonState with probability p, and to lostState with probability
// 1-p.
func (problem *payoffProblem) endingModel(violationPayoff *big.Rat, usableChoices *sparse.Set) (*sparse.Model, error) {
	numPairs, one := problem.graph.NumStates(), big.NewRat(1, 1)
	wonState, lostState := numPairs, numPairs+1
	builder := sparse.NewBuilder(sparse.MDP)
	for pair := range numPairs {
		builder.State()
		payoff := problem.endPayoff(pair, violationPayoff)
		hasChoice := problem.copyChoices(builder, pair, usableChoices)
		if payoff.Sign() > 0 || !hasChoice {
			builder.Choice(sparse.NoAction)
			if payoff.Sign() > 0 {
				builder.AddRat(wonState, payoff, sparse.NoAction)
			}
			if payoff.Cmp(one) < 0 {
				builder.AddRat(lostState, new(big.Rat).Sub(one, payoff), sparse.NoAction)
			}
		}
	}
	for _, absorbing := range [...]int{wonState, lostState} {
		builder.State()
		builder.Choice(sparse.NoAction)
		builder.AddRat(absorbing, one, sparse.NoAction)
	}
	model, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	model.Initial = []uint32{uint32(problem.start)}
	return model, nil
}

// copyChoices adds the usable choices of a pair to the current state of the builder. If usableChoices is nil, all choices are usable. It reports
// whether it added a choice.
func (problem *payoffProblem) copyChoices(builder *sparse.Builder, pair int, usableChoices *sparse.Set) (hasChoice bool) {
	firstChoice, endChoice := problem.graph.Choices(pair)
	for choice := firstChoice; choice < endChoice; choice++ {
		if usableChoices != nil && !usableChoices.Has(choice) {
			continue
		}
		hasChoice = true
		builder.Choice(sparse.NoAction)
		firstTransition, endTransition := problem.graph.Transitions(choice)
		for transition := firstTransition; transition < endTransition; transition++ {
			builder.AddRat(int(problem.graph.Target[transition]), problem.graph.Fraction(transition), sparse.NoAction)
		}
	}
	return hasChoice
}

// isBelow reports whether payoff is less than the maximal conditional probability. It is if some scheduler has a mean payoff greater than payoff
// when each path that violates the condition has this payoff.
func (problem *payoffProblem) isBelow(payoff *big.Rat) (bool, error) {
	values, err := problem.payoffs(payoff, nil)
	if err != nil {
		return false, err
	}
	return values[problem.start].Cmp(payoff) > 0, nil
}

// bisect returns bounds of the maximal conditional probability by bisection. lower is less than the probability, or nil if no positive lower
// bound was found. The bisection ends if the relative width is at most half of epsilon, or if upper is less than 2^-60.
func (problem *payoffProblem) bisect() (lower, upper *big.Rat, err error) {
	upper = big.NewRat(1, 1)
	relativeWidth := new(big.Rat).SetFloat64(problem.proof.opts.epsilon() / 2)
	leastUpper, half := 0x1p-60, big.NewRat(1, 2)
	for {
		// As long as no lower bound is known, the middle is half of the upper bound.
		middle := new(big.Rat).Set(upper)
		if lower != nil {
			middle.Add(middle, lower)
		}
		middle.Mul(middle, half)
		isLower, err := problem.isBelow(middle)
		if err != nil {
			return nil, nil, err
		}
		if isLower {
			lower = middle
		} else {
			upper = middle
		}
		if lower != nil {
			width, maxWidth := new(big.Rat).Sub(upper, lower), new(big.Rat).Mul(relativeWidth, upper)
			if width.Cmp(maxWidth) <= 0 {
				return lower, upper, nil
			}
		}
		if nearest, _ := upper.Float64(); nearest < leastUpper {
			return lower, upper, nil
		}
	}
}

// findBounds computes bounds of the maximal conditional probability by bisection, and sets the columns of the certificate that prove them. It is an
// error if no positive lower bound was found.
func (problem *payoffProblem) findBounds() error {
	lower, upper, err := problem.bisect()
	if err != nil {
		return err
	}
	if lower == nil {
		return errors.New("there is no certificate of a maximal conditional probability of 0")
	}
	lowerPayoffs, err := problem.payoffs(lower, nil)
	if err != nil {
		return err
	}
	upperPayoffs, err := problem.payoffs(upper, nil)
	if err != nil {
		return err
	}
	problem.proof.ConditionalBounds = &certificate.ConditionalBounds{Lower: lower, Upper: upper}
	problem.setColumns(lowerPayoffs, upperPayoffs, nil)
	return nil
}

// findCertain reports whether the maximal conditional probability is 1 because some scheduler ends almost every path in a pair that may end paths, and
// some of the paths in a pair with payoff 1. If so, it sets the columns of the certificate that prove the value 1.
func (problem *payoffProblem) findCertain() (bool, error) {
	numPairs := problem.graph.NumStates()
	endPairs := problem.product.targets.Union(problem.product.excluded)
	alwaysEnding, err := problem.graph.Prob1E(problem.proof.ctx, sparse.FullSet(numPairs), endPairs)
	if err != nil || !alwaysEnding.Has(problem.start) {
		return false, err
	}
	usableChoices, half := problem.graph.ChoicesWithin(alwaysEnding), big.NewRat(1, 2)
	lowerPayoffs, err := problem.payoffs(half, usableChoices)
	someEndsWithOne := err == nil && lowerPayoffs[problem.start].Cmp(half) > 0
	if !someEndsWithOne {
		return false, err
	}
	one := big.NewRat(1, 1)
	upperPayoffs := slices.Repeat([]*big.Rat{one}, numPairs) // the entries share a fraction, which nothing changes
	problem.proof.ConditionalBounds = &certificate.ConditionalBounds{Lower: half, Upper: one, Certain: true}
	problem.setColumns(lowerPayoffs, upperPayoffs, usableChoices)
	return true, nil
}

// setColumns sets the columns of the certificate: the expected payoffs of all pairs for the lower and the upper bound; the ranks of the pairs in which
// continuing the path with usable choices is better than ending it; and the layers that prove that runs do not win.
func (problem *payoffProblem) setColumns(lowerPayoffs, upperPayoffs []*big.Rat, usableChoices *sparse.Set) {
	lower, upper := problem.proof.ConditionalBounds.Lower, problem.proof.ConditionalBounds.Upper
	numPairs := len(lowerPayoffs)
	continuingPairs := sparse.SelectStates(numPairs, func(pair int) bool { return lowerPayoffs[pair].Cmp(problem.endPayoff(pair, lower)) > 0 })
	equations := &bellmanEquations{graph: problem.graph, bounds: make([]float64, numPairs), exactBounds: lowerPayoffs}
	attainsBound := func(pair, choice int) bool {
		isUsable := usableChoices == nil || usableChoices.Has(choice)
		return isUsable && equations.compareChoice(pair, choice) >= 0
	}
	proof := problem.proof
	proof.Rank = rankByDistance(problem.graph, continuingPairs.Complement(), continuingPairs, attainsBound)
	proof.Lower, proof.Upper = &certificate.Values{Fractions: lowerPayoffs}, &certificate.Values{Fractions: upperPayoffs}
	proof.Layer = problem.product.losingLayers(proof.Upper, [2]*big.Rat{big.NewRat(1, 1), upper})
}
