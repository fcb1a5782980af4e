package crosscheck_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tilecheck/bridge"
	"tilecheck/internal/needs"
	"tilecheck/internal/wild"
	"tilecheck/modelgen"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
	"tilecheck/verify/crosscheck"
)

// modelText is a model to be built by two.
type modelText struct {
	name, text string
	consts     []string
}

// builds reports whether a model has few states, and all constants it needs.
func builds(t *testing.T, name, text string, consts ...string) bool {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	m, _, err := load.Model(ctx, runner.Job{File: name, Model: []byte(text), Consts: consts})
	if err != nil {
		return false
	}
	switch m.Program().Type {
	case syntax.DTMC, syntax.MDP, syntax.CTMC:
	default:
		return false
	}
	space, err := explicit.Build(ctx, m, explicit.Options{MaxStates: 5000})
	for i := range m.Program().Rewards {
		if err == nil {
			_, err = space.Reward(i)
		}
	}
	return err == nil
}

// modelsBelow lists the models of a folder that can be built.
func modelsBelow(t *testing.T, dir string) (out []modelText) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".prism", ".nm", ".pm", ".sm"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && builds(t, path, string(text)) {
			out = append(out, modelText{path, string(text), nil})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// examples of PRISM with values for their constants.
var examples = []struct{ file, consts string }{
	{"simple/molecules/nacl.sm", "N1=10,N2=10"},
	{"dtmcs/brp/brp.pm", "N=8,MAX=2"},
	{"ctmcs/cluster/cluster.sm", "N=2"},
	{"ctmcs/embedded/embedded.sm", "MAX_COUNT=2"},
	{"ctmcs/tandem/tandem.sm", "c=5"},
	{"ctmcs/kanban/kanban.sm", "t=1"},
	{"mdps/consensus/coin2.nm", "K=2"},
	{"mdps/firewire/abst/firewire.nm", "delay=3,fast=0.5"},
	{"mdps/zeroconf/zeroconf.nm", "N=20,K=1,reset=true,err=0.1"},
}

// equalModels are the models that PRISM and we should build alike.
func equalModels(t *testing.T, prism string) []modelText {
	t.Helper()
	out := modelsBelow(t, "../../testdata")
	out = append(out, modelsBelow(t, "../../examples")...)
	out = append(out, modelsBelow(t, "../../native/space/files/testdata")...)
	for _, policy := range []string{"none", "random", "alternating", "opposite"} {
		for _, spawn := range []string{"cell", "module", "uniform"} {
			p, err1 := modelgen.ParsePolicy(policy)
			s, err2 := modelgen.ParseSpawn(spawn)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			cfg := modelgen.Config{Rows: 2, Cols: 2, Max: 8, P2: modelgen.DefaultP2, Policy: p, Spawn: s}
			out = append(out, modelText{"board " + policy + " " + spawn, board(t, cfg), nil})
		}
	}
	for i := range uint64(40) {
		if m := wild.New(16, i, 0); builds(t, "wild", m.Text, m.Consts...) {
			out = append(out, modelText{fmt.Sprintf("wild %d", i), m.Text, m.Consts})
		}
	}
	root := filepath.Join(filepath.Dir(prism), "..", "..")
	for _, dir := range []string{"prism-examples", "prism-tests"} {
		if _, err := os.Stat(filepath.Join(root, dir)); err != nil {
			t.Logf("no %s beside PRISM", dir)
			continue
		}
		out = append(out, modelsBelow(t, filepath.Join(root, dir))...)
	}
	for _, e := range examples {
		if text, err := os.ReadFile(filepath.Join(root, "prism-examples", e.file)); err == nil {
			out = append(out, modelText{e.file, string(text), []string{e.consts}})
		}
	}
	return out
}

// TestPRISMEqualModels: PRISM builds the same states as we of models of all kinds.
func TestPRISMEqualModels(t *testing.T) {
	tool := bridge.PRISM(prism(t), bridge.Options{})
	models := equalModels(t, needs.PRISM(t))
	if len(models) < 100 {
		t.Errorf("%d models, want 100", len(models))
	}
	step := len(models)/10 + 1
	if needs.IsLong() {
		step = 1
	}
	for i := 0; i < len(models); i += step {
		t.Run(strings.ReplaceAll(models[i].name, "../", ""), func(t *testing.T) {
			t.Parallel()
			job := runner.Job{File: "m.prism", Model: []byte(models[i].text), Consts: models[i].consts}
			r, err := crosscheck.Models(t.Context(), job, nil, []runner.EngineConfig{{Engine: tool}}, crosscheck.Options{})
			if err != nil {
				t.Fatal(err)
			}
			c := &r.Comparisons[0]
			t.Log(c.States, "states, fractions:", c.Exact, c.Remarks)
			if c.Verdict() != crosscheck.Same {
				t.Errorf("%s\n%s", &c.Diagnosis, models[i].text)
			}
		})
	}
}
