package main

import (
	"context"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/docker/go-units"

	"tilecheck/internal/noun"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/report/table"
)

type infoCmd struct {
	spaceFlags `embed:""`
	Format     table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`

	timeFlag `embed:""`
}

// Run builds the state space and prints its size and structure.
func (c *infoCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withLimits(ctx, c.Timeout, c.Memory)
	defer cancel()
	start := time.Now()
	space, err := c.space(ctx, env)
	if err != nil {
		return err
	}
	elapsed := time.Since(start)
	facts := &table.Facts{Title: c.ModelFile, Notes: space.Warnings()}
	facts.Add(table.Column{Field: "model"}, c.ModelFile, nil)
	addDeclarations(facts, space)
	if err := addStructure(ctx, facts, space); err != nil {
		return err
	}
	size := space.Bytes()
	facts.Add(table.Column{Name: "bits per state"}, space.StateBits(), nil)
	facts.Add(table.Column{Name: "memory", Field: "bytes"}, table.Cell{Text: units.HumanSize(float64(size)), Value: size}, "of the states and transitions")
	facts.Add(table.Column{Name: "seconds"}, table.Cell{Text: fmt.Sprintf("%.3g", elapsed.Seconds()), Value: elapsed.Seconds()}, "to build or read")
	return facts.Write(env.stdout, c.Format, env.reportOptions())
}

// addDeclarations adds the facts about what the model declares: its type, modules, variables, actions, players, labels and rewards.
func addDeclarations(facts *table.Facts, space *explicit.Space) {
	program := space.Program()
	facts.Add(table.Column{Name: "type"}, modelTypeText(program), nil)
	if space.Imported() {
		facts.Add(table.Column{Field: "modules"}, nil, nil)
	} else {
		facts.Add(table.Column{Name: "modules"}, len(program.Modules), nil)
	}
	addVariables(facts, program)
	facts.Add(table.Column{Name: "actions"}, len(program.Actions), nil)
	for i, player := range program.Players {
		ownedText := ownedNames(program, player)
		if space.Imported() {
			ownedText = noun.Count(numStatesOf(space.Model(), i), "state")
		}
		facts.Add(table.Column{Name: "player " + player.Name, Field: "-"}, i+1, "owns "+ownedText)
	}
	facts.Add(table.Column{Name: "labels"}, len(program.Labels), namesText(program.Labels, func(label sema.LabelDef) string { return label.Name }))
	facts.Add(table.Column{Name: "reward structures"}, len(program.Rewards), namesText(program.Rewards, func(rewards sema.RewardStruct) string { return rewards.Name }))
}

// addVariables adds the number of variables, and for each variable its type and the number of its bits.
func addVariables(facts *table.Facts, program *sema.Program) {
	type variable struct {
		Name string `json:"name"`
		Type string `json:"type"`
		Bits int    `json:"bits"`
	}
	variables := make([]variable, len(program.Vars))
	for i, declared := range program.Vars {
		variables[i] = variable{declared.Name, typeText(declared), bits.Len64(uint64(int64(declared.High) - int64(declared.Low)))}
	}
	facts.Add(table.Column{Name: "variables"}, table.Cell{Text: strconv.Itoa(len(variables)), Value: variables}, nil)
	for _, listed := range variables {
		facts.Add(table.Column{Name: "variable " + listed.Name, Field: "-"}, listed.Type, noun.Count(listed.Bits, "bit"))
	}
}

// modelTypeText returns the type of the model, such as CTMC. A Markov automaton is MA, although its program is that of its embedded MDP.
func modelTypeText(program *sema.Program) string {
	if program.Model().IsMarkovAutomaton() {
		return "MA"
	}
	return program.Type.String()
}

// namesText returns the names of a list, separated by commas. It omits empty names, and returns nil if all names are empty.
func namesText[T any](list []T, name func(T) string) any {
	var names []string
	for _, item := range list {
		if text := name(item); text != "" {
			names = append(names, text)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return strings.Join(names, ", ")
}

// ownedNames lists the modules and the actions whose choices a player makes; "nothing" if there are none.
func ownedNames(program *sema.Program, player sema.Player) string {
	var names []string
	for _, module := range player.Modules {
		names = append(names, program.Modules[module].Name)
	}
	for _, i := range player.Actions {
		names = append(names, "["+program.Actions[i]+"]")
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// numStatesOf returns the number of states of a player.
func numStatesOf(model *sparse.Model, player int) (numStates int) {
	for _, owner := range model.Player {
		if int(owner) == player {
			numStates++
		}
	}
	return numStates
}

// typeText returns the type of a variable as the language writes it.
func typeText(variable sema.Variable) string {
	switch {
	case variable.Type == sema.Bool:
		return "bool"
	case !variable.IsBounded:
		return "int"
	}
	return fmt.Sprintf("[%d..%d]", variable.Low, variable.High)
}

// addStructure adds the facts about the size of the state space and about its components.
func addStructure(ctx context.Context, facts *table.Facts, space *explicit.Space) error {
	model := space.Model()
	facts.Add(table.Column{Name: "states"}, model.NumStates(), nil)
	facts.Add(table.Column{Name: "initial states"}, len(model.Initial), nil)
	var note, repeatedChoices any
	if merged := space.Merged(); merged > 0 {
		note, repeatedChoices = fmt.Sprintf("without %d duplicates in the same state", merged), merged
	}
	facts.Add(table.Column{Field: "repeated_choices"}, repeatedChoices, nil)
	facts.Add(table.Column{Name: "choices"}, model.NumChoices(), note)
	facts.Add(table.Column{Name: "transitions"}, model.NumTransitions(), nil)
	facts.Add(table.Column{Name: "deadlocks"}, model.NumDeadlocks(), nil)
	return addComponents(ctx, facts, model)
}

// addComponents adds the numbers of strongly connected components, of bottom components and, for an MDP, of maximal end components.
func addComponents(ctx context.Context, facts *table.Facts, model *sparse.Model) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	components := model.Components(nil, nil)
	facts.Add(table.Column{Name: "strongly connected components", Field: "components"}, components.Num(), nil)
	facts.Add(table.Column{Name: "bottom components"}, len(components.Bottom(model)), nil)
	if model.Kind != sparse.MDP {
		facts.Add(table.Column{Field: "end_components"}, nil, nil)
		return nil
	}
	endComponents, err := model.EndComponents(ctx, nil, nil)
	if err != nil {
		return err
	}
	facts.Add(table.Column{Name: "maximal end components", Field: "end_components"}, endComponents.Num(), nil)
	return nil
}
