package main

import (
	"math/bits"
	"slices"
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
	Format table.Format `help:"Output: table (default), json, csv or markdown." default:"table" placeholder:"FORMAT"`
}

// Run lists the families of strategies, or says what the specs mean.
func (c *strategiesCmd) Run(env *world) error {
	setting, err := c.setting()
	if err != nil {
		return err
	}
	t := familyTable(setting)
	if len(c.Spec) > 0 {
		if t, err = specTable(c.Spec, setting); err != nil {
			return err
		}
	}
	return t.Write(env.stdout, c.Format, env.reportOptions())
}

func (c *strategiesCmd) setting() (strategy.Setting, error) {
	rules, err := game.New(game.Shape{Rows: c.Rows, Cols: c.Cols})
	if err != nil {
		return strategy.Setting{}, usageError("%w", err)
	}
	most := game.Value(game.MaxExponent)
	if c.Max != 0 && (c.Max < 4 || c.Max > most || bits.OnesCount(uint(c.Max)) != 1) {
		return strategy.Setting{}, usageError("--max is %d, want 0 or a power of two from 4 to %d", c.Max, most)
	}
	if c.Max == 0 {
		return strategy.Setting{Rules: rules}, nil
	}
	return strategy.Setting{Rules: rules, Max: bits.TrailingZeros(uint(c.Max))}, nil
}

// familyTable has a row for each family. Families that do not play the game of the setting are listed too.
func familyTable(setting strategy.Setting) *table.Table {
	t := &table.Table{
		Columns: append([]table.Column{
			{Name: "strategy"},
			{Name: "options", Min: 26, Code: true},
			{Name: "description", Min: 20},
			{Name: "source", Min: 12},
			{Name: "example", Min: 18, Code: true},
		}, behaviourColumns()...),
		Notes: []string{"deterministic and memory are those of the example; they may depend on the options."},
	}
	for _, e := range strategy.List() {
		row := []any{e.Name, e.Options, e.About, e.Source, e.Example, nil, nil}
		if s, err := strategy.Parse(e.Example, setting); err == nil {
			row = append(row[:5], behaviour(s)...)
		}
		t.Append(row...)
	}
	return t
}

// specTable has a row for each spec. The error is a usage error that says what is wrong with one.
func specTable(specs []string, setting strategy.Setting) (*table.Table, error) {
	t := &table.Table{
		Columns: append([]table.Column{
			{Name: "strategy", Min: 24, Code: true}, {Field: "options"}, {Name: "description", Min: 24}, {Name: "source", Min: 14}, {Field: "example"},
		}, behaviourColumns()...),
	}
	all := strategy.List()
	for _, spec := range specs {
		s, err := strategy.Parse(spec, setting)
		if err != nil {
			return nil, usageError("%w", err)
		}
		name, _, _ := strings.Cut(spec, ":")
		family := all[slices.IndexFunc(all, func(e strategy.Entry) bool { return e.Name == name })]
		t.Append(append([]any{s.String(), nil, family.About, family.Source, nil}, behaviour(s)...)...)
	}
	return t, nil
}

func behaviourColumns() []table.Column {
	return []table.Column{{Name: "deterministic"}, {Name: "memory", Align: table.Right}}
}

// behaviour is the cells of behaviourColumns.
func behaviour(s strategy.Strategy) []any {
	deterministic := table.Cell{Text: "no", Value: false}
	if s.Deterministic() {
		deterministic = table.Cell{Text: "yes", Value: true}
	}
	return []any{deterministic, s.Memory()}
}
