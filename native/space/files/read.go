package files

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tilecheck/internal/noun"
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

// Read reads a model from PRISM's files. The error is a syntax.ErrorList for all files, an *explicit.LimitError,
// an *explicit.DeadlockError, or the error of the context.
//
// Source: prism -importmodel (reference, section 6), which checks neither totals nor sums.
func Read(ctx context.Context, sources Sources, opts ReadOptions) (*explicit.Space, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	transitions, model, diagnostics, err := readTransitions(ctx, sources.Transitions, opts)
	if err != nil {
		return nil, err
	}
	if transitions == nil {
		return nil, diagnostics.Errs.Err()
	}
	rounded := !opts.Exact
	opts.Exact = transitions.isExact // interval models are always exact
	reader := &spaceReader{ctx: ctx, opts: opts, isRounded: rounded, sources: sources, traFile: transitions, model: model, errs: transitions.Errs}
	return reader.readAll()
}

// validate returns an error if the formats cannot express the requested type of model.
func (opts ReadOptions) validate() error {
	switch opts.Type {
	case syntax.TypeNone, syntax.DTMC, syntax.MDP, syntax.CTMC, syntax.LTS, syntax.IDTMC, syntax.IMDP, syntax.POMDP, syntax.SMG:
		return nil
	}
	return fmt.Errorf("models of type %s cannot be read, only DTMCs, MDPs, CTMCs, POMDPs, SMGs, LTSs, IDTMCs and IMDPs", opts.Type)
}

// spaceReader reads the other files of a model, after the .tra file, and combines them.
type spaceReader struct {
	ctx  context.Context
	opts ReadOptions
	// isRounded says that the caller did not ask for fractions.
	isRounded bool
	sources   Sources
	traFile   *traFile
	model     *sparse.Model // nil after errors
	errs      syntax.ErrorList

	staFile           *staFile
	obsFile           *staFile
	sets              declaredSets
	transitionRewards []explicit.TransitionReward
}

// readAll reads all files except the transitions, which were read before, and returns the space. It reads all files even if some have
// errors.
func (reader *spaceReader) readAll() (*explicit.Space, error) {
	for _, step := range []func() error{reader.readStates, reader.readObservations, reader.readLabelSets, reader.readRewardStructures} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if err := reader.errs.Err(); err != nil {
		return nil, err
	}
	reader.traFile.setLabels(reader.model, reader.sets)
	if err := reader.traFile.checkDeadlocks(reader.opts); err != nil {
		return nil, err
	}
	return reader.importSpace()
}

// readStates reads the .sta file with the values of the variables, if there is one. It records the errors of the file. The returned error
// is that of the context.
func (reader *spaceReader) readStates() error {
	if reader.sources.States == nil {
		return nil
	}
	var err error
	reader.staFile, err = readValues(reader.ctx, *reader.sources.States, "state", reader.traFile.numStates)
	reader.errs = append(reader.errs, reader.staFile.Errs...)
	return err
}

// readObservations reads the .obs file, if there is one. It records the errors of the file. If the model is not a POMDP, the file is an
// error.
func (reader *spaceReader) readObservations() error {
	if reader.sources.Observations == nil {
		return nil
	}
	if reader.traFile.stateObservations == nil {
		lines := newLines(*reader.sources.Observations)
		lines.nextData("observations", nil)
		lines.ErrorAt(0, "found observations of a model of type %s, wanted a POMDP", typeName(reader.traFile.modelType))
		reader.errs = append(reader.errs, lines.Errs...)
		return nil
	}
	var err error
	reader.obsFile, err = readValues(reader.ctx, *reader.sources.Observations, "observation", reader.traFile.declaredTotals.numObservations)
	reader.errs = append(reader.errs, reader.obsFile.Errs...)
	return err
}

// readLabelSets reads the .lab file with the labels of the states, if there is one. It is an error if a state with the label deadlock has a
// transition to another state.
func (reader *spaceReader) readLabelSets() error {
	if reader.sources.Labels == nil {
		return nil
	}
	labels, err := readLabels(reader.ctx, *reader.sources.Labels, reader.traFile.numStates)
	reader.errs = append(reader.errs, labels.Errs...)
	reader.sets = labels.declaredSets()
	if err != nil || len(reader.errs) > 0 || reader.sets.deadlock == nil {
		return err
	}
	for state := range reader.sets.deadlock.All() {
		if !reader.traFile.selfLoopStates.Has(state) && !reader.traFile.deadlocks.Has(state) {
			reader.errs.Add(labels.Source.Name, syntax.Pos{}, `state %d has the label "deadlock" and transitions to other states`, state)
			break
		}
	}
	return nil
}

// readRewardStructures reads the files of all reward structures. It does nothing if the .tra file had errors, because then there is no
// model.
func (reader *spaceReader) readRewardStructures() error {
	if reader.model == nil {
		return nil
	}
	for index := range max(len(reader.sources.StateRewards), len(reader.sources.TransitionRewards)) {
		if err := reader.readRewardStructure(index); err != nil {
			return err
		}
	}
	return nil
}

// readRewardStructure reads the files of a reward structure, .srew with the state rewards and .trew with the transition rewards. One of
// them may be missing. Then it adds the structure to the model. index is the position of the structure in the lists of files.
func (reader *spaceReader) readRewardStructure(index int) error {
	var stateFile, transitionFile *rewFile
	var stateRewards, transitionRewards *rewardColumn
	var err error
	if source := sourceAt(reader.sources.StateRewards, index); source.Text != nil {
		if stateFile, stateRewards, err = readStateRewards(reader.ctx, source, reader.model, reader.opts.Exact); err != nil {
			return err
		}
		reader.errs = append(reader.errs, stateFile.Errs...)
	}
	if source := sourceAt(reader.sources.TransitionRewards, index); source.Text != nil {
		if transitionFile, transitionRewards, err = readTransitionRewards(reader.ctx, source, reader.model, reader.opts.Exact, reader.traFile.assembly.numChoices); err != nil {
			return err
		}
		reader.errs = append(reader.errs, transitionFile.Errs...)
	}
	name := reader.structureName(stateFile, transitionFile)
	if len(reader.errs) > 0 {
		return nil
	}
	if transitionRewards != nil && reader.model.Intervals() && differWithinChoice(reader.model, transitionRewards) {
		reader.errs.Add(transitionFile.Source.Name, syntax.Pos{}, "found different rewards of the transitions of a state of an interval Markov chain, wanted equal rewards")
		return nil
	}
	reward, perTransition := rewardStructure(reader.model, name, stateRewards, transitionRewards)
	reader.model.Rewards = append(reader.model.Rewards, reward)
	reader.transitionRewards = append(reader.transitionRewards, perTransition)
	return nil
}

// sourceAt returns the source with an index, or an empty one beyond the last.
func sourceAt(sources []Source, index int) Source {
	if index < len(sources) {
		return sources[index]
	}
	return Source{}
}

// structureName returns the name of a reward structure from the comments in its files. A file may be nil. It is an error if the two files
// have different names.
func (reader *spaceReader) structureName(stateFile, transitionFile *rewFile) string {
	hasStateName := stateFile != nil && stateFile.hasHeader
	hasTransitionName := transitionFile != nil && transitionFile.hasHeader
	if hasStateName && hasTransitionName && stateFile.name != transitionFile.name {
		reader.errs.Add(transitionFile.Source.Name, syntax.Pos{Line: 1, Col: 1}, "found rewards of %q, wanted rewards of %q as in %s", transitionFile.name, stateFile.name, stateFile.Source.Name)
	}
	switch {
	case hasTransitionName:
		return transitionFile.name
	case hasStateName:
		return stateFile.name
	}
	return ""
}

// checkDeadlocks returns a *explicit.DeadlockError if the file has states without transitions, and ReadOptions.NoFixDeadlocks forbids them.
func (assembly *assembly) checkDeadlocks(opts ReadOptions) error {
	if !opts.NoFixDeadlocks {
		return nil
	}
	for first := range assembly.deadlocks.All() {
		return &explicit.DeadlockError{Count: assembly.deadlocks.Count(), State: fmt.Sprintf("number %d", first)}
	}
	return nil
}

// importSpace makes a space from the model and the contents of the other files: the values of the variables, the players and the
// observations.
func (reader *spaceReader) importSpace() (*explicit.Space, error) {
	imported := &explicit.Imported{
		File: reader.sources.Transitions.Name, Type: reader.traFile.modelType, Actions: reader.traFile.actionNames, Model: reader.model,
		TransitionRewards: reader.transitionRewards, Warnings: reader.traFile.warnings(), Rounded: reader.isRounded, Normalised: reader.traFile.isNormalised,
		Unread: reader.sources.unread(),
	}
	if reader.staFile != nil {
		imported.Vars, imported.Valuation = reader.staFile.variables, explicit.FlatValuation(reader.staFile.values, len(reader.staFile.variables))
	} else {
		imported.Vars, imported.Valuation = numberVariable(reader.traFile.numStates)
	}
	if reader.traFile.owners != nil {
		imported.Players, reader.model.Player = playerNames(reader.traFile.numPlayers), reader.traFile.owners
	}
	if reader.traFile.stateObservations != nil {
		imported.Observations = reader.traFile.importedObservations(reader.obsFile)
		imported.Observables = []string{"o"}
		if reader.obsFile != nil {
			imported.Observables = reader.obsFile.varNames()
		}
	}
	if reader.opts.OperatorT {
		addOperatorT(imported)
	}
	space, err := explicit.Import(imported)
	if duplicate, ok := errors.AsType[*explicit.DuplicateError](err); ok && reader.staFile != nil {
		return nil, reader.staFile.duplicateError(duplicate)
	}
	return space, err
}

// unread returns the sentences about the files that are not among the sources.
func (sources *Sources) unread() syntax.UnreadFiles {
	const withoutFile = "%s was read without %s (with it: %s; export and resolve write such files)"
	var unread syntax.UnreadFiles
	name := sources.Transitions.Name
	if sources.States == nil {
		unread.Variables = fmt.Sprintf(withoutFile, name, "a .sta file, so the only variable is x, the number of the state", sources.nameWith("sta"))
	}
	if sources.Labels == nil {
		unread.Labels = fmt.Sprintf(withoutFile, name, "a .lab file", sources.nameWith("lab"))
	}
	if sources.StateRewards == nil && sources.TransitionRewards == nil {
		unread.Rewards = fmt.Sprintf(withoutFile, name, "a .srew or .trew file", sources.nameWith("srew"))
	}
	return unread
}

// nameWith returns the name on the command line for the files that were read and one more, such as m.tra,sta,lab.
func (sources *Sources) nameWith(ext string) string {
	base, zip, _ := strings.Cut(sources.Transitions.Name, ".tra")
	name := base + ".tra"
	for _, part := range []struct {
		ext    string
		isRead bool
	}{
		{"sta", sources.States != nil},
		{"lab", sources.Labels != nil},
		{"obs", sources.Observations != nil},
		{"srew", sources.StateRewards != nil},
		{"trew", sources.TransitionRewards != nil},
	} {
		if part.isRead || part.ext == ext {
			name += "," + part.ext
		}
	}
	return name + zip
}

// duplicateError returns the error for two states with the same values, at the second state.
func (file *staFile) duplicateError(duplicate *explicit.DuplicateError) error {
	return syntax.ErrorList{{
		File: file.Source.Name, Pos: file.findState(duplicate.Second),
		Msg: fmt.Sprintf("found the values of state %d again in state %d, wanted each once", duplicate.First, duplicate.Second),
	}}
}

// numberVariable returns the variables and the valuations of n states without valuations. They have one variable
// x, the number of the state.
func numberVariable(n int) ([]sema.Variable, func(i int) []int32) {
	values := make([]int32, 1)
	return []sema.Variable{{Name: "x", Type: sema.Int, Low: 0, High: int32(n - 1)}}, func(i int) []int32 {
		values[0] = int32(i)
		return values
	}
}

// warnings returns a warning if the sums of some rows differ from 1. It says how many rows, and by how much.
func (assembly *assembly) warnings() []string {
	if assembly.numDeviatingRows == 0 {
		return nil
	}
	consequence := "bounds take that into account"
	if assembly.isNormalised {
		consequence = "each is divided by its sum"
	}
	return []string{fmt.Sprintf("the sums of the probabilities of %s of %s differ from 1 by up to %.3g; %s", noun.Count(assembly.numDeviatingRows, "row"), assembly.Source.Name, assembly.maxDeviation, consequence)}
}
