package compile

import (
	"encoding/binary"
	"math"
	"slices"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/sema"
)

// alternative is a combination of updates of a move: its weight if constant, and the new value of each variable that it assigns.
type alternative struct {
	updates []int
	weight  float64
	values  map[int]*term
}

// alternativesOf lists the combinations of updates in odometer order. If the weights are constant, it leaves out those with weight zero.
func (p *moveGenerator) alternativesOf(mv *commandSet, f *facts) (alts []alternative, constant bool) {
	constant = true
	for _, c := range mv.members {
		constant = constant && p.constantWeights[c] != nil
	}
	updates := make([]int, len(mv.members))
	for more := true; more; more = advance(mv.members, updates) {
		a := alternative{updates: slices.Clone(updates), values: map[int]*term{}}
		if constant {
			if a.weight = p.constantWeight(mv, updates); a.weight == 0 {
				continue
			}
		}
		for i, c := range mv.members {
			for _, as := range c.updates[updates[i]].assigns {
				a.values[as.slot] = f.simplify(p.b.expr(as.src.Value))
			}
		}
		alts = append(alts, a)
	}
	return alts, constant
}

// constantWeight is expander.weight for constant weights.
func (p *moveGenerator) constantWeight(mv *commandSet, updates []int) float64 {
	w := p.constantWeights[mv.members[0]][updates[0]]
	for i, c := range mv.members[1:] {
		w = float64(w * p.constantWeights[c][updates[i+1]])
	}
	return w
}

// weight is expander.weight.
func (p *moveGenerator) weight(mv *commandSet, updates []int) wasm.Expr[float64] {
	factor := func(i int) wasm.Expr[float64] {
		c := mv.members[i]
		if w := p.constantWeights[c]; w != nil {
			return constF64(w[updates[i]])
		}
		return p.weights[c][updates[i]].Expr
	}
	x := factor(0)
	for i := range mv.members[1:] {
		x = x.Mul(factor(i + 1))
	}
	return x
}

// totalRate emits expander.total for a move.
func (p *pathGenerator) totalRate(mv *commandSet) wasm.Expr[float64] {
	constant := !slices.ContainsFunc(mv.members, func(c *command) bool { return p.constantWeights[c] == nil })
	sum, computed := 0.0, constF64(0)
	updates := make([]int, len(mv.members))
	for more := true; more; more = advance(mv.members, updates) {
		if constant {
			sum += p.constantWeight(mv, updates)
		} else {
			computed = computed.Add(p.weight(mv, slices.Clone(updates)))
		}
	}
	if constant {
		return constF64(sum)
	}
	return computed
}

// move emits the code of a move: time and rewards, the draw of the updates, the new values with their checks, and the assignments.
func (p *pathGenerator) move(mv *commandSet) {
	if slices.ContainsFunc(mv.members, p.hasInvalidWeights) {
		p.f.Br(p.bail) // unreachable: check has bailed out
		return
	}
	outer := p.facts
	for _, g := range mv.guard {
		p.facts = p.facts.assume(g, true)
	}
	defer func() { p.facts = outer }()
	alts, constant := p.alternativesOf(mv, p.facts)
	if len(alts) == 0 { // the products of tiny rates are all zero
		p.f.Br(p.bail)
		return
	}
	several := alternatives(mv.members) > 1
	if p.m.continuous() {
		if several {
			p.drawRest()
		}
		p.advance(mv.action)
		if several {
			p.pickByWeights(mv, alts, constant)
		}
	} else {
		p.advance(mv.action)
		if several {
			p.pickByUnit(mv, alts, constant)
		}
	}
	p.apply(mv, alts)
}

// hasInvalidWeights reports whether a command's weights are constants that fail the checks.
func (p *moveGenerator) hasInvalidWeights(c *command) bool {
	return p.constantWeights[c] == nil && p.weights[c] == nil
}

// drawRest draws p.rest for the updates if there is only one choice; otherwise raceByRate has set it.
func (p *pathGenerator) drawRest() {
	p.f.If(p.count.Eq(constI32(1)), func() { p.rest.Set(p.f, p.drawUnit().Mul(p.rate)) })
}

// pickByUnit draws a unit double and sets p.picked to the index of the alternative that it selects.
func (p *pathGenerator) pickByUnit(mv *commandSet, alts []alternative, constant bool) {
	if !constant {
		p.rest.Set(p.f, p.drawUnit())
		p.pickByWeights(mv, alts, constant)
		return
	}
	p.random.Set(p.f, p.draw().ShrU(11))
	p.pickByThresholds(thresholds(alts))
}

// thresholds returns the cumulative weights, without the last, as multiples of 2^-53, the grid of unit doubles: u < c
// exactly if u·2^53 < ceil(c·2^53).
func thresholds(alts []alternative) []int64 {
	var out []int64
	sum := 0.0
	for _, a := range alts[:len(alts)-1] {
		sum += a.weight
		out = append(out, int64(math.Ceil(sum*0x1p53)))
	}
	return out
}

// pickByThresholds sets p.picked to the number of thresholds that p.random reaches.
func (p *pathGenerator) pickByThresholds(ts []int64) {
	if shift, ok := evenShift(ts); ok {
		p.picked.Set(p.f, wasm.Wrap(p.random.ShrU(shift)))
		return
	}
	if len(ts) > 4 {
		p.bisect(ts, 0)
		return
	}
	reached := constI32(0)
	for _, t := range ts {
		reached = reached.Add(p.random.Ge(constI64(t)))
	}
	p.picked.Set(p.f, reached)
}

// evenShift reports whether the thresholds divide the range into a power of two of equal parts, so that a shift finds the part.
func evenShift(ts []int64) (shift int64, ok bool) {
	n := int64(len(ts) + 1)
	if n&(n-1) != 0 || n == 1 {
		return 0, false
	}
	shift = 53
	for m := n; m > 1; m /= 2 {
		shift--
	}
	for i, t := range ts {
		if t != int64(i+1)<<shift {
			return 0, false
		}
	}
	return shift, true
}

// bisect sets p.picked to base plus the number of thresholds that p.random reaches.
func (p *pathGenerator) bisect(ts []int64, base int) {
	if len(ts) == 0 {
		p.picked.Set(p.f, constI32(base))
		return
	}
	mid := len(ts) / 2
	p.f.IfElse(wasm.Void, p.random.Ge(constI64(ts[mid])),
		func() { p.bisect(ts[mid+1:], base+mid+1) },
		func() { p.bisect(ts[:mid], base) })
}

// pickByWeights is expander.pick for floating-point weights.
func (p *pathGenerator) pickByWeights(mv *commandSet, alts []alternative, constant bool) {
	weight := func(a alternative) wasm.Expr[float64] {
		if constant {
			return constF64(a.weight)
		}
		return p.weight(mv, a.updates)
	}
	f := p.f
	sum := wasm.Local[float64](f)
	sum.Set(f, constF64(0))
	f.Block(func(done wasm.Label) {
		for i, a := range alts {
			p.picked.Set(f, constI32(i))
			sum.Set(f, weight(a).Add(sum))
			f.BrIf(done, p.rest.Lt(sum))
		}
		for i, a := range alts { // because of rounding: the last one with a positive weight
			f.If(weight(a).Gt(constF64(0)), func() { p.picked.Set(f, constI32(i)) })
		}
	})
}

// apply evaluates the new values of the picked alternative into locals, checks them, and assigns them. Values on which all
// alternatives agree are evaluated once, differing constants are looked up in tables, and only the rest needs a branch on p.picked.
func (p *pathGenerator) apply(mv *commandSet, alts []alternative) {
	fresh := map[int]wasm.Var[int32]{}
	var common, looked, varied []int
	for _, slot := range assignedSlots(alts) {
		fresh[slot] = wasm.Local[int32](p.f)
		switch column := p.column(alts, slot); {
		case allSame(column):
			common = append(common, slot)
		case allConst(column):
			looked = append(looked, slot)
		default:
			varied = append(varied, slot)
		}
	}
	groups, single := p.memoGroups(p.roots(alts[0], common))
	for _, g := range groups {
		p.lookUpMemo(g, fresh)
	}
	p.assignTogether(single, fresh)
	for _, slot := range looked {
		fresh[slot].Set(p.f, p.lookUp(p.column(alts, slot)))
	}
	if len(varied) > 0 {
		p.branchOnPick(len(alts), func(i int) {
			p.assignTogether(p.roots(alts[i], varied), fresh)
		})
	}
	p.checkRanges(alts, fresh)
	p.decideSelfLoop(mv, alts, fresh)
	for _, slot := range assignedSlots(alts) {
		p.slots[slot].Set(p.f, fresh[slot])
	}
}

func assignedSlots(alts []alternative) []int {
	var slots []int
	for _, a := range alts {
		for s := range a.values {
			slots = append(slots, s)
		}
	}
	slices.Sort(slots)
	return slices.Compact(slots)
}

// valueOf returns the new value of a variable in an alternative, which is the old one if it does not assign it.
func (p *moveGenerator) valueOf(a alternative, slot int) *term {
	if t, ok := a.values[slot]; ok {
		return t
	}
	return p.old(slot)
}

func (p *moveGenerator) old(slot int) *term {
	s := sortInt
	if p.m.prog.Vars[slot].Type == sema.Bool {
		s = sortBool
	}
	return p.facts.simplify(p.g.variable(slot, s))
}

func (p *moveGenerator) column(alts []alternative, slot int) []*term {
	column := make([]*term, len(alts))
	for i, a := range alts {
		column[i] = p.valueOf(a, slot)
	}
	return column
}

func allSame(ts []*term) bool {
	return !slices.ContainsFunc(ts, func(t *term) bool { return t != ts[0] })
}

func allConst(ts []*term) bool {
	return !slices.ContainsFunc(ts, func(t *term) bool { return !t.isConst() })
}

// root is a value to compute for a variable.
type root struct {
	slot  int
	value *term
}

func (p *moveGenerator) roots(a alternative, slots []int) []root {
	var out []root
	for _, s := range slots {
		t := p.valueOf(a, s)
		p.countUses(t)
		out = append(out, root{s, t})
	}
	return out
}

// assignTogether evaluates values into locals. If several expensive values depend on a common condition, it branches on the
// condition once for all of them.
func (p *moveGenerator) assignTogether(roots []root, fresh map[int]wasm.Var[int32]) {
	cond := p.jointCondition(roots)
	var rest []root
	var yes, no []root
	for _, r := range roots {
		if cond != nil && r.value.op == opIte && r.value.args[0] == cond {
			yes = append(yes, root{r.slot, r.value.args[1]})
			no = append(no, root{r.slot, r.value.args[2]})
		} else {
			rest = append(rest, r)
		}
	}
	if cond == nil {
		for _, r := range rest {
			fresh[r.slot].Set(p.f, p.integer(r.value))
		}
		return
	}
	p.f.IfElse(wasm.Void, p.integer(cond),
		func() { p.assignUnder(cond, true, yes, fresh) },
		func() { p.assignUnder(cond, false, no, fresh) })
	p.assignTogether(rest, fresh)
}

func (p *moveGenerator) assignUnder(cond *term, holds bool, roots []root, fresh map[int]wasm.Var[int32]) {
	outer := p.facts
	p.facts = outer.assume(cond, holds)
	for i := range roots {
		roots[i].value = p.facts.simplify(roots[i].value)
		p.countUses(roots[i].value)
	}
	p.scoped(func() { p.assignTogether(roots, fresh) })
	p.facts = outer
}

// jointCondition returns the condition with the most expensive arms; nil if evaluating both arms is cheap.
func (p *moveGenerator) jointCondition(roots []root) *term {
	var conds []*term
	arms := map[*term][]*term{}
	for _, r := range roots {
		if r.value.op != opIte {
			continue
		}
		c := r.value.args[0]
		if arms[c] == nil {
			conds = append(conds, c)
		}
		arms[c] = append(arms[c], r.value.args[1:]...)
	}
	var best *term
	most := jointCost
	for _, c := range conds {
		if cost := p.costOf(maxCost, arms[c]...); cost > most {
			best, most = c, cost
		}
	}
	return best
}

// lookUp emits the constant of the picked alternative.
func (p *pathGenerator) lookUp(column []*term) wasm.Expr[int32] {
	step := column[1].i - column[0].i
	even := true
	for i, t := range column {
		even = even && t.i == column[0].i+int64(i)*step
	}
	switch {
	case len(column) == 2:
		return wasm.Select[int32](p.picked, constI32(column[1].i), constI32(column[0].i))
	case even && step >= minInt && step <= maxInt:
		return p.picked.Mul(constI32(step)).Add(constI32(column[0].i))
	}
	words := make([]byte, 0, 4*len(column))
	for _, t := range column {
		words = binary.LittleEndian.AppendUint32(words, uint32(int32(t.i)))
	}
	at := p.reserve(len(words))
	p.mod.Data(int32(at), words)
	return wasm.Load[int32](p.picked.Shl(2), at)
}

// branchOnPick emits code for each of n alternatives.
func (p *pathGenerator) branchOnPick(n int, emit func(i int)) {
	if n == 1 {
		emit(0)
		return
	}
	labels := make([]wasm.Label, n)
	end := p.f.Open()
	for i := n - 1; i >= 0; i-- {
		labels[i] = p.f.Open()
	}
	p.f.BrTable(p.picked, labels, labels[n-1])
	for i := range n {
		p.f.End()
		p.scoped(func() { emit(i) })
		p.f.Br(end)
	}
	p.f.End()
}

// checkRanges bails out if a new value is outside its variable's range, where the intervals do not exclude that.
func (p *pathGenerator) checkRanges(alts []alternative, fresh map[int]wasm.Var[int32]) {
	for _, slot := range assignedSlots(alts) {
		if slices.ContainsFunc(p.column(alts, slot), func(t *term) bool { return !p.inside(t, slot) }) {
			p.bailOutside(fresh[slot], slot)
		}
	}
}

// inside reports whether the value is certainly within its variable's range.
func (p *moveGenerator) inside(t *term, slot int) bool {
	if t.sort == sortBool {
		return true
	}
	r, v := p.g.ranges[slot], p.facts.interval(t)
	return r.lo <= v.lo && v.hi <= r.hi
}

// bailOutside bails out if a number is outside a variable's range.
func (p *moveGenerator) bailOutside(x wasm.Var[int32], slot int) {
	r := p.g.ranges[slot]
	p.f.BrIf(p.bail, x.Sub(constI32(r.lo)).GtU(constI32(r.hi-r.lo)))
}

// decideSelfLoop decides an unbounded until at a deterministic self-loop: the only choice has one transition, with probability 1, back
// to the same state.
func (p *pathGenerator) decideSelfLoop(mv *commandSet, alts []alternative, fresh map[int]wasm.Var[int32]) {
	if !p.w.endsAtLoops() || !p.deterministicIfConstant(mv) || p.certainlyChanges(alts) {
		return
	}
	f := p.f
	f.Block(func(out wasm.Label) {
		f.BrIf(out, p.count.Ne(constI32(1)))
		for _, slot := range assignedSlots(alts) {
			f.BrIf(out, fresh[slot].Ne(p.slots[slot]))
		}
		for _, c := range mv.members {
			if p.constantWeights[c] == nil {
				p.requireDeterministic(c, out)
			}
		}
		f.Br(p.violated)
	})
}

// deterministicIfConstant reports whether every member with constant weights has exactly one positive weight, and it is 1.
func (p *pathGenerator) deterministicIfConstant(mv *commandSet) bool {
	for _, c := range mv.members {
		positive := 0
		for _, w := range p.constantWeights[c] {
			if w > 0 {
				positive++
			}
			if w > 0 && w != 1 {
				return false
			}
		}
		if positive != 1 && p.constantWeights[c] != nil {
			return false
		}
	}
	return true
}

// requireDeterministic jumps to out unless exactly one computed weight is positive and it is 1.
func (p *pathGenerator) requireDeterministic(c *command, out wasm.Label) {
	positive, one := constI32(0), constI32(0)
	for _, w := range p.weights[c] {
		positive, one = positive.Add(w.Gt(constF64(0))), one.Or(w.Eq(constF64(1)))
	}
	p.f.BrIf(out, one.IsZero())
	p.f.BrIf(out, positive.Ne(constI32(1)))
}

// certainlyChanges reports whether some variable certainly gets a new value.
func (p *pathGenerator) certainlyChanges(alts []alternative) bool {
	for _, slot := range assignedSlots(alts) {
		differs := true
		for _, t := range p.column(alts, slot) {
			if t.sort != sortInt {
				old := p.old(slot)
				differs = differs && t.isConst() && old.isConst() && t != old
				continue
			}
			v, was := p.facts.interval(t), p.facts.variable(slot)
			differs = differs && (v.hi < was.lo || was.hi < v.lo)
		}
		if differs {
			return true
		}
	}
	return false
}
