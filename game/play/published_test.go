package play

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"

	"tilecheck/stats"
)

func TestPublishedCounts(t *testing.T) {
	for _, test := range []struct {
		text   string
		n      int64
		want   []int64
		of     int64
		remark bool
	}{
		{"20/1500", 7, []int64{20}, 1500, false},
		{"Yes", 9, []int64{1}, 1, false},
		{"No", 9, []int64{0}, 1, false},
		{"73.8 %", 500, []int64{369}, 500, false},
		{"68 %", 500, []int64{338, 339, 340, 341, 342}, 500, false}, // 67.5 % is 337.5
		{"40.0 %", 600, []int64{240}, 600, false},
		{"69.64 %", 448, []int64{312}, 448, false},
		{"72.34 %", 1500, []int64{1085}, 1500, true}, // 1085 games are 72.33 %, 1086 are 72.4 %
		{"0 %", 100, []int64{0}, 100, false},
		{"100.0 %", 10, []int64{10}, 10, false},
		{"0", 600, []int64{0}, 600, false},
	} {
		counts, remark, err := publishedCounts(test.text, test.n)
		var got []int64
		for _, c := range counts {
			got = append(got, c.K)
		}
		if err != nil || !slices.Equal(got, test.want) || counts[0].N != test.of || (remark != "") != test.remark {
			t.Errorf("%s of %d: %v, %q, %v, want %v of %d", test.text, test.n, counts, remark, err, test.want, test.of)
		}
	}
	for _, text := range []string{"", "5/4", "x/4", "101", "-1", "%", "-1/4", "0/0"} {
		if counts, _, err := publishedCounts(text, 100); err == nil {
			t.Errorf("%q is read as %v", text, counts)
		}
	}
}

func TestPrinted(t *testing.T) {
	for _, test := range []struct {
		text        string
		value, half float64
	}{
		{"7065.2", 7065.2, 0.05},
		{"about 8 %", 8, 0.5},
		{"0.96", 0.96, 0.005},
		{"about 25 million", 25e6, 0.5e6},
		{"about 40 billion", 40e9, 0.5e9},
		{"12160", 12160, 0.5},
	} {
		value, half, err := parsePrinted(test.text)
		if err != nil || math.Abs(value-test.value) > 1e-9*test.value || math.Abs(half-test.half) > 1e-9*test.half {
			t.Errorf("%q: %v and %v, %v, want %v and %v", test.text, value, half, err, test.value, test.half)
		}
	}
}

// firstBetter against all orders of n and m games: a bit set says where the n are, the best first.
func TestFirstBetter(t *testing.T) {
	for n := range 5 {
		for m := 1; m < 5; m++ {
			for _, p := range []float64{0.01, 0.1, 0.26, 0.49, 0.7, 0.99} {
				want := 0
				for ; ; want++ {
					orders, good := 0, 0
					for set := range uint(1) << (n + m) {
						if bits.OnesCount(set) != n {
							continue
						}
						orders++
						if bits.TrailingZeros(^set) >= want { // the first places are ours
							good++
						}
					}
					if float64(good)/float64(orders) <= p {
						break
					}
				}
				if got := rankLimit(int64(n), int64(m), p); got != int64(want) {
					t.Errorf("%d games beside %d, %v: %d, want %d", n, m, p, got, want)
				}
			}
		}
	}
}

// sampleOf is n games with those scores in turn.
func sampleOf(n int, scores ...int64) *gameSample {
	s := &gameSample{}
	for i := range n {
		score := scores[i%len(scores)]
		s.addGame(Game{Index: int64(i), Score: score, Moves: 10, Max: bits.Len64(uint64(score)), Won: score >= 1024, WinMoves: 5 * bit(score >= 1024), Time: 1e6})
	}
	return s
}

// A verdict follows from the numbers alone: the same row is compatible with one sample and not with another.
func TestJudge(t *testing.T) {
	row := &PublishedRow{Name: "r", Games: 100}
	single := &PublishedRow{Name: "one", Games: 1}
	for _, test := range []struct {
		row   *PublishedRow
		p     Published
		s     *gameSample
		value float64
		want  Verdict
	}{
		{row, Published{Measure: WinShare, Text: "50 %"}, sampleOf(1000, 500, 1500), 0.5, Compatible},
		{row, Published{Measure: WinShare, Text: "80 %"}, sampleOf(1000, 500, 1500), 0.5, Incompatible},
		{row, Published{Measure: WinShare, Text: "80 %"}, sampleOf(4, 500, 1500), 0.5, TooFew},       // any of the four could have won
		{row, Published{Measure: WinShare, Text: "50 %"}, sampleOf(40, 500, 1500), 0.5, TooFew},      // [0.29, 0.71]
		{row, Published{Measure: WinShare, Text: "3 %"}, sampleOf(40, 500, 1500), 0.5, Incompatible}, // but enough for that
		{single, Published{Measure: WinShare, Text: "Yes"}, sampleOf(1000, 500, 1500), 0.5, TooFew},
		{single, Published{Measure: WinShare, Text: "Yes"}, sampleOf(2000, 500, 1500), 0.5, Compatible},
		{single, Published{Measure: WinShare, Text: "Yes"}, sampleOf(2000, 500), 0, Incompatible},
		{row, Published{Measure: ReachShare, Tile: 1024, Text: "50"}, sampleOf(1000, 500, 1500), 0.5, Compatible},
		{row, Published{Measure: ReachShare, Tile: 1024, Text: "48/100"}, sampleOf(1000, 500, 1500), 0.5, Compatible},
		{row, Published{Measure: LargestShare, Tile: 2048, Text: "0/100"}, sampleOf(1000, 500, 1500), 0.5, Incompatible},
		{row, Published{Measure: MeanScore, Text: "1010.0"}, sampleOf(1000, 500, 1500), 1000, Compatible},
		{row, Published{Measure: MeanScore, Text: "1300.0"}, sampleOf(1000, 500, 1500), 1000, Incompatible},
		{row, Published{Measure: MeanScore, Text: "1300.0"}, sampleOf(1, 500), 500, TooFew},
		{row, Published{Measure: MeanScore, Text: "1010.0"}, sampleOf(50, 500, 1500), 1000, TooFew},       // [809, 1191]
		{row, Published{Measure: MeanLargest, Text: "1280"}, sampleOf(1000, 500, 1500), 1280, Compatible}, // 512 and 2048
		{row, Published{Measure: BestScore, Text: "1500"}, sampleOf(1000, 500, 1500), 1500, Compatible},
		{row, Published{Measure: BestScore, Text: "400"}, sampleOf(1000, 500, 1500), 1500, Incompatible},
		{row, Published{Measure: BestScore, Text: "9999"}, sampleOf(100, 500, 1500), 1500, Compatible}, // one in two has the best
		{row, Published{Measure: BestScore, Text: "9999"}, sampleOf(1_000_000, 500, 1500), 1500, Incompatible},
		{single, Published{Measure: BestScore, Text: "700"}, sampleOf(5000, 500, 1500), 500, Compatible},
		{single, Published{Measure: BestScore, Text: "400"}, sampleOf(5000, 500, 1500), 500, Incompatible},
		{single, Published{Measure: BestScore, Text: "400"}, sampleOf(1900, 500, 1500), 500, TooFew},
		{row, Published{Measure: BestScore, Text: "1500"}, sampleOf(50, 500, 1500), 1500, TooFew},
		{single, Published{Measure: BestTile, Text: "512"}, sampleOf(5000, 500, 1500), 512, Compatible},
		{row, Published{Measure: WinValue, Text: "about 50 %"}, sampleOf(1000, 500, 1500), 0.5, Compatible},
		{row, Published{Measure: WinValue, Text: "about 90 %"}, sampleOf(1000, 500, 1500), 0.5, Incompatible},
		{row, Published{Measure: WinValue, Text: "about 50 %"}, sampleOf(50, 500, 1500), 0.5, TooFew},
		{row, Published{Measure: Speed, Text: "9999"}, sampleOf(10, 500), 10000, NotCompared},
		{row, Published{Measure: WinTime, Text: "9999"}, sampleOf(10, 1500), 0.0005, NotCompared},
	} {
		j, err := test.s.judge(test.row, &test.p, 0.99)
		if err != nil || j.Verdict != test.want || math.Abs(j.Value-test.value) > 1e-9 {
			t.Errorf("%s %s: %+v, %v, want %v and verdict %d", test.p.Measure, test.p.Text, j, err, test.value, test.want)
		}
		if few := strings.Contains(j.Remark, "too few games to judge"); few != (j.Verdict == TooFew) {
			t.Errorf("%s %s: verdict %d, but it says %q", test.p.Measure, test.p.Text, j.Verdict, j.Remark)
		}
	}
	none, err := (&gameSample{}).judge(row, &Published{Measure: WinShare, Text: "50 %"}, 0.99)
	if err != nil || none.Verdict != TooFew {
		t.Errorf("no games: %+v, %v", none, err)
	}
	if _, err := sampleOf(3, 5).judge(row, &Published{Measure: States, Text: "7"}, 0.99); err == nil {
		t.Error("games say how many states there are")
	}
}

func TestOptimumJudge(t *testing.T) {
	o := Optimum{Value: 0.0829, States: 70, ClassCount: 25_179_014}
	for _, test := range []struct {
		p    Published
		want Verdict
	}{
		{Published{Measure: WinValue, Text: "about 8 %"}, Compatible},
		{Published{Measure: WinValue, Text: "0.09"}, Incompatible},
		{Published{Measure: States, Text: "70"}, Compatible},
		{Published{Measure: States, Text: "71"}, Incompatible},
		{Published{Measure: Transitions, Text: "530"}, NotCompared}, // not counted
		{Published{Measure: ClassCount, Text: "about 25 million"}, Compatible},
		{Published{Measure: ClassCount, Text: "about 29 million"}, Incompatible},
	} {
		if j, err := o.judge(&test.p); err != nil || j.Verdict != test.want {
			t.Errorf("%s %s: %+v, %v, want verdict %d", test.p.Measure, test.p.Text, j, err, test.want)
		}
	}
	if _, err := o.judge(&Published{Measure: Speed, Text: "7"}); err == nil {
		t.Error("a solution has a speed")
	}
}

// Every row of every document can be parsed, and every number of it can be judged.
func TestDocumentsAreWellFormed(t *testing.T) {
	for _, d := range Documents() {
		seen := make(map[string]bool)
		for _, row := range d.Rows {
			name := row.Table + ", " + row.Name
			if seen[name] {
				t.Errorf("%s: %s is there twice", d.Name, name)
			}
			seen[name] = true
			if row.Strategy != "" {
				parse(t, row.Match, row.Strategy)
			}
			for i := range row.Values {
				p := &row.Values[i]
				var err error
				if row.Strategy == "" {
					_, err = Optimum{1, 2, 3, 4}.judge(p)
				} else {
					_, err = sampleOf(50, 500, 1500).judge(&row, p, 0.99)
				}
				if err != nil {
					t.Errorf("%s: %s: %v", d.Name, name, err)
				}
			}
		}
	}
}

// Rows of one strategy share their games, a cap and a cut are kept to, and what is solved is.
func TestRepeat(t *testing.T) {
	m := square(2, 4, false, 0)
	win := func(text string) Published { return Published{Measure: WinShare, Tile: 16, Text: text} }
	rows := []PublishedRow{
		{Table: "table 1", Name: "random", Strategy: "random", Match: m, Games: 400, Values: []Published{win("12.25 %"), win("90 %")}},
		{Table: "table 1", Name: "fewer", Strategy: "random", Match: m, Games: 100, Values: []Published{win("13 %")}},
		{Table: "table 2", Name: "solved", Match: m, Values: []Published{{Measure: WinValue, Text: "0.96"}, {Measure: States, Text: "198"}}},
		{Table: "table 2", Name: "far", Match: m, OutOfReach: true, Values: []Published{{Measure: WinValue, Text: "0.96"}}},
	}
	solved := 0
	opt := RepeatOptions{
		Rows: rows, Seed: 4, Confidence: 0.99, State: t.TempDir(),
		Solve: func(context.Context, Match) (float64, error) {
			solved++
			return 0.9625, nil
		},
	}
	results, err := Repeat(t.Context(), opt)
	if err != nil || len(results) != 4 || solved != 1 {
		t.Fatalf("%d results, %d solved, %v", len(results), solved, err)
	}
	var got []Verdict
	for _, r := range results {
		for _, j := range r.Judgements {
			got = append(got, j.Verdict)
		}
	}
	if want := []Verdict{Compatible, Incompatible, Compatible, Compatible, Compatible, NotCompared}; !slices.Equal(got, want) {
		t.Errorf("verdicts %v, want %v", got, want)
	}
	if results[0].Games != 400 || results[1].Games != 400 {
		t.Errorf("%d and %d games, want the 400 of the first row in both", results[0].Games, results[1].Games)
	}
	again, err := Repeat(t.Context(), opt)
	if err != nil || again[0].Judgements[0] != results[0].Judgements[0] {
		t.Errorf("resumed: %+v, %v, want %+v", again[0].Judgements[0], err, results[0].Judgements[0])
	}
	opt.Games = 50
	if capped, err := Repeat(t.Context(), opt); err != nil || capped[0].Games != 50 {
		t.Errorf("capped: %+v, %v", capped, err)
	}
	opt.Rows = []PublishedRow{{Table: "table 1", Name: "bad", Strategy: "nobody", Match: m, Games: 1}}
	if _, err := Repeat(t.Context(), opt); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("%v, want that nobody is no strategy", err)
	}
	opt.Rows = rows[2:3]
	opt.Solve = func(context.Context, Match) (float64, error) { return 0, errors.New("too large") }
	if _, err := Repeat(t.Context(), opt); err == nil || !strings.Contains(err.Error(), "table 2, solved: too large") {
		t.Errorf("%v", err)
	}
	// A budget ends a solution, and what is played after it gets nothing.
	opt.Rows, opt.Games, opt.Budget = []PublishedRow{rows[2], rows[0]}, 0, time.Millisecond
	opt.State = ""
	opt.Solve = func(ctx context.Context, _ Match) (float64, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	late, err := Repeat(t.Context(), opt)
	if err != nil || len(late) != 2 || late[0].End != OutOfTime || late[0].Judgements[0].Verdict != NotCompared || late[1].Games != 0 ||
		late[1].Judgements[0].Verdict != TooFew {
		t.Errorf("over budget: %+v, %v", late, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	opt.Rows = rows
	if none, err := Repeat(ctx, opt); err != nil || len(none) != 0 {
		t.Errorf("cancelled: %d results, %v", len(none), err)
	}
}

// The even parts of a budget: rows of the same games count once, and a limit of each row holds, too.
func TestBudgetIsDivided(t *testing.T) {
	m := square(2, 4, false, 0)
	rows := []PublishedRow{{Strategy: "random", Match: m}, {Strategy: "random", Match: m}, {Match: m}, {Strategy: "opposite", Match: m}}
	r := repetition{deadline: time.Now().Add(time.Hour), remaining: rows}
	if part := r.rowTime(); part > 30*time.Minute || part < 29*time.Minute {
		t.Errorf("%v of an hour for each of two rows", part)
	}
	r.remaining = rows[3:]
	if part := r.rowTime(); part < 59*time.Minute {
		t.Errorf("%v of an hour for the last row", part)
	}
	r.Time = time.Second
	if part := r.rowTime(); part != time.Second {
		t.Errorf("%v, want the second that a row may have", part)
	}
	r.deadline = time.Now().Add(-time.Hour)
	if part := r.rowTime(); part != 1 {
		t.Errorf("%v after the end, want the shortest time", part)
	}
}

// Four rows that are each 1.65 deviations too low, which says nothing about any of them, are 3.3 together: p = 0.00097.
func TestJoints(t *testing.T) {
	row := func(table, strategy string, deviation float64, v Verdict) RowResult {
		return RowResult{
			Row: &PublishedRow{Table: table, Values: []Published{{Measure: MeanScore}, {Measure: MeanLargest}}}, Strategy: strategy,
			Judgements: []Judgement{{Deviation: deviation, Verdict: v}, {Deviation: 9, Verdict: Incompatible}},
		}
	}
	results := []RowResult{
		row("1", "a", -1.65, Compatible), row("1", "b", -1.65, Compatible), row("1", "c", -1.65, Compatible), row("1", "d", -1.65, Compatible),
		row("1", "d", -1.65, Compatible), // the same games
		row("1", "e", -8, TooFew),
		row("2", "a", 3, Compatible), row("2", "b", -2.9, Compatible),
		row("3", "a", -8, Incompatible), // alone
	}
	got := Joints(results)
	if len(got) != 2 || got[0].Table != "1" || got[0].Rows != 4 || math.Abs(got[0].Deviation+3.3) > 1e-9 || math.Abs(got[0].PValue-0.000967) > 1e-6 ||
		got[0].Verdict != Incompatible || got[1].Table != "2" || got[1].Verdict != Compatible {
		t.Errorf("%+v", got)
	}
}

// The estimates of games that were counted by hand: 3 of 10 win.
func TestEstimates(t *testing.T) {
	o := Outcome{Match: square(4, 11, true, 0), Asked: 10}
	for i := range 10 {
		g := Game{Index: int64(i), Score: 1000, Moves: 100, Max: 9}
		if i < 3 {
			g = Game{Index: int64(i), Score: 21000, Moves: 1000, Max: 11, Won: true, WinMoves: 900}
		}
		o.Add(g)
	}
	estimates, err := o.Estimates(0.99)
	if err != nil {
		t.Fatal(err)
	}
	find := func(q Quantity, tile int, m stats.IntervalMethod) Estimate {
		i := slices.IndexFunc(estimates, func(e Estimate) bool { return e.Quantity == q && e.Tile == tile && e.Interval.Method == m })
		if i < 0 {
			t.Fatalf("no estimate of %s %d by %v", q, tile, m)
		}
		return estimates[i]
	}
	won := find(Won, 2048, stats.ClopperPearson)
	want, _ := stats.BernoulliInterval(stats.Bernoulli{N: 10, K: 3}, 0.99, false)
	if won.Value != 0.3 || won.Count != 3 || won.Interval != want {
		t.Errorf("won: %+v, want %v", won, want)
	}
	// Of the 17 largest tiles there can be, each gets a seventeenth of the error.
	largest := find(Largest, 512, stats.ClopperPearson)
	want, _ = stats.BernoulliInterval(stats.Bernoulli{N: 10, K: 7}, stats.Confidence(0.01/17), false)
	if largest.Value != 0.7 || largest.Together != 17 || largest.Interval.Lo != want.Lo || largest.Interval.Hi != want.Hi || largest.Interval.Confidence != 0.99 {
		t.Errorf("largest tile 512: %+v, want %v", largest, want)
	}
	if r := find(Reached, 1024, stats.ClopperPearson); r.Count != 3 || r.Together != 5 {
		t.Errorf("reached 1024: %+v", r)
	}
	if s := find(Score, 0, stats.StudentT); s.Value != 7000 || s.Interval.Sound() {
		t.Errorf("score: %+v", s)
	}
	if s := find(Score, 0, stats.EmpiricalBernstein); s.Value != 7000 || !s.Interval.Sound() || s.Interval.Hi > o.Match.scoreBounds().Hi {
		t.Errorf("score, proven: %+v", s)
	}
	if w := find(WinMoves, 0, stats.StudentT); w.Value != 900 || w.Games != 3 {
		t.Errorf("moves to win: %+v", w)
	}
	o.End = OutOfTime
	if estimates, err = o.Estimates(0.99); err != nil {
		t.Fatal(err)
	}
	find(Won, 2048, stats.BetaBinomial)
	find(Score, 0, stats.EmpiricalBernsteinSequence)
	var one Outcome
	one.Match = square(4, 0, true, 0)
	one.Add(Game{Score: 4, Moves: 1, Max: 2})
	if estimates, err = one.Estimates(0.99); err != nil {
		t.Fatal(err)
	}
	find(Score, 0, stats.NoInterval)
}
