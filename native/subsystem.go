//go:build !js

package native

import (
	"context"

	"tilecheck/native/check"
	"tilecheck/native/explain/subsystem"
	"tilecheck/native/explain/witness"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/result"
)

// addSubsystem finds a critical subsystem of states and adds it to a witness. If the model is a text, it also finds a critical subsystem of
// commands, and writes the model with only these commands if the job wants it.
func (model *exploredModel) addSubsystem(ctx context.Context, foundWitness *result.Witness, reach *check.Reach, chain *witness.Chain, asked question) error {
	question := &subsystem.Question{
		Space: reach.Space, Chain: chain, Formula: pathFormula(reach, asked), From: reach.From, Bound: asked.bound, OrEqual: asked.orEqual,
	}
	states, err := subsystem.States(ctx, question)
	if err != nil {
		return err
	}
	foundWitness.Part = &result.WitnessPart{States: states.Members.Count(), Of: states.Candidates, Minimal: states.Minimal}
	foundWitness.Part.Lower, _ = result.WitnessNumber(states.Lower)
	if model.tree == nil { // states from files have no commands
		return nil
	}
	commands, err := subsystem.Commands(ctx, question, states)
	if err != nil {
		return err
	}
	program := question.Space.Program()
	foundWitness.Part.Commands, err = model.commandTexts(program, commands.Members)
	if err != nil {
		return err
	}
	foundWitness.Part.OfCommands, foundWitness.Part.CommandsMinimal = commands.Candidates, commands.Minimal
	foundWitness.Part.LowerCommands, _ = result.WitnessNumber(commands.Lower)
	if model.outputs.Witness.Model == nil {
		return nil
	}
	text, err := subsystem.Model(model.tree, program, commands.Members)
	if err != nil {
		return err
	}
	return model.outputs.Witness.Model(text)
}

// commandTexts returns the texts of the commands with the given numbers, with their modules and lines.
func (model *exploredModel) commandTexts(program *sema.Program, numbers *sparse.Set) ([]result.WitnessCommand, error) {
	commands := []result.WitnessCommand{}
	for number := range numbers.All() {
		module, command := subsystem.TextOf(model.tree, program, number)
		text, err := subsystem.CommandText(command)
		if err != nil {
			return nil, err
		}
		commands = append(commands, result.WitnessCommand{Module: module.Name.Name, File: model.tree.File, Line: command.Pos().Line, Text: text})
	}
	return commands, nil
}
