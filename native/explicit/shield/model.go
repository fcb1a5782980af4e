package shield

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// moduleName is what the module is called that guards a model.
const moduleName = "shield"

// Model returns the model with a module beside it that takes part in every action of which
// a choice is not allowed, where it is. Choices without an action are kept by guards of
// their commands. States that the shield keeps from being reached do not matter.
//
// Refused are models of which two choices with one action are not both allowed in a state, and those
// whose system block says which modules there are.
func (x *Shield) Model(ctx context.Context, tree *syntax.Model) ([]byte, error) {
	g := &guards{x: x, actions: map[int][]sample{}, commands: map[compile.CommandRef][]sample{}}
	if err := g.collect(ctx); err != nil {
		return nil, err
	}
	out := *tree
	out.Items = slices.Clone(tree.Items)
	if err := g.strengthen(ctx, &out); err != nil {
		return nil, err
	}
	text, err := g.module(ctx, tree)
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

// guards are where which action, or which command without one, is allowed.
type guards struct {
	x        *Shield
	actions  map[int][]sample // those of which a choice is not allowed somewhere
	commands map[compile.CommandRef][]sample
}

func (g *guards) collect(ctx context.Context) error {
	x := g.x
	m := x.Space.Model()
	from := sparse.NewSet(m.NumStates())
	for _, s := range m.Initial {
		from.Add(int(s))
	}
	states := reached(x.restricted(), from)
	var failure error
	err := x.Space.Commands(ctx, func(s, choice int, c *compile.Choice, _ []int) {
		if failure != nil || !states.Has(s) {
			return
		}
		at := sample{x.Space.State(nil, s), x.Allowed.Has(choice)}
		if c.Action == sema.Unlabelled {
			g.commands[c.Commands[0]] = append(g.commands[c.Commands[0]], at)
			return
		}
		list := g.actions[c.Action]
		if n := len(list); n > 0 && slices.Equal(list[n-1].state, at.state) {
			if list[n-1].allowed != at.allowed {
				failure = fmt.Errorf("in state %s only some choices of action %s are allowed, which no module can tell apart: want a file .json or files of states (.all, .umb)",
					x.Space.Compiled().StateText(at.state), x.Space.Program().Actions[c.Action])
			}
			return
		}
		g.actions[c.Action] = append(list, at)
	})
	return cmp.Or(failure, err)
}

// strengthen puts guards before the commands without an action of which a choice is not
// allowed.
func (g *guards) strengthen(ctx context.Context, tree *syntax.Model) error {
	prog := g.x.Space.Program()
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
				return fmt.Errorf("a command of module %s without an action is not always allowed, and its text is that of other modules, too: want a file .json or files of states (.all, .umb)", prog.Modules[module].Name)
			}
			if out == nil {
				y := *plain
				y.Commands = slices.Clone(plain.Commands)
				out = &y
			}
			cmd := *plain.Commands[k]
			guard, err := syntax.ParseExpr("", []byte("("+syntax.ExprString(cmd.Guard)+") & ("+separate(ctx, prog.Vars, samples)+")"))
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

// module returns the module, empty if everything is allowed.
func (g *guards) module(ctx context.Context, tree *syntax.Model) (string, error) {
	prog := g.x.Space.Program()
	var b bytes.Buffer
	for a, name := range prog.Actions {
		if samples := g.actions[a]; slices.ContainsFunc(samples, sample.forbidden) {
			fmt.Fprintf(&b, "  [%s] %s -> true;\n", name, separate(ctx, prog.Vars, samples))
		}
	}
	if b.Len() == 0 {
		return "", nil
	}
	for _, item := range tree.Items {
		switch y := item.(type) {
		case *syntax.System:
			return "", errors.New("the model has a system block, which says which modules there are: want a file .json or files of states (.all, .umb)")
		case *syntax.Module:
			if y.Name.Name == moduleName {
				return "", fmt.Errorf("the model has a module %s already", moduleName)
			}
		}
	}
	return "// No action that loses more than is allowed.\nmodule " + moduleName + "\n" + b.String() + "endmodule\n", nil
}

// sample is a state in which something is allowed, or is not.
type sample struct {
	state   []int32
	allowed bool
}

func (s sample) forbidden() bool { return !s.allowed }

// separate returns an expression over the variables that tells states in which something
// is allowed from the others: a decision tree, grown greedily. It is of no use once the
// context has ended.
//
// Source: the Gini impurity of Breiman, Friedman, Olshen and Stone (1984).
func separate(ctx context.Context, vars []sema.Variable, samples []sample) string {
	good := 0
	for _, s := range samples {
		if s.allowed {
			good++
		}
	}
	switch good {
	case 0:
		return "false"
	case len(samples):
		return "true"
	}
	if ctx.Err() != nil {
		return "true"
	}
	v, k := split(len(vars), samples)
	low := make([]sample, 0, len(samples))
	var high []sample
	for _, s := range samples {
		if s.state[v] <= k {
			low = append(low, s)
		} else {
			high = append(high, s)
		}
	}
	name, over := fmt.Sprintf("%s<=%d", vars[v].Name, k), fmt.Sprintf("%s>%d", vars[v].Name, k)
	if vars[v].Type == sema.Bool {
		name, over = "!"+vars[v].Name, vars[v].Name
	}
	return joined(name, over, separate(ctx, vars, low), separate(ctx, vars, high))
}

// joined is low under a condition and high otherwise.
func joined(name, over, low, high string) string {
	switch {
	case low == "true" && high == "false":
		return name
	case low == "false" && high == "true":
		return over
	case low == "true":
		return "(" + name + " | " + high + ")"
	case low == "false":
		return "(" + over + " & " + high + ")"
	case high == "true":
		return "(" + over + " | " + low + ")"
	case high == "false":
		return "(" + name + " & " + low + ")"
	}
	return "(" + name + " ? " + low + " : " + high + ")"
}

// split returns the variable, and the greatest value of the lower side, that leave the least impurity.
func split(vars int, samples []sample) (variable int, value int32) {
	type count struct {
		value     int32
		good, bad float64
	}
	best := -1.0
	var counts []count // of the values of a variable, ascending
	for v := range vars {
		least, most := samples[0].state[v], samples[0].state[v]
		for _, s := range samples {
			least, most = min(least, s.state[v]), max(most, s.state[v])
		}
		place := func(x int32) int { return int(int64(x) - int64(least)) }
		counts = counts[:0]
		if narrow := int64(most)-int64(least) < int64(len(samples))+64; narrow {
			for x := int64(least); x <= int64(most); x++ {
				counts = append(counts, count{value: int32(x)})
			}
		} else {
			for _, s := range samples {
				counts = append(counts, count{value: s.state[v]})
			}
			slices.SortFunc(counts, func(a, b count) int { return cmp.Compare(a.value, b.value) })
			counts = slices.CompactFunc(counts, func(a, b count) bool { return a.value == b.value })
			place = func(x int32) int {
				i, _ := slices.BinarySearchFunc(counts, x, func(c count, x int32) int { return cmp.Compare(c.value, x) })
				return i
			}
		}
		var total count
		for _, s := range samples {
			c := &counts[place(s.state[v])]
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
