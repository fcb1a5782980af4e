package modelgen

import (
	"strings"

	"tilecheck/prism/syntax"
)

// Build returns the model of a configuration as a syntax tree without positions, which syntax.Fprint prints. It returns the error of Config.Validate.
func Build(config Config) (*syntax.Model, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	builder := &builder{cfg: config, grid: newGrid(config.Rows, config.Cols)}
	kind := config.modelType()
	items := []syntax.Item{&syntax.TypeDecl{Doc: config.header(), Type: kind, Word: strings.ToLower(kind.String())}}
	if config.Kind == SMG {
		items = append(items, builder.players()...)
	}
	items = append(items, builder.constantItems()...)
	switch config.Kind {
	case Prototype:
		items = append(items, builder.prototypeItems()...)
	case Combined:
		items = append(items, builder.gameItems(builder.combinedMoves())...)
	case DTMC:
		items = append(items, builder.gameItems(builder.chainMoves())...)
	case POMDP:
		items = append(items, builder.observables()...)
		items = append(items, builder.gameItems(builder.blindMoves())...)
	default:
		items = append(items, builder.gameItems(builder.finalMoves())...)
	}
	return &syntax.Model{Items: items}, nil
}

// modelType returns the model type in PRISM's language.
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
	probability, err := parseP2(b.cfg.p2())
	return err == nil && probability.IsInt()
}

// constantItems returns the declarations of the constants: the tile that wins, and the probabilities of new tiles.
func (b *builder) constantItems() []syntax.Item {
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

// newTile returns the updates that put a random tile into a cell and make further assignments. scale changes the probability of a tile into the
// probability of the update.
func (b *builder) newTile(cell string, scale func(probability syntax.Expr) syntax.Expr, further ...*syntax.Assign) []*syntax.Update {
	updateFor := func(probability string, value int) *syntax.Update {
		return update(scale(ident(probability)), append([]*syntax.Assign{assign(cell, intLit(value))}, further...)...)
	}
	updates := []*syntax.Update{updateFor(constTwo, 2)}
	if !b.onlyTwos() {
		updates = append(updates, updateFor(constFour, 4))
	}
	return updates
}

// unscaled returns the probability itself.
func unscaled(probability syntax.Expr) syntax.Expr { return probability }

// gameItems returns the modules, formulas and labels of a model whose board is one module. moves has the commands of the move-merge phase.
func (b *builder) gameItems(moves []*syntax.Command) []syntax.Item {
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
	return append(items, b.formulaItems()...)
}

// policy returns the module that chooses the moves, and its formula if it has one. It returns nil if a scheduler chooses.
func (b *builder) policy() []syntax.Item {
	switch {
	case b.cfg.Table != nil:
		module, decision := b.tableManager()
		return []syntax.Item{module, decision}
	case b.cfg.Kind == DTMC && b.cfg.Policy.Kind == RandomMoves: // one command makes a random move, see chainMoves
	case b.cfg.Policy.Kind != NoPolicy:
		return []syntax.Item{b.policyManager()}
	}
	return nil
}

// endCommands returns the self-loops of the states in which the game has ended. They prevent deadlocks.
func endCommands() []*syntax.Command {
	return []*syntax.Command{
		documented(command(actLoss, ident(fail), update(nil)), "The end of the game."),
		command(actVictory, ident(success), update(nil)),
	}
}

// finalMoves returns the moves of the final model: one command for each move.
//
// Source: thesis section 3.5.
func (b *builder) finalMoves() []*syntax.Command {
	var commands []*syntax.Command
	for _, move := range allMoves() {
		assigns := b.moveAssigns(move)
		guard := and(ident(noMax), ident(move.canMove()), is(phase, moveMerge))
		moveCommand := command(move.String(), guard, update(nil, append(assigns, assign(phase, intLit(randomPhase)))...))
		commands = append(commands, documented(moveCommand, b.faultsDoc(move)...))
	}
	commands[0].Doc = append(syntax.Doc{
		"The move-merge phase: the tiles of each line slide to the wall and equal ones",
		"merge, the pair nearest the wall first. The number of tiles in the line decides",
		"which branch applies, further conditions find the empty cells.",
	}, commands[0].Doc...)
	return commands
}

// formulaItems returns the formulas and labels of the model, and its reward structures if the configuration wants them.
func (b *builder) formulaItems() []syntax.Item {
	cells, grid := b.grid.cells, b.grid
	items := []syntax.Item{
		formula(fieldEmpty, and(each(cells, func(cell string) syntax.Expr { return is(cell, 0) })...), "No cell has a tile."),
		formula(fieldFull, and(each(cells, func(cell string) syntax.Expr { return isNot(cell, 0) })...), "Every cell has a tile."),
		formula(noMax, and(each(cells, belowMax)...), "The game is not won."),
		formula(success, or(each(cells, func(cell string) syntax.Expr { return eq(ident(cell), ident(constMax)) })...), "The game is won."),
		formula(fail, and(append([]syntax.Expr{ident(fieldFull), ident(noMax)}, grid.unequalNeighbours()...)...),
			"The game is lost: the board is full, no neighbours are equal, MAX is not there."),
	}
	if b.cfg.hasFinalMoves() {
		items = append(items, b.countFormulas()...)
	}
	if b.cfg.hasFinalMoves() || b.cfg.hasManager() {
		items = append(items, b.legalMoveFormulas()...)
	}
	if b.cfg.Kind == DTMC && b.cfg.Policy.Kind == RandomMoves {
		items = append(items, countLegalMoves())
	}
	if b.cfg.Spawn == SpawnUniform || b.cfg.Spawn == SpawnWorstTile {
		items = append(items, formula(emptyCells, sum(each(cells, func(cell string) syntax.Expr {
			return paren(&syntax.Cond{Condition: is(cell, 0), Then: intLit(1), Else: intLit(0)})
		})...), "How many cells have no tile."))
	}
	if b.cfg.Rewards {
		items = append(items, b.rewards()...)
	}
	return append(items, label(fail, ident(fail)), label(success, ident(success)))
}

// belowMax returns the condition that a cell has at most MAX/2, so that merging gives at most MAX. It also excludes values that the game cannot
// produce, because symbolic engines consider every valuation.
func belowMax(cell string) syntax.Expr {
	return binary(syntax.OpLe, ident(cell), binary(syntax.OpDiv, ident(constMax), intLit(2)))
}

// countFormulas returns the formulas for the number of tiles in each row and column of two cells or more.
func (b *builder) countFormulas() []syntax.Item {
	var items []syntax.Item
	for _, move := range []Move{Left, Up} {
		for index, line := range b.grid.lines(move) {
			if len(line) > 1 {
				items = append(items, formula(move.countFormula(index), sum(each(line, func(cell string) syntax.Expr {
					return call("min", ident(cell), intLit(1))
				})...)))
			}
		}
	}
	items[0].(*syntax.FormulaDecl).Doc = syntax.Doc{"The number of tiles in each row and column."}
	return items
}

// legalMoveFormulas returns a formula for each move that says whether the move is legal.
func (b *builder) legalMoveFormulas() []syntax.Item {
	var items []syntax.Item
	for _, move := range allMoves() {
		items = append(items, formula(move.canMove(), b.grid.legalMove(move)))
	}
	items[0].(*syntax.FormulaDecl).Doc = syntax.Doc{
		"A move is legal when a tile has an empty cell before it (movable)",
		"or an equal tile (mergeable).",
	}
	return items
}
