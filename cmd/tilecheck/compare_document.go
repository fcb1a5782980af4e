package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"tilecheck/game"
	"tilecheck/game/play"
	"tilecheck/game/solve"
	"tilecheck/internal/ending"
	"tilecheck/internal/noun"
	"tilecheck/internal/progress"
	"tilecheck/native"
	"tilecheck/report/playtables"
	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/stats"
	"tilecheck/verify/experiment"
)

type compareDocumentCmd struct {
	Document string `arg:"" name:"document" help:"thesis, stanford, dtu, cs221 or lees-miller." enum:"thesis,stanford,dtu,cs221,lees-miller"`

	Table           string  `help:"Only this table: its number, or its name, such as solved." placeholder:"N"`
	Row             string  `help:"Only the rows whose name matches." placeholder:"REGEXP"`
	Games           int64   `help:"Largest number of games for each row (default: as many as the document has, or as many as a comparison needs)." placeholder:"N"`
	Seed            *uint64 `help:"Seed of random numbers (default: drawn, and printed)." placeholder:"N"`
	confidenceFlags `embed:""`
	Budget          time.Duration `help:"Time to spend on all rows together, divided among them." placeholder:"DURATION"`
	RowBudget       time.Duration `aliases:"time" help:"Time to spend on each row that is not solved (default: 20s, unless there is a budget)." placeholder:"DURATION"`
	State           string        `name:"checkpoint" aliases:"state" help:"Keep finished games in DIR: after a stop, the same command continues." placeholder:"DIR" file:"keep"`
	Memory          byteCount     `help:"Memory to solve in, such as 4GB (default: 3/4 of what is free)." placeholder:"SIZE"`
	Workers         int           `rare:"" help:"Goroutines (default: one per processor); the results do not depend on it." want:"[1,1024]" placeholder:"N"`
	timeFlag        `embed:""`
	plotFlag        `embed:""`
	Format          table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`
}

// maxMissingRows is the number of rows without time that an error names.
const maxMissingRows = 5

// defaultRowBudget makes a whole document take some minutes.
const defaultRowBudget = 20 * time.Second

// Run repeats the experiments of a published document, and prints its tables with our numbers beside the published ones.
func (c *compareDocumentCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withTimeLimit(ctx, c.Timeout)
	defer cancel()
	document, options, err := c.options(env)
	if err != nil {
		return err
	}
	showProgress, stopProgress := env.startProgress()
	defer stopProgress()
	if showProgress != nil {
		options.Progress = func(row string, update progress.Progress) {
			update.Property = row
			showProgress(update)
		}
	}
	results, err := play.Repeat(ctx, options)
	if err != nil {
		return err
	}
	stopProgress()
	if len(results) == 0 {
		return noGameError(ctx, play.Interrupted)
	}
	if err := playtables.Document(document, options, results, c.Format).Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	if c.Plot != "" {
		if err := env.writeChart(c.Plot, playtables.DocumentChart(document, results)); err != nil {
			return err
		}
	}
	return documentError(ctx, document, options.Rows, results)
}

// documentError returns an error with the exit code of the comparison. It returns nil only if all rows have a result, at least one number was compared, and the
// document's notes explain every number that differs.
func documentError(ctx context.Context, document play.Document, rows []play.PublishedRow, results []play.RowResult) error {
	comparedNumbers := play.Count(document, results)
	if len(comparedNumbers.Unexpected) > 0 { // numbers that differ, and no note expects the difference
		return &codedError{code: exitFailed, err: fmt.Errorf("not compatible, and no note says why: %s", strings.Join(comparedNumbers.Unexpected, "; "))}
	}
	missing := missingRows(rows, results)
	isInterrupted := len(results) < len(rows) || results[len(results)-1].End == play.Interrupted
	if isInterrupted || len(missing) > 0 {
		return missingRowsError(ctx, missing, len(rows), isInterrupted)
	}
	if comparedNumbers.Compatible+comparedNumbers.Incompatible == 0 {
		return &codedError{code: exitOutOfLimit, err: errors.New("nothing was compared: there were too few games, want more with --games, --row-budget or --budget")}
	}
	return nil
}

// missingRows returns the names of the rows without a result.
func missingRows(rows []play.PublishedRow, results []play.RowResult) []string {
	var missing []string
	for i := range rows {
		if i >= len(results) || results[i].Empty() {
			missing = append(missing, rows[i].Table+", "+rows[i].Name)
		}
	}
	return missing
}

// missingRowsError returns the error of a comparison that lacks results, because it was interrupted or had too little time. The error names the
// rows without a result.
func missingRowsError(ctx context.Context, missing []string, rows int, isInterrupted bool) error {
	code, reason, advice := exitOutOfLimit, "the time was up", ", want more time with --row-budget or --budget"
	if isInterrupted {
		code, reason, advice = exitCodeAfterEnd(ctx.Err()), ending.Reason(ctx.Err()), ""
	}
	if len(missing) == 0 {
		return &codedError{code: code, err: fmt.Errorf("%s: the last row has fewer games than it should", reason)}
	}
	names := strings.Join(missing[:min(len(missing), maxMissingRows)], "; ")
	if numOmitted := len(missing) - maxMissingRows; numOmitted > 0 {
		names += fmt.Sprintf("; and %d more", numOmitted)
	}
	return &codedError{code: code, err: fmt.Errorf("%s: %d of %s %s missing%s: %s", reason, len(missing), noun.Count(rows, "row"), noun.Verb(len(missing), "is", "are"), advice, names)}
}

// options returns the document that the user names, and the options for repeating its experiments.
func (c *compareDocumentCmd) options(env *environment) (document play.Document, options play.RepeatOptions, err error) {
	if c.State != "" && c.Seed == nil {
		return document, options, errStateSeed()
	}
	if err := c.plotFlag.checkExtension(); err != nil {
		return document, options, err
	}
	documents := play.Documents()
	index := slices.IndexFunc(documents, func(document play.Document) bool { return document.Name == c.Document })
	document = documents[index] // kong has checked the name
	rowPattern, err := regexp.Compile(c.Row)
	if err != nil {
		return document, options, usageError("--row: %w", err)
	}
	if options.Rows, err = document.Choose(c.Table, rowPattern); err != nil {
		return document, options, usageError("--table and --row: %w", err)
	}
	if options.Seed, err = env.seedOrRandom(c.Seed); err != nil {
		return document, options, err
	}
	options.Games, options.Time, options.Budget = c.Games, c.RowBudget, c.Budget
	if options.Time == 0 && options.Budget == 0 {
		options.Time = defaultRowBudget
	}
	options.Workers, options.Confidence = c.Workers, c.confidence(stats.DefaultConfidence)
	if options.State, options.Version, err = env.checkpoint(c.State); err != nil {
		return document, options, err
	}
	options.Solve = c.solve
	options.Sample = func(ctx context.Context, row *play.PublishedRow, paths int64) (result.Verdict, error) {
		simulation := runner.Simulation{Samples: paths, Confidence: options.Confidence, Seed: options.Seed, Workers: c.Workers}
		return experiment.Sample(ctx, native.New(), row, runner.Job{Settings: runner.Settings{Simulation: simulation}})
	}
	return document, options, nil
}

// solve returns the probability that optimal play wins a game with the board and the goal of the match.
func (c *compareDocumentCmd) solve(ctx context.Context, match play.Match) (float64, error) {
	options := solve.Options{Shape: match.Shape, Max: game.Value(match.Goal), Workers: c.Workers, Memory: int64(c.Memory)}
	stats, err := solve.InitialValue(ctx, options, "")
	return stats.Initial, err
}
