package induced_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tilecheck/game"
	"tilecheck/game/induced"
	"tilecheck/game/strategy"
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

// boundOf surveys a strategy, refined so many times, and returns the bound with its certificate.
func boundOf(t *testing.T, g setting, spec string, states, refinements int) (*induced.Part, *induced.Bound, []byte) {
	t.Helper()
	opt := g.options(t)
	part, err := induced.Survey(t.Context(), parse(t, spec, opt), induced.PartOptions{Rules: opt.Rules, Max: opt.Max, States: states, Workers: 2})
	for range refinements {
		if err == nil {
			part, err = part.Refine(t.Context())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	bound, err := part.Prove(t.Context(), &text)
	if err != nil {
		t.Fatal(err)
	}
	return part, bound, text.Bytes()
}

// The bounds are on the right side of what is exactly true, for whole surveys and for parts, and the checker finds the same.
func TestBound(t *testing.T) {
	for _, g := range []setting{{2, 2, 4}, {2, 2, 5}, {2, 3, 4}, {3, 2, 4}} {
		best := optimum(t, g)
		for _, spec := range []string{"random", "orthogonal", "alternating", "modern:depth=1", "optimal", "sparse:depth=2,n=1"} {
			opt := g.options(t)
			s := canonically{parse(t, spec, opt), opt.Rules}
			c, err := induced.Explore(t.Context(), s, opt)
			if err != nil {
				t.Fatal(err)
			}
			own, err := c.Bracket(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, states := range []int{0, 30, 6} {
				for refinements := range 3 {
					what := fmt.Sprintf("%s on %s with %d states refined %d times", spec, g, states, refinements)
					part, b, text := boundOf(t, g, spec, states, refinements)
					if b.Optimal.Rat().Cmp(best) > 0 {
						t.Errorf("%s: bound %v, the optimum is %s", what, b.Optimal, best.RatString())
					}
					if b.Own[0] > b.Optimal {
						t.Errorf("%s: the strategy wins at least %v, optimal play %v", what, b.Own[0], b.Optimal)
					}
					if refinements == 0 && (b.Own[0].Float64() > own.Win.Hi || b.Own[1].Float64() < own.Win.Lo) {
						t.Errorf("%s: its value is in %v, found %v", what, own.Win, b.Own)
					}
					whole := part.Cutoff() == 0
					if whole && b.Own[1]-b.Own[0] > induced.Scale/1e12 || !whole && states == 0 || states > 0 && part.States() > states {
						t.Errorf("%s: cutoff %v, %d states, between %v", what, part.Cutoff(), part.States(), b.Own)
					}
					if gap := new(big.Rat).Sub(best, b.Optimal.Rat()); spec == "optimal" && whole && gap.Cmp(big.NewRat(1, 1e12)) > 0 {
						t.Errorf("%s: bound %v, want the optimum %s", what, b.Optimal, best.RatString())
					}
					checked, err := induced.CheckCertificate(t.Context(), bytes.NewReader(text))
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					if checked.Bound != b.Optimal || checked.Entries != b.Boards || checked.Rows != g.rows || checked.Cols != g.cols || checked.Max != 1<<g.exp {
						t.Errorf("%s: checked %+v, proved %+v", what, checked, b)
					}
				}
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
	_, _, text := boundOf(t, setting{2, 2, 4}, "random", 0, 0)
	if _, err := induced.CheckCertificate(ctx, bytes.NewReader(text)); !errors.Is(err, context.Canceled) {
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

// certificates are those that the tests damage: whole and in part, with small and with great values.
func certificates(t *testing.T) [][]byte {
	var all [][]byte
	for _, x := range []struct {
		g      setting
		spec   string
		states int
	}{{setting{2, 2, 4}, "optimal", 0}, {setting{2, 2, 5}, "random", 0}, {setting{2, 3, 4}, "orthogonal", 0}, {setting{3, 2, 4}, "modern:depth=1", 60}} {
		_, _, text := boundOf(t, x.g, x.spec, x.states, 0)
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
		c, err := induced.CheckCertificate(t.Context(), bytes.NewReader(text))
		if err != nil {
			continue
		}
		if changed && i%2 == 1 {
			t.Fatalf("mutation %d is accepted although the checksum is another:\n%s", i, text)
		}
		accepted++
		g := setting{c.Rows, c.Cols, len(strconv.FormatInt(int64(c.Max), 2)) - 1}
		if c.Rows*c.Cols > 6 {
			if c.Bound > 0 {
				t.Errorf("mutation %d: a bound of %v on %s", i, c.Bound, g)
			}
			continue
		}
		if best[g] == nil {
			best[g] = optimum(t, g)
		}
		if c.Bound.Rat().Cmp(best[g]) > 0 {
			t.Errorf("mutation %d on %s claims %v, the optimum is %s:\n%s", i, g, c.Bound, best[g].RatString(), text)
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
		lines[1+rng.IntN(2)] = []string{"board 2x2", "board 2x3", "board 3x2", "max 8", "max 16", "max 32"}[rng.IntN(6)]
	}
	if len(lines) < 3 {
		return slices.Repeat([]string{""}, 3)
	}
	return lines
}

// Every value of a whole certificate is the greatest that its rounding allows: one unit more of any is rejected.
func TestOneUnitMore(t *testing.T) {
	text := certificates(t)[0]
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := 5; i < len(lines)-1; i++ {
		more := slices.Clone(lines)
		at := strings.LastIndexByte(more[i], ' ') + 1
		v, err := strconv.ParseUint(more[i][at:], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		more[i] = more[i][:at] + strconv.FormatUint(v+1, 10)
		_, err = induced.CheckCertificate(t.Context(), bytes.NewReader(sign(more)))
		if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("line %d: ", i+1)) {
			t.Errorf("line %d is %q instead of %q: error %v", i+1, more[i], lines[i], err)
		}
	}
}
