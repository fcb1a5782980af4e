package main

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"tilecheck/native/explain/scheduler"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// remembered returns the model that a scheduler with a memory leaves: one module with the
// variables of all, and one for what is remembered, and a command for each pair of a
// state and a memory that is reached. It returns nil if the scheduler has no memory.
func (c *resolveCmd) remembered(ctx context.Context, env *world, model *syntax.Model, src []byte) (*syntax.Model, error) {
	if c.Scheduler == "" {
		return nil, nil
	}
	text, err := env.readSource(c.Scheduler)
	if err != nil || !scheduler.Remembers(text) {
		return nil, err
	}
	space, err := c.exactly(ctx, src)
	if err != nil {
		return nil, err
	}
	if len(space.Model().Initial) != 1 {
		return nil, fmt.Errorf("%s: found %d initial states, want one for a scheduler with a memory", c.ModelFile, len(space.Model().Initial))
	}
	x, err := scheduler.ReadController(ctx, c.Scheduler, text, space)
	if err != nil {
		return nil, err
	}
	chain, err := x.Chain(ctx, space.Model())
	if err != nil {
		return nil, err
	}
	r := &remembering{space: space, x: x, chain: chain, memory: "memory"}
	for strings.Contains(string(src), r.memory) {
		r.memory += "_"
	}
	if err := r.module(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Scheduler, err)
	}
	made := []byte(r.text.String())
	parsed, err := syntax.ParseModel("", made)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Scheduler, unplaced(err, made))
	}
	out := *model
	out.Items = nil
	for _, item := range model.Items {
		switch item.(type) {
		case *syntax.Module, *syntax.RenamedModule, *syntax.GlobalDecl, *syntax.InitBlock, *syntax.System:
		default:
			out.Items = append(out.Items, item)
		}
	}
	out.Items = append(out.Items, parsed.Items...)
	return &out, nil
}

// exactly builds the states, with fractions if there are some.
func (c *resolveCmd) exactly(ctx context.Context, src []byte) (*explicit.Space, error) {
	job := c.job(src)
	m, _, err := load.Model(ctx, job)
	if err != nil {
		return nil, err
	}
	space, _, err := load.Fractions(ctx, m, load.Options(&job))
	return space, outOfStates(err)
}

// remembering writes the module.
type remembering struct {
	space  *explicit.Space
	x      *sparse.Controller
	chain  *sparse.Model
	memory string
	text   strings.Builder
}

func (r *remembering) module(ctx context.Context) error {
	most := uint32(1) // a variable has two values at least
	for _, n := range r.x.Nodes {
		most = max(most, n.Memory)
	}
	first := r.x.Start[0]
	state := r.space.State(nil, int(r.x.Nodes[first].State))
	r.text.WriteString("module scheduled\n")
	for i, v := range r.space.Program().Vars {
		kind := "int"
		switch {
		case v.Type == sema.Bool:
			kind = "bool"
		case v.Bounded:
			kind = fmt.Sprintf("[%d..%d]", v.Low, v.High)
		}
		fmt.Fprintf(&r.text, "  %s : %s init %s;\n", v.Name, kind, literal(&v, state[i]))
	}
	fmt.Fprintf(&r.text, "  %s : [0..%d] init %d;\n\n", r.memory, most, r.x.Nodes[first].Memory)
	for _, a := range r.space.Program().Actions { // which rewards may name
		fmt.Fprintf(&r.text, "  [%s] false -> true;\n", a)
	}
	for i := range r.x.Nodes {
		if i&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.command(i); err != nil {
			return err
		}
	}
	r.text.WriteString("endmodule\n")
	return nil
}

// command writes what is done in a node. A deadlock stays one.
func (r *remembering) command(i int) error {
	n, m := &r.x.Nodes[i], r.space.Model()
	if m.Deadlocks != nil && m.Deadlocks.Has(int(n.State)) {
		return nil
	}
	name, err := r.action(n)
	if err != nil {
		return err
	}
	fmt.Fprintf(&r.text, "  [%s] %s ->", name, r.formula(n, " & ", func(v *sema.Variable, x int32) string { return v.Name + "=" + literal(v, x) }, r.memory+"="))
	lo, hi := r.chain.Row(i)
	for t := lo; t < hi; t++ {
		prob := strconv.FormatFloat(r.chain.Prob(t), 'g', -1, 64)
		if r.chain.Rats != nil {
			prob = quotient(r.chain.Rat(t))
		}
		if t > lo {
			r.text.WriteString(" +")
		}
		to := &r.x.Nodes[r.chain.Target[t]]
		fmt.Fprintf(&r.text, " %s:%s", prob, r.formula(to, "&", func(v *sema.Variable, x int32) string { return "(" + v.Name + "'=" + literal(v, x) + ")" }, "("+r.memory+"'=")+")")
	}
	r.text.WriteString(";\n")
	return nil
}

// quotient writes a fraction so that exact engines read the exact value. Numbers beyond the
// language's integers are doubles with the same digits.
func quotient(x *big.Rat) string {
	number := func(n *big.Int) string {
		if n.BitLen() < 32 {
			return n.String()
		}
		return n.String() + ".0"
	}
	if x.IsInt() {
		return number(x.Num())
	}
	return number(x.Num()) + "/" + number(x.Denom())
}

// action returns the one that all moves of a node have, if there is one.
func (r *remembering) action(n *sparse.Node) (string, error) {
	m := r.space.Model()
	if m.Actions == nil {
		return "", nil
	}
	action := m.Actions[n.Moves[0].Choice]
	for _, v := range n.Moves {
		if m.Actions[v.Choice] == action {
			continue
		}
		if r.acting() {
			return "", fmt.Errorf("state %s has several actions, which earn rewards of their own: no command of a chain does", r.space.Compiled().StateText(r.space.State(nil, int(n.State))))
		}
		return "", nil
	}
	if action == sparse.NoAction {
		return "", nil
	}
	return r.space.Program().Actions[action-1], nil
}

// acting reports whether actions earn rewards.
func (r *remembering) acting() bool {
	for _, s := range r.space.Program().Rewards {
		for _, item := range s.Items {
			if item.Transition {
				return true
			}
		}
	}
	return false
}

// formula writes a node, variable by variable, and its memory behind before.
func (r *remembering) formula(n *sparse.Node, and string, of func(*sema.Variable, int32) string, before string) string {
	var words []string
	state := r.space.State(nil, int(n.State))
	for i := range r.space.Program().Vars {
		words = append(words, of(&r.space.Program().Vars[i], state[i]))
	}
	return strings.Join(append(words, before+strconv.FormatUint(uint64(n.Memory), 10)), and)
}

func literal(v *sema.Variable, x int32) string {
	if v.Type == sema.Bool {
		return strconv.FormatBool(x != 0)
	}
	return strconv.Itoa(int(x))
}
