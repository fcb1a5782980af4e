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

// newInstance returns the model under a valuation of its constants, in a form for Storm. Constants have values and reward structures have names.
// Deadlocks have self-loops if state rewards and R operators make a difference there.
func newInstance(job *job, valuation sema.Valuation) (*instance, error) {
	if job.Job.States != nil {
		return givenInstance(job, valuation)
	}
	program, err := job.Model.Instantiate(valuation.Map())
	if err != nil {
		return nil, err
	}
	instance := &instance{program: program, tree: &syntax.Model{}}
	*instance.tree = *job.Tree
	instance.tree.Items = nil
	names := namesOf(job.Tree)
	for _, item := range job.Tree.Items {
		switch decl := item.(type) {
		case *syntax.ConstDecl:
			constant := *decl
			if constant.Value == nil {
				constant.Value = literal(valuation.Map()[constant.Name.Name])
			}
			item = &constant
		case *syntax.Rewards:
			structure := *decl
			if structure.Name == nil {
				structure.Name = &syntax.Ident{Name: freshName(names, fmt.Sprintf("tilecheck_rewards_%d", len(instance.rewards)+1))}
			}
			instance.rewards = append(instance.rewards, structure.Name.Name)
			item = &structure
		}
		instance.tree.Items = append(instance.tree.Items, item)
	}
	instance.notNegative = notNegative(program, job.Tree)
	if !job.Job.NoFixDeadlocks && stateRewards(program) && slices.ContainsFunc(job.Tasks, asksRewards) {
		instance.addSelfLoops(names)
	}
	return instance, nil
}

// namesOf returns the set of all identifiers in a model.
func namesOf(model *syntax.Model) map[string]bool {
	names := make(map[string]bool)
	syntax.Inspect(model, func(node syntax.Node) bool {
		if identifier, ok := node.(*syntax.Ident); ok && identifier != nil {
			names[identifier.Name] = true
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

// literal returns an expression for a value, without loss of precision: a fraction becomes a quotient.
func literal(value sema.Value) syntax.Expr {
	switch {
	case value.Type == sema.Bool:
		return &syntax.BoolLit{Value: value.Bool}
	case value.Type == sema.Int:
		return withSign(value.Int < 0, &syntax.IntLit{Value: max(value.Int, -value.Int)})
	case value.Rat != nil:
		numerator := &syntax.DoubleLit{Text: new(big.Int).Abs(value.Rat.Num()).String() + ".0"}
		if value.Rat.IsInt() {
			return withSign(value.Rat.Sign() < 0, numerator)
		}
		denominator := &syntax.DoubleLit{Text: value.Rat.Denom().String() + ".0"}
		return withSign(value.Rat.Sign() < 0, &syntax.Paren{X: &syntax.Binary{Op: syntax.OpDiv, X: numerator, Y: denominator}})
	}
	text := strconv.FormatFloat(value.Float, 'g', -1, 64)
	digits, negative := strings.CutPrefix(text, "-")
	return withSign(negative, &syntax.DoubleLit{Text: digits})
}

// withSign returns -expr if negative is true, otherwise expr.
func withSign(negative bool, expr syntax.Expr) syntax.Expr {
	if negative {
		return &syntax.Paren{X: &syntax.Unary{Op: syntax.OpNeg, X: expr}}
	}
	return expr
}

// notNegative returns the constants and variables of a model that are never negative. In a renamed module a name also stands
// for the names that replace it.
func notNegative(program *sema.Program, tree *syntax.Model) map[string]bool {
	isNotNegative := make(map[string]bool)
	for _, constant := range program.Consts {
		isNotNegative[constant.Name] = constant.Val.Type != sema.Bool && constant.Val.Float >= 0
	}
	for _, variable := range program.Vars {
		isNotNegative[variable.Name] = variable.Type == sema.Int && variable.Low >= 0
	}
	for hasChanged := true; hasChanged; {
		hasChanged = false
		for _, item := range tree.Items {
			module, ok := item.(*syntax.RenamedModule)
			if !ok {
				continue
			}
			for _, rename := range module.Renames {
				if isNotNegative[rename.Old.Name] && !isNotNegative[rename.New.Name] {
					isNotNegative[rename.Old.Name], hasChanged = false, true
				}
			}
		}
	}
	return isNotNegative
}

// stateRewards reports whether some reward structure has rewards of states.
func stateRewards(program *sema.Program) bool {
	return slices.ContainsFunc(program.Rewards, func(r sema.RewardStruct) bool {
		return slices.ContainsFunc(r.Items, func(item sema.RewardItem) bool { return !item.IsTransition })
	})
}
