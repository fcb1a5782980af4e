package regress

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/verify/expect"
)

// change replaces the bytes from From to To.
type change struct {
	from, to int
	text     string
}

// editor edits one file.
type editor struct {
	*blesser
	*blessFile
	changes []change
	wanted  map[*item]string // the value that each item is to choose
}

// edit returns the new text. An error is a mistake of this program: the new text does not have the wanted annotations.
func (e *editor) edit() ([]byte, error) {
	e.wanted = make(map[*item]string)
	for _, x := range e.tree.Items {
		if p, ok := x.(*syntax.Property); ok && len(e.proposals[p.Pos()]) > 0 {
			e.editProperty(p, e.proposals[p.Pos()])
		}
	}
	slices.SortStableFunc(e.changes, func(a, b change) int { return cmp.Compare(a.from, b.from) })
	var out []byte
	at := 0
	for _, c := range e.changes {
		out = append(append(out, e.text[at:c.from]...), c.text...)
		at = c.to
	}
	out = append(out, e.text[at:]...)
	if len(e.changes) == 0 {
		return out, nil
	}
	return out, e.verify(out)
}

// editProperty makes the changes for one property: it replaces values, and adds lines above the property.
func (e *editor) editProperty(p *syntax.Property, proposals []proposal) {
	replaced := make(map[int32][]proposal) // by the place of the value
	var added []proposal
	all := true // whether every item has a value
	for _, w := range proposals {
		switch {
		case w.keep:
		case w.value == "":
			all = false
		case w.replaces != nil:
			at := w.replaces.ValuePos.Offset
			replaced[at] = append(replaced[at], w)
		default:
			added = append(added, w)
		}
	}
	var places []int32
	for at := range replaced {
		places = append(places, at)
	}
	slices.Sort(places)
	for _, at := range places {
		e.replace(p, replaced[at], proposals)
	}
	if len(added) > 0 {
		e.addLines(p, added, all && len(added)+countKept(proposals) == len(proposals))
	}
}

func countKept(proposals []proposal) int {
	n := 0
	for _, w := range proposals {
		if w.keep {
			n++
		}
	}
	return n
}

// replace writes another value into an annotation. All items that choose it must have the same value.
func (e *editor) replace(p *syntax.Property, ws, all []proposal) {
	old := ws[0].replaces
	for _, w := range all {
		choosesIt := w.item.chosen.Result != nil && w.item.chosen.Result.ValuePos == old.ValuePos
		if choosesIt && (w.keep || w.value != ws[0].value || w.terms != "") {
			e.skip(e.blessFile, p.Pos(), ws[0].item.task.Text,
				fmt.Sprintf("the annotation in line %d fails for some valuations of the constants only, or would need terms", old.Pos.Line))
			return
		}
	}
	from := int(old.ValuePos.Offset)
	e.changes = append(e.changes, change{from, from + len(old.Value), ws[0].value})
	e.out.Updated++
	for _, w := range ws {
		e.wanted[w.item] = w.value
	}
}

// addLines adds lines above a property. complete says that all items have a value or had one before.
func (e *editor) addLines(p *syntax.Property, ws []proposal, complete bool) {
	lines, why := annotations(ws, complete)
	indent, at, ok := e.lineStart(p)
	if !ok {
		why = "something stands before the property in its line"
	}
	if why != "" {
		e.skip(e.blessFile, p.Pos(), ws[0].item.task.Text, why)
		return
	}
	eol := e.lineEnd(at)
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(indent + "// " + line + eol)
	}
	e.changes = append(e.changes, change{at, at, text.String()})
	e.out.Added += len(lines)
	for _, w := range ws {
		e.wanted[w.item] = w.value
	}
}

// maxLines is the largest number of annotations of one property.
const maxLines = 200

// annotations returns the comments for items: one without conditions if all have the same value, otherwise one for each
// valuation of the constants that vary.
func annotations(ws []proposal, complete bool) (lines []string, why string) {
	same := !slices.ContainsFunc(ws, func(w proposal) bool { return w.value != ws[0].value || w.terms != ws[0].terms })
	if same && complete {
		return linesOf(ws[0], ""), ""
	}
	names := varying(ws, (*item).constants)
	if !sameConditionsSameValue(ws, names, (*item).constants) {
		names = varying(ws, (*item).allConstants)
		if len(names) == 0 || !sameConditionsSameValue(ws, names, (*item).allConstants) {
			return nil, "it has different values in different tests, and no constant tells them apart"
		}
		return conditional(ws, names, (*item).allConstants)
	}
	if len(names) == 0 {
		return nil, "it has no value in some tests, and no constant tells them apart"
	}
	return conditional(ws, names, (*item).constants)
}

// allConstants returns all constants with a value, those of the model and the file too.
func (it *item) allConstants() []result.Constant {
	var out []result.Constant
	for _, c := range it.rules.Constants {
		out = append(out, result.Constant{Name: c.Name, Value: c.Val.String()})
	}
	return out
}

// varying lists the constants that all items have, and that have several values or are given from outside.
func varying(ws []proposal, of func(*item) []result.Constant) []string {
	var out []string
	for _, c := range of(ws[0].item) {
		several, everywhere := false, true
		for _, w := range ws {
			v, ok := constantValue(of(w.item), c.Name)
			everywhere = everywhere && ok
			several = several || v != c.Value
		}
		if everywhere && (several || len(ws) == 1) {
			out = append(out, c.Name)
		}
	}
	return out
}

func constantValue(cs []result.Constant, name string) (string, bool) {
	for _, c := range cs {
		if c.Name == name {
			return c.Value, true
		}
	}
	return "", false
}

func conditionsOf(it *item, names []string, of func(*item) []result.Constant) string {
	var parts []string
	for _, n := range names {
		v, _ := constantValue(of(it), n)
		parts = append(parts, n+"="+it.conditionText(n, v))
	}
	return strings.Join(parts, ",")
}

// conditionText is the value of a constant in a condition: a fraction if no decimal number is exact, for tests with
// -exact.
func (it *item) conditionText(name, text string) string {
	for _, c := range it.rules.Constants {
		if c.Name != name || c.Val.Type != sema.Double || c.Val.Rat == nil {
			continue
		}
		if x, ok := new(big.Rat).SetString(text); !ok || x.Cmp(c.Val.Rat) != 0 {
			return c.Val.Rat.RatString()
		}
	}
	return text
}

// sameConditionsSameValue reports whether items with the same conditions have the same value.
func sameConditionsSameValue(ws []proposal, names []string, of func(*item) []result.Constant) bool {
	seen := make(map[string]proposal)
	for _, w := range ws {
		key := conditionsOf(w.item, names, of)
		if old, ok := seen[key]; ok && (old.value != w.value || old.terms != w.terms) {
			return false
		}
		seen[key] = w
	}
	return true
}

func conditional(ws []proposal, names []string, of func(*item) []result.Constant) (lines []string, why string) {
	seen := make(map[string]bool)
	for _, w := range ws {
		conditions := conditionsOf(w.item, names, of)
		if !seen[conditions] {
			seen[conditions] = true
			lines = append(lines, linesOf(w, " ("+conditions+")")...)
		}
	}
	if len(lines) > maxLines {
		return nil, fmt.Sprintf("it has %d valuations of the constants, of which more than %d are too many", len(lines), maxLines)
	}
	return lines, ""
}

func linesOf(w proposal, conditions string) []string {
	lines := []string{"RESULT" + conditions + ": " + w.value + " (" + w.how + ")"}
	if w.terms != "" {
		lines = append(lines, "TILECHECK"+conditions+": "+w.terms)
	}
	return lines
}

// lineStart returns the offset for lines above a property, and their indentation. It reports false if the property does
// not begin its line.
func (e *editor) lineStart(p *syntax.Property) (indent string, at int, ok bool) {
	off := int(p.Pos().Offset)
	at = bytes.LastIndexAny(e.text[:off], "\r\n") + 1
	indent = string(e.text[at:off])
	return indent, at, strings.Trim(indent, " \t") == ""
}

// lineEnd returns the line ending near an offset.
func (e *editor) lineEnd(at int) string {
	for _, text := range [][]byte{e.text[:at], e.text[at:]} {
		i := bytes.LastIndexAny(text, "\r\n")
		switch {
		case i < 0:
		case text[i] == '\n' && i > 0 && text[i-1] == '\r':
			return "\r\n"
		default:
			return string(text[i : i+1])
		}
	}
	return "\n"
}

// verify reads the new text and checks it.
func (e *editor) verify(after []byte) error {
	tree, err := syntax.ParseProperties(e.name, after)
	if err != nil {
		return fmt.Errorf("the annotated file cannot be read: %w", err)
	}
	if len(tree.Items) != len(e.tree.Items) {
		return errors.New("the annotated file has other properties")
	}
	for i, x := range e.tree.Items {
		p, ok := x.(*syntax.Property)
		if !ok {
			continue
		}
		q, ok := tree.Items[i].(*syntax.Property)
		if !ok || q.String() != p.String() {
			return errors.New("the annotated file has other properties")
		}
		for _, w := range e.proposals[p.Pos()] {
			want, ok := e.wanted[w.item]
			if !ok {
				continue
			}
			got, err := expect.Select(expect.Parse(after, q), w.item.rules)
			if err != nil || got.Value != want {
				return fmt.Errorf("%v: the annotation %s is not chosen: %w", p.Pos(), want, cmp.Or(err, errors.New("another one is")))
			}
		}
	}
	return nil
}
