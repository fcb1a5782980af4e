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

// entrant is a strategy in a schedule, with the games of it that are known already.
type entrant struct {
	strategy strategy.Strategy
	state    *state // nil when nothing is kept
}

// schedule plays the games 0 to games-1 of every entrant. Job q is game q/len(entrants) of entrant q%len(entrants): the entrants advance
// side by side, so that whatever ends the run they have played the same games.
type schedule struct {
	match    Match
	entrants []entrant
	games    int64
	workers  int // 0 means one per processor
	// record has every game played in full, also known ones, and its transcript given to take.
	record bool
	// take is given the game of every job in their order, each exactly once, until it returns false.
	take func(entrant int, g *Played) (more bool)
	// tick, when not nil, is called now and then between calls of take.
	tick func()
	// split, when not nil, shares the games with other processes. They are split into ranges, or into blocks when take may have enough of them,
	// which it first looks at after so many; first is 0 when it does not.
	split *shard.Ledger
	first int64
}

// Played is a game and, when games are recorded, how it went.
type Played struct {
	Game
	Transcript *Transcript
}

// run plays until take returns false, all games are played or the context ends. In the last case take has been given all games that were
// finished up to the first one that was not. The error is that of a player, of a state file or of a shard.
func (s *schedule) run(ctx context.Context) error {
	switch {
	case s.split.Recording():
		return s.recordPart(ctx)
	case s.split.Replaying():
		return s.split.Replay(s.stream(), s.replayPiece)
	}
	return s.jobs(ctx, 0, s.games)
}

// jobs plays the games first to end-1 of every entrant.
func (s *schedule) jobs(ctx context.Context, first, end int64) error {
	n := int64(len(s.entrants))
	return inorder.Run(ctx, inorder.Jobs[Played]{
		End:     (end - first) * n,
		Workers: s.workers,
		Start:   func(ctx context.Context) (inorder.Worker[Played], error) { return s.start(ctx, first*n) },
		Take:    func(job int64, g *Played) bool { return s.take(int(job%int64(len(s.entrants))), g) },
		Tick:    s.tick,
	})
}

// seat is where one worker plays.
type seat struct {
	*schedule
	base    int64    // the number that job 0 of a part has among all
	tables  []*table // one for each entrant
	stop    atomic.Bool
	release func() bool
}

func (s *schedule) start(ctx context.Context, base int64) (inorder.Worker[Played], error) {
	w := &seat{schedule: s, base: base, tables: make([]*table, len(s.entrants))}
	for i, e := range s.entrants {
		var err error
		if w.tables[i], err = newTable(s.match, e.strategy, &w.stop); err != nil {
			return nil, err
		}
	}
	w.release = context.AfterFunc(ctx, func() { w.stop.Store(true) })
	return w, nil
}

// Close lets go of the context.
func (w *seat) Close() error {
	w.release()
	return nil
}

// Do plays a batch and keeps it. When it is stopped the games finished before are kept and returned.
func (w *seat) Do(ctx context.Context, first, n int64) ([]Played, error) {
	out := make([]Played, 0, n)
	fresh := make([][]Game, len(w.entrants))
	var err error
	for q := w.base + first; q < w.base+first+n && err == nil; q++ {
		index, who := q/int64(len(w.entrants)), int(q%int64(len(w.entrants)))
		known, ok := w.entrants[who].state.known(index)
		if ok && !w.record {
			out = append(out, Played{Game: known})
			continue
		}
		var p Played
		if p, err = w.one(w.tables[who], index); err != nil {
			break
		}
		out = append(out, p)
		switch {
		case !ok:
			fresh[who] = append(fresh[who], p.Game)
		case !p.same(known):
			err = fmt.Errorf("game %d of %s: played again it differs from the state, which another version must have written", index, w.tables[who].spec)
		}
	}
	for who, games := range fresh {
		if kept := w.entrants[who].state.append(games); kept != nil {
			return out, kept
		}
	}
	if errors.Is(err, errStopped) {
		err = ctx.Err()
	}
	return out, err
}

// one plays one game, with its transcript if games are recorded.
func (s *schedule) one(t *table, index int64) (Played, error) {
	if !s.record {
		g, err := t.play(index, nil)
		return Played{Game: g}, err
	}
	transcript := &Transcript{}
	g, err := t.play(index, transcript.add)
	return Played{g, transcript}, err
}
