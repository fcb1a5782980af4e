package crosscheck

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
)

// labelsAndRewards are the labels and rewards that both spaces have.
type labelsAndRewards struct {
	*spaceComparison
	labels  []labelPair
	rewards []rewardPair
}

// labelPair is a label with its states in both spaces.
type labelPair struct {
	name          string
	expression    sema.Expr // the first space's expression; nil for deadlock
	first, second *sparse.Set
}

// rewardPair is a reward structure with its values in both spaces.
type rewardPair struct {
	index         int // in the first space
	first, second rewardStructure
}

// rewardStructure is a reward structure of one space. transition and transitionRats are its transition rewards as float64
// numbers and as fractions; nil if there are none or the tool does not export them.
type rewardStructure struct {
	*sparse.Reward
	transition     []float64
	transitionRats []*big.Rat
}

// pairLabelsAndRewards pairs the labels and the reward structures of the two spaces by name. It returns a difference if only one space has a label or
// structure, unless a tool exports only some of them.
func (d *spaceComparison) pairLabelsAndRewards() (*labelsAndRewards, *Difference, error) {
	pairs := &labelsAndRewards{spaceComparison: d}
	bothComplete := d.first.AllLabelsAndRewards && d.second.AllLabelsAndRewards
	if bothComplete {
		pairs.labels = append(pairs.labels, labelPair{name: "deadlock", first: d.first.deadlocks(), second: d.second.deadlocks()})
	}
	difference, err := pairs.pairLabels(bothComplete)
	if difference == nil && err == nil {
		difference, err = pairs.pairRewards(bothComplete)
	}
	return pairs, difference, err
}

// pairLabels pairs labels with the same name. If bothComplete is true, a label that only one space has is a difference.
func (p *labelsAndRewards) pairLabels(bothComplete bool) (*Difference, error) {
	firstLabels, secondLabels := p.first.labels(), p.second.labels()
	for _, label := range firstLabels {
		secondIndex := slices.IndexFunc(secondLabels, func(second sema.LabelDef) bool { return second.Name == label.Name })
		if secondIndex < 0 && bothComplete {
			return onlyInFirst(Labels, strconv.Quote(label.Name)), nil
		}
		if secondIndex < 0 {
			continue
		}
		firstStates, firstErr := p.first.Space.States(label.Expr)
		secondStates, secondErr := p.second.Space.States(secondLabels[secondIndex].Expr)
		if err := cmp.Or(firstErr, secondErr); err != nil {
			return nil, err
		}
		p.labels = append(p.labels, labelPair{label.Name, label.Expr, firstStates, secondStates})
	}
	if surplus := len(secondLabels) - len(firstLabels); bothComplete && surplus > 0 {
		return onlyInSecond(Labels, strconv.Itoa(surplus)+" more"), nil
	}
	return nil, nil
}

// labels returns the labels of the model.
func (v *view) labels() []sema.LabelDef { return v.Space.Program().Labels }

// deadlocks returns the states without a choice in the model.
func (v *view) deadlocks() *sparse.Set {
	if v.model.Deadlocks == nil {
		return sparse.NewSet(v.model.NumStates())
	}
	return v.model.Deadlocks
}

// pairRewards pairs reward structures with the same name, and structures without a name in their order. If bothComplete is true, a structure that
// only one space has is a difference.
func (p *labelsAndRewards) pairRewards(bothComplete bool) (*Difference, error) {
	firstRewards, secondRewards := p.first.Space.Program().Rewards, p.second.Space.Program().Rewards
	isPaired := make([]bool, len(secondRewards))
	for firstIndex := range firstRewards {
		secondIndex := unpairedReward(secondRewards, isPaired, firstRewards[firstIndex].Name)
		if secondIndex < 0 && bothComplete {
			return onlyInFirst(Rewards, rewardName(firstRewards, firstIndex)), nil
		}
		if secondIndex < 0 {
			continue
		}
		isPaired[secondIndex] = true
		if err := p.addRewardPair(firstIndex, secondIndex); err != nil {
			return nil, err
		}
	}
	if surplus := len(secondRewards) - len(firstRewards); bothComplete && surplus > 0 {
		return onlyInSecond(Rewards, strconv.Itoa(surplus)+" more"), nil
	}
	return nil, nil
}

// unpairedReward returns the index of the first unpaired reward structure with a name; -1 if there is none.
func unpairedReward(rewards []sema.RewardStruct, isPaired []bool, name string) int {
	for i := range rewards {
		if !isPaired[i] && rewards[i].Name == name {
			return i
		}
	}
	return -1
}

// addRewardPair adds a pair of reward structures that are to be compared. first and second are their indices in the two spaces.
func (p *labelsAndRewards) addRewardPair(first, second int) error {
	firstValues, firstErr := p.first.rewardValues(first)
	secondValues, secondErr := p.second.rewardValues(second)
	p.rewards = append(p.rewards, rewardPair{index: first, first: firstValues, second: secondValues})
	return cmp.Or(firstErr, secondErr)
}

// rewardName returns the quoted name of a reward structure, or its number if it has no name.
func rewardName(all []sema.RewardStruct, i int) string {
	if all[i].Name == "" {
		return fmt.Sprintf("structure %d", i+1)
	}
	return strconv.Quote(all[i].Name)
}

// rewardValues returns the values of reward structure i in this space.
func (v *view) rewardValues(i int) (values rewardStructure, err error) {
	values.Reward, err = v.Space.Reward(i)
	if err != nil {
		return values, err
	}
	values.transition, values.transitionRats, err = v.Space.TransitionRewards(i)
	return values, err
}

// compare compares the labels and the rewards of a state of the first space and a state of the second, and returns the first difference.
// equalChoices has the indices of each pair of equal choices.
func (p *labelsAndRewards) compare(firstState, secondState int, equalChoices [][2]int) *Difference {
	for k := range p.labels {
		if difference := p.compareLabel(&p.labels[k], firstState, secondState); difference != nil {
			return difference
		}
	}
	for k := range p.rewards {
		if difference := p.rewards[k].compare(p.spaceComparison, firstState, secondState, equalChoices); difference != nil {
			difference.Kind = Rewards
			difference.What += ", " + rewardName(p.first.Space.Program().Rewards, p.rewards[k].index)
			return difference
		}
	}
	return nil
}

// compareLabel returns a difference if exactly one of the two states has a label.
func (p *labelsAndRewards) compareLabel(label *labelPair, firstState, secondState int) *Difference {
	inFirst, inSecond := label.first.Has(firstState), label.second.Has(secondState)
	if inFirst == inSecond {
		return nil
	}
	quoted := strconv.Quote(label.name)
	difference := &Difference{Kind: Labels, What: quoted, First: strconv.FormatBool(inFirst), Second: strconv.FormatBool(inSecond)}
	if label.expression != nil && !p.first.Space.Imported() {
		difference.Origins = []Origin{{Model: p.first.Name, File: p.first.Space.Program().File, Pos: label.expression.Pos(), What: "label " + quoted}}
	}
	return difference
}

// compare compares the rewards of a state of the first space and a state of the second, and the rewards of their equal choices and transitions. It
// returns the first difference; nil if there is none.
func (r *rewardPair) compare(comparison *spaceComparison, firstState, secondState int, equalChoices [][2]int) *Difference {
	// A tool that exports mean rewards exports no reward for a deadlock.
	lacksReward := comparison.second.MeanRewards && comparison.first.deadlocks().Has(firstState)
	first, second := comparison.rewardEntry(r.first.State, r.first.StateFractions, firstState), comparison.rewardEntry(r.second.State, r.second.StateFractions, secondState)
	if !lacksReward && !first.equal(second) {
		return &Difference{What: "of the state", First: first.String(), Second: second.String(), Origins: comparison.stateRewardOrigins(r.index, firstState)}
	}
	for _, choices := range equalChoices {
		if difference := r.compareTransitions(comparison, firstState, choices); difference != nil {
			return difference
		}
		inFirst, inSecond := comparison.rewardEntry(r.first.Choice, r.first.ChoiceFractions, choices[0]), comparison.rewardEntry(r.second.Choice, r.second.ChoiceFractions, choices[1])
		if !inFirst.equal(inSecond) {
			origins := comparison.transitionRewardOrigins(r.index, firstState, comparison.first.actionOf(choices[0]))
			return &Difference{What: "of a choice", First: inFirst.String(), Second: inSecond.String(), Origins: origins}
		}
	}
	return nil
}

// compareTransitions compares the transition rewards of two equal choices. choices has the index of the choice in each space, and state is the
// state of the first choice.
func (r *rewardPair) compareTransitions(comparison *spaceComparison, state int, choices [2]int) *Difference {
	onlyMeans := comparison.first.MeanRewards || comparison.second.MeanRewards
	noRewards := r.first.transition == nil && r.second.transition == nil
	if onlyMeans || noRewards { // nothing to compare
		return nil
	}
	firstReward := func(t int) quantity { return comparison.rewardEntry(r.first.transition, r.first.transitionRats, t) }
	secondReward := func(t int) quantity { return comparison.rewardEntry(r.second.transition, r.second.transitionRats, t) }
	inFirst, inSecond := firstDifference(comparison.transitionsOf(comparison.first, choices[0], firstReward), comparison.transitionsOf(comparison.second, choices[1], secondReward), transition.meanReward)
	if inFirst == nil {
		return nil
	}
	action := slices.Index(comparison.first.Space.Program().Actions, inFirst.action)
	return &Difference{
		What: "of a transition to " + comparison.stateText(inFirst.target), First: inFirst.meanReward().String(), Second: inSecond.meanReward().String(),
		Origins: comparison.transitionRewardOrigins(r.index, state, action),
	}
}

// rewardEntry returns the reward with an index, as a fraction or as a float64. All rewards of a nil array are 0.
func (d *spaceComparison) rewardEntry(values []float64, fractions []*big.Rat, index int) quantity {
	switch {
	case d.exact && fractions != nil:
		return quantity{fraction: fractions[index]}
	case values != nil && !d.exact:
		return quantity{float: values[index]}
	}
	return quantity{}
}

// actionOf returns the index of the action of a choice of an MDP; sema.Unlabelled if it has none.
func (v *view) actionOf(choice int) int {
	if v.model.Kind == sparse.MDP && v.model.Actions != nil && v.model.Actions[choice] != sparse.NoAction {
		return int(v.model.Actions[choice]) - 1
	}
	return sema.Unlabelled
}

// stateRewardOrigins returns the items of a reward structure that give state i of the first space a state reward; the structure itself if no item
// does.
func (d *spaceComparison) stateRewardOrigins(structure, i int) []Origin {
	return d.rewardOrigins(structure, i, func(item *sema.RewardItem) bool { return !item.IsTransition })
}

// transitionRewardOrigins returns the reward items that give a reward to transitions with the given action from state i of the first space. If
// there are none, it returns the reward structure itself.
func (d *spaceComparison) transitionRewardOrigins(structure, i, action int) []Origin {
	return d.rewardOrigins(structure, i, func(item *sema.RewardItem) bool {
		return item.IsTransition && (!d.namedActions || item.Action == action)
	})
}

// rewardOrigins returns the items of a reward structure that isSelected accepts and whose guard holds in a state of the first space. Without such
// items it returns the reward structure itself. An imported space has no items.
func (d *spaceComparison) rewardOrigins(structure, stateIndex int, isSelected func(*sema.RewardItem) bool) []Origin {
	if d.first.Space.Imported() {
		return nil
	}
	program := d.first.Space.Program()
	rewards := &program.Rewards[structure]
	structureOrigin := Origin{Model: d.first.Name, File: program.File, Pos: rewards.Pos, What: "reward " + rewardName(program.Rewards, structure)}
	state := d.first.Space.State(nil, stateIndex)
	var origins []Origin
	for k := range rewards.Items {
		item := &rewards.Items[k]
		if !isSelected(item) {
			continue
		}
		if holds, err := sema.Eval(item.Guard, state); err == nil && holds.Bool {
			origin := structureOrigin
			origin.Pos = item.Pos
			origins = append(origins, origin)
		}
	}
	if origins == nil {
		return []Origin{structureOrigin}
	}
	return origins
}
