package shield

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// moduleName is the name of the module that Model adds.
const moduleName = "shield"

// Model returns the text of the model with an additional module. The module synchronises with every action
// that is not always allowed, and enables it in the states where it is allowed. Commands without an action
// get stronger guards instead. Only states that are reachable under the shield count.
//
// The error says that the model cannot be restricted so: only one of two choices with the same action is
// allowed in a state, or the model has a system block.
func (x *Shield) Model(ctx context.Context, tree *syntax.Model) ([]byte, error) {
	g := &guardBuilder{shield: x, actions: map[int][]sample{}, commands: map[compile.CommandRef][]sample{}}
	if err := g.collect(ctx); err != nil {
		return nil, err
	}
	out := *tree
	out.Items = slices.Clone(tree.Items)
	if err := g.strengthenGuards(ctx, &out); err != nil {
		return nil, err
	}
	text, err := g.moduleText(ctx, tree)
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := syntax.Fprint(&b, &out, syntax.Options{}); err != nil {
		return nil, err
	}
	if text != "" {
		fmt.Fprintf(&b, "\n%s", text)
	}
	return b.Bytes(), nil
}

// guardBuilder collects, for each action and for each command without an action, the states in which it is
// enabled, and whether it is allowed there.
type guardBuilder struct {
	shield   *Shield
	actions  map[int][]sample // by action
	commands map[compile.CommandRef][]sample
}

// collect records the reachable states in which each action or command is enabled.
func (g *guardBuilder) collect(ctx context.Context) error {
	x := g.shield
	m := x.Space.Model()
	initial := sparse.NewSet(m.NumStates())
	for _, s := range m.Initial {
		initial.Add(int(s))
	}
	states := reachableFrom(x.restricted(), initial)
	var mixed error // an action of which only some choices are allowed in a state
	err := x.Space.Commands(ctx, func(s, choice int, c *compile.Choice, _ []int) {
		if mixed != nil || !states.Has(s) {
			return
		}
		current := sample{x.Space.State(nil, s), x.Allowed.Has(choice)}
		if c.Action == sema.Unlabelled {
			g.commands[c.Commands[0]] = append(g.commands[c.Commands[0]], current)
			return
		}
		samples := g.actions[c.Action]
		if n := len(samples); n > 0 && slices.Equal(samples[n-1].state, current.state) {
			if samples[n-1].allowed != current.allowed {
				mixed = fmt.Errorf("in state %s only some choices of action %s are allowed, and a module cannot distinguish them: want a file .json or files of states (.all, .umb)",
					x.Space.Compiled().StateText(current.state), x.Space.Program().Actions[c.Action])
			}
			return
		}
		g.actions[c.Action] = append(samples, current)
	})
	return cmp.Or(mixed, err)
}

// strengthenGuards adds conditions to the guards of commands without an action that are not always
// allowed.
func (g *guardBuilder) strengthenGuards(ctx context.Context, model *syntax.Model) error {
	prog := g.shield.Space.Program()
	module := -1
	for i, item := range model.Items {
		switch item.(type) {
		case *syntax.Module, *syntax.RenamedModule:
			module++
		default:
			continue
		}
		var strengthened *syntax.Module // a copy of the module, made for its first command that changes
		for k := range prog.Modules[module].Commands {
			samples := g.commands[compile.CommandRef{Module: module, Command: k}]
			if !slices.ContainsFunc(samples, sample.forbidden) {
				continue
			}
			original, ok := item.(*syntax.Module)
			isBase := slices.ContainsFunc(prog.Modules, func(m sema.Module) bool { return m.Base == prog.Modules[module].Name })
			if !ok || isBase {
				return fmt.Errorf("a command of module %s without an action is not always allowed, and other modules share its text: want a file .json or files of states (.all, .umb)", prog.Modules[module].Name)
			}
			if strengthened == nil {
				moduleCopy := *original
				moduleCopy.Commands = slices.Clone(original.Commands)
				strengthened = &moduleCopy
			}
			command := *original.Commands[k]
			text := "(" + syntax.ExprString(command.Guard) + ") & (" + separatingExpr(ctx, prog.Vars, samples) + ")"
			guard, err := syntax.ParseExpr("", []byte(text))
			if err != nil {
				return err
			}
			command.Guard = guard
			strengthened.Commands[k] = &command
		}
		if strengthened != nil {
			model.Items[i] = strengthened
		}
	}
	return nil
}

// moduleText returns the text of the additional module; empty if it is not needed.
func (g *guardBuilder) moduleText(ctx context.Context, tree *syntax.Model) (string, error) {
	prog := g.shield.Space.Program()
	var b bytes.Buffer
	for a, name := range prog.Actions {
		samples := g.actions[a]
		if slices.ContainsFunc(samples, sample.forbidden) {
			fmt.Fprintf(&b, "  [%s] %s -> true;\n", name, separatingExpr(ctx, prog.Vars, samples))
		}
	}
	if b.Len() == 0 {
		return "", nil
	}
	for _, item := range tree.Items {
		switch item := item.(type) {
		case *syntax.System:
			return "", errors.New("the model has a system block, to which a module cannot be added: want a file .json or files of states (.all, .umb)")
		case *syntax.Module:
			if item.Name.Name == moduleName {
				return "", fmt.Errorf("the model has a module %s already", moduleName)
			}
		}
	}
	return "// Enables an action only in states where its loss is allowed.\nmodule " + moduleName + "\n" + b.String() + "endmodule\n", nil
}

// sample is a state in which an action or command is enabled, and whether it is allowed there.
type sample struct {
	state   []int32
	allowed bool
}

func (s sample) forbidden() bool { return !s.allowed }

// separatingExpr returns an expression over the variables that holds in the allowed samples and in no others.
// It grows a decision tree greedily. The result is wrong once the context has ended.
//
// Source: the Gini impurity of Breiman, Friedman, Olshen and Stone (1984).
func separatingExpr(ctx context.Context, vars []sema.Variable, samples []sample) string {
	allowed := 0
	for _, s := range samples {
		if s.allowed {
			allowed++
		}
	}
	switch allowed {
	case 0:
		return "false"
	case len(samples):
		return "true"
	}
	if ctx.Err() != nil {
		return "true"
	}
	v, threshold := bestSplit(len(vars), samples)
	low := make([]sample, 0, len(samples))
	var high []sample
	for _, s := range samples {
		if s.state[v] <= threshold {
			low = append(low, s)
		} else {
			high = append(high, s)
		}
	}
	name := vars[v].Name
	condition, negation := fmt.Sprintf("%s<=%d", name, threshold), fmt.Sprintf("%s>%d", name, threshold)
	if vars[v].Type == sema.Bool {
		condition, negation = "!"+name, name
	}
	return conditionalExpr(condition, negation, separatingExpr(ctx, vars, low), separatingExpr(ctx, vars, high))
}

// conditionalExpr returns the expression `condition ? low : high`, simplified if low or high is constant.
func conditionalExpr(condition, negation, low, high string) string {
	switch {
	case low == "true" && high == "false":
		return condition
	case low == "false" && high == "true":
		return negation
	case low == "true":
		return "(" + condition + " | " + high + ")"
	case low == "false":
		return "(" + negation + " & " + high + ")"
	case high == "true":
		return "(" + negation + " | " + low + ")"
	case high == "false":
		return "(" + condition + " & " + low + ")"
	}
	return "(" + condition + " ? " + low + " : " + high + ")"
}

// bestSplit returns the test variable <= value with the least Gini impurity.
func bestSplit(vars int, samples []sample) (variable int, value int32) {
	type count struct {
		value     int32
		good, bad float64
	}
	leastImpurity := -1.0
	var counts []count // of the values of a variable, ascending
	for candidate := range vars {
		minimum, maximum := samples[0].state[candidate], samples[0].state[candidate]
		for _, s := range samples {
			minimum, maximum = min(minimum, s.state[candidate]), max(maximum, s.state[candidate])
		}
		indexOf := func(x int32) int { return int(int64(x) - int64(minimum)) }
		counts = counts[:0]
		if narrow := int64(maximum)-int64(minimum) < int64(len(samples))+64; narrow {
			for x := int64(minimum); x <= int64(maximum); x++ {
				counts = append(counts, count{value: int32(x)})
			}
		} else {
			for _, s := range samples {
				counts = append(counts, count{value: s.state[candidate]})
			}
			slices.SortFunc(counts, func(a, b count) int { return cmp.Compare(a.value, b.value) })
			counts = slices.CompactFunc(counts, func(a, b count) bool { return a.value == b.value })
			indexOf = func(x int32) int {
				i, _ := slices.BinarySearchFunc(counts, x, func(c count, x int32) int { return cmp.Compare(c.value, x) })
				return i
			}
		}
		var total count
		for _, s := range samples {
			c := &counts[indexOf(s.state[candidate])]
			if s.allowed {
				c.good++
				total.good++
			} else {
				c.bad++
				total.bad++
			}
		}
		var low count
		for _, c := range counts {
			if c.good+c.bad == 0 {
				continue
			}
			low.good += c.good
			low.bad += c.bad
			high := count{good: total.good - low.good, bad: total.bad - low.bad}
			if high.good+high.bad == 0 {
				break
			}
			impurity := low.good*low.bad/(low.good+low.bad) + high.good*high.bad/(high.good+high.bad)
			if leastImpurity < 0 || impurity < leastImpurity {
				leastImpurity, variable, value = impurity, candidate, c.value
			}
		}
	}
	return variable, value
}
