package game_test

import (
	"fmt"
	"math/rand/v2"

	"tilecheck/game"
)

// A random player's game, from two tiles to the end. The seed makes it the same every time.
func Example() {
	rules, err := game.New(game.Shape{Rows: 2, Cols: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	rng := rand.New(rand.NewPCG(2048, 0))
	board := rules.Start(rng)
	moves, total := 0, 0
	for legal := rules.Legal(board); legal != 0; legal = rules.Legal(board) {
		next, score, err := rules.Move(board, legal.At(rng.IntN(legal.Len())))
		if err != nil {
			fmt.Println(err)
			return
		}
		board = rules.AddRandom(next, rng)
		moves++
		total += score
	}
	fmt.Print(rules.Shape().Draw(board))
	fmt.Println("lost:", rules.Lost(board), "moves:", moves, "score:", total)
	// Output:
	// ┌───────┬───────┐
	// │     2 │     4 │
	// ├───────┼───────┤
	// │     4 │     2 │
	// └───────┴───────┘
	// lost: true moves: 4 score: 8
}

func ExampleSlide() {
	fmt.Println(game.Slide([]int{2, 2, 2, 0}))
	fmt.Println(game.Slide([]int{2, 2, 4, 4}))
	fmt.Println(game.Slide([]int{4, 2, 2, 0})) // a merged tile does not merge again
	// Output:
	// [4 2 0 0] 4
	// [4 8 0 0] 12
	// [4 4 0 0] 4
}

func ExampleRules_Move() {
	rules, err := game.New(game.Shape{Rows: 2, Cols: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	board, err := rules.Shape().Parse("2 2 4 / . 8 8")
	if err != nil {
		fmt.Println(err)
		return
	}
	next, score, err := rules.Move(board, game.Right)
	fmt.Print(rules.Shape().Format(next))
	fmt.Println(score, err)
	// Output:
	// . 4 4
	// . . 16
	// 20 <nil>
}

// The largest tile a cell holds is 32768; what would make a larger one is an error.
func ExampleRules_Move_overflow() {
	rules, err := game.New(game.Shape{Rows: 1, Cols: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	board, err := rules.Shape().Board([]int{32768, 32768})
	if err != nil {
		fmt.Println(err)
		return
	}
	next, _, err := rules.Move(board, game.Left)
	fmt.Println(next == board, err)
	// Output: true merge of two 32768 tiles does not fit a cell
}

func ExampleRules_Legal() {
	rules, err := game.New(game.Shape{Rows: 2, Cols: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"2 . / 4 .", "2 4 / 2 8", "2 4 / 4 2"} {
		board, err := rules.Shape().Parse(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: legal %q, lost %v\n", text, rules.Legal(board), rules.Lost(board))
	}
	// Output:
	// 2 . / 4 .: legal "right", lost false
	// 2 4 / 2 8: legal "up,down", lost false
	// 2 4 / 4 2: legal "", lost true
}

// The same move on a board and on its canonical form.
func ExampleRules_Canonical() {
	rules, err := game.New(game.Shape{Rows: 2, Cols: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	board, err := rules.Shape().Parse("2 . / 4 .")
	if err != nil {
		fmt.Println(err)
		return
	}
	least, by := rules.Canonical(board)
	fmt.Print(rules.Shape().Format(least))
	fmt.Println(game.Right, "becomes", by.Dir(game.Right))
	// Output:
	// 4 2
	// . .
	// right becomes down
}

func ExampleShape_Draw() {
	shape := game.Shape{Rows: 2, Cols: 3}
	board, err := shape.Parse("2 . 2048 / 16 32768 .")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(shape.Draw(board))
	// Output:
	// ┌───────┬───────┬───────┐
	// │     2 │       │  2048 │
	// ├───────┼───────┼───────┤
	// │    16 │ 32768 │       │
	// └───────┴───────┴───────┘
}

func ExampleShape_Parse() {
	_, err := game.Shape{Rows: 2, Cols: 2}.Parse("2 4\n6 8\n")
	fmt.Println(err)
	// Output: 2:1: found "6", want a tile: . or 0 or a power of two from 2 to 32768
}

// The thesis's alternating strategy: left again and again while up is not legal, then up, which switches lists.
func ExampleAlternating() {
	player := game.Alternating{Lists: [2]game.Preference{
		{game.Up, game.Left, game.Down, game.Right},
		{game.Left, game.Up, game.Down, game.Right},
	}}
	noUp := game.Moves(1<<game.Left | 1<<game.Right | 1<<game.Down)
	all := noUp | 1<<game.Up
	for _, legal := range []game.Moves{noUp, noUp, all, all, all} {
		fmt.Print(player.Choose(legal), " ")
	}
	// Output: left left up left up
}
