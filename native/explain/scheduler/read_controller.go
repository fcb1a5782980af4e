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

// Remembers reports whether text is a scheduler with memory in Storm's JSON format: a list whose first entry has the field m, the memory.
func Remembers(text []byte) bool {
	var entries []struct {
		Memory *json.RawMessage `json:"m"`
	}
	mayBeJSON := bytes.HasPrefix(bytes.TrimSpace(text), []byte("["))
	if !mayBeJSON || json.Unmarshal(text, &entries) != nil {
		return false
	}
	return len(entries) > 0 && entries[0].Memory != nil
}

// ReadController reads Storm's JSON of a scheduler with memory. The initial memory is 0. A choice is identified by its number in
// the model, or by its action if the choice with this number has another action. After a pair of state and memory without an
// entry, the controller always takes the first choice.
//
// In a game, players[i] says whether player i follows the scheduler; nil stands for all players. The states of other players are free
// nodes of the controller. The file must then have the memory after each of their choices, and an entry for each state and memory that
// they can reach: as check writes it for a coalition, see WriteController.
func ReadController(ctx context.Context, file string, text []byte, space *explicit.Space, players []bool) (*sparse.Controller, error) {
	reader := &controllerReader{
		reader: newReader(space), ctx: ctx, players: players,
		entries: map[memoryState][]controllerMove{}, nodeNumbers: map[memoryState]uint32{},
	}
	err := reader.read(text)
	var controller *sparse.Controller
	if err == nil {
		controller, err = reader.buildController()
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return controller, err
}

// controllerReader reads a scheduler with memory.
type controllerReader struct {
	*reader
	ctx         context.Context
	players     []bool                           // the players who follow the scheduler, by number; nil for all
	entries     map[memoryState][]controllerMove // the choices of each entry of the file, also those with probability 0
	nodeNumbers map[memoryState]uint32
	nodes       []memoryState // the reachable pairs, in the order of their numbers
}

// memoryState is a pair of state and memory.
type memoryState struct{ state, memory int }

const (
	// unknownMemory stands for every memory that has no entry with the state. The controller represents it by the greatest
	// memory plus 1.
	unknownMemory = -1
	maxMemory     = math.MaxInt32 - 1
)

// controllerMove is a choice with its probability.
type controllerMove struct {
	choice     int
	prob       *big.Rat
	nextMemory map[int]int // memory by successor state
}

// read reads a scheduler with memory in Storm's JSON format. Errors name the entry.
func (reader *controllerReader) read(text []byte) error {
	var entries []controllerEntry
	if err := json.Unmarshal(text, &entries); err != nil {
		return err
	}
	for number := range entries {
		if number%statesPerPoll == 0 && reader.ctx.Err() != nil {
			return reader.ctx.Err()
		}
		if err := reader.readEntry(&entries[number]); err != nil {
			return fmt.Errorf("entry %d: %w", number, err)
		}
	}
	return reader.checkStates()
}

// controllerEntry has the choices of a state and a memory in Storm's format.
type controllerEntry struct {
	Choice json.RawMessage            `json:"c"`
	Memory int                        `json:"m"`
	State  map[string]json.RawMessage `json:"s"`
}

// readEntry reads the moves for one state and one value of the memory. It ignores states that are not in the space.
func (reader *controllerReader) readEntry(entry *controllerEntry) error {
	valuation, err := reader.valuationOf(entry.State)
	if err != nil {
		return err
	}
	state, isReachable := reader.find(valuation)
	if !isReachable {
		return nil
	}
	if err := checkMemory(entry.Memory); err != nil {
		return err
	}
	key := memoryState{state, entry.Memory}
	if reader.entries[key] != nil {
		return fmt.Errorf("state %s has two entries with memory %d", reader.stateText(state), entry.Memory)
	}
	reader.entries[key], err = reader.readMoves(state, entry.Choice)
	return err
}

// checkMemory returns an error unless a number in a file can be a memory.
func checkMemory(memory int) error {
	if memory < 0 || memory > maxMemory {
		return fmt.Errorf("found the memory %d, want 0 to %d", memory, maxMemory)
	}
	return nil
}

// memoryChoice is a choice of an entry with its probability, and the memory after each successor.
type memoryChoice struct {
	readChoice
	// The names in Updates have apostrophes, which struct tags cannot express.
	Updates []map[string]json.RawMessage `json:"memory-updates"`
}

// readMoves reads the choices in an entry for state s, with their probabilities. It divides the probabilities by their sum, which must be nearly
// 1. The text "undefined" stands for no moves.
func (reader *controllerReader) readMoves(s int, text json.RawMessage) ([]controllerMove, error) {
	if bytes.Equal(bytes.TrimSpace(text), []byte(`"undefined"`)) {
		return nil, nil
	}
	var choices []memoryChoice
	if err := json.Unmarshal(text, &choices); err != nil {
		return nil, err
	}
	var moves []controllerMove
	sum := new(big.Rat)
	for _, choice := range choices {
		move, err := reader.readMove(s, &choice)
		if err != nil {
			return nil, err
		}
		sum.Add(sum, move.prob)
		moves = append(moves, move)
	}
	const tolerance = 0x1p-40 // for probabilities that are rounded in the file
	approximateSum, _ := sum.Float64()
	if math.Abs(approximateSum-1) > tolerance {
		return nil, fmt.Errorf("found probabilities of choices of state %s whose sum is %v, want 1", reader.stateText(s), approximateSum)
	}
	for i := range moves {
		moves[i].prob.Quo(moves[i].prob, sum)
	}
	return moves, nil
}

// readMove reads one choice of state s with its probability and the memory after each successor. A choice without a probability has the probability 1.
func (reader *controllerReader) readMove(s int, choice *memoryChoice) (controllerMove, error) {
	one := big.NewRat(1, 1)
	move := controllerMove{nextMemory: map[int]int{}, prob: new(big.Rat).Set(one)}
	var err error
	move.choice, err = reader.choiceOf(s, &choice.readChoice)
	if err != nil {
		return move, err
	}
	if choice.Prob != nil {
		_, isNumber := move.prob.SetString(string(choice.Prob))
		isProbability := isNumber && move.prob.Sign() >= 0 && move.prob.Cmp(one) <= 0
		if !isProbability {
			return move, fmt.Errorf("found the probability %.60q of a choice, want a number from 0 to 1", choice.Prob)
		}
	}
	return move, reader.readUpdates(move.nextMemory, choice.Updates)
}

// readUpdates reads the memory after each successor state: nextMemory[s] becomes the memory after a transition to state s.
func (reader *controllerReader) readUpdates(nextMemory map[int]int, updates []map[string]json.RawMessage) error {
	for _, update := range updates {
		var state map[string]json.RawMessage
		var memory int
		if err := cmp.Or(json.Unmarshal(update["s'"], &state), json.Unmarshal(update["m'"], &memory)); err != nil {
			return fmt.Errorf("found a memory-update without s' and m': %w", err)
		}
		if err := checkMemory(memory); err != nil {
			return err
		}
		valuation, err := reader.valuationOf(state)
		if err != nil {
			return err
		}
		if target, isReachable := reader.space.Find(valuation); isReachable {
			nextMemory[target] = memory
		}
	}
	return nil
}

// buildController returns the controller that the entries describe. It has a node for each reachable pair of a state and a memory.
func (reader *controllerReader) buildController() (*sparse.Controller, error) {
	result := &sparse.Controller{}
	for _, s := range reader.space.Model().Initial {
		result.Start = append(result.Start, reader.nodeOf(memoryState{int(s), 0}))
	}
	for i := 0; i < len(reader.nodes); i++ { // newNode appends to reader.nodes
		if i%statesPerPoll == 0 && reader.ctx.Err() != nil {
			return nil, reader.ctx.Err()
		}
		node, err := reader.newNode(reader.nodes[i])
		if err != nil {
			return nil, err
		}
		result.Nodes = append(result.Nodes, node)
	}
	reader.setUnknownMemory(result)
	return result, nil
}

// newNode returns the controller node for a state and a memory. If the file has no entry for them, the node takes the first choice of the state. In a
// game this is an error, because other players can reach the pair, and the scheduler must then go on.
func (reader *controllerReader) newNode(pair memoryState) (sparse.Node, error) {
	moves := reader.entries[pair]
	model := reader.space.Model()
	first, end := model.Choices(pair.state)
	if moves == nil && reader.players != nil {
		return sparse.Node{}, fmt.Errorf("found no choice for state %s with a memory that other players can reach: %s", reader.stateText(pair.state), wantCoalition)
	}
	if moves == nil {
		moves = []controllerMove{{choice: first, prob: big.NewRat(1, 1)}}
	}
	node := sparse.Node{State: uint32(pair.state), Memory: uint32(max(pair.memory, 0))}
	if reader.players != nil && !reader.players[model.Player[pair.state]] {
		node.IsFree = true
		var err error
		moves, err = reader.freeMoves(pair, first, end)
		if err != nil {
			return node, err
		}
	}
	for _, move := range moves {
		if move.prob.Sign() > 0 {
			node.Moves = append(node.Moves, reader.sparseMove(move))
		}
	}
	return node, nil
}

// wantCoalition ends the errors about a file that does not say what happens if a player does not follow the scheduler.
const wantCoalition = "for --player, want a file that check --export-scheduler wrote for a coalition <<...>>"

// freeMoves returns a move for each choice of a state, from first to end-1, all with the same probability. The player of the state does not follow the
// scheduler. It is an error if the entry of the pair lacks the memory after one of these choices.
func (reader *controllerReader) freeMoves(pair memoryState, first, end int) ([]controllerMove, error) {
	model := reader.space.Model()
	moves := make([]controllerMove, end-first)
	for _, move := range reader.entries[pair] {
		moves[move.choice-first] = move
	}
	for i := range moves {
		moves[i].choice, moves[i].prob = first+i, big.NewRat(1, int64(end-first))
		firstTransition, endTransition := model.Transitions(first + i)
		for _, target := range model.Target[firstTransition:endTransition] {
			if _, isKnown := moves[i].nextMemory[int(target)]; !isKnown {
				return nil, fmt.Errorf("found no memory after choice %d of state %s, which another player makes: %s", i, reader.stateText(pair.state), wantCoalition)
			}
		}
	}
	return moves, nil
}

// setUnknownMemory gives all nodes whose memory the file does not define the same new memory: the greatest memory of the controller plus 1.
func (reader *controllerReader) setUnknownMemory(controller *sparse.Controller) {
	greatest := uint32(0)
	for _, node := range controller.Nodes {
		greatest = max(greatest, node.Memory)
	}
	for i, pair := range reader.nodes {
		if pair.memory == unknownMemory {
			controller.Nodes[i].Memory = greatest + 1
		}
	}
}

// sparseMove converts a move of the file to a move of the controller. It finds or adds the next node for each transition.
func (reader *controllerReader) sparseMove(move controllerMove) sparse.Move {
	model := reader.space.Model()
	result := sparse.Move{Choice: uint32(move.choice), Prob: move.prob}
	first, end := model.Transitions(move.choice)
	for _, target := range model.Target[first:end] {
		memory, found := move.nextMemory[int(target)]
		if !found {
			memory = unknownMemory
		}
		result.Next = append(result.Next, reader.nodeOf(memoryState{int(target), memory}))
	}
	return result
}

// nodeOf returns the number of the node for a state and a memory, and adds the node if it is new. All memories for which the state has no entry
// in the file share one node.
func (reader *controllerReader) nodeOf(pair memoryState) uint32 {
	if reader.entries[pair] == nil {
		pair.memory = unknownMemory
	}
	node, found := reader.nodeNumbers[pair]
	if !found {
		node = uint32(len(reader.nodes))
		reader.nodeNumbers[pair] = node
		reader.nodes = append(reader.nodes, pair)
	}
	return node
}
