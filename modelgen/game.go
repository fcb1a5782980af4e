package modelgen

import "tilecheck/prism/syntax"

// The game of the mover against the spawner, who places the new tiles.

// The players of an SMG.
const (
	playerMover   = "mover"
	playerSpawner = "spawner"
)

// newTile is a tile that the spawner can choose, with its name in actions.
type newTile struct {
	name  string
	value int
}

// newTiles returns the tiles from which the spawner chooses: a 4 only if its probability is positive.
func (b *builder) newTiles() []newTile {
	tiles := []newTile{{"two", 2}, {"four", 4}}
	if b.onlyTwos() {
		return tiles[:1]
	}
	return tiles
}

// choosesTile reports whether the spawner chooses between 2 and 4.
func (c Config) choosesTile() bool { return c.Spawn == SpawnWorstTile || c.Spawn == SpawnWorst }

// players returns the two players of an SMG with their actions. The mover has the moves and the end of the game, the spawner the random phase.
func (b *builder) players() []syntax.Item {
	mover := &syntax.Player{Name: ident(playerMover), Doc: syntax.Doc{"Who moves the tiles, and who places the new ones."}}
	for _, move := range allMoves() {
		mover.Items = append(mover.Items, ownedAction(move.String()))
	}
	mover.Items = append(mover.Items, ownedAction(actLoss), ownedAction(actVictory))
	spawner := &syntax.Player{Name: ident(playerSpawner)}
	for _, command := range b.randomPhase() {
		spawner.Items = append(spawner.Items, ownedAction(command.Action.Name))
	}
	return []syntax.Item{mover, spawner}
}

// ownedAction returns the declaration that a player has an action.
func ownedAction(name string) *syntax.PlayerItem {
	return &syntax.PlayerItem{Action: true, Name: ident(name)}
}

// chosenTiles returns the random phase of an SMG whose spawner chooses the tile. There is one command for each tile, which draws the cell, or one for
// each cell and tile. The game starts with two tiles, so the first tile does not end the phase.
func (b *builder) chosenTiles() []*syntax.Command {
	var firstCommands, laterCommands []*syntax.Command
	for _, tile := range b.newTiles() {
		if b.cfg.Spawn == SpawnWorstTile {
			firstCommands = append(firstCommands, command(tile.name+"_init", firstTileGuard(), b.placeInDrawnCell(tile.value, false)...))
			laterCommands = append(laterCommands, command(tile.name, and(nextTileGuard(), not(ident(fieldFull))), b.placeInDrawnCell(tile.value, true)...))
			continue
		}
		for _, cell := range b.grid.cells {
			put := assign(cell, intLit(tile.value))
			firstCommands = append(firstCommands, command(cell+"_"+tile.name+"_init", firstTileGuard(), update(nil, put)))
			laterCommands = append(laterCommands, command(cell+"_"+tile.name, and(nextTileGuard(), is(cell, 0)), update(nil, put, toMovePhase())))
		}
	}
	documented(firstCommands[0], firstTileDoc)
	documented(laterCommands[0], "Every other tile ends the random phase.")
	return append(firstCommands, laterCommands...)
}

// placeInDrawnCell returns the updates that put a tile into an empty cell, each with the same probability. If isLater is false, the board is empty:
// it is the first tile of the game. A later tile ends the random phase.
func (b *builder) placeInDrawnCell(value int, isLater bool) []*syntax.Update {
	oneLit := syntax.Expr(intLit(1))
	var updates []*syntax.Update
	for _, cell := range b.grid.cells {
		put := assign(cell, intLit(value))
		if !isLater {
			updates = append(updates, update(dividedBy(intLit(len(b.grid.cells)))(oneLit), put))
			continue
		}
		updates = append(updates, update(dividedAmongEmpty(cell)(oneLit), put, toMovePhase()))
	}
	return updates
}
