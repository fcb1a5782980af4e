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

// exactExpander computes the choices of a state with rational weights.
type exactExpander struct {
	m *compile.Model
	x compile.Expander
	// tolerance is the allowed relative difference of a sum of probabilities from 1: 0 in
	// exact models, PRISM's tolerance otherwise.
	tolerance *big.Rat
	// normalised says that weights were divided by a sum that was not one.
	normalised bool
	// encloses allows a fraction within the relative distance maxEnclosure of an irrational
	// weight in its place. enclosed says that this happened.
	encloses, enclosed bool
	// constant caches the weights of commands whose weights do not depend on the state.
	constant map[*sema.Command][]*big.Rat
	// owners has the owners of the choices of a game, and owner is that of the last state.
	owners *ownership
	owner  uint16
	// intervals is the same for interval models.
	intervals map[*sema.Command][]interval
}

func newExactExpander(ctx context.Context, m *compile.Model, tolerance float64) *exactExpander {
	return &exactExpander{
		m: m, x: m.NewExpanderUntil(ctx), tolerance: new(big.Rat).SetFloat64(tolerance),
		constant: make(map[*sema.Command][]*big.Rat), intervals: make(map[*sema.Command][]interval),
	}
}

// exactChoice is a choice; in a Markov chain it is the part of the row with one action. Targets
// are distinct.
type exactChoice struct {
	action  int
	weights []*big.Rat // shared, never changed
	highs   []*big.Rat // upper bounds of intervals, weights are the lower ones; nil otherwise
	targets [][]int32
	index   map[string]int // index of each target, if there are many
	key     []byte         // scratch space for keys of index
}

// expand returns the choices of a state, and the number n of enabled choices: in a Markov chain
// choices with the same action are merged. In a DTMC all weights are divided by their sum.
func (x *exactExpander) expand(ctx context.Context, state []int32) (out []exactChoice, n int, err error) {
	enabled, err := x.x.Enabled(state)
	if err != nil {
		return nil, 0, err
	}
	if x.owners != nil {
		x.owner, err = x.owners.ofState(func() []int32 { return state }, len(enabled.List), func(i int) owned {
			c := &enabled.List[i]
			return owned{c.Action, c.Module, c.Commands}
		})
		if err != nil {
			return nil, 0, err
		}
	}
	for i := range enabled.List {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		newChoice := x.choice
		if intervals(x.m) {
			newChoice = x.intervalChoice
		}
		c, err := newChoice(ctx, state, &enabled.List[i])
		if err != nil {
			return nil, 0, err
		}
		out = append(out, c)
	}
	switch x.m.Program().Type {
	case syntax.IDTMC:
		return out, len(enabled.List), x.requireOneCommand(state, enabled.List)
	case syntax.DTMC:
		normalise(out)
		return merge(out), len(enabled.List), nil
	case syntax.CTMC:
		return merge(out), len(enabled.List), nil
	}
	return out, len(enabled.List), nil
}

// normalise divides all weights by their sum. The weights of a single choice sum to 1 already.
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

// merge merges choices with the same action, in order of first appearance.
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

// add adds a transition to the choice.
func (c *exactChoice) add(target []int32, w *big.Rat) {
	if i := c.find(target); i >= 0 {
		c.weights[i] = new(big.Rat).Add(c.weights[i], w)
		return
	}
	c.targets, c.weights = append(c.targets, target), append(c.weights, w)
}

// find returns the index of a target; -1 if it is new, and then the caller must append it.
func (c *exactChoice) find(target []int32) int {
	if len(c.targets) < maxCapacity {
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

// bytes returns a target as a key of index.
func (c *exactChoice) bytes(target []int32) []byte {
	c.key = c.key[:0]
	for _, x := range target {
		c.key = binary.LittleEndian.AppendUint32(c.key, uint32(x))
	}
	return c.key
}

// maxCapacity is the largest number of targets for which memory is allocated at once, and from
// which on they are found by a map.
const maxCapacity = 64

// choice multiplies the weights of all combinations of the commands' updates; the update of the
// first command varies fastest.
func (x *exactExpander) choice(ctx context.Context, state []int32, c *compile.Choice) (exactChoice, error) {
	out := exactChoice{action: c.Action}
	var weights [][]*big.Rat
	for _, ref := range c.Commands {
		ws, err := x.commandWeights(state, &x.m.Program().Modules[ref.Module].Commands[ref.Command])
		if err != nil {
			return out, err
		}
		weights = append(weights, ws)
	}
	n := 1 // combinations, at most maxCapacity
	for _, ws := range weights {
		n = min(n*len(ws), maxCapacity)
	}
	out.targets, out.weights = make([][]int32, 0, n), make([]*big.Rat, 0, n)
	room := make([]int32, 0, n*len(state))
	pick := make([]int, len(weights))
	products := make([]*big.Rat, len(weights)) // products[i] is that of the picked weights from i on
	for last := len(pick) - 1; last >= 0; last = advance(pick, weights) {
		for i := last; i >= 0; i-- {
			if products[i] = weights[i][pick[i]]; i+1 < len(pick) {
				products[i] = new(big.Rat).Mul(products[i], products[i+1])
			}
		}
		w := products[0]
		if w.Sign() <= 0 {
			continue
		}
		if cap(room)-len(room) < len(state) {
			room = make([]int32, 0, maxCapacity*len(state))
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

// advance moves pick to the next combination and returns the last index that changed; -1 after the
// last combination.
func advance[T any](pick []int, weights [][]T) int {
	for i, ws := range weights {
		if pick[i]++; pick[i] < len(ws) {
			return i
		}
		pick[i] = 0
	}
	return -1
}

// commandWeights returns the probabilities or rates of a command, from the cache if they are
// constant. Probabilities must sum to 1; a sum within the tolerance is divided out.
func (x *exactExpander) commandWeights(state []int32, c *sema.Command) ([]*big.Rat, error) {
	if known := x.constant[c]; known != nil {
		return known, nil
	}
	out, err := x.evaluateWeights(state, c)
	if err == nil && constantWeights(c) {
		x.constant[c] = out
	}
	return out, err
}

func isConst(e sema.Expr) bool {
	_, ok := e.(*sema.Const)
	return ok
}

// evaluateWeights is commandWeights without the cache.
func (x *exactExpander) evaluateWeights(state []int32, c *sema.Command) ([]*big.Rat, error) {
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

// weight evaluates a probability or rate; nil stands for the constant 1. what names it in errors.
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
	case !(enclosureWidth(lo, hi) <= maxEnclosure):
		return nil, unsupported(x.m, state, e.Pos(), fmt.Sprintf("%s between %v and %v is not a fraction, and the digits that are known of it are too few", what, v.Lo, v.Hi))
	}
	x.enclosed = true
	return lo, nil
}

// maxEnclosure is the largest relative width of an enclosure of an irrational weight. It is so
// small that it changes sums and products of weights by less than one unit roundoff.
const maxEnclosure = 0x1p-100

// enclosureWidth returns the relative width of an interval of positive numbers.
func enclosureWidth(lo, hi *big.Rat) float64 {
	if lo.Sign() <= 0 {
		return math.Inf(1)
	}
	d := new(big.Rat).Sub(hi, lo)
	w, _ := d.Quo(d, lo).Float64()
	return w
}

// fail returns an error of the model in a state.
func (x *exactExpander) fail(state []int32, pos syntax.Pos, msg string) error {
	return &compile.StateError{File: x.m.Program().File, Pos: pos, State: x.m.StateText(state), Msg: msg}
}

// evalFailure adds the state to an error of evaluation.
func evalFailure(m *compile.Model, state []int32, err error) error {
	if e, ok := errors.AsType[*sema.EvalError](err); ok {
		return &compile.StateError{File: m.Program().File, Pos: e.Pos, State: m.StateText(state), Msg: e.Msg, Undecided: e.Undecided}
	}
	return err
}

// unsupported returns the error for a number that rational arithmetic cannot represent.
func unsupported(m *compile.Model, state []int32, pos syntax.Pos, msg string) error {
	return &compile.UnsupportedError{File: m.Program().File, Pos: pos, Msg: msg + " in state " + m.StateText(state)}
}

// constantWeights reports whether the weights of a command do not depend on the state.
func constantWeights(c *sema.Command) bool {
	return !slices.ContainsFunc(c.Updates, func(u sema.Update) bool { return u.Prob != nil && !isConst(u.Prob) })
}
