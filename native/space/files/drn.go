package files

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/drn"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// DRN writes Storm's format. Rewards are in the order of the program, and labels are sorted by name. Valuations
// are comments. Floating-point numbers have MaxPrecision digits unless Options sets a precision.
//
// In a Markov chain, the weights of transitions with the same target are summed. An action that is common to all
// transitions of a state is the action of its row. The row's reward is the mean over the transitions, per jump in
// a CTMC.
//
// Labels without states are in a comment, which ReadDRN reads. A name that the format cannot express is an error.
//
// Source: Storm's DirectEncodingExporter and DirectEncodingParser.
func (writer *Writer) DRN(ctx context.Context, out io.Writer) error {
	if !writer.isProbabilistic() {
		return &compile.UnsupportedError{File: writer.program.File, Msg: "the DRN format cannot express an LTS"}
	}
	if writer.program.Type == syntax.SMG {
		return writer.unsupportedFormat("DRN")
	}
	writer, err := writer.automatonWriter()
	if err != nil {
		return err
	}
	labels, err := writer.evaluateAllLabels(ctx)
	if err != nil {
		return err
	}
	rewards, err := writer.evaluateRewards(ctx)
	if err != nil {
		return err
	}
	if err := writer.checkDRNNames(labels, rewards); err != nil {
		return err
	}
	slices.SortStableFunc(labels, func(left, right sparse.Label) int { return cmp.Compare(left.Name, right.Name) })
	return writer.printTo(ctx, out, func(printer *printer) error {
		drn := &drnPrinter{printer: printer, labels: labels, rewards: rewards}
		if err := drn.computeObservations(); err != nil {
			return err
		}
		drn.writePreamble()
		return printer.forEachState(drn.writeState)
	})
}

// drnReward is a reward structure, with the rewards of single transitions if the model is a Markov
// chain.
type drnReward struct {
	*sparse.Reward
	transitionRewards explicit.TransitionReward
}

// evaluateRewards computes all reward structures of the program. For a Markov automaton it changes them to rewards per unit of time.
func (writer *Writer) evaluateRewards(ctx context.Context) ([]*drnReward, error) {
	var rewards []*drnReward
	numRewards := len(writer.program.Rewards)
	if writer.exitRates != nil && writer.space.Imported() {
		numRewards-- // the last one is the time, which a reader adds
	}
	for i := range numRewards {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		reward, transitions, err := writer.space.WrittenReward(i)
		if err != nil {
			return nil, err
		}
		if writer.exitRates != nil {
			reward = writer.rewardPerTime(reward)
		}
		named := *reward
		named.Name = writer.program.RewardName(i)
		if writer.opts.NameOfT {
			named.Name = writer.program.Rewards[i].Name
		}
		rewards = append(rewards, &drnReward{&named, transitions})
	}
	return rewards, nil
}

// checkDRNNames returns an error for a name that the DRN format cannot express.
func (writer *Writer) checkDRNNames(labels []sparse.Label, rewards []*drnReward) error {
	for _, label := range labels {
		isPlain := label.Name != "" && !strings.ContainsAny(label.Name, "\"\n\r\t[]")
		if !isPlain || label.Name[0] == '!' {
			return fmt.Errorf("label %q cannot be written in the DRN format", label.Name)
		}
	}
	for _, reward := range rewards {
		if strings.ContainsAny(reward.Name, " \t\r\n") {
			return fmt.Errorf("reward structure %q cannot be written in the DRN format", reward.Name)
		}
	}
	return nil
}

// drnPrinter writes a .drn file.
type drnPrinter struct {
	*printer
	labels      []sparse.Label
	rewards     []*drnReward
	valuation   []int32
	transitions []int
}

// writeLines writes lines of text.
func (printer *drnPrinter) writeLines(lines ...string) {
	for _, line := range lines {
		printer.writeText(line)
		printer.endLine()
	}
}

// writePreamble writes the lines before the first state: the type of the model and of its numbers, the names of the reward structures, and
// the numbers of states and choices.
func (printer *drnPrinter) writePreamble() {
	typeName, valueType := strings.TrimPrefix(printer.program.Type.String(), "I"), "double"
	if printer.exitRates != nil {
		typeName = "Markov Automaton"
	}
	if printer.model.Exact() && !printer.space.Rounded() {
		valueType = "rational"
	}
	if printer.model.Intervals() {
		valueType += "-interval"
	}
	var names []string
	for _, reward := range printer.rewards {
		names = append(names, reward.Name)
	}
	if !printer.opts.NoHeaders {
		printer.writeLines("// Exported by tilecheck", "// Original model type: "+typeName)
		printer.writeEmptyLabels()
	}
	printer.writeLines("@type: "+typeName, "@value_type: "+valueType, "@parameters", "", "@reward_models", strings.Join(names, " "))
	printer.writeLines("@nr_states", fmt.Sprint(printer.model.NumStates()), "@nr_choices", fmt.Sprint(printer.model.NumChoices()), "@model")
}

// writeEmptyLabels writes a comment with the names of the labels that hold in no state, because the lines of states cannot show them.
func (printer *drnPrinter) writeEmptyLabels() {
	line := ""
	for _, label := range printer.labels {
		if label.States.Empty() && label.Name != "init" && label.Name != "deadlock" {
			line += ` "` + label.Name + `"`
		}
	}
	if line != "" {
		printer.writeLines(drn.EmptyLabels + line)
	}
}

// writeState writes the line of a state with its exit rate, observation, rewards and labels, and then its choices. position is the number
// of the state in the file.
func (printer *drnPrinter) writeState(position, state int) error {
	printer.writeText("state ")
	printer.writeInt(position)
	if printer.model.Kind == sparse.CTMC || printer.exitRates != nil {
		printer.writeText(" !")
		printer.writeNumber(printer.exitRate(state))
	}
	if printer.observations != nil {
		printer.writeText(" {")
		printer.writeInt(int(printer.observations.ByState[state]))
		printer.writeText("}")
	}
	printer.writeRewards(func(reward *drnReward) number { return rewardAt(reward.State, reward.StateFractions, state) })
	printer.writeStateLabelNames(state)
	printer.endLine()
	if !printer.opts.NoValuations {
		printer.writeValuationComment(state)
	}
	first, end := printer.model.Choices(state)
	for choice := first; choice < end; choice++ {
		printer.writeChoice(state, choice)
	}
	return nil
}

// writeStateLabelNames writes the names of the labels that hold in a state. It quotes a name with blanks.
func (printer *drnPrinter) writeStateLabelNames(state int) {
	for _, label := range printer.labels {
		if !label.States.Has(state) {
			continue
		}
		name := label.Name
		if strings.Contains(name, " ") {
			name = `"` + name + `"`
		}
		printer.writeText(" " + name)
	}
}

// writeRewards writes the rewards of a state or a choice as a list such as " [1, 0]", with an entry for each reward structure. value
// returns the reward in a structure. Without structures it writes nothing.
func (printer *drnPrinter) writeRewards(value func(*drnReward) number) {
	if len(printer.rewards) == 0 {
		return
	}
	printer.writeText(" [")
	for i, reward := range printer.rewards {
		if i > 0 {
			printer.writeText(", ")
		}
		printer.writeNumber(value(reward))
	}
	printer.writeText("]")
}

// writeValuationComment writes the values of the variables in a state, as a comment such as "//[s=0       & !b]". Storm writes the same.
func (printer *drnPrinter) writeValuationComment(state int) {
	printer.valuation = printer.space.State(printer.valuation, state)
	printer.writeText("//[")
	for slot, variable := range printer.program.Vars {
		if slot > 0 {
			printer.writeText("\t& ")
		}
		switch {
		case variable.Type != sema.Bool:
			printer.writeText(variable.Name + "=")
			printer.writeInt(int(printer.valuation[slot]))
		case printer.valuation[slot] != 0:
			printer.writeText(variable.Name)
		default:
			printer.writeText("!" + variable.Name)
		}
	}
	printer.writeText("]")
	printer.endLine()
}

// writeChoice writes the line of a choice with its action and rewards, and then a line for each target, with the sum of the weights of the
// transitions to it.
func (printer *drnPrinter) writeChoice(state, choice int) {
	printer.writeText("\taction " + printer.choiceActionName(choice))
	printer.writeRewards(func(reward *drnReward) number { return printer.choiceReward(reward, state, choice) })
	printer.endLine()
	printer.transitions = printer.sortedTransitions(printer.transitions, choice)
	for len(printer.transitions) > 0 {
		numSameTarget := printer.countSameTarget()
		printer.writeText("\t\t")
		printer.writeTarget(printer.transitions[0])
		printer.writeText(" : ")
		printer.writeWeight(printer.transitions[:numSameTarget])
		printer.endLine()
		printer.transitions = printer.transitions[numSameTarget:]
	}
}

// writeWeight writes the sum of the weights of some transitions, as a number or as an interval such as [0.4, 0.6].
func (printer *drnPrinter) writeWeight(transitions []int) {
	if !printer.model.Intervals() {
		printer.writeNumber(printer.sumOfWeights(transitions))
		return
	}
	high := new(big.Rat)
	for _, transition := range transitions {
		high.Add(high, printer.model.HighFraction(transition))
	}
	printer.writeText("[")
	printer.writeNumber(printer.sumOfWeights(transitions))
	printer.writeText(", ")
	printer.writeNumber(number{fraction: high})
	printer.writeText("]")
}

// choiceActionName returns the name of the action that the file has for a choice. In a Markov chain it is the action of all transitions, or
// "0" if they have none or different ones.
func (printer *drnPrinter) choiceActionName(choice int) string {
	if printer.isNondeterministic() {
		return cmp.Or(printer.actionName(choice), drn.NoLabel)
	}
	first, end := printer.model.Transitions(choice)
	name := printer.actionName(first)
	for transition := first + 1; transition < end; transition++ {
		if printer.actionName(transition) != name {
			return "0"
		}
	}
	return cmp.Or(name, "0")
}

// choiceReward returns the reward of a choice in a structure. In a CTMC the structure has rewards per unit of time, and the file has the
// mean reward of a jump. So it divides by the exit rate.
func (printer *drnPrinter) choiceReward(structure *drnReward, state, choice int) number {
	if reward, isCommon := printer.commonReward(structure, choice); isCommon {
		return reward
	}
	reward := rewardAt(structure.Choice, structure.ChoiceFractions, choice)
	if printer.model.Kind != sparse.CTMC || reward.isZero() {
		return reward
	}
	rate := printer.exitRate(state)
	switch {
	case reward.fraction != nil:
		return number{fraction: new(big.Rat).Quo(reward.fraction, rate.fraction)}
	case math.IsInf(reward.float, 0) && structure.transitionRewards.Values != nil: // the reward per unit of time overflows
		return number{float: printer.meanReward(structure.transitionRewards.Values, choice, rate.float)}
	}
	return number{float: reward.float / rate.float}
}

// meanReward returns the mean of the rewards of a choice's transitions, weighted with their probabilities.
func (printer *drnPrinter) meanReward(rewards []float64, choice int, exitRate float64) float64 {
	mean := 0.0
	first, end := printer.model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		mean += printer.model.Prob(transition) / exitRate * rewards[transition]
	}
	return mean
}

// commonReward returns the reward of the transitions of a Markov chain's state, if all of them have the same one. Unlike their mean, this
// reward has no rounding error.
func (printer *drnPrinter) commonReward(structure *drnReward, choice int) (reward number, isCommon bool) {
	rewards := structure.transitionRewards
	if rewards.Values == nil {
		return number{}, false
	}
	first, end := printer.model.Transitions(choice)
	common := rewardAt(rewards.Values, rewards.Fractions, first)
	for transition := first + 1; transition < end; transition++ {
		otherReward := rewardAt(rewards.Values, rewards.Fractions, transition)
		if common.float != otherReward.float || compareFractions(common.fraction, otherReward.fraction) != 0 {
			return number{}, false
		}
	}
	return common, true
}

// compareFractions compares two fractions. nil stands for zero.
func compareFractions(a, b *big.Rat) int {
	return cmp.Or(a, new(big.Rat)).Cmp(cmp.Or(b, new(big.Rat)))
}

// countSameTarget returns how many of printer.transitions, from the first on, have the target of the first one. The transitions are sorted
// by target.
func (printer *drnPrinter) countSameTarget() int {
	target := printer.model.Target
	count := slices.IndexFunc(printer.transitions, func(transition int) bool {
		return target[transition] != target[printer.transitions[0]]
	})
	if count < 0 {
		return len(printer.transitions)
	}
	return count
}

// exitRate returns the exit rate of a state of a CTMC or a Markov automaton. In a CTMC it adds the rates in the order in which the file has
// them, so that a reader computes the same sum.
func (printer *drnPrinter) exitRate(state int) number {
	if printer.exitRates != nil {
		return printer.automatonRate(state)
	}
	total := number{}
	if printer.model.Exact() {
		total.fraction = new(big.Rat)
	}
	printer.transitions = printer.sortedTransitions(printer.transitions, state)
	for len(printer.transitions) > 0 {
		numSameTarget := printer.countSameTarget()
		rate := printer.sumOfWeights(printer.transitions[:numSameTarget])
		printer.transitions = printer.transitions[numSameTarget:]
		total.float += rate.float
		if total.fraction != nil {
			total.fraction.Add(total.fraction, rate.fraction)
		}
	}
	return total
}

// sumOfWeights returns the sum of the probabilities or rates of some transitions, as a fraction in an exact model.
func (writer *Writer) sumOfWeights(transitions []int) number {
	if writer.model.Exact() {
		sum := new(big.Rat)
		for _, transition := range transitions {
			sum.Add(sum, writer.model.Fraction(transition))
		}
		return number{fraction: sum}
	}
	sum := 0.0
	for _, transition := range transitions {
		sum += writer.model.Prob(transition)
	}
	return number{float: sum}
}
