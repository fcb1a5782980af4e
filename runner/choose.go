package runner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// SelectionError is the error of a job whose selection of properties is wrong.
type SelectionError struct{ Msg string }

func (e *SelectionError) Error() string { return e.Msg }

// selectionError returns a SelectionError with a formatted message.
func selectionError(format string, args ...any) error {
	return &SelectionError{fmt.Sprintf(format, args...)}
}

// moveSelections moves the texts of Job.Props that select properties of the file, by name or number, to Job.Select. It returns a SelectionError if no
// property has the number, if the name is also an expression of the model, or if Job.Select selects properties, too.
//
// Source: PRISM 4.10, PrismCL, switch -prop.
func (p *Plan) moveSelections() error {
	job := &p.Job
	var names []string // the names of the properties of the file, empty for one without a name
	for _, item := range p.sources[0].Parsed.Items {
		if property, ok := item.(*syntax.Property); ok {
			names = append(names, p.sources[0].name(property))
		}
	}
	var selected, texts, textNames []string
	for i, text := range job.Props {
		words, err := p.selectedBy(i, names)
		if err != nil {
			return err
		}
		if words == nil {
			texts, textNames = append(texts, text), append(textNames, job.PropName(i))
		}
		selected = append(selected, words...)
	}
	// With texts, the properties of a JANI model are not checked.
	ignoresModelProperties := p.jani != nil && job.PropsFile == "" && len(texts) > 0 && len(job.Select) == 0
	switch {
	case len(selected) == 0 && !ignoresModelProperties:
		return nil
	case len(job.Select) > 0:
		return selectionError("properties are selected twice: by their texts (%s) and by name or number (%s), want one of them", strings.Join(selected, ","), strings.Join(job.Select, ","))
	}
	for i := range texts { // the texts get the numbers after those of the file
		selected = append(selected, strconv.Itoa(len(names)+i+1))
	}
	job.Select, job.Props, job.PropNames = selected, texts, textNames
	return nil
}

// selectedBy returns the numbers and names of properties that the text Job.Props[i] lists, separated by commas. It returns nil if the text is a
// property itself. names are the names of the properties of the file.
func (p *Plan) selectedBy(i int, names []string) ([]string, error) {
	job := &p.Job
	var words []string
	for word := range strings.SplitSeq(job.Props[i], ",") {
		word = strings.TrimSpace(word)
		number, err := strconv.Atoi(word)
		switch {
		case len(names) == 0 || word == "":
			return nil, nil
		case slices.Contains(names, word):
		case err != nil || strings.ContainsAny(word, "+-"):
			return nil, nil
		case number < 1 || number > len(names):
			return nil, selectionError("%s: %s has no property number %s, want 1 to %d; the number as a property is (%s)", job.PropName(i), job.PropsFile, word, len(names), word)
		}
		words = append(words, word)
	}
	if len(words) == 1 && p.isExpression(words[0]) {
		return nil, selectionError("%s: %q is a property of %s and an expression of the model, want it selected by its number, or (%s) for the expression", job.PropName(i), words[0], job.PropsFile, words[0])
	}
	return words, nil
}

// isExpression reports whether a word is an expression of the model, other than a number.
func (p *Plan) isExpression(word string) bool {
	if _, err := strconv.Atoi(word); err == nil {
		return false
	}
	props, err := syntax.ParsePropertiesOf(p.Job.Dialect, "", []byte(word))
	if err != nil {
		return false
	}
	_, err = p.Model.CheckProperties(props)
	return err == nil
}
