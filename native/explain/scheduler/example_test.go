package scheduler_test

import (
	"context"
	"fmt"
	"log"

	"tilecheck/native/explain/scheduler"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// A scheduler that solve has found, and the chain it leaves.
func Example() {
	b := sparse.NewBuilder(sparse.MDP)
	b.State() // try, or give up
	b.Choice(sparse.NoAction)
	b.Add(2, 1)
	b.Choice(sparse.NoAction)
	b.Add(0, 0.5)
	b.Add(1, 0.25)
	b.Add(2, 0.25)
	for s := range 2 {
		b.State()
		b.Choice(sparse.NoAction)
		b.Add(s+1, 1)
	}
	m, err := b.Finish()
	if err != nil {
		log.Fatal(err)
	}
	m.Initial = []uint32{0}

	ctx := context.Background()
	goal := sparse.SetOf(3, 1)
	v, err := solve.Until(ctx, sparse.NewGraph(m), sparse.FullSet(3), goal, solve.Max, solve.Options{Scheduler: true})
	if err != nil {
		log.Fatal(err)
	}
	in, err := scheduler.Scheduler{v.Scheduler}.Induce(ctx, m, scheduler.InduceOptions{Reachable: true})
	if err != nil {
		log.Fatal(err)
	}
	again, err := solve.Until(ctx, sparse.NewGraph(in.Model), sparse.FullSet(3), in.InducedStates(goal), solve.Max, solve.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f, and again %.3f in %d states\n", v.Value(0), again.Value(0), in.Model.NumStates())
	// Output: 0.500, and again 0.500 in 3 states
}
