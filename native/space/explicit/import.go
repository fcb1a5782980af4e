package explicit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime/debug"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Imported describes a state space that comes from files instead of from the
// commands of a model.
type Imported struct {
	File string           // what diagnostics name
	Type syntax.ModelType // DTMC, MDP or CTMC
	Vars []sema.Variable  // Name, Type (Bool or Int), Low and High count
	// Valuation returns the values of the variables in a state, until it is called
	// again; no two states have the same.
	Valuation func(state int) []int32
	Actions   []string // action i+1 of the model is Actions[i]
	// Model is complete: Initial is not empty, Labels lacks init and deadlock.
	Model *sparse.Model
	// Seen is what the states of a POMDP show, in Observables.
	Seen        *Observations
	Observables []string
	// TransitionRewards has one entry per structure of a Markov chain.
	TransitionRewards []TransitionReward
	Warnings          []string
	// Rounded is as Space.Rounded, and Normalised as Space.Normalised.
	Rounded, Normalised bool
}

// Valued is a Valuation by the values of so many variables in state 0, then in state 1,
// and so on.
func Valued(values []int32, vars int) func(state int) []int32 {
	return func(state int) []int32 { return values[state*vars : (state+1)*vars] }
}

// TransitionReward is a reward per transition, as Space.TransitionRewards returns it.
type TransitionReward struct {
	Values []float64
	Rats   []*big.Rat
}

// imports is what a Space knows that was imported.
type imports struct {
	transitions []TransitionReward
	warnings    []string
	seen        *Observations
}

// firstImported is the index of the first imported label; the others follow
// downwards. A sema.Label with such an index stands for a set of the model.
const firstImported = -3

// DuplicateError says that two states of an import have the same valuation.
type DuplicateError struct{ First, Second int }

// Error names both states.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("states %d and %d have the same values", e.First, e.Second)
}

// Import makes a space of imported states. Its states keep their numbers, also
// in Order. It can be checked as one that was built from a model, except that
// fractions cannot be had later: the Model must have them from the start. The
// error is a *DuplicateError, a syntax.ErrorList for declarations that are not
// possible, or that of compile.Compile.
func Import(d *Imported) (*Space, error) {
	n := d.Model.NumStates()
	if len(d.Model.Initial) == 0 {
		return nil, errors.New("no initial state")
	}
	decl, err := sema.CheckModel(d.tree())
	if err != nil {
		return nil, err
	}
	prog, err := decl.Instantiate(nil)
	if err != nil {
		return nil, err
	}
	d.complete(prog)
	compiled, err := compile.Compile(prog, compile.Options{})
	if err != nil {
		return nil, err
	}
	s := &Space{
		compiled: compiled, codec: newCodec(prog.Vars), model: d.Model,
		rounded: d.Rounded, normalised: d.Normalised,
		imported: &imports{transitions: d.TransitionRewards, warnings: d.Warnings, seen: d.Seen},
	}
	s.judge(d.File)
	s.store = newStoreOf(s.codec.words, n)
	packed := make([]uint64, s.codec.words)
	for i := range n {
		s.codec.pack(packed, d.Valuation(i))
		if j, isNew := s.store.add(packed); !isNew {
			return nil, &DuplicateError{j, i}
		}
	}
	s.store.seal()
	if n > 1<<20 { // what was read is of no use any more, and large
		debug.FreeOSMemory()
	}
	return s, nil
}

// judge notes weights and rewards that doubles are no good for, unless there are
// fractions.
func (s *Space) judge(file string) {
	m := s.model
	if m.Exact() {
		return
	}
	for _, w := range m.Weights {
		if !sparse.InRange(w) && s.unfit == nil {
			s.unfit = &RangeError{File: file, What: fmt.Sprintf("weight %.4g", w)}
			m.Err = math.Inf(1)
		}
	}
	for i := range m.Rewards {
		r := &m.Rewards[i]
		for _, x := range slices.Concat(r.State, r.Choice) {
			if x != 0 && !normal(x) && r.Unfit == nil {
				r.Unfit, r.Err = &RangeError{File: file, What: fmt.Sprintf("reward %.4g", x)}, math.Inf(1)
			}
		}
	}
}

// tree declares what the space has, as a model without commands.
func (d *Imported) tree() *syntax.Model {
	ident := func(name string) *syntax.Ident { return &syntax.Ident{Name: name} }
	name := "imported"
	for slices.ContainsFunc(d.Vars, func(v sema.Variable) bool { return v.Name == name }) {
		name += "_"
	}
	module := &syntax.Module{Name: ident(name)}
	for _, v := range d.Vars {
		decl := &syntax.VarDecl{Name: ident(v.Name), Type: syntax.BoolVar}
		if v.Type != sema.Bool {
			// A range has at least two values, and not nearly all of 32 bits.
			low, high := int64(v.Low), max(int64(v.High), int64(v.Low)+1)
			if decl.Type = syntax.IntVar; high <= math.MaxInt32 && high-low < math.MaxInt32 {
				decl.Type, decl.Low, decl.High = syntax.RangeVar, integer(low), integer(high)
			}
		}
		module.Vars = append(module.Vars, decl)
	}
	out := &syntax.Model{File: d.File, Items: []syntax.Item{&syntax.TypeDecl{Type: d.Type}, module}}
	for _, o := range d.Observables {
		out.Items = append(out.Items, &syntax.ObservableDecl{Name: ident(o)})
	}
	for _, l := range d.Model.Labels {
		out.Items = append(out.Items, &syntax.LabelDecl{Name: ident(l.Name), X: &syntax.BoolLit{}})
	}
	for _, r := range d.Model.Rewards {
		decl := &syntax.Rewards{}
		if r.Name != "" {
			decl.Name = ident(r.Name)
		}
		out.Items = append(out.Items, decl)
	}
	return out
}

// complete puts into the program what no declaration says. The program has no
// commands, so that nobody may explore it: its initial states are a label that
// does not exist, which compile refuses.
func (d *Imported) complete(p *sema.Program) {
	p.Actions = d.Actions
	for i := range p.Labels {
		p.Labels[i].X = &sema.Label{Base: sema.Base{T: sema.Bool}, Name: p.Labels[i].Name, Index: firstImported - i}
	}
	p.Init = &sema.Label{Base: sema.Base{T: sema.Bool}, Name: "init of an imported model, which has no commands", Index: math.MaxInt}
}

// Imported reports whether the space was imported and not built.
func (s *Space) Imported() bool { return s.imported != nil }

// composed evaluates a formula of an imported space. The sets of labels are
// known and their expressions are not, so that connectives are applied to sets.
func (s *Space) composed(e sema.Expr) (*sparse.Set, error) {
	if sema.Stateless(e) {
		return s.evaluate(e)
	}
	switch e := e.(type) {
	case *sema.Label:
		return s.importedLabel(e)
	case *sema.Unary:
		x, err := s.States(e.X)
		if err != nil {
			return nil, err
		}
		return x.Complement(), nil
	case *sema.Binary:
		return s.connective(e)
	case *sema.Cond:
		c, err1 := s.States(e.C)
		a, err2 := s.States(e.A)
		b, err3 := s.States(e.B)
		if err := cmp.Or(err1, err2, err3); err != nil {
			return nil, err
		}
		return c.Intersect(a).Union(b.Minus(c)), nil
	}
	return nil, s.noLabel(e)
}

func (s *Space) importedLabel(l *sema.Label) (*sparse.Set, error) {
	switch labels := s.Program().Labels; {
	case l.Index <= firstImported:
		return s.model.Labels[firstImported-l.Index].States.Clone(), nil
	case l.Index < len(labels):
		return s.States(labels[l.Index].X)
	}
	return nil, s.noLabel(l)
}

func (s *Space) connective(e *sema.Binary) (*sparse.Set, error) {
	if e.X.Type() != sema.Bool || e.Y.Type() != sema.Bool {
		return nil, s.noLabel(e)
	}
	x, err := s.States(e.X)
	if err != nil {
		return nil, err
	}
	y, err := s.States(e.Y)
	if err != nil {
		return nil, err
	}
	differ := x.Minus(y).Union(y.Minus(x))
	switch e.Op {
	case syntax.OpAnd:
		return x.Intersect(y), nil
	case syntax.OpOr:
		return x.Union(y), nil
	case syntax.OpImplies:
		return x.Complement().Union(y), nil
	case syntax.OpIff, syntax.OpEq:
		return differ.Complement(), nil
	case syntax.OpNe:
		return differ, nil
	}
	return nil, s.noLabel(e)
}

func (s *Space) noLabel(e sema.Expr) error {
	return &compile.UnsupportedError{File: s.Program().File, Pos: e.Pos(), Msg: "label of an imported model inside an expression that is no Boolean combination"}
}

// integer is the expression of a number of 32 bits.
func integer(i int64) syntax.Expr {
	if i == math.MinInt32 { // of which the language has no literal
		return &syntax.Binary{Op: syntax.OpSub, X: integer(i + 1), Y: integer(1)}
	}
	if i < 0 {
		return &syntax.Unary{Op: syntax.OpNeg, X: &syntax.IntLit{Value: int32(-i)}}
	}
	return &syntax.IntLit{Value: int32(i)}
}
