package regress

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/verify/expect"
)

// change replaces the bytes in [from, to) by text.
type change struct {
	from, to int
	text     string
}

// editor writes the proposals for one properties file into its text.
type editor struct {
	*blesser
	*propertiesFile
	changes        []change
	expectedValues map[*propertyInstance]string // the value that each instance must choose in the new text
}

// edit returns the new text of the file. It returns an error if the new text does not have the annotations that it should have, which is a bug of
// this program.
func (e *editor) edit() ([]byte, error) {
	e.expectedValues = make(map[*propertyInstance]string)
	for _, node := range e.tree.Items {
		if property, ok := node.(*syntax.Property); ok && len(e.proposals[property.Pos()]) > 0 {
			e.editProperty(property, e.proposals[property.Pos()])
		}
	}
	slices.SortStableFunc(e.changes, func(first, second change) int { return cmp.Compare(first.from, second.from) })
	var edited []byte
	copied := 0 // the number of bytes of the old text that are copied or replaced
	for _, change := range e.changes {
		edited = append(append(edited, e.text[copied:change.from]...), change.text...)
		copied = change.to
	}
	edited = append(edited, e.text[copied:]...)
	if len(e.changes) == 0 {
		return edited, nil
	}
	return edited, e.checkEdited(edited)
}

// editProperty makes the changes for one property: it replaces values of annotations, and adds lines above the property.
func (e *editor) editProperty(property *syntax.Property, proposals []proposal) {
	replaced := make(map[int32][]proposal) // by the offset of the value
	var added []proposal
	allHaveValues := true
	for _, proposed := range proposals {
		switch {
		case proposed.hasExpectation:
		case proposed.value == "":
			allHaveValues = false
		case proposed.replaces != nil:
			offset := proposed.replaces.ValuePos.Offset
			replaced[offset] = append(replaced[offset], proposed)
		default:
			added = append(added, proposed)
		}
	}
	for _, offset := range slices.Sorted(maps.Keys(replaced)) {
		e.replaceValue(property, replaced[offset], proposals)
	}
	if len(added) > 0 {
		complete := allHaveValues && len(added)+countExpected(proposals) == len(proposals)
		e.addLines(property, added, complete)
	}
}

// countExpected returns the number of proposals whose instance keeps its annotation.
func countExpected(proposals []proposal) int {
	count := 0
	for _, proposed := range proposals {
		if proposed.hasExpectation {
			count++
		}
	}
	return count
}

// replaceValue writes another value into an annotation. It skips the property unless all instances that choose the annotation have the new
// value and need no terms.
func (e *editor) replaceValue(property *syntax.Property, replacements, proposals []proposal) {
	old := replacements[0].replaces
	for _, proposed := range proposals {
		choosesOld := proposed.instance.chosen.Result != nil && proposed.instance.chosen.Result.ValuePos == old.ValuePos
		if choosesOld && (proposed.hasExpectation || proposed.value != replacements[0].value || proposed.terms != "") {
			e.addSkip(e.propertiesFile, property.Pos(), replacements[0].instance.task.Text,
				fmt.Sprintf("the annotation in line %d fails for some valuations of the constants only, or would need terms", old.Pos.Line))
			return
		}
	}
	from := int(old.ValuePos.Offset)
	e.changes = append(e.changes, change{from, from + len(old.Value), replacements[0].value})
	e.blessing.Updated++
	for _, proposed := range replacements {
		e.expectedValues[proposed.instance] = proposed.value
	}
}

// addLines adds annotations in lines above a property. complete says that every instance of the property has a new value or keeps its annotation.
func (e *editor) addLines(property *syntax.Property, added []proposal, complete bool) {
	lines, reason := annotations(added, complete)
	indent, offset, ok := e.lineStart(property)
	if !ok {
		reason = "something stands before the property in its line"
	}
	if reason != "" {
		e.addSkip(e.propertiesFile, property.Pos(), added[0].instance.task.Text, reason)
		return
	}
	lineEnding := e.lineEnd(offset)
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(indent + "// " + line + lineEnding)
	}
	e.changes = append(e.changes, change{offset, offset, text.String()})
	e.blessing.Added += len(lines)
	for _, proposed := range added {
		e.expectedValues[proposed.instance] = proposed.value
	}
}

// maxLines is the largest number of annotations of one property.
const maxLines = 200

// annotations returns the annotations for the proposals. If all proposals have the same value and complete is true, it returns one annotation without
// conditions. Otherwise it returns one for each valuation of the constants that distinguish the values. If no constants distinguish them, it returns
// the reason why there are no annotations.
func annotations(proposals []proposal, complete bool) (lines []string, reason string) {
	differs := func(proposed proposal) bool {
		return proposed.value != proposals[0].value || proposed.terms != proposals[0].terms
	}
	if complete && !slices.ContainsFunc(proposals, differs) {
		return annotationLines(proposals[0], ""), ""
	}
	own, all := (*propertyInstance).constants, (*propertyInstance).allConstants
	names := distinguishingConstants(proposals, own)
	if sameConditionsSameValue(proposals, names, own) {
		if len(names) == 0 {
			return nil, "it has no value in some tests, and no constant tells them apart"
		}
		return conditionalLines(proposals, names, own)
	}
	names = distinguishingConstants(proposals, all)
	if len(names) == 0 || !sameConditionsSameValue(proposals, names, all) {
		return nil, "it has different values in different tests, and no constant tells them apart"
	}
	return conditionalLines(proposals, names, all)
}

// allConstants returns all constants of the model and of the properties file that have a value.
func (instance *propertyInstance) allConstants() []result.Constant {
	var out []result.Constant
	for _, constant := range instance.rules.Constants {
		out = append(out, result.Constant{Name: constant.Name, Value: constant.Val.String()})
	}
	return out
}

// distinguishingConstants returns the names of the constants that all instances have and whose values differ. If there is only one proposal, it returns
// all constants of its instance. constantsOf returns the constants of an instance that are considered.
func distinguishingConstants(proposals []proposal, constantsOf func(*propertyInstance) []result.Constant) []string {
	var out []string
	for _, constant := range constantsOf(proposals[0].instance) {
		differs, inAll := false, true
		for _, proposed := range proposals {
			value, ok := constantValue(constantsOf(proposed.instance), constant.Name)
			inAll = inAll && ok
			differs = differs || value != constant.Value
		}
		if inAll && (differs || len(proposals) == 1) {
			out = append(out, constant.Name)
		}
	}
	return out
}

// constantValue returns the value of a constant in a list. It returns false if the list does not have the constant.
func constantValue(constants []result.Constant, name string) (string, bool) {
	for _, constant := range constants {
		if constant.Name == name {
			return constant.Value, true
		}
	}
	return "", false
}

// conditionsOf returns the conditions of an annotation, such as N=3,p=0.5, from the values of the named constants in an instance.
func conditionsOf(instance *propertyInstance, names []string, constantsOf func(*propertyInstance) []result.Constant) string {
	var parts []string
	for _, name := range names {
		value, _ := constantValue(constantsOf(instance), name)
		parts = append(parts, name+"="+instance.conditionText(name, value))
	}
	return strings.Join(parts, ",")
}

// conditionText returns the text of a constant's value in a condition. It is a fraction if the given decimal text is not exactly the value, which
// happens in tests with -exact.
func (instance *propertyInstance) conditionText(name, text string) string {
	for _, constant := range instance.rules.Constants {
		if constant.Name != name || constant.Val.Type != sema.Double || constant.Val.Rat == nil {
			continue
		}
		if fraction, ok := new(big.Rat).SetString(text); !ok || fraction.Cmp(constant.Val.Rat) != 0 {
			return constant.Val.Rat.RatString()
		}
	}
	return text
}

// sameConditionsSameValue reports whether instances with the same conditions have the same value and terms.
func sameConditionsSameValue(proposals []proposal, names []string, constantsOf func(*propertyInstance) []result.Constant) bool {
	seen := make(map[string]proposal)
	for _, proposed := range proposals {
		key := conditionsOf(proposed.instance, names, constantsOf)
		if earlier, ok := seen[key]; ok && (earlier.value != proposed.value || earlier.terms != proposed.terms) {
			return false
		}
		seen[key] = proposed
	}
	return true
}

// conditionalLines returns one annotation for each valuation of the named constants, or the reason why there are too many.
func conditionalLines(proposals []proposal, names []string, constantsOf func(*propertyInstance) []result.Constant) (lines []string, reason string) {
	seen := make(map[string]bool)
	for _, proposed := range proposals {
		conditions := conditionsOf(proposed.instance, names, constantsOf)
		if !seen[conditions] {
			seen[conditions] = true
			lines = append(lines, annotationLines(proposed, " ("+conditions+")")...)
		}
	}
	if len(lines) > maxLines {
		return nil, fmt.Sprintf("it has %d valuations of the constants, of which more than %d are too many", len(lines), maxLines)
	}
	return lines, ""
}

// annotationLines returns the comments of one proposal: its RESULT line and, if it has terms, its TILECHECK line.
func annotationLines(proposed proposal, conditions string) []string {
	lines := []string{"RESULT" + conditions + ": " + proposed.value + " (" + proposed.origin + ")"}
	if proposed.terms != "" {
		lines = append(lines, "TILECHECK"+conditions+": "+proposed.terms)
	}
	return lines
}

// lineStart returns the offset at which lines above a property are inserted, and the indentation of the property. It returns false if other text
// stands before the property in its line.
func (e *editor) lineStart(property *syntax.Property) (indent string, offset int, ok bool) {
	start := int(property.Pos().Offset)
	offset = bytes.LastIndexAny(e.text[:start], "\r\n") + 1
	indent = string(e.text[offset:start])
	return indent, offset, strings.Trim(indent, " \t") == ""
}

// lineEnd returns the line ending that the text uses near an offset. It is the last line ending before the offset or, if there is none, the last
// line ending of the text.
func (e *editor) lineEnd(offset int) string {
	for _, text := range [][]byte{e.text[:offset], e.text[offset:]} {
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

// checkEdited parses the new text. It returns an error unless the properties are the old ones and each chooses its new annotation.
func (e *editor) checkEdited(edited []byte) error {
	tree, err := syntax.ParseProperties(e.name, edited)
	if err != nil {
		return fmt.Errorf("the annotated file cannot be read: %w", err)
	}
	errOtherProperties := errors.New("the annotated file has other properties")
	if len(tree.Items) != len(e.tree.Items) {
		return errOtherProperties
	}
	for i, item := range e.tree.Items {
		property, ok := item.(*syntax.Property)
		if !ok {
			continue
		}
		parsed, ok := tree.Items[i].(*syntax.Property)
		if !ok || parsed.String() != property.String() {
			return errOtherProperties
		}
		if err := e.checkChosen(edited, property, parsed); err != nil {
			return err
		}
	}
	return nil
}

// checkChosen returns an error if an instance of a property does not choose its new annotation. parsed is the property in the new text.
func (e *editor) checkChosen(edited []byte, property, parsed *syntax.Property) error {
	for _, proposed := range e.proposals[property.Pos()] {
		want, ok := e.expectedValues[proposed.instance]
		if !ok {
			continue
		}
		chosen, err := expect.Select(expect.Parse(edited, parsed), proposed.instance.rules)
		if err != nil || chosen.Value != want {
			return fmt.Errorf("%v: the annotation %s is not chosen: %w", property.Pos(), want, cmp.Or(err, errors.New("another one is")))
		}
	}
	return nil
}
