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
	space            *explicit.Space
	scheduler        Scheduler          // memoryless; nil if it has memory or permits several choices
	permittedChoices *sparse.Set        // choices that are equally likely; nil if the scheduler has memory
	controller       *sparse.Controller // nil if the scheduler has no memory

	state    uint32       // the current state
	node     uint32       // the current node of the controller
	lastMove *sparse.Move // the move that Choose drew last
}

// ReadFollower reads a scheduler of an MDP or a game from a file. The scheduler may have memory, or permit several choices of a state.
// The permitted choices of a state are equally likely. In a game, players[i] says whether the scheduler makes the choices of player i; nil
// stands for all players. In the states of other players all choices are equally likely.
func ReadFollower(ctx context.Context, file string, text []byte, space *explicit.Space, players []bool) (*Follower, error) {
	if kind := space.Model().Kind; kind != sparse.MDP {
		return nil, fmt.Errorf("%s: found %s, want an MDP for the scheduler %s", space.Program().File, noun.WithArticle(kind.String()), file)
	}
	follower := &Follower{space: space}
	var err error
	if Remembers(text) {
		follower.controller, err = ReadController(ctx, file, text, space, players)
		return follower, err
	}
	follower.permittedChoices, follower.scheduler, err = ReadPermitted(ctx, file, text, space)
	if err == nil && players != nil {
		follower.permittedChoices = RemainingChoices(space.Model(), players, follower.permittedChoices, follower.scheduler)
		follower.scheduler = nil
	}
	return follower, err
}

// RemainingChoices returns the choices of a game that remain if player i follows a scheduler where players[i] is true, and the others keep all choices.
// permitted and scheduler are the results of ReadPermitted. If scheduler is nil, a player who follows it keeps all permitted choices. Otherwise this
// player keeps one choice in each state: the scheduler's choice, or the first choice if the scheduler has none.
func RemainingChoices(model *sparse.Model, players []bool, permitted *sparse.Set, scheduler Scheduler) *sparse.Set {
	remaining := sparse.NewSet(model.NumChoices())
	for s, player := range model.Player {
		followsScheduler := players[player]
		if followsScheduler && scheduler != nil {
			remaining.Add(int(model.ChoiceOrFirst(s, scheduler[0][s])))
			continue
		}
		first, end := model.Choices(s)
		for choice := first; choice < end; choice++ {
			if !followsScheduler || permitted.Has(choice) {
				remaining.Add(choice)
			}
		}
	}
	return remaining
}

// Start sets the current state to an initial state, where a path begins.
func (follower *Follower) Start(state []int32) error {
	s, found := follower.space.Find(state)
	index := slices.Index(follower.space.Model().Initial, uint32(s))
	if !found || index < 0 {
		return fmt.Errorf("the path begins in state %s, which is not initial", follower.space.Compiled().StateText(state))
	}
	follower.state = uint32(s)
	if follower.controller != nil {
		follower.node = follower.controller.Start[index]
	}
	return nil
}

// Choose returns the choice of the scheduler in the current state, as an index among the choices of that state. If the scheduler is randomized,
// random determines the choice; it is uniformly distributed in [0,1).
func (follower *Follower) Choose(random float64) int {
	model := follower.space.Model()
	first, end := model.Choices(int(follower.state))
	switch {
	case follower.controller != nil:
		follower.lastMove = drawMove(follower.controller.Nodes[follower.node].Moves, random)
		return int(follower.lastMove.Choice) - first
	case follower.scheduler != nil:
		return int(model.ChoiceOrFirst(int(follower.state), follower.scheduler.Row(0)[follower.state])) - first
	}
	var permitted []int
	for choice := first; choice < end; choice++ {
		if follower.permittedChoices.Has(choice) {
			permitted = append(permitted, choice-first)
		}
	}
	return permitted[int(random*float64(len(permitted)))]
}

// drawMove draws one of several moves at random, each with its probability. random is a number that is uniformly distributed in [0,1).
func drawMove(moves []sparse.Move, random float64) *sparse.Move {
	for i := range moves {
		probability, _ := moves[i].Probability().Float64()
		random -= probability
		if random < 0 {
			return &moves[i]
		}
	}
	return &moves[len(moves)-1] // the rounded probabilities sum to less than 1
}

// Take sets the current state to the target of a transition. choice is the result of Choose; transition is the index of the transition in this
// choice.
func (follower *Follower) Take(choice, transition int) {
	model := follower.space.Model()
	first, _ := model.Choices(int(follower.state))
	firstTransition, _ := model.Transitions(first + choice)
	follower.state = model.Target[firstTransition+transition]
	if follower.controller != nil {
		follower.node = follower.lastMove.Next[transition]
	}
}
