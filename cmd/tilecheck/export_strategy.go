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
	Spawn      string `help:"Who draws the cell of a new tile. uniform (the default): chance, as in the game. module: chance, in a module of its own. cell: the scheduler, as in the thesis." default:"uniform" placeholder:"SPAWN"`
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

// Run writes the model, the files of the chain, or both.
func (c *exportStrategyCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withTimeLimit(ctx, c.Timeout)
	defer cancel()
	cfg, opt, err := c.game()
	if err != nil {
		return err
	}
	s, err := strategy.Parse(c.Strategy, strategy.Setting{Rules: opt.Rules, Max: opt.Max})
	if err != nil {
		return usageError("%w", err)
	}
	if c.Explicit != "" {
		if err := env.files.withOutputs("--explicit", c.Explicit+".tra", c.Explicit+".sta", c.Explicit+".lab", c.Explicit+".drn").check(); err != nil {
			return err
		}
	}
	chain, err := exploreChain(ctx, s, opt)
	if err != nil {
		return err
	}
	value, err := chain.ValueText(ctx)
	if err != nil {
		return err
	}
	if !env.quiet {
		fmt.Fprintf(env.stderr, "%s: %s, wins with probability %s\n", s, noun.Count(chain.Len()+1, "state"), value)
	}
	if chain.Rounded() {
		fmt.Fprintf(env.stderr, "warning: %s: its probabilities are rounded to 15 decimal places, so the value of what is written differs from its own in the last digits\n", s)
	}
	if c.Output != "" || c.Explicit == "" {
		if err := c.writeModel(env, cfg, chain, s, value); err != nil {
			return err
		}
	}
	if c.Explicit == "" {
		return nil
	}
	return c.writeChain(ctx, env, chain)
}

// exploreChain explores the Markov chain that a strategy induces. Its errors about the size of the chain give advice.
func exploreChain(ctx context.Context, s strategy.Strategy, opt induced.Options) (*induced.Chain, error) {
	if err := strategy.Prepare(ctx, s); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w before %s knew its moves", context.Cause(ctx), s)
		}
		return nil, err
	}
	chain, err := induced.Explore(ctx, s, opt)
	if unfinished, ok := errors.AsType[*induced.UnfinishedError](err); ok {
		return nil, fmt.Errorf("%w of the chain: tilecheck bound says what is certain about a part of them", unfinished)
	}
	if _, tooLarge := errors.AsType[*induced.SizeError](err); tooLarge {
		return nil, &codedError{exitOutOfLimit, fmt.Errorf("%w: tilecheck bound says what is certain about a part of them", err)}
	}
	return chain, explainTooLarge(s, err)
}

// explainTooLarge adds the strategy to the error that its probabilities cannot be computed. It returns other errors unchanged.
func explainTooLarge(s strategy.Strategy, err error) error {
	if errors.Is(err, strategy.ErrTooLarge) {
		return &codedError{exitOutOfLimit, fmt.Errorf("%s draws its moves, want a strategy whose probabilities can be computed: %w", s, err)}
	}
	return err
}

// game returns the configuration of the model without the moves of the strategy, and the options of the exploration.
func (c *exportStrategyCmd) game() (cfg modelgen.Config, opt induced.Options, err error) {
	if c.Fractions && c.Explicit == "" {
		return cfg, opt, usageError("--exact is for the files of --explicit")
	}
	cfg.Max, cfg.P2 = c.Max, c.P2
	if cfg.Rows, cfg.Cols, err = c.shape(); err != nil {
		return cfg, opt, err
	}
	if cfg.Spawn, err = modelgen.ParseSpawn(c.Spawn); err != nil {
		return cfg, opt, asUsageError(err)
	}
	if err := cfg.Validate(); err != nil {
		return cfg, opt, asUsageError(err)
	}
	if opt, err = newGame(cfg.Rows, cfg.Cols, c.Max); err != nil {
		return cfg, opt, err
	}
	opt.MaxStates = c.MaxStates
	opt.P2, _ = new(big.Rat).SetString(c.P2) // Validate has read it
	return cfg, opt, nil
}

// newGame returns the options of the game on a board. tile is the goal.
func newGame(rows, cols, tile int) (opt induced.Options, err error) {
	if tile < 4 || tile > game.Value(game.MaxExponent) || bits.OnesCount(uint(tile)) != 1 {
		return opt, usageError("--max is %d, want a power of two from 4 to %d", tile, game.Value(game.MaxExponent))
	}
	rules, err := game.New(game.Shape{Rows: rows, Cols: cols})
	if err != nil {
		return opt, usageError("%w", err)
	}
	return induced.Options{Rules: rules, Max: bits.TrailingZeros(uint(tile))}, nil
}

// writeModel writes the model with a table of the strategy's moves.
func (c *exportStrategyCmd) writeModel(env *environment, cfg modelgen.Config, chain *induced.Chain, s strategy.Strategy, value string) error {
	cfg.Table = chain.Table()
	cfg.Table.Command = c.command(cfg, s)
	cfg.Table.About = chain.PolicyComment(cfg.Spawn, value)
	model, err := modelgen.Build(cfg)
	if err != nil {
		return err
	}
	opts := syntax.Options{Dialect: dialect(c.Dialect)}
	var text bytes.Buffer
	if err := syntax.Fprint(&text, model, opts); err != nil {
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
	return env.writeFile(name, bufferWriter(&text))
}

// bufferWriter returns a function that writes a buffer.
func bufferWriter(buffer *bytes.Buffer) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := buffer.WriteTo(w)
		return err
	}
}

// command returns the command line that writes the model, without the program's name.
func (c *exportStrategyCmd) command(cfg modelgen.Config, s strategy.Strategy) string {
	return strings.Join([]string{
		"export-strategy", quote.Word(s.String()), fmt.Sprintf("--rows=%d", cfg.Rows), fmt.Sprintf("--cols=%d", cfg.Cols),
		fmt.Sprintf("--max=%d", cfg.Max), "--p2=" + c.P2, "--spawn=" + cfg.Spawn.String(),
	}, " ")
}

// writeChain writes the chain as explicit files for PRISM and Storm.
func (c *exportStrategyCmd) writeChain(ctx context.Context, env *environment, chain *induced.Chain) error {
	var tra, sta, lab bytes.Buffer
	if err := errors.Join(chain.WriteTransitions(ctx, &tra, c.Fractions), chain.WriteStates(ctx, &sta), chain.WriteLabels(ctx, &lab)); err != nil {
		return err
	}
	// Reading the files checks them. The state space is the input for Storm's format.
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
	outputs := []struct {
		ext   string
		write func(io.Writer) error
	}{
		{".tra", bufferWriter(&tra)},
		{".sta", bufferWriter(&sta)},
		{".lab", bufferWriter(&lab)},
		{".drn", func(w io.Writer) error { return drn.DRN(ctx, w) }},
	}
	return env.writeSet([]string{c.Explicit}, func(write writeFile) error {
		for _, output := range outputs {
			if err := write(c.Explicit+output.ext, output.write); err != nil {
				return err
			}
		}
		return nil
	})
}
