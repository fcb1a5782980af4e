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

// Shield keeps players from moves that lose too much of the best winning probability.
//
// Source: Jansen, Könighofer, Junges, Serban and Bloem, Safe reinforcement learning using probabilistic shields (CONCUR 2020).
type Shield struct {
	options   ShieldOptions
	optimal   *optimal
	allowance solve.Near // the allowed loss of a move, after Prepare
	leastWin  float64    // a lower bound of the winning probability of any player under the shield, after Prepare
	prepared  bool
}

// ShieldOptions say which moves are allowed, and how the shield acts on others.
type ShieldOptions struct {
	// Loss is the largest allowed loss of winning probability of a move: absolute or, if Relative is set, as a share of the best winning
	// probability on its board.
	Loss     *big.Rat
	Relative bool
	// Game says that Loss is for the whole game. The allowed loss of a move is then the largest for which no player under the shield loses
	// more than Loss of the value of the game. It is computed with an error of at most a sixteenth.
	Game bool
	// Hide makes the shield show only allowed moves to the player, as if no others were legal. Otherwise the shield replaces a move that is
	// not allowed by the first best one.
	Hide bool
	// File is a table of package solve; if empty, the game is solved in memory.
	File string
}

// NewShield returns a shield for a game with a winning tile. Call Shield.Prepare, or Prepare of a strategy under it, before use.
func NewShield(setting Setting, options ShieldOptions) (*Shield, error) {
	if setting.Max == 0 {
		return nil, errors.New("a shield keeps the probability of a win, want a tile that ends the game")
	}
	if one := big.NewRat(1, 1); options.Loss.Sign() < 0 || options.Loss.Cmp(one) > 0 {
		return nil, fmt.Errorf("the loss that a shield allows is %s, want a number from 0 to 1", options.Loss.RatString())
	}
	return &Shield{options: options, optimal: &optimal{shape: setting.Rules.Shape(), max: setting.Max, objective: solve.Win, file: options.File}}, nil
}

// parseShield parses the options of a shield, and the player after the last of them.
func parseShield(spec, args string, setting Setting) (Strategy, error) {
	args, player, isValid := strings.Cut(","+args, ",player=")
	if !isValid {
		return nil, &SpecError{spec, "no player", "a strategy at the end, as in shield:loss=0.01,player=random"}
	}
	options := newOptions(spec, strings.TrimPrefix(args, ","))
	text := options.text("loss", "0.01")
	loss, isValid := new(big.Rat), len(text) <= 64 && !strings.ContainsAny(text, "eE")
	if isValid {
		_, isValid = loss.SetString(text)
	}
	if !isValid {
		options.fail("loss is "+text, "a number such as 0.01 or 1/100")
		loss = new(big.Rat)
	}
	shieldOptions := ShieldOptions{
		Loss: loss, Relative: options.word("measure", "absolute", "relative") == "relative",
		Game: options.word("over", "move", "game") == "game", Hide: options.word("by", "replacing", "hiding") == "hiding", File: options.text("file", ""),
	}
	if err := options.done(); err != nil {
		return nil, err
	}
	shield, err := NewShield(setting, shieldOptions)
	if err != nil {
		return nil, &SpecError{spec, err.Error(), "another shield"}
	}
	inner, err := Parse(player, setting)
	if err != nil {
		return nil, err
	}
	return shield.Guard(inner), nil
}

// Prepare solves the game, or opens its table, and computes the allowed loss of a move. Further calls do nothing.
func (x *Shield) Prepare(ctx context.Context) error {
	if x.prepared {
		return nil
	}
	if err := x.optimal.prepare(ctx); err != nil {
		return err
	}
	if problem := x.optimal.table.Problem(); problem.Discount != 1 || problem.Against != solve.Chance {
		return fmt.Errorf("the table is of %v, want one without a discount for a shield", problem)
	}
	loss, _ := x.options.Loss.Float64()
	x.allowance = solve.Near{Loss: loss, Relative: x.options.Relative}
	err := x.computeLeast(ctx, x.options.Game)
	x.prepared = err == nil
	return err
}

// computeLeast computes the least probability of winning under the shield. If the loss is for the whole game, it first searches the largest loss of a
// move that keeps this probability: among the powers of 1/2, and then in steps of a sixteenth up to the next power.
func (x *Shield) computeLeast(ctx context.Context, forGame bool) error {
	firstSufficient := func(losses []float64) (int, error) {
		limits := make([]solve.Near, len(losses))
		for i, loss := range losses {
			limits[i] = solve.Near{Loss: loss, Relative: x.options.Relative}
		}
		least, err := x.optimal.table.LeastWin(ctx, limits)
		if err != nil {
			return 0, err
		}
		for i, probability := range least {
			if isLast := i == len(least)-1; isLast || probability >= x.RequiredWin() {
				x.allowance, x.leastWin = limits[i], probability
				return i, nil
			}
		}
		return 0, errors.New("no losses") // not reached
	}
	if !forGame {
		_, err := firstSufficient([]float64{x.allowance.Loss})
		return err
	}
	const powers = 24
	losses := make([]float64, powers, powers+1)
	for i := range losses {
		losses[i] = 1 / float64(int(1)<<i)
	}
	index, err := firstSufficient(append(losses, 0))
	if err != nil || index == 0 || x.allowance.Loss == 0 {
		return err
	}
	var finer []float64
	for i := 15; i >= 0; i-- {
		finer = append(finer, x.allowance.Loss*(1+float64(i)/16))
	}
	_, err = firstSufficient(finer)
	return err
}

// OptimalWin returns the winning probability of optimal play.
func (x *Shield) OptimalWin() float64 { return x.optimal.table.Stats().Initial }

// RequiredWin returns the winning probability that remains if Loss is lost over the whole game.
func (x *Shield) RequiredWin() float64 {
	loss, _ := x.options.Loss.Float64()
	if x.options.Relative {
		loss *= x.OptimalWin()
	}
	return x.OptimalWin() - loss
}

// LeastWin returns a lower bound of the winning probability of any player under the shield.
func (x *Shield) LeastWin() float64 { return x.leastWin }

// Allowance returns the allowed loss of a move.
func (x *Shield) Allowance() solve.Near { return x.allowance }

// Table returns the table of optimal play.
func (x *Shield) Table() *solve.Table { return x.optimal.table }

// Options returns the options of the shield.
func (x *Shield) Options() ShieldOptions { return x.options }

// allowedMoves returns the moves that the shield allows on a board, and the move that replaces each other move.
func (x *Shield) allowedMoves(board game.Board) (game.Moves, game.Dir, error) {
	if !x.prepared {
		return 0, 0, errors.New("the shield is not prepared, want a call of Prepare first")
	}
	allowed, replacement, ok := x.optimal.table.Near(board, x.allowance)
	if !ok {
		return 0, 0, x.optimal.missing(board)
	}
	return allowed, replacement, nil
}

// Guard returns the strategy of a player under the shield.
func (x *Shield) Guard(player Strategy) Strategy {
	return &shieldedStrategy{Strategy: player, shield: x}
}

// Shielded is implemented by the Player of a strategy under a Shield.
type Shielded interface {
	// Acted reports whether the shield acted at the last move: it replaced the player's move, or hid moves.
	Acted() bool
}

// shieldedStrategy is a strategy under a shield.
type shieldedStrategy struct {
	Strategy
	shield *Shield
}

// UnderShield returns the shield of a strategy and the strategy without it; the shield is nil if there is none.
func UnderShield(s Strategy) (*Shield, Strategy) {
	if g, ok := s.(*shieldedStrategy); ok {
		return g.shield, g.Strategy
	}
	return nil, s
}

func (g *shieldedStrategy) String() string {
	options := g.shield.options
	text := "shield:loss=" + options.Loss.RatString()
	if options.Relative {
		text += ",measure=relative"
	}
	if options.Game {
		text += ",over=game"
	}
	if options.Hide {
		text += ",by=hiding"
	}
	if options.File != "" {
		text += ",file=" + options.File
	}
	return text + ",player=" + g.Strategy.String()
}

func (g *shieldedStrategy) prepare(ctx context.Context) error {
	return cmp.Or(g.shield.Prepare(ctx), Prepare(ctx, g.Strategy))
}

func (g *shieldedStrategy) Player() Player {
	return &shieldedPlayer{Player: g.Strategy.Player(), shield: g.shield}
}

func (g *shieldedStrategy) Chooser() Chooser {
	return &shieldedChooser{chooser: g.Strategy.Chooser(), shield: g.shield}
}

type shieldedPlayer struct {
	Player
	shield *Shield
	acted  bool
}

func (p *shieldedPlayer) Acted() bool { return p.acted }

// Close ends the player under the shield, if it is a program.
func (p *shieldedPlayer) Close() error { return ClosePlayer(p.Player) }

// Choose returns the move of the player if the shield allows it, otherwise a best move. If the shield hides moves, the player sees only the allowed
// ones.
func (p *shieldedPlayer) Choose(board game.Board, legal game.Moves, rng *rand.Rand) (game.Dir, error) {
	allowed, best, err := p.shield.allowedMoves(board)
	if err != nil {
		return 0, err
	}
	hidesMoves := p.shield.options.Hide && allowed&legal != legal
	if hidesMoves {
		legal &= allowed
	}
	dir, err := p.Player.Choose(board, legal, rng)
	p.acted = hidesMoves || !allowed.Has(dir)
	if err == nil && !allowed.Has(dir) {
		dir = best
	}
	return dir, err
}

// shieldedChooser is the Chooser of a strategy under a shield. It also computes the probability that the shield acts.
type shieldedChooser struct {
	chooser Chooser
	shield  *Shield
	acted   *big.Rat
}

// Interventions is implemented by the Chooser of a strategy under a Shield.
type Interventions interface {
	// Acts returns the probability that the shield acted at the last decision.
	Acts() *big.Rat
}

func (c *shieldedChooser) Acts() *big.Rat { return c.acted }

// Decide returns the moves of the player with their probabilities. A best move replaces moves that the shield does not allow. Decide also computes
// the probability that the shield acts.
func (c *shieldedChooser) Decide(board game.Board, legal game.Moves, memory int) ([]Choice, error) {
	allowed, best, err := c.shield.allowedMoves(board)
	if err != nil {
		return nil, err
	}
	c.acted = new(big.Rat)
	hidesMoves := c.shield.options.Hide && allowed&legal != legal
	if hidesMoves {
		c.acted.SetInt64(1)
		legal &= allowed
	}
	decided, err := c.chooser.Decide(board, legal, memory)
	if err != nil {
		return nil, err
	}
	var choices []Choice
	for _, choice := range decided {
		if !allowed.Has(choice.Dir) {
			if !hidesMoves {
				c.acted.Add(c.acted, choice.Prob)
			}
			choice.Dir = best
		}
		choices = merge(choices, choice)
	}
	return choices, nil
}

// merge adds a choice to choices. If there already is a choice with the same direction and memory, it only adds the probability to it.
func merge(choices []Choice, added Choice) []Choice {
	for i, choice := range choices {
		if choice.Dir == added.Dir && choice.Memory == added.Memory {
			choices[i].Prob = new(big.Rat).Add(choice.Prob, added.Prob)
			return choices
		}
	}
	return append(choices, added)
}
