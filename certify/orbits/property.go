package orbits

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
	"tilecheck/prism/sema"
)

// CheckProperty checks that a property has the same value in the program and in the model: its state formulas, labels and rewards are invariant
// under the permutations, its operators do not depend on how many states have a value (as filter(count, ...) does), and the rewards of the model are those of the program.
// The labels and the reward structures are those of program, which may have more than the program of the quotient, such as the labels of a properties file.
func (q *Quotient) CheckProperty(program *sema.Program, property sema.Expr) error {
	var failed error
	sema.Inspect(property, func(expr sema.Expr) bool {
		if failed == nil && sema.IsStateFormula(expr) {
			failed = q.checkExpr(expr)
			return false
		}
		if failed == nil {
			failed = q.checkOperator(program, expr)
		}
		return failed == nil
	})
	return failed
}

// checkOperator checks an operator of a property, without its operands.
func (q *Quotient) checkOperator(program *sema.Program, expr sema.Expr) error {
	switch expr := expr.(type) {
	case *sema.Label:
		if expr.Index >= 0 { // the built-in labels, of initial states and of deadlocks, are invariant
			return q.checkExpr(program.Labels[expr.Index].Expr)
		}
		return nil
	case *sema.Reward:
		return errors.Join(q.checkRewardOf(program, expr.Struct), q.checkRewardOf(program, expr.DivisorStruct))
	case *sema.RewardPath:
		return q.checkCosts(program, expr.Costs)
	case *sema.CostBounded:
		return q.checkCosts(program, expr.Costs)
	case *sema.Filter:
		if !slices.Contains([]string{"min", "max", "range", "forall", "exists"}, expr.Op) {
			return fmt.Errorf("symmetry does not preserve the filter %q", expr.Op)
		}
		return nil
	case *sema.Prob, *sema.Steady, *sema.Temporal, *sema.Conditional, *sema.Quant, *sema.Unary, *sema.Binary, *sema.Cond, *sema.Call:
		return nil
	}
	return fmt.Errorf("it is not known whether symmetry preserves this property (%T)", expr)
}

// checkCosts checks the reward structures of bounds on rewards.
func (q *Quotient) checkCosts(program *sema.Program, costs []sema.Cost) error {
	for _, cost := range costs {
		if err := q.checkRewardOf(program, cost.Struct); err != nil {
			return err
		}
	}
	return nil
}

// checkRewardOf checks a reward structure: it is invariant, and the model has its rewards. A negative index stands for no reward structure, or for the number of steps.
func (q *Quotient) checkRewardOf(program *sema.Program, index int) error {
	if index < 0 || q.isRewardSafe[index] {
		return nil
	}
	if err := q.checkRewards(&program.Rewards[index]); err != nil {
		return err
	}
	if index >= len(q.model.Rewards) {
		return fmt.Errorf("the certificate has no reward structure %d", index)
	}
	for s := range q.model.NumStates() {
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
	if stateReward.Cmp(q.number(rewards.State, s)) != 0 {
		return fmt.Errorf("its reward %q is not that of the model", structure.Name)
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
		if q.number(rewards.Choice, first).Cmp(mean.Quo(mean, total)) != 0 {
			return fmt.Errorf("the reward %q of its transitions is not that of the model", structure.Name)
		}
		return nil
	}
	for c := first; c < end; c++ {
		found = append(found, q.modelDistribution(s, c).text()+" earns "+q.number(rewards.Choice, c).RatString())
	}
	slices.Sort(wanted)
	slices.Sort(found)
	if !slices.Equal(slices.Compact(wanted), slices.Compact(found)) {
		return fmt.Errorf("the rewards %q of its choices are not those of the model", structure.Name)
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
