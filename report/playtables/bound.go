package playtables

import (
	"fmt"
	"time"

	"tilecheck/game"
	"tilecheck/game/induced"
	"tilecheck/game/stages"
	"tilecheck/report/table"
)

// Bound returns the facts about a proven lower bound of optimal play. elapsed is the time of the proof.
func Bound(strategy string, opt induced.PartOptions, best *induced.Proven, elapsed time.Duration) *table.Facts {
	facts, part, bound := new(table.Facts), best.Part, best.Bound
	boards, shape := boardsWord(opt.Canonical), opt.Rules.Shape()
	number := func(probability induced.Fixed) table.Cell {
		return table.Cell{Text: probability.String(), Value: probability.Float64()}
	}
	facts.Add(table.Column{Field: "board"}, fmt.Sprintf("%dx%d", shape.Rows, shape.Cols), nil)
	facts.Add(table.Column{Field: "tile"}, game.Value(opt.Max), nil)
	facts.Add(table.Column{Name: "optimal play wins at least", Field: "lower"}, number(bound.Optimal), "--certificate writes the proof")
	facts.Add(table.Column{Name: "the strategy itself wins at least", Field: "strategy_lower"}, number(bound.StrategyBounds[0]), strategyNote(strategy, opt.Canonical))
	facts.Add(table.Column{Name: "the strategy itself wins at most", Field: "strategy_upper"}, number(bound.StrategyBounds[1]), nil)
	facts.Add(table.Column{Field: "strategy"}, strategy, nil)
	facts.Add(table.Column{Field: "strategy_boards"}, boards, nil)
	facts.Add(table.Column{Name: "states"}, part.States(), "explored")
	facts.Add(table.Column{Name: "boards"}, bound.Boards, "in the certificate: "+boardsWord(part.Canonical())+" boards"+boardsNote(part.Canonical()))
	facts.Add(table.Column{Field: "certificate_boards"}, boardsWord(part.Canonical()), nil)
	facts.Add(table.Column{Name: "cutoff"}, table.Cell{Text: fmt.Sprintf("%.3g", part.Cutoff()), Value: part.Cutoff()}, "boards with a smaller probability were left out")
	facts.Add(table.Column{Name: "passes"}, part.Passes(), "each explores with the best moves known so far")
	addSeconds(facts, elapsed)
	if best.TimedOut {
		facts.Notes = append(facts.Notes, "The time ended the exploration, so another run may explore other states.")
	}
	return facts
}

// StageBound returns the facts about a lower bound that was proven by stages. elapsed is the time of the proof.
func StageBound(proof *stages.Proof, elapsed time.Duration) *table.Facts {
	facts := new(table.Facts)
	facts.Add(table.Column{Field: "board"}, proof.Shape.String(), nil)
	facts.Add(table.Column{Field: "tile"}, game.Value(proof.Max), nil)
	lower := table.Cell{Text: proof.Probability().FloatString(9), Value: proof.Float64()}
	facts.Add(table.Column{Name: "optimal play wins at least", Field: "lower"}, lower, "--certificate writes the proof")
	facts.Add(table.Column{Name: "stages", Field: "stages"}, len(proof.Stages), nil)
	facts.Add(table.Column{Name: "boards", Field: "boards"}, proof.Boards, "in all stages")
	addSeconds(facts, elapsed)
	return facts
}

// addSeconds adds the time that the computation took.
func addSeconds(t *table.Facts, elapsed time.Duration) {
	t.Add(table.Column{Name: "seconds"}, table.Cell{Text: fmt.Sprintf("%.3g", elapsed.Seconds()), Value: elapsed.Seconds()}, nil)
}

// boardsNote describes the boards of a certificate.
func boardsNote(canonical bool) string {
	if canonical {
		return ", up to symmetry"
	}
	return ""
}

// strategyNote describes the number of a strategy, which sees the boards as they are or in canonical form.
func strategyNote(strategy string, canonical bool) string {
	if canonical {
		strategy += ", on canonical boards"
	}
	return strategy + "; not certified"
}

// boardsWord names the boards that the strategy sees.
func boardsWord(canonical bool) string {
	if canonical {
		return "canonical"
	}
	return "raw"
}
