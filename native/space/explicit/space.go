package explicit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"tilecheck/internal/noun"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/stubborn"
	"tilecheck/prism/symmetry"
)

// Space is the state space of a model. It is immutable and safe for concurrent use.
type Space struct {
	compiled         *compile.Model
	codec            *codec
	store            *store
	model            *sparse.Model
	numOverlaps      int
	numMerged        int
	earlierDeadlocks int            // deadlocks of the explored part, see ExploreFurther
	whyInterpreted   error          // as returned by WhyInterpreted
	rangeErr         error          // a weight outside the range of float64
	prismDifferences []string       // warnings where PRISM computes another value
	imported         *importedParts // nil for a space that was built
	quotient         *quotientData  // the rewards of a quotient; nil for other spaces
	isRounded        bool           // as returned by Rounded
	isNormalised     bool           // as returned by Normalised
	isRestricted     bool           // Restrict has removed choices
	unexplored       *sparse.Set
	part, maxDepth   int                    // Options.Part and Options.Depth
	symmetry         []symmetry.Class       // Options.Symmetry
	permutations     []symmetry.Permutation // Options.Permutations
	reduction        *stubborn.Reduction    // Options.Reduction
	isWithinDepth    bool                   // as returned by WithinDepth
	selection        *Selection             // chose the states that were expanded; nil if none did
}

// Unexplored returns the states that were not expanded because of Options.Part or Options.Depth, or because a Selection did not choose them, without those
// that it excludes; nil if all states were expanded.
func (space *Space) Unexplored() *sparse.Set { return space.unexplored }

// NumExplored returns the number of states that were expanded.
func (space *Space) NumExplored() int {
	switch {
	case space.selection != nil:
		return space.selection.NumExplored()
	case space.unexplored == nil:
		return space.model.NumStates()
	}
	return space.model.NumStates() - space.unexplored.Count()
}

// WithinDepth reports whether the only states that were not expanded are those at Options.Depth, so that all paths of so many
// steps are those of the model.
func (space *Space) WithinDepth() bool { return space.isWithinDepth }

// Fractions explores the same states again with fractions as weights.
func (space *Space) Fractions(ctx context.Context, opts Options) (*Space, error) {
	opts.Exact, opts.Part, opts.Depth = true, space.part, space.maxDepth
	if space.selection != nil {
		return space.selection.fractions(ctx, opts)
	}
	opts.Symmetry, opts.Permutations, opts.Reduction = space.symmetry, space.permutations, space.reduction
	return Build(ctx, space.compiled, opts)
}

// Model returns the states, choices and transitions. Action i+1 is Program.Actions[i]. It has no
// labels and no rewards.
func (space *Space) Model() *sparse.Model { return space.model }

// Unfit returns a *RangeError if a weight is outside the range of float64, so that floating-point
// results would be wrong; otherwise nil. The graph of the model is right in any case.
func (space *Space) Unfit() error { return space.rangeErr }

// Rounded reports whether numbers should be written as float64 although the model has fractions.
// That is the case for an interval model, whose bounds are always fractions, if the caller did not
// ask for fractions.
func (space *Space) Rounded() bool { return space.isRounded }

// Normalised reports whether the fractions of some command were divided by their sum, as
// Options.Normalise asks. They then differ slightly from the probabilities in the model's text.
func (space *Space) Normalised() bool { return space.isNormalised }

// Program returns the program that was built.
func (space *Space) Program() *sema.Program { return space.compiled.Program() }

// Compiled returns the model that evaluates expressions. Unless the space is imported, it is also
// the model that was explored.
func (space *Space) Compiled() *compile.Model { return space.compiled }

// StateBits returns the number of bits of a packed state.
func (space *Space) StateBits() int { return space.codec.usedBits }

// Bytes returns the memory that the space uses, in bytes.
func (space *Space) Bytes() int64 { return space.store.numBytes() + space.model.Bytes() }

// State writes the valuation of state i to dst and returns dst. If dst is nil, it allocates a slice.
func (space *Space) State(dst []int32, i int) []int32 {
	if dst == nil {
		dst = make([]int32, len(space.codec.fields))
	}
	space.codec.unpack(dst, space.store.packedState(i))
	return dst
}

// Find returns the number of the state with the given valuation. found is false if there is no such state.
func (space *Space) Find(valuation []int32) (number int, found bool) {
	for i, variable := range space.Program().Vars {
		if valuation[i] < variable.Low || valuation[i] > variable.High {
			return 0, false
		}
	}
	packed := make([]uint64, space.codec.wordsPerState)
	space.codec.pack(packed, valuation)
	return space.store.findState(packed)
}

// Order returns the states in the order of PRISM: sorted by the value of the first variable, then by the value of the second one, and so on. Order()[k] is
// the state to which PRISM gives the number k. Imported states keep their numbers.
func (space *Space) Order() []uint32 {
	order := make([]uint32, space.store.numStates)
	for i := range order {
		order[i] = uint32(i)
	}
	if space.imported != nil {
		return order
	}
	slices.SortFunc(order, func(left, right uint32) int { return space.Compare(int(left), int(right)) })
	return order
}

// Compare compares two states in PRISM's order, like cmp.Compare.
func (space *Space) Compare(i, j int) int {
	if space.imported != nil {
		return cmp.Compare(i, j)
	}
	return slices.Compare(space.store.packedState(i), space.store.packedState(j))
}

// Merged returns the number of choices that were dropped because an earlier choice of their state
// has the same action and the same distribution, compared exactly. No scheduler can distinguish
// such choices.
//
// Source: PRISM's explicit engine merges choices whose probabilities differ by at most 1e-12 (reference, section 4.7).
func (space *Space) Merged() int { return space.numMerged }

// Overlaps returns the number of states of a DTMC in which several commands are enabled. As in
// PRISM, each of them has the same probability.
func (space *Space) Overlaps() int { return space.numOverlaps }

// Warnings returns the warnings about the space for the user.
func (space *Space) Warnings() []string {
	var warnings []string
	if n := space.numDeadlocks(); n > 0 {
		warnings = append(warnings, fmt.Sprintf("deadlocks in %s were given a self-loop", noun.Count(n, "state")))
	}
	if space.numOverlaps > 0 {
		warnings = append(warnings, fmt.Sprintf("several commands were enabled at once in %s of a DTMC; like PRISM, tilecheck selects one of them uniformly", noun.Count(space.numOverlaps, "state")))
	}
	warnings = append(warnings, space.prismDifferences...)
	if space.imported != nil {
		warnings = append(warnings, space.imported.warnings...)
	}
	return warnings
}

// numDeadlocks returns the number of deadlocks that were given a self-loop.
func (space *Space) numDeadlocks() int { return space.earlierDeadlocks + space.model.NumDeadlocks() }

// Fingerprint returns a 64-bit hash of state i.
func (space *Space) Fingerprint(i int) uint64 { return hash64(space.store.packedState(i)) }

// States returns the states that satisfy a Boolean expression. The expression may use the labels of the program,
// "init" and "deadlock". It must not use operators such as P.
func (space *Space) States(expr sema.Expr) (*sparse.Set, error) {
	switch label, ok := expr.(*sema.Label); {
	case ok && label.Index == sema.LabelDeadlock:
		if space.model.Deadlocks == nil {
			return sparse.NewSet(space.store.numStates), nil
		}
		return space.model.Deadlocks.Clone(), nil
	case ok && label.Index == sema.LabelInit:
		initial := sparse.NewSet(space.store.numStates)
		for _, i := range space.model.Initial {
			initial.Add(int(i))
		}
		return initial, nil
	}
	if space.imported != nil {
		return space.evaluateWithLabels(expr)
	}
	return space.evaluateInStates(expr)
}

// evaluateInStates returns the states that satisfy a Boolean expression without labels. It evaluates the expression in every state.
func (space *Space) evaluateInStates(expr sema.Expr) (*sparse.Set, error) {
	satisfying := sparse.NewSet(space.store.numStates)
	err := space.visitInParallel(func() (visitState, error) {
		evaluator, err := space.compiled.Evaluator(expr)
		return func(i int, state []int32) error {
			holds, err := evaluator.Bool(state)
			if holds {
				satisfying.Add(i)
			}
			return err
		}, err
	})
	return satisfying, err
}

// Values returns bounds on the value of a numeric expression in every state. Both bounds are equal if the expression has type Int, or if
// the value is infinite or NaN.
func (space *Space) Values(expr sema.Expr) (lower, upper []float64, err error) {
	if !sema.NeedsOnlyVariables(expr) {
		return nil, nil, space.unsupportedLabel(expr)
	}
	lower, upper = make([]float64, space.store.numStates), make([]float64, space.store.numStates)
	relErr := space.floatAnalysis().Facts(expr).RelErr
	err = space.visitInParallel(func() (visitState, error) {
		evaluator, err := space.compiled.Evaluator(expr)
		return func(i int, state []int32) error {
			if math.IsNaN(relErr) { // no bound of the rounding error holds in all states
				enclosed, err := sema.Enclose(expr, state)
				lower[i], upper[i] = enclosed.Lo, enclosed.Hi
				return err
			}
			value, err := evaluator.Num(state)
			lower[i], upper[i] = widen(value, relErr)
			return err
		}, err
	})
	return lower, upper, err
}

// widen returns bounds of the numbers with a relative distance of at most relErr from value.
func widen(value, relErr float64) (lower, upper float64) {
	if relErr == 0 || value == 0 {
		return value, value
	}
	distance := relErr * math.Abs(value)
	return math.Nextafter(value-distance, math.Inf(-1)), math.Nextafter(value+distance, math.Inf(1))
}

// minStatesPerGoroutine is the smallest number of states for which visitInParallel starts another goroutine.
const minStatesPerGoroutine = 4096

// pollInterval is the number of iterations of a loop between two checks of the context.
const pollInterval = 1 << 12

// visitState is called with the index and the valuation of a state.
type visitState func(i int, valuation []int32) error

// visitInParallel visits every state, in several goroutines. Each goroutine has its own range of states, and its own function from newVisitor. If several
// goroutines fail, it returns the error of the one with the smallest states.
func (space *Space) visitInParallel(newVisitor func() (visitState, error)) error {
	numStates := space.store.numStates
	goroutines := max(1, min(runtime.GOMAXPROCS(0), numStates/minStatesPerGoroutine))
	visitors := make([]visitState, goroutines)
	for i := range visitors {
		var err error
		if visitors[i], err = newVisitor(); err != nil {
			return err
		}
	}
	// Ranges begin at multiples of 64, so that several goroutines can add states to one sparse.Set: they write to different words.
	const wordSize = 64 // the number of states in a word of a sparse.Set
	rangeSize := wordSize * (numStates/goroutines/wordSize + 1)
	errs := make([]error, goroutines)
	var wg sync.WaitGroup
	for i, visit := range visitors {
		wg.Go(func() { errs[i] = space.visitRange(i*rangeSize, min((i+1)*rangeSize, numStates), visit) })
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// visitRange calls visit for the states from first to end-1. It stops at the first error.
func (space *Space) visitRange(first, end int, visit visitState) error {
	valuation := make([]int32, len(space.codec.fields))
	for i := first; i < end; i++ {
		if err := visit(i, space.State(valuation, i)); err != nil {
			return err
		}
	}
	return nil
}
