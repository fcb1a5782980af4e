package simulate

import (
	"bytes"
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/internal/wild"
)

const race3 = `ctmc
module m x:[0..9] init 0; b:bool; [up] x<9 -> 2:(x'=x+1); [] x>0 -> 1:(x'=x-1)&(b'=!b); endmodule
module k y:[0..1]; [up] true -> (y'=1-y); endmodule
rewards "r" x=1:3; [up] true:1; endrewards
rewards "q" true:1; endrewards
`

const choose = `mdp
module m x:[0..9] init 0; [go] x<9 -> 0.25:(x'=x+1) + 0.75:true; [go] x<8 -> 0.5:(x'=x+1) + 0.5:(x'=x+2); [] x>0 -> (x'=0); endmodule
`

// overlap has two commands that lead to the same state: together they have 1/2 of the probability of 3/4.
const overlap = `dtmc
module m x:[0..3] init 0; [a] x=0 -> 0.5:(x'=1) + 0.5:(x'=2); [a] x=0 -> (x'=1); endmodule
`

// What is written is read again, with whatever columns: the same states, steps, times and rewards.
func TestRecordIsReplayed(t *testing.T) {
	for _, text := range []string{counter, dead, race3, choose, overlap} {
		m := load(t, text)
		for seed := range uint64(5) {
			opts := PathOptions{Steps: 40, Seed: seed, Rewards: true}
			want := walk(t, m, opts)
			for _, table := range []TableOptions{{}, {Separator: ","}, {Separator: "\t", Probs: true, Rewards: true}} {
				var b bytes.Buffer
				must(t, WriteTable(&b, Walk(t.Context(), FromModel(m.Model), opts), table))
				record, err := ReadPath(t.Context(), "p.csv", b.Bytes(), m.prog)
				must(t, err)
				got := walk(t, m, PathOptions{Record: record, Rewards: true})
				must(t, got.Err)
				if len(got.states) != len(want.states) || !slices.EqualFunc(got.states, want.states, slices.Equal) || !slices.Equal(got.times, want.times) {
					t.Errorf("%v of %s: got %v %v, want %v %v", table, text, got.states, got.times, want.states, want.times)
				}
				if table.Probs && !slices.EqualFunc(got.steps, want.steps, func(a, b Step) bool {
					return a.Probability == b.Probability && a.Action == b.Action && a.Module == b.Module && slices.Equal(a.Rewards, b.Rewards)
				}) {
					t.Errorf("%v of %s: got %v, want %v", table, text, got.steps, want.steps)
				}
			}
		}
	}
}

// Probabilities by hand, and the random steps behind a record.
func TestRecordProbability(t *testing.T) {
	tests := []struct {
		model, path string
		opt         PathOptions
		want        float64
		steps       int
	}{
		{counter, "n odd seen\n0 false false\n", PathOptions{}, 1, 0},
		{choose, "action,x\n-,0\n[go],1\n[go],2\nm,0\n", PathOptions{}, 0.25 * 0.25, 3}, // the first command that does it
		{choose, "action,probability,x\n-,-,0\n[go],0.5,1\n?,0.50000000001,3\n", PathOptions{}, 0.25, 2},
		{overlap, "x\n0\n1\n", PathOptions{}, 0.75, 1},
		{overlap, "probability x\n- 0\n0.25 1\n", PathOptions{}, 0.25, 1},
		{overlap, "probability x\n- 0\n0.75 1\n", PathOptions{}, 0.75, 1},
		{race3, "x b y\r\n\r\n0 false 0\r\n1 false 1\r\n0 true 1", PathOptions{}, 1.0 / 3, 2},
		{race3, "x,b,y,probability\n0,false,0,-\n1,false,1,1.0\n0,true,1,0.3333333333333333\n", PathOptions{}, 1.0 / 3, 2},
		{counter, "n odd seen\n0 false false\n1 true false\n", PathOptions{Steps: 3}, 1, 3},
		{counter, "n odd seen\n0 false false\n1 true false\n2 false true\n", PathOptions{Steps: 1}, 1, 2},
		{counter, "n odd seen\n0 false false\n", PathOptions{Deadlock: true}, 1, 4},
	}
	for _, tt := range tests {
		m := load(t, tt.model)
		var err error
		tt.opt.Record, err = ReadPath(t.Context(), "p", []byte(tt.path), m.prog)
		must(t, err)
		got := walk(t, m, tt.opt)
		must(t, got.Err)
		if p, _ := got.Probability.Float64(); math.Abs(p-tt.want) > 1e-12 || len(got.steps) != tt.steps {
			t.Errorf("%q: %d steps with %v, want %d with %v", tt.path, len(got.steps), p, tt.steps, tt.want)
		}
	}
}

// Wrong files, and where and how they are wrong.
func TestRecordIsWrong(t *testing.T) {
	tests := []struct{ model, path, want string }{
		{counter, "", `p:1:1: found no row`},
		{counter, "\n \n", `p:3:1: found no row`},
		{counter, "n odd seen", `p:1:1: found no row`},
		{counter, "n odd", `p:1:1: found no column "seen", want one for each variable of m.prism`},
		{counter, "n,odd,seen,n\n", `p:1:12: found a second column "n"`},
		{counter, "n odd seen\n0 false\n", `p:2:1: found 2 columns, want 3`},
		{counter, "n,odd,seen\n0,no,false\n", `p:2:3: found "no" for odd, want true or false`},
		{counter, "n odd seen\n0x0 false false\n", `p:2:1: found "0x0" for n, want an integer`},
		{counter, "n odd seen\n99999999999 false false\n", `p:2:1: found "99999999999"`},
		{counter, "n odd seen\n1 false false\n", `p:2:1: found (n=1,odd=false,seen=false) in the first row, want an initial state: (n=0,odd=false,seen=false)`},
		{counter, "n,odd,seen\n0,false,false\n 2,true,false\n", `p:3:2: found (n=2,odd=true,seen=false), which is not a step from (n=0,odd=false,seen=false), want [up] to (n=1,odd=true,seen=false)`},
		{counter, "action n odd seen\n- 0 false false\n[down] 1 true false\n", `p:3:8: found [down] to (n=1,odd=true,seen=false), which is not a step`},
		{counter, "step n odd seen\n0 0 false false\n2 2 false true\n", `p:3:1: found step 2, want 1: a path with all its states`},
		{counter, "probability n odd seen\n- 0 false false\n1.5 1 true false\n", `p:3:5: found (n=1,odd=true,seen=false) with 1.5, want 1.0`},
		{counter, "probability n odd seen\n- 0 false false\n-1 1 true false\n", `p:3:1: found "-1" for the probability`},
		{counter, "probability n odd seen\n- 0 false false\nNaN 1 true false\n", `p:3:1: found "NaN"`},
		{dead, "s\n0\n1\n2\n2\n", `p:5:1: found (s=2) after (s=2), which is a deadlock`},
		{race3, "x b y time\n0 false 0 0\n1 false 1 0.5\n0 true 1 0.25\n", `p:4:10: found "0.25" for the time, want a number of at least 0.5`},
		{race3, "x b y time\n0 false 0 0\n1 false 1 Inf\n", `p:3:11: found "Inf" for the time`},
		{choose, "x\n0\n\xff\n", `p:3:1: found "\xff"`},
	}
	for _, tt := range tests {
		m := load(t, tt.model)
		record, err := ReadPath(t.Context(), "p", []byte(tt.path), m.prog)
		if err == nil {
			err = walk(t, m, PathOptions{Record: record}).Err
		}
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %s", tt.path, err, tt.want)
		}
	}
}

// A record of a model with many initial states says in which one it begins, and the end of the context ends a replay.
func TestRecordStarts(t *testing.T) {
	m := load(t, "dtmc module m x:[0..9]; [] x<9 -> (x'=x+1); endmodule init x>3 endinit")
	record, err := ReadPath(t.Context(), "p", []byte("x\n7\n8\n"), m.prog)
	must(t, err)
	if got := walk(t, m, PathOptions{Record: record}); got.Err != nil || got.End != AtRecord {
		t.Errorf("%v, %v", got.End, got.Err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := Walk(ctx, FromModel(m.Model), PathOptions{Record: record})
	for range path.Visits() {
	}
	if path.Err == nil {
		t.Errorf("a path without time: %v", path.End)
	}
}

// What PRISM writes is a path of the model that we read.
func TestRecordOfPRISM(t *testing.T) {
	prism := needs.PRISM(t)
	models := []wild.Model{{Text: counter}, {Text: dead}, {Text: race3}, {Text: choose}, {Text: overlap}}
	for i := range uint64(6) {
		models = append(models, wild.New(1, i, 0))
	}
	read := 0
	for i, x := range models {
		text := x.Text
		dir := t.TempDir()
		file, out := filepath.Join(dir, "m.prism"), filepath.Join(dir, "p.txt")
		must(t, os.WriteFile(file, []byte(text), 0o600))
		option := []string{"30", "30,probs=true,rewards=true,sep=comma", "time=9,sep=tab,probs=true"}[i%3]
		args := []string{file, "-simpath", option, out}
		var consts []string
		for _, definition := range x.Consts {
			first, _, _ := strings.Cut(definition, ":") // of a range such as K=1:2:3, PRISM's path has the first value
			consts = append(consts, first)
		}
		if len(consts) > 0 {
			args = append(args, "-const", strings.Join(consts, ","))
		}
		printed, err := exec.CommandContext(t.Context(), prism, args...).CombinedOutput()
		if err != nil {
			t.Logf("PRISM: %v\n%s", err, printed)
		}
		path, err := os.ReadFile(out)
		if err != nil {
			continue // PRISM has none of this model
		}
		m := load(t, text, consts...)
		record, err := ReadPath(t.Context(), out, path, m.prog)
		if err == nil {
			err = walk(t, m, PathOptions{Record: record}).Err
		}
		if err != nil {
			t.Errorf("%v\n%s\nof\n%s", err, path, text)
		}
		read++
	}
	if read < 5 {
		t.Errorf("%d paths were read, want those of our models at least", read)
	}
}
