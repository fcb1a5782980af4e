package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"tilecheck/internal/umb"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// ReadUMB reads a model in UMB, plain or compressed with gzip or xz: DTMCs, MDPs, both also with
// intervals, CTMCs and LTSs. Columns and valuations stay packed, so the memory depends on the
// model and not on numbers that the file claims. Errors are as for Read and have no lines. Other
// kinds of models, and features that are only partly supported, are rejected by name. If the
// valuations are missing, the states have one variable x, their number. A warning says so if
// valuations exist but cannot be used.
func ReadUMB(ctx context.Context, src Source, opts ReadOptions) (*explicit.Space, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	u := &umbFile{ctx: ctx, opts: opts, src: src}
	space, err := u.read()
	if err == nil || ctx.Err() != nil {
		return space, cmpErr(ctx.Err(), err)
	}
	if _, ok := errors.AsType[*explicit.LimitError](err); ok {
		return nil, err
	}
	if _, ok := errors.AsType[*explicit.DeadlockError](err); ok {
		return nil, err
	}
	if list, ok := errors.AsType[syntax.ErrorList](err); ok {
		return nil, list
	}
	return nil, syntax.ErrorList{{File: src.Name, Msg: err.Error()}}
}

func cmpErr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// umbFile reads a UMB file.
type umbFile struct {
	ctx  context.Context
	opts ReadOptions
	src  Source

	index    *umb.Index
	typ      syntax.ModelType
	states   int
	choices  int
	branches int

	stateChoices []uint32 // offsets of the choices of each state; nil if each has one
	choiceRows   []uint32
	targets      []uint32
	probability  umbNumbers
	exitRate     umbNumbers
	initial      *sparse.Set
	actions      []uint16
	names        []byte
	nameAt       []uint32
	labels       map[string]*sparse.Set
	rewards      map[string]umbNumbers // by identifier and kind
	valuations   []byte
	fields       []umbVariable
	warnings     []string
}

// umbVariable is a variable of a packed valuation.
type umbVariable struct {
	name      string
	kind      sema.Type
	at, bits  int
	signed    bool
	offset    int64
	low, high int64 // the range in the file if bounded, otherwise of the values found
	bounded   bool
}

// umbNumbers is a column of numbers.
type umbNumbers struct{ umb.Numbers }

// at returns number i, as a fraction too if exact is set.
func (n *umbNumbers) at(i int, exact bool) (number, error) {
	if !n.Fractions() {
		x := number{f: n.Double(i)}
		if math.IsNaN(x.f) || math.IsInf(x.f, 0) {
			return x, fmt.Errorf("found the number %v", x.f)
		}
		if exact {
			x.r = new(big.Rat).SetFloat64(x.f)
		}
		return x, nil
	}
	r, err := umb.Rat(n.Fraction(i))
	if err != nil {
		return number{}, err
	}
	x := number{}
	x.f, _ = r.Float64()
	if exact {
		x.r = r
	}
	if math.IsInf(x.f, 0) || x.f == 0 && r.Sign() != 0 {
		return x, fmt.Errorf("found the fraction %s, wanted %v", quote([]byte(r.RatString())), errLarge)
	}
	return x, nil
}

// umbSet reads a set of n states.
func umbSet(m *umb.Member, n int) (*sparse.Set, error) {
	words, err := m.Bits(n)
	out := sparse.NewSet(n)
	for i, x := range words {
		for ; x != 0; x &= x - 1 {
			out.Add(64*i + bits.TrailingZeros64(x))
		}
	}
	return out, err
}

// members calls visit for every member of the archive.
func (u *umbFile) members(visit func(name string, m *umb.Member) error) error {
	return umb.Members(u.ctx, bytes.NewReader(u.src.Text), visit)
}

func (u *umbFile) read() (*explicit.Space, error) {
	if err := u.members(func(name string, m *umb.Member) error {
		if name != umb.IndexFile {
			return nil
		}
		text, err := m.All(umb.MaxIndex)
		if err == nil {
			err = u.readIndex(text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return umb.ErrStop
	}); err != nil {
		return nil, err
	}
	if u.index == nil {
		return nil, fmt.Errorf("there is no %s, wanted a model in UMB", umb.IndexFile)
	}
	u.labels, u.rewards = make(map[string]*sparse.Set), make(map[string]umbNumbers)
	if err := u.members(u.member); err != nil {
		return nil, err
	}
	return u.assemble()
}

// readIndex reads and checks the index of the file.
func (u *umbFile) readIndex(text []byte) error {
	x := new(umb.Index)
	if err := json.Unmarshal(text, x); err != nil {
		return err
	}
	s := &x.System
	if x.Version != umb.Version {
		return fmt.Errorf("found version %d of the format, wanted %d", x.Version, umb.Version)
	}
	ends, intervals := s.Probability.Ends()
	switch {
	case s.Time == "discrete" && s.Players == 0 && intervals:
		u.typ = syntax.IDTMC
	case s.Time == "discrete" && s.Players == 1 && s.Observations == 0 && intervals:
		u.typ = syntax.IMDP
	case s.Time == "discrete" && s.Players == 0:
		u.typ = syntax.DTMC
	case s.Time == "discrete" && s.Players == 1 && s.Observations == 0 && s.Probability != nil:
		u.typ = syntax.MDP
	case s.Time == "discrete" && s.Players == 1 && s.Observations == 0 && s.ExitRate == nil:
		u.typ = syntax.LTS
	case s.Time == "stochastic" && s.Players == 0:
		u.typ = syntax.CTMC
	default:
		return fmt.Errorf("found a model with time %s, %d players and %d observations, only DTMCs, MDPs, those with intervals, CTMCs and LTSs can be read",
			quote([]byte(s.Time)), s.Players, s.Observations)
	}
	if u.opts.Type != syntax.TypeNone && u.opts.Type != u.typ {
		return fmt.Errorf("found a model of type %s, wanted a %s as asked for", u.typ, u.opts.Type)
	}
	if s.States < 1 || s.States > math.MaxInt32 || s.Choices > math.MaxUint32-1 || s.Branches > math.MaxUint32-1 || s.Observations > 0 {
		return fmt.Errorf("found %d states, %d choices, %d branches and %d observations, wanted numbers that fit 32 bits, states and no observations", s.States, s.Choices, s.Branches, s.Observations)
	}
	if err := u.opts.limit(int(s.States)); err != nil {
		return err
	}
	if s.ChoiceActions > math.MaxUint16-1 || s.BranchActions > math.MaxUint16-1 {
		return fmt.Errorf("found %d and %d actions, wanted at most %d", s.ChoiceActions, s.BranchActions, math.MaxUint16-1)
	}
	if u.typ != syntax.LTS {
		if err := u.checkNumber(ends); err != nil {
			return fmt.Errorf("branch-probability-type: %w", err)
		}
	}
	u.opts.Exact = u.opts.Exact || intervals // intervals are always fractions
	if u.typ == syntax.CTMC {
		if err := u.checkNumber(s.ExitRate); err != nil {
			return fmt.Errorf("exit-rate-type: %w", err)
		}
	}
	u.states, u.choices, u.branches = int(s.States), int(s.Choices), int(s.Branches)
	u.index = x
	return u.checkAnnotations()
}

// checkNumber checks the type of a column of numbers.
func (u *umbFile) checkNumber(t *umb.Type) error {
	err := t.Number()
	if err == nil && u.opts.Fractions && t.Type == "double" {
		err = errors.New("found doubles, wanted fractions")
	}
	return err
}

// hasChoices reports whether states have choices. Then actions belong to choices, otherwise to
// branches.
func (u *umbFile) hasChoices() bool {
	return u.typ == syntax.MDP || u.typ == syntax.IMDP || u.typ == syntax.LTS
}

// checkAnnotations rejects annotations that cannot be read.
func (u *umbFile) checkAnnotations() error {
	for _, g := range u.index.Annotations {
		for _, m := range g.Value {
			a, name := &m.Value, g.Name+"/"+m.Name
			switch {
			case g.Name == "aps" && (a.Type.Type != "bool" || a.Type.Bits() != 1 || !slices.Equal(a.AppliesTo, []string{"states"})):
				return fmt.Errorf("%s: found an atomic proposition of type %q, wanted bool, of states", name, a.Type.Type)
			case g.Name == "rewards":
				if err := u.checkNumber(&a.Type); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				for _, kind := range a.AppliesTo {
					if !slices.Contains([]string{"states", "choices", "branches"}, kind) || kind == "branches" && u.hasChoices() {
						return fmt.Errorf("%s: found rewards of %s, which are not supported for a model of type %s", name, kind, u.typ)
					}
				}
			case g.Name != "aps":
				u.warnings = append(u.warnings, fmt.Sprintf("the annotations %q of %s are not used", g.Name, u.src.Name))
			}
			if a.Probability != nil {
				return fmt.Errorf("%s: found values with probabilities, which are not supported", name)
			}
		}
	}
	v, ok := u.index.Valuations["states"]
	if !ok {
		return nil
	}
	if problem := u.variables(v); problem != "" {
		u.fields = nil
		u.warnings = append(u.warnings, fmt.Sprintf("the valuations of %s are not used, and its states have one variable x, their number: %s", u.src.Name, problem))
	}
	return nil
}

// variables reads the layout of the valuations. problem says why they cannot be used; "" if they
// can.
func (u *umbFile) variables(v umb.Valuation) (problem string) {
	if len(v.Classes) != 1 {
		return fmt.Sprintf("there are %d classes of them, and only one is supported", len(v.Classes))
	}
	at := 0
	for _, x := range v.Classes[0].Variables {
		if x.Padding > 0 {
			if x.Padding > 1<<16 {
				return fmt.Sprintf("there are %d bits of padding", x.Padding)
			}
			at += int(x.Padding)
			continue
		}
		f := umbVariable{name: x.Name, at: at, offset: x.Offset, kind: sema.Int}
		if x.Type == nil || x.Optional {
			return fmt.Sprintf("variable %s is optional or has no type", quote([]byte(x.Name)))
		}
		width := x.Type.Bits()
		switch {
		case x.Type.Type == "bool" && width <= 64:
			f.kind = sema.Bool
		case (x.Type.Type == "int" || x.Type.Type == "uint") && width <= 64:
			f.signed = x.Type.Type == "int"
		default:
			return fmt.Sprintf("variable %s is of type %s with %d bits", quote([]byte(x.Name)), x.Type.Type, width)
		}
		if !syntax.IsIdent(x.Name) || slices.ContainsFunc(u.fields, func(g umbVariable) bool { return g.name == x.Name }) {
			return fmt.Sprintf("%s is not the name of one variable", quote([]byte(x.Name)))
		}
		if x.Lower != nil && x.Upper != nil {
			f.low, f.high, f.bounded = *x.Lower, *x.Upper, true
		}
		f.bits = int(width)
		at += f.bits
		u.fields = append(u.fields, f)
	}
	if at%8 != 0 || at == 0 || at > 1<<20 {
		return fmt.Sprintf("they have %d bits, which are no whole bytes", at)
	}
	return ""
}

// valuationSize returns the size of a valuation of a state in bytes.
func (u *umbFile) valuationSize() int {
	at := 0
	for _, x := range u.index.Valuations["states"].Classes[0].Variables {
		at += int(x.Padding)
		if x.Padding == 0 {
			at += int(x.Type.Bits())
		}
	}
	return at / 8
}

// member reads one member of the archive, if it is part of the model.
func (u *umbFile) member(name string, m *umb.Member) (err error) {
	defer func() {
		if err != nil && u.ctx.Err() == nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}()
	s := &u.index.System
	kind, ids := "choices", u.choices
	actions := s.ChoiceActions
	if !u.hasChoices() {
		kind, ids, actions = "branches", u.branches, s.BranchActions
	}
	switch name {
	case umb.StateChoices:
		u.stateChoices, err = m.Offsets(u.states, u.choices)
	case umb.ChoiceRows:
		u.choiceRows, err = m.Offsets(u.choices, u.branches)
	case umb.Targets:
		u.targets, err = umb.Indices[uint32](m, u.branches, 8, uint64(u.states))
	case umb.Probabilities:
		if ends, intervals := s.Probability.Ends(); intervals {
			u.probability.Numbers, err = m.Numbers(2*u.branches, ends)
		} else {
			u.probability.Numbers, err = m.Numbers(u.branches, ends)
		}
	case umb.ExitRates:
		if u.typ == syntax.CTMC {
			u.exitRate.Numbers, err = m.Numbers(u.states, s.ExitRate)
		}
	case umb.Initial:
		u.initial, err = umbSet(m, u.states)
	case "actions/" + kind + "/values.bin":
		u.actions, err = umb.Indices[uint16](m, ids, 4, actions)
	case "actions/" + kind + "/string-mapping.bin":
		u.nameAt, err = m.Mapping(int(actions))
	case "actions/" + kind + "/strings.bin":
		u.names, err = m.All(umb.MaxNames)
	case umb.Valuations:
		if u.fields == nil {
			return nil
		}
		if err = m.Sized(int64(u.states), int64(u.valuationSize())); err == nil {
			u.valuations, err = m.All(m.Size)
		}
	default:
		err = u.annotation(name, m)
	}
	return err
}

// annotation reads a label or rewards. Members that the index does not list are ignored.
func (u *umbFile) annotation(name string, m *umb.Member) (err error) {
	words := strings.Split(name, "/")
	if len(words) != 5 || words[0] != "annotations" || words[4] != "values.bin" {
		return nil
	}
	group, id, kind := words[1], words[2], words[3]
	a := u.index.Annotations.Get(group).Get(id)
	if !slices.Contains(a.AppliesTo, kind) {
		return nil
	}
	switch group {
	case "aps":
		u.labels[id], err = umbSet(m, u.states)
	case "rewards":
		n := map[string]int{"states": u.states, "choices": u.choices, "branches": u.branches}[kind]
		var column umbNumbers
		column.Numbers, err = m.Numbers(n, &a.Type)
		u.rewards[id+"/"+kind] = column
	}
	return err
}
