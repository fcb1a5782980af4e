package explicit

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// Space is the state space of a model. It is immutable and safe for concurrent use.
type Space struct {
	compiled   *compile.Model
	codec      *codec
	store      *store
	model      *sparse.Model
	overlaps   int
	merged     int
	fixed      int      // deadlocks of the spaces before, see Onward
	fallback   error    // why the model was not compiled
	unfit      error    // why it is not to be solved with doubles
	differ     []string // warnings of what PRISM computes otherwise
	imported   *imports // nil for a space that was built
	blocks     *blocks  // nil but for a quotient
	rounded    bool     // as Rounded
	normalised bool     // as Normalised
	restricted bool     // to some of the choices of the model
	unexplored *sparse.Set
}

// Unexplored are the states whose choices were not looked for, as Options.Part asked; nil
// if there are none.
func (s *Space) Unexplored() *sparse.Set { return s.unexplored }

// Model returns the states, choices and transitions. Action i+1 is
// Program.Actions[i]. It has no labels and no rewards.
func (s *Space) Model() *sparse.Model { return s.model }

// Unfit says why the weights of the model must not be computed with as doubles: a
// *RangeError, nil if they may. Which transitions there are is right all the same.
func (s *Space) Unfit() error { return s.unfit }

// Rounded reports whether numbers are to be written as doubles although there are
// fractions: nobody asked for those, but the ends of intervals have them always.
func (s *Space) Rounded() bool { return s.rounded }

// Normalised reports whether fractions of the model were divided by their sum, as
// Options.Normalise asked: they are not quite those of the text.
func (s *Space) Normalised() bool { return s.normalised }

// Program returns the program that was built.
func (s *Space) Program() *sema.Program { return s.compiled.Program() }

// Compiled returns the model that evaluates expressions and, unless the space is
// imported, that was explored.
func (s *Space) Compiled() *compile.Model { return s.compiled }

// StateBits returns the number of bits that the variables of a state take.
func (s *Space) StateBits() int { return s.codec.bits }

// Bytes returns the memory that the space takes.
func (s *Space) Bytes() int64 { return s.store.bytes() + s.model.Bytes() }

// State writes the valuation of state i to dst, which it returns; a nil dst is
// allocated.
func (s *Space) State(dst []int32, i int) []int32 {
	if dst == nil {
		dst = make([]int32, len(s.codec.fields))
	}
	s.codec.unpack(dst, s.store.at(i))
	return dst
}

// Find returns the state with a valuation.
func (s *Space) Find(valuation []int32) (int, bool) {
	for i, v := range s.Program().Vars {
		if valuation[i] < v.Low || valuation[i] > v.High {
			return 0, false
		}
	}
	packed := make([]uint64, s.codec.words)
	s.codec.pack(packed, valuation)
	return s.store.find(packed)
}

// Order lists the states as PRISM numbers them: sorted by the values of the
// variables, the first variable first; imported ones keep their numbers.
// Order()[k] is PRISM's state k.
func (s *Space) Order() []uint32 {
	order := make([]uint32, s.store.n)
	for i := range order {
		order[i] = uint32(i)
	}
	if s.imported != nil {
		return order
	}
	slices.SortFunc(order, func(a, b uint32) int { return s.Compare(int(a), int(b)) })
	return order
}

// Compare tells the order of two states in PRISM's numbering, as cmp.Compare.
func (s *Space) Compare(i, j int) int {
	if s.imported != nil {
		return cmp.Compare(i, j)
	}
	return slices.Compare(s.store.at(i), s.store.at(j))
}

// Merged is the number of choices that the space has not, because an earlier
// choice of their state has the same action and the same probabilities, as
// numbers of the text: no scheduler can tell the two apart.
//
// Source: PRISM's explicit engine merges choices whose doubles differ by 1e-12
// at most (reference, section 4.7).
func (s *Space) Merged() int { return s.merged }

// Overlaps returns the number of states of a DTMC in which several commands are enabled. Each is as likely as the others, as in PRISM.
func (s *Space) Overlaps() int { return s.overlaps }

// Warnings are what the user should know about the space.
func (s *Space) Warnings() []string {
	var out []string
	if n := s.deadlocks(); n > 0 {
		out = append(out, fmt.Sprintf("deadlocks in %d states were given a self-loop", n))
	}
	if s.overlaps > 0 {
		out = append(out, fmt.Sprintf("several commands were enabled at once in %d states of a DTMC; PRISM resolves this uniformly and silently, and so do these values", s.overlaps))
	}
	out = append(out, s.differ...)
	if s.imported != nil {
		out = append(out, s.imported.warnings...)
	}
	return out
}

func (s *Space) deadlocks() int { return s.fixed + s.model.NumDeadlocks() }

// Fingerprint returns 64 bits that two states of a model have in common only by accident.
func (s *Space) Fingerprint(i int) uint64 { return mix(s.store.at(i)) }

// States returns the states in which an expression of type Bool holds. The
// expression may use the labels of the program, "init" and "deadlock"; operators
// such as P have no value in a single state.
func (s *Space) States(e sema.Expr) (*sparse.Set, error) {
	switch l, ok := e.(*sema.Label); {
	case ok && l.Index == sema.LabelDeadlock:
		if s.model.Deadlocks == nil {
			return sparse.NewSet(s.store.n), nil
		}
		return s.model.Deadlocks.Clone(), nil
	case ok && l.Index == sema.LabelInit:
		out := sparse.NewSet(s.store.n)
		for _, i := range s.model.Initial {
			out.Add(int(i))
		}
		return out, nil
	}
	if s.imported != nil {
		return s.composed(e)
	}
	return s.evaluate(e)
}

// evaluate goes through the states.
func (s *Space) evaluate(e sema.Expr) (*sparse.Set, error) {
	out := sparse.NewSet(s.store.n)
	err := s.each(func() (func(i int, state []int32) error, error) {
		ev, err := s.compiled.Evaluator(e)
		return func(i int, state []int32) error {
			holds, err := ev.Bool(state)
			if holds {
				out.Add(i)
			}
			return err
		}, err
	})
	return out, err
}

// Values returns what a numeric expression, of any type but Bool, lies between in
// all states, as States does. For an Int both bounds are the value itself, and
// for what is infinite or no number.
func (s *Space) Values(e sema.Expr) (lo, hi []float64, err error) {
	if !sema.Stateless(e) {
		return nil, nil, s.noLabel(e)
	}
	lo, hi = make([]float64, s.store.n), make([]float64, s.store.n)
	known := analysis{doubles: s.doubles()}
	off := known.of(e).err
	err = s.each(func() (func(i int, state []int32) error, error) {
		ev, err := s.compiled.Evaluator(e)
		return func(i int, state []int32) error {
			if math.IsNaN(off) {
				x, err := sema.Enclose(e, state)
				lo[i], hi[i] = x.Lo, x.Hi
				return err
			}
			x, err := ev.Num(state)
			lo[i], hi[i] = x, x
			if off > 0 && x != 0 {
				lo[i] = math.Nextafter(x-off*math.Abs(x), math.Inf(-1))
				hi[i] = math.Nextafter(x+off*math.Abs(x), math.Inf(1))
			}
			return err
		}, err
	})
	return lo, hi, err
}

// each calls a function for every state. On each processor it makes one, for a
// range of states that begins at a multiple of 64, so that several can write to
// one Set. The error is that of the first state that has one.
func (s *Space) each(newVisit func() (func(i int, state []int32) error, error)) error {
	parts := max(1, min(runtime.GOMAXPROCS(0), s.store.n>>12))
	size := (s.store.n/parts + 64) &^ 63
	errs := make([]error, parts)
	var wg sync.WaitGroup
	for k := range parts {
		visit, err := newVisit()
		if err != nil {
			return err
		}
		wg.Go(func() {
			state := s.State(nil, 0)
			for i := k * size; i < min((k+1)*size, s.store.n) && errs[k] == nil; i++ {
				errs[k] = visit(i, s.State(state, i))
			}
		})
	}
	wg.Wait()
	return cmp.Or(errs...)
}
