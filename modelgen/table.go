package modelgen

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// Table is a policy given board by board: a policy manager for any strategy with finitely many memories on the boards that it reaches. On
// other boards the model takes some move or none.
type Table struct {
	Command string   // the command line that makes the model, for its header
	About   []string // lines about the policy, for the header
	// Memory is the number of values of the policy's memory, at least 1; the game begins with memory 0.
	Memory int
	// Rows are the boards with the player to move, each with each of its memories once.
	Rows []TableRow
}

// TableRow is what the policy does on one board with one memory.
type TableRow struct {
	Cells   []int // the values of the tiles, row by row, 0 for an empty cell
	Memory  int
	Choices []TableChoice
}

// TableChoice is a legal move, its probability and the memory after it. The probabilities of a row are positive and sum to 1.
type TableChoice struct {
	Move   Move
	Prob   *big.Rat
	Memory int
}

// Names of the table's variables and formula.
const (
	decision = "decision"
	memory   = "memory"
	drawn    = "drawn"
)

// validate checks everything but that the moves are legal. Its error is a *FieldError.
func (t *Table) validate(cells int) error {
	wrong := func(row int, found, want string) error {
		return &FieldError{"policy", fmt.Sprintf("a table with %s in row %d", found, row), want}
	}
	if t.Memory < 1 || len(t.Rows) == 0 {
		return &FieldError{"policy", fmt.Sprintf("a table of %d rows with %d memories", len(t.Rows), t.Memory), "at least one of each"}
	}
	seen := map[string]bool{}
	for i, r := range t.Rows {
		key := fmt.Sprint(r.Memory, r.Cells)
		switch {
		case len(r.Cells) != cells:
			return wrong(i, fmt.Sprintf("%d cells", len(r.Cells)), strconv.Itoa(cells))
		case r.Memory < 0 || r.Memory >= t.Memory:
			return wrong(i, fmt.Sprintf("memory %d", r.Memory), fmt.Sprintf("0 to %d", t.Memory-1))
		case seen[key]:
			return wrong(i, "a board that was there already", "each board with each memory once")
		}
		seen[key] = true
		sum := new(big.Rat)
		for _, c := range r.Choices {
			if c.Move >= numMoves || c.Prob == nil || c.Prob.Sign() <= 0 || c.Memory < 0 || c.Memory >= t.Memory {
				return wrong(i, fmt.Sprintf("a choice of %s, probability %v and memory %d", c.Move, c.Prob, c.Memory),
					"a move with a positive probability")
			}
			sum.Add(sum, c.Prob)
		}
		if sum.Cmp(big.NewRat(1, 1)) != 0 {
			return wrong(i, "probabilities that sum to "+sum.RatString(), "1")
		}
	}
	return nil
}

// outcome is what a decision leads to.
type outcome struct {
	move   Move
	memory int
}

// tableManager is the two parts of a table's policy: the formula that says which decision belongs to a board, and the module that
// carries it out. Decisions are the different outcomes, or, when some row has several choices, the different distributions over them.
func (b *builder) tableManager() (*syntax.Module, *syntax.FormulaDecl) {
	t := b.cfg.Table
	module := &syntax.Module{Name: ident("policy_manager"), Doc: syntax.Doc{"Takes the moves that the table has for the board."}}
	if t.Memory > 1 {
		module.Vars = append(module.Vars, rangeVar(memory, intLit(t.Memory-1), 0, "What the strategy remembers."))
	}
	var classes []int
	if t.random() {
		classes = t.drawnMoves(module)
	} else {
		classes = t.certainMoves(module)
	}
	tree := b.grid.decide(t.Rows, classes)
	return module, formula(decision, tree, "Which of the policy's decisions belongs to a board that it reaches.")
}

func (t *Table) random() bool {
	return slices.ContainsFunc(t.Rows, func(r TableRow) bool { return len(r.Choices) > 1 })
}

// certainMoves adds a command for each outcome and returns the number of the outcome of each row.
func (t *Table) certainMoves(module *syntax.Module) []int {
	outcomes, number := t.outcomes()
	for i, o := range outcomes {
		module.Commands = append(module.Commands, command(o.move.String(), is(decision, i), update(nil, t.remember(o)...)))
	}
	classes := make([]int, len(t.Rows))
	for i, r := range t.Rows {
		classes[i] = number[outcomeOf(r.Choices[0])]
	}
	return classes
}

// drawnMoves adds a command that draws for each distribution and one that moves for each outcome, and returns the number of the
// distribution of each row. The drawing is a step of its own, as with RandomMoves, because what a command synchronises on is certain.
func (t *Table) drawnMoves(module *syntax.Module) []int {
	outcomes, number := t.outcomes()
	d := draw{drawn, len(outcomes)}
	module.Doc = append(module.Doc, "Draws a move as the table says, then makes it.")
	module.Vars = append(module.Vars, d.variable(fmt.Sprintf("The move drawn, %d is none.", len(outcomes))))
	index := map[string]int{}
	classes := make([]int, len(t.Rows))
	for i, r := range t.Rows {
		updates, key := t.distribution(r, number)
		class, known := index[key]
		if !known {
			class = len(index)
			index[key] = class
			guard := and(is(phase, moveMerge), ident(noMax), not(ident(fail)), d.none(), is(decision, class))
			module.Commands = append(module.Commands, command("draw", guard, updates...))
		}
		classes[i] = class
	}
	for i, o := range outcomes {
		then := d.forget()
		then.Assigns = append(then.Assigns, t.remember(o)...)
		module.Commands = append(module.Commands, command(o.move.String(), is(drawn, i), then))
	}
	return classes
}

// distribution returns the updates that draw one of a row's choices, in the order of the outcomes, and a text that only equal
// distributions share.
func (t *Table) distribution(r TableRow, number map[outcome]int) (updates []*syntax.Update, key string) {
	choices := slices.Clone(r.Choices)
	slices.SortFunc(choices, func(x, y TableChoice) int { return number[outcomeOf(x)] - number[outcomeOf(y)] })
	var text strings.Builder
	for _, c := range choices {
		n := number[outcomeOf(c)]
		updates = append(updates, update(fraction(c.Prob), assign(drawn, intLit(n))))
		fmt.Fprintf(&text, "%d:%s ", n, c.Prob.RatString())
	}
	if len(updates) == 1 {
		updates[0].Prob = nil
	}
	return updates, text.String()
}

// outcomes returns the different outcomes, ordered by move and memory, and their numbers.
func (t *Table) outcomes() ([]outcome, map[outcome]int) {
	number := map[outcome]int{}
	var all []outcome
	for _, r := range t.Rows {
		for _, c := range r.Choices {
			o := outcomeOf(c)
			if _, known := number[o]; !known {
				number[o] = 0
				all = append(all, o)
			}
		}
	}
	slices.SortFunc(all, func(x, y outcome) int {
		if x.move != y.move {
			return int(x.move) - int(y.move)
		}
		return x.memory - y.memory
	})
	for i, o := range all {
		number[o] = i
	}
	return all, number
}

func outcomeOf(c TableChoice) outcome { return outcome{c.Move, c.Memory} }

// remember is the assignment to the memory, none for a policy without.
func (t *Table) remember(o outcome) []*syntax.Assign {
	if t.Memory == 1 {
		return nil
	}
	return []*syntax.Assign{assign(memory, intLit(o.memory))}
}

// fraction writes a probability so that exact engines read the exact value. Numbers beyond the language's integers are doubles with the
// same digits.
func fraction(p *big.Rat) syntax.Expr {
	number := func(n *big.Int) syntax.Expr {
		if n.IsInt64() && n.Int64() < 1<<31 {
			return intLit(int(n.Int64()))
		}
		return &syntax.DoubleLit{Text: n.String() + ".0"}
	}
	if p.IsInt() {
		return number(p.Num())
	}
	return binary(syntax.OpDiv, number(p.Num()), number(p.Denom()))
}
