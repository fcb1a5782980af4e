package modelgen

import (
	"fmt"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// Updates says which updates the moves of a model have.
type Updates uint8

// The updates.
const (
	// UpdatesRules follow the rules of the game.
	UpdatesRules Updates = iota
	// UpdatesPublished have two faults, with which the thesis's Table 3.6 comes out. They are in lines of four cells:
	//
	//	A  three tiles, the last cell empty, no merge: the third tile vanishes (4 2 4 0 becomes 4 2 0 0)
	//	B  four tiles, the first two merge, the last two differ: the last tile is doubled (2 2 4 8 becomes 4 4 16 0)
	//
	// Guards, policies and new tiles are those of the rules.
	//
	// Source: B is printed in the thesis, Table 3.5, cell 2; A is inferred from Table 3.6. docs/thesis.md says what speaks for and against them.
	UpdatesPublished
)

// publishedLine is the length of a line in the thesis's tables of updates, and the only one with faults.
const publishedLine = 4

func updatesNames() []string { return []string{"rules", "published"} }

// String returns the word that ParseUpdates reads.
func (u Updates) String() string { return nameOf(updatesNames(), int(u), "Updates") }

// ParseUpdates is the inverse of Updates.String. Its error is a *FieldError.
func ParseUpdates(text string) (Updates, error) {
	i, err := parseName(updatesNames(), "updates", text)
	return Updates(i), err
}

// validateUpdates returns the errors in a configuration with the published updates; nil for the updates of the rules.
func (c Config) validateUpdates() []error {
	if c.Updates == UpdatesRules {
		return nil
	}
	var errs []error
	complain := func(field, found, want string) { errs = append(errs, &FieldError{field, found, want}) }
	if int(c.Updates) >= len(updatesNames()) {
		complain("updates", c.Updates.String(), strings.Join(updatesNames(), ", "))
	}
	if c.Kind != Final && c.Kind != DTMC {
		complain("kind", c.Kind.String(), "final or dtmc for published updates")
	}
	if c.Table != nil {
		complain("policy", c.policyName(), "a policy that looks at legal moves only for published updates")
	}
	if !PublishedBoard(c.Rows, c.Cols) {
		complain("board", c.board(), PublishedBoards)
	}
	return errs
}

// PublishedBoards says which boards the published updates are for.
const PublishedBoards = "lines of four cells for published updates: 4 rows or 4 columns, and no side longer than 4"

// PublishedBoard reports whether a board can have the published updates: its longer side has four cells. Shorter lines have no faults.
func PublishedBoard(rows, cols int) bool {
	return max(rows, cols) == publishedLine && min(rows, cols) >= 1
}

// publishedValueForTiles returns the value of valueForTiles with the faults of UpdatesPublished, which are in the third cell of a line.
func (l line) publishedValueForTiles(place, tiles int) syntax.Expr {
	value := l.valueForTiles(place, tiles)
	if len(l) != publishedLine || place != 2 {
		return value
	}
	switch tiles {
	case 3: // fault A: the last branch, for four cells of which only the last is empty, is that cell and not the one before it
		last := value.(*syntax.Cond)
		for next, ok := last, true; ok; next, ok = last.Else.(*syntax.Cond) {
			last = next
		}
		last.Else = ident(l[3])
	case 4: // fault B: the branch for a first pair that merges and a second one that does not doubles the last tile
		merged := value.(*syntax.Cond).Then.(*syntax.Cond)
		merged.Else = binary(syntax.OpMul, intLit(2), merged.Else)
	}
	return value
}

// faultsDoc returns a comment that names the cells whose assignments in the given moves have faults; nil if no assignment has a fault.
func (b *builder) faultsDoc(moves ...Move) syntax.Doc {
	var cells []string
	for _, move := range moves {
		for _, line := range b.grid.lines(move) {
			if len(line) == publishedLine && !slices.Contains(cells, line[2]) {
				cells = append(cells, line[2])
			}
		}
	}
	if b.cfg.Updates != UpdatesPublished || cells == nil {
		return nil
	}
	return syntax.Doc{
		fmt.Sprintf("NOT THE RULES OF THE GAME, in %s, the third cell of a line:", strings.Join(cells, " ")),
		"  A  with three tiles the last branch is the fourth cell, where the rules have the third:",
		"     without a merge the third tile vanishes if the fourth cell is empty.",
		"  B  with four tiles, of which the first two are equal and the last two are not, the",
		"     branch is twice the fourth cell, where the rules have the fourth cell.",
	}
}

// updatesMeaning returns the lines of a model's header about its moves.
func (c Config) updatesMeaning() []string {
	if c.Updates != UpdatesPublished {
		return []string{"Moves follow the rules of the game (section 3.1); Tables 3.4 and 3.5 as printed do not."}
	}
	return []string{
		"Moves do NOT follow the rules of the game: two updates are wrong, and marked where they",
		"stand. With them the numbers of the thesis's Table 3.6 come out. B is printed in Table 3.5,",
		"cell 2; A is inferred.",
	}
}
