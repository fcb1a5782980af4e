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

// instance is the model under one valuation of its constants, as Storm gets it:
// every constant has a definition, every reward structure a name, and a
// deadlock the self-loop that PRISM gives it, so that its state earns rewards.
type instance struct {
	program *sema.Program
	tree    *syntax.Model
	// rewards are the names of the reward structures, in the order of the file.
	rewards []string
	// deadlock is the label of the states that had no choice; empty where Storm's
	// own label says it.
	deadlock string
	// notNegative has the names that are never less than 0.
	notNegative map[string]bool
	// labels are, of states from a file, those that stand for conditions in properties, by
	// the numbers of these.
	labels  []sema.LabelDef
	numbers map[string]int
}

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
				r.Name = &syntax.Ident{Name: fresh(names, fmt.Sprintf("tilecheck_rewards_%d", len(in.rewards)+1))}
			}
			in.rewards = append(in.rewards, r.Name.Name)
			item = &r
		}
		in.tree.Items = append(in.tree.Items, item)
	}
	in.notNegative = notNegative(prog, j.Tree)
	if !j.Job.NoFixDeadlocks && stateRewards(prog) && slices.ContainsFunc(j.Tasks, asksRewards) {
		in.loops(names)
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

// fresh returns a name that is not taken, and takes it.
func fresh(names map[string]bool, name string) string {
	for names[name] {
		name += "_"
	}
	names[name] = true
	return name
}

// literal writes a value so that nothing of it is lost: a fraction is a quotient.
func literal(v sema.Value) syntax.Expr {
	switch {
	case v.Type == sema.Bool:
		return &syntax.BoolLit{Value: v.Bool}
	case v.Type == sema.Int:
		return signed(v.Int < 0, &syntax.IntLit{Value: max(v.Int, -v.Int)})
	case v.Rat != nil:
		num := &syntax.DoubleLit{Text: new(big.Int).Abs(v.Rat.Num()).String() + ".0"}
		if v.Rat.IsInt() {
			return signed(v.Rat.Sign() < 0, num)
		}
		den := &syntax.DoubleLit{Text: v.Rat.Denom().String() + ".0"}
		return signed(v.Rat.Sign() < 0, &syntax.Paren{X: &syntax.Binary{Op: syntax.OpDiv, X: num, Y: den}})
	}
	text := strconv.FormatFloat(v.Float, 'g', -1, 64)
	digits, negative := strings.CutPrefix(text, "-")
	return signed(negative, &syntax.DoubleLit{Text: digits})
}

func signed(negative bool, x syntax.Expr) syntax.Expr {
	if negative {
		return &syntax.Paren{X: &syntax.Unary{Op: syntax.OpNeg, X: x}}
	}
	return x
}

// notNegative returns the constants and variables of a model that are never
// less than 0. Inside a module that is renamed a name stands for others, too.
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

func stateRewards(prog *sema.Program) bool {
	return slices.ContainsFunc(prog.Rewards, func(r sema.RewardStruct) bool {
		return slices.ContainsFunc(r.Items, func(it sema.RewardItem) bool { return !it.Transition })
	})
}
