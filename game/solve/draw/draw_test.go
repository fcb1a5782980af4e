package draw_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tilecheck/game"
	"tilecheck/game/solve"
	"tilecheck/game/solve/draw"
)

func table(t *testing.T, rows, cols, maximum int) *solve.Table {
	t.Helper()
	out, _, err := solve.Solve(t.Context(), solve.Options{Shape: game.Shape{Rows: rows, Cols: cols}, Max: maximum})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func dot(t *testing.T, maximum int, optimal bool) string {
	t.Helper()
	text, err := draw.DOT(table(t, 2, 2, maximum), draw.Options{Optimal: optimal})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var (
	positionLine = regexp.MustCompile(`(?m)^    b[0-9a-f]+ \[label=<`)
	sumLine      = regexp.MustCompile(`// sum \d+`)
	startLine    = regexp.MustCompile(`color="blue"`)
	chanceLine   = regexp.MustCompile(`(?m)^  (a\d+) -> \w+ \[label="([0-9.e-]+)"\];`)
)

// TestDOT counts what is in the graphs of Lees-Miller's appendix A: the positions that are not lost (data/combinatorics/canonical.csv,
// less one for all that are won), and those of the chain under optimal play, in which 8 is always reached and 16 is not.
func TestDOT(t *testing.T) {
	for _, tt := range []struct {
		max, positions, sums, starts int
		optimal, lost                bool
	}{
		{8, 15, 6, 6, false, true},
		{16, 35, 11, 6, false, true},
		{32, 57, 19, 6, false, true},
		{8, 15, 6, 6, true, false},
	} {
		text := dot(t, tt.max, tt.optimal)
		if n := len(positionLine.FindAllString(text, -1)); n != tt.positions {
			t.Errorf("to %d: %d positions, want %d", tt.max, n, tt.positions)
		}
		if n := len(sumLine.FindAllString(text, -1)); n > tt.sums || n < tt.sums-3 { // the last sums may have lost positions only
			t.Errorf("to %d: %d sums, want %d or a little less", tt.max, n, tt.sums)
		}
		if n := len(startLine.FindAllString(text, -1)); n != tt.starts { // two 2s, 2 and 4, two 4s, beside each other or not
			t.Errorf("to %d: %d starts, want %d", tt.max, n, tt.starts)
		}
		if strings.Contains(text, "lost [") != tt.lost || !strings.Contains(text, "won [") {
			t.Errorf("to %d: the graph has a node for lost games: %t, want %t; and it must have one for won ones", tt.max, !tt.lost, tt.lost)
		}
		checkChances(t, text)
	}
	for _, maximum := range []int{8, 16, 32} {
		full, best := strings.Count(dot(t, maximum, false), "shape=point"), strings.Count(dot(t, maximum, true), "shape=point")
		if best >= full || best == 0 {
			t.Errorf("to %d: %d actions are best, want less than all %d", maximum, best, full)
		}
	}
	if !strings.Contains(dot(t, 32, true), "lost [") {
		t.Error("to 32: optimal play does not lose")
	}
}

// checkChances adds up the probabilities of each action, which are printed with four digits.
func checkChances(t *testing.T, text string) {
	t.Helper()
	sums := make(map[string]float64)
	for _, m := range chanceLine.FindAllStringSubmatch(text, -1) {
		p, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		sums[m[1]] += p
	}
	if len(sums) == 0 {
		t.Error("no probabilities")
	}
	for action, sum := range sums {
		if math.Abs(sum-1) > 1e-3 {
			t.Errorf("probabilities of %s have the sum %v", action, sum)
		}
	}
}

func TestTooLarge(t *testing.T) {
	if _, err := draw.DOT(table(t, 2, 3, 16), draw.Options{}); err == nil || !strings.Contains(err.Error(), "want at most 400") {
		t.Errorf("error %v", err)
	}
}

// TestSVG draws a graph and looks for all its nodes.
func TestSVG(t *testing.T) {
	text := dot(t, 8, false)
	svg, err := draw.SVG(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	nodes := 0
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "g" {
			for _, a := range e.Attr {
				if a.Name.Local == "class" && a.Value == "node" {
					nodes++
				}
			}
		}
	}
	if want := 15 + 2 + strings.Count(text, "shape=point"); nodes != want {
		t.Errorf("%d nodes, want %d", nodes, want)
	}
	for _, color := range []string{"#2e9e4f", "#d03b3b", "blue"} {
		if !bytes.Contains(svg, []byte(color)) {
			t.Errorf("nothing is %s", color)
		}
	}
}

func TestSVGErrors(t *testing.T) {
	if svg, err := draw.SVG(t.Context(), "digraph {"); err == nil {
		t.Errorf("half a graph has a picture of %d bytes", len(svg))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := draw.SVG(ctx, "digraph { a -> b }"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// TestNotice compares the file with the checksum that NOTICE gives.
func TestNotice(t *testing.T) {
	code, err := os.ReadFile("graphviz.wasm")
	if err != nil {
		t.Fatal(err)
	}
	notice, err := os.ReadFile("NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(code)
	if want := hex.EncodeToString(sum[:]); !bytes.Contains(notice, []byte(want)) {
		t.Errorf("NOTICE does not have the checksum %s", want)
	}
}
