package playtables

import (
	"fmt"

	"tilecheck/game/induced"
	"tilecheck/game/strategy"
	"tilecheck/internal/interval"
	"tilecheck/internal/noun"
	"tilecheck/report/table"
)

// Shield adds rows to the table of a player with a shield: proven bounds of the winning probabilities with and without the shield, and of the moves
// at which the shield acts. key names a row in the formats for programs, quantity in the others.
func Shield(rows *table.Table, shield *strategy.Shield, effect *induced.ShieldEffect, format table.Format) {
	addRow := func(quantity, key string, number float64, bounds interval.Interval, method string) {
		value, interval := table.Estimate(number, bounds.Lo, bounds.Hi)
		if format.Machine() {
			rows.Append(key, nil, nil, nil, number, bounds.Lo, bounds.Hi, 1, nil, method, true, nil)
			return
		}
		rows.Append(quantity, nil, value, interval, method)
	}
	addInterval := func(quantity, key string, bounds interval.Interval, method string) {
		addRow(quantity, key, bounds.Lo+(bounds.Hi-bounds.Lo)/2, bounds, method)
	}
	addWin := func(quantity, key string, value induced.PlayerValue) {
		if !value.Known {
			rows.Notes = append(rows.Notes, quantity+" is not known: "+value.Reason)
			return
		}
		addInterval(quantity, key, value.Win, noun.Count(value.States, "state"))
	}
	addInterval("won by optimal play", "optimal", effect.Optimal, "solved")
	addRow("won under the shield", "least", effect.LeastWin, interval.Point(effect.LeastWin), "at least")
	addWin("won without the shield", "without shield", effect.Without)
	addWin("won with the shield", "with shield", effect.With)
	if effect.With.Known {
		addInterval("below optimal play", "lost", effect.Loss(), "difference")
		addInterval("moves", "expected moves", effect.With.Moves, "expected")
		addInterval("moves where the shield acts", "expected acts", effect.With.Acts, "expected")
		addInterval("share of the moves", "share of acts", effect.With.ActsShare(), "quotient")
	}
	rows.Notes = append(rows.Notes, shieldNote(shield))
}

// shieldNote returns a note about the moves that the shield allows, and about the moves that it replaces.
func shieldNote(shield *strategy.Shield) string {
	options, allowance := shield.Options(), shield.Allowance()
	text := fmt.Sprintf("shield: a move wins with a probability at most %.6g below the best one of its board", allowance.Loss)
	if allowance.Relative {
		text = fmt.Sprintf("shield: a move wins with a probability at most the share %.6g below the best one of its board", allowance.Loss)
	}
	if options.Game {
		loss := options.Loss.RatString()
		if options.Relative {
			loss += " of it"
		}
		text += ", so that every player who keeps to the shield loses no more than " + loss + " in the game"
	}
	if options.Hide {
		return text + "; others are hidden from the player"
	}
	return text + "; another is replaced by a best one"
}
