package compile

import (
	"encoding/binary"
	"slices"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/sema"
)

// Where several moves of a leaf depend on the same variable, its value indexes
// a table of bitsets: bit i is clear if the value rules move i out. The
// conjunction of the tables is the gate.

const (
	tableMoves = 3   // fewer moves on one variable are tested one by one
	tableRange = 256 // values of the variable
)

// tabulate puts what depends on one variable alone into tables. It returns the
// moves with what is left, and the gate, nil if there are no tables.
func (p *movegen) tabulate(moves []candidate) (left []candidate, gate bitset) {
	left = slices.Clone(moves)
	for slot := range p.m.prog.Vars {
		r := p.facts.variable(slot)
		asking := 0
		for _, c := range left {
			if slices.ContainsFunc(c.guard, func(t *term) bool { return p.onlyOn(t, slot) }) {
				asking++
			}
		}
		size := 8 * int(r.hi-r.lo+1) * ((len(moves) + 63) / 64)
		if asking < tableMoves || r.hi-r.lo >= tableRange || p.used+size > maxMemory {
			continue
		}
		if gate == nil {
			gate = p.openGate((len(moves) + 63) / 64)
		}
		p.table(left, slot, r, gate)
		for i, c := range left {
			left[i].guard = slices.DeleteFunc(slices.Clone(c.guard), func(t *term) bool { return p.onlyOn(t, slot) })
		}
	}
	return left, gate
}

// onlyOn reports whether a condition reads one variable and no other.
func (p *movegen) onlyOn(t *term, slot int) bool {
	if t.fails {
		return false
	}
	s, ok := p.single[t]
	if !ok {
		s = -1
		if slots := p.support(t); len(slots) == 1 {
			s = slots[0]
		}
		p.single[t] = s
	}
	return s == slot
}

func (p *movegen) openGate(words int) bitset {
	gate := make(bitset, words)
	for i := range gate {
		gate[i] = wasm.Into(p.f, wide(-1))
	}
	return gate
}

// table restricts the gate by one variable.
func (p *movegen) table(moves []candidate, slot int, r interval, gate bitset) {
	f := p.f
	rows := make([][]byte, len(gate))
	for x := r.lo; x <= r.hi; x++ {
		words := p.allowed(moves, slot, x)
		for i, w := range words {
			rows[i] = binary.LittleEndian.AppendUint64(rows[i], w)
		}
	}
	at := wasm.Into(f, shiftIn(p.slots[slot].Expr, field{lo: r.lo, shift: 3}))
	for i, b := range rows {
		base := p.reserve(len(b))
		p.mod.Data(int32(base), b)
		gate[i].Set(f, wasm.Load[int64](at, base).And(gate[i]))
	}
}

// allowed returns the moves that a variable's value does not rule out.
func (p *movegen) allowed(moves []candidate, slot int, x int64) []uint64 {
	f := p.facts.child()
	f.ranges[slot] = interval{x, x}
	if p.m.prog.Vars[slot].Type == sema.Bool {
		f.known[p.g.variable(slot, sortBool)] = x != 0
	}
	out := make([]uint64, (len(moves)+63)/64)
	for i, c := range moves {
		ok := true
		for _, t := range c.guard {
			ok = ok && (!p.onlyOn(t, slot) || f.simplify(t) == p.g.yes)
		}
		if ok {
			out[i/64] |= 1 << (i % 64)
		}
	}
	return out
}
