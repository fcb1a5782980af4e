package induced_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/modelgen"
)

// What PRISM says about the models and the chains. The table of docs/proof.md has it, and is made again by
//
//	TILECHECK_PRISM=/path/to/prism go test ./game/induced -run TestPRISM -update
//
// Without -update the runs are made and checked, and the table is left alone.

var updateTable = flag.Bool("update", false, "write the table of docs/proof.md")

// switches of PRISM. Its exact engine imports no explicit files.
var (
	exactly    = []string{"-exact"}
	explicitly = []string{"-explicit", "-gs", "-epsilon", "1e-12"}
	byDefault  = []string{"-epsilon", "1e-12"}
)

func TestPRISM(t *testing.T) {
	prism := needs.PRISM(t)
	table, dir := readTable(t), t.TempDir()
	everyModel(t, true, func(t *testing.T, x *exported) {
		write := func(name string, data []byte) {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		write("x.prism", x.model(t, modelgen.SpawnUniform))
		space := x.space(t, false)
		write("x.tra", space.Transitions.Text)
		write("x.sta", space.States.Text)
		write("x.lab", space.Labels.Text)
		runs := [][]string{exactly, byDefault}
		if x.cols > 2 {
			runs = [][]string{explicitly}
			if strings.HasPrefix(x.spec, "pref:") { // the trees of others take the symbolic engines minutes
				runs = append(runs, byDefault)
			}
		}
		said := 0.0
		for i, how := range runs {
			args := append([]string{filepath.Join(dir, "x.prism"), "-pf", `Pmin=? [ F "success" ]; Pmax=? [ F "success" ]`}, how...)
			values := x.results(t, prism, args)
			if len(values) != 2 {
				t.Fatalf("prism %q says %d values, want 2", args, len(values))
			}
			if i == 0 {
				said, _ = values[1].Float64()
			}
		}
		args := append([]string{"-importmodel", filepath.Join(dir, "x.tra,sta,lab"), "-dtmc", "-pf", `P=? [ F "success" ]`}, explicitly...)
		if values := x.results(t, prism, args); len(values) != 1 {
			t.Fatalf("prism %q says %d values, want 1", args, len(values))
		}
		table[x.key()] = x.row(t, strconv.FormatFloat(said, 'g', -1, 64))
		if *updateTable && !t.Failed() {
			writeTable(t, table) // row by row: the runs take minutes
		}
	})
}

// results runs PRISM and returns its results, which must be the value: exactly when they are fractions and the model is not rounded, and
// to 1e-9.
func (x *exported) results(t *testing.T, prism string, args []string) []*big.Rat {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), prism, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("prism %q: %v\n%s", args, err, out)
	}
	var all []*big.Rat
	for _, m := range regexp.MustCompile(`(?m)^Result: (\S+)`).FindAllSubmatch(out, -1) {
		r, ok := new(big.Rat).SetString(string(m[1]))
		if !ok {
			t.Fatalf("prism %q: result %q", args, m[1])
		}
		all = append(all, r)
		value, _ := r.Float64()
		if x.win != nil && bytes.ContainsRune(m[1], '/') && r.Cmp(x.win) != 0 || math.Abs(value-x.about.Lo) > 1e-9 {
			t.Errorf("prism %q: %s, direct evaluation is in %v", args, m[1], x.about)
		}
	}
	return all
}

// The table of docs/proof.md: rows by their first three columns.

const (
	proofFile   = "../../docs/proof.md"
	tableStart  = "|---|---|---|---:|---|---|---|---|\n"
	tableEnd    = "\n\n"
	prismColumn = 6
)

// key is the first columns of the row of a strategy.
func (x *exported) key() string {
	return fmt.Sprintf("%dx%d|%d|`%s`", x.rows, x.cols, 1<<x.exp, x.spec)
}

// row returns the columns of the row.
func (x *exported) row(t *testing.T, prism string) []string {
	t.Helper()
	exact, direct := "not in full", strconv.FormatFloat(x.about.Lo, 'g', 12, 64)
	if x.win != nil {
		exact = x.win.RatString()
		if len(exact) > 50 {
			exact = fmt.Sprintf("%d digits", len(exact)-1)
		}
		value, _ := x.win.Float64()
		direct = strconv.FormatFloat(value, 'g', -1, 64)
	}
	i := x.games(t)
	return append(
		strings.Split(x.key(), "|"), strconv.Itoa(x.chain.Len()+1), exact, direct, prism, fmt.Sprintf("[%.4f, %.4f]", i.Lo, i.Hi),
	)
}

func readTable(t *testing.T) map[string][]string {
	t.Helper()
	_, rows, _ := splitTable(t)
	table := map[string][]string{}
	for line := range strings.Lines(rows) {
		row := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(row) < prismColumn+2 {
			t.Fatalf("%s: row %q, want %d columns", proofFile, line, prismColumn+2)
		}
		table[strings.Join(row[:3], "|")] = row
	}
	return table
}

// splitTable returns the file up to the rows of the table, the rows, and the rest.
func splitTable(t *testing.T) (before, rows, after string) {
	t.Helper()
	text, err := os.ReadFile(proofFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), tableStart)
	rows, after, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		t.Fatal(errors.New(proofFile + " has no table of strategies"))
	}
	return before + tableStart, rows, tableEnd + after
}

// writeTable replaces the rows of the table.
func writeTable(t *testing.T, table map[string][]string) {
	t.Helper()
	before, _, after := splitTable(t)
	var lines []string
	for _, g := range []setting{{2, 2, 4}, {2, 2, 5}, {2, 3, 5}} {
		for _, spec := range listed(t, g) {
			x := &exported{setting: g, spec: spec}
			if row, known := table[x.key()]; known {
				lines = append(lines, "| "+strings.Join(row, " | ")+" |")
			}
		}
	}
	if err := os.WriteFile(proofFile, []byte(before+strings.Join(lines, "\n")+after), 0o666); err != nil {
		t.Fatal(err)
	}
}
