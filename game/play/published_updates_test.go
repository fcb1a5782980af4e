package play

import (
	"math"
	"strings"
	"testing"

	"tilecheck/game"
)

// Games with the published updates lose as often as those of a second program that was written from the description of the faults (2048-numbers.md,
// 40,000 games): 400 games each, within four standard deviations of both, so that a new seed raises a false alarm with a probability below 0.001.
// Tiles vanish: what a game reached is not what is there at its end.
func TestPublishedGames(t *testing.T) {
	for spec, loses := range map[string]map[int]float64{
		"random":     {7: .135, 8: .508, 9: .851, 10: .968, 11: .994},
		"orthogonal": {7: .010, 8: .124, 9: .562, 10: .960, 11: .998},
	} {
		m := Match{Shape: game.Shape{Rows: 4, Cols: 4}, Goal: 11, Seed: 36, Published: true}
		s, err := m.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		out, err := Run(t.Context(), Options{Match: m, Strategy: s, Games: 400})
		if err != nil {
			t.Fatal(err)
		}
		for exp, p := range loses {
			reached := out.Reached(exp)
			if lost := 1 - reached.Mean(); math.Abs(lost-p) > 4*math.Sqrt(p*(1-p)*(1./400+1./40_000)) {
				t.Errorf("%s, %d: %v are lost, want %v", spec, game.Value(exp), lost, p)
			}
		}
		if won := out.Reached(11); won.K != out.Won.K {
			t.Errorf("%s: %d games reached 2048, %d won", spec, won.K, out.Won.K)
		}
		estimates, err := out.Estimates(0.99)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range estimates {
			if !e.Share && e.Interval.Sound() {
				t.Errorf("%s: a proven interval of %s, which has no bounds", spec, e.Quantity)
			}
		}
	}
}

func TestPublishedMatch(t *testing.T) {
	board := game.Shape{Rows: 4, Cols: 4}
	for _, tc := range []struct {
		m          Match
		spec, want string
	}{
		{Match{Shape: board, Goal: 11, Published: true}, "pref:left,up,down,right", ""},
		{Match{Shape: board, Goal: 11, Published: true}, "expectimax", "strategy \"expectimax\" with published updates: "},
		{Match{Shape: board, Goal: 11, PlayOn: true, Published: true}, "random", "want it to stop at its goal"},
		{Match{Shape: game.Shape{Rows: 3, Cols: 3}, Goal: 5, Published: true}, "random", "board is 3x3, want lines of four cells"},
	} {
		_, err := tc.m.Parse(tc.spec)
		if got := err == nil; got != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v, %s: %v, want %q", tc.m, tc.spec, err, tc.want)
		}
	}
}
