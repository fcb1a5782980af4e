package induced_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tilecheck/certify/tiles"
	"tilecheck/game"
	"tilecheck/game/induced"
	"tilecheck/game/strategy"
	"tilecheck/internal/interval"
	"tilecheck/internal/needs"
)

// canonically plays a strategy on canonical boards, as a Part does.
type canonically struct {
	strategy.Strategy
	rules *game.Rules
}

func (c canonically) Chooser() strategy.Chooser {
	return canonicalChooser{c.Strategy.Chooser(), c.rules}
}

type canonicalChooser struct {
	strategy.Chooser
	rules *game.Rules
}

func (c canonicalChooser) Decide(b game.Board, _ game.Moves, memory int) ([]strategy.Choice, error) {
	least, by := c.rules.Canonical(b)
	choices, err := c.Chooser.Decide(least, c.rules.Legal(least), memory)
	out := slices.Clone(choices)
	for i := range out {
		out[i].Dir = by.Inverse().Dir(out[i].Dir)
	}
	return out, err
}

// optimum is the greatest probability of winning, by the slow game.
func optimum(t testing.TB, g setting) *big.Rat {
	t.Helper()
	s := newSlow(g.options(t))
	return s.start(s.optimal)[0]
}

// surveyOf surveys a strategy.
func surveyOf(t *testing.T, s strategy.Strategy, g setting, canonical bool, states int) *induced.Part {
	t.Helper()
	part, err := induced.Survey(t.Context(), s, induced.PartOptions{
		Rules: g.options(t).Rules, Max: g.exp, Canonical: canonical, States: states, Workers: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return part
}

// proofOf returns the bound of a part with its certificate.
func proofOf(t *testing.T, part *induced.Part) (*induced.Bound, []byte) {
	t.Helper()
	var text bytes.Buffer
	bound, err := part.Prove(t.Context(), &text)
	if err != nil {
		t.Fatal(err)
	}
	return bound, text.Bytes()
}

// proved is what a test of a bound compares.
type proved struct {
	g       setting
	spec    string
	best    *big.Rat          // the optimum
	own     interval.Interval // the value of the strategy that was surveyed
	states  int               // that were allowed; 0 is any number
	refined string            // how; "" when it was not
}

// is checks that the bounds are on the right side of what is exactly true, and that the checker finds the same.
func (p proved) is(t *testing.T, part *induced.Part) {
	t.Helper()
	what := fmt.Sprintf("%s on %s, canonical %v, %d states, refined %q", p.spec, p.g, part.Canonical(), p.states, p.refined)
	b, text := proofOf(t, part)
	if b.Optimal.Rat().Cmp(p.best) > 0 {
		t.Errorf("%s: bound %v, the optimum is %s", what, b.Optimal, p.best.RatString())
	}
	if b.StrategyBounds[0] > b.Optimal {
		t.Errorf("%s: the strategy wins at least %v, optimal play %v", what, b.StrategyBounds[0], b.Optimal)
	}
	if p.refined == "" && (b.StrategyBounds[0].Float64() > p.own.Hi || b.StrategyBounds[1].Float64() < p.own.Lo) {
		t.Errorf("%s: its value is in %v, found %v", what, p.own, b.StrategyBounds)
	}
	whole := part.Cutoff() == 0
	if whole && b.StrategyBounds[1]-b.StrategyBounds[0] > induced.Scale/1e12 || !whole && p.states == 0 || p.states > 0 && part.States() > p.states {
		t.Errorf("%s: cutoff %v, %d states, between %v", what, part.Cutoff(), part.States(), b.StrategyBounds)
	}
	if gap := new(big.Rat).Sub(p.best, b.Optimal.Rat()); p.spec == "optimal" && whole && gap.Cmp(big.NewRat(1, 1e12)) > 0 {
		t.Errorf("%s: bound %v, want the optimum %s", what, b.Optimal, p.best.RatString())
	}
	checked, err := tiles.CheckBound(t.Context(), bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	want := tiles.Bound{
		Rows: p.g.rows, Cols: p.g.cols, Canonical: part.Canonical(), Max: 1 << p.g.exp, Strategy: checked.Strategy, Boards: b.Boards, Lower: uint64(b.Optimal),
	}
	if *checked != want {
		t.Errorf("%s: checked %+v, proved %+v", what, checked, want)
	}
}

// The bounds are on the right side, for whole surveys and for parts, on raw and on canonical boards, refined on the same boards and from raw
// ones to canonical ones.
func TestBound(t *testing.T) {
	for _, g := range []setting{{2, 2, 4}, {2, 2, 5}, {2, 3, 4}}[:needs.OrFull(1, 3)] {
		best, opt := optimum(t, g), g.options(t)
		for _, spec := range []string{"random", "orthogonal", "alternating", "modern:depth=1", "optimal", "sparse:depth=2,n=1"} {
			s := remember(parse(t, spec, opt))
			for _, canonical := range []bool{false, true} {
				played := strategy.Strategy(s)
				if canonical {
					played = canonically{s, opt.Rules}
				}
				c, err := induced.Explore(t.Context(), played, opt)
				if err != nil {
					t.Fatal(err)
				}
				own, err := c.Bracket(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, states := range []int{0, 30, 6} {
					part := surveyOf(t, s, g, canonical, states)
					p := proved{g: g, spec: spec, best: best, own: own.Win, states: states}
					p.is(t, part)
					for how, to := range map[string]bool{"as it is": canonical, "to canonical": true} {
						refined := part
						for range 2 {
							if refined, err = refined.Refine(t.Context(), to); err != nil {
								t.Fatal(err)
							}
						}
						if refined.Canonical() != (canonical || how == "to canonical") {
							t.Errorf("%s on %s, canonical %v, refined %q: canonical %v", spec, g, canonical, how, refined.Canonical())
						}
						p.refined = how
						p.is(t, refined)
					}
					p.refined = ""
					p.is(t, part) // refining has not changed it
				}
			}
		}
	}
}

// A raw survey of the whole game says what direct evaluation says.
func (x *exported) surveyed(t *testing.T) {
	t.Helper()
	part := surveyOf(t, x.s, x.setting, false, 0)
	b, text := proofOf(t, part)
	if part.Cutoff() != 0 || b.StrategyBounds[0].Rat().Cmp(x.win) > 0 || b.StrategyBounds[1].Rat().Cmp(x.win) < 0 || b.StrategyBounds[1]-b.StrategyBounds[0] > induced.Scale/1e12 {
		t.Errorf("a survey down to %v says %v, direct evaluation is %s", part.Cutoff(), b.StrategyBounds, x.win.RatString())
	}
	if c, err := tiles.CheckBound(t.Context(), bytes.NewReader(text)); err != nil || c.Canonical || c.Lower != uint64(b.Optimal) {
		t.Errorf("the certificate of %v on raw boards says %+v, %v", b.Optimal, c, err)
	}
}

// What has a symmetric value has it: on canonical boards the strategy wins with the probability that it has on raw ones, exactly, or but for
// the rounding of package solve. Strategies that tell images apart do not, and are not said to.
func TestSymmetricValue(t *testing.T) {
	for _, tt := range []struct {
		spec      string
		symmetric bool
		most      *big.Rat // difference
	}{
		{"random", true, new(big.Rat)},
		{"optimal", true, big.NewRat(1, 1e12)},
		{"optimal:objective=score", false, big.NewRat(1, 1)},
		{"orthogonal", false, nil},
		{"alternating", false, nil},
		{"expectimax:eval=snake,depth=2", false, nil},
	} {
		for _, g := range []setting{{2, 2, 4}, {2, 2, 5}, {3, 2, 4}} {
			opt := g.options(t)
			s := parse(t, tt.spec, opt)
			if induced.SymmetricValue(s) != tt.symmetric {
				t.Errorf("%s: symmetric is %v, want %v", tt.spec, !tt.symmetric, tt.symmetric)
			}
			if tt.most == nil || g.rows > 2 && !s.Deterministic() {
				continue
			}
			raw, err := induced.Evaluate(t.Context(), s, opt)
			if err != nil {
				t.Fatal(err)
			}
			canonical, err := induced.Evaluate(t.Context(), canonically{s, opt.Rules}, opt)
			if err != nil {
				t.Fatal(err)
			}
			if d := new(big.Rat).Sub(raw.Win, canonical.Win); d.Abs(d).Cmp(tt.most) > 0 {
				t.Errorf("%s on %s wins with %v, on canonical boards with %v", tt.spec, g, raw.Win, canonical.Win)
			}
		}
	}
}

// A part does not depend on the workers.
func TestBoundWorkers(t *testing.T) {
	opt := setting{2, 3, 5}.options(t)
	var first []byte
	for _, workers := range []int{1, 3} {
		part, err := induced.Survey(t.Context(), parse(t, "modern:depth=1", opt), induced.PartOptions{Rules: opt.Rules, Max: opt.Max, States: 300, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := part.Prove(t.Context(), &text); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = text.Bytes()
		}
		if !bytes.Equal(first, text.Bytes()) {
			t.Errorf("%d workers make another certificate than 1", workers)
		}
	}
}

func TestBoundErrors(t *testing.T) {
	opt := setting{2, 2, 4}.options(t)
	s := parse(t, "random", opt)
	good := induced.PartOptions{Rules: opt.Rules, Max: opt.Max}
	for name, change := range map[string]func(*induced.PartOptions){
		"no rules":        func(o *induced.PartOptions) { o.Rules = nil },
		"max 2":           func(o *induced.PartOptions) { o.Max = 1 },
		"negative states": func(o *induced.PartOptions) { o.States = -1 },
	} {
		o := good
		change(&o)
		if _, err := induced.Survey(t.Context(), s, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	late := good
	late.Time = 1
	if _, err := induced.Survey(t.Context(), s, late); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no time: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := induced.Survey(ctx, s, good); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	_, text := proofOf(t, surveyOf(t, s, setting{2, 2, 4}, false, 0))
	if _, err := tiles.CheckBound(ctx, bytes.NewReader(text)); !errors.Is(err, context.Canceled) {
		t.Errorf("check cancelled: %v", err)
	}
}

// sign replaces the last line by the right checksum.
func sign(lines []string) []byte {
	if n := len(lines); n > 0 && strings.HasPrefix(lines[n-1], "sha256 ") {
		lines = lines[:n-1]
	}
	body := strings.Join(lines, "\n") + "\n"
	return fmt.Appendf([]byte(body), "sha256 %x\n", sha256.Sum256([]byte(body)))
}

// certificates are those that the tests damage: whole and in part, with small and with great values, on raw and on canonical boards.
func certificates(t *testing.T) [][]byte {
	var all [][]byte
	for _, x := range []struct {
		g         setting
		spec      string
		canonical bool
		states    int
	}{
		{setting{2, 2, 4}, "optimal", true, 0},
		{setting{2, 2, 4}, "optimal", false, 0},
		{setting{2, 2, 5}, "random", true, 0},
		{setting{2, 2, 5}, "orthogonal", false, 0},
		{setting{2, 3, 4}, "orthogonal", true, 0},
		{setting{2, 3, 4}, "alternating", false, 100},
		{setting{3, 2, 4}, "modern:depth=1", true, 60},
	} {
		_, text := proofOf(t, surveyOf(t, parse(t, x.spec, x.g.options(t)), x.g, x.canonical, x.states))
		all = append(all, text)
	}
	return all
}

// A damaged certificate is rejected, or what it claims is true: of 1,000 random mutations, all signed again, and 1,000 more that are not.
func TestMutations(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	all := certificates(t)
	best := map[setting]*big.Rat{}
	accepted := 0
	for i := range 2000 {
		lines := strings.Split(strings.TrimSuffix(string(all[rng.IntN(len(all))]), "\n"), "\n")
		before := strings.Join(lines, "\n")
		for range 1 + rng.IntN(2) {
			lines = mutate(rng, lines)
		}
		text := []byte(strings.Join(lines, "\n") + "\n")
		changed := strings.Join(lines, "\n") != before
		if i%2 == 0 {
			text = sign(lines)
		}
		c, err := tiles.CheckBound(t.Context(), bytes.NewReader(text))
		if err != nil {
			continue
		}
		if changed && i%2 == 1 {
			t.Fatalf("mutation %d is accepted although the checksum is another:\n%s", i, text)
		}
		accepted++
		g := setting{c.Rows, c.Cols, len(strconv.FormatInt(int64(c.Max), 2)) - 1}
		if c.Rows*c.Cols > 6 {
			if c.Lower > 0 {
				t.Errorf("mutation %d: a bound of %v on %s", i, c.Probability(), g)
			}
			continue
		}
		if best[g] == nil {
			best[g] = optimum(t, g)
		}
		if c.Probability().Cmp(best[g]) > 0 {
			t.Errorf("mutation %d on %s claims %v, the optimum is %s:\n%s", i, g, c.Probability(), best[g].RatString(), text)
		}
	}
	if accepted < 100 || accepted > 900 {
		t.Errorf("%d of 2000 mutations are accepted: want a test that sees both", accepted)
	}
}

// mutate changes a line or two: a byte, a value, a place, a copy, a loss.
func mutate(rng *rand.Rand, lines []string) []string {
	lines = slices.Clone(lines)
	i, j := rng.IntN(len(lines)), rng.IntN(len(lines))
	switch rng.IntN(7) {
	case 0: // any byte
		if b := []byte(lines[i]); len(b) > 0 {
			b[rng.IntN(len(b))] = "0123456789abcdef xleftrightupdown-"[rng.IntN(34)]
			lines[i] = string(b)
		}
	case 1: // a value, by little or by much, up or down
		at := strings.LastIndexByte(lines[i], ' ') + 1
		if v, err := strconv.ParseUint(lines[i][at:], 10, 64); err == nil {
			by := uint64(1) << rng.IntN(50)
			if rng.IntN(2) == 0 {
				by = -min(by, v)
			}
			lines[i] = lines[i][:at] + strconv.FormatUint(v+by, 10)
		}
	case 2:
		lines = slices.Delete(lines, i, i+1)
	case 3:
		lines = slices.Insert(lines, i, lines[j])
	case 4:
		lines[i], lines[j] = lines[j], lines[i]
	case 5: // another move
		fields := strings.Split(lines[i], " ")
		if len(fields) == 3 {
			fields[1] = []string{"left", "right", "up", "down"}[rng.IntN(4)]
			lines[i] = strings.Join(fields, " ")
		}
	case 6: // another game
		header := [][]string{{"board 2x2", "board 2x3", "board 3x2"}, {"boards raw", "boards canonical"}, {"max 4", "max 8", "max 16"}}
		which := rng.IntN(len(header))
		lines[1+which] = header[which][rng.IntN(len(header[which]))]
	}
	if len(lines) < 4 {
		return slices.Repeat([]string{""}, 4)
	}
	return lines
}

// Every value of a whole certificate is the greatest that its rounding allows: one unit more of any is rejected.
func TestOneUnitMore(t *testing.T) {
	for _, text := range certificates(t)[:2] {
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		for i := 6; i < len(lines)-1; i++ {
			more := slices.Clone(lines)
			at := strings.LastIndexByte(more[i], ' ') + 1
			v, err := strconv.ParseUint(more[i][at:], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			more[i] = more[i][:at] + strconv.FormatUint(v+1, 10)
			_, err = tiles.CheckBound(t.Context(), bytes.NewReader(sign(more)))
			if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("line %d: ", i+1)) {
				t.Errorf("line %d is %q instead of %q: error %v", i+1, more[i], lines[i], err)
			}
		}
	}
}

// TestLongLines: what is no certificate is refused in few words, however long its lines are.
func TestLongLines(t *testing.T) {
	header := strings.SplitAfterN(string(certificates(t)[0]), "\n", 7)
	whole := strings.Join(header[:6], "")
	for _, x := range []struct {
		text io.Reader
		want string
	}{
		{io.MultiReader(strings.NewReader(whole), zeros{}), "line 7: it is longer than 64 kB"},
		{zeros{}, "line 1: it is longer than 64 kB"},
		{strings.NewReader(strings.Repeat(strings.Repeat("x", 60_000)+"\n", 7)), `line 6: found "xxx`},
		{strings.NewReader(whole + strings.Repeat("x", 60_000) + "\n"), `line 7: "xxx`},
		{strings.NewReader(whole + "bound " + strings.Repeat("9", 60_000) + "\n"), "line 7: bound: value 999"},
	} {
		_, err := tiles.CheckBound(t.Context(), x.text)
		if err == nil || !strings.HasPrefix(err.Error(), x.want) || len(err.Error()) > 500 {
			t.Errorf("error of %d bytes: %.200v, want %s…", len(fmt.Sprint(err)), err, x.want)
		}
	}
}

// zeros never end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Boards of one kind are not taken for the other. With raw ones no symmetry fills in what is missing, and canonical ones are there once.
func TestOtherBoards(t *testing.T) {
	for i, want := range []string{`: value \d+, want at most \d+$`, `: the board, or a symmetric one, was there already$`} {
		text := string(certificates(t)[i])
		other := strings.NewReplacer("\nboards raw\n", "\nboards canonical\n", "\nboards canonical\n", "\nboards raw\n").Replace(text)
		if other == text {
			t.Fatalf("no line says which boards there are:\n%s", text)
		}
		lines := strings.Split(strings.TrimSuffix(other, "\n"), "\n")
		_, err := tiles.CheckBound(t.Context(), bytes.NewReader(sign(lines)))
		if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
