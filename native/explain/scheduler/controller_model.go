package scheduler

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// ControllerModel returns a model whose only module is the Markov chain that a controller induces: it has the variables of all
// modules and one for the memory, and a command for each node of the controller. text is that of the model, in which the memory
// has no namesake.
func ControllerModel(ctx context.Context, model *syntax.Model, text []byte, space *explicit.Space, x *sparse.Controller, chain *sparse.Model) (*syntax.Model, error) {
	r := &moduleWriter{space: space, x: x, chain: chain, memory: "memory"}
	for strings.Contains(string(text), r.memory) {
		r.memory += "_"
	}
	if err := r.module(ctx); err != nil {
		return nil, err
	}
	module := []byte(r.text.String())
	parsed, err := syntax.ParseModel("", module)
	if err != nil {
		return nil, compile.QuoteLine(err, module)
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

// moduleWriter writes the chain of a controller as a module.
type moduleWriter struct {
	space  *explicit.Space
	x      *sparse.Controller
	chain  *sparse.Model
	memory string // the name of the variable for the memory
	text   strings.Builder
}

// module writes the module: the variables of all modules, the memory, and a command for each node.
func (r *moduleWriter) module(ctx context.Context) error {
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

// command writes the command of a node. A deadlock has none.
func (r *moduleWriter) command(i int) error {
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
			prob = fractionText(r.chain.Rat(t))
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

// fractionText returns a fraction in the language, which has integers of 32 bits: larger ones are written as decimals.
func fractionText(x *big.Rat) string {
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

// action returns the action that all moves of a node have; empty if they differ.
func (r *moduleWriter) action(n *sparse.Node) (string, error) {
	m := r.space.Model()
	if m.Actions == nil {
		return "", nil
	}
	action := m.Actions[n.Moves[0].Choice]
	for _, v := range n.Moves {
		if m.Actions[v.Choice] == action {
			continue
		}
		if r.rewardsActions() {
			return "", fmt.Errorf("state %s has several actions, which earn rewards of their own: no command of a chain does", r.space.Compiled().StateText(r.space.State(nil, int(n.State))))
		}
		return "", nil
	}
	if action == sparse.NoAction {
		return "", nil
	}
	return r.space.Program().Actions[action-1], nil
}

// rewardsActions reports whether a reward structure rewards transitions.
func (r *moduleWriter) rewardsActions() bool {
	for _, s := range r.space.Program().Rewards {
		for _, item := range s.Items {
			if item.Transition {
				return true
			}
		}
	}
	return false
}

// formula returns the variables of a node and its memory, joined. of returns the text of one variable; before comes before the
// memory.
func (r *moduleWriter) formula(n *sparse.Node, and string, of func(*sema.Variable, int32) string, before string) string {
	var words []string
	state := r.space.State(nil, int(n.State))
	for i := range r.space.Program().Vars {
		words = append(words, of(&r.space.Program().Vars[i], state[i]))
	}
	return strings.Join(append(words, before+strconv.FormatUint(uint64(n.Memory), 10)), and)
}

// literal returns a value of a variable in the language.
func literal(v *sema.Variable, x int32) string {
	if v.Type == sema.Bool {
		return strconv.FormatBool(x != 0)
	}
	return strconv.Itoa(int(x))
}
