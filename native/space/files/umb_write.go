package files

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/umb"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// UMB writes the binary format that PRISM, Storm and Modest read. It is compressed with gzip unless Options.Raw is
// set. The states are in PRISM's order. Numbers are float64, or fractions in an exact model. The same space always
// gives the same bytes.
func (writer *Writer) UMB(ctx context.Context, out io.Writer) error {
	plain, err := writer.automatonWriter()
	if err != nil {
		return err
	}
	archive, err := plain.newUMBWriter(ctx)
	if err != nil {
		return err
	}
	if writer.opts.Raw {
		return archive.writeArchive(out)
	}
	zip, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if err := archive.writeArchive(zip); err != nil {
		return err
	}
	return zip.Close()
}

// UMBMembers writes the members of the UMB format to an archive. A game is written as an MDP, because certificates
// have the players as sets of states. A Markov automaton is written as its embedded MDP.
func (writer *Writer) UMBMembers(ctx context.Context, out *umb.Writer) error {
	plain := writer.plainWriter()
	if plain.program.Type == syntax.SMG {
		mdp := *plain.program
		mdp.Type = syntax.MDP
		plain.program = &mdp
	}
	archive, err := plain.newUMBWriter(ctx)
	if err != nil {
		return err
	}
	return archive.writeMembers(out)
}

// umbWriter writes a UMB file.
type umbWriter struct {
	*Writer
	ctx           context.Context
	labels        []sparse.Label
	rewards       []*drnReward
	actions       []string       // strings, by number
	actionNumber  map[string]int // the inverse
	exact         bool           // numbers are fractions
	numberSize    int64          // of a number, in bytes
	index         umb.Index
	fields        []umbField // the layout of a valuation
	valuationSize int        // size of a valuation

	rateState  int    // the state of cachedRate; -1 for none
	cachedRate number // the exit rate of rateState
}

// umbField is the position of a variable in a valuation, in bits.
type umbField struct {
	slot               int
	bitOffset, numBits int
}

// newUMBWriter returns a writer with labels, rewards and a complete index.
func (writer *Writer) newUMBWriter(ctx context.Context) (*umbWriter, error) {
	if writer.program.Type == syntax.POMDP {
		return nil, writer.requireNoIntervals("UMB")
	}
	created := &umbWriter{Writer: writer, ctx: ctx, numberSize: 8, rateState: -1}
	var err error
	if created.labels, err = writer.evaluateAllLabels(ctx); err != nil {
		return nil, err
	}
	if created.rewards, err = writer.evaluateRewards(ctx); err != nil {
		return nil, err
	}
	created.exact = writer.model.Exact() && (writer.opts.Fractions || !writer.model.Intervals())
	if created.exact {
		created.setRationalSize()
	}
	created.numberActions()
	return created, created.fillIndex()
}

// setRationalSize sets numberSize to a number of bytes that is enough for every fraction of the file.
func (writer *umbWriter) setRationalSize() {
	writer.numberSize = 16
	writer.includeSizes(writer.model.Rats)
	if writer.exitRates != nil {
		writer.includeSizes(writer.exitRates.Rats)
	}
	if writer.program.Type == syntax.CTMC {
		writer.includeEmbeddedChain()
	}
	for _, reward := range writer.rewards {
		writer.includeSizes(reward.StateRat)
		writer.includeSizes(reward.ChoiceRat)
		writer.includeSizes(reward.transitions.Rats)
	}
}

// includeEmbeddedChain increases numberSize to the size of the greatest exit rate or probability of a CTMC.
func (writer *umbWriter) includeEmbeddedChain() {
	for state := range writer.model.NumStates() {
		exitRate := writer.exitRate(state).rat
		writer.includeSize(exitRate)
		first, end := writer.model.Row(state)
		for transition := first; transition < end; transition++ {
			writer.includeSize(new(big.Rat).Quo(writer.model.Rat(transition), exitRate))
		}
	}
}

// includeSizes increases numberSize to the size of the greatest of some fractions. nil stands for 0.
func (writer *umbWriter) includeSizes(fractions []*big.Rat) {
	for _, fraction := range fractions {
		if fraction != nil {
			writer.includeSize(fraction)
		}
	}
}

func (writer *umbWriter) includeSize(fraction *big.Rat) {
	writer.numberSize = max(writer.numberSize, int64(umb.RatSize(fraction)))
}

// numberActions numbers the actions of the model. If some choices or transitions have no action, number 0 is the
// empty string.
func (writer *umbWriter) numberActions() {
	writer.actionNumber = make(map[string]int)
	if writer.opts.NoActions || writer.model.Actions == nil {
		return
	}
	if slices.Contains(writer.model.Actions, sparse.NoAction) {
		writer.actions = []string{""}
	}
	used := make(map[sparse.Action]bool)
	for _, action := range writer.model.Actions {
		used[action] = true
	}
	for i, name := range writer.program.Actions {
		if used[sparse.Action(i+1)] {
			writer.actionNumber[name] = len(writer.actions)
			writer.actions = append(writer.actions, name)
		}
	}
}

// numberType returns the type of probabilities, rates and rewards in the file.
func (writer *umbWriter) numberType() *umb.Type {
	if writer.exact {
		return &umb.Type{Type: "rational", Size: uint64(8 * writer.numberSize)}
	}
	return &umb.Type{Type: "double", Size: 64}
}

// fillIndex fills the index of the file. It has the type and size of the model, the labels, the reward structures
// and the layout of valuations.
func (writer *umbWriter) fillIndex() error {
	index := &writer.index
	index.Version, index.FileData = umb.Version, &umb.FileData{Tool: "tilecheck", ToolVersion: writer.opts.Version}
	index.System = writer.systemIndex()
	annotations := []umb.Named[umb.Group]{{Name: "aps", Value: writer.labelIndex()}, {Name: "rewards", Value: writer.rewardIndex()}}
	for _, group := range annotations {
		if len(group.Value) > 0 {
			index.Annotations = append(index.Annotations, group)
		}
	}
	if !writer.opts.NoValuations {
		return writer.layOutValuations()
	}
	return nil
}

// systemIndex returns the entries of the index with the type and the size of the model.
func (writer *umbWriter) systemIndex() umb.System {
	model := writer.model
	system := umb.System{
		Time: "discrete", States: uint64(model.NumStates()), InitialStates: uint64(len(model.Initial)),
		Choices: uint64(model.NumChoices()), Branches: uint64(model.NumTransitions()),
	}
	if writer.nondeterministic() {
		system.Players, system.ChoiceActions = 1, uint64(len(writer.actions))
	} else {
		system.BranchActions = uint64(len(writer.actions))
	}
	if writer.program.Type == syntax.SMG {
		system.Players = uint64(len(writer.program.Players))
		for _, player := range writer.program.Players {
			system.PlayerNames = append(system.PlayerNames, player.Name)
		}
	}
	if writer.probabilistic() {
		system.Probability = writer.numberType()
		if writer.model.Intervals() {
			system.Probability = &umb.Type{Type: system.Probability.Type + "-interval", Size: 2 * system.Probability.Size}
		}
	}
	switch {
	case writer.program.Type == syntax.CTMC:
		system.Time, system.ExitRate = "stochastic", writer.numberType()
	case writer.exitRates != nil:
		system.Time, system.ExitRate = "urgent-stochastic", writer.numberType()
	}
	return system
}

// labelIndex returns the entries of the index with the labels. It omits init, because a separate member has it,
// and a label deadlock without states.
func (writer *umbWriter) labelIndex() umb.Group {
	var labels umb.Group
	for _, label := range writer.labels {
		if label.Name == "init" || label.Name == "deadlock" && label.States.Empty() {
			continue
		}
		annotation := umb.Annotation{Alias: &label.Name, AppliesTo: []string{"states"}, Type: umb.Type{Type: "bool", Size: 1}}
		labels = append(labels, umb.Named[umb.Annotation]{Name: newIdentifier(label.Name, labels), Value: annotation})
	}
	return labels
}

// newIdentifier returns an identifier for a name. No member of the group has this identifier.
func newIdentifier(name string, group umb.Group) string {
	return umb.Identifier(name, func(id string) bool {
		return slices.ContainsFunc(group, func(member umb.Named[umb.Annotation]) bool { return member.Name == id })
	})
}

// rewardIndex returns the entries of the index with the reward structures.
func (writer *umbWriter) rewardIndex() umb.Group {
	var rewards umb.Group
	for i, reward := range writer.rewards {
		annotation := umb.Annotation{Type: *writer.numberType(), AppliesTo: writer.rewardKinds(reward)}
		id := strconv.Itoa(i + 1)
		if reward.Name != "" {
			annotation.Alias = &reward.Name
			id = newIdentifier(reward.Name, rewards)
			if _, err := strconv.Atoi(id); err == nil { // a number means that there is no name
				id = "_" + id
			}
		}
		rewards = append(rewards, umb.Named[umb.Annotation]{Name: id, Value: annotation})
	}
	return rewards
}

// rewardKinds returns those of "states", "choices" and "branches" with a nonzero reward in a structure. It returns
// "states" if all rewards are zero.
func (writer *umbWriter) rewardKinds(reward *drnReward) []string {
	var kinds []string
	if !writer.allZero(reward.State, reward.StateRat) {
		kinds = append(kinds, "states")
	}
	switch {
	case writer.nondeterministic() && !writer.allZero(reward.Choice, reward.ChoiceRat):
		kinds = append(kinds, "choices")
	case !writer.nondeterministic() && !writer.allZero(reward.transitions.Values, reward.transitions.Rats):
		kinds = append(kinds, "branches")
	}
	if len(kinds) == 0 {
		return []string{"states"}
	}
	return kinds
}

// allZero reports whether all rewards of a column are zero.
func (writer *umbWriter) allZero(values []float64, rats []*big.Rat) bool {
	for i := range max(len(values), len(rats)) {
		if value := rewardAt(values, rats, i); !value.isZero() {
			return false
		}
	}
	return true
}

// layOutValuations chooses the number of bits of each variable in a packed valuation. A valuation ends at a byte.
func (writer *umbWriter) layOutValuations() error {
	var class umb.Class
	bitOffset := 0
	for slot := range writer.program.Vars {
		variable := packedVariable(&writer.program.Vars[slot])
		class.Variables = append(class.Variables, variable)
		writer.fields = append(writer.fields, umbField{slot, bitOffset, int(variable.Type.Size)})
		bitOffset += int(variable.Type.Size)
	}
	if bitOffset%8 != 0 {
		class.Variables = append(class.Variables, umb.Variable{Padding: uint64(8 - bitOffset%8)})
	}
	writer.valuationSize = (bitOffset + 7) / 8
	writer.index.Valuations = map[string]umb.Valuation{"states": {Unique: true, Classes: []umb.Class{class}}}
	return nil
}

// packedVariable describes a variable in a packed valuation. It has the type, as few bits as the range needs, and
// the declared range.
func packedVariable(declared *sema.Variable) umb.Variable {
	if declared.Type == sema.Bool {
		return umb.Variable{Name: declared.Name, Type: &umb.Type{Type: "bool", Size: 1}}
	}
	low, high := int64(declared.Low), int64(declared.High)
	variable := umb.Variable{Name: declared.Name, Type: &umb.Type{Type: "uint", Size: uint64(max(1, bits.Len64(uint64(high))))}}
	if low < 0 { // two's complement: one bit more than the longer of -low-1 and high
		numBits := max(bits.Len64(uint64(-low-1)), bits.Len64(uint64(max(high, 0)))) + 1
		variable.Type = &umb.Type{Type: "int", Size: uint64(numBits)}
	}
	if declared.Type != sema.Int || declared.Bounded {
		variable.Lower, variable.Upper = &low, &high
	}
	return variable
}

// writeArchive writes the tar archive.
func (writer *umbWriter) writeArchive(out io.Writer) error {
	archive := umb.NewWriter(writer.ctx, out)
	if err := writer.writeMembers(archive); err != nil {
		return err
	}
	return archive.Close()
}

// writeMembers writes the members of the archive. The first one is the index.
func (writer *umbWriter) writeMembers(archive *umb.Writer) error {
	text, err := json.MarshalIndent(writer.index, "", "  ")
	if err != nil {
		return err
	}
	members := &umbMembers{archive, writer}
	members.File(umb.IndexFile, int64(len(text)), func(out *bufio.Writer) { _, _ = out.Write(text) })
	if writer.nondeterministic() {
		members.writeOffsets(umb.StateChoices, func(state int) int {
			first, end := writer.model.Choices(state)
			return end - first
		})
	}
	if writer.probabilistic() {
		members.writeChoiceRows()
		members.writeProbabilities()
	}
	members.writeStateColumns()
	members.File(umb.Targets, int64(8*writer.model.NumTransitions()), func(out *bufio.Writer) {
		writer.forEachBranch(func(_, transition int) {
			umb.PutUint64(out, uint64(writer.stateNumbers[writer.model.Target[transition]]))
		})
	})
	members.writeBits(umb.Initial, func(state int) bool {
		_, isInitial := slices.BinarySearch(writer.model.Initial, uint32(state))
		return isInitial
	})
	members.writeActions()
	members.writeAnnotations()
	if writer.fields != nil {
		members.writeValuations()
	}
	return nil
}

// writeChoiceRows writes the offset of the first branch of each choice, and finally the number of branches.
func (members *umbMembers) writeChoiceRows() {
	writer := members.writer
	members.File(umb.ChoiceRows, int64(8*(writer.model.NumChoices()+1)), func(out *bufio.Writer) {
		offset := uint64(0)
		umb.PutUint64(out, offset)
		writer.forEachChoice(func(choice, _ int) {
			first, end := writer.model.Row(choice)
			offset += uint64(end - first)
			umb.PutUint64(out, offset)
		})
	})
}

// writeProbabilities writes the probability of each branch. In an interval model it writes the lower and the upper
// bound.
func (members *umbMembers) writeProbabilities() {
	writer := members.writer
	hasIntervals := writer.model.Intervals()
	entrySize := writer.numberSize
	if hasIntervals {
		entrySize *= 2
	}
	members.File(umb.Probabilities, int64(writer.model.NumTransitions())*entrySize, func(out *bufio.Writer) {
		writer.forEachBranch(func(state, transition int) {
			writer.writeNumber(out, writer.probability(state, transition))
			if hasIntervals {
				writer.writeNumber(out, number{rat: writer.model.HighRat(transition)})
			}
		})
	})
}

// writeStateColumns writes the players of a game's states, and the exit rates of a CTMC or a Markov automaton.
func (members *umbMembers) writeStateColumns() {
	writer := members.writer
	numStates := int64(writer.model.NumStates())
	if writer.program.Type == syntax.SMG {
		members.File(umb.StatePlayers, 4*numStates, func(out *bufio.Writer) {
			for _, state := range writer.stateOrder {
				umb.PutLowBytes(out, uint64(writer.model.Player[state]), 4)
			}
		})
	}
	if writer.program.Type == syntax.CTMC || writer.exitRates != nil {
		members.File(umb.ExitRates, numStates*writer.numberSize, func(out *bufio.Writer) {
			for _, state := range writer.stateOrder {
				writer.writeNumber(out, writer.exitRate(int(state)))
			}
		})
	}
}

// forEachChoice calls visit for every choice, with its state, in the order of the file.
func (writer *umbWriter) forEachChoice(visit func(choice, state int)) {
	for position, state := range writer.stateOrder {
		if position&0xfff == 0 && writer.ctx.Err() != nil {
			return
		}
		first, end := writer.model.Choices(int(state))
		for choice := first; choice < end; choice++ {
			visit(choice, int(state))
		}
	}
}

// forEachBranch calls visit for every transition, with its state, in the order of the file.
func (writer *umbWriter) forEachBranch(visit func(state, transition int)) {
	writer.forEachChoice(func(choice, state int) {
		writer.rowBuffer = writer.sortedTransitions(writer.rowBuffer, choice)
		for _, transition := range writer.rowBuffer {
			visit(state, transition)
		}
	})
}

// exitRate returns the exit rate of a state of a CTMC or a Markov automaton. In a CTMC it is the sum of the rates.
// A float64 sum is changed slightly, if necessary, to make a reader compute exactly the same rates.
func (writer *umbWriter) exitRate(state int) number {
	if writer.exitRates != nil {
		return writer.automatonRate(state)
	}
	if writer.rateState == state {
		return writer.cachedRate
	}
	transitions := writer.sortedTransitions(nil, state) // rowBuffer may be in use
	writer.rateState, writer.cachedRate = state, (&drnPrinter{printer: &printer{Writer: writer.Writer}}).sum(transitions)
	if !writer.model.Exact() {
		writer.cachedRate.float = writer.reproducingRate(transitions, writer.cachedRate.float)
	}
	return writer.cachedRate
}

// reproducingRate returns an exit rate near sum. A reader computes exactly the rates of all transitions from it.
// It returns sum if it finds no such exit rate.
func (writer *umbWriter) reproducingRate(transitions []int, sum float64) float64 {
	const attempts = 8
	above, below := sum, sum
	for range attempts {
		for _, candidate := range []float64{above, below} {
			if writer.reproducesRates(transitions, candidate) {
				return candidate
			}
		}
		above, below = math.Nextafter(above, math.Inf(1)), math.Nextafter(below, 0)
	}
	return sum
}

// reproducesRates reports whether each rate is, after rounding, the product of the exit rate and a probability.
func (writer *umbWriter) reproducesRates(transitions []int, exitRate float64) bool {
	for _, transition := range transitions {
		if _, isExact := branchProbability(writer.model.Prob(transition), exitRate); !isExact {
			return false
		}
	}
	return true
}

// branchProbability returns a probability with a float64 product with exitRate of exactly rate. If there is none,
// isExact is false, and the probability is the quotient.
func branchProbability(rate, exitRate float64) (probability float64, isExact bool) {
	quotient := rate / exitRate
	for _, candidate := range []float64{quotient, math.Nextafter(quotient, 0), math.Nextafter(quotient, 1)} {
		if candidate*exitRate == rate {
			return candidate, true
		}
	}
	return quotient, false
}

// probability returns the probability of a transition of a state. In a CTMC it is the rate divided by the exit
// rate.
func (writer *umbWriter) probability(state, transition int) number {
	weight := writer.weight(transition)
	switch {
	case writer.program.Type != syntax.CTMC: // the weight is a probability
	case weight.rat != nil:
		weight.rat = new(big.Rat).Quo(weight.rat, writer.exitRate(state).rat)
	default:
		weight.float, _ = branchProbability(weight.float, writer.exitRate(state).float)
	}
	return weight
}

// writeNumber writes a number in the type of the file's numbers, a fraction or a float64.
func (writer *umbWriter) writeNumber(out *bufio.Writer, value number) {
	if !writer.exact {
		if value.rat != nil {
			value.float, _ = value.rat.Float64()
		}
		umb.PutUint64(out, math.Float64bits(value.float))
		return
	}
	fraction := value.rat
	if fraction == nil {
		fraction = new(big.Rat)
	}
	umb.PutRat(out, fraction, int(writer.numberSize))
}

// umbMembers writes the members of a UMB archive.
type umbMembers struct {
	*umb.Writer
	writer *umbWriter
}

// writeOffsets writes a member with the offset of each state's entries in another member. length returns a state's
// number of entries.
func (members *umbMembers) writeOffsets(name string, length func(i int) int) {
	members.Offsets(name, len(members.writer.stateOrder), func(k int) int { return length(int(members.writer.stateOrder[k])) })
}

// writeBits writes a member with a set of states as a bit vector.
func (members *umbMembers) writeBits(name string, has func(i int) bool) {
	members.Bits(name, len(members.writer.stateOrder), func(k int) bool { return has(int(members.writer.stateOrder[k])) })
}

// writeActions writes the names of the actions, and the number of the action of each choice. In a Markov chain it
// writes the number for each branch.
func (members *umbMembers) writeActions() {
	writer := members.writer
	if len(writer.actions) == 0 {
		return
	}
	if writer.nondeterministic() {
		members.File("actions/choices/values.bin", int64(4*writer.model.NumChoices()), func(out *bufio.Writer) {
			writer.forEachChoice(func(choice, _ int) { writer.writeActionNumber(out, choice) })
		})
		members.writeStrings("actions/choices/", writer.actions)
		return
	}
	members.File("actions/branches/values.bin", int64(4*writer.model.NumTransitions()), func(out *bufio.Writer) {
		writer.forEachBranch(func(_, transition int) { writer.writeActionNumber(out, transition) })
	})
	members.writeStrings("actions/branches/", writer.actions)
}

// writeActionNumber writes the number of the action of a choice, or of a transition of a Markov chain.
func (writer *umbWriter) writeActionNumber(out *bufio.Writer, index int) {
	number := 0
	if name := writer.Writer.actionName(index); name != "" {
		number = writer.actionNumber[name]
	}
	_, _ = out.Write(binary.LittleEndian.AppendUint32(out.AvailableBuffer(), uint32(number)))
}

// writeStrings writes a list of strings and their offsets. The last offset is the total length.
func (members *umbMembers) writeStrings(dir string, list []string) {
	text := strings.Join(list, "")
	members.File(dir+"string-mapping.bin", int64(8*(len(list)+1)), func(out *bufio.Writer) {
		offset := uint64(0)
		umb.PutUint64(out, offset)
		for _, element := range list {
			offset += uint64(len(element))
			umb.PutUint64(out, offset)
		}
	})
	members.File(dir+"strings.bin", int64(len(text)), func(out *bufio.Writer) {
		_, _ = out.WriteString(text)
	})
}

// writeAnnotations writes a member with bits for each label, and members with numbers for each reward structure.
func (members *umbMembers) writeAnnotations() {
	writer := members.writer
	labels := writer.index.Annotations.Get("aps")
	for _, label := range writer.labels {
		for _, member := range labels {
			if *member.Value.Alias == label.Name {
				members.writeBits("annotations/aps/"+member.Name+"/states/values.bin", label.States.Has)
			}
		}
	}
	for index, member := range writer.index.Annotations.Get("rewards") {
		for _, kind := range member.Value.AppliesTo {
			name := fmt.Sprintf("annotations/rewards/%s/%s/values.bin", member.Name, kind)
			members.writeRewards(name, kind, writer.rewards[index])
		}
	}
}

// writeRewards writes the rewards of all states, choices or branches, as kind says.
func (members *umbMembers) writeRewards(name, kind string, reward *drnReward) {
	writer := members.writer
	switch kind {
	case "states":
		members.File(name, int64(writer.model.NumStates())*writer.numberSize, func(out *bufio.Writer) {
			for _, state := range writer.stateOrder {
				writer.writeNumber(out, rewardAt(reward.State, reward.StateRat, int(state)))
			}
		})
	case "choices":
		members.File(name, int64(writer.model.NumChoices())*writer.numberSize, func(out *bufio.Writer) {
			writer.forEachChoice(func(choice, _ int) { writer.writeNumber(out, rewardAt(reward.Choice, reward.ChoiceRat, choice)) })
		})
	case "branches":
		members.File(name, int64(writer.model.NumTransitions())*writer.numberSize, func(out *bufio.Writer) {
			writer.forEachBranch(func(_, transition int) {
				writer.writeNumber(out, rewardAt(reward.transitions.Values, reward.transitions.Rats, transition))
			})
		})
	}
}

// writeValuations writes the packed values of the variables in every state. The first variable has the lowest
// bits.
func (members *umbMembers) writeValuations() {
	writer := members.writer
	members.File(umb.Valuations, int64(writer.valuationSize)*int64(len(writer.stateOrder)), func(out *bufio.Writer) {
		var values []int32
		packed := make([]byte, writer.valuationSize+8)
		for position, state := range writer.stateOrder {
			if position&0xfff == 0 && writer.ctx.Err() != nil {
				return
			}
			values = writer.space.State(values, int(state))
			clear(packed)
			for _, field := range writer.fields {
				field.pack(packed, values[field.slot])
			}
			_, _ = out.Write(packed[:writer.valuationSize])
		}
	})
}

// pack stores a value in the bits of the field. These bits must be zero, and 8 more bytes must follow the
// valuation.
func (field umbField) pack(packed []byte, value int32) {
	mask := uint64(1)<<field.numBits - 1
	shifted := uint64(value) & mask << (field.bitOffset % 8)
	bytes := packed[field.bitOffset/8:]
	binary.LittleEndian.PutUint64(bytes, binary.LittleEndian.Uint64(bytes)|shifted)
}
