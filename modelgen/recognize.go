package modelgen

import (
	"slices"
	"strconv"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Recognizer recognises models of this package, whatever was edited in them since.
type Recognizer struct{}

// Warning says what is computed of a model in which [SchedulerSpawns]; it is empty for other models.
func (Recognizer) Warning(model *syntax.Model) string {
	if !SchedulerSpawns(model) {
		return ""
	}
	return "in this model of 2048 the scheduler also places the new tiles, so minima and maxima are not those of the game; " +
		"in a model of gen --spawn uniform, chance places them"
}

// Columns returns the number of columns of the board whose cells are the variables v_0, v_1, … of a program; 0 if there is no board.
func (Recognizer) Columns(program *sema.Program) int {
	model := program.Model()
	if model == nil {
		return 0
	}
	cells := 0
	for slices.ContainsFunc(program.Vars, func(variable sema.Variable) bool { return variable.Name == "v_"+strconv.Itoa(cells) }) {
		cells++
	}
	return boardColumns(model.Formulas(), cells)
}
