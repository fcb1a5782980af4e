package tree

import (
	"bytes"
	"context"
	"slices"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/syntax"
)

// Imitate returns a tree with the actions of a memoryless scheduler in every reachable state.
func Imitate(ctx context.Context, space *explicit.Space, choices []uint32) (*Result, error) {
	judge := func(ctx context.Context, restricted *explicit.Space) (loss float64, err error) {
		return disagreement(ctx, space, choices, restricted.Model())
	}
	return Find(ctx, &Task{Space: space, Choices: choices, Judge: judge})
}

// disagreement returns 1 if the tree selects another action than the scheduler in some reachable state, else 0. model has only the choices of
// the tree; choices[s] is the choice of the scheduler in state s of the space.
func disagreement(ctx context.Context, space *explicit.Space, choices []uint32, model *sparse.Model) (float64, error) {
	seen := sparse.NewSet(model.NumStates())
	queue := slices.Clone(model.Initial)
	for i := 0; i < len(queue); i++ {
		s := int(queue[i])
		if i&0xfff == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		treeChoice, _ := model.Choices(s)
		scheduledChoice := choices[s]
		hasScheduledAction := scheduledChoice != sparse.None && model.Actions != nil
		if hasScheduledAction && model.Actions[treeChoice] != space.Model().Actions[scheduledChoice] {
			return 1, nil
		}
		first, end := model.Transitions(treeChoice)
		for _, target := range model.Target[first:end] {
			if !seen.Has(int(target)) {
				seen.Add(int(target))
				queue = append(queue, target)
			}
		}
	}
	return 0, nil
}

// Items returns the tree as a module with the given name, which can be added to the model.
func (result *Result) Items(name string) ([]syntax.Item, error) {
	var text bytes.Buffer
	if err := result.Module(&text, name); err != nil {
		return nil, err
	}
	module, err := syntax.ParseModel("", text.Bytes())
	if err != nil {
		return nil, err
	}
	return module.Items, nil
}
