package strategy

import (
	"tilecheck/game"
)

// parseCS221 parses the options of the player of Lewis, Powell and Sajnani. The depth counts moves, each with the new tile after it.
//
// Source: Lewis, Powell and Sajnani, 2048: An AI Agent, Stanford CS221, 2014, sections 5.2 to 5.4.
func parseCS221(opts *options, rules *game.Rules) (Strategy, error) {
	depth := opts.depth(6, "variable")
	if err := opts.done(); err != nil {
		return nil, err
	}
	evaluation := newCountEvaluation(rules)
	return &lookahead{
		spec: "expectimax:eval=cs221,depth=" + depthText(depth, "variable"), rules: rules,
		newValuer: func() func(board game.Board) valuer {
			searcher := search{rules: rules, evaluation: evaluation, table: newSearchTable()}
			return func(board game.Board) valuer {
				moves := depth
				if moves == 0 {
					moves = variableDepth(rules.NumEmptyCells(board))
				}
				return searcher.valuer(moves - 1)
			}
		},
	}, nil
}

// variableDepth returns the depth of the search for a number of empty cells: with fewer empty cells the search is deeper.
//
// Source: figure 3.
func variableDepth(empty int) int {
	switch {
	case empty >= 7:
		return 3
	case empty >= 3:
		return 4
	case empty >= 1:
		return 5
	}
	return 6
}
