package files

import (
	"math/big"
	"math/bits"
	"slices"
	"strconv"

	"tilecheck/internal/umb"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// fillIndex fills the index of the file: the type and the size of the model, its labels and reward structures, and the layout of
// valuations.
func (writer *umbWriter) fillIndex() {
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
		writer.layOutValuations()
	}
}

// numberType returns the type of probabilities, rates and rewards in the file.
func (writer *umbWriter) numberType() *umb.Type {
	if writer.writesFractions {
		return &umb.Type{Type: "rational", Size: uint64(8 * writer.numberSize)}
	}
	return &umb.Type{Type: "double", Size: 64}
}

// systemIndex returns the part of the index with the type of the model, its size, and the types of its numbers.
func (writer *umbWriter) systemIndex() umb.System {
	model := writer.model
	system := umb.System{
		Time: "discrete", States: uint64(model.NumStates()), InitialStates: uint64(len(model.Initial)),
		Choices: uint64(model.NumChoices()), Branches: uint64(model.NumTransitions()),
	}
	if writer.isNondeterministic() {
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
	if writer.isProbabilistic() {
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

// labelIndex returns the part of the index with the labels. It omits init, because the initial states are a separate member of the archive.
// It also omits deadlock if there are no deadlocks.
func (writer *umbWriter) labelIndex() umb.Group {
	var labels umb.Group
	for _, label := range writer.labels {
		hasNoDeadlock := label.Name == "deadlock" && label.States.Empty()
		if label.Name == "init" || hasNoDeadlock {
			continue
		}
		annotation := umb.Annotation{Alias: &label.Name, AppliesTo: []string{"states"}, Type: umb.Type{Type: "bool", Size: 1}}
		labels = append(labels, umb.Named[umb.Annotation]{Name: newIdentifier(label.Name, labels), Value: annotation})
	}
	return labels
}

// newIdentifier returns an identifier for a name. No member of the group has this identifier.
func newIdentifier(name string, group umb.Group) string {
	return umb.Identifier(name, func(identifier string) bool {
		return slices.ContainsFunc(group, func(member umb.Named[umb.Annotation]) bool { return member.Name == identifier })
	})
}

// rewardIndex returns the part of the index with the reward structures. Each has a name, and says which of states, choices and branches
// have rewards.
func (writer *umbWriter) rewardIndex() umb.Group {
	var rewards umb.Group
	for index, reward := range writer.rewards {
		annotation := umb.Annotation{Type: *writer.numberType(), AppliesTo: writer.rewardKinds(reward)}
		identifier := strconv.Itoa(index + 1)
		if reward.Name != "" {
			annotation.Alias = &reward.Name
			identifier = newIdentifier(reward.Name, rewards)
			if _, err := strconv.Atoi(identifier); err == nil { // a number means that there is no name
				identifier = "_" + identifier
			}
		}
		rewards = append(rewards, umb.Named[umb.Annotation]{Name: identifier, Value: annotation})
	}
	return rewards
}

// rewardKinds says to what a reward structure gives rewards that are not all zero: "states", "choices" or "branches". It returns "states"
// if all rewards are zero.
func (writer *umbWriter) rewardKinds(reward *drnReward) []string {
	var kinds []string
	if !writer.areAllZero(reward.State, reward.StateFractions) {
		kinds = append(kinds, "states")
	}
	switch {
	case writer.isNondeterministic() && !writer.areAllZero(reward.Choice, reward.ChoiceFractions):
		kinds = append(kinds, "choices")
	case !writer.isNondeterministic() && !writer.areAllZero(reward.transitionRewards.Values, reward.transitionRewards.Fractions):
		kinds = append(kinds, "branches")
	}
	if len(kinds) == 0 {
		return []string{"states"}
	}
	return kinds
}

// areAllZero reports whether all rewards of a column are zero.
func (writer *umbWriter) areAllZero(values []float64, fractions []*big.Rat) bool {
	for index := range max(len(values), len(fractions)) {
		if value := rewardAt(values, fractions, index); !value.isZero() {
			return false
		}
	}
	return true
}

// layOutValuations chooses the position of each variable in a packed valuation. Variables follow each other bit by bit, and the valuation
// ends with padding to whole bytes.
func (writer *umbWriter) layOutValuations() {
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
}

// packedVariable describes a variable for the index of the file. It has the name, the type with as few bits as the range needs, and the
// declared range.
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
	if declared.Type != sema.Int || declared.IsBounded {
		variable.Lower, variable.Upper = &low, &high
	}
	return variable
}
