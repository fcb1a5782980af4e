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

// Model returns the model with an additional module, which synchronises with every action that is not
// always allowed, and enables it where it is allowed. Choices without an action are restricted by the
// guards of their commands. Only states that are reachable under the shield count.
//
// The error says that this is impossible: two choices of a state with the same action are not both
// allowed, or the model has a system block.
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

// guardBuilder collects, for each action, and for each command without one, where it is allowed.
type guardBuilder struct {
	shield   *Shield
	actions  map[int][]sample // by action
	commands map[compile.CommandRef][]sample
}

// collect records the reachable states in which each action or command is enabled.
func (g *guardBuilder) collect(ctx context.Context) error {
	x := g.shield
	m := x.Space.Model()
	from := sparse.NewSet(m.NumStates())
	for _, s := range m.Initial {
		from.Add(int(s))
	}
	states := reachableFrom(x.restricted(), from)
	var failed error
	err := x.Space.Commands(ctx, func(s, choice int, c *compile.Choice, _ []int) {
		if failed != nil || !states.Has(s) {
			return
		}
		current := sample{x.Space.State(nil, s), x.Allowed.Has(choice)}
		if c.Action == sema.Unlabelled {
			g.commands[c.Commands[0]] = append(g.commands[c.Commands[0]], current)
			return
		}
		list := g.actions[c.Action]
		if n := len(list); n > 0 && slices.Equal(list[n-1].state, current.state) {
			if list[n-1].allowed != current.allowed {
				failed = fmt.Errorf("in state %s only some choices of action %s are allowed, which no module can tell apart: want a file .json or files of states (.all, .umb)",
					x.Space.Compiled().StateText(current.state), x.Space.Program().Actions[c.Action])
			}
			return
		}
		g.actions[c.Action] = append(list, current)
	})
	return cmp.Or(failed, err)
}

// strengthenGuards adds conditions to the guards of commands without an action that are not always
// allowed.
func (g *guardBuilder) strengthenGuards(ctx context.Context, tree *syntax.Model) error {
	prog := g.shield.Space.Program()
	module := -1
	for i, item := range tree.Items {
		switch item.(type) {
		case *syntax.Module, *syntax.RenamedModule:
			module++
		default:
			continue
		}
		var out *syntax.Module
		for k := range prog.Modules[module].Commands {
			samples := g.commands[compile.CommandRef{Module: module, Command: k}]
			if !slices.ContainsFunc(samples, sample.forbidden) {
				continue
			}
			plain, ok := item.(*syntax.Module)
			base := slices.ContainsFunc(prog.Modules, func(m sema.Module) bool { return m.Base == prog.Modules[module].Name })
			if !ok || base {
				return fmt.Errorf("a command of module %s without an action is not always allowed, and other modules share its text: want a file .json or files of states (.all, .umb)", prog.Modules[module].Name)
			}
			if out == nil {
				y := *plain
				y.Commands = slices.Clone(plain.Commands)
				out = &y
			}
			cmd := *plain.Commands[k]
			guard, err := syntax.ParseExpr("", []byte("("+syntax.ExprString(cmd.Guard)+") & ("+separatingExpr(ctx, prog.Vars, samples)+")"))
			if err != nil {
				return err
			}
			cmd.Guard = guard
			out.Commands[k] = &cmd
		}
		if out != nil {
			tree.Items[i] = out
		}
	}
	return nil
}

// moduleText returns the additional module; empty if it is not needed.
func (g *guardBuilder) moduleText(ctx context.Context, tree *syntax.Model) (string, error) {
	prog := g.shield.Space.Program()
	var b bytes.Buffer
	for a, name := range prog.Actions {
		if samples := g.actions[a]; slices.ContainsFunc(samples, sample.forbidden) {
			fmt.Fprintf(&b, "  [%s] %s -> true;\n", name, separatingExpr(ctx, prog.Vars, samples))
		}
	}
	if b.Len() == 0 {
		return "", nil
	}
	for _, item := range tree.Items {
		switch y := item.(type) {
		case *syntax.System:
			return "", errors.New("the model has a system block, to which a module cannot be added: want a file .json or files of states (.all, .umb)")
		case *syntax.Module:
			if y.Name.Name == moduleName {
				return "", fmt.Errorf("the model has a module %s already", moduleName)
			}
		}
	}
	return "// No action that loses more than is allowed.\nmodule " + moduleName + "\n" + b.String() + "endmodule\n", nil
}

// sample is a state, in which an action or command is allowed or not.
type sample struct {
	state   []int32
	allowed bool
}

func (s sample) forbidden() bool { return !s.allowed }

// separatingExpr returns an expression over the variables that holds in the allowed samples only: a
// decision tree, grown greedily. The result is wrong once the context has ended.
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
	v, k := bestSplit(len(vars), samples)
	low := make([]sample, 0, len(samples))
	var high []sample
	for _, s := range samples {
		if s.state[v] <= k {
			low = append(low, s)
		} else {
			high = append(high, s)
		}
	}
	condition, negation := fmt.Sprintf("%s<=%d", vars[v].Name, k), fmt.Sprintf("%s>%d", vars[v].Name, k)
	if vars[v].Type == sema.Bool {
		condition, negation = "!"+vars[v].Name, vars[v].Name
	}
	return conditionalExpr(condition, negation, separatingExpr(ctx, vars, low), separatingExpr(ctx, vars, high))
}

// conditionalExpr returns the expression `condition ? low : high`, simplified.
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
	best := -1.0
	var counts []count // of the values of a variable, ascending
	for v := range vars {
		minimum, maximum := samples[0].state[v], samples[0].state[v]
		for _, s := range samples {
			minimum, maximum = min(minimum, s.state[v]), max(maximum, s.state[v])
		}
		indexOf := func(x int32) int { return int(int64(x) - int64(minimum)) }
		counts = counts[:0]
		if narrow := int64(maximum)-int64(minimum) < int64(len(samples))+64; narrow {
			for x := int64(minimum); x <= int64(maximum); x++ {
				counts = append(counts, count{value: int32(x)})
			}
		} else {
			for _, s := range samples {
				counts = append(counts, count{value: s.state[v]})
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
			c := &counts[indexOf(s.state[v])]
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
			if best < 0 || impurity < best {
				best, variable, value = impurity, v, c.value
			}
		}
	}
	return variable, value
}
