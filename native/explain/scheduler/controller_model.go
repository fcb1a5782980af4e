package scheduler

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// ControllerModel returns a PRISM model of the Markov chain that a controller induces, or of the MDP that remains if some players do not follow it. One
// module replaces all modules of model. It has the variables of the model, a variable for the memory of the controller, and a command for each choice of
// induced, the result of controller.Chain or controller.MDP. The name of the memory variable does not occur in text, the source of the model.
func ControllerModel(ctx context.Context, model *syntax.Model, text []byte, space *explicit.Space, controller *sparse.Controller, induced *sparse.Model) (*syntax.Model, error) {
	writer := &moduleWriter{space: space, controller: controller, induced: induced, memoryName: "memory"}
	for strings.Contains(string(text), writer.memoryName) {
		writer.memoryName += "_"
	}
	if err := writer.writeModule(ctx); err != nil {
		return nil, err
	}
	module := []byte(writer.text.String())
	parsed, err := syntax.ParseModel("", module)
	if err != nil {
		return nil, compile.QuoteLine(err, module)
	}
	result := *model
	result.Items = slices.DeleteFunc(slices.Clone(model.Items), isReplacedByModule)
	result.Items = append(result.Items, parsed.Items...)
	return &result, nil
}

// isReplacedByModule reports whether an item of a model is omitted because the controller's module replaces it.
func isReplacedByModule(item syntax.Item) bool {
	switch item.(type) {
	case *syntax.Module, *syntax.RenamedModule, *syntax.GlobalDecl, *syntax.InitBlock, *syntax.System:
		return true
	}
	return false
}

// moduleWriter writes the model that a controller induces as a module.
type moduleWriter struct {
	space      *explicit.Space
	controller *sparse.Controller
	induced    *sparse.Model // the states are the nodes of the controller
	memoryName string        // the name of the variable for the memory
	text       strings.Builder
}

// writeModule writes the module: its variables, and the commands of each controller node.
func (writer *moduleWriter) writeModule(ctx context.Context) error {
	name := "induced_chain"
	if writer.induced.Kind == sparse.MDP {
		name = "induced_mdp"
	}
	fmt.Fprintf(&writer.text, "module %s\n", name)
	writer.writeVariables()
	// Rewards may refer to an action that no node has, so every action gets a command.
	for _, action := range writer.space.Program().Actions {
		fmt.Fprintf(&writer.text, "  [%s] false -> true;\n", action)
	}
	for i := range writer.controller.Nodes {
		if i&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := writer.writeCommands(i); err != nil {
			return err
		}
	}
	writer.text.WriteString("endmodule\n")
	return nil
}

// writeVariables writes the declarations of the model's variables and of the memory variable.
func (writer *moduleWriter) writeVariables() {
	initial := &writer.controller.Nodes[writer.controller.Start[0]]
	state := writer.space.State(nil, int(initial.State))
	for i, variable := range writer.space.Program().Vars {
		typeText := "int"
		switch {
		case variable.Type == sema.Bool:
			typeText = "bool"
		case variable.IsBounded:
			typeText = fmt.Sprintf("[%d..%d]", variable.Low, variable.High)
		}
		fmt.Fprintf(&writer.text, "  %s : %s init %s;\n", variable.Name, typeText, literal(&variable, state[i]))
	}
	maxMemory := uint32(1) // a variable has at least two values
	for _, node := range writer.controller.Nodes {
		maxMemory = max(maxMemory, node.Memory)
	}
	fmt.Fprintf(&writer.text, "  %s : [0..%d] init %d;\n\n", writer.memoryName, maxMemory, initial.Memory)
}

// writeCommands writes a command for each choice of controller node i in the induced model. A deadlock state has no command.
func (writer *moduleWriter) writeCommands(i int) error {
	node := &writer.controller.Nodes[i]
	model := writer.space.Model()
	if model.Deadlocks != nil && model.Deadlocks.Has(int(node.State)) {
		return nil
	}
	guard := strings.Join(writer.nodeTexts(node, "%s=%s"), " & ")
	firstChoice, _ := writer.induced.Choices(i)
	for index, moves := range node.Choices(writer.induced.Kind) {
		name, err := writer.moveAction(node.State, moves)
		if err != nil {
			return err
		}
		fmt.Fprintf(&writer.text, "  [%s] %s -> %s;\n", name, guard, writer.updatesText(firstChoice+index))
	}
	return nil
}

// updatesText returns the updates of a command with the transitions of a choice of the induced model.
func (writer *moduleWriter) updatesText(choice int) string {
	var updates []string
	first, end := writer.induced.Transitions(choice)
	for transition := first; transition < end; transition++ {
		target := &writer.controller.Nodes[writer.induced.Target[transition]]
		updates = append(updates, writer.probabilityText(transition)+":"+strings.Join(writer.nodeTexts(target, "(%s'=%s)"), "&"))
	}
	return strings.Join(updates, " + ")
}

// probabilityText returns the text of the probability of a transition.
func (writer *moduleWriter) probabilityText(transition int) string {
	if writer.induced.Fractions != nil {
		return fractionText(writer.induced.Fraction(transition))
	}
	return strconv.FormatFloat(writer.induced.Prob(transition), 'g', -1, 64)
}

// fractionText returns a fraction in PRISM's language.
func fractionText(value *big.Rat) string {
	if value.IsInt() {
		return integerText(value.Num())
	}
	return integerText(value.Num()) + "/" + integerText(value.Denom())
}

// integerText returns an integer in PRISM's language. Integers of more than 31 bits become decimals, because PRISM's int has 32 bits.
func integerText(value *big.Int) string {
	if value.BitLen() < 32 {
		return value.String()
	}
	return value.String() + ".0"
}

// moveAction returns the common action of the moves of a command, or "" if they have different actions or none. If the model has transition rewards,
// different actions are an error, because the command could earn only the rewards of one action.
func (writer *moduleWriter) moveAction(state uint32, moves []sparse.Move) (string, error) {
	model := writer.space.Model()
	if model.Actions == nil {
		return "", nil
	}
	action := model.Actions[moves[0].Choice]
	isMixed := slices.ContainsFunc(moves, func(move sparse.Move) bool { return model.Actions[move.Choice] != action })
	switch {
	case isMixed && writer.hasActionRewards():
		return "", fmt.Errorf("the controller mixes several actions in state %s, and a reward structure has rewards of actions: a command can have one action only", writer.space.Compiled().StateText(writer.space.State(nil, int(state))))
	case isMixed || action == sparse.NoAction:
		return "", nil
	}
	return writer.space.Program().Actions[action-1], nil
}

// hasActionRewards reports whether a reward structure of the model has transition rewards.
func (writer *moduleWriter) hasActionRewards() bool {
	for _, structure := range writer.space.Program().Rewards {
		for _, item := range structure.Items {
			if item.IsTransition {
				return true
			}
		}
	}
	return false
}

// nodeTexts returns a text for each variable of the model and for the memory, with their values in a controller node. format has a %s for the name of
// the variable and a %s for its value.
func (writer *moduleWriter) nodeTexts(node *sparse.Node, format string) []string {
	var texts []string
	state := writer.space.State(nil, int(node.State))
	for i := range writer.space.Program().Vars {
		variable := &writer.space.Program().Vars[i]
		texts = append(texts, fmt.Sprintf(format, variable.Name, literal(variable, state[i])))
	}
	return append(texts, fmt.Sprintf(format, writer.memoryName, strconv.FormatUint(uint64(node.Memory), 10)))
}

// literal returns a value of a variable in PRISM's language.
func literal(variable *sema.Variable, value int32) string {
	if variable.Type == sema.Bool {
		return strconv.FormatBool(value != 0)
	}
	return strconv.Itoa(int(value))
}
