package orbits

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"tilecheck/certify/certificate"
	"tilecheck/internal/noun"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
)

// CheckProperty checks that a property has the same value in the program and in the model: its state formulas, labels and rewards are invariant
// under the permutations, its operators do not depend on how many states have a value (as filter(count, ...) does), and the rewards of the model are those of the program.
// The labels and the reward structures are those of program, which may have more than the program of the quotient, such as the labels of a properties file.
func (q *Quotient) CheckProperty(ctx context.Context, program *sema.Program, property sema.Expr) error {
	var failed error
	sema.Inspect(property, func(expr sema.Expr) bool {
		if failed == nil && sema.IsStateFormula(expr) {
			failed = q.checkExpr(ctx, fmt.Sprintf("the formula at %v of the property", expr.Pos()), expr)
			return false
		}
		if failed == nil {
			failed = q.checkOperator(ctx, program, expr)
		}
		return failed == nil
	})
	return failed
}

// checkOperator checks an operator of a property, without its operands.
func (q *Quotient) checkOperator(ctx context.Context, program *sema.Program, expr sema.Expr) error {
	switch expr := expr.(type) {
	case *sema.Label:
		if expr.Index >= 0 { // the built-in labels, of initial states and of deadlocks, are invariant
			label := &program.Labels[expr.Index]
			return q.checkExpr(ctx, fmt.Sprintf("the label %q", label.Name), label.Expr)
		}
		return nil
	case *sema.Reward:
		return errors.Join(q.checkRewardOf(ctx, program, expr.Struct), q.checkRewardOf(ctx, program, expr.DivisorStruct))
	case *sema.RewardPath:
		return q.checkCosts(ctx, program, expr.Costs)
	case *sema.CostBounded:
		return q.checkCosts(ctx, program, expr.Costs)
	case *sema.Filter:
		if preserved := []string{"min", "max", "range", "forall", "exists"}; !slices.Contains(preserved, expr.Op) {
			return fmt.Errorf("symmetry does not preserve the filter %q, want one of %s", expr.Op, strings.Join(preserved, ", "))
		}
		return nil
	case *sema.Prob, *sema.Steady, *sema.Temporal, *sema.Conditional, *sema.Quant, *sema.Unary, *sema.Binary, *sema.Cond, *sema.Call:
		return nil
	}
	return fmt.Errorf("found %s, want a property that symmetry is known to preserve", logic.Describe(expr))
}

// checkCosts checks the reward structures of bounds on rewards.
func (q *Quotient) checkCosts(ctx context.Context, program *sema.Program, costs []sema.Cost) error {
	for _, cost := range costs {
		if err := q.checkRewardOf(ctx, program, cost.Struct); err != nil {
			return err
		}
	}
	return nil
}

// checkRewardOf checks a reward structure: it is invariant, and the model has its rewards. A negative index stands for no reward structure, or for the number of steps.
func (q *Quotient) checkRewardOf(ctx context.Context, program *sema.Program, index int) error {
	if index < 0 || q.isRewardSafe[index] {
		return nil
	}
	if err := q.checkRewards(&program.Rewards[index]); err != nil {
		return err
	}
	if index >= len(q.model.Rewards) {
		return fmt.Errorf("found %s in the certificate, want at least %d", noun.Count(len(q.model.Rewards), "reward structure"), index+1)
	}
	for s := range q.model.NumStates() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := q.checkRewardsOfState(&program.Rewards[index], &q.model.Rewards[index], s); err != nil {
			return fmt.Errorf("state %d: %w", s, err)
		}
	}
	q.isRewardSafe[index] = true
	return nil
}

// checkRewardsOfState compares the rewards of a listed state and of its choices with the program.
func (q *Quotient) checkRewardsOfState(structure *sema.RewardStruct, rewards *certificate.Reward, s int) error {
	state := slices.Clone(q.states(s))
	stateReward, err := q.reward(structure, state, false, 0)
	if err != nil {
		return err
	}
	if found := q.number(rewards.State, s); found.Cmp(stateReward) != 0 {
		return fmt.Errorf("found the reward %s in the structure %q, want %s", found.RatString(), structure.Name, stateReward.RatString())
	}
	choices, distributions, err := q.distributions(s)
	if err != nil {
		return err
	}
	var wanted, found []string
	mean, total := new(big.Rat), new(big.Rat)
	for i := range choices {
		earned, err := q.reward(structure, state, true, choices[i].action)
		if err != nil {
			return err
		}
		total.Add(total, choices[i].weight)
		mean.Add(mean, new(big.Rat).Mul(earned, choices[i].weight))
		if q.model.Kind == certificate.MDP {
			wanted = append(wanted, distributions[i].text()+" earns "+earned.RatString())
		}
	}
	first, end := q.model.Choices(s)
	if q.model.Kind != certificate.MDP {
		if found := q.number(rewards.Choice, first); found.Cmp(mean.Quo(mean, total)) != 0 {
			return fmt.Errorf("found the mean reward %s of a transition in the structure %q, want %s", found.RatString(), structure.Name, mean.RatString())
		}
		return nil
	}
	for c := first; c < end; c++ {
		found = append(found, q.modelDistribution(s, c).text()+" earns "+q.number(rewards.Choice, c).RatString())
	}
	if err := compareChoices(found, wanted); err != nil {
		return fmt.Errorf("reward structure %q: %w", structure.Name, err)
	}
	return nil
}

// number returns an entry of a column of rewards. A missing column has zeros.
func (q *Quotient) number(column []uint32, i int) *big.Rat {
	if column == nil {
		return new(big.Rat)
	}
	return q.model.Numbers[column[i]]
}
