//go:build !js

package native

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"path/filepath"
	"slices"

	"tilecheck/internal/interval"
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

// writeDecisionTree writes an optimal scheduler as a decision tree, and adds warnings about the tree to the verdict. The extension of the file
// selects the format: .dot for Graphviz, .prism for the model with a module that makes the choices, else text.
func (model *exploredModel) writeDecisionTree(ctx context.Context, property *check.Property, best *check.Scheduler, verdict *result.Verdict) error {
	extension := filepath.Ext(model.export.file)
	if err := model.checkTreeExport(best, extension); err != nil {
		return err
	}
	allowed, err := model.nearlyOptimal(ctx, property, best)
	if err != nil {
		return err
	}
	foundTree, err := tree.Find(ctx, &tree.Task{
		Space: best.Space, Choices: best.Choices[0], Allowed: allowed, Loss: model.export.opt.Loss, Slack: slackOf(verdict),
		Judge: func(ctx context.Context, restricted *explicit.Space) (float64, error) {
			return model.lossIn(ctx, restricted, property, verdict)
		},
	})
	if err != nil {
		return err
	}
	description := model.describeTree(property, foundTree, verdict)
	verdict.Warnings = append(verdict.Warnings, description[1:]...)
	return model.export.Write(model.export.file, func(out io.Writer) error { return model.writeTree(out, extension, description, foundTree) })
}

// slackOf returns the loss of value that a tree may have because the optimum has only bounds. It is four times the
// width of the bounds. It is 0 for a fraction and for a truth value.
func slackOf(optimum *result.Verdict) float64 {
	if optimum.Bound == nil || optimum.Value.Rat != nil || math.IsInf(optimum.Bound.Lo, 0) {
		return 0
	}
	return 4 * (optimum.Bound.Hi - optimum.Bound.Lo)
}

// lossIn returns an upper bound of the loss of value in a restricted space. The space has only the choices of a
// tree. optimum has the value without a loss.
func (model *exploredModel) lossIn(ctx context.Context, restricted *explicit.Space, property *check.Property, optimum *result.Verdict) (float64, error) {
	verdict := check.New(restricted.Compiled(), restricted, model.opt).Check(ctx, property)
	if verdict.Err != nil {
		return 0, verdict.Err
	}
	return loss(optimum, &verdict), nil
}

// checkTreeExport returns an error if a scheduler cannot be written as a decision tree to a file with this extension.
func (model *exploredModel) checkTreeExport(best *check.Scheduler, extension string) error {
	switch initial := best.Space.Model().Initial; {
	case !scheduler.Scheduler(best.Choices).Memoryless():
		return errors.New("the best scheduler counts steps, want a memoryless scheduler for a tree")
	case len(initial) > 1:
		return fmt.Errorf("found %s, want one for a decision tree", noun.Count(len(initial), "initial state"))
	case extension == ".prism" && model.tree == nil:
		return errors.New("the states do not come from a model text, want a tree as text or .dot")
	case extension == ".prism" && hasSystemBlock(model.tree):
		return errors.New("found a system block, to which no module can be added; want a tree as text or .dot")
	}
	return nil
}

// describeTree returns a line that describes a decision tree. If the search for a smaller tree ended early, a second line says so.
func (model *exploredModel) describeTree(property *check.Property, foundTree *tree.Result, verdict *result.Verdict) []string {
	lossText := "its value is the best one"
	if foundTree.Loss > 0 {
		lossText = fmt.Sprintf("its value is at most %.3g from the best one", foundTree.Loss)
	}
	leaves := fmt.Sprintf("%d leaves", foundTree.Root.Leaves())
	if foundTree.Root.Leaves() == 1 {
		leaves = "1 leaf"
	}
	lines := []string{fmt.Sprintf("%s: a decision tree with %s and depth %d for %s; %s, %s", property.Text, leaves, foundTree.Root.Depth(), noun.Count(foundTree.States, "state"), lossText, verdict.Value.Text())}
	if foundTree.Stopped {
		lines = append(lines, fmt.Sprintf("a smaller tree may exist: the search ended after %d trees", foundTree.Judged))
	}
	return lines
}

// writeTree writes the lines of a description as comments, and then a decision tree. The extension of the file selects the format: .dot, .prism, or text
// for all others.
func (model *exploredModel) writeTree(out io.Writer, extension string, description []string, foundTree *tree.Result) error {
	for _, line := range description {
		if _, err := fmt.Fprintf(out, "// %s\n", line); err != nil {
			return err
		}
	}
	switch extension {
	case ".dot":
		return foundTree.Dot(out)
	case ".prism":
		if err := syntax.Fprint(out, model.tree, syntax.Options{}); err != nil {
			return err
		}
		if _, err := io.WriteString(out, "\n"); err != nil {
			return err
		}
		return foundTree.Module(out, moduleName(foundTree.Space.Declares()))
	}
	return foundTree.Text(out)
}

// hasSystemBlock reports whether a model has a system block.
func hasSystemBlock(model *syntax.Model) bool {
	return slices.ContainsFunc(model.Items, func(item syntax.Item) bool {
		_, isSystem := item.(*syntax.System)
		return isSystem
	})
}

// moduleName returns scheduler as the name of a new module. It appends a number if the model has this name.
func moduleName(model *sema.Model) string {
	name := "scheduler"
	for i := 2; slices.Contains(model.Modules(), name); i++ {
		name = fmt.Sprintf("scheduler_%d", i)
	}
	return name
}

// loss returns an upper bound of the difference between the value of best, which is optimal, and the value of actual. It returns infinity if the
// values cannot be compared.
func loss(best, actual *result.Verdict) float64 {
	if best.Value.Kind == result.Boolean {
		if actual.Value.Kind == result.Boolean && actual.Value.Bool == best.Value.Bool {
			return 0
		}
		return math.Inf(1)
	}
	if math.IsInf(best.Value.Num, 0) && best.Value.Num == actual.Value.Num {
		return 0
	}
	bestLow, bestHigh, isBestKnown := exactBounds(best)
	actualLow, actualHigh, isActualKnown := exactBounds(actual)
	if !isBestKnown || !isActualKnown {
		return math.Inf(1)
	}
	greatestLoss := new(big.Rat).Sub(bestHigh, actualLow)
	if best.Resolution == result.Minimum {
		greatestLoss.Sub(actualHigh, bestLow)
	}
	return max(0, interval.Around(greatestLoss).Hi)
}

// exactBounds returns the bounds of a verdict's value as fractions. ok is false if a bound is infinite or unknown.
func exactBounds(verdict *result.Verdict) (lower, upper *big.Rat, ok bool) {
	if verdict.Value.Rat != nil {
		return verdict.Value.Rat, verdict.Value.Rat, true
	}
	if verdict.Bound == nil {
		return nil, nil, false
	}
	// SetFloat64 returns nil for a number that is infinite or NaN.
	lower, upper = new(big.Rat).SetFloat64(verdict.Bound.Lo), new(big.Rat).SetFloat64(verdict.Bound.Hi)
	return lower, upper, lower != nil && upper != nil
}

// nearlyOptimal returns a function that reports whether a choice is nearly optimal: the value of the choice differs from the value of its state
// by at most a tolerance. It returns nil for a long-run average, and if values are Boolean, infinite or unknown.
func (model *exploredModel) nearlyOptimal(ctx context.Context, property *check.Property, best *check.Scheduler) (func(state, choice int, tolerance float64) bool, error) {
	formula := logic.WithoutFilters(property.Expr)
	if formula.LongRun() {
		return nil, nil
	}
	values, _ := check.New(best.Space.Compiled(), best.Space, model.opt).Values(ctx, property)
	if values == nil || values.Boolean {
		return nil, ctx.Err()
	}
	var reward *sparse.Reward
	if formula.Kind == logic.Reward {
		var err error
		reward, err = best.Space.Reward(formula.Objective.Struct)
		if err != nil {
			return nil, err
		}
	}
	return tree.NearlyOptimal(best.Space.Model(), values.Lo, values.Hi, reward, best.Choices[0]), nil
}
