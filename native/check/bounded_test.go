package check_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/check"
	"tilecheck/result"
)

// sum adds up the probabilities of the paths of so many steps, by the first choices, that
// satisfy a condition.
func (m tiny) sum(path []int, steps int, satisfied func(path []int) bool) *big.Rat {
	if steps == 0 {
		if satisfied(path) {
			return big.NewRat(1, 1)
		}
		return new(big.Rat)
	}
	s := path[len(path)-1]
	if s == len(m) {
		return m.sum(append(path[:len(path):len(path)], s), steps-1, satisfied)
	}
	out := new(big.Rat)
	for _, c := range m[s][0] {
		p, _ := new(big.Rat).SetString(fmt.Sprintf("%.1f", c.p))
		out.Add(out, p.Mul(p, m.sum(append(path[:len(path):len(path)], c.to), steps-1, satisfied)))
	}
	return out
}

// TestLateWeak compares a weak until with two bounds with its definition, path by path: b
// comes in time and a holds before, or a holds all that time.
func TestLateWeak(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range needs.Some(100) {
		m := randomTiny(rng, 4)
		for s := range m {
			m[s] = m[s][:1]
		}
		low := rng.IntN(4)
		high := low + rng.IntN(3)
		a, b := 1+rng.IntN(3), rng.IntN(4)
		want := m.sum([]int{0}, high, func(path []int) bool {
			for i, s := range path {
				if i >= low && s == b {
					return true
				}
				if s > a {
					return false
				}
			}
			return true
		})
		src := strings.Replace(m.text(), "mdp", "dtmc", 1)
		property := fmt.Sprintf("P=? [ s<=%d W[%d,%d] s=%d ]", a, low, high, b)
		v := ask(t, t.Context(), src, property, check.Options{Accuracy: result.Exact})[0]
		if v.Err != nil || v.Value.Rat.Cmp(want) != 0 {
			t.Fatalf("%s%s: %v %v, want %s", src, property, v.Value, v.Err, want.RatString())
		}
		// From some step on, it is the until formula or what has no end.
		property = fmt.Sprintf("P=? [ s<=%d W>=%d s=%d ]; P=? [ (s<=%d U>=%d s=%d) | (G s<=%d) ]; P=? [ %s(s<=%d W s=%d)%s ]",
			a, low, b, a, low, b, a, strings.Repeat(fmt.Sprintf("s<=%d & (X ", a), low), a, b, strings.Repeat(")", low))
		vs := ask(t, t.Context(), src, property, check.Options{Accuracy: result.Exact})
		for _, v := range vs {
			if v.Err != nil || v.Value.Rat.Cmp(vs[0].Value.Rat) != 0 {
				t.Fatalf("%s%s: %v %v, want %v", src, v.Property, v.Value.Rat, v.Err, vs[0].Value.Rat)
			}
		}
	}
}

// TestBoundedQuantifiers: what is decided in so many steps is satisfied by some path if it has
// a probability, under some scheduler, and by all paths if that is one under all.
func TestBoundedQuantifiers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	truths := 0
	for range needs.Some(60) {
		src := randomTiny(rng, 4).text()
		a, b, c := rng.IntN(4), rng.IntN(4), rng.IntN(4)
		low := rng.IntN(3)
		high := low + rng.IntN(3)
		for _, path := range []string{
			fmt.Sprintf("F<=%d s=%d", high, a), fmt.Sprintf("G<%d s!=%d", high+1, a), fmt.Sprintf("s!=%d U[%d,%d] s=%d", a, low, high, b),
			fmt.Sprintf("s=%d R<=%d s!=%d", a, high, b), fmt.Sprintf("s!=%d W[%d,%d] s=%d", a, low, high, b),
			fmt.Sprintf("(F<=%d s=%d) & (G<=%d s!=%d)", high, a, low, c), fmt.Sprintf("G<=%d (F<=2 s>%d)", low, a), fmt.Sprintf("!(s!=%d U[%d,%d] s=%d)", a, low, high, c),
		} {
			vs := ask(t, t.Context(), src, fmt.Sprintf("E [ %s ]; Pmax=? [ %s ]; A [ %s ]; Pmin=? [ %s ]", path, path, path, path), check.Options{Accuracy: result.Exact})
			for i, want := range []bool{vs[1].Value.Num > 0, vs[3].Value.Num == 1} {
				v := vs[2*i]
				if v.Err != nil || v.Value.Kind != result.Boolean || v.Value.Bool != want {
					t.Fatalf("%s%s: %v %v, want %v", src, v.Property, v.Value, v.Err, want)
				}
				if want {
					truths++
				}
			}
		}
	}
	if truths < needs.Some(60) {
		t.Errorf("only %d were true", truths)
	}
}

// TestManySlowSteps: small MDPs and games that are left with a tiny probability in a step have narrow bounds for ten million steps and for a billion.
func TestManySlowSteps(t *testing.T) {
	const model = `mdp
module m
  s : [0..2];
  [a] s=0 -> 1e-7:(s'=1) + 1-1e-7:(s'=0);
  [b] s=0 -> 3e-8:(s'=2) + 1-3e-8:(s'=0);
  [a] s=1 -> 2e-7:(s'=2) + 1-2e-7:(s'=1);
  [b] s=1 -> 1e-7:(s'=2) + 2e-7:(s'=0) + 1-3e-7:(s'=1);
  [a] s=2 -> true;
endmodule`
	game := strings.Replace(model, "mdp", "smg\nplayer p [a], [b] endplayer", 1)
	tiny := strings.NewReplacer("1e-7", "5e-18", "2e-7", "5e-18", "3e-8", "3e-18", "3e-7", "1e-17").Replace(model)
	for _, test := range []struct {
		model, property string
		want            float64
	}{
		{model, `Pmax=? [ F<=10000000 s=2 ]`, 0.411003418945749}, // of single steps with 64 bits
		{model, `Pmin=? [ F<=10000000 s=2 ]`, 0.177736577766841},
		{game, `<<p>> Pmax=? [ F<=10000000 s=2 ]`, 0.411003418945749},
		{model, `Pmax=? [ F<=1000000000 s=2 ]`, 1},
		{tiny, `Pmax=? [ F<=1000000000 s=2 ]`, 3e-9},
	} {
		verdict := ask(t, t.Context(), test.model, test.property, check.Options{})[0]
		if bound := verdict.Bound; verdict.Err != nil || bound == nil || bound.Lo > test.want+1e-11 || bound.Hi < test.want-1e-11 || bound.Hi-bound.Lo > 1e-8*max(bound.Hi, 1e-6) {
			t.Errorf("%s: %v in %v, %v; want %v", test.property, verdict.Value.Num, bound, verdict.Err, test.want)
		}
	}
}
