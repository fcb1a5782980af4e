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
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// DRN writes Storm's format: rewards in the order of the program, labels sorted by name, actions
// and, as comments, valuations. Floating-point numbers have MaxPrecision digits unless Options
// sets a precision.
//
// In a Markov chain each state has one row. Weights of transitions with the same target are summed.
// The row has an action if all transitions have that action. Its reward is the mean over the
// transitions; in a CTMC it is the mean reward per jump. Labels without states are listed in a
// comment, which ReadDRN reads. Interval models have intervals such as [0.4, 0.6], and states of a POMDP their observation, such as {3}. A name that the format cannot express is an error.
//
// Source: Storm's DirectEncodingExporter and DirectEncodingParser.
func (w *Writer) DRN(ctx context.Context, out io.Writer) error {
	if !w.probabilistic() {
		return &compile.UnsupportedError{File: w.program.File, Msg: "the DRN format cannot express an LTS"}
	}
	if w.program.Type == syntax.SMG {
		return w.requireNoIntervals("DRN")
	}
	w = w.plainWriter()
	labels, err := w.evaluateAllLabels(ctx)
	if err != nil {
		return err
	}
	rewards, err := w.evaluateRewards(ctx)
	if err != nil {
		return err
	}
	if err := w.checkDRNNames(labels, rewards); err != nil {
		return err
	}
	slices.SortStableFunc(labels, func(a, b sparse.Label) int { return cmp.Compare(a.Name, b.Name) })
	return w.printTo(ctx, out, func(p *printer) error {
		d := &drnPrinter{printer: p, labels: labels, rewards: rewards}
		if err := d.computeObservations(); err != nil {
			return err
		}
		d.preamble()
		return p.forEachState(d.state)
	})
}

// drnReward is a reward structure, with the rewards of single transitions if the model is a Markov
// chain.
type drnReward struct {
	*sparse.Reward
	transitions explicit.TransitionReward
}

// evaluateRewards evaluates all reward structures of the program.
func (w *Writer) evaluateRewards(ctx context.Context) ([]*drnReward, error) {
	var out []*drnReward
	for i := range w.program.Rewards {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		reward, transitions, err := w.space.WrittenReward(i)
		if err != nil {
			return nil, err
		}
		named := *reward
		named.Name = w.program.Rewards[i].Name
		out = append(out, &drnReward{&named, transitions})
	}
	return out, nil
}

// checkDRNNames returns an error for a name that a reader of the DRN format would read differently.
func (w *Writer) checkDRNNames(labels []sparse.Label, rewards []*drnReward) error {
	for _, label := range labels {
		if label.Name == "" || strings.ContainsAny(label.Name, "\"\n\r\t[]") || label.Name[0] == '!' {
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
func (p *drnPrinter) writeLines(lines ...string) {
	for _, l := range lines {
		p.write(l)
		p.endLine()
	}
}

// preamble writes the lines before the first state.
func (p *drnPrinter) preamble() {
	kind, value := strings.TrimPrefix(p.program.Type.String(), "I"), "double"
	if p.model.Exact() && !p.space.Rounded() {
		value = "rational"
	}
	if p.model.Intervals() {
		value += "-interval"
	}
	var names []string
	for _, reward := range p.rewards {
		names = append(names, reward.Name)
	}
	if !p.opts.NoHeaders {
		p.writeLines("// Exported by tilecheck", "// Original model type: "+kind)
		p.emptyLabelComment()
	}
	p.writeLines("@type: "+kind, "@value_type: "+value, "@parameters", "", "@reward_models", strings.Join(names, " "))
	p.writeLines("@nr_states", fmt.Sprint(p.model.NumStates()), "@nr_choices", fmt.Sprint(p.model.NumChoices()), "@model")
}

// emptyLabels starts the comment with the labels that hold in no state. The format cannot express
// them otherwise.
const emptyLabels = "// Labels of no state:"

// emptyLabelComment writes a comment with the labels that hold in no state, if there are any.
func (p *drnPrinter) emptyLabelComment() {
	line := ""
	for _, label := range p.labels {
		if label.States.Empty() && label.Name != "init" && label.Name != "deadlock" {
			line += ` "` + label.Name + `"`
		}
	}
	if line != "" {
		p.writeLines(emptyLabels + line)
	}
}

// state writes a state with its exit rate, rewards, labels and choices. position is its number in
// the file.
func (p *drnPrinter) state(position, state int) error {
	p.write("state ")
	p.writeInt(position)
	if p.model.Kind == sparse.CTMC {
		p.write(" !")
		p.writeNumber(p.exitRate(state))
	}
	if p.observations != nil {
		p.write(" {")
		p.writeInt(int(p.observations.ByState[state]))
		p.write("}")
	}
	p.rewardTuple(func(reward *drnReward) number { return rewardAt(reward.State, reward.StateRat, state) })
	p.stateLabels(state)
	p.endLine()
	if !p.opts.NoValuations {
		p.valuationComment(state)
	}
	first, end := p.model.Choices(state)
	for choice := first; choice < end; choice++ {
		p.choice(state, choice)
	}
	return nil
}

// stateLabels writes the labels of a state; a label with blanks is quoted.
func (p *drnPrinter) stateLabels(state int) {
	for _, label := range p.labels {
		if !label.States.Has(state) {
			continue
		}
		name := label.Name
		if strings.Contains(name, " ") {
			name = `"` + name + `"`
		}
		p.write(" " + name)
	}
}

// rewardTuple writes the list of the rewards of a state or choice, one per structure: " [1, 0]".
func (p *drnPrinter) rewardTuple(value func(*drnReward) number) {
	if len(p.rewards) == 0 {
		return
	}
	p.write(" [")
	for i, reward := range p.rewards {
		if i > 0 {
			p.write(", ")
		}
		p.writeNumber(value(reward))
	}
	p.write("]")
}

// valuationComment writes the valuation of a state as Storm does: "//[s=0	& !b]".
func (p *drnPrinter) valuationComment(state int) {
	p.valuation = p.space.State(p.valuation, state)
	p.write("//[")
	for slot, variable := range p.program.Vars {
		if slot > 0 {
			p.write("\t& ")
		}
		switch {
		case variable.Type != sema.Bool:
			p.write(variable.Name + "=")
			p.writeInt(int(p.valuation[slot]))
		case p.valuation[slot] != 0:
			p.write(variable.Name)
		default:
			p.write("!" + variable.Name)
		}
	}
	p.write("]")
	p.endLine()
}

// choice writes a choice of a state with its rewards and transitions.
func (p *drnPrinter) choice(state, choice int) {
	p.write("\taction " + p.rowAction(choice))
	p.rewardTuple(func(reward *drnReward) number { return p.choiceReward(reward, state, choice) })
	p.endLine()
	p.transitions = p.sortedTransitions(p.transitions, choice)
	for len(p.transitions) > 0 {
		numSameTarget := p.numSameTarget()
		p.write("\t\t")
		p.writeTarget(p.transitions[0])
		p.write(" : ")
		p.weightOf(p.transitions[:numSameTarget])
		p.endLine()
		p.transitions = p.transitions[numSameTarget:]
	}
}

// weightOf writes the weight of transitions with the same target: their sum, or an interval such as [0.4, 0.6].
func (p *drnPrinter) weightOf(transitions []int) {
	if !p.model.Intervals() {
		p.writeNumber(p.sum(transitions))
		return
	}
	high := new(big.Rat)
	for _, transition := range transitions {
		high.Add(high, p.model.HighRat(transition))
	}
	p.write("[")
	p.writeNumber(p.sum(transitions))
	p.write(", ")
	p.writeNumber(number{rat: high})
	p.write("]")
}

// rowAction returns the name of the action of a choice. For a row of a Markov chain, it is the common
// action of all transitions, or "0" if there is none.
func (p *drnPrinter) rowAction(choice int) string {
	if p.nondeterministic() {
		return cmp.Or(p.actionName(choice), noLabel)
	}
	first, end := p.model.Row(choice)
	name := p.actionName(first)
	for transition := first + 1; transition < end; transition++ {
		if p.actionName(transition) != name {
			return "0"
		}
	}
	return cmp.Or(name, "0")
}

// choiceReward returns the reward of a choice of a state. In a CTMC it is the mean reward per jump,
// whereas the structure has the reward per unit of time.
func (p *drnPrinter) choiceReward(structure *drnReward, state, choice int) number {
	if reward, ok := p.commonReward(structure, choice); ok {
		return reward
	}
	reward := rewardAt(structure.Choice, structure.ChoiceRat, choice)
	if p.model.Kind != sparse.CTMC || reward.isZero() {
		return reward
	}
	rate := p.exitRate(state)
	switch {
	case reward.rat != nil:
		return number{rat: new(big.Rat).Quo(reward.rat, rate.rat)}
	case math.IsInf(reward.float, 0) && structure.transitions.Values != nil: // the reward per unit of time overflows
		return number{float: p.meanReward(structure.transitions.Values, choice, rate.float)}
	}
	return number{float: reward.float / rate.float}
}

// meanReward returns the mean of the rewards of the transitions of a choice, weighted with their probabilities.
func (p *drnPrinter) meanReward(rewards []float64, choice int, exitRate float64) float64 {
	mean := 0.0
	first, end := p.model.Row(choice)
	for transition := first; transition < end; transition++ {
		mean += p.model.Prob(transition) / exitRate * rewards[transition]
	}
	return mean
}

// commonReward returns the reward of the transitions of a row of a Markov chain if all have the
// same reward. Computing their mean would round it.
func (p *drnPrinter) commonReward(structure *drnReward, choice int) (number, bool) {
	rewards := structure.transitions
	if rewards.Values == nil {
		return number{}, false
	}
	first, end := p.model.Row(choice)
	common := rewardAt(rewards.Values, rewards.Rats, first)
	for transition := first + 1; transition < end; transition++ {
		other := rewardAt(rewards.Values, rewards.Rats, transition)
		if common.float != other.float || compareRats(common.rat, other.rat) != 0 {
			return number{}, false
		}
	}
	return common, true
}

// compareRats compares fractions; nil stands for zero.
func compareRats(a, b *big.Rat) int {
	return cmp.Or(a, new(big.Rat)).Cmp(cmp.Or(b, new(big.Rat)))
}

// numSameTarget returns the number of transitions at the start of the row that have the same target.
func (p *drnPrinter) numSameTarget() int {
	n := slices.IndexFunc(p.transitions, func(target int) bool { return p.model.Target[target] != p.model.Target[p.transitions[0]] })
	if n < 0 {
		return len(p.transitions)
	}
	return n
}

// exitRate returns the exit rate of a state. It adds the rates in the order of the file, so a reader
// gets the same sum.
func (p *drnPrinter) exitRate(state int) number {
	total := number{}
	if p.model.Exact() {
		total.rat = new(big.Rat)
	}
	p.transitions = p.sortedTransitions(p.transitions, state)
	for len(p.transitions) > 0 {
		numSameTarget := p.numSameTarget()
		rate := p.sum(p.transitions[:numSameTarget])
		p.transitions = p.transitions[numSameTarget:]
		total.float += rate.float
		if total.rat != nil {
			total.rat.Add(total.rat, rate.rat)
		}
	}
	return total
}

// sum returns the sum of the weights of transitions.
func (p *drnPrinter) sum(transitions []int) number {
	if p.model.Exact() {
		sum := new(big.Rat)
		for _, transition := range transitions {
			sum.Add(sum, p.model.Rat(transition))
		}
		return number{rat: sum}
	}
	sum := 0.0
	for _, transition := range transitions {
		sum += p.model.Prob(transition)
	}
	return number{float: sum}
}
