package check_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/check"
	"tilecheck/result"
)

// randomModel returns a model over s:[0..n-1] of a kind, with rewards.
func randomModel(r *rand.Rand, kind string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nmodule m\n s:[0..%d];\n", kind, n-1)
	for s := range n {
		choices := 1
		if kind == "mdp" {
			choices += r.IntN(3)
		}
		for range choices {
			fmt.Fprintf(&b, " [] s=%d -> %s;\n", s, randomUpdates(r, kind, s, n))
		}
	}
	fmt.Fprintf(&b, "endmodule\ninit true endinit\nrewards s<%d : %d; [] s>%d : %d; endrewards\n", 1+r.IntN(n), 1+r.IntN(3), r.IntN(n), 1+r.IntN(3))
	return b.String()
}

// randomUpdates prefers states that are not below s, so that models have several
// bottom components.
func randomUpdates(r *rand.Rand, kind string, s, n int) string {
	left, scale := 4, 0.25
	if kind == "ctmc" {
		scale = 0.5
	}
	var parts []string
	for left > 0 {
		k := 1 + r.IntN(left)
		target := s + r.IntN(n-s)
		if r.IntN(6) == 0 {
			target = r.IntN(n)
		}
		parts = append(parts, fmt.Sprintf("%v:(s'=%d)", float64(k)*scale, target))
		left -= k
	}
	return strings.Join(parts, " + ")
}

// randomPath returns a path formula. In a co-safe one negations are in front of
// state formulas.
func randomPath(r *rand.Rand, n, depth int, coSafe bool) string {
	if depth == 0 || r.IntN(7) == 0 {
		return fmt.Sprintf("s%s%d", []string{"=", "!=", "<", ">="}[r.IntN(4)], r.IntN(n))
	}
	x := func() string { return randomPath(r, n, depth-1, coSafe) }
	if coSafe {
		return [...]func() string{
			func() string { return "(X " + x() + ")" },
			func() string { return "(F " + x() + ")" },
			func() string { return "(" + x() + " U " + x() + ")" },
			func() string { return "(" + x() + " & " + x() + ")" },
			func() string { return "(" + x() + " | " + x() + ")" },
		}[r.IntN(5)]()
	}
	switch op := []string{"!", "X", "F", "G", "F", "G", "&", "|", "=>", "<=>", "U", "W", "R", "&", "|"}[r.IntN(15)]; op {
	case "!", "X", "F", "G":
		return "(" + op + " " + x() + ")"
	default:
		return "(" + x() + " " + op + " " + x() + ")"
	}
}

// randomProperty returns a property whose value depends on the values of all states.
func randomProperty(r *rand.Rand, kind string, n, depth int) string {
	extremum := ""
	if kind == "mdp" {
		extremum = []string{"min", "max"}[r.IntN(2)]
	}
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf("filter(count, %s [ %s ])", []string{"E", "A"}[r.IntN(2)], randomPath(r, n, depth, false))
	case 1:
		return fmt.Sprintf("filter(state, R%s=? [ %s ], s=%d)", extremum, randomPath(r, n, depth, true), r.IntN(n))
	}
	return fmt.Sprintf("filter(sum, P%s=? [ %s ]*(s*s+1))", extremum, randomPath(r, n, depth, false))
}

// TestPRISM compares random formulas over random models with PRISM's explicit
// engine.
func TestPRISM(t *testing.T) {
	prism := needs.PRISM(t)
	r := rand.New(rand.NewPCG(3, 4))
	compared := 0
	for i := range 6 {
		kind := []string{"dtmc", "mdp", "ctmc"}[i%3]
		n := 2 + r.IntN(6)
		model := randomModel(r, kind, n)
		var props []string
		for range 40 {
			props = append(props, randomProperty(r, kind, n, 1+r.IntN(3)))
		}
		compared += comparePRISM(t, prism, model, props)
	}
	if t.Logf("%d results compared", compared); compared < 100 {
		t.Errorf("only %d results were compared", compared)
	}
}

var resultLine = regexp.MustCompile(`(?m)^(?:Result: (\S+)|Error: (.*))`)

// comparePRISM checks properties of a model with PRISM and with fractions and
// bounds, and returns how many were compared.
func comparePRISM(t *testing.T, prism, model string, props []string) int {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "m.prism")
	list := filepath.Join(dir, "p.props")
	for name, text := range map[string]string{file: model, list: strings.Join(props, ";\n")} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), prism, "-explicit", "-epsilon", "1e-12", "-maxiters", "1000000", file, list).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	results := resultLine.FindAllStringSubmatch(string(out), -1)
	if len(results) != len(props) {
		t.Fatalf("%d results of %d properties\n%s\n%s", len(results), len(props), model, out)
	}
	exact := ask(t, t.Context(), model, strings.Join(props, ";\n"), check.Options{Accuracy: result.Exact})
	bounds := ask(t, t.Context(), model, strings.Join(props, ";\n"), check.Options{})
	compared := 0
	for i, p := range props {
		if results[i][2] != "" {
			t.Logf("%s: PRISM says %s", p, results[i][2])
			continue
		}
		want, err := strconv.ParseFloat(results[i][1], 64)
		if results[i][1] == "Infinity" {
			want, err = math.Inf(1), nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if exact[i].Err != nil || bounds[i].Err != nil {
			t.Errorf("%s: %v, %v, PRISM says %v\n%s", p, exact[i].Err, bounds[i].Err, want, model)
			continue
		}
		compared++
		x, v := exact[i].Value.Num, bounds[i]
		if !close(x, want) {
			t.Errorf("%s: %v, PRISM says %v\n%s", p, x, want, model)
		}
		if v.Bound != nil && !(v.Bound.Lo <= x && x <= v.Bound.Hi && (v.Bound.Hi-v.Bound.Lo <= 1e-6*v.Bound.Hi || x == math.Inf(1))) {
			t.Errorf("%s: %v with fractions, %v with bounds\n%s", p, x, *v.Bound, model)
		}
	}
	return compared
}

func close(x, y float64) bool { return x == y || math.Abs(x-y) <= 1e-6*max(1, math.Abs(y)) }
