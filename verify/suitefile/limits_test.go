package suitefile

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"tilecheck/cluster/settings"
)

// A suite file comes with a pull request: none keeps the program, or its memory,
// busy. The parser of YAML takes a minute for the first of these.
func TestSuiteFileIsLimited(t *testing.T) {
	var indented strings.Builder
	for i := range 700 {
		fmt.Fprintf(&indented, "%*sa:\n", i, "")
	}
	bomb := "a0: &a0 [x, x]\n"
	for i := range 100 {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i)
	}
	for name, x := range map[string]struct{ text, want string }{
		"lists":       {"title: " + strings.Repeat("[", 100_000), "s.yaml:1:72: found lists and mappings nested more than 64 deep, want at most this depth"},
		"mappings":    {"suites:\n  - " + strings.Repeat("{a: ", 10_000), "s.yaml:2:261: found lists and mappings nested more than 64 deep, want at most this depth"},
		"dashes":      {strings.Repeat("- ", 100_000), "s.yaml:1:129: found lists and mappings nested more than 64 deep, want at most this depth"},
		"keys":        {strings.Repeat("? ", 100_000), "s.yaml:1:129: found lists and mappings nested more than 64 deep, want at most this depth"},
		"indentation": {indented.String(), "unknown key"},
		"aliases":     {bomb, "unknown key"},
		"large":       {"title: x" + strings.Repeat(" ", 256<<10), "s.yaml:1:1: found a file of 262152 bytes, want one of at most 262144"},
		"line":        {"title: a" + strings.Repeat("-", 200_000), ""},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := Read("s.yaml", []byte(x.text))
			if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
				t.Errorf("error %v, want %q", err, x.want)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestOpenLarge: what anybody may call tilecheck.yaml is not read whole.
func TestOpenLarge(t *testing.T) {
	fsys := fstest.MapFS{"a/tilecheck.yaml": {Data: make([]byte, maxYAML+1)}}
	same := func(name string) string { return name }
	if f, err := In(fsys, "a", same); f != nil || err == nil || err.Error() != "read a/tilecheck.yaml: larger than 256 kB" {
		t.Errorf("%v, %v", f, err)
	}
	if f, err := In(fsys, "b", same); f != nil || err != nil {
		t.Errorf("without a file: %v, %v", f, err)
	}
}

// What is asked of a cluster ends in a batch script: every mistake has its place,
// and no value begins a line of its own.
func TestCluster(t *testing.T) {
	f, err := Read("s.yaml", []byte("cluster:\n  partition: main\n  account: a_1\n  time: 1-12:00\n  memory: 4GB\n  cpus: 2\n  shards: 128\n  tasks: 16\n  sbatch: [--qos=short, --exclusive]\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := settings.Settings{Partition: "main", Account: "a_1", Time: "1-12:00", Memory: 4 << 30, CPUs: 2, Shards: 128, Tasks: 16, Sbatch: []string{"--qos=short", "--exclusive"}}
	if !reflect.DeepEqual(f.Cluster, want) {
		t.Errorf("%+v, want %+v", f.Cluster, want)
	}
	for text, want := range map[string]string{
		"partition: \"a\\n#SBATCH --wrap=id\"": `s.yaml:2:14: found "a\n#SBATCH --wrap=id", want letters`,
		"partition: |\n    a\n    b":           `s.yaml:2:14: found "a\nb\n", want letters`,
		"account: $(id)":                       `s.yaml:2:12: found "$(id)", want letters`,
		"time: 2h":                             `s.yaml:2:9: found "2h", want minutes`,
		"memory: -1":                           `s.yaml:2:11: found "-1", want an amount`,
		"cpus: 100000":                         `s.yaml:2:9: found 100000, want at most 1024`,
		"shards: 1000000":                      `s.yaml:2:11: found 1000000, want at most 100000`,
		"tasks: 0":                             `s.yaml:2:10: found "0", want a number from 1`,
		"sbatch: [--qos=a, --wrap=id]":         `s.yaml:2:21: found "--wrap=id", want none of`,
		"sbatch: \"--qos=a\\n#SBATCH -o x\"":   `s.yaml:2:11: found "--qos=a\n#SBATCH -o x", want`,
		"slurm-prefix: id":                     `s.yaml:2:3: unknown key "slurm-prefix" in cluster`,
		"sbatch: [" + strings.Repeat("--qos=a,", 100) + "--qos=a]": "want at most 64",
	} {
		_, err := Read("s.yaml", []byte("cluster:\n  "+text+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
