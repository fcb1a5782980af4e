package modelgen

import (
	"testing"

	"tilecheck/prism/syntax"
)

// The columns of a board are those that it was made with.
func TestColumns(t *testing.T) {
	for rows := 1; rows <= 4; rows++ {
		for cols := 1; cols <= 4; cols++ {
			if rows*cols < 2 {
				continue
			}
			model, err := Build(Config{Rows: rows, Cols: cols, Max: 16})
			if err != nil {
				t.Fatal(err)
			}
			names := formulasOf(model)
			if got := boardColumns(names, rows*cols); got != cols {
				t.Errorf("%dx%d: found %d columns", rows, cols, got)
			}
			if got := boardColumns(names, rows*cols+1); got != 0 && rows > 1 && cols > 1 {
				t.Errorf("%dx%d: found %d columns of another number of cells", rows, cols, got)
			}
		}
	}
	if got := boardColumns(nil, 4); got != 0 {
		t.Errorf("found %d columns of no board", got)
	}
}

func formulasOf(model *syntax.Model) (names []string) {
	for _, item := range model.Items {
		if f, ok := item.(*syntax.FormulaDecl); ok {
			names = append(names, f.Name.Name)
		}
	}
	return names
}
