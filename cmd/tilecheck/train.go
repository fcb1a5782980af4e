package main

import (
	"context"
	"fmt"
	"math/bits"
	"strings"

	"tilecheck/game"
	"tilecheck/game/ntuple"
	"tilecheck/internal/progress"
	"tilecheck/report/table"
	"tilecheck/stats"
)

type trainCmd struct {
	Output string `arg:"" name:"file" help:"File to write, for the strategy ntuple:FILE." file:"out"`

	sizeFlags `embed:""`
	Tuples    string       `help:"Cells of each tuple, counted from 0 row by row: 0,1,2,3/0,1,4,5 (default: rectangles of 2x3 cells on boards of up to 9 cells, otherwise lines and squares)." placeholder:"CELLS/..."`
	Largest   int          `help:"Largest tile that the network knows; it sees larger ones halved (default: the largest on the board, at most 32768)." want:"[4,32768]" placeholder:"TILE"`
	Games     int64        `help:"Games to learn from." default:"100000" want:"[1,]" placeholder:"N"`
	Rate      float64      `help:"Learning rate of the first game; it falls to a hundredth." default:"0.1" want:"(0,1]" placeholder:"R"`
	Round     int          `rare:"" help:"Round the weights to multiples of 2^-BITS, for a shorter file (default: not)." default:"-1" want:"[-1,20]" placeholder:"BITS"`
	Seed      *uint64      `help:"Seed of random numbers (default: drawn, and printed)." placeholder:"N"`
	Format    table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`
	timeFlag  `embed:""`
}

// gamesPerReport is the number of games between two reports of progress. The progress bar itself draws at most ten times a second.
const gamesPerReport = 256

// Run trains a network on games of 2048, writes the network to a file, and prints the scores during the training.
func (c *trainCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withTimeLimit(ctx, c.Timeout)
	defer cancel()
	if isStdout(c.Output) {
		return usageError("the output is %s, want a file: the results go to standard output", c.Output)
	}
	network, err := c.newNetwork()
	if err != nil {
		return err
	}
	seed, err := env.seedOrRandom(c.Seed)
	if err != nil {
		return err
	}
	showProgress, stopProgress := env.startProgress()
	defer stopProgress()
	training := ntuple.Training{Games: c.Games, Rate: c.Rate, Seed: seed}
	trainingParts := newTrainingParts(c.Games)
	training.Each = func(games int64, score int) {
		trainingParts.add(games, score)
		if showProgress != nil && games%gamesPerReport == 0 {
			showProgress(progress.Progress{Property: "learning", Done: games, Target: c.Games, Unit: progress.Games})
		}
	}
	if err := network.Train(ctx, training); err != nil {
		return limitError(err)
	}
	stopProgress()
	if c.Round >= 0 {
		network.Round(c.Round)
	}
	if err := env.writeNamed(c.Output, network.Write); err != nil {
		return err
	}
	scoreTable := trainingParts.table(network, seed)
	return scoreTable.Write(env.stdout, c.Format, env.reportOptions())
}

// newNetwork returns the network that the flags describe.
func (c *trainCmd) newNetwork() (*ntuple.Network, error) {
	rows, cols, err := c.boardShape()
	if err != nil {
		return nil, err
	}
	shape := game.Shape{Rows: rows, Cols: cols}
	if err := shape.Validate(); err != nil {
		return nil, usageError("%w", err)
	}
	largestExponent, err := c.largestExponent(shape)
	if err != nil {
		return nil, err
	}
	tuples, err := c.cellTuples(shape)
	if err != nil {
		return nil, usageError("--tuples: %w", err)
	}
	network, err := ntuple.New(shape, largestExponent, tuples)
	if err != nil {
		return nil, usageError("%w", err)
	}
	return network, nil
}

// largestExponent returns the exponent of the largest tile that the network distinguishes: the tile of --largest, or else the largest tile that
// the board can have.
func (c *trainCmd) largestExponent(shape game.Shape) (int, error) {
	if c.Largest == 0 {
		return min(shape.Cells()+1, game.MaxExponent), nil
	}
	exponent := bits.TrailingZeros(uint(c.Largest))
	if c.Largest < 4 || c.Largest != 1<<exponent || exponent > game.MaxExponent {
		return 0, usageError("--largest is %d, want a power of two from 4 to %d", c.Largest, game.Value(game.MaxExponent))
	}
	return exponent, nil
}

// cellTuples returns the tuples of board cells in --tuples, or the default tuples for this board.
func (c *trainCmd) cellTuples(shape game.Shape) ([][]int, error) {
	if c.Tuples == "" {
		return ntuple.DefaultTuples(shape), nil
	}
	var tuples [][]int
	for text := range strings.SplitSeq(c.Tuples, "/") {
		tuple, err := ntuple.ParseTuple(text)
		if err != nil {
			return nil, err
		}
		tuples = append(tuples, tuple)
	}
	return tuples, nil
}

// trainingParts has the scores of ten parts of a training.
type trainingParts struct {
	games  int64
	scores [10]stats.Moments
}

func newTrainingParts(games int64) *trainingParts { return &trainingParts{games: games} }

// add counts the score of a game. The first game has number 1.
func (p *trainingParts) add(game int64, score int) {
	p.scores[(game-1)*int64(len(p.scores))/p.games].Add(float64(score))
}

// table returns a table with the mean and the best score of each part of the training.
func (p *trainingParts) table(network *ntuple.Network, seed uint64) *table.Table {
	scoreTable := &table.Table{
		Title: fmt.Sprintf("%d weights of %d tuples on %v", network.Weights(), len(network.Tuples()), network.Shape()),
		Columns: []table.Column{
			{Name: "games", Align: table.Right}, {Name: "mean score", Field: "mean_score", Align: table.Right}, {Name: "best score", Field: "best_score", Align: table.Right},
		},
		Notes: []string{fmt.Sprintf("seed %d: the same seed gives the same file", seed), "the scores are those of games while it learned"},
	}
	games := int64(0)
	for _, mean := range p.scores {
		games += mean.N
		if mean.N > 0 {
			scoreTable.Append(games, table.Cell{Text: fmt.Sprintf("%.1f", mean.Mean()), Value: mean.Mean()}, int64(mean.Max))
		}
	}
	return scoreTable
}
