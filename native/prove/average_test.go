package prove_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/internal/needs"
	"tilecheck/native/prove"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// wanderer is a random MDP: what each choice of each state does, and what it earns.
type wanderer [][]struct {
	to   []int // with the same chance
	earn int
}

func newWanderer(rng *rand.Rand) wanderer {
	w := make(wanderer, 2+rng.IntN(4))
	for s := range w {
		w[s] = make([]struct {
			to   []int
			earn int
		}, 1+rng.IntN(2))
		for c := range w[s] {
			w[s][c].earn = rng.IntN(4)
			for range 1 + rng.IntN(3) {
				w[s][c].to = append(w[s][c].to, rng.IntN(len(w)))
			}
		}
	}
	return w
}

// text is the MDP, or the chain of a scheduler that makes one choice in each state.
func (w wanderer) text(scheduler []int) string {
	var out, rewards strings.Builder
	out.WriteString([]string{"mdp", "dtmc"}[min(len(scheduler), 1)])
	fmt.Fprintf(&out, "\nmodule m\n s : [0..%d];\n", len(w)-1)
	for s := range w {
		for c, x := range w[s] {
			if scheduler != nil && scheduler[s] != c {
				continue
			}
			var to []string
			for _, t := range x.to {
				to = append(to, fmt.Sprintf("1/%d:(s'=%d)", len(x.to), t))
			}
			fmt.Fprintf(&out, " [a%d] s=%d -> %s;\n", c, s, strings.Join(to, " + "))
			fmt.Fprintf(&rewards, " [a%d] s=%d : %d;\n", c, s, x.earn)
		}
	}
	return fmt.Sprintf("%sendmodule\ninit true endinit\nrewards\n%sendrewards\n", &out, &rewards)
}

// averages are the best ones of all schedulers that remember nothing, which suffice.
func (w wanderer) averages(t *testing.T, most bool) []*big.Rat {
	best, scheduler := make([]*big.Rat, len(w)), make([]int, len(w))
	for more := true; more; {
		space, _ := spaceOf(t, w.text(scheduler), `R=? [ S ]`)
		reward, err := space.Reward(0)
		if err != nil {
			t.Fatal(err)
		}
		values, err := solve.LongRun(t.Context(), sparse.NewGraph(space.Model()), reward, solve.Max, solve.Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range values.Exact {
			if s := space.State(nil, i)[0]; best[s] == nil || x.Cmp(best[s]) > 0 == most {
				best[s] = x
			}
		}
		more = false
		for s := range scheduler {
			if scheduler[s]++; scheduler[s] < len(w[s]) {
				more = true
				break
			}
			scheduler[s] = 0
		}
	}
	return best
}

// Long-run averages of random MDPs, of which many have several end components, are proven to
// be the best of all schedulers, as fractions; and no other bound is accepted.
func TestAverages(t *testing.T) {
	for seed := range needs.Some(uint64(60)) {
		rng := rand.New(rand.NewPCG(seed, 16))
		w := newWanderer(rng)
		space, props := spaceOf(t, w.text(nil), "filter(printall, Rmax=? [ S ]);\nfilter(printall, Rmin=? [ S ]);")
		for k, property := range props {
			prover, err := prove.New(space, prove.Options{Ordered: true})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := prover.Add(t.Context(), property); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, w.text(nil))
			}
			want := w.averages(t, k == 0)
			vector := &prover.File.Vectors[0]
			results, err := certify.Check(t.Context(), &prover.File)
			if err != nil || results[0].Err != nil {
				t.Fatalf("seed %d: %v %v\n%s", seed, err, results[0].Err, w.text(nil))
			}
			for s := range want {
				if vector.Lower.Rat(s).Cmp(want[s]) != 0 || vector.Upper.Rat(s).Cmp(want[s]) != 0 {
					t.Errorf("seed %d: %v to %v, want %v\n%s", seed, vector.Lower.Fractions, vector.Upper.Fractions, want, w.text(nil))
				}
			}
			for range 20 {
				f, x := prover.File, *vector
				f.Vectors = []certificate.Vector{x}
				s, off := rng.IntN(len(want)), big.NewRat(1, 1<<uint(rng.IntN(60)))
				lower, upper := slices.Clone(vector.Lower.Fractions), slices.Clone(vector.Upper.Fractions)
				lower[s] = new(big.Rat).Add(lower[s], off)
				if upper[s] = new(big.Rat).Sub(upper[s], off); upper[s].Sign() < 0 {
					continue
				}
				bias := slices.Clone(vector.LowerBias.Fractions)
				rng.Shuffle(len(bias), func(i, j int) { bias[i], bias[j] = bias[j], bias[i] })
				x.Lower, x.Upper = &certificate.Values{Fractions: lower}, nil
				if rng.IntN(2) == 0 {
					x.Lower, x.Upper = nil, &certificate.Values{Fractions: upper}
				}
				if rng.IntN(2) == 0 {
					x.LowerBias = &certificate.Values{Fractions: bias}
					x.UpperBias = x.LowerBias
				}
				f.Vectors[0] = x
				if results, err := certify.Check(t.Context(), &f); err == nil && results[0].Err == nil {
					t.Errorf("seed %d: %+v is accepted, want %v\n%s", seed, x, want, w.text(nil))
				}
			}
		}
	}
}
