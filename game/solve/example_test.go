package solve_test

import (
	"context"
	"fmt"

	"tilecheck/game"
	"tilecheck/game/solve"
)

func Example() {
	shape := game.Shape{Rows: 2, Cols: 2}
	table, stats, err := solve.Solve(context.Background(), solve.Options{Shape: shape, Max: 16})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("the best player wins with probability %.6f\n", stats.Initial)
	board, err := shape.Parse("4 4 / 2 .")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, best, _ := table.Value(board)
	moves, _ := table.Moves(board)
	for _, m := range moves {
		fmt.Printf("%-5s %.5f best: %t\n", m.Dir, m.Value, best.Has(m.Dir))
	}
	// Output:
	// the best player wins with probability 0.962511
	// left  0.97475 best: true
	// right 0.97475 best: true
	// down  0.09000 best: false
}
