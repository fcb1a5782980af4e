package playtables

import (
	"fmt"

	"tilecheck/game/induced"
	"tilecheck/game/strategy"
	"tilecheck/internal/interval"
	"tilecheck/internal/noun"
	"tilecheck/report/table"
)

// Shield adds the proven facts about a shield to the table of its player.
func Shield(t *table.Table, x *strategy.Shield, g *induced.ShieldEffect, f table.Format) {
	row := func(quantity, key string, x float64, i interval.Interval, how string) {
		value, interval := table.Estimate(x, i.Lo, i.Hi)
		if f.Machine() {
			t.Append(key, nil, nil, nil, x, i.Lo, i.Hi, 1, nil, how, true, nil)
			return
		}
		t.Append(quantity, nil, value, interval, how)
	}
	add := func(quantity, key string, i interval.Interval, how string) {
		row(quantity, key, i.Lo+(i.Hi-i.Lo)/2, i, how)
	}
	add("won by optimal play", "optimal", g.Optimal, "solved")
	row("won under the shield", "least", g.LeastWin, interval.Point(g.LeastWin), "at least")
	for _, w := range []struct {
		worth      induced.PlayerValue
		what, name string
	}{{g.Without, "won without the shield", "without shield"}, {g.With, "won with the shield", "with shield"}} {
		if !w.worth.Known {
			t.Notes = append(t.Notes, w.what+" is not known: "+w.worth.Reason)
			continue
		}
		add(w.what, w.name, w.worth.Win, noun.Count(w.worth.States, "state"))
	}
	if g.With.Known {
		add("lost to optimal play", "lost", g.Loss(), "difference")
		add("moves", "expected moves", g.With.Moves, "expected")
		add("moves at which the shield acts", "expected acts", g.With.Acts, "expected")
		add("share of the moves", "share of acts", g.With.ActsShare(), "quotient")
	}
	t.Notes = append(t.Notes, shieldNote(x))
}

// shieldNote explains the shield.
func shieldNote(x *strategy.Shield) string {
	o, near := x.Options(), x.Allowance()
	text := fmt.Sprintf("shield: a move loses at most %.6g of the best winning probability of its board", near.Loss)
	if near.Relative {
		text = fmt.Sprintf("shield: a move loses at most the share %.6g of the best winning probability of its board", near.Loss)
	}
	if o.Game {
		text += ", so that every player who keeps to the shield loses no more than " + o.Loss.RatString() + map[bool]string{true: " of it", false: ""}[o.Relative] + " in the game"
	}
	if o.Hide {
		return text + "; others are hidden from the player"
	}
	return text + "; another is replaced by a best one"
}
