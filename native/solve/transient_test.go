package solve_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

const prec = 200

func number(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

// generator returns the rates of a CTMC, with minus the exit rates on the
// diagonal; states outside open have none.
func generator(model *sparse.Model, maybe *sparse.Set) [][]*big.Float {
	n := model.NumStates()
	q := make([][]*big.Float, n)
	for s := range n {
		q[s] = make([]*big.Float, n)
		for t := range n {
			q[s][t] = number(0)
		}
		first, end := model.Transitions(s)
		for i := first; i < end && maybe.Has(s); i++ {
			if t := int(model.Target[i]); t != s {
				rate := new(big.Float).SetPrec(prec).SetRat(model.Fraction(i))
				q[s][t].Add(q[s][t], rate)
				q[s][s].Sub(q[s][s], rate)
			}
		}
	}
	return q
}

// exponential returns e^(qt) x by the Taylor series over slices of time, and e^(qt) of a
// long time as the square of that of its half.
func exponential(q [][]*big.Float, time float64, x []*big.Float) []*big.Float {
	if time > 4 {
		doublings := 0
		for ; time > 1.0/8; time /= 2 {
			doublings++
		}
		columns := make([][]*big.Float, len(q))
		for i := range columns {
			columns[i] = exponential(q, time, indicator(sparse.SetOf(len(q), i)))
		}
		for range doublings {
			e := transposed(columns)
			for i, c := range columns {
				columns[i] = multiply(e, c)
			}
		}
		return multiply(transposed(columns), x)
	}
	slices := 1 + int(time*100)
	dt := number(0).Quo(number(time), number(float64(slices)))
	for range slices {
		term := x
		sum := append([]*big.Float(nil), x...)
		for i := 1; i < 32; i++ {
			term = multiply(q, term)
			for s := range term {
				term[s].Mul(term[s], dt)
				term[s].Quo(term[s], number(float64(i)))
				sum[s] = number(0).Add(sum[s], term[s])
			}
		}
		x = sum
	}
	return x
}

func transposed(q [][]*big.Float) [][]*big.Float {
	reversed := make([][]*big.Float, len(q))
	for s := range q {
		for t := range q {
			reversed[s] = append(reversed[s], q[t][s])
		}
	}
	return reversed
}

func multiply(q [][]*big.Float, x []*big.Float) []*big.Float {
	out := make([]*big.Float, len(x))
	for s := range q {
		out[s] = number(0)
		for t := range q {
			out[s].Add(out[s], number(0).Mul(q[s][t], x[t]))
		}
	}
	return out
}

func indicator(rewarded *sparse.Set) []*big.Float {
	out := make([]*big.Float, rewarded.Len())
	for s := range out {
		out[s] = number(0)
		if rewarded.Has(s) {
			out[s] = number(1)
		}
	}
	return out
}

// enclose checks bounds against values known to 40 digits. They are as near as asked for,
// and nearer where few steps are taken; many round as often.
func (in *instance) enclose(name string, values *solve.Values, want []*big.Float, time float64) {
	in.Helper()
	width := 1e-10
	if time > 4 {
		width = 1e-8 + 1e-11*time
	}
	const missed = 0x1p-60 // of the steps' probability
	for s, x := range want {
		err := number(0).Mul(x, number(1e-40))
		if number(values.Lower[s]).Cmp(number(0).Add(x, err)) > 0 || number(values.Upper[s]).Cmp(number(0).Sub(x, err)) < 0 || values.Upper[s]-values.Lower[s] > max(missed, width*values.Upper[s]) {
			in.Errorf("%s: state %d: [%v, %v], want %s", name, s, values.Lower[s], values.Upper[s], x.Text('g', 20))
		}
	}
}

// forCTMC calls check with some random CTMCs. Their times are exact doubles.
func forCTMC(t *testing.T, check func(in *instance, rng *rand.Rand)) {
	t.Helper()
	forRandom(t, sparse.CTMC, func(in *instance) {
		if in.seed%20 == 0 {
			check(in, rand.New(rand.NewPCG(in.seed, 5)))
		}
	})
}

// at returns the time that is a double.
func at(x float64) solve.Time { return solve.At(new(big.Rat).SetFloat64(x)) }

// aTime returns a time, sometimes a long one.
func aTime(rng *rand.Rand) float64 {
	return float64(rng.IntN(5)) / 2 * []float64{1, 1, 100, 2000}[rng.IntN(4)]
}

func TestTimedUntil(t *testing.T) {
	forCTMC(t, func(in *instance, rng *rand.Rand) {
		from := float64(rng.IntN(3)) / 4
		to := from + aTime(rng)
		x := exponential(generator(in.m, in.left.Minus(in.right)), to-from, indicator(in.right))
		if from > 0 {
			for s := range in.left.Complement().All() {
				x[s] = number(0)
			}
			x = exponential(generator(in.m, in.left), from, x)
		}
		values, err := solve.TimedUntil(in.Context(), in.g, in.left, in.right, solve.Interval{From: at(from), To: at(to)}, solve.Options{})
		if err != nil {
			in.Fatal(err)
		}
		in.enclose("until", values, x, to)
	})
}

// TestPartialTimedUntil compares with the two models in which unexplored states are targets, and in which they are not.
func TestPartialTimedUntil(t *testing.T) {
	early := 0
	check := func(in *instance, rng *rand.Rand) {
		time, start := float64(rng.IntN(9))/8, int(in.m.Initial[0])
		if in.seed%20 == 0 { // the exponentials of other models are imprecise for long times
			time = aTime(rng)
		}
		unexplored := sparse.NewSet(in.m.NumStates())
		for state := range in.m.NumStates() {
			if rng.IntN(3) == 0 {
				unexplored.Add(state)
			}
		}
		left, right := in.left.Clone(), in.right.Clone()
		if rng.IntN(8) > 0 { // otherwise the initial state often decides the formula
			left.Add(start)
			right.Remove(start)
			unexplored.Remove(start)
		}
		escape := left.Minus(right).Intersect(unexplored)
		rates := generator(in.m, left.Minus(right).Minus(escape))
		least := exponential(rates, time, indicator(right))[start]
		greatest := exponential(rates, time, indicator(right.Union(escape)))[start]
		if greatest.Cmp(number(1.5)) > 0 || greatest.Sign() < 0 { // the exponentials are wrong for high rates
			return
		}
		maxEscape := []float64{1, 1e-3}[rng.IntN(2)]
		lower, upper, stepShare, err := solve.PartialTimedUntil(in.Context(), in.g, left, right, unexplored, at(time), maxEscape, solve.Options{})
		if err != nil {
			in.Fatal(err)
		}
		escaped, _ := number(0).Sub(greatest, least).Float64()
		if stepShare < 1 {
			early++
			if lower != 0 || upper != 1 || escaped <= maxEscape {
				in.Errorf("ended early with [%v, %v] although %v escapes, want [0, 1] and more than %v", lower, upper, escaped, maxEscape)
			}
			return
		}
		const width = 1e-8
		low, _ := least.Float64()
		high, _ := greatest.Float64()
		least.Add(least, number(1e-40)) // the exponentials have 40 digits
		greatest.Sub(greatest, number(1e-40))
		if number(lower).Cmp(least) > 0 || number(upper).Cmp(greatest) < 0 || lower < low*(1-width) || upper > high*(1+width)+0x1p-60 {
			in.Errorf("[%v, %v], want [%v, %v] as the narrowest bounds", lower, upper, low, high)
		}
	}
	forRandom(t, sparse.CTMC, func(in *instance) { check(in, rand.New(rand.NewPCG(in.seed, 5))) })
	forCTMC(t, func(in *instance, rng *rand.Rand) {
		for range 20 {
			check(in, rng)
		}
	})
	if early == 0 {
		t.Error("no computation ended early")
	}
}

// TestPartialTimedUntilForLong has more steps than are taken one by one.
func TestPartialTimedUntilForLong(t *testing.T) {
	b := sparse.NewBuilder(sparse.CTMC)
	b.State()
	b.Add(1, 1)
	b.State()
	b.Add(0, 3)
	none := sparse.NewSet(2)
	graph := sparse.NewGraph(finish(t, b))
	graph.Initial = []uint32{0}
	_, _, _, err := solve.PartialTimedUntil(t.Context(), graph, sparse.FullSet(2), none, none, at(1<<28), 1, solve.Options{})
	if !errors.Is(err, solve.ErrTooManySteps) {
		t.Errorf("%v, want ErrTooManySteps", err)
	}
}

// TestTimedLowerBound checks F>=t: any way for t, then F.
func TestTimedLowerBound(t *testing.T) {
	forCTMC(t, func(in *instance, _ *rand.Rand) {
		all := sparse.FullSet(in.m.NumStates())
		ever, err := solve.Until(in.Context(), in.g, all, in.right, solve.Max, solve.Options{Exact: true})
		if err != nil {
			in.Fatal(err)
		}
		x := indicator(all)
		for s := range x {
			x[s] = new(big.Float).SetPrec(prec).SetRat(ever.Exact[s])
		}
		values, err := solve.TimedUntil(in.Context(), in.g, all, in.right, solve.Interval{From: at(0.75)}, solve.Options{Epsilon: 1e-13})
		if err != nil {
			in.Fatal(err)
		}
		in.enclose("until", values, exponential(generator(in.m, all), 0.75, x), 0.75)
	})
}

func TestTimedRewards(t *testing.T) {
	forCTMC(t, func(in *instance, rng *rand.Rand) {
		time := aTime(rng)
		n := in.m.NumStates()
		all := sparse.FullSet(n)
		state, rate := indicator(sparse.NewSet(n)), indicator(sparse.NewSet(n))
		for s := range n {
			if r := in.reward().StateFractions; r != nil && r[s] != nil {
				state[s] = new(big.Float).SetPrec(prec).SetRat(r[s])
			}
			rate[s] = state[s]
			if r := in.reward().ChoiceFractions; r != nil && r[s] != nil {
				rate[s] = number(0).Add(rate[s], new(big.Float).SetPrec(prec).SetRat(r[s]))
			}
		}
		values, err := solve.TimedInstantReward(in.Context(), in.g, in.reward(), at(time), solve.Options{})
		if err != nil {
			in.Fatal(err)
		}
		in.enclose("instantaneous", values, exponential(generator(in.m, all), time, state), time)

		// The integral is one more unknown per state; its derivative is the
		// reward rate expected by then.
		q := generator(in.m, all)
		for s := range n {
			q[s] = append(q[s], indicator(sparse.NewSet(n))...)
			q = append(q, indicator(sparse.SetOf(2*n, s)))
		}
		x := exponential(q, time, append(rate, indicator(sparse.NewSet(n))...))
		values, err = solve.TimedCumulReward(in.Context(), in.g, in.reward(), at(time), solve.Options{})
		if err != nil {
			in.Fatal(err)
		}
		in.enclose("cumulative", values, x[n:], time)
	})
}

// TestTransientPRISM compares with what PRISM 4.10's explicit engine printed
// for the conformance case ex_ctmc_sync.
func TestTransientPRISM(t *testing.T) {
	model := syncModel(t)
	graph := sparse.NewGraph(model)
	n := model.NumStates()
	q1 := sparse.NewSet(n)
	for s := range n {
		if s/2%3 == 2 {
			q1.Add(s)
		}
	}
	values, err := solve.TimedUntil(t.Context(), graph, sparse.FullSet(n), q1, solve.Interval{From: at(0), To: at(0.5)}, solve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	agree(t, `P=? [ F<=0.5 q=1 ]`, values, 0.47543788591044944, 1e-7)
	values, err = solve.TimedCumulReward(t.Context(), graph, &model.Rewards[0], at(1), solve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	agree(t, `R{"rw"}=? [ C<=1 ]`, values, 2.4179376333137617, 1e-7)
	p0 := &sparse.Reward{State: make([]float64, n)}
	for s := range n / 3 {
		p0.State[s] = 1
	}
	values, err = solve.LongRun(t.Context(), graph, p0, solve.Max, solve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	agree(t, `S=? [ "p0" ]`, values, 0.3731341719583822, 1e-5)
}

// agree compares the middle of the initial state's bounds, state 0's, with a
// value PRISM computed to the given relative accuracy.
func agree(t *testing.T, property string, values *solve.Values, want, accuracy float64) {
	t.Helper()
	if got := values.Value(0); math.Abs(got-want) > accuracy*want {
		t.Errorf("%s: [%v, %v], PRISM says %v", property, values.Lower[0], values.Upper[0], want)
	}
}

// syncModel is the conformance case ex_ctmc_sync: state 6p + 2(q+1) + g.
func syncModel(t *testing.T) *sparse.Model {
	t.Helper()
	number := func(p, q, g int) int { return 6*p + 2*(q+1) + g }
	b := sparse.NewBuilder(sparse.CTMC)
	r := sparse.Reward{Name: "rw", State: make([]float64, 18), Choice: make([]float64, 18)}
	for p := range 3 {
		for q := -1; q <= 1; q++ {
			for g := range 2 {
				b.State()
				s := number(p, q, g)
				if p > 0 {
					b.Add(number(0, q, g), 0.5)
					r.State[s] = float64(p)
				}
				if q == 1 {
					b.Add(number(p, -1, 1-g), 0.25)
				}
				if p == 0 && q <= 0 {
					b.Add(number(1, 1, g), 2*3)
					b.Add(number(2, 1, g), 1*3)
					b.Add(number(1, 0, g), 2*4)
					b.Add(number(2, 0, g), 1*4)
					r.Choice[s] = 21 // [s] earns 1, at rate 21
				}
			}
		}
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	model.Rewards = []sparse.Reward{r}
	return model
}

// TestTwoStateCTMC has closed forms: the conformance case sem_rewards_ctmc, 0 to
// 1 at rate 2 and back at rate 1, with state reward 3 in 0.
func TestTwoStateCTMC(t *testing.T) {
	b := sparse.NewBuilder(sparse.CTMC)
	b.State()
	b.Add(1, 2)
	b.State()
	b.Add(0, 1)
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	graph := sparse.NewGraph(model)
	st := &sparse.Reward{State: []float64{3, 0}}
	tr := &sparse.Reward{Choice: []float64{2 * 5, 0}}
	for _, time := range []float64{1e-6, 0.5, 1, 30, 1000} {
		at0 := 1.0/3 + 2.0/3*math.Exp(-3*time)
		in0 := time/3 - 2.0/9*math.Expm1(-3*time)
		for _, tt := range []struct {
			name string
			f    func() (*solve.Values, error)
			want float64
		}{
			{"I", func() (*solve.Values, error) {
				return solve.TimedInstantReward(t.Context(), graph, st, at(time), solve.Options{})
			}, 3 * at0},
			{"C state", func() (*solve.Values, error) {
				return solve.TimedCumulReward(t.Context(), graph, st, at(time), solve.Options{})
			}, 3 * in0},
			{"C transition", func() (*solve.Values, error) {
				return solve.TimedCumulReward(t.Context(), graph, tr, at(time), solve.Options{})
			}, 10 * in0},
		} {
			values, err := tt.f()
			if err != nil {
				t.Fatal(err)
			}
			if values.Lower[0] > tt.want*(1+1e-14) || values.Upper[0] < tt.want*(1-1e-14) || values.Upper[0]-values.Lower[0] > 1e-9*tt.want {
				t.Errorf("%s at %v: [%v, %v], want %v", tt.name, time, values.Lower[0], values.Upper[0], tt.want)
			}
		}
	}
}

// TestRareTimedEvent: probabilities far below the truncation's absolute size
// keep their relative accuracy.
func TestRareTimedEvent(t *testing.T) {
	b := sparse.NewBuilder(sparse.CTMC)
	b.State()
	b.Add(0, 1000)
	b.Add(1, 1e-15)
	b.State()
	b.Add(0, 1000)
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	values, err := solve.TimedUntil(t.Context(), sparse.NewGraph(model), sparse.FullSet(2), sparse.SetOf(2, 1), solve.Interval{From: at(0), To: at(2)}, solve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := -math.Expm1(-2e-15); values.Lower[0] > want || values.Upper[0] < want || values.Upper[0]-values.Lower[0] > 1e-3*want {
		t.Errorf("[%v, %v], want %v", values.Lower[0], values.Upper[0], want)
	}
}

// TestTimedSettled compares with the closed forms of a machine that fails at rate 1 and
// is repaired at rate 3: of a time t it is down (t - (1-e^-4t)/4)/4 on average, and it
// is down at its end with probability (1-e^-4t)/4. Long before the steps of a long time
// are over their values are the same for all states.
func TestTimedSettled(t *testing.T) {
	b := sparse.NewBuilder(sparse.CTMC)
	b.State()
	b.Add(1, 1)
	b.State()
	b.Add(0, 3)
	graph := sparse.NewGraph(finish(t, b))
	down := &sparse.Reward{State: []float64{0, 1}}
	for _, time := range []float64{0.5, 2, 16, 25, 1000, 1e6} {
		gone := -math.Expm1(-4 * time)
		values, err := solve.TimedCumulReward(t.Context(), graph, down, at(time), solve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkNear(t, "time down", values, 0, big.NewFloat((time-gone/4)/4))
		if values, err = solve.TimedInstantReward(t.Context(), graph, down, at(time), solve.Options{}); err != nil {
			t.Fatal(err)
		}
		checkNear(t, "down in the end", values, 0, big.NewFloat(gone/4))
	}
}

// TestTimedOnward: steps that change all values by nearly the same factor are not taken
// one after the other. A part fails at rate 1 and is repaired at rate 50, and while it is
// failed, rarely, all is lost.
func TestTimedOnward(t *testing.T) {
	b := sparse.NewBuilder(sparse.CTMC)
	b.State()
	b.AddRat(1, big.NewRat(1, 1), sparse.NoAction)
	b.State()
	b.AddRat(0, big.NewRat(50, 1), sparse.NoAction)
	b.AddRat(2, big.NewRat(1, 1024), sparse.NoAction)
	b.State()
	b.AddRat(2, big.NewRat(1, 1), sparse.NoAction)
	model := finish(t, b)
	graph := sparse.NewGraph(model)
	lost := sparse.SetOf(3, 2)
	for _, time := range []float64{100, 1e4, 1e6} { // up to 5e7 steps
		want := exponential(generator(model, lost.Complement()), time, indicator(lost))
		opts := solve.Options{MaxWork: 1 << 20}
		bound := solve.Interval{From: at(0), To: at(time)}
		values, err := solve.TimedUntil(t.Context(), graph, sparse.FullSet(3), lost, bound, opts)
		if err != nil {
			t.Fatal(err)
		}
		in := instance{T: t}
		in.enclose("lost", values, want, time)
		for s := range want {
			want[s] = number(0).Sub(number(1), want[s])
		}
		if values, err = solve.NotTimedUntil(t.Context(), graph, sparse.FullSet(3), lost, bound, opts); err != nil {
			t.Fatal(err)
		}
		in.enclose("not lost", values, want, time)
	}
}

// TestTimedUnchanged: a state is left so rarely that no step changes its value in doubles,
// and all of them together do.
func TestTimedUnchanged(t *testing.T) {
	const fast, slow = 1e9, 1e-8
	b := sparse.NewBuilder(sparse.CTMC)
	b.State()
	b.Add(1, fast)
	b.State()
	b.Add(0, fast)
	b.State()
	b.Add(0, slow)
	reward := &sparse.Reward{State: []float64{1, 1, 0.5}}
	values, err := solve.TimedInstantReward(t.Context(), sparse.NewGraph(finish(t, b)), reward, at(1), solve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 - 0.5*math.Exp(-slow); values.Lower[2] > want || values.Upper[2] < want {
		t.Errorf("[%.12f, %.12f], want %.12f", values.Lower[2], values.Upper[2], want)
	}
}
