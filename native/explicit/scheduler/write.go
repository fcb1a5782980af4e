package scheduler

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
)

// Write writes a scheduler of a space in a format. States are numbered as PRISM
// numbers them (explicit.Space.Order), in JSON as in the space.
//
// The error is that of the context or of the writer, or says that the scheduler
// does not fit the space.
//
// Source: PRISM's -exportstrat; Storm's Scheduler::printJsonToStream.
func Write(ctx context.Context, w io.Writer, space *explicit.Space, x Scheduler, f Format, opts Options) error {
	if err := x.validate(space.Model()); err != nil {
		return err
	}
	out := newWriter(ctx, w, space, opts)
	out.x = x
	var err error
	switch f {
	case Actions, Indices:
		err = out.list(f == Indices)
	case InducedModel, Dot:
		err = out.induced(f == Dot)
	case JSON:
		err = out.json()
	default:
		err = fmt.Errorf("scheduler format %d", f)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

func newWriter(ctx context.Context, w io.Writer, space *explicit.Space, opts Options) *writer {
	return &writer{
		Writer: bufio.NewWriter(w), ctx: ctx, space: space, m: space.Model(), opts: opts,
		vars: space.Program().Vars, valuation: space.State(nil, 0),
	}
}

// writer writes one scheduler. Its buffer keeps the first error of what it is
// written to.
type writer struct {
	*bufio.Writer
	ctx       context.Context
	space     *explicit.Space
	m         *sparse.Model
	x         Scheduler
	opts      Options
	vars      []sema.Variable
	valuation []int32 // of the state last asked for
	line      []byte
}

// poll returns the context's error now and then, given the number of a state.
func (w *writer) poll(i int) error {
	if i%statesPerPoll != 0 {
		return nil
	}
	return w.ctx.Err()
}

// list writes the choices that are made: for each state, for each number of
// steps that is counted.
func (w *writer) list(indices bool) error {
	for k, s := range w.space.Order() {
		if err := w.poll(k); err != nil {
			return err
		}
		for i, row := range w.x {
			if row[s] == sparse.None {
				continue
			}
			w.entry(k, int(s), i, indices)
		}
	}
	return nil
}

// entry writes the choice of PRISM's state k, which is s, after some steps.
func (w *writer) entry(k, s, steps int, indices bool) {
	line := w.place(k, s, indices)
	if !w.x.Memoryless() {
		line = strconv.AppendInt(append(line, ','), int64(steps), 10)
	}
	line = append(line, '=')
	w.line = append(w.what(line, s, int(w.x[steps][s]), indices), '\n')
	w.Write(w.line)
}

// place begins a line with PRISM's state k, which is s.
func (w *writer) place(k, s int, indices bool) []byte {
	if w.opts.States && !indices {
		return w.state(w.line[:0], s)
	}
	return strconv.AppendInt(w.line[:0], int64(k), 10)
}

// what appends a choice of a state.
func (w *writer) what(to []byte, s, c int, indices bool) []byte {
	if indices {
		first, _ := w.m.Choices(s)
		return strconv.AppendInt(to, int64(c-first), 10)
	}
	return append(to, w.action(w.m.Actions, c)...)
}

// state appends the valuation of a state: (0,true).
func (w *writer) state(to []byte, s int) []byte {
	w.space.State(w.valuation, s)
	for i, v := range w.vars {
		to = append(to, "(,"[min(i, 1)])
		if v.Type == sema.Bool {
			to = strconv.AppendBool(to, w.valuation[i] != 0)
		} else {
			to = strconv.AppendInt(to, int64(w.valuation[i]), 10)
		}
	}
	if len(w.vars) == 0 {
		to = append(to, '(')
	}
	return append(to, ')')
}

// action returns the name of an entry of a model's Actions; nil has none.
func (w *writer) action(actions []sparse.Action, i int) string {
	if actions == nil || actions[i] == sparse.NoAction {
		return ""
	}
	return w.space.Program().Actions[actions[i]-1]
}

// induced writes the induced model.
func (w *writer) induced(dot bool) error {
	in, err := w.x.Induce(w.ctx, w.m, InduceOptions{Reachable: w.opts.Reachable, Restrict: w.opts.Restrict, Order: w.space.Order()})
	if err != nil {
		return err
	}
	if dot {
		return w.dot(in)
	}
	return w.transitions(in)
}

// transitions writes PRISM's .tra.
func (w *writer) transitions(in *Induced) error {
	m := in.Model
	fmt.Fprintf(w, "# Transitions (%v)\n%d ", m.Kind, m.NumStates())
	choice := ""
	if m.Kind == sparse.MDP {
		fmt.Fprintf(w, "%d ", m.NumChoices())
		choice = "0 "
	}
	fmt.Fprintf(w, "%d\n", m.NumTransitions())
	for s := range m.NumStates() {
		if err := w.poll(s); err != nil {
			return err
		}
		lo, hi := m.Row(s)
		for t := lo; t < hi; t++ {
			fmt.Fprintf(w, "%d %s%d %s%s\n", s, choice, m.Target[t], number(m.Prob(t)), prefixed(" ", w.via(in, s, t)))
		}
	}
	return nil
}

// taken returns the action of the choice of an induced state.
func (w *writer) taken(in *Induced, i int) string {
	if in.Choice == nil { // several, with actions of their own
		return ""
	}
	return w.action(w.m.Actions, int(in.Choice[i]))
}

// via returns the action of transition t of induced state i.
func (w *writer) via(in *Induced, i, t int) string {
	if in.Choice == nil {
		return w.action(in.Model.Actions, t)
	}
	return w.taken(in, i)
}

// prefixed returns the text after a prefix, unless it is empty.
func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// dot draws the induced model; an MDP has a point for the choice of each state.
func (w *writer) dot(in *Induced) error {
	m := in.Model
	w.WriteString("digraph M {\nnode [label=\"\",shape=\"box\"];\n")
	for i := range m.NumStates() {
		if err := w.poll(i); err != nil {
			return err
		}
		fmt.Fprintf(w, "%d [label=\"%d%s\"];\n", i, i, w.below(in, i))
		from, label := strconv.Itoa(i), prefixed(":", w.taken(in, i))
		if m.Kind == sparse.MDP {
			from = fmt.Sprintf("n%d_0", i)
			fmt.Fprintf(w, "%d -> %s  [label=\"0%s\",arrowhead=\"none\"];\n", i, from, label)
			fmt.Fprintf(w, "%s [ shape=point,width=0.1,height=0.1,label=\"\" ];\n", from)
			label = ""
		}
		lo, hi := m.Row(i)
		for t := lo; t < hi; t++ {
			if in.Choice == nil {
				label = prefixed(":", w.via(in, i, t))
			}
			fmt.Fprintf(w, "%s -> %d [label=\"%s%s\"];\n", from, m.Target[t], number(m.Prob(t)), label)
		}
	}
	w.WriteString("}\n")
	return nil
}

// below returns the second line of a state's box: its valuation and, where
// they are counted, the steps.
func (w *writer) below(in *Induced, i int) string {
	if !w.opts.States {
		return ""
	}
	text := w.state([]byte(`\n`), int(in.State[i]))
	if in.Step != nil {
		text = strconv.AppendUint(append(text[:len(text)-1], ','), uint64(in.Step[i]), 10)
		text = append(text, ')')
	}
	return string(text)
}
