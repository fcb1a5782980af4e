package drn

import (
	"slices"
	"strings"

	"tilecheck/prism/syntax"
	"tilecheck/prism/textlines"
)

// Preamble has the contents of the lines before @model.
type Preamble struct {
	// Type is DTMC, CTMC, MDP or POMDP. A Markov automaton has the type MDP, that of its embedded model.
	Type              syntax.ModelType
	IsMarkovAutomaton bool
	TypePos           syntax.Pos
	ValueType         string // double, rational, double-interval, rational-interval or parametric; "" if the file does not have it
	Parameters        []*syntax.Ident
	RewardNames       []string // "" for a structure without a name
	NumStates         int
	// FunctionsPos is the position of the first parameter, placeholder or @value_type: parametric; invalid if there is none.
	FunctionsPos syntax.Pos

	valueTypePos         syntax.Pos
	numStatesPos         syntax.Pos
	placeholders         []placeholder
	mayHaveUnnamedReward bool     // the first list of rewards shows whether there is one more structure, without a name
	numChoices           int      // -1 if the file does not have it
	emptyLabels          []string // labels that hold in no state
}

// placeholder is a name for a function, such as $0. Storm gives one to each function that is not constant.
type placeholder struct {
	name, function   string
	pos, functionPos syntax.Pos
}

// HasIntervals reports whether the values are intervals.
func (preamble *Preamble) HasIntervals() bool {
	return strings.HasSuffix(preamble.ValueType, "-interval")
}

// EmptyLabels starts the comment in the preamble with the labels that hold in no state. tilecheck writes it; the format cannot express
// them otherwise.
const EmptyLabels = "// Labels of no state:"

// readPreamble reads the lines up to @model. They are keywords, such as @nr_states, and the values of these.
func (scanner *Scanner) readPreamble() {
	scanner.numChoices = -1
	hasPlaceholders := false // the last keyword is @placeholders
	for scanner.NextLine() {
		text := string(scanner.LineText)
		names, listsEmptyLabels := strings.CutPrefix(text, EmptyLabels)
		switch {
		case listsEmptyLabels:
			scanner.readEmptyLabels(names)
		case strings.TrimSpace(text) == "" || strings.HasPrefix(text, "//"): // an empty line or a comment
		case text == "@model":
			scanner.checkPreamble()
			return
		case text[0] == '@':
			hasPlaceholders = text == "@placeholders"
			scanner.readKeyword(text)
		case hasPlaceholders:
			scanner.readPlaceholder(text)
		default:
			scanner.ErrorAt(0, "found %s, wanted a keyword such as @type: or @model", textlines.Quote(scanner.LineText))
			return
		}
	}
	if len(scanner.Errs) == 0 {
		scanner.ErrorAtEnd("found the end of the file, wanted @model")
	}
}

// readEmptyLabels reads the quoted names of labels without states from a comment.
func (scanner *Scanner) readEmptyLabels(text string) {
	for i, name := range strings.Split(text, `"`) {
		isQuoted := i%2 == 1
		if isQuoted && name != "" && name != "init" && name != "deadlock" {
			scanner.emptyLabels = append(scanner.emptyLabels, name)
		}
	}
}

// readKeyword reads a line that begins with a keyword. The value of @type and @value_type follows a colon in the same line. The value of
// any other keyword is the next line. @placeholders may have any number of lines, which readPreamble reads.
func (scanner *Scanner) readKeyword(text string) {
	key, value, _ := strings.Cut(text, ":")
	value = strings.TrimSpace(value)
	switch key {
	case "@type":
		scanner.readType(value)
	case "@value_type":
		scanner.readValueType(value)
	case "@placeholders":
	case "@parameters", "@reward_models", "@nr_states", "@nr_choices":
		if scanner.NextLine() {
			scanner.readValueLine(key)
		}
	default:
		scanner.ErrorAt(0, "found %s, wanted a keyword such as @type: or @model", textlines.Quote(scanner.LineText))
	}
}

// types has the types of models by their names in capitals.
var types = map[string]syntax.ModelType{
	"DTMC": syntax.DTMC, "MDP": syntax.MDP, "CTMC": syntax.CTMC, "POMDP": syntax.POMDP,
	"MARKOV AUTOMATON": syntax.MDP, "MA": syntax.MDP,
}

// readType sets the type of the model from the value of @type. A second @type is an error.
func (scanner *Scanner) readType(value string) {
	name := strings.ToUpper(value)
	modelType, isKnown := types[name]
	switch {
	case !isKnown:
		scanner.ErrorAt(0, "found a model of type %s, only DTMCs, MDPs, CTMCs, POMDPs and Markov automata can be read", textlines.Quote([]byte(value)))
	case scanner.Type != syntax.TypeNone:
		scanner.ErrorAt(0, "found a second @type, wanted one")
	}
	scanner.Type, scanner.TypePos = modelType, scanner.Position(0)
	scanner.IsMarkovAutomaton = name == "MA" || name == "MARKOV AUTOMATON"
}

// readValueType sets the type of the probabilities, rates and rewards from the value of @value_type.
func (scanner *Scanner) readValueType(name string) {
	if !slices.Contains([]string{"double", "rational", "double-interval", "rational-interval", "parametric"}, name) {
		scanner.ErrorAt(0, "found values of type %s, wanted double, rational, double-interval, rational-interval or parametric", textlines.Quote([]byte(name)))
	}
	scanner.ValueType, scanner.valueTypePos = name, scanner.Position(0)
	if name == "parametric" {
		scanner.foundFunctions(scanner.valueTypePos)
	}
}

// foundFunctions sets FunctionsPos at the first call.
func (scanner *Scanner) foundFunctions(pos syntax.Pos) {
	if !scanner.FunctionsPos.IsValid() {
		scanner.FunctionsPos = pos
	}
}

// readValueLine reads the value of a keyword, which is the current line.
func (scanner *Scanner) readValueLine(key string) {
	fields := scanner.SplitFields()
	switch {
	case key == "@parameters":
		for _, field := range fields {
			scanner.readParameter(field)
		}
	case key == "@reward_models":
		scanner.readRewardNames(string(scanner.LineText))
	case len(fields) != 1:
		scanner.ErrorAt(0, "found %s, wanted a number", textlines.Quote(scanner.LineText))
	case key == "@nr_states":
		scanner.NumStates, _ = scanner.ParseCount(fields[0], "number of states")
		scanner.numStatesPos = scanner.Position(0)
	default:
		if count, ok := scanner.ParseCount(fields[0], "number of choices"); ok {
			scanner.numChoices = count
		}
	}
}

// readParameter adds a parameter.
func (scanner *Scanner) readParameter(field textlines.Field) {
	name, start, stop := string(field.Text), scanner.Position(field.Column), scanner.Position(field.Column+len(field.Text))
	if !syntax.IsIdent(name) {
		scanner.ErrorAt(field.Column, "found the parameter %s, wanted a name that PRISM's language does not reserve", textlines.Quote(field.Text))
	}
	scanner.Parameters = append(scanner.Parameters, &syntax.Ident{Name: name, Span: syntax.Span{Start: start, Stop: stop}})
	scanner.foundFunctions(start)
}

// readRewardNames reads the names of the reward structures.
func (scanner *Scanner) readRewardNames(text string) {
	// Storm writes a space after each name. After the last space, a structure without a name may follow.
	text, hasBlank := strings.CutSuffix(text, " ")
	scanner.mayHaveUnnamedReward = hasBlank || text == ""
	if text != "" {
		scanner.RewardNames = strings.Split(text, " ")
	}
}

// readPlaceholder reads a line such as: $0 : p*q.
func (scanner *Scanner) readPlaceholder(text string) {
	left, right, hasColon := strings.Cut(text, ":")
	name, function := strings.TrimSpace(left), strings.TrimLeft(right, " \t")
	if !hasColon || len(name) < 2 || name[0] != '$' {
		scanner.ErrorAt(0, "found %s, wanted a placeholder such as $0 : p", textlines.Quote(scanner.LineText))
	}
	pos, functionPos := scanner.Position(0), scanner.Position(len(text)-len(function))
	scanner.placeholders = append(scanner.placeholders, placeholder{name, function, pos, functionPos})
	scanner.foundFunctions(pos)
}

// checkPreamble records an error if the type or the number of states is missing, or if a model has intervals that is no DTMC or MDP.
func (scanner *Scanner) checkPreamble() {
	canHaveIntervals := !scanner.IsMarkovAutomaton && (scanner.Type == syntax.DTMC || scanner.Type == syntax.MDP)
	switch {
	case len(scanner.Errs) > 0: // recorded before
	case scanner.Type == syntax.TypeNone:
		scanner.ErrorAt(0, "found no @type, wanted one before @model")
	case scanner.NumStates == 0:
		scanner.ErrorAt(0, "found no states, wanted @nr_states before @model with at least one")
	case scanner.HasIntervals() && !canHaveIntervals:
		scanner.ErrorAtPos(scanner.TypePos, "found intervals, which only DTMCs and MDPs can have")
	}
}
