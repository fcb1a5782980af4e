package tiles_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tilecheck/certify/tiles"
)

// signed returns a certificate of stages with the right checksum.
func signed(lines ...string) string {
	text := strings.Join(lines, "\n") + "\n"
	return text + fmt.Sprintf("sha256 %x\n", sha256.Sum256([]byte(text)))
}

// TestCheckStages checks a certificate by hand, and that lines with mistakes are errors that say what was wanted. On 2x2 to 8, the value is 1: each
// board without an 8 has room for two tiles that merge to one.
func TestCheckStages(t *testing.T) {
	header := []string{"tilecheck stages 1", "board 2x2", "max 8", "scale 2147483648"}
	const stage = "stage small 8 sum 16 columns any upper 0 locked"
	checked, err := tiles.CheckStages(t.Context(), strings.NewReader(signed(append(header, stage, "bound 2147483648")...)), 1)
	if err != nil {
		t.Fatal(err)
	}
	if checked.Lower != tiles.StageScale || checked.Stages != 1 || checked.Boards != 81 { // three tiles on four cells
		t.Errorf("found %+v, want a bound of 1 from 81 boards", *checked)
	}
	// The sum is far above that of three small tiles a row, and the columns of the second stage allow no board.
	text := signed(append(header, "stage small 8 sum 16384 columns any upper 0 locked", "stage small 4096 sum 16384 columns 1 upper 0 locked", "bound 2147483648")...)
	if _, err := tiles.CheckStages(t.Context(), strings.NewReader(text), 1); err == nil || !strings.Contains(err.Error(), "want at most 8") {
		t.Errorf("found %v, want an error about the small tiles of the second stage", err)
	}
	text = signed(append(header, "stage small 8 sum 2 columns any upper 0 locked", "bound 1")...) // the sum has no room for the tiles that merge
	if _, err := tiles.CheckStages(t.Context(), strings.NewReader(text), 1); err == nil || !strings.Contains(err.Error(), "line 6: the bound is 1, want at most 0") {
		t.Errorf("found %v, want an error about the bound", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tiles.CheckStages(ctx, strings.NewReader(signed(append(header, stage, "bound 0")...)), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for name, x := range map[string]struct{ line, want string }{
		"no stage":             {"bound 0", "want a stage"},
		"bound above 1":        {stage + "\nbound 2147483649", "line 6"},
		"another line":         {"step small 8 sum 16 columns any upper 0 locked", "want stage small TILE"},
		"small tiles of 4":     {"stage small 4 sum 16 columns any upper 0 locked", "want at least 8"},
		"small tiles of 12":    {"stage small 12 sum 16 columns any upper 0 locked", "want a power of two"},
		"odd sum":              {"stage small 8 sum 15 columns any upper 0 locked", "want an even number"},
		"locked winning tile":  {"stage small 8 sum 16 columns any upper 1 locked 8", "locked tile 8"},
		"too many in row 0":    {"stage small 8 sum 16 columns any upper 1 locked", "want the number of locked tiles in row 0"},
		"column of no board":   {"stage small 8 sum 16 columns 2 upper 0 locked", "want any, or numbers from 0 to 1"},
		"words for the number": {"stage small 8 sum few columns any upper 0 locked", "want an even number"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tiles.CheckStages(t.Context(), strings.NewReader(signed(append(header, x.line, "bound 0")...)), 1)
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("found %v, want %q", err, x.want)
			}
		})
	}
}
