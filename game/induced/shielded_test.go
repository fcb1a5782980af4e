package induced_test

import (
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"tilecheck/game/induced"
	"tilecheck/game/solve"
	"tilecheck/game/strategy"
	"tilecheck/internal/interval"
	"tilecheck/internal/needs"
)

// An independent computation, on tilecheck's own models with fractions, is TestShieldedPlayers of cmd/tilecheck.

// The chain of a shielded random player, board by board with fractions, and the table gone through on canonical boards have the same numbers.
func TestRandomOfTheTable(t *testing.T) {
	for _, g := range []setting{{2, 2, 4}, {2, 3, 3}, {2, 2, 5}, {1, 4, 4}, {2, 2, 2}}[:needs.OrFull(2, 5)] {
		for _, by := range []string{"replacing", "hiding"} {
			for _, loss := range []string{"0", "0.01", "0.3", "1"} {
				opt := g.options(t)
				s := parse(t, fmt.Sprintf("shield:loss=%s,by=%s,player=random", loss, by), opt)
				v, err := induced.Evaluate(t.Context(), s, opt)
				if err != nil {
					t.Fatal(err)
				}
				x, _ := strategy.UnderShield(s)
				r, err := x.Table().RandomPlay(t.Context(), x.Allowance(), by == "hiding")
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range []struct {
					what string
					got  float64
					want *big.Rat
				}{{"win", r.Win, v.Win}, {"acts", r.Acts, v.Acts}, {"moves", r.Moves, v.Moves}} {
					want, _ := c.want.Float64()
					if d := c.got - want; d > r.Error*want+1e-16 || -d > r.Error*want+1e-16 {
						t.Errorf("%v %s %s: %s is %v, want %v", g, loss, by, c.what, c.got, want)
					}
				}
				if win, _ := v.Win.Float64(); x.LeastWin() > win {
					t.Errorf("%v %s %s: whoever obeys wins %v, random only %v", g, loss, by, x.LeastWin(), win)
				}
			}
		}
	}
}

// The table of docs/shields.md is what is computed.
func TestShieldTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/shields.md")
	if err != nil {
		t.Fatal(err)
	}
	boards := map[string]setting{"2x2, 32": {2, 2, 5}, "2x3, 64": {2, 3, 6}}
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		g, ok := boards[strings.TrimPrefix(cells[0], "| ")]
		if !ok || !strings.HasPrefix(cells[1], "`") { // of a player
			continue
		}
		rows++
		player := strings.Trim(cells[1], "`")
		if (g.cols == 3 || player == "mc:runs=50") && !needs.IsFull() { // seconds each
			continue
		}
		opt := g.options(t)
		gain, err := induced.ShieldValue(t.Context(), parse(t, "shield:loss=0.01,player="+player, opt), opt)
		if err != nil {
			t.Fatal(err)
		}
		share := gain.With.ActsShare()
		for i, x := range []interval.Interval{gain.Without.Win, gain.With.Win, gain.Loss()} {
			if got := fmt.Sprintf("%.6f", (x.Lo+x.Hi)/2); got != cells[2+i] {
				t.Errorf("%s: column %d is %s, want %s", line, 2+i, cells[2+i], got)
			}
		}
		if got := fmt.Sprintf("%.1f %% |", 50*(share.Lo+share.Hi)); got != cells[5] {
			t.Errorf("%s: the share is %s, want %s", line, cells[5], got)
		}
	}
	if rows < 17 {
		t.Errorf("found %d rows, want 17", rows)
	}
}

// With no loss every player is the best one, and with a loss of 1 everyone is himself.
func TestShieldOfNothingAndEverything(t *testing.T) {
	g := setting{2, 2, 5}
	opt := g.options(t)
	best, err := induced.Evaluate(t.Context(), parse(t, "optimal", opt), opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, player := range []string{"random", "opposite", "alternating", "mc:runs=2", "expectimax:eval=cs221,depth=variable", "modern", "optimal:objective=score"}[:needs.OrFull(3, 7)] {
		own, err := induced.Evaluate(t.Context(), parse(t, player, opt), opt)
		if err != nil {
			t.Fatal(err)
		}
		for _, by := range []string{"replacing", "hiding"} {
			none, err := induced.Evaluate(t.Context(), parse(t, "shield:loss=0,by="+by+",player="+player, opt), opt)
			if err != nil {
				t.Fatal(err)
			}
			if none.Win.Cmp(best.Win) != 0 {
				t.Errorf("%s: wins %v without a loss, want %v", player, none.Win, best.Win)
			}
			all, err := induced.Evaluate(t.Context(), parse(t, "shield:loss=1,by="+by+",player="+player, opt), opt)
			if err != nil {
				t.Fatal(err)
			}
			if all.Win.Cmp(own.Win) != 0 || all.Acts.Sign() != 0 {
				t.Errorf("%s: wins %v and is stopped %v times with everything allowed, want %v and 0", player, all.Win, all.Acts, own.Win)
			}
		}
	}
}

// A loss for the whole game is kept by every player, and the shield is not tighter than it has to be by more than the ladder's step.
func TestShieldOfAGame(t *testing.T) {
	for _, g := range []setting{{2, 2, 4}, {2, 2, 5}, {2, 3, 4}}[:needs.OrFull(1, 3)] {
		for _, measure := range []string{"absolute", "relative"} {
			opt := g.options(t)
			for _, player := range []string{"random", "orthogonal", "alternating"} {
				s := parse(t, "shield:loss=0.01,over=game,measure="+measure+",player="+player, opt)
				x, _ := strategy.UnderShield(s)
				v, err := induced.Evaluate(t.Context(), s, opt)
				if err != nil {
					t.Fatal(err)
				}
				win, _ := v.Win.Float64()
				if x.LeastWin() < x.RequiredWin() || win < x.LeastWin() {
					t.Errorf("%v %s %s: wins %v, whoever obeys %v, want at least %v", g, measure, player, win, x.LeastWin(), x.RequiredWin())
				}
				looser := x.Allowance()
				looser.Loss *= 1.1
				least, err := x.Table().LeastWin(t.Context(), []solve.Near{looser})
				if err != nil {
					t.Fatal(err)
				}
				if looser.Loss < 1 && least[0] >= x.RequiredWin() {
					t.Errorf("%v %s: a loss of %v would do, found %v", g, measure, looser.Loss, x.Allowance().Loss)
				}
			}
		}
	}
}
