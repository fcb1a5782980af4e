package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tilecheck/modelgen"
	"tilecheck/prism/syntax"
)

// sizeFlags choose the size of a board. --size is short for --rows and --cols.
type sizeFlags struct {
	Size boardSize `help:"Size of the board, such as 3 or 3x4 (default: 4)." placeholder:"SIZE"`
	Rows int       `help:"Rows of the board, 1 to 6 (default: --size)." placeholder:"R"`
	Cols int       `help:"Columns of the board, 1 to 6 (default: --size)." placeholder:"C"`
}

// boardSize is the value of --size. It is zero without the flag.
type boardSize struct{ rows, cols int }

// UnmarshalText parses the rows and columns of a board, such as 3x4, or one number for a square board.
func (size *boardSize) UnmarshalText(text []byte) error {
	rows, cols, isRectangle := strings.Cut(string(text), "x")
	if !isRectangle {
		cols = rows
	}
	var errRows, errCols error
	size.rows, errRows = strconv.Atoi(rows)
	size.cols, errCols = strconv.Atoi(cols)
	if errRows != nil || errCols != nil || size.rows < 1 || size.cols < 1 {
		return fmt.Errorf("found %q, want a number such as 4, or rows and columns such as 3x4", text)
	}
	return nil
}

// boardFlags choose a board, and its new tiles.
type boardFlags struct {
	sizeFlags `embed:""`
	P2        string `name:"p2" rare:"" help:"Probability that a new tile is a 2 and not a 4." default:"${probability_of_2}" placeholder:"P"`
}

// updateFlag chooses the updates of the moves.
type updateFlag struct {
	Updates string `help:"How tiles move: by the rules, or published: with the two faults that explain the published Table 3.6 (docs/thesis.md)." default:"rules" placeholder:"UPDATES"`
}

func (f updateFlag) updates() (modelgen.Updates, error) { return modelgen.ParseUpdates(f.Updates) }

// boardShape returns the numbers of rows and columns of the board; 4 and 4 without flags. It does not check whether such a board is allowed.
func (f sizeFlags) boardShape() (rows, cols int, err error) {
	switch {
	case f.Size != boardSize{} && (f.Rows != 0 || f.Cols != 0):
		return 0, 0, usageError("--size is given together with --rows or --cols, want one or the other")
	case f.Rows != 0 && f.Cols != 0:
		return f.Rows, f.Cols, nil
	case f.Rows != 0 || f.Cols != 0:
		return 0, 0, usageError("want both --rows and --cols, or --size")
	case f.Size != boardSize{}:
		return f.Size.rows, f.Size.cols, nil
	}
	return 4, 4, nil
}

type genCmd struct {
	boardFlags `embed:""`
	Max        int    `help:"Goal: the tile that ends the game as a success, a power of two." default:"2048" placeholder:"TILE"`
	Model      string `name:"kind" aliases:"model" help:"final: one module, as in the thesis's experiment. prototype, combined: its earlier models, 2x2 only. dtmc: a Markov chain, with --policy. pomdp: with --observe. smg: the mover against the one who places tiles." default:"final" placeholder:"KIND"`
	Policy     string `help:"Who chooses the moves: none (the scheduler), or a module: random, opposite, orthogonal or alternating, as in the thesis, pref:left,up,down,right or alt:up,left,down,right/left,up,down,right." default:"none" placeholder:"POLICY"`
	Spawn      string `help:"Who chooses the cell of a new tile. uniform: chance, as in the game; for Pmax and Pmin of the game use this. cell (the default): the scheduler, as in the thesis. module: chance, in a module of its own. Of an smg, what the spawner chooses: worst-cell (default), worst-tile or worst." placeholder:"SPAWN"`
	updateFlag `embed:""`
	Observe    string `help:"What the player of a pomdp sees: all, none, max, row:R, cells:0,3 or mask:10/01 (default: all)." placeholder:"WHAT"`
	Rewards    bool   `help:"Add the reward structures moves and score."`
	Dialect    string `help:"Language of the model: prism or storm." default:"prism" enum:"prism,storm" placeholder:"DIALECT"`
	Output     string `short:"o" help:"File to write (default: standard output)." placeholder:"FILE" file:"out"`
}

// Run generates a model of 2048 and writes it to a file or to standard output.
func (c *genCmd) Run(env *environment) error {
	config, err := c.modelConfig()
	if err != nil {
		return err
	}
	model, err := modelgen.Build(config)
	if err != nil {
		return asUsageError(err)
	}
	options := syntax.Options{Dialect: dialect(c.Dialect)}
	write := func(w io.Writer) error { return syntax.Fprint(w, model, options) }
	return env.writeNamed(cmp.Or(c.Output, "-"), write)
}

// modelConfig returns the configuration of the generated model. It returns a usage error with all mistakes in the flags.
func (c *genCmd) modelConfig() (modelgen.Config, error) {
	config := modelgen.Config{Max: c.Max, P2: c.P2, Rewards: c.Rewards}
	var shapeErr, kindErr, policyErr, spawnErr, observeErr, updatesErr error
	config.Rows, config.Cols, shapeErr = c.boardShape()
	config.Kind, kindErr = modelgen.ParseKind(c.Model)
	config.Policy, policyErr = modelgen.ParsePolicy(c.Policy)
	config.Spawn, spawnErr = modelgen.ParseSpawn(cmp.Or(c.Spawn, defaultSpawn(config.Kind).String()))
	config.Observe, observeErr = modelgen.ParseObserve(cmp.Or(c.Observe, "all"))
	config.Updates, updatesErr = c.updates()
	return config, asUsageError(errors.Join(shapeErr, kindErr, policyErr, spawnErr, observeErr, updatesErr))
}

// defaultSpawn returns how a kind of model places new tiles, unless the user selects something else.
func defaultSpawn(kind modelgen.Kind) modelgen.Spawn {
	switch kind {
	case modelgen.DTMC, modelgen.POMDP:
		return modelgen.SpawnUniform
	case modelgen.SMG:
		return modelgen.SpawnWorstCell
	}
	return modelgen.SpawnCell
}

// asUsageError converts an error about a field of modelgen.Config to a usage error.
func asUsageError(err error) error {
	if err == nil {
		return nil
	}
	return usageError("%w", err)
}
