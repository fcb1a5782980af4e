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
	// Games, when positive, is the most games that a row plays; otherwise it plays as many as the document did.
	Games int64
	Time  time.Duration // of each row that is played or sampled; 0 is no limit
	// Budget, when positive, is the time of all rows together. A row that plays gets an even part of what is left, so that the time that quick
	// rows leave goes to those after them. A row that solves may take all that is left.
	Budget     time.Duration
	Workers    int
	Seed       uint64
	Confidence float64 // of our intervals
	// State is a directory for the finished games, a file for each strategy; empty is none.
	State, Version string
	// Solve computes the value of a match with optimal play. When nil, numbers of optimal play are not compared.
	Solve func(ctx context.Context, m Match) (value float64, err error)
	// Sample asks the model of a row, whose Model is set, for what was published, with so many paths; its verdict is not to be of a sequential
	// test.
	Sample   func(ctx context.Context, row *PublishedRow, paths int64) (result.Verdict, error)
	Progress func(row string, p progress.Progress)
}

// RowResult is a row beside ours.
type RowResult struct {
	Row        *PublishedRow
	Strategy   string      // canonical; empty when nothing was played
	Judgements []Judgement // of Row.Values
	Games      int64
	End        End
	Warnings   []string
}

// Repeat plays, or solves, every row. Rows of the same strategy on the same match share their games. When the context ends, the rows so
// far are returned, the last perhaps with fewer games.
//
// Rows that time cut short have intervals for any number of games; their tests of means and of best scores take the number as given.
func Repeat(ctx context.Context, opt RepeatOptions) ([]RowResult, error) {
	run := repetition{RepeatOptions: opt, played: make(map[string]*playedRow)}
	if opt.Budget > 0 {
		run.deadline = time.Now().Add(opt.Budget)
	}
	var results []RowResult
	for i := range opt.Rows {
		row := &opt.Rows[i]
		run.left = opt.Rows[i:]
		r, err := run.row(ctx, row)
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

// repetition is the state of one Repeat.
type repetition struct {
	RepeatOptions
	deadline time.Time             // of the budget; zero is none
	left     []PublishedRow        // this row and those after it
	played   map[string]*playedRow // by header
}

// limited ends a context with the budget.
func (p *repetition) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, p.deadline)
}

// late turns the error of something that the budget ended into none.
func late(ctx, limited context.Context, err error) (bool, error) {
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return true, nil
	}
	return false, err
}

// rowTime is how long the next row may play; 0 is without limit.
func (p *repetition) rowTime() time.Duration {
	if p.deadline.IsZero() {
		return p.Time
	}
	rows := make(map[string]bool) // of the same games count once
	for i := range p.left {
		if row := &p.left[i]; row.Strategy != "" {
			rows[header(row.Match, row.Strategy, "")] = true
		}
	}
	part := max(time.Until(p.deadline)/time.Duration(max(len(rows), 1)), 1)
	if p.Time > 0 {
		part = min(part, p.Time)
	}
	return part
}

// playedRow is the games of one strategy.
type playedRow struct {
	sample
	strategy string
	end      End
	warnings []string
}

func (p *repetition) row(ctx context.Context, row *PublishedRow) (RowResult, error) {
	r := RowResult{Row: row}
	switch {
	case row.Strategy == "":
		return r, p.solve(ctx, &r)
	case row.Model:
		return r, p.sample(ctx, &r)
	}
	games, err := p.games(ctx, row)
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

// games returns the games of a row, which are played unless another row has played enough of them.
func (p *repetition) games(ctx context.Context, row *PublishedRow) (*playedRow, error) {
	m := row.Match
	m.Seed = p.Seed
	s, err := m.Parse(row.Strategy)
	if err != nil {
		return nil, err
	}
	key, wanted := header(m, s.String(), p.Version), p.wanted(row)
	if before := p.played[key]; before != nil && (before.end != AllPlayed || before.Games() >= wanted) {
		return before, nil
	}
	games := &playedRow{strategy: s.String(), end: OutOfTime}
	limited, cancel := p.limited(ctx)
	defer cancel()
	if out, err := late(ctx, limited, strategy.Prepare(limited, s)); err != nil || out {
		return games, err
	}
	opt := Options{
		Match: m, Strategy: s, Games: wanted, Workers: p.Workers, Time: p.rowTime(), Version: p.Version,
		Each: func(g *Played) error {
			games.add(g.Game)
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

// sample asks the model of a row.
func (p *repetition) sample(ctx context.Context, r *RowResult) error {
	limited, cancel := p.limited(ctx)
	defer cancel()
	if part := p.rowTime(); part > 0 {
		limited, cancel = context.WithTimeout(limited, part)
		defer cancel()
	}
	v, err := p.Sample(limited, r.Row, p.wanted(r.Row))
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

// wanted is how many games a row wants.
func (p *repetition) wanted(row *PublishedRow) int64 {
	n := row.Games
	if row.Play > 0 {
		n = row.Play
	}
	if p.Games > 0 {
		n = min(n, p.Games)
	}
	return n
}

// solve computes the optimum of a row, unless the row is out of reach.
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
	if out, err := late(ctx, limited, err); err != nil || out {
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

// optimum computes what the numbers of a row are about.
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

// NotMet says why a number is not met; note is the one on record, empty when nobody expected that.
func NotMet(note string) string {
	return "not compatible: " + cmp.Or(note, "it is not known why, and was not expected")
}

// Tally counts the judgements of a document.
type Tally struct {
	Met, Unmet, Few int
	Unexpected      []string // not met, without a note
}

// Count counts the judgements of the rows of a document, and those of the mean scores of its tables.
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
				t.Met++
			case TooFew:
				t.Few++
			case Incompatible:
				t.Unmet++
				if p.Note == "" {
					t.Unexpected = append(t.Unexpected, fmt.Sprintf("%s, %s, %s", r.Row.Table, r.Row.Name, p))
				}
			}
		}
	}
	return t
}
