package runner

import "tilecheck/prism/syntax"

// timed reports whether a property has an operator T.
func (j *Job) timed() bool {
	return j.Dialect == syntax.Storm && j.anyNode(func(n syntax.Node) bool {
		reward, ok := n.(*syntax.Reward)
		return ok && reward.Time
	})
}

// hasLongRun reports whether a property has a long-run average, for which a Markov automaton needs its sojourn times.
func (j *Job) hasLongRun() bool {
	return j.anyNode(func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Steady:
			return true
		case *syntax.RewardPath:
			return n.Kind == syntax.LongRun
		}
		return false
	})
}

// anyNode reports whether a node of a property satisfies the condition. What cannot be parsed has its error later.
func (j *Job) anyNode(condition func(syntax.Node) bool) bool {
	found := false
	for _, text := range append([]string{string(j.Properties)}, j.Props...) {
		tree, err := syntax.ParsePropertiesOf(j.Dialect, "", []byte(text))
		if err != nil {
			continue
		}
		syntax.Inspect(tree, func(n syntax.Node) bool {
			found = found || condition(n)
			return !found
		})
	}
	return found
}
