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

// Sources are PRISM's files of one model. Only the transitions are needed:
// without States there is one variable x, the number of the state, and without
// Labels state 0 is initial. The i-th .srew and the i-th .trew file are about
// one reward structure; a zero Source stands for rewards that it does not have.
type Sources struct {
	Transitions       Source
	States, Labels    *Source
	Observations      *Source // of a POMDP; without them there is one observable o, the number
	StateRewards      []Source
	TransitionRewards []Source
}

// Read reads a model from PRISM's files. Its error is a syntax.ErrorList about
// all files, an *explicit.LimitError, an *explicit.DeadlockError, or the
// context's.
//
// Source: prism -importmodel (reference, section 6), which checks less: neither
// totals nor sums.
func Read(ctx context.Context, src Sources, opts ReadOptions) (*explicit.Space, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	tra, model, l, err := readTransitions(ctx, src.Transitions, opts)
	if err != nil {
		return nil, err
	}
	if tra == nil {
		return nil, l.errs.Err()
	}
	rounded := !opts.Exact
	opts.Exact = tra.exact // intervals are
	r := &reading{ctx: ctx, opts: opts, rounded: rounded, src: src, tra: tra, model: model, errs: tra.errs}
	return r.read()
}

// check refuses types of models that no file has.
func (o ReadOptions) check() error {
	switch o.Type {
	case syntax.TypeNone, syntax.DTMC, syntax.MDP, syntax.CTMC, syntax.LTS, syntax.IDTMC, syntax.IMDP, syntax.POMDP:
		return nil
	}
	return fmt.Errorf("models of type %s cannot be read, only DTMCs, MDPs, CTMCs, POMDPs, LTSs, IDTMCs and IMDPs", o.Type)
}

// reading collects what the files of a model say.
type reading struct {
	ctx  context.Context
	opts ReadOptions
	// rounded says that nobody asked for fractions.
	rounded bool
	src     Sources
	tra     *traFile
	model   *sparse.Model // nil after errors
	errs    syntax.ErrorList

	sta     *staFile
	obs     *staFile
	said    declared
	rewards []explicit.TransitionReward
}

func (r *reading) read() (*explicit.Space, error) {
	for _, step := range []func() error{r.states, r.observations, r.labels, r.structures} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if err := r.errs.Err(); err != nil {
		return nil, err
	}
	r.tra.complete(r.model, r.said)
	if err := r.deadlocks(); err != nil {
		return nil, err
	}
	return r.importSpace()
}

func (r *reading) states() error {
	if r.src.States == nil {
		return nil
	}
	var err error
	r.sta, err = readValues(r.ctx, *r.src.States, "state", r.tra.states)
	r.errs = append(r.errs, r.sta.errs...)
	return err
}

func (r *reading) observations() error {
	if r.src.Observations == nil {
		return nil
	}
	if r.tra.seen == nil {
		l := newLines(*r.src.Observations)
		l.data("observations", nil)
		l.fail(0, "found observations of a model of type %s, wanted a POMDP", typeName(r.tra.typ))
		r.errs = append(r.errs, l.errs...)
		return nil
	}
	var err error
	r.obs, err = readValues(r.ctx, *r.src.Observations, "observation", r.tra.totals[3])
	r.errs = append(r.errs, r.obs.errs...)
	return err
}

func (r *reading) labels() error {
	if r.src.Labels == nil {
		return nil
	}
	l, err := readLabels(r.ctx, *r.src.Labels, r.tra.states)
	r.errs = append(r.errs, l.errs...)
	r.said = l.declared()
	if err != nil || len(r.errs) > 0 || r.said.deadlock == nil {
		return err
	}
	for s := range r.said.deadlock.All() {
		if !r.tra.loops.Has(s) && !r.tra.deadlocks.Has(s) {
			r.errs.Add(l.src.Name, syntax.Pos{}, `state %d has the label "deadlock" and transitions to other states`, s)
			break
		}
	}
	return nil
}

// structures reads the reward structures; they need the transitions.
func (r *reading) structures() error {
	if r.model == nil {
		return nil
	}
	for i := range max(len(r.src.StateRewards), len(r.src.TransitionRewards)) {
		if err := r.structure(i); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) structure(i int) error {
	var s, t *rewFile
	var state, trans *column
	var err error
	name := ""
	if i < len(r.src.StateRewards) && r.src.StateRewards[i].Text != nil {
		if s, state, err = readStateRewards(r.ctx, r.src.StateRewards[i], r.model, r.opts.Exact); err != nil {
			return err
		}
		r.errs = append(r.errs, s.errs...)
		name = s.name
	}
	if i < len(r.src.TransitionRewards) && r.src.TransitionRewards[i].Text != nil {
		if t, trans, err = readTransitionRewards(r.ctx, r.src.TransitionRewards[i], r.model, r.opts.Exact, r.tra.assembly.choices); err != nil {
			return err
		}
		r.errs = append(r.errs, t.errs...)
		if s != nil && s.named && t.named && s.name != t.name {
			r.errs.Add(t.src.Name, syntax.Pos{Line: 1, Col: 1}, "found rewards of %q, wanted those of %q as in %s", t.name, s.name, s.src.Name)
		}
		if t.named {
			name = t.name
		}
	}
	if len(r.errs) > 0 {
		return nil
	}
	if trans != nil && r.model.Intervals() && unequal(r.model, trans) {
		r.errs.Add(r.src.TransitionRewards[i].Name, syntax.Pos{}, "found different rewards of the transitions of a state of an interval Markov chain, wanted one")
		return nil
	}
	reward, each := structure(r.model, name, state, trans)
	r.model.Rewards = append(r.model.Rewards, reward)
	r.rewards = append(r.rewards, each)
	return nil
}

func (r *reading) deadlocks() error {
	if !r.opts.NoFixDeadlocks || r.tra.deadlocks.Empty() {
		return nil
	}
	e := &explicit.DeadlockError{Count: r.tra.deadlocks.Count()}
	for s := range r.tra.deadlocks.All() {
		e.State = fmt.Sprintf("number %d", s)
		break
	}
	return e
}

func (r *reading) importSpace() (*explicit.Space, error) {
	d := &explicit.Imported{
		File: r.src.Transitions.Name, Type: r.tra.typ, Actions: r.tra.names, Model: r.model,
		TransitionRewards: r.rewards, Warnings: r.tra.warnings(), Rounded: r.rounded, Normalised: r.tra.normalised,
	}
	if r.sta != nil {
		d.Vars, d.Valuation = r.sta.vars, explicit.Valued(r.sta.values, len(r.sta.vars))
	} else {
		d.Vars, d.Valuation = numbered(r.tra.states)
	}
	if r.tra.seen != nil {
		d.Seen = r.tra.observed(r.obs)
		d.Observables = []string{"o"}
		if r.obs != nil {
			d.Observables = r.obs.called()
		}
	}
	space, err := explicit.Import(d)
	if dup, ok := errors.AsType[*explicit.DuplicateError](err); ok && r.sta != nil {
		return nil, syntax.ErrorList{{File: r.sta.src.Name, Pos: r.sta.place(dup.Second), Msg: fmt.Sprintf("found the values of state %d again in state %d, wanted each once", dup.First, dup.Second)}}
	}
	return space, err
}

// numbered is the one variable of states without valuations.
func numbered(n int) ([]sema.Variable, func(i int) []int32) {
	values := make([]int32, 1)
	return []sema.Variable{{Name: "x", Type: sema.Int, Low: 0, High: int32(n - 1)}}, func(i int) []int32 {
		values[0] = int32(i)
		return values
	}
}

// warnings are what is doubtful about the rows.
func (a *assembly) warnings() []string {
	if a.offRows == 0 {
		return nil
	}
	then := "bounds take that into account"
	if a.normalised {
		then = "each is divided by its sum"
	}
	return []string{fmt.Sprintf("the probabilities of %d rows of %s do not quite sum to 1, by up to %.3g; %s", a.offRows, a.src.Name, a.off, then)}
}
