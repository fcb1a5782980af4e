package prove

import (
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// translateMultiObjective translates multi(...) to a vector of the certificate. At most one objective may be a query.
func (translation *translation) translateMultiObjective(formula *logic.Formula) (vectorValue, error) {
	if translation.property.Program.Type != syntax.MDP || len(formula.Objectives) > certificate.MaxObjectives {
		return vectorValue{}, translation.unsupported(formula.Expr, "several objectives in a model that is not an MDP, or more than %d objectives", certificate.MaxObjectives)
	}
	several := &certificate.Several{}
	numQueries, isComplement := 0, false
	for _, operand := range formula.Objectives {
		objective, isNegated, err := translation.objective(operand)
		if err != nil {
			return vectorValue{}, err
		}
		if objective.Bound == nil {
			numQueries++
			isComplement = isNegated
		}
		several.Objectives = append(several.Objectives, objective)
	}
	if numQueries > 1 {
		return vectorValue{}, translation.unsupported(formula.Expr, "several objectives without bounds (Pareto)")
	}
	return vectorValue{translation.vectorIndex(certificate.Vector{Kind: certificate.Objectives, Reward: -1, Several: several}), isComplement}, nil
}

// objective translates an operand of multi(...) to an objective of a certificate. If isNegated is true, the value of the objective is 1 minus the
// probability of the operand.
func (translation *translation) objective(expr sema.Expr) (objective certificate.Objective, isNegated bool, err error) {
	objective = certificate.Objective{Reward: -1, Steps: -1}
	formula := logic.FormulaOf(expr)
	switch formula.Kind {
	case logic.Probability:
		if formula.Path.IsNegated || !formula.Path.Unbounded() {
			return objective, false, translation.unsupported(expr, "several objectives with a path formula other than F, G, U, W and R over states")
		}
		objective.Left, objective.Right, isNegated, err = translation.untilOperands(formula.Path, translation.stateFormula)
	case logic.Reward:
		err = translation.setReward(&objective, formula)
	default:
		err = translation.unsupported(expr, "several objectives with something other than P or R")
	}
	if err != nil {
		return objective, isNegated, err
	}
	if err := translation.setBound(&objective, formula); err != nil {
		return objective, isNegated, err
	}
	if isNegated {
		objective.Maximised = !objective.Maximised
		if objective.Bound != nil {
			objective.Bound = new(big.Rat).Sub(big.NewRat(1, 1), objective.Bound)
		}
	}
	return objective, isNegated, nil
}

// setReward sets the reward structure and the number of steps of an objective R [C] or R [C<=k].
func (translation *translation) setReward(objective *certificate.Objective, formula *logic.Formula) (err error) {
	reward := formula.Objective
	isSupported := reward.Form == logic.Cumulative || reward.Form == logic.TotalReward
	if !isSupported || reward.IsRatio {
		return translation.unsupported(formula.Expr, "several objectives with R of something other than C or C<=k")
	}
	objective.Reward = reward.Struct
	if reward.Form == logic.Cumulative {
		objective.Steps, err = logic.Count(reward.At)
	}
	return err
}

// setBound sets the bound of an objective, and Maximised: true for >= and for a query with max. A query has no bound. Strict bounds are an error.
func (translation *translation) setBound(objective *certificate.Objective, formula *logic.Formula) error {
	threshold := formula.Threshold
	switch {
	case threshold.Rel == syntax.OpGt || threshold.Rel == syntax.OpLt:
		return translation.unsupported(formula.Expr, "several objectives with a strict bound")
	case threshold.IsQuery():
		least, _ := threshold.IsMinimum(false)
		objective.Maximised = !least
		return nil
	}
	bound, err := sema.Enclose(threshold.Bound, nil)
	if err != nil || !bound.IsExact || bound.Rat == nil {
		return translation.unsupported(formula.Expr, "a bound that is not a fraction")
	}
	objective.Maximised, objective.Bound = threshold.Rel == syntax.OpGe, bound.Rat
	return nil
}
