package compile

import (
	"math"
	"slices"

	"tilecheck/prism/compile/wasm"
)

// evaluateFailing evaluates the guards that may fail, in every state, as the
// interpreter does; the plan then finds their values in locals.
func (p *movegen) evaluateFailing() {
	for _, c := range p.m.commands {
		guard := p.condition(c.src.Guard)
		if !guard.fails {
			continue
		}
		p.f.Drop(wasm.Expr[int32](func(*wasm.Func) {
			if _, kept := p.local[guard]; kept || guard.isConst() || p.uses[guard] > 1 {
				p.expr(guard)
			} else {
				p.keep(guard, func(*wasm.Func) { p.expr(guard) })
			}
		}))
	}
}

// choose emits the decision which move to make, and the moves themselves. Each
// move's code stands once, behind the end of its own block.
func (p *pathgen) choose() {
	tree := p.planMoves()
	p.notePlan(tree)
	p.arms = make([]wasm.Label, len(p.moves))
	for i := len(p.moves) - 1; i >= 0; i-- {
		p.arms[i] = p.f.Open()
	}
	p.scoped(func() { p.tree(tree) })
	for i := range p.moves {
		p.f.End()
		p.scoped(func() { p.move(&p.moves[i]) })
		p.f.Br(p.step)
	}
}

func (p *movegen) planMoves() *plan {
	pl := &planner{b: p.b, growth: 4*len(p.moves) + 64}
	cands := make([]candidate, len(p.moves))
	for i, mv := range p.moves {
		cands[i] = candidate{i, mv.guard}
	}
	return pl.plan(cands, p.facts)
}

func (p *movegen) notePlan(t *plan) {
	if t.test != nil {
		p.note(t.test)
	}
	for _, c := range t.moves {
		for _, g := range c.guard {
			p.note(g)
		}
	}
	for _, n := range t.next {
		p.notePlan(n)
	}
}

// tree emits a decision tree; every path through it ends in a jump.
func (p *movegen) tree(t *plan) {
	outer := p.facts
	p.facts = t.facts
	defer func() { p.facts = outer }()
	switch {
	case t.test != nil:
		p.f.IfElse(wasm.Void, p.integer(t.test), p.subtree(t.next[0]), p.subtree(t.next[1]))
		p.f.Op(wasm.Unreachable)
	case t.next != nil:
		p.bySlot(t)
	default:
		p.decide(t.moves)
	}
}

func (p *movegen) subtree(t *plan) func() {
	return func() { p.scoped(func() { p.tree(t) }) }
}

// bySlot emits the branch on a variable's value: a jump table if the values are
// dense, else comparisons one after the other.
func (p *movegen) bySlot(t *plan) {
	n := len(t.values)
	if first, last := t.values[0], t.values[n-1]; n > 2 && last-first < int64(2*n+8) {
		p.jumpTable(t, first, last)
		return
	}
	for i, v := range t.values {
		if i == len(t.next)-1 { // no other value is left
			p.subtree(t.next[i])()
			return
		}
		p.f.If(p.slots[t.slot].Eq(whole(v)), p.subtree(t.next[i]))
	}
	p.subtree(t.next[n])()
}

func (p *movegen) jumpTable(t *plan, first, last int64) {
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
	p.f.BrTable(p.slots[t.slot].Sub(whole(first)), table, otherwise)
	for i := range labels {
		p.f.End()
		p.subtree(t.next[i])()
	}
	p.f.Op(wasm.Unreachable)
}

// leaf decides among the moves that the plan left.
func (p *pathgen) leaf(moves []candidate) {
	switch {
	case len(moves) == 0:
		p.f.Br(p.dead)
	case len(moves) == 1:
		for _, g := range moves[0].guard {
			p.branch(g, false, p.dead)
		}
		p.count.Set(p.f, whole(1))
		p.check(moves, nil)
		p.limitSteps()
		p.resolve(moves, nil)
	default:
		bits := p.mask(moves)
		p.countChoices(moves, bits)
		p.check(moves, bits)
		p.limitSteps()
		p.resolve(moves, bits)
	}
}

func (p *pathgen) limitSteps() { p.f.BrIf(p.slow, p.steps.Ge(p.limit)) }

// bitset is one i64 local per 64 moves of a leaf: bit i of word i/64 says that
// move i is enabled. A leaf whose moves all are has none.
type bitset []wasm.Var[int64]

// mask evaluates what is left of the guards into a bitset, nil if nothing is.
func (p *movegen) mask(moves []candidate) bitset {
	if !slices.ContainsFunc(moves, func(c candidate) bool { return len(c.guard) > 0 }) {
		return nil
	}
	moves, gate := p.tabulate(moves)
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
		bits[i].Set(p.f, wide(b))
	}
	p.setBits(moves, open, bits, gate)
	for i := range gate {
		bits[i].Set(p.f, bits[i].And(gate[i]))
	}
	return bits
}

// setBits adds the open moves. Those that ask for values of the same variable
// are tested together, where several ask for one value.
func (p *movegen) setBits(moves []candidate, open []int, bits, gate bitset) {
	for len(open) > 0 {
		slot, value, same, others := sharedValue(moves, open)
		if len(same) < 2 {
			break
		}
		p.f.If(p.slots[slot].Eq(whole(value)), func() {
			p.scoped(func() { p.setBits(without(moves, same, slot, value), same, bits, gate) })
		})
		open = others
	}
	for _, i := range open {
		p.setBit(moves[i].guard, i, bits, gate)
	}
}

// sharedValue finds the variable and value that most of the open moves ask for.
func sharedValue(moves []candidate, open []int) (slot int, value int64, same, others []int) {
	type want struct {
		slot  int
		value int64
	}
	count := map[want]int{}
	best := want{-1, 0}
	for _, i := range open {
		for _, t := range moves[i].guard {
			s, v, ok := fixes(t)
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
		if s, v, ok := fixes(t); ok && s == slot && v == value {
			return true
		}
	}
	return false
}

// without returns the moves with a conjunct on one variable's value removed from some.
func without(moves []candidate, some []int, slot int, value int64) []candidate {
	out := append([]candidate(nil), moves...)
	for _, i := range some {
		var guard []*term
		for _, t := range moves[i].guard {
			if s, v, ok := fixes(t); !ok || s != slot || v != value {
				guard = append(guard, t)
			}
		}
		out[i].guard = guard
	}
	return out
}

// setBit sets bit i if the guard holds. An expensive guard is not looked at
// where the gate is closed.
func (p *movegen) setBit(guard []*term, i int, bits, gate bitset) {
	word, bit := bits[i/64], int64(i%64)
	failing := slices.ContainsFunc(guard, func(t *term) bool { return t.fails })
	switch {
	case failing || p.costOf(chunkCost+1, guard...) > chunkCost:
		p.scoped(func() {
			p.f.Block(func(out wasm.Label) {
				if gate != nil {
					p.f.BrIf(out, gate[i/64].And(wide(1<<bit)).IsZero())
				}
				for _, t := range guard {
					p.branch(t, false, out)
				}
				word.Set(p.f, word.Or(wide(1<<bit)))
			})
		})
	case len(guard) == 0:
		word.Set(p.f, word.Or(wide(1<<bit)))
	default:
		word.Set(p.f, word.Or(wasm.ExtendU(p.together(opAnd, guard)).Shl(bit)))
	}
}

// countChoices sets p.count and leaves for p.dead if it is zero.
func (p *pathgen) countChoices(moves []candidate, bits bitset) {
	if bits == nil {
		p.count.Set(p.f, whole(len(moves)))
		return
	}
	sum := popcount(bits[0])
	for _, w := range bits[1:] {
		sum = sum.Add(popcount(w))
	}
	p.f.BrIf(p.dead, p.count.Tee(wasm.Wrap(sum)).IsZero())
}

func popcount(word wasm.Var[int64]) wasm.Expr[int64] {
	return wasm.Convert[int64](wasm.I64Popcnt, word)
}

// enabled is whether one of the leaf's moves that satisfy a predicate is
// enabled, nil if there is none; with nil bits every move is.
func (p *pathgen) enabled(moves []candidate, bits bitset, which func(*move) bool) (cond wasm.Expr[int32], always bool) {
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
		switch part := bits[i].And(wide(m)); {
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
	return found.Ne(wide(0)), false
}

// check evaluates and checks the weights of every command that takes part in
// an enabled move. Constant ones were checked beforehand.
func (p *pathgen) check(moves []candidate, bits bitset) {
	for _, c := range p.m.commands {
		if p.fixed[c] != nil {
			continue
		}
		cond, always := p.enabled(moves, bits, func(mv *move) bool { return slices.Contains(mv.members, c) })
		switch {
		case always:
			p.weigh(c)
		case cond != nil:
			p.f.If(cond, func() { p.scoped(func() { p.weigh(c) }) })
		}
	}
}

// weigh is expander.weigh: it leaves a command's weights in their locals.
func (p *movegen) weigh(c *command) {
	f := p.f
	if p.wrong(c) {
		f.Br(p.bail)
		return
	}
	sum, least := wasm.Local[float64](f), wasm.Local[float64](f)
	sum.Set(f, number(0))
	least.Set(f, number(0))
	probs := make([]*term, len(c.updates))
	for i := range c.updates {
		probs[i] = p.facts.simplify(p.probability(c, i))
		p.note(probs[i])
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

// evaluateArms evaluates beforehand what several probabilities have for an arm
// of ?:, as in (x=0 ? p/n : 0) and (y=0 ? p/n : 0).
func (p *movegen) evaluateArms(probs []*term) {
	met := map[*term]bool{}
	for _, t := range probs {
		if t.op != opIte {
			continue
		}
		for _, arm := range t.args[1:] {
			_, known := p.local[arm]
			if met[arm] && !known && !arm.fails && arm.cost > 0 {
				p.f.Drop(p.double(arm)) // which keeps it: it has several uses
			}
			met[arm] = true
		}
	}
}

// checkSum bails out unless no weight was negative and the sum is what it has
// to be. That it is finite includes that every weight was.
func (p *movegen) checkSum(sum, least wasm.Var[float64]) {
	fine := least.Ge(number(0))
	if p.m.continuous() {
		fine = fine.And(sum.Gt(number(0)).And(sum.Le(number(math.MaxFloat64))))
	} else {
		off := wasm.Local[float64](p.f)
		fine = fine.And(off.Tee(sum.Sub(number(1)).Div(sum)).Lt(number(SumTolerance)).And(off.Gt(number(-SumTolerance))))
	}
	p.f.BrIf(p.bail, fine.IsZero())
}

func (p *movegen) probability(c *command, i int) *term {
	if e := c.src.Updates[i].Prob; e != nil {
		return p.b.num(e)
	}
	return p.g.number(1)
}

// resolve picks one of the enabled moves and jumps to its code.
func (p *pathgen) resolve(moves []candidate, bits bitset) {
	switch {
	case p.m.continuous():
		p.race(moves, bits)
	case len(moves) == 1:
		p.f.Br(p.arms[moves[0].move])
	case bits == nil:
		p.nondeterminism()
		p.drawBelow()
		p.jumpTo(moves, p.pick)
	default:
		p.resolveBits(moves, bits)
	}
}

func (p *pathgen) nondeterminism() { p.nondet.Set(p.f, p.nondet.Add(wide(1))) }

func (p *pathgen) jumpTo(moves []candidate, index wasm.Operand[int32]) {
	labels := make([]wasm.Label, len(moves))
	for i, c := range moves {
		labels[i] = p.arms[c.move]
	}
	p.f.BrTable(index, labels, labels[len(labels)-1])
}

// resolveBits draws a rank if there is more than one enabled move, and finds
// the move of that rank.
func (p *pathgen) resolveBits(moves []candidate, bits bitset) {
	f := p.f
	p.pick.Set(f, whole(0))
	f.If(p.count.Ne(whole(1)), func() {
		p.nondeterminism()
		p.drawBelow()
	})
	for i, w := range bits {
		part := moves[i*64 : min(i*64+64, len(moves))]
		if i == len(bits)-1 {
			p.nth(part, w)
			return
		}
		n := wasm.Local[int32](f)
		f.If(p.pick.LtU(n.Tee(wasm.Wrap(popcount(w)))), func() { p.nth(part, w) })
		p.pick.Set(f, p.pick.Sub(n))
	}
}

// nth jumps to the move of rank p.pick in one word.
func (p *pathgen) nth(moves []candidate, word wasm.Var[int64]) {
	f := p.f
	f.Block(func(done wasm.Label) {
		f.Loop(func(again wasm.Label) {
			f.BrIf(done, p.pick.IsZero())
			word.Set(f, withoutLowest(word))
			p.pick.Set(f, p.pick.Sub(whole(1)))
			f.Br(again)
		})
	})
	p.jumpTo(moves, lowest(word))
}

// lowest is the number of the lowest bit of a word, withoutLowest the word without it.
func lowest(word wasm.Var[int64]) wasm.Expr[int32] {
	return wasm.Wrap(wasm.Convert[int64](wasm.I64Ctz, word))
}

func withoutLowest(word wasm.Var[int64]) wasm.Expr[int64] { return word.And(word.Sub(wide(1))) }

// race is interpreter.race: it sets p.rate to the total rate and, with more
// than one choice, draws the move and leaves the rest for its updates in p.rest.
func (p *pathgen) race(moves []candidate, bits bitset) {
	f := p.f
	totals := make([]wasm.Var[float64], len(moves))
	p.rate.Set(f, number(0))
	for i, c := range moves {
		totals[i] = wasm.Local[float64](f)
		p.ifEnabled(i, bits, func() {
			p.rate.Set(f, totals[i].Tee(p.total(&p.moves[c.move])).Add(p.rate))
		})
	}
	f.BrIf(p.bail, p.rate.Le(number(math.MaxFloat64)).IsZero())
	if len(moves) == 1 {
		f.Br(p.arms[moves[0].move])
		return
	}
	f.If(p.count.Ne(whole(1)), func() { p.rest.Set(f, p.drawUnit().Mul(p.rate)) })
	for i, c := range moves {
		p.ifEnabled(i, bits, func() { p.tryMove(c.move, i, totals[i]) })
	}
	p.rest.Set(f, number(math.Inf(1))) // rounding: the last one
	p.jumpTo(moves, p.pick)
}

// tryMove jumps to a move if the rest is below its rate or it is the only one,
// and else subtracts it.
func (p *pathgen) tryMove(move, index int, total wasm.Var[float64]) {
	p.f.BrIf(p.arms[move], p.rest.Lt(total).Or(p.count.Eq(whole(1))))
	p.rest.Set(p.f, p.rest.Sub(total))
	p.pick.Set(p.f, whole(index))
}

func (p *pathgen) ifEnabled(i int, bits bitset, emit func()) {
	if bits == nil {
		emit()
		return
	}
	p.f.If(isSet(bits[i/64], i%64), func() { p.scoped(emit) })
}

// isSet is whether a word has a bit.
func isSet(word wasm.Var[int64], bit int) wasm.Expr[int32] {
	return word.And(wide(1 << bit)).IsZero().IsZero()
}
