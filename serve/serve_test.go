package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tilecheck/game"
	"tilecheck/game/solve"
	"tilecheck/internal/needs"
	"tilecheck/properties"
)

// answerTo returns the lines of the answer to a question, and what the last one is.
func answerTo(t *testing.T, api *API, name, question string) (text string, last Outcome) {
	api.Answer(t.Context(), name, strings.NewReader(question), func(line []byte, outcome Outcome) error {
		text, last = text+string(line), outcome
		return nil
	})
	return text, last
}

// ask asks an API and decodes the answer; parts counts the lines before it.
func ask(t *testing.T, opts Options, name string, question, answer any) (parts map[string]int) {
	t.Helper()
	body, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := answerTo(t, New(opts), name, string(body))
	parts = map[string]int{}
	var last map[string]json.RawMessage
	var verdicts []json.RawMessage
	for line := range strings.Lines(text) {
		last = nil
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%s: %v: %.200s", name, err, line)
		}
		for k := range last {
			parts[k]++
		}
		if last["verdict"] != nil {
			verdicts = append(verdicts, last["verdict"])
		}
	}
	if last["answer"] == nil {
		t.Fatalf("%s: %.300s", name, text)
	}
	if err := json.Unmarshal(last["answer"], answer); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if name != "check" {
		return parts
	}
	all, err := json.Marshal(map[string]any{"verdicts": verdicts})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(all, answer); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return parts
}

type object = map[string]any

func die(t *testing.T) object {
	t.Helper()
	model, err := os.ReadFile("../examples/die.prism")
	if err != nil {
		t.Fatal(err)
	}
	return object{"model": string(model), "props": "P=? [ F d=6 ];\n"}
}

func with(q object, more object) object {
	out := object{}
	for k, v := range q {
		out[k] = v
	}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// The examples that the page shares with the folder examples are the same: the page and the documentation show the same.
func TestSharedExamples(t *testing.T) {
	for ours, theirs := range map[string]string{"examples/die.prism": "../examples/die.prism", "examples/die.props": "../examples/die.prism.props", "examples/race.prism": "../examples/race.prism"} {
		a, err := os.ReadFile(filepath.FromSlash(ours))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.FromSlash(theirs))
		if err != nil || string(a) != string(b) {
			t.Errorf("%s differs from %s (%v)", ours, theirs, err)
		}
	}
}

// Knuth and Yao's die by hand: a six has 1/6 from the start, 1/3 from s=2 and nothing from s=1; the likeliest way there is the only one
// without a detour, three throws of the coin.
func TestDie(t *testing.T) {
	var g struct {
		Nodes []struct {
			State []int32
			Value struct{ Lower, Upper float64 }
		}
		Choices []struct{ To []struct{ P float64 } }
		States  int
	}
	ask(t, Options{}, "graph", with(die(t), object{"property": 0}), &g)
	want := map[int32]float64{0: 1.0 / 6, 1: 0, 2: 1.0 / 3}
	if len(g.Nodes) != 3 || len(g.Choices) != 1 || g.States != 13 {
		t.Fatalf("%d nodes, %d choices, %d states, want 3, 1 and 13", len(g.Nodes), len(g.Choices), g.States)
	}
	for _, n := range g.Nodes {
		if w := want[n.State[0]]; n.Value.Lower > w+1e-9 || n.Value.Upper < w-1e-9 || n.Value.Upper-n.Value.Lower > 1e-5 {
			t.Errorf("s=%d: %v, want %v", n.State[0], n.Value, w)
		}
	}
	var path struct {
		States   [][]int32
		Fraction string
	}
	ask(t, Options{}, "path", with(die(t), object{"property": 0}), &path)
	if len(path.States) != 4 || path.Fraction != "1/8" {
		t.Errorf("the likeliest path is %v with %s, want 3 steps with 1/8", path.States, path.Fraction)
	}
	ask(t, Options{}, "path", with(die(t), object{"property": 0, "miss": true}), &path)
	if path.Fraction != "1/2" { // s=1 has no way to a six
		t.Errorf("the likeliest path to failure has %s, want 1/2", path.Fraction)
	}
	var found struct{ Count, Of int }
	ask(t, Options{}, "find", with(die(t), object{"expr": "s=7 & d>3"}), &found)
	if found.Count != 3 || found.Of != 13 {
		t.Errorf("found %v, want 3 of 13", found)
	}
	var walk struct {
		Steps []struct{ State []int32 }
		End   string
	}
	ask(t, Options{}, "walk", with(die(t), object{"steps": 100, "seed": 3, "state": []int32{6, 0}}), &walk)
	if s := walk.Steps; s[0].State[0] != 6 || s[len(s)-1].State[0] != 7 || s[len(s)-1].State[1] == 0 {
		t.Errorf("a walk from s=6 goes %v, want from there to a throw", s)
	}
	var checkedPath struct {
		Steps []struct {
			State   []int32
			Rewards []float64
		}
		Probability string
	}
	ask(t, Options{}, "follow", with(die(t), object{"name": "p.csv", "text": "s,d\n0,0\n2,0\n6,0\n7,6\n"}), &checkedPath)
	if len(checkedPath.Steps) != 4 || checkedPath.Probability != "0.125" {
		t.Errorf("a path from a file is %v, want 3 steps with 0.125", checkedPath)
	}
	for i, want := range []float64{1, 1, 1, 0} { // the coin is flipped until s=7
		if got := checkedPath.Steps[i].Rewards; len(got) != 1 || got[0] != want {
			t.Errorf("step %d earns %v, want %v", i, got, want)
		}
	}
}

// Every property of a generated model is as the catalogue knows it, and the game as well.
func TestGame(t *testing.T) {
	var made struct{ Model, Props string }
	ask(t, Options{}, "generate", object{"rows": 2, "cols": 2, "tile": 16}, &made)
	var got struct {
		Verdicts []struct {
			Name  string
			Value any
			Error any
		}
	}
	ask(t, Options{}, "check", object{"model": made.Model, "props": made.Props, "accuracy": "exact"}, &got)
	compared := 0
	for i, p := range properties.All() {
		want, ok := p.Expect(properties.Instance{Rows: 2, Cols: 2, Max: 16, Spawn: "uniform", Policy: "none"})
		if !ok {
			continue
		}
		var w float64
		if err := json.Unmarshal([]byte(quotient(t, want.Value)), &w); err != nil {
			t.Fatal(err)
		}
		if v, ok := got.Verdicts[i].Value.(float64); !ok || math.Abs(v-w) > 1e-12 {
			t.Errorf("%s is %+v, want %s", p.Name, got.Verdicts[i], want.Value)
		}
		compared++
	}
	if compared < 2 {
		t.Errorf("%d properties are known, want 2 at least", compared)
	}
	// Two equal tiles beside each other on 1x2 win 4 with either move, by hand.
	var h hints
	ask(t, Options{}, "hints", object{"rows": 1, "cols": 2, "tile": 4, "cells": []int{2, 2}}, &h)
	if h.Value != 1 || len(h.Moves) != 2 || h.Moves[0].Value != 1 || !h.Moves[1].Best {
		t.Errorf("hints are %+v, want two moves that win", h)
	}
	// What is too large to be solved for a page is known where there is a table: at 2 2 . . . . . . . . a move makes the 4 that wins.
	shape := game.Shape{Rows: 1, Cols: 10}
	solvedGame, _, err := solve.Solve(t.Context(), solve.Options{Shape: shape, Max: 4})
	if err != nil {
		t.Fatal(err)
	}
	start := object{"rows": 1, "cols": 10, "tile": 4, "cells": []int{2, 2, 0, 0, 0, 0, 0, 0, 0, 0}}
	if ask(t, Options{}, "hints", start, &h); h.Kind != "worth" {
		t.Errorf("hints without a table are %+v", h)
	}
	if ask(t, Options{Tables: []*solve.Table{solvedGame}}, "hints", start, &h); h.Kind != "win" || h.Value != 1 {
		t.Errorf("hints from a table are %+v, want 1", h)
	}
	var p position
	ask(t, Options{}, "turn", object{"rows": 2, "cols": 2, "tile": 16, "cells": []int{2, 2, 0, 4}, "dir": "left", "seed": 1, "move": 1}, &p)
	if p.Gain != 4 || p.Moved[0] != 4 || p.Moved[1] != 0 || p.Moved[2] != 4 || p.New != 1 && p.New != 3 || p.Cells[p.New] == 0 {
		t.Errorf("left of 2 2 / . 4 is %+v, want 4 . / 4 . and a new tile", p)
	}
}

func quotient(t *testing.T, text string) string {
	t.Helper()
	a, b, is := strings.Cut(text, "/")
	if !is {
		return text
	}
	var x, y float64
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(x / y)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// An experiment sends a point for each valuation, in order; a table of strategies is sent at each look.
func TestParts(t *testing.T) {
	var done struct{ Points int }
	q := object{"model": "dtmc const int n; module m x:[0..9]; [] x<9 -> 0.5:(x'=x+1)+0.5:true; endmodule", "props": "P=? [ F<=1 x=n ];", "const": "n=0:4", "select": []int{0}}
	if parts := ask(t, Options{}, "experiment", q, &done); parts["point"] != 5 || done.Points != 5 {
		t.Errorf("%d points were sent and %d counted, want 5", parts["point"], done.Points)
	}
	var table struct {
		Table struct {
			Samples int64
			Rows    []row
		}
	}
	q = object{"rows": 2, "cols": 2, "tile": 8, "strategies": []string{"random", "opposite"}, "samples": 64, "seed": 1, "by": "win", "all": true}
	if parts := ask(t, Options{}, "strategies", q, &table); parts["table"] != 3 { // at 16, 32 and 64 games
		t.Errorf("%d tables were sent, want 3", parts["table"])
	}
	if table.Table.Samples != 64 || len(table.Table.Rows) != 2 {
		t.Errorf("the last table has %d games of %d strategies, want 64 of 2", table.Table.Samples, len(table.Table.Rows))
	}
}

// Diagnostics are where and what the command line says; constants without a value are none.
func TestDiagnose(t *testing.T) {
	var d diagnosis
	ask(t, Options{}, "diagnose", object{"file": "a.prism", "model": "dtmc\nmodule m\n  x : [0..3] init 7\nendmodule\n"}, &d)
	if len(d.Places) != 1 || d.Places[0].Line != 3 || d.Places[0].Column != 20 || d.Places[0].File != "a.prism" {
		t.Errorf("places are %+v, want a.prism:3:20", d.Places)
	}
	d = diagnosis{}
	ask(t, Options{}, "diagnose", object{"model": "dtmc const int n; module m x:[0..9]; endmodule", "props": "P=? [ F x=n ];"}, &d)
	if len(d.Places) != 0 || len(d.Constants) != 1 || d.Constants[0].Count != 0 || d.Message != "" || len(d.Properties) != 1 {
		t.Errorf("found %+v, want n without a value and no mistake", d)
	}
}

// What is saved is there completely; what somebody else has changed is not written over.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Base(dir) + "/m.prism"
	folders, err := OpenFolders([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	defer folders.Close()
	opts := Options{Folders: folders}
	var saved opened
	ask(t, opts, "save", object{"path": name, "text": "dtmc"}, &saved)
	ask(t, opts, "save", object{"path": name, "text": "mdp", "version": saved.Version}, &saved)
	var read opened
	ask(t, opts, "open", object{"path": name}, &read)
	if read.Text != "mdp" || read.Version != saved.Version {
		t.Errorf("read %+v, want what was saved", read)
	}
	if err := os.WriteFile(filepath.Join(dir, "m.prism"), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := New(opts)
	if _, err := h.save(t.Context(), &saveQuestion{Path: name, Text: "mine", Version: saved.Version}, nil); err == nil {
		t.Error("a file that somebody changed was written over")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
	var list struct{ Files []fileEntry }
	ask(t, opts, "files", object{}, &list)
	if len(list.Files) != 1 || list.Files[0].Path != name {
		t.Errorf("the list is %v, want %s", list.Files, name)
	}
}

// savedIn returns an API over a folder with one file, and the path and version of the file.
func savedIn(t *testing.T, text string) (h *API, dir, path, version string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.prism"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	folders, err := OpenFolders([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folders.Close() })
	h = New(Options{Folders: folders})
	path = filepath.Base(dir) + "/m.prism"
	return h, dir, path, versionOf([]byte(text))
}

// Of several that save over one version, one is accepted.
func TestSaveRace(t *testing.T) {
	for range 20 {
		h, _, path, version := savedIn(t, "start")
		var accepted atomic.Int32
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				_, err := h.save(t.Context(), &saveQuestion{Path: path, Text: strings.Repeat("writer "+strconv.Itoa(i), 2000), Version: version}, nil)
				if err == nil {
					accepted.Add(1)
				} else if !errors.Is(err, errChanged) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := accepted.Load(); n != 1 {
			t.Fatalf("%d of 16 were accepted, want 1", n)
		}
	}
}

// The page has replaced bytes that are not UTF-8: it must not write them over the file.
func TestSaveOverOtherEncoding(t *testing.T) {
	text := "dtmc // caf\xe9\n"
	h, dir, path, version := savedIn(t, text)
	_, err := h.save(t.Context(), &saveQuestion{Path: path, Text: "dtmc // caf\ufffd\n", Version: version}, nil)
	if err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("error %v", err)
	}
	if now, err := os.ReadFile(filepath.Join(dir, "m.prism")); err != nil || string(now) != text {
		t.Errorf("the file is %q, %v", now, err)
	}
}

// A request whose bytes are not UTF-8 is refused before the decoder replaces them.
func TestRequestEncoding(t *testing.T) {
	text, outcome := answerTo(t, New(Options{}), "save", "{\"path\":\"m.prism\",\"text\":\"caf\xe9\"}")
	if outcome != Malformed || !strings.Contains(text, "not UTF-8") {
		t.Errorf("%d %s", outcome, text)
	}
}

// A request with half of a surrogate pair is refused, too: the decoder would replace it by U+FFFD, and save would write that.
func TestRequestHalfOfPair(t *testing.T) {
	for text, isRefused := range map[string]bool{
		`\ud800`: true, `\uD83D`: true, `\ude00`: true, `\ude00\ud83d`: true, `\ud83d\n\ude00`: true, `\ud83d\ude00\udfff`: true, `\\\ud800`: true, `\ud83d\\ude00`: true,
		`\ud83d\ude00`: false, `\\ud800`: false, `\ufffd`: false, `\u00e9`: false, `ud800`: false, `\\`: false,
	} {
		h, dir, path, version := savedIn(t, "dtmc")
		answer, outcome := answerTo(t, h, "save", fmt.Sprintf(`{"path":%q,"text":"%s","version":%q}`, path, text, version))
		now, err := os.ReadFile(filepath.Join(dir, "m.prism"))
		if err != nil {
			t.Fatal(err)
		}
		switch isKept := string(now) == "dtmc"; {
		case isRefused && (outcome != Malformed || !isKept || !strings.Contains(answer, "half of a surrogate pair")):
			t.Errorf("%s: found %d %s and the file %q, want it refused", text, outcome, answer, now)
		case !isRefused && (outcome != Answered || isKept):
			t.Errorf("%s: found %d %s and the file %q, want it saved", text, outcome, answer, now)
		}
	}
}

// A read-only file stays as it is. A temporary file that was left behind does not keep others from being saved.
func TestSaveReadOnlyAndLeftover(t *testing.T) {
	h, dir, path, version := savedIn(t, "dtmc")
	if err := os.WriteFile(filepath.Join(dir, ".m.prism.tilecheck-part"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.save(t.Context(), &saveQuestion{Path: path, Text: "mdp", Version: version}, nil); err != nil {
		t.Errorf("beside a file that was left: %v", err)
	}
	if os.Getuid() == 0 {
		needs.Have(t, needs.System, errors.New("permission bits do not bind root"))
	}
	file := filepath.Join(dir, "m.prism")
	if err := os.Chmod(file, 0o444); err != nil {
		t.Fatal(err)
	}
	_, err := h.save(t.Context(), &saveQuestion{Path: path, Text: "gone", Version: versionOf([]byte("mdp"))}, nil)
	if err == nil || !strings.Contains(err.Error(), "m.prism: permission denied") {
		t.Errorf("error %v", err)
	}
}

// A shield is derived from optimal play, which a page does not compute for large boards.
func TestNoLargeSolution(t *testing.T) {
	h := New(Options{})
	for _, spec := range []string{"optimal", "shield:loss=0.1,player=random", "shield:loss=0.1,over=game,player=expectimax"} {
		q := &watchQuestion{Strategy: spec, board: board{Rows: 4, Cols: 4, Max: 2048}}
		if _, err := h.watch(t.Context(), q, nil); err == nil || !strings.Contains(err.Error(), "is not computed for a page") {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// A client that stops reading ends its work, and does not keep a place of it.
func TestSlowReader(t *testing.T) {
	h := New(Options{Limits: Limits{Work: 1, Time: time.Minute}})
	question := `{"model":"dtmc module m x:[0..1]; [] x<1 -> 1e-9:(x'=1)+1-1e-9:true; endmodule","props":"P=? [ F x=1 ];","method":"ci","samples":1099511627776,"select":[0]}`
	stuck := func([]byte, Outcome) error { return os.ErrDeadlineExceeded }
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.Answer(t.Context(), "check", strings.NewReader(question), stuck)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("the work goes on")
	}
	if len(h.work)+len(h.queue) != 0 {
		t.Error("a place of work is not free")
	}
}

// TestUnknownQuestion: the error names the questions that there are.
func TestUnknownQuestion(t *testing.T) {
	var lines []string
	New(Options{}).Answer(t.Context(), "chek", strings.NewReader("{}"), func(line []byte, outcome Outcome) error {
		if outcome != NoQuestion {
			t.Errorf("found the outcome %v, want NoQuestion", outcome)
		}
		lines = append(lines, string(line))
		return nil
	})
	if len(lines) != 1 || !strings.Contains(lines[0], "there is no such question, want agreement, check, ") {
		t.Errorf("found %q", lines)
	}
}
