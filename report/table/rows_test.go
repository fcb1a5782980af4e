package table

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func long(rows int) *Table {
	t := &Table{Title: "A [\npath", Columns: []Column{{Name: "action [", Code: true}, {Name: "n", Align: Right}, {Name: "list"}}, Notes: []string{"first"}}
	for i := range rows {
		t.Append("[a]\n  ]", i, Cell{Text: "x", Value: []string{"[\n", "\n  ]"}})
	}
	return t
}

func streamed(t *testing.T, table *Table, f Format, opt Options) string {
	t.Helper()
	var b bytes.Buffer
	head := *table
	head.Rows = nil
	r := head.Stream(&b, f, opt)
	for _, row := range table.Rows {
		values := make([]any, len(row))
		for i, c := range row {
			values[i] = c
		}
		if err := r.Append(values...); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close("second"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Rows that come one by one are printed as all at once are; a long table for
// people has columns that grow.
func TestStream(t *testing.T) {
	for _, n := range []int{0, 1, 2, 999, 1000, 1001, 1002, 2000, 2001, 5000} {
		for _, f := range []Format{Text, JSON, CSV, Markdown} {
			for _, opt := range []Options{{}, {Width: 20}, {Width: 8}} {
				if f == Text && n > rowsAtATime {
					continue
				}
				table := long(n)
				got := streamed(t, table, f, opt)
				table.Notes = append(table.Notes, "second")
				var want bytes.Buffer
				if err := table.Write(&want, f, opt); err != nil {
					t.Fatal(err)
				}
				if got != want.String() {
					t.Errorf("%d rows as %v, %+v:\n%.300s\n...\n%s\nwant\n%.300s", n, f, opt, got, got[max(0, len(got)-300):], want.String())
				}
			}
		}
	}
}

// The header and its first rows stay as they are; the column of numbers grows
// when a thousand rows come with one that needs it.
func TestStreamText(t *testing.T) {
	numbers := &Table{Columns: []Column{{Name: "a"}, {Name: "n", Align: Right}}}
	for i := range 12_000 {
		numbers.Append("x", i)
	}
	want := []string{"a    n", "-  ---"}
	for i := range 12_000 {
		width := 3
		if i >= 1000 {
			width = 4
		}
		if i >= 10_000 {
			width = 5
		}
		want = append(want, fmt.Sprintf("x  %*d", width, i))
	}
	want = append(want, "", "second", "")
	if got := strings.Split(streamed(t, numbers, Text, Options{Width: 10}), "\n"); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got[1000:1010], want[1000:1010])
	}
	want = nil
	for i := range 12_000 {
		want = append(want, "a  x", fmt.Sprintf("n  %d", i), "")
	}
	want = append(want, "secon", "d", "")
	if got := strings.Split(streamed(t, numbers, Text, Options{Width: 5}), "\n"); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got[2990:3010], want[2990:3010])
	}
}

type full struct{ writes int }

func (f *full) Write([]byte) (int, error) {
	f.writes++
	return 0, errors.New("no space")
}

// A writer that fails ends the rows, and cells that are missing are an error.
func TestStreamErrors(t *testing.T) {
	w, n := &full{}, 0
	r := (&Table{Columns: []Column{{Name: "n"}}}).Stream(w, JSON, Options{})
	for r.Append(n) == nil {
		n++
	}
	if n != rowsAtATime || w.writes != 1 {
		t.Errorf("%d rows and %d writes until the error", n, w.writes)
	}
	if err := r.Append(1, 2); err == nil {
		t.Error("no error for a cell too many")
	}
}
