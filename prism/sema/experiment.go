package sema

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// ConstDef is one definition of a -const switch. The values are text, because their meaning
// depends on the type of the constant.
type ConstDef struct {
	Name string
	Low  string // the only value, unless Range
	High string
	Step string // of a range; empty for 1
	// Range says that there was a colon.
	Range bool
}

// String returns the definition as -const has it.
func (d ConstDef) String() string {
	switch {
	case !d.Range:
		return d.Name + "=" + d.Low
	case d.Step == "":
		return d.Name + "=" + d.Low + ":" + d.High
	}
	return d.Name + "=" + d.Low + ":" + d.Step + ":" + d.High
}

// DefinitionError is an error in the syntax of constant definitions, or a value that a constant
// cannot have.
type DefinitionError struct{ Err error }

func (e *DefinitionError) Error() string { return e.Err.Error() }

func (e *DefinitionError) Unwrap() error { return e.Err }

// ParseConsts parses the arguments of -const switches: comma-separated definitions name=value,
// name=low:high and name=low:step:high. The definitions of all arguments are combined. Unlike
// PRISM it ignores blanks around names and values. The error is a DefinitionError.
//
// Source: UndefinedConstants.parseConstSwitch of PRISM 4.10; reference, section 5.6.
func ParseConsts(args []string) ([]ConstDef, error) {
	var defs []ConstDef
	for _, arg := range args {
		for part := range strings.SplitSeq(arg, ",") {
			if strings.TrimSpace(part) == "" {
				continue
			}
			d, ok := parseConst(part)
			if !ok {
				return nil, &DefinitionError{fmt.Errorf("invalid format in definition of undefined constants: found %q, want name=value, name=low:high or name=low:step:high", part)}
			}
			defs = append(defs, d)
		}
	}
	return defs, nil
}

func parseConst(part string) (ConstDef, bool) {
	name, value, found := strings.Cut(part, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !found || name == "" || value == "" || strings.HasSuffix(value, ":") {
		return ConstDef{}, false
	}
	v := strings.Split(value, ":")
	for i := range v {
		v[i] = strings.TrimSpace(v[i])
	}
	switch len(v) {
	case 1:
		return ConstDef{Name: name, Low: v[0]}, true
	case 2:
		return ConstDef{Name: name, Low: v[0], High: v[1], Range: true}, true
	case 3:
		if v[1] == "" { // an empty step is an error, not the default
			return ConstDef{}, false
		}
		return ConstDef{Name: name, Low: v[0], Step: v[1], High: v[2], Range: true}, true
	}
	return ConstDef{}, false
}

// Valuation assigns values to constants, in file order.
type Valuation []NamedValue

// Map returns the valuation in the form that Instantiate takes.
func (v Valuation) Map() map[string]Value {
	m := make(map[string]Value, len(v))
	for _, x := range v {
		m[x.Name] = x.Val
	}
	return m
}

// String returns the valuation as PRISM prints it: N=1,p=0.25.
func (v Valuation) String() string {
	var b strings.Builder
	for i, x := range v {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(x.Name + "=" + x.Val.String())
	}
	return b.String()
}

// Experiment enumerates the valuations of the undefined constants of a model
// and of selected properties. It is immutable.
type Experiment struct {
	model []constRange
	props map[int][]constRange // by property
	// Warnings list definitions of undeclared constants, which PRISM silently ignores.
	Warnings []error
}

// Experiment types the definitions of constants. Every undefined constant of the model, and every
// one that the selected properties need (all properties if sel is nil), must have a definition.
// Definitions of other constants of the properties file are ignored. ps may be nil.
//
// Values of double constants are exact: 0.1 is 1/10 and 1/3 is a third. A range low:step:high has
// the values low+i*step. Like PRISM, it includes a value that exceeds high by at most a thousandth
// of the step.
func (m *Model) Experiment(ps *Properties, sel []int, defs []ConstDef) (*Experiment, error) {
	x := &Experiment{props: make(map[int][]constRange)}
	var all []*constant
	all = append(all, m.consts...)
	if ps != nil {
		all = append(all, ps.consts...)
	}
	ranges, err := x.ranges(all, defs, ps.neededBy(sel))
	if err != nil {
		return nil, &DefinitionError{err}
	}
	if x.model, err = rangesOf(undefinedOf(m.consts), ranges); err != nil {
		return nil, err
	}
	for _, i := range ps.selection(sel) {
		if x.props[i], err = rangesOf(undefinedOf(ps.needed(ps.props[i].x)), ranges); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// selection returns the selected properties; none if there is no file.
func (ps *Properties) selection(sel []int) []int {
	if ps == nil || sel != nil {
		return sel
	}
	all := make([]int, len(ps.props))
	for i := range all {
		all[i] = i
	}
	return all
}

// neededBy returns the constants that the selected properties use.
func (ps *Properties) neededBy(sel []int) map[*constant]bool {
	used := make(map[*constant]bool)
	for _, i := range ps.selection(sel) {
		for _, c := range ps.needed(ps.props[i].x) {
			used[c] = true
		}
	}
	return used
}

func undefinedOf(cs []*constant) []*constant {
	var out []*constant
	for _, c := range cs {
		if c.decl.Value == nil {
			out = append(out, c)
		}
	}
	return out
}

// ranges types the definitions of constants that need one.
func (x *Experiment) ranges(all []*constant, defs []ConstDef, used map[*constant]bool) (map[*constant]constRange, error) {
	byName := make(map[string]*constant)
	for _, c := range all {
		byName[c.name] = c
	}
	out := make(map[*constant]constRange)
	for _, d := range defs {
		c := byName[d.Name]
		switch {
		case c == nil:
			x.Warnings = append(x.Warnings, fmt.Errorf("constant %q is not declared; its definition is not used", d.Name))
			continue
		case c.decl.Value != nil && c.prop:
			return nil, fmt.Errorf("constant %q has already been defined", d.Name)
		case c.decl.Value != nil:
			return nil, fmt.Errorf("constant %q has already been defined in the model", d.Name)
		case c.prop && !used[c]:
			continue
		}
		if _, twice := out[c]; twice {
			return nil, fmt.Errorf("duplicate definitions for undefined constant %q", d.Name)
		}
		r, err := newRange(c, d)
		if err != nil {
			return nil, err
		}
		out[c] = r
	}
	return out, nil
}

// rangesOf returns the ranges of constants that must have one.
func rangesOf(cs []*constant, ranges map[*constant]constRange) ([]constRange, error) {
	var out []constRange
	var missing []*constant
	for _, c := range cs {
		if r, ok := ranges[c]; ok {
			out = append(out, r)
		} else {
			missing = append(missing, c)
		}
	}
	if len(missing) > 0 {
		return nil, syntax.ErrorList{{File: missing[0].file, Pos: missing[0].decl.Name.Pos(), Msg: mustDefine(missing)}}
	}
	return out, nil
}

// Models returns the valuations of the model constants; the first constant varies slowest. If
// there is nothing to define, there is one empty valuation.
func (x *Experiment) Models() iter.Seq[Valuation] { return product(x.model) }

// Properties returns the valuations of the constants that property i needs, in the same order.
// Property i must be selected.
func (x *Experiment) Properties(i int) iter.Seq[Valuation] { return product(x.props[i]) }

// All returns the valuations of the model constants and, for each of them,
// those of the constants that property i needs.
func (x *Experiment) All(i int) iter.Seq2[Valuation, Valuation] {
	return func(yield func(model, property Valuation) bool) {
		for m := range x.Models() {
			for p := range x.Properties(i) {
				if !yield(m, p) {
					return
				}
			}
		}
	}
}

// Varying returns the names of the constants with more than one value: those
// of the model and those that property i needs.
func (x *Experiment) Varying(i int) (model, property []string) {
	names := func(rs []constRange) (out []string) {
		for _, r := range rs {
			if r.n > 1 {
				out = append(out, r.c.name)
			}
		}
		return out
	}
	return names(x.model), names(x.props[i])
}

// product enumerates the combinations of values, the last range varying fastest.
func product(rs []constRange) iter.Seq[Valuation] {
	return func(yield func(Valuation) bool) {
		index := make([]int, len(rs))
		for {
			v := make(Valuation, len(rs))
			for i, r := range rs {
				v[i] = NamedValue{r.c.name, r.value(index[i])}
			}
			if !yield(v) {
				return
			}
			i := len(rs) - 1
			for ; i >= 0; i-- {
				if index[i]++; index[i] < rs[i].n {
					break
				}
				index[i] = 0
			}
			if i < 0 {
				return
			}
		}
	}
}

// ValuesOf returns the number of values that a definition gives to a constant of the model or of
// its properties, which may be nil, and the first values, at most limit.
func (m *Model) ValuesOf(ps *Properties, d ConstDef, limit int) (values []Value, count int, err error) {
	all := m.consts
	if ps != nil {
		all = append(slices.Clip(all), ps.consts...)
	}
	i := slices.IndexFunc(all, func(c *constant) bool { return c.name == d.Name })
	if i < 0 {
		return nil, 0, &DefinitionError{fmt.Errorf("constant %q is not declared", d.Name)}
	}
	r, err := newRange(all[i], d)
	if err != nil {
		return nil, 0, &DefinitionError{err}
	}
	for i := range min(r.n, limit) {
		values = append(values, r.value(i))
	}
	return values, r.n, nil
}

// constRange holds the n values low, low+step, … of a constant, or one Bool.
type constRange struct {
	c         *constant
	low, step *big.Rat
	truth     bool
	n         int
}

func (r constRange) value(i int) Value {
	if r.c.typ == Bool {
		return BoolValue(r.truth)
	}
	x := new(big.Rat).SetInt64(int64(i))
	x.Mul(x, r.step).Add(x, r.low)
	if r.c.typ == Int {
		return IntValue(int32(x.Num().Int64())) // between the bounds, which fit
	}
	return RatValue(x)
}

func newRange(c *constant, d ConstDef) (constRange, error) {
	if c.typ == Bool {
		return boolRange(c, d)
	}
	r := constRange{c: c, step: big.NewRat(1, 1), n: 1}
	var err error
	if r.low, err = parseNumber(c, d.Low); err != nil || !d.Range {
		return r, err
	}
	high, err := parseNumber(c, d.High)
	if err != nil {
		return r, err
	}
	width := new(big.Rat).Sub(high, r.low)
	if width.Sign() < 0 {
		return r, fmt.Errorf("low value %s for constant %s is higher than the high value %s", d.Low, c.name, d.High)
	}
	if d.Step != "" {
		if r.step, err = parseNumber(c, d.Step); err != nil {
			return r, err
		}
		switch {
		case r.step.Sign() <= 0:
			return r, fmt.Errorf("step value %s for constant %s must be positive", d.Step, c.name)
		case r.step.Cmp(width) > 0:
			return r, fmt.Errorf("step value %s for constant %s is bigger than the difference between %s and %s", d.Step, c.name, d.Low, d.High)
		}
	}
	steps := width.Quo(width, r.step)
	if c.typ == Double {
		steps.Add(steps, big.NewRat(1, 1000))
	}
	n := new(big.Int).Div(steps.Num(), steps.Denom())
	if !n.IsInt64() || n.Int64() >= math.MaxInt32 {
		return r, fmt.Errorf("constant %s has too many values from %s to %s", c.name, d.Low, d.High)
	}
	r.n = int(n.Int64()) + 1
	return r, nil
}

func boolRange(c *constant, d ConstDef) (constRange, error) {
	switch {
	case d.Range:
		return constRange{}, fmt.Errorf("cannot define ranges for Boolean constants, found one for %s", c.name)
	case d.Low != "true" && d.Low != "false":
		return constRange{}, invalid(c, d.Low)
	}
	return constRange{c: c, truth: d.Low == "true", n: 1}, nil
}

func invalid(c *constant, text string) error {
	return fmt.Errorf("value %s for constant %s is not a valid %s", text, c.name, valid(c.typ))
}

// parseNumber parses an integer, or for a double a decimal number or fraction.
func parseNumber(c *constant, text string) (*big.Rat, error) {
	if c.typ == Int {
		i, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return nil, invalid(c, text)
		}
		return new(big.Rat).SetInt64(i), nil
	}
	// a/b/c is (a/b)/c.
	var r *big.Rat
	for i, part := range strings.Split(text, "/") {
		x := parseDecimal(part)
		switch {
		case x == nil || i > 0 && x.Sign() == 0:
			return nil, invalid(c, text)
		case i == 0:
			r = x
		default:
			r.Quo(r, x)
		}
	}
	return r, nil
}

// parseDecimal parses a finite decimal number, or returns nil.
func parseDecimal(text string) *big.Rat {
	if strings.Trim(text, "0123456789+-.eE") != "" {
		return nil
	}
	return decimalRat(text)
}
