package expect

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Expectation is a RESULT annotation.
type Expectation struct {
	// Text is the annotation as written, from RESULT to the end of its value. Pos and End are its place.
	Text     string
	Pos, End syntax.Pos
	// Conditions are the constants in parentheses, in the order written.
	Conditions []Condition
	// Value is the text of the expected value, without blanks.
	Value    string
	ValuePos syntax.Pos
}

// Condition is one element of the list in parentheses. OK is false if it is not
// of the form name=value; Name and Value are then empty.
type Condition struct {
	Text        string
	Name, Value string
	OK          bool
	Pos         syntax.Pos
}

// Rules are the data that a verdict is judged with.
type Rules struct {
	// Constants are the values of all constants of the model, followed by those of the properties file, as returned by
	// sema.Properties.Values.
	Constants []sema.NamedValue
	// Params are the names of the parameters if results are functions.
	Params []string
	// Exact says that the engine computed in rational arithmetic, as with PRISM's -exact. An expected fraction or decimal must
	// then be met exactly, unless it begins with ~.
	Exact bool
	// Relative is the relative error that is always allowed unless Exact. PRISM allows DefaultRelative for results that its
	// default engines only estimate, and the engine's own error bound for others. Zero is PRISM's rule.
	Relative float64
	// Level is the confidence that the interval of a sampled value must have if the terms ask for one. See
	// Statistical.Level.
	Level float64
}

// DefaultRelative is the relative error that PRISM's test mode allows for estimates.
const DefaultRelative = 1e-5

// Problem is the reason why a test fails, in PRISM's words.
type Problem string

// Error implements error.
func (p Problem) Error() string { return string(p) }

// Unmatched is the Problem that no annotation fits the constants.
type Unmatched struct{ Problem }

func problem(format string, args ...any) error { return Problem(fmt.Sprintf(format, args...)) }

var annotation = regexp.MustCompile(`RESULT[ \t]*(\(([^)]+)\))?[ \t]*:[ \t]*([^ \t\n\r]+)`)

// Parse returns the annotations in the comment block directly above a property
// that was parsed from src, in the order written.
//
// Source: Property.getExpectedResultString of PRISM 4.10.
func Parse(src []byte, p *syntax.Property) []Expectation {
	if len(p.Doc) == 0 {
		return nil
	}
	b := newBlock(src, p)
	var out []Expectation
	for _, m := range annotation.FindAllSubmatchIndex(b.text, -1) {
		e := Expectation{
			Text: string(b.src[m[0]:m[1]]), Pos: b.pos(m[0]), End: b.pos(m[1]),
			Value: string(b.text[m[6]:m[7]]), ValuePos: b.pos(m[6]),
		}
		if m[4] >= 0 {
			e.Conditions = b.conditions(m[4], m[5])
		}
		out = append(out, e)
	}
	return out
}

// block is the comment block above a property.
type block struct {
	src   []byte // from the first slash to the property
	text  []byte // src with the slashes replaced by blanks
	start syntax.Pos
}

// newBlock finds the block: one comment per line, the last one in the line above the property. The first comment may
// follow other text in its line.
func newBlock(src []byte, p *syntax.Property) *block {
	end := int(p.Pos().Offset)
	line := lineStart(src, end)
	for range p.Doc {
		line = lineStart(src, line-1)
	}
	slashes := max(bytes.Index(src[line:end], []byte("//")), 0)
	b := &block{
		src:   src[line+slashes : end],
		start: syntax.Pos{Offset: int32(line + slashes), Line: p.Pos().Line - int32(len(p.Doc)), Col: int32(slashes) + 1},
	}
	b.text = bytes.Clone(b.src)
	for off := 0; off < len(b.text); {
		next := off + lineEnd(b.text[off:])
		if i := bytes.Index(b.text[off:next], []byte("//")); i >= 0 {
			copy(b.text[off+i:], "  ")
		}
		off = next
	}
	return b
}

// lineStart returns the offset where the line of src[at] begins. A line includes its end-of-line characters.
func lineStart(src []byte, at int) int {
	if at > 0 && at < len(src) && src[at] == '\n' && src[at-1] == '\r' {
		at--
	}
	return bytes.LastIndexAny(src[:max(at, 0)], "\r\n") + 1
}

// lineEnd returns the length of the first line, including its end-of-line characters.
func lineEnd(src []byte) int {
	i := bytes.IndexAny(src, "\r\n")
	switch {
	case i < 0:
		return len(src)
	case src[i] == '\r' && i+1 < len(src) && src[i+1] == '\n':
		return i + 2
	}
	return i + 1
}

// pos returns the place in the file for an offset in the block.
func (b *block) pos(off int) syntax.Pos {
	p := syntax.Pos{Offset: b.start.Offset + int32(off), Line: b.start.Line, Col: b.start.Col}
	for at := 0; ; {
		next := at + lineEnd(b.text[at:])
		if off < next || next == len(b.text) {
			p.Col += int32(off - at)
			return p
		}
		at, p.Line, p.Col = next, p.Line+1, 1
	}
}

// conditions parses the list in parentheses.
func (b *block) conditions(from, to int) []Condition {
	var out []Condition
	for part := range bytes.SplitSeq(b.text[from:to], []byte(",")) {
		if text := bytes.TrimFunc(part, isBlank); len(text) > 0 {
			c := Condition{Text: string(text), Pos: b.pos(from + bytes.Index(part, text))}
			// Java's split drops empty parts at the end.
			if pair := strings.Split(strings.TrimRight(c.Text, "="), "="); len(pair) == 2 {
				c.Name, c.Value, c.OK = strings.TrimFunc(pair[0], isBlank), strings.TrimFunc(pair[1], isBlank), true
			}
			out = append(out, c)
		}
		from += len(part) + 1
	}
	return out
}

// isBlank reports whether Java's trim removes a character.
func isBlank(r rune) bool { return r <= ' ' }

// Select returns the first annotation whose conditions all hold; so one without conditions hides the later ones. A
// condition on an unknown constant does not hold. The error is a Problem, or Unmatched if no annotation fits.
//
// Source: Property.getExpectedResultString of PRISM 4.10.
func Select(es []Expectation, r Rules) (*Expectation, error) {
	for i := range es {
		fits, err := es[i].fits(r)
		if err != nil {
			return nil, err
		}
		if fits {
			return &es[i], nil
		}
	}
	names := make([]string, len(r.Constants))
	for i, c := range r.Constants {
		names[i] = c.Name + "=" + c.Val.String()
		if c.Val.Type == sema.Double {
			names[i] = fmt.Sprintf("%s=%.12g", c.Name, c.Val.Float)
		}
	}
	return nil, Unmatched{Problem(fmt.Sprintf("Did not find a RESULT specification (for %s) to test against", strings.Join(names, ",")))}
}

func (e *Expectation) fits(r Rules) (bool, error) { return conditionsHold(e.Conditions, e.Text, r) }

func conditionsHold(conditions []Condition, text string, r Rules) (bool, error) {
	all := true
	for _, c := range conditions {
		holds, ok := c.holds(r)
		if !ok {
			return false, problem("Badly formed RESULT specification %q", text)
		}
		all = all && holds
	}
	return all, nil
}

// holds compares the constant with the condition's value. ok is false if the condition is malformed, or if its value should be a
// number and is not.
func (c *Condition) holds(r Rules) (holds, ok bool) {
	if !c.OK {
		return false, false
	}
	for _, v := range r.Constants {
		if v.Name != c.Name {
			continue
		}
		if v.Val.Type != sema.Double {
			return v.Val.String() == c.Value, true
		}
		if x := parseRational(c.Value); r.Exact && x != nil && v.Val.Rat != nil {
			return x.Cmp(v.Val.Rat) == 0, true
		}
		x, ok := parseQuotient(c.Value)
		return equalConstants(v.Val.Float, x), ok
	}
	return false, true
}

// equalConstants is PRISM's comparison of constants: relative, within 1e-12.
func equalConstants(x, y float64) bool {
	if math.IsInf(x, 0) || math.IsInf(y, 0) || y == 0 {
		return x == y
	}
	return math.Abs((x-y)/x) < 1e-12
}
