package elimination

import (
	"context"
	"encoding/binary"
	"math/big"
	"slices"
)

// maxSteps is the largest number of steps of all paths, and maxEnds that of different ends of the paths of a command.
const (
	maxSteps = 1 << 23
	maxEnds  = 1 << 17
)

// paths follows the paths that begin with one command, through the states that are eliminated.
type paths struct {
	*eliminator
	extended
	ends              map[string]int // index into outcomes, by the values at the end of the path
	stopsBeforeReward bool           // paths end before a state or step with a reward
	differs           bool           // two paths have different rewards
	isLonger          bool           // a path is longer than one step
}

// extend returns a command that goes on with the commands that follow it, as long as the states in between can be eliminated. The ends of these paths are its
// outcomes. All paths must earn equal rewards; otherwise each path ends before its first reward. A command that cannot be extended keeps its updates.
func (e *eliminator) extend(ctx context.Context, start *command) extended {
	for _, stopsBeforeReward := range []bool{false, true} {
		if e.isFixed[start.index] {
			break
		}
		candidate := &paths{eliminator: e, extended: extended{command: start}, ends: map[string]int{}, stopsBeforeReward: stopsBeforeReward}
		candidate.followUpdates(ctx)
		if ctx.Err() == nil && !candidate.isTooLong() && candidate.isLonger {
			return candidate.extended
		}
	}
	result := extended{command: start}
	for i := range start.Updates {
		after, _ := e.after(start, i, start.guard)
		result.outcomes = append(result.outcomes, outcome{source: &start.Updates[i], after: after})
	}
	return result
}

// isTooLong reports whether the command cannot be extended by the paths: there are too many, or their rewards differ.
func (p *paths) isTooLong() bool { return p.differs || p.steps > maxSteps || len(p.outcomes) > maxEnds }

// newZeros returns a list of zeros.
func newZeros(count int) []*big.Rat {
	zeros := make([]*big.Rat, count)
	for i := range zeros {
		zeros[i] = new(big.Rat)
	}
	return zeros
}

// followUpdates follows the paths that begin with each update of the command. If the values after an update or its probability are not known, its path ends at
// once.
func (p *paths) followUpdates(ctx context.Context) {
	zeros := newZeros(len(p.observed.rewards))
	for i := range p.Updates {
		source := &p.Updates[i]
		after, isKnown := p.after(p.command, i, p.guard)
		weight, isFraction := p.fraction(source.Prob, p.guard)
		if isKnown && isFraction {
			p.follow(ctx, outcome{weight, source, after, nil}, zeros, []int{p.index})
			continue
		}
		p.outcomes = append(p.outcomes, outcome{nil, source, after, nil})
		p.endWith(zeros)
	}
}

// follow continues a path with the command that must follow, or ends the path. last is the outcome of the path so far, rewards are the rewards so far, and
// takenCommands are the commands so far. A path takes no command twice, so every path ends.
func (p *paths) follow(ctx context.Context, last outcome, rewards []*big.Rat, takenCommands []int) {
	p.steps++
	if p.isTooLong() || ctx.Err() != nil {
		return
	}
	next, earned := p.next(last.after, takenCommands)
	if next == nil {
		p.end(last)
		p.endWith(rewards)
		return
	}
	p.isLonger = true
	for i, reward := range rewards {
		earned[i].Add(earned[i], reward)
	}
	takenCommands = append(slices.Clip(takenCommands), next.index)
	for i := range next.Updates {
		after, _ := p.after(next, i, last.after)
		probability, _ := p.fraction(next.Updates[i].Prob, last.after)
		p.follow(ctx, outcome{new(big.Rat).Mul(last.weight, probability), last.source, after, nil}, earned, takenCommands)
	}
}

// next returns the only command that can follow in a state, with the rewards that the state and the command earn. It returns nil if the state cannot be
// eliminated: another command may be enabled, the property can distinguish the state from the first one, or a next value is not known.
func (p *paths) next(state valuation, takenCommands []int) (next *command, earned []*big.Rat) {
	for i := range p.commands {
		command := &p.commands[i]
		if !p.mayBeEnabled(command, state) {
			continue
		}
		if guard, ok := p.integer(command.Guard, state); !ok || guard != 1 || next != nil {
			return nil, nil
		}
		next = command
	}
	if next == nil || slices.Contains(takenCommands, next.index) || !p.looksLikeStart(state) || !p.isDeterminedStep(next, state) {
		return nil, nil
	}
	earned, ok := p.earned(next, state)
	if !ok {
		return nil, nil
	}
	return next, earned
}

// looksLikeStart reports whether the property cannot distinguish a state from the state in which the path begins.
func (p *paths) looksLikeStart(state valuation) bool {
	for _, formula := range p.observed.formulas {
		if p.isUnchanged(p.slotsOf(formula), state) {
			continue
		}
		first, isFirstKnown := p.integer(formula, p.guard)
		now, isKnown := p.integer(formula, state)
		if !isFirstKnown || !isKnown || first != now {
			return false
		}
	}
	return true
}

// isUnchanged reports whether variables have the values that they have in the first state of the path: unknown ones have not been written.
func (p *paths) isUnchanged(slots []int, state valuation) bool {
	return !slices.ContainsFunc(slots, func(slot int) bool { return state[slot] != p.guard[slot] })
}

// isDeterminedStep reports whether the probabilities of a command are known and their sum is 1, and its updates assign known values in the ranges of
// the variables.
func (p *paths) isDeterminedStep(command *command, state valuation) bool {
	sum := new(big.Rat)
	for i := range command.Updates {
		probability, isFraction := p.fraction(command.Updates[i].Prob, state)
		_, isKnown := p.after(command, i, state)
		if !isFraction || !isKnown || probability.Sign() < 0 {
			return false
		}
		sum.Add(sum, probability)
	}
	return sum.Cmp(big.NewRat(1, 1)) == 0
}

// after returns the valuation after an update of a command. isKnown reports whether all assigned values are known and in the ranges of their
// variables.
func (e *eliminator) after(command *command, update int, state valuation) (after valuation, isKnown bool) {
	after, isKnown = slices.Clone(state), true
	for _, assign := range command.Updates[update].Assigns {
		variable := &e.program.Vars[assign.Slot]
		value, ok := e.integer(assign.Value, state)
		if ok && value >= variable.Low && value <= variable.High {
			after[assign.Slot] = knownValue(value)
		} else {
			after[assign.Slot], isKnown = knowledge{}, false
		}
	}
	return after, isKnown
}

// earned returns the rewards of a state and of a command in it, one sum for each reward structure that the property uses. ok is false if a reward cannot be
// computed from the known values, or if the path must end before its first reward and a sum is not 0.
func (p *paths) earned(command *command, state valuation) (sums []*big.Rat, ok bool) {
	sums = newZeros(len(p.observed.rewards))
	for i, structure := range p.observed.rewards {
		for j := range p.program.Rewards[structure].Items {
			item := &p.program.Rewards[structure].Items[j]
			if item.IsTransition && item.Action != command.Action {
				continue
			}
			holds, isKnown := p.integer(item.Guard, state)
			if !isKnown {
				return nil, false
			}
			if holds == 0 {
				continue
			}
			reward, isFraction := p.fraction(item.Value, state)
			if !isFraction || reward.Sign() < 0 {
				return nil, false
			}
			sums[i].Add(sums[i], reward)
		}
		if p.stopsBeforeReward && sums[i].Sign() != 0 {
			return nil, false
		}
	}
	return sums, true
}

// end adds an outcome of a path. Paths that end with the same values become one outcome.
func (p *paths) end(last outcome) {
	key := valuationKey(last.after)
	if index, ok := p.ends[key]; ok {
		p.outcomes[index].weight = new(big.Rat).Add(last.weight, p.outcomes[index].weight)
		return
	}
	p.ends[key] = len(p.outcomes)
	p.outcomes = append(p.outcomes, last)
}

// endWith compares the rewards of the path that ends with those of the paths before.
func (p *paths) endWith(rewards []*big.Rat) {
	if p.rewards == nil {
		p.rewards = rewards
	}
	p.differs = p.differs || !slices.EqualFunc(rewards, p.rewards, func(left, right *big.Rat) bool { return left.Cmp(right) == 0 })
}

// valuationKey returns a text that is equal for equal valuations.
func valuationKey(state valuation) string {
	var key []byte
	for _, value := range state {
		if value.isKnown {
			key = binary.AppendVarint(append(key, 1), int64(value.value))
		} else {
			key = append(key, 0)
		}
	}
	return string(key)
}
