package bridge

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// instance is the model under one valuation of its constants, as Storm gets it: every constant has a value, every reward
// structure has a name, and a deadlock state has a self-loop that earns its state reward, as in PRISM.
type instance struct {
	program *sema.Program
	tree    *syntax.Model
	// rewards are the names of the reward structures, in the order of the file.
	rewards []string
	// deadlock is the label of the states that had no choice. If it is empty, Storm's
	// own label "deadlock" is correct.
	deadlock string
	// notNegative has the constants and variables that are never negative.
	notNegative map[string]bool
	// For states from a file, labels replace conditions on variables in properties; numbers
	// has their indices by the text of the condition.
	labels  []sema.LabelDef
	numbers map[string]int
}

// newInstance returns the model under a valuation in a form for Storm: constants have values, reward structures have names and, if rewards of
// deadlock states matter, deadlocks have self-loops.
func newInstance(j *job, v sema.Valuation) (*instance, error) {
	if j.Job.States != nil {
		return givenInstance(j, v)
	}
	prog, err := j.Model.Instantiate(v.Map())
	if err != nil {
		return nil, err
	}
	in := &instance{program: prog, tree: &syntax.Model{}}
	*in.tree = *j.Tree
	in.tree.Items = nil
	names := namesOf(j.Tree)
	for _, item := range j.Tree.Items {
		switch x := item.(type) {
		case *syntax.ConstDecl:
			c := *x
			if c.Value == nil {
				c.Value = literal(v.Map()[c.Name.Name])
			}
			item = &c
		case *syntax.Rewards:
			r := *x
			if r.Name == nil {
				r.Name = &syntax.Ident{Name: freshName(names, fmt.Sprintf("tilecheck_rewards_%d", len(in.rewards)+1))}
			}
			in.rewards = append(in.rewards, r.Name.Name)
			item = &r
		}
		in.tree.Items = append(in.tree.Items, item)
	}
	in.notNegative = notNegative(prog, j.Tree)
	if !j.Job.NoFixDeadlocks && stateRewards(prog) && slices.ContainsFunc(j.Tasks, asksRewards) {
		in.addSelfLoops(names)
	}
	return in, nil
}

// namesOf collects the identifiers of a model.
func namesOf(m *syntax.Model) map[string]bool {
	names := make(map[string]bool)
	syntax.Inspect(m, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok && id != nil {
			names[id.Name] = true
		}
		return true
	})
	return names
}

// freshName returns an unused name and marks it as used.
func freshName(names map[string]bool, name string) string {
	for names[name] {
		name += "_"
	}
	names[name] = true
	return name
}

// literal writes a value without loss: a fraction becomes a quotient.
func literal(v sema.Value) syntax.Expr {
	switch {
	case v.Type == sema.Bool:
		return &syntax.BoolLit{Value: v.Bool}
	case v.Type == sema.Int:
		return withSign(v.Int < 0, &syntax.IntLit{Value: max(v.Int, -v.Int)})
	case v.Rat != nil:
		num := &syntax.DoubleLit{Text: new(big.Int).Abs(v.Rat.Num()).String() + ".0"}
		if v.Rat.IsInt() {
			return withSign(v.Rat.Sign() < 0, num)
		}
		den := &syntax.DoubleLit{Text: v.Rat.Denom().String() + ".0"}
		return withSign(v.Rat.Sign() < 0, &syntax.Paren{X: &syntax.Binary{Op: syntax.OpDiv, X: num, Y: den}})
	}
	text := strconv.FormatFloat(v.Float, 'g', -1, 64)
	digits, negative := strings.CutPrefix(text, "-")
	return withSign(negative, &syntax.DoubleLit{Text: digits})
}

// withSign returns the negation of x if negative is true, otherwise x.
func withSign(negative bool, x syntax.Expr) syntax.Expr {
	if negative {
		return &syntax.Paren{X: &syntax.Unary{Op: syntax.OpNeg, X: x}}
	}
	return x
}

// notNegative returns the constants and variables of a model that are never negative. In a renamed module a name also stands
// for the names that replace it.
func notNegative(prog *sema.Program, tree *syntax.Model) map[string]bool {
	out := make(map[string]bool)
	for _, c := range prog.Consts {
		out[c.Name] = c.Val.Type != sema.Bool && c.Val.Float >= 0
	}
	for _, v := range prog.Vars {
		out[v.Name] = v.Type == sema.Int && v.Low >= 0
	}
	for changed := true; changed; {
		changed = false
		for _, item := range tree.Items {
			m, ok := item.(*syntax.RenamedModule)
			if !ok {
				continue
			}
			for _, r := range m.Renames {
				if out[r.Old.Name] && !out[r.New.Name] {
					out[r.Old.Name], changed = false, true
				}
			}
		}
	}
	return out
}

// stateRewards reports whether some reward structure has rewards of states.
func stateRewards(prog *sema.Program) bool {
	return slices.ContainsFunc(prog.Rewards, func(r sema.RewardStruct) bool {
		return slices.ContainsFunc(r.Items, func(item sema.RewardItem) bool { return !item.Transition })
	})
}
