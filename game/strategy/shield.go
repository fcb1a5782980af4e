package strategy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"

	"tilecheck/game"
	"tilecheck/game/solve"
)

// Shield keeps players from moves that lose too much against optimal play, where that is known.
//
// Source: Jansen, Könighofer, Junges, Serban and Bloem, Safe reinforcement learning using probabilistic shields (CONCUR 2020).
type Shield struct {
	options ShieldOptions
	best    *optimal
	near    solve.Near // after Prepare
	least   float64    // the least winning probability of whoever obeys, after Prepare
	ready   bool
}

// ShieldOptions say which moves are allowed, and what becomes of others.
type ShieldOptions struct {
	// Loss is what a move may lose of the best winning probability of its board; Relative says that it is a share of that.
	Loss     *big.Rat
	Relative bool
	// Game says that Loss is for the whole game: that of a move is then the greatest for which whoever obeys loses no more of the value of the game.
	// It is found to a sixteenth.
	Game bool
	// Hide shows the player only what is allowed, as if nothing else was legal. Otherwise a move that is not allowed is replaced by the first best one.
	Hide bool
	// File is a table of package solve; empty solves the game in memory.
	File string
}

// NewShield makes a shield for a game that ends at a tile. It has to be prepared, by Shield.Prepare or by Prepare of a player.
func NewShield(s Setting, o ShieldOptions) (*Shield, error) {
	if s.Max == 0 {
		return nil, errors.New("a shield keeps the probability of a win, want a tile that ends the game")
	}
	if one := big.NewRat(1, 1); o.Loss.Sign() < 0 || o.Loss.Cmp(one) > 0 {
		return nil, fmt.Errorf("the loss that a shield allows is %s, want a number from 0 to 1", o.Loss.RatString())
	}
	return &Shield{options: o, best: &optimal{shape: s.Rules.Shape(), max: s.Max, objective: solve.Win, file: o.File}}, nil
}

// parseShield reads options, and behind the last of them a player.
func parseShield(spec, args string, s Setting) (Strategy, error) {
	args, player, ok := strings.Cut(","+args, ",player=")
	if !ok {
		return nil, &SpecError{spec, "no player", "a strategy at the end, as in shield:loss=0.01,player=random"}
	}
	o := newOptions(spec, strings.TrimPrefix(args, ","))
	text := o.text("loss", "0.01")
	loss, ok := new(big.Rat), len(text) <= 64 && !strings.ContainsAny(text, "eE")
	if ok {
		_, ok = loss.SetString(text)
	}
	if !ok {
		o.fail("loss is "+text, "a number such as 0.01 or 1/100")
		loss = new(big.Rat)
	}
	opt := ShieldOptions{
		Loss: loss, Relative: o.word("measure", "absolute", "relative") == "relative",
		Game: o.word("over", "move", "game") == "game", Hide: o.word("by", "replacing", "hiding") == "hiding", File: o.text("file", ""),
	}
	if err := o.done(); err != nil {
		return nil, err
	}
	shield, err := NewShield(s, opt)
	if err != nil {
		return nil, &SpecError{spec, err.Error(), "another shield"}
	}
	inner, err := Parse(player, s)
	if err != nil {
		return nil, err
	}
	return shield.Guard(inner), nil
}

// Prepare solves the game, or opens its table, and finds what may be lost. Doing it again does nothing.
func (x *Shield) Prepare(ctx context.Context) error {
	if x.ready {
		return nil
	}
	if err := x.best.prepare(ctx); err != nil {
		return err
	}
	if p := x.best.table.Problem(); p.Discount != 1 {
		return fmt.Errorf("the table is of %v, want one without a discount for a shield", p)
	}
	loss, _ := x.options.Loss.Float64()
	x.near = solve.Near{Loss: loss, Relative: x.options.Relative}
	err := x.bound(ctx, x.options.Game)
	x.ready = err == nil
	return err
}

// bound computes what whoever obeys wins at least. If the loss is for the whole game it finds that of a move before: the greatest power of a half, and then the greatest
// sixteenth between that and the next.
func (x *Shield) bound(ctx context.Context, whole bool) error {
	try := func(losses []float64) (int, error) {
		limits := make([]solve.Near, len(losses))
		for i, loss := range losses {
			limits[i] = solve.Near{Loss: loss, Relative: x.options.Relative}
		}
		least, err := x.best.table.Least(ctx, limits)
		if err != nil {
			return 0, err
		}
		for i, p := range least {
			if last := i == len(least)-1; last || p >= x.Wanted() {
				x.near, x.least = limits[i], p
				return i, nil
			}
		}
		return 0, errors.New("no losses") // not reached
	}
	if !whole {
		_, err := try([]float64{x.near.Loss})
		return err
	}
	const halves = 24
	losses := make([]float64, halves, halves+1)
	for i := range losses {
		losses[i] = 1 / float64(int(1)<<i)
	}
	at, err := try(append(losses, 0))
	if err != nil || at == 0 || x.near.Loss == 0 {
		return err
	}
	var finer []float64
	for i := 15; i >= 0; i-- {
		finer = append(finer, x.near.Loss*(1+float64(i)/16))
	}
	_, err = try(finer)
	return err
}

// Value is the winning probability of optimal play.
func (x *Shield) Value() float64 { return x.best.table.Stats().Initial }

// Wanted is the winning probability of which the loss, were it for the whole game, leaves so much.
func (x *Shield) Wanted() float64 {
	loss, _ := x.options.Loss.Float64()
	if x.options.Relative {
		loss *= x.Value()
	}
	return x.Value() - loss
}

// Least is a lower bound of the winning probability of whoever obeys.
func (x *Shield) Least() float64 { return x.least }

// Near says which moves are allowed.
func (x *Shield) Near() solve.Near { return x.near }

// Table is the table of optimal play.
func (x *Shield) Table() *solve.Table { return x.best.table }

// Options are those that the shield was made with.
func (x *Shield) Options() ShieldOptions { return x.options }

// allowed returns what is left of the moves of a board, and the one that replaces others.
func (x *Shield) allowed(b game.Board) (game.Moves, game.Dir, error) {
	if !x.ready {
		return 0, 0, errors.New("the shield is not prepared, want a call of Prepare first")
	}
	near, instead, ok := x.best.table.Near(b, x.near)
	if !ok {
		return 0, 0, x.best.missing(b)
	}
	return near, instead, nil
}

// Guard returns a player under the shield.
func (x *Shield) Guard(player Strategy) Strategy { return &guarded{Strategy: player, shield: x} }

// Shielded is the player or the chooser of a strategy under a Shield.
type Shielded interface {
	// Acted reports whether the shield acted at the last move: that the player chose was replaced, or moves were hidden.
	Acted() bool
}

// guarded is a strategy under a shield.
type guarded struct {
	Strategy
	shield *Shield
}

// UnderShield returns the shield that a strategy is under, and the strategy without it; nil if it is under none.
func UnderShield(s Strategy) (*Shield, Strategy) {
	if g, ok := s.(*guarded); ok {
		return g.shield, g.Strategy
	}
	return nil, s
}

func (g *guarded) String() string {
	o := g.shield.options
	text := "shield:loss=" + o.Loss.RatString()
	for _, word := range []struct {
		is   bool
		text string
	}{{o.Relative, "measure=relative"}, {o.Game, "over=game"}, {o.Hide, "by=hiding"}, {o.File != "", "file=" + o.File}} {
		if word.is {
			text += "," + word.text
		}
	}
	return text + ",player=" + g.Strategy.String()
}

func (g *guarded) prepare(ctx context.Context) error {
	return cmp.Or(g.shield.Prepare(ctx), Prepare(ctx, g.Strategy))
}

func (g *guarded) Player() Player {
	return &guardedPlayer{Player: g.Strategy.Player(), shield: g.shield}
}

func (g *guarded) Chooser() Chooser {
	return &guardedChooser{chooser: g.Strategy.Chooser(), shield: g.shield}
}

type guardedPlayer struct {
	Player
	shield *Shield
	acted  bool
}

func (p *guardedPlayer) Acted() bool { return p.acted }

func (p *guardedPlayer) Choose(b game.Board, legal game.Moves, rng *rand.Rand) (game.Dir, error) {
	allowed, best, err := p.shield.allowed(b)
	if err != nil {
		return 0, err
	}
	hidden := p.shield.options.Hide && allowed&legal != legal
	if hidden {
		legal &= allowed
	}
	d, err := p.Player.Choose(b, legal, rng)
	p.acted = hidden || !allowed.Has(d)
	if err == nil && !allowed.Has(d) {
		d = best
	}
	return d, err
}

// guardedChooser knows how likely it is that the shield acts.
type guardedChooser struct {
	chooser Chooser
	shield  *Shield
	acted   *big.Rat
}

// Interventions is a Chooser of a strategy under a Shield.
type Interventions interface {
	// Acts returns the probability that the shield acted at the last decision.
	Acts() *big.Rat
}

func (c *guardedChooser) Acts() *big.Rat { return c.acted }

func (c *guardedChooser) Decide(b game.Board, legal game.Moves, memory int) ([]Choice, error) {
	allowed, best, err := c.shield.allowed(b)
	if err != nil {
		return nil, err
	}
	c.acted = new(big.Rat)
	hidden := c.shield.options.Hide && allowed&legal != legal
	if hidden {
		c.acted.SetInt64(1)
		legal &= allowed
	}
	decided, err := c.chooser.Decide(b, legal, memory)
	if err != nil {
		return nil, err
	}
	var out []Choice
	for _, d := range decided {
		if !allowed.Has(d.Dir) {
			if !hidden {
				c.acted.Add(c.acted, d.Prob)
			}
			d.Dir = best
		}
		out = merge(out, d)
	}
	return out, nil
}

// merge adds a choice to others, to the one that is the same if there is one.
func merge(choices []Choice, more Choice) []Choice {
	for i, c := range choices {
		if c.Dir == more.Dir && c.Memory == more.Memory {
			choices[i].Prob = new(big.Rat).Add(c.Prob, more.Prob)
			return choices
		}
	}
	return append(choices, more)
}
