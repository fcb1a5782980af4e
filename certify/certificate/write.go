package certificate

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"math/bits"
	"strconv"

	"tilecheck/native/explicit/umb"
)

// Version is the version of the format of certificates.
const Version = 1

// indexFile is the index of the certificates, behind the members of the model.
const indexFile = "certificates/index.json"

// index is certificates/index.json.
type index struct {
	Version int           `json:"format-version"`
	Sets    []indexSet    `json:"sets"`
	Vectors []indexVector `json:"vectors"`
	Claims  []Claim       `json:"claims"`
}

type indexSet struct {
	Set
	Columns map[string]column `json:"columns,omitempty"`
}

type indexVector struct {
	Vector
	Columns map[string]column `json:"columns,omitempty"`
}

// column describes a member: certificates/sets/0/bits.bin is Sets[0].Columns["bits"].
type column struct {
	Type  columnType `json:"type"`
	Scale uint       `json:"scale,omitempty"`
	Bytes int        `json:"bytes,omitempty"` // of a value
	Same  string     `json:"same,omitempty"`  // another column of the vector, instead of a member
	Above string     `json:"above,omitempty"` // another column, of the same scale: values are what is added to its
}

type columnType string

const (
	columnBits     columnType = "bits"     // as UMB has them
	columnNumbers  columnType = "numbers"  // unsigned varints, 0 for none, others one too large
	columnFixed    columnType = "fixed"    // multiples of 2^-Scale
	columnFraction columnType = "fraction" // as UMB has them
)

// The columns by their names.
func (s *Set) columns(n int) []slot {
	return []slot{{name: "bits", n: n, bits: &s.Bits}, {name: "rank", n: n, ranks: &s.Rank}}
}

func (v *Vector) columns(n int) []slot {
	layered := n
	if a := v.Automaton; a != nil {
		if n, layered = a.Pairs, a.Pairs; v.Kind == PathFormula {
			layered = a.Runs
		}
	}
	if v.Several != nil {
		n, layered = v.Several.States, v.Several.States
	}
	out := []slot{
		{name: "lower", n: n, values: &v.Lower},
		{name: "upper", n: n, values: &v.Upper},
		{name: "lower-bias", n: n, values: &v.LowerBias},
		{name: "upper-bias", n: n, values: &v.UpperBias},
		{name: "rank", n: n, ranks: &v.Rank},
		{name: "layer", n: layered, ranks: &v.Layer},
	}
	if v.Kind == PathFormula {
		out = append(out, slot{name: "won", n: layered, ranks: &v.Won})
	}
	if v.Several != nil {
		out = append(out, v.Several.columns()...)
	}
	return out
}

// slot is where a column is kept; values take two columns, with the infinite states.
type slot struct {
	name   string
	n      int // how many values it has
	bits   *Bits
	ranks  *[]uint32
	values **Values
}

// Compress is gzip as files of certificates have it.
func Compress(out io.Writer) io.WriteCloser {
	z, _ := gzip.NewWriterLevel(out, gzip.BestSpeed) // a level there is
	return z
}

// Write writes a certificate, uncompressed. model writes the members of the model,
// whose states are in the order of the columns; f.Model is not looked at, but for how
// many states there are.
func Write(ctx context.Context, out io.Writer, model func(ctx context.Context, out *umb.Writer) error, f *File) error {
	w := umb.NewWriter(ctx, out)
	if err := model(ctx, w); err != nil {
		return err
	}
	n := f.Model.NumStates()
	x := index{Version: Version, Sets: []indexSet{}, Vectors: []indexVector{}, Claims: f.Claims}
	var members []func()
	for i := range f.Sets {
		columns, write := describe(w, "sets", i, f.Sets[i].columns(n))
		x.Sets = append(x.Sets, indexSet{f.Sets[i], columns})
		members = append(members, write...)
	}
	for i := range f.Vectors {
		columns, write := describe(w, "vectors", i, f.Vectors[i].columns(n))
		x.Vectors = append(x.Vectors, indexVector{f.Vectors[i], columns})
		members = append(members, write...)
	}
	text, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return err
	}
	w.File(indexFile, int64(len(text)), func(b *bufio.Writer) { _, _ = b.Write(text) })
	for _, write := range members {
		write()
	}
	return w.Close()
}

// member is the name of a column in the archive.
func member(group string, i int, name string) string {
	return "certificates/" + group + "/" + strconv.Itoa(i) + "/" + name + ".bin"
}

// describe returns what the index says of columns, and what writes them.
func describe(w *umb.Writer, group string, i int, slots []slot) (map[string]column, []func()) {
	out := make(map[string]column)
	var members []func()
	bits := func(name string, n int, set Bits) {
		if set != nil {
			out[name] = column{Type: columnBits}
			members = append(members, func() { w.Bits(member(group, i, name), n, set.Has) })
		}
	}
	seen := make(map[*Values]string)
	var last *slot // the column of values before, which others may be a bit above
	for _, s := range slots {
		switch {
		case s.bits != nil:
			bits(s.name, s.n, *s.bits)
		case s.ranks != nil && *s.ranks != nil:
			out[s.name] = column{Type: columnNumbers}
			members = append(members, func() { putRanks(w, member(group, i, s.name), *s.ranks) })
		case s.values != nil && *s.values != nil:
			v := *s.values
			if first, ok := seen[v]; ok {
				out[s.name] = column{Same: first}
				continue
			}
			seen[v] = s.name
			c, of := v.column(), v
			if last != nil {
				if d := v.above(*last.values); d != nil && d.column().Bytes < c.Bytes {
					c, of = d.column(), d
					c.Above = last.name
				}
			}
			last = &s
			out[s.name] = c
			members = append(members, func() { of.put(w, member(group, i, s.name), c) })
			bits(s.name+"-infinite", s.n, v.Infinite)
		}
	}
	return out, members
}

// column chooses the size of the values.
func (v *Values) column() column {
	if v.Fixed != nil {
		all := uint64(0)
		for s, x := range v.Fixed {
			if !v.Infinite.Has(s) {
				all |= x
			}
		}
		return column{Type: columnFixed, Scale: v.Scale, Bytes: max(1, (bits.Len64(all)+7)/8)}
	}
	c := column{Type: columnFraction, Bytes: 16}
	for s := range v.Len() {
		if x := v.Rat(s); x != nil {
			c.Bytes = max(c.Bytes, umb.RatSize(x))
		}
	}
	return c
}

// above returns what the values are more than others, nil where that is not so of all.
func (v *Values) above(o *Values) *Values {
	if v.Fixed == nil || o.Fixed == nil || v.Scale != o.Scale || len(v.Fixed) != len(o.Fixed) {
		return nil
	}
	d := &Values{Scale: v.Scale, Fixed: make([]uint64, len(v.Fixed)), Infinite: v.Infinite}
	for s, x := range v.Fixed {
		switch {
		case v.Infinite.Has(s):
		case o.Infinite.Has(s) || x < o.Fixed[s]:
			return nil
		default:
			d.Fixed[s] = x - o.Fixed[s]
		}
	}
	return d
}

func (v *Values) put(w *umb.Writer, name string, c column) {
	w.File(name, int64(c.Bytes)*int64(v.Len()), func(b *bufio.Writer) {
		for s := range v.Len() {
			infinite := v.Infinite.Has(s)
			switch {
			case v.Fixed != nil && infinite:
				umb.PutUint64s(b, 0, c.Bytes)
			case v.Fixed != nil:
				umb.PutUint64s(b, v.Fixed[s], c.Bytes)
			case infinite:
				umb.PutRat(b, new(big.Rat), c.Bytes)
			default:
				umb.PutRat(b, v.Rat(s), c.Bytes)
			}
		}
	})
}

func putRanks(w *umb.Writer, name string, ranks []uint32) {
	size := 0
	for _, r := range ranks {
		size += (max(1, bits.Len32(r+1)) + 6) / 7
	}
	w.File(name, int64(size), func(b *bufio.Writer) {
		for _, r := range ranks {
			_, _ = b.Write(binary.AppendUvarint(b.AvailableBuffer(), uint64(r+1))) // None is 0
		}
	})
}

// Statement is what a claim says, with the sets and vectors spelt out: the answer
// that is proven is to this, whatever the property of the claim is.
func (f *File) Statement(c *Claim) string {
	text := ""
	switch {
	case c.Vector < 0:
		text = f.setText(c.Set)
	case c.Complement:
		text = "1-" + f.vectorText(&f.Vectors[c.Vector])
	default:
		text = f.vectorText(&f.Vectors[c.Vector])
	}
	if f.Sets[c.Over].Kind == Init && c.Of == "" {
		return text
	}
	of := c.Of
	switch {
	case of == "" && c.Vector < 0:
		of = "forall"
	case of == "":
		of = "range"
	}
	return "filter(" + of + ", " + text + ", " + f.setText(c.Over) + ")"
}

func (f *File) vectorText(v *Vector) string {
	opt := ""
	if f.Model.Kind == MDP {
		opt = map[bool]string{true: "max", false: "min"}[v.Max]
	}
	structure := f.structureText(v.Reward)
	switch v.Kind {
	case Objectives:
		return v.Several.text(f)
	case Until:
		return fmt.Sprintf("P%s=? [ %s U %s ]", opt, f.setText(v.Left), f.setText(v.Right))
	case Steps:
		from, to := v.interval()
		bound := "<=" + to
		switch {
		case to == "":
			bound = ">=" + from
		case from != "0":
			bound = "[" + from + "," + to + "]"
		}
		return fmt.Sprintf("P%s=? [ %s U%s %s ]", opt, f.setText(v.Left), bound, f.setText(v.Right))
	case Next:
		return fmt.Sprintf("P%s=? [ X %s ]", opt, f.setText(v.Right))
	case ReachReward:
		return fmt.Sprintf("R%s%s=? [ F %s ]", structure, opt, f.setText(v.Right))
	case TotalReward:
		return fmt.Sprintf("R%s%s=? [ C ]", structure, opt)
	case Cumulative:
		_, to := v.interval()
		return fmt.Sprintf("R%s%s=? [ C<=%s ]", structure, opt, to)
	case Instant:
		_, to := v.interval()
		return fmt.Sprintf("R%s%s=? [ I=%s ]", structure, opt, to)
	}
	switch {
	case v.Paths:
		return fmt.Sprintf("E [ %s ]", f.pathText(v.Automaton, v.Automaton.Formula))
	case v.Kind == PathFormula:
		return fmt.Sprintf("P%s=? [ %s ]", opt, f.pathText(v.Automaton, v.Automaton.Formula))
	case v.Kind == CoSafe:
		return fmt.Sprintf("R%s%s=? [ %s ]", structure, opt, f.pathText(v.Automaton, v.Automaton.Formula))
	case v.Reward < 0:
		return fmt.Sprintf("S%s=? [ %s ]", opt, f.setText(v.Right))
	}
	return fmt.Sprintf("R%s%s=? [ S ]", structure, opt)
}

// structureText names a reward structure; "" is none.
func (f *File) structureText(i int) string {
	switch {
	case i < 0 || i >= len(f.Model.Rewards):
		return ""
	case f.Model.Rewards[i].Name == "":
		return fmt.Sprintf("{%d}", i+1)
	}
	return fmt.Sprintf("{%q}", f.Model.Rewards[i].Name)
}

// interval is the bound of steps or time; "" is no upper one.
func (v *Vector) interval() (from, to string) {
	switch t := v.Timed; {
	case t != nil && t.To == nil:
		return t.From.RatString(), ""
	case t != nil:
		return t.From.RatString(), t.To.RatString()
	case v.To < 0:
		return strconv.Itoa(v.From), ""
	}
	return strconv.Itoa(v.From), strconv.Itoa(v.To)
}

func (f *File) setText(i int) string {
	s := &f.Sets[i]
	join := func(op string) string {
		text := ""
		for k, j := range s.Sets {
			if k > 0 {
				text += op
			}
			text += f.setText(j)
		}
		return "(" + text + ")"
	}
	switch s.Kind {
	case Atomic:
		return "(" + s.Text + ")"
	case All:
		return "true"
	case Init:
		return `"init"`
	case Not:
		return "!" + f.setText(s.Sets[0])
	case And:
		return join("&")
	case Or:
		return join("|")
	case Bound:
		text := f.vectorText(&f.Vectors[s.Vector])
		if f.Vectors[s.Vector].Paths {
			return "(" + text + ")"
		}
		for k := range text {
			if text[k:k+2] == "=?" {
				return "(" + text[:k] + s.Relation + s.Threshold.RatString() + text[k+2:] + ")"
			}
		}
	case ArgMin, ArgMax:
		return "filter(" + string(s.Kind) + ", " + f.vectorText(&f.Vectors[s.Vector]) + ", " + f.setText(s.Sets[0]) + ")"
	case ExistsUntil:
		return "(E [ " + f.setText(s.Sets[0]) + " U " + f.setText(s.Sets[1]) + " ])"
	case ForallUntil:
		return "(A [ " + f.setText(s.Sets[0]) + " U " + f.setText(s.Sets[1]) + " ])"
	case ExistsNext:
		return "(E [ X " + f.setText(s.Sets[0]) + " ])"
	}
	return "(A [ X " + f.setText(s.Sets[0]) + " ])"
}
