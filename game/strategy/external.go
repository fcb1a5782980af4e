package strategy

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"tilecheck/game"
	"tilecheck/internal/quote"
)

// Programs starts external players. It is an interface because only package runner/local may start processes.
type Programs interface {
	// Start starts a program for a conversation. The program ends when the context does, or when the conversation is closed.
	Start(ctx context.Context, command []string) (Conversation, error)
	// MoveTime is the time limit of a move.
	MoveTime() time.Duration
}

// Conversation is a running external player.
type Conversation interface {
	// Tell writes a line.
	Tell(line string)
	// Ask writes a line and returns the line that answers it. The error is that of the context, or says what was sent and what happened.
	Ask(line string, limit time.Duration) (string, error)
	// Close ends the program.
	Close() error
}

// external is a player that is another program. docs/play.md describes the lines that are sent and received.
type external struct {
	command  string
	words    []string
	shape    game.Shape
	max      int
	programs Programs
	ctx      context.Context // of the programs; nil before prepare
}

// parseExternal parses the command of an external player. It returns an error if no programs may be started.
func parseExternal(spec, args string, setting Setting) (Strategy, error) {
	words, err := quote.Split(args)
	switch {
	case err != nil:
		return nil, &SpecError{spec, err.Error(), "a command"}
	case len(words) == 0:
		return nil, &SpecError{spec, "no command", "a program and its arguments, as in exec:python3 player.py"}
	case setting.Programs == nil:
		return nil, &SpecError{spec, "an external player", "a strategy of tilecheck: no program is started here"}
	}
	return &external{command: strings.TrimSpace(args), words: words, shape: setting.Rules.Shape(), max: setting.Max, programs: setting.Programs}, nil
}

func (e *external) String() string    { return "exec:" + e.command }
func (*external) Deterministic() bool { return false }
func (*external) Memory() int         { return 1 }
func (e *external) Player() Player    { return &externalPlayer{external: e} }
func (*external) Chooser() Chooser    { return externalChooser{} }

func (e *external) prepare(ctx context.Context) error {
	e.ctx = ctx
	return nil
}

// externalChooser returns an error, because the choices of a program are unknown.
type externalChooser struct{}

func (externalChooser) Decide(game.Board, game.Moves, int) ([]Choice, error) {
	return nil, errors.New("an external player gives moves and no probabilities, want it in games only")
}

// externalPlayer is one running program, which plays one game after the other.
type externalPlayer struct {
	*external
	talk    Conversation // nil before the first move
	started bool         // the program knows of the current game
}

func (p *externalPlayer) Start() { p.started = false }

// Close ends the program.
func (p *externalPlayer) Close() error {
	if p.talk == nil {
		return nil
	}
	err := p.talk.Close()
	p.talk = nil
	return err
}

func (p *externalPlayer) Choose(board game.Board, legal game.Moves, rng *rand.Rand) (game.Dir, error) {
	return p.ChooseWide(game.Wide{Low: board}, legal, rng)
}

// ChooseWide sends the board to the program, and returns the move that the program answers. It returns an error for an answer that is not a legal
// move.
func (p *externalPlayer) ChooseWide(board game.Wide, legal game.Moves, rng *rand.Rand) (game.Dir, error) {
	if err := p.begin(rng); err != nil {
		return 0, err
	}
	line := "board " + strings.ReplaceAll(strings.TrimSpace(p.shape.FormatWide(board)), "\n", " / ")
	answer, err := p.talk.Ask(line, p.programs.MoveTime())
	if err != nil {
		return 0, err
	}
	for dir := game.Left; dir <= game.Down; dir++ {
		switch {
		case answer != dir.String():
		case !legal.Has(dir):
			return 0, fmt.Errorf("sent %q, received %q, which moves nothing: want one of %v", line, answer, legal)
		default:
			return dir, nil
		}
	}
	return 0, fmt.Errorf("sent %q, received %.100q, want left, right, up or down", line, answer)
}

// begin starts the program if it does not run, and tells it about a new game.
func (p *externalPlayer) begin(rng *rand.Rand) error {
	if p.ctx == nil {
		return errors.New("the external player is not prepared, want a call of Prepare first")
	}
	if p.talk == nil {
		talk, err := p.programs.Start(p.ctx, p.words)
		if err != nil {
			return err
		}
		p.talk = talk
		p.talk.Tell("tilecheck 1")
	}
	if !p.started {
		goal := "none"
		if p.max > 0 {
			goal = fmt.Sprint(game.Value(p.max))
		}
		p.talk.Tell(fmt.Sprintf("game %v %s %d", p.shape, goal, rng.Uint64()))
		p.started = true
	}
	return nil
}
