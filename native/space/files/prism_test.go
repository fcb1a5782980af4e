package files_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/modelgen"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/prism/syntax"
)

const corpus = "../../../testdata/conformance"

// TestPRISM compares every file with what PRISM writes, byte for byte: the
// models of testdata/models, of the conformance corpus, of PRISM's examples
// and generated boards.
//
//	TILECHECK_PRISM=/path/to/bin/prism go test ./native/space/files -run TestPRISM -timeout 60m
func TestPRISM(t *testing.T) {
	prism := needs.PRISM(t)
	own, err := filepath.Glob("testdata/models/*.prism")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range own {
		comparePRISM(t, prism, file, nil)
		comparePRISM(t, prism, file, nil, "-exact")
		comparePRISM(t, prism, file, nil, "-exportmodelprecision", "5")
	}
	recorded, err := filepath.Glob(corpus + "/*/model.prism")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range recorded {
		s, err := build(t.Context(), file, nil, explicit.Options{MaxStates: 10_000})
		if err != nil || s.Program().System != nil { // PRISM's explicit engine has no system blocks
			continue
		}
		if _, err := files.NewWriter(s, files.Options{}); err != nil {
			continue
		}
		var args []string
		if s.Model().Intervals() { // PRISM narrows [0.2,0.8] beside [0.3,0.6] to [0.4000000000000001,0.7]
			args = []string{"-exportmodelprecision", "9"}
		}
		comparePRISM(t, prism, file, nil, args...)
	}
	for _, e := range examples {
		file := filepath.Join(filepath.Dir(prism), "..", "..", "prism-examples", e.file)
		if _, err := os.Stat(file); err != nil {
			t.Logf("no example %s", e.file)
			continue
		}
		var consts []string
		if e.consts != "" {
			consts = []string{e.consts}
		}
		comparePRISM(t, prism, file, consts)
	}
	for name, cfg := range boards(t) {
		comparePRISM(t, prism, writeBoard(t, name, cfg), nil)
	}
}

// examples are files of PRISM's examples with values for their constants.
var examples = []struct{ file, consts string }{
	{"simple/dice/dice.pm", ""},
	{"simple/dice/two_dice.nm", ""},
	{"simple/dice/two_dice_knuth.pm", ""},
	{"simple/molecules/nacl.sm", "N1=10,N2=10"},
	{"simple/molecules/mc.sm", "N1=5,N2=5"},
	{"dtmcs/herman/herman7.pm", ""},
	{"dtmcs/leader_sync/leader3_2.pm", ""},
	{"dtmcs/brp/brp.pm", "N=8,MAX=2"},
	{"ctmcs/cell/cell.sm", "N=50"},
	{"ctmcs/cluster/cluster.sm", "N=4"},
	{"ctmcs/embedded/embedded.sm", "MAX_COUNT=2"},
	{"ctmcs/polling/poll4.sm", ""},
	{"ctmcs/tandem/tandem.sm", "c=5"},
	{"ctmcs/kanban/kanban.sm", "t=1"},
	{"ctmcs/fms/fms.sm", "n=1"},
	{"mdps/consensus/coin2.nm", "K=2"},
	{"mdps/csma/csma2_2.nm", ""},
	{"mdps/dining_crypt/dining_crypt3.nm", ""},
	{"mdps/firewire/abst/firewire.nm", "delay=3,fast=0.5"},
	{"mdps/firewire/impl/firewire.nm", "delay=1,fast=0.5"},
	{"mdps/leader_async/leader3.nm", ""},
	{"mdps/mutual/mutual3.nm", ""},
	{"mdps/phil/original/phil3.nm", ""},
	{"mdps/phil/nofair/phil-nofair3.nm", ""},
	{"mdps/rabin/rabin3.nm", ""},
	{"mdps/self-stabilisation/israeli-jalfon/ij5.nm", ""},
	{"mdps/self-stabilisation/beauquier/beauquier3.nm", ""},
	{"mdps/wlan/wlan0.nm", "TRANS_TIME_MAX=3"},
	{"mdps/zeroconf/zeroconf.nm", "N=20,K=1,reset=true,err=0.1"},
}

func boards(t *testing.T) map[string]modelgen.Config {
	t.Helper()
	out := map[string]modelgen.Config{}
	for name, policy := range map[string]string{"free": "none", "random": "random", "alternating": "alternating"} {
		p, err := modelgen.ParsePolicy(policy)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = modelgen.Config{Rows: 2, Cols: 2, Max: 8, P2: modelgen.DefaultP2, Policy: p}
	}
	uniform, err := modelgen.ParseSpawn("uniform")
	if err != nil {
		t.Fatal(err)
	}
	out["uniform"] = modelgen.Config{Rows: 1, Cols: 3, Max: 16, P2: modelgen.DefaultP2, Spawn: uniform}
	return out
}

func writeBoard(t *testing.T, name string, cfg modelgen.Config) string {
	t.Helper()
	model, err := modelgen.Build(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := syntax.Fprint(&b, model, syntax.Options{}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name+".prism")
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// comparePRISM exports a model with PRISM and with a Writer.
func comparePRISM(t *testing.T, prism, file string, consts []string, args ...string) {
	name := strings.Join(append([]string{strings.TrimPrefix(file, corpus+"/")}, args...), " ")
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		argv := append([]string{file, "-ex", "-exportmodel", dir + "/out.all", "-exportmodel", dir + "/out.dot", "-exportmodel", dir + "/out.pexp"}, args...)
		if len(consts) > 0 {
			argv = append(argv, "-const", strings.Join(consts, ","))
		}
		log, err := exec.CommandContext(t.Context(), prism, argv...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		opts := files.Options{}
		exact := false
		for i, a := range args {
			switch a {
			case "-exact":
				exact = true
			case "-exportmodelprecision":
				opts.Precision = int(args[i+1][0] - '0')
			}
		}
		space, err := build(t.Context(), file, consts, explicit.Options{Exact: exact})
		if err != nil {
			t.Fatal(err)
		}
		if refused := regexp.MustCompile(`(?m)^Error: .*(POMDP|observation).*`).Find(log); refused != nil {
			w, err := files.NewWriter(space, opts)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := errors.AsType[*explicit.ChoicesError](w.Transitions(t.Context(), io.Discard)); !ok {
				t.Errorf("written, PRISM refuses it: %s", refused)
			}
			return
		}
		got := writeAll(t, space, opts)
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) < 4 {
			t.Fatalf("PRISM wrote %d files only\n%s", len(entries), log)
		}
		for _, e := range entries {
			want, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if g, ok := got[e.Name()]; !ok {
				t.Errorf("no %s", e.Name())
			} else if line, a, b := firstDifference(g, string(want)); line > 0 {
				t.Errorf("%s:%d: %q, PRISM has %q", e.Name(), line, a, b)
			}
			delete(got, e.Name())
		}
		delete(got, "out.drn")
		for name := range got {
			t.Errorf("PRISM has no %s", name)
		}
	})
}

// firstDifference returns the first line that differs, 0 if there is none.
func firstDifference(got, want string) (line int, g, w string) {
	if got == want {
		return 0, "", ""
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		g, w = "(end)", "(end)"
		if i < len(a) {
			g = a[i]
		}
		if i < len(b) {
			w = b[i]
		}
		if g != w {
			return i + 1, g, w
		}
	}
	return 0, "", ""
}
