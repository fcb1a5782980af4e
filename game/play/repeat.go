package play

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"tilecheck/game/strategy"
	"tilecheck/internal/progress"
	"tilecheck/result"
	"tilecheck/stats"
)

// RepeatOptions say how to repeat the tables of a document.
type RepeatOptions struct {
	Rows []PublishedRow
	// Games, if positive, limits the number of games of each row; otherwise a row plays as many as the document did.
	Games int64
	Time  time.Duration // limit for each row that plays or samples; 0: no limit
	// Budget, if positive, limits the time of all rows together. A row that plays or samples gets an equal part of the remaining time, so later
	// rows can use the time that quick rows saved. A row that solves may use all of the remaining time.
	Budget     time.Duration
	Workers    int
	Seed       uint64
	Confidence float64 // of our intervals
	// State is a directory with one file of finished games for each strategy; empty: games are not kept.
	State, Version string
	// Solve computes the value of a match under optimal play. If nil, such numbers are not compared.
	Solve func(ctx context.Context, m Match) (value float64, err error)
	// Sample samples that many paths of the model of a row with Model set. Its verdict must not come from a sequential test.
	Sample   func(ctx context.Context, row *PublishedRow, paths int64) (result.Verdict, error)
	Progress func(row string, p progress.Progress)
}

// RowResult is a published row with our results.
type RowResult struct {
	Row        *PublishedRow
	Strategy   string      // canonical; empty if no games were played
	Judgements []Judgement // of Row.Values
	Games      int64
	End        End
	Cause      error // as in Outcome
	Warnings   []string
}

// Empty reports whether the time of a row was up before it had a game, a sample or a solution.
func (r *RowResult) Empty() bool { return r.End != AllPlayed && r.Games == 0 }

// Repeat repeats the experiments of published rows: it plays games, samples models or solves games. Rows with the same strategy and match share their
// games. When ctx ends, Repeat returns the finished rows; the last of them may have fewer games.
//
// If the time ended a row early, its intervals of shares hold for any number of games. Its tests of means and of best scores assume that the
// number of games was fixed.
func Repeat(ctx context.Context, opt RepeatOptions) ([]RowResult, error) {
	run := repetition{RepeatOptions: opt, played: make(map[string]*rowGames)}
	if opt.Budget > 0 {
		run.deadline = time.Now().Add(opt.Budget)
	}
	var results []RowResult
	for i := range opt.Rows {
		row := &opt.Rows[i]
		run.remaining = opt.Rows[i:]
		result, err := run.repeatRow(ctx, row)
		if ctx.Err() != nil && (err != nil || result.Games == 0) {
			break
		}
		if err != nil {
			return results, fmt.Errorf("%s, %s: %w", row.Table, row.Name, err)
		}
		results = append(results, result)
	}
	return results, nil
}

// repetition is the state of one call of Repeat.
type repetition struct {
	RepeatOptions
	deadline  time.Time            // end of the budget; zero: no limit
	remaining []PublishedRow       // the current row and the rows after it
	played    map[string]*rowGames // the games played so far, by header of strategy and match
}

// limited returns a context that ends at the deadline.
func (p *repetition) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, p.deadline)
}

// budgetEnded reports whether err is due to the end of the budget, that is of limited but not of ctx. Otherwise it returns err.
func budgetEnded(ctx, limited context.Context, err error) (bool, error) {
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return true, nil
	}
	return false, err
}

// rowTime returns the time for the games or samples of the next row: its part of the remaining budget. 0 means no limit.
func (p *repetition) rowTime() time.Duration {
	if p.deadline.IsZero() {
		return p.Time
	}
	rows := make(map[string]bool) // rows with the same games count once
	for i := range p.remaining {
		if row := &p.remaining[i]; row.Strategy != "" {
			rows[header(row.Match, row.Strategy, "")] = true
		}
	}
	share := max(time.Until(p.deadline)/time.Duration(max(len(rows), 1)), 1)
	if p.Time > 0 {
		share = min(share, p.Time)
	}
	return share
}

// rowGames holds the games of one strategy.
type rowGames struct {
	gameSample
	strategy  string
	endReason End
	cause     error // of the end Interrupted
	warnings  []string
}

// repeatRow repeats the experiment of a row, and compares its numbers with ours.
func (p *repetition) repeatRow(ctx context.Context, row *PublishedRow) (RowResult, error) {
	result := RowResult{Row: row}
	switch {
	case row.Strategy == "":
		return result, p.solve(ctx, &result)
	case row.Model:
		return result, p.sampleModel(ctx, &result)
	}
	games, err := p.gamesOfRow(ctx, row)
	if err != nil {
		return result, err
	}
	result.Strategy, result.Games, result.End, result.Cause, result.Warnings = games.strategy, games.Games(), games.endReason, games.cause, games.warnings
	for i := range row.Values {
		judgement, err := games.judge(row, &row.Values[i], p.Confidence)
		if err != nil {
			return result, err
		}
		result.Judgements = append(result.Judgements, judgement)
	}
	return result, nil
}

// gamesOfRow returns the games of a row. It plays them unless another row has already played enough of the same games.
func (p *repetition) gamesOfRow(ctx context.Context, row *PublishedRow) (*rowGames, error) {
	match := row.Match
	match.Seed = p.Seed
	rowStrategy, err := match.Parse(row.Strategy)
	if err != nil {
		return nil, err
	}
	key, numWanted := header(match, rowStrategy.String(), p.Version), p.wantedGames(row)
	if earlier := p.played[key]; earlier != nil && (earlier.endReason != AllPlayed || earlier.Games() >= numWanted) {
		return earlier, nil
	}
	games := &rowGames{strategy: rowStrategy.String(), endReason: OutOfTime}
	limited, cancel := p.limited(ctx)
	defer cancel()
	if isOutOfTime, err := budgetEnded(ctx, limited, strategy.Prepare(limited, rowStrategy)); err != nil || isOutOfTime {
		return games, err
	}
	opt := Options{
		Match: match, Strategy: rowStrategy, Games: numWanted, Workers: p.Workers, Time: p.rowTime(), Version: p.Version,
		Each: func(played *Played) error {
			games.addGame(played.Game)
			return nil
		},
	}
	if p.State != "" {
		if opt.State, err = statePath(p.State, match, rowStrategy.String()); err != nil {
			return nil, err
		}
	}
	if p.Progress != nil {
		opt.Progress = func(update progress.Progress) { p.Progress(row.Name, update) }
	}
	outcome, err := Run(ctx, opt)
	if err != nil {
		return nil, err
	}
	games.strategy, games.endReason, games.cause = outcome.Strategy, outcome.End, outcome.Cause
	games.warnings, games.sequential = outcome.Warnings, outcome.Sequential()
	p.played[key] = games
	return games, nil
}

// sampleModel samples the model of a row and judges the row's numbers.
func (p *repetition) sampleModel(ctx context.Context, result *RowResult) error {
	limitedContext, cancel := p.limited(ctx)
	defer cancel()
	if limit := p.rowTime(); limit > 0 {
		limitedContext, cancel = context.WithTimeout(limitedContext, limit)
		defer cancel()
	}
	verdict, err := p.Sample(limitedContext, result.Row, p.wantedGames(result.Row))
	if err != nil {
		return err
	}
	result.Strategy, result.Games, result.Warnings = result.Row.Strategy, verdict.Samples, verdict.Warnings
	switch {
	case ctx.Err() != nil:
		result.End, result.Cause = Interrupted, ctx.Err()
	case limitedContext.Err() != nil:
		result.End = OutOfTime
	case verdict.Err != nil:
		return verdict.Err
	}
	for i := range result.Row.Values {
		judgement, err := JudgeVerdict(result.Row, &result.Row.Values[i], &verdict, p.Confidence, stats.CompareConfidence, false)
		if err != nil {
			return err
		}
		result.Judgements = append(result.Judgements, judgement)
	}
	return nil
}

// wantedGames returns the number of games to play for a row.
func (p *repetition) wantedGames(row *PublishedRow) int64 {
	games := row.Games
	if row.Play > 0 {
		games = row.Play
	}
	if p.Games > 0 {
		games = min(games, p.Games)
	}
	return games
}

// solve judges the numbers of a row against the exact solution, unless the row is out of reach.
func (p *repetition) solve(ctx context.Context, result *RowResult) error {
	addNothing := func(why string) {
		for range result.Row.Values {
			result.Judgements = append(result.Judgements, Judgement{Value: math.NaN(), Remark: why})
		}
	}
	if p.Solve == nil || result.Row.OutOfReach {
		addNothing("not computed: out of reach here")
		return nil
	}
	limitedContext, cancel := p.limited(ctx)
	defer cancel()
	optimum, err := p.optimumOf(limitedContext, result.Row)
	if isOutOfTime, err := budgetEnded(ctx, limitedContext, err); err != nil || isOutOfTime {
		addNothing("not computed: the budget was used up")
		result.End = OutOfTime
		return err
	}
	for i := range result.Row.Values {
		judgement, err := optimum.judge(&result.Row.Values[i])
		if err != nil {
			return err
		}
		result.Judgements = append(result.Judgements, judgement)
	}
	return nil
}

// optimumOf solves the game of a row. It computes only the values that the published numbers of the row need.
func (p *repetition) optimumOf(ctx context.Context, row *PublishedRow) (optimum Optimum, err error) {
	needs := func(measures ...Measure) bool {
		return slices.ContainsFunc(row.Values, func(value Published) bool { return slices.Contains(measures, value.Measure) })
	}
	if needs(WinValue) {
		optimum.Value, err = p.Solve(ctx, row.Match)
	}
	if err == nil && needs(States, Transitions) {
		optimum.States, optimum.Transitions, err = Census(ctx, row.Match)
	}
	if err == nil && needs(ClassCount) {
		optimum.ClassCount, err = Classes(ctx, row.Match)
	}
	return optimum, err
}

// NotMet returns the text for an incompatible number. note is the recorded reason, empty if the result was not expected.
func NotMet(note string) string {
	return "not compatible: " + cmp.Or(note, "it is not known why, and was not expected")
}

// Tally counts the judgements of a document.
type Tally struct {
	Compatible, Incompatible, TooFew int
	Unexpected                       []string // incompatible numbers without a note
}

// Count counts the published numbers that are compatible with ours, and those that are not. It names the contradictions that no note of the document
// expects, including the tables whose mean scores, tested together, contradict ours.
func Count(document Document, results []RowResult) (tally Tally) {
	for _, joint := range Joints(results) {
		if joint.Verdict == Incompatible && document.Together[joint.Table] == "" {
			tally.Unexpected = append(tally.Unexpected, joint.Table+", mean scores together")
		}
	}
	for i := range results {
		result := &results[i]
		for index := range result.Judgements {
			published := &result.Row.Values[index]
			switch result.Judgements[index].Verdict {
			case Compatible:
				tally.Compatible++
			case TooFew:
				tally.TooFew++
			case Incompatible:
				tally.Incompatible++
				if published.Note == "" {
					tally.Unexpected = append(tally.Unexpected, fmt.Sprintf("%s, %s, %s", result.Row.Table, result.Row.Name, published))
				}
			}
		}
	}
	return tally
}
