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

// At returns the probability of state s, and its bounds.
func (distribution *Distribution) At(s int) (result.Value, result.Interval) {
	probability := distribution.values.numberAt(s)
	return resultValue(probability, sema.Double), result.Interval{Lo: probability.Lo, Hi: probability.Hi}
}

// Zero reports whether the probability of a state is 0.
func (distribution *Distribution) Zero(s int) bool { return distribution.values.upper[s] == 0 }

// Write writes the probability of each state on a line of its own, in PRISM's order of the states. In a transient distribution each line begins
// with the number of the state, as in 3=0.5. If matlab is true, Write writes a MATLAB vector without these numbers.
//
// Source: PRISM 4.10, StateValues.print.
func (distribution *Distribution) Write(ctx context.Context, out io.Writer, space *explicit.Space, matlab bool) error {
	w := bufio.NewWriter(out)
	if matlab {
		w.WriteString("v = [\n")
	}
	writesNumbers := distribution.Time != nil && !matlab
	for prismIndex, s := range space.Order() {
		if prismIndex%(1<<12) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if writesNumbers {
			w.WriteString(strconv.Itoa(prismIndex) + "=")
		}
		probability, _ := distribution.At(int(s))
		text := sema.Value{Type: sema.Double, Float: probability.Num}.String()
		if probability.Rat != nil {
			text = probability.Rat.RatString()
		}
		w.WriteString(text + "\n")
	}
	if matlab {
		w.WriteString("];\n")
	}
	return w.Flush() // returns the first error of all writes
}

// Distributions computes the distribution over states at each of the increasing times, or the steady-state distribution if times is empty. The
// first distribution is uniform over the initial states. Distributions calls visit for each result. The error is a *result.Failure if the model
// is unsupported.
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
	if len(times) == 0 {
		if err := forward.SteadyState(ctx); err != nil {
			return err
		}
		return visit(currentDistribution(forward, nil))
	}
	previous := new(big.Rat)
	for _, time := range times {
		if err := advanceDistribution(ctx, forward, model.Kind, new(big.Rat).Sub(time, previous)); err != nil {
			return err
		}
		if err := visit(currentDistribution(forward, time)); err != nil {
			return err
		}
		previous = time
	}
	return nil
}

// currentDistribution returns the last distribution that forward has computed. time is the time of this distribution, or nil for the steady state.
func currentDistribution(forward *solve.Forward, time *big.Rat) *Distribution {
	values := forward.Values()
	distribution := &Distribution{Time: time, Accuracy: result.Bounded, Wide: !values.Converged, values: solutionNumbers(values)}
	if values.Exact != nil {
		distribution.Accuracy = result.Exact
	}
	return distribution
}

// checkDistributionSupported returns an error if the distributions over the states of a model cannot be computed: the model must be a DTMC or a CTMC. If
// exact is false, its numbers must be within the range of float64. If exact is true, transient distributions of a CTMC are an error, because their
// probabilities are not fractions. isTransient is false for the steady state.
func checkDistributionSupported(space *explicit.Space, exact, isTransient bool) error {
	unsupported := func(message string) error {
		return &result.Failure{Class: result.Unsupported, File: space.Program().File, Message: message}
	}
	switch modelType := space.Program().Type; {
	case modelType == syntax.MDP:
		return unsupported("states of an MDP have no probabilities without a scheduler, want a DTMC or a CTMC; tilecheck resolve writes the chain under a scheduler")
	case modelType != syntax.DTMC && modelType != syntax.CTMC:
		return unsupported(fmt.Sprintf("probabilities of states in a model of type %s, want a DTMC or a CTMC", modelType))
	case !exact && space.Unfit() != nil:
		return fmt.Errorf("%w; fractions (--exact) have no such limits", space.Unfit())
	case exact && isTransient && space.Model().Kind == sparse.CTMC:
		return unsupported("a probability at a time of a CTMC is not rational; without --exact there is an interval")
	}
	return nil
}

// advanceDistribution moves the distribution of forward ahead by a time. For a DTMC, time is a number of steps.
func advanceDistribution(ctx context.Context, forward *solve.Forward, kind sparse.Kind, time *big.Rat) error {
	if kind == sparse.CTMC {
		err := forward.AdvanceTime(ctx, solve.At(time))
		if errors.Is(err, solve.ErrTooManySteps) || errors.Is(err, solve.ErrTime) {
			return &result.Failure{Class: result.Unsupported, Message: err.Error()}
		}
		return err
	}
	const maxSteps = 1 << 40
	isTooLong := time.Cmp(big.NewRat(maxSteps, 1)) > 0
	if !time.IsInt() || isTooLong {
		return fmt.Errorf("%s steps of a DTMC: want a whole number up to %d", time.RatString(), maxSteps)
	}
	return forward.TakeSteps(ctx, int(time.Num().Int64()))
}

// maxTimes is the greatest number of times in a range.
const maxTimes = 100_000

// ParseTimes returns the times that a text describes, in increasing order. The text is one time, such as 5 or 1/2, or a range in the syntax of PRISM's
// option -transient: from:to, with the step 1, or from:step:to.
func ParseTimes(text string) ([]*big.Rat, error) {
	var numbers []*big.Rat
	for timeText := range strings.SplitSeq(text, ":") {
		number, err := parseTime(timeText)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, number)
	}
	from, to := numbers[0], numbers[len(numbers)-1]
	switch len(numbers) {
	case 1, 2:
		return timesBetween(text, from, big.NewRat(1, 1), to)
	case 3:
		return timesBetween(text, from, numbers[1], to)
	}
	return nil, fmt.Errorf("%q is not a range of times, want from:to or from:step:to", text)
}

// parseTime parses a nonnegative number. It rejects a text of more than 64 characters and a fraction of more than 4096 bits, with which all later
// arithmetic would be slow.
func parseTime(text string) (*big.Rat, error) {
	const maxLength, maxBits = 64, 4096
	number, ok := new(big.Rat).SetString(strings.TrimSpace(text))
	isTime := ok && number.Sign() >= 0
	if !isTime || len(text) > maxLength || number.Num().BitLen()+number.Denom().BitLen() > maxBits {
		return nil, fmt.Errorf("%q is not a time, want a number of at least 0, from:to or from:step:to", text)
	}
	return number, nil
}

// timesBetween returns the times from, from+step, from+2*step, ..., up to and including to. text is the range as the user wrote it, for errors.
func timesBetween(text string, from, step, to *big.Rat) ([]*big.Rat, error) {
	if step.Sign() == 0 || to.Cmp(from) < 0 {
		return nil, fmt.Errorf("%q has no times: want a step above 0, and an end that is not before the start", text)
	}
	numSteps := new(big.Rat).Sub(to, from)
	numSteps.Quo(numSteps, step)
	if numSteps.Cmp(big.NewRat(maxTimes, 1)) >= 0 {
		return nil, fmt.Errorf("%q has more than %d times", text, maxTimes)
	}
	var times []*big.Rat
	for time := from; time.Cmp(to) <= 0; time = new(big.Rat).Add(time, step) {
		times = append(times, time)
	}
	return times, nil
}
