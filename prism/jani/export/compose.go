package export

import (
	"fmt"
	"slices"

	"tilecheck/prism/sema"
)

// way is a synchronisation: modules that move together, each with an action of its own, and the resulting action,
// which is sema.Unlabelled if it is hidden.
type way struct {
	parts  []use
	result int
}

// maxVectors is the greatest number of synchronisation vectors of a document.
const maxVectors = 100_000

// compose lists the synchronisations of labelled commands. Unlabelled commands need no vector.
func (x *exporter) compose() ([]way, error) {
	term := x.program.System
	if term == nil {
		all := &sema.SysParallel{Full: true}
		for i := range x.program.Modules {
			all.Operands = append(all.Operands, sema.SysModule{Index: i})
		}
		term = all
	}
	ways, _, err := x.ways(term)
	return ways, err
}

// ways lists the synchronisations of a system term, and its alphabet. An action of the alphabet without synchronisations is blocked.
func (x *exporter) ways(term sema.System) (out []way, known []int, err error) {
	switch t := term.(type) {
	case sema.SysModule:
		for _, a := range x.program.Modules[t.Index].Alphabet {
			out = append(out, way{[]use{{t.Index, a}}, a})
		}
		return out, x.program.Modules[t.Index].Alphabet, nil
	case *sema.SysHide:
		out, known, err = x.ways(t.X)
		hidden := func(a int) bool { return slices.Contains(t.Actions, a) }
		for i := range out {
			if hidden(out[i].result) {
				out[i].result = sema.Unlabelled
			}
		}
		return out, slices.DeleteFunc(slices.Clone(known), hidden), err
	case *sema.SysRename:
		out, known, err = x.ways(t.X)
		renamed := func(a int) int {
			if i := slices.Index(t.From, a); i >= 0 {
				return t.To[i]
			}
			return a
		}
		for i := range out {
			out[i].result = renamed(out[i].result)
		}
		var names []int
		for _, a := range known {
			names = append(names, renamed(a))
		}
		return out, names, err
	case *sema.SysParallel:
		return x.parallel(t)
	}
	return nil, nil, fmt.Errorf("a system of modules has a form that is not written")
}

func (x *exporter) parallel(t *sema.SysParallel) (out []way, known []int, err error) {
	var ways [][]way
	var knows [][]int
	for _, operand := range t.Operands {
		w, k, err := x.ways(operand)
		if err != nil {
			return nil, nil, err
		}
		ways, knows, known = append(ways, w), append(knows, k), append(known, k...)
		for _, one := range w {
			if one.result == sema.Unlabelled {
				out = append(out, one)
			}
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, a := range known {
		var own [][]way
		for i := range ways {
			if slices.Contains(knows[i], a) {
				own = append(own, slices.DeleteFunc(slices.Clone(ways[i]), func(w way) bool { return w.result != a }))
			}
		}
		switch {
		case !t.Full && !slices.Contains(t.Actions, a):
			out = append(out, slices.Concat(own...)...)
		case t.Full || len(own) == len(ways):
			together, err := product(own, a)
			if err != nil {
				return nil, nil, err
			}
			out = append(out, together...)
		}
	}
	return out, known, nil
}

// product lists the combinations of one synchronisation from each list.
func product(lists [][]way, result int) ([]way, error) {
	out := []way{{nil, result}}
	for _, list := range lists {
		var next []way
		for _, w := range out {
			for _, v := range list {
				if next = append(next, way{slices.Concat(w.parts, v.parts), result}); len(next) > maxVectors {
					return nil, fmt.Errorf("the modules move together in more than %d ways, want fewer", maxVectors)
				}
			}
		}
		out = next
	}
	return out, nil
}

// rewarded returns the reward assignments of a variant; key is the action whose rewards it earns.
func (x *exporter) rewarded(key string) ([]assignment, error) {
	if key == "" {
		return nil, nil
	}
	var action int
	if _, err := fmt.Sscan(key, &action); err != nil {
		return nil, err
	}
	return x.assigned(action)
}

// vector writes the vector of a synchronisation. Its first module assigns the transition rewards.
func (x *exporter) vector(w way) error {
	assigned, err := x.assigned(w.result)
	if err != nil {
		return err
	}
	v := vector{Actions: make([]*string, len(x.program.Modules))}
	for i, u := range w.parts {
		key := ""
		if i == 0 && len(assigned) > 0 {
			key = fmt.Sprint(w.result)
		}
		variant := slices.Index(x.variants[u], key)
		if variant < 0 {
			variant = len(x.variants[u])
			x.variants[u] = append(x.variants[u], key)
		}
		if v.Actions[u.module] != nil {
			return fmt.Errorf("the module %s takes part twice in one step, which is not written", x.program.Modules[u.module].Name)
		}
		name := x.action(u, variant)
		v.Actions[u.module] = &name
	}
	if w.result != sema.Unlabelled {
		v.Result = x.program.Actions[w.result]
	}
	x.out.System.Syncs = append(x.out.System.Syncs, v)
	return nil
}
