package modelgen

import (
	"strings"

	"tilecheck/prism/syntax"
)

// SchedulerSpawns reports whether a model is one of this package in which the scheduler chooses the cells of new tiles ([SpawnCell]): a model as it was
// built, or with other comments, layout, constants, policies or rewards. It is known by its commands: the first tile has an action of its own for each
// of several cells ("v_0_init"; "f0000_1100" in the prototype), on which no module that draws a cell synchronises.
func SchedulerSpawns(m *syntax.Model) bool {
	firsts, drawn, formulas := map[string]bool{}, false, map[string]bool{}
	for _, item := range m.Items {
		switch item := item.(type) {
		case *syntax.FormulaDecl:
			formulas[item.Name.Name] = true
		case *syntax.Module:
			for _, c := range item.Commands {
				switch {
				case c.Action == nil:
				case c.Action.Name == resetCell:
					drawn = true
				case strings.HasPrefix(c.Action.Name, "v_") && strings.HasSuffix(c.Action.Name, "_init"), strings.HasPrefix(c.Action.Name, "f0000_"):
					firsts[c.Action.Name] = true
				}
			}
		}
	}
	return len(firsts) > 1 && !drawn && formulas[noMax] && formulas[success] && formulas[fail]
}
