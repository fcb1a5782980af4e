package play

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/game"
	"tilecheck/game/solve"
	"tilecheck/game/strategy"
	"tilecheck/modelgen"
)

// Match says which game is played: the board, its goal and the seed.
type Match struct {
	Shape game.Shape
	// Goal is the exponent of the winning tile: 11 for 2048; 0: no tile wins.
	Goal int
	// PlayOn makes a game continue after a win until no move is legal.
	PlayOn bool
	Seed   uint64
	// Published makes moves by the faulty updates of modelgen.UpdatesPublished. Such a game must stop at its goal, or it could last forever.
	Published bool
	// Opponent places the new tiles; nil: chance.
	Opponent *strategy.Opponent
}

// against returns what the opponent chooses.
func (m Match) against() solve.Against {
	if m.Opponent == nil {
		return solve.Chance
	}
	return m.Opponent.Against()
}

// ParseOpponent makes an opponent for this match, nil for chance. The error is a [*strategy.SpecError] or an error of Validate.
func (m Match) ParseOpponent(spec string) (*strategy.Opponent, error) {
	setting, err := m.setting()
	if err != nil {
		return nil, err
	}
	return strategy.ParseOpponent(spec, setting)
}

// setting returns the game of the match, as the strategies are made for it.
func (m Match) setting() (strategy.Setting, error) {
	if err := m.Validate(); err != nil {
		return strategy.Setting{}, err
	}
	rules, err := m.newRules()
	setting := strategy.Setting{Rules: rules, Max: m.Goal, Against: m.against()}
	if m.PlayOn {
		setting.Max = 0 // the game goes on
	}
	return setting, err
}

// prepare prepares the opponent and the strategies for their first game, which can take long.
func (m Match) prepare(ctx context.Context, strategies ...strategy.Strategy) error {
	if err := strategy.PrepareOpponent(ctx, m.Opponent); err != nil {
		return err
	}
	for _, current := range strategies {
		if err := strategy.Prepare(ctx, current); err != nil {
			return err
		}
	}
	return nil
}

// Validate returns an error if the match is not valid.
func (m Match) Validate() error {
	if err := m.Shape.Validate(); err != nil {
		return err
	}
	if m.Goal != 0 && (m.Goal < 2 || m.Goal > game.MaxWideExponent) {
		return fmt.Errorf("the tile that wins has exponent %d, want 2 to %d", m.Goal, game.MaxWideExponent)
	}
	if !m.Published {
		return nil
	}
	switch {
	case !modelgen.PublishedBoard(m.Shape.Rows, m.Shape.Cols):
		return fmt.Errorf("board is %v, want %s", m.Shape, modelgen.PublishedBoards)
	case m.Goal > game.MaxExponent:
		return fmt.Errorf("the tile that wins is %d, want at most %d for published updates", game.Value(m.Goal), game.Value(game.MaxExponent))
	case m.Opponent != nil:
		return errors.New("an opponent places the new tiles, want chance for published updates")
	case m.PlayOn || m.Goal == 0:
		return errors.New("the game goes on after a win, want it to stop at its goal for published updates")
	}
	return nil
}

// newRules returns the rules of the match.
func (m Match) newRules() (*game.Rules, error) {
	if m.Published {
		return game.NewPublished(m.Shape)
	}
	return game.New(m.Shape)
}

// Parse makes a strategy for this match. The error is a [*strategy.SpecError] or an error of Validate. Under published updates it can also say
// that the strategy uses more than the legal moves: such a strategy would look ahead by the correct rules.
func (m Match) Parse(spec string) (strategy.Strategy, error) { return m.ParseWith(spec, nil) }

// ParseWith returns the strategy that a spec describes, like Parse. The strategy may be an external player, which programs starts.
func (m Match) ParseWith(spec string, programs strategy.Programs) (strategy.Strategy, error) {
	setting, err := m.setting()
	if err != nil {
		return nil, err
	}
	if _, err := modelgen.ParsePolicy(spec); m.Published && err != nil {
		return nil, fmt.Errorf("strategy %q with published updates: %w", spec, err)
	}
	setting.Programs = programs
	return strategy.Parse(spec, setting)
}

// String returns the match without its seed, such as "4x4, win at 2048 and play on".
func (m Match) String() string {
	if m.Opponent != nil {
		withoutOpponent := m
		withoutOpponent.Opponent = nil
		return fmt.Sprintf("%v, new tiles by %v", withoutOpponent, m.Opponent)
	}
	switch {
	case m.Published:
		return fmt.Sprintf("%v, stop at %d, published updates", m.Shape, game.Value(m.Goal))
	case m.Goal == 0:
		return m.Shape.String() + ", play on"
	case m.PlayOn:
		return fmt.Sprintf("%v, win at %d and play on", m.Shape, game.Value(m.Goal))
	}
	return fmt.Sprintf("%v, stop at %d", m.Shape, game.Value(m.Goal))
}

// won reports whether the goal is on the board.
func (m *Match) won(board game.Wide) bool { return m.Goal > 0 && board.AtLeast(m.Goal) }
