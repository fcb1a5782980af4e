package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The random player who is shown what is allowed, on the rules of package game and a solved table, is the scheduler that makes allowed choices
// equally likely of the shield of tilecheck's own model, in fractions; and so is the worst of those who obey.
func TestShieldedPlayers(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		rows, cols, tile int
		flags            string
	}{
		{2, 2, 16, "0.1"},
		{2, 2, 16, "0"},
		{2, 2, 32, "0.01"},
		{2, 2, 32, "0.05 --relative"},
		{2, 3, 8, "0.02"},
		{1, 4, 16, "0.2"},
	} {
		t.Run(fmt.Sprintf("%dx%d-%d/%s", c.rows, c.cols, c.tile, c.flags), func(t *testing.T) {
			model := filepath.Join(dir, "board.prism")
			board := []string{fmt.Sprintf("--rows=%d", c.rows), fmt.Sprintf("--cols=%d", c.cols), fmt.Sprintf("--max=%d", c.tile)}
			wantRun(t, append([]string{"gen", "--spawn=uniform", "-o", model}, board...))
			shield := csvColumn(t, wantRun(t, append([]string{"shield", model, `Pmax=? [ F "success" ]`, "--format=csv", "--threshold"}, strings.Fields(c.flags)...)))
			played := csvColumn(t, wantRun(t, append(append([]string{"play", "random", "--hide", "--games=1", "--seed=1", "--format=csv"}, board...),
				append([]string{"--shield"}, strings.Fields(c.flags)...)...)))
			for ours, theirs := range map[string]string{"optimal": "best_value", "least": "worst_value", "with shield": "uniform_value", "without shield": "unshielded_uniform_value"} {
				if d := math.Abs(played[ours] - shield[theirs]); !(d <= 1e-12) {
					t.Errorf("%s is %v, and %s of the model is %v", ours, played[ours], theirs, shield[theirs])
				}
			}
		})
	}
}

func wantRun(t *testing.T, args []string) string {
	t.Helper()
	code, stdout, stderr := tilecheck(t.Context(), args...)
	if code != 0 {
		t.Fatalf("%q ends with %d: %s", args, code, stderr)
	}
	return stdout
}

// csvColumn returns the values of rows by their names, or those of one row by its fields.
func csvColumn(t *testing.T, text string) map[string]float64 {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	put := func(name, value string) {
		if x, err := strconv.ParseFloat(value, 64); err == nil {
			out[name] = x
		}
	}
	if rows[0][0] != "quantity" {
		for i, name := range rows[0] {
			put(name, rows[1][i])
		}
		return out
	}
	for _, row := range rows[1:] {
		put(row[0], row[4])
	}
	return out
}
