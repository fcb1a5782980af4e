package scheduler

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// WriteController writes a scheduler with memory, which is a number, initially 0. Lists have a line for
// each reachable pair of state and memory: (0,true),3=move, as PRISM writes for LTL. JSON has an entry
// for each pair, with the memory after each successor. A randomized choice lists all actions with their
// probabilities, 0.25:left+0.75:right. Induced models number the pairs breadth-first.
//
// The errors are those of Write.
func WriteController(ctx context.Context, w io.Writer, space *explicit.Space, controller *sparse.Controller, f Format, opts Options) error {
	writer := newWriter(ctx, w, space, opts)
	var err error
	switch f {
	case Actions, Indices:
		err = writer.controllerList(controller, f == Indices)
	case InducedModel, Dot:
		err = writer.controllerChain(controller, f == Dot)
	case JSON:
		err = writer.controllerJSON(controller)
	default:
		err = fmt.Errorf("scheduler format %v for a scheduler with memory, want actions, indices, induced, dot or json", f)
	}
	if err != nil {
		return err
	}
	return writer.Flush()
}

// nodeOrder returns the nodes ordered by state and memory, and PRISM's number of each state.
func (w *writer) nodeOrder(x *sparse.Controller) (order []int, rank []int) {
	rank = make([]int, w.model.NumStates())
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

// controllerList writes a list of actions or indices.
func (w *writer) controllerList(x *sparse.Controller, indices bool) error {
	order, rank := w.nodeOrder(x)
	for k, i := range order {
		if err := w.poll(k); err != nil {
			return err
		}
		n := &x.Nodes[i]
		line := w.beginLine(rank[n.State], int(n.State), indices)
		line = append(strconv.AppendUint(append(line, ','), uint64(n.Memory), 10), '=')
		for j, v := range n.Moves {
			if j > 0 {
				line = append(line, '+')
			}
			if v.Prob != nil && len(n.Moves) > 1 {
				near, _ := v.Prob.Float64()
				line = append(append(line, formatNumber(near)...), ':')
			}
			line = w.appendChoice(line, int(n.State), int(v.Choice), indices)
		}
		w.line = append(line, '\n')
		w.Write(w.line)
	}
	return nil
}

// controllerChain writes the induced model, whose states are the nodes.
func (w *writer) controllerChain(x *sparse.Controller, dot bool) error {
	if w.opts.Restrict {
		return fmt.Errorf("found mode=restrict for a scheduler with memory, want mode=reduce")
	}
	m, err := x.Chain(w.ctx, w.model)
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

// controllerJSON writes Storm's JSON.
func (w *writer) controllerJSON(x *sparse.Controller) error {
	order, _ := w.nodeOrder(x)
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
			lo, _ := w.model.Row(int(v.Choice))
			for j, next := range v.Next {
				choice.Updates = append(choice.Updates, map[string]any{"m'": x.Nodes[next].Memory, "s'": w.variables(int(w.model.Target[lo+j]))})
			}
			choices = append(choices, choice)
		}
		if err := w.jsonElement(&separator, jsonState{Choice: choices, Memory: &memory, State: w.variables(int(n.State))}); err != nil {
			return err
		}
	}
	_, err := w.WriteString("\n]\n")
	return err
}
