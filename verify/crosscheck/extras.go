package crosscheck

import (
	"slices"
	"strconv"

	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
)

// extras are the labels and rewards that both spaces have under one name.
type extras struct {
	labels  []labelPair
	rewards []rewardPair
}

type labelPair struct {
	name string
	a, b *sparse.Set
}

type rewardPair struct {
	name string
	a, b *sparse.Reward
}

func (d *differ) extras() (*extras, error) {
	out := &extras{}
	for _, l := range d.a.Space.Program().Labels {
		k := slices.IndexFunc(d.b.Space.Program().Labels, func(m sema.LabelDef) bool { return m.Name == l.Name })
		if k < 0 {
			continue
		}
		a, err := d.a.Space.States(l.X)
		if err != nil {
			return nil, err
		}
		b, err := d.b.Space.States(d.b.Space.Program().Labels[k].X)
		if err != nil {
			return nil, err
		}
		out.labels = append(out.labels, labelPair{l.Name, a, b})
	}
	if d.b.Space.Imported() { // tools write rewards of transitions in their own ways
		return out, nil
	}
	for i, r := range d.a.Space.Program().Rewards {
		k := slices.IndexFunc(d.b.Space.Program().Rewards, func(s sema.RewardStruct) bool { return s.Name == r.Name })
		if k < 0 {
			continue
		}
		a, err := d.a.Space.Reward(i)
		if err != nil {
			return nil, err
		}
		b, err := d.b.Space.Reward(k)
		if err != nil {
			return nil, err
		}
		out.rewards = append(out.rewards, rewardPair{r.Name, a, b})
	}
	return out, nil
}

// compare compares states i of a and j of b, whose choices are pairs.
func (e *extras) compare(i, j int, pairs [][2]int) *Difference {
	for _, l := range e.labels {
		if a, b := l.a.Has(i), l.b.Has(j); a != b {
			return &Difference{Kind: Labels, What: strconv.Quote(l.name), First: strconv.FormatBool(a), Second: strconv.FormatBool(b)}
		}
	}
	for _, r := range e.rewards {
		if a, b := at(r.a.State, i), at(r.b.State, j); !near(a, b) {
			return &Difference{Kind: Rewards, What: "of the state, " + strconv.Quote(r.name), First: number(a), Second: number(b)}
		}
		for _, p := range pairs {
			if a, b := at(r.a.Choice, p[0]), at(r.b.Choice, p[1]); !near(a, b) {
				return &Difference{Kind: Rewards, What: "of a choice, " + strconv.Quote(r.name), First: number(a), Second: number(b)}
			}
		}
	}
	return nil
}

func at(values []float64, i int) float64 {
	if values == nil {
		return 0
	}
	return values[i]
}
