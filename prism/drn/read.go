package drn

import (
	"errors"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
	"tilecheck/prism/textlines"
)

// HasFunctions reports whether a text is a DRN file whose values are functions: It has parameters or placeholders, or @value_type: parametric. The
// text may end anywhere behind these.
func HasFunctions(text []byte) bool {
	return NewScanner(textlines.NewReader(textlines.Source{Text: text})).FunctionsPos.IsValid()
}

// Read reads a DRN file with parameters and returns the model. Its error is a syntax.ErrorList.
func Read(file string, text []byte) (*syntax.Model, error) {
	scanner := NewScanner(textlines.NewReader(textlines.Source{Name: file, Text: text}))
	reader := &reader{Scanner: scanner, functions: map[string]value{}, lastSource: map[int]*choice{}}
	if !reader.parsePlaceholders() {
		return nil, reader.Errs.Err()
	}
	for reader.Next() {
		switch reader.Kind {
		case StateLine:
			reader.addState()
		case ActionLine:
			reader.addAction()
		case TransitionLine:
			reader.addTransition()
		}
	}
	if err := reader.Errs.Err(); err != nil {
		return nil, err
	}
	return reader.model()
}

// reader reads a DRN file with parameters.
type reader struct {
	*Scanner
	functions      map[string]value // by the names of their placeholders
	states         []*state
	numTransitions int
	lastSource     map[int]*choice // the last choice with a transition to each state
}

// state is a state of the file.
type state struct {
	pos     syntax.Pos
	rewards []value
	labels  []int // indices in Scanner.LabelNames
	choices []*choice
	// isDeadlock says that the only transition is a self-loop, which PRISM's language adds.
	isDeadlock bool
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

// parsePlaceholders checks that a model of this type can have parameters, and parses the functions of its placeholders. It returns false after an error.
func (reader *reader) parsePlaceholders() bool {
	typeName := reader.Type.String()
	if reader.IsMarkovAutomaton {
		typeName = "Markov automaton"
	}
	switch {
	case len(reader.Errs) > 0: // recorded before
	case !slices.Contains([]string{"DTMC", "CTMC", "MDP"}, typeName):
		reader.ErrorAtPos(reader.TypePos, "found a model of type %s with parameters, only DTMCs, CTMCs and MDPs can have them", typeName)
	case reader.HasIntervals():
		reader.ErrorAtPos(reader.valueTypePos, "found values of type %s in a model with parameters, wanted parametric, double or rational", reader.ValueType)
	}
	for _, placeholder := range reader.placeholders {
		if _, isKnown := reader.functions[placeholder.name]; isKnown {
			reader.ErrorAtPos(placeholder.pos, "found a second placeholder %s, wanted one", placeholder.name)
		}
		reader.functions[placeholder.name] = reader.parseAt(placeholder.functionPos, placeholder.function)
	}
	return len(reader.Errs) == 0
}

// parse parses a function of the parameters, or the placeholder of one, in the current line.
func (reader *reader) parse(field textlines.Field) value {
	return reader.parseAt(reader.Position(field.Column), field.String())
}

// parseAt parses a function of the parameters, or the placeholder of one, at a position of the file. It records the errors.
func (reader *reader) parseAt(pos syntax.Pos, text string) value {
	if strings.HasPrefix(text, "$") {
		function, isKnown := reader.functions[text]
		if !isKnown {
			reader.ErrorAtPos(pos, "found the placeholder %s, wanted one that is defined after @placeholders", textlines.Quote([]byte(text)))
		}
		return function
	}
	expr, err := syntax.ParseExprAt(reader.Source.Name, []byte(text), pos)
	if list, ok := errors.AsType[syntax.ErrorList](err); ok {
		reader.Errs = append(reader.Errs, list...)
	}
	return value{expr, text}
}

// parseRewards parses the rewards of the current line.
func (reader *reader) parseRewards() []value {
	var rewards []value
	for _, field := range reader.Rewards {
		rewards = append(rewards, reader.parse(field))
	}
	return rewards
}

// addState adds the state of the current line. In a CTMC the exit rate is the sum of the rates, which follow.
func (reader *reader) addState() {
	if reader.Rate.Text != nil {
		reader.parse(reader.Rate)
	}
	reader.states = append(reader.states, &state{
		pos: reader.StatePos, rewards: reader.parseRewards(), labels: slices.Clone(reader.Labels), isDeadlock: reader.IsDeadlock,
	})
}

// addAction adds the choice of the current line to the last state.
func (reader *reader) addAction() {
	if reader.ActionName != "" && !syntax.IsIdent(reader.ActionName) {
		reader.ErrorAt(reader.Action.Column, "found the action %s, wanted a name that PRISM's language does not reserve", textlines.Quote(reader.Action.Text))
	}
	last, rewards := reader.states[len(reader.states)-1], reader.parseRewards()
	if last.isDeadlock && slices.ContainsFunc(rewards, func(reward value) bool { return reward.text != "0" }) {
		reader.ErrorAt(reader.Rewards[0].Column, "found a reward of the self-loop of a deadlock, wanted 0 in a model with parameters")
	}
	last.choices = append(last.choices, &choice{pos: reader.Position(reader.Action.Column), action: reader.ActionName, rewards: rewards})
}

// addTransition adds the transition of the current line to the last choice.
func (reader *reader) addTransition() {
	choices := reader.states[len(reader.states)-1].choices
	last := choices[len(choices)-1]
	switch {
	case reader.numTransitions >= maxTransitions:
		reader.ErrorAt(reader.TargetColumn, "found more than %d transitions, wanted fewer in a model with parameters", maxTransitions)
	case reader.lastSource[reader.Target] == last:
		reader.ErrorAt(reader.TargetColumn, "found a second transition to state %d, wanted one", reader.Target)
	}
	reader.lastSource[reader.Target] = last
	last.transitions = append(last.transitions, transition{reader.Position(reader.Weight.Column), reader.Target, reader.parse(reader.Weight)})
	reader.numTransitions++
}
