package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/native/explain/scheduler"
	"tilecheck/native/explain/shield"
	"tilecheck/native/explain/tree"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
)

// resolveCmd writes Markov chains as models that can be read.
type resolveCmd struct {
	ModelFile string   `arg:"" name:"model" help:"PRISM model of an MDP (- for standard input)." file:"in"`
	Const     []string `help:"Values of undefined constants, to build the states: a=1,b=0.5." sep:"none" placeholder:"DEFS"`

	Scheduler string `help:"File with the choices: Storm's JSON or one of PRISM's lists, as check --export-scheduler or shield writes them." placeholder:"FILE" file:"in"`
	Uniform   bool   `help:"Every choice of a state is as likely, with --scheduler those that it permits."`
	Policy    string `help:"File with modules that choose, or a policy of the game, such as random." placeholder:"FILE" file:"in"`

	MaxStates int       `rare:"" help:"Give up a state space with more states (default: no limit)." placeholder:"N"`
	Memory    byteCount `help:"Memory limit, such as 4GB (default: 3/4 of what is free)." placeholder:"SIZE"`
	Output    string    `short:"o" help:"Model to write (default: standard output), or files of states: m.all, m.tra,sta,lab, m.umb, ..." placeholder:"FILE" file:"some"`

	Timeout time.Duration `help:"Time limit (default: none)." placeholder:"DURATION"`
}

// Run writes the model, once its states have shown that nothing is left to choose.
func (c *resolveCmd) Run(ctx context.Context, env *world) error {
	if n := len(slices.DeleteFunc([]bool{c.Scheduler != "", c.Uniform && c.Scheduler == "", c.Policy != ""}, func(given bool) bool { return !given })); n != 1 || c.Uniform && c.Policy != "" {
		return usageError("found %d of --scheduler, --uniform and --policy, want one, or --uniform beside --scheduler", n)
	}
	written, ofStates := stateFiles(c.Output)
	outputs := []string{c.Output}
	if ofStates {
		outputs = namesOf([]output{written}, 0)
	}
	if err := env.places.with("--output", outputs...).check(); err != nil {
		return err
	}
	ctx, cancel := env.limits(ctx, c.Timeout, c.Memory)
	defer cancel()
	src, err := env.readSource(c.ModelFile)
	if err != nil {
		return err
	}
	model, err := syntax.ParseModel(c.ModelFile, src)
	if err != nil {
		return err
	}
	before, err := c.states(ctx, src)
	if err != nil {
		return err
	}
	if before.Program().Type != syntax.MDP {
		return fmt.Errorf("%s: found a %s, want an MDP, which has choices to resolve", c.ModelFile, before.Program().Type)
	}
	if left, err := c.remembered(ctx, env, model, src); left != nil || err != nil {
		if err != nil {
			return err
		}
		text, err := typed(left, syntax.DTMC)
		if err != nil {
			return err
		}
		after, err := c.states(ctx, text)
		if err != nil {
			return fmt.Errorf("the model with the choices made: %w", unplaced(err, text))
		}
		return c.writeChain(ctx, env, before, after, left)
	}
	var made scheduler.Scheduler
	if c.Scheduler != "" {
		var permitted *sparse.Set
		if permitted, made, err = c.read(ctx, env, before); err != nil {
			return err
		}
		if made == nil {
			return c.permissive(ctx, env, before, permitted, model)
		}
	}
	if ofStates && made != nil {
		chain, err := chainOf(ctx, before, made)
		if err != nil {
			return err
		}
		return c.writeStates(ctx, env, written, before, chain)
	}
	items, err := c.resolver(ctx, env, before, made)
	if err != nil {
		return err
	}
	model.Items = append(model.Items, items...)
	text, err := typed(model, syntax.MDP)
	if err != nil {
		return err
	}
	after, err := c.states(ctx, text)
	if err != nil {
		return fmt.Errorf("the model with the choices made: %w", unplaced(err, text))
	}
	if err := c.resolved(before, after); err != nil {
		return err
	}
	return c.writeChain(ctx, env, before, after, model)
}

// writeChain writes a model whose choices are made as a Markov chain, given its states as an MDP.
func (c *resolveCmd) writeChain(ctx context.Context, env *world, before, after *explicit.Space, model *syntax.Model) error {
	text, err := typed(model, syntax.DTMC)
	if err != nil {
		return err
	}
	if written, ofStates := stateFiles(c.Output); ofStates {
		chain, err := c.states(ctx, text)
		if err != nil {
			return err
		}
		return c.writeStates(ctx, env, written, before, chain)
	}
	c.note(env, before, after)
	return env.writeFile(cmp.Or(c.Output, "-"), textWriter(string(text)))
}

// permissive writes what is left of an MDP whose states have choices that are permitted, several of some: with --uniform the
// chain in which these are as likely, otherwise an MDP.
func (c *resolveCmd) permissive(ctx context.Context, env *world, before *explicit.Space, permitted *sparse.Set, model *syntax.Model) error {
	if written, ofStates := stateFiles(c.Output); ofStates && !c.Uniform {
		left, err := before.Restrict(permitted)
		if err != nil {
			return err
		}
		return c.writeStates(ctx, env, written, before, left)
	}
	text, err := shield.Of(before, permitted).Model(ctx, model)
	if err != nil {
		return fmt.Errorf("%s permits several choices: %w", c.Scheduler, err)
	}
	after, err := c.states(ctx, text)
	if err != nil {
		return fmt.Errorf("the model with the choices that are permitted: %w", unplaced(err, text))
	}
	if c.Uniform {
		left, err := syntax.ParseModel(c.ModelFile, text)
		if err != nil {
			return err
		}
		return c.writeChain(ctx, env, before, after, left)
	}
	c.note(env, before, after)
	return env.writeFile(cmp.Or(c.Output, "-"), textWriter(string(text)))
}

// unplaced returns an error about a text that was made, which nobody sees: with the line itself instead of its place.
func unplaced(err error, text []byte) error {
	var first *syntax.Error
	if list, ok := errors.AsType[syntax.ErrorList](err); ok && len(list) > 0 {
		first = list[0]
	} else if wrong, ok := errors.AsType[*compile.StateError](err); ok {
		first = &syntax.Error{Pos: wrong.Pos, Msg: wrong.Msg + " in state " + wrong.State}
	} else if first, ok = errors.AsType[*syntax.Error](err); !ok {
		return err
	}
	lines := strings.Split(string(text), "\n")
	if !first.Pos.IsValid() || int(first.Pos.Line) > len(lines) {
		return errors.New(first.Msg)
	}
	return fmt.Errorf("%s, in %q", first.Msg, strings.TrimSpace(lines[first.Pos.Line-1]))
}

// typed returns the text of a model that has another type.
func typed(model *syntax.Model, t syntax.ModelType) ([]byte, error) {
	var text bytes.Buffer
	err := syntax.Fprint(&text, withType(model, t), syntax.Options{})
	return text.Bytes(), err
}

// note says how large the chain is, or the MDP that is left, to whoever wants to know.
func (c *resolveCmd) note(env *world, before, after *explicit.Space) {
	if !env.quiet {
		b, a := before.Model(), after.Model()
		left := fmt.Sprintf("%d transitions of the chain", chainTransitions(a))
		if !c.Uniform && undecided(a) > 0 {
			left = fmt.Sprintf("%d choices, %d transitions of what is left, an MDP", a.NumChoices(), a.NumTransitions())
		}
		fmt.Fprintf(env.stderr, "note: %d states, %d choices, %d transitions of the MDP; %d states, %s\n",
			b.NumStates(), b.NumChoices(), b.NumTransitions(), a.NumStates(), left)
	}
}

// chainOf returns the chain of the states that a scheduler reaches. It needs no module
// that makes the choices, so actions may have no names.
func chainOf(ctx context.Context, space *explicit.Space, x scheduler.Scheduler) (*explicit.Space, error) {
	in, err := x.Induce(ctx, space.Model(), scheduler.InduceOptions{Reachable: true, Order: space.Order()})
	if err != nil {
		return nil, err
	}
	rewards := map[int]*sparse.Reward{}
	for i := range space.Program().Rewards {
		r, err := space.Reward(i)
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		rewards[i] = in.Reward(r)
	}
	return space.Quotient(in.State, in.Model, rewards), nil
}

// writeStates writes files of the states of a chain.
func (c *resolveCmd) writeStates(ctx context.Context, env *world, o output, before, chain *explicit.Space) error {
	if err := env.places.with("--output", namesOf([]output{o}, len(chain.Program().Rewards))...).check(); err != nil {
		return err
	}
	program := *chain.Program()
	if chain.Model().Kind == sparse.DTMC {
		program.Type = syntax.DTMC
	}
	c.note(env, before, chain)
	x := &exporter{env: env, space: chain, opts: files.Options{Program: &program, Precision: files.MaxPrecision, Zeros: true}}
	return x.write(ctx, o)
}

// read reads the file of a scheduler: the choices that it permits, and the scheduler that they are, if they are one.
func (c *resolveCmd) read(ctx context.Context, env *world, space *explicit.Space) (*sparse.Set, scheduler.Scheduler, error) {
	text, err := env.readSource(c.Scheduler)
	if err != nil {
		return nil, nil, err
	}
	return scheduler.ReadPermitted(ctx, c.Scheduler, text, space)
}

// states builds those of a model.
func (c *resolveCmd) states(ctx context.Context, src []byte) (*explicit.Space, error) {
	m, _, err := native.Load(ctx, runner.Job{File: c.ModelFile, Model: src, Consts: c.Const})
	if err != nil {
		return nil, err
	}
	space, err := explicit.Build(ctx, m, explicit.Options{MaxStates: c.MaxStates, MaxMemory: int64(c.Memory)})
	return space, outOfStates(err)
}

// resolver returns the modules that make the choices; none if every choice is as likely,
// which is what a DTMC with several commands for a state means.
func (c *resolveCmd) resolver(ctx context.Context, env *world, space *explicit.Space, made scheduler.Scheduler) ([]syntax.Item, error) {
	switch {
	case made != nil:
		found, err := tree.Find(ctx, &tree.Task{Space: space, Choices: made[0], Judge: faithful(space, made[0])})
		if err != nil {
			return nil, err
		}
		var module bytes.Buffer
		if err := found.Module(&module, "policy_manager"); err != nil {
			return nil, fmt.Errorf("%w; -o FILE.all or FILE.umb writes the states of the chain", err)
		}
		parsed, err := syntax.ParseModel("", module.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Scheduler, unplaced(err, module.Bytes()))
		}
		return parsed.Items, nil
	case c.Uniform:
		return nil, nil
	}
	if missing(c.Policy) {
		policy, err := modelgen.ParsePolicy(c.Policy)
		if err != nil {
			return nil, fieldUsage(err)
		}
		module, err := modelgen.Manager(policy)
		if module == nil || err != nil {
			return nil, usageError("--policy is %s, want one that chooses", c.Policy)
		}
		return []syntax.Item{module}, nil
	}
	text, err := env.readSource(c.Policy)
	if err != nil {
		return nil, err
	}
	parsed, err := syntax.ParseModel(c.Policy, text)
	if err != nil {
		return nil, err
	}
	return parsed.Items, nil
}

// faithful judges what is left of a space when a tree makes the choices: nothing is lost
// if they are those of the scheduler in every state that is reached.
func faithful(space *explicit.Space, choices []uint32) func(context.Context, *explicit.Space) (float64, error) {
	return func(ctx context.Context, left *explicit.Space) (float64, error) {
		m := left.Model()
		seen := sparse.NewSet(m.NumStates())
		queue := slices.Clone(m.Initial)
		for i := 0; i < len(queue); i++ {
			s := int(queue[i])
			if i&0xfff == 0 && ctx.Err() != nil {
				return 0, ctx.Err()
			}
			c, _ := m.Choices(s)
			if wanted := choices[s]; wanted != sparse.None && m.Actions != nil && m.Actions[c] != space.Model().Actions[wanted] {
				return 1, nil
			}
			lo, hi := m.Row(c)
			for _, t := range m.Target[lo:hi] {
				if !seen.Has(int(t)) {
					seen.Add(int(t))
					queue = append(queue, t)
				}
			}
		}
		return 0, nil
	}
}

// resolved wants the choices to have been made: one is left in every state, and none is
// stuck that was not.
func (c *resolveCmd) resolved(before, after *explicit.Space) error {
	m := after.Model()
	if deadlocks(m) > 0 && deadlocks(before.Model()) == 0 {
		return fmt.Errorf("%d states have no choice any more: what chooses blocks them", deadlocks(m))
	}
	if c.Uniform && c.Scheduler == "" {
		return nil
	}
	if open := undecided(m); open > 0 {
		return fmt.Errorf("%d states have several choices left: what chooses leaves them open", open)
	}
	return nil
}

// undecided counts the states with several choices.
func undecided(m *sparse.Model) int {
	n := 0
	for s := range m.NumStates() {
		if first, end := m.Choices(s); end-first > 1 {
			n++
		}
	}
	return n
}

func deadlocks(m *sparse.Model) int {
	if m.Deadlocks == nil {
		return 0
	}
	return m.Deadlocks.Count()
}

// chainTransitions counts the pairs of a state and a successor.
func chainTransitions(m *sparse.Model) int {
	n := 0
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		lo, _ := m.Row(first)
		_, hi := m.Row(end - 1)
		seen := map[uint32]bool{}
		for _, t := range m.Target[lo:hi] {
			seen[t] = true
		}
		n += len(seen)
	}
	return n
}

// withType returns a model with another type.
func withType(m *syntax.Model, t syntax.ModelType) *syntax.Model {
	out := *m
	out.Items = nil
	typed := false
	for _, x := range m.Items {
		if d, is := x.(*syntax.TypeDecl); is {
			y := *d
			y.Type, y.Word = t, wordOf(t)
			x, typed = &y, true
		}
		out.Items = append(out.Items, x)
	}
	if !typed {
		out.Items = append([]syntax.Item{&syntax.TypeDecl{Type: t, Word: wordOf(t)}}, out.Items...)
	}
	return &out
}

func wordOf(t syntax.ModelType) string {
	return map[syntax.ModelType]string{syntax.MDP: "mdp", syntax.DTMC: "dtmc"}[t]
}
