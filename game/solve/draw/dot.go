package draw

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tilecheck/game"
	"tilecheck/game/solve"
	"tilecheck/internal/noun"
)

// MaxPositions is the largest number of positions of a game that is drawn. 2x2 has 110 at most.
const MaxPositions = 400

// Options say what of a game to draw.
type Options struct {
	Optimal bool // only the best moves, and the positions that are reached by them
}

// DOT returns the graph of a solved game in the language of Graphviz. Its nodes are the positions up to symmetry, with their values, in a column for
// each sum of tiles. Its edges are the moves and the random tiles after them. Moves to the same afterstate share an edge. All won boards are one
// node, and all lost boards another.
//
// It returns an error if the game is too large to draw, or if the table cannot be read.
func DOT(table *solve.Table, opts Options) (string, error) {
	if positions := table.Stats().Positions; positions > MaxPositions {
		return "", fmt.Errorf("%s has %s, want at most %d to draw", table.Problem(), noun.Count(positions, "position"), MaxPositions)
	}
	drawing := &graph{table: table, optimal: opts.Optimal, starts: make(map[game.Board]bool), drawnBoards: make(map[game.Board]bool)}
	for _, firstOutcome := range table.Outcomes(0) {
		drawing.hasWon = drawing.hasWon || firstOutcome.Won
		if firstOutcome.Won {
			continue
		}
		for _, secondOutcome := range table.Outcomes(firstOutcome.Board) {
			drawing.hasWon = drawing.hasWon || secondOutcome.Won
			if !secondOutcome.Won {
				drawing.starts[secondOutcome.Board] = true
			}
		}
	}
	for _, board := range slices.Sorted(maps.Keys(drawing.starts)) {
		if err := drawing.addPosition(board); err != nil {
			return "", err
		}
	}
	return drawing.finish(), nil
}

type graph struct {
	table       *solve.Table
	optimal     bool
	starts      map[game.Board]bool // positions that a game can start with
	drawnBoards map[game.Board]bool
	nodes       []node
	edges       strings.Builder
	actions     int
	hasWon      bool
	hasLost     bool
}

// node is a position.
type node struct {
	board game.Board
	sum   int
	text  string
}

// addPosition adds the node of a position that is not lost, and all positions that can follow. It does nothing if the node exists.
func (g *graph) addPosition(board game.Board) error {
	if g.drawnBoards[board] {
		return nil
	}
	g.drawnBoards[board] = true
	value, bestMoves, ok := g.table.Value(board)
	moves, isKnown := g.table.Moves(board)
	if !ok || !isKnown {
		return fmt.Errorf("position %s is not in the table", board)
	}
	g.nodes = append(g.nodes, node{board, g.sum(board), g.label(board, value)})
	for _, equalMoves := range g.groups(moves, bestMoves) {
		if err := g.addMoveNode(board, equalMoves); err != nil {
			return err
		}
	}
	return nil
}

// groups returns the moves to draw. Moves with the same canonical afterstate form a group.
func (g *graph) groups(moves []solve.MoveValue, bestMoves game.Moves) [][]solve.MoveValue {
	var grouped [][]solve.MoveValue
	groupOf := make(map[game.Board]int)
	for _, move := range moves {
		if g.optimal && !bestMoves.Has(move.Dir) {
			continue
		}
		afterstate, _ := g.table.Rules().Canonical(move.After)
		index, exists := groupOf[afterstate]
		if !exists {
			index = len(grouped)
			groupOf[afterstate] = index
			grouped = append(grouped, nil)
		}
		grouped[index] = append(grouped[index], move)
	}
	return grouped
}

// addMoveNode adds one node for all moves of a board that have the same afterstate, and edges from it to the boards after a random tile.
func (g *graph) addMoveNode(source game.Board, equalMoves []solve.MoveValue) error {
	var names []string
	for _, move := range equalMoves {
		names = append(names, move.Dir.String())
	}
	text := strings.Join(names, ", ")
	afterstate := equalMoves[0].After
	if afterstate.AtLeast(g.table.Problem().MaxExp) {
		g.hasWon = true
		fmt.Fprintf(&g.edges, "  %s -> won [label=%q];\n", id(source), text)
		return nil
	}
	g.actions++
	node := "a" + strconv.Itoa(g.actions)
	fmt.Fprintf(&g.edges, "  %s [shape=point];\n  %s -> %s [label=%q, arrowhead=none];\n", node, id(source), node, text)
	for _, outcome := range g.table.Outcomes(afterstate) {
		target, err := g.addOutcome(outcome)
		if err != nil {
			return err
		}
		fmt.Fprintf(&g.edges, "  %s -> %s [label=%q];\n", node, target, number(outcome.Prob))
	}
	return nil
}

// addOutcome returns the name of the node of a board with a new tile, and adds it if it is new.
func (g *graph) addOutcome(outcome solve.Outcome) (string, error) {
	switch {
	case outcome.Won:
		g.hasWon = true
		return "won", nil
	case g.table.Rules().Lost(outcome.Board):
		g.hasLost = true
		return "lost", nil
	}
	return id(outcome.Board), g.addPosition(outcome.Board)
}

func (g *graph) sum(board game.Board) int {
	sum := 0
	for _, value := range g.table.Problem().Shape.Values(board) {
		sum += value
	}
	return sum
}

// label returns the label of a board's node: the board as an HTML table, with its value below.
func (g *graph) label(board game.Board, value float64) string {
	shape := g.table.Problem().Shape
	color := "black"
	if g.starts[board] {
		color = "blue"
	}
	var text strings.Builder
	fmt.Fprintf(&text, `<<table border="0" cellspacing="0"><tr><td colspan="%d" border="2" color=%q cellpadding="0"><table border="0" cellborder="1" cellspacing="0">`,
		shape.Cols, color)
	for i, tileValue := range shape.Values(board) {
		if i%shape.Cols == 0 {
			text.WriteString("<tr>")
		}
		tile := " "
		if tileValue > 0 {
			tile = strconv.Itoa(tileValue)
		}
		fmt.Fprintf(&text, `<td fixedsize="true" width="26" height="22">%s</td>`, tile)
		if (i+1)%shape.Cols == 0 {
			text.WriteString("</tr>")
		}
	}
	fmt.Fprintf(&text, `</table></td></tr><tr><td colspan="%d">%s</td></tr></table>>`, shape.Cols, number(value))
	return text.String()
}

// number prints a number for people: at most four digits.
func number(v float64) string { return strconv.FormatFloat(v+0, 'g', 4, 64) } // -0 + 0 is 0

func id(board game.Board) string { return fmt.Sprintf("b%x", uint64(board)) }

// finish returns the text of the graph. Positions with the same sum of tiles have the same rank, and so stand in one column.
func (g *graph) finish() string {
	slices.SortFunc(g.nodes, func(left, right node) int { return cmp.Or(left.sum-right.sum, cmp.Compare(left.board, right.board)) })
	var text strings.Builder
	fmt.Fprintf(&text, "digraph %q {\n  rankdir=LR;\n  node [shape=plain, fontname=\"Helvetica\", fontsize=11];\n", g.table.Problem())
	text.WriteString("  edge [fontname=\"Helvetica\", fontsize=9, arrowsize=0.6];\n")
	for i, current := range g.nodes {
		if i == 0 || current.sum != g.nodes[i-1].sum {
			fmt.Fprintf(&text, "  { rank=same; // sum %d\n", current.sum)
		}
		fmt.Fprintf(&text, "    %s [label=%s];\n", id(current.board), current.text)
		if i+1 == len(g.nodes) || current.sum != g.nodes[i+1].sum {
			text.WriteString("  }\n")
		}
	}
	if g.hasWon {
		text.WriteString("  won [shape=star, style=filled, fillcolor=\"#2e9e4f\", fontcolor=white];\n")
	}
	if g.hasLost {
		text.WriteString("  lost [shape=oval, style=filled, fillcolor=\"#d03b3b\", fontcolor=white];\n")
	}
	text.WriteString(g.edges.String())
	text.WriteString("}\n")
	return text.String()
}
