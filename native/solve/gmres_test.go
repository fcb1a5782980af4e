package solve

import (
	"math"
	"math/big"
	"runtime"
	"slices"
	"testing"

	"tilecheck/internal/interval"
	"tilecheck/native/space/sparse"
)

// queues are independent queues with arrival rates r[i] and service rate 1, each with at most size-1
// jobs. The reward is the number of jobs, whose long-run average is the sum of those of the queues.
func queues(t *testing.T, size int, r ...int64) (model *sparse.Model, reward *sparse.Reward, average *big.Rat) {
	t.Helper()
	n := 1
	for range r {
		n *= size
	}
	b := sparse.NewBuilder(sparse.CTMC)
	reward = &sparse.Reward{State: make([]float64, n)}
	for s := range n {
		b.State()
		for i, place := range r {
			step := int(math.Pow(float64(size), float64(i)))
			waiting := s / step % size
			reward.State[s] += float64(waiting)
			if waiting+1 < size {
				b.Add(s+step, float64(place)/8)
			}
			if waiting > 0 {
				b.Add(s-step, 1)
			}
		}
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	model.Initial = []uint32{0}
	average = new(big.Rat)
	for _, eighths := range r {
		p, sum, mean := big.NewRat(1, 1), new(big.Rat), new(big.Rat)
		for k := range int64(size) {
			sum.Add(sum, p)
			mean.Add(mean, new(big.Rat).Mul(p, big.NewRat(k, 1)))
			p.Mul(p, big.NewRat(eighths, 8))
		}
		average.Add(average, mean.Quo(mean, sum))
	}
	return model, reward, average
}

// gmresBounds returns the bounds that GMRES finds alone, within a number of sweeps.
func gmresBounds(t *testing.T, model *sparse.Model, reward *sparse.Reward, sweeps int) interval.Interval {
	t.Helper()
	opts := Options{Epsilon: 1e-8}
	y, err := newSystem(sparse.NewGraph(model), reward, Max, opts)
	if err != nil {
		t.Fatal(err)
	}
	a := newBSCCGain(y, opts, newMeter(t.Context(), opts, y.graph.NumStates()))
	a.bias = make([]float64, model.NumStates())
	members := model.Components(nil, nil).Members(0)
	work := a.rewardSystem.numTransitions(members)
	lo, hi, err := a.relaxedValueIteration(members, work, firstSweeps)
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(a.bias)
	lo, hi, err = a.acceleratedIteration(members, work, gainInterval{lo, hi}, sweeps)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.bias, before) {
		t.Error("h is not as it was")
	}
	return interval.Interval{Lo: lo, Hi: hi}
}

// TestGMRES checks that a hundred steps are enough, and that the bounds are right and do not
// depend on the number of processors.
func TestGMRES(t *testing.T) {
	for _, rates := range [][]int64{{4, 6, 9}, {7, 1, 3}, {8, 8, 8}} {
		model, reward, average := queues(t, 12, rates...)
		b := gmresBounds(t, model, reward, 100)
		if lo, hi := new(big.Rat).SetFloat64(b.Lo), new(big.Rat).SetFloat64(b.Hi); lo.Cmp(average) > 0 || hi.Cmp(average) < 0 {
			t.Errorf("%v: the average %v is not in %v", rates, average, b)
		}
		if b.Hi-b.Lo > 1e-8*b.Hi {
			t.Errorf("%v: bounds %v after 100 steps", rates, b)
		}
		before := runtime.GOMAXPROCS(1)
		if one := gmresBounds(t, model, reward, 100); one != b {
			t.Errorf("%v: bounds %v on one processor, %v on %d", rates, one, b, before)
		}
		runtime.GOMAXPROCS(before)
	}
}

// TestGMRESNoDirection has rewards that are equal in all states, or zero.
func TestGMRESNoDirection(t *testing.T) {
	model, reward, _ := queues(t, 12, 4, 6, 9)
	for _, x := range []float64{0, 3} {
		for s := range reward.State {
			reward.State[s] = x
		}
		if b := gmresBounds(t, model, reward, 100); b.Lo > x || b.Hi < x {
			t.Errorf("%v for a reward of %v everywhere", b, x)
		}
	}
}
