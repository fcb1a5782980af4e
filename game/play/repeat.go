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
	Warnings   []string
}

// Empty reports whether the time of a row was up before it had a game, a sample or a solution.
func (r *RowResult) Empty() bool { return r.End != AllPlayed && r.Games == 0 }

// Repeat plays, samples or solves every row. Rows with the same strategy and match share their games. When ctx ends, Repeat returns the rows
// that are finished; the last may have fewer games.
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
		r, err := run.repeatRow(ctx, row)
		if ctx.Err() != nil && (err != nil || r.Games == 0) {
			break
		}
		if err != nil {
			return results, fmt.Errorf("%s, %s: %w", row.Table, row.Name, err)
		}
		results = append(results, r)
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

// rowTime returns how long the next row may play or sample; 0: no limit.
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
	part := max(time.Until(p.deadline)/time.Duration(max(len(rows), 1)), 1)
	if p.Time > 0 {
		part = min(part, p.Time)
	}
	return part
}

// rowGames holds the games of one strategy.
type rowGames struct {
	gameSample
	strategy string
	end      End
	warnings []string
}

func (p *repetition) repeatRow(ctx context.Context, row *PublishedRow) (RowResult, error) {
	r := RowResult{Row: row}
	switch {
	case row.Strategy == "":
		return r, p.solve(ctx, &r)
	case row.Model:
		return r, p.sampleModel(ctx, &r)
	}
	games, err := p.gamesOfRow(ctx, row)
	if err != nil {
		return r, err
	}
	r.Strategy, r.Games, r.End, r.Warnings = games.strategy, games.Games(), games.end, games.warnings
	for i := range row.Values {
		j, err := games.judge(row, &row.Values[i], p.Confidence)
		if err != nil {
			return r, err
		}
		r.Judgements = append(r.Judgements, j)
	}
	return r, nil
}

// gamesOfRow returns the games of a row. It plays them unless another row has already played enough of the same games.
func (p *repetition) gamesOfRow(ctx context.Context, row *PublishedRow) (*rowGames, error) {
	m := row.Match
	m.Seed = p.Seed
	s, err := m.Parse(row.Strategy)
	if err != nil {
		return nil, err
	}
	key, wanted := header(m, s.String(), p.Version), p.wantedGames(row)
	if before := p.played[key]; before != nil && (before.end != AllPlayed || before.Games() >= wanted) {
		return before, nil
	}
	games := &rowGames{strategy: s.String(), end: OutOfTime}
	limited, cancel := p.limited(ctx)
	defer cancel()
	if out, err := budgetEnded(ctx, limited, strategy.Prepare(limited, s)); err != nil || out {
		return games, err
	}
	opt := Options{
		Match: m, Strategy: s, Games: wanted, Workers: p.Workers, Time: p.rowTime(), Version: p.Version,
		Each: func(g *Played) error {
			games.addGame(g.Game)
			return nil
		},
	}
	if p.State != "" {
		if opt.State, err = statePath(p.State, m, s.String()); err != nil {
			return nil, err
		}
	}
	if p.Progress != nil {
		opt.Progress = func(done progress.Progress) { p.Progress(row.Name, done) }
	}
	out, err := Run(ctx, opt)
	if err != nil {
		return nil, err
	}
	games.strategy, games.end, games.warnings, games.sequential = out.Strategy, out.End, out.Warnings, out.Sequential()
	p.played[key] = games
	return games, nil
}

// sampleModel samples the model of a row and judges the row's numbers.
func (p *repetition) sampleModel(ctx context.Context, r *RowResult) error {
	limited, cancel := p.limited(ctx)
	defer cancel()
	if part := p.rowTime(); part > 0 {
		limited, cancel = context.WithTimeout(limited, part)
		defer cancel()
	}
	v, err := p.Sample(limited, r.Row, p.wantedGames(r.Row))
	if err != nil {
		return err
	}
	r.Strategy, r.Games, r.Warnings = r.Row.Strategy, v.Samples, v.Warnings
	switch {
	case ctx.Err() != nil:
		r.End = Interrupted
	case limited.Err() != nil:
		r.End = OutOfTime
	case v.Err != nil:
		return v.Err
	}
	for i := range r.Row.Values {
		j, err := JudgeVerdict(r.Row, &r.Row.Values[i], &v, p.Confidence, stats.CompareConfidence, false)
		if err != nil {
			return err
		}
		r.Judgements = append(r.Judgements, j)
	}
	return nil
}

// wantedGames returns how many games a row should play.
func (p *repetition) wantedGames(row *PublishedRow) int64 {
	n := row.Games
	if row.Play > 0 {
		n = row.Play
	}
	if p.Games > 0 {
		n = min(n, p.Games)
	}
	return n
}

// solve judges the numbers of a row against the exact solution, unless the row is out of reach.
func (p *repetition) solve(ctx context.Context, r *RowResult) error {
	nothing := func(why string) {
		for range r.Row.Values {
			r.Judgements = append(r.Judgements, Judgement{Value: math.NaN(), Remark: why})
		}
	}
	if p.Solve == nil || r.Row.OutOfReach {
		nothing("not computed: out of reach here")
		return nil
	}
	limited, cancel := p.limited(ctx)
	defer cancel()
	best, err := p.optimum(limited, r.Row)
	if out, err := budgetEnded(ctx, limited, err); err != nil || out {
		nothing("not computed: the budget was used up")
		r.End = OutOfTime
		return err
	}
	for i := range r.Row.Values {
		j, err := best.judge(&r.Row.Values[i])
		if err != nil {
			return err
		}
		r.Judgements = append(r.Judgements, j)
	}
	return nil
}

// optimum computes those fields of Optimum that the row's numbers need.
func (p *repetition) optimum(ctx context.Context, row *PublishedRow) (o Optimum, err error) {
	asked := func(m ...Measure) bool {
		return slices.ContainsFunc(row.Values, func(v Published) bool { return slices.Contains(m, v.Measure) })
	}
	if asked(WinValue) {
		o.Value, err = p.Solve(ctx, row.Match)
	}
	if err == nil && asked(States, Transitions) {
		o.States, o.Transitions, err = Census(ctx, row.Match)
	}
	if err == nil && asked(ClassCount) {
		o.ClassCount, err = Classes(ctx, row.Match)
	}
	return o, err
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

// Count counts the judgements of a document's rows and judges the mean scores of its tables together.
func Count(d Document, results []RowResult) (t Tally) {
	for _, j := range Joints(results) {
		if j.Verdict == Incompatible && d.Together[j.Table] == "" {
			t.Unexpected = append(t.Unexpected, j.Table+", mean scores together")
		}
	}
	for i := range results {
		r := &results[i]
		for k := range r.Judgements {
			p := &r.Row.Values[k]
			switch r.Judgements[k].Verdict {
			case Compatible:
				t.Compatible++
			case TooFew:
				t.TooFew++
			case Incompatible:
				t.Incompatible++
				if p.Note == "" {
					t.Unexpected = append(t.Unexpected, fmt.Sprintf("%s, %s, %s", r.Row.Table, r.Row.Name, p))
				}
			}
		}
	}
	return t
}
