package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
)

// value is what a term evaluates to, by the simplest means.
type value struct {
	i      int64
	f      float64
	failed bool
}

// evaluate evaluates a term in a state.
func evaluate(term *term, state []int32) value {
	if term.op == opConst {
		return value{i: term.intValue, f: term.floatValue}
	}
	if term.op == opVar {
		return value{i: int64(state[term.slot])}
	}
	switch term.op {
	case opAnd, opOr:
		for _, operand := range term.operands {
			if v := evaluate(operand, state); v.failed || (v.i == 1) == (term.op == opOr) {
				return v
			}
		}
		return value{i: map[opcode]int64{opAnd: 1, opOr: 0}[term.op]}
	case opIfThenElse:
		c := evaluate(term.operands[0], state)
		if c.failed {
			return c
		}
		return evaluate(term.operands[2-c.i], state)
	}
	var x, y value
	x = evaluate(term.operands[0], state)
	y = evaluate(term.operands[len(term.operands)-1], state)
	if x.failed || y.failed {
		return value{failed: true}
	}
	return operate(term, x, y)
}

func operate(term *term, x, y value) value {
	whole := func(i int64) value { return value{i: i, failed: i != int64(int32(i))} }
	truth := func(b bool) value {
		if b {
			return value{i: 1}
		}
		return value{}
	}
	switch term.op {
	case opNot:
		return value{i: 1 - x.i}
	case opIff, opIntEq:
		return truth(x.i == y.i)
	case opIntLt:
		return truth(x.i < y.i)
	case opFloatSame:
		return truth(math.Float64bits(x.f) == math.Float64bits(y.f) || math.IsNaN(x.f) && math.IsNaN(y.f))
	case opFloatLt:
		return truth(x.f < y.f)
	case opFloatLe:
		return truth(x.f <= y.f)
	case opAdd:
		return whole(x.i + y.i)
	case opSub:
		return whole(x.i - y.i)
	case opMul:
		return whole(x.i * y.i)
	case opMod:
		if y.i <= 0 {
			return value{failed: true}
		}
		return value{i: ((x.i % y.i) + y.i) % y.i}
	case opMin:
		return value{i: min(x.i, y.i)}
	case opMax:
		return value{i: max(x.i, y.i)}
	case opPow:
		p := math.Pow(float64(x.i), float64(y.i))
		return value{i: int64(p), failed: y.i < 0 || math.Abs(p) > 1<<31 || p == 1<<31}
	case opFloor, opCeil, opRound:
		p := roundBy(term.op, x.f)
		return value{i: int64(p), failed: !(p >= -1<<31 && p < 1<<31)}
	case opIntToFloat:
		return value{f: float64(x.i)}
	case opFloatNeg:
		return value{f: -x.f}
	case opBoolToInt:
		return x
	default:
		return value{f: evaluateFloats(term.op, x.f, y.f)}
	}
}

// randomState draws a valuation.
func randomState(r *rand.Rand, m *Model) []int32 {
	s := make([]int32, len(m.program.Vars))
	for i, v := range m.program.Vars {
		s[i] = int32(int64(v.Low) + r.Int64N(int64(v.High)-int64(v.Low)+1))
	}
	return s
}

// TestPlan walks the decision tree of random models in random states, and
// compares the moves it finds enabled with the guards evaluated one by one.
func TestPlan(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for seed := range needs.OrFull(uint64(60), 300) {
		text := randomModel(seed)
		m, err := corpusModel("random.prism", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		p := newMoveGenerator(m, 0)
		p.registerCommands()
		if err := p.prepareMoves(); err != nil {
			t.Fatal(err)
		}
		tree := p.buildTree()
		for range 100 {
			state := randomState(r, m)
			want, failed := enabledMoves(&p, state)
			if failed {
				continue // the guards that may fail come first, and stop the machine
			}
			if got := fmt.Sprint(walk(tree, state)); got != fmt.Sprint(want) {
				t.Fatalf("seed %d, state %v: plan %v, guards %v\n%s", seed, state, got, want, text)
			}
		}
	}
}

// enabledMoves evaluates every guard with the closures.
func enabledMoves(p *moveGenerator, state []int32) (enabled []int, failed bool) {
	v := env{state: state}
	for i, mv := range p.moves {
		all := true
		for _, command := range mv.commands {
			all = command.guard(&v) && all
		}
		if all {
			enabled = append(enabled, i)
		}
	}
	for _, command := range p.model.commands {
		command.guard(&v)
		failed = failed || evaluate(p.builder.expr(command.source.Guard), state).failed // doubles may decide wrongly
	}
	return enabled, failed || v.err != nil
}

func walk(t *decisionTree, state []int32) (enabled []int) {
	switch {
	case t.test != nil:
		return walk(t.children[1-evaluate(t.test, state).i], state)
	case t.children != nil:
		for i, v := range t.values {
			if int64(state[t.slot]) == v {
				return walk(t.children[i], state)
			}
		}
		return walk(t.children[len(t.values)], state)
	}
	for _, candidate := range t.moves {
		all := true
		for _, conjunct := range candidate.conjuncts {
			all = all && evaluate(conjunct, state).i == 1
		}
		if all {
			enabled = append(enabled, candidate.moveIndex)
		}
	}
	return enabled
}
