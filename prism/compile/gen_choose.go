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
		p.expr(guard)
		if _, kept := p.local[guard]; !kept && !guard.isConst() {
			p.keep(guard)
		}
		p.f.Op(wasm.Drop)
	}
}

// choose emits the decision which move to make, and the moves themselves. Each
// move's code stands once, behind the end of its own block.
func (p *pathgen) choose() {
	tree := p.planMoves()
	p.notePlan(tree)
	p.arms = make([]wasm.Label, len(p.moves))
	for i := len(p.moves) - 1; i >= 0; i-- {
		p.arms[i] = p.f.Block(wasm.Void)
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
		p.expr(t.test)
		p.f.If(wasm.Void)
		p.scoped(func() { p.tree(t.next[0]) })
		p.f.Else()
		p.scoped(func() { p.tree(t.next[1]) })
		p.f.End()
		p.f.Op(wasm.Unreachable)
	case t.next != nil:
		p.bySlot(t)
	default:
		p.decide(t.moves)
	}
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
			p.scoped(func() { p.tree(t.next[i]) })
			return
		}
		p.f.GetGlobal(p.slots[t.slot])
		p.f.I32(int32(v))
		p.f.Op(wasm.I32Eq)
		p.f.If(wasm.Void)
		p.scoped(func() { p.tree(t.next[i]) })
		p.f.End()
	}
	p.scoped(func() { p.tree(t.next[n]) })
}

func (p *movegen) jumpTable(t *plan, first, last int64) {
	labels := make([]wasm.Label, len(t.next))
	for i := range labels {
		labels[len(labels)-1-i] = p.f.Block(wasm.Void)
	}
	otherwise := labels[len(labels)-1]
	table := make([]wasm.Label, last-first+1)
	for i := range table {
		table[i] = otherwise
	}
	for i, v := range t.values {
		table[v-first] = labels[i]
	}
	p.f.GetGlobal(p.slots[t.slot])
	p.f.I32(int32(first))
	p.f.Op(wasm.I32Sub)
	p.f.BrTable(table, otherwise)
	for i := range labels {
		p.f.End()
		p.scoped(func() { p.tree(t.next[i]) })
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
		p.setCount(1)
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

func (p *pathgen) setCount(n int32) {
	p.f.I32(n)
	p.f.Set(p.count)
}

func (p *pathgen) limitSteps() {
	p.f.Get(p.steps)
	p.f.Get(p.limit)
	p.f.Op(wasm.I64GeS)
	p.f.BrIf(p.slow)
}

// bitset is one i64 local per 64 moves of a leaf: bit i of word i/64 says that
// move i is enabled. A leaf whose moves all are has none.
type bitset []uint32

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
			p.words = append(p.words, p.f.Local(wasm.I64))
		}
		bits[i] = p.words[i]
		p.f.I64(b)
		p.f.Set(bits[i])
	}
	p.setBits(moves, open, bits, gate)
	for i := range gate {
		p.f.Get(bits[i])
		p.f.Get(gate[i])
		p.f.Op(wasm.I64And)
		p.f.Set(bits[i])
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
		p.f.GetGlobal(p.slots[slot])
		p.f.I32(int32(value))
		p.f.Op(wasm.I32Eq)
		p.f.If(wasm.Void)
		p.scoped(func() { p.setBits(without(moves, same, slot, value), same, bits, gate) })
		p.f.End()
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
	f, word, bit := p.f, bits[i/64], int64(i%64)
	failing := false
	for _, t := range guard {
		failing = failing || t.fails
	}
	if failing || p.costOf(chunkCost+1, guard...) > chunkCost {
		p.scoped(func() {
			out := f.Block(wasm.Void)
			if gate != nil {
				f.Get(gate[i/64])
				f.I64(1 << bit)
				f.Op(wasm.I64And, wasm.I64Eqz)
				p.f.BrIf(out)
			}
			for _, t := range guard {
				p.branch(t, false, out)
			}
			f.Get(word)
			f.I64(1 << bit)
			f.Op(wasm.I64Or)
			f.Set(word)
			f.End()
		})
		return
	}
	f.Get(word)
	if len(guard) == 0 {
		f.I64(1 << bit)
	} else {
		p.together(opAnd, guard)
		f.Op(wasm.I64ExtendI32U)
		f.I64(bit)
		f.Op(wasm.I64Shl)
	}
	f.Op(wasm.I64Or)
	f.Set(word)
}

// countChoices sets p.count and leaves for p.dead if it is zero.
func (p *pathgen) countChoices(moves []candidate, bits bitset) {
	if bits == nil {
		p.setCount(int32(len(moves)))
		return
	}
	for i, w := range bits {
		p.f.Get(w)
		p.f.Op(wasm.I64Popcnt)
		if i > 0 {
			p.f.Op(wasm.I64Add)
		}
	}
	p.f.Op(wasm.I32WrapI64)
	p.f.Tee(p.count)
	p.f.Op(wasm.I32Eqz)
	p.f.BrIf(p.dead)
}

// enabled pushes whether one of the leaf's moves that satisfy a predicate is
// enabled; with nil bits every move is.
func (p *pathgen) enabled(moves []candidate, bits bitset, which func(*move) bool) (pushed, always bool) {
	masks := make([]int64, len(bits))
	for i, c := range moves {
		if !which(&p.moves[c.move]) {
			continue
		}
		if bits == nil {
			return false, true
		}
		masks[i/64] |= 1 << (i % 64)
	}
	for i, m := range masks {
		if m == 0 {
			continue
		}
		p.f.Get(bits[i])
		p.f.I64(m)
		p.f.Op(wasm.I64And)
		if pushed {
			p.f.Op(wasm.I64Or)
		}
		pushed = true
	}
	if pushed {
		p.f.I64(0)
		p.f.Op(wasm.I64Ne)
	}
	return pushed, false
}

// check evaluates and checks the weights of every command that takes part in
// an enabled move. Constant ones were checked beforehand.
func (p *pathgen) check(moves []candidate, bits bitset) {
	for _, c := range p.m.commands {
		if p.fixed[c] != nil {
			continue
		}
		takesPart := func(mv *move) bool {
			for _, member := range mv.members {
				if member == c {
					return true
				}
			}
			return false
		}
		pushed, always := p.enabled(moves, bits, takesPart)
		switch {
		case always:
			p.weigh(c)
		case pushed:
			p.f.If(wasm.Void)
			p.scoped(func() { p.weigh(c) })
			p.f.End()
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
	sum, least := f.Local(wasm.F64), f.Local(wasm.F64)
	f.F64(0)
	f.Set(sum)
	f.F64(0)
	f.Set(least)
	probs := make([]*term, len(c.updates))
	for i := range c.updates {
		probs[i] = p.facts.simplify(p.probability(c, i))
		p.note(probs[i])
	}
	p.evaluateArms(probs)
	for i, t := range probs {
		p.expr(t)
		f.Tee(p.weights[c][i])
		f.Get(sum)
		f.Op(wasm.F64Add)
		f.Set(sum)
		if t.nan || t.flo < 0 {
			f.Get(least)
			f.Get(p.weights[c][i])
			f.Op(wasm.F64Min)
			f.Set(least)
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
				p.expr(arm) // which keeps it: it has several uses
				p.f.Op(wasm.Drop)
			}
			met[arm] = true
		}
	}
}

// checkSum bails out unless no weight was negative and the sum is what it has
// to be. That it is finite includes that every weight was.
func (p *movegen) checkSum(sum, least uint32) {
	f := p.f
	f.Get(least)
	f.F64(0)
	f.Op(wasm.F64Ge)
	if p.m.continuous() {
		f.Get(sum)
		f.F64(0)
		f.Op(wasm.F64Gt)
		f.Get(sum)
		f.F64(math.MaxFloat64)
		f.Op(wasm.F64Le, wasm.I32And)
	} else {
		f.Get(sum)
		f.F64(1)
		f.Op(wasm.F64Sub)
		f.Get(sum)
		f.Op(wasm.F64Div)
		d := p.into(wasm.F64)
		f.Get(d)
		f.F64(SumTolerance)
		f.Op(wasm.F64Lt)
		f.Get(d)
		f.F64(-SumTolerance)
		f.Op(wasm.F64Gt, wasm.I32And)
	}
	f.Op(wasm.I32And, wasm.I32Eqz)
	p.f.BrIf(p.bail)
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
		p.jumpTo(moves, func() { p.f.Get(p.pick) })
	default:
		p.resolveBits(moves, bits)
	}
}

func (p *pathgen) nondeterminism() {
	p.f.Get(p.nondet)
	p.f.I64(1)
	p.f.Op(wasm.I64Add)
	p.f.Set(p.nondet)
}

func (p *pathgen) jumpTo(moves []candidate, index func()) {
	labels := make([]wasm.Label, len(moves))
	for i, c := range moves {
		labels[i] = p.arms[c.move]
	}
	index()
	p.f.BrTable(labels, labels[len(labels)-1])
}

// resolveBits draws a rank if there is more than one enabled move, and finds
// the move of that rank.
func (p *pathgen) resolveBits(moves []candidate, bits bitset) {
	f := p.f
	f.I32(0)
	f.Set(p.pick)
	f.Get(p.count)
	f.I32(1)
	f.Op(wasm.I32Ne)
	f.If(wasm.Void)
	p.nondeterminism()
	p.drawBelow()
	f.End()
	for i, w := range bits {
		part := moves[i*64 : min(i*64+64, len(moves))]
		if i == len(bits)-1 {
			p.nth(part, w)
			return
		}
		n := f.Local(wasm.I32)
		f.Get(p.pick)
		f.Get(w)
		f.Op(wasm.I64Popcnt, wasm.I32WrapI64)
		f.Tee(n)
		f.Op(wasm.I32LtU)
		f.If(wasm.Void)
		p.nth(part, w)
		f.End()
		f.Get(p.pick)
		f.Get(n)
		f.Op(wasm.I32Sub)
		f.Set(p.pick)
	}
}

// nth jumps to the move of rank p.pick in one word.
func (p *pathgen) nth(moves []candidate, word uint32) {
	f := p.f
	done := f.Block(wasm.Void)
	again := f.Loop()
	f.Get(p.pick)
	f.Op(wasm.I32Eqz)
	p.f.BrIf(done)
	f.Get(word)
	f.Get(word)
	f.I64(1)
	f.Op(wasm.I64Sub, wasm.I64And)
	f.Set(word)
	f.Get(p.pick)
	f.I32(1)
	f.Op(wasm.I32Sub)
	f.Set(p.pick)
	f.Br(again)
	f.End()
	f.End()
	p.jumpTo(moves, func() {
		f.Get(word)
		f.Op(wasm.I64Ctz, wasm.I32WrapI64)
	})
}

// race is interpreter.race: it sets p.rate to the total rate and, with more
// than one choice, draws the move and leaves the rest for its updates in p.rest.
func (p *pathgen) race(moves []candidate, bits bitset) {
	f := p.f
	totals := make([]uint32, len(moves))
	f.F64(0)
	f.Set(p.rate)
	for i, c := range moves {
		totals[i] = f.Local(wasm.F64)
		add := func() {
			p.total(&p.moves[c.move])
			f.Tee(totals[i])
			f.Get(p.rate)
			f.Op(wasm.F64Add)
			f.Set(p.rate)
		}
		p.ifEnabled(i, bits, add)
	}
	f.Get(p.rate)
	f.F64(math.MaxFloat64)
	f.Op(wasm.F64Le, wasm.I32Eqz)
	p.f.BrIf(p.bail)
	if len(moves) == 1 {
		f.Br(p.arms[moves[0].move])
		return
	}
	f.Get(p.count)
	f.I32(1)
	f.Op(wasm.I32Ne)
	f.If(wasm.Void)
	p.drawUnit()
	f.Get(p.rate)
	f.Op(wasm.F64Mul)
	f.Set(p.rest)
	f.End()
	for i, c := range moves {
		p.ifEnabled(i, bits, func() { p.tryMove(c.move, i, totals[i]) })
	}
	f.F64(math.Inf(1)) // rounding: the last one
	f.Set(p.rest)
	p.jumpTo(moves, func() { f.Get(p.pick) })
}

// tryMove jumps to a move if the rest is below its rate or it is the only one,
// and else subtracts it.
func (p *pathgen) tryMove(move, index int, total uint32) {
	f := p.f
	f.Get(p.rest)
	f.Get(total)
	f.Op(wasm.F64Lt)
	f.Get(p.count)
	f.I32(1)
	f.Op(wasm.I32Eq, wasm.I32Or)
	p.f.BrIf(p.arms[move])
	f.Get(p.rest)
	f.Get(total)
	f.Op(wasm.F64Sub)
	f.Set(p.rest)
	f.I32(int32(index))
	f.Set(p.pick)
}

func (p *pathgen) ifEnabled(i int, bits bitset, emit func()) {
	if bits == nil {
		emit()
		return
	}
	p.f.Get(bits[i/64])
	p.f.I64(1 << (i % 64))
	p.f.Op(wasm.I64And, wasm.I64Eqz, wasm.I32Eqz)
	p.f.If(wasm.Void)
	p.scoped(emit)
	p.f.End()
}
