package strategy_test

import (
	"fmt"
	"testing"

	"tilecheck/game"
)

func TestMonteCarloAgreesWithAlgorithm(t *testing.T) {
	for _, c := range []struct {
		shape game.Shape
		runs  int
		late  int // compares boards with this sum of tiles or more
		want  int // of boards compared
	}{
		{game.Shape{Rows: 2, Cols: 2}, 1, 46, 10},
		{game.Shape{Rows: 2, Cols: 2}, 2, 54, 4},
		{game.Shape{Rows: 1, Cols: 2}, 2, 0, 2},
		{game.Shape{Rows: 1, Cols: 3}, 1, 10, 5},
	} {
		for _, value := range []string{"score", "max", "sum"} {
			t.Run(fmt.Sprint(c.shape, c.runs, value), func(t *testing.T) {
				spec := fmt.Sprintf("mc:runs=%d,value=%s", c.runs, value)
				compared := agreeWithSlow(t, c.shape, spec, c.late, func(s slow, values []int) game.Dir {
					return s.monteCarlo(values, c.runs, value)
				})
				t.Log(compared, "boards")
				if compared < c.want {
					t.Errorf("compared %d boards, want %d", compared, c.want)
				}
			})
		}
	}
}
