package files

import (
	"bytes"
	"context"
	"math"
	"strconv"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// staFile reads a .sta or .obs file.
type staFile struct {
	*lines
	of     string // "state" or "observation"
	vars   []sema.Variable
	values []int32
	typed  bool // the types of the variables are known from the first state
	parts  []field
}

// readValues reads the valuations of n states or observations; of says which.
func readValues(ctx context.Context, src Source, of string, n int) (*staFile, error) {
	s := &staFile{lines: newLines(src), of: of}
	if !s.data(of+"s", nil) {
		s.failEnd("found the end of the file, wanted the names of the variables, such as (x,y)")
		return s, nil
	}
	if !s.names() {
		return s, nil
	}
	s.values = make([]int32, 0, len(s.vars)*min(n, len(src.Text)/(2*len(s.vars)))) // each value takes at least two bytes
	found := 0
	for ; s.data(of+"s", nil); found++ {
		if found&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return s, err
			}
		}
		s.state(found, n)
	}
	if len(s.errs) == 0 && found != n {
		s.failEnd("found %d %ss, wanted %d as the transitions have", found, of, n)
	}
	return s, nil
}

// tuple splits the list in parentheses, "(a,b)", that starts at a column of the line. The result
// is valid until the next call.
func (s *staFile) tuple(at int) ([]field, bool) {
	text := bytes.TrimRight(s.text[at:], " \t")
	if len(text) < 2 || text[0] != '(' || text[len(text)-1] != ')' {
		s.fail(at, "found %s, wanted values in parentheses, such as (0,true)", quote(text))
		return nil, false
	}
	s.parts = s.parts[:0]
	inner := text[1 : len(text)-1]
	if len(inner) == 0 {
		return nil, true
	}
	for begin := at + 1; ; {
		n := bytes.IndexByte(inner, ',')
		if n < 0 {
			s.parts = append(s.parts, field{inner, begin})
			return s.parts, true
		}
		s.parts = append(s.parts, field{inner[:n], begin})
		inner, begin = inner[n+1:], begin+n+1
	}
}

func (s *staFile) names() bool {
	names, ok := s.tuple(s.fields[0].at)
	if !ok {
		return false
	}
	if len(names) == 0 {
		s.fail(0, "found no variables, wanted at least one")
	}
	seen := map[string]bool{}
	for _, f := range names {
		switch name := f.String(); {
		case !syntax.IsIdent(name):
			s.fail(f.at, "found %s, wanted the name of a variable", quote(f.text))
		case seen[name]:
			s.fail(f.at, "found variable %q again, wanted each once", name)
		default:
			seen[name] = true
			s.vars = append(s.vars, sema.Variable{Name: name, Low: math.MaxInt32, High: math.MinInt32})
		}
	}
	return len(s.errs) == 0
}

// state reads the valuation of state k, "0:(1,false)".
func (s *staFile) state(k, n int) {
	at := s.fields[0].at
	colon := bytes.IndexByte(s.text, ':')
	if colon < 0 {
		s.fail(at, "found %s, wanted a %s such as %d:(...)", quote(s.text), s.of, k)
		return
	}
	i, ok := s.index(field{bytes.TrimSpace(s.text[:colon]), at}, s.of, n)
	if !ok {
		return
	}
	if i != k {
		s.fail(at, "found %[1]s %[2]d, wanted %[1]s %[3]d: every %[1]s once and in order", s.of, i, k)
		return
	}
	values, ok := s.tuple(colon + 1)
	if !ok {
		return
	}
	if len(values) != len(s.vars) {
		s.fail(colon+1, "found %d values, wanted %d", len(values), len(s.vars))
		return
	}
	if !s.typed {
		s.types(values)
	}
	for j, f := range values {
		s.value(j, f)
	}
}

// types determines from the first state which variables are Boolean; the others are integers.
func (s *staFile) types(values []field) {
	s.typed = true
	for j, f := range values {
		v := &s.vars[j]
		v.Type = sema.Int
		if name := f.String(); name == "true" || name == "false" {
			v.Type, v.Low, v.High = sema.Bool, 0, 1
		}
	}
}

func (s *staFile) value(j int, f field) {
	v := &s.vars[j]
	text := f.String()
	if v.Type == sema.Bool {
		if text != "true" && text != "false" {
			s.fail(f.at, "found %s, wanted true or false as before: %q is Boolean", quote(f.text), v.Name)
			return
		}
		x := int32(0)
		if text == "true" {
			x = 1
		}
		s.values = append(s.values, x)
		return
	}
	x, err := strconv.ParseInt(text, 10, 32)
	if err != nil || text[0] == '+' || x == math.MinInt32 || x == math.MaxInt32 {
		s.fail(f.at, "found %s, wanted an integer of 32 bits for %q", quote(f.text), v.Name)
		return
	}
	v.Low, v.High = min(v.Low, int32(x)), max(v.High, int32(x))
	s.values = append(s.values, int32(x))
}

// place returns the position of state k in a file without errors.
func (s *staFile) place(k int) syntax.Pos {
	l := newLines(s.src)
	l.data(s.of+"s", nil)
	for range k + 1 {
		l.data(s.of+"s", nil)
	}
	return l.pos(0)
}
