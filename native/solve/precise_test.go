package solve_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// bigFloat returns a number with 1400 bits of precision.
func bigFloat() *big.Float { return new(big.Float).SetPrec(1400) }

type matrix [][]*big.Float

func (a matrix) times(b matrix) matrix {
	out := make(matrix, len(a))
	for i := range a {
		out[i] = make([]*big.Float, len(b[0]))
		for j := range out[i] {
			out[i][j] = bigFloat()
			for k := range b {
				if a[i][k].Sign() != 0 && b[k][j].Sign() != 0 {
					out[i][j].Add(out[i][j], bigFloat().Mul(a[i][k], b[k][j]))
				}
			}
		}
	}
	return out
}

// stiff is a random CTMC whose rates differ by many orders of magnitude.
func stiff(rng *rand.Rand) *sparse.Model {
	b := sparse.NewBuilder(sparse.CTMC)
	n := 2 + rng.IntN(4)
	sizes := []string{"1", "1/3", "1e-9", "1e5", "2e7", "1e-3", "7e-20"}
	for range n {
		b.State()
		for _, t := range rng.Perm(n)[:1+rng.IntN(min(n, 3))] {
			b.AddRat(t, new(big.Rat).Mul(big.NewRat(1+rng.Int64N(9), 1+rng.Int64N(9)), fraction(sizes[rng.IntN(len(sizes))])), sparse.NoAction)
		}
	}
	model, err := b.Finish()
	if err != nil {
		panic(err)
	}
	choice, rewards := make([]float64, n), make([]*big.Rat, n)
	for s := range n {
		if rng.IntN(2) == 0 {
			rewards[s] = fraction([]string{"1e100", "1/3", "1e-50", "5"}[rng.IntN(4)])
			choice[s], _ = rewards[s].Float64()
		}
	}
	model.Rewards = []sparse.Reward{{State: choice, StateFractions: rewards, RelErr: 0x1p-53}}
	return model
}

// transientMatrix returns the transition matrix for a time, with an additional state for accumulated
// rewards: by the Taylor series for a short slice of time, squared repeatedly.
func transientMatrix(model *sparse.Model, maybe *sparse.Set, time *big.Rat) matrix {
	n := model.NumStates()
	q, id := make(matrix, n+1), make(matrix, n+1)
	most := big.NewRat(1, 1)
	for s := range q {
		q[s], id[s] = make([]*big.Float, n+1), make([]*big.Float, n+1)
		for t := range q {
			q[s][t], id[s][t] = bigFloat(), bigFloat()
		}
		id[s][s].SetInt64(1)
		if s == n || !maybe.Has(s) {
			continue
		}
		exit := new(big.Rat)
		first, end := model.Transitions(s)
		for i := first; i < end; i++ {
			if t := int(model.Target[i]); t != s {
				exit.Add(exit, model.Fraction(i))
				q[s][t].Add(q[s][t], bigFloat().SetRat(new(big.Rat).Mul(model.Fraction(i), time)))
			}
		}
		exit.Mul(exit, time)
		q[s][s].Sub(q[s][s], bigFloat().SetRat(exit))
		if exit.Cmp(most) > 0 {
			most = exit
		}
		if r := model.Rewards[0].StateFractions[s]; r != nil {
			q[s][n].SetRat(new(big.Rat).Mul(r, time))
		}
	}
	f, _ := most.Float64()
	squarings := math.Ilogb(f) + 20
	for s := range q {
		for t := range q {
			q[s][t].SetMantExp(q[s][t], -squarings)
		}
	}
	sum, term := id, id
	for i := range int64(70) {
		term = term.times(q)
		for s := range term {
			sum = append(matrix(nil), sum...)
			row := make([]*big.Float, n+1)
			for t := range row {
				term[s][t] = bigFloat().Quo(term[s][t], bigFloat().SetInt64(i+1))
				row[t] = bigFloat().Add(sum[s][t], term[s][t])
			}
			sum[s] = row
		}
	}
	for range squarings {
		sum = sum.times(sum)
	}
	return sum
}

// of returns the product with x. Without x it returns the accumulated rewards.
func (a matrix) of(x []*big.Float) []*big.Float {
	n := len(a) - 1
	out := make([]*big.Float, n)
	for s := range out {
		if out[s] = a[s][n]; x == nil {
			continue
		}
		out[s] = bigFloat()
		for t := range n {
			out[s].Add(out[s], bigFloat().Mul(a[s][t], x[t]))
		}
	}
	return out
}

// TestStiff compares transient values with 400 digits: rates of very different sizes, up to a hundred
// million steps, tiny probabilities, and negations.
func TestStiff(t *testing.T) {
	times := []string{"1e-12", "1e-3", "1", "5"}
	for seed := range needs.Some(uint64(60)) {
		rng := rand.New(rand.NewPCG(seed, 13))
		model := stiff(rng)
		n := model.NumStates()
		in := &stiffCase{T: t, exact: sparse.NewGraph(model)}
		d := *model
		d.Fractions = nil
		in.doubles = sparse.NewGraph(&d)
		left, right := sparsetest.RandomSet(rng, n, 0.7), sparsetest.RandomSet(rng, n, 0.4)
		length := fraction(times[rng.IntN(4)])
		from := new(big.Rat)
		if rng.IntN(2) == 0 {
			from = fraction(times[rng.IntN(4)])
		}
		in.short = slices.Max(model.Weights)*float(length) < 1e5 && slices.Max(model.Weights)*float(from) < 1e5
		in.until(left, right, from, length, rng.IntN(2) == 0)
		in.rewards(length)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

type stiffCase struct {
	*testing.T
	exact, doubles *sparse.Graph
	short          bool // few steps: doubles are tried, too
}

func float(x *big.Rat) float64 {
	f, _ := x.Float64()
	return f
}

func (in *stiffCase) until(left, right *sparse.Set, from, length *big.Rat, negated bool) {
	ctx := context.Background()
	x := indicate(right, negated)
	want := transientMatrix(in.exact.Model, left.Minus(right), length).of(x)
	if from.Sign() > 0 {
		for s := range left.Complement().All() {
			want[s] = indicate(right.Minus(right), negated)[s]
		}
		want = transientMatrix(in.exact.Model, left, from).of(want)
	}
	bound := solve.Interval{From: solve.At(from), To: solve.At(new(big.Rat).Add(from, length))}
	values, err := solve.PreciseUntil(ctx, in.exact, left, right, bound, negated, solve.Options{})
	in.check("precise until", values, err, want, 1e-14)
	f := solve.TimedUntil
	if !in.short {
		return
	}
	if negated {
		f = solve.NotTimedUntil
	}
	for _, epsilon := range []float64{0, 1e-9} {
		values, err = f(ctx, in.doubles, left, right, bound, solve.Options{Epsilon: epsilon})
		in.check("until", values, err, want, 1)
	}
}

func indicate(rewarded *sparse.Set, negated bool) []*big.Float {
	out := make([]*big.Float, rewarded.Len())
	for s := range out {
		out[s] = bigFloat()
		if rewarded.Has(s) != negated {
			out[s].SetInt64(1)
		}
	}
	return out
}

func (in *stiffCase) rewards(length *big.Rat) {
	ctx, reward, all := context.Background(), &in.exact.Rewards[0], sparse.FullSet(in.exact.NumStates())
	m := transientMatrix(in.exact.Model, all, length)
	x := make([]*big.Float, len(reward.State))
	for s := range x {
		if x[s] = bigFloat(); reward.StateFractions[s] != nil {
			x[s].SetRat(reward.StateFractions[s])
		}
	}
	values, err := solve.PreciseInstantReward(ctx, in.exact, reward, solve.At(length), solve.Options{})
	in.check("precise instantaneous", values, err, m.of(x), 1e-14)
	values, err = solve.PreciseCumulReward(ctx, in.exact, reward, solve.At(length), solve.Options{})
	in.check("precise cumulative", values, err, m.of(nil), 1e-14)
	if !in.short {
		return
	}
	for _, epsilon := range []float64{0, 1e-9} {
		values, err = solve.TimedInstantReward(ctx, in.doubles, reward, solve.At(length), solve.Options{Epsilon: epsilon})
		in.check("instantaneous", values, err, m.of(x), math.Inf(1))
		values, err = solve.TimedCumulReward(ctx, in.doubles, reward, solve.At(length), solve.Options{Epsilon: epsilon})
		in.check("cumulative", values, err, m.of(nil), math.Inf(1))
	}
}

func (in *stiffCase) check(name string, values *solve.Values, err error, want []*big.Float, width float64) {
	in.Helper()
	if errors.Is(err, solve.ErrTooManySteps) {
		return
	}
	if err != nil {
		in.Fatal(name, err)
	}
	for s, x := range want {
		lo, hi := values.Lower[s], values.Upper[s]
		off := bigFloat().SetMantExp(x, -1000) // more than this is off
		most, least := bigFloat().Add(x, off), bigFloat().Sub(x, off)
		if bigFloat().SetFloat64(lo).Cmp(most) > 0 || !math.IsInf(hi, 1) && bigFloat().SetFloat64(hi).Cmp(least) < 0 || hi-lo > width*hi && hi > 1e-80 {
			in.Errorf("%s, state %d: [%v, %v], want %s", name, s, lo, hi, x.Text('g', 20))
		}
		if certain := x.Sign() == 0; certain != (hi == 0) {
			in.Errorf("%s, state %d: [%v, %v] for %s", name, s, lo, hi, x.Text('g', 20))
		}
	}
}
