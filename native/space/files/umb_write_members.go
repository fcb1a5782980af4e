package files

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"strings"

	"tilecheck/internal/umb"
	"tilecheck/prism/syntax"
)

// umbMembers writes the members of a UMB archive.
type umbMembers struct {
	*umb.Writer
	writer *umbWriter
}

// writeChoiceRows writes a member with the index of the first branch of each choice, and at the end the number of all branches.
func (members *umbMembers) writeChoiceRows() {
	writer := members.writer
	members.File(umb.ChoiceRows, int64(8*(writer.model.NumChoices()+1)), func(out *bufio.Writer) {
		offset := uint64(0)
		umb.PutUint64(out, offset)
		writer.forEachChoice(func(choice, _ int) {
			first, end := writer.model.Transitions(choice)
			offset += uint64(end - first)
			umb.PutUint64(out, offset)
		})
	})
}

// writeProbabilities writes a member with the probability of each branch. In an interval model it has the lower and the upper bound.
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
				writer.writeNumber(out, number{fraction: writer.model.HighFraction(transition)})
			}
		})
	})
}

// writeStateColumns writes the members with a number for each state: the players in a game, and the exit rates in a CTMC or a Markov
// automaton.
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

// writeOffsets writes a member with the offset of each state's entries in another member. length returns a state's
// number of entries.
func (members *umbMembers) writeOffsets(name string, length func(state int) int) {
	members.Offsets(name, len(members.writer.stateOrder), func(position int) int { return length(int(members.writer.stateOrder[position])) })
}

// writeBits writes a member with a set of states as a bit vector.
func (members *umbMembers) writeBits(name string, isSet func(state int) bool) {
	members.Bits(name, len(members.writer.stateOrder), func(position int) bool { return isSet(int(members.writer.stateOrder[position])) })
}

// writeActions writes the names of the actions, and the number of the action of each choice. In a Markov chain, in which choices have no actions, it writes
// the number of the action of each branch.
func (members *umbMembers) writeActions() {
	writer := members.writer
	if len(writer.actions) == 0 {
		return
	}
	if writer.isNondeterministic() {
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
		number = writer.numberOfAction[name]
	}
	_, _ = out.Write(binary.LittleEndian.AppendUint32(out.AvailableBuffer(), uint32(number)))
}

// writeStrings writes a list of texts as two members of the folder dir. The member strings.bin is the concatenation of all texts. The member
// string-mapping.bin has the offset in strings.bin at which each text starts, and at last the total length, each as 8 bytes.
func (members *umbMembers) writeStrings(dir string, texts []string) {
	numOffsets := len(texts) + 1
	members.File(dir+"string-mapping.bin", int64(8*numOffsets), func(out *bufio.Writer) {
		offset := uint64(0)
		umb.PutUint64(out, offset)
		for _, text := range texts {
			offset += uint64(len(text))
			umb.PutUint64(out, offset)
		}
	})
	allTexts := strings.Join(texts, "")
	members.File(dir+"strings.bin", int64(len(allTexts)), func(out *bufio.Writer) {
		_, _ = out.WriteString(allTexts)
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

// writeRewards writes a member with rewards of a reward structure: those of all states, of all choices or of all branches, as kind says.
func (members *umbMembers) writeRewards(name, kind string, reward *drnReward) {
	writer := members.writer
	switch kind {
	case "states":
		members.File(name, int64(writer.model.NumStates())*writer.numberSize, func(out *bufio.Writer) {
			for _, state := range writer.stateOrder {
				writer.writeNumber(out, rewardAt(reward.State, reward.StateFractions, int(state)))
			}
		})
	case "choices":
		members.File(name, int64(writer.model.NumChoices())*writer.numberSize, func(out *bufio.Writer) {
			writer.forEachChoice(func(choice, _ int) { writer.writeNumber(out, rewardAt(reward.Choice, reward.ChoiceFractions, choice)) })
		})
	case "branches":
		members.File(name, int64(writer.model.NumTransitions())*writer.numberSize, func(out *bufio.Writer) {
			writer.forEachBranch(func(_, transition int) {
				writer.writeNumber(out, rewardAt(reward.transitionRewards.Values, reward.transitionRewards.Fractions, transition))
			})
		})
	}
}

// writeValuations writes a member with the packed values of the variables in each state. The first variable has the lowest bits.
func (members *umbMembers) writeValuations() {
	writer := members.writer
	members.File(umb.Valuations, int64(writer.valuationSize)*int64(len(writer.stateOrder)), func(out *bufio.Writer) {
		var values []int32
		packed := make([]byte, writer.valuationSize+8)
		for position, state := range writer.stateOrder {
			if position%pollInterval == 0 && writer.ctx.Err() != nil {
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
