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

// rewardStructure is a reward structure. transition and transitionRats are its transition rewards, nil if there are none
// or the tool does not export them.
type rewardStructure struct {
	*sparse.Reward
	transition     []float64
	transitionRats []*big.Rat
}

// pairLabelsAndRewards pairs the labels and the reward structures of the two spaces by name. If both spaces have all of the model's, it returns a
// difference for one that only one space has.
func (d *spaceComparison) pairLabelsAndRewards() (*labelsAndRewards, *Difference, error) {
	pairs := &labelsAndRewards{spaceComparison: d}
	bothComplete := d.first.AllLabelsAndRewards && d.second.AllLabelsAndRewards
	if bothComplete {
		firstStates, secondStates := d.first.deadlocks(), d.second.deadlocks()
		pairs.labels = append(pairs.labels, labelPair{name: "deadlock", first: firstStates, second: secondStates})
	}
	for _, label := range d.first.labels() {
		index := slices.IndexFunc(d.second.labels(), func(other sema.LabelDef) bool { return other.Name == label.Name })
		switch {
		case index < 0 && bothComplete:
			return nil, onlyInFirst(Labels, strconv.Quote(label.Name)), nil
		case index < 0:
			continue
		}
		firstStates, err1 := d.first.Space.States(label.X)
		secondStates, err2 := d.second.Space.States(d.second.labels()[index].X)
		if err := cmp.Or(err1, err2); err != nil {
			return nil, nil, err
		}
		pairs.labels = append(pairs.labels, labelPair{label.Name, label.X, firstStates, secondStates})
	}
	if bothComplete && len(d.second.labels()) > len(d.first.labels()) {
		return nil, onlyInSecond(Labels, strconv.Itoa(len(d.second.labels())-len(d.first.labels()))+" more"), nil
	}
	difference, err := pairs.pairRewards(bothComplete)
	return pairs, difference, err
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

// pairRewards pairs reward structures with the same name; structures without a name are paired in their order. bothComplete says that both spaces
// have all reward structures of their models; then one that only one space has is a difference.
func (e *labelsAndRewards) pairRewards(bothComplete bool) (*Difference, error) {
	firstRewards, secondRewards := e.first.Space.Program().Rewards, e.second.Space.Program().Rewards
	paired := make([]bool, len(secondRewards))
	for i := range firstRewards {
		match := 0
		for match < len(secondRewards) && (paired[match] || secondRewards[match].Name != firstRewards[i].Name) {
			match++
		}
		switch {
		case match < len(secondRewards):
			paired[match] = true
			if err := e.addRewardPair(i, match); err != nil {
				return nil, err
			}
		case bothComplete:
			return onlyInFirst(Rewards, rewardName(firstRewards, i)), nil
		}
	}
	if surplus := len(secondRewards) - len(firstRewards); bothComplete && surplus > 0 {
		return onlyInSecond(Rewards, strconv.Itoa(surplus)+" more"), nil
	}
	return nil, nil
}

// addRewardPair adds a pair of reward structures, given by their indices in the two spaces.
func (e *labelsAndRewards) addRewardPair(first, second int) error {
	firstValues, firstErr := e.first.rewardValues(first)
	secondValues, secondErr := e.second.rewardValues(second)
	e.rewards = append(e.rewards, rewardPair{index: first, first: firstValues, second: secondValues})
	return cmp.Or(firstErr, secondErr)
}

// rewardName names a reward structure by its name or its number.
func rewardName(all []sema.RewardStruct, i int) string {
	if all[i].Name == "" {
		return fmt.Sprintf("structure %d", i+1)
	}
	return strconv.Quote(all[i].Name)
}

// rewardValues returns the values of reward structure i in this space.
func (v *view) rewardValues(i int) (out rewardStructure, err error) {
	if out.Reward, err = v.Space.Reward(i); err == nil {
		out.transition, out.transitionRats, err = v.Space.TransitionRewards(i)
	}
	return out, err
}

// compare compares the labels and rewards of two states, which have the numbers i and j in their spaces. pairs are their equal choices.
func (e *labelsAndRewards) compare(i, j int, pairs [][2]int) *Difference {
	for _, label := range e.labels {
		first, second := label.first.Has(i), label.second.Has(j)
		if first == second {
			continue
		}
		quoted := strconv.Quote(label.name)
		difference := &Difference{Kind: Labels, What: quoted, First: strconv.FormatBool(first), Second: strconv.FormatBool(second)}
		if label.expression != nil && !e.first.Space.Imported() {
			difference.Origins = []Origin{{Model: e.first.Name, File: e.first.Space.Program().File, Pos: label.expression.Pos(), What: "label " + quoted}}
		}
		return difference
	}
	for k := range e.rewards {
		if difference := e.rewards[k].compare(e.spaceComparison, i, j, pairs); difference != nil {
			difference.Kind = Rewards
			difference.What += ", " + rewardName(e.first.Space.Program().Rewards, e.rewards[k].index)
			return difference
		}
	}
	return nil
}

// compare compares the rewards of states i of the first space and j of the second, of their equal choices in pairs, and of the transitions.
func (r *rewardPair) compare(d *spaceComparison, i, j int, pairs [][2]int) *Difference {
	// A tool that exports mean rewards gives none for a deadlock.
	lacksReward := d.second.MeanRewards && d.first.deadlocks().Has(i)
	first, second := d.rewardEntry(r.first.State, r.first.StateRat, i), d.rewardEntry(r.second.State, r.second.StateRat, j)
	if !lacksReward && !first.equal(second) {
		return &Difference{What: "of the state", First: first.String(), Second: second.String(), Origins: d.rewardOrigins(r.index, i, sema.Unlabelled, false)}
	}
	for _, pair := range pairs {
		if difference := r.compareTransitions(d, i, pair); difference != nil {
			return difference
		}
		first, second := d.rewardEntry(r.first.Choice, r.first.ChoiceRat, pair[0]), d.rewardEntry(r.second.Choice, r.second.ChoiceRat, pair[1])
		if !first.equal(second) {
			return &Difference{What: "of a choice", First: first.String(), Second: second.String(), Origins: d.rewardOrigins(r.index, i, d.first.actionOf(pair[0]), true)}
		}
	}
	return nil
}

// compareTransitions compares the transition rewards of two equal choices, whose indices are in p, in a Markov chain.
func (r *rewardPair) compareTransitions(comparison *spaceComparison, i int, pair [2]int) *Difference {
	if comparison.first.MeanRewards || comparison.second.MeanRewards || r.first.transition == nil && r.second.transition == nil {
		return nil
	}
	inFirst, inSecond := firstDifferent(
		comparison.transitionsOf(comparison.first, pair[0], func(t int) quantity { return comparison.rewardEntry(r.first.transition, r.first.transitionRats, t) }),
		comparison.transitionsOf(comparison.second, pair[1], func(t int) quantity { return comparison.rewardEntry(r.second.transition, r.second.transitionRats, t) }), transition.meanReward)
	if inFirst == nil {
		return nil
	}
	difference := &Difference{What: "of a transition to " + comparison.stateText(inFirst.target), First: inFirst.meanReward().String(), Second: inSecond.meanReward().String()}
	difference.Origins = comparison.rewardOrigins(r.index, i, slices.Index(comparison.first.Space.Program().Actions, inFirst.action), true)
	return difference
}

// rewardEntry returns entry i of an array of rewards: of rats if fractions are compared, otherwise of values. A nil array means 0.
func (d *spaceComparison) rewardEntry(values []float64, fractions []*big.Rat, i int) quantity {
	switch {
	case d.exact && fractions != nil:
		return quantity{fraction: fractions[i]}
	case values != nil && !d.exact:
		return quantity{float: values[i]}
	}
	return quantity{}
}

// actionOf returns the index of the action of a choice of an MDP; sema.Unlabelled if it has none.
func (v *view) actionOf(c int) int {
	if v.model.Kind == sparse.MDP && v.model.Actions != nil && v.model.Actions[c] != sparse.NoAction {
		return int(v.model.Actions[c]) - 1
	}
	return sema.Unlabelled
}

// rewardOrigins returns the items of a reward structure that apply in state i of the first space with the given action; the structure itself if
// no item does.
func (d *spaceComparison) rewardOrigins(structure, i, action int, transition bool) []Origin {
	if d.first.Space.Imported() {
		return nil
	}
	program := d.first.Space.Program()
	rewards := &program.Rewards[structure]
	structureOrigin := Origin{Model: d.first.Name, File: program.File, Pos: rewards.Pos, What: "reward " + rewardName(program.Rewards, structure)}
	state := d.first.Space.State(nil, i)
	var origins []Origin
	for _, item := range rewards.Items {
		hasAction := !transition || !d.namedActions || item.Action == action
		if item.Transition != transition || !hasAction {
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
