package scheduler

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// Remembers reports whether a text is JSON of a scheduler with memory.
func Remembers(text []byte) bool {
	var states []struct {
		Memory *json.RawMessage `json:"m"`
	}
	text = bytes.TrimSpace(text)
	return len(text) > 0 && text[0] == '[' && json.Unmarshal(text, &states) == nil && len(states) > 0 && states[0].Memory != nil
}

// ReadController reads Storm's JSON of a scheduler with memory, initially 0. A choice is identified by
// its number in the model if its action agrees, and otherwise by its action. Pairs of state and memory
// without an entry take the first choice forever.
func ReadController(ctx context.Context, file string, text []byte, space *explicit.Space) (*sparse.Controller, error) {
	r := &controllerReader{reader: newReader(space), ctx: ctx, entries: map[memoryState][]controllerMove{}, nodeNumber: map[memoryState]uint32{}}
	if err := r.read(text); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r.controller()
}

// controllerReader reads a scheduler with memory.
type controllerReader struct {
	*reader
	ctx        context.Context
	entries    map[memoryState][]controllerMove
	nodeNumber map[memoryState]uint32
	nodes      []memoryState // reachable pairs
}

// memoryState is a pair of state and memory.
type memoryState struct{ state, memory int }

const (
	// unknownMemory stands for any memory without an entry. The controller has one more than the greatest memory for it.
	unknownMemory = -1
	maxMemory     = math.MaxInt32 - 1
)

type controllerMove struct {
	choice int
	prob   *big.Rat
	next   map[int]int // memory by successor state
}

func (r *controllerReader) read(text []byte) error {
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
		if x.Memory < 0 || x.Memory > maxMemory {
			return fmt.Errorf("entry %d: found the memory %d, want 0 to %d", n, x.Memory, maxMemory)
		}
		at := memoryState{s, x.Memory}
		if r.entries[at] != nil {
			return fmt.Errorf("entry %d: state %s has two entries with memory %d", n, r.stateText(s), x.Memory)
		}
		if r.entries[at], err = r.readMoves(s, x.Choice); err != nil {
			return fmt.Errorf("entry %d: %w", n, err)
		}
	}
	return nil
}

// readMoves reads the choices of an entry; none for "undefined".
func (r *controllerReader) readMoves(s int, text json.RawMessage) ([]controllerMove, error) {
	var choices []struct {
		Index  int         `json:"index"`
		Labels []string    `json:"labels"`
		Prob   json.Number `json:"prob"`
		// The names in Updates have apostrophes, which struct tags cannot express.
		Updates []map[string]json.RawMessage `json:"memory-updates"`
	}
	if bytes.Equal(bytes.TrimSpace(text), []byte(`"undefined"`)) {
		return nil, nil
	}
	if err := json.Unmarshal(text, &choices); err != nil {
		return nil, err
	}
	var out []controllerMove
	sum := new(big.Rat)
	for _, x := range choices {
		if len(x.Labels) > 1 {
			return nil, fmt.Errorf("found %d actions of one choice, want one", len(x.Labels))
		}
		m := controllerMove{next: map[int]int{}, prob: big.NewRat(1, 1)}
		var err error
		if m.choice, err = r.choiceOf(s, x.Index, x.Labels); err != nil {
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
		if err := r.readUpdates(m.next, x.Updates); err != nil {
			return nil, err
		}
		sum.Add(sum, m.prob)
		out = append(out, m)
	}
	if near, _ := sum.Float64(); near < 1-0x1p-40 || near > 1+0x1p-40 {
		return nil, fmt.Errorf("found probabilities of choices of state %s whose sum is %v, want 1", r.stateText(s), near)
	}
	for i := range out { // rounded probabilities may not sum to exactly one
		out[i].prob.Quo(out[i].prob, sum)
	}
	return out, nil
}

// readUpdates reads the memory after each successor.
func (r *controllerReader) readUpdates(next map[int]int, list []map[string]json.RawMessage) error {
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

// choiceOf returns the choice with an index and labels.
func (r *controllerReader) choiceOf(s, index int, labels []string) (int, error) {
	action := ""
	if len(labels) == 1 {
		action = labels[0]
	}
	if first, end := r.space.Model().Choices(s); index >= first && index < end && r.actionName(r.space.Model(), index) == action {
		return index, nil
	}
	return r.choiceWithAction(s, action)
}

// controller builds the nodes of the reachable pairs.
func (r *controllerReader) controller() (*sparse.Controller, error) {
	out := &sparse.Controller{}
	m := r.space.Model()
	for _, s := range m.Initial {
		out.Start = append(out.Start, r.nodeOf(memoryState{int(s), 0}))
	}
	for i := 0; i < len(r.nodes); i++ { // nodeOf appends to r.nodes
		if i%statesPerPoll == 0 && r.ctx.Err() != nil {
			return nil, r.ctx.Err()
		}
		at := r.nodes[i]
		moves := r.entries[at]
		if moves == nil {
			first, _ := m.Choices(at.state)
			moves = []controllerMove{{choice: first}}
		}
		n := sparse.Node{State: uint32(at.state), Memory: uint32(max(at.memory, 0))}
		for _, v := range moves {
			next := sparse.Move{Choice: uint32(v.choice), Prob: v.prob}
			lo, hi := m.Row(v.choice)
			for _, t := range m.Target[lo:hi] {
				memory, ok := v.next[int(t)]
				if !ok {
					memory = unknownMemory
				}
				next.Next = append(next.Next, r.nodeOf(memoryState{int(t), memory}))
			}
			n.Moves = append(n.Moves, next)
		}
		out.Nodes = append(out.Nodes, n)
	}
	most := uint32(0)
	for _, n := range out.Nodes {
		most = max(most, n.Memory)
	}
	for i, at := range r.nodes {
		if at.memory == unknownMemory {
			out.Nodes[i].Memory = most + 1
		}
	}
	return out, nil
}

func (r *controllerReader) nodeOf(x memoryState) uint32 {
	if r.entries[x] == nil {
		x.memory = unknownMemory
	}
	i, ok := r.nodeNumber[x]
	if !ok {
		i = uint32(len(r.nodes))
		r.nodeNumber[x] = i
		r.nodes = append(r.nodes, x)
	}
	return i
}
