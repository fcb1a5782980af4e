package export

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/prism/jani"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// The structure of a JANI document. Expressions are numbers, truth values, names and objects.
type (
	object map[string]any

	document struct {
		Version    int         `json:"jani-version"`
		Name       string      `json:"name"`
		Type       string      `json:"type"`
		Features   []string    `json:"features"`
		Actions    []named     `json:"actions,omitempty"`
		Constants  []constant  `json:"constants,omitempty"`
		Variables  []variable  `json:"variables"`
		Restrict   *expression `json:"restrict-initial,omitempty"`
		Automata   []automaton `json:"automata"`
		System     system      `json:"system"`
		Properties []property  `json:"properties"`
	}
	named struct {
		Name string `json:"name"`
	}
	constant struct {
		Name string `json:"name"`
		Type string `json:"type"`
	}
	expression struct {
		Exp any `json:"exp"`
	}
	variable struct {
		Name      string `json:"name"`
		Type      any    `json:"type"`
		Transient bool   `json:"transient,omitempty"`
		Initial   any    `json:"initial-value,omitempty"`
		Comment   string `json:"comment,omitempty"`
	}
	automaton struct {
		Name      string     `json:"name"`
		Locations []location `json:"locations"`
		Initial   []string   `json:"initial-locations"`
		Edges     []edge     `json:"edges"`
	}
	location struct {
		Name     string       `json:"name"`
		Values   []assignment `json:"transient-values,omitempty"`
		Progress *expression  `json:"time-progress,omitempty"`
	}
	edge struct {
		Location     string        `json:"location"`
		Action       string        `json:"action,omitempty"`
		Rate         *expression   `json:"rate,omitempty"`
		Guard        *expression   `json:"guard,omitempty"`
		Destinations []destination `json:"destinations"`
	}
	destination struct {
		Location    string       `json:"location"`
		Probability *expression  `json:"probability,omitempty"`
		Assignments []assignment `json:"assignments,omitempty"`
	}
	assignment struct {
		Ref   string `json:"ref"`
		Value any    `json:"value"`
	}
	system struct {
		Elements []element `json:"elements"`
		Syncs    []vector  `json:"syncs,omitempty"`
	}
	element struct {
		Automaton string `json:"automaton"`
	}
	vector struct {
		Actions []*string `json:"synchronise"`
		Result  string    `json:"result,omitempty"`
	}
	property struct {
		Name       string `json:"name"`
		Expression any    `json:"expression"`
	}
)

// locationName is the name of the single location of every automaton.
const locationName = "l"

// Write writes a program in the language JANI, with its properties. The parameters of the program and of the properties become constants without a value. refused has an
// error for each property that JANI cannot express. err is an error in the program, or an error of the writer.
func Write(w io.Writer, name string, program *sema.Program, properties []logic.Property) (refused []error, err error) {
	exporter := &exporter{program: program, names: make(map[string]bool), variants: make(map[edgeGroup][]int)}
	exporter.writeConstants(program.Parameters)
	for _, property := range properties {
		exporter.writeConstants(property.Program.Parameters)
	}
	if err := exporter.writeModel(name); err != nil {
		return nil, err
	}
	for i, property := range properties {
		if err := exporter.writeProperty(i, property); err != nil {
			if evalErr, ok := errors.AsType[*sema.EvalError](err); ok {
				err = &syntax.Error{File: property.File, Pos: evalErr.Pos, Msg: evalErr.Msg}
			}
			refused = append(refused, fmt.Errorf("%s: %w", property.Text, err))
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	return refused, encoder.Encode(exporter.document)
}

// exporter builds the document of a program.
type exporter struct {
	program  *sema.Program
	document document
	names    map[string]bool // of variables
	labels   []string        // names of Program.Labels
	rewards  []string        // names of Program.Rewards
	// variants lists, for the edges of a module with an action, which rewards they assign: the rewards
	// of an action, or noRewards. Each variant has its own edges.
	variants       map[edgeGroup][]int
	propertyLabels []sema.LabelDef // labels of the current property
	numOperators   int             // number of operators and operands so far
}

// edgeGroup is all edges of a module with an action.
type edgeGroup struct{ module, action int }

var modelTypes = map[syntax.ModelType]string{syntax.DTMC: "dtmc", syntax.MDP: "mdp", syntax.CTMC: "ctmc", syntax.LTS: "lts", syntax.PTA: "pta"}

// writeModel converts the program to a document.
func (x *exporter) writeModel(name string) error {
	program := x.program
	modelType, ok := modelTypes[program.Type]
	if !ok {
		return fmt.Errorf("%s cannot be exported as a JANI model, want a DTMC, MDP, CTMC, LTS or PTA", noun.WithArticle(program.Type.String()))
	}
	x.document.Version, x.document.Name, x.document.Type, x.document.Features = 1, name, modelType, []string{"derived-operators"}
	x.document.Properties, x.document.Variables = []property{}, []variable{}
	if err := x.writeVariables(); err != nil {
		return err
	}
	x.declareTransients()
	syncs, err := x.compose()
	if err != nil {
		return err
	}
	if err := x.writeAutomata(); err != nil {
		return err
	}
	if err := x.assignTransients(); err != nil {
		return err
	}
	for _, sync := range syncs {
		if err := x.writeVector(sync); err != nil {
			return err
		}
	}
	if err := x.writeEdges(); err != nil {
		return err
	}
	x.declareActions()
	return nil
}

var constantTypes = map[sema.Type]string{sema.Bool: "bool", sema.Int: "int", sema.Double: "real"}

// writeConstants declares those of the constants without a value that are not yet declared.
func (x *exporter) writeConstants(parameters []*sema.Param) {
	for _, parameter := range parameters {
		if !x.names[parameter.Name] {
			x.names[parameter.Name] = true
			x.document.Constants = append(x.document.Constants, constant{parameter.Name, constantTypes[parameter.ValueType]})
		}
	}
}

// writeVariables declares the variables and the restriction of their initial values.
func (x *exporter) writeVariables() error {
	for _, variable := range x.program.Vars {
		x.names[variable.Name] = true
		if err := x.declareVariable(variable); err != nil {
			return err
		}
	}
	restriction, err := x.convertOptionalExpression(x.program.Init)
	x.document.Restrict = restriction
	return err
}

// writeAutomata writes each module as an automaton with one location. It does not write the edges.
func (x *exporter) writeAutomata() error {
	if len(x.program.Modules) == 0 {
		return errors.New("the model has no modules, want one")
	}
	for i := range x.program.Modules {
		module := &x.program.Modules[i]
		var invariant sema.Expr
		if x.program.Type == syntax.PTA { // PRISM ignores the invariants of other models
			invariant = module.Invariant
		}
		progress, err := x.convertOptionalExpression(invariant)
		if err != nil {
			return err
		}
		x.document.Automata = append(x.document.Automata, automaton{
			Name:      module.Name,
			Locations: []location{{Name: locationName, Progress: progress}},
			Initial:   []string{locationName},
			Edges:     []edge{},
		})
		x.document.System.Elements = append(x.document.System.Elements, element{module.Name})
	}
	return nil
}

// convertOptionalExpression converts an expression. It returns nil for nil.
func (x *exporter) convertOptionalExpression(source sema.Expr) (*expression, error) {
	if source == nil {
		return nil, nil
	}
	converted, err := x.convertExpr(source)
	if err != nil {
		return nil, err
	}
	return &expression{converted}, nil
}

// declareActions declares the actions of edges and synchronisation vectors, in order of appearance.
func (x *exporter) declareActions() {
	isDeclared := make(map[string]bool)
	declare := func(name string) {
		if name != "" && !isDeclared[name] {
			isDeclared[name] = true
			x.document.Actions = append(x.document.Actions, named{name})
		}
	}
	for _, automaton := range x.document.Automata {
		for _, edge := range automaton.Edges {
			declare(edge.Action)
		}
	}
	for _, vector := range x.document.System.Syncs {
		for _, action := range vector.Actions {
			if action != nil {
				declare(*action)
			}
		}
		declare(vector.Result)
	}
}

// declareVariable declares a variable of the program.
func (x *exporter) declareVariable(source sema.Variable) error {
	declaration := variable{Name: source.Name}
	switch {
	case source.Type == sema.Bool:
		declaration.Type, declaration.Initial = "bool", source.Init != 0
	case source.Type == sema.Clock:
		declaration.Type, declaration.Initial = "clock", 0
	default:
		declaration.Type, declaration.Initial = "int", source.Init
		if source.IsBounded {
			declaration.Type = object{"kind": "bounded", "base": "int", "lower-bound": source.Low, "upper-bound": source.High}
		}
	}
	if source.LowExpr != nil {
		bounds, err := x.convertExprs(source.LowExpr, source.HighExpr)
		if err != nil {
			return err
		}
		declaration.Type = object{"kind": "bounded", "base": "int", "lower-bound": bounds[0], "upper-bound": bounds[1]}
	}
	if source.InitExpr != nil {
		var err error
		if declaration.Initial, err = x.convertExpr(source.InitExpr); err != nil {
			return err
		}
	}
	if x.program.Init != nil {
		declaration.Initial = nil
	}
	x.document.Variables = append(x.document.Variables, declaration)
	return nil
}

// unusedName returns an unused name, and marks it as used. If the preferred name is in use, it adds a number.
func (x *exporter) unusedName(preferred string) string {
	name := preferred
	for i := 2; x.names[name]; i++ {
		name = fmt.Sprintf("%s_%d", preferred, i)
	}
	x.names[name] = true
	return name
}

// declareTransients declares labels and reward structures as transient variables.
func (x *exporter) declareTransients() {
	for i := range x.program.Rewards {
		x.rewards = append(x.rewards, x.declareTransient(x.program.RewardName(i), variable{Type: "real", Initial: 0}))
	}
	for _, label := range x.program.Labels {
		x.labels = append(x.labels, x.declareTransient(label.Name, variable{Type: "bool", Initial: false}))
	}
}

// declareTransient declares a transient variable for a label or reward structure, and returns the name of the variable. If the label or reward structure has
// no name, or if the name is in use, the variable has another name, and its comment says the name in PRISM's language.
func (x *exporter) declareTransient(prismName string, declaration variable) string {
	declaration.Transient, declaration.Name = true, x.unusedName(cmp.Or(prismName, "reward"))
	if declaration.Name != prismName {
		declaration.Comment = jani.PRISMName(prismName)
	}
	x.document.Variables = append(x.document.Variables, declaration)
	return declaration.Name
}

// assignTransients gives the location of the first automaton the values of all transient variables: of the labels and of the state rewards.
func (x *exporter) assignTransients() error {
	location := &x.document.Automata[0].Locations[0]
	for i, label := range x.program.Labels {
		value, err := x.convertExpr(label.Expr)
		if err != nil {
			return err
		}
		location.Values = append(location.Values, assignment{x.labels[i], value})
	}
	for i := range x.program.Rewards {
		value, err := x.rewardSum(i, func(item *sema.RewardItem) bool { return !item.IsTransition })
		if err != nil {
			return err
		}
		if value != nil {
			location.Values = append(location.Values, assignment{x.rewards[i], value})
		}
	}
	return nil
}

// rewardSum returns the sum of the selected items of a reward structure, or nil if there are none.
func (x *exporter) rewardSum(structure int, isSelected func(*sema.RewardItem) bool) (any, error) {
	var sum any
	items := x.program.Rewards[structure].Items
	for i := range items {
		if !isSelected(&items[i]) {
			continue
		}
		value, err := x.convertRewardValue(&items[i])
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = value
		} else {
			sum = binaryObject("+", sum, value)
		}
	}
	return sum, nil
}

// convertRewardValue converts a reward item to an expression that is the reward if the guard of the item holds, and 0 otherwise.
func (x *exporter) convertRewardValue(item *sema.RewardItem) (any, error) {
	value, err := x.convertExpr(item.Value)
	if err != nil {
		return nil, err
	}
	guard, err := x.convertExpr(item.Guard)
	if err != nil || guard == true {
		return value, err
	}
	return object{"op": "ite", "if": guard, "then": value, "else": 0}, nil
}

// writeEdges writes the commands of all modules as edges.
func (x *exporter) writeEdges() error {
	for i := range x.program.Modules {
		commands := x.program.Modules[i].Commands
		for k := range commands {
			if err := x.writeCommand(i, &commands[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeCommand writes a command as an edge. A command with an action becomes several edges, one for each variant of reward assignments.
func (x *exporter) writeCommand(module int, command *sema.Command) error {
	if command.Action == sema.Unlabelled {
		rewards, err := x.rewardAssignments(sema.Unlabelled)
		if err != nil {
			return err
		}
		return x.writeEdge(module, command, "", rewards)
	}
	group := edgeGroup{module, command.Action}
	for variant, rewardedAction := range x.variants[group] {
		rewards, err := x.variantRewards(rewardedAction)
		if err != nil {
			return err
		}
		if err := x.writeEdge(module, command, x.actionName(group, variant), rewards); err != nil {
			return err
		}
	}
	return nil
}

// rewardAssignments returns the assignments of transition rewards for a step with this action.
func (x *exporter) rewardAssignments(action int) ([]assignment, error) {
	var assignments []assignment
	for i := range x.program.Rewards {
		isEarned := func(item *sema.RewardItem) bool { return item.IsTransition && item.Action == action }
		value, err := x.rewardSum(i, isEarned)
		if err != nil {
			return nil, err
		}
		if value != nil {
			assignments = append(assignments, assignment{x.rewards[i], value})
		}
	}
	return assignments, nil
}

// writeEdge writes a command as an edge with one destination for each update. In a CTMC, the updates race, so each update becomes an edge of its
// own with a rate.
func (x *exporter) writeEdge(module int, command *sema.Command, action string, rewards []assignment) error {
	guard, err := x.convertExpr(command.Guard)
	if err != nil {
		return err
	}
	newEdge := edge{Location: locationName, Action: action}
	if guard != true {
		newEdge.Guard = &expression{guard}
	}
	automaton := &x.document.Automata[module]
	isCTMC := x.program.Type == syntax.CTMC
	for i := range command.Updates {
		update := &command.Updates[i]
		weight, target, err := x.convertDestination(update, rewards)
		if err != nil {
			return err
		}
		if isCTMC {
			rateEdge := newEdge
			rateEdge.Rate, rateEdge.Destinations = &expression{weight}, []destination{target}
			automaton.Edges = append(automaton.Edges, rateEdge)
			continue
		}
		if !isConstantOne(update.Prob) && x.program.Type != syntax.LTS {
			target.Probability = &expression{weight}
		}
		newEdge.Destinations = append(newEdge.Destinations, target)
	}
	if !isCTMC {
		automaton.Edges = append(automaton.Edges, newEdge)
	}
	return nil
}

// isConstantOne reports whether an expression is the constant 1.
func isConstantOne(expr sema.Expr) bool {
	constant, ok := expr.(*sema.Const)
	if !ok {
		return false
	}
	if constant.Val.Type == sema.Int {
		return constant.Val.Int == 1
	}
	return constant.Val.Rat != nil && constant.Val.Rat.Cmp(big.NewRat(1, 1)) == 0
}

// convertDestination converts an update to a destination with its assignments, and to the probability or rate of the destination.
func (x *exporter) convertDestination(update *sema.Update, rewards []assignment) (weight any, target destination, err error) {
	if update.ProbHigh != nil {
		return nil, destination{}, errors.New("intervals of probabilities cannot be exported")
	}
	weight, err = x.convertExpr(update.Prob)
	if err != nil {
		return nil, destination{}, err
	}
	assignments, err := x.convertAssignments(update)
	return weight, destination{Location: locationName, Assignments: append(assignments, rewards...)}, err
}

// convertAssignments converts the assignments of an update.
func (x *exporter) convertAssignments(update *sema.Update) ([]assignment, error) {
	var converted []assignment
	for _, source := range update.Assigns {
		value, err := x.convertExpr(source.Value)
		if err != nil {
			return nil, err
		}
		converted = append(converted, assignment{x.program.Vars[source.Slot].Name, value})
	}
	return converted, nil
}

// actionName returns the name of an action in one variant of its edges.
func (x *exporter) actionName(group edgeGroup, variant int) string {
	name := x.program.Actions[group.action]
	if variant == 0 {
		return name
	}
	return name + strings.Repeat("'", variant)
}

// numberText returns a JSON number with the given digits.
func numberText(text string) json.Number { return json.Number(text) }

// maxSize is the greatest number of operators and operands of a document.
const maxSize = 20_000_000

// binaryObject returns an operator with two operands.
func binaryObject(op string, left, right any) object {
	return object{"op": op, "left": left, "right": right}
}

// hasTime reports whether time passes in states.
func (x *exporter) hasTime() bool {
	return x.program.Type == syntax.CTMC || x.program.Type == syntax.PTA
}

// constantValue converts a constant to JSON. A fraction becomes a decimal number, or a quotient if it has infinitely many or too many digits.
func constantValue(value sema.Value) (any, error) {
	switch value.Type {
	case sema.Bool:
		return value.Bool, nil
	case sema.Int:
		return numberText(fmt.Sprint(value.Int)), nil
	}
	if value.Rat == nil {
		if math.IsInf(value.Float, 0) || math.IsNaN(value.Float) {
			return nil, fmt.Errorf("JSON cannot express the number %v", value.Float)
		}
		return nil, fmt.Errorf("JSON cannot express the irrational number %v exactly", value.Float)
	}
	const maxDecimals = 400
	numDecimals, isFinite := value.Rat.FloatPrec()
	if isFinite && numDecimals < maxDecimals {
		return numberText(value.Rat.FloatString(max(numDecimals, 1))), nil
	}
	numerator, denominator := numberText(value.Rat.Num().String()+".0"), numberText(value.Rat.Denom().String()+".0")
	return binaryObject("/", numerator, denominator), nil
}
