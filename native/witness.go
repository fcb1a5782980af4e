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

// checkAndWitness checks a property and adds its witnesses to the verdict. If there is no witness, a warning says why. If the context has ended,
// the verdict has an error. scheduler attains the value; it is nil if the model or the property has none, and can be nil for other reasons.
func (model *exploredModel) checkAndWitness(ctx context.Context, property *check.Property) (verdict result.Verdict, scheduler *check.Scheduler) {
	reach, verdict, err := model.checker.Reach(ctx, property)
	if reach != nil {
		scheduler = reach.Scheduler
	}
	if err == nil {
		err = model.addWitnesses(ctx, reach, &verdict)
	}
	if err == nil || verdict.Err != nil {
		return verdict, scheduler
	}
	if ctx.Err() != nil {
		return unfinished(verdict, model.missingOutputNote(&verdict), check.Failure(err, property.File, property.Pos)), nil
	}
	verdict.Warnings = append(slices.Clip(verdict.Warnings), noWitness+check.Failure(err, property.File, property.Pos).Message)
	return verdict, scheduler
}

// checkWitnessAndExport checks a property, adds its witnesses to the verdict, and writes its scheduler to a file. The paths of the witnesses
// belong to this scheduler.
func (model *exploredModel) checkWitnessAndExport(ctx context.Context, property *check.Property) result.Verdict {
	explained, foundScheduler := model.checkAndWitness(ctx, property)
	if explained.Err != nil {
		return explained
	}
	if foundScheduler != nil {
		err := model.writeScheduler(ctx, property, foundScheduler, &explained)
		return withoutScheduler(property, explained, err)
	}
	verdict := model.checkAndExport(ctx, property)
	verdict.Witnesses = explained.Witnesses
	for _, warning := range explained.Warnings {
		if !slices.Contains(verdict.Warnings, warning) {
			verdict.Warnings = append(slices.Clip(verdict.Warnings), warning)
		}
	}
	return verdict
}

// Witness checks the properties of a plan, and adds the most likely path to each verdict that has one.
func (engine *Engine) Witness(ctx context.Context, plan *runner.Plan) ([]result.Verdict, error) {
	plan = plan.WithSettings(func(settings *runner.Settings) { settings.Method = runner.States })
	return engine.Check(ctx, plan.WithOutputs(func(outputs *runner.Outputs) {
		outputs.Witness, outputs.Scheduler, outputs.Certificate = &runner.Witness{Paths: 1}, nil, nil
	}))
}

// question asks for a set of paths, as a witness of a property.
type question struct {
	wantsSatisfying bool     // the formula holds on the paths; otherwise it fails on them
	bound           *big.Rat // their probability exceeds this; nil asks for the most likely paths
	orEqual         bool     // the probability may also equal bound
	provesAnswer    bool     // such paths prove the answer to the property
}

// questionOf returns what a witness must show for a property with a bound p that is true or false: paths that satisfy the formula, with a total
// probability above p, or paths that violate it, with a total probability above 1-p. In an MDP such paths prove only a false answer, because
// they belong to one scheduler.
func questionOf(reach *check.Reach, verdict *result.Verdict) question {
	isTrue, isMDP := verdict.Value.Bool, reach.Choices != nil
	isLowerBound := reach.Rel == syntax.OpGe || reach.Rel == syntax.OpGt
	isStrict := reach.Rel == syntax.OpGt || reach.Rel == syntax.OpLt
	asked := question{wantsSatisfying: isLowerBound == isTrue, bound: reach.Bound, provesAnswer: !isTrue || !isMDP}
	// A probability equal to the bound suffices to satisfy a bound that is not strict, and to violate a strict bound.
	asked.orEqual = isStrict != isTrue
	if !asked.wantsSatisfying {
		asked.bound = new(big.Rat).Sub(big.NewRat(1, 1), reach.Bound)
	}
	return asked
}

// addWitnesses finds witnesses for a verdict and adds them, each with a critical subsystem if the job wants one. If the context ends, the last
// witness may be incomplete.
func (model *exploredModel) addWitnesses(ctx context.Context, reach *check.Reach, verdict *result.Verdict) error {
	for _, question := range model.questions(reach, verdict) {
		foundWitness, chain, err := model.findWitness(ctx, reach, question)
		if foundWitness != nil {
			verdict.Witnesses = append(verdict.Witnesses, *foundWitness)
			model.keepVerdict(verdict)
		}
		if err != nil {
			return err
		}
		canHaveSubsystem := question.bound != nil && question.provesAnswer
		if !model.outputs.Witness.Part || !canHaveSubsystem {
			continue
		}
		lastWitness := &verdict.Witnesses[len(verdict.Witnesses)-1]
		if err := model.addSubsystem(ctx, lastWitness, reach, chain, question); err != nil {
			return err
		}
	}
	return nil
}

// questions returns what each witness of a property must show. A property with a bound has one witness. A query has a witness of satisfying paths and,
// if the job wants it, a witness of violating paths.
func (model *exploredModel) questions(reach *check.Reach, verdict *result.Verdict) []question {
	switch {
	case reach.Bound != nil:
		return []question{questionOf(reach, verdict)}
	case model.outputs.Witness.Misses:
		return []question{{wantsSatisfying: true}, {wantsSatisfying: false}}
	}
	return []question{{wantsSatisfying: true}}
}

// pathFormula returns the set of paths that answer a question.
func pathFormula(reach *check.Reach, question question) *witness.PathFormula {
	return &witness.PathFormula{Left: reach.Left, Right: reach.Right, Low: reach.Steps.Low, High: reach.Steps.High, Violating: question.wantsSatisfying == reach.Negated}
}

// findWitness returns the most probable paths that answer a question, and the Markov chain that contains them. If the context ends, it returns
// the paths that it has found, and an error.
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
	foundWitness := model.describe(set, chain, reach, question)
	if err != nil {
		foundWitness.SumFraction = "" // the sum is only a lower bound, because paths are missing
	}
	return foundWitness, chain, err
}

// describe converts a set of paths to a witness for the verdict: the paths with their states, actions and probabilities. Enough says whether their total
// probability exceeds the bound of the question; Shown says whether this proves the answer of the property.
func (model *exploredModel) describe(set *witness.Set, chain *witness.Chain, reach *check.Reach, question question) *result.Witness {
	described := &result.Witness{
		Holds: question.wantsSatisfying, Scheduler: reach.Choices != nil,
		Count: set.Count, All: set.HasAllPaths, Longest: set.Steps, Paths: []result.WitnessPath{},
	}
	described.Sum, described.SumFraction = result.WitnessNumber(set.Sum)
	if question.bound != nil {
		described.Wanted = question.comparison()
		described.Enough, described.Shown = set.ExceedsBound, set.ExceedsBound && question.provesAnswer
	}
	describer := &describer{chain: chain, model: reach.Space.Model(), reach: reach}
	for _, path := range set.Paths {
		described.Paths = append(described.Paths, describer.path(path))
	}
	isOneStatePath := set.Count == 1 && set.Steps == 0
	if reach.Choices != nil && !question.wantsSatisfying && isOneStatePath { // only the choices show why the path violates the formula
		described.Choices = describer.choices()
	}
	if model.generated != nil {
		described.Columns = model.generated.Columns(reach.Space.Program())
	}
	return described
}

// comparison returns the text of a comparison with the bound, such as >=1/2.
func (question *question) comparison() string {
	if question.orEqual {
		return ">=" + question.bound.RatString()
	}
	return ">" + question.bound.RatString()
}

// describer writes paths with the names of the model.
type describer struct {
	chain  *witness.Chain
	model  *sparse.Model
	reach  *check.Reach
	buffer []int32
}

// path converts a path of the chain to a list of steps, each with its state, action and probability.
func (describer *describer) path(path *witness.Path) result.WitnessPath {
	described := result.WitnessPath{}
	described.Probability, described.Fraction = result.WitnessNumber(path.Prob)
	for i, node := range path.Nodes {
		step := result.WitnessStep{Probability: 1, State: describer.valuation(int(describer.chain.State[node]))}
		if i > 0 {
			previousNode := path.Nodes[i-1]
			step.Action, step.Probability = describer.action(previousNode, describer.chain.State[node]), describer.probability(previousNode, node)
		}
		described.Steps = append(described.Steps, step)
	}
	return described
}

// maxChoices is the largest number of states whose choices a witness lists.
const maxChoices = 10

// choices returns the choices of the scheduler in the states of the chain that have several choices. It returns nil if no state has several choices, or
// if a choice depends on the number of steps.
func (describer *describer) choices() *result.WitnessChoices {
	found := &result.WitnessChoices{}
	isSeen := map[uint32]bool{}
	for node, state := range describer.chain.State {
		if isSeen[state] {
			return nil
		}
		isSeen[state] = true
		if first, end := describer.model.Choices(int(state)); end-first < 2 {
			continue
		}
		found.Count++
		if len(found.First) < maxChoices {
			found.First = append(found.First, result.WitnessChoice{State: describer.valuation(int(state)), Action: describer.action(uint32(node), state)})
		}
	}
	if found.Count == 0 {
		return nil
	}
	return found
}

// valuation returns the names and the values of the model's variables in a state.
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

// probability returns the probability of the transition between two nodes of the chain. The nodes must be successive nodes of a path.
func (describer *describer) probability(from, to uint32) result.JSONNumber {
	chain := describer.chain.Model
	first, end := chain.Transitions(int(from))
	for transition := first; transition < end; transition++ {
		if chain.Target[transition] == to {
			return result.JSONNumber(chain.Prob(transition))
		}
	}
	return 0 // not reached: a path has transitions
}

// action returns the name of the action of a step between two states of a path, or "" if the step has no action. In a Markov chain several transitions
// may have the same target; their names are then separated by "|".
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
	first, end := describer.model.Transitions(int(choice))
	for transition := first; transition < end; transition++ {
		if action := describer.model.Actions[transition]; describer.model.Target[transition] == to && action != sparse.NoAction {
			actions = append(actions, names[action-1])
		}
	}
	return strings.Join(actions, "|")
}
