package native

import (
	"context"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/native/check"
	"tilecheck/native/explain/witness"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// maxWitness is the largest number of paths that are added up to exceed a bound.
const maxWitness = 1_000_000

// checkAndWitness checks a property and adds its witnesses to the verdict. If it finds no witness, it adds a warning. If the context has
// ended, the verdict has an error.
func (model *exploredModel) checkAndWitness(ctx context.Context, property *check.Property) result.Verdict {
	reach, verdict, err := model.checker.Reach(ctx, property)
	if err == nil {
		err = model.addWitnesses(ctx, reach, &verdict)
	}
	if err == nil || verdict.Err != nil {
		return verdict
	}
	if ctx.Err() != nil {
		return unfinished(verdict, model.missingOutputNote(&verdict), check.Failure(err, property.File, property.Pos))
	}
	verdict.Warnings = append(slices.Clip(verdict.Warnings), noWitness+check.Failure(err, property.File, property.Pos).Message)
	return verdict
}

// Witness checks as Check does, and adds the most likely path to each verdict that has one.
func (e *Engine) Witness(ctx context.Context, plan *runner.Plan) ([]result.Verdict, error) {
	plan = plan.WithSettings(func(s *runner.Settings) { s.Method = runner.States })
	return e.Check(ctx, plan.WithOutputs(func(outputs *runner.Outputs) {
		outputs.Witness, outputs.Scheduler, outputs.Certificate = &runner.Witness{Paths: 1}, nil, nil
	}))
}

// question asks for a set of paths, as a witness of a property.
type question struct {
	satisfying   bool     // the formula holds on the paths; otherwise it fails on them
	bound        *big.Rat // their probability exceeds this; nil asks for the most likely paths
	orEqual      bool     // the probability may also equal bound
	provesAnswer bool     // such paths prove the answer to the property
}

// questionOf returns the question for paths that show why a property with a bound p is true or false: either paths on which the formula
// holds, with a probability above p, or paths on which it fails, with a probability above 1-p. Of an MDP, they prove only that the
// property is false, because they are paths under one scheduler.
func questionOf(reach *check.Reach, verdict *result.Verdict) question {
	isTrue, isMDP := verdict.Value.Bool, reach.Choices != nil
	isLowerBound := reach.Rel == syntax.OpGe || reach.Rel == syntax.OpGt
	isStrict := reach.Rel == syntax.OpGt || reach.Rel == syntax.OpLt
	question := question{satisfying: isLowerBound == isTrue, bound: reach.Bound, orEqual: isStrict != isTrue, provesAnswer: !isTrue || !isMDP}
	if !question.satisfying {
		question.bound = new(big.Rat).Sub(big.NewRat(1, 1), reach.Bound)
	}
	return question
}

// addWitnesses finds witnesses and adds them to a verdict, with a critical subsystem if the job wants one. If the context ends, the
// last witness may be incomplete.
func (model *exploredModel) addWitnesses(ctx context.Context, reach *check.Reach, verdict *result.Verdict) error {
	var questions []question
	switch {
	case reach.Bound != nil:
		questions = []question{questionOf(reach, verdict)}
	case model.outputs.Witness.Misses:
		questions = []question{{satisfying: true}, {}}
	default:
		questions = []question{{satisfying: true}}
	}
	for _, question := range questions {
		found, chain, err := model.findWitness(ctx, reach, question)
		if found != nil {
			verdict.Witnesses = append(verdict.Witnesses, *found)
			model.keepVerdict(verdict)
		}
		if err == nil && model.outputs.Witness.Part && question.bound != nil && question.provesAnswer {
			err = model.addSubsystem(ctx, &verdict.Witnesses[len(verdict.Witnesses)-1], reach, chain, question)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pathFormula returns the set of paths that answer a question.
func pathFormula(reach *check.Reach, question question) *witness.PathFormula {
	return &witness.PathFormula{Left: reach.Left, Right: reach.Right, Low: reach.Steps.Low, High: reach.Steps.High, Violating: question.satisfying == reach.Negated}
}

// findWitness returns the paths that answer a question, and the Markov chain that contains these paths. If the context ends, it
// returns the paths found so far, and an error.
func (model *exploredModel) findWitness(ctx context.Context, reach *check.Reach, question question) (*result.Witness, *witness.Chain, error) {
	chain, err := witness.New(ctx, reach.Space.Model(), pathFormula(reach, question), reach.Choices, reach.From)
	if err != nil {
		return nil, nil, err
	}
	paths, err := chain.Paths(ctx)
	if err != nil {
		return nil, nil, err
	}
	limit, bound := maxWitness, question.bound
	if bound == nil {
		limit, bound = model.outputs.Witness.Paths, big.NewRat(1, 1)
	}
	set, err := witness.Exceed(ctx, paths, bound, question.orEqual, limit, model.outputs.Witness.Paths)
	if set.Count == 0 && err != nil {
		return nil, nil, err
	}
	found := &result.Witness{Holds: question.satisfying, Scheduler: reach.Choices != nil, Count: set.Count, All: set.All, Longest: set.Steps, Paths: []result.WitnessPath{}}
	found.Sum, found.SumFraction = result.WitnessNumber(set.Sum)
	if err != nil {
		found.SumFraction = "" // the sum is only a lower bound, because paths are missing
	}
	if question.bound != nil {
		found.Wanted = question.comparison()
		found.Enough, found.Shown = set.Enough, set.Enough && question.provesAnswer
	}
	describer := &describer{chain: chain, model: reach.Space.Model(), reach: reach}
	for _, path := range set.Paths {
		found.Paths = append(found.Paths, describer.path(path))
	}
	if model.generated != nil {
		found.Columns = model.generated.Columns(reach.Space.Program())
	}
	return found, chain, err
}

// comparison returns the text of the bound that the paths must reach or exceed, such as >=1/2.
func (q *question) comparison() string {
	if q.orEqual {
		return ">=" + q.bound.RatString()
	}
	return ">" + q.bound.RatString()
}

// describer writes paths with the names of the model.
type describer struct {
	chain  *witness.Chain
	model  *sparse.Model
	reach  *check.Reach
	buffer []int32
}

// path returns a path as a list of steps with states, actions and probabilities.
func (describer *describer) path(path *witness.Path) result.WitnessPath {
	described := result.WitnessPath{}
	described.Probability, described.Fraction = result.WitnessNumber(path.Prob)
	for i, node := range path.Nodes {
		step := result.WitnessStep{Probability: 1, State: describer.valuation(int(describer.chain.State[node]))}
		if i > 0 {
			from := path.Nodes[i-1]
			step.Action, step.Probability = describer.action(from, describer.chain.State[node]), describer.probability(from, node)
		}
		described.Steps = append(described.Steps, step)
	}
	return described
}

// valuation returns the values of the model's variables in a state.
func (describer *describer) valuation(state int) result.Valuation {
	describer.buffer = describer.reach.Space.State(describer.buffer, state)
	var valuation result.Valuation
	for i, variable := range describer.reach.Space.Program().Vars {
		text := strconv.Itoa(int(describer.buffer[i]))
		if variable.Type == sema.Bool {
			text = strconv.FormatBool(describer.buffer[i] != 0)
		}
		valuation = append(valuation, result.Constant{Name: variable.Name, Value: text})
	}
	return valuation
}

// probability returns the probability of the transition between two nodes of the chain.
func (describer *describer) probability(from, to uint32) result.JSONNumber {
	chain := describer.chain.Model
	first, end := chain.Row(int(from))
	for i := first; i < end; i++ {
		if chain.Target[i] == to {
			return result.JSONNumber(chain.Prob(i))
		}
	}
	return 0 // not reached: a path has transitions
}

// action returns the name of the action of a step, or "" if the step has no action. In a Markov chain, several transitions
// with different actions may lead to the same state; then it returns all names, separated by "|".
func (describer *describer) action(from, to uint32) string {
	if describer.model.Actions == nil {
		return ""
	}
	names := describer.reach.Space.Program().Actions
	choice := describer.chain.Choice[from]
	if describer.model.Kind == sparse.MDP {
		if action := describer.model.Actions[choice]; action != sparse.NoAction {
			return names[action-1]
		}
		return ""
	}
	var actions []string
	first, end := describer.model.Row(int(choice))
	for i := first; i < end; i++ {
		if action := describer.model.Actions[i]; describer.model.Target[i] == to && action != sparse.NoAction {
			actions = append(actions, names[action-1])
		}
	}
	return strings.Join(actions, "|")
}
