package scheduler

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/sparse"
)

// Remembers reports whether a text is JSON of a scheduler with a memory.
func Remembers(text []byte) bool {
	var states []struct {
		Memory *json.RawMessage `json:"m"`
	}
	text = bytes.TrimSpace(text)
	return len(text) > 0 && text[0] == '[' && json.Unmarshal(text, &states) == nil && len(states) > 0 && states[0].Memory != nil
}

// ReadController reads Storm's JSON of a scheduler with a memory, which is 0 at the beginning. A choice is the one with
// its number in the model, if that has its action, and otherwise the one with its action. Pairs of a state and a memory that
// are not there, or have nothing to say, have the state's first choice for ever.
func ReadController(ctx context.Context, file string, text []byte, space *explicit.Space) (*sparse.Controller, error) {
	r := &recaller{reader: newReader(space), ctx: ctx, entries: map[recalled][]move{}, number: map[recalled]uint32{}}
	if err := r.read(text); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r.controller()
}

// recaller reads a scheduler with a memory.
type recaller struct {
	*reader
	ctx     context.Context
	entries map[recalled][]move
	number  map[recalled]uint32
	order   []recalled
}

// recalled is a state and a memory; lost is a memory of which there is no entry. In the controller that is one more
// than the greatest memory.
type recalled struct{ state, memory int }

const (
	lost       = -1
	mostMemory = math.MaxInt32 - 1
)

type move struct {
	choice int
	prob   *big.Rat
	next   map[int]int // the memory by state
}

func (r *recaller) read(text []byte) error {
	var states []struct {
		Choice json.RawMessage            `json:"c"`
		Memory int                        `json:"m"`
		State  map[string]json.RawMessage `json:"s"`
	}
	if err := json.Unmarshal(text, &states); err != nil {
		return err
	}
	for n, x := range states {
		if n%statesPerPoll == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		valuation, err := r.valuation(x.State)
		if err != nil {
			return fmt.Errorf("entry %d: %w", n, err)
		}
		s, ok := r.space.Find(valuation)
		if !ok {
			continue
		}
		if x.Memory < 0 || x.Memory > mostMemory {
			return fmt.Errorf("entry %d: found the memory %d, want 0 to %d", n, x.Memory, mostMemory)
		}
		at := recalled{s, x.Memory}
		if r.entries[at] != nil {
			return fmt.Errorf("entry %d: state %s has two entries with memory %d", n, r.text(s), x.Memory)
		}
		if r.entries[at], err = r.moves(s, x.Choice); err != nil {
			return fmt.Errorf("entry %d: %w", n, err)
		}
	}
	return nil
}

// moves reads what is done in a state; nothing if anything may be.
func (r *recaller) moves(s int, text json.RawMessage) ([]move, error) {
	var choices []struct {
		Index  int         `json:"index"`
		Labels []string    `json:"labels"`
		Prob   json.Number `json:"prob"`
		// Updates have names with apostrophes, which no tag can have.
		Updates []map[string]json.RawMessage `json:"memory-updates"`
	}
	if bytes.Equal(bytes.TrimSpace(text), []byte(`"undefined"`)) {
		return nil, nil
	}
	if err := json.Unmarshal(text, &choices); err != nil {
		return nil, err
	}
	var out []move
	sum := new(big.Rat)
	for _, x := range choices {
		if len(x.Labels) > 1 {
			return nil, fmt.Errorf("found %d actions of one choice, want one", len(x.Labels))
		}
		m := move{next: map[int]int{}, prob: big.NewRat(1, 1)}
		var err error
		if m.choice, err = r.which(s, x.Index, x.Labels); err != nil {
			return nil, err
		}
		if x.Prob != "" {
			var ok bool
			if m.prob, ok = new(big.Rat).SetString(string(x.Prob)); !ok || m.prob.Sign() < 0 || m.prob.Cmp(big.NewRat(1, 1)) > 0 {
				return nil, fmt.Errorf("found the probability %.60q of a choice, want a number from 0 to 1", x.Prob)
			}
		}
		if m.prob.Sign() == 0 {
			continue
		}
		if err := r.updates(m.next, x.Updates); err != nil {
			return nil, err
		}
		sum.Add(sum, m.prob)
		out = append(out, m)
	}
	if near, _ := sum.Float64(); near < 1-0x1p-40 || near > 1+0x1p-40 {
		return nil, fmt.Errorf("found probabilities of choices of state %s whose sum is %v, want 1", r.text(s), near)
	}
	for i := range out { // of doubles, whose sum is not quite one
		out[i].prob.Quo(out[i].prob, sum)
	}
	return out, nil
}

// updates reads what is remembered in the states that come next.
func (r *recaller) updates(next map[int]int, list []map[string]json.RawMessage) error {
	for _, u := range list {
		var state map[string]json.RawMessage
		var memory int
		if err := cmp.Or(json.Unmarshal(u["s'"], &state), json.Unmarshal(u["m'"], &memory)); err != nil {
			return fmt.Errorf("found a memory-update without s' and m': %w", err)
		}
		valuation, err := r.valuation(state)
		if err != nil {
			return err
		}
		if t, ok := r.space.Find(valuation); ok {
			next[t] = memory
		}
	}
	return nil
}

// which returns the choice that is meant.
func (r *recaller) which(s, index int, labels []string) (int, error) {
	action := ""
	if len(labels) == 1 {
		action = labels[0]
	}
	if first, end := r.space.Model().Choices(s); index >= first && index < end && r.name(r.space.Model(), index) == action {
		return index, nil
	}
	return r.find(s, action)
}

// controller makes nodes of what is reached.
func (r *recaller) controller() (*sparse.Controller, error) {
	out := &sparse.Controller{}
	m := r.space.Model()
	for _, s := range m.Initial {
		out.Start = append(out.Start, r.node(recalled{int(s), 0}))
	}
	for i := 0; i < len(r.order); i++ { // the list grows
		if i%statesPerPoll == 0 && r.ctx.Err() != nil {
			return nil, r.ctx.Err()
		}
		at := r.order[i]
		moves := r.entries[at]
		if moves == nil {
			first, _ := m.Choices(at.state)
			moves = []move{{choice: first}}
		}
		n := sparse.Node{State: uint32(at.state), Memory: uint32(max(at.memory, 0))}
		for _, v := range moves {
			next := sparse.Move{Choice: uint32(v.choice), Prob: v.prob}
			lo, hi := m.Row(v.choice)
			for _, t := range m.Target[lo:hi] {
				memory, ok := v.next[int(t)]
				if !ok {
					memory = lost
				}
				next.Next = append(next.Next, r.node(recalled{int(t), memory}))
			}
			n.Moves = append(n.Moves, next)
		}
		out.Nodes = append(out.Nodes, n)
	}
	most := uint32(0)
	for _, n := range out.Nodes {
		most = max(most, n.Memory)
	}
	for i, at := range r.order {
		if at.memory == lost {
			out.Nodes[i].Memory = most + 1
		}
	}
	return out, nil
}

func (r *recaller) node(x recalled) uint32 {
	if r.entries[x] == nil {
		x.memory = lost
	}
	i, ok := r.number[x]
	if !ok {
		i = uint32(len(r.order))
		r.number[x] = i
		r.order = append(r.order, x)
	}
	return i
}
