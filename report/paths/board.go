package paths

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/usage"
	"tilecheck/modelgen"
	"tilecheck/prism/sema"
)

// boardDrawing draws the variables v_0, v_1, … of a model as a board of 2048.
// It knows the values only, so that any size of generated board can be drawn.
type boardDrawing struct {
	slots []int // by cell, row-major
	cols  int
}

// newBoardDrawing returns a drawing of the variables v_0, v_1, ... of a program as the cells of a board. cols is the number of columns. 0 means that
// of a generated model, or a square board. It returns a usage error if the program has no such variables, or cols does not divide their number.
func newBoardDrawing(program *sema.Program, cols int) (*boardDrawing, error) {
	drawing := &boardDrawing{cols: cols}
	for {
		name := "v_" + strconv.Itoa(len(drawing.slots))
		slot := slices.IndexFunc(program.Vars, func(variable sema.Variable) bool { return variable.Name == name })
		if slot < 0 {
			break
		}
		drawing.slots = append(drawing.slots, slot)
	}
	cells := len(drawing.slots)
	if cells == 0 {
		return nil, usage.Errorf("--as-board: the model has no variables v_0, v_1, ..., want a model of tilecheck gen")
	}
	if drawing.cols == 0 {
		drawing.cols = modelgen.Recognizer{}.Columns(program)
	}
	if drawing.cols == 0 {
		drawing.cols = int(math.Sqrt(float64(cells)))
		if drawing.cols*drawing.cols != cells {
			return nil, usage.Errorf("--as-board: the %d cells are no square board, want --cols", cells)
		}
	}
	if drawing.cols < 1 || cells%drawing.cols != 0 {
		return nil, usage.Errorf("--cols is %d, want a divisor of the %d cells", drawing.cols, cells)
	}
	return drawing, nil
}

// draw returns the board of a state as lines of text. A dot marks an empty cell.
func (b *boardDrawing) draw(state []int32) string {
	width := 4
	for _, slot := range b.slots {
		width = max(width, len(strconv.Itoa(int(state[slot]))))
	}
	line := strings.Repeat("+"+strings.Repeat("-", width+2), b.cols) + "+\n"
	var drawing strings.Builder
	for i, slot := range b.slots {
		if i%b.cols == 0 {
			drawing.WriteString(line)
		}
		text := "."
		if value := state[slot]; value != 0 {
			text = strconv.Itoa(int(value))
		}
		fmt.Fprintf(&drawing, "| %*s ", width, text)
		if i%b.cols == b.cols-1 {
			drawing.WriteString("|\n")
		}
	}
	return drawing.String() + line
}
