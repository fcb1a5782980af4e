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

// Distribution is how likely a Markov chain is in each of its states, at a time or in the
// long run.
type Distribution struct {
	Time     *big.Rat // nil in the long run
	Accuracy result.Accuracy
	// Wide says that some bounds are not as narrow as asked for.
	Wide   bool
	values *numbers
}

// At returns the probability of a state, and the doubles around it.
func (d *Distribution) At(s int) (result.Value, result.Interval) {
	x := d.values.at(s)
	return value(x, sema.Double), result.Interval{Lo: x.lo, Hi: x.hi}
}

// Zero reports whether a state has no probability at all.
func (d *Distribution) Zero(s int) bool { return d.values.hi[s] == 0 }

// Write writes a number a line, in PRISM's order of the states, as PRISM exports steady-state
// probabilities, and transient ones with the number of the state in front; or MATLAB code of a vector.
//
// Source: PRISM 4.10, StateValues.print.
func (d *Distribution) Write(ctx context.Context, out io.Writer, space *explicit.Space, matlab bool) error {
	w := bufio.NewWriter(out)
	if matlab {
		w.WriteString("v = [\n")
	}
	for k, s := range space.Order() {
		if k%(1<<12) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if d.Time != nil && !matlab {
			w.WriteString(strconv.Itoa(k) + "=")
		}
		x, _ := d.At(int(s))
		if x.Rat != nil {
			w.WriteString(x.Rat.RatString() + "\n")
			continue
		}
		w.WriteString(sema.Value{Type: sema.Double, Float: x.Num}.String() + "\n")
	}
	if matlab {
		w.WriteString("];\n")
	}
	return w.Flush() // which has the first error of all
}

// Distributions computes how likely each state is at some times, which do not decrease, or
// of none in the long run: the part of all time that is spent in it. The chain begins in its
// initial states, each as likely as any other. What is refused is a *result.Failure.
func Distributions(ctx context.Context, space *explicit.Space, times []*big.Rat, opts Options, visit func(*Distribution) error) error {
	m := space.Model()
	exact := opts.Accuracy == result.Exact
	switch typ := space.Program().Type; {
	case typ != syntax.DTMC && typ != syntax.CTMC:
		return &result.Failure{Class: result.Unsupported, File: space.Program().File, Message: fmt.Sprintf("probabilities of states in a model of type %s, want a DTMC or a CTMC", typ)}
	case !exact && space.Unfit() != nil:
		return fmt.Errorf("%w; fractions (--exact) have no such limits", space.Unfit())
	case exact && m.Kind == sparse.CTMC && len(times) > 0:
		return &result.Failure{Class: result.Unsupported, File: space.Program().File, Message: "a probability at a time of a CTMC has no fraction"}
	}
	f, err := solve.NewForward(sparse.NewGraph(m), solve.Options{Exact: exact, Epsilon: opts.Epsilon, MaxSweeps: opts.MaxSweeps, Progress: opts.Progress})
	if err != nil {
		return err
	}
	tell := func(time *big.Rat) error {
		v := f.Values()
		d := &Distribution{Time: time, Accuracy: result.Bounded, Wide: !v.Converged, values: solved(v)}
		if exact {
			d.Accuracy = result.Exact
		}
		return visit(d)
	}
	if len(times) == 0 {
		if err := f.SteadyState(ctx); err != nil {
			return err
		}
		return tell(nil)
	}
	before := new(big.Rat)
	for _, time := range times {
		if err := forward(ctx, f, m.Kind, new(big.Rat).Sub(time, before)); err != nil {
			return err
		}
		if err := tell(time); err != nil {
			return err
		}
		before = time
	}
	return nil
}

// forward goes on by a time, or by a number of steps.
func forward(ctx context.Context, f *solve.Forward, kind sparse.Kind, time *big.Rat) error {
	if kind == sparse.CTMC {
		err := f.Time(ctx, solve.At(time))
		if errors.Is(err, solve.ErrTooManySteps) || errors.Is(err, solve.ErrTime) {
			return &result.Failure{Class: result.Unsupported, Message: err.Error()}
		}
		return err
	}
	const most = 1 << 40
	if !time.IsInt() || !time.Num().IsInt64() || time.Num().Int64() > most {
		return fmt.Errorf("%s steps of a DTMC: want a whole number up to %d", time.RatString(), most)
	}
	return f.Steps(ctx, int(time.Num().Int64()))
}

// maxTimes is how many times a range may have.
const maxTimes = 100_000

// ParseTimes reads a time, or several: 5, 1/2, from:to or from:step:to, as PRISM's -transient does.
func ParseTimes(text string) ([]*big.Rat, error) {
	var ends []*big.Rat
	for part := range strings.SplitSeq(text, ":") {
		x, ok := new(big.Rat).SetString(strings.TrimSpace(part))
		if !ok || x.Sign() < 0 || len(part) > 64 || x.Num().BitLen()+x.Denom().BitLen() > 4096 {
			return nil, fmt.Errorf("%q is no time, want a number of at least 0, from:to or from:step:to", part)
		}
		ends = append(ends, x)
	}
	low, high, step := ends[0], ends[len(ends)-1], big.NewRat(1, 1)
	switch {
	case len(ends) == 3:
		step = ends[1]
	case len(ends) > 3:
		return nil, fmt.Errorf("%q is no range of times, want from:to or from:step:to", text)
	}
	if step.Sign() == 0 || high.Cmp(low) < 0 {
		return nil, fmt.Errorf("%q has no times: want a step above 0, and an end that is not before the start", text)
	}
	n := new(big.Rat).Sub(high, low)
	if n.Quo(n, step).Cmp(big.NewRat(maxTimes, 1)) >= 0 {
		return nil, fmt.Errorf("%q has more than %d times", text, maxTimes)
	}
	var out []*big.Rat
	for x := low; x.Cmp(high) <= 0; x = new(big.Rat).Add(x, step) {
		out = append(out, x)
	}
	return out, nil
}
