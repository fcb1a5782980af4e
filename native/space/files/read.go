package files

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Sources holds the files of a model in PRISM's formats. Only the transitions are required. Without
// States, the states have one variable x, their number. Without Labels, state 0 is initial. Entry i
// of StateRewards and of TransitionRewards belong to the same reward structure; an empty Source
// means that the structure has no rewards of this kind.
type Sources struct {
	Transitions       Source
	States, Labels    *Source
	Observations      *Source // of a POMDP; without it there is one observable o, the number of the observation
	StateRewards      []Source
	TransitionRewards []Source
}

// Read reads a model from PRISM's files. The error is a syntax.ErrorList for all files, an
// *explicit.LimitError, an *explicit.DeadlockError, or the context's.
//
// Source: prism -importmodel (reference, section 6), which checks neither totals nor sums.
func Read(ctx context.Context, src Sources, opts ReadOptions) (*explicit.Space, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	transitions, model, diagnostics, err := readTransitions(ctx, src.Transitions, opts)
	if err != nil {
		return nil, err
	}
	if transitions == nil {
		return nil, diagnostics.errs.Err()
	}
	rounded := !opts.Exact
	opts.Exact = transitions.exact // interval models are always exact
	reader := &spaceReader{ctx: ctx, opts: opts, rounded: rounded, src: src, traFile: transitions, model: model, errs: transitions.errs}
	return reader.readAll()
}

// check returns an error if the formats cannot express the requested type of model.
func (o ReadOptions) check() error {
	switch o.Type {
	case syntax.TypeNone, syntax.DTMC, syntax.MDP, syntax.CTMC, syntax.LTS, syntax.IDTMC, syntax.IMDP, syntax.POMDP, syntax.SMG:
		return nil
	}
	return fmt.Errorf("models of type %s cannot be read, only DTMCs, MDPs, CTMCs, POMDPs, SMGs, LTSs, IDTMCs and IMDPs", o.Type)
}

// spaceReader reads the other files of a model, after the .tra file, and combines them.
type spaceReader struct {
	ctx  context.Context
	opts ReadOptions
	// rounded says that the caller did not ask for fractions.
	rounded bool
	src     Sources
	traFile *traFile
	model   *sparse.Model // nil after errors
	errs    syntax.ErrorList

	staFile           *staFile
	obsFile           *staFile
	sets              declaredSets
	transitionRewards []explicit.TransitionReward
}

// readAll reads all files after the transitions and returns the space.
func (r *spaceReader) readAll() (*explicit.Space, error) {
	for _, step := range []func() error{r.readStates, r.readObservations, r.readLabelSets, r.readRewardStructures} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if err := r.errs.Err(); err != nil {
		return nil, err
	}
	r.traFile.setLabels(r.model, r.sets)
	if err := r.checkDeadlocks(); err != nil {
		return nil, err
	}
	return r.importSpace()
}

// readStates reads the .sta file, if there is one.
func (r *spaceReader) readStates() error {
	if r.src.States == nil {
		return nil
	}
	var err error
	r.staFile, err = readValues(r.ctx, *r.src.States, "state", r.traFile.numStates)
	r.errs = append(r.errs, r.staFile.errs...)
	return err
}

// readObservations reads the .obs file, if there is one.
func (r *spaceReader) readObservations() error {
	if r.src.Observations == nil {
		return nil
	}
	if r.traFile.stateObservations == nil {
		l := newLines(*r.src.Observations)
		l.nextData("observations", nil)
		l.errorAt(0, "found observations of a model of type %s, wanted a POMDP", typeName(r.traFile.modelType))
		r.errs = append(r.errs, l.errs...)
		return nil
	}
	var err error
	r.obsFile, err = readValues(r.ctx, *r.src.Observations, "observation", r.traFile.totals[3])
	r.errs = append(r.errs, r.obsFile.errs...)
	return err
}

// readLabelSets reads the .lab file, if there is one. It checks that states with the label deadlock
// have only self-loops.
func (r *spaceReader) readLabelSets() error {
	if r.src.Labels == nil {
		return nil
	}
	labels, err := readLabels(r.ctx, *r.src.Labels, r.traFile.numStates)
	r.errs = append(r.errs, labels.errs...)
	r.sets = labels.declaredSets()
	if err != nil || len(r.errs) > 0 || r.sets.deadlock == nil {
		return err
	}
	for state := range r.sets.deadlock.All() {
		if !r.traFile.selfLoops.Has(state) && !r.traFile.deadlocks.Has(state) {
			r.errs.Add(labels.src.Name, syntax.Pos{}, `state %d has the label "deadlock" and transitions to other states`, state)
			break
		}
	}
	return nil
}

// readRewardStructures reads the files of rewards, which need the transitions.
func (r *spaceReader) readRewardStructures() error {
	if r.model == nil {
		return nil
	}
	for i := range max(len(r.src.StateRewards), len(r.src.TransitionRewards)) {
		if err := r.readRewardStructure(i); err != nil {
			return err
		}
	}
	return nil
}

// readRewardStructure reads the .srew and .trew files of the structure with the given index.
func (r *spaceReader) readRewardStructure(index int) error {
	var stateFile, transitionFile *rewFile
	var stateRewards, transitionRewards *rewardColumn
	var err error
	if src := sourceAt(r.src.StateRewards, index); src.Text != nil {
		if stateFile, stateRewards, err = readStateRewards(r.ctx, src, r.model, r.opts.Exact); err != nil {
			return err
		}
		r.errs = append(r.errs, stateFile.errs...)
	}
	if src := sourceAt(r.src.TransitionRewards, index); src.Text != nil {
		if transitionFile, transitionRewards, err = readTransitionRewards(r.ctx, src, r.model, r.opts.Exact, r.traFile.assembly.numChoices); err != nil {
			return err
		}
		r.errs = append(r.errs, transitionFile.errs...)
	}
	name := r.structureName(stateFile, transitionFile)
	if len(r.errs) > 0 {
		return nil
	}
	if transitionRewards != nil && r.model.Intervals() && differWithinChoice(r.model, transitionRewards) {
		r.errs.Add(transitionFile.src.Name, syntax.Pos{}, "found different rewards of the transitions of a state of an interval Markov chain, wanted equal rewards")
		return nil
	}
	reward, perTransition := rewardStructure(r.model, name, stateRewards, transitionRewards)
	r.model.Rewards = append(r.model.Rewards, reward)
	r.transitionRewards = append(r.transitionRewards, perTransition)
	return nil
}

// sourceAt returns the source with an index, or an empty one beyond the last.
func sourceAt(sources []Source, index int) Source {
	if index < len(sources) {
		return sources[index]
	}
	return Source{}
}

// structureName returns the name of a reward structure from the headers of its files, of which either may be nil. Two
// different names are an error.
func (r *spaceReader) structureName(stateFile, transitionFile *rewFile) string {
	hasStateName := stateFile != nil && stateFile.hasHeader
	hasTransitionName := transitionFile != nil && transitionFile.hasHeader
	if hasStateName && hasTransitionName && stateFile.name != transitionFile.name {
		r.errs.Add(transitionFile.src.Name, syntax.Pos{Line: 1, Col: 1}, "found rewards of %q, wanted rewards of %q as in %s", transitionFile.name, stateFile.name, stateFile.src.Name)
	}
	switch {
	case hasTransitionName:
		return transitionFile.name
	case hasStateName:
		return stateFile.name
	}
	return ""
}

// checkDeadlocks returns a *explicit.DeadlockError if there are deadlocks and NoFixDeadlocks is set.
func (r *spaceReader) checkDeadlocks() error {
	if !r.opts.NoFixDeadlocks || r.traFile.deadlocks.Empty() {
		return nil
	}
	e := &explicit.DeadlockError{Count: r.traFile.deadlocks.Count()}
	for s := range r.traFile.deadlocks.All() {
		e.State = fmt.Sprintf("number %d", s)
		break
	}
	return e
}

// importSpace makes a space from the parts that were read.
func (r *spaceReader) importSpace() (*explicit.Space, error) {
	imported := &explicit.Imported{
		File: r.src.Transitions.Name, Type: r.traFile.modelType, Actions: r.traFile.names, Model: r.model,
		TransitionRewards: r.transitionRewards, Warnings: r.traFile.warnings(), Rounded: r.rounded, Normalised: r.traFile.normalised,
	}
	if r.staFile != nil {
		imported.Vars, imported.Valuation = r.staFile.vars, explicit.FlatValuation(r.staFile.values, len(r.staFile.vars))
	} else {
		imported.Vars, imported.Valuation = numberVariable(r.traFile.numStates)
	}
	if r.traFile.owners != nil {
		imported.Players, r.model.Player = playerNames(r.traFile.numPlayers), r.traFile.owners
	}
	if r.traFile.stateObservations != nil {
		imported.Observations = r.traFile.importedObservations(r.obsFile)
		imported.Observables = []string{"o"}
		if r.obsFile != nil {
			imported.Observables = r.obsFile.varNames()
		}
	}
	space, err := explicit.Import(imported)
	if duplicate, ok := errors.AsType[*explicit.DuplicateError](err); ok && r.staFile != nil {
		return nil, syntax.ErrorList{{
			File: r.staFile.src.Name, Pos: r.staFile.findState(duplicate.Second),
			Msg: fmt.Sprintf("found the values of state %d again in state %d, wanted each once", duplicate.First, duplicate.Second),
		}}
	}
	return space, err
}

// numberVariable returns the variables and the valuation of n states without valuations: one
// variable x whose value is the number of the state.
func numberVariable(n int) ([]sema.Variable, func(i int) []int32) {
	values := make([]int32, 1)
	return []sema.Variable{{Name: "x", Type: sema.Int, Low: 0, High: int32(n - 1)}}, func(i int) []int32 {
		values[0] = int32(i)
		return values
	}
}

// warnings returns a warning if the sums of some rows differ from 1.
func (a *assembly) warnings() []string {
	if a.deviatingRows == 0 {
		return nil
	}
	consequence := "bounds take that into account"
	if a.normalised {
		consequence = "each is divided by its sum"
	}
	return []string{fmt.Sprintf("the probabilities of %d rows of %s do not quite sum to 1, by up to %.3g; %s", a.deviatingRows, a.src.Name, a.maxDeviation, consequence)}
}
