package simulate

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/result"
)

// counter has exactly one path.
const counter = `dtmc
module counter
  n : [0..3] init 0;
  odd : bool init false;
  [up] n<3 -> (n'=n+1) & (odd'=!odd);
  [] n=3 -> true;
endmodule
module watcher
  seen : bool init false;
  [up] n!=1 -> true;
  [up] n=1 -> (seen'=true);
endmodule
rewards "a" n=1 : 2; [up] n=2 : 0.5; endrewards
rewards "b" [] true : 1e-5; odd : 12345678; endrewards
`

const dead = `dtmc
module m s:[0..2] init 0; [] s<2 -> (s'=s+1); endmodule
rewards true:1; [] true: 2; endrewards
`

// prismTable is a table that PRISM prints for a model with a single path.
type prismTable struct {
	option string // of -simpath
	model  string
	path   PathOptions
	table  TableOptions
	vars   []string
	end    PathEnd
	want   string
}

// prismTables are the output of PRISM 4.10.2-dev, except that with "deadlock" it
// prints 0.0 for the reward of the last transition, which is 2.0 in its other modes.
func prismTables() []prismTable {
	return []prismTable{
		{
			"9,probs=true,rewards=true",
			counter,
			PathOptions{Steps: 9, Rewards: true},
			TableOptions{Probs: true, Rewards: true},
			nil, AtLoop,
			`action probability step n odd seen state_reward1 transition_reward1 state_reward2 transition_reward2
- - 0 0 false false 0.0 0.0 0.0 0.0
[up] 1.0 1 1 true false 2.0 0.0 1.2345678E7 0.0
[up] 1.0 2 2 false true 0.0 0.5 0.0 0.0
[up] 1.0 3 3 true true 0.0 0.0 1.2345678E7 1.0E-5
counter 1.0 4 3 true true 0.0 ? 1.2345678E7 ?
`,
		},
		{
			"2",
			counter,
			PathOptions{Steps: 2},
			TableOptions{},
			nil, AtLength,
			`action step n odd seen
- 0 0 false false
[up] 1 1 true false
[up] 2 2 false true
`,
		},
		{
			"5,loopcheck=false,sep=comma,vars=(seen,n),changes=false",
			counter,
			PathOptions{Steps: 5, NoLoopCheck: true},
			TableOptions{Separator: ","},
			[]string{"seen", "n"},
			AtLength,
			`action,step,seen,n
-,0,false,0
[up],1,false,1
[up],2,true,2
[up],3,true,3
counter,4,true,3
counter,5,true,3
`,
		},
		{
			"5,loopcheck=false,sep=tab,vars=(seen),changes=true,probs=true",
			counter,
			PathOptions{Steps: 5, NoLoopCheck: true},
			TableOptions{Separator: "\t", Probs: true, Changes: true},
			[]string{"seen"},
			AtLength,
			"action\tprobability\tstep\tseen\n-\t-\t0\tfalse\n[up]\t1.0\t2\ttrue\n",
		},
		{
			"6,loopcheck=false,vars=(seen),changes=true,rewards=true",
			counter,
			PathOptions{Steps: 6, NoLoopCheck: true, Rewards: true},
			TableOptions{Changes: true, Rewards: true},
			[]string{"seen"},
			AtLength,
			`action step seen state_reward1 transition_reward1 state_reward2 transition_reward2
- 0 false 0.0 0.0 0.0 0.0
[up] 1 false 2.0 0.0 1.2345678E7 0.0
[up] 2 true 0.0 0.5 0.0 0.0
[up] 3 true 0.0 0.0 1.2345678E7 1.0E-5
`,
		},
		{
			"time=2,probs=true",
			counter,
			PathOptions{Time: 2},
			TableOptions{Probs: true},
			nil, AtTime,
			`action probability step n odd seen
- - 0 0 false false
[up] 1.0 1 1 true false
[up] 1.0 2 2 false true
`,
		},
		{
			"deadlock,rewards=true",
			dead,
			PathOptions{Deadlock: true, Rewards: true},
			TableOptions{Rewards: true},
			nil, AtDeadlock,
			`action step s state_reward transition_reward
- 0 0 1.0 2.0
m 1 1 1.0 2.0
m 2 2 1.0 ?
`,
		},
		{
			"9,rewards=true",
			dead,
			PathOptions{Steps: 9, Rewards: true},
			TableOptions{Rewards: true},
			nil, AtDeadlock,
			`action step s state_reward transition_reward
- 0 0 1.0 2.0
m 1 1 1.0 2.0
m 2 2 1.0 ?
`,
		},
	}
}

// path is a path that was kept.
type path struct {
	*Path
	states  [][]int32
	steps   []Step
	rewards [][]float64
	times   []float64
}

func walk(t *testing.T, m *model, opts PathOptions) path {
	t.Helper()
	p := path{Path: Walk(t.Context(), FromModel(m.Model), opts)}
	for visit := range p.Visits() {
		if visit.Number != int64(len(p.states)) || (visit.Incoming == nil) != (visit.Number == 0) || visit.Incoming != nil && !reflect.DeepEqual(*visit.Incoming, p.steps[len(p.steps)-1]) {
			t.Fatalf("visit %+v after %d states, %d steps", visit, len(p.states), len(p.steps))
		}
		p.states, p.times = append(p.states, slices.Clone(visit.State)), append(p.times, visit.Time)
		if visit.Rewards != nil {
			p.rewards = append(p.rewards, visit.Rewards)
		}
		if visit.Outgoing != nil {
			p.steps = append(p.steps, *visit.Outgoing)
		}
	}
	return p
}

func TestTable(t *testing.T) {
	for _, tt := range prismTables() {
		m := load(t, tt.model)
		if tt.vars != nil {
			var err error
			tt.table.Vars, err = VarSlots(m.prog, tt.vars)
			must(t, err)
		}
		path := Walk(t.Context(), FromModel(m.Model), tt.path)
		var b bytes.Buffer
		must(t, WriteTable(&b, path, tt.table))
		must(t, path.Err)
		if b.String() != tt.want || path.End != tt.end {
			t.Errorf("-simpath %s: end %v, want %v\n got %s\nwant %s", tt.option, path.End, tt.end, b.String(), tt.want)
		}
	}
}

// TestTablePRISM confirms the tables with the PRISM that TILECHECK_PRISM names.
func TestTablePRISM(t *testing.T) {
	prism := needs.PRISM(t)
	for _, tt := range prismTables() {
		file := filepath.Join(t.TempDir(), "m.prism")
		must(t, os.WriteFile(file, []byte(tt.model), 0o600))
		out, err := exec.CommandContext(t.Context(), prism, file, "-simpath", tt.option, "stdout").CombinedOutput()
		must(t, err)
		_, table, _ := strings.Cut(string(out), "\naction")
		table, _, _ = strings.Cut("action"+table, "\n\n")
		want := strings.TrimSuffix(tt.want, "\n")
		if strings.HasPrefix(tt.option, "deadlock") { // see prismTables
			want = strings.Replace(want, "m 1 1 1.0 2.0", "m 1 1 1.0 0.0", 1)
		}
		if table != want {
			t.Errorf("-simpath %s:\nPRISM %s\n want %s", tt.option, table, want)
		}
	}
}

// The layout is that of PRISM for this model (-simpath 6,rewards=true,probs=true),
// whose times are random; the numbers follow from the model.
func TestTableOfCTMC(t *testing.T) {
	m := load(t, `ctmc
module M s:[0..2] init 0; [] s=0 -> 3:(s'=1); [] s=1 -> 2:(s'=2)+1:(s'=0); [x] s=2 -> 0.5:(s'=0); endmodule
module N t:[0..1] init 0; [x] true -> 2:(t'=1-t); [] t=1 -> 7:(t'=0); endmodule
rewards "n" [] true:1; s=1:1.5; endrewards
`)
	steps := []*Step{
		nil,
		{Action: sema.Unlabelled, Module: 0, Probability: 3, Time: 0.75, Rewards: []float64{1}},
		{Action: sema.Unlabelled, Module: 0, Probability: 2, Time: 0.5, Rewards: []float64{1}},
		{Action: 0, Module: -1, Probability: 1, Time: 0.25, Rewards: []float64{0}},
		nil,
	}
	var b bytes.Buffer
	table := &tableWriter{writer: bufio.NewWriter(&b), program: m.prog, opts: TableOptions{Separator: " ", Vars: []int{0, 1}, Probs: true, Rewards: true}}
	for i, v := range []Visit{{State: []int32{0, 0}}, {State: []int32{1, 0}, Time: 0.75}, {State: []int32{2, 0}, Time: 1.25}, {State: []int32{0, 1}, Time: 1.5}} {
		v.Number, v.Rewards, v.Incoming, v.Outgoing = int64(i), []float64{1.5 * float64(v.State[0]%2)}, steps[i], steps[i+1]
		must(t, table.writeVisit(&v))
	}
	must(t, table.writer.Flush())
	want := `action probability step time s t state_reward transition_reward
- - 0 0.0 0 0 0.0 1.0
M 3.0 1 0.75 1 0 1.5 1.0
M 2.0 2 1.25 2 0 0.0 0.0
[x] 1.0 3 1.5 0 1 0.0 ?
`
	if b.String() != want {
		t.Errorf("got %s\nwant %s", b.String(), want)
	}
}

// Every step of a random path has to be a transition of its state.
func TestWalkSteps(t *testing.T) {
	for _, m := range []*model{
		load(t, die),
		load(t, choices),
		load(t, strings.Replace(choices, "mdp", "dtmc", 1)),
		load(t, queue, "K=4,lambda=1,mu=2"),
	} {
		x := m.NewExpander()
		for seed := range uint64(20) {
			p := walk(t, m, PathOptions{Steps: 40, Seed: seed})
			must(t, p.Err)
			if len(p.states) != len(p.steps)+1 {
				t.Fatalf("%d states, %d steps", len(p.states), len(p.steps))
			}
			for i, s := range p.steps {
				cs, err := x.Expand(p.states[i])
				must(t, err)
				c := cs.List[s.Choice]
				divisor := 1.0
				if m.prog.Type.String() == "DTMC" {
					divisor = float64(len(cs.List))
				}
				found := slices.ContainsFunc(c.Transitions, func(tr compile.Transition) bool {
					return slices.Equal(tr.Target, p.states[i+1]) && tr.Weight/divisor == s.Probability
				})
				if !found || s.Choices != len(cs.List) || s.Action != c.Action {
					t.Fatalf("step %d, %+v, is no transition from %v", i, s, p.states[i])
				}
				if ctmc := m.prog.Type.String() == "CTMC"; ctmc != (s.Time > 0) {
					t.Fatalf("step %d takes %v", i, s.Time)
				}
			}
		}
	}
}

// Walks and samples have one distribution. The intervals have confidence
// 1-1e-6 each.
func TestWalkDistribution(t *testing.T) {
	m := load(t, die)
	const n = 6000
	var faces [7]int
	for i := range n {
		p := walk(t, m, PathOptions{Steps: 1000, Seed: 7, Index: uint64(i)})
		must(t, p.Err)
		faces[p.states[len(p.states)-1][1]]++
	}
	sd := math.Sqrt(n * 5.0 / 36)
	for d, k := range faces[1:] {
		if math.Abs(float64(k)-n/6) > 5*sd {
			t.Errorf("face %d came %d times of %d", d+1, k, n)
		}
	}
	// The time in the queue's state 1 is exponential with rate 3; it is left for 2 with probability 1/3.
	q := load(t, strings.Replace(queue, "init 0", "init 1", 1), "K=4,lambda=1,mu=2")
	total, ups := 0.0, 0
	for i := range n {
		p := walk(t, q, PathOptions{Steps: 1, Seed: 7, Index: uint64(i)})
		must(t, p.Err)
		total += p.steps[0].Time
		if p.states[1][0] == 2 {
			ups++
		}
	}
	if mean := total / n; math.Abs(mean-1.0/3) > 5/(3*math.Sqrt(n)) {
		t.Errorf("mean time %v, want 1/3", mean)
	}
	if math.Abs(float64(ups)-n/3) > 5*math.Sqrt(n*2.0/9) {
		t.Errorf("%d of %d rise, want a third", ups, n)
	}
	// Both choices of the MDP are equally likely.
	c := load(t, choices)
	first := 0
	for i := range n {
		p := walk(t, c, PathOptions{Steps: 1, Seed: 7, Index: uint64(i)})
		must(t, p.Err)
		if p.steps[0].Choice == 0 {
			first++
		}
	}
	if math.Abs(float64(first)-n/2) > 5*math.Sqrt(n)/2 {
		t.Errorf("the first choice was taken %d times of %d", first, n)
	}
}

func TestWalkEnds(t *testing.T) {
	ruined := load(t, ruin, "N=100000,start=50000,p=0.5")
	for _, tt := range []struct {
		m     *model
		opt   PathOptions
		end   PathEnd
		steps int
	}{
		{ruined, PathOptions{}, AtLength, 0},
		{ruined, PathOptions{Steps: 12}, AtLength, 12},
		{ruined, PathOptions{Time: 12.5}, AtTime, 13},
		{ruined, PathOptions{Time: 50, MaxSteps: 9}, AtLimit, 9},
		{ruined, PathOptions{Deadlock: true}, AtLimit, DefaultMaxPath},
		{load(t, dead), PathOptions{Steps: 12}, AtDeadlock, 2},
		{load(t, dead), PathOptions{Time: 12}, AtDeadlock, 2},
		{load(t, counter), PathOptions{Deadlock: true}, AtLoop, 4},
	} {
		p := walk(t, tt.m, tt.opt)
		if p.Err != nil || p.End != tt.end || len(p.steps) != tt.steps {
			t.Errorf("%+v: %v after %d steps, %v; want %v after %d", tt.opt, p.End, len(p.steps), p.Err, tt.end, tt.steps)
		}
	}
	// Time in a CTMC: at least the time asked for, and not before the last step.
	q := load(t, queue, "K=4,lambda=1,mu=2")
	p := walk(t, q, PathOptions{Time: 20, Seed: 1})
	if n := len(p.steps); p.Err != nil || p.End != AtTime || p.times[n] < 20 || p.times[n-1] >= 20 {
		t.Errorf("%v at times %v, %v", p.End, p.times, p.Err)
	}
}

func TestWalkErrors(t *testing.T) {
	m := load(t, "dtmc\nmodule m\n s:[0..2];\n [] true -> (s'=s+1);\nendmodule")
	p := walk(t, m, PathOptions{Steps: 5})
	failure, ok := errors.AsType[*result.Failure](p.Err)
	if !ok || failure.Class != result.Model || failure.Error() != "m.prism:4:13: s'=3 leaves [0..2] in state (s=2)" || len(p.states) != 3 {
		t.Errorf("error %v, path %+v", p.Err, p)
	}
	// A reward that is wrong in state 1, and one that is wrong in the first.
	m = load(t, "dtmc\nmodule m\n s:[0..2];\n [] s<2 -> (s'=s+1);\nendmodule\nrewards s=1 : 1/0; endrewards")
	p = walk(t, m, PathOptions{Steps: 5, Rewards: true})
	if p.Err == nil || p.End != AtError || len(p.states) != 1 || len(p.steps) != 0 || len(p.rewards) != 1 {
		t.Errorf("error %v, path %+v", p.Err, p)
	}
	m = load(t, "dtmc\nmodule m\n s:[0..2];\n [] s<2 -> (s'=s+1);\nendmodule\nrewards s=0 : 1/0; endrewards")
	if p = walk(t, m, PathOptions{Steps: 5, Rewards: true}); p.Err == nil || p.End != AtError || len(p.states) != 0 {
		t.Errorf("error %v, path %+v", p.Err, p)
	}
	several := load(t, "dtmc\nmodule m\n s:[0..2];\n [] true -> true;\nendmodule\ninit s<2 endinit")
	if p = walk(t, several, PathOptions{}); p.Err == nil || !strings.Contains(p.Err.Error(), "found 2 initial states") || len(p.states) != 0 {
		t.Errorf("error %v, path %+v", p.Err, p)
	}
	// A path that is interrupted has been visited up to there.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	long, n := Walk(ctx, FromModel(load(t, strings.Replace(counter, "n=3 -> true", "n=3 -> (n'=0)", 1)).Model), PathOptions{Steps: 1e15}), int64(0)
	for visit := range long.Visits() {
		if n++; visit.Number == 100_000 {
			cancel()
		}
	}
	failure, ok = errors.AsType[*result.Failure](long.Err)
	if !ok || failure.Class != result.Interrupted || long.End != AtRequest || n < 100_000 || n > 101_000 {
		t.Errorf("%v after %d states, error %v", long.End, n, long.Err)
	}
	if _, err := VarSlots(m.prog, []string{"s", "q"}); err == nil || err.Error() != `unknown variable "q"` {
		t.Errorf("error %v", err)
	}
}
