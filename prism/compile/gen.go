package compile

import (
	"fmt"
	"math"
	"slices"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/syntax"
)

// assemble compiles the model under a monitor to a WebAssembly module. It
// refuses models that would make too much code and those whose initial state is
// outside the declared ranges, on which the machine's arithmetic relies.
func (m *Model) assemble(w *watch, start []int32) ([]byte, error) {
	for i, v := range m.prog.Vars {
		if start[i] < v.Low || start[i] > v.High {
			return nil, m.tooHard("the initial value of %s is outside its range", v.Name)
		}
	}
	return newPathgen(m, w, start).assemble()
}

// movegen emits what both functions made from a model need: the decision which
// moves are enabled, and the weights and values of their updates.
type movegen struct {
	codegen
	m      *Model
	b      *builder
	mod    *wasm.Module
	moves  []move
	used   int              // bytes of memory
	memos  map[string]*memo // by description
	single map[*term]int    // the only variable a condition reads, or -1

	words   bitset                           // locals for bitsets
	weights map[*command][]wasm.Var[float64] // locals of computed weights
	fixed   map[*command][]float64
	// decide emits the leaf of a decision tree with the moves that remain
	// possible; the code ends in a jump.
	decide func(moves []candidate)
}

// newMovegen reserves the first bytes of memory.
//
// It is no method of Model: a package that uses Model compiles what the signatures of
// its methods mention, and the generic types of wasm take a second each time.
func newMovegen(m *Model, reserved int) movegen {
	b := m.newBuilder()
	return movegen{
		codegen: codegen{
			g: b.graph, facts: b.noFacts(),
			local: map[*term]pushed{}, uses: map[*term]int{},
		},
		m: m, b: b, mod: &wasm.Module{},
		weights: map[*command][]wasm.Var[float64]{}, fixed: map[*command][]float64{},
		used: reserved, memos: map[string]*memo{}, single: map[*term]int{},
	}
}

func newPathgen(m *Model, w *watch, start []int32) *pathgen {
	p := &pathgen{movegen: newMovegen(m, tablesAt), w: w, start: start}
	p.decide = p.leaf
	return p
}

func (p *pathgen) assemble() ([]byte, error) {
	p.takeModel()
	p.takeMonitor()
	if err := p.prepare(); err != nil {
		return nil, err
	}
	code := p.emit()
	if code == nil {
		return nil, p.m.tooHard("more than %d bytes of code", maxCode)
	}
	return code, nil
}

func (m *Model) tooHard(format string, args ...any) error {
	return &UnsupportedError{m.prog.File, syntax.Pos{}, "not compiled to WebAssembly: " + fmt.Sprintf(format, args...)}
}

// prepare makes what code generation starts from, once the builder has been
// given all expressions.
func (p *movegen) prepare() error {
	p.b.merge()
	if err := p.listMoves(); err != nil {
		return err
	}
	for _, c := range p.m.commands {
		p.fixWeights(c)
	}
	if n := len(p.b.terms); n > maxTermCount {
		return p.m.tooHard("%d terms, more than %d", n, maxTermCount)
	}
	return nil
}

// takeModel gives the builder every expression of the model's commands.
func (p *movegen) takeModel() {
	for _, c := range p.m.commands {
		p.b.takeGuard(c.src.Guard)
		for _, u := range c.src.Updates {
			p.b.take(u.Prob)
			for _, a := range u.Assigns {
				p.b.take(a.Value)
			}
		}
	}
}

// takeMonitor gives the builder the expressions of the monitor.
func (p *pathgen) takeMonitor() {
	p.b.take(p.w.Left)
	p.b.take(p.w.Right)
	if p.w.rewards != nil {
		for _, it := range p.w.rewards.src.Items {
			p.b.take(it.Guard)
			p.b.take(it.Value)
		}
	}
}

// listMoves lists every combination of commands whose guards do not contradict
// each other, in the order in which the interpreter finds the enabled ones.
func (p *movegen) listMoves() error {
	for _, g := range p.m.groups {
		members := make([]*command, len(g.leaves))
		if err := p.combine(g, len(g.leaves)-1, members, p.facts); err != nil {
			return err
		}
	}
	return nil
}

// combine chooses the commands of leaves i, i-1, …, 0; the first leaf varies
// fastest. The facts are the guards of the commands chosen so far.
func (p *movegen) combine(g group, i int, members []*command, f *facts) error {
	if i < 0 {
		return p.addMove(g.action, members)
	}
	for _, c := range g.leaves[i].commands {
		guard := p.b.expr(c.src.Guard)
		if f.simplify(guard) == p.g.no {
			continue
		}
		members[i] = c
		if err := p.combine(g, i-1, members, f.assume(guard, true)); err != nil {
			return err
		}
	}
	return nil
}

func (p *movegen) addMove(action int, members []*command) error {
	if len(p.moves) == maxMoves {
		return p.m.tooHard("more than %d combinations of commands", maxMoves)
	}
	mv := move{action: action, members: slices.Clone(members)}
	if n := alternatives(mv.members); n > maxUpdates {
		return p.m.tooHard("%d combinations of updates in one choice", n)
	}
	for _, c := range mv.members {
		mv.guard = append(mv.guard, p.b.conjuncts(p.b.expr(c.src.Guard))...)
	}
	p.moves = append(p.moves, mv)
	return nil
}

// fixWeights notes a command's weights if they are constant and pass the
// checks of expander.weigh. If they are not constant it reserves locals for
// them; if they are wrong it does neither.
func (p *movegen) fixWeights(c *command) {
	var ws []float64
	for i := range c.updates {
		t := p.probability(c, i)
		if !t.isConst() {
			p.weights[c] = make([]wasm.Var[float64], len(c.updates))
			return
		}
		ws = append(ws, t.f)
	}
	sum := 0.0
	for _, w := range ws {
		if !(w >= 0 && w <= math.MaxFloat64) {
			return
		}
		sum += w
	}
	if sum == 0 || !p.m.continuous() && !sumsToOne(sum) {
		return
	}
	p.fixed[c] = ws
}

// weightLocals declares the locals that fixWeights asked for.
func (p *movegen) weightLocals(commands ...*command) {
	for _, c := range commands {
		for i := range p.weights[c] {
			p.weights[c][i] = wasm.Local[float64](p.f)
		}
	}
}
