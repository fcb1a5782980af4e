package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"tilecheck/internal/noun"
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

// resolveCmd applies a scheduler to an MDP or a game, and writes the induced Markov chain as a model.
type resolveCmd struct {
	ModelFile string   `arg:"" name:"model" help:"PRISM model of an MDP or a game (- for standard input)." file:"in"`
	Const     []string `help:"Values of undefined constants, to build the states: a=1,b=0.5." sep:"none" placeholder:"DEFS"`

	Scheduler string   `help:"File with the choices, which check --export-scheduler or shield wrote: Storm's JSON or a list as PRISM writes it." placeholder:"FILE" file:"in"`
	Uniform   bool     `help:"Make all choices of a state equally likely; with --scheduler, only those that the file allows."`
	Player    []string `help:"In a game: make only the choices of these players; the result is an MDP of the other players." placeholder:"NAME"`
	Policy    string   `help:"File with modules that make the choices; or, for a model of 2048, a policy such as random." placeholder:"FILE" file:"in"`

	MaxStates int       `rare:"" help:"Give up a state space with more states (default: no limit)." placeholder:"N"`
	Memory    byteCount `help:"Memory limit, such as 4GB (default: 3/4 of what is free)." placeholder:"SIZE"`
	Output    string    `short:"o" help:"Model to write (default: standard output), or files of states: m.all, m.tra,sta,lab, m.umb, ..." placeholder:"FILE" file:"some"`

	Timeout time.Duration `help:"Time limit (default: none)." placeholder:"DURATION"`
}

// Run applies a scheduler to an MDP or a game, and writes the induced Markov chain. It builds the states of the chain to check that each state
// has only one choice.
func (c *resolveCmd) Run(ctx context.Context, env *environment) error {
	if err := c.checkFlags(); err != nil {
		return err
	}
	outputs := []string{c.Output}
	if stateOutput, isStateFiles := stateFiles(c.Output); isStateFiles {
		outputs = outputFiles([]output{stateOutput}, 0)
	}
	if err := env.checkOutputs("--output", outputs...); err != nil {
		return err
	}
	ctx, cancel := env.withLimits(ctx, c.Timeout, c.Memory)
	defer cancel()
	unresolved, err := c.readModel(ctx, env)
	if err != nil {
		return err
	}
	inducedModel, err := c.inducedModel(ctx, env, unresolved)
	switch {
	case err != nil:
		return err
	case inducedModel != nil:
		return c.writeInduced(ctx, env, unresolved, inducedModel)
	case c.Scheduler != "":
		return c.applyScheduler(ctx, env, unresolved)
	}
	return c.addChoosingModules(ctx, env, unresolved, nil)
}

// unresolvedModel is an MDP or a game whose choices are not made yet.
type unresolvedModel struct {
	src     []byte
	model   *syntax.Model // without the players of a game
	space   *explicit.Space
	players []bool // the players of --player, by number; nil without the flag
}

// readModel reads the model and builds its state space. It returns an error if the model is neither an MDP nor a game, because then there is
// nothing to resolve.
func (c *resolveCmd) readModel(ctx context.Context, env *environment) (*unresolvedModel, error) {
	text, err := env.readSource(c.ModelFile)
	if err != nil {
		return nil, err
	}
	model, err := syntax.ParseModel(c.ModelFile, text)
	if err != nil {
		return nil, err
	}
	space, err := c.buildSpace(ctx, text)
	if err != nil {
		return nil, err
	}
	switch space.Program().Type {
	case syntax.MDP, syntax.IMDP:
	case syntax.SMG:
		if model, err = withoutPlayers(model); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("%s: found %s, want an MDP or a game, which has choices to resolve", c.ModelFile, noun.WithArticle(space.Program().Type.String()))
	}
	players, err := playersOf(space, c.Player, c.Scheduler)
	return &unresolvedModel{text, model, space, players}, err
}

// remainingType returns the type of the resolved model: an MDP if some players keep their choices, else a DTMC.
func (c *resolveCmd) remainingType(unresolved *unresolvedModel) syntax.ModelType {
	if unresolved.players != nil && !c.Uniform {
		return syntax.MDP
	}
	return syntax.DTMC
}

// writeInduced writes the model that a scheduler with memory induces.
func (c *resolveCmd) writeInduced(ctx context.Context, env *environment, unresolved *unresolvedModel, induced *syntax.Model) error {
	text, err := induced.TextAs(c.remainingType(unresolved))
	if err != nil {
		return err
	}
	resolved, err := c.buildSpace(ctx, text)
	if err != nil {
		return errResolved(err, text)
	}
	return c.writeResolved(ctx, env, unresolved.space, resolved, text)
}

// errResolved returns an error about the text of a resolved model. It quotes the line, because the text is not in a file.
func errResolved(err error, text []byte) error {
	return fmt.Errorf("the model with the choices made: %w", compile.QuoteLine(err, text))
}

// applyScheduler applies the memoryless scheduler in the file of --scheduler and writes the result. If the scheduler permits several choices of a
// state, the result is an MDP. With --player, the scheduler makes only the choices of these players.
func (c *resolveCmd) applyScheduler(ctx context.Context, env *environment, unresolved *unresolvedModel) error {
	permitted, chosenScheduler, err := c.readScheduler(ctx, env, unresolved.space)
	if err != nil {
		return err
	}
	if unresolved.players != nil {
		permitted = scheduler.RemainingChoices(unresolved.space.Model(), unresolved.players, permitted, chosenScheduler)
		chosenScheduler = nil
	}
	if chosenScheduler == nil {
		return c.writePermitted(ctx, env, unresolved.space, permitted, unresolved.model)
	}
	if stateOutput, isStateFiles := stateFiles(c.Output); isStateFiles {
		chain, err := chosenScheduler.Chain(ctx, unresolved.space)
		if err != nil {
			return err
		}
		return c.writeStates(ctx, env, stateOutput, unresolved.space, chain)
	}
	return c.addChoosingModules(ctx, env, unresolved, chosenScheduler)
}

// addChoosingModules adds modules to the model that make its choices, and writes the resulting chain. chosenScheduler is the scheduler of
// --scheduler; nil without the flag.
func (c *resolveCmd) addChoosingModules(ctx context.Context, env *environment, unresolved *unresolvedModel, chosenScheduler scheduler.Scheduler) error {
	items, err := c.choosingModules(ctx, env, unresolved.space, chosenScheduler)
	if err != nil {
		return err
	}
	model := unresolved.model
	model.Items = append(model.Items, items...)
	text, err := model.TextAs(syntax.MDP)
	if err != nil {
		return err
	}
	resolved, err := c.buildSpace(ctx, text)
	if err != nil && c.Policy != "" && noSuchFile(c.Policy) {
		return fmt.Errorf("%s was not written by tilecheck gen, and --policy %s chooses only in such models; want --scheduler or --uniform for it", c.ModelFile, c.Policy)
	}
	if err != nil {
		return errResolved(err, text)
	}
	if err := scheduler.CheckResolved(unresolved.space.Model(), resolved.Model(), c.Uniform && c.Scheduler == ""); err != nil {
		return err
	}
	return c.writeChain(ctx, env, unresolved.space, resolved, model)
}

// checkFlags returns a usage error unless exactly one flag says how the choices are made.
func (c *resolveCmd) checkFlags() error {
	numRules := 0
	for _, isGiven := range []bool{c.Scheduler != "", c.Uniform && c.Scheduler == "", c.Policy != ""} {
		if isGiven {
			numRules++
		}
	}
	if numRules != 1 || c.Uniform && c.Policy != "" {
		return usageError("want one of --scheduler FILE (check --export-scheduler FILE.json writes one), --uniform and --policy, found %d", numRules)
	}
	return nil
}

// withoutPlayers converts a game to an MDP: it removes the player declarations.
func withoutPlayers(game *syntax.Model) (*syntax.Model, error) {
	mdp := *game
	mdp.Items = slices.DeleteFunc(slices.Clone(game.Items), func(item syntax.Item) bool {
		_, isPlayer := item.(*syntax.Player)
		return isPlayer
	})
	text, err := mdp.TextAs(syntax.MDP)
	if err != nil {
		return nil, err
	}
	return syntax.ParseModel(game.File, text)
}

// writeChain writes the resolved model as a Markov chain, either as text or as files of states. original is the state space of the MDP or game, and
// resolved is the state space of the resolved model.
func (c *resolveCmd) writeChain(ctx context.Context, env *environment, original, resolved *explicit.Space, model *syntax.Model) error {
	text, err := model.TextAs(syntax.DTMC)
	if err != nil {
		return err
	}
	if _, isStateFiles := stateFiles(c.Output); isStateFiles {
		if resolved, err = c.buildSpace(ctx, text); err != nil {
			return err
		}
	}
	return c.writeResolved(ctx, env, original, resolved, text)
}

// writeResolved writes a resolved model, either as text or as files of its states. original is the state space of the MDP or game, and resolved
// is that of the resolved model.
func (c *resolveCmd) writeResolved(ctx context.Context, env *environment, original, resolved *explicit.Space, text []byte) error {
	if stateOutput, isStateFiles := stateFiles(c.Output); isStateFiles {
		return c.writeStates(ctx, env, stateOutput, original, resolved)
	}
	c.printSizes(env, original, resolved)
	return env.writeNamed(cmp.Or(c.Output, "-"), textWriter(string(text)))
}

// writePermitted writes an MDP that has only the permitted choices. With --uniform it writes a Markov chain that selects the permitted choices
// with equal probability.
func (c *resolveCmd) writePermitted(ctx context.Context, env *environment, original *explicit.Space, permitted *sparse.Set, model *syntax.Model) error {
	if stateOutput, isStateFiles := stateFiles(c.Output); isStateFiles && !c.Uniform {
		restricted, err := original.Restrict(permitted)
		if err != nil {
			return err
		}
		return c.writeStates(ctx, env, stateOutput, original, restricted)
	}
	text, err := shield.FromAllowed(original, permitted).Model(ctx, model)
	if err != nil {
		return fmt.Errorf("%s permits several choices: %w", c.Scheduler, err)
	}
	resolved, err := c.buildSpace(ctx, text)
	if err != nil {
		return fmt.Errorf("the model with the choices that are permitted: %w", compile.QuoteLine(err, text))
	}
	if c.Uniform {
		restricted, err := syntax.ParseModel(c.ModelFile, text)
		if err != nil {
			return err
		}
		return c.writeChain(ctx, env, original, resolved, restricted)
	}
	return c.writeResolved(ctx, env, original, resolved, text)
}

// printSizes prints the sizes of the MDP or game and of the resolved model, unless --quiet is given.
func (c *resolveCmd) printSizes(env *environment, original, resolved *explicit.Space) {
	if env.quiet {
		return
	}
	kind := "MDP"
	if original.Program().Type == syntax.SMG {
		kind = "game"
	}
	resolvedModel := resolved.Model()
	resolvedText := fmt.Sprintf("%s, %s of the chain", noun.Count(resolvedModel.NumStates(), "state"), noun.Count(resolvedModel.NumEdges(), "transition"))
	if !c.Uniform && resolvedModel.NumStatesWithChoices() > 0 {
		resolvedText = sizeText(resolvedModel) + " of the remaining MDP"
	}
	fmt.Fprintf(env.stderr, "note: %s of the %s; %s\n", sizeText(original.Model()), kind, resolvedText)
}

// writeStates writes the states of a chain as the files of an output.
func (c *resolveCmd) writeStates(ctx context.Context, env *environment, target output, original, chain *explicit.Space) error {
	if err := env.checkOutputs("--output", outputFiles([]output{target}, len(chain.Program().Rewards))...); err != nil {
		return err
	}
	program := *chain.Program()
	program.Type = syntax.MDP
	if chain.Model().Kind == sparse.DTMC {
		program.Type = syntax.DTMC
	}
	c.printSizes(env, original, chain)
	chainExporter := &exporter{env: env, space: chain, options: files.Options{Program: &program, Precision: files.MaxPrecision, Zeros: true}}
	if err := chainExporter.writeOutputs(ctx, target); err != nil {
		return err
	}
	env.noteWritten(chainExporter.writtenNames...)
	return nil
}

// readScheduler returns the choices that the file of --scheduler permits. chosen is the scheduler if only one choice is permitted in each state,
// and nil otherwise.
func (c *resolveCmd) readScheduler(ctx context.Context, env *environment, space *explicit.Space) (permitted *sparse.Set, chosen scheduler.Scheduler, err error) {
	text, err := env.readSource(c.Scheduler)
	if err != nil {
		return nil, nil, err
	}
	return scheduler.ReadPermitted(ctx, c.Scheduler, text, space)
}

// buildSpace builds the states of a model text.
func (c *resolveCmd) buildSpace(ctx context.Context, src []byte) (*explicit.Space, error) {
	plan, err := runner.PlanModel(ctx, c.job(src))
	if err != nil {
		return nil, err
	}
	space, err := load.Space(ctx, plan)
	return space, stateLimitError(err)
}

// job returns a job for the text of a model, with the limits that the flags set.
func (c *resolveCmd) job(src []byte) runner.Job {
	return runner.Job{
		File: c.ModelFile, Model: src, Consts: c.Const,
		Settings: runner.Settings{Numeric: runner.Numeric{MaxStates: c.MaxStates, MaxMemory: int64(c.Memory)}},
	}
}

// inducedModel returns the model that a scheduler with memory induces, as a syntax tree: a Markov chain, or the MDP of the other players with
// --player. It returns nil if there is no scheduler with memory.
func (c *resolveCmd) inducedModel(ctx context.Context, env *environment, unresolved *unresolvedModel) (*syntax.Model, error) {
	if c.Scheduler == "" {
		return nil, nil
	}
	text, err := env.readSource(c.Scheduler)
	if err != nil || !scheduler.Remembers(text) {
		return nil, err
	}
	space, err := c.buildExactSpace(ctx, unresolved.src)
	if err != nil {
		return nil, err
	}
	if len(space.Model().Initial) != 1 {
		return nil, fmt.Errorf("%s: found %d initial states, want one for a scheduler with a memory", c.ModelFile, len(space.Model().Initial))
	}
	controller, err := scheduler.ReadController(ctx, c.Scheduler, text, space, unresolved.players)
	if err != nil {
		return nil, err
	}
	induce := controller.Chain
	if c.remainingType(unresolved) == syntax.MDP {
		induce = controller.MDP
	}
	inducedStates, err := induce(ctx, space.Model())
	if err != nil {
		return nil, err
	}
	induced, err := scheduler.ControllerModel(ctx, unresolved.model, unresolved.src, space, controller, inducedStates)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Scheduler, err)
	}
	return induced, nil
}

// buildExactSpace builds the state space of a model text. Its weights are fractions if all numbers of the model are rational.
func (c *resolveCmd) buildExactSpace(ctx context.Context, src []byte) (*explicit.Space, error) {
	job := c.job(src)
	model, _, err := load.Model(ctx, job)
	if err != nil {
		return nil, err
	}
	space, _, err := load.Fractions(ctx, model, load.Options(&job))
	return space, stateLimitError(err)
}

// choosingModules returns the modules that make the choices: those of a scheduler, of a policy of the game 2048, or of the file of --policy.
func (c *resolveCmd) choosingModules(ctx context.Context, env *environment, space *explicit.Space, chosenScheduler scheduler.Scheduler) ([]syntax.Item, error) {
	switch {
	case chosenScheduler != nil:
		return schedulerModules(ctx, space, chosenScheduler)
	case c.Uniform: // in a DTMC all commands of a state are equally likely
		return nil, nil
	case noSuchFile(c.Policy):
		return c.policyModules()
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

// schedulerModules returns a module that makes the choices of a memoryless scheduler. The module contains a decision tree over the variables.
func schedulerModules(ctx context.Context, space *explicit.Space, chosenScheduler scheduler.Scheduler) ([]syntax.Item, error) {
	decisionTree, err := tree.Imitate(ctx, space, chosenScheduler[0])
	if err != nil {
		return nil, err
	}
	name := "scheduler"
	for i := 2; slices.Contains(space.Declares().Modules(), name); i++ {
		name = fmt.Sprintf("scheduler_%d", i)
	}
	items, err := decisionTree.Items(name)
	if err != nil {
		return nil, fmt.Errorf("%w; -o FILE.all or -o FILE.umb writes the states of the chain instead", err)
	}
	return items, nil
}

// policyModules returns the module for a policy of the game 2048.
func (c *resolveCmd) policyModules() ([]syntax.Item, error) {
	policy, err := modelgen.ParsePolicy(c.Policy)
	if err != nil {
		return nil, asUsageError(err)
	}
	module, err := modelgen.Manager(policy)
	if module == nil || err != nil {
		return nil, usageError("--policy is %s, want one that chooses", c.Policy)
	}
	return []syntax.Item{module}, nil
}
