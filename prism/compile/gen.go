package compile

import (
	"fmt"
	"math"
	"slices"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/syntax"
)

// assemble compiles the model and a monitor to a WebAssembly module. It refuses models that need too much code, and those
// whose initial state is outside the declared ranges, because the machine's arithmetic relies on these.
func (m *Model) assemble(w *watch, start []int32) ([]byte, error) {
	for i, v := range m.prog.Vars {
		if start[i] < v.Low || start[i] > v.High {
			return nil, m.tooHard("the initial value of %s is outside its range", v.Name)
		}
	}
	return newPathGenerator(m, w, start).assemble()
}

// moveGenerator emits code that path drawing and state expansion have in common: which moves are enabled, and the weights and
// values of their updates.
type moveGenerator struct {
	codeGenerator
	m            *Model
	b            *builder
	mod          *wasm.Module
	moves        []commandSet
	used         int              // bytes of memory in use
	memos        map[string]*memo // by description
	onlyVariable map[*term]int    // the variable of a condition that reads only one; otherwise -1

	words           bitset                           // locals for bitsets
	weights         map[*command][]wasm.Var[float64] // locals of computed weights
	constantWeights map[*command][]float64
	// emitLeaf emits the code of a leaf of the decision tree, for the moves that remain
	// possible; the code ends in a jump.
	emitLeaf func(moves []candidate)
}

// newMoveGenerator returns a moveGenerator for a module whose first bytes of memory are reserved.
//
// It is a function: a package that imports compile compiles the types in the signatures of Model's methods,
// and the generic types of wasm take a second each time.
func newMoveGenerator(m *Model, reserved int) moveGenerator {
	b := m.newBuilder()
	return moveGenerator{
		codeGenerator: codeGenerator{
			g: b.graph, facts: b.noFacts(),
			local: map[*term]emitter{}, uses: map[*term]int{},
		},
		m: m, b: b, mod: &wasm.Module{},
		weights: map[*command][]wasm.Var[float64]{}, constantWeights: map[*command][]float64{},
		used: reserved, memos: map[string]*memo{}, onlyVariable: map[*term]int{},
	}
}

func newPathGenerator(m *Model, w *watch, start []int32) *pathGenerator {
	p := &pathGenerator{moveGenerator: newMoveGenerator(m, tablesAt), w: w, start: start}
	p.emitLeaf = p.decideLeaf
	return p
}

func (p *pathGenerator) assemble() ([]byte, error) {
	p.registerModel()
	p.registerMonitor()
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

// prepare lists the moves and the constant weights. All expressions must be registered before.
func (p *moveGenerator) prepare() error {
	p.b.flatten()
	if err := p.listMoves(); err != nil {
		return err
	}
	for _, c := range p.m.commands {
		p.classifyWeights(c)
	}
	if n := len(p.b.terms); n > maxTermCount {
		return p.m.tooHard("%d terms, more than %d", n, maxTermCount)
	}
	return nil
}

// registerModel registers every expression of the model's commands with the builder.
func (p *moveGenerator) registerModel() {
	for _, c := range p.m.commands {
		p.b.registerGuard(c.src.Guard)
		for _, u := range c.src.Updates {
			p.b.register(u.Prob)
			for _, a := range u.Assigns {
				p.b.register(a.Value)
			}
		}
	}
}

// registerMonitor registers the expressions of the monitor.
func (p *pathGenerator) registerMonitor() {
	p.b.register(p.w.Left)
	p.b.register(p.w.Right)
	if p.w.rewards != nil {
		for _, it := range p.w.rewards.src.Items {
			p.b.register(it.Guard)
			p.b.register(it.Value)
		}
	}
}

// listMoves lists every combination of commands whose guards do not contradict
// each other, in the order in which the interpreter finds the enabled ones.
func (p *moveGenerator) listMoves() error {
	for _, g := range p.m.synchronisations {
		members := make([]*command, len(g.participants))
		if err := p.combine(g, len(g.participants)-1, members, p.facts); err != nil {
			return err
		}
	}
	return nil
}

// combine chooses the commands of participants i, i-1, …, 0; the first one varies fastest. f has the guards of the commands
// chosen so far.
func (p *moveGenerator) combine(g synchronisation, i int, members []*command, f *facts) error {
	if i < 0 {
		return p.addMove(g.action, members)
	}
	for _, c := range g.participants[i].commands {
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

func (p *moveGenerator) addMove(action int, members []*command) error {
	if len(p.moves) == maxMoves {
		return p.m.tooHard("more than %d combinations of commands", maxMoves)
	}
	mv := commandSet{action: action, members: slices.Clone(members)}
	if n := alternatives(mv.members); n > maxUpdates {
		return p.m.tooHard("%d combinations of updates in one choice", n)
	}
	for _, c := range mv.members {
		mv.guard = append(mv.guard, p.b.conjuncts(p.b.expr(c.src.Guard))...)
	}
	p.moves = append(p.moves, mv)
	return nil
}

// classifyWeights records a command's weights if they are constants that pass the checks of expander.weigh. For weights that
// are not constant it prepares locals. Invalid constant weights get neither; see hasInvalidWeights.
func (p *moveGenerator) classifyWeights(c *command) {
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
	p.constantWeights[c] = ws
}

// weightLocals declares the locals that classifyWeights prepared.
func (p *moveGenerator) weightLocals(commands ...*command) {
	for _, c := range commands {
		for i := range p.weights[c] {
			p.weights[c][i] = wasm.Local[float64](p.f)
		}
	}
}
