package modelgen

import (
	"strings"

	"tilecheck/prism/syntax"
)

// Build returns the model that a configuration asks for, as a tree without positions. syntax.Fprint prints it.
// The error is that of cfg.Validate.
func Build(cfg Config) (*syntax.Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	b := &builder{cfg: cfg, grid: newGrid(cfg.Rows, cfg.Cols)}
	kind := cfg.modelType()
	items := []syntax.Item{&syntax.TypeDecl{Doc: cfg.header(), Type: kind, Word: strings.ToLower(kind.String())}}
	if cfg.Kind == SMG {
		items = append(items, b.players()...)
	}
	items = append(items, b.constants()...)
	switch cfg.Kind {
	case Prototype:
		items = append(items, b.prototype()...)
	case Combined:
		items = append(items, b.game(b.combinedMoves())...)
	case DTMC:
		items = append(items, b.game(b.chainMoves())...)
	case POMDP:
		items = append(items, b.observables()...)
		items = append(items, b.game(b.blindMoves())...)
	default:
		items = append(items, b.game(b.finalMoves())...)
	}
	return &syntax.Model{Items: items}, nil
}

// modelType returns the type of the model.
func (c Config) modelType() syntax.ModelType {
	switch c.Kind {
	case DTMC:
		return syntax.DTMC
	case POMDP:
		return syntax.POMDP
	case SMG:
		return syntax.SMG
	}
	return syntax.MDP
}

// builder builds the parts of one model.
type builder struct {
	cfg  Config
	grid *grid
}

// Names of the models' constants, formulas and variables. The thesis's where it names them.
const (
	constMax     = "MAX"
	constTwo     = "N"
	constFour    = "M"
	noMax        = "no_MAX"
	fieldEmpty   = "field_empty"
	fieldFull    = "field_full"
	emptyCells   = "empty_cells"
	success      = "success"
	fail         = "fail"
	phase        = "phase"
	moveMerge    = 0
	randomPhase  = 1
	actLoss      = "loss"
	actVictory   = "victory"
	actSpawn     = "spawn"
	actSpawnInit = "spawn_init"
)

// onlyTwos reports whether every new tile is a 2. The branch for a 4 is then omitted, because
// engines treat a branch of probability 0 differently.
func (b *builder) onlyTwos() bool {
	p, err := parseP2(b.cfg.p2())
	return err == nil && p.IsInt()
}

func (b *builder) constants() []syntax.Item {
	text := b.cfg.p2()
	var value syntax.Expr = &syntax.DoubleLit{Text: text}
	if text == "1" {
		value = intLit(1)
	}
	items := []syntax.Item{
		&syntax.ConstDecl{
			Doc:  syntax.Doc{"The tile that wins the game."},
			Type: syntax.ConstInt, HasType: true, Name: ident(constMax), Value: intLit(b.cfg.Max),
		},
	}
	if b.cfg.choosesTile() {
		return items
	}
	items = append(items,
		&syntax.ConstDecl{
			Doc:  syntax.Doc{"The probability that a new tile is a 2."},
			Type: syntax.ConstDouble, HasType: true, Name: ident(constTwo), Value: value,
		},
	)
	if !b.onlyTwos() {
		items = append(items, &syntax.ConstDecl{
			Doc:  syntax.Doc{"The probability that a new tile is a 4."},
			Type: syntax.ConstDouble, HasType: true, Name: ident(constFour),
			Value: binary(syntax.OpSub, intLit(1), ident(constTwo)),
		})
	}
	return items
}

// newTile returns the updates that put a tile into cell, together with further assignments. scale
// adjusts the probabilities of the two values.
func (b *builder) newTile(cell string, scale func(p syntax.Expr) syntax.Expr, then ...*syntax.Assign) []*syntax.Update {
	put := func(p string, value int) *syntax.Update {
		return update(scale(ident(p)), append([]*syntax.Assign{assign(cell, intLit(value))}, then...)...)
	}
	updates := []*syntax.Update{put(constTwo, 2)}
	if !b.onlyTwos() {
		updates = append(updates, put(constFour, 4))
	}
	return updates
}

func asItIs(p syntax.Expr) syntax.Expr { return p }

// game returns everything that the combined and the final model share around their moves.
func (b *builder) game(moves []*syntax.Command) []syntax.Item {
	grid := &syntax.Module{Doc: syntax.Doc{"The board, row by row; 0 is an empty cell."}, Name: ident("game_grid")}
	for _, cell := range b.grid.cells {
		grid.Vars = append(grid.Vars, rangeVar(cell, ident(constMax), 0))
	}
	grid.Vars = append(grid.Vars, rangeVar(phase, intLit(1), randomPhase, "0 is the move-merge phase, 1 the random phase."))
	grid.Commands = append(grid.Commands, b.randomPhase()...)
	grid.Commands = append(grid.Commands, moves...)
	grid.Commands = append(grid.Commands, endCommands()...)
	items := []syntax.Item{grid}
	items = append(items, b.policy()...)
	if b.cfg.Spawn == SpawnModule {
		items = append(items, b.spawnManager())
	}
	return append(items, b.formulas()...)
}

// policy returns the module that chooses the moves; nothing if a scheduler chooses.
func (b *builder) policy() []syntax.Item {
	switch {
	case b.cfg.Table != nil:
		module, decision := b.tableManager()
		return []syntax.Item{module, decision}
	case b.cfg.Kind == DTMC && b.cfg.Policy.Kind == RandomMoves: // the moves do it themselves
	case b.cfg.Policy.Kind != NoPolicy:
		return []syntax.Item{b.policyManager()}
	}
	return nil
}

// endCommands returns the self-loops that prevent a deadlock at the end of the game.
func endCommands() []*syntax.Command {
	return []*syntax.Command{
		documented(command(actLoss, ident(fail), update(nil)), "The end of the game."),
		command(actVictory, ident(success), update(nil)),
	}
}

// finalMoves has one command for each move.
//
// Source: thesis section 3.5.
func (b *builder) finalMoves() []*syntax.Command {
	var commands []*syntax.Command
	for _, m := range allMoves() {
		assigns := b.moveAssigns(m)
		guard := and(ident(noMax), ident(m.canMove()), is(phase, moveMerge))
		moved := command(m.String(), guard, update(nil, append(assigns, assign(phase, intLit(randomPhase)))...))
		commands = append(commands, documented(moved, b.faultsDoc(m)...))
	}
	commands[0].Doc = append(syntax.Doc{
		"The move-merge phase: the tiles of each line slide to the wall and equal ones",
		"merge, the pair nearest the wall first. The number of tiles in the line decides",
		"which branch applies, further conditions find the empty cells.",
	}, commands[0].Doc...)
	return commands
}

func (b *builder) formulas() []syntax.Item {
	cells, g := b.grid.cells, b.grid
	items := []syntax.Item{
		formula(fieldEmpty, and(each(cells, func(c string) syntax.Expr { return is(c, 0) })...), "No cell has a tile."),
		formula(fieldFull, and(each(cells, func(c string) syntax.Expr { return isNot(c, 0) })...), "Every cell has a tile."),
		formula(noMax, and(each(cells, belowMax)...), "The game is not won."),
		formula(success, or(each(cells, func(c string) syntax.Expr { return eq(ident(c), ident(constMax)) })...), "The game is won."),
		formula(fail, and(append([]syntax.Expr{ident(fieldFull), ident(noMax)}, g.stuck()...)...),
			"The game is lost: the board is full, no neighbours are equal, MAX is not there."),
	}
	if b.cfg.slides() {
		items = append(items, b.counts()...)
	}
	if b.cfg.slides() || b.cfg.managed() {
		items = append(items, b.legalMoves()...)
	}
	if b.cfg.Kind == DTMC && b.cfg.Policy.Kind == RandomMoves {
		items = append(items, countLegalMoves())
	}
	if b.cfg.Spawn == SpawnUniform || b.cfg.Spawn == SpawnWorstTile {
		items = append(items, formula(emptyCells, sum(each(cells, func(c string) syntax.Expr {
			return paren(&syntax.Cond{C: is(c, 0), T: intLit(1), E: intLit(0)})
		})...), "How many cells have no tile."))
	}
	if b.cfg.Rewards {
		items = append(items, b.rewards()...)
	}
	return append(items, label(fail, ident(fail)), label(success, ident(success)))
}

// belowMax holds for tiles that cannot become larger than MAX by merging. It also covers values
// that the game cannot produce, because symbolic engines consider every valuation.
func belowMax(cell string) syntax.Expr {
	return binary(syntax.OpLe, ident(cell), binary(syntax.OpDiv, ident(constMax), intLit(2)))
}

// counts is the formulas for the number of tiles in each row and column of two cells or more.
func (b *builder) counts() []syntax.Item {
	var items []syntax.Item
	for _, m := range []Move{Left, Up} {
		for i, l := range b.grid.lines(m) {
			if len(l) > 1 {
				items = append(items, formula(m.count(i), sum(each(l, func(c string) syntax.Expr {
					return call("min", ident(c), intLit(1))
				})...)))
			}
		}
	}
	items[0].(*syntax.FormulaDecl).Doc = syntax.Doc{"The number of tiles in each row and column."}
	return items
}

func (b *builder) legalMoves() []syntax.Item {
	var items []syntax.Item
	for _, m := range allMoves() {
		items = append(items, formula(m.canMove(), b.grid.legal(m)))
	}
	items[0].(*syntax.FormulaDecl).Doc = syntax.Doc{
		"A move is legal when a tile has an empty cell before it (movable)",
		"or an equal tile (mergeable).",
	}
	return items
}
