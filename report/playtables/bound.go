package playtables

import (
	"fmt"
	"time"

	"tilecheck/game"
	"tilecheck/game/induced"
	"tilecheck/report/table"
)

// Bound is the table of a proven bound.
func Bound(strategy string, opt induced.PartOptions, best *induced.Proven, elapsed time.Duration) *table.Facts {
	t, part, bound := new(table.Facts), best.Part, best.Bound
	boards, shape := boardsWord(opt.Canonical), opt.Rules.Shape()
	number := func(x induced.Fixed) table.Cell { return table.Cell{Text: x.String(), Value: x.Float64()} }
	t.Add(table.Column{Field: "board"}, fmt.Sprintf("%dx%d", shape.Rows, shape.Cols), nil)
	t.Add(table.Column{Field: "tile"}, game.Value(opt.Max), nil)
	t.Add(table.Column{Name: "optimal play wins at least", Field: "lower"}, number(bound.Optimal), "by the best moves on these boards; --certificate writes the proof")
	t.Add(table.Column{Name: "the strategy itself wins at least", Field: "strategy_lower"}, number(bound.Own[0]), strategy+", on "+boards+" boards; not certified")
	t.Add(table.Column{Name: "the strategy itself wins at most", Field: "strategy_upper"}, number(bound.Own[1]), nil)
	t.Add(table.Column{Field: "strategy"}, strategy, nil)
	t.Add(table.Column{Field: "strategy_boards"}, boards, nil)
	t.Add(table.Column{Name: "states"}, part.States(), "of the part with the greatest bound")
	t.Add(table.Column{Name: "boards"}, bound.Boards, "in the certificate: "+boardsWord(part.Canonical())+" boards")
	t.Add(table.Column{Field: "certificate_boards"}, boardsWord(part.Canonical()), nil)
	t.Add(table.Column{Name: "cutoff"}, table.Cell{Text: fmt.Sprintf("%.3g", part.Cutoff()), Value: part.Cutoff()}, "probability below which boards were left out")
	t.Add(table.Column{Name: "passes"}, part.Passes(), nil)
	addSeconds(t, elapsed)
	if best.TimedOut {
		t.Notes = append(t.Notes, "The time was over before the states were: another run may look at others.")
	}
	return t
}

// StageBound is the table of a bound that was proven by stages.
func StageBound(proof *induced.StageProof, elapsed time.Duration) *table.Facts {
	t, shape := new(table.Facts), proof.Rules.Shape()
	t.Add(table.Column{Field: "board"}, fmt.Sprintf("%dx%d", shape.Rows, shape.Cols), nil)
	t.Add(table.Column{Field: "tile"}, game.Value(proof.Max), nil)
	t.Add(table.Column{Name: "optimal play wins at least", Field: "lower"}, table.Cell{Text: proof.Bound.String(), Value: proof.Bound.Float64()}, "certified lower bound")
	t.Add(table.Column{Name: "stages", Field: "stages"}, proof.Stages, fmt.Sprintf("that collect tiles %d", game.Value(proof.Unit)))
	t.Add(table.Column{Name: "boards", Field: "boards"}, proof.Boards, "in all stages")
	addSeconds(t, elapsed)
	return t
}

// addSeconds adds the time that the computation took.
func addSeconds(t *table.Facts, elapsed time.Duration) {
	t.Add(table.Column{Name: "seconds"}, table.Cell{Text: fmt.Sprintf("%.3g", elapsed.Seconds()), Value: elapsed.Seconds()}, nil)
}

// boardsWord names the boards that the strategy sees.
func boardsWord(canonical bool) string {
	if canonical {
		return "canonical"
	}
	return "raw"
}
