package modelgen

import (
	"testing"

	"tilecheck/game"
	"tilecheck/prism/syntax"
)

// The cell updates that the thesis prints, on every line with the number of tiles they are for: which follow the rules of the game and which
// do not. PublishedNote and docs/models.md rely on it.
//
// The print of Table 3.4 lacks closing parentheses in cells 1 and 2. They are put where they make the most of it: in cell 2 as in Table 3.3,
// cell 1, which it repeats. Table 3.5, cell 3, has dashes for bars.
func TestPublishedUpdates(t *testing.T) {
	const secondOfTwo = "(c0=0?(c1=0?(c2=c3?0:c3):(c2=0?(c1=c3?0:c3):(c1=c2?0:c2))):(c1=0?(c2=0?(c0=c3?0:c3):(c0=c2?0:c2)):(c0=c1?0:c1)))"
	for _, tc := range []struct {
		table            string
		cells, low, high int // length of the line and its number of tiles
		cell             int
		text             string
		breaks           []int // a line for which the update breaks the rules, by hand
		printed, rules   int   // what it makes of the cell there, and what the rules do
	}{
		{table: "3.1", cells: 2, low: 0, high: 1, cell: 0, text: "(c0=0?(c1=0?0:c1):c0)"},
		{table: "3.1", cells: 2, low: 0, high: 1, cell: 1, text: "0"},
		{table: "3.1", cells: 2, low: 2, high: 2, cell: 0, text: "(c0=c1?2*c0:c0)"},
		{table: "3.1", cells: 2, low: 2, high: 2, cell: 1, text: "(c0=c1?0:c1)"},
		{table: "3.2", cells: 4, low: 0, high: 1, cell: 0, text: "(c0=0?(c1=0?(c2=0?(c3=0?0:c3):c2):c1):c0)"},
		{table: "3.3", cells: 4, low: 2, high: 2, cell: 0, text: "(c0=0?(c1=0?(c2=c3?2*c2:c2):(c2=0?(c1=c3?2*c1:c1):(c1=c2?2*c1:c1))):" +
			"(c1=0?(c2=0?(c0=c3?2*c0:c0):(c0=c2?2*c0:c0)):(c0=c1?2*c0:c0)))"},
		{table: "3.3", cells: 4, low: 2, high: 2, cell: 1, text: secondOfTwo},
		{
			table: "3.4", cells: 4, low: 3, high: 3, cell: 0, text: "(c0=0?(c1=c2?2*c1:c1):(c0=c1?(c0=c2?2*c0:c0):(c0=c1?2*c0:c0)))",
			breaks: []int{4, 4, 2, 0}, printed: 4, rules: 8,
		},
		{
			table: "3.4", cells: 4, low: 3, high: 3, cell: 1, text: "(c0=0?(c1=c2?c3:c2):(c1=0?(c0=c2?c3:(c2=c3?2*c2:c2)):" +
				"(c2=0?(c1=c0?c3:(c1=c3?2*c1:c1)):(c1=c0?c2:(c1=c2?2*c1:c1)))))",
			breaks: []int{0, 4, 2, 2}, printed: 2, rules: 4,
		},
		{
			table: "3.4", cells: 4, low: 3, high: 3, cell: 2, text: secondOfTwo,
			breaks: []int{4, 2, 2, 0}, printed: 2, rules: 0,
		},
		{table: "3.5", cells: 4, low: 4, high: 4, cell: 0, text: "(c0=c1?2*c0:c0)"},
		{table: "3.5", cells: 4, low: 4, high: 4, cell: 1, text: "(c0=c1?(c2=c3?2*c2:c2):(c1=c2?2*c1:c1))"},
		{
			table: "3.5", cells: 4, low: 4, high: 4, cell: 2, text: "(c0=c1?(c2=c3?0:2*c3):(c1=c2?c3:c2))",
			breaks: []int{2, 2, 4, 8}, printed: 16, rules: 8,
		},
		{table: "3.5", cells: 4, low: 4, high: 4, cell: 3, text: "(c0=c1|c1=c2|c2=c3?0:c3)"},
	} {
		x, err := syntax.ParseExpr("", []byte(tc.text))
		if err != nil {
			t.Fatalf("table %s, cell %d: %v", tc.table, tc.cell, err)
		}
		update := newEvaluator(t, &syntax.Model{}).compile(x)
		at := func(board []int) int {
			v := valuation{}
			for i, name := range []string{"c0", "c1", "c2", "c3"}[:tc.cells] {
				v[name] = board[i]
			}
			return update(v)
		}
		if tc.breaks != nil {
			must, _ := game.Slide(tc.breaks)
			if at(tc.breaks) != tc.printed || must[tc.cell] != tc.rules {
				t.Errorf("table %s, cell %d: %v gives %d, the rules %d", tc.table, tc.cell, tc.breaks, at(tc.breaks), must[tc.cell])
			}
			continue
		}
		boards(tc.cells, 16, func(board []int) {
			tiles := 0
			for _, v := range board {
				tiles += min(1, v)
			}
			if want, _ := game.Slide(board); tc.low <= tiles && tiles <= tc.high && at(board) != want[tc.cell] {
				t.Errorf("table %s, cell %d: %v gives %d, the rules %d", tc.table, tc.cell, board, at(board), want[tc.cell])
			}
		})
	}
}
