package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/jsonschema-go/jsonschema"

	"tilecheck/internal/needs"
	"tilecheck/report/schema"
)

// schemas are the resolved schemas of all commands.
func schemas(t *testing.T) map[string]*jsonschema.Resolved {
	t.Helper()
	out := make(map[string]*jsonschema.Resolved)
	for _, command := range schema.Commands() {
		text, err := schema.ForCommand(command)
		if err != nil {
			t.Fatal(err)
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		if out[command], err = s.Resolve(nil); err != nil {
			t.Fatalf("%s: %v", command, err)
		}
	}
	return out
}

// wantValid validates the one object that a command printed, and returns it.
func wantValid(t *testing.T, known map[string]*jsonschema.Resolved, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	var doc map[string]any
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if d.More() {
		t.Fatalf("there is more than one object in\n%s", text)
	}
	s := known[fmt.Sprint(doc["command"])]
	if s == nil {
		t.Fatalf("the command is %v, which has no schema", doc["command"])
	}
	if err := s.Validate(doc); err != nil {
		t.Errorf("%v in\n%s", err, text)
	}
	wantTimes(t, doc)
	return doc
}

// wantTimes checks what a schema says with "format": "date-time", which validators
// take for a remark.
func wantTimes(t *testing.T, value any) {
	t.Helper()
	switch value := value.(type) {
	case []any:
		for _, x := range value {
			wantTimes(t, x)
		}
	case map[string]any:
		for name, x := range value {
			if text, ok := x.(string); ok && (name == "started" || name == "created") {
				if _, err := time.Parse(time.RFC3339, text); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			wantTimes(t, x)
		}
	}
}

// fieldsOf lists what the results of a command have, as columns of CSV: a list for
// each kind of results.
func fieldsOf(t *testing.T, command string) [][]string {
	t.Helper()
	text, err := schema.ForCommand(command)
	if err != nil {
		t.Fatal(err)
	}
	type node struct {
		Ref        string           `json:"$ref"`
		AnyOf      []*node          `json:"anyOf"`
		Properties map[string]*node `json:"properties"`
		Items      *node            `json:"items"`
		Defs       map[string]*node `json:"$defs"`
		// summary is false where there is none, and additionalProperties may be, too.
	}
	text = bytes.ReplaceAll(text, []byte(`"summary": false`), []byte(`"summary": {}`))
	var root node
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	var columns func(n *node, prefix string) []string
	columns = func(n *node, prefix string) (out []string) {
		if name, ok := strings.CutPrefix(n.Ref, "#/$defs/"); ok {
			out = columns(root.Defs[name], prefix)
			if len(n.Properties) == 0 {
				return out
			}
			if len(out) == 1 && out[0] == prefix {
				out = nil
			}
		}
		if len(n.Properties) == 0 {
			return []string{prefix}
		}
		if prefix != "" {
			prefix += "_"
		}
		for name, p := range n.Properties {
			out = append(out, columns(p, prefix+name)...)
		}
		return out
	}
	var all [][]string
	items := root.Properties["results"].Items
	for _, n := range append(items.AnyOf, items) {
		if n == items && len(items.AnyOf) > 0 {
			continue
		}
		c := columns(n, "")
		slices.Sort(c)
		all = append(all, c)
	}
	return all
}

// contractFiles are models and properties with every kind of answer, of several
// initial states, with errors of every place, and hostile names.
func contractFiles(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"die.prism":       "dtmc\nconst int N;\nmodule m\n  s : [0..3] init 0;\n  [a] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);\n  [] s=1 -> (s'=3);\nendmodule\nlabel \"end\" = s=3;\nrewards \"r\" s<N : 1; endrewards\n",
		"die.props":       "\"named\": P=? [ F s=N ]\nR{\"r\"}=? [ F s=3 ]\nP>=1 [ F s=1 ]\nfilter(print, P=? [ F s=3 ])\nfilter(count, s>0)\nR{\"r\"}=? [ F s=2 ] / R{\"r\"}=? [ F s=2 ]\n",
		"many.prism":      "dtmc\nmodule m\n  s : [0..3];\n  [] s<3 -> 0.5:(s'=s+1) + 0.5:(s'=0);\nendmodule\ninit s<2 endinit\n",
		"mdp.prism":       "mdp\nmodule m\n  s : [0..2] init 0;\n  [] s=0 -> (s'=1);\n  [] s=0 -> (s'=2);\n  [] s>0 -> true;\nendmodule\n",
		"ctmc.prism":      "ctmc\nmodule m\n  step : bool;\n  action : [0..3];\n  [] true -> 2:(step'=!step) + 1:(action'=mod(action+1,4));\nendmodule\nrewards true : 1; [] step : 2; endrewards\n",
		"leaves.prism":    "dtmc\nmodule m\n  s : [0..3];\n  [] true -> (s'=s+1);\nendmodule\n",
		"bad.prism":       "dtmc\nmodule m\n  s : [0..3;\nendmodule\n",
		"wrong.prism":     "dtmc\nmodule m\n  s : [0..3];\n  [] x=0 -> (y'=1);\nendmodule\n",
		"broken.prism":    "dtmc\nmodule m\n  s : [0..3] init 0;\n  [] s=0 -> 0.5:(s'=1) + 0.6:(s'=2);\nendmodule\n",
		"suite/die.prism": "dtmc\nmodule m\n  s : [0..3] init 0;\n  [] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);\nendmodule\n",
		"suite/die.props": "// RESULT: 1/2\n\"a<b>&\": P=? [ F s=1 ]\n// RESULT: 0.7\nP=? [ F s=2 ]\nP=? [ F s=3 ]\n// RESULT: ?\nR=? [ F s=9 ]\n// RESULT: Infinity\nP=? [ F s=2 ]\n",
		"empty/die.prism": "dtmc\nmodule m\n  s : [0..3] init 0;\n  [] true -> true;\nendmodule\n",
		"empty/die.props": "",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	writeCertificate(t, filepath.Join(dir, "die.cert"), die, func(state []int32) bool { return state[1] == 6 })
	return dir
}

// contractLines are command lines whose JSON is checked, without --format json, and
// the exit code of each.
func contractLines() map[string]int {
	return map[string]int{
		"check die.prism die.props --const N=3":                                                       2,
		"check die.prism die.props --const N=1:3 --exact":                                             2,
		"check die.prism --const N=3 --prop P=?[F<=1\x00s=1] --method ci --samples 100 --seed 1":      0,
		"check die.prism --const N=3 --prop P>=0.4[F<=1\x00s=1] --method sprt --seed 1":               0,
		"check die.prism --const N=3 --prop R=?[F\x00s=2]":                                            0,
		"check many.prism --prop P=?[X\x00s=1]":                                                       0,
		"check mdp.prism --prop Pmax=?[F\x00s=1]":                                                     0,
		"check mdp.prism --prop P=?[F\x00s=1]":                                                        1,
		"check bad.prism --prop P=?[F\x00s=1]":                                                        1,
		"check wrong.prism --prop P=?[F\x00s=1]":                                                      1,
		"check broken.prism --prop P=?[F\x00s=1]":                                                     1,
		"check missing.prism --prop P=?[F\x00s=1]":                                                    1,
		"check die.prism --prop P=?[F\x00\"\u202e::x<&>\"]":                                           1,
		"check die.prism --const N=x --prop P=?[F\x00s=1]":                                            80,
		"check die.prism --const N=3 --prop P=?[F\x00s=1] --export-results -":                         80,
		"check die.prism --frobnicate":                                                                80,
		"check":                                                                                       80,
		"version":                                                                                     0,
		"crosscheck die.prism die.props --const N=3 --engines native,native:exact,native:ci --seed 1": 0,
		"crosscheck many.prism --against many.prism --prop P=?[X\x00s=1] --engines native":            0,
		"crosscheck suite/die.prism --against mdp.prism --prop P=?[X\x00s=1] --engines native":        3,
		"crosscheck broken.prism --prop P=?[X\x00s=1] --engines native,native:exact":                  3,
		"crosscheck die.prism die.props --const N=3 --engines native,native:float --certify":          0,
		"crosscheck --model many.prism --against many.prism":                                          0,
		"crosscheck --model suite/die.prism --against die.prism --const N=3":                          3,
		"crosscheck --model mdp.prism --engines native":                                               1,
		"crosscheck bad.prism --prop P=?[X\x00s=1] --engines native,native:exact":                     1,
		"simulate die.prism --const N=3 --seed 1 --rewards --probs":                                   0,
		"simulate ctmc.prism --steps 3000 --seed 1 --no-loop-check":                                   0,
		"simulate ctmc.prism --time 5 --seed 1 --rewards":                                             0,
		"simulate leaves.prism --seed 1":                                                              1,
		"simulate die.prism":                                                                          1,
		"simulate many.prism --vars nobody":                                                           80,
		"info mdp.prism":                                                                              0,
		"distribution suite/die.prism --exact":                                                        0,
		"distribution ctmc.prism --time 0:0.5:1":                                                      0,
		"distribution mdp.prism":                                                                      1,
		"distribution ctmc.prism --time 1:0":                                                          80,
		"lint many.prism":                                                                             2,
		"lint bad.prism":                                                                              1,
		"reduce mdp.prism --prop Pmax=?[F\x00s=1]":                                                    0,
		"reduce mdp.prism --prop P=?[F\x00s=1]":                                                       1,
		"shield mdp.prism Pmax=?[F\x00s=1] --threshold 1/20":                                          0,
		"shield mdp.prism Pmax=?[F\x00s=1] --threshold x":                                             80,
		"info die.prism --const N=3":                                                                  0,
		"info die.prism":                                                                              1,
		"info bad.prism":                                                                              1,
		"test suite --no-cache":                                                                       1,
		"test suite --no-cache --baseline old.jsonl":                                                  1,
		"test empty --no-cache":                                                                       1,
		"test suite --no-cache --shard 0/0":                                                           80,
		"rerun record":                                                                                0,
		"rerun nowhere":                                                                               1,
		"bench suite -o measured.jsonl":                                                               1,
		"bench report results.jsonl":                                                                  0,
		"bench report die.prism":                                                                      1,
		"bench compare results.jsonl results.jsonl --old-tool native --new-tool native":               0,
		"bench compare results.jsonl results.jsonl":                                                   80,
		"test nowhere":                                                       1,
		"solve --size 2 --max 8":                                             0,
		"solve --size 2 --max 8 --layers":                                    0,
		"solve --size 2":                                                     80,
		"train 2x2.ntuple --size 2 --games 20 --seed 1":                      0,
		"train 2x2.ntuple --size 2 --games 20 --largest 3":                   80,
		"policy --size 2 --max 8 --board 2\x00.\x00/\x00.\x002":              0,
		"policy --size 2 --max 8 --board 2\x00.\x00/\x00.\x003":              80,
		"bound pref:left,up,down,right --size 2 --max 8 --certificate proof": 0,
		"bound --check proof":                                                0,
		"certify proof":                                                      0,
		"bound nobody":                                                       80,
		"certify die.cert":                                                   0,
		"certify die.cert --model mdp.prism":                                 2,
		"certify die.prism":                                                  80,
		"strategies":                                                         0,
		"strategies random sparse:depth=2":                                   0,
		"strategies nobody":                                                  80,
		"play random --size 2 --max 8 --games 20 --seed 1 --record games.txt": 0,
		"play nobody":                   80,
		"replay games.txt":              0,
		"replay die.prism":              1,
		"doctor --prism-path ./missing": 1,
		"compare random opposite --max 8 --size 2 --samples 50 --seed 1":                      0,
		"compare models random --max 128 --samples 50 --seed 1":                               0,
		"compare models random --max 8 --size 2 --method exact --exact":                       0,
		"compare document cs221 --row random --games 100 --seed 1":                            0,
		"compare document lees-miller --table solved --row 2x2 --seed 1":                      0,
		"compare document nobody":                                                             80,
		"compare players random pref:left,up,down,right --size 2 --max 8 --games 30 --seed 1": 0,
		"compare nobody": 80,
	}
}

// What commands print in JSON is what their schemas say, whatever happens, and CSV
// has the fields of the results as columns.
func TestContract(t *testing.T) {
	t.Chdir(contractFiles(t))
	t.Setenv("DOCKER_HOST", needs.NoDocker)
	known := schemas(t)
	lines := contractLines()
	seen := make(map[string]bool)
	old := `{"type":"header","schema":2}
{"type":"result","outcome":"pass","engine":"native","props":"gone.props","property":"P=? [ F x ]","value":"NaN"}
{"type":"summary","results":1,"pass":1,"seconds":1}
`
	if _, stderr, code := hostileWorld(t, false, "version", "--record-run", "record"); code != 0 {
		t.Fatal(stderr)
	}
	const measured = `{"format":1,"case":"a","tool":"native","repetition":1,"outcome":"right","cpu_seconds":1,"wall_seconds":1,"peak_memory_bytes":1000000}` + "\n"
	if err := os.WriteFile("results.jsonl", []byte(measured), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("old.jsonl", []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	order := []string{"bound pref:left,up,down,right --size 2 --max 8 --certificate proof", "play random --size 2 --max 8 --games 20 --seed 1 --record games.txt"}
	for line := range lines {
		if !slices.Contains(order, line) {
			order = append(order, line)
		}
	}
	slices.Sort(order[2:])
	for _, line := range order {
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "\x00", " ")
		}
		stdout, stderr, code := hostileWorld(t, false, append(slices.Clone(args), "--format", "json")...)
		if code != lines[line] {
			t.Errorf("%s: exit code %d, want %d: %s", line, code, lines[line], stderr)
		}
		doc := wantValid(t, known, stdout)
		results := doc["results"].([]any)
		if problem, ok := doc["error"].(map[string]any); ok {
			if fmt.Sprint(problem["exit_code"]) != fmt.Sprint(code) {
				t.Errorf("%s: the error has code %v, want %d", line, problem["exit_code"], code)
			}
		} else if len(results) == 0 {
			t.Errorf("%s: no results and no error", line)
		}
		stdout, _, _ = hostileWorld(t, false, append(args, "--format", "csv")...)
		if args[0] == "simulate" { // PRISM's columns
			seen["simulate"] = true
			continue
		}
		if len(results) == 0 {
			continue
		}
		records, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
		if err != nil || len(records) != len(results)+1 {
			t.Errorf("%s: %d records of CSV, %v, want %d", line, len(records), err, len(results)+1)
			continue
		}
		seen[fmt.Sprint(doc["command"])] = true
		columns := slices.Sorted(slices.Values(records[0]))
		for i, column := range columns { // a column for each constant
			if strings.HasPrefix(column, "constants_") {
				columns[i] = "constants"
			}
		}
		columns = slices.Compact(columns)
		if all := fieldsOf(t, fmt.Sprint(doc["command"])); !slices.ContainsFunc(all, func(fields []string) bool { return slices.Equal(fields, columns) }) {
			t.Errorf("%s: CSV has the columns %v, want one of %v", line, columns, all)
		}
	}
	stdout, _, _ := hostileWorld(t, false, "image", "--format", "json") // with or without Docker
	wantValid(t, known, stdout)
	for command := range known {
		if !seen[command] && command != "image list" { // which wants Docker
			t.Errorf("nothing of %s was checked", command)
		}
	}
}

// A command line that names no command prints one object, too.
func TestContractWithoutCommand(t *testing.T) {
	known := schemas(t)
	for line, want := range map[string]int{
		"chek x --format json": 80, "-q chek x --format json": 80, "--frobnicate --format json": 80, "--format json": 80,
		"--version --format json": 0, "--format json -v": 0, "-q --version --format=json": 0, "check --format json --version": 0, "version --format json": 0,
	} {
		stdout, _, code := hostileWorld(t, false, strings.Fields(line)...)
		if code != want {
			t.Errorf("%s: exit code %d, want %d", line, code, want)
		}
		if want == 0 {
			if doc := wantValid(t, known, stdout); doc["command"] != "version" {
				t.Errorf("%s: found the command %v, want version", line, doc["command"])
			}
			continue
		}
		var doc struct {
			Tilecheck string
			Command   *string
			Results   []any
			Error     struct {
				ExitCode int `json:"exit_code"`
			}
		}
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil || doc.Command == nil || doc.Error.ExitCode != want || doc.Tilecheck == "" {
			t.Errorf("%s: %v, want one object with an error:\n%s", line, err, stdout)
		}
	}
}

// Numbers that random games made say which seed repeats them.
func TestContractSeeds(t *testing.T) {
	for _, line := range []string{
		"play random --size 2 --max 8 --games 20 --seed 7", "compare players random pref:left,up,down,right --size 2 --max 8 --games 30 --seed 7",
		"compare document cs221 --row random --games 100 --seed 7", "compare models random --max 8 --size 2 --samples 50 --seed 7",
	} {
		stdout, stderr, _ := hostileWorld(t, false, append(strings.Fields(line), "--format", "json")...)
		var doc struct{ Results []map[string]any }
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil || len(doc.Results) == 0 {
			t.Fatalf("%s: %v\n%s%s", line, err, stdout, stderr)
		}
		for _, r := range doc.Results {
			if random := r["samples"] != nil; random && r["quantity"] != "moves per second" && r["seed"] != 7.0 {
				t.Errorf("%s: the seed is %v, want 7, of %v", line, r["seed"], r)
			}
		}
	}
}

// Every command that prints JSON has a schema, except merge, which prints what the command of its shards prints.
func TestSchemaOfEveryCommand(t *testing.T) {
	var c cli
	app, err := newApp(context.Background(), &c, &environment{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	var visit func(n *kong.Node)
	visit = func(n *kong.Node) {
		for _, f := range n.Flags {
			if f.Name == "format" && commandName(n) != "merge" {
				want = append(want, commandName(n))
			}
		}
		for _, child := range n.Children {
			visit(child)
		}
	}
	visit(app.Model.Node)
	slices.Sort(want)
	if got := schema.Commands(); !slices.Equal(got, want) {
		t.Errorf("there are schemas of %v, want %v", got, want)
	}
	if _, err := schema.ForCommand("gen"); err == nil {
		t.Error("there is a schema of gen")
	}
}
