package export

import (
	"fmt"
	"math"
	"slices"

	"tilecheck/prism/sema"
)

// synchronisation is a set of edges that modules take together. result is the resulting action, or sema.Unlabelled if it is hidden.
type synchronisation struct {
	participants []edgeGroup
	result       int
}

// maxVectors is the greatest number of synchronisation vectors of a document.
const maxVectors = 100_000

// compose returns the synchronisations of commands with actions, as the system block or the default composition defines them.
func (x *exporter) compose() ([]synchronisation, error) {
	term := x.program.System
	if term == nil { // the default: all modules in parallel
		composition := &sema.SysParallel{IsAlphabetised: true}
		for i := range x.program.Modules {
			composition.Operands = append(composition.Operands, sema.SysModule{Index: i})
		}
		term = composition
	}
	syncs, _, err := x.synchronisationsOf(term)
	return syncs, err
}

// synchronisationsOf returns the synchronisations of a term of the system block, and the alphabet of the term. An action of the alphabet without
// a synchronisation is blocked.
func (x *exporter) synchronisationsOf(term sema.System) (syncs []synchronisation, alphabet []int, err error) {
	switch term := term.(type) {
	case sema.SysModule:
		alphabet = x.program.Modules[term.Index].Alphabet
		for _, action := range alphabet {
			syncs = append(syncs, synchronisation{[]edgeGroup{{term.Index, action}}, action})
		}
		return syncs, alphabet, nil
	case *sema.SysHide:
		syncs, alphabet, err = x.synchronisationsOf(term.X)
		syncs, alphabet = hideActions(term, syncs, alphabet)
		return syncs, alphabet, err
	case *sema.SysRename:
		syncs, alphabet, err = x.synchronisationsOf(term.X)
		syncs, alphabet = renameActions(term, syncs, alphabet)
		return syncs, alphabet, err
	case *sema.SysParallel:
		return x.parallelSynchronisations(term)
	}
	return nil, nil, fmt.Errorf("the system block has a term that cannot be exported")
}

// hideActions removes hidden actions: from the results of the synchronisations and from the alphabet. It changes syncs.
func hideActions(term *sema.SysHide, syncs []synchronisation, alphabet []int) (hidden []synchronisation, newAlphabet []int) {
	isHidden := func(action int) bool { return slices.Contains(term.Actions, action) }
	for i := range syncs {
		if isHidden(syncs[i].result) {
			syncs[i].result = sema.Unlabelled
		}
	}
	return syncs, slices.DeleteFunc(slices.Clone(alphabet), isHidden)
}

// renameActions renames actions in the results of the synchronisations and in the alphabet. It changes syncs.
func renameActions(term *sema.SysRename, syncs []synchronisation, alphabet []int) (changed []synchronisation, newAlphabet []int) {
	for i := range syncs {
		syncs[i].result = renamedAction(term, syncs[i].result)
	}
	for _, action := range alphabet {
		newAlphabet = append(newAlphabet, renamedAction(term, action))
	}
	return syncs, newAlphabet
}

// renamedAction returns the new name of an action. An action that the term does not rename stays the same.
func renamedAction(term *sema.SysRename, action int) int {
	if i := slices.Index(term.From, action); i >= 0 {
		return term.To[i]
	}
	return action
}

// operand is an operand of a parallel composition: its synchronisations, and the actions of its alphabet.
type operand struct {
	syncs    []synchronisation
	alphabet []int
}

// parallelSynchronisations returns the synchronisations of a parallel composition, and its alphabet.
func (x *exporter) parallelSynchronisations(term *sema.SysParallel) (syncs []synchronisation, alphabet []int, err error) {
	var operands []operand
	for _, operandTerm := range term.Operands {
		operandSyncs, operandAlphabet, err := x.synchronisationsOf(operandTerm)
		if err != nil {
			return nil, nil, err
		}
		operands = append(operands, operand{operandSyncs, operandAlphabet})
		alphabet = append(alphabet, operandAlphabet...)
		syncs = append(syncs, selectByResult(operandSyncs, sema.Unlabelled)...)
	}
	slices.Sort(alphabet)
	alphabet = slices.Compact(alphabet)
	for _, action := range alphabet {
		actionSyncs, err := synchronisationsOn(action, term, operands)
		if err != nil {
			return nil, nil, err
		}
		syncs = append(syncs, actionSyncs...)
	}
	return syncs, alphabet, nil
}

// synchronisationsOn returns the synchronisations of a parallel composition whose result is this action.
func synchronisationsOn(action int, term *sema.SysParallel, operands []operand) ([]synchronisation, error) {
	var participants [][]synchronisation
	for _, operand := range operands {
		if slices.Contains(operand.alphabet, action) {
			participants = append(participants, selectByResult(operand.syncs, action))
		}
	}
	isListed := slices.Contains(term.Actions, action) // in |[a,b]|
	switch {
	case term.IsAlphabetised:
		return combinations(participants, action)
	case !isListed:
		return slices.Concat(participants...), nil // each operand performs the action alone
	case len(participants) < len(operands):
		return nil, nil // an operand without the action blocks it
	}
	return combinations(participants, action)
}

// selectByResult returns the synchronisations with this resulting action.
func selectByResult(syncs []synchronisation, action int) []synchronisation {
	var selected []synchronisation
	for _, sync := range syncs {
		if sync.result == action {
			selected = append(selected, sync)
		}
	}
	return selected
}

// noRewards marks, in the place of an action, edges that assign no rewards.
const noRewards = math.MinInt

// combinations combines one synchronisation from each list in every possible way. Each combination is a synchronisation of all their
// participants, with the action result. It returns an error if there are more than maxVectors combinations.
func combinations(lists [][]synchronisation, result int) ([]synchronisation, error) {
	combined := []synchronisation{{nil, result}}
	for _, list := range lists {
		var extended []synchronisation
		for _, first := range combined {
			for _, second := range list {
				extended = append(extended, synchronisation{slices.Concat(first.participants, second.participants), result})
				if len(extended) > maxVectors {
					return nil, fmt.Errorf("the modules synchronise in more than %d ways, want fewer", maxVectors)
				}
			}
		}
		combined = extended
	}
	return combined, nil
}

// variantRewards returns the assignments of the rewards that an action earns, or nil for noRewards.
func (x *exporter) variantRewards(action int) ([]assignment, error) {
	if action == noRewards {
		return nil, nil
	}
	return x.rewardAssignments(action)
}

// writeVector writes a synchronisation as a synchronisation vector.
func (x *exporter) writeVector(sync synchronisation) error {
	rewards, err := x.rewardAssignments(sync.result)
	if err != nil {
		return err
	}
	vector := vector{Actions: make([]*string, len(x.program.Modules))}
	for i, group := range sync.participants {
		rewardedAction := noRewards
		if i == 0 && len(rewards) > 0 { // the edges of the first module assign the rewards of the step
			rewardedAction = sync.result
		}
		if vector.Actions[group.module] != nil {
			return fmt.Errorf("the module %s takes part twice in one step, which cannot be exported", x.program.Modules[group.module].Name)
		}
		name := x.actionName(group, x.variant(group, rewardedAction))
		vector.Actions[group.module] = &name
	}
	if sync.result != sema.Unlabelled {
		vector.Result = x.program.Actions[sync.result]
	}
	x.document.System.Syncs = append(x.document.System.Syncs, vector)
	return nil
}

// variant returns the number of a variant of the edges in a group: the variant that assigns the rewards of this action. If there is none, it adds the variant.
func (x *exporter) variant(group edgeGroup, rewardedAction int) int {
	number := slices.Index(x.variants[group], rewardedAction)
	if number < 0 {
		number = len(x.variants[group])
		x.variants[group] = append(x.variants[group], rewardedAction)
	}
	return number
}
