package expect

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// Check returns the mistakes in the annotations of a properties file, in the order of the file, as far as the file alone
// shows them: malformed annotations, those that an earlier one always precedes, and those that are not directly above a
// property.
func Check(src []byte, file *syntax.Properties) []Mistake {
	var out []Mistake
	var blocks [][2]int32 // begin and end of the comments that belong to properties
	for _, item := range file.Items {
		p, ok := item.(*syntax.Property)
		if !ok || len(p.Doc) == 0 {
			continue
		}
		b := newBlock(src, p)
		blocks = append(blocks, [2]int32{b.start.Offset, b.start.Offset + int32(len(b.src))})
		es, ts := Parse(src, p), ParseTerms(src, p)
		out = append(out, malformedAnnotations(es)...)
		for i := range ts {
			out = append(out, ts[i].mistakes...)
			out = append(out, conditionMistakes(ts[i].Conditions)...)
		}
		out = append(out, shadowedAnnotations(es, ts)...)
		out = append(out, b.lookalikes(es, ts)...)
	}
	out = append(out, detachedAnnotations(src, blocks)...)
	slices.SortStableFunc(out, func(a, b Mistake) int { return a.Pos.Compare(b.Pos) })
	return out
}

// malformedAnnotations reports conditions and values that cannot be parsed.
func malformedAnnotations(es []Expectation) []Mistake {
	var out []Mistake
	for i := range es {
		out = append(out, conditionMistakes(es[i].Conditions)...)
		if msg := valueMistake(es[i].Value); msg != "" {
			out = append(out, Mistake{es[i].ValuePos, msg})
		}
	}
	return out
}

func conditionMistakes(cs []Condition) []Mistake {
	var out []Mistake
	for _, c := range cs {
		if !c.OK {
			out = append(out, Mistake{c.Pos, fmt.Sprintf("found the condition %q, want name=value", c.Text)})
		}
	}
	return out
}

// curveForm matches a Pareto curve.
var curveForm = regexp.MustCompile(`^\[\([^(),]+(,[^(),]+)+\)(,\([^(),]+(,[^(),]+)+\))*\]$`)

// valueMistake returns what is wrong with the form of a value; "" if nothing is.
func valueMistake(value string) string {
	text := strings.TrimPrefix(value, "~")
	list, words := strings.CutPrefix(value, "Error:")
	switch {
	case value == "?" || value == "Error" || curveForm.MatchString(value):
		return ""
	case strings.HasPrefix(text, "[("):
		return fmt.Sprintf("found %q, want points without blanks, as in [(0.5,1.0),(1.0,0.5)]", value)
	case words:
		if slices.Contains(strings.Split(strings.TrimRight(list, ","), ","), "") {
			return fmt.Sprintf("found an empty word in %q, want Error:word,word", value)
		}
		return ""
	case interval.MatchString(text):
		m := interval.FindStringSubmatch(text)
		lo, ok := parseDouble(m[1])
		hi, too := parseDouble(m[2])
		if !ok || !too {
			return fmt.Sprintf("found the interval %s, want two numbers", text)
		}
		if lo > hi {
			return fmt.Sprintf("the interval %s is empty, want the smaller number first", text)
		}
		return ""
	case strings.HasPrefix(text, "["):
		return fmt.Sprintf("found %q, want an interval without blanks, as in [0.2,0.4]", text)
	}
	if _, ok := parseDouble(text); ok || parseRational(text) != nil {
		return ""
	}
	if _, err := syntax.ParseExpr("", []byte(text)); err != nil {
		return fmt.Sprintf("found the value %q, want a number, a fraction, an interval, true, false, Error, ? or an expression", value)
	}
	return ""
}

// shadowedAnnotations reports annotations that are never selected, because an earlier one fits whenever they do.
func shadowedAnnotations(es []Expectation, ts []Terms) []Mistake {
	var out []Mistake
	hides := func(what string, earlier, later []Condition, at, by syntax.Pos) bool {
		if !impliedBy(earlier, later) {
			return false
		}
		out = append(out, Mistake{at, fmt.Sprintf("this %s never counts, the one at %s fits first", what, by)})
		return true
	}
	for i := range es {
		for j := range i {
			if hides("RESULT", es[j].Conditions, es[i].Conditions, es[i].Pos, es[j].Pos) {
				break
			}
		}
	}
	for i := range ts {
		for j := range i {
			if hides(keyword, ts[j].Conditions, ts[i].Conditions, ts[i].Pos, ts[j].Pos) {
				break
			}
		}
	}
	return out
}

// impliedBy reports whether the conditions a hold whenever the conditions b hold.
func impliedBy(a, b []Condition) bool {
	for _, c := range a {
		same := func(d Condition) bool { return c.OK && d.OK && c.Name == d.Name && c.Value == d.Value }
		if !slices.ContainsFunc(b, same) {
			return false
		}
	}
	return true
}

// lookalike matches text that a reader may take for an annotation.
var lookalike = regexp.MustCompile(`\bRESULTS?\b|^[ \t]*(?i:result)[ \t]*[:(={]|\bTILECHECK\b|^[ \t]*(?i:tilecheck)[ \t]*[:(={]`)

// lookalikes reports comments that look like annotations but are not.
func (b *block) lookalikes(es []Expectation, ts []Terms) []Mistake {
	var known []int32
	for i := range es {
		known = append(known, es[i].Pos.Offset)
	}
	for i := range ts {
		known = append(known, ts[i].Pos.Offset)
	}
	var out []Mistake
	for off := 0; off < len(b.text); {
		next := off + lineEnd(b.text[off:])
		m := lookalike.FindIndex(b.text[off:next])
		from, to := b.start.Offset+int32(off), b.start.Offset+int32(next)
		if m != nil && !slices.ContainsFunc(known, func(at int32) bool { return from <= at && at < to }) {
			at := off + m[0] + len(b.text[off+m[0]:off+m[1]]) - len(bytes.TrimLeft(b.text[off+m[0]:off+m[1]], " \t"))
			out = append(out, Mistake{b.pos(at), "this looks like an annotation and is none, want RESULT: value or TILECHECK: term=value"})
		}
		off = next
	}
	return out
}

// commentedOut reports whether the comments at the beginning of src contain a property.
func commentedOut(src []byte) bool {
	var text []byte
	for len(src) > 0 {
		line := src[:lineEnd(src)]
		rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("//"))
		if !ok {
			break
		}
		src = src[len(line):]
		if !annotation.Match(rest) && !termsAnnotation.Match(rest) {
			text = append(append(text, rest...), '\n')
		}
	}
	file, err := syntax.ParseProperties("", text)
	return err == nil && len(file.Items) > 0
}

// detachedAnnotations reports annotations in comments that belong neither to a property nor to one that is commented out.
func detachedAnnotations(src []byte, blocks [][2]int32) []Mistake {
	var out []Mistake
	line := int32(0)
	for off := 0; off < len(src); {
		next := off + lineEnd(src[off:])
		line++
		slashes := bytes.Index(src[off:next], []byte("//"))
		if slashes >= 0 {
			text := src[off+slashes : next]
			m := annotation.FindIndex(text)
			if m == nil {
				m = termsAnnotation.FindIndex(text)
			}
			if m != nil {
				at := syntax.Pos{Offset: int32(off + slashes + m[0]), Line: line, Col: int32(slashes+m[0]) + 1}
				inside := func(b [2]int32) bool { return b[0] <= at.Offset && at.Offset < b[1] }
				if !slices.ContainsFunc(blocks, inside) && !commentedOut(src[next:]) {
					out = append(out, Mistake{at, "this annotation belongs to no property, want it in the lines directly above one"})
				}
			}
		}
		off = next
	}
	return out
}

var termsAnnotation = regexp.MustCompile(`\bTILECHECK[ \t]*(\([^)]*\))?[ \t]*:`)
