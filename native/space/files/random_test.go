package files_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
)

// randomModel writes a model with what files have trouble with: commands enabled
// at once, with and without actions, deadlocks, several initial states, negative
// and Boolean variables, labels of no state and named like words of the formats,
// rewards that only some of parallel transitions have, huge and tiny numbers.
func randomModel(rng *rand.Rand) string {
	kind := []string{"dtmc", "mdp", "ctmc"}[rng.IntN(3)]
	var b strings.Builder
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	number := func() string {
		return pick("0", "1", "2", "1/3", "0.1", "1e-300", "1e300", "1e-17", "123456789.123456789")
	}
	fmt.Fprintf(&b, "%s\nmodule m\n  x : [-2..2];\n  b : bool;\n", kind)
	update := func() string {
		return pick("(x'=-x)", "(x'=max(-2,x-1))", "(x'=min(2,x+1))", "(x'=0)&(b'=!b)", "(b'=true)", "true")
	}
	for range 2 + rng.IntN(5) {
		fmt.Fprintf(&b, "  [%s] %s -> ", pick("", "a", "b", "go", "null", "state"), pick("x=0", "x<0", "x>=0", "b", "!b", "true", "x=1|x=-1"))
		switch {
		case kind == "ctmc":
			rate := func() string { return pick("0.5", "2", "1e-9", "1e9", "1/3") }
			fmt.Fprintf(&b, "%s:%s + %s:%s;\n", rate(), update(), rate(), update())
		default:
			p := pick("0.5", "1/3", "1e-12", "0.1", "0.25")
			fmt.Fprintf(&b, "%s:%s + 1-%s:%s;\n", p, update(), p, update())
		}
	}
	b.WriteString("endmodule\n")
	for i, name := range []string{"never", "state", "action", "true", "initial"} {
		fmt.Fprintf(&b, "label \"%s_%d\" = %s;\n", name, i, pick("x=5", "x>0", "b", "false", "true", "x=-2&!b"))
	}
	for i := range rng.IntN(3) {
		fmt.Fprintf(&b, "rewards \"r%d\"\n", i)
		for range 1 + rng.IntN(3) {
			fmt.Fprintf(&b, "  %s %s : %s;\n", pick("", "[]", "[a]", "[b]", "[go]"), pick("x=0", "b", "true", "x>0"), number())
		}
		b.WriteString("endrewards\n")
	}
	if rng.IntN(3) == 0 {
		b.WriteString("init x>=-1 & x<=0 endinit\n")
	}
	return b.String()
}

// randomSpaces calls a function with random models and what they are written as.
func randomSpaces(t *testing.T, n int, visit func(t *testing.T, exact bool, written map[string]string)) {
	built := 0
	for seed := range uint64(n) {
		text := randomModel(rand.New(rand.NewPCG(seed, 13)))
		for _, exact := range []bool{false, true} {
			space, err := buildText(t.Context(), "random.prism", []byte(text), nil, explicit.Options{Exact: exact})
			if err != nil {
				continue // overflow of a sum, mostly
			}
			built++
			ok := t.Run(fmt.Sprint(seed, exact), func(t *testing.T) {
				visit(t, exact, writeAll(t, space, files.Options{Precision: files.MaxPrecision, Zeros: true}))
			})
			if !ok {
				t.Logf("the model of seed %d:\n%s", seed, text)
				return
			}
		}
	}
	if built < n {
		t.Errorf("only %d spaces of %d models could be built", built, n)
	}
}

// What was written in any format and read is written again as it was: states,
// choices, transitions, labels and rewards.
func TestRandomRoundTrip(t *testing.T) {
	needs.Full(t)
	randomSpaces(t, 300, func(t *testing.T, exact bool, first map[string]string) {
		opts := files.Options{Precision: files.MaxPrecision, Zeros: true}
		read := files.ReadOptions{Exact: exact}
		parts, err := files.Read(t.Context(), sources(first), read)
		if err != nil {
			t.Fatal(err)
		}
		compareTexts(t, writeAll(t, parts, opts), first, "")
		one, err := files.ReadCombinedFile(t.Context(), files.Source{Name: "out.pexp", Text: []byte(first["out.pexp"])}, read)
		if err != nil {
			t.Fatal(err)
		}
		compareTexts(t, writeAll(t, one, opts), first, "")
		storm := files.Source{Name: "out.drn", Text: []byte(withoutValuations(first["out.drn"]))}
		drn, err := files.ReadDRN(t.Context(), storm, read)
		if err != nil {
			t.Fatal(err)
		}
		opts.NoValuations = true
		again := writeAll(t, drn, opts)["out.drn"]
		if line, got, want := firstDifference(again, string(storm.Text)); line > 0 {
			t.Errorf("out.drn:%d: %q, wanted %q", line, got, want)
		}
	})
}

// withoutValuations leaves the comments with valuations out.
func withoutValuations(drn string) string {
	var b strings.Builder
	for line := range strings.Lines(drn) {
		if !strings.HasPrefix(line, "//[") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// PRISM reads what we write, and writes it again as it was. Rewards of parallel
// transitions are left out: it keeps those of the last one.
func TestRandomForPRISM(t *testing.T) {
	prism := needs.PRISM(t)
	n := 6
	if needs.IsLong() {
		n = 60
	}
	randomSpaces(t, n, func(t *testing.T, exact bool, first map[string]string) {
		if exact {
			return // once is enough
		}
		dir := t.TempDir()
		for name, text := range first {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), prism, "-importmodel", "out.all", "-ex", "-exportmodelprecision", "17", "-exportmodel", "back.all")
		cmd.Dir = dir
		if sets, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, sets)
		}
		for name, text := range first {
			ext := filepath.Ext(name)
			if !slices.Contains([]string{".tra", ".sta", ".lab", ".srew"}, ext) {
				continue
			}
			back, err := os.ReadFile(filepath.Join(dir, strings.Replace(name, "out", "back", 1)))
			if err != nil {
				t.Error(err)
			} else if line, got, want := firstDifference(string(back), text); line > 0 {
				t.Errorf("%s:%d: PRISM makes %q of %q", name, line, got, want)
			}
		}
	})
}
