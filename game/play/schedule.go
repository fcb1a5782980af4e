package play

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"tilecheck/game/strategy"
)

const (
	// window is how many games may be under way or wait for an earlier one.
	window = 1 << 14
	// maxBatch is the number of games that a worker takes at most at a time.
	maxBatch = 1 << 9
	// A worker takes twice as many games next time if a batch took less than quickBatch, and half as many if it took longer than slowBatch.
	// How games are divided into batches has no influence on any result.
	quickBatch = 5 * time.Millisecond
	slowBatch  = 20 * time.Millisecond
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
}

// Played is a game and, when games are recorded, how it went.
type Played struct {
	Game
	Transcript *Transcript
}

// batch is what became of consecutive jobs; fewer than were claimed when the run was stopped.
type batch struct {
	first int64
	games []Played
}

// feed hands out jobs to workers.
type feed struct {
	mu      sync.Mutex
	room    sync.Cond // signalled when taken grows or the feed is closed
	next    int64     // the next job to hand out
	end     int64     // no job from here on is handed out
	taken   int64     // every job below has been taken
	workers int64
	closed  bool
	stopped atomic.Bool // closed, for workers in the middle of a game
	err     error       // the first error of a worker
}

// claim returns the next jobs for a worker: at most size of them, and fewer towards the end, so that all workers finish at about the same
// time.
func (f *feed) claim(size int64) (first, n int64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.closed && f.next < f.end && f.next >= f.taken+window {
		f.room.Wait()
	}
	if f.closed || f.next >= f.end {
		return 0, 0, false
	}
	n = min(size, f.taken+window-f.next, max(1, (f.end-f.next)/(2*f.workers)))
	first = f.next
	f.next += n
	return first, n, true
}

// close ends the run; err may be nil.
func (f *feed) close(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.stopped.Store(true)
	if f.err == nil {
		f.err = err
	}
	f.room.Broadcast()
}

func (f *feed) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *feed) advance(taken int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.taken = taken
	f.room.Broadcast()
}

// run plays until take returns false, all games are played or the context ends. In the last case take has been given all games that were
// finished up to the first one that was not. The error is that of a player or of a state file.
func (s *schedule) run(ctx context.Context) error {
	f := &feed{end: s.games * int64(len(s.entrants)), workers: int64(s.workers)}
	f.room.L = &f.mu
	if s.workers <= 0 {
		f.workers = int64(runtime.GOMAXPROCS(0))
	}
	f.workers = max(1, min(f.workers, f.end))
	if ctx.Err() != nil { // AfterFunc would let some games begin
		return nil
	}
	defer context.AfterFunc(ctx, func() { f.close(nil) })()
	batches := make(chan batch, f.workers)
	var wg sync.WaitGroup
	for range f.workers {
		wg.Go(func() { s.work(f, batches) })
	}
	go func() {
		wg.Wait()
		close(batches)
	}()
	s.merge(f, batches)
	return f.failure()
}

// work plays batches until there is nothing to claim.
func (s *schedule) work(f *feed, batches chan<- batch) {
	tables := make([]*table, len(s.entrants))
	for i, e := range s.entrants {
		var err error
		if tables[i], err = newTable(s.match, e.strategy, &f.stopped); err != nil {
			f.close(err)
			return
		}
	}
	for size := int64(1); ; {
		first, n, ok := f.claim(size)
		if !ok {
			return
		}
		start := time.Now()
		b, err := s.play(tables, first, n)
		batches <- b
		if err != nil {
			if !errors.Is(err, errStopped) {
				f.close(err)
			}
			return
		}
		switch d := time.Since(start); {
		case d < quickBatch:
			size = min(2*size, maxBatch)
		case d > slowBatch:
			size = max(1, size/2)
		}
	}
}

// play plays a batch and keeps it. When it is stopped the games finished before are kept and returned.
func (s *schedule) play(tables []*table, first, n int64) (batch, error) {
	b := batch{first: first, games: make([]Played, 0, n)}
	fresh := make([][]Game, len(s.entrants))
	var err error
	for q := first; q < first+n && err == nil; q++ {
		index, who := q/int64(len(s.entrants)), int(q%int64(len(s.entrants)))
		known, ok := s.entrants[who].state.known(index)
		if ok && !s.record {
			b.games = append(b.games, Played{Game: known})
			continue
		}
		var p Played
		if p, err = s.one(tables[who], index); err != nil {
			break
		}
		b.games = append(b.games, p)
		switch {
		case !ok:
			fresh[who] = append(fresh[who], p.Game)
		case !p.same(known):
			err = fmt.Errorf("game %d of %s: played again it differs from the state, which another version must have written", index, tables[who].spec)
		}
	}
	for who, games := range fresh {
		if kept := s.entrants[who].state.append(games); kept != nil {
			return b, kept
		}
	}
	return b, err
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

// merge puts the batches into order. It returns when all workers have ended.
func (s *schedule) merge(f *feed, batches <-chan batch) {
	early := make(map[int64]batch) // by first job
	next, more := int64(0), true
	for b := range batches {
		if !more {
			continue
		}
		early[b.first] = b
		for b, ok := early[next]; ok && more; b, ok = early[next] {
			delete(early, next)
			more = s.deliver(b, f)
			next += int64(len(b.games))
		}
		f.advance(next)
		if s.tick != nil {
			s.tick()
		}
	}
}

// deliver gives a batch to take and reports whether more is wanted.
func (s *schedule) deliver(b batch, f *feed) (more bool) {
	for i := range b.games {
		who := int((b.first + int64(i)) % int64(len(s.entrants)))
		if !s.take(who, &b.games[i]) {
			f.close(nil)
			return false
		}
	}
	return true
}
