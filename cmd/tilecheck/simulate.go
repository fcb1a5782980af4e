package main

import (
	"cmp"
	"context"

	"tilecheck/native/explain/scheduler"
	"tilecheck/native/simulate"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/report/paths"
	"tilecheck/report/table"
)

type simulateCmd struct {
	ModelFile string   `arg:"" name:"model" help:"PRISM or JANI model, - (standard input), or exported states: m.all, m.tra,sta, m.drn, m.umb." file:"states"`
	Const     []string `help:"Values of undefined constants: a=1,b=0.5." sep:"none" placeholder:"DEFS"`

	typeFlags `embed:""`

	Steps       int64    `help:"Length of the path." default:"20" want:"[0,]" placeholder:"N"`
	Time        float64  `help:"Instead of --steps: go on until time T (steps, in a discrete-time model)." placeholder:"T"`
	Deadlock    bool     `help:"Instead of --steps: go on until a deadlock."`
	MaxPath     int64    `help:"Longest path with --time or --deadlock." default:"10000" placeholder:"N"`
	Path        string   `help:"Replay the path in this file and check each step; PRISM's -simpath, --format csv and check --export-witness write such files. With --steps, --time or --deadlock it goes on at random." placeholder:"FILE" file:"in"`
	Scheduler   string   `help:"Make the choices of an MDP as in this file, which check --export-scheduler or shield wrote (default: at random)." placeholder:"FILE" file:"in"`
	Player      []string `help:"In a game, only these players follow --scheduler." placeholder:"NAME"`
	Interactive bool     `help:"Choose each step: prints the transitions of a state, and reads commands (? lists them)."`
	Seed        *uint64  `help:"Seed of random numbers (default: drawn, and printed)." placeholder:"N"`

	Vars        []string `help:"Variables to show (default: all)." placeholder:"NAME"`
	Changes     bool     `help:"Print a state only if a shown variable has changed."`
	Probs       bool     `help:"Show the probability of every step."`
	Rewards     bool     `help:"Show rewards."`
	NoLoopCheck bool     `help:"Go on at a self-loop that repeats for ever."`

	Board  bool         `name:"as-board" aliases:"board" help:"Draw the variables v_0, v_1, ... as a board of 2048."`
	Cols   int          `help:"Columns of the board (default: those of a generated model, otherwise a square board)." placeholder:"C"`
	Format table.Format `help:"table (default), json, csv (PRISM's -simpath) or markdown." default:"table" placeholder:"FORMAT"`

	dialectFlag `embed:""`
	timeFlag    `embed:""`
}

// Run prints one path through the model. The steps of the path are random, read from a file, or chosen by the user.
func (c *simulateCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withTimeLimit(ctx, c.Timeout)
	defer cancel()
	if c.Scheduler != "" { // the whole state space is built, which needs much memory
		var release context.CancelFunc
		ctx, release = env.withMemoryLimit(ctx, 0)
		defer release()
	}
	if err := c.checkFlags(env); err != nil {
		return err
	}
	options := c.pathOptions()
	source, warnings, err := c.newSource(ctx, env, &options)
	if err != nil {
		return err
	}
	slots, err := c.shownSlots(source.Program())
	if err != nil {
		return err
	}
	if c.Interactive {
		env.warn(warnings)
		return c.startDialogue(ctx, env, source, slots)
	}
	if err := c.completeOptions(ctx, env, source.Program(), &options); err != nil {
		return err
	}
	env.warn(warnings)
	env.markOutputStarted()
	path := simulate.Walk(ctx, source, options)
	printer := paths.Printer{
		Program: source.Program(), Path: path, Vars: slots, Seed: options.Seed, Record: options.Record, Drawn: c.drawsSteps(env), Scheduler: c.Scheduler, Players: c.Player,
		Probs: c.Probs, Rewards: c.Rewards, Changes: c.Changes, Board: c.Board, Cols: c.Cols,
	}
	if err := printer.Print(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	return path.Err // the part of the path before this error has been printed
}

// endsAtEvent reports whether a time or a deadlock ends the path, and not a number of steps.
func (c *simulateCmd) endsAtEvent() bool { return c.Time > 0 || c.Deadlock }

// drawsSteps reports whether steps are drawn at random: all steps, or those after the steps in the file of --path.
func (c *simulateCmd) drawsSteps(env *environment) bool {
	return c.Path == "" || c.endsAtEvent() || env.givenFlags["steps"]
}

// checkFlags returns a usage error if flags do not fit together.
func (c *simulateCmd) checkFlags(env *environment) error {
	err := cmp.Or(
		env.refuseFlags(c.Interactive, "with --interactive", "steps", "time", "deadlock", "max-path", "path", "scheduler", "changes", "no-loop-check", "as-board", "cols", "format"),
		env.refuseFlags(!c.drawsSteps(env), "with --path alone, want --steps, --time or --deadlock", "seed", "no-loop-check"),
		env.refuseFlags(c.endsAtEvent(), "with --time or --deadlock, want --max-path", "steps"),
		env.refuseFlags(!c.endsAtEvent(), "without --time or --deadlock, want --steps", "max-path"),
		env.refuseFlags(!c.Board, "without --as-board", "cols"),
		env.refuseFlags(c.Scheduler == "", "without --scheduler", "player"),
		env.refuseFlags(c.Path != "", "with --path, whose steps are the choices", "scheduler"),
		env.refuseFlags(c.Board, "with --as-board", "format", "probs", "rewards"),
	)
	if err == nil && c.Interactive && c.ModelFile == "-" {
		return usageError("--interactive reads commands from standard input, want a file for the model")
	}
	return err
}

// completeOptions adds to the options the steps in the file of --path and the seed of the random steps.
func (c *simulateCmd) completeOptions(ctx context.Context, env *environment, program *sema.Program, options *simulate.PathOptions) error {
	if c.Path != "" {
		text, err := env.readText(c.Path)
		if err != nil {
			return err
		}
		if options.Record, err = simulate.ReadPath(ctx, c.Path, text, program); err != nil {
			return err
		}
	}
	if !c.drawsSteps(env) {
		options.Steps = 0
		return nil
	}
	var err error
	options.Seed, err = env.seedOrRandom(c.Seed)
	return err
}

// newSource returns the source of paths, which is a compiled model or a state space, and warnings. With --scheduler it builds the state space and
// sets options.Chooser to this scheduler.
func (c *simulateCmd) newSource(ctx context.Context, env *environment, options *simulate.PathOptions) (source simulate.Source, warnings []string, err error) {
	flags := spaceFlags{ModelFile: c.ModelFile, Const: c.Const, typeFlags: c.typeFlags, dialectFlag: c.dialectFlag}
	if !namesStates(c.ModelFile) && c.Scheduler == "" {
		model, warnings, err := flags.compile(ctx, env)
		if err != nil {
			return nil, nil, err
		}
		return simulate.FromModel(model), warnings, nil
	}
	space, err := flags.space(ctx, env)
	if err != nil {
		return nil, nil, err
	}
	if c.Scheduler != "" {
		follower, err := c.readFollower(ctx, env, space)
		if err != nil {
			return nil, nil, err
		}
		options.Chooser = follower
	}
	steps := explicit.NewSteps(space)
	return steps, steps.Warnings(), nil
}

// readFollower reads the scheduler of --scheduler, which makes the choices of the path. With --player, it makes only the choices of these
// players.
func (c *simulateCmd) readFollower(ctx context.Context, env *environment, space *explicit.Space) (*scheduler.Follower, error) {
	text, err := env.readText(c.Scheduler)
	if err != nil {
		return nil, err
	}
	players, err := playersOf(space, c.Player, c.Scheduler)
	if err != nil {
		return nil, err
	}
	return scheduler.ReadFollower(ctx, c.Scheduler, text, space, players)
}

// pathOptions returns the options of the path that the flags describe: where the path ends, and whether it has rewards.
func (c *simulateCmd) pathOptions() simulate.PathOptions {
	options := simulate.PathOptions{
		MaxSteps: c.MaxPath, NoLoopCheck: c.NoLoopCheck, Rewards: c.Rewards,
		Time: c.Time, Deadlock: c.Deadlock,
	}
	if c.Time == 0 && !c.Deadlock {
		options.Steps = c.Steps
	}
	return options
}

// shownSlots returns the indices of the variables to show: those of --vars, or all.
func (c *simulateCmd) shownSlots(program *sema.Program) ([]int, error) {
	if len(c.Vars) > 0 {
		slots, err := simulate.VarSlots(program, c.Vars)
		if err != nil {
			return nil, usageError("--vars: %w", err)
		}
		return slots, nil
	}
	slots := make([]int, len(program.Vars))
	for i := range slots {
		slots[i] = i
	}
	return slots, nil
}
