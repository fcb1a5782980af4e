package main

import (
	"math/bits"
	"strings"

	"tilecheck/game"
	"tilecheck/game/strategy"
	"tilecheck/report/table"
)

type strategiesCmd struct {
	Spec   []string     `arg:"" optional:"" help:"Strategies to write out with all defaults, such as sparse:depth=2."`
	Rows   int          `help:"Rows of the board that the strategies are for." default:"4" placeholder:"R"`
	Cols   int          `help:"Columns of the board." default:"4" placeholder:"C"`
	Max    int          `help:"Tile that ends the game: a power of two, or 0 when the game goes on." default:"2048" want:"[0,]" placeholder:"TILE"`
	Format table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`
}

// Run prints a table of all families of strategies. With arguments, it prints a table of the strategies that the arguments describe.
func (c *strategiesCmd) Run(env *environment) error {
	setting, err := c.gameSetting()
	if err != nil {
		return err
	}
	strategyRows := familyTable(setting)
	if len(c.Spec) > 0 {
		if strategyRows, err = specTable(c.Spec, setting); err != nil {
			return err
		}
	}
	return strategyRows.Write(env.stdout, c.Format, env.reportOptions())
}

// gameSetting returns the game that the strategies play.
func (c *strategiesCmd) gameSetting() (strategy.Setting, error) {
	rules, err := game.New(game.Shape{Rows: c.Rows, Cols: c.Cols})
	if err != nil {
		return strategy.Setting{}, usageError("%w", err)
	}
	largest := game.Value(game.MaxWideExponent)
	if c.Max != 0 && (c.Max < 4 || c.Max > largest || bits.OnesCount(uint(c.Max)) != 1) {
		return strategy.Setting{}, usageError("--max is %d, want 0 or a power of two from 4 to %d", c.Max, largest)
	}
	setting := strategy.Setting{Rules: rules, Programs: externalPlayers{}}
	if c.Max != 0 {
		setting.Max = bits.TrailingZeros(uint(c.Max))
	}
	return setting, nil
}

// familyTable returns a table with a row for each family of strategies. If the example of a family cannot play this game, its row lacks some
// cells.
func familyTable(setting strategy.Setting) *table.Table {
	familyRows := &table.Table{
		Columns: append([]table.Column{
			{Name: "strategy"},
			{Name: "options", Min: 26, Code: true},
			{Name: "description", Min: 20},
			{Name: "source", Min: 12},
			{Name: "example", Min: 18, Code: true},
		}, behaviourColumns()...),
		Notes: []string{"deterministic and memory are those of the example; they may depend on the options."},
	}
	for _, family := range strategy.List() {
		row := []any{family.Name, family.Options, family.About, family.Source, family.Example}
		if example, err := strategy.Parse(family.Example, setting); err == nil {
			row = append(row, behaviour(example)...)
		} else {
			row = append(row, nil, nil)
		}
		familyRows.Append(row...)
	}
	return familyRows
}

// specTable returns a table with a row for each strategy, given by a text such as sparse:depth=2. It returns a usage error if a text is wrong.
func specTable(specs []string, setting strategy.Setting) (*table.Table, error) {
	strategyRows := &table.Table{
		Columns: append([]table.Column{
			{Name: "strategy", Min: 24, Code: true}, {Field: "options"}, {Name: "description", Min: 24}, {Name: "source", Min: 14}, {Field: "example"},
		}, behaviourColumns()...),
	}
	for _, spec := range specs {
		parsedStrategy, err := strategy.Parse(spec, setting)
		if err != nil {
			return nil, usageError("%w", err)
		}
		family := familyOf(spec)
		row := []any{parsedStrategy.String(), nil, family.About, family.Source, nil}
		row = append(row, behaviour(parsedStrategy)...)
		strategyRows.Append(row...)
	}
	return strategyRows, nil
}

// familyOf returns the family of a strategy. spec is the name of the family, which a colon and options may follow. It must be valid.
func familyOf(spec string) strategy.Entry {
	name, _, _ := strings.Cut(spec, ":")
	for _, family := range strategy.List() {
		if family.Name == name {
			return family
		}
	}
	return strategy.Entry{}
}

// behaviourColumns returns the columns about how a strategy chooses its moves.
func behaviourColumns() []table.Column {
	return []table.Column{{Name: "deterministic"}, {Name: "memory", Align: table.Right}}
}

// behaviour returns the table cells of a strategy for behaviourColumns: whether it is deterministic, and its memory.
func behaviour(player strategy.Strategy) []any {
	deterministic := table.Cell{Text: "no", Value: false}
	if player.Deterministic() {
		deterministic = table.Cell{Text: "yes", Value: true}
	}
	return []any{deterministic, player.Memory()}
}
