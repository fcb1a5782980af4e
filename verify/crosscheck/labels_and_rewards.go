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

type labelPair struct {
	name string
	x    sema.Expr // the first space's expression; nil for deadlock
	a, b *sparse.Set
}

type rewardPair struct {
	index int // in the first space
	a, b  rewardValues
}

// rewardValues is a reward structure. transition and transitionRats are its transition rewards, nil if there are none
// or the tool does not export them.
type rewardValues struct {
	*sparse.Reward
	transition     []float64
	transitionRats []*big.Rat
}

// newLabelsAndRewards pairs the labels and rewards of the two spaces by name. If both sides list all of theirs, one that
// only one side has is the difference.
func (d *spaceComparison) newLabelsAndRewards() (*labelsAndRewards, *Difference, error) {
	out := &labelsAndRewards{spaceComparison: d}
	whole := d.a.AllLabelsAndRewards && d.b.AllLabelsAndRewards
	if whole {
		a, b := d.a.deadlocks(), d.b.deadlocks()
		out.labels = append(out.labels, labelPair{name: "deadlock", a: a, b: b})
	}
	for _, l := range d.a.labels() {
		k := slices.IndexFunc(d.b.labels(), func(m sema.LabelDef) bool { return m.Name == l.Name })
		switch {
		case k < 0 && whole:
			return nil, missing(Labels, strconv.Quote(l.Name), true), nil
		case k < 0:
			continue
		}
		a, err1 := d.a.Space.States(l.X)
		b, err2 := d.b.Space.States(d.b.labels()[k].X)
		if err := cmp.Or(err1, err2); err != nil {
			return nil, nil, err
		}
		out.labels = append(out.labels, labelPair{l.Name, l.X, a, b})
	}
	if whole && len(d.b.labels()) > len(d.a.labels()) {
		return nil, missing(Labels, strconv.Itoa(len(d.b.labels())-len(d.a.labels()))+" more", false), nil
	}
	x, err := out.pairRewards(whole)
	return out, x, err
}

func (v *view) labels() []sema.LabelDef { return v.Space.Program().Labels }

func (v *view) deadlocks() *sparse.Set {
	if v.model.Deadlocks == nil {
		return sparse.NewSet(v.model.NumStates())
	}
	return v.model.Deadlocks
}

// pairRewards pairs reward structures with the same name; those without a name in their order.
func (e *labelsAndRewards) pairRewards(whole bool) (*Difference, error) {
	a, b := e.a.Space.Program().Rewards, e.b.Space.Program().Rewards
	var paired []int
	for i := range a {
		k := -1
		for n := range b {
			if b[n].Name == a[i].Name && !slices.Contains(paired, n) {
				k = n
				break
			}
		}
		switch {
		case k < 0 && whole:
			return missing(Rewards, rewardName(a, i), true), nil
		case k < 0:
			continue
		}
		paired = append(paired, k)
		p := rewardPair{index: i}
		var err1, err2 error
		p.a, err1 = e.a.reward(i)
		p.b, err2 = e.b.reward(k)
		if err := cmp.Or(err1, err2); err != nil {
			return nil, err
		}
		e.rewards = append(e.rewards, p)
	}
	if whole && len(b) > len(a) {
		return missing(Rewards, strconv.Itoa(len(b)-len(a))+" more", false), nil
	}
	return nil, nil
}

func rewardName(all []sema.RewardStruct, i int) string {
	if all[i].Name == "" {
		return fmt.Sprintf("structure %d", i+1)
	}
	return strconv.Quote(all[i].Name)
}

func (v *view) reward(i int) (out rewardValues, err error) {
	if out.Reward, err = v.Space.Reward(i); err == nil {
		out.transition, out.transitionRats, err = v.Space.TransitionRewards(i)
	}
	return out, err
}

// compare compares the labels and rewards of states i of a and j of b. pairs are their equal choices.
func (e *labelsAndRewards) compare(i, j int, pairs [][2]int) *Difference {
	for _, l := range e.labels {
		if a, b := l.a.Has(i), l.b.Has(j); a != b {
			x := &Difference{Kind: Labels, What: strconv.Quote(l.name), First: strconv.FormatBool(a), Second: strconv.FormatBool(b)}
			if l.x != nil && !e.a.Space.Imported() {
				x.Made = []Origin{{Model: e.a.Name, File: e.a.Space.Program().File, Pos: l.x.Pos(), What: "label " + strconv.Quote(l.name)}}
			}
			return x
		}
	}
	for k := range e.rewards {
		if x := e.rewards[k].compare(e.spaceComparison, i, j, pairs); x != nil {
			x.Kind = Rewards
			x.What += ", " + rewardName(e.a.Space.Program().Rewards, e.rewards[k].index)
			return x
		}
	}
	return nil
}

func (r *rewardPair) compare(d *spaceComparison, i, j int, pairs [][2]int) *Difference {
	told := !d.b.MeanRewards || !d.a.deadlocks().Has(i)
	if a, b := d.entry(r.a.State, r.a.StateRat, i), d.entry(r.b.State, r.b.StateRat, j); told && !a.equal(b) {
		return &Difference{What: "of the state", First: a.String(), Second: b.String(), Made: d.rewardItems(r.index, i, sema.Unlabelled, false)}
	}
	for _, p := range pairs {
		if x := r.compareTransitions(d, i, p); x != nil {
			return x
		}
		if a, b := d.entry(r.a.Choice, r.a.ChoiceRat, p[0]), d.entry(r.b.Choice, r.b.ChoiceRat, p[1]); !a.equal(b) {
			return &Difference{What: "of a choice", First: a.String(), Second: b.String(), Made: d.rewardItems(r.index, i, d.a.actionOf(p[0]), true)}
		}
	}
	return nil
}

// compareTransitions compares the transition rewards of a choice p, in a Markov chain.
func (r *rewardPair) compareTransitions(d *spaceComparison, i int, p [2]int) *Difference {
	if d.a.MeanRewards || d.b.MeanRewards || r.a.transition == nil && r.b.transition == nil {
		return nil
	}
	e, f := firstDifferent(
		d.transitionsOf(d.a, p[0], func(t int) quantity { return d.entry(r.a.transition, r.a.transitionRats, t) }),
		d.transitionsOf(d.b, p[1], func(t int) quantity { return d.entry(r.b.transition, r.b.transitionRats, t) }), transition.meanReward)
	if e == nil {
		return nil
	}
	x := &Difference{What: "of a transition to " + d.stateText(e.target), First: e.meanReward().String(), Second: f.meanReward().String()}
	x.Made = d.rewardItems(r.index, i, slices.Index(d.a.Space.Program().Actions, e.action), true)
	return x
}

// entry returns entry i of a reward column; nil columns are 0.
func (d *spaceComparison) entry(values []float64, rats []*big.Rat, i int) quantity {
	switch {
	case d.exact && rats != nil:
		return quantity{r: rats[i]}
	case values != nil && !d.exact:
		return quantity{f: values[i]}
	}
	return quantity{}
}

// actionOf returns the action of a choice of an MDP as reward items number it.
func (v *view) actionOf(c int) int {
	if v.model.Kind == sparse.MDP && v.model.Actions != nil && v.model.Actions[c] != sparse.NoAction {
		return int(v.model.Actions[c]) - 1
	}
	return sema.Unlabelled
}

// rewardItems lists the items of a reward structure that apply in state i of a, with the given action.
func (d *spaceComparison) rewardItems(structure, i, action int, transition bool) []Origin {
	if d.a.Space.Imported() {
		return nil
	}
	p := d.a.Space.Program()
	r := &p.Rewards[structure]
	place := Origin{Model: d.a.Name, File: p.File, Pos: r.Pos, What: "reward " + rewardName(p.Rewards, structure)}
	var out []Origin
	for k := range r.Items {
		it := &r.Items[k]
		if it.Transition != transition || transition && d.namedActions && it.Action != action {
			continue
		}
		if holds, err := sema.Eval(it.Guard, d.a.Space.State(nil, i)); err == nil && holds.Bool {
			o := place
			o.Pos = it.Pos
			out = append(out, o)
		}
	}
	if out == nil {
		return []Origin{place}
	}
	return out
}
