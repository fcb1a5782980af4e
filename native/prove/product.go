package prove

import (
	"errors"
	"math"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/certify/omega"
	"tilecheck/native/solve"
	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
)

// product is the product of the model with the automaton of a vector.
type product struct {
	*Prover // of the model of the pairs
	pairs   *omega.Product
	runs    *omega.Product
	graph   *sparse.Graph // of the model of the runs
	targets *sparse.Set   // pairs with a jump to a winning run; for a co-safe reward, accepting pairs
	// excluded are the pairs with a jump to a winning run in the excluded states of the automaton; targets does not count these jumps.
	excluded *sparse.Set
}

// pathColumns computes bounds of a path formula or of a co-safe reward on the product with an automaton, and the columns of the certificate that prove
// them. It returns the values of the model's states.
func (proof *vectorProof) pathColumns() (*solve.Values, error) {
	product, err := proof.automatonProduct()
	if err != nil {
		return nil, err
	}
	pairsProof := &vectorProof{Prover: product.Prover, index: proof.index, ctx: proof.ctx, Vector: proof.Vector, effort: proof.effort}
	if proof.Kind == certificate.CoSafe {
		pairsProof.rewardStructure = sparseReward(product.pairs.LiftRewards(proof.Model.StepRewards(proof.Reward, nil)))
		values, err := pairsProof.reachReward(product.targets)
		if err != nil {
			return nil, err
		}
		return proof.stateValues(values), nil
	}
	values, err := pairsProof.until(sparse.FullSet(product.Prover.graph.NumStates()), product.targets)
	if err != nil {
		return nil, err
	}
	proof.Layer = product.losingLayers(proof.Upper, [2]*big.Rat{big.NewRat(1, 1), big.NewRat(1, 1)})
	return proof.stateValues(values), nil
}

// stateValues returns the values of the model's states from the values of all pairs of a product. The first pairs are the initial pairs of the states,
// in the order of the certificate.
func (proof *vectorProof) stateValues(pairValues *solve.Values) *solve.Values {
	numStates := proof.graph.NumStates()
	result := &solve.Values{Lower: make([]float64, numStates), Upper: make([]float64, numStates), Converged: pairValues.Converged}
	if pairValues.Exact != nil {
		result.Exact = make([]*big.Rat, numStates)
	}
	for pair, s := range proof.orderedStates() {
		result.Lower[s], result.Upper[s] = pairValues.Lower[pair], pairValues.Upper[pair]
		if pairValues.Exact != nil {
			result.Exact[s] = pairValues.Exact[pair]
		}
	}
	return result
}

// automatonProduct returns the product of the model with the automaton of the vector. The first call builds it.
func (proof *vectorProof) automatonProduct() (*product, error) {
	if knownProduct := proof.products[proof.index]; knownProduct != nil {
		return knownProduct, nil
	}
	sets, err := proof.setLetters()
	if err != nil {
		return nil, err
	}
	newProduct, err := buildProduct(proof, sets, proof.Kind == certificate.CoSafe)
	if errors.Is(err, automata.ErrTooLarge) {
		return nil, errors.New("the automaton of the path formula is too large for a certificate")
	}
	if err != nil {
		return nil, err
	}
	proof.products[proof.index] = newProduct
	return newProduct, nil
}

// setLetters stores the different letters that the automaton reads in the states of the model in proof.Automaton.Letters. Bit i of a letter says whether
// proposition i is true. It returns the set of states in which each proposition is true.
func (proof *vectorProof) setLetters() ([]certificate.Bits, error) {
	letters := make([]uint64, proof.graph.NumStates()) // in the order of the certificate
	var sets []certificate.Bits
	for proposition, setIndex := range proof.Automaton.Sets {
		set, err := proof.decidedSet(proof.ctx, setIndex, proof.effort)
		if err != nil {
			return nil, err
		}
		for s := range set.All() {
			letters[proof.indexOf(uint32(s))] |= 1 << proposition
		}
		sets = append(sets, proof.orderedBits(set))
	}
	proof.Automaton.Letters = nil
	seenLetters := map[uint64]bool{}
	for _, letter := range letters {
		if !seenLetters[letter] {
			seenLetters[letter] = true
			proof.Automaton.Letters = append(proof.Automaton.Letters, letter)
		}
	}
	return sets, nil
}

// buildProduct builds the automaton of a vector and its product with the model. sets[i] has the states in which proposition i is true. If coSafe is
// true, the automaton accepts a path as soon as a finite prefix decides it.
func buildProduct(proof *vectorProof, sets []certificate.Bits, coSafe bool) (*product, error) {
	automaton := proof.Automaton
	if err := buildAutomaton(automaton, coSafe); err != nil {
		return nil, err
	}
	automaton.Pairs, automaton.Runs = math.MaxInt32, math.MaxInt32
	pairs, err := omega.Pairs(proof.ctx, omega.Model(proof.Model, proof.Vector), automaton, sets, coSafe)
	if err != nil {
		return nil, err
	}
	pairsProver := &Prover{
		ClaimFile: &ClaimFile{File: certificate.File{Model: pairs.Model}},
		graph:     sparseGraph(pairs.Model), opts: proof.opts, exponents: make(map[int]int),
	}
	built := &product{Prover: pairsProver, pairs: pairs, targets: sparse.NewSet(len(pairs.ModelState)), excluded: sparse.NewSet(len(pairs.ModelState))}
	automaton.Pairs = len(pairs.ModelState)
	if !coSafe {
		return built, built.addRuns(proof)
	}
	automaton.Runs = 0
	for pair, automatonState := range pairs.AutomatonState {
		if automaton.Accepting[automatonState] {
			built.targets.Add(pair)
		}
	}
	return built, nil
}

// addRuns adds the product of the model with the accepting component of the automaton, whose states are called runs. A pair of the product becomes a
// target if the automaton can jump from it to a winning run of part 0, the automaton of the formula. It is excluded if the automaton can jump to a
// winning run of part 1, which accepts violations of the condition.
func (product *product) addRuns(proof *vectorProof) error {
	automaton := proof.Automaton
	runs, err := product.pairs.Runs(proof.ctx)
	if err != nil {
		return err
	}
	product.runs = runs
	automaton.Runs = len(runs.ModelState)
	if automaton.Runs == 0 {
		return nil
	}
	product.graph = sparseGraph(runs.Model)
	proof.WinningRanks = product.winningRanks()
	run := 0 // the first runs are the targets of the jumps of the pairs, in the order of the pairs
	for pair, automatonState := range product.pairs.AutomatonState {
		for _, target := range automaton.Jumps[automatonState] {
			isWinning := proof.WinningRanks[run] != unranked
			switch {
			case isWinning && automaton.Part(target) == 1:
				product.excluded.Add(pair)
			case isWinning:
				product.targets.Add(pair)
			}
			run++
		}
	}
	return nil
}

// sparseGraph converts the model of a certificate, a DTMC or an MDP, to a graph for package solve. RelErr, the bound on the relative rounding error of
// the weights, is infinite if a weight is out of the range of float64.
func sparseGraph(model *certificate.Model) *sparse.Graph {
	result := &sparse.Model{
		Kind: sparse.DTMC, FirstChoice: model.FirstChoice, FirstTransition: model.FirstTransition, Target: model.Target, WeightIndex: model.Prob,
		Fractions: model.Numbers, RelErr: 0x1p-52, Initial: []uint32{0},
	}
	if model.Kind == certificate.MDP {
		result.Kind = sparse.MDP
	}
	for _, number := range model.Numbers {
		rounded := 0.0
		if number.Sign() > 0 { // a positive weight must not become 0
			rounded, _ = sparse.NormalFloat(number)
		}
		result.Weights = append(result.Weights, rounded)
	}
	for _, probIndex := range model.Prob {
		if !sparse.InRange(result.Weights[probIndex]) {
			result.RelErr = math.Inf(1)
		}
	}
	return sparse.NewGraph(result)
}

// winningRanks returns the rank of each winning run. A run is a state of the product with the accepting component of the automaton; it is winning if
// some scheduler visits accepting runs infinitely often from there. The rank is the distance to an accepting run through winning runs. Other runs are
// unranked.
func (product *product) winningRanks() []uint32 {
	candidateRuns := sparse.FullSet(product.graph.NumStates())
	for { // a greatest fixed point: runs that cannot reach an accepting run inside are removed
		stayingChoices := product.graph.ChoicesWithin(candidateRuns)
		accepting := product.acceptingRuns(candidateRuns, stayingChoices)
		ranks := rankByDistance(product.graph, accepting, candidateRuns, func(_, choice int) bool { return stayingChoices.Has(choice) })
		ranked := rankedStates(ranks)
		if ranked.Count() == candidateRuns.Count() {
			return ranks
		}
		candidateRuns = ranked
	}
}

// acceptingRuns returns those members of runs that are accepting and have at least one of the given choices. A run is a state of the product with the
// accepting component of the automaton.
func (product *product) acceptingRuns(runs, choices *sparse.Set) *sparse.Set {
	accepting := sparse.NewSet(product.graph.NumStates())
	for run := range runs.All() {
		if !product.pairs.Accepts(product.runs.AutomatonState[run]) {
			continue
		}
		first, end := product.graph.Choices(run)
		for choice := first; choice < end; choice++ {
			if choices.Has(choice) {
				accepting.Add(run)
			}
		}
	}
	return accepting
}

// rankedStates returns the states that have a rank.
func rankedStates(ranks []uint32) *sparse.Set {
	result := sparse.NewSet(len(ranks))
	for s, stateRank := range ranks {
		if stateRank != unranked {
			result.Add(s)
		}
	}
	return result
}

// losingLayers returns layers that prove that runs are not winning. A run is a state of the product with the accepting component of the automaton. A run
// gets a layer if the upper bound of its pair is less than the payoff of its part of the automaton, because a winning run would give the pair this
// payoff.
func (product *product) losingLayers(upper *certificate.Values, payoffs [2]*big.Rat) []uint32 {
	if product.graph == nil {
		return nil
	}
	compareBounds := [2]func(int) int{upper.Compare(payoffs[0]), upper.Compare(payoffs[1])}
	attractor := newAttractor(product.graph, nil)
	allRuns, rejecting := sparse.FullSet(product.graph.NumStates()), sparse.NewSet(product.graph.NumStates())
	for run, automatonState := range product.runs.AutomatonState {
		if compareBounds[product.pairs.Part(automatonState)](int(product.runs.ModelState[run])) >= 0 {
			attractor.addState(run, 0)
		} else if !product.pairs.Accepts(automatonState) {
			rejecting.Add(run)
		}
	}
	for {
		attractor.extend(allRuns)
		trap, nextLayer := attractor.trap(rejecting), attractor.greatestRank+1
		if trap.Empty() {
			return attractor.ranks
		}
		for run := range trap.All() {
			attractor.addState(run, nextLayer)
		}
	}
}

// sparseReward converts the choice rewards of a certificate to a reward structure, with fractions and the nearest float64 numbers. RelErr is infinite if
// a reward is out of the range of float64.
func sparseReward(rewards *certificate.Rewards) *sparse.Reward {
	result := &sparse.Reward{Choice: make([]float64, len(rewards.FractionIndex)), ChoiceFractions: make([]*big.Rat, len(rewards.FractionIndex)), RelErr: 0x1p-52}
	for choice, index := range rewards.FractionIndex {
		reward := rewards.Fractions[index]
		if reward.Sign() <= 0 {
			continue
		}
		result.ChoiceFractions[choice] = reward
		result.Choice[choice], _ = sparse.NormalFloat(reward)
		if !sparse.InRange(result.Choice[choice]) {
			result.RelErr = math.Inf(1)
		}
	}
	return result
}
