package play

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tilecheck/game"
	"tilecheck/internal/noun"
	"tilecheck/stats"
)

// Measure says which quantity a published number gives.
type Measure string

// The measures. Speeds and times depend on the machine and are never compared.
const (
	WinShare     Measure = "won"              // share of the games that reached the goal
	LossShare    Measure = "lost before"      // share of the games that did not reach the tile
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

// Document is a publication with tables of results.
type Document struct {
	Name   string // the argument of the command "compare document"
	Source string // author, title, year
	Rows   []PublishedRow
	// Together explains, by table, why its mean scores are incompatible with ours when judged together, or says that the reason is unknown.
	Together map[string]string
	// Notes are about the document as a whole.
	Notes []string
}

// Documents returns the documents with tables that can be repeated.
func Documents() []Document { return []Document{Thesis(), Stanford(), DTU(), CS221(), LeesMiller()} }

// Choose returns the rows of a table whose names match a pattern. table is the name of the table, such as "1" or "table 1"; "" means all tables. It
// returns an error if there is no such row.
func (d Document) Choose(table string, name interface{ MatchString(text string) bool }) (rows []PublishedRow, err error) {
	var tables []string
	for _, row := range d.Rows {
		if !slices.Contains(tables, row.Table) {
			tables = append(tables, row.Table)
		}
		isTable := table == "" || row.Table == table || strings.HasSuffix(row.Table, " "+table)
		if isTable && name.MatchString(row.Name) {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil, d.noRowError(tables, table)
	}
	return rows, nil
}

// noRowError returns the error that no row was chosen. It names the tables of the document, or the rows of the chosen table.
func (d Document) noRowError(tables []string, table string) error {
	var rows []string
	for _, row := range d.Rows {
		if table != "" && (row.Table == table || strings.HasSuffix(row.Table, " "+table)) {
			rows = append(rows, row.Name)
		}
	}
	switch {
	case len(rows) > 0:
		return fmt.Errorf("no row of %s of %s has such a name, want one of: %s", table, d.Name, strings.Join(rows, "; "))
	case table != "":
		return fmt.Errorf("%s has no table %q, want one of: %s", d.Name, table, strings.Join(tables, "; "))
	}
	return fmt.Errorf("no row of %s has such a name; its tables are: %s", d.Name, strings.Join(tables, "; "))
}

// PublishedRow is a row of a table of a document.
type PublishedRow struct {
	Table    string // "table 1", "figure 9", "section 6"
	Name     string // distinguishes the row from the other rows of its table
	Strategy string // spec; empty if no games are played
	Match    Match  // its seed is not set
	Model    bool   // the document sampled a model and did not play games
	Games    int64  // number of games that the document played; 0 if it does not say
	Play     int64  // number of games to play if it differs from Games
	Values   []Published
	// OutOfReach rows are only printed: the state space behind their numbers is too large to solve here.
	OutOfReach bool
}

// Published is one number of a row.
type Published struct {
	Measure Measure
	Tile    int // value of the tile that the number is about, 0 if none
	// Text is the number as printed: "72.34 %", "0.138", "73/280", "7065.2" or "about 8 %". A number that a document gives in words is written
	// as a fraction. Shares and plain counts refer to the row's Games, except fractions.
	Text string
	// Note says why the number is incompatible with ours, or that the reason is unknown. It is shown only if the comparison finds it incompatible.
	Note string
}

// String names the number, for example "reached 2048".
func (p *Published) String() string {
	if p.Tile == 0 {
		return string(p.Measure)
	}
	return string(p.Measure) + " " + strconv.Itoa(p.Tile)
}

// Verdict says whether a published number can come from the same game as ours.
type Verdict uint8

// The verdicts. NotCompared is for numbers that depend on the machine, and for numbers without a counterpart of ours. TooFew is for numbers that
// our games do not contradict, but hardly could have contradicted with so few games: see [widestShare] and [Judgement.Remark].
const (
	NotCompared Verdict = iota
	Compatible
	Incompatible
	TooFew
)

// Limits for the verdict Compatible; beyond them it is TooFew.
const (
	// widestShare is the largest width of the 99 % interval of a share.
	widestShare = 0.3
	// widestMean is the largest width of the 99 % interval of a mean, divided by the mean.
	widestMean = 0.3
	// enoughBests is the number of our games that is enough to judge the best of many; fewer are enough if the document has fewer.
	enoughBests = 100
)

// Judgement compares a published number with ours.
type Judgement struct {
	Value float64 // our value; NaN if there is none
	// Interval is for Value. If Predicted is set, Interval contains the best of Theirs games with probability 99.9 %, as predicted from our games,
	// and Value is the median of that prediction. Interval.Hi is infinite if our games are too few to bound the best result.
	Interval  stats.Interval
	Predicted bool
	Games     int64 // number of our games; 0 for a computed number
	// IsShare says that Value is the share Successes of Games.
	IsShare   bool
	Successes int64
	// Theirs is the number of games behind the published number.
	Theirs  int64
	Verdict Verdict
	// Method says how Verdict was decided.
	Method string
	// Deviation is, for a compared mean, the published mean minus ours, divided by the standard deviation of that difference (nominal).
	Deviation float64
	// Remark is a note on this comparison, for example that the published number does not fit its number of games.
	Remark string
}

// gameSample holds the results of a row's games that comparisons need.
type gameSample struct {
	Summary
	scores  []float64
	largest stats.Moments // of the values of the largest tiles
	// sequential says that the number of games was not fixed beforehand.
	sequential bool
	// testConfidence is the confidence of the tests of shares; 0: stats.CompareConfidence.
	testConfidence float64
}

func (s *gameSample) addGame(g Game) {
	s.Add(g)
	s.scores = append(s.scores, float64(g.Score))
	s.largest.Add(float64(game.Value(g.Max)))
}

// judge compares a published number with the results of our games. confidence is the confidence of our interval. The test has the confidence
// stats.CompareConfidence.
func (s *gameSample) judge(row *PublishedRow, published *Published, confidence float64) (Judgement, error) {
	judgement := Judgement{Value: math.NaN(), Games: s.Games(), Theirs: row.Games}
	if s.Games() == 0 {
		if published.Measure != Speed && published.Measure != WinTime {
			judgement.Verdict = TooFew
		}
		judgement.Remark = "no game was finished in the time"
		return judgement, nil
	}
	var err error
	switch published.Measure {
	case WinShare, LossShare, ReachShare, LargestShare:
		err = s.judgeShare(&judgement, s.share(row, published), published, confidence)
	case MeanScore:
		err = judgeMean(&judgement, s.Score, published, confidence)
	case MeanLargest:
		err = judgeMean(&judgement, s.largest, published, confidence)
	case BestScore:
		err = s.judgeBest(&judgement, published, s.scores)
	case BestTile:
		err = s.judgeBest(&judgement, published, s.tiles())
	case WinValue:
		err = s.judgeValue(&judgement, published, confidence)
	case Speed:
		judgement.Value = s.Speed()
	case WinTime:
		if s.Won.K > 0 && s.Moves.N > 0 {
			judgement.Value = s.WinMoves.Mean() / s.Speed()
		}
	default:
		err = fmt.Errorf("%s: games say nothing about %s", row.Name, published.Measure)
	}
	if err != nil {
		err = fmt.Errorf("%s, %s, %s: %w", row.Table, row.Name, published.Measure, err)
	}
	return judgement, err
}

// share returns the number of our games of the kind that a published share counts, such as won games, and the number of all our games.
func (s *gameSample) share(row *PublishedRow, published *Published) stats.Bernoulli {
	exponent := int(math.Log2(float64(published.Tile)))
	switch published.Measure {
	case LossShare:
		return stats.Bernoulli{N: s.Games(), K: s.Games() - s.Won.K}
	case ReachShare:
		return s.Reached(exponent)
	case LargestShare:
		return stats.Bernoulli{N: s.Games(), K: s.Largest[exponent]}
	}
	return s.Won
}

// tiles returns the value of the largest tile of each game.
func (s *gameSample) tiles() []float64 {
	var values []float64
	for exponent, games := range s.Largest {
		for range games {
			values = append(values, float64(game.Value(exponent)))
		}
	}
	return values
}

// judgeShare compares our share with a published one, by Fisher's exact test or, if our number of games was not fixed beforehand, by intervals. A
// printed share is rounded, so it can stand for several counts. It is compatible if one of these counts is.
func (s *gameSample) judgeShare(judgement *Judgement, ours stats.Bernoulli, published *Published, confidence float64) error {
	counts, remark, err := publishedCounts(published.Text, judgement.Theirs)
	if err != nil {
		return err
	}
	judgement.Value, judgement.IsShare, judgement.Successes = ours.Mean(), true, ours.K
	judgement.Remark, judgement.Verdict = remark, Incompatible
	judgement.Theirs = counts[0].N
	if judgement.Interval, err = stats.BernoulliInterval(ours, confidence, s.sequential); err != nil {
		return err
	}
	judgement.Method = "exact test"
	if s.sequential {
		judgement.Method = "intervals overlap"
	}
	compatible, weakness, err := compatibleShare(stats.Sample{Bernoulli: ours, Sequential: s.sequential}, counts, cmp.Or(s.testConfidence, stats.CompareConfidence))
	if err != nil || !compatible {
		return err
	}
	judgement.setCompatible(weakness)
	return nil
}

// setCompatible sets the verdict Compatible. If weakness is not empty, it sets TooFew and adds the weakness to the remark.
func (j *Judgement) setCompatible(weakness string) {
	j.Verdict = Compatible
	if weakness == "" {
		return
	}
	j.Verdict = TooFew
	if j.Remark != "" {
		j.Remark += "; "
	}
	j.Remark += "too few games to judge: " + weakness
}

// compatibleShare compares our games with a published share that stands for one of counts. If they are compatible, weakness says why this
// proves little: any result of so many games would be compatible, or our 99 % interval is wider than widestShare. It is empty otherwise.
func compatibleShare(ours stats.Sample, counts []stats.Bernoulli, level float64) (compatible bool, weakness string, err error) {
	compatibleWith := func(wins int64) (bool, error) {
		ours.K = wins
		for _, theirs := range counts {
			test, err := stats.Compare(ours, stats.Sample{Bernoulli: theirs}, level)
			if err != nil || test.Compatible {
				return true, err
			}
		}
		return false, nil
	}
	interval, err := stats.BernoulliInterval(ours.Bernoulli, stats.DefaultConfidence, ours.Sequential)
	if err != nil {
		return false, "", err
	}
	ourCount := ours.K
	zeroCompatible, zeroErr := compatibleWith(0)
	allCompatible, allErr := compatibleWith(ours.N)
	compatible, oursErr := compatibleWith(ourCount)
	switch {
	case zeroCompatible && allCompatible:
		weakness = fmt.Sprintf("no result of %s would have been incompatible with %d of theirs", noun.Count(ours.N, "game"), counts[0].N)
	case interval.Hi-interval.Lo > widestShare:
		weakness = fmt.Sprintf("the 99 %% interval is wider than %g", widestShare)
	}
	return compatible, weakness, cmp.Or(zeroErr, allErr, oursErr)
}

// publishedCounts returns the counts that a printed share of total games can stand for: k of m games for the text k/m, k for a plain number, 0 or 1
// for No and Yes, and for a percentage or a share such as 0.138 all counts that round to it. If no count does, it returns the nearest and a remark.
func publishedCounts(text string, total int64) (counts []stats.Bernoulli, remark string, err error) {
	if wins, games, ok := strings.Cut(text, "/"); ok {
		fraction := stats.Bernoulli{}
		var winsErr, gamesErr error
		fraction.K, winsErr = strconv.ParseInt(strings.TrimSpace(wins), 10, 64)
		fraction.N, gamesErr = strconv.ParseInt(strings.TrimSpace(games), 10, 64)
		if winsErr != nil || gamesErr != nil || fraction.K < 0 || fraction.K > fraction.N || fraction.N == 0 {
			return nil, "", fmt.Errorf("published %q, want a fraction of games", text)
		}
		return []stats.Bernoulli{fraction}, "", nil
	}
	if text == "Yes" || text == "No" {
		return []stats.Bernoulli{{N: 1, K: bit(text == "Yes")}}, "", nil
	}
	if wins, err := strconv.ParseInt(text, 10, 64); err == nil && wins >= 0 && wins <= total && total > 0 {
		return []stats.Bernoulli{{N: total, K: wins}}, "", nil
	}
	value, halfUnit, err := printedShare(text)
	if err != nil || !strings.ContainsAny(text, "%.") || total < 1 {
		return nil, "", fmt.Errorf("published %q of %d games, want a percentage, a share, a fraction, a count, Yes or No", text, total)
	}
	value, halfUnit = value*float64(total), halfUnit*float64(total)
	const slack = 1e-9
	for wins := int64(math.Ceil(value - halfUnit - slack)); float64(wins) <= value+halfUnit+slack; wins++ {
		if wins >= 0 && wins <= total {
			counts = append(counts, stats.Bernoulli{N: total, K: wins})
		}
	}
	if len(counts) > 0 {
		return counts, "", nil
	}
	nearest := stats.Bernoulli{N: total, K: int64(math.Round(value))}
	return []stats.Bernoulli{nearest}, fmt.Sprintf("no count of %s rounds to %s; taken as %d/%d", noun.Count(total, "game"), text, nearest.K, total), nil
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
	counts, _, err := publishedCounts(p.Text, 1)
	if err != nil {
		return 0, false
	}
	return counts[0].Mean(), true
}

// parsePrinted parses a number such as "72.34 %", "about 8 %" or "7065.2". It returns its value, without dividing a percentage by 100, and half a unit
// of its last digit.
func parsePrinted(text string) (value, halfUnit float64, err error) {
	number := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, "about "), "%"))
	scale := 1.0
	for suffix, factor := range map[string]float64{" million": 1e6, " billion": 1e9} {
		if digits, ok := strings.CutSuffix(number, suffix); ok {
			number, scale = digits, factor
		}
	}
	if value, err = strconv.ParseFloat(number, 64); err != nil {
		return 0, 0, fmt.Errorf("published %q, want a number", text)
	}
	_, decimals, _ := strings.Cut(number, ".")
	return value * scale, 0.5 * math.Pow10(-len(decimals)) * scale, nil
}

// judgeMean compares means by Student's test. The document prints no standard deviation, so the test uses ours for both and is nominal.
func judgeMean(judgement *Judgement, ours stats.Moments, published *Published, confidence float64) error {
	value, halfUnit, err := parsePrinted(published.Text)
	if err != nil {
		return err
	}
	judgement.Value = ours.Mean()
	if ours.N < 2 || judgement.Theirs < 1 {
		judgement.setCompatible("there is no standard deviation")
		return nil
	}
	if judgement.Interval, err = stats.RewardInterval(ours, nil, confidence, false); err != nil {
		return err
	}
	test, err := stats.RewardInterval(ours, nil, stats.CompareConfidence, false)
	if err != nil {
		return err
	}
	scale := math.Sqrt(1 + float64(ours.N)/float64(judgement.Theirs))
	if deviation := math.Sqrt(ours.Variance()/float64(ours.N)) * scale; deviation > 0 {
		judgement.Deviation = (value - judgement.Value) / deviation
	}
	judgement.Method, judgement.Verdict = "Student t, nominal", Incompatible
	if math.Abs(value-judgement.Value) > halfUnit+(test.Hi-test.Lo)/2*scale {
		return nil
	}
	defaultInterval, err := stats.RewardInterval(ours, nil, stats.DefaultConfidence, false)
	if err != nil {
		return err
	}
	weakness := ""
	if defaultInterval.Hi-defaultInterval.Lo > widestMean*math.Abs(judgement.Value) {
		weakness = fmt.Sprintf("the 99 %% interval is wider than %g %% of the value", 100*widestMean)
	}
	judgement.setCompatible(weakness)
	return nil
}

// judgeBest tests whether their best result can come from the same game as our results. If it does, the number of our results that beat their best has
// a known distribution, because all orders of their games and ours by result are equally likely. Its quantiles select two of our results as limits
// for their best.
func (s *gameSample) judgeBest(judgement *Judgement, published *Published, ours []float64) error {
	publishedBest, halfUnit, err := parsePrinted(published.Text)
	if err != nil {
		return err
	}
	sorted := slices.Sorted(slices.Values(ours))
	slices.Reverse(sorted)
	count, alpha := int64(len(sorted)), stats.Alpha(stats.CompareConfidence)
	median := rankLimit(count, judgement.Theirs, 0.5)
	judgement.Value, judgement.Predicted, judgement.Method = sorted[min(median, count)-1], true, "exact rank test"
	judgement.Interval = stats.Interval{Lo: math.Inf(-1), Hi: math.Inf(1), Confidence: stats.CompareConfidence}
	lowRank := rankLimit(count, judgement.Theirs, alpha/2)
	if lowRank <= count {
		judgement.Interval.Lo = sorted[lowRank-1]
	}
	// sorted[highRank-1] is the last of our results that their best exceeds with probability at most alpha/2.
	highRank := rankLimit(count, judgement.Theirs, 1-alpha/2) - 1
	if highRank >= 1 {
		judgement.Interval.Hi = sorted[highRank-1]
	}
	if publishedBest+halfUnit < judgement.Interval.Lo || publishedBest-halfUnit > judgement.Interval.Hi {
		judgement.Verdict = Incompatible
		return nil
	}
	weakness := ""
	switch {
	case lowRank > count && highRank < 1:
		weakness = fmt.Sprintf("no best would have been incompatible with %s of ours", noun.Count(count, "game"))
	case count < min(judgement.Theirs, enoughBests):
		weakness = fmt.Sprintf("%d of ours beside the best of %d", count, judgement.Theirs)
	}
	judgement.setCompatible(weakness)
	return nil
}

// rankLimit returns the smallest k such that, with a probability of at most maxProbability, at least k of our games beat the best of theirs. ours and
// theirs are the numbers of games, all from the same distribution. It returns ours+1 if there is no such k.
func rankLimit(ours, theirs int64, maxProbability float64) int64 {
	rank, probability := int64(0), 1.0
	for probability > maxProbability && rank <= ours {
		probability *= float64(ours-rank) / float64(ours+theirs-rank)
		rank++
	}
	return rank
}

// judgeValue tests whether a published probability of winning, which was computed, can be the probability of winning in our games.
func (s *gameSample) judgeValue(judgement *Judgement, published *Published, confidence float64) error {
	value, halfUnit, err := printedShare(published.Text)
	if err != nil {
		return err
	}
	judgement.Value, judgement.IsShare, judgement.Successes = s.Won.Mean(), true, s.Won.K
	if judgement.Interval, err = stats.BernoulliInterval(s.Won, confidence, s.sequential); err != nil {
		return err
	}
	test, err := stats.BernoulliInterval(s.Won, stats.CompareConfidence, s.sequential)
	if err != nil {
		return err
	}
	judgement.Method, judgement.Verdict = "in our interval", Incompatible
	if test.Lo > value+halfUnit || value-halfUnit > test.Hi {
		return nil
	}
	weakness := ""
	if test.Hi-test.Lo > widestShare {
		weakness = fmt.Sprintf("the 99.9 %% interval is wider than %g", widestShare)
	}
	judgement.setCompatible(weakness)
	return nil
}

// printedShare parses a probability, written as a number or as a percentage, and half a unit of its last digit.
func printedShare(text string) (value, half float64, err error) {
	value, half, err = parsePrinted(text)
	if strings.HasSuffix(text, "%") {
		value, half = value/100, half/100
	}
	return value, half, err
}

// Optimum is the exact solution of a match.
type Optimum struct {
	Value float64 // probability of winning from a random start
	// States and Transitions are counted by Census, ClassCount by Classes; 0: not counted.
	States, Transitions, ClassCount int64
}

// judge compares a published number with the exact one. They are compatible if the exact one rounds to the published one.
func (o Optimum) judge(published *Published) (Judgement, error) {
	judgement := Judgement{Value: o.Value, Method: "rounds to it"}
	value, halfUnit, err := printedShare(published.Text)
	switch published.Measure {
	case States:
		judgement.Value = float64(o.States)
	case Transitions:
		judgement.Value = float64(o.Transitions)
	case ClassCount:
		judgement.Value = float64(o.ClassCount)
	case WinValue:
	default:
		err = cmp.Or(err, fmt.Errorf("a solution says nothing about %s", published.Measure))
	}
	if err != nil || judgement.Value == 0 {
		judgement.Value, judgement.Method = math.NaN(), ""
		return judgement, err
	}
	if judgement.Verdict = Incompatible; math.Abs(judgement.Value-value) <= halfUnit {
		judgement.Verdict = Compatible
	}
	return judgement, nil
}
