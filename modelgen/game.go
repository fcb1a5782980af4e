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

// newTiles returns the tiles that the spawner chooses from: those of a positive probability.
func (b *builder) newTiles() []newTile {
	tiles := []newTile{{"two", 2}, {"four", 4}}
	if b.onlyTwos() {
		return tiles[:1]
	}
	return tiles
}

// choosesTile reports whether the spawner chooses between 2 and 4.
func (c Config) choosesTile() bool { return c.Spawn == SpawnWorstTile || c.Spawn == SpawnWorst }

// players returns the two players of an SMG with their actions. The mover owns the moves and the end of the game.
func (b *builder) players() []syntax.Item {
	mover := &syntax.Player{Name: ident(playerMover), Doc: syntax.Doc{"Who moves the tiles, and who places the new ones."}}
	for _, m := range allMoves() {
		mover.Items = append(mover.Items, ownedAction(m.String()))
	}
	mover.Items = append(mover.Items, ownedAction(actLoss), ownedAction(actVictory))
	spawner := &syntax.Player{Name: ident(playerSpawner)}
	for _, command := range b.randomPhase() {
		spawner.Items = append(spawner.Items, ownedAction(command.Action.Name))
	}
	return []syntax.Item{mover, spawner}
}

func ownedAction(name string) *syntax.PlayerItem {
	return &syntax.PlayerItem{Action: true, Name: ident(name)}
}

// chosenTiles returns the random phase of an SMG whose spawner chooses the tile: a command for each tile, which draws the cell, or for each
// cell and tile. The game starts with two tiles, so the first one does not end the phase.
func (b *builder) chosenTiles() []*syntax.Command {
	var first, next []*syntax.Command
	for _, tile := range b.newTiles() {
		if b.cfg.Spawn == SpawnWorstTile {
			first = append(first, command(tile.name+"_init", firstTile(), b.inDrawnCell(tile.value, false)...))
			next = append(next, command(tile.name, and(nextTile(), not(ident(fieldFull))), b.inDrawnCell(tile.value, true)...))
			continue
		}
		for _, cell := range b.grid.cells {
			put := assign(cell, intLit(tile.value))
			first = append(first, command(cell+"_"+tile.name+"_init", firstTile(), update(nil, put)))
			next = append(next, command(cell+"_"+tile.name, and(nextTile(), is(cell, 0)), update(nil, put, toMoves())))
		}
	}
	documented(first[0], firstTileDoc)
	documented(next[0], "Every other tile ends the random phase.")
	return append(first, next...)
}

// inDrawnCell returns the updates that put a tile into an empty cell, each with the same probability. The first tile of a game meets an empty
// board; every later one ends the random phase.
func (b *builder) inDrawnCell(value int, later bool) []*syntax.Update {
	one := syntax.Expr(intLit(1))
	var updates []*syntax.Update
	for _, cell := range b.grid.cells {
		put := assign(cell, intLit(value))
		if !later {
			updates = append(updates, update(over(intLit(len(b.grid.cells)))(one), put))
			continue
		}
		updates = append(updates, update(drawnAmongEmpty(cell)(one), put, toMoves()))
	}
	return updates
}
