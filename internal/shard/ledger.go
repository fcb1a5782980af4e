package shard

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tilecheck/internal/noun"
)

// Ledger has the results of streams. A process that does one part records them; a merge replays them from the files of all parts. A nil
// ledger belongs to a process that does all the work itself. A Ledger is safe for concurrent use.
type Ledger struct {
	part    Part                // when recording
	files   []*File             // when replaying
	streams map[string][]*Piece // when replaying: the pieces of each stream in the order of their numbers
	// absent has the parts that are missing from a replay.
	absent []Part

	mu         sync.Mutex
	pieces     []*Piece // when recording
	known      map[string]*Piece
	more       int   // total number of parts that a replay needs
	unfinished error // why the part that is recorded is not finished
	failed     error // why the replay failed
	judged     bool  // the part has results of its own
}

// Piece has the results of consecutive jobs of a stream.
type Piece struct {
	Stream     string   // name of the stream, unique in the job
	First, End int64    // the jobs First to End-1
	Data       []byte   // results in the format of the stream's owner
	Mean       *float64 // mean of the jobs' results, nil if it is not meaningful
	Timed      bool     // the data has times, so another run of the same part differs
	file       *File
	at, size   int64
}

// Stream is a stream of numbered jobs that the parts share.
type Stream struct {
	Name string
	// End is the number of jobs, or a limit of it if the results decide when the stream ends.
	End int64
	// Block is the size of the blocks of the first round if the results decide when the stream ends; otherwise it is 0, and a part has a range.
	Block int64
	Timed bool // as Piece.Timed
}

// Record returns a ledger for recording a part.
func Record(p Part) *Ledger { return &Ledger{part: p, known: make(map[string]*Piece)} }

// Recording reports whether this process does and records one part only.
func (l *Ledger) Recording() bool { return l != nil && l.files == nil }

// Replaying reports whether this process replays recorded results and does no jobs.
func (l *Ledger) Replaying() bool { return l != nil && l.files != nil }

// Part returns the part that is recorded, or the first one that is replayed.
func (l *Ledger) Part() Part { return l.part }

// Do does the part's jobs of a stream and records them: do fills the data of their piece. If it fails or the context ends, the part is
// unfinished.
func (l *Ledger) Do(ctx context.Context, s Stream, do func(*Piece) error) error {
	p := &Piece{Stream: s.Name, Timed: s.Timed}
	if p.First, p.End = l.part.Range(s.End); s.Block > 0 {
		p.First, p.End = l.part.Block(s.Block, s.End)
	}
	err := do(p)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		l.Unfinished(err)
		return err
	}
	l.Put(p)
	return nil
}

// PutJSON records a piece whose data is x as JSON, which [Piece.Decode] reads.
func (l *Ledger) PutJSON(p *Piece, x any) (err error) {
	if p.Data, err = json.Marshal(x); err == nil {
		l.Put(p)
	}
	return err
}

// Put records a piece. It ignores another piece of the same stream: two properties with the same text are one stream.
func (l *Ledger) Put(p *Piece) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known[p.Stream] == nil {
		l.known[p.Stream] = p
		l.pieces = append(l.pieces, p)
	}
}

// Judged says that the part has results that need no others: the exit code of the
// command is that of the part.
func (l *Ledger) Judged() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.judged = true
}

// HasResults reports whether Judged was called.
func (l *Ledger) HasResults() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.judged
}

// Unfinished says that something of the part is missing, and why. Then there is no file.
func (l *Ledger) Unfinished(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unfinished == nil {
		l.unfinished = err
	}
}

// Undone returns the error that Unfinished was called with first, nil if it was not.
func (l *Ledger) Undone() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unfinished
}

// Streams returns how many streams were recorded.
func (l *Ledger) Streams() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pieces)
}

// Absent returns the parts that a replay lacks; there are some only if that was allowed.
func (l *Ledger) Absent() []Part { return l.absent }

// Replay calls take with the pieces of a stream in the order of its numbers, until that returns false. The pieces cover all jobs
// without a gap, or a prefix of them if the stream has blocks. Absent parts leave gaps: a stream with blocks ends at the first one, and a
// stream with ranges continues after it. Every other recording is an error. The ledger keeps it, and the errors of take.
func (l *Ledger) Replay(s Stream, take func(*Piece) (more bool, err error)) error {
	pieces, err := l.ordered(s)
	if err != nil {
		return err
	}
	for _, p := range pieces {
		more, err := take(p)
		if err != nil {
			return l.Fail(p, err)
		}
		if !more {
			return nil
		}
	}
	return nil
}

// ordered returns the pieces that Replay gives.
func (l *Ledger) ordered(s Stream) ([]*Piece, error) {
	pieces := l.streams[s.Name]
	at := int64(0)
	for i, p := range pieces {
		if p.First > at && len(l.absent) == 0 || p.First < at || p.End < p.First || p.End > s.End {
			return nil, l.fail(fmt.Errorf("%s: found the numbers %d to %d of %q, want them from %d on and below %d", p.file.Name, p.First, p.End, s.Name, at, s.End))
		}
		if p.First > at && s.Block > 0 {
			return pieces[:i], nil
		}
		at = p.End
	}
	if s.Block == 0 && at != s.End && len(l.absent) == 0 {
		return nil, l.fail(fmt.Errorf("no part has the numbers %d to %d of %q", at, s.End-1, s.Name))
	}
	return pieces, nil
}

// fail notes why a replay is worth nothing.
func (l *Ledger) fail(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed = err
	}
	return err
}

// Fail notes that pieces do not say what they should, and returns the error.
func (l *Ledger) Fail(p *Piece, err error) error {
	return l.fail(fmt.Errorf("%s: %q: %w", p.file.Name, p.Stream, err))
}

// Want says that a stream with blocks has not ended, and about how many of its jobs that takes. At least one more part is wanted.
func (l *Ledger) Want(s Stream, jobs int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of, most := l.part.Count, l.last()
	want := most + 1
	for want < most+2*of { // no more than two rounds on an estimate
		if _, end := (Part{want, of}).Block(s.Block, jobs); end >= jobs {
			break
		}
		want++
	}
	l.more = max(l.more, want)
}

// last is the largest index of the parts of a replay.
func (l *Ledger) last() int {
	return slices.MaxFunc(l.files, func(a, b *File) int { return a.Index - b.Index }).Index
}

// More says that streams in blocks are not done: parts Have+1 to Want of Of are wanted.
type More struct{ Have, Want, Of int }

func (e *More) Error() string {
	if e.Want == e.Have+1 {
		return fmt.Sprintf("not decided by %s: want 1 more, --shard %d/%d", noun.Count(e.Have, "shard"), e.Want, e.Of)
	}
	return fmt.Sprintf("not decided by %s: want %d more, --shard %d/%d to %d/%d", noun.Count(e.Have, "shard"), e.Want-e.Have, e.Have+1, e.Of, e.Want, e.Of)
}

// Err is why a replay is worth nothing: damaged or missing pieces, or a *More.
func (l *Ledger) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil || l.more == 0 {
		return l.failed
	}
	return &More{l.last(), l.more, l.part.Count}
}

// Join puts the files of one job together. Parts that are there twice have to say
// the same. The error names parts that are missing, unless that is allowed, and
// files of other jobs.
func Join(files []*File, allowed bool) (*Ledger, error) {
	if len(files) == 0 {
		return nil, fmt.Errorf("no shards")
	}
	first := files[0]
	l := &Ledger{part: Part{1, first.Count}, streams: make(map[string][]*Piece)}
	by := make(map[int]*File)
	for _, f := range files {
		if err := first.differs(f); err != nil {
			return nil, err
		}
		if other := by[f.Index]; other != nil {
			if other.content != f.content {
				return nil, fmt.Errorf("%s and %s are both shard %v, and differ", other.Name, f.Name, f.Part)
			}
			continue
		}
		by[f.Index] = f
		l.files = append(l.files, f)
	}
	slices.SortFunc(l.files, func(a, b *File) int { return a.Index - b.Index })
	for i := 1; i <= max(first.Count, l.last()); i++ {
		if by[i] == nil {
			l.absent = append(l.absent, Part{i, first.Count})
		}
	}
	if len(l.absent) > 0 && !allowed {
		return nil, fmt.Errorf("%s", Missing(l.absent))
	}
	for _, f := range l.files {
		for _, p := range f.pieces {
			l.streams[p.Stream] = append(l.streams[p.Stream], p)
		}
	}
	return l, nil
}

// Missing says which parts are missing.
func Missing(parts []Part) string {
	var names []string
	for _, p := range parts[:min(len(parts), 8)] {
		names = append(names, p.String())
	}
	if len(parts) > len(names) {
		names = append(names, fmt.Sprintf("and %d more", len(parts)-len(names)))
	}
	if len(parts) == 1 {
		return fmt.Sprintf("shard %s is missing", names[0])
	}
	return fmt.Sprintf("shards %s are missing", strings.Join(names, ", "))
}
