package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"tilecheck/modelgen"
	"tilecheck/native/explain/scheduler"
	"tilecheck/native/explain/shield"
	"tilecheck/native/explain/tree"
	"tilecheck/native/load"
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
func (c *resolveCmd) Run(ctx context.Context, env *environment) error {
	if n := len(slices.DeleteFunc([]bool{c.Scheduler != "", c.Uniform && c.Scheduler == "", c.Policy != ""}, func(given bool) bool { return !given })); n != 1 || c.Uniform && c.Policy != "" {
		return usageError("found %d of --scheduler, --uniform and --policy, want one, or --uniform beside --scheduler", n)
	}
	written, ofStates := stateFiles(c.Output)
	outputs := []string{c.Output}
	if ofStates {
		outputs = outputFiles([]output{written}, 0)
	}
	if err := env.files.withOutputs("--output", outputs...).check(); err != nil {
		return err
	}
	ctx, cancel := env.withLimits(ctx, c.Timeout, c.Memory)
	defer cancel()
	src, err := env.readSource(c.ModelFile)
	if err != nil {
		return err
	}
	model, err := syntax.ParseModel(c.ModelFile, src)
	if err != nil {
		return err
	}
	before, err := c.buildSpace(ctx, src)
	if err != nil {
		return err
	}
	if before.Program().Type != syntax.MDP {
		return fmt.Errorf("%s: found a %s, want an MDP, which has choices to resolve", c.ModelFile, before.Program().Type)
	}
	if left, err := c.inducedModel(ctx, env, model, src); left != nil || err != nil {
		if err != nil {
			return err
		}
		text, err := left.TextAs(syntax.DTMC)
		if err != nil {
			return err
		}
		after, err := c.buildSpace(ctx, text)
		if err != nil {
			return fmt.Errorf("the model with the choices made: %w", compile.QuoteLine(err, text))
		}
		return c.writeChain(ctx, env, before, after, left)
	}
	var made scheduler.Scheduler
	if c.Scheduler != "" {
		var permitted *sparse.Set
		if permitted, made, err = c.readScheduler(ctx, env, before); err != nil {
			return err
		}
		if made == nil {
			return c.writePermitted(ctx, env, before, permitted, model)
		}
	}
	if ofStates && made != nil {
		chain, err := made.Chain(ctx, before)
		if err != nil {
			return err
		}
		return c.writeStates(ctx, env, written, before, chain)
	}
	items, err := c.choosingModules(ctx, env, before, made)
	if err != nil {
		return err
	}
	model.Items = append(model.Items, items...)
	text, err := model.TextAs(syntax.MDP)
	if err != nil {
		return err
	}
	after, err := c.buildSpace(ctx, text)
	if err != nil {
		return fmt.Errorf("the model with the choices made: %w", compile.QuoteLine(err, text))
	}
	if err := scheduler.CheckResolved(before.Model(), after.Model(), c.Uniform && c.Scheduler == ""); err != nil {
		return err
	}
	return c.writeChain(ctx, env, before, after, model)
}

// writeChain writes a model whose choices are made as a Markov chain, given its states as an MDP.
func (c *resolveCmd) writeChain(ctx context.Context, env *environment, before, after *explicit.Space, model *syntax.Model) error {
	text, err := model.TextAs(syntax.DTMC)
	if err != nil {
		return err
	}
	if written, ofStates := stateFiles(c.Output); ofStates {
		chain, err := c.buildSpace(ctx, text)
		if err != nil {
			return err
		}
		return c.writeStates(ctx, env, written, before, chain)
	}
	c.printSizes(env, before, after)
	return env.writeFile(cmp.Or(c.Output, "-"), textWriter(string(text)))
}

// writePermitted writes what is left of an MDP whose states have choices that are permitted, several of some: with --uniform the
// chain in which these are as likely, otherwise an MDP.
func (c *resolveCmd) writePermitted(ctx context.Context, env *environment, before *explicit.Space, permitted *sparse.Set, model *syntax.Model) error {
	if written, ofStates := stateFiles(c.Output); ofStates && !c.Uniform {
		left, err := before.Restrict(permitted)
		if err != nil {
			return err
		}
		return c.writeStates(ctx, env, written, before, left)
	}
	text, err := shield.FromAllowed(before, permitted).Model(ctx, model)
	if err != nil {
		return fmt.Errorf("%s permits several choices: %w", c.Scheduler, err)
	}
	after, err := c.buildSpace(ctx, text)
	if err != nil {
		return fmt.Errorf("the model with the choices that are permitted: %w", compile.QuoteLine(err, text))
	}
	if c.Uniform {
		left, err := syntax.ParseModel(c.ModelFile, text)
		if err != nil {
			return err
		}
		return c.writeChain(ctx, env, before, after, left)
	}
	c.printSizes(env, before, after)
	return env.writeFile(cmp.Or(c.Output, "-"), textWriter(string(text)))
}

// printSizes says how large the chain is, or the MDP that is left, to whoever wants to know.
func (c *resolveCmd) printSizes(env *environment, before, after *explicit.Space) {
	if !env.quiet {
		b, a := before.Model(), after.Model()
		left := fmt.Sprintf("%d transitions of the chain", a.NumEdges())
		if !c.Uniform && a.NumDeciding() > 0 {
			left = fmt.Sprintf("%d choices, %d transitions of what is left, an MDP", a.NumChoices(), a.NumTransitions())
		}
		fmt.Fprintf(env.stderr, "note: %d states, %d choices, %d transitions of the MDP; %d states, %s\n",
			b.NumStates(), b.NumChoices(), b.NumTransitions(), a.NumStates(), left)
	}
}

// writeStates writes files of the states of a chain.
func (c *resolveCmd) writeStates(ctx context.Context, env *environment, o output, before, chain *explicit.Space) error {
	if err := env.files.withOutputs("--output", outputFiles([]output{o}, len(chain.Program().Rewards))...).check(); err != nil {
		return err
	}
	program := *chain.Program()
	if chain.Model().Kind == sparse.DTMC {
		program.Type = syntax.DTMC
	}
	c.printSizes(env, before, chain)
	x := &exporter{env: env, space: chain, options: files.Options{Program: &program, Precision: files.MaxPrecision, Zeros: true}}
	return x.write(ctx, o)
}

// readScheduler reads the file of a scheduler: the choices that it permits, and the scheduler that they are, if they are one.
func (c *resolveCmd) readScheduler(ctx context.Context, env *environment, space *explicit.Space) (*sparse.Set, scheduler.Scheduler, error) {
	text, err := env.readSource(c.Scheduler)
	if err != nil {
		return nil, nil, err
	}
	return scheduler.ReadPermitted(ctx, c.Scheduler, text, space)
}

// buildSpace builds those of a model.
func (c *resolveCmd) buildSpace(ctx context.Context, src []byte) (*explicit.Space, error) {
	plan, err := runner.PlanModel(ctx, c.job(src))
	if err != nil {
		return nil, err
	}
	space, err := load.Space(ctx, plan)
	return space, stateLimitError(err)
}

func (c *resolveCmd) job(src []byte) runner.Job {
	return runner.Job{
		File: c.ModelFile, Model: src, Consts: c.Const,
		Settings: runner.Settings{Numeric: runner.Numeric{MaxStates: c.MaxStates, MaxMemory: int64(c.Memory)}},
	}
}

// inducedModel returns the Markov chain that a scheduler with memory induces, as a model; nil if the scheduler has no memory.
func (c *resolveCmd) inducedModel(ctx context.Context, env *environment, model *syntax.Model, src []byte) (*syntax.Model, error) {
	if c.Scheduler == "" {
		return nil, nil
	}
	text, err := env.readSource(c.Scheduler)
	if err != nil || !scheduler.Remembers(text) {
		return nil, err
	}
	space, err := c.buildExactSpace(ctx, src)
	if err != nil {
		return nil, err
	}
	if len(space.Model().Initial) != 1 {
		return nil, fmt.Errorf("%s: found %d initial states, want one for a scheduler with a memory", c.ModelFile, len(space.Model().Initial))
	}
	x, err := scheduler.ReadController(ctx, c.Scheduler, text, space)
	if err != nil {
		return nil, err
	}
	chain, err := x.Chain(ctx, space.Model())
	if err != nil {
		return nil, err
	}
	left, err := scheduler.ControllerModel(ctx, model, src, space, x, chain)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Scheduler, err)
	}
	return left, nil
}

// buildExactSpace builds the states, with fractions if the model has them.
func (c *resolveCmd) buildExactSpace(ctx context.Context, src []byte) (*explicit.Space, error) {
	job := c.job(src)
	m, _, err := load.Model(ctx, job)
	if err != nil {
		return nil, err
	}
	space, _, err := load.Fractions(ctx, m, load.Options(&job))
	return space, stateLimitError(err)
}

// choosingModules returns the modules that make the choices; none if every choice is as likely,
// which is what a DTMC with several commands for a state means.
func (c *resolveCmd) choosingModules(ctx context.Context, env *environment, space *explicit.Space, made scheduler.Scheduler) ([]syntax.Item, error) {
	switch {
	case made != nil:
		found, err := tree.Imitate(ctx, space, made[0])
		if err != nil {
			return nil, err
		}
		items, err := found.Items("policy_manager")
		if err != nil {
			return nil, fmt.Errorf("%w; -o FILE.all or FILE.umb writes the states of the chain", err)
		}
		return items, nil
	case c.Uniform:
		return nil, nil
	}
	if noSuchFile(c.Policy) {
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
