package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
)

// mistakes are what is wrong with a command of a board, as texts that are replaced in it.
func mistakes() [][2]string {
	return [][2]string{
		{"2*v_0", "4*v_0"},
		{"2*v_1", "4*v_1"},
		{"2*v_3", "4*v_3"}, // a merged tile is worth too much
		{"v_0=v_1 ? 0 : v_1", "v_1"},
		{"v_1=v_0 ? 0 : v_0", "v_0"},
		{"v_2=v_0 ? 0 : v_0", "v_0"}, // a tile that is merged stays
		{"v_0=v_1 ? 2*v_0 : v_0", "2*v_0"},
		{"v_3=v_1 ? 2*v_3 : v_3", "2*v_3"}, // merged with whatever is beside it
		{"& phase=0 ->", "->"},             // a move instead of a new tile
		{"v_0'=2", "v_0'=4"},
		{"v_3'=2", "v_3'=8"},     // a new tile is worth too much
		{"phase'=1", "phase'=0"}, // a move without a new tile after it
		{"tiles_row_0=2 ?", "tiles_row_0>=1 ?"},
		{"v_0=0 ? v_1 : v_0", "2*v_1"},
		{"v_1=0 ? v_0 : v_1", "max(v_0,v_1)+v_1"},
	}
}

// planted is a board with a mistake in one command.
type planted struct {
	name, text string
	line       int // of the command
}

// plant returns the boards in which a mistake is in one command of the text.
func plant(board string) []planted {
	var out []planted
	for _, m := range mistakes() {
		for at := 0; ; {
			i := strings.Index(board[at:], "\n  [")
			if i < 0 {
				break
			}
			at += i + 3
			end := at + strings.Index(board[at:], ";\n")
			command := board[at:end]
			if wrong := strings.Replace(command, m[0], m[1], 1); wrong != command {
				action, _, _ := strings.Cut(command[1:], "]")
				out = append(out, planted{fmt.Sprintf("[%s]: %s for %s", action, m[1], m[0]), board[:at] + wrong + board[end:], 1 + strings.Count(board[:at], "\n")})
			}
			at = end
		}
	}
	return out
}

// A mistake in one command that lets a player win more often than he can is among the commands that refute
// the bound: it is the value of the board without a mistake, which is known (docs/models.md).
func TestPlantedMistakes(t *testing.T) {
	t.Parallel()
	const property = ` [ F "success" ]`
	tried, found := 0, 0
	for _, spawn := range []string{"cell", "uniform"} {
		file := filepath.Join(t.TempDir(), "board.prism")
		wantRun(t, []string{"gen", "--size", "2", "--max", "16", "--spawn", spawn, "-o", file})
		board, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		value := oneValue(t, []string{"check", file, "--prop", "Pmax=?" + property})[0]
		all, wanted := plant(string(board)), tried+needs.Some(10)
		for i, n := 0, 0; n < len(all) && tried < wanted; i, n = (i+7)%len(all), n+1 {
			m := all[i]
			if err := os.WriteFile(file, []byte(m.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var wrong struct{ Results []struct{ Value float64 } }
			code, stdout, _ := tilecheck(t.Context(), "check", file, "--prop", "Pmax=?"+property, "--format", "json")
			if err := json.Unmarshal([]byte(stdout), &wrong); err != nil || code != exitOK || wrong.Results[0].Value < value+1e-6 {
				continue // it leaves the range of a variable, or does no harm
			}
			bound := fmt.Sprintf("P<=%v", (value+wrong.Results[0].Value)/2)
			code, stdout, stderr := tilecheck(t.Context(), "check", file, "--prop", bound+property, "--witness=1", "--subsystem", "--format", "json")
			var out struct {
				Results []struct {
					Witnesses []struct {
						Part struct{ Commands []struct{ Line int } }
					}
				}
			}
			if err := json.Unmarshal([]byte(stdout), &out); err != nil || len(out.Results) != 1 || len(out.Results[0].Witnesses) != 1 {
				t.Fatalf("%s, %s: ends with %d: %v\n%s", spawn, m.name, code, err, stderr)
			}
			tried++
			if slices.ContainsFunc(out.Results[0].Witnesses[0].Part.Commands, func(c struct{ Line int }) bool { return c.Line == m.line }) {
				found++
			} else {
				t.Logf("%s, %s: found %+v, the mistake is in line %d", spawn, m.name, out.Results[0].Witnesses[0].Part.Commands, m.line)
			}
		}
		if tried < wanted {
			t.Errorf("%s: tried %d mistakes, want %d", spawn, tried, wanted)
		}
	}
	t.Logf("%d of %d mistakes", found, tried)
	if found*20 < tried*18 {
		t.Errorf("found %d of %d mistakes, want 18 of 20", found, tried)
	}
}
