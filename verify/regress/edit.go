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

// editor makes the changes of one file.
type editor struct {
	*blesser
	*blessFile
	changes []change
	meant   map[*item]string // the value that each item is to choose
}

// edit returns the new text. The error says that the result is not what was
// meant, which is a mistake of this program.
func (e *editor) edit() ([]byte, error) {
	e.meant = make(map[*item]string)
	for _, x := range e.tree.Items {
		if p, ok := x.(*syntax.Property); ok && len(e.wishes[p.Pos()]) > 0 {
			e.property(p, e.wishes[p.Pos()])
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

// property makes the changes for one property: values that are replaced, and
// lines that are added above it.
func (e *editor) property(p *syntax.Property, wishes []wish) {
	replaced := make(map[int32][]wish) // by the place of the value
	var added []wish
	all := true // whether every item has a value
	for _, w := range wishes {
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
		e.replace(p, replaced[at], wishes)
	}
	if len(added) > 0 {
		e.add(p, added, all && len(added)+kept(wishes) == len(wishes))
	}
}

func kept(wishes []wish) int {
	n := 0
	for _, w := range wishes {
		if w.keep {
			n++
		}
	}
	return n
}

// replace writes another value into an annotation. All items that choose it must
// want the same one.
func (e *editor) replace(p *syntax.Property, ws, all []wish) {
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
		e.meant[w.item] = w.value
	}
}

// add writes new lines above a property; complete says that all of its items
// have one or had one already.
func (e *editor) add(p *syntax.Property, ws []wish, complete bool) {
	lines, why := annotations(ws, complete)
	indent, at, ok := e.above(p)
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
		e.meant[w.item] = w.value
	}
}

// maxLines is how many annotations one property gets at most.
const maxLines = 200

// annotations are the comments for items: one without conditions if they all
// have one value, else one per valuation of the constants that vary.
func annotations(ws []wish, complete bool) (lines []string, why string) {
	same := !slices.ContainsFunc(ws, func(w wish) bool { return w.value != ws[0].value || w.terms != ws[0].terms })
	if same && complete {
		return linesOf(ws[0], ""), ""
	}
	names := varying(ws, (*item).constants)
	if !separate(ws, names, (*item).constants) {
		names = varying(ws, (*item).allConstants)
		if len(names) == 0 || !separate(ws, names, (*item).allConstants) {
			return nil, "it has different values in different tests, and no constant tells them apart"
		}
		return conditional(ws, names, (*item).allConstants)
	}
	if len(names) == 0 {
		return nil, "it has no value in some tests, and no constant tells them apart"
	}
	return conditional(ws, names, (*item).constants)
}

// allConstants are those of the model and the file, too, that have values.
func (it *item) allConstants() []result.Constant {
	var out []result.Constant
	for _, c := range it.rules.Constants {
		out = append(out, result.Constant{Name: c.Name, Value: c.Val.String()})
	}
	return out
}

// varying lists the constants that all items have, and that have several values
// or are given from outside.
func varying(ws []wish, of func(*item) []result.Constant) []string {
	var out []string
	for _, c := range of(ws[0].item) {
		several, everywhere := false, true
		for _, w := range ws {
			v, ok := lookup(of(w.item), c.Name)
			everywhere = everywhere && ok
			several = several || v != c.Value
		}
		if everywhere && (several || len(ws) == 1) {
			out = append(out, c.Name)
		}
	}
	return out
}

func lookup(cs []result.Constant, name string) (string, bool) {
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
		v, _ := lookup(of(it), n)
		parts = append(parts, n+"="+it.conditionText(n, v))
	}
	return strings.Join(parts, ",")
}

// conditionText is the value of a constant as a condition has it: a fraction
// where no decimal number is as exact, which tests with -exact want.
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

// separate reports whether items with the same conditions have the same value.
func separate(ws []wish, names []string, of func(*item) []result.Constant) bool {
	seen := make(map[string]wish)
	for _, w := range ws {
		key := conditionsOf(w.item, names, of)
		if old, ok := seen[key]; ok && (old.value != w.value || old.terms != w.terms) {
			return false
		}
		seen[key] = w
	}
	return true
}

func conditional(ws []wish, names []string, of func(*item) []result.Constant) (lines []string, why string) {
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

func linesOf(w wish, conditions string) []string {
	lines := []string{"RESULT" + conditions + ": " + w.value + " (" + w.how + ")"}
	if w.terms != "" {
		lines = append(lines, "TILECHECK"+conditions+": "+w.terms)
	}
	return lines
}

// above returns where lines above a property go, and how they are indented. It
// reports false if the property does not begin its line.
func (e *editor) above(p *syntax.Property) (indent string, at int, ok bool) {
	off := int(p.Pos().Offset)
	at = bytes.LastIndexAny(e.text[:off], "\r\n") + 1
	indent = string(e.text[at:off])
	return indent, at, strings.Trim(indent, " \t") == ""
}

// lineEnd is how lines end around a place.
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

// verify reads the new text back.
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
		for _, w := range e.wishes[p.Pos()] {
			want, ok := e.meant[w.item]
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
