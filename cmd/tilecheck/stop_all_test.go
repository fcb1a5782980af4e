//go:build linux

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"tilecheck/internal/needs"
)

// stoppable is a command that does not end by itself, or not soon.
type stoppable struct {
	name string
	args []string
	// limited says that the command has a time limit.
	limited bool
	// finished is found in what it prints if it is told to end when it has come so far.
	finished string
	// leaves matches what it may leave in its directory.
	leaves string
	// waits keeps its standard input open.
	waits bool
}

// busyInputs are the inputs that took longest to stop, each by another phase.
var busyInputs = sync.OnceValue(func() map[string]string {
	repeat := func(n int, f func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(f(i))
		}
		return b.String()
	}
	return map[string]string{
		// One state with 4096 choices of up to 4096 transitions each, and one with a million choices.
		"sync.prism": "mdp\n" + repeat(12, func(i int) string {
			return fmt.Sprintf("module M%d x%d:[0..3]; [a] true -> 0.5:(x%d'=mod(x%d+1,4)) + 0.5:true; [a] true -> (x%d'=mod(x%d+2,4)); endmodule\n", i, i, i, i, i, i)
		}),
		"choices.prism": "mdp\n" + repeat(20, func(i int) string {
			return fmt.Sprintf("module M%d x%d:[0..3]; [a] true -> (x%d'=mod(x%d+1,4)); [a] true -> (x%d'=mod(x%d+2,4)); endmodule\n", i, i, i, i, i, i)
		}),
		"init.prism": "mdp module M\n" + repeat(10, func(i int) string { return fmt.Sprintf("x%d:[0..1000];\n", i) }) +
			"[] true -> true; endmodule init mod(x0*x1+x2*x3+x4*x5+x6*x7+x8*x9,1000003)=999999 & x0*x1+x9>100000000 endinit\n",
		"large.prism": "mdp module M x:[0..30000]; y:[0..200]; [] x<30000 -> 0.5:(x'=x+1) + 0.5:(y'=mod(y+1,201)); [] x>0 -> 0.9:(x'=x-1) + 0.1:(y'=0); endmodule\n" +
			"rewards true : x; endrewards\n",
		"small.prism": "dtmc module M x:[0..2000]; [] x<2000 -> 0.5:(x'=x+1) + 0.5:(x'=0); [] x=2000 -> true; endmodule rewards true : 1; endrewards\n",
		// Two thousand states on which many steps change much.
		"ctmc.prism": "ctmc module M x:[0..2000]; [] x<2000 -> 1e3:(x'=x+1); [] x>0 -> 1e3:(x'=x-1); endmodule\n",
		"long.csv":   "x,y\n0,0\n0,1\n",
		"long.prism": "dtmc module M x:[0..1]; y:[0..1]; [] true -> 0.5:(y'=0) + 0.5:(y'=1); endmodule rewards true : 1; endrewards\n",
		// A million operators, and names that get longer.
		"code.prism":  "mdp module M x:[0..100000];\n" + repeat(40_000, func(i int) string { return fmt.Sprintf("[] x=%d -> 0.5:(x'=%d) + 0.5:true;\n", i, i+1) }) + "endmodule\n",
		"quick.props": "P=? [ F<=1 x=1 ]\nP=? [ F<=100000000 x=1999 ]\n",
		"timed.props": "P=? [ F<=0.001 x=2 ]\nP=? [ F<=1e6 x=1999 ]\n",
		// An automaton with more than a thousand million states.
		"ltl.props": "P=? [ F<=1 x=1 ]\nP=? [ " + repeat(14, func(i int) string { return fmt.Sprintf("((G F x=%d) | (F G x=%d)) & ", i, i+1) }) + "(G F x=3) ]\n",
		// Beliefs without end, choices that all count, and blocks that split one by one.
		"partial.prism":  "pomdp observables o, y endobservables module M o:[0..2]; x:[0..60]; y:[0..1]; [a] o=0 -> 0.3:(x'=mod(x*7+3,61))&(y'=x<30?0:1) + 0.7:(x'=mod(x+1,61))&(y'=x<30?0:1); [b] o=0 -> 0.4:(x'=mod(x*5+1,61)) + 0.55:true + 0.05:(o'=2); [stop] o=0 & x=7 -> (o'=1); [stop] o=0 & x!=7 -> 0.9:(o'=2) + 0.1:(o'=0); endmodule\n",
		"grid.prism":     "mdp module M x:[0..300]; y:[0..300]; [a] x<300 -> 0.6:(x'=x+1) + 0.4:(y'=max(0,y-1)); [b] y<300 -> 0.7:(y'=y+1) + 0.3:(x'=max(0,x-2)); [c] x=300 & y=300 -> true; endmodule\n",
		"fresh/a.props":  "P=? [ F<=1 x=1 ]\nP=? [ F<=100000000 x=1999 ]\n",
		"fresh/a.prism":  "dtmc module M x:[0..2000]; [] x<2000 -> 0.5:(x'=x+1) + 0.5:(x'=0); [] x=2000 -> true; endmodule\n",
		"set/index.json": `{"files": [{"original-file": ["a.prism", "a.props"], "open-parameter-values": [{"results": [{"property": "p", "value": 1}]}]}]}`,
		"set/a.prism":    "dtmc module M x:[0..2000]; [] x<2000 -> 0.5:(x'=x+1) + 0.5:(x'=0); [] x=2000 -> true; endmodule\n",
		"set/a.props":    "\"p\": P=? [ F<=100000000 x=1999 ];\n",
		"suite/a.prism":  "dtmc module M x:[0..2000]; [] x<2000 -> 0.5:(x'=x+1) + 0.5:(x'=0); [] x=2000 -> true; endmodule\n",
		"suite/a.props":  "// RESULT: 0.5\nP=? [ F<=1 x=1 ]\n// RESULT: 1\nP=? [ F<=100000000 x=1999 ]\n",
		"deaf":           deaf,
	}
})

// deaf is a tool that ignores requests to end, and starts another that does.
const deaf = `#!/bin/sh
trap '' TERM INT HUP
sleep 1000 &
echo started
sleep 1000
`

// writeInputs writes those that the command line names, and returns the names.
func (s stoppable) writeInputs(t *testing.T, dir string) map[string]bool {
	t.Helper()
	known := make(map[string]bool)
	for name, text := range busyInputs() {
		first, _, _ := strings.Cut(name, "/")
		if !slices.Contains(s.args, first) && !slices.Contains(s.args, "./"+first) {
			continue
		}
		known[first] = true
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	return known
}

func stoppables() []stoppable {
	mdp := []string{"--prop", "Pmax=? [ F x0=3 ]"}
	check := func(name, finished string, args ...string) stoppable {
		return stoppable{name: "check " + name, args: append([]string{"check"}, args...), limited: true, finished: finished}
	}
	return []stoppable{
		{name: "gen", args: []string{"gen", "-o", "model"}, leaves: "^model$", limited: false},
		check("expansion", "", append([]string{"sync.prism"}, mdp...)...),
		check("expansion exact", "", append([]string{"sync.prism", "--exact"}, mdp...)...),
		check("choices", "", append([]string{"choices.prism"}, mdp...)...),
		check("initial", "", append([]string{"init.prism"}, mdp...)...),
		check("initial sampled", "", "init.prism", "--prop", "P=? [ F x0=3 ]", "--method", "sim"),
		check("space", "", "large.prism", "--prop", "Rmin=? [ F x=30000 ]"),
		check("code", "", "code.prism", "--prop", "Pmax=? [ F x=39000 ]"),
		check("steps", `F<=1 x=1 \] .*0\.5`, "small.prism", "quick.props"),
		check("steps exact", `F<=1 x=1 \] .*0\.5`, "small.prism", "quick.props", "--exact"),
		check("time", `F<=0\.001 x=2 \] `, "ctmc.prism", "timed.props"),
		check("automaton", "", "small.prism", "ltl.props"),
		check("sampled", "", "long.prism", "--prop", "P=? [ F x=1 ]", "--method", "sim", "--max-path", "1000000000000"),
		check("witness", "", "grid.prism", "--prop", "Pmax=? [ F x=300 & y=300 ]", "--witness=10000"),
		{
			name: "check witness path",
			args: []string{
				"check", "grid.prism", "--prop", "Pmax=? [ F x=300 & y=300 ]", "--witness=10000", "--export-witness", "out.csv",
			},
			limited: true, leaves: `^out\.csv$`,
		},
		check("subsystem", "", "grid.prism", "--prop", "P<=0.5 [ F x=300 & y=300 ]", "--witness", "--subsystem"),
		{
			name: "check tree", args: []string{"check", "grid.prism", "--prop", "Pmax=? [ F x=300 & y=300 ]", "--export-scheduler", "out.txt:type=tree"},
			limited: true, leaves: `^out\.txt$`,
		},
		check("beliefs", "", "partial.prism", "--prop", "Pmax=? [ F o=1 ]", "--beliefs", "100000000"),
		check("reduced", "", "grid.prism", "--prop", "Pmax=? [ F x=300 & y=300 ]", "--reduce"),
		check("tool", "", "small.prism", "quick.props", "--engine", "prism", "--prism-path", "./deaf"),
		{name: "crosscheck", args: []string{"crosscheck", "small.prism", "quick.props", "--engine", "native,prism", "--prism-path", "./deaf"}, limited: true},
		{name: "crosscheck native", args: []string{"crosscheck", "small.prism", "quick.props", "--engine", "native,native:exact"}, limited: true},
		{name: "crosscheck model", args: []string{"crosscheck", "--model", "small.prism", "--engine", "prism", "--prism-path", "./deaf"}, limited: true},
		{name: "crosscheck models", args: []string{"crosscheck", "--model", "large.prism", "--against", "large.prism"}, limited: true},
		{name: "crosscheck certify", args: []string{"crosscheck", "large.prism", "--prop", "Rmin=? [ F x=30000 ]", "--engine", "native", "--certify"}, limited: true},
		{name: "simulate", args: []string{"simulate", "long.prism", "--steps", "100000000", "--no-loop-check"}, limited: true, finished: `ends here: (time limit|interrupted)`},
		{name: "simulate json", args: []string{"simulate", "long.prism", "--steps", "100000000", "--no-loop-check", "--format", "json"}, limited: true, finished: `ends here: (time limit|interrupted).*"\s+\]`},
		{name: "simulate path", args: []string{"simulate", "long.prism", "--path", "long.csv", "--steps", "100000000", "--no-loop-check"}, limited: true, finished: `ends here: (time limit|interrupted)`},
		{name: "simulate choices", args: []string{"simulate", "choices.prism", "--steps", "100000000"}, limited: true},
		{name: "certify", args: []string{"certify", "busy.cert"}, limited: true},
		{name: "reduce", args: []string{"reduce", "grid.prism", "--prop", "Pmax=? [ F x=300 & y=300 ]", "--export-partition", "out.txt"}, limited: true, leaves: `^out\.txt$`},
		{name: "shield", args: []string{"shield", "grid.prism", "Pmax=? [ F x=300 & y=300 ]", "--threshold", "0.01", "-o", "out.prism", "--export-scheduler", "out.txt"}, limited: true, leaves: `^out\.(prism|txt)$`},
		{name: "resolve", args: []string{"resolve", "grid.prism", "--uniform", "-o", "out.prism"}, limited: true, leaves: `^out\.prism$`},
		{name: "fmt", args: []string{"fmt", "code.prism", "--stdout"}, limited: true},
		{name: "lint", args: []string{"lint", "large.prism"}, limited: true},
		{name: "lint text", args: []string{"lint", "code.prism"}, limited: true},
		{name: "lsp", args: []string{"lsp"}, waits: true},
		{name: "serve", args: []string{"serve", ".", "--listen", "127.0.0.1:0"}},
		{name: "serve table", args: []string{"serve", ".", "--listen", "127.0.0.1:0", "--table", "busy.table"}},
		{name: "test benchmarks", args: []string{"test", "--qvbs", "set", "--no-cache"}},
		{name: "info", args: []string{"info", "large.prism"}, limited: true},
		{name: "distribution", args: []string{"distribution", "ctmc.prism", "--time", "0:100000:1000000"}, limited: true, finished: `\(x=0\) .*\b1\b`},
		{name: "distribution exact", args: []string{"distribution", "ctmc.prism", "--exact"}, limited: true},
		{name: "export", args: []string{"export", "large.prism", "-o", "out.all"}, limited: true, leaves: `^out\.(tra|sta|lab|s?t?rew)$`},
		{name: "export jani", args: []string{"export", "code.prism", "-o", "out.jani"}, limited: true, leaves: `^out\.jani$`},
		{name: "export binary", args: []string{"export", "large.prism", "-o", "out.umb", "-o", "out.drn.gz"}, limited: true, leaves: `^out\.(umb|drn\.gz)$`},
		{name: "export stdout", args: []string{"export", "sync.prism"}, limited: true},
		{name: "compare", args: []string{"compare", "random", "--max", "2048", "--samples", "1000000000"}, limited: true},
		{name: "compare players", args: []string{"compare", "players", "expectimax:eval=snake,depth=8", "random", "--games", "1000000"}, limited: true},
		{name: "test", args: []string{"test", "suite", "--no-cache"}, finished: `1 passed`},
		{name: "test tool", args: []string{"test", "suite", "--no-cache", "--engine", "prism", "--prism-path", "./deaf"}},
		{name: "bless", args: []string{"bless", "fresh", "--yes"}},
		{name: "play", args: []string{"play", "random", "--games", "100000000", "--seed", "1", "--state", "state", "--record", "record"}, limited: true, finished: `score`, leaves: `^(state|record)$`},
		{name: "play deep", args: []string{"play", "expectimax:eval=snake,depth=8", "--games", "1000"}, limited: true},
		{name: "play shielded", args: []string{"play", "random", "--size", "3", "--max", "512", "--shield", "0.01", "--total", "--games", "1", "--seed", "1"}, limited: true},
		{name: "play watch", args: []string{"play", "mc:runs=100000", "--watch"}, limited: true, finished: `start`},
		{name: "replay", args: []string{"replay", "-"}, limited: true, waits: true},
		{name: "submit local", args: []string{"submit", "local", "2", "--dir", "job", "--", "compare", "random", "--max", "2048", "--samples", "1000000000"}, leaves: `^job$`},
		{name: "submit slurm", args: []string{"submit", "slurm", "--dir", "job", "--slurm-prefix", "./deaf", "--", "compare", "random"}, leaves: `^job$`},
		{name: "submit kubernetes", args: []string{
			"submit", "kubernetes", "--dir", "job", "--kubectl", "./deaf", "--image", "x", "--claim", "x", "--run-as", "1:1", "--context", "x", "--namespace", "x", "--", "compare", "random",
		}, leaves: `^job$`},
		{name: "strategies", args: []string{"strategies"}},
		{name: "bench", args: []string{"bench", "fresh", "--repetitions", "100000", "--timeout", "1h"}, limited: false},
		{name: "bench tasks", args: []string{"bench", "tasks", "fresh", "--dir", "tasks"}, leaves: "^tasks$"},
		{name: "rerun", args: []string{"rerun", "small.prism"}},
		{name: "bench compare", args: []string{"bench", "compare", "small.prism", "large.prism"}},
		{name: "bench report", args: []string{"bench", "report", "small.prism"}},
		{name: "solve", args: []string{"solve", "--size", "4", "--max", "2048"}, limited: true},
		{name: "solve memory", args: []string{"solve", "--size", "4", "--max", "2048", "--memory", "50MB"}, limited: true},
		{name: "solve out", args: []string{"solve", "--size", "4", "--max", "2048", "--out", "table"}, limited: true, leaves: `^table\.work$`},
		{name: "train", args: []string{"train", "net.ntuple", "--games", "100000000", "--seed", "1"}, limited: true},
		{name: "policy", args: []string{"policy", "--size", "4", "--max", "2048", "--play"}, limited: true},
		{name: "export-strategy", args: []string{"export-strategy", "random", "--size", "4", "--max", "2048", "--max-states", "1000000000", "-o", "chain"}, limited: true},
		{name: "bound", args: []string{"bound", "expectimax:eval=snake,depth=6", "--states", "100000000", "--certificate", "proof"}, limited: true},
		{name: "doctor", args: []string{"doctor"}},
		{name: "image", args: []string{"image", "list"}},
		{name: "clean", args: []string{"clean"}},
		{name: "completion", args: []string{"completion", "bash"}},
	}
}

// Every command ends within a second of a signal or its limit, at any moment, on
// inputs that keep it busy; it prints what is finished, and leaves no file and no
// process.
func TestEveryCommandStops(t *testing.T) {
	needs.NotShort(t, "starts a hundred processes")
	moments, within, slack := 1, 150*time.Millisecond, 4*time.Second
	if needs.IsFull() {
		within = 500 * time.Millisecond
	}
	if needs.IsLong() {
		moments, within, slack = 20, 2*time.Second, time.Second
	}
	program := ownProgram(t)
	silent := silentDocker(t)
	rng := rand.New(rand.NewPCG(1, 13))
	var mu sync.Mutex
	worst := map[string]time.Duration{}
	t.Cleanup(func() {
		for _, s := range stoppables() {
			t.Logf("%-20s %8v", s.name, worst[s.name].Round(time.Millisecond))
		}
	})
	slots := make(chan struct{}, 2)
	for _, s := range stoppables() {
		var ats []time.Duration
		for range moments {
			ats = append(ats, time.Duration(rng.Int64N(int64(within))))
		}
		first := rng.IntN(4)
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			stop := func(i int, at time.Duration) (printed string, over bool) {
				how := [...]os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, nil}[(first+i)%4]
				if how == nil && !s.limited {
					how = syscall.SIGINT
				}
				if how != nil && signal.Ignored(how) { // under nohup or in a shell's background, which the program inherits
					how = syscall.SIGTERM
				}
				took, printed, over := s.stop(t, program, silent, at, how, slack)
				mu.Lock()
				worst[s.name] = max(worst[s.name], took)
				mu.Unlock()
				return printed, over
			}
			for i, at := range ats {
				stop(i, at)
			}
			for at := 300 * time.Millisecond; s.finished != ""; at *= 2 { // later, on a machine that is busy
				printed, over := stop(len(ats), at)
				if over || regexp.MustCompile(s.finished).MatchString(printed) {
					break
				}
				if at > 4*time.Second {
					t.Errorf("%v after %v: what was finished is missing: want %s in\n%s", s.args, at, s.finished, printed)
					break
				}
			}
		})
	}
}

// solvedTable is a game that tilecheck solve has solved: half a million positions.
func solvedTable(t *testing.T) []byte {
	t.Helper()
	text, err := madeTable()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var madeTable = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "table")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "table")
	if code, _, said := tilecheck(context.Background(), "solve", "--size", "3", "--max", "64", "--out", file); code != exitOK {
		return nil, fmt.Errorf("solve: exit code %d: %s", code, said)
	}
	return os.ReadFile(file)
})

// silentDocker is a Docker engine that never answers.
func silentDocker(t *testing.T) string {
	dir, err := os.MkdirTemp("", "docker") // short: the name of a socket is limited
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close(); os.RemoveAll(dir) })
	go func() {
		for {
			if _, err := listener.Accept(); err != nil {
				return
			}
		}
	}()
	return "unix://" + socket
}

// stop runs the command, tells it to end, by its time limit if the signal is nil,
// and returns how long that took, what was printed, and whether it ended before.
func (s stoppable) stop(t *testing.T, program, docker string, at time.Duration, how os.Signal, slack time.Duration) (took time.Duration, printed string, over bool) {
	dir, tmp := t.TempDir(), t.TempDir()
	known := s.writeInputs(t, dir)
	if s.name == "certify" { // a million million steps, which the checker makes
		const flips = "dtmc module M x:[0..1]; [] true -> (x'=1-x); endmodule"
		text := certificateOf(t, flips, 1e12, 1e12, func(state []int32) bool { return state[0] == 1 })
		if err := os.WriteFile(filepath.Join(dir, "busy.cert"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		known["busy.cert"] = true
	}
	if s.name == "serve table" { // which is read to its end before the page is there
		text := solvedTable(t)
		if err := os.WriteFile(filepath.Join(dir, "busy.table"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		known["busy.table"] = true
	}
	args := s.args
	if how == nil {
		args = append(args[:len(args):len(args)], "--timeout", max(at, time.Millisecond).String())
	}
	mark := "TILECHECK_TEST_MARK=" + tmp
	cmd := exec.Command(program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "DOCKER_HOST="+docker, mark)
	if s.waits {
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
	}
	what := fmt.Sprintf("%s after %v by %v", strings.Join(args, " "), at.Round(time.Millisecond), how)
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
		over = true // by itself, or by its limit
	case <-time.After(at):
	}
	if how != nil && !over {
		if err := cmd.Process.Signal(how); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
	}
	if !over {
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Errorf("%s: it goes on after 10 s", what)
			_ = cmd.Process.Kill()
			<-ended
		}
	}
	took = max(time.Since(start)-at, 0)
	if took > slack {
		t.Errorf("%s: it took %v more", what, took)
	}
	s.judge(t, what, cmd.ProcessState, how, over, stdout.String(), stderr.String())
	for _, place := range []string{dir, tmp} {
		entries, err := os.ReadDir(place)
		if err != nil {
			t.Error(err)
		}
		for _, e := range entries {
			if place == dir && (known[e.Name()] || s.leaves != "" && regexp.MustCompile(s.leaves).MatchString(e.Name())) {
				continue
			}
			t.Errorf("%s: it left %s", what, filepath.Join(place, e.Name()))
		}
	}
	if left := marked(mark); left != "" {
		t.Errorf("%s: it left the process %s", what, left)
	}
	return took, stdout.String(), over
}

// judge looks at the exit code and the words.
func (s stoppable) judge(t *testing.T, what string, end *os.ProcessState, how os.Signal, over bool, stdout, stderr string) {
	code := end.ExitCode()
	status := end.Sys().(syscall.WaitStatus)
	switch {
	case code == exitUsage:
		t.Errorf("%s: it did not run: %s", what, stderr)
	case over && how != nil: // before the signal
	case status.Signaled() && how != nil && status.Signal() == how && stdout+stderr == "": // before the program heard it
	case how == nil && code == exitOK && !strings.Contains(stdout+stderr, "time limit"): // just in time
	case how == nil && code != exitOutOfLimit && !over, how != nil && code != exitCannotRun && code != exitOK:
		t.Errorf("%s: exit code %d\n%.2000s%.2000s", what, code, stdout, stderr)
	}
	for _, words := range []string{"context canceled", "context deadline exceeded", "interrupted: interrupted", "panic", "goroutine "} {
		if strings.Contains(stdout+stderr, words) {
			t.Errorf("%s: it says %q:\n%.2000s%.2000s", what, words, stdout, stderr)
		}
	}
	if name := anotherCommand(stderr); name != "" {
		t.Errorf("%s: its error names the command or step %s:\n%.2000s", what, name, stderr)
	}
}

// anotherCommand returns a word that an error has before its colon, as if it were the place, and that is the name of a command.
func anotherCommand(stderr string) string {
	for line := range strings.Lines(stderr) {
		message, ok := strings.CutPrefix(line, "tilecheck: ")
		for word := range strings.SplitSeq(message, ": ") {
			if ok && slices.Contains(allCommands(), word) {
				return word
			}
		}
	}
	return ""
}

// allCommands are the names of all commands.
var allCommands = sync.OnceValue(func() []string {
	var names []string
	for f := range reflect.TypeFor[cli]().Fields() {
		if _, ok := f.Tag.Lookup("cmd"); ok {
			names = append(names, cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name)))
		}
	}
	return names
})

func TestAnotherCommand(t *testing.T) {
	for text, want := range map[string]string{
		"tilecheck: export: check: interrupted by SIGINT\n": "export", "tilecheck: interrupted by SIGINT\n": "",
		"tilecheck: solve for optimal play: enumerate layer 2: time limit of 1s reached\n": "", "checking: check: 3\n": "",
	} {
		if got := anotherCommand(text); got != want {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}

// marked returns the command line of a process with a variable in its environment.
func marked(mark string) string {
	found := ""
	for range 20 { // what was killed is gone soon
		found = ""
		procs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, p := range procs {
			if env, err := os.ReadFile(p); err == nil && bytes.Contains(env, []byte(mark+"\x00")) {
				line, _ := os.ReadFile(filepath.Join(filepath.Dir(p), "cmdline"))
				found = strings.ReplaceAll(string(line), "\x00", " ")
			}
		}
		if found == "" {
			return ""
		}
		time.Sleep(20 * time.Millisecond)
	}
	return found
}

// A command that is told to end, or whose time is over, ends its JSON with what is
// finished, and says why it ended.
func TestStoppedJSON(t *testing.T) {
	needs.NotShort(t, "starts processes")
	program := ownProgram(t)
	known := schemas(t)
	for _, s := range stoppables() {
		if !slices.Contains([]string{"check expansion", "check steps", "crosscheck native", "simulate", "test", "play", "solve", "bound", "compare players"}, s.name) {
			continue
		}
		for _, limit := range []bool{false, true} {
			if limit && !s.limited {
				continue
			}
			t.Run(fmt.Sprintf("%s, limit %t", s.name, limit), func(t *testing.T) {
				if limit == (len(s.name)%2 == 0) { // half of them
					needs.Full(t)
				}
				t.Parallel()
				s.stopJSON(t, program, limit, known)
			})
		}
	}
}

func (s stoppable) stopJSON(t *testing.T, program string, limit bool, known map[string]*jsonschema.Resolved) {
	dir := t.TempDir()
	s.writeInputs(t, dir)
	args, want := append(slices.Clone(s.args), "--format", "json"), 1
	if limit {
		args, want = append(args, "--timeout", "300ms"), 4
	}
	var out bytes.Buffer
	code := -1
	for after := 300 * time.Millisecond; code == -1 && after < 5*time.Second; after *= 2 { // -1: it was ended before it heard signals
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Stdout = dir, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if !limit {
			time.Sleep(after)
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
		_ = cmd.Wait()
		code = cmd.ProcessState.ExitCode()
	}
	if code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
	if doc := wantValid(t, known, out.String()); doc["error"] == nil && len(doc["results"].([]any)) == 0 {
		t.Error("no results and no error")
	}
}
