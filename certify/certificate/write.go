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

	"tilecheck/internal/umb"
)

// Version is the version of the format of certificates.
const Version = 1

// indexFile is the name of the index of the certificate, which follows the members of the model.
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

// column describes a column in the index. The member certificates/sets/0/bits.bin is Sets[0].Columns["bits"].
type column struct {
	Type  columnType `json:"type"`
	Scale uint       `json:"scale,omitempty"`
	Bytes int        `json:"bytes,omitempty"` // bytes of one value
	Same  string     `json:"same,omitempty"`  // the name of an equal column of the vector; then there is no member
	Above string     `json:"above,omitempty"` // the name of a column with the same scale: the member has the differences to it
}

type columnType string

const (
	columnBits     columnType = "bits"     // UMB's bit vector
	columnNumbers  columnType = "numbers"  // unsigned varints: 0 is None, x+1 is x
	columnFixed    columnType = "fixed"    // multiples of 2^-Scale
	columnFraction columnType = "fraction" // UMB's rationals
)

// columns lists the columns of a set; n is the number of the model's states.
func (s *Set) columns(n int) []columnSlot {
	return []columnSlot{{name: "bits", n: n, bits: &s.Bits}, {name: "rank", n: n, ranks: &s.Rank}}
}

// columns lists the columns of a vector; n is the number of the model's states.
func (v *Vector) columns(n int) []columnSlot {
	layered := n
	if a := v.Automaton; a != nil {
		if n, layered = a.Pairs, a.Pairs; v.Kind == PathFormula {
			layered = a.Runs
		}
	}
	if v.Several != nil {
		n, layered = v.Several.States, v.Several.States
	}
	out := []columnSlot{
		{name: "lower", n: n, values: &v.Lower},
		{name: "upper", n: n, values: &v.Upper},
		{name: "lower-bias", n: n, values: &v.LowerBias},
		{name: "upper-bias", n: n, values: &v.UpperBias},
		{name: "rank", n: n, ranks: &v.Rank},
		{name: "layer", n: layered, ranks: &v.Layer},
	}
	if v.Kind == PathFormula {
		out = append(out, columnSlot{name: "won", n: layered, ranks: &v.Won})
	}
	if v.Several != nil {
		out = append(out, v.Several.columns()...)
	}
	return out
}

// columnSlot names a column and points to the field that keeps it. A values column is two columns in the file: the
// values, and the states where they are infinite.
type columnSlot struct {
	name   string
	n      int // the number of entries
	bits   *Bits
	ranks  *[]uint32
	values **Values
}

// Compress returns a gzip writer with the compression level of certificate files.
func Compress(out io.Writer) io.WriteCloser {
	z, _ := gzip.NewWriterLevel(out, gzip.BestSpeed) // the level is valid, so there is no error
	return z
}

// Write writes a certificate, uncompressed. The function model writes the members of the model, with the states in
// the order of the columns. Of f.Model, Write uses only the number of states.
func Write(ctx context.Context, out io.Writer, model func(ctx context.Context, out *umb.Writer) error, f *File) error {
	w := umb.NewWriter(ctx, out)
	if err := model(ctx, w); err != nil {
		return err
	}
	n := f.Model.NumStates()
	x := index{Version: Version, Sets: []indexSet{}, Vectors: []indexVector{}, Claims: f.Claims}
	var members []func()
	for i := range f.Sets {
		columns, write := describeColumns(w, "sets", i, f.Sets[i].columns(n))
		x.Sets = append(x.Sets, indexSet{f.Sets[i], columns})
		members = append(members, write...)
	}
	for i := range f.Vectors {
		columns, write := describeColumns(w, "vectors", i, f.Vectors[i].columns(n))
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

// memberName returns the name of a column in the archive.
func memberName(group string, i int, name string) string {
	return "certificates/" + group + "/" + strconv.Itoa(i) + "/" + name + ".bin"
}

// describeColumns returns the description of the columns for the index, and the functions that write them.
func describeColumns(w *umb.Writer, group string, i int, slots []columnSlot) (map[string]column, []func()) {
	out := make(map[string]column)
	var members []func()
	addBits := func(name string, n int, set Bits) {
		if set != nil {
			out[name] = column{Type: columnBits}
			members = append(members, func() { w.Bits(memberName(group, i, name), n, set.Has) })
		}
	}
	seen := make(map[*Values]string)
	var last *columnSlot // the previous values column; storing the difference to it may be shorter
	for _, s := range slots {
		switch {
		case s.bits != nil:
			addBits(s.name, s.n, *s.bits)
		case s.ranks != nil && *s.ranks != nil:
			out[s.name] = column{Type: columnNumbers}
			members = append(members, func() { writeRanks(w, memberName(group, i, s.name), *s.ranks) })
		case s.values != nil && *s.values != nil:
			v := *s.values
			if first, ok := seen[v]; ok {
				out[s.name] = column{Same: first}
				continue
			}
			seen[v] = s.name
			c, stored := v.encoding(), v
			if last != nil {
				if d := v.differenceTo(*last.values); d != nil && d.encoding().Bytes < c.Bytes {
					c, stored = d.encoding(), d
					c.Above = last.name
				}
			}
			last = &s
			out[s.name] = c
			members = append(members, func() { stored.writeColumn(w, memberName(group, i, s.name), c) })
			addBits(s.name+"-infinite", s.n, v.Infinite)
		}
	}
	return out, members
}

// encoding chooses the type and size of the stored values.
func (v *Values) encoding() column {
	if v.Fixed != nil {
		union := uint64(0)
		for s, x := range v.Fixed {
			if !v.Infinite.Has(s) {
				union |= x
			}
		}
		return column{Type: columnFixed, Scale: v.Scale, Bytes: max(1, (bits.Len64(union)+7)/8)}
	}
	c := column{Type: columnFraction, Bytes: 16}
	for s := range v.Len() {
		if x := v.Rat(s); x != nil {
			c.Bytes = max(c.Bytes, umb.RatSize(x))
		}
	}
	return c
}

// differenceTo returns the differences to a base column; nil if one would be negative or the scales differ.
func (v *Values) differenceTo(base *Values) *Values {
	if v.Fixed == nil || base.Fixed == nil || v.Scale != base.Scale || len(v.Fixed) != len(base.Fixed) {
		return nil
	}
	difference := &Values{Scale: v.Scale, Fixed: make([]uint64, len(v.Fixed)), Infinite: v.Infinite}
	for s, x := range v.Fixed {
		switch {
		case v.Infinite.Has(s):
		case base.Infinite.Has(s) || x < base.Fixed[s]:
			return nil
		default:
			difference.Fixed[s] = x - base.Fixed[s]
		}
	}
	return difference
}

func (v *Values) writeColumn(w *umb.Writer, name string, c column) {
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

func writeRanks(w *umb.Writer, name string, ranks []uint32) {
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

// Statement returns what a claim says in PRISM's syntax, with the sets and vectors spelt out. A proof is about the
// statement, whatever the claim's Property text says.
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
	filter := c.Of
	switch {
	case filter == "" && c.Vector < 0:
		filter = "forall"
	case filter == "":
		filter = "range"
	}
	return "filter(" + filter + ", " + text + ", " + f.setText(c.Over) + ")"
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
		if v.Maximizer != 0 {
			return fmt.Sprintf("P=? [ %s U %s ] of the game in which %s maximizes", f.setText(v.Left), f.setText(v.Right), f.setText(v.Maximizer))
		}
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

// structureText returns the name of a reward structure in PRISM's syntax; "" if the vector has none.
func (f *File) structureText(i int) string {
	switch {
	case i < 0 || i >= len(f.Model.Rewards):
		return ""
	case f.Model.Rewards[i].Name == "":
		return fmt.Sprintf("{%d}", i+1)
	}
	return fmt.Sprintf("{%q}", f.Model.Rewards[i].Name)
}

// interval returns the step or time bound; to is "" if there is no upper bound.
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
	set := &f.Sets[i]
	join := func(op string) string {
		text := ""
		for k, j := range set.Sets {
			if k > 0 {
				text += op
			}
			text += f.setText(j)
		}
		return "(" + text + ")"
	}
	switch set.Kind {
	case Atomic:
		return "(" + set.Text + ")"
	case All:
		return "true"
	case Init:
		return `"init"`
	case Not:
		return "!" + f.setText(set.Sets[0])
	case And:
		return join("&")
	case Or:
		return join("|")
	case Bound:
		text := f.vectorText(&f.Vectors[set.Vector])
		if f.Vectors[set.Vector].Paths {
			return "(" + text + ")"
		}
		for k := range text {
			if text[k:k+2] == "=?" {
				return "(" + text[:k] + set.Relation + set.Threshold.RatString() + text[k+2:] + ")"
			}
		}
	case ArgMin, ArgMax:
		return "filter(" + string(set.Kind) + ", " + f.vectorText(&f.Vectors[set.Vector]) + ", " + f.setText(set.Sets[0]) + ")"
	case ExistsUntil:
		return "(E [ " + f.setText(set.Sets[0]) + " U " + f.setText(set.Sets[1]) + " ])"
	case ForallUntil:
		return "(A [ " + f.setText(set.Sets[0]) + " U " + f.setText(set.Sets[1]) + " ])"
	case ExistsNext:
		return "(E [ X " + f.setText(set.Sets[0]) + " ])"
	}
	return "(A [ X " + f.setText(set.Sets[0]) + " ])"
}
