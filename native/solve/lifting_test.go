package solve

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/native/space/sparse/sparsetest"
)

// TestLifting compares with elimination of a dense matrix of fractions. Some coefficients have many
// words, and some are multiples of the first prime.
func TestLifting(t *testing.T) {
	prime := new(big.Int).SetUint64(1<<63 - 25)
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 5))
		n := 1 + rng.IntN(12)
		rows := make([]*exactRow, n)
		a, b := make([][]*big.Rat, n), make([]*big.Rat, n)
		unit := func() *big.Int {
			x := big.NewInt(1 + rng.Int64N(20))
			switch rng.IntN(8) {
			case 0:
				x.Mul(x, prime)
			case 1:
				x.Exp(x, big.NewInt(40), nil)
			}
			return x
		}
		for k := range rows {
			row := &exactRow{scale: unit(), scaledConstant: big.NewInt(rng.Int64N(1000))} // scale: of leaving
			a[k] = make([]*big.Rat, n)
			for c := range n {
				a[k][c] = new(big.Rat)
			}
			for range rng.IntN(4) {
				if c := rng.IntN(n); c != k {
					row.columns, row.coefficients = append(row.columns, uint32(c)), append(row.coefficients, unit())
				}
			}
			for _, w := range row.coefficients {
				row.scale.Add(row.scale, w)
			}
			for i, c := range row.columns {
				a[k][c].Add(a[k][c], new(big.Rat).SetFrac(row.coefficients[i], row.scale))
			}
			b[k] = new(big.Rat).SetFrac(row.scaledConstant, row.scale)
			rows[k] = row
		}
		lift, err := newLifting(noMeter(t), rows)
		if err != nil {
			t.Fatal(err)
		}
		num, den, err := lift.solve(noMeter(t), func(k int) *big.Int { return rows[k].scaledConstant })
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range sparsetest.Solve(a, b) {
			if got := new(big.Rat).SetFrac(num[k], den); got.Cmp(want) != 0 {
				t.Fatalf("seed %d: unknown %d is %s, want %s", seed, k, got, want)
			}
		}
	}
}

// TestLiftingPrime has a pivot that is a multiple of the first prime, so that another one is necessary.
func TestLiftingPrime(t *testing.T) {
	prime := new(big.Int).SetUint64(1<<63 - 25)
	lift, err := newLifting(noMeter(t), []*exactRow{{scale: prime}})
	if err != nil {
		t.Fatal(err)
	}
	num, den, err := lift.solve(noMeter(t), func(int) *big.Int { return big.NewInt(3) })
	if err != nil {
		t.Fatal(err)
	}
	if got, want := new(big.Rat).SetFrac(num[0], den), new(big.Rat).SetFrac(big.NewInt(3), prime); got.Cmp(want) != 0 {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestFraction(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	for range 1000 {
		var f, g fraction
		f.setZero()
		want := new(big.Rat)
		for range rng.IntN(10) {
			x, w := big.NewRat(rng.Int64N(40)-20, 1+rng.Int64N(12)), big.NewRat(rng.Int64N(9), 1+rng.Int64N(30))
			if rng.IntN(2) == 0 {
				f.addFraction(x)
				want.Add(want, x)
				continue
			}
			g.setZero()
			g.addFraction(x)
			f.addProduct(w, &g)
			want.Add(want, new(big.Rat).Mul(w, x))
		}
		if got := f.lowestTerms(); got.Cmp(want) != 0 {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}
