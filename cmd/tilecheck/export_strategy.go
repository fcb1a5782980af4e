package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/bits"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/internal/quote"

	"tilecheck/game"
	"tilecheck/game/induced"
	"tilecheck/game/strategy"
	"tilecheck/modelgen"
	"tilecheck/native/space/files"
	"tilecheck/prism/syntax"
)

type exportStrategyCmd struct {
	Strategy   string `arg:"" help:"Strategy, such as pref:left,up,down,right; tilecheck strategies lists them."`
	boardFlags `embed:""`
	Max        int    `help:"Goal: the tile that ends the game as a success, a power of two." default:"2048" placeholder:"TILE"`
	Spawn      string `help:"Who chooses the cell of a new tile. uniform (the default): chance, as in the game. module: chance, in a module of its own. cell: the scheduler, as in the thesis." default:"uniform" placeholder:"SPAWN"`
	Output     string `short:"o" help:"Model to write (default: standard output, nothing with --explicit)." placeholder:"FILE" file:"out"`
	Dialect    string `help:"Language of the model: prism or storm." default:"prism" enum:"prism,storm" placeholder:"DIALECT"`
	Explicit   string `help:"Also write the chain as PREFIX.tra, .sta and .lab for PRISM, and as PREFIX.drn for Storm." placeholder:"PREFIX" file:"some"`
	Fractions  bool   `name:"exact" aliases:"fractions" help:"Fractions in the files of --explicit, for check --exact, prism -exact and storm --exact."`
	MaxStates  int    `help:"Give up a chain with more states (default: 10000000)." placeholder:"N"`

	timeFlag `embed:""`
}

// largeModel is the size from which on the explicit files are suggested. PRISM's explicit engine takes a model of this size in a
// minute; docs/proof.md has the measurements.
const largeModel = 1 << 20

// Run writes the Markov chain of a strategy: as a model with a table of the moves, as files of its states, or both.
func (c *exportStrategyCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withTimeLimit(ctx, c.Timeout)
	defer cancel()
	config, options, err := c.modelAndOptions()
	if err != nil {
		return err
	}
	player, err := strategy.Parse(c.Strategy, strategy.Setting{Rules: options.Rules, Max: options.Max})
	if err != nil {
		return usageError("%w", err)
	}
	if c.Explicit != "" {
		if err := env.checkOutputs("--explicit", c.Explicit+".tra", c.Explicit+".sta", c.Explicit+".lab", c.Explicit+".drn"); err != nil {
			return err
		}
	}
	chain, err := exploreChain(ctx, player, options)
	if err != nil {
		return err
	}
	value, err := chain.ValueText(ctx)
	if err != nil {
		return err
	}
	writesModel := c.Output != "" || c.Explicit == ""
	if !env.quiet {
		size := noun.Count(chain.Len()+1, "state")
		if writesModel {
			size += "; the written model is an MDP with one choice in each state, for Pmax=? [ F success ], and has more states, because a new tile is a separate step there"
		}
		fmt.Fprintf(env.stderr, "%s: wins with probability %s; its Markov chain has %s\n", player, value, size)
	}
	if chain.Rounded() {
		fmt.Fprintf(env.stderr, "warning: the probabilities of %s are rounded to 15 decimal places, so the value of the written model differs from the true value in the last digits\n", player)
	}
	if writesModel {
		if err := c.writeModel(env, config, chain, player, value); err != nil {
			return err
		}
	}
	if c.Explicit == "" {
		return nil
	}
	return c.writeChain(ctx, env, chain)
}

// exploreChain explores the Markov chain that a strategy induces. If the chain is too large, the error names a command that helps.
func exploreChain(ctx context.Context, player strategy.Strategy, options induced.Options) (*induced.Chain, error) {
	if err := strategy.Prepare(ctx, player); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w before %s knew its moves", context.Cause(ctx), player)
		}
		return nil, err
	}
	chain, err := induced.Explore(ctx, player, options)
	if unfinished, ok := errors.AsType[*induced.UnfinishedError](err); ok {
		return nil, fmt.Errorf("%w; tilecheck bound proves a lower bound from a part of the states, and tilecheck play estimates the value", unfinished)
	}
	if _, tooLarge := errors.AsType[*induced.SizeError](err); tooLarge {
		return nil, &codedError{exitOutOfLimit, fmt.Errorf("%w; tilecheck bound proves a lower bound from a part of the states, and tilecheck play estimates the value", err)}
	}
	return chain, explainTooLarge(player, err)
}

// explainTooLarge adds the name of the strategy to the error that its probabilities cannot be computed. It returns any other error unchanged.
func explainTooLarge(player strategy.Strategy, err error) error {
	if errors.Is(err, strategy.ErrTooLarge) {
		return &codedError{exitOutOfLimit, fmt.Errorf("%s draws its moves, want a strategy whose probabilities can be computed: %w", player, err)}
	}
	return err
}

// modelAndOptions returns the configuration of the generated model, which still lacks the moves of the strategy, and the options of the exploration.
func (c *exportStrategyCmd) modelAndOptions() (config modelgen.Config, options induced.Options, err error) {
	if c.Fractions && c.Explicit == "" {
		return config, options, usageError("--exact is for the files of --explicit")
	}
	config.Max, config.P2 = c.Max, c.P2
	if config.Rows, config.Cols, err = c.boardShape(); err != nil {
		return config, options, err
	}
	if config.Spawn, err = modelgen.ParseSpawn(c.Spawn); err != nil {
		return config, options, asUsageError(err)
	}
	if err := config.Validate(); err != nil {
		return config, options, asUsageError(err)
	}
	if options, err = newGame(config.Rows, config.Cols, c.Max); err != nil {
		return config, options, err
	}
	options.MaxStates = c.MaxStates
	options.P2, _ = new(big.Rat).SetString(c.P2) // Validate has read it
	return config, options, nil
}

// newGame returns options with the rules of the game on a board and with the goal tile. It returns a usage error if the board or the tile is not
// allowed.
func newGame(rows, cols, goalTile int) (options induced.Options, err error) {
	if goalTile < 4 || goalTile > game.Value(game.MaxExponent) || bits.OnesCount(uint(goalTile)) != 1 {
		return options, usageError("--max is %d, want a power of two from 4 to %d", goalTile, game.Value(game.MaxExponent))
	}
	rules, err := game.New(game.Shape{Rows: rows, Cols: cols})
	if err != nil {
		return options, usageError("%w", err)
	}
	return induced.Options{Rules: rules, Max: bits.TrailingZeros(uint(goalTile))}, nil
}

// writeModel writes the generated model. The model contains a table of the strategy's moves.
func (c *exportStrategyCmd) writeModel(env *environment, config modelgen.Config, chain *induced.Chain, player strategy.Strategy, value string) error {
	config.Table = chain.Table()
	config.Table.Command = c.command(config, player)
	config.Table.About = chain.PolicyComment(config.Spawn, value)
	model, err := modelgen.Build(config)
	if err != nil {
		return err
	}
	options := syntax.Options{Dialect: dialect(c.Dialect)}
	var text bytes.Buffer
	if err := syntax.Fprint(&text, model, options); err != nil {
		return err
	}
	if text.Len() > largeModel && c.Explicit == "" {
		fmt.Fprintf(env.stderr, "warning: the model has %.1f MB, which takes a model checker long to read; --explicit writes the chain instead\n",
			float64(text.Len())/1e6)
	}
	name := c.Output
	if name == "" {
		name = "-"
	}
	return env.writeNamed(name, bufferWriter(&text))
}

// bufferWriter returns a function that writes the contents of a buffer to its argument.
func bufferWriter(buffer *bytes.Buffer) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := buffer.WriteTo(w)
		return err
	}
}

// command returns the command line, without the program's name, that writes the same model again.
func (c *exportStrategyCmd) command(cfg modelgen.Config, player strategy.Strategy) string {
	return strings.Join([]string{
		"export-strategy", quote.Word(player.String()), fmt.Sprintf("--rows=%d", cfg.Rows), fmt.Sprintf("--cols=%d", cfg.Cols),
		fmt.Sprintf("--max=%d", cfg.Max), "--p2=" + c.P2, "--spawn=" + cfg.Spawn.String(),
	}, " ")
}

// writeChain writes the chain as files of states, for PRISM (.tra, .sta, .lab) and for Storm (.drn).
func (c *exportStrategyCmd) writeChain(ctx context.Context, env *environment, chain *induced.Chain) error {
	var tra, sta, lab bytes.Buffer
	if err := errors.Join(chain.WriteTransitions(ctx, &tra, c.Fractions), chain.WriteStates(ctx, &sta), chain.WriteLabels(ctx, &lab)); err != nil {
		return err
	}
	// The state space for Storm's format is read from the texts of PRISM's files. This also checks these texts.
	space, err := files.Read(ctx, files.Sources{
		Transitions: files.Source{Name: c.Explicit + ".tra", Text: tra.Bytes()},
		States:      &files.Source{Name: c.Explicit + ".sta", Text: sta.Bytes()},
		Labels:      &files.Source{Name: c.Explicit + ".lab", Text: lab.Bytes()},
	}, files.ReadOptions{Type: syntax.DTMC, Exact: c.Fractions, MaxStates: chain.Len() + 1})
	if err != nil {
		return err
	}
	drn, err := files.NewWriter(space, files.Options{Precision: files.MaxPrecision})
	if err != nil {
		return err
	}
	chainFiles := []struct {
		extension string
		write     func(io.Writer) error
	}{
		{".tra", bufferWriter(&tra)},
		{".sta", bufferWriter(&sta)},
		{".lab", bufferWriter(&lab)},
		{".drn", func(w io.Writer) error { return drn.DRN(ctx, w) }},
	}
	var names []string
	err = env.writeSet([]string{c.Explicit}, func(write writeFile) error {
		for _, chainFile := range chainFiles {
			name := c.Explicit + chainFile.extension
			names = append(names, name)
			if err := write(name, chainFile.write); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		env.noteWritten(names...)
	}
	return err
}
