package native

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/big"
	"path/filepath"
	"slices"

	"tilecheck/internal/noun"
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

// writeDecisionTree writes a scheduler of a property as a decision tree. The extension of the file selects the form: .dot for the
// DOT language, .prism for the model with a module that makes the choices, and text otherwise. v is the verdict of the property.
func (b *states) writeDecisionTree(ctx context.Context, p *check.Property, s *check.Scheduler, v *result.Verdict) error {
	ext := filepath.Ext(b.export.file)
	switch {
	case !scheduler.Scheduler(s.Choices).Memoryless():
		return fmt.Errorf("the best scheduler counts steps, which a tree does not")
	case len(s.Space.Model().Initial) > 1:
		return fmt.Errorf("found %s, want one for a tree whose value is known", noun.Count(len(s.Space.Model().Initial), "initial state"))
	case ext == ".prism" && b.tree == nil:
		return fmt.Errorf("the states are not those of a model text, want a tree as text or .dot")
	case ext == ".prism" && composed(b.tree):
		return fmt.Errorf("found a system block, to which no module can be added; want a tree as text or .dot")
	}
	allowed, err := b.nearlyOptimal(ctx, p, s)
	if err != nil {
		return err
	}
	slack := 0.0
	if v.Bound != nil && v.Value.Rat == nil && !math.IsInf(v.Bound.Lo, 0) {
		slack = 4 * (v.Bound.Hi - v.Bound.Lo)
	}
	found, err := tree.Find(ctx, &tree.Task{
		Space: s.Space, Choices: s.Choices[0], Allowed: allowed, Loss: b.export.opt.Loss, Slack: slack,
		Judge: func(ctx context.Context, restricted *explicit.Space) (float64, error) {
			ofTree := check.New(restricted.Compiled(), restricted, b.opt).Check(ctx, p)
			if ofTree.Err != nil {
				return 0, ofTree.Err
			}
			return loss(v, &ofTree), nil
		},
	})
	if err != nil {
		return err
	}
	head := b.treeHead(p, found, v)
	v.Warnings = append(v.Warnings, head[1:]...)
	return b.export.Write(b.export.file, func(w io.Writer) error { return b.writeTree(w, ext, head, found) })
}

// treeHead returns a description of a tree in one line, followed by warnings.
func (b *states) treeHead(p *check.Property, f *tree.Found, v *result.Verdict) []string {
	lost := "its value is the best one"
	if f.Loss > 0 {
		lost = fmt.Sprintf("its value is at most %.3g from the best one", f.Loss)
	}
	leaves := fmt.Sprintf("%d leaves", f.Root.Leaves())
	if f.Root.Leaves() == 1 {
		leaves = "1 leaf"
	}
	head := []string{fmt.Sprintf("%s: a decision tree with %s and depth %d for %s; %s, %s", p.Text, leaves, f.Root.Depth(), noun.Count(f.States, "state"), lost, v.Value.Text())}
	if f.Stopped {
		head = append(head, fmt.Sprintf("a smaller tree may exist: the search ended after %d trees", f.Judged))
	}
	return head
}

// writeTree writes the lines of head as comments, and then a tree in the form that a file extension selects.
func (b *states) writeTree(w io.Writer, ext string, head []string, f *tree.Found) error {
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

// composed reports whether a model has a system block.
func composed(m *syntax.Model) bool {
	return slices.ContainsFunc(m.Items, func(x syntax.Item) bool {
		_, isSystem := x.(*syntax.System)
		return isSystem
	})
}

// moduleName returns a name for the new module: policy_manager, with a number if the model has that name.
func moduleName(m *sema.Model) string {
	name := "policy_manager"
	for i := 2; slices.Contains(m.Modules(), name); i++ {
		name = fmt.Sprintf("policy_manager_%d", i)
	}
	return name
}

// loss returns an upper bound of how much worse another verdict is than the best one; infinity if they cannot be compared.
func loss(best, other *result.Verdict) float64 {
	if best.Value.Kind == result.Boolean {
		if other.Value.Kind == result.Boolean && other.Value.Bool == best.Value.Bool {
			return 0
		}
		return math.Inf(1)
	}
	if math.IsInf(best.Value.Num, 0) && best.Value.Num == other.Value.Num {
		return 0
	}
	bestLow, bestHigh, bestKnown := sides(best)
	otherLow, otherHigh, otherKnown := sides(other)
	if !bestKnown || !otherKnown {
		return math.Inf(1)
	}
	difference := new(big.Rat)
	if best.Resolution == result.Minimum {
		difference.Sub(otherHigh, bestLow)
	} else {
		difference.Sub(bestHigh, otherLow)
	}
	_, upper := result.Around(difference)
	return max(0, upper)
}

// sides returns the bounds of the value of a verdict; false if one of them is infinite or unknown.
func sides(v *result.Verdict) (lo, hi *big.Rat, ok bool) {
	switch {
	case v.Value.Rat != nil:
		return v.Value.Rat, v.Value.Rat, true
	case v.Bound == nil || math.IsInf(v.Bound.Lo, 0) || math.IsInf(v.Bound.Hi, 0) || math.IsNaN(v.Bound.Lo+v.Bound.Hi):
		return nil, nil, false
	}
	return new(big.Rat).SetFloat64(v.Bound.Lo), new(big.Rat).SetFloat64(v.Bound.Hi), true
}

// nearlyOptimal returns the function for tree.Task.Allowed that tree.NearlyOptimal computes for a property. It is nil if values
// do not decide which choices are optimal: for long-run averages, and for infinite or unknown values.
func (b *states) nearlyOptimal(ctx context.Context, p *check.Property, s *check.Scheduler) (func(state, choice int, tolerance float64) bool, error) {
	f := logic.WithoutFilters(p.X)
	if f.LongRun() {
		return nil, nil
	}
	values, _ := check.New(s.Space.Compiled(), s.Space, b.opt).Values(ctx, p)
	if values == nil || values.Boolean {
		return nil, ctx.Err()
	}
	var reward *sparse.Reward
	if f.Kind == logic.Reward {
		var err error
		reward, err = s.Space.Reward(f.Objective.Struct)
		if err != nil {
			return nil, err
		}
	}
	return tree.NearlyOptimal(s.Space.Model(), values.Lo, values.Hi, reward, s.Choices[0]), nil
}
