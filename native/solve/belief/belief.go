package belief

import (
	"math"
	"math/big"
	"slices"
)

// belief is a probability distribution over states with the same observation: states in increasing
// order, with positive integer weights that have no common divisor. total is the sum of the weights.
type belief struct {
	states  []uint32
	weights []*big.Int
	total   *big.Int
}

// point returns the belief that has probability one in state s.
func point(s uint32) *belief {
	return &belief{[]uint32{s}, []*big.Int{big.NewInt(1)}, big.NewInt(1)}
}

// newBelief divides the weights by their common divisor, in place.
func newBelief(states []uint32, weights []*big.Int) *belief {
	gcd := new(big.Int).Set(weights[0])
	for _, w := range weights[1:] {
		if gcd.IsUint64() && gcd.Uint64() == 1 {
			break
		}
		gcd.GCD(nil, nil, gcd, w)
	}
	b := &belief{states: states, weights: weights, total: new(big.Int)}
	for _, w := range weights {
		w.Quo(w, gcd)
		b.total.Add(b.total, w)
	}
	return b
}

// key is equal for equal beliefs only.
func (b *belief) key() string {
	var out []byte
	for i, s := range b.states {
		out = append(out, byte(s), byte(s>>8), byte(s>>16), byte(s>>24))
		bytes := b.weights[i].Bytes()
		n := len(bytes)
		out = append(append(out, byte(n), byte(n>>8), byte(n>>16)), bytes...)
	}
	return string(out)
}

// mean returns the expectation of a function of states.
func (b *belief) mean(value func(s uint32) *big.Rat) *big.Rat {
	sum, x := new(big.Rat), new(big.Rat)
	for i, s := range b.states {
		if v := value(s); v.Sign() != 0 {
			sum.Add(sum, x.Mul(v, x.SetInt(b.weights[i])))
		}
	}
	return sum.Quo(sum, x.SetInt(b.total))
}

// meanFloat is mean for nonnegative float64 values, with a bound on its relative error. If a value is
// infinite, so is the result.
func (b *belief) meanFloat(value func(s uint32) float64) (x, off float64) {
	total, _ := new(big.Float).SetInt(b.total).Float64()
	if math.IsInf(total, 1) {
		r := b.mean(func(s uint32) *big.Rat { return finiteOrZero(value(s)) })
		x, _ = r.Float64()
		for _, s := range b.states {
			x = max(x, infinityOrZero(value(s)))
		}
		return x, 0x1p-52
	}
	for i, s := range b.states {
		w, _ := new(big.Float).SetInt(b.weights[i]).Float64()
		x += w * value(s)
	}
	return x / total, float64(len(b.states)+6) * 0x1p-53
}

func finiteOrZero(x float64) *big.Rat {
	if math.IsInf(x, 0) {
		return new(big.Rat)
	}
	return new(big.Rat).SetFloat64(x)
}

func infinityOrZero(x float64) float64 {
	if math.IsInf(x, 1) {
		return x
	}
	return 0
}

// outcome is a belief after a step. Its probability is weight divided by outcomes.total.
type outcome struct {
	next   *belief
	weight *big.Int
}

// outcomes are the results of an action: beliefs, one for each observation, and the weights with which
// the goal is reached, or missed for good.
type outcomes struct {
	continuing []outcome // by observation
	goal, fail *big.Int
	total      *big.Int // the sum of all weights
}

// updater computes the beliefs after a step. It is not safe for concurrent use.
type updater struct {
	*pomdp
	sum     []big.Int // by state: zero except for those in touched
	touched []uint32
}

func newUpdater(g *pomdp) *updater {
	return &updater{pomdp: g, sum: make([]big.Int, g.model.NumStates())}
}

// step returns the outcomes of action k.
func (t *updater) step(b *belief, k int) outcomes {
	out := outcomes{goal: new(big.Int), fail: new(big.Int), total: new(big.Int).Mul(t.scale, b.total)}
	x := new(big.Int)
	for i, s := range b.states {
		lo, hi := t.model.Row(t.choiceOf(s, k))
		for j := lo; j < hi; j++ {
			x.Mul(b.weights[i], t.scaledWeights[t.model.Weight[j]])
			switch to := t.model.Target[j]; {
			case t.Target.Has(int(to)):
				out.goal.Add(out.goal, x)
			case t.terminal.Has(int(to)):
				out.fail.Add(out.fail, x)
			default:
				if t.sum[to].Sign() == 0 {
					t.touched = append(t.touched, to)
				}
				t.sum[to].Add(&t.sum[to], x)
			}
		}
	}
	out.continuing = t.splitByObservation()
	return out
}

// splitByObservation returns a belief for each observation of the touched states, and clears them.
func (t *updater) splitByObservation() []outcome {
	slices.SortFunc(t.touched, func(s, u uint32) int {
		if a, b := t.Observation[s], t.Observation[u]; a != b {
			return int(int64(a) - int64(b))
		}
		return int(s) - int(u)
	})
	var out []outcome
	for lo := 0; lo < len(t.touched); {
		o, hi := t.Observation[t.touched[lo]], lo
		for hi < len(t.touched) && t.Observation[t.touched[hi]] == o {
			hi++
		}
		states := slices.Clone(t.touched[lo:hi])
		weights := make([]*big.Int, len(states))
		sum := new(big.Int)
		for i, s := range states {
			weights[i] = new(big.Int).Set(&t.sum[s])
			sum.Add(sum, weights[i])
			t.sum[s].SetInt64(0)
		}
		out = append(out, outcome{newBelief(states, weights), sum})
		lo = hi
	}
	t.touched = t.touched[:0]
	return out
}
