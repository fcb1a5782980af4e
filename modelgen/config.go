package modelgen

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Config says which model to build. The zero values of Kind, P2, Policy, Spawn and Updates give
// the final model of the thesis with correct rules; the board and Max have no default.
type Config struct {
	Kind Kind
	// Rows and Cols are the size of the board, each 1 to 6, together at least two cells.
	Rows, Cols int
	// Max is the tile that ends the game as a success: a power of two from 4 (8 for the prototype) to 2^30.
	Max int
	// P2 is the probability that a new tile is a 2 and not a 4, a decimal number above 0 and up to 1. The text goes into the model as it
	// is, so that exact engines read the number that was written. Empty is DefaultP2.
	P2     string
	Policy Policy
	// Table is a policy that Policy cannot express; Policy must then be NoPolicy. Nil means no table.
	Table *Table
	Spawn Spawn
	// Updates are the updates of the moves.
	Updates Updates
	// Observe is what the player of a POMDP sees.
	Observe Observe
	// Rewards adds the reward structures "moves" and "score".
	Rewards bool
}

// DefaultP2 is the probability of a 2 in the game.
//
// Source: thesis section 3.1.
const DefaultP2 = "0.9"

const (
	maxSide = 6
	maxTile = 1 << 30
)

// Kind is one of the three models of the thesis, or one of two additional ones.
type Kind uint8

// The kinds, from the last of the thesis to the first, and those that are not its.
const (
	// Final is one module with one command for each move; any board.
	//
	// Source: thesis sections 3.5 and 3.6.
	Final Kind = iota
	// Combined is one module with a command for each move and arrangement of empty cells; 2x2.
	//
	// Source: thesis section 3.4.
	Combined
	// Prototype is one module for each cell, synchronised; 2x2.
	//
	// Source: thesis section 3.3.
	Prototype
	// DTMC is the final model with a policy and a uniform spawn as a Markov chain.
	DTMC
	// POMDP is the final model with a uniform spawn and a player who sees a part of the board.
	POMDP
	// SMG is the final model as a game of two players: the mover, and the spawner, who places the new tiles against the mover.
	SMG
)

// Spawn says how the random phase chooses the cell of a new tile.
type Spawn uint8

// The spawn modes. They give the same simulations and different extremal probabilities: see docs/models.md.
const (
	// SpawnCell has one command for each empty cell, as in the thesis: a nondeterministic choice. The scheduler of an extremal
	// probability chooses the cells, too.
	SpawnCell Spawn = iota
	// SpawnModule draws the cell in a second module, and draws again while the cell drawn is not empty: a uniform choice.
	//
	// Source: thesis section 3.7, Random Phase.
	SpawnModule
	// SpawnUniform is one command whose probabilities depend on the number of empty cells: a uniform choice in one step.
	SpawnUniform
	// SpawnWorstCell lets the spawner of an SMG choose the cell; the tile is drawn.
	SpawnWorstCell
	// SpawnWorstTile lets the spawner of an SMG choose the tile, 2 or 4; every empty cell is equally likely.
	SpawnWorstTile
	// SpawnWorst lets the spawner of an SMG choose the cell and the tile.
	SpawnWorst
)

// kindNames returns the names of the kinds, in the order of the constants.
func kindNames() []string { return []string{"final", "combined", "prototype", "dtmc", "pomdp", "smg"} }

// spawnNames returns the names of the spawn modes, in the order of the constants.
func spawnNames() []string {
	return []string{"cell", "module", "uniform", "worst-cell", "worst-tile", "worst"}
}

// String returns the word that ParseKind reads.
func (k Kind) String() string { return nameOf(kindNames(), int(k), "Kind") }

// String returns the word that ParseSpawn reads.
func (s Spawn) String() string { return nameOf(spawnNames(), int(s), "Spawn") }

// ParseKind is the inverse of Kind.String. Its error is a *FieldError.
func ParseKind(text string) (Kind, error) {
	i, err := parseName(kindNames(), "kind", text)
	return Kind(i), err
}

// ParseSpawn is the inverse of Spawn.String. Its error is a *FieldError.
func ParseSpawn(text string) (Spawn, error) {
	i, err := parseName(spawnNames(), "spawn", text)
	return Spawn(i), err
}

// nameOf returns the name with an index. For an invalid index it returns the index with the name of the type.
func nameOf(names []string, index int, kind string) string {
	if index < len(names) {
		return names[index]
	}
	return fmt.Sprintf("%s(%d)", kind, index)
}

// parseName returns the index of a name. The error is a *FieldError about the field.
func parseName(names []string, field, text string) (int, error) {
	index := slices.Index(names, text)
	if index < 0 {
		return 0, &FieldError{field, strconv.Quote(text), strings.Join(names, ", ")}
	}
	return index, nil
}

// FieldError says what is wrong with one field of a Config.
type FieldError struct {
	Field string // "kind", "board", "max", "p2", "policy", "spawn", "updates", "observe" or "rewards", as the flags of tilecheck gen
	Found string
	Want  string
}

// Error returns "field is found, want want".
func (e *FieldError) Error() string {
	return fmt.Sprintf("%s is %s, want %s", e.Field, e.Found, e.Want)
}

// Validate returns all errors of the configuration, each a *FieldError, joined by errors.Join; nil if there is none.
func (c Config) Validate() error {
	var errs []error
	addError := func(field, found, format string, args ...any) {
		errs = append(errs, &FieldError{field, found, fmt.Sprintf(format, args...)})
	}
	if int(c.Kind) >= len(kindNames()) {
		addError("kind", c.Kind.String(), "%s", strings.Join(kindNames(), ", "))
	}
	if int(c.Spawn) >= len(spawnNames()) {
		addError("spawn", c.Spawn.String(), "%s", strings.Join(spawnNames(), ", "))
	}
	if c.Rows < 1 || c.Rows > maxSide || c.Cols < 1 || c.Cols > maxSide || c.Rows*c.Cols < 2 {
		addError("board", c.board(), "1 to %d rows and columns and at least 2 cells", maxSide)
	} else if (c.Kind == Combined || c.Kind == Prototype) && (c.Rows != 2 || c.Cols != 2) {
		addError("board", c.board(), "2x2 for the %s model", c.Kind)
	}
	if minTile := c.minTile(); c.Max < minTile || c.Max > maxTile || c.Max&(c.Max-1) != 0 {
		addError("max", strconv.Itoa(c.Max), "a power of two from %d to %d", minTile, maxTile)
	}
	if _, err := parseP2(c.p2()); err != nil {
		errs = append(errs, err)
	}
	if err := c.Policy.validate(); err != nil {
		errs = append(errs, err)
	}
	if c.Table != nil {
		if c.Policy.Kind != NoPolicy {
			addError("policy", c.Policy.String(), "none beside a table")
		}
		if err := c.Table.validate(c.Rows * c.Cols); err != nil {
			errs = append(errs, err)
		}
	}
	if c.Kind == Prototype && c.hasManager() {
		addError("policy", c.policyName(), "none for the prototype, which has no policy manager")
	}
	if c.Kind == Prototype && c.Spawn != SpawnCell {
		addError("spawn", c.Spawn.String(), "cell for the prototype")
	}
	return errors.Join(slices.Concat(errs, c.validateKind(), c.validateUpdates())...)
}

// validateKind returns the errors that concern the kinds and spawn modes beyond the thesis: dtmc, pomdp and smg, and the rewards.
func (c Config) validateKind() []error {
	var errs []error
	if (c.Kind == DTMC || c.Kind == POMDP) && c.Spawn != SpawnUniform {
		errs = append(errs, &FieldError{"spawn", c.Spawn.String(), "uniform for a " + c.Kind.String()})
	}
	if isWorst := c.Spawn == SpawnWorstCell || c.Spawn == SpawnWorstTile || c.Spawn == SpawnWorst; isWorst != (c.Kind == SMG) {
		want := "cell, module or uniform for a model other than smg"
		if c.Kind == SMG {
			want = "worst-cell, worst-tile or worst for an smg"
		}
		errs = append(errs, &FieldError{"spawn", c.Spawn.String(), want})
	}
	if c.Rewards && (!c.hasFinalMoves() || c.Updates != UpdatesRules) {
		errs = append(errs, &FieldError{"rewards", "given", "none with the combined model, the prototype or the published updates"})
	}
	if c.Kind == DTMC && !c.hasManager() {
		errs = append(errs, &FieldError{"policy", c.policyName(), "a policy for a dtmc, which has no choices"})
	}
	if c.Kind == POMDP && c.hasManager() {
		errs = append(errs, &FieldError{"policy", c.policyName(), "none for a pomdp, whose player does not see what policies need"})
	}
	switch {
	case c.Kind == POMDP:
		if err := c.Observe.validate(c.Rows, c.Cols); err != nil {
			errs = append(errs, err)
		}
	case c.Observe != Observe{}:
		errs = append(errs, &FieldError{"observe", c.Observe.String(), "nothing for a model other than pomdp"})
	}
	return errs
}

// hasFinalMoves reports whether the model has the moves of the final model: one command for each move.
func (c Config) hasFinalMoves() bool { return c.Kind != Combined && c.Kind != Prototype }

// minTile returns the smallest valid Max. In the prototype a new tile must not win: its formula success asks for phase 1, which follows a move.
func (c Config) minTile() int {
	if c.Kind == Prototype {
		return 8
	}
	return 4
}

// Cells returns the names of the variables of the cells, row by row. The prototype has other names.
func (c Config) Cells() []string { return newGrid(c.Rows, c.Cols).cells }

func (c Config) board() string { return fmt.Sprintf("%dx%d", c.Rows, c.Cols) }

func (c Config) p2() string {
	if c.P2 == "" {
		return DefaultP2
	}
	return c.P2
}

// hasManager reports whether the model has a policy manager, the module that chooses the moves.
func (c Config) hasManager() bool { return c.Policy.Kind != NoPolicy || c.Table != nil }

func (c Config) policyName() string {
	if c.Table != nil {
		return "a table"
	}
	return c.Policy.String()
}

// Args returns the arguments of the command line that generates the model: "gen", "--kind=final" and so on. They do not contain the Table.
func (c Config) Args() []string {
	args := []string{
		"gen",
		"--kind=" + c.Kind.String(),
		"--rows=" + strconv.Itoa(c.Rows),
		"--cols=" + strconv.Itoa(c.Cols),
		"--max=" + strconv.Itoa(c.Max),
		"--p2=" + c.p2(),
		"--policy=" + c.Policy.String(),
		"--spawn=" + c.Spawn.String(),
	}
	if c.Updates != UpdatesRules {
		args = append(args, "--updates="+c.Updates.String())
	}
	if c.Kind == POMDP {
		args = append(args, "--observe="+c.Observe.String())
	}
	if c.Rewards {
		args = append(args, "--rewards")
	}
	return args
}

// parseP2 returns the exact value of the probability of a 2, which is written as a literal of PRISM's language.
func parseP2(text string) (*big.Rat, error) {
	// A number that a float64 distinguishes from 0 has a small exponent, which big.Rat supports.
	if float, err := strconv.ParseFloat(text, 64); err == nil && float > 0 && len(text) <= 40 && isPrismNumber(text) {
		if probability, ok := new(big.Rat).SetString(text); ok && probability.Cmp(big.NewRat(1, 1)) <= 0 {
			return probability, nil
		}
	}
	return nil, &FieldError{"p2", strconv.Quote(text), "a decimal number above 0 and up to 1, such as 0.9"}
}

// isPrismNumber reports whether a number that strconv.ParseFloat accepts is also a number in PRISM's language. The language has no hexadecimal
// numbers, no names such as inf, no signs and no "1.".
func isPrismNumber(text string) bool {
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	return strings.Trim(text, "0123456789.eE+-") == "" && !strings.HasSuffix(mantissa, ".") && text[0] != '+' && text[0] != '-'
}
