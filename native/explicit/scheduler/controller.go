package scheduler

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/sparse"
)

// WriteController writes a scheduler with a memory, which is a number, 0 at the beginning. Lists have a line for each
// state and memory that are reached, (0,true),3=move, as PRISM's do for LTL, and JSON an
// entry, with the memory that each successor brings. Where dice are thrown the line has all actions,
// 0.25:left+0.75:right, and the entry has a choice for each memory to go on with. Induced
// models number the pairs breadth first.
//
// The error is that of Write.
func WriteController(ctx context.Context, w io.Writer, space *explicit.Space, x *sparse.Controller, f Format, opts Options) error {
	out := newWriter(ctx, w, space, opts)
	var err error
	switch f {
	case Actions, Indices:
		err = out.nodes(x, f == Indices)
	case InducedModel, Dot:
		err = out.chain(x, f == Dot)
	case JSON:
		err = out.remembered(x)
	default:
		err = fmt.Errorf("a %v of a scheduler with a memory, want actions, indices, induced, dot or json", f)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// byState returns the nodes, states first, with PRISM's numbers of the states.
func (w *writer) byState(x *sparse.Controller) (order []int, rank []int) {
	rank = make([]int, w.m.NumStates())
	for k, s := range w.space.Order() {
		rank[s] = k
	}
	for i := range x.Nodes {
		order = append(order, i)
	}
	slices.SortFunc(order, func(i, j int) int {
		n, m := &x.Nodes[i], &x.Nodes[j]
		return cmp.Or(rank[n.State]-rank[m.State], int(n.Memory)-int(m.Memory))
	})
	return order, rank
}

// nodes writes a list.
func (w *writer) nodes(x *sparse.Controller, indices bool) error {
	order, rank := w.byState(x)
	for k, i := range order {
		if err := w.poll(k); err != nil {
			return err
		}
		n := &x.Nodes[i]
		line := w.place(rank[n.State], int(n.State), indices)
		line = append(strconv.AppendUint(append(line, ','), uint64(n.Memory), 10), '=')
		for j, v := range n.Moves {
			if j > 0 {
				line = append(line, '+')
			}
			if v.Prob != nil && len(n.Moves) > 1 {
				near, _ := v.Prob.Float64()
				line = append(append(line, number(near)...), ':')
			}
			line = w.what(line, int(n.State), int(v.Choice), indices)
		}
		w.line = append(line, '\n')
		w.Write(w.line)
	}
	return nil
}

// chain writes the induced model, whose states are the nodes that are reached: all are.
func (w *writer) chain(x *sparse.Controller, dot bool) error {
	if w.opts.Restrict {
		return fmt.Errorf("an MDP of a scheduler with a memory, want mode=reduce")
	}
	m, err := x.Chain(w.ctx, w.m)
	if err != nil {
		return err
	}
	in := &Induced{Model: m}
	for _, n := range x.Nodes {
		in.State, in.Step = append(in.State, n.State), append(in.Step, n.Memory)
	}
	if dot {
		return w.dot(in)
	}
	return w.transitions(in)
}

// remembered writes Storm's JSON.
func (w *writer) remembered(x *sparse.Controller) error {
	order, _ := w.byState(x)
	separator := "[\n" + indent
	for k, i := range order {
		if err := w.poll(k); err != nil {
			return err
		}
		n := &x.Nodes[i]
		memory := int(n.Memory)
		var choices []jsonChoice
		for _, v := range n.Moves {
			prob := 1.0
			if v.Prob != nil {
				prob, _ = v.Prob.Float64()
			}
			choice := w.jsonChoice(int(v.Choice), prob)
			lo, _ := w.m.Row(int(v.Choice))
			for j, next := range v.Next {
				choice.Updates = append(choice.Updates, map[string]any{"m'": x.Nodes[next].Memory, "s'": w.variables(int(w.m.Target[lo+j]))})
			}
			choices = append(choices, choice)
		}
		if err := w.element(&separator, jsonState{Choice: choices, Memory: &memory, State: w.variables(int(n.State))}); err != nil {
			return err
		}
	}
	_, err := w.WriteString("\n]\n")
	return err
}
