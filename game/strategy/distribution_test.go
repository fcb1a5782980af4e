package strategy

import (
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// obvious is a distribution as a table of probabilities.
type obvious map[int64]*big.Rat

func (o obvious) add(v int64, p *big.Rat) {
	if o[v] == nil {
		o[v] = new(big.Rat)
	}
	o[v].Add(o[v], p)
}

func (d *distribution) obvious() obvious {
	out := obvious{}
	for i, w := range d.weights {
		out.add(d.values[i], new(big.Rat).SetFrac(w, d.total))
	}
	return out
}

// combine returns the distribution of f of two independent values.
func combine(a, b obvious, f func(x, y int64) int64) obvious {
	out := obvious{}
	for x, p := range a {
		for y, q := range b {
			out.add(f(x, y), new(big.Rat).Mul(p, q))
		}
	}
	return out
}

func same(t *testing.T, got *distribution, want obvious) {
	t.Helper()
	if values := slices.Sorted(maps.Keys(want)); !slices.Equal(got.values, values) {
		t.Fatalf("values %v, want %v", got.values, values)
	}
	for v, p := range got.obvious() {
		if p.Cmp(want[v]) != 0 {
			t.Fatalf("%d has probability %v, want %v", v, p, want[v])
		}
	}
	sum := new(big.Int)
	for _, w := range got.weights {
		sum.Add(sum, w)
	}
	if sum.Cmp(got.total) != 0 {
		t.Fatalf("total is %v, want %v", got.total, sum)
	}
}

// drawn returns a distribution with up to five values.
func drawn(rng *rand.Rand) *distribution {
	weights := map[int64]*big.Int{}
	step := 1 + rng.Int64N(5)
	for range 1 + rng.IntN(5) {
		weights[step*rng.Int64N(9)-10] = big.NewInt(1 + rng.Int64N(20))
	}
	return newDistribution(weights)
}

func TestDistributionsAgainstTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	for range 200 {
		a, b := drawn(rng), drawn(rng)

		n := 1 + rng.IntN(6)
		sum, err := a.sum(n, &workLimit{})
		if err != nil {
			t.Fatal(err)
		}
		want := a.obvious()
		for range n - 1 {
			want = combine(want, a.obvious(), func(x, y int64) int64 { return x + y })
		}
		same(t, sum, want)

		largest, err := maximum([]*distribution{a, b, a}, &workLimit{})
		if err != nil {
			t.Fatal(err)
		}
		pick := func(x, y int64) int64 { return max(x, y) }
		same(t, largest, combine(combine(a.obvious(), b.obvious(), pick), a.obvious(), pick))

		mixed, err := mixture([]mixturePart{{a, 3}, {b, 2}}, &workLimit{})
		if err != nil {
			t.Fatal(err)
		}
		want = obvious{}
		for v, p := range a.obvious() {
			want.add(v, new(big.Rat).Mul(p, big.NewRat(3, 5)))
		}
		for v, p := range b.obvious() {
			want.add(v, new(big.Rat).Mul(p, big.NewRat(2, 5)))
		}
		same(t, mixed, want)

		shifted := obvious{}
		for v, p := range a.obvious() {
			shifted.add(v+7, p)
		}
		same(t, a.shifted(7), shifted)
	}
}

// A fair coin: the weights of the sum are binomial coefficients.
func TestSumOfManyCoins(t *testing.T) {
	coin := newDistribution(map[int64]*big.Int{-4: big.NewInt(1), 8: big.NewInt(1)})
	sum, err := coin.sum(300, &workLimit{})
	if err != nil {
		t.Fatal(err)
	}
	want := obvious{}
	for k := range int64(301) {
		want.add(12*k-1200, new(big.Rat).SetFrac(new(big.Int).Binomial(300, k), new(big.Int).Lsh(big.NewInt(1), 300)))
	}
	same(t, sum, want)
}

func TestChancesAgainstTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	for range 100 {
		ds := []*distribution{drawn(rng), drawn(rng), drawn(rng), drawn(rng)}[:1+rng.IntN(4)]
		if rng.IntN(2) == 0 {
			ds[len(ds)-1] = ds[0]
		}
		for _, rule := range []tieRule{tiesFirst, tiesRandom} {
			got, err := probabilitiesOfMax(ds, rule, &workLimit{})
			if err != nil {
				t.Fatal(err)
			}
			want := make([]*big.Rat, len(ds))
			for i := range want {
				want[i] = new(big.Rat)
			}
			outcomes(ds, nil, big.NewRat(1, 1), func(values []int64, p *big.Rat) {
				var best []int
				for i, v := range values {
					if v == slices.Max(values) {
						best = append(best, i)
					}
				}
				if rule == tiesFirst {
					best = best[:1]
				}
				for _, i := range best {
					want[i].Add(want[i], new(big.Rat).Quo(p, big.NewRat(int64(len(best)), 1)))
				}
			})
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s: %v, want %v", rule, got, want)
			}
		}
	}
}

// outcomes calls each with every combination of values and its probability.
func outcomes(ds []*distribution, values []int64, p *big.Rat, each func([]int64, *big.Rat)) {
	if len(values) == len(ds) {
		each(values, p)
		return
	}
	for v, q := range ds[len(values)].obvious() {
		outcomes(ds, append(slices.Clone(values), v), new(big.Rat).Mul(p, q), each)
	}
}
