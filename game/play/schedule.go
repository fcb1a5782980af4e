package play

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"tilecheck/game/strategy"
	"tilecheck/internal/inorder"
	"tilecheck/internal/shard"
)

// competitor is a strategy in a schedule, with its finished games from earlier runs.
type competitor struct {
	strategy strategy.Strategy
	state    *stateFile // nil if games are not kept
}

// schedule plays the games 0 to games-1 of every competitor. Job q is game q/n of competitor q%n, where n is the number of competitors. So all
// competitors have played the same games at any moment.
type schedule struct {
	match       Match
	competitors []competitor
	games       int64
	workers     int // 0 means one per processor
	// record makes the schedule play every game, including finished ones, and pass its transcript to takeGame.
	record bool
	// takeGame is called with the game of every job in the order of the jobs. The schedule ends when it returns false.
	takeGame func(competitor int, g *Played) (more bool)
	// tick, if not nil, is called from time to time between calls of takeGame.
	tick func()
	// split, if not nil, divides the games among processes: into ranges, or into blocks if takeGame may end the schedule early. Then firstLook is
	// the number of games after which takeGame can do so for the first time; otherwise it is 0.
	split     *shard.Ledger
	firstLook int64
}

// Played is a game with its transcript, which is nil unless games are recorded.
type Played struct {
	Game
	Transcript *Transcript
}

// run plays until takeGame returns false, all games are played or the context ends. In the last case takeGame has received all finished games
// before the first unfinished one. The error is an error of a player, of a state file or of a shard.
func (s *schedule) run(ctx context.Context) error {
	switch {
	case s.split.Recording():
		return s.recordPart(ctx)
	case s.split.Replaying():
		return s.split.Replay(s.stream(), s.replayPiece)
	}
	return s.playRange(ctx, 0, s.games)
}

// playRange plays the games with the indexes first to end-1, each with all competitors.
func (s *schedule) playRange(ctx context.Context, firstGame, endGame int64) error {
	numCompetitors := int64(len(s.competitors))
	return inorder.Run(ctx, inorder.Jobs[Played]{
		End:     (endGame - firstGame) * numCompetitors,
		Workers: s.workers,
		Start: func(ctx context.Context) (inorder.Worker[Played], error) {
			return s.newWorker(ctx, firstGame*numCompetitors)
		},
		Take: func(job int64, played *Played) bool { return s.takeGame(int(job%int64(len(s.competitors))), played) },
		Tick: s.tick,
	})
}

// worker plays jobs of a schedule.
type worker struct {
	*schedule
	firstJob int64         // number of job 0 of this range among all jobs
	runners  []*gameRunner // one for each competitor
	stop     atomic.Bool
	release  func() bool
}

// newWorker returns a worker with a runner for each competitor. base is the number of its first job.
func (s *schedule) newWorker(ctx context.Context, base int64) (inorder.Worker[Played], error) {
	result := &worker{schedule: s, firstJob: base, runners: make([]*gameRunner, len(s.competitors))}
	for i, player := range s.competitors {
		var err error
		if result.runners[i], err = newGameRunner(s.match, player.strategy, &result.stop); err != nil {
			return nil, err
		}
	}
	result.release = context.AfterFunc(ctx, func() { result.stop.Store(true) })
	return result, nil
}

// Close ends the external players, and no longer watches the context.
func (w *worker) Close() error {
	w.release()
	var errs []error
	for _, runner := range w.runners {
		errs = append(errs, strategy.ClosePlayer(runner.player))
	}
	return errors.Join(errs...)
}

// Do plays the games of count jobs, the first of which has the number first. It takes finished games from the state files, and appends new ones to
// them. If it is stopped, it returns the finished games with the error.
func (w *worker) Do(ctx context.Context, first, count int64) ([]Played, error) {
	played := make([]Played, 0, count)
	newGames := make([][]Game, len(w.competitors))
	var err error
	for job := w.firstJob + first; job < w.firstJob+first+count && err == nil; job++ {
		index, player := job/int64(len(w.competitors)), int(job%int64(len(w.competitors)))
		earlier, isKnown := w.competitors[player].state.finished(index)
		if isKnown && !w.record {
			played = append(played, Played{Game: earlier})
			continue
		}
		var finished Played
		if finished, err = w.playGame(w.runners[player], index); err != nil {
			break
		}
		played = append(played, finished)
		switch {
		case !isKnown:
			newGames[player] = append(newGames[player], finished.Game)
		case !finished.same(earlier):
			err = fmt.Errorf("game %d of %s: played again it differs from the state, which another version must have written", index, w.runners[player].spec)
		}
	}
	for player, games := range newGames {
		if writeErr := w.competitors[player].state.append(games); writeErr != nil {
			return played, writeErr
		}
	}
	if errors.Is(err, errStopped) {
		err = ctx.Err()
	}
	return played, err
}

// playGame plays one game, with its transcript if games are recorded.
func (s *schedule) playGame(runner *gameRunner, index int64) (Played, error) {
	if !s.record {
		finished, err := runner.play(index, nil)
		return Played{Game: finished}, err
	}
	transcript := &Transcript{}
	finished, err := runner.play(index, transcript.add)
	transcript.Overflow = finished.Overflow
	return Played{finished, transcript}, err
}
