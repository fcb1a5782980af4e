package scheduler

import (
	"context"
	"fmt"
	"slices"

	"tilecheck/internal/noun"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// Follower makes the choices of a scheduler along one path. It is a simulate.Chooser for explicit.Steps, and is not safe
// for concurrent use.
type Follower struct {
	space      *explicit.Space
	scheduler  Scheduler          // memoryless; nil if it has memory or permits several choices
	permitted  *sparse.Set        // choices that are equally likely; nil if the scheduler has memory
	controller *sparse.Controller // nil if the scheduler has no memory

	state uint32       // the current state
	node  uint32       // the current node of the controller
	move  *sparse.Move // the move that Choose drew last
}

// ReadFollower reads a scheduler with ReadController if it has memory, and with ReadPermitted otherwise. In a state with several
// permitted choices, these are equally likely.
func ReadFollower(ctx context.Context, file string, text []byte, space *explicit.Space) (*Follower, error) {
	if kind := space.Model().Kind; kind != sparse.MDP {
		return nil, fmt.Errorf("%s: found %s, want an MDP for the scheduler %s", space.Program().File, noun.WithArticle(kind.String()), file)
	}
	f := &Follower{space: space}
	var err error
	if Remembers(text) {
		f.controller, err = ReadController(ctx, file, text, space)
	} else {
		f.permitted, f.scheduler, err = ReadPermitted(ctx, file, text, space)
	}
	return f, err
}

// Start begins a path in an initial state.
func (f *Follower) Start(state []int32) error {
	s, found := f.space.Find(state)
	i := slices.Index(f.space.Model().Initial, uint32(s))
	if !found || i < 0 {
		return fmt.Errorf("the path begins in state %s, which is not initial", f.space.Compiled().StateText(state))
	}
	f.state = uint32(s)
	if f.controller != nil {
		f.node = f.controller.Start[i]
	}
	return nil
}

// Choose returns the scheduler's choice in the current state, as an index among the choices of the state. x is a random number
// in [0,1), which decides between several choices.
func (f *Follower) Choose(x float64) int {
	m := f.space.Model()
	first, end := m.Choices(int(f.state))
	switch {
	case f.controller != nil:
		moves := f.controller.Nodes[f.node].Moves
		for i := range moves {
			f.move = &moves[i]
			p, _ := f.move.Probability().Float64()
			x -= p
			if x < 0 {
				break
			}
		}
		return int(f.move.Choice) - first
	case f.scheduler != nil:
		return choiceOrFirst(m, f.scheduler.Row(0), int(f.state)) - first
	}
	var permitted []int
	for c := first; c < end; c++ {
		if f.permitted.Has(c) {
			permitted = append(permitted, c-first)
		}
	}
	return permitted[int(x*float64(len(permitted)))]
}

// Take follows a transition of the choice that was drawn last.
func (f *Follower) Take(choice, transition int) {
	m := f.space.Model()
	first, _ := m.Choices(int(f.state))
	lo, _ := m.Row(first + choice)
	f.state = m.Target[lo+transition]
	if f.controller != nil {
		f.node = f.move.Next[transition]
	}
}
