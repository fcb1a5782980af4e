package drn

import (
	"fmt"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// builder makes the model of the states that were read. Its nodes have the positions of the states and functions in the file.
type builder struct {
	*reader
	variable string // the number of the state
}

// model returns the model of the states that were read.
func (reader *reader) model() (*syntax.Model, error) {
	builder := &builder{reader: reader, variable: "x"}
	for slices.ContainsFunc(reader.Parameters, func(parameter *syntax.Ident) bool { return parameter.Name == builder.variable }) {
		builder.variable += "_"
	}
	if err := builder.nameChoices(); err != nil {
		return nil, err
	}
	model := &syntax.Model{File: reader.Source.Name, Items: []syntax.Item{&syntax.TypeDecl{Type: reader.Type, Span: at(reader.TypePos)}}}
	for _, parameter := range reader.Parameters {
		model.Items = append(model.Items, &syntax.ConstDecl{Type: syntax.ConstDouble, HasType: true, Name: parameter, Span: parameter.Span})
	}
	model.Items = append(model.Items, builder.module())
	for i, name := range reader.RewardNames {
		model.Items = append(model.Items, builder.rewards(i, name))
	}
	model.Items = append(model.Items, builder.labels()...)
	return model, nil
}

// at returns the empty span at a position.
func at(pos syntax.Pos) syntax.Span { return syntax.Span{Start: pos, Stop: pos} }

// nameChoices gives names to choices without an action that have other rewards than another one of their state, because PRISM's language gives
// rewards to actions. It returns an error if two choices with the same action have different rewards.
func (builder *builder) nameChoices() error {
	prefix := builder.unusedPrefix()
	for number, state := range builder.states {
		for i, current := range state.choices {
			if !slices.ContainsFunc(state.choices, current.contradicts) {
				continue
			}
			if current.action != "" {
				return syntax.ErrorList{{File: builder.Source.Name, Pos: current.pos, Msg: fmt.Sprintf("found choices of state %d with the action %s and different rewards, wanted the same rewards in a model with parameters", number, current.action)}}
			}
			current.action = fmt.Sprintf("%s%d", prefix, i)
		}
	}
	return nil
}

// unusedPrefix returns a prefix that no action of the file has.
func (builder *builder) unusedPrefix() string {
	prefix := "choice_"
	for _, state := range builder.states {
		for _, current := range state.choices {
			for strings.HasPrefix(current.action, prefix) {
				prefix += "_"
			}
		}
	}
	return prefix
}

// contradicts reports whether two choices have the same action and different rewards.
func (current *choice) contradicts(other *choice) bool {
	haveSameText := func(a, b value) bool { return a.text == b.text }
	return current.action == other.action && !slices.EqualFunc(current.rewards, other.rewards, haveSameText)
}

// actionName returns the name of a choice's action, or nil if it has none.
func (current *choice) actionName() *syntax.Ident {
	if current.action == "" {
		return nil
	}
	return &syntax.Ident{Name: current.action, Span: at(current.pos)}
}

// module returns the module, with a command for each choice. A deadlock has none.
func (builder *builder) module() *syntax.Module {
	module := &syntax.Module{Name: &syntax.Ident{Name: "states"}, Span: at(builder.numStatesPos)}
	if builder.variable == module.Name.Name || slices.ContainsFunc(builder.Parameters, func(parameter *syntax.Ident) bool { return parameter.Name == "states" }) {
		module.Name.Name += "_"
	}
	high := max(builder.NumStates-1, 1) // PRISM's language has no range with a single value
	module.Vars = []*syntax.VarDecl{{
		Name: &syntax.Ident{Name: builder.variable}, Type: syntax.RangeVar, Low: integer(0, builder.numStatesPos), High: integer(high, builder.numStatesPos),
		Span: at(builder.numStatesPos),
	}}
	for number, state := range builder.states {
		if state.isDeadlock {
			continue // PRISM's language adds the self-loop
		}
		for _, current := range state.choices {
			module.Commands = append(module.Commands, builder.command(number, current))
		}
	}
	return module
}

// command returns the command of a choice.
func (builder *builder) command(number int, current *choice) *syntax.Command {
	command := &syntax.Command{Action: current.actionName(), Guard: builder.isState(number, current.pos), Span: at(current.pos)}
	for _, step := range current.transitions {
		assign := &syntax.Assign{Name: &syntax.Ident{Name: builder.variable, Span: at(step.pos)}, Value: integer(step.target, step.pos), Span: at(step.pos)}
		command.Updates = append(command.Updates, &syntax.Update{Prob: step.weight.expr, Assigns: []*syntax.Assign{assign}, Span: at(step.pos)})
	}
	return command
}

// rewards returns the reward structure with an index. Rewards that are written as 0 are left out.
func (builder *builder) rewards(index int, name string) *syntax.Rewards {
	rewards := &syntax.Rewards{Span: at(builder.numStatesPos)}
	if name != "" {
		rewards.Name = &syntax.Ident{Name: name}
	}
	add := func(values []value, item syntax.RewardItem, number int, pos syntax.Pos) {
		if len(values) > 0 && values[index].text != "0" {
			item.Guard, item.Value, item.Span = builder.isState(number, pos), values[index].expr, at(pos)
			rewards.Items = append(rewards.Items, &item)
		}
	}
	for number, state := range builder.states {
		add(state.rewards, syntax.RewardItem{}, number, state.pos)
		for i, current := range state.choices { // choices with the same action have the same rewards
			hasSameAction := func(other *choice) bool { return other.action == current.action }
			if !slices.ContainsFunc(state.choices[:i], hasSameAction) {
				add(current.rewards, syntax.RewardItem{IsTransition: true, Action: current.actionName()}, number, current.pos)
			}
		}
	}
	return rewards
}

// Time returns the reward structure of Storm's operator T: each state has the reward 1.
func Time() *syntax.Rewards {
	start := syntax.Pos{Line: 1, Col: 1}
	always := &syntax.RewardItem{Guard: &syntax.BoolLit{Value: true, Span: at(start)}, Value: integer(1, start), Span: at(start)}
	return &syntax.Rewards{Name: &syntax.Ident{Name: syntax.TimeRewards, Span: at(start)}, Items: []*syntax.RewardItem{always}, Span: at(start)}
}

// labels returns an init block for the label init, and a declaration for each other label of the file.
func (builder *builder) labels() []syntax.Item {
	statesOf := make([][]int, len(builder.LabelNames))
	for number, state := range builder.states {
		for _, label := range state.labels {
			statesOf[label] = append(statesOf[label], number)
		}
	}
	var items []syntax.Item
	for label, name := range builder.LabelNames {
		condition := builder.isAnyOf(statesOf[label])
		switch name {
		case "init":
			items = append(items, &syntax.InitBlock{X: condition, Span: at(condition.Pos())})
		case "deadlock": // PRISM's language defines it
		default:
			items = append(items, &syntax.LabelDecl{Name: &syntax.Ident{Name: name, Span: at(condition.Pos())}, X: condition, Span: at(condition.Pos())})
		}
	}
	return items
}

// isAnyOf returns the condition that the state is in a list, at the position of the first one.
func (builder *builder) isAnyOf(numbers []int) syntax.Expr {
	if len(numbers) == 0 {
		return &syntax.BoolLit{Span: at(builder.numStatesPos)}
	}
	return builder.isOneOf(ranges(numbers), builder.states[numbers[0]].pos)
}

// stateRange has the states from first to last.
type stateRange struct{ first, last int }

// ranges returns the ranges of consecutive numbers in an increasing list.
func ranges(numbers []int) []stateRange {
	var list []stateRange
	for _, number := range numbers {
		if last := len(list) - 1; last >= 0 && list[last].last == number-1 {
			list[last].last = number
		} else {
			list = append(list, stateRange{number, number})
		}
	}
	return list
}

// isOneOf returns the condition that the state is in one of the ranges. The height of its tree is logarithmic, because parsers limit it.
func (builder *builder) isOneOf(list []stateRange, pos syntax.Pos) syntax.Expr {
	if len(list) > 1 {
		middle := len(list) / 2
		return binary(syntax.OpOr, builder.isOneOf(list[:middle], pos), builder.isOneOf(list[middle:], pos))
	}
	if list[0].first == list[0].last {
		return builder.isState(list[0].first, pos)
	}
	return binary(syntax.OpAnd,
		binary(syntax.OpGe, builder.number(pos), integer(list[0].first, pos)),
		binary(syntax.OpLe, builder.number(pos), integer(list[0].last, pos)))
}

// isState returns the condition that the current state has the given number.
func (builder *builder) isState(number int, pos syntax.Pos) syntax.Expr {
	return binary(syntax.OpEq, builder.number(pos), integer(number, pos))
}

// number returns the variable with the number of the state.
func (builder *builder) number(pos syntax.Pos) syntax.Expr {
	return &syntax.Ident{Name: builder.variable, Span: at(pos)}
}

// binary returns an operator with two operands at the same position.
func binary(op syntax.Op, x, y syntax.Expr) syntax.Expr {
	return &syntax.Binary{Op: op, X: x, Y: y, OpPos: x.Pos(), Span: at(x.Pos())}
}

// integer returns an integer literal.
func integer(value int, pos syntax.Pos) syntax.Expr {
	return &syntax.IntLit{Value: int32(value), Span: at(pos)}
}
