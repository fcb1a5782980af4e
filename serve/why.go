package serve

import (
	"context"
	"fmt"
	"strconv"

	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/runner"
)

type whyQuestion struct {
	source
	Property int `json:"property"`
}

// explanation explains the value of a property by the likeliest paths on which its formula holds, or
// does not hold. For a bound these are paths that decide together whether the bound holds.
type explanation struct {
	Verdict     verdict           `json:"verdict"`
	Holds       bool              `json:"holds"`            // whether the formula holds on the paths
	Wanted      string            `json:"wanted,omitempty"` // the probability that decides a bound, such as ">1/2"
	Enough      bool              `json:"enough,omitempty"` // whether the paths have the wanted probability together
	Count       int               `json:"count"`            // the number of paths; only the first ones are in Paths
	Probability result.JSONNumber `json:"probability"`      // the probability of all of them together
	Paths       []likelyPath      `json:"paths"`
}

// maxWhyPaths is the largest number of paths in an explanation.
const maxWhyPaths = 20

// why explains the answer to a property by paths, as check --witness does.
func (h *API) why(ctx context.Context, question *whyQuestion, response *reply) (any, error) {
	check := checkQuestion{source: question.source, Select: []int{question.Property}}
	runs, err := h.runs(ctx, &check, response)
	if err != nil {
		return nil, err
	}
	if len(runs) != 1 || len(runs[0].instances) != 1 {
		return nil, badf("paths explain one result, want one value for each constant")
	}
	plan := runs[0].plan.WithOutputs(func(outputs *runner.Outputs) { outputs.Witness = &runner.Witness{Paths: maxWhyPaths} })
	plan = plan.WithSettings(func(settings *runner.Settings) {
		settings.Numeric.MaxStates = min(settings.Numeric.MaxStates, maxExactStates)
	})
	verdicts, err := h.native.Check(ctx, plan)
	if err != nil {
		return nil, err
	}
	verdict := &verdicts[0]
	if verdict.Err != nil {
		return nil, verdict.Err
	}
	if len(verdict.Witnesses) == 0 {
		return nil, fmt.Errorf("no path explains this property: %v", append([]string{}, verdict.Warnings...))
	}
	var answer *explanation
	err = h.with(ctx, &question.source, func(loaded *model) error {
		answer, err = explain(loaded.compiled.Program(), &verdict.Witnesses[0])
		return err
	})
	if err != nil {
		return nil, err
	}
	verdict.Witnesses = nil // the explanation has them
	answer.Verdict = runs[0].verdict(0, verdict)
	return answer, nil
}

// explain converts a witness for the page, with states instead of valuations.
func explain(prog *sema.Program, witness *result.Witness) (*explanation, error) {
	explanation := &explanation{Holds: witness.Holds, Wanted: witness.Wanted, Enough: witness.Enough, Count: witness.Count, Probability: witness.Sum, Paths: []likelyPath{}}
	for _, witnessPath := range witness.Paths {
		path := likelyPath{Probability: witnessPath.Probability, Fraction: witnessPath.Fraction}
		for i, step := range witnessPath.Steps[:min(len(witnessPath.Steps), MaxNodes)] {
			state, err := stateOf(prog, step.State)
			if err != nil {
				return nil, err
			}
			path.States = append(path.States, state)
			if i > 0 {
				path.Actions = append(path.Actions, step.Action)
			}
		}
		explanation.Paths = append(explanation.Paths, path)
	}
	return explanation, nil
}

// stateOf returns the state with the given values of variables.
func stateOf(prog *sema.Program, values result.Valuation) ([]int32, error) {
	state := make([]int32, len(prog.Vars))
	texts := map[string]string{}
	for _, constant := range values {
		texts[constant.Name] = constant.Value
	}
	for i, variable := range prog.Vars {
		switch text := texts[variable.Name]; text {
		case "true":
			state[i] = 1
		case "false":
		default:
			number, err := strconv.ParseInt(text, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("the value of %s on the path: %w", variable.Name, err)
			}
			state[i] = int32(number)
		}
	}
	return state, nil
}
