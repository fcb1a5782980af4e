package modelgen

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// Table is a policy as a table of boards. It can be any strategy with finite memory on the boards that the strategy reaches. On other boards the
// model takes any move or none.
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

// validate checks the table for a board with a number of cells. It does not check that the moves are legal. The error is a *FieldError.
func (t *Table) validate(cells int) error {
	fieldError := func(row int, found, want string) error {
		return &FieldError{"policy", fmt.Sprintf("a table with %s in row %d", found, row), want}
	}
	if t.Memory < 1 || len(t.Rows) == 0 {
		return &FieldError{"policy", fmt.Sprintf("a table of %d rows with %d memories", len(t.Rows), t.Memory), "at least one of each"}
	}
	seen := map[string]bool{}
	for index, row := range t.Rows {
		key := fmt.Sprint(row.Memory, row.Cells)
		switch {
		case len(row.Cells) != cells:
			return fieldError(index, fmt.Sprintf("%d cells", len(row.Cells)), strconv.Itoa(cells))
		case row.Memory < 0 || row.Memory >= t.Memory:
			return fieldError(index, fmt.Sprintf("memory %d", row.Memory), fmt.Sprintf("0 to %d", t.Memory-1))
		case seen[key]:
			return fieldError(index, "a board that was there already", "each board with each memory once")
		}
		seen[key] = true
		sum := new(big.Rat)
		for _, choice := range row.Choices {
			if choice.Move >= numMoves || choice.Prob == nil || choice.Prob.Sign() <= 0 || choice.Memory < 0 || choice.Memory >= t.Memory {
				return fieldError(index, fmt.Sprintf("a choice of %s, probability %v and memory %d", choice.Move, choice.Prob, choice.Memory),
					"a move with a positive probability")
			}
			sum.Add(sum, choice.Prob)
		}
		if sum.Cmp(big.NewRat(1, 1)) != 0 {
			return fieldError(index, "probabilities that sum to "+sum.RatString(), "1")
		}
	}
	return nil
}

// outcome is the result of a decision: a move, and the memory after it.
type outcome struct {
	move   Move
	memory int
}

// tableManager returns the two parts of a table's policy. The formula maps a board and memory to the number of a decision, and the module carries the
// decision out. If each row has one choice, the decisions are the different outcomes. Otherwise they are the different distributions over outcomes.
func (b *builder) tableManager() (*syntax.Module, *syntax.FormulaDecl) {
	table := b.cfg.Table
	module := &syntax.Module{Name: ident("policy_manager"), Doc: syntax.Doc{"Takes the moves that the table has for the board."}}
	if table.Memory > 1 {
		module.Vars = append(module.Vars, rangeVar(memory, intLit(table.Memory-1), 0, "What the strategy remembers."))
	}
	var classes []int
	if table.isRandom() {
		classes = table.drawnMoves(module)
	} else {
		classes = table.certainMoves(module)
	}
	tree := b.grid.decisionTree(table.Rows, classes)
	return module, formula(decision, tree, "Which of the policy's decisions belongs to a board that it reaches.")
}

// isRandom reports whether a row has several choices.
func (t *Table) isRandom() bool {
	return slices.ContainsFunc(t.Rows, func(row TableRow) bool { return len(row.Choices) > 1 })
}

// certainMoves adds a command to the module for each outcome. It returns the number of each row's outcome.
func (t *Table) certainMoves(module *syntax.Module) []int {
	outcomes, number := t.outcomes()
	for index, outcome := range outcomes {
		module.Commands = append(module.Commands, command(outcome.move.String(), is(decision, index), update(nil, t.memoryAssigns(outcome)...)))
	}
	classes := make([]int, len(t.Rows))
	for index, row := range t.Rows {
		classes[index] = number[outcomeOf(row.Choices[0])]
	}
	return classes
}

// drawnMoves adds a command to the module for each distribution, which draws an outcome, and a command for each outcome, which moves. It returns the
// number of each row's distribution. Drawing is a step of its own, as for RandomMoves, because a command has one action and so synchronises on one
// move only.
func (t *Table) drawnMoves(module *syntax.Module) []int {
	outcomes, number := t.outcomes()
	drawnMove := draw{drawn, len(outcomes)}
	module.Doc = append(module.Doc, "Draws a move as the table says, then makes it.")
	module.Vars = append(module.Vars, drawnMove.variable(fmt.Sprintf("The move drawn, %d is none.", len(outcomes))))
	classOf := map[string]int{}
	classes := make([]int, len(t.Rows))
	for index, row := range t.Rows {
		updates, key := t.distribution(row, number)
		class, isKnown := classOf[key]
		if !isKnown {
			class = len(classOf)
			classOf[key] = class
			guard := and(is(phase, moveMerge), ident(noMax), not(ident(fail)), drawnMove.isNone(), is(decision, class))
			module.Commands = append(module.Commands, command("draw", guard, updates...))
		}
		classes[index] = class
	}
	for index, outcome := range outcomes {
		result := drawnMove.reset()
		result.Assigns = append(result.Assigns, t.memoryAssigns(outcome)...)
		module.Commands = append(module.Commands, command(outcome.move.String(), is(drawn, index), result))
	}
	return classes
}

// distribution returns the updates that draw one of a row's choices, in the order of the outcomes' numbers, and a key that is the same for equal
// distributions only.
func (t *Table) distribution(row TableRow, number map[outcome]int) (updates []*syntax.Update, key string) {
	choices := slices.Clone(row.Choices)
	slices.SortFunc(choices, func(first, second TableChoice) int { return number[outcomeOf(first)] - number[outcomeOf(second)] })
	var text strings.Builder
	for _, choice := range choices {
		outcome := number[outcomeOf(choice)]
		updates = append(updates, update(fraction(choice.Prob), assign(drawn, intLit(outcome))))
		fmt.Fprintf(&text, "%d:%s ", outcome, choice.Prob.RatString())
	}
	if len(updates) == 1 {
		updates[0].Prob = nil
	}
	return updates, text.String()
}

// outcomes returns the different outcomes, ordered by move and memory, and the number of each of them.
func (t *Table) outcomes() ([]outcome, map[outcome]int) {
	number := map[outcome]int{}
	var outcomes []outcome
	for _, row := range t.Rows {
		for _, choice := range row.Choices {
			outcome := outcomeOf(choice)
			if _, isKnown := number[outcome]; !isKnown {
				number[outcome] = 0
				outcomes = append(outcomes, outcome)
			}
		}
	}
	slices.SortFunc(outcomes, func(first, second outcome) int {
		if first.move != second.move {
			return int(first.move) - int(second.move)
		}
		return first.memory - second.memory
	})
	for i, outcome := range outcomes {
		number[outcome] = i
	}
	return outcomes, number
}

// outcomeOf returns the outcome of a choice.
func outcomeOf(choice TableChoice) outcome { return outcome{choice.Move, choice.Memory} }

// memoryAssigns returns the assignment to the variable for the memory; nil for a policy without memory.
func (t *Table) memoryAssigns(outcome outcome) []*syntax.Assign {
	if t.Memory == 1 {
		return nil
	}
	return []*syntax.Assign{assign(memory, intLit(outcome.memory))}
}

// fraction returns an expression for a probability that exact engines evaluate exactly: a quotient. Numbers beyond the integers of the language are
// written as doubles with the same digits.
func fraction(probability *big.Rat) syntax.Expr {
	number := func(integer *big.Int) syntax.Expr {
		if integer.IsInt64() && integer.Int64() < 1<<31 {
			return intLit(int(integer.Int64()))
		}
		return &syntax.DoubleLit{Text: integer.String() + ".0"}
	}
	if probability.IsInt() {
		return number(probability.Num())
	}
	return binary(syntax.OpDiv, number(probability.Num()), number(probability.Denom()))
}
