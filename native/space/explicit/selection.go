package explicit

import (
	"context"
	"fmt"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
)

// Selection explores states that its caller chooses, in any order. States are numbered in the order in which they are found. A found state is explored,
// excluded from exploration, or unexplored. A Selection is not safe for concurrent use.
type Selection struct {
	search     *exploration
	successors *Successors
	excluded   func(state []int32) bool

	order      []uint32 // the expanded states, in the order of their expansion
	position   []int32  // of each found state in order; -1 if it is not expanded
	rows       sparse.Rows
	starts     []rowStart // of the rows of each expanded state in rows
	isExcluded []bool     // of each found state, whether it is excluded
}

// rowStart says where the rows of a state begin.
type rowStart struct{ choice, transition int }

// NewSelection returns a selection in which only the initial states are found. The function excluded reports whether a found state is excluded; nil excludes
// none. The model must be a DTMC, a CTMC or an MDP. The options Part, Depth, Symmetry, Permutations and Reduction, which leave out states, are ignored. The
// caller must call Close at the end.
func NewSelection(ctx context.Context, model *compile.Model, opts Options, excluded func(state []int32) bool) (*Selection, error) {
	opts.Part, opts.Depth, opts.Symmetry, opts.Permutations, opts.Reduction = 0, 0, nil, nil, nil
	search := newExploration(model, opts)
	search.isRounded = !opts.Exact
	if err := search.addInitialStates(ctx); err != nil {
		return nil, err
	}
	expander, err := search.newExpander(ctx)
	if err != nil {
		return nil, err
	}
	successors, err := newSuccessors(ctx, model, opts, search.codec, expander)
	if err != nil {
		return nil, err
	}
	selection := &Selection{search: search, successors: successors, excluded: excluded}
	search.numInitial = search.store.numStates
	selection.addFoundStates()
	return selection, nil
}

// Close releases the memory of the compiled model.
func (selection *Selection) Close() error { return selection.successors.Close() }

// NumStates returns the number of states that were found.
func (selection *Selection) NumStates() int { return selection.search.store.numStates }

// NumExplored returns the number of states that were explored.
func (selection *Selection) NumExplored() int { return len(selection.order) }

// Expand explores some unexplored states, in the given order. A state may be found by one before it. The errors are those of Build.
func (selection *Selection) Expand(ctx context.Context, states []uint32) error {
	selection.search.store.restoreTable()
	for len(states) > 0 {
		chunk := states[:selection.numReady(states)]
		if len(chunk) == 0 {
			return fmt.Errorf("explicit: state %d is not found yet, or explored already", states[0])
		}
		states = states[len(chunk):]
		batch := &batch{}
		for _, state := range chunk {
			batch.states = append(batch.states, selection.search.store.packedState(int(state))...)
		}
		selection.successors.worker.expandBatch(ctx, batch)
		if batch.err != nil {
			return batch.err
		}
		for _, state := range chunk {
			selection.position[state] = int32(len(selection.order))
			selection.order = append(selection.order, state)
		}
		selection.addBatch(batch)
		if err := selection.search.checkLimits(); err != nil {
			return err
		}
		selection.search.reportProgress()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// numReady returns how many of the first given states can be expanded in one batch: all of them must be found and not explored. Expanding them may find the
// next ones.
func (selection *Selection) numReady(states []uint32) int {
	states = states[:min(len(states), batchStates)]
	isNotReady := func(state uint32) bool { return int(state) >= selection.NumStates() || selection.position[state] >= 0 }
	if i := slices.IndexFunc(states, isNotReady); i >= 0 {
		return i
	}
	return len(states)
}

// UnexploredSuccessors returns at most one unexplored target of each of some explored states, and no target twice. It considers only choices without excluded
// targets, and selects one of them by the hash of the state.
func (selection *Selection) UnexploredSuccessors(states []uint32) []uint32 {
	var ahead []uint32
	isAhead := map[uint32]bool{}
	for _, state := range states {
		targets := selection.openTargets(int(selection.position[state]))
		if len(targets) == 0 {
			continue
		}
		hash := hash64(selection.search.store.packedState(int(state)))
		if target := targets[hash%uint64(len(targets))]; !isAhead[target] {
			isAhead[target] = true
			ahead = append(ahead, target)
		}
	}
	return ahead
}

// openTargets returns the first unexplored target of each choice without excluded targets, of the state that was expanded as the i-th one.
func (selection *Selection) openTargets(i int) (open []uint32) {
	rows := selection.rowOf(i)
	for _, numTargets := range rows.Transitions[:rows.Choices[0]] {
		targets := rows.Targets[:numTargets]
		rows.Targets = rows.Targets[numTargets:]
		isUnexplored := func(target uint32) bool { return selection.position[target] < 0 }
		isExcluded := func(target uint32) bool { return selection.isExcluded[target] }
		if first := slices.IndexFunc(targets, isUnexplored); first >= 0 && !slices.ContainsFunc(targets, isExcluded) {
			open = append(open, targets[first])
		}
	}
	return open
}

// addBatch adds the choices and transitions of an expanded batch. Targets that were not found before get the next numbers.
func (selection *Selection) addBatch(batch *batch) {
	search, rows := selection.search, &selection.rows
	choice, transition := len(rows.Transitions), len(rows.Targets)
	for _, numChoices := range batch.Choices {
		selection.starts = append(selection.starts, rowStart{choice, transition})
		for range numChoices {
			transition += int(batch.Transitions[choice-len(rows.Transitions)])
			choice++
		}
	}
	rows.Choices = append(rows.Choices, batch.Choices...)
	rows.Transitions = append(rows.Transitions, batch.Transitions...)
	rows.Actions = append(rows.Actions, batch.actions...)
	rows.Targets = search.store.addStates(rows.Targets, batch.Targets, batch.hashes)
	rows.Weights = append(rows.Weights, batch.Weights...)
	rows.Fractions = append(rows.Fractions, batch.fractions...)
	search.addStatistics(batch)
	selection.addFoundStates()
	rowBytes := 4*(len(rows.Choices)+len(rows.Transitions)+len(rows.Targets)) + 2*len(rows.Actions) + 8*(len(rows.Weights)+len(rows.Fractions))
	search.otherBytes = int64(2*rowBytes + 20*len(selection.order) + 5*len(selection.position)) // the space has the rows a second time
}

// addFoundStates initialises the entries of the states that were found since the last call.
func (selection *Selection) addFoundStates() {
	state := selection.successors.worker.state
	for s := len(selection.position); s < selection.search.store.numStates; s++ {
		selection.search.codec.unpack(state, selection.search.store.packedState(s))
		selection.position = append(selection.position, -1)
		selection.isExcluded = append(selection.isExcluded, selection.excluded != nil && selection.excluded(state))
	}
}

// Space returns the space of the states that were found. States that are not explored have a self-loop. Unless all states are explored, Space.Unexplored has
// the unexplored ones, without the excluded ones, and may be empty. The space is valid until the next call of Expand.
func (selection *Selection) Space() (*Space, error) {
	search := selection.search
	search.builder, search.numExpanded, search.deadlockStates = sparse.NewBuilder(sparseKind(search.model.Program().Type)), 0, nil
	unexplored := sparse.NewSet(search.store.numStates)
	for s, position := range selection.position {
		if position < 0 {
			if !selection.isExcluded[s] {
				unexplored.Add(s)
			}
			search.addSelfLoop()
			continue
		}
		search.addRows(selection.rowOf(int(position)))
	}
	space, err := search.buildSpace()
	if err != nil {
		return nil, err
	}
	space.selection = selection
	if len(selection.order) < search.store.numStates {
		space.unexplored = unexplored
	}
	return space, nil
}

// rowOf returns the row of the state that was expanded as the i-th one. Its lists of transitions and targets go on with those of later states.
func (selection *Selection) rowOf(i int) sparse.Rows {
	row := selection.rows.From(selection.successors.worker.kind, i, selection.starts[i].choice, selection.starts[i].transition)
	row.Choices = row.Choices[:1]
	return row
}

// fractions explores the same states again with fractions as weights.
func (selection *Selection) fractions(ctx context.Context, opts Options) (*Space, error) {
	exact, err := NewSelection(ctx, selection.search.model, opts, selection.excluded)
	if err != nil {
		return nil, err
	}
	defer exact.Close()
	if err := exact.Expand(ctx, selection.order); err != nil {
		return nil, err
	}
	return exact.Space()
}
