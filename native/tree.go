package native

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/big"
	"path/filepath"
	"slices"

	"tilecheck/native/check"
	"tilecheck/native/explain/scheduler"
	"tilecheck/native/explain/tree"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// decisions writes a scheduler of a property as a decision tree, in the form that the
// extension of its file names: .dot as a picture, .prism as the model with a module that
// leaves nothing else to choose, otherwise as text. v is what the property is worth.
func (b *built) decisions(ctx context.Context, p *check.Property, s *check.Scheduler, v *result.Verdict) error {
	ext := filepath.Ext(b.export.file)
	switch {
	case !scheduler.Scheduler(s.Choices).Memoryless():
		return fmt.Errorf("the best scheduler counts steps, which a tree does not")
	case len(s.Space.Model().Initial) > 1:
		return fmt.Errorf("found %d initial states, want one for a tree whose value is known", len(s.Space.Model().Initial))
	case ext == ".prism" && b.tree == nil:
		return fmt.Errorf("the states are not those of a model text, want a tree as text or .dot")
	case ext == ".prism" && composed(b.tree):
		return fmt.Errorf("found a system block, which a further module is no part of; want a tree as text or .dot")
	}
	allowed, err := b.asGood(ctx, p, s)
	if err != nil {
		return err
	}
	slack := 0.0
	if v.Bound != nil && v.Value.Rat == nil && !math.IsInf(v.Bound.Lo, 0) {
		slack = 4 * (v.Bound.Hi - v.Bound.Lo)
	}
	found, err := tree.Find(ctx, &tree.Task{
		Space: s.Space, Choices: s.Choices[0], Allowed: allowed, Loss: b.export.opt.Loss, Slack: slack,
		Judge: func(ctx context.Context, left *explicit.Space) (float64, error) {
			with := check.New(left.Compiled(), left, b.opt).Check(ctx, p)
			if with.Err != nil {
				return 0, with.Err
			}
			return loss(v, &with), nil
		},
	})
	if err != nil {
		return err
	}
	head := b.treeHead(p, found, v)
	v.Warnings = append(v.Warnings, head[1:]...)
	return b.export.Write(b.export.file, func(w io.Writer) error { return b.writeTree(w, ext, head, found) })
}

// treeHead says what a tree is, in lines, and after the first what its user is to know.
func (b *built) treeHead(p *check.Property, f *tree.Found, v *result.Verdict) []string {
	lost := "nothing is lost"
	if f.Loss > 0 {
		lost = fmt.Sprintf("at most %.3g is lost", f.Loss)
	}
	head := []string{fmt.Sprintf("%s: a tree of %d leaves and depth %d, which decides in %d states; %s of %s", p.Text, f.Root.Leaves(), f.Root.Depth(), f.States, lost, v.Value.Text())}
	if f.Stopped {
		head = append(head, fmt.Sprintf("the tree may not be as small as it could be: its branches are looked at no more after %d trees were judged", f.Judged))
	}
	return head
}

func (b *built) writeTree(w io.Writer, ext string, head []string, f *tree.Found) error {
	for _, line := range head {
		if _, err := fmt.Fprintf(w, "// %s\n", line); err != nil {
			return err
		}
	}
	switch ext {
	case ".dot":
		return f.Dot(w)
	case ".prism":
		if err := syntax.Fprint(w, b.tree, syntax.Options{}); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		return f.Module(w, moduleName(f.Space.Declares()))
	}
	return f.Text(w)
}

// composed reports whether a model says itself how its modules run together.
func composed(m *syntax.Model) bool {
	return slices.ContainsFunc(m.Items, func(x syntax.Item) bool { _, is := x.(*syntax.System); return is })
}

// moduleName is policy_manager, or what is left of such names.
func moduleName(m *sema.Model) string {
	name := "policy_manager"
	for i := 2; slices.Contains(m.Modules(), name); i++ {
		name = fmt.Sprintf("policy_manager_%d", i)
	}
	return name
}

// loss returns a bound of what is lost by having the second verdict instead of the best
// one: infinity, if they cannot be compared.
func loss(best, with *result.Verdict) float64 {
	if best.Value.Kind == result.Boolean {
		if with.Value.Kind == result.Boolean && with.Value.Bool == best.Value.Bool {
			return 0
		}
		return math.Inf(1)
	}
	if math.IsInf(best.Value.Num, 0) && best.Value.Num == with.Value.Num {
		return 0
	}
	blo, bhi, ok := sides(best)
	wlo, whi, also := sides(with)
	if !ok || !also {
		return math.Inf(1)
	}
	d := new(big.Rat)
	if best.Resolution == result.Minimum {
		d.Sub(whi, blo)
	} else {
		d.Sub(bhi, wlo)
	}
	_, up := result.Around(d)
	return max(0, up)
}

// sides returns the ends of what the value of a verdict lies between.
func sides(v *result.Verdict) (lo, hi *big.Rat, ok bool) {
	switch {
	case v.Value.Rat != nil:
		return v.Value.Rat, v.Value.Rat, true
	case v.Bound == nil || math.IsInf(v.Bound.Lo, 0) || math.IsInf(v.Bound.Hi, 0) || math.IsNaN(v.Bound.Lo+v.Bound.Hi):
		return nil, nil, false
	}
	return new(big.Rat).SetFloat64(v.Bound.Lo), new(big.Rat).SetFloat64(v.Bound.Hi), true
}

// asGood returns which choices may be as good as those of an optimal scheduler, but for
// something: their value is that of the state, and some step of theirs comes nearer to
// where any choice will do. It is nil where values are infinite, or unknown, or averages.
func (b *built) asGood(ctx context.Context, p *check.Property, s *check.Scheduler) (func(state, choice int, worse float64) bool, error) {
	f := logic.WithoutFilters(p.X)
	if f.LongRun() {
		return nil, nil // values alone do not tell
	}
	values, _ := check.New(s.Space.Compiled(), s.Space, b.opt).Values(ctx, p)
	if values == nil || values.Boolean {
		return nil, ctx.Err()
	}
	var reward *sparse.Reward
	if f.Kind == logic.Reward {
		var err error
		if reward, err = s.Space.Reward(f.Objective.Struct); err != nil {
			return nil, err
		}
	}
	m := s.Space.Model()
	mid := make([]float64, len(values.Lo))
	for i := range mid {
		if mid[i] = (values.Lo[i] + values.Hi[i]) / 2; math.IsInf(mid[i], 0) || math.IsNaN(mid[i]) {
			return nil, nil
		}
	}
	good := sparse.NewSet(m.NumChoices())
	lacks := make([]float64, m.NumChoices())
	for i := range mid {
		first, end := m.Choices(i)
		for c := first; c < end; c++ {
			sum := reward.OfChoice(i, c)
			lo, hi := m.Row(c)
			for k := lo; k < hi; k++ {
				sum += m.Prob(k) * mid[m.Target[k]]
			}
			if lacks[c] = math.Abs(sum-mid[i]) - values.Hi[i] + values.Lo[i]; lacks[c] <= 1e-9*max(1e-9, math.Abs(mid[i])) {
				lacks[c] = 0
				good.Add(c)
			}
		}
	}
	rank := nearness(m, s.Choices[0], good)
	return func(state, choice int, worse float64) bool {
		if lacks[choice] > worse {
			return false
		}
		lo, hi := m.Row(choice)
		for _, t := range m.Target[lo:hi] {
			if rank[t] < rank[state] {
				return true
			}
		}
		return false
	}, nil
}

// nearness returns how many steps of good choices each state is away from those where a
// scheduler takes any.
func nearness(m *sparse.Model, how []uint32, good *sparse.Set) []int {
	rank := make([]int, m.NumStates())
	var queue []uint32
	for s := range rank {
		if rank[s] = math.MaxInt; how[s] == sparse.None {
			rank[s] = 0
			queue = append(queue, uint32(s))
		}
	}
	g := sparse.NewGraph(m)
	for i := 0; i < len(queue); i++ {
		for _, c := range g.Into(int(queue[i])) {
			if s := g.Owner(c); rank[s] == math.MaxInt && (good.Has(int(c)) || how[s] == c) {
				rank[s] = rank[queue[i]] + 1
				queue = append(queue, uint32(s))
			}
		}
	}
	return rank
}
