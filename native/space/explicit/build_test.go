package explicit_test

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tilecheck/internal/progress"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// TestConformance compares the numbers of states, choices and transitions with
// those of PRISM's explicit engine, and the transitions with those it exported.
func TestConformance(t *testing.T) {
	cases := corpusModels(t)
	if len(cases) < 80 {
		t.Errorf("only %d models", len(cases))
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := compiled(t, c.src, c.consts...)
			s, err := explicit.Build(t.Context(), m, explicit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			g := s.Model()
			got := fmt.Sprintf("%d (%d initial) %d", g.NumStates(), len(g.Initial), g.NumTransitions())
			if want := c.States + " " + c.Transitions; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if c.Choices != "" && strconv.Itoa(g.NumChoices()) != c.Choices {
				t.Errorf("got %d choices, want %s", g.NumChoices(), c.Choices)
			}
			if f, err := os.Open(c.dir + "/out.tra"); err == nil {
				defer f.Close()
				compareRows(t, rowsOf(s), readRows(t, f, g.Kind == sparse.MDP))
			}
			sameAsBrute(t, m, s)
		})
	}
}

// row is one line of PRISM's .tra format.
type row struct {
	source, choice, target int
	prob                   float64
	action                 string
}

// rowsOf returns the lines for a space, in PRISM's order.
func rowsOf(s *explicit.Space) []row {
	order := s.Order()
	number := make([]uint32, len(order))
	for k, i := range order {
		number[i] = uint32(k)
	}
	m := s.Model().Renumber(number)
	var rows []row
	for state := range m.NumStates() {
		first, end := m.Choices(state)
		for c := first; c < end; c++ {
			lo, hi := m.Transitions(c)
			start := len(rows)
			for i := lo; i < hi; i++ {
				r := row{state, c - first, int(m.Target[i]), m.Prob(i), ""}
				j := i
				if m.Kind == sparse.MDP {
					j = c
				}
				if m.Actions != nil && m.Actions[j] != sparse.NoAction {
					r.action = s.Program().Actions[m.Actions[j]-1]
				}
				rows = append(rows, r)
			}
			slices.SortFunc(rows[start:], func(a, b row) int {
				null := func(x string) string {
					if x == "" {
						return "null"
					}
					return x
				}
				if a.target != b.target {
					return a.target - b.target
				}
				return strings.Compare(null(a.action), null(b.action))
			})
		}
	}
	return rows
}

func compareRows(t *testing.T, got, want []row) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b row) bool {
		near := math.Abs(a.prob-b.prob) <= 1e-15*b.prob
		a.prob, b.prob = 0, 0
		return near && a == b
	}) {
		t.Errorf("got transitions\n%v, want\n%v", got, want)
	}
}

func readRows(t *testing.T, f *os.File, choices bool) []row {
	t.Helper()
	var rows []row
	counts := true
	for sc := bufio.NewScanner(f); sc.Scan(); {
		fields := strings.Fields(sc.Text())
		if fields[0] == "#" {
			continue
		}
		if counts {
			counts = false
			continue
		}
		var r row
		if choices {
			r.choice, _ = strconv.Atoi(fields[1])
			fields = slices.Delete(fields, 1, 2)
		}
		r.source, _ = strconv.Atoi(fields[0])
		r.target, _ = strconv.Atoi(fields[1])
		r.prob, _ = strconv.ParseFloat(fields[2], 64)
		if len(fields) > 3 {
			r.action = fields[3]
		}
		rows = append(rows, r)
	}
	return rows
}

// sameAsBrute compares the numbering, by breadth-first search, and the exact
// sums of the weights of every state with an exploration that uses maps.
func sameAsBrute(t *testing.T, m *compile.Model, s *explicit.Space) {
	t.Helper()
	initial, err := m.InitialStates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	var states [][]int32
	number := func(v []int32) int {
		key := fmt.Sprint(v)
		if _, ok := seen[key]; !ok {
			seen[key] = len(states)
			states = append(states, slices.Clone(v))
		}
		return seen[key]
	}
	for _, v := range initial {
		number(v)
	}
	x := m.NewExpander()
	for i := 0; i < len(states); i++ {
		cs, err := x.Expand(states[i])
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cs.List {
			for _, tr := range c.Transitions {
				number(tr.Target)
			}
		}
	}
	if len(states) != s.Model().NumStates() {
		t.Fatalf("%d states, want %d", s.Model().NumStates(), len(states))
	}
	for i, v := range states {
		if got := s.State(nil, i); !slices.Equal(got, v) {
			t.Errorf("state %d is %v, want %v", i, got, v)
		}
		if k, ok := s.Find(v); !ok || k != i {
			t.Errorf("state %v has number %d, %v", v, k, ok)
		}
	}
}

// TestWorkers: the result does not depend on the number of workers.
func TestWorkers(t *testing.T) {
	one := build(t, walk, explicit.Options{Workers: 1}).Model()
	for _, workers := range []int{2, 7} {
		many := build(t, walk, explicit.Options{Workers: workers}).Model()
		if !slices.Equal(one.Target, many.Target) || !slices.Equal(one.WeightIndex, many.WeightIndex) ||
			!slices.Equal(one.FirstChoice, many.FirstChoice) || !slices.Equal(one.FirstTransition, many.FirstTransition) || !slices.Equal(one.Actions, many.Actions) {
			t.Errorf("%d workers give another model", workers)
		}
	}
}

// walk has 101*101*2 states, and variables that together need more than a word.
const walk = `mdp
module a x:[0..100]; u:int init -7; [l] x>0 -> 0.5:(x'=x-1)+0.5:true; [r] x<100 -> (x'=x+1); endmodule
module b y:[0..100]; w:int init 9; [] y<100 -> 1/3:(y'=y+1)+2/3:(y'=0); [] true -> (y'=y); endmodule
module c f:bool; [l] true -> (f'=!f); endmodule`

func TestWideStates(t *testing.T) {
	s := build(t, walk, explicit.Options{})
	if n := s.Model().NumStates(); n != 101*101*2 {
		t.Errorf("%d states, want %d", n, 101*101*2)
	}
	if s.StateBits() != 7+32+7+32+1 {
		t.Errorf("%d bits, want 79", s.StateBits())
	}
	order := s.Order()
	if !slices.IsSortedFunc(order, func(a, b uint32) int {
		return slices.Compare(s.State(nil, int(a)), s.State(nil, int(b)))
	}) {
		t.Errorf("the order is not PRISM's")
	}
	if _, ok := s.Find([]int32{0, -7, 0, 8, 0}); ok {
		t.Errorf("found a state that is not reachable")
	}
	if _, ok := s.Find([]int32{101, -7, 0, 9, 0}); ok {
		t.Errorf("found a state out of range")
	}
}

// TestExactWeights: fractions are what the model says, not what doubles make of it.
func TestExactWeights(t *testing.T) {
	tests := []struct {
		name, src string
		want      []string // of the initial state's transitions
		action    string
	}{
		{"decimals", `dtmc const double p=0.9; module m s:[0..1]; [] s=0 -> p:(s'=1)+1-p:true; [] s=1 -> true; endmodule`, []string{"9/10", "1/10"}, ""},
		{"thirds", `mdp module m s:[0..2]; [] true -> 1/3:(s'=0)+1/3:(s'=1)+1/3:(s'=2); endmodule`, []string{"1/3", "1/3", "1/3"}, ""},
		{"of the state", `mdp module m s:[0..3] init 3; [] true -> 1/s:(s'=1)+(s-1)/s:(s'=2); endmodule`, []string{"1/3", "2/3"}, ""},
		{"product", `mdp module m s:[0..1]; [a] true -> 0.1:(s'=0)+0.9:(s'=1); endmodule module n t:[0..1]; [a] true -> 0.3:(t'=0)+0.7:(t'=1); endmodule`, []string{"3/100", "27/100", "7/100", "63/100"}, ""},
		{"overlap", `dtmc module m s:[0..2]; [] s=0 -> (s'=1); [] s=0 -> 0.1:(s'=1)+0.9:(s'=2); [] s>0 -> true; endmodule`, []string{"11/20", "9/20"}, ""},
		{"rates", `ctmc module m s:[0..2]; [] s=0 -> 0.1:(s'=1); [] s=0 -> 0.2:(s'=1)+3:(s'=2); [] s>0 -> true; endmodule`, []string{"3/10", "3"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// Only the first row is compared; 1/s needs s>0 everywhere.
			m := build(t, tt.src, explicit.Options{Exact: true}).Model()
			var got []string
			for i := range m.FirstTransition[1] {
				got = append(got, m.Fraction(int(i)).RatString())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("weights %v, want %v", got, tt.want)
			}
		})
	}
}

// TestExactTargets: guards, updates, ranges and initial states are what the text
// says, in models of doubles, too.
func TestExactTargets(t *testing.T) {
	tests := []struct {
		name, src string
		want      []int32 // values of s
	}{
		{"an update", "dtmc module m s:[0..9]; [] s=0 -> (s'=floor((0.1+0.7)*10+s)); [] s>0 -> true; endmodule", []int32{0, 8}},
		{"a guard", "dtmc module m s:[0..9]; [] (s+1)/10+0.2=0.3 -> (s'=s+1); endmodule", []int32{0, 1}},
		{"a guard of constants", "dtmc const double a=0.1+0.2; module m s:[0..9]; [] a=0.3 & s=0 -> (s'=1); endmodule", []int32{0, 1}},
		{"a strict guard", "mdp module m s:[0..9]; [] s*0.1<0.3 -> (s'=s+1); endmodule", []int32{0, 1, 2, 3}},
		{"an initial value", "dtmc module m s:[0..99] init floor(0.29*100); [] true -> true; endmodule", []int32{29}},
		{"a range", "dtmc module m s:[0..floor(0.29*100)] init 29; [] true -> true; endmodule", []int32{29}},
		{"init", "dtmc module m s:[0..9]; [] true -> true; endmodule init s*0.1=0.3 endinit", []int32{3}},
		{"a condition", "dtmc module m s:[0..9]; [] s=0 -> (s'=(0.1+0.2=0.3+s)?5:6); [] s>0 -> true; endmodule", []int32{0, 5}},
		{"large numbers", "dtmc module m s:[0..9]; [] (s+1e16+1)-1e16=1 -> (s'=s+1); endmodule", []int32{0, 1}},
		{"beyond doubles", "dtmc module m s:[0..9]; [] s*1e-400<2e-400 & s+1e400>1e400-1 -> (s'=s+1); endmodule", []int32{0, 1, 2}},
		{"minus zero", "dtmc module m s:[0..9]; [] s*-1.0=0.0 -> (s'=s+1); endmodule", []int32{0, 1}},
		{"a ternary", "dtmc module m s:[0..9]; [] (s=0?0.1+0.2:0.3)=0.3 & s<2 -> (s'=s+1); endmodule", []int32{0, 1, 2}},
		{"max", "dtmc module m s:[0..9]; [] max(0.1+0.2,0.3+s)=0.3 -> (s'=s+1); endmodule", []int32{0, 1}},
		{"a logarithm", "dtmc module m s:[0..9]; [] log(8,2)=3+s -> (s'=s+1); endmodule", []int32{0, 1}},
		{"a variable logarithm", "dtmc module m s:[0..9] init 8; [] log(s,2)=3 -> (s'=ceil(log(9,2))); [] s=4 -> true; endmodule", []int32{8, 4}},
		{"lost support", "dtmc const double ok=1-1e-17; module m s:[0..2]; [] s=0 -> ok:(s'=1)+1-ok:(s'=2); [] s>0 -> true; endmodule", []int32{0, 1, 2}},
		{"lost support in the state", "dtmc module m s:[0..2]; [] s=0 -> 1-(s+1)*1e-17:(s'=1)+1-(1-(s+1)*1e-17):(s'=2); [] s>0 -> true; endmodule", []int32{0, 1, 2}},
		{"gained support", "dtmc module m s:[0..2]; [] s=0 -> 0.1+0.2-0.3:(s'=1)+1-(0.1+0.2-0.3):(s'=2); [] s>0 -> true; endmodule", []int32{0, 2}},
		{"gained support in the state", "mdp module m s:[0..2]; [] s=0 -> (s+1)*0.1+0.2-0.3:(s'=1)+1-((s+1)*0.1+0.2-0.3):(s'=2); [] s>0 -> true; endmodule", []int32{0, 2}},
		{"negative in doubles", "dtmc module m s:[0..2]; [] s=0 -> 0.3-0.1*(s+3):(s'=1)+1-(0.3-0.1*(s+3)):(s'=2); [] s>0 -> true; endmodule", []int32{0, 2}},
		{"a product", "dtmc module m s:[0..2]; [a] s=0 -> 1e-200:(s'=1)+1-1e-200:(s'=2); [b] s>0 -> true; endmodule module n t:[0..1]; [a] t=0 -> 1e-200:(t'=1)+1-1e-200:true; [b] true -> true; endmodule", []int32{0, 1, 2, 1, 2}},
		{"tiny rates", "ctmc module m s:[0..2]; [] s=0 -> 1e-400:(s'=1)+1e310:(s'=2); [] s>0 -> true; endmodule", []int32{0, 1, 2}},
		{"tiny power", "dtmc module m s:[0..2]; [] s=0 -> pow(1e-200,2+s):(s'=1)+1-pow(1e-200,2+s):(s'=2); [] s>0 -> true; endmodule", []int32{0, 1, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, opts := range []explicit.Options{{}, {CompileFrom: 1}, {Exact: true}} {
				s := build(t, tt.src, opts)
				var got []int32
				for i := range s.Model().NumStates() {
					got = append(got, s.State(nil, i)[0])
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("%+v: states s=%v, want %v", opts, got, tt.want)
				}
			}
		})
	}
}

// TestExactAgrees: the exact model is the double one, with better weights. The
// difference is within the error that the double model claims.
func TestExactAgrees(t *testing.T) {
	for _, c := range corpusModels(t) {
		t.Run(c.name, func(t *testing.T) {
			m := compiled(t, c.src, c.consts...)
			s, err := explicit.Build(t.Context(), m, explicit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			x, err := explicit.Build(t.Context(), m, explicit.Options{Exact: true})
			if _, ok := errors.AsType[*compile.StateError](err); ok {
				return // sums that are one for doubles only
			}
			if err != nil {
				t.Fatal(err)
			}
			d, e := s.Model(), x.Model()
			if !slices.Equal(d.Target, e.Target) || !slices.Equal(d.FirstTransition, e.FirstTransition) || !slices.Equal(d.Actions, e.Actions) {
				t.Fatalf("other transitions: %v and %v", d.Target, e.Target)
			}
			for i := range d.Target {
				off := new(big.Rat).SetFloat64(d.Prob(i))
				off.Sub(off, e.Fraction(i)).Quo(off.Abs(off), e.Fraction(i))
				if f, _ := off.Float64(); f > d.RelErr {
					t.Errorf("transition %d: %v for %s is off by %v, more than %v", i, d.Prob(i), e.Fraction(i).RatString(), f, d.RelErr)
				}
			}
		})
	}
}

// TestErrors: wrong models are refused with the state and the place.
func TestErrors(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"range", "dtmc\nmodule m\n s:[0..8] init 8;\n [] true -> (s'=s+1);\nendmodule", "m.prism:4:13: s'=9 leaves [0..8] in state (s=8)"},
		{"sum", "mdp\nmodule m\n s:[0..1];\n [] true -> 0.5:(s'=1)+0.4:true;\nendmodule", "m.prism:4:2: probabilities sum to 0.9, not to 1 in state (s=0)"},
		{"negative", "ctmc\nmodule m\n s:[0..1];\n [] true -> (s-1):(s'=1);\nendmodule", "m.prism:4:14: rate -1 is negative in state (s=0)"},
		{"division", "dtmc\nmodule m\n s:[0..9];\n [] mod(3,s)=1 -> (s'=1);\nendmodule", "m.prism:4:5: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := explicit.Build(t.Context(), compiled(t, tt.src), explicit.Options{})
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %q, want %q", err, tt.want)
			}
		})
	}
}

func TestExactErrors(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"sum", "dtmc\nmodule m\n s:[0..1];\n [] true -> 0.3333333333333:(s'=1)+0.6666666666666:true;\nendmodule", "m.prism:4:2: probabilities sum to 9999999999999/10000000000000, exactly, not to 1 in state (s=0)"},
		{"logarithm", "ctmc\nmodule m\n s:[0..1];\n [] true -> log(3,2):(s'=1);\nendmodule", "m.prism:4:13: rate 1.5849625007211563 is not a fraction in state (s=0)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := compiled(t, tt.src)
			if _, err := explicit.Build(t.Context(), m, explicit.Options{}); err != nil {
				t.Fatal(err)
			}
			_, err := explicit.Build(t.Context(), m, explicit.Options{Exact: true})
			if err == nil || err.Error() != tt.want {
				t.Errorf("error %q, want %q", err, tt.want)
			}
		})
	}
}

func TestDeadlocks(t *testing.T) {
	const src = "mdp module m s:[0..3]; [] s=0 -> 0.5:(s'=1)+0.5:(s'=2); [] s=1 -> (s'=3); endmodule"
	s := build(t, src, explicit.Options{})
	if d := s.Model().Deadlocks; d == nil || !slices.Equal(slices.Collect(d.All()), []int{2, 3}) {
		t.Errorf("deadlocks %v, want states 2 and 3", d)
	}
	if want := []string{"deadlocks in 2 states were given a self-loop"}; !slices.Equal(s.Warnings(), want) {
		t.Errorf("warnings %q, want %q", s.Warnings(), want)
	}
	set, err := s.States(&sema.Label{Base: sema.Base{ValueType: sema.Bool}, Name: "deadlock", Index: sema.LabelDeadlock})
	if err != nil || !set.Equal(s.Model().Deadlocks) {
		t.Errorf("label deadlock %v, error %v", set, err)
	}
	_, err = explicit.Build(t.Context(), compiled(t, src), explicit.Options{NoFixDeadlocks: true})
	if want := "deadlocks in 2 states, the first is (s=2)"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestLimits(t *testing.T) {
	const src = "dtmc module m s:int; [] true -> 0.5:(s'=s+1)+0.5:(s'=0); endmodule"
	_, err := explicit.Build(t.Context(), compiled(t, src), explicit.Options{MaxStates: 5000})
	if e, ok := errors.AsType[*explicit.LimitError](err); !ok || e.Memory || e.States <= 5000 {
		t.Errorf("error %v, want the limit of states", err)
	}
	_, err = explicit.Build(t.Context(), compiled(t, src), explicit.Options{MaxMemory: 1 << 20})
	if e, ok := errors.AsType[*explicit.LimitError](err); !ok || !e.Memory || !strings.Contains(err.Error(), "more than 1 MB of memory") {
		t.Errorf("error %v, want the limit of memory", err)
	}
}

func TestProgress(t *testing.T) {
	var last progress.Progress
	build(t, walk, explicit.Options{Progress: func(p progress.Progress) { last = p }})
	if last.Done != 101*101*2 {
		t.Errorf("last progress %+v", last)
	}
}
