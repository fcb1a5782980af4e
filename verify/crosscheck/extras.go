package crosscheck

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
)

// extras are the labels and rewards of both spaces.
type extras struct {
	*differ
	labels  []labelPair
	rewards []rewardPair
}

type labelPair struct {
	name string
	x    sema.Expr // of the first; nil for deadlock
	a, b *sparse.Set
}

type rewardPair struct {
	index int // in the first
	a, b  rewarded
}

// rewarded is a reward structure; each is nil where transitions earn nothing of
// their own, or nobody tells what.
type rewarded struct {
	*sparse.Reward
	each []float64
	rats []*big.Rat
}

// extras looks the labels and rewards up. Where both sides tell of all, one that
// the other lacks is the difference.
func (d *differ) extras() (*extras, *Difference, error) {
	out := &extras{differ: d}
	whole := d.a.Whole && d.b.Whole
	if whole {
		a, b := d.a.deadlocks(), d.b.deadlocks()
		out.labels = append(out.labels, labelPair{name: "deadlock", a: a, b: b})
	}
	for _, l := range d.a.labels() {
		k := slices.IndexFunc(d.b.labels(), func(m sema.LabelDef) bool { return m.Name == l.Name })
		switch {
		case k < 0 && whole:
			return nil, lacks(Labels, strconv.Quote(l.Name), true), nil
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
		return nil, lacks(Labels, strconv.Itoa(len(d.b.labels())-len(d.a.labels()))+" more", false), nil
	}
	x, err := out.structures(whole)
	return out, x, err
}

func (v *view) labels() []sema.LabelDef { return v.Space.Program().Labels }

func (v *view) deadlocks() *sparse.Set {
	if v.model.Deadlocks == nil {
		return sparse.NewSet(v.model.NumStates())
	}
	return v.model.Deadlocks
}

// structures pairs the reward structures of one name, those without one in their order.
func (e *extras) structures(whole bool) (*Difference, error) {
	a, b := e.a.Space.Program().Rewards, e.b.Space.Program().Rewards
	var taken []int
	for i := range a {
		k := -1
		for n := range b {
			if b[n].Name == a[i].Name && !slices.Contains(taken, n) {
				k = n
				break
			}
		}
		switch {
		case k < 0 && whole:
			return lacks(Rewards, rewardName(a, i), true), nil
		case k < 0:
			continue
		}
		taken = append(taken, k)
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
		return lacks(Rewards, strconv.Itoa(len(b)-len(a))+" more", false), nil
	}
	return nil, nil
}

func rewardName(all []sema.RewardStruct, i int) string {
	if all[i].Name == "" {
		return fmt.Sprintf("structure %d", i+1)
	}
	return strconv.Quote(all[i].Name)
}

func (v *view) reward(i int) (out rewarded, err error) {
	if out.Reward, err = v.Space.Reward(i); err == nil {
		out.each, out.rats, err = v.Space.TransitionRewards(i)
	}
	return out, err
}

// compare compares states i of a and j of b, whose choices are pairs.
func (e *extras) compare(i, j int, pairs [][2]int) *Difference {
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
		if x := e.rewards[k].compare(e.differ, i, j, pairs); x != nil {
			x.Kind = Rewards
			x.What += ", " + rewardName(e.a.Space.Program().Rewards, e.rewards[k].index)
			return x
		}
	}
	return nil
}

func (r *rewardPair) compare(d *differ, i, j int, pairs [][2]int) *Difference {
	told := !d.b.Means || !d.a.deadlocks().Has(i)
	if a, b := d.earned(r.a.State, r.a.StateRat, i), d.earned(r.b.State, r.b.StateRat, j); told && !a.equal(b) {
		return &Difference{What: "of the state", First: a.String(), Second: b.String(), Made: d.earning(r.index, i, sema.Unlabelled, false)}
	}
	for _, p := range pairs {
		if x := r.transitions(d, i, p); x != nil {
			return x
		}
		if a, b := d.earned(r.a.Choice, r.a.ChoiceRat, p[0]), d.earned(r.b.Choice, r.b.ChoiceRat, p[1]); !a.equal(b) {
			return &Difference{What: "of a choice", First: a.String(), Second: b.String(), Made: d.earning(r.index, i, d.a.actionOf(p[0]), true)}
		}
	}
	return nil
}

// transitions compares what the transitions of the choice of a chain's state earn.
func (r *rewardPair) transitions(d *differ, i int, p [2]int) *Difference {
	if d.a.Means || d.b.Means || r.a.each == nil && r.b.each == nil {
		return nil
	}
	e, f := firstDifferent(
		d.edges(d.a, p[0], func(t int) quantity { return d.earned(r.a.each, r.a.rats, t) }),
		d.edges(d.b, p[1], func(t int) quantity { return d.earned(r.b.each, r.b.rats, t) }), edge.mean)
	if e == nil {
		return nil
	}
	x := &Difference{What: "of a transition to " + d.text(e.target), First: e.mean().String(), Second: f.mean().String()}
	x.Made = d.earning(r.index, i, slices.Index(d.a.Space.Program().Actions, e.action), true)
	return x
}

// earned is entry i of a reward that may be nil.
func (d *differ) earned(values []float64, rats []*big.Rat, i int) quantity {
	switch {
	case d.exact && rats != nil:
		return quantity{r: rats[i]}
	case values != nil && !d.exact:
		return quantity{f: values[i]}
	}
	return quantity{}
}

// actionOf is the action of a choice of an MDP as reward items have it.
func (v *view) actionOf(c int) int {
	if v.model.Kind == sparse.MDP && v.model.Actions != nil && v.model.Actions[c] != sparse.NoAction {
		return int(v.model.Actions[c]) - 1
	}
	return sema.Unlabelled
}

// earning lists the items of a structure that earn something in state i of a.
func (d *differ) earning(structure, i, action int, transition bool) []Origin {
	if d.a.Space.Imported() {
		return nil
	}
	p := d.a.Space.Program()
	r := &p.Rewards[structure]
	place := Origin{Model: d.a.Name, File: p.File, Pos: r.Pos, What: "reward " + rewardName(p.Rewards, structure)}
	var out []Origin
	for k := range r.Items {
		it := &r.Items[k]
		if it.Transition != transition || transition && d.actions && it.Action != action {
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
