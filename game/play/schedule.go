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

// playRange plays the games first to end-1 of every competitor.
func (s *schedule) playRange(ctx context.Context, first, end int64) error {
	n := int64(len(s.competitors))
	return inorder.Run(ctx, inorder.Jobs[Played]{
		End:     (end - first) * n,
		Workers: s.workers,
		Start:   func(ctx context.Context) (inorder.Worker[Played], error) { return s.start(ctx, first*n) },
		Take:    func(job int64, g *Played) bool { return s.takeGame(int(job%int64(len(s.competitors))), g) },
		Tick:    s.tick,
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

func (s *schedule) start(ctx context.Context, base int64) (inorder.Worker[Played], error) {
	w := &worker{schedule: s, firstJob: base, runners: make([]*gameRunner, len(s.competitors))}
	for i, e := range s.competitors {
		var err error
		if w.runners[i], err = newGameRunner(s.match, e.strategy, &w.stop); err != nil {
			return nil, err
		}
	}
	w.release = context.AfterFunc(ctx, func() { w.stop.Store(true) })
	return w, nil
}

// Close ends the watching of the context, and external players.
func (w *worker) Close() error {
	w.release()
	var errs []error
	for _, r := range w.runners {
		errs = append(errs, strategy.ClosePlayer(r.player))
	}
	return errors.Join(errs...)
}

// Do plays n jobs and appends new games to the state files. If it is stopped, it keeps and returns the games that were finished.
func (w *worker) Do(ctx context.Context, first, n int64) ([]Played, error) {
	out := make([]Played, 0, n)
	fresh := make([][]Game, len(w.competitors))
	var err error
	for q := w.firstJob + first; q < w.firstJob+first+n && err == nil; q++ {
		index, who := q/int64(len(w.competitors)), int(q%int64(len(w.competitors)))
		known, ok := w.competitors[who].state.finished(index)
		if ok && !w.record {
			out = append(out, Played{Game: known})
			continue
		}
		var p Played
		if p, err = w.playGame(w.runners[who], index); err != nil {
			break
		}
		out = append(out, p)
		switch {
		case !ok:
			fresh[who] = append(fresh[who], p.Game)
		case !p.same(known):
			err = fmt.Errorf("game %d of %s: played again it differs from the state, which another version must have written", index, w.runners[who].spec)
		}
	}
	for who, games := range fresh {
		if kept := w.competitors[who].state.append(games); kept != nil {
			return out, kept
		}
	}
	if errors.Is(err, errStopped) {
		err = ctx.Err()
	}
	return out, err
}

// playGame plays one game, with its transcript if games are recorded.
func (s *schedule) playGame(t *gameRunner, index int64) (Played, error) {
	if !s.record {
		g, err := t.play(index, nil)
		return Played{Game: g}, err
	}
	transcript := &Transcript{}
	g, err := t.play(index, transcript.add)
	transcript.Overflow = g.Overflow
	return Played{g, transcript}, err
}
