package compile

import (
	"math"
	"slices"

	"tilecheck/prism/compile/wasm"
)

// evaluateFailing evaluates in every state the guards that may fail, as the interpreter does. The decision tree then finds their
// values in locals.
func (p *moveGenerator) evaluateFailing() {
	for _, c := range p.m.commands {
		guard := p.condition(c.src.Guard)
		if !guard.fails {
			continue
		}
		p.f.Drop(wasm.Expr[int32](func(*wasm.Func) {
			if _, kept := p.local[guard]; kept || guard.isConst() || p.uses[guard] > 1 {
				p.expr(guard)
			} else {
				p.keepInLocal(guard, func(*wasm.Func) { p.expr(guard) })
			}
		}))
	}
}

// choose emits the decision tree and the code of the moves. Each move's code is emitted once, after the end of its own block.
func (p *pathGenerator) choose() {
	tree := p.buildTree()
	p.countTreeUses(tree)
	p.moveLabels = make([]wasm.Label, len(p.moves))
	for i := len(p.moves) - 1; i >= 0; i-- {
		p.moveLabels[i] = p.f.Open()
	}
	p.scoped(func() { p.emitTree(tree) })
	for i := range p.moves {
		p.f.End()
		p.scoped(func() { p.move(&p.moves[i]) })
		p.f.Br(p.step)
	}
}

func (p *moveGenerator) buildTree() *decisionTree {
	pl := &treeBuilder{b: p.b, growth: 4*len(p.moves) + 64}
	cands := make([]candidate, len(p.moves))
	for i, mv := range p.moves {
		cands[i] = candidate{i, mv.guard}
	}
	return pl.build(cands, p.facts)
}

func (p *moveGenerator) countTreeUses(t *decisionTree) {
	if t.test != nil {
		p.countUses(t.test)
	}
	for _, c := range t.moves {
		for _, g := range c.guard {
			p.countUses(g)
		}
	}
	for _, n := range t.next {
		p.countTreeUses(n)
	}
}

// emitTree emits a decision tree. Every path through it ends in a jump.
func (p *moveGenerator) emitTree(t *decisionTree) {
	outer := p.facts
	p.facts = t.facts
	defer func() { p.facts = outer }()
	switch {
	case t.test != nil:
		p.f.IfElse(wasm.Void, p.integer(t.test), p.emitSubtree(t.next[0]), p.emitSubtree(t.next[1]))
		p.f.Op(wasm.Unreachable)
	case t.next != nil:
		p.emitVariableSwitch(t)
	default:
		p.emitLeaf(t.moves)
	}
}

func (p *moveGenerator) emitSubtree(t *decisionTree) func() {
	return func() { p.scoped(func() { p.emitTree(t) }) }
}

// emitVariableSwitch emits the branch on a variable's value: a jump table if the values are dense, otherwise a sequence of comparisons.
func (p *moveGenerator) emitVariableSwitch(t *decisionTree) {
	n := len(t.values)
	if first, last := t.values[0], t.values[n-1]; n > 2 && last-first < int64(2*n+8) {
		p.emitJumpTable(t, first, last)
		return
	}
	for i, v := range t.values {
		if i == len(t.next)-1 { // no other value is left
			p.emitSubtree(t.next[i])()
			return
		}
		p.f.If(p.slots[t.slot].Eq(constI32(v)), p.emitSubtree(t.next[i]))
	}
	p.emitSubtree(t.next[n])()
}

func (p *moveGenerator) emitJumpTable(t *decisionTree, first, last int64) {
	labels := make([]wasm.Label, len(t.next))
	for i := range labels {
		labels[len(labels)-1-i] = p.f.Open()
	}
	otherwise := labels[len(labels)-1]
	table := make([]wasm.Label, last-first+1)
	for i := range table {
		table[i] = otherwise
	}
	for i, v := range t.values {
		table[v-first] = labels[i]
	}
	p.f.BrTable(p.slots[t.slot].Sub(constI32(first)), table, otherwise)
	for i := range labels {
		p.f.End()
		p.emitSubtree(t.next[i])()
	}
	p.f.Op(wasm.Unreachable)
}

// decideLeaf emits the decision among the moves that remain in a leaf of the tree.
func (p *pathGenerator) decideLeaf(moves []candidate) {
	switch {
	case len(moves) == 0:
		p.f.Br(p.deadlockLabel)
	case len(moves) == 1:
		for _, g := range moves[0].guard {
			p.branch(g, false, p.deadlockLabel)
		}
		p.count.Set(p.f, constI32(1))
		p.check(moves, nil)
		p.leaveIfOutOfBudget()
		p.resolve(moves, nil)
	default:
		bits := p.evaluateGuards(moves)
		p.countChoices(moves, bits)
		p.check(moves, bits)
		p.leaveIfOutOfBudget()
		p.resolve(moves, bits)
	}
}

func (p *pathGenerator) leaveIfOutOfBudget() { p.f.BrIf(p.outOfBudget, p.steps.Ge(p.limit)) }

// bitset is one i64 local per 64 moves of a leaf: bit i%64 of word i/64 says that move i is enabled. nil means that all moves
// are enabled.
type bitset []wasm.Var[int64]

// evaluateGuards evaluates the remaining guards into a bitset; nil if no guards remain.
func (p *moveGenerator) evaluateGuards(moves []candidate) bitset {
	if !slices.ContainsFunc(moves, func(c candidate) bool { return len(c.guard) > 0 }) {
		return nil
	}
	moves, gate := p.buildTables(moves)
	sure := make([]int64, (len(moves)+63)/64)
	var open []int
	for i, c := range moves {
		if len(c.guard) == 0 {
			sure[i/64] |= 1 << (i % 64)
		} else {
			open = append(open, i)
		}
	}
	bits := make(bitset, len(sure))
	for i, b := range sure {
		for len(p.words) <= i {
			p.words = append(p.words, wasm.Local[int64](p.f))
		}
		bits[i] = p.words[i]
		bits[i].Set(p.f, constI64(b))
	}
	p.setBits(moves, open, bits, gate)
	for i := range gate {
		bits[i].Set(p.f, bits[i].And(gate[i]))
	}
	return bits
}

// setBits sets the bits of the open moves. Moves that test for the same value of a variable are evaluated together, under one test.
func (p *moveGenerator) setBits(moves []candidate, open []int, bits, gate bitset) {
	for len(open) > 0 {
		slot, value, same, others := sharedValue(moves, open)
		if len(same) < 2 {
			break
		}
		p.f.If(p.slots[slot].Eq(constI32(value)), func() {
			p.scoped(func() { p.setBits(without(moves, same, slot, value), same, bits, gate) })
		})
		open = others
	}
	for _, i := range open {
		p.setBit(moves[i].guard, i, bits, gate)
	}
}

// sharedValue returns the variable and value that most of the open moves test for, and splits the moves accordingly.
func sharedValue(moves []candidate, open []int) (slot int, value int64, same, others []int) {
	type want struct {
		slot  int
		value int64
	}
	count := map[want]int{}
	best := want{-1, 0}
	for _, i := range open {
		for _, t := range moves[i].guard {
			s, v, ok := variableValueOf(t)
			if !ok {
				continue
			}
			w := want{s, v}
			if count[w]++; best.slot < 0 || count[w] > count[best] {
				best = w
			}
		}
	}
	for _, i := range open {
		if asksFor(moves[i], best.slot, best.value) {
			same = append(same, i)
		} else {
			others = append(others, i)
		}
	}
	return best.slot, best.value, same, others
}

func asksFor(c candidate, slot int, value int64) bool {
	for _, t := range c.guard {
		if s, v, ok := variableValueOf(t); ok && s == slot && v == value {
			return true
		}
	}
	return false
}

// without returns the moves, where some lose their conjunct on a variable's value.
func without(moves []candidate, some []int, slot int, value int64) []candidate {
	out := append([]candidate(nil), moves...)
	for _, i := range some {
		var guard []*term
		for _, t := range moves[i].guard {
			if s, v, ok := variableValueOf(t); !ok || s != slot || v != value {
				guard = append(guard, t)
			}
		}
		out[i].guard = guard
	}
	return out
}

// setBit sets bit i if the guard holds. An expensive guard is evaluated only if the gate has the bit.
func (p *moveGenerator) setBit(guard []*term, i int, bits, gate bitset) {
	word, bit := bits[i/64], int64(i%64)
	failing := slices.ContainsFunc(guard, func(t *term) bool { return t.fails })
	switch {
	case failing || p.costOf(chunkCost+1, guard...) > chunkCost:
		p.scoped(func() {
			p.f.Block(func(out wasm.Label) {
				if gate != nil {
					p.f.BrIf(out, gate[i/64].And(constI64(1<<bit)).IsZero())
				}
				for _, t := range guard {
					p.branch(t, false, out)
				}
				word.Set(p.f, word.Or(constI64(1<<bit)))
			})
		})
	case len(guard) == 0:
		word.Set(p.f, word.Or(constI64(1<<bit)))
	default:
		word.Set(p.f, word.Or(wasm.ExtendU(p.evaluateAll(opAnd, guard)).Shl(bit)))
	}
}

// countChoices sets p.count, and jumps to p.deadlockLabel if it is zero.
func (p *pathGenerator) countChoices(moves []candidate, bits bitset) {
	if bits == nil {
		p.count.Set(p.f, constI32(len(moves)))
		return
	}
	sum := popcount(bits[0])
	for _, w := range bits[1:] {
		sum = sum.Add(popcount(w))
	}
	p.f.BrIf(p.deadlockLabel, p.count.Tee(wasm.Wrap(sum)).IsZero())
}

func popcount(word wasm.Var[int64]) wasm.Expr[int64] {
	return wasm.Convert[int64](wasm.I64Popcnt, word)
}

// enabled emits whether a move that satisfies which is enabled. cond is nil if no move satisfies it; always says that such a
// move is enabled in any case.
func (p *pathGenerator) enabled(moves []candidate, bits bitset, which func(*commandSet) bool) (cond wasm.Expr[int32], always bool) {
	masks := make([]int64, len(bits))
	for i, c := range moves {
		if !which(&p.moves[c.move]) {
			continue
		}
		if bits == nil {
			return nil, true
		}
		masks[i/64] |= 1 << (i % 64)
	}
	var found wasm.Expr[int64]
	for i, m := range masks {
		switch part := bits[i].And(constI64(m)); {
		case m == 0:
		case found == nil:
			found = part
		default:
			found = found.Or(part)
		}
	}
	if found == nil {
		return nil, false
	}
	return found.Ne(constI64(0)), false
}

// check evaluates and checks the weights of every command that participates in an enabled move. Constant weights were checked
// when the code was generated.
func (p *pathGenerator) check(moves []candidate, bits bitset) {
	for _, c := range p.m.commands {
		if p.constantWeights[c] != nil {
			continue
		}
		cond, always := p.enabled(moves, bits, func(mv *commandSet) bool { return slices.Contains(mv.members, c) })
		switch {
		case always:
			p.weigh(c)
		case cond != nil:
			p.f.If(cond, func() { p.scoped(func() { p.weigh(c) }) })
		}
	}
}

// weigh is expander.weigh: it stores a command's weights in their locals.
func (p *moveGenerator) weigh(c *command) {
	f := p.f
	if p.hasInvalidWeights(c) {
		f.Br(p.bail)
		return
	}
	sum, least := wasm.Local[float64](f), wasm.Local[float64](f)
	sum.Set(f, constF64(0))
	least.Set(f, constF64(0))
	probs := make([]*term, len(c.updates))
	for i := range c.updates {
		probs[i] = p.facts.simplify(p.probability(c, i))
		p.countUses(probs[i])
	}
	p.evaluateArms(probs)
	for i, t := range probs {
		weight := p.weights[c][i]
		sum.Set(f, weight.Tee(p.double(t)).Add(sum))
		if t.nan || t.flo < 0 {
			least.Set(f, least.Min(weight))
		}
	}
	p.checkSum(sum, least)
}

// evaluateArms evaluates in advance the arms of ?: that several probabilities share, as in (x=0 ? p/n : 0) and (y=0 ? p/n : 0).
func (p *moveGenerator) evaluateArms(probs []*term) {
	met := map[*term]bool{}
	for _, t := range probs {
		if t.op != opIte {
			continue
		}
		for _, arm := range t.args[1:] {
			_, known := p.local[arm]
			if met[arm] && !known && !arm.fails && arm.cost > 0 {
				p.f.Drop(p.double(arm)) // double keeps it in a local, since it has several uses
			}
			met[arm] = true
		}
	}
}

// checkSum bails out if a weight was negative or the sum is invalid. A finite sum implies that every weight is finite.
func (p *moveGenerator) checkSum(sum, least wasm.Var[float64]) {
	fine := least.Ge(constF64(0))
	if p.m.continuous() {
		fine = fine.And(sum.Gt(constF64(0)).And(sum.Le(constF64(math.MaxFloat64))))
	} else {
		off := wasm.Local[float64](p.f)
		fine = fine.And(off.Tee(sum.Sub(constF64(1)).Div(sum)).Lt(constF64(SumTolerance)).And(off.Gt(constF64(-SumTolerance))))
	}
	p.f.BrIf(p.bail, fine.IsZero())
}

func (p *moveGenerator) probability(c *command, i int) *term {
	if e := c.src.Updates[i].Prob; e != nil {
		return p.b.num(e)
	}
	return p.g.number(1)
}

// resolve picks one of the enabled moves and jumps to its code.
func (p *pathGenerator) resolve(moves []candidate, bits bitset) {
	switch {
	case p.m.continuous():
		p.raceByRate(moves, bits)
	case len(moves) == 1:
		p.f.Br(p.moveLabels[moves[0].move])
	case bits == nil:
		p.nondeterminism()
		p.drawBelow()
		p.jumpTo(moves, p.picked)
	default:
		p.resolveBits(moves, bits)
	}
}

func (p *pathGenerator) nondeterminism() { p.nondet.Set(p.f, p.nondet.Add(constI64(1))) }

func (p *pathGenerator) jumpTo(moves []candidate, index wasm.Operand[int32]) {
	labels := make([]wasm.Label, len(moves))
	for i, c := range moves {
		labels[i] = p.moveLabels[c.move]
	}
	p.f.BrTable(index, labels, labels[len(labels)-1])
}

// resolveBits draws a rank if several moves are enabled, and jumps to the move of that rank.
func (p *pathGenerator) resolveBits(moves []candidate, bits bitset) {
	f := p.f
	p.picked.Set(f, constI32(0))
	f.If(p.count.Ne(constI32(1)), func() {
		p.nondeterminism()
		p.drawBelow()
	})
	for i, w := range bits {
		part := moves[i*64 : min(i*64+64, len(moves))]
		if i == len(bits)-1 {
			p.jumpToRank(part, w)
			return
		}
		n := wasm.Local[int32](f)
		f.If(p.picked.LtU(n.Tee(wasm.Wrap(popcount(w)))), func() { p.jumpToRank(part, w) })
		p.picked.Set(f, p.picked.Sub(n))
	}
}

// jumpToRank jumps to the move of rank p.picked in one word.
func (p *pathGenerator) jumpToRank(moves []candidate, word wasm.Var[int64]) {
	f := p.f
	f.Block(func(done wasm.Label) {
		f.Loop(func(again wasm.Label) {
			f.BrIf(done, p.picked.IsZero())
			word.Set(f, withoutLowest(word))
			p.picked.Set(f, p.picked.Sub(constI32(1)))
			f.Br(again)
		})
	})
	p.jumpTo(moves, lowest(word))
}

// lowest emits the index of the lowest set bit, and withoutLowest the word without that bit.
func lowest(word wasm.Var[int64]) wasm.Expr[int32] {
	return wasm.Wrap(wasm.Convert[int64](wasm.I64Ctz, word))
}

func withoutLowest(word wasm.Var[int64]) wasm.Expr[int64] { return word.And(word.Sub(constI64(1))) }

// raceByRate is interpreter.race: it sets p.rate to the total rate. With more than one choice it draws the move, and leaves the
// remainder for its updates in p.rest.
func (p *pathGenerator) raceByRate(moves []candidate, bits bitset) {
	f := p.f
	totals := make([]wasm.Var[float64], len(moves))
	p.rate.Set(f, constF64(0))
	for i, c := range moves {
		totals[i] = wasm.Local[float64](f)
		p.ifEnabled(i, bits, func() {
			p.rate.Set(f, totals[i].Tee(p.totalRate(&p.moves[c.move])).Add(p.rate))
		})
	}
	f.BrIf(p.bail, p.rate.Le(constF64(math.MaxFloat64)).IsZero())
	if len(moves) == 1 {
		f.Br(p.moveLabels[moves[0].move])
		return
	}
	f.If(p.count.Ne(constI32(1)), func() { p.rest.Set(f, p.drawUnit().Mul(p.rate)) })
	for i, c := range moves {
		p.ifEnabled(i, bits, func() { p.tryMove(c.move, i, totals[i]) })
	}
	p.rest.Set(f, constF64(math.Inf(1))) // because of rounding: take the last enabled move
	p.jumpTo(moves, p.picked)
}

// tryMove jumps to a move if p.rest is below its rate or it is the only one; otherwise it subtracts the rate.
func (p *pathGenerator) tryMove(move, index int, total wasm.Var[float64]) {
	p.f.BrIf(p.moveLabels[move], p.rest.Lt(total).Or(p.count.Eq(constI32(1))))
	p.rest.Set(p.f, p.rest.Sub(total))
	p.picked.Set(p.f, constI32(index))
}

func (p *pathGenerator) ifEnabled(i int, bits bitset, emit func()) {
	if bits == nil {
		emit()
		return
	}
	p.f.If(isSet(bits[i/64], i%64), func() { p.scoped(emit) })
}

// isSet emits whether a bit of a word is set.
func isSet(word wasm.Var[int64], bit int) wasm.Expr[int32] {
	return word.And(constI64(1 << bit)).IsZero().IsZero()
}
