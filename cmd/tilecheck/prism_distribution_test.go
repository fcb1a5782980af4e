package main

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/internal/wild"
)

// probabilitiesOf are the bounds of all states, at the only time.
func probabilitiesOf(t *testing.T, args ...string) (bounds [][2]float64, ok bool) {
	t.Helper()
	code, stdout, stderr := tilecheck(t.Context(), append([]string{"distribution", "--zeros", "--format", "json", "--max-states", "2000"}, args...)...)
	var out struct {
		Results []struct{ Lower, Upper float64 }
	}
	if err := json.Unmarshal([]byte(stdout), &out); err != nil || code != 0 {
		t.Logf("%q: %s", args, stderr)
		return nil, false
	}
	for _, r := range out.Results {
		bounds = append(bounds, [2]float64{r.Lower, r.Upper})
	}
	return bounds, true
}

// TestRealPRISMAgreesOnDistributions compares the numbers that PRISM exports of random chains, and how it numbers
// their states, with our bounds.
func TestRealPRISMAgreesOnDistributions(t *testing.T) {
	prism := needs.PRISM(t)
	compared, files := 0, map[string]int{}
	for number := uint64(0); compared < 30; number++ {
		m := wild.New(11, number, 0)
		if m.Kind == "mdp" || m.System { // which the explicit engine has not
			continue
		}
		dir := t.TempDir()
		model := filepath.Join(dir, "m.prism")
		if err := os.WriteFile(model, []byte(m.Text), 0o644); err != nil {
			t.Fatal(err)
		}
		time := map[string]string{"dtmc": "3", "ctmc": "0.7"}[m.Kind]
		var consts, theirs []string
		for _, def := range m.Consts {
			def, _, _ = strings.Cut(def, ":")
			consts, theirs = append(consts, "--const", def), append(theirs, "-const", def)
		}
		args := append([]string{model}, consts...)
		forever, ok := probabilitiesOf(t, args...)
		if !ok {
			continue
		}
		then, _ := probabilitiesOf(t, append(args, "--time", time)...)
		out, _ := exec.CommandContext(t.Context(), prism, append([]string{
			model, "-ex", "-epsilon", "1e-9", "-maxiters", "1000000", "-javamaxmem", "1g",
			"-exportsteadystate", filepath.Join(dir, "s.txt"), "-tr", time, "-exporttransient", filepath.Join(dir, "t.txt"),
		}, theirs...)...).CombinedOutput()
		for file, bounds := range map[string][][2]float64{"s.txt": forever, "t.txt": then} {
			text, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				if !strings.Contains(string(out), "did not converge within") { // of a power method, where a chain has a period
					t.Errorf("model %d: PRISM wrote no %s: %s", number, file, out)
				}
				continue
			}
			files[file]++
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			if len(lines) != len(bounds) {
				t.Errorf("model %d: %s: PRISM has %d states, we %d", number, file, len(lines), len(bounds))
				continue
			}
			for i, line := range lines {
				name, value, is := strings.Cut(line, "=")
				if !is {
					value = name
				} else if name != strconv.Itoa(i) {
					t.Errorf("model %d: %s: line %d is %q", number, file, i+1, line)
				}
				x, err := strconv.ParseFloat(value, 64)
				if off := max(bounds[i][0]-x, x-bounds[i][1]); err != nil || off > 1e-6 || math.IsNaN(x) {
					t.Errorf("model %d (%s): %s: state %d: PRISM has %s, we %v", number, m.Kind, file, i, value, bounds[i])
				}
			}
		}
		compared++
	}
	t.Logf("of %d models PRISM wrote %d steady states and %d transient ones", compared, files["s.txt"], files["t.txt"])
	if files["s.txt"] < 20 || files["t.txt"] < compared {
		t.Error("that is too few")
	}
}
