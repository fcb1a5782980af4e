package native

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/digital"
	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/runner"
)

// timedStates is an instance of a timed automaton, by the MDP with integer clocks (digital clocks). The largest values of the
// clocks depend on the property. Properties with the same largest values share an MDP.
type timedStates struct {
	method *statesMethod
	proven bool                   // certificates are wanted; there are none for timed automata
	spaces map[string]*timedSpace // by digital.Model.Key
}

// timedSpace is an MDP, or the error of building it.
type timedSpace struct {
	in      *states
	err     error
	warning string
}

// newTimedStates returns the instance of a timed automaton. The error says that a method or an output is not supported for timed
// automata.
func newTimedStates(m method, p *sema.Program) (*timedStates, error) {
	onStates, ok := m.(*statesMethod)
	switch {
	case !ok:
		return nil, unsupported(p, "%ss are not sampled, want method exact", p.Type)
	case onStates.wants.Certificate != nil:
		return nil, unsupported(p, "there is no certificate of models with clocks, found a %s", p.Type)
	case onStates.export != nil:
		return nil, unsupported(p, "schedulers are exported of models without clocks, found a %s", p.Type)
	}
	withoutProofs := *onStates
	withoutProofs.proven = false
	return &timedStates{method: &withoutProofs, proven: onStates.proven, spaces: make(map[string]*timedSpace)}, nil
}

// unsupported returns the error of a program that cannot be checked.
func unsupported(p *sema.Program, format string, args ...any) error {
	return &result.Failure{Class: result.Unsupported, File: p.File, Message: fmt.Sprintf(format, args...)}
}

// check implements instance. It translates the property and the model to an MDP, and checks the property there.
func (t *timedStates) check(ctx context.Context, p *property) result.Verdict {
	d, err := digital.Translate(p.Program, &p.Property)
	if err != nil {
		f := &result.Failure{Class: result.Unsupported, Message: err.Error(), File: p.File, Pos: p.Pos}
		if at, ok := errors.AsType[*digital.Error](err); ok {
			f.Pos = at.Pos
			if at.Always {
				f.Class = result.TypeError
			}
			if at.File != "" {
				f.File = at.File
			}
		}
		return result.Verdict{Err: f}
	}
	s := t.spaces[d.Key]
	if s == nil {
		s = t.build(ctx, d)
		if s.err == nil || ctx.Err() == nil {
			t.spaces[d.Key] = s
		}
	}
	if s.err != nil {
		return result.Verdict{Err: failure(s.err, result.Build, p.Program.File, p.Pos)}
	}
	v := s.in.check(ctx, &property{runner.Instance{Property: d.Property, Program: d.Program, File: p.File}, p.constants, p.keep})
	if t.proven {
		v.Warnings = append(slices.Clip(v.Warnings), NotProven+"there is no certificate of models with clocks")
	}
	if s.warning != "" {
		v.Warnings = append(slices.Clip(v.Warnings), s.warning)
	}
	return v
}

// build explores the MDP of a translated program. A deadlock of the MDP is a timelock of the automaton, which is an error.
func (t *timedStates) build(ctx context.Context, d *digital.Model) *timedSpace {
	s := &timedSpace{}
	m, err := compile.Compile(d.Program, compile.Options{})
	if err != nil {
		s.err = err
		return s
	}
	opt := t.method.build
	opt.NoFixDeadlocks = true
	space, err := explicit.Build(ctx, m, opt)
	if stuck, ok := errors.AsType[*explicit.DeadlockError](err); ok {
		s.err = &result.Failure{Class: result.Deadlock, File: d.Program.File, Message: fmt.Sprintf("Timelock in PTA, e.g. in state %s: neither time nor a command can go on", stuck.State)}
		return s
	}
	if err != nil {
		s.err = err
		return s
	}
	held, err := space.States(d.Invariants)
	if err != nil {
		s.err = err
		return s
	}
	if left := held.Complement(); !left.Empty() {
		for i := range left.All() {
			s.warning = fmt.Sprintf("state %s is entered against an invariant, and time cannot pass in it", m.StateText(space.State(nil, i)))
			break
		}
	}
	s.in = t.method.over(space, nil)
	return s
}
