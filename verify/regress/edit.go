package regress

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/verify/expect"
)

// change is one change of a file: text replaces its bytes from offset from up to, but not including, offset to.
type change struct {
	begin, end int
	text       string
}

// editor writes the proposals for one properties file into its text.
type editor struct {
	*annotationWriter
	*propertiesFile
	changes        []change
	expectedValues map[*propertyInstance]string // the value that each instance is to choose
}

// edit returns the text of the file with the proposed values in its annotations. It checks that the new text has the same properties, and that
// the new annotations apply to the instances for which they were written.
func (e *editor) edit() ([]byte, error) {
	e.expectedValues = make(map[*propertyInstance]string)
	for _, item := range e.tree.Items {
		property, ok := item.(*syntax.Property)
		if ok && len(e.proposals[property.Pos()]) > 0 {
			e.editProperty(property, e.proposals[property.Pos()])
		}
	}
	edited := e.applyChanges()
	if len(e.changes) == 0 {
		return edited, nil
	}
	return edited, e.checkEdited(edited)
}

// applyChanges returns the text of the file with all changes applied.
func (e *editor) applyChanges() []byte {
	slices.SortStableFunc(e.changes, func(left, right change) int { return cmp.Compare(left.begin, right.begin) })
	var edited []byte
	copied := 0 // bytes of the old text that are copied or replaced
	for _, change := range e.changes {
		edited = append(edited, e.text[copied:change.begin]...)
		edited = append(edited, change.text...)
		copied = change.end
	}
	return append(edited, e.text[copied:]...)
}

// editProperty records the changes for one property: new values in annotations that fail, and new lines with annotations above the property.
func (e *editor) editProperty(property *syntax.Property, proposals []proposal) {
	replacements := make(map[int32][]proposal) // by the offset of the replaced value
	var newProposals []proposal
	for _, proposed := range proposals {
		switch {
		case proposed.keepsAnnotation || proposed.value == "":
		case proposed.oldResult != nil:
			offset := proposed.oldResult.ValuePos.Offset
			replacements[offset] = append(replacements[offset], proposed)
		default:
			newProposals = append(newProposals, proposed)
		}
	}
	for _, offset := range slices.Sorted(maps.Keys(replacements)) {
		e.replaceValue(property, replacements[offset], proposals)
	}
	if len(newProposals) > 0 {
		// A line without conditions applies to all instances, so each instance must have a new value or keep its annotation.
		coversAll := len(newProposals)+countExpected(proposals) == len(proposals)
		e.addLines(property, newProposals, coversAll)
	}
}

// countExpected returns the number of proposals for instances that keep their annotations.
func countExpected(proposals []proposal) int {
	count := 0
	for _, proposed := range proposals {
		if proposed.keepsAnnotation {
			count++
		}
	}
	return count
}

// replaceValue replaces the value of an annotation by the new value in replacements. It skips the property unless all instances with this annotation
// get the same new value, without terms of sampling. proposals are all proposals for the property.
func (e *editor) replaceValue(property *syntax.Property, replacements, proposals []proposal) {
	oldResult, newValue := replacements[0].oldResult, replacements[0].value
	for _, proposed := range proposals {
		result := proposed.instance.annotations.Result
		hasOldAnnotation := result != nil && result.ValuePos == oldResult.ValuePos
		fitsNewValue := !proposed.keepsAnnotation && proposed.value == newValue && proposed.terms == ""
		if hasOldAnnotation && !fitsNewValue {
			e.addSkip(e.propertiesFile, property.Pos(), replacements[0].instance.task.Text,
				fmt.Sprintf("the annotation in line %d fails for some valuations of the constants only, or would need terms", oldResult.Pos.Line))
			return
		}
	}
	begin := int(oldResult.ValuePos.Offset)
	e.changes = append(e.changes, change{begin, begin + len(oldResult.Value), newValue})
	e.blessing.Updated++
	for _, proposed := range replacements {
		e.expectedValues[proposed.instance] = proposed.value
	}
}

// addLines adds annotations in lines above a property, or records why this is impossible. coversAll reports whether each instance of the property
// gets an annotation or has one.
func (e *editor) addLines(property *syntax.Property, added []proposal, coversAll bool) {
	lines, reason := annotationLines(added, coversAll)
	indent, offset, ok := e.lineStart(property)
	if !ok {
		reason = "the property does not start its line"
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

// maxLines is the largest number of lines that are added above one property.
const maxLines = 200

// annotationLines returns the annotation lines for the proposals, or the reason why there are none. If all values are equal and coversAll is true, one
// line is enough. Otherwise each line needs conditions on the constants that distinguish the proposals.
func annotationLines(proposals []proposal, coversAll bool) (lines []string, reason string) {
	differs := func(proposed proposal) bool {
		return proposed.value != proposals[0].value || proposed.terms != proposals[0].terms
	}
	if coversAll && !slices.ContainsFunc(proposals, differs) {
		return linesOfProposal(proposals[0], ""), ""
	}
	// The conditions use constants with several values in the test. If these are not enough, they use all constants.
	variedConstants, allConstants := (*propertyInstance).constants, (*propertyInstance).allConstants
	names := distinguishingConstants(proposals, variedConstants)
	if sameConditionsSameValue(proposals, names, variedConstants) {
		if len(names) == 0 {
			return nil, "it has no value in some tests, and no constant tells them apart"
		}
		return conditionalLines(proposals, names, variedConstants)
	}
	names = distinguishingConstants(proposals, allConstants)
	if len(names) == 0 || !sameConditionsSameValue(proposals, names, allConstants) {
		return nil, "it has different values in different tests, and no constant tells them apart"
	}
	return conditionalLines(proposals, names, allConstants)
}

// allConstants returns the values of all constants of an instance, including the constants that are defined in the files.
func (instance *propertyInstance) allConstants() []result.Constant {
	var constants []result.Constant
	for _, constant := range instance.rules.Constants {
		constants = append(constants, result.Constant{Name: constant.Name, Value: constant.Val.ExactText()})
	}
	return constants
}

// distinguishingConstants returns the names of the constants that have a value in all proposals, and different values in at least two of them. For a
// single proposal, it returns all constants. constantsOf returns the constants of an instance.
func distinguishingConstants(proposals []proposal, constantsOf func(*propertyInstance) []result.Constant) []string {
	var names []string
	for _, constant := range constantsOf(proposals[0].instance) {
		lacksConstant := func(proposed proposal) bool {
			_, ok := constantValue(constantsOf(proposed.instance), constant.Name)
			return !ok
		}
		differs := func(proposed proposal) bool {
			value, _ := constantValue(constantsOf(proposed.instance), constant.Name)
			return value != constant.Value
		}
		varies := len(proposals) == 1 || slices.ContainsFunc(proposals, differs)
		if varies && !slices.ContainsFunc(proposals, lacksConstant) {
			names = append(names, constant.Name)
		}
	}
	return names
}

// constantValue returns the value of the named constant. ok is false if the list lacks it.
func constantValue(constants []result.Constant, name string) (value string, ok bool) {
	for _, constant := range constants {
		if constant.Name == name {
			return constant.Value, true
		}
	}
	return "", false
}

// conditionsOf returns the values of the named constants of an instance as the conditions of an annotation: N=3,p=0.5.
func conditionsOf(instance *propertyInstance, names []string, constantsOf func(*propertyInstance) []result.Constant) string {
	var conditions []string
	for _, name := range names {
		value, _ := constantValue(constantsOf(instance), name)
		conditions = append(conditions, name+"="+value)
	}
	return strings.Join(conditions, ",")
}

// sameConditionsSameValue reports whether the values of the named constants determine the proposal: proposals with equal values of these
// constants have equal expected values and terms.
func sameConditionsSameValue(proposals []proposal, names []string, constantsOf func(*propertyInstance) []result.Constant) bool {
	earlierProposals := make(map[string]proposal)
	for _, proposed := range proposals {
		key := conditionsOf(proposed.instance, names, constantsOf)
		if earlier, ok := earlierProposals[key]; ok && (earlier.value != proposed.value || earlier.terms != proposed.terms) {
			return false
		}
		earlierProposals[key] = proposed
	}
	return true
}

// conditionalLines returns one annotation for each valuation of the named constants. Above maxLines lines, it returns a reason instead.
func conditionalLines(proposals []proposal, names []string, constantsOf func(*propertyInstance) []result.Constant) (lines []string, reason string) {
	hasLines := make(map[string]bool) // by conditions
	for _, proposed := range proposals {
		conditions := conditionsOf(proposed.instance, names, constantsOf)
		if !hasLines[conditions] {
			hasLines[conditions] = true
			lines = append(lines, linesOfProposal(proposed, " ("+conditions+")")...)
		}
	}
	if len(lines) > maxLines {
		return nil, fmt.Sprintf("it needs %d lines of annotations for the valuations of its constants, want at most %d", len(lines), maxLines)
	}
	return lines, ""
}

// linesOfProposal returns the RESULT line of a proposal and, if it has terms, its TILECHECK line. conditions has the form " (N=3)" or is empty.
func linesOfProposal(proposed proposal, conditions string) []string {
	lines := []string{"RESULT" + conditions + ": " + proposed.value + " (" + proposed.origin + ")"}
	if proposed.terms != "" {
		lines = append(lines, "TILECHECK"+conditions+": "+proposed.terms)
	}
	return lines
}

// lineStart returns the offset at which lines above a property can be inserted, and the indentation of the property. ok is false if other text
// precedes the property on its line.
func (e *editor) lineStart(property *syntax.Property) (indent string, offset int, ok bool) {
	start := int(property.Pos().Offset)
	offset = bytes.LastIndexAny(e.text[:start], "\r\n") + 1
	indent = string(e.text[offset:start])
	return indent, offset, strings.Trim(indent, " \t") == ""
}

// lineEnd returns the line ending before the offset or, if there is none, the last line ending of the text. A text of one line has "\n".
func (e *editor) lineEnd(offset int) string {
	for _, text := range [][]byte{e.text[:offset], e.text[offset:]} {
		i := bytes.LastIndexAny(text, "\r\n")
		if i < 0 {
			continue
		}
		if bytes.HasSuffix(text[:i+1], []byte("\r\n")) {
			return "\r\n"
		}
		return string(text[i : i+1])
	}
	return "\n"
}

// checkEdited returns an error unless the edited text has the same properties as before, and each new annotation applies to its instance.
func (e *editor) checkEdited(edited []byte) error {
	tree, err := syntax.ParseProperties(e.name, edited)
	if err != nil {
		return fmt.Errorf("the annotated file has a syntax error: %w", err)
	}
	errOtherProperties := errors.New("the annotated file does not have the same properties as before")
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
		if err := e.checkApplies(edited, property, parsed); err != nil {
			return err
		}
	}
	return nil
}

// checkApplies returns an error if the annotation that was written for an instance does not apply to it, but another one does. parsed is the property in the
// edited text.
func (e *editor) checkApplies(edited []byte, property, parsed *syntax.Property) error {
	for _, proposed := range e.proposals[property.Pos()] {
		want, ok := e.expectedValues[proposed.instance]
		if !ok {
			continue
		}
		result, err := expect.Select(expect.Parse(edited, parsed), proposed.instance.rules)
		if err != nil {
			return fmt.Errorf("%v: the new annotation %s is not chosen: %w", property.Pos(), want, err)
		}
		if result.Value != want {
			return fmt.Errorf("%v: the annotation %s is chosen, not the new one, %s", property.Pos(), result.Value, want)
		}
	}
	return nil
}
