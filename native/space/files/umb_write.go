package files

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"math"
	"math/big"
	"slices"

	"tilecheck/internal/umb"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/syntax"
)

// UMB writes the model in UMB, the binary format that PRISM, Storm and Modest read. It is compressed with gzip unless Options.Raw is set.
// The states are in the order of PRISM. Numbers are float64, or fractions in an exact model. The same space always gives the same bytes.
func (writer *Writer) UMB(ctx context.Context, out io.Writer) error {
	plain, err := writer.automatonWriter()
	if err != nil {
		return err
	}
	archive, err := plain.newUMBWriter(ctx)
	if err != nil {
		return err
	}
	if writer.opts.Raw {
		return archive.writeArchive(out)
	}
	zip, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if err := archive.writeArchive(zip); err != nil {
		return err
	}
	return zip.Close()
}

// UMBMembers writes the members of a UMB file to an archive that may have other members, such as a certificate. A game is written as an
// MDP, because certificates have the players as sets of states. Of a Markov automaton it writes only the MDP of the jumps.
func (writer *Writer) UMBMembers(ctx context.Context, out *umb.Writer) error {
	plain := writer.plainWriter()
	if plain.program.Type == syntax.SMG {
		mdp := *plain.program
		mdp.Type = syntax.MDP
		plain.program = &mdp
	}
	archive, err := plain.newUMBWriter(ctx)
	if err != nil {
		return err
	}
	return archive.writeMembers(out)
}

// umbWriter writes a UMB file.
type umbWriter struct {
	*Writer
	ctx             context.Context
	labels          []sparse.Label
	rewards         []*drnReward
	actions         []string       // strings, by number
	numberOfAction  map[string]int // the inverse
	writesFractions bool           // numbers are fractions
	numberSize      int64          // of a number, in bytes
	index           umb.Index
	fields          []umbField // the layout of a valuation
	valuationSize   int        // size of a valuation

	cachedState int    // the state of cachedRate; -1 for none
	cachedRate  number // the exit rate of cachedState
}

// umbField is the position of a variable in a valuation, in bits.
type umbField struct {
	slot               int
	bitOffset, numBits int
}

// newUMBWriter returns a writer of a UMB file. It prepares everything that the index of the file needs, such as the labels and rewards. A
// POMDP is an error.
func (writer *Writer) newUMBWriter(ctx context.Context) (*umbWriter, error) {
	if writer.program.Type == syntax.POMDP {
		return nil, writer.unsupportedFormat("UMB")
	}
	labels, err := writer.evaluateAllLabels(ctx)
	if err != nil {
		return nil, err
	}
	rewards, err := writer.evaluateRewards(ctx)
	if err != nil {
		return nil, err
	}
	created := &umbWriter{Writer: writer, ctx: ctx, labels: labels, rewards: rewards, numberSize: float64Size, cachedState: -1}
	created.writesFractions = writer.model.Exact() && (writer.opts.Fractions || !writer.model.Intervals())
	if created.writesFractions {
		created.setRationalSize()
	}
	created.numberActions()
	created.fillIndex()
	return created, nil
}

// float64Size is the size of a float64 in a UMB file, in bytes.
const float64Size = 8

// setRationalSize sets numberSize, the number of bytes of a fraction, so that every fraction of the file fits.
func (writer *umbWriter) setRationalSize() {
	writer.numberSize = 16
	writer.includeSizes(writer.model.Fractions)
	if writer.exitRates != nil {
		writer.includeSizes(writer.exitRates.Fractions)
	}
	if writer.program.Type == syntax.CTMC {
		writer.includeEmbeddedChain()
	}
	for _, reward := range writer.rewards {
		writer.includeSizes(reward.StateFractions)
		writer.includeSizes(reward.ChoiceFractions)
		writer.includeSizes(reward.transitionRewards.Fractions)
	}
}

// includeEmbeddedChain increases numberSize, if necessary, so that the exit rates and probabilities of a CTMC fit.
func (writer *umbWriter) includeEmbeddedChain() {
	for state := range writer.model.NumStates() {
		exitRate := writer.exitRate(state).fraction
		writer.includeSize(exitRate)
		first, end := writer.model.Transitions(state)
		for transition := first; transition < end; transition++ {
			writer.includeSize(new(big.Rat).Quo(writer.model.Fraction(transition), exitRate))
		}
	}
}

// includeSizes increases numberSize to the size of the greatest of some fractions. nil stands for 0.
func (writer *umbWriter) includeSizes(fractions []*big.Rat) {
	for _, fraction := range fractions {
		if fraction != nil {
			writer.includeSize(fraction)
		}
	}
}

func (writer *umbWriter) includeSize(fraction *big.Rat) {
	writer.numberSize = max(writer.numberSize, int64(umb.RatSize(fraction)))
}

// numberActions gives numbers to the actions that the model uses. If some choices or transitions have no action, number 0 is the empty
// string and stands for no action.
func (writer *umbWriter) numberActions() {
	writer.numberOfAction = make(map[string]int)
	if writer.opts.NoActions || writer.model.Actions == nil {
		return
	}
	if slices.Contains(writer.model.Actions, sparse.NoAction) {
		writer.actions = []string{""}
	}
	used := make(map[sparse.Action]bool)
	for _, action := range writer.model.Actions {
		used[action] = true
	}
	for index, name := range writer.program.Actions {
		if used[sparse.Action(index+1)] {
			writer.numberOfAction[name] = len(writer.actions)
			writer.actions = append(writer.actions, name)
		}
	}
}

// writeArchive writes the tar archive.
func (writer *umbWriter) writeArchive(out io.Writer) error {
	archive := umb.NewWriter(writer.ctx, out)
	if err := writer.writeMembers(archive); err != nil {
		return err
	}
	return archive.Close()
}

// writeMembers writes the members of the archive: first the index, and then the transitions, the initial states, the actions, the labels
// and rewards, and the valuations.
func (writer *umbWriter) writeMembers(archive *umb.Writer) error {
	text, err := json.MarshalIndent(writer.index, "", "  ")
	if err != nil {
		return err
	}
	members := &umbMembers{archive, writer}
	members.File(umb.IndexFile, int64(len(text)), func(out *bufio.Writer) { _, _ = out.Write(text) })
	if writer.isNondeterministic() {
		members.writeOffsets(umb.StateChoices, func(state int) int {
			first, end := writer.model.Choices(state)
			return end - first
		})
	}
	if writer.isProbabilistic() {
		members.writeChoiceRows()
		members.writeProbabilities()
	}
	members.writeStateColumns()
	members.File(umb.Targets, int64(8*writer.model.NumTransitions()), func(out *bufio.Writer) {
		writer.forEachBranch(func(_, transition int) {
			umb.PutUint64(out, uint64(writer.stateNumbers[writer.model.Target[transition]]))
		})
	})
	members.writeBits(umb.Initial, func(state int) bool {
		_, isInitial := slices.BinarySearch(writer.model.Initial, uint32(state))
		return isInitial
	})
	members.writeActions()
	members.writeAnnotations()
	if writer.fields != nil {
		members.writeValuations()
	}
	return nil
}

// forEachChoice calls visit for every choice of every state, in the order of the file. It stops early if the context ends, which the
// archive reports.
func (writer *umbWriter) forEachChoice(visit func(choice, state int)) {
	for position, state := range writer.stateOrder {
		if position%pollInterval == 0 && writer.ctx.Err() != nil {
			return
		}
		first, end := writer.model.Choices(int(state))
		for choice := first; choice < end; choice++ {
			visit(choice, int(state))
		}
	}
}

// forEachBranch calls visit for every transition, with its state, in the order of the file.
func (writer *umbWriter) forEachBranch(visit func(state, transition int)) {
	writer.forEachChoice(func(choice, state int) {
		writer.rowBuffer = writer.sortedTransitions(writer.rowBuffer, choice)
		for _, transition := range writer.rowBuffer {
			visit(state, transition)
		}
	})
}

// exitRate returns the exit rate to write for a state of a CTMC or a Markov automaton. In a CTMC it is the sum of the rates of the state; in floating point,
// exactlyReadableRate may choose a slightly different number.
func (writer *umbWriter) exitRate(state int) number {
	if writer.exitRates != nil {
		return writer.automatonRate(state)
	}
	if writer.cachedState == state {
		return writer.cachedRate
	}
	transitions := writer.sortedTransitions(nil, state) // not in rowBuffer, which a caller may still read
	writer.cachedState, writer.cachedRate = state, writer.sumOfWeights(transitions)
	if !writer.model.Exact() {
		writer.cachedRate.float = writer.exactlyReadableRate(transitions, writer.cachedRate.float)
	}
	return writer.cachedRate
}

// exactlyReadableRate returns the exit rate that is written for a state. sum is the rounded sum of the rates of its transitions. A reader multiplies the exit
// rate by the written probability of a transition to get its rate. So the result is a float64 near sum for which each product is exactly the rate, or sum
// if none is found.
func (writer *umbWriter) exactlyReadableRate(transitions []int, sum float64) float64 {
	const maxAttempts = 8 // on each side of sum
	above, below := sum, sum
	for range maxAttempts {
		for _, candidate := range []float64{above, below} {
			if writer.readsRatesExactly(transitions, candidate) {
				return candidate
			}
		}
		above, below = math.Nextafter(above, math.Inf(1)), math.Nextafter(below, 0)
	}
	return sum
}

// readsRatesExactly reports whether a reader gets the rate of each transition exactly: whether the rounded product of the exit rate and the written
// probability is the rate.
func (writer *umbWriter) readsRatesExactly(transitions []int, exitRate float64) bool {
	for _, transition := range transitions {
		if _, isExact := branchProbability(writer.model.Prob(transition), exitRate); !isExact {
			return false
		}
	}
	return true
}

// branchProbability returns the probability to write for a transition with the given rate. A reader multiplies it by exitRate. isExact says that the
// rounded product is exactly the rate.
func branchProbability(rate, exitRate float64) (probability float64, isExact bool) {
	quotient := rate / exitRate
	for _, candidate := range []float64{quotient, math.Nextafter(quotient, 0), math.Nextafter(quotient, 1)} {
		if candidate*exitRate == rate {
			return candidate, true
		}
	}
	return quotient, false
}

// probability returns the probability of a transition of a state. In a CTMC it is the rate divided by the exit rate.
func (writer *umbWriter) probability(state, transition int) number {
	weight := writer.transitionWeight(transition)
	switch {
	case writer.program.Type != syntax.CTMC: // the weight is a probability
	case weight.fraction != nil:
		weight.fraction = new(big.Rat).Quo(weight.fraction, writer.exitRate(state).fraction)
	default:
		weight.float, _ = branchProbability(weight.float, writer.exitRate(state).float)
	}
	return weight
}

// writeNumber writes a number in the type that all numbers of the file have: a fraction of fixed size, or a float64.
func (writer *umbWriter) writeNumber(out *bufio.Writer, value number) {
	if !writer.writesFractions {
		if value.fraction != nil {
			value.float, _ = value.fraction.Float64()
		}
		umb.PutUint64(out, math.Float64bits(value.float))
		return
	}
	fraction := value.fraction
	if fraction == nil {
		fraction = new(big.Rat)
	}
	umb.PutRat(out, fraction, int(writer.numberSize))
}
