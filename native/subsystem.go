//go:build !js

package native

import (
	"context"

	"tilecheck/native/check"
	"tilecheck/native/explain/subsystem"
	"tilecheck/native/explain/witness"
	"tilecheck/result"
)

// addSubsystem finds a critical subsystem, first of states, then of commands, and adds it to the witness. If the job wants the model
// of the commands, it writes that model. The states of files have no commands.
func (model *exploredModel) addSubsystem(ctx context.Context, found *result.Witness, reach *check.Reach, chain *witness.Chain, asked question) error {
	question := &subsystem.Question{
		Space: reach.Space, Chain: chain, Formula: pathFormula(reach, asked), From: reach.From, Bound: asked.bound, OrEqual: asked.orEqual,
	}
	states, err := subsystem.States(ctx, question)
	if err != nil {
		return err
	}
	part := &result.WitnessPart{States: states.Kept.Count(), Of: states.Candidates, Minimal: states.Minimal}
	part.Lower, _ = result.WitnessNumber(states.Lower)
	found.Part = part
	if model.tree == nil {
		return nil
	}
	commands, err := subsystem.Commands(ctx, question, states)
	if err != nil {
		return err
	}
	program := question.Space.Program()
	var texts []result.WitnessCommand
	for number := range commands.Kept.All() {
		module, command := subsystem.TextOf(model.tree, program, number)
		text, err := subsystem.CommandText(command)
		if err != nil {
			return err
		}
		texts = append(texts, result.WitnessCommand{Module: module.Name.Name, File: model.tree.File, Line: command.Pos().Line, Text: text})
	}
	part.Commands, part.OfCommands, part.CommandsMinimal = texts, commands.Candidates, commands.Minimal
	part.LowerCommands, _ = result.WitnessNumber(commands.Lower)
	if model.outputs.Witness.Model == nil {
		return nil
	}
	text, err := subsystem.Model(model.tree, program, commands.Kept)
	if err != nil {
		return err
	}
	return model.outputs.Witness.Model(text)
}
