package jani_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/result"
	"tilecheck/runner"
)

// benchmark is an entry of an index.json of QComp.
type benchmark struct {
	Files []struct {
		File     string          `json:"file"`
		Original json.RawMessage `json:"original-file"`
		Values   []struct {
			Values []struct {
				Name  string          `json:"name"`
				Value json.RawMessage `json:"value"`
			} `json:"values"`
			States []struct {
				Number any `json:"number"`
			} `json:"states"`
			Results []struct {
				Property string          `json:"property"`
				Value    json.RawMessage `json:"value"`
			} `json:"results"`
		} `json:"open-parameter-values"`
	} `json:"files"`
}

// original is the PRISM model that a file was converted from, empty if it is from
// another language.
func original(raw json.RawMessage) string {
	var names []string
	if json.Unmarshal(raw, &names) != nil {
		return ""
	}
	i := slices.IndexFunc(names, func(n string) bool { return slices.Contains([]string{".prism", ".pm", ".nm", ".sm"}, filepath.Ext(n)) })
	if i < 0 {
		return ""
	}
	return names[i]
}

// reference reads a result: a number, a truth value or a fraction.
func reference(raw json.RawMessage) (float64, bool) {
	var fraction struct {
		Num, Den *big.Int
		Approx   *float64
	}
	var number float64
	var truth bool
	switch {
	case json.Unmarshal(raw, &number) == nil:
		return number, true
	case json.Unmarshal(raw, &truth) == nil:
		return float(truth), true
	case json.Unmarshal(raw, &fraction) == nil && fraction.Num != nil && fraction.Den != nil && fraction.Den.Sign() > 0:
		x, _ := new(big.Rat).SetFrac(fraction.Num, fraction.Den).Float64()
		return x, true
	case fraction.Approx != nil:
		return *fraction.Approx, true
	}
	return 0, false
}

func float(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// TestQComp: models of QComp have the states of the PRISM models that they were
// converted from, and the values that QComp knows. Its numbers of states are
// those of tools that leave out what a property does not need.
func TestQComp(t *testing.T) {
	root := needs.QComp(t)
	limit := 3_000.0
	if needs.IsFull() {
		limit = 100_000
	}
	var done tally
	for _, kind := range []string{"dtmc", "mdp", "ctmc", "pta"} {
		indices, err := filepath.Glob(filepath.Join(root, "benchmarks", kind, "*", "index.json"))
		if err != nil || len(indices) == 0 {
			t.Fatalf("no benchmarks of type %s below %s: %v", kind, root, err)
		}
		for _, index := range indices {
			text, err := os.ReadFile(index)
			if err != nil {
				t.Fatal(err)
			}
			var b benchmark
			if err := json.Unmarshal(text, &b); err != nil {
				t.Errorf("%s: %v", index, err)
				continue
			}
			for _, f := range b.Files {
				for _, in := range f.Values {
					states := math.Inf(1)
					for _, s := range in.States {
						if n, ok := s.Number.(float64); ok { // and not "∞"
							states = min(states, n)
						}
					}
					name := filepath.Join(filepath.Dir(index), f.File)
					if _, err := os.Stat(name); err != nil || states > limit {
						continue // not all files are converted
					}
					c := instance{t: t, name: name, original: original(f.Original), tally: &done}
					for _, v := range in.Values {
						c.consts = append(c.consts, v.Name+"="+strings.Trim(string(v.Value), `"`))
					}
					want := make(map[string]float64)
					for _, r := range in.Results {
						if x, ok := reference(r.Value); ok {
							want[r.Property] = x
						}
					}
					c.check(want)
				}
			}
		}
	}
	t.Logf("%d instances, %d of them beside PRISM models; %d values right, %d refused, %d out of time", done.instances, done.beside, done.values, done.refused, done.late)
	if done.beside == 0 || done.values < done.instances {
		t.Error("want PRISM models to compare with, and a value for each instance")
	}
}

type tally struct{ instances, beside, values, refused, late int }

// instance is a model with values of its constants.
type instance struct {
	*tally
	t              *testing.T
	name, original string
	consts         []string
}

const patience = time.Minute // of one model or property

// size counts states, choices and transitions.
func (c *instance) size(file string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	job := runner.Job{File: file, Model: text, Consts: c.consts}
	m, _, err := load.Model(ctx, runner.Job{File: job.File, Model: job.Model, Consts: job.Consts})
	if err != nil {
		return "", err
	}
	space, err := explicit.Build(ctx, m, explicit.Options{})
	if err != nil {
		return "", err
	}
	n := space.Model()
	return fmt.Sprintf("%d states, %d choices, %d transitions", n.NumStates(), n.NumChoices(), n.NumTransitions()), nil
}

func (c *instance) check(want map[string]float64) {
	c.instances++
	if prism := filepath.Join(filepath.Dir(c.name), c.original); c.original != "" {
		theirs, err := c.size(prism)
		ours, failure := c.size(c.name)
		switch {
		case failure != nil && strings.Contains(failure.Error(), "time limit"), err != nil: // ranges of one value
			c.late++
		case failure != nil || ours != theirs:
			c.t.Errorf("%s %v: %s %v, want %s as the PRISM model", c.name, c.consts, ours, failure, theirs)
		default:
			c.beside++
		}
	}
	text, err := os.ReadFile(c.name)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	verdicts, err := runner.Check(ctx, native.New(), runner.Job{File: c.name, Model: text, Consts: c.consts})
	if err != nil {
		c.t.Errorf("%s %v: %v", c.name, c.consts, err)
	}
	for _, v := range verdicts {
		x, ok := want[v.Name]
		switch {
		case v.Err != nil && (v.Err.Class == result.Timeout || ctx.Err() != nil):
			c.late++
		case v.Err != nil && v.Err.Class == result.Unsupported:
			c.refused++
		case v.Err != nil:
			c.t.Errorf("%s %v, %s: %v", c.name, c.consts, v.Name, v.Err)
		case !ok:
		case v.Value.Kind == result.Boolean && float(v.Value.Bool) != x, // QComp's own tolerance
			v.Value.Kind != result.Boolean && !(v.Value.Num == x || math.Abs(v.Value.Num-x) <= 1e-3*math.Abs(x)):
			c.t.Errorf("%s %v, %s: %v %v, want %v", c.name, c.consts, v.Name, v.Value.Num, v.Value.Bool, x)
		default:
			c.values++
		}
	}
}
