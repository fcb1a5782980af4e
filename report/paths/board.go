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

// newBoardDrawing returns a drawing of the variables v_0, v_1, ... as a board. cols is the number of its columns; 0 means the default.
func newBoardDrawing(prog *sema.Program, cols int) (*boardDrawing, error) {
	b := &boardDrawing{cols: cols}
	for {
		name := "v_" + strconv.Itoa(len(b.slots))
		slot := slices.IndexFunc(prog.Vars, func(v sema.Variable) bool { return v.Name == name })
		if slot < 0 {
			break
		}
		b.slots = append(b.slots, slot)
	}
	n := len(b.slots)
	if n == 0 {
		return nil, usage.Errorf("--as-board: the model has no variables v_0, v_1, ..., want a model of tilecheck gen")
	}
	if b.cols == 0 {
		b.cols = modelgen.Recognizer{}.Columns(prog)
	}
	if b.cols == 0 {
		b.cols = int(math.Sqrt(float64(n)))
		if b.cols*b.cols != n {
			return nil, usage.Errorf("--as-board: the %d cells are no square board, want --cols", n)
		}
	}
	if b.cols < 1 || n%b.cols != 0 {
		return nil, usage.Errorf("--cols is %d, want a divisor of the %d cells", b.cols, n)
	}
	return b, nil
}

// draw returns the board of a state.
func (b *boardDrawing) draw(state []int32) string {
	width := 4
	for _, slot := range b.slots {
		width = max(width, len(strconv.Itoa(int(state[slot]))))
	}
	line := strings.Repeat("+"+strings.Repeat("-", width+2), b.cols) + "+\n"
	var out strings.Builder
	for i, slot := range b.slots {
		if i%b.cols == 0 {
			out.WriteString(line)
		}
		text := "."
		if v := state[slot]; v != 0 {
			text = strconv.Itoa(int(v))
		}
		fmt.Fprintf(&out, "| %*s ", width, text)
		if i%b.cols == b.cols-1 {
			out.WriteString("|\n")
		}
	}
	return out.String() + line
}
