package export

import (
	"fmt"
	"slices"

	"tilecheck/prism/sema"
)

// synchronisation is a set of edges that modules take together, each with an action of its module, and the
// resulting action, which is sema.Unlabelled if it is hidden.
type synchronisation struct {
	participants []edgeGroup
	result       int
}

// maxVectors is the greatest number of synchronisation vectors of a document.
const maxVectors = 100_000

// compose returns the synchronisations of labelled commands. Unlabelled commands need no synchronisation
// vector.
func (x *exporter) compose() ([]synchronisation, error) {
	term := x.program.System
	if term == nil {
		composition := &sema.SysParallel{Full: true}
		for i := range x.program.Modules {
			composition.Operands = append(composition.Operands, sema.SysModule{Index: i})
		}
		term = composition
	}
	ways, _, err := x.synchronisationsOf(term)
	return ways, err
}

// synchronisationsOf returns the synchronisations of a system term, and its alphabet. An action of the
// alphabet without synchronisations is blocked.
func (x *exporter) synchronisationsOf(term sema.System) (syncs []synchronisation, alphabet []int, err error) {
	switch term := term.(type) {
	case sema.SysModule:
		for _, a := range x.program.Modules[term.Index].Alphabet {
			syncs = append(syncs, synchronisation{[]edgeGroup{{term.Index, a}}, a})
		}
		return syncs, x.program.Modules[term.Index].Alphabet, nil
	case *sema.SysHide:
		syncs, alphabet, err = x.synchronisationsOf(term.X)
		hidden := func(a int) bool { return slices.Contains(term.Actions, a) }
		for i := range syncs {
			if hidden(syncs[i].result) {
				syncs[i].result = sema.Unlabelled
			}
		}
		return syncs, slices.DeleteFunc(slices.Clone(alphabet), hidden), err
	case *sema.SysRename:
		syncs, alphabet, err = x.synchronisationsOf(term.X)
		renamed := func(a int) int {
			if i := slices.Index(term.From, a); i >= 0 {
				return term.To[i]
			}
			return a
		}
		for i := range syncs {
			syncs[i].result = renamed(syncs[i].result)
		}
		var names []int
		for _, a := range alphabet {
			names = append(names, renamed(a))
		}
		return syncs, names, err
	case *sema.SysParallel:
		return x.parallelSynchronisations(term)
	}
	return nil, nil, fmt.Errorf("the system block has a term that cannot be exported")
}

// parallelSynchronisations is synchronisationsOf for a parallel composition: operands synchronise on
// their common actions, or on the listed ones.
func (x *exporter) parallelSynchronisations(term *sema.SysParallel) (syncs []synchronisation, alphabet []int, err error) {
	var operandSyncs [][]synchronisation
	var alphabets [][]int
	for _, operand := range term.Operands {
		own, ownAlphabet, err := x.synchronisationsOf(operand)
		if err != nil {
			return nil, nil, err
		}
		operandSyncs = append(operandSyncs, own)
		alphabets = append(alphabets, ownAlphabet)
		alphabet = append(alphabet, ownAlphabet...)
		for _, sync := range own {
			if sync.result == sema.Unlabelled {
				syncs = append(syncs, sync)
			}
		}
	}
	slices.Sort(alphabet)
	alphabet = slices.Compact(alphabet)
	for _, a := range alphabet {
		var participants [][]synchronisation
		for i := range operandSyncs {
			if slices.Contains(alphabets[i], a) {
				participants = append(participants, slices.DeleteFunc(slices.Clone(operandSyncs[i]), func(s synchronisation) bool { return s.result != a }))
			}
		}
		switch {
		case !term.Full && !slices.Contains(term.Actions, a):
			syncs = append(syncs, slices.Concat(participants...)...)
		case term.Full || len(participants) == len(operandSyncs):
			together, err := combinations(participants, a)
			if err != nil {
				return nil, nil, err
			}
			syncs = append(syncs, together...)
		}
	}
	return syncs, alphabet, nil
}

// combinations returns all combinations of one synchronisation from each list.
func combinations(lists [][]synchronisation, result int) ([]synchronisation, error) {
	combined := []synchronisation{{nil, result}}
	for _, list := range lists {
		var next []synchronisation
		for _, first := range combined {
			for _, second := range list {
				next = append(next, synchronisation{slices.Concat(first.participants, second.participants), result})
				if len(next) > maxVectors {
					return nil, fmt.Errorf("the modules synchronise in more than %d ways, want fewer", maxVectors)
				}
			}
		}
		combined = next
	}
	return combined, nil
}

// variantRewards returns the reward assignments of a variant of edges; key is the action whose rewards
// they earn, "" for none.
func (x *exporter) variantRewards(key string) ([]assignment, error) {
	if key == "" {
		return nil, nil
	}
	var action int
	if _, err := fmt.Sscan(key, &action); err != nil {
		return nil, err
	}
	return x.rewardAssignments(action)
}

// writeVector writes a synchronisation as a synchronisation vector. The edges of its first module assign
// the transition rewards of the step.
func (x *exporter) writeVector(sync synchronisation) error {
	assigned, err := x.rewardAssignments(sync.result)
	if err != nil {
		return err
	}
	vector := vector{Actions: make([]*string, len(x.program.Modules))}
	for i, group := range sync.participants {
		key := ""
		if i == 0 && len(assigned) > 0 {
			key = fmt.Sprint(sync.result)
		}
		variant := slices.Index(x.variants[group], key)
		if variant < 0 {
			variant = len(x.variants[group])
			x.variants[group] = append(x.variants[group], key)
		}
		if vector.Actions[group.module] != nil {
			return fmt.Errorf("the module %s takes part twice in one step, which cannot be exported", x.program.Modules[group.module].Name)
		}
		name := x.actionName(group, variant)
		vector.Actions[group.module] = &name
	}
	if sync.result != sema.Unlabelled {
		vector.Result = x.program.Actions[sync.result]
	}
	x.doc.System.Syncs = append(x.doc.System.Syncs, vector)
	return nil
}
