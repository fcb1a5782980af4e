package drn

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// HasParameters reports whether a text is a DRN file with parameters. The text may end anywhere behind their names.
func HasParameters(text []byte) bool {
	isParameterLine, isValueLine := false, false
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		switch {
		case isParameterLine:
			return len(line) > 0
		case isValueLine:
			isValueLine = false
		case len(line) == 0 || bytes.HasPrefix(line, []byte("//")): // an empty line or a comment
		case line[0] != '@' || string(line) == "@model":
			return false
		default:
			isParameterLine = string(line) == "@parameters"
			isValueLine = !isParameterLine && !bytes.Contains(line, []byte(":")) // the value of another keyword
		}
	}
	return false
}

// Read reads a DRN file with parameters and returns the model. Its error is a syntax.ErrorList.
func Read(file string, text []byte) (*syntax.Model, error) {
	reader := &reader{file: file, lines: strings.Split(string(text), "\n"), placeholders: map[string]value{}}
	if err := reader.readPreamble(); err != nil {
		return nil, err
	}
	if err := reader.readStates(); err != nil {
		return nil, err
	}
	return reader.model()
}

// reader reads a DRN file.
type reader struct {
	file  string
	lines []string
	next  int    // the index of the next line
	line  string // the current line, without the end of the line

	modelType  syntax.ModelType
	typePos    syntax.Pos
	parameters []*syntax.Ident
	// placeholders has functions by their names, such as $0. Storm gives a name to each function that is not constant.
	placeholders map[string]value
	rewardNames  []string // "" for a structure without a name
	// mayHaveUnnamedReward says that a last structure without a name may follow: Storm writes a blank behind each name.
	mayHaveUnnamedReward bool
	numStates            int
	numStatesPos         syntax.Pos
	states               []*state
	numTransitions       int
}

// state is a state of the file.
type state struct {
	pos     syntax.Pos
	rewards []value
	labels  []string
	choices []*choice
}

// choice is a choice of a state.
type choice struct {
	pos         syntax.Pos
	action      string // "" if it has none
	rewards     []value
	transitions []transition
}

// transition leads to a state. Its weight is a probability or a rate.
type transition struct {
	pos    syntax.Pos
	target int
	weight value
}

// value is a function of the parameters, and its text.
type value struct {
	expr syntax.Expr
	text string
}

// maxTransitions is the largest number of transitions. A model in PRISM's language, which is a tree of expressions, takes about a kilobyte for each.
const maxTransitions = 1_000_000

// errorAt returns an error at a column of the current line, counted from 0.
func (reader *reader) errorAt(column int, format string, args ...any) error {
	return reader.errorAtPos(reader.position(column), format, args...)
}

// errorAtPos returns an error at a position of the file.
func (reader *reader) errorAtPos(pos syntax.Pos, format string, args ...any) error {
	return syntax.ErrorList{{File: reader.file, Pos: pos, Msg: fmt.Sprintf(format, args...)}}
}

// position returns the position of a column of the current line, counted from 0.
func (reader *reader) position(column int) syntax.Pos {
	return syntax.Pos{Line: int32(reader.next), Col: int32(column + 1)}
}

// nextLine moves to the next line. It returns false at the end of the file.
func (reader *reader) nextLine() bool {
	if reader.next >= len(reader.lines) {
		reader.line = ""
		return false
	}
	reader.line = strings.TrimSuffix(reader.lines[reader.next], "\r")
	reader.next++
	return true
}

// readPreamble reads the lines up to @model: keywords such as @nr_states, and their values.
func (reader *reader) readPreamble() error {
	for reader.nextLine() {
		key, text, _ := strings.Cut(reader.line, ":")
		text = strings.TrimSpace(text)
		var err error
		switch {
		case strings.TrimSpace(reader.line) == "" || strings.HasPrefix(reader.line, "//"): // an empty line or a comment
		case key == "@model":
			return reader.checkPreamble()
		case key == "@type":
			err = reader.readType(text)
		case key == "@value_type":
			err = reader.checkValueType(text)
		default:
			err = reader.readValueLine(key)
		}
		if err != nil {
			return err
		}
	}
	return reader.errorAtPos(reader.position(0), "found the end of the file, wanted @model")
}

// readType sets the type of the model.
func (reader *reader) readType(name string) error {
	types := map[string]syntax.ModelType{"DTMC": syntax.DTMC, "CTMC": syntax.CTMC, "MDP": syntax.MDP}
	modelType, isKnown := types[strings.ToUpper(name)]
	if !isKnown {
		return reader.errorAt(0, "found a model of type %q with parameters, only DTMCs, CTMCs and MDPs can have them", name)
	}
	reader.modelType, reader.typePos = modelType, reader.position(0)
	return nil
}

// checkValueType returns an error if the values are intervals.
func (reader *reader) checkValueType(name string) error {
	if name != "parametric" && name != "double" && name != "rational" {
		return reader.errorAt(0, "found values of type %q in a model with parameters, wanted parametric, double or rational", name)
	}
	return nil
}

// readValueLine reads the value of a keyword, which is the line after the keyword.
func (reader *reader) readValueLine(key string) error {
	switch key {
	case "@parameters", "@reward_models", "@nr_states", "@nr_choices":
	case "@placeholders":
		return reader.readPlaceholders()
	default:
		return reader.errorAt(0, "found %q, wanted a keyword such as @type: or @model", reader.line)
	}
	if !reader.nextLine() {
		return nil // readPreamble misses @model
	}
	switch key {
	case "@parameters":
		return reader.readParameters()
	case "@reward_models":
		text, hasBlank := strings.CutSuffix(reader.line, " ")
		reader.mayHaveUnnamedReward = hasBlank || text == ""
		if text != "" {
			reader.rewardNames = strings.Split(text, " ")
		}
		return nil
	}
	count, err := strconv.Atoi(strings.TrimSpace(reader.line))
	if err != nil || count < 0 {
		return reader.errorAt(0, "found %q, wanted a number", reader.line)
	}
	if key == "@nr_states" {
		reader.numStates, reader.numStatesPos = count, reader.position(0)
	}
	return nil
}

// readParameters reads the names of the parameters.
func (reader *reader) readParameters() error {
	for column, name := range fields(reader.line, 0) {
		if !syntax.IsIdent(name) {
			return reader.errorAt(column, "found the parameter %q, wanted a name that PRISM's language does not reserve", name)
		}
		reader.parameters = append(reader.parameters, reader.ident(column, name))
	}
	return nil
}

// readPlaceholders reads the lines up to the next keyword: $0 : p*q. Storm writes them in any order, and none uses another one.
func (reader *reader) readPlaceholders() error {
	for reader.next < len(reader.lines) && !strings.HasPrefix(reader.lines[reader.next], "@") {
		reader.nextLine()
		if strings.TrimSpace(reader.line) == "" {
			continue
		}
		left, text, hasColon := strings.Cut(reader.line, ":")
		name := strings.TrimSpace(left)
		if !hasColon || len(name) < 2 || name[0] != '$' {
			return reader.errorAt(0, "found %q, wanted a placeholder such as $0 : p", reader.line)
		}
		if _, isKnown := reader.placeholders[name]; isKnown {
			return reader.errorAt(0, "found a second placeholder %s, wanted one", name)
		}
		column := reader.skipBlanks(len(left) + 1)
		function, err := reader.parse(column, text[column-len(left)-1:])
		if err != nil {
			return err
		}
		reader.placeholders[name] = function
	}
	return nil
}

// ident returns an identifier at a column of the current line.
func (reader *reader) ident(column int, name string) *syntax.Ident {
	return &syntax.Ident{Name: name, Span: syntax.Span{Start: reader.position(column), Stop: reader.position(column + len(name))}}
}

// fields yields the words of a line from a column on, each with its column.
func fields(line string, from int) func(yield func(column int, word string) bool) {
	return func(yield func(column int, word string) bool) {
		for column := from; column < len(line); {
			length := strings.IndexAny(line[column:], " \t")
			if length < 0 {
				length = len(line) - column
			}
			if length > 0 && !yield(column, line[column:column+length]) {
				return
			}
			column += length + 1
		}
	}
}

// checkPreamble returns an error if the type or the number of states is missing.
func (reader *reader) checkPreamble() error {
	switch {
	case reader.modelType == syntax.TypeNone:
		return reader.errorAt(0, "found no @type, wanted one before @model")
	case reader.numStates == 0:
		return reader.errorAt(0, "found no states, wanted @nr_states before @model with at least one")
	}
	return nil
}
