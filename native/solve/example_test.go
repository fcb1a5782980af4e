package solve_test

import (
	"context"
	"fmt"
	"log"
	"math/big"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// A gambler with 1 of 3 coins may play a fair game, or one at odds of 1 to 2.
func ExampleUntil() {
	b := sparse.NewBuilder(sparse.MDP)
	for coins := range 4 {
		b.State()
		if coins == 0 || coins == 3 {
			b.Choice(sparse.NoAction)
			b.AddRat(coins, big.NewRat(1, 1), sparse.NoAction)
			continue
		}
		for action, win := range []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 3)} {
			b.Choice(sparse.Action(action + 1))
			b.AddRat(coins+1, win, sparse.NoAction)
			b.AddRat(coins-1, new(big.Rat).Sub(big.NewRat(1, 1), win), sparse.NoAction)
		}
	}
	model, err := b.Finish()
	if err != nil {
		log.Fatal(err)
	}
	ctx, graph := context.Background(), sparse.NewGraph(model)
	all, rich := sparse.FullSet(4), sparse.SetOf(4, 3)
	for _, dir := range []solve.Direction{solve.Max, solve.Min} {
		values, err := solve.Until(ctx, graph, all, rich, dir, solve.Options{})
		if err != nil {
			log.Fatal(err)
		}
		x, err := solve.Until(ctx, graph, all, rich, dir, solve.Options{Exact: true, Scheduler: true})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.6f %s by action %d\n", values.Value(1), x.Exact[1].RatString(), model.Actions[x.Scheduler[1]])
	}
	// Output:
	// 0.333333 1/3 by action 1
	// 0.142857 1/7 by action 2
}
