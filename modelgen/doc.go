// Package modelgen builds the thesis's models of the game 2048 in the PRISM language.
//
//	policy, err := modelgen.ParsePolicy("pref:left,up,down,right")
//	if err != nil {
//		return err
//	}
//	model, err := modelgen.Build(modelgen.Config{Rows: 4, Cols: 4, Max: 2048, Policy: policy})
//	if err != nil {
//		return err // every *FieldError of the configuration
//	}
//	err = syntax.Fprint(w, model, syntax.Options{})
//
// There are three models of the same game. [Prototype] has a module for each cell, [Combined] one module with a command for each move and set
// of filled cells, and [Final], for any board up to 6x6, one command for each move. [Spawn] says how the cell of a new tile is chosen, which
// decides what an extremal probability means; [Policy] adds a module that chooses the moves. docs/models.md explains both.
//
// [PublishedTable] is what the thesis measured. [UpdatesPublished] is the model that gives these numbers: two of its updates break the rules.
//
// The package builds syntax trees. It does not check them, run them, or know the rules of the game except as expressions: that the
// expressions follow the rules is shown by its tests, against package game and with PRISM.
//
// Source: J. Sijtsma, Creating a Formal Model of the Game 2048, Radboud University, 2020.
package modelgen
