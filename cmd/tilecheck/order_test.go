package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/internal/wild"
)

// arranged is what a suite consists of: files with their properties in order.
type arranged [][]string

// arrangements returns the same properties in other orders, twice, and in
// several files.
func arrangements(props []string) []arranged {
	reversed := slices.Clone(props)
	slices.Reverse(reversed)
	half := len(props) / 2
	single := arranged{}
	for _, p := range props {
		single = append(single, []string{p})
	}
	return []arranged{
		{props},
		{reversed},
		{slices.Concat(props, reversed)},
		{props[half:], props[:half], reversed},
		single,
	}
}

// answers runs a suite and returns what each engine said of each property under
// each valuation, everything but times.
func answers(t *testing.T, dir, model string, consts []string, files arranged, args ...string) map[string]string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("m.prism", model)
	for i, props := range files {
		write(fmt.Sprintf("m.prism.%d.props", i), strings.Join(props, ";\n")+";\n")
	}
	out := filepath.Join(dir, "out.jsonl")
	line := []string{"test", dir, "--match", "--engine", "native,native:exact", "--jsonl", out}
	if len(consts) > 0 {
		line = append(line, "--const", strings.Join(consts, ","))
	}
	if code, _, errs := tilecheck(t.Context(), append(line, args...)...); code == 80 || code == 1 && errs != "" && !strings.Contains(errs, "warning") {
		t.Fatalf("exit code %d: %s\n%s", code, errs, model)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(text)) {
		var r struct {
			Type, Engine, Property string
			Constants              json.RawMessage
			Got                    string
		}
		var all map[string]any
		if err := errors.Join(json.Unmarshal([]byte(line), &r), json.Unmarshal([]byte(line), &all)); err != nil {
			t.Fatal(err)
		}
		if r.Type != "result" {
			continue
		}
		verdict := make(map[string]any)
		for _, key := range []string{"value", "fraction", "lower", "upper", "accuracy", "method", "resolution", "states", "samples", "seed"} {
			verdict[key] = all[key]
		}
		if e, ok := all["error"].(map[string]any); ok {
			delete(e, "places") // that of the property moves with it
			verdict["error"], r.Got = e, ""
		}
		key := r.Engine + " " + r.Property + " " + string(r.Constants)
		value := fmt.Sprint(r.Got, " ", verdict)
		if other, twice := found[key]; twice && other != value {
			t.Errorf("%s: two answers in one suite\n  %s\n  %s\n%s", key, other, value, model)
		}
		found[key] = value
	}
	return found
}

// TestArrangement: order, repetition and division into files change no answer,
// nor does the cache. Some reward structures fail.
func TestArrangement(t *testing.T) {
	t.Parallel()
	models := uint64(1)
	if needs.IsFull() {
		models = 3
	}
	if needs.IsLong() {
		models = 200
	}
	seed := needs.Number(t, "TILECHECK_SEED", 1)
	values, failures := 0, 0
	for i := range needs.AllModels(t, models) {
		m := wild.New(seed, i, 10)
		bad := "rewards \"bad\" x0=0 : 2; x0>0 : 0-x0; endrewards\nrewards \"none\" true : 1/x0; endrewards\n"
		text, block, found := strings.Cut(m.Text, "\ninit ")
		if text += "\n" + bad; found {
			text += "init " + block
		} else if before, system, found := strings.Cut(m.Text, "\nsystem "); found {
			text = before + "\n" + bad + "system " + system
		}
		which := map[bool]string{true: "max"}[m.Kind == "mdp"]
		for _, p := range []string{"C<=1", "I=1", "F x0>0", "C<=2"} {
			m.Props = append(m.Props, `R{"bad"}`+which+"=? [ "+p+" ]", `R{"none"}>=0.5 [ `+p+" ]")
		}
		cache := t.TempDir()
		var want map[string]string
		for k, files := range arrangements(m.Props) {
			for _, how := range [][]string{{"--no-cache"}, {"--cache", cache}, {"--cache", cache}} {
				got := answers(t, filepath.Join(t.TempDir(), "suite"), text, m.Consts, files, how...)
				if want == nil {
					want = got
					for _, answer := range got {
						if strings.Contains(answer, "error:") {
							failures++
						} else {
							values++
						}
					}
				}
				for _, key := range slices.Sorted(maps.Keys(want)) {
					if got[key] != want[key] {
						t.Errorf("model %d of seed %d, arrangement %d, %v: %s\n  %s\n  %s\n%s", i, seed, k, how, key, want[key], got[key], text)
					}
				}
				if len(got) != len(want) {
					t.Errorf("model %d of seed %d, arrangement %d: %d answers, want %d", i, seed, k, len(got), len(want))
				}
			}
		}
	}
	if t.Logf("%d values and %d failures", values, failures); values < 20 || failures < 10 {
		t.Error("too few of either")
	}
}
