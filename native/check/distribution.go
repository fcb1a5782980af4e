package check

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Distribution has the probability of each state of a Markov chain, at some time (transient) or in
// the long run (steady state).
type Distribution struct {
	Time     *big.Rat // nil for the long run
	Accuracy result.Accuracy
	// Wide says that some bounds are wider than required.
	Wide   bool
	values *numbers
}

// At returns the probability of a state, and its bounds.
func (d *Distribution) At(s int) (result.Value, result.Interval) {
	x := d.values.at(s)
	return resultValue(x, sema.Double), result.Interval{Lo: x.lo, Hi: x.hi}
}

// Zero reports whether the probability of a state is 0.
func (d *Distribution) Zero(s int) bool { return d.values.hi[s] == 0 }

// Write writes the probabilities as PRISM exports them, in PRISM's order of the states: one per line, and for transient
// probabilities after the number of the state. If matlab is true, it writes a MATLAB vector.
//
// Source: PRISM 4.10, StateValues.print.
func (distribution *Distribution) Write(ctx context.Context, out io.Writer, space *explicit.Space, matlab bool) error {
	w := bufio.NewWriter(out)
	if matlab {
		w.WriteString("v = [\n")
	}
	for prismIndex, s := range space.Order() {
		if prismIndex%(1<<12) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if distribution.Time != nil && !matlab {
			w.WriteString(strconv.Itoa(prismIndex) + "=")
		}
		probability, _ := distribution.At(int(s))
		if probability.Rat != nil {
			w.WriteString(probability.Rat.RatString() + "\n")
			continue
		}
		w.WriteString(sema.Value{Type: sema.Double, Float: probability.Num}.String() + "\n")
	}
	if matlab {
		w.WriteString("];\n")
	}
	return w.Flush() // returns the first error of all writes
}

// Distributions computes the transient probabilities at the given times, which must not decrease, or
// the steady-state probabilities if there are none. It calls visit for each distribution. All initial
// states are equally likely. The error is a *result.Failure if the model is unsupported.
func Distributions(ctx context.Context, space *explicit.Space, times []*big.Rat, opts Options, visit func(*Distribution) error) error {
	exact := opts.Accuracy == result.Exact
	if err := checkDistributionSupported(space, exact, len(times) > 0); err != nil {
		return err
	}
	model := space.Model()
	forward, err := solve.NewForward(sparse.NewGraph(model), solve.Options{Exact: exact, Epsilon: opts.Epsilon, MaxSweeps: opts.MaxSweeps, Progress: opts.Progress})
	if err != nil {
		return err
	}
	visitCurrent := func(time *big.Rat) error {
		values := forward.Values()
		distribution := &Distribution{Time: time, Accuracy: result.Bounded, Wide: !values.Converged, values: numbersOf(values)}
		if exact {
			distribution.Accuracy = result.Exact
		}
		return visit(distribution)
	}
	if len(times) == 0 {
		if err := forward.SteadyState(ctx); err != nil {
			return err
		}
		return visitCurrent(nil)
	}
	previous := new(big.Rat)
	for _, time := range times {
		if err := advance(ctx, forward, model.Kind, new(big.Rat).Sub(time, previous)); err != nil {
			return err
		}
		if err := visitCurrent(time); err != nil {
			return err
		}
		previous = time
	}
	return nil
}

// checkDistributionSupported returns an error unless the probabilities of states can be computed: the model is a Markov chain, and
// the required numbers, fractions if exact is true and otherwise float64 numbers, can represent them.
func checkDistributionSupported(space *explicit.Space, exact, isTransient bool) error {
	unsupported := func(message string) error {
		return &result.Failure{Class: result.Unsupported, File: space.Program().File, Message: message}
	}
	switch modelType := space.Program().Type; {
	case modelType == syntax.MDP:
		return unsupported("probabilities of states in a model of type MDP, want a DTMC or a CTMC, such as the chain under a scheduler, which resolve writes")
	case modelType != syntax.DTMC && modelType != syntax.CTMC:
		return unsupported(fmt.Sprintf("probabilities of states in a model of type %s, want a DTMC or a CTMC", modelType))
	case !exact && space.Unfit() != nil:
		return fmt.Errorf("%w; fractions (--exact) have no such limits", space.Unfit())
	case exact && isTransient && space.Model().Kind == sparse.CTMC:
		return unsupported("a probability at a time of a CTMC has no fraction")
	}
	return nil
}

// advance advances a distribution by a time. For a DTMC the time is a number of steps.
func advance(ctx context.Context, forward *solve.Forward, kind sparse.Kind, time *big.Rat) error {
	if kind == sparse.CTMC {
		err := forward.Time(ctx, solve.At(time))
		if errors.Is(err, solve.ErrTooManySteps) || errors.Is(err, solve.ErrTime) {
			return &result.Failure{Class: result.Unsupported, Message: err.Error()}
		}
		return err
	}
	const maxSteps = 1 << 40
	if !time.IsInt() || !time.Num().IsInt64() || time.Num().Int64() > maxSteps {
		return fmt.Errorf("%s steps of a DTMC: want a whole number up to %d", time.RatString(), maxSteps)
	}
	return forward.Steps(ctx, int(time.Num().Int64()))
}

// maxTimes is the greatest number of times in a range.
const maxTimes = 100_000

// ParseTimes parses a time, such as 5 or 1/2, or a range of times, from:to or from:step:to, like PRISM's option -transient.
func ParseTimes(text string) ([]*big.Rat, error) {
	var ends []*big.Rat
	for part := range strings.SplitSeq(text, ":") {
		value, ok := new(big.Rat).SetString(strings.TrimSpace(part))
		if !ok || value.Sign() < 0 || len(part) > 64 || value.Num().BitLen()+value.Denom().BitLen() > 4096 {
			return nil, fmt.Errorf("%q is not a time, want a number of at least 0, from:to or from:step:to", part)
		}
		ends = append(ends, value)
	}
	low, high, step := ends[0], ends[len(ends)-1], big.NewRat(1, 1)
	switch {
	case len(ends) == 3:
		step = ends[1]
	case len(ends) > 3:
		return nil, fmt.Errorf("%q is not a range of times, want from:to or from:step:to", text)
	}
	if step.Sign() == 0 || high.Cmp(low) < 0 {
		return nil, fmt.Errorf("%q has no times: want a step above 0, and an end that is not before the start", text)
	}
	numSteps := new(big.Rat).Sub(high, low)
	numSteps.Quo(numSteps, step)
	if numSteps.Cmp(big.NewRat(maxTimes, 1)) >= 0 {
		return nil, fmt.Errorf("%q has more than %d times", text, maxTimes)
	}
	var out []*big.Rat
	for value := low; value.Cmp(high) <= 0; value = new(big.Rat).Add(value, step) {
		out = append(out, value)
	}
	return out, nil
}
