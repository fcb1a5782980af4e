package explicit

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// exactExpander lists the choices of a state with fractions for weights.
type exactExpander struct {
	m *compile.Model
	x compile.Expander
	// tolerance is how far probabilities may sum from one, relatively: not at
	// all in exact models, and as PRISM has it in those of doubles.
	tolerance *big.Rat
	// normalised says that weights were divided by a sum that was not one.
	normalised bool
	// encloses lets a fraction that is within narrow of a weight, relatively, stand for
	// one that has none, as models of doubles may have it. Then enclosed is set.
	encloses, enclosed bool
	// constant has the weights of the commands in which they are the same in every state.
	constant map[*sema.Command][]*big.Rat
	// intervals are those commands' weights in an interval model.
	intervals map[*sema.Command][]interval
}

func newExactExpander(ctx context.Context, m *compile.Model, tolerance float64) *exactExpander {
	return &exactExpander{
		m: m, x: m.NewExpanderUntil(ctx), tolerance: new(big.Rat).SetFloat64(tolerance),
		constant: make(map[*sema.Command][]*big.Rat), intervals: make(map[*sema.Command][]interval),
	}
}

// exactChoice is a choice, or in a Markov chain a part of the row, whose
// transitions have one action. No two have the same target.
type exactChoice struct {
	action  int
	weights []*big.Rat // shared, never changed
	highs   []*big.Rat // the upper ends of intervals, whose lower ones are weights; or nil
	targets [][]int32
	index   map[string]int // of many targets
	key     []byte
}

// expand returns the choices, and how many there were: in a Markov chain those
// with the same action are one. In a DTMC all are divided by their sum.
func (x *exactExpander) expand(ctx context.Context, state []int32) (out []exactChoice, n int, err error) {
	cs, err := x.x.Enabled(state)
	if err != nil {
		return nil, 0, err
	}
	for i := range cs.List {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		list := x.choice
		if intervals(x.m) {
			list = x.intervalChoice
		}
		c, err := list(ctx, state, &cs.List[i])
		if err != nil {
			return nil, 0, err
		}
		out = append(out, c)
	}
	switch x.m.Program().Type {
	case syntax.IDTMC:
		return out, len(cs.List), x.single(state, cs.List)
	case syntax.DTMC:
		normalise(out)
		return merge(out), len(cs.List), nil
	case syntax.CTMC:
		return merge(out), len(cs.List), nil
	}
	return out, len(cs.List), nil
}

// normalise divides all weights by their sum. That of one choice is one.
func normalise(cs []exactChoice) {
	if len(cs) <= 1 {
		return
	}
	sum := new(big.Rat)
	for _, c := range cs {
		for _, w := range c.weights {
			sum.Add(sum, w)
		}
	}
	for _, c := range cs {
		for i, w := range c.weights {
			c.weights[i] = new(big.Rat).Quo(w, sum)
		}
	}
}

// merge joins choices with the same action, in order of first appearance.
func merge(cs []exactChoice) []exactChoice {
	if len(cs) <= 1 {
		return cs
	}
	var out []exactChoice
	for _, c := range cs {
		i := slices.IndexFunc(out, func(d exactChoice) bool { return d.action == c.action })
		if i < 0 {
			out = append(out, c)
			continue
		}
		for j, w := range c.weights {
			out[i].add(c.targets[j], w)
		}
	}
	return out
}

func (c *exactChoice) add(target []int32, w *big.Rat) {
	if i := c.find(target); i >= 0 {
		c.weights[i] = new(big.Rat).Add(c.weights[i], w)
		return
	}
	c.targets, c.weights = append(c.targets, target), append(c.weights, w)
}

// find returns the place of a target, -1 if it is new: then it is expected next.
func (c *exactChoice) find(target []int32) int {
	if len(c.targets) < maxRoom {
		return slices.IndexFunc(c.targets, func(t []int32) bool { return slices.Equal(t, target) })
	}
	if c.index == nil {
		c.index = make(map[string]int)
		for i, t := range c.targets {
			c.index[string(c.bytes(t))] = i
		}
	}
	if i, known := c.index[string(c.bytes(target))]; known {
		return i
	}
	c.index[string(c.key)] = len(c.targets)
	return -1
}

func (c *exactChoice) bytes(target []int32) []byte {
	c.key = c.key[:0]
	for _, x := range target {
		c.key = binary.LittleEndian.AppendUint32(c.key, uint32(x))
	}
	return c.key
}

// maxRoom is for how many targets of a choice there is room at once.
const maxRoom = 64

// choice goes through the combinations of the commands' updates, the first
// command's varying fastest.
func (x *exactExpander) choice(ctx context.Context, state []int32, c *compile.Choice) (exactChoice, error) {
	out := exactChoice{action: c.Action}
	var weights [][]*big.Rat
	for _, ref := range c.Commands {
		ws, err := x.weigh(state, &x.m.Program().Modules[ref.Module].Commands[ref.Command])
		if err != nil {
			return out, err
		}
		weights = append(weights, ws)
	}
	n := 1 // combinations, as far as there is room for them
	for _, ws := range weights {
		n = min(n*len(ws), maxRoom)
	}
	out.targets, out.weights = make([][]int32, 0, n), make([]*big.Rat, 0, n)
	room := make([]int32, 0, n*len(state))
	pick := make([]int, len(weights))
	products := make([]*big.Rat, len(weights)) // of the weights picked from there on
	for changed := len(pick) - 1; changed >= 0; changed = advance(pick, weights) {
		for i := changed; i >= 0; i-- {
			if products[i] = weights[i][pick[i]]; i+1 < len(pick) {
				products[i] = new(big.Rat).Mul(products[i], products[i+1])
			}
		}
		w := products[0]
		if w.Sign() <= 0 {
			continue
		}
		if cap(room)-len(room) < len(state) {
			room = make([]int32, 0, maxRoom*len(state))
		}
		room = append(room, state...)
		target := room[len(room)-len(state) : len(room) : len(room)]
		if err := x.x.Apply(target, c.Commands, pick); err != nil {
			return out, err
		}
		out.add(target, w)
		if len(out.targets)&0xff == 0 && ctx.Err() != nil {
			return out, ctx.Err()
		}
	}
	return out, nil
}

// advance goes on to the next combination and returns the last number that it changed, -1
// after the last combination.
func advance[T any](pick []int, weights [][]T) int {
	for i, ws := range weights {
		if pick[i]++; pick[i] < len(ws) {
			return i
		}
		pick[i] = 0
	}
	return -1
}

// weigh evaluates the probabilities of a command, whose sum must be one; what is
// tolerated is divided by the sum.
func (x *exactExpander) weigh(state []int32, c *sema.Command) ([]*big.Rat, error) {
	if known := x.constant[c]; known != nil {
		return known, nil
	}
	out, err := x.weighAnew(state, c)
	if err == nil && constantWeights(c) {
		x.constant[c] = out
	}
	return out, err
}

func isConst(e sema.Expr) bool {
	_, ok := e.(*sema.Const)
	return ok
}

func (x *exactExpander) weighAnew(state []int32, c *sema.Command) ([]*big.Rat, error) {
	what := "probability"
	if x.m.Program().Type == syntax.CTMC {
		what = "rate"
	}
	sum := new(big.Rat)
	var out []*big.Rat
	for i := range c.Updates {
		w, err := x.weight(state, what, c.Updates[i].Prob)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
		sum.Add(sum, w)
	}
	if sum.Sign() == 0 {
		return nil, x.fail(state, c.Pos, what+" of every update is zero")
	}
	off := new(big.Rat).Sub(sum, big.NewRat(1, 1))
	if off.Abs(off); off.Sign() == 0 || x.m.Program().Type == syntax.CTMC {
		return out, nil
	}
	if x.tolerance.Sign() == 0 {
		return nil, x.fail(state, c.Pos, fmt.Sprintf("probabilities sum to %s, exactly, not to 1", sum.RatString()))
	}
	if off.Quo(off, sum).Cmp(x.tolerance) >= 0 {
		f, _ := sum.Float64()
		return nil, x.fail(state, c.Pos, fmt.Sprintf("probabilities sum to %v, not to 1", f))
	}
	x.normalised = true
	for i, w := range out {
		out[i] = new(big.Rat).Quo(w, sum)
	}
	return out, nil
}

// weight evaluates one probability or rate; nil is the constant 1.
func (x *exactExpander) weight(state []int32, what string, e sema.Expr) (*big.Rat, error) {
	if e == nil {
		return big.NewRat(1, 1), nil
	}
	v, err := sema.Enclose(e, state)
	switch {
	case err != nil:
		return nil, evalFailure(x.m, state, err)
	case v.Exact && v.Rat.Sign() < 0:
		return nil, x.fail(state, e.Pos(), fmt.Sprintf("%s %s is negative", what, v.Rat.RatString()))
	case v.Exact:
		return v.Rat, nil
	case v.Hi < 0:
		return nil, x.fail(state, e.Pos(), fmt.Sprintf("%s %v is negative", what, v.Value))
	}
	lo, hi, ok := v.Ends()
	switch {
	case !x.encloses || !ok:
		return nil, unsupported(x.m, state, e.Pos(), fmt.Sprintf("%s %v is not a fraction", what, v.Value))
	case !(enclosureWidth(lo, hi) <= narrow):
		return nil, unsupported(x.m, state, e.Pos(), fmt.Sprintf("%s between %v and %v is not a fraction, and the digits that are known of it are too few", what, v.Lo, v.Hi))
	}
	x.enclosed = true
	return lo, nil
}

// narrow is the greatest relative difference between the ends of a weight without
// a fraction: so little that the products and sums of any choice's weights are
// within one unit of those that are meant.
const narrow = 0x1p-100

// enclosureWidth is the relative difference between the ends of a positive number.
func enclosureWidth(lo, hi *big.Rat) float64 {
	if lo.Sign() <= 0 {
		return math.Inf(1)
	}
	d := new(big.Rat).Sub(hi, lo)
	w, _ := d.Quo(d, lo).Float64()
	return w
}

func (x *exactExpander) fail(state []int32, pos syntax.Pos, msg string) error {
	return &compile.StateError{File: x.m.Program().File, Pos: pos, State: x.m.StateText(state), Msg: msg}
}

// evalFailure gives an error of evaluation its state.
func evalFailure(m *compile.Model, state []int32, err error) error {
	if e, ok := errors.AsType[*sema.EvalError](err); ok {
		return &compile.StateError{File: m.Program().File, Pos: e.Pos, State: m.StateText(state), Msg: e.Msg, Undecided: e.Undecided}
	}
	return err
}

// unsupported refuses what cannot be done with fractions.
func unsupported(m *compile.Model, state []int32, pos syntax.Pos, msg string) error {
	return &compile.UnsupportedError{File: m.Program().File, Pos: pos, Msg: msg + " in state " + m.StateText(state)}
}

// constantWeights reports whether the weights of a command are the same in all states.
func constantWeights(c *sema.Command) bool {
	return !slices.ContainsFunc(c.Updates, func(u sema.Update) bool { return u.Prob != nil && !isConst(u.Prob) })
}
