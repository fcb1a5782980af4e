package play

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tilecheck/game"
	"tilecheck/stats"
)

// Measure is what a published number is about.
type Measure string

// The measures. Those of a speed or of a time depend on the machine and are never compared.
const (
	WinShare     Measure = "won"              // share of the games that reached the goal
	LossShare    Measure = "lost before"      // share of those that did not, before the tile
	ReachShare   Measure = "reached"          // share of the games that reached a tile
	LargestShare Measure = "largest tile is"  // share of the games that ended with that largest tile
	MeanScore    Measure = "mean score"       //
	MeanLargest  Measure = "mean largest"     // mean of the values of the largest tiles
	BestScore    Measure = "best score"       // largest score of all games of the document
	BestTile     Measure = "best tile"        // largest tile of all games of the document
	Speed        Measure = "moves per second" //
	WinTime      Measure = "seconds to a win" //
	WinValue     Measure = "value"            // probability of winning with optimal play from a random start
	States       Measure = "states"           // of the Markov decision process, see Census
	Transitions  Measure = "transitions"      // likewise
	ClassCount   Measure = "states up to symmetry"
)

// Document is a source with result tables.
type Document struct {
	Name   string // as in compare document
	Source string // author, title, year
	Rows   []PublishedRow
	// Together has, by table, why its mean scores are not met when they are taken together, or that it is not known why.
	Together map[string]string
	// Notes are about the document as a whole.
	Notes []string
}

// Documents returns the documents with tables that can be repeated.
func Documents() []Document { return []Document{Thesis(), Stanford(), DTU(), CS221(), LeesMiller()} }

// Choose returns the rows of a table, "1" or "table 1", whose names match; an empty table is any.
func (d Document) Choose(table string, name *regexp.Regexp) (rows []PublishedRow, err error) {
	var all []string
	for _, row := range d.Rows {
		all = append(all, row.Table+": "+row.Name)
		if (table == "" || row.Table == table || strings.HasSuffix(row.Table, " "+table)) && name.MatchString(row.Name) {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no row of %s is asked for, want one of: %s", d.Name, strings.Join(all, ", "))
	}
	return rows, nil
}

// PublishedRow is a row of a table of a document.
type PublishedRow struct {
	Table    string // "table 1", "figure 9", "section 6"
	Name     string // what tells the row from the others of its table
	Strategy string // spec; empty when nothing is played
	Match    Match  // its seed is not set
	Model    bool   // the strategy was not played: its model was sampled
	Games    int64  // that the document played; 0 when it does not say
	Play     int64  // games to play when that is not Games
	Values   []Published
	// OutOfReach rows are printed for information: what they are about is too large to compute here.
	OutOfReach bool
}

// Published is one number of a row.
type Published struct {
	Measure Measure
	Tile    int // value of the tile that it is about, if any
	// Text is the number as printed: "72.34 %", "0.138", "73/280", "7065.2" or "about 8 %"; what a document says in words is a fraction. Shares and
	// plain counts are of the row's Games unless they are fractions.
	Text string
	// Note says why the number is not met, or that it is not known why. It is shown only when it is computed that the number is not met.
	Note string
}

// String says what the number is, such as "reached 2048".
func (p *Published) String() string {
	if p.Tile == 0 {
		return string(p.Measure)
	}
	return string(p.Measure) + " " + strconv.Itoa(p.Tile)
}

// Verdict is whether a published number can come from the same game as ours.
type Verdict uint8

// The verdicts. NotCompared is for numbers about a machine, and for those that there is nothing to compare with. TooFew is for numbers that
// our games do not contradict, but that so few games could hardly have contradicted: see [widestShare] and [Judgement.Remark].
const (
	NotCompared Verdict = iota
	Compatible
	Incompatible
	TooFew
)

// What a number needs to count as compatible rather than as TooFew.
const (
	// widestShare is how wide the 99 % interval of a share may be.
	widestShare = 0.3
	// widestMean is how wide that of a mean may be, as a part of the mean.
	widestMean = 0.3
	// enoughBests is how many games are enough beside the best of many; fewer are when the document has fewer.
	enoughBests = 100
)

// Judgement puts a published number beside ours.
type Judgement struct {
	Value float64 // ours; NaN when there is none
	// Interval is for Value. When Predicted is set it is where our games say that the best of Theirs games lies in 99.9 % of all cases, and
	// Value is the median of that; Interval.Hi is infinite when ours are too few to say how good the best can be.
	Interval  stats.Interval
	Predicted bool
	Games     int64 // ours; 0 for a computed number
	// Theirs is the number of games behind the published number.
	Theirs  int64
	Verdict Verdict
	// Method is how Verdict was decided.
	Method string
	// Deviation is, for a mean that was compared, the published one less ours in standard deviations of that difference (nominal).
	Deviation float64
	// Remark is about this comparison, such as a published number that does not fit its number of games.
	Remark string
}

// sample is what is kept of the games of a row.
type sample struct {
	Summary
	scores  []float64
	largest stats.Moments // of the values of the largest tiles
	// sequential says that something else than a number fixed beforehand ended it.
	sequential bool
	// level is the confidence with which shares are told apart, stats.CompareConfidence if 0.
	level float64
}

func (s *sample) add(g Game) {
	s.Add(g)
	s.scores = append(s.scores, float64(g.Score))
	s.largest.Add(float64(game.Value(g.Max)))
}

// judge compares a published number with our games. confidence is that of our interval; verdicts use stats.CompareConfidence.
func (s *sample) judge(row *PublishedRow, p *Published, confidence float64) (Judgement, error) {
	j := Judgement{Value: math.NaN(), Games: s.Games(), Theirs: row.Games}
	if s.Games() == 0 {
		if p.Measure != Speed && p.Measure != WinTime {
			j.Verdict = TooFew
		}
		j.Remark = "no game was finished in the time"
		return j, nil
	}
	var err error
	switch p.Measure {
	case WinShare, LossShare, ReachShare, LargestShare:
		err = s.judgeShare(&j, s.share(row, p), p, confidence)
	case MeanScore:
		err = judgeMean(&j, s.Score, p, confidence)
	case MeanLargest:
		err = judgeMean(&j, s.largest, p, confidence)
	case BestScore:
		err = s.judgeBest(&j, p, s.scores)
	case BestTile:
		err = s.judgeBest(&j, p, s.tiles())
	case WinValue:
		err = s.judgeValue(&j, p, confidence)
	case Speed:
		j.Value = s.Speed()
	case WinTime:
		if s.Won.K > 0 && s.Moves.N > 0 {
			j.Value = s.WinMoves.Mean() / s.Speed()
		}
	default:
		err = fmt.Errorf("%s: games say nothing about %s", row.Name, p.Measure)
	}
	if err != nil {
		err = fmt.Errorf("%s, %s, %s: %w", row.Table, row.Name, p.Measure, err)
	}
	return j, err
}

// share counts the games that a published share is about.
func (s *sample) share(row *PublishedRow, p *Published) stats.Bernoulli {
	exp := int(math.Log2(float64(p.Tile)))
	switch p.Measure {
	case LossShare:
		return stats.Bernoulli{N: s.Games(), K: s.Games() - s.Won.K}
	case ReachShare:
		return s.Reached(exp)
	case LargestShare:
		return stats.Bernoulli{N: s.Games(), K: s.Largest[exp]}
	}
	return s.Won
}

func (s *sample) tiles() []float64 {
	var out []float64
	for exp, n := range s.Largest {
		for range n {
			out = append(out, float64(game.Value(exp)))
		}
	}
	return out
}

// judgeShare compares counts: by Fisher's exact test, or by intervals when our number of games was not fixed beforehand. When the printed
// share leaves several counts open, one of them that is compatible is enough.
func (s *sample) judgeShare(j *Judgement, ours stats.Bernoulli, p *Published, confidence float64) error {
	counts, remark, err := publishedCounts(p.Text, j.Theirs)
	if err != nil {
		return err
	}
	j.Value, j.Remark, j.Verdict = ours.Mean(), remark, Incompatible
	j.Theirs = counts[0].N
	if j.Interval, err = stats.BernoulliInterval(ours, confidence, s.sequential); err != nil {
		return err
	}
	j.Method = "exact test"
	if s.sequential {
		j.Method = "intervals overlap"
	}
	met, few, err := meets(stats.Sample{Bernoulli: ours, Sequential: s.sequential}, counts, cmp.Or(s.level, stats.CompareConfidence))
	if err != nil || !met {
		return err
	}
	j.enough(few)
	return nil
}

// enough makes a number that is met compatible, or says why there are too few games for that; few is empty if there are not.
func (j *Judgement) enough(few string) {
	j.Verdict = Compatible
	if few == "" {
		return
	}
	j.Verdict = TooFew
	if j.Remark != "" {
		j.Remark += "; "
	}
	j.Remark += "too few games to judge: " + few
}

// meets compares our games with a published share that can be any of those counts, at [stats.CompareConfidence]. When it is met, few says
// why that means little: every result of so many games would have met it, or our interval at 99 % is wider than 0.3.
func meets(ours stats.Sample, counts []stats.Bernoulli, level float64) (met bool, few string, err error) {
	anyMet := func(k int64) (bool, error) {
		ours.K = k
		for _, theirs := range counts {
			test, err := stats.Compare(ours, stats.Sample{Bernoulli: theirs}, level)
			if err != nil || test.Compatible {
				return true, err
			}
		}
		return false, nil
	}
	i, err := stats.BernoulliInterval(ours.Bernoulli, stats.DefaultConfidence, ours.Sequential)
	if err != nil {
		return false, "", err
	}
	found := ours.K
	none, errNone := anyMet(0)
	all, errAll := anyMet(ours.N)
	met, errMet := anyMet(found)
	switch {
	case none && all:
		few = fmt.Sprintf("no result of %d games would have been incompatible with %d of theirs", ours.N, counts[0].N)
	case i.Hi-i.Lo > widestShare:
		few = fmt.Sprintf("the 99 %% interval is wider than %g", widestShare)
	}
	return met, few, cmp.Or(errNone, errAll, errMet)
}

// publishedCounts returns the counts that a printed share of n games can stand for: k/m itself, k for a plain number, 0 or 1 for No and Yes,
// and for a percentage, or a share such as 0.138, all that round to it. If none does, it is the nearest, and the remark says so.
func publishedCounts(text string, n int64) (counts []stats.Bernoulli, remark string, err error) {
	if k, m, ok := strings.Cut(text, "/"); ok {
		b := stats.Bernoulli{}
		var errK, errM error
		b.K, errK = strconv.ParseInt(strings.TrimSpace(k), 10, 64)
		b.N, errM = strconv.ParseInt(strings.TrimSpace(m), 10, 64)
		if errK != nil || errM != nil || b.K < 0 || b.K > b.N || b.N == 0 {
			return nil, "", fmt.Errorf("published %q, want a fraction of games", text)
		}
		return []stats.Bernoulli{b}, "", nil
	}
	if text == "Yes" || text == "No" {
		return []stats.Bernoulli{{N: 1, K: bit(text == "Yes")}}, "", nil
	}
	if k, err := strconv.ParseInt(text, 10, 64); err == nil && k >= 0 && k <= n && n > 0 {
		return []stats.Bernoulli{{N: n, K: k}}, "", nil
	}
	value, half, err := printedShare(text)
	if err != nil || !strings.ContainsAny(text, "%.") || n < 1 {
		return nil, "", fmt.Errorf("published %q of %d games, want a percentage, a share, a fraction, a count, Yes or No", text, n)
	}
	value, half = value*float64(n), half*float64(n)
	const slack = 1e-9
	for k := int64(math.Ceil(value - half - slack)); float64(k) <= value+half+slack; k++ {
		if k >= 0 && k <= n {
			counts = append(counts, stats.Bernoulli{N: n, K: k})
		}
	}
	if len(counts) > 0 {
		return counts, "", nil
	}
	nearest := stats.Bernoulli{N: n, K: int64(math.Round(value))}
	return []stats.Bernoulli{nearest}, fmt.Sprintf("no count of %d games rounds to %s; taken as %d/%d", n, text, nearest.K, n), nil
}

// Share returns the published number as a share of 1, if it is one.
func (p *Published) Share() (share float64, ok bool) {
	switch p.Measure {
	case WinShare, LossShare, ReachShare, LargestShare, WinValue:
	default:
		return 0, false
	}
	if share, _, err := printedShare(p.Text); err == nil && strings.ContainsAny(p.Text, "%.") {
		return share, true
	}
	b, _, err := publishedCounts(p.Text, 1)
	if err != nil {
		return 0, false
	}
	return b[0].Mean(), true
}

// printed reads a number such as "72.34 %", "about 8 %" or "7065.2", without making a percentage a share, and half a unit of its last digit.
func printed(text string) (value, half float64, err error) {
	number := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, "about "), "%"))
	scale := 1.0
	for suffix, factor := range map[string]float64{" million": 1e6, " billion": 1e9} {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, scale = rest, factor
		}
	}
	if value, err = strconv.ParseFloat(number, 64); err != nil {
		return 0, 0, fmt.Errorf("published %q, want a number", text)
	}
	_, decimals, _ := strings.Cut(number, ".")
	return value * scale, 0.5 * math.Pow10(-len(decimals)) * scale, nil
}

// judgeMean compares means, of which only the printed one is known of the published games: Student's test with our standard deviation for
// both, which is nominal.
func judgeMean(j *Judgement, ours stats.Moments, p *Published, confidence float64) error {
	value, half, err := printed(p.Text)
	if err != nil {
		return err
	}
	j.Value = ours.Mean()
	if ours.N < 2 || j.Theirs < 1 {
		j.enough("there is no standard deviation")
		return nil
	}
	if j.Interval, err = stats.RewardInterval(ours, nil, confidence, false); err != nil {
		return err
	}
	test, err := stats.RewardInterval(ours, nil, stats.CompareConfidence, false)
	if err != nil {
		return err
	}
	both := math.Sqrt(1 + float64(ours.N)/float64(j.Theirs))
	if sd := math.Sqrt(ours.Variance()/float64(ours.N)) * both; sd > 0 {
		j.Deviation = (value - j.Value) / sd
	}
	j.Method, j.Verdict = "Student t, nominal", Incompatible
	if math.Abs(value-j.Value) > half+(test.Hi-test.Lo)/2*both {
		return nil
	}
	known, err := stats.RewardInterval(ours, nil, stats.DefaultConfidence, false)
	if err != nil {
		return err
	}
	few := ""
	if known.Hi-known.Lo > widestMean*math.Abs(j.Value) {
		few = fmt.Sprintf("the 99 %% interval is wider than %g %% of the value", 100*widestMean)
	}
	j.enough(few)
	return nil
}

// judgeBest asks whether the best of their games can be as good as it was: how many of ours are better than it is known to be distributed
// like the number of games before the first of theirs when all are put in order at random. That gives limits for the best of theirs that are
// some of our results.
func (s *sample) judgeBest(j *Judgement, p *Published, ours []float64) error {
	best, half, err := printed(p.Text)
	if err != nil {
		return err
	}
	sorted := slices.Sorted(slices.Values(ours))
	slices.Reverse(sorted)
	n, alpha := int64(len(sorted)), stats.Alpha(stats.CompareConfidence)
	median := firstBetter(n, j.Theirs, 0.5)
	j.Value, j.Predicted, j.Method = sorted[min(median, n)-1], true, "exact rank test"
	j.Interval = stats.Interval{Lo: math.Inf(-1), Hi: math.Inf(1), Confidence: stats.CompareConfidence}
	low := firstBetter(n, j.Theirs, alpha/2)
	if low <= n {
		j.Interval.Lo = sorted[low-1]
	}
	// The last result that the best of theirs is above with probability alpha/2 at most.
	high := firstBetter(n, j.Theirs, 1-alpha/2) - 1
	if high >= 1 {
		j.Interval.Hi = sorted[high-1]
	}
	if best+half < j.Interval.Lo || best-half > j.Interval.Hi {
		j.Verdict = Incompatible
		return nil
	}
	few := ""
	switch {
	case low > n && high < 1:
		few = fmt.Sprintf("no best would have been incompatible with %d games of ours", n)
	case n < min(j.Theirs, enoughBests):
		few = fmt.Sprintf("%d of ours beside the best of %d", n, j.Theirs)
	}
	j.enough(few)
	return nil
}

// firstBetter returns the least k for which k of n games are better than the best of m others with probability p at most, all being alike;
// n+1 when there is none.
func firstBetter(n, m int64, p float64) int64 {
	k, at := int64(0), 1.0
	for at > p && k <= n {
		at *= float64(n-k) / float64(n+m-k)
		k++
	}
	return k
}

// judgeValue asks whether a printed probability of winning, which is no estimate, can be that of the games we played.
func (s *sample) judgeValue(j *Judgement, p *Published, confidence float64) error {
	value, half, err := printedShare(p.Text)
	if err != nil {
		return err
	}
	j.Value = s.Won.Mean()
	if j.Interval, err = stats.BernoulliInterval(s.Won, confidence, s.sequential); err != nil {
		return err
	}
	test, err := stats.BernoulliInterval(s.Won, stats.CompareConfidence, s.sequential)
	if err != nil {
		return err
	}
	j.Method, j.Verdict = "in our interval", Incompatible
	if test.Lo > value+half || value-half > test.Hi {
		return nil
	}
	few := ""
	if test.Hi-test.Lo > widestShare {
		few = fmt.Sprintf("the 99.9 %% interval is wider than %g", widestShare)
	}
	j.enough(few)
	return nil
}

// printedShare reads a probability, perhaps written as a percentage.
func printedShare(text string) (value, half float64, err error) {
	value, half, err = printed(text)
	if strings.HasSuffix(text, "%") {
		value, half = value/100, half/100
	}
	return value, half, err
}

// Optimum is what the exact solution of a match says.
type Optimum struct {
	Value float64 // probability of winning from a random start
	// States and Transitions are those of Census, ClassCount that of Classes; 0 when they were not counted.
	States, Transitions, ClassCount int64
}

// judge compares a published number with the exact one: they agree when ours rounds to it.
func (o Optimum) judge(p *Published) (Judgement, error) {
	j := Judgement{Value: o.Value, Method: "rounds to it"}
	value, half, err := printedShare(p.Text)
	switch p.Measure {
	case States:
		j.Value = float64(o.States)
	case Transitions:
		j.Value = float64(o.Transitions)
	case ClassCount:
		j.Value = float64(o.ClassCount)
	case WinValue:
	default:
		err = cmp.Or(err, fmt.Errorf("a solution says nothing about %s", p.Measure))
	}
	if err != nil || j.Value == 0 {
		j.Value, j.Method = math.NaN(), ""
		return j, err
	}
	if j.Verdict = Incompatible; math.Abs(j.Value-value) <= half {
		j.Verdict = Compatible
	}
	return j, nil
}
