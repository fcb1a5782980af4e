package shard

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
	lacking    bool  // a replay wanted numbers of absent parts
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

// BeyondLast reports whether the index of the recorded part is larger than Count although no stream has jobs for such a part: only
// a stream with blocks has them.
func (l *Ledger) BeyondLast() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	hasJobs := slices.ContainsFunc(l.pieces, func(piece *Piece) bool { return piece.First < piece.End })
	return l.part.Index > l.part.Count && !hasJobs
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
	found := int64(0)
	for _, p := range pieces {
		more, err := take(p)
		if err != nil {
			return l.Fail(p, err)
		}
		if !more {
			return nil
		}
		found += p.End - p.First
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lacking = l.lacking || len(l.absent) > 0 && found < s.End
	return nil
}

// Lacking returns the absent parts if a stream of the replay wanted numbers of them, and nil otherwise.
func (l *Ledger) Lacking() []Part {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.lacking {
		return nil
	}
	return l.absent
}

// ordered returns the pieces of a stream that Replay passes to its callback. It returns an error if pieces overlap or are outside the
// stream, or if there is a gap although no part is absent.
func (l *Ledger) ordered(s Stream) ([]*Piece, error) {
	pieces := l.streams[s.Name]
	mayHaveGaps := len(l.absent) > 0
	next := int64(0) // the first number after the pieces so far
	for i, piece := range pieces {
		isGap := piece.First > next
		isValid := piece.First >= next && piece.End >= piece.First && piece.End <= s.End
		if !isValid || isGap && !mayHaveGaps {
			return nil, l.fail(fmt.Errorf("%s: found the numbers %d to %d of %q, want them from %d on and below %d", piece.file.Name, piece.First, piece.End, s.Name, next, s.End))
		}
		if isGap && s.Block > 0 {
			return pieces[:i], nil
		}
		next = piece.End
	}
	if s.Block == 0 && next != s.End && !mayHaveGaps {
		return nil, l.fail(fmt.Errorf("no part has the numbers %d to %d of %q", next, s.End-1, s.Name))
	}
	return pieces, nil
}

// fail keeps the first error of a replay, which Err returns, and returns its argument.
func (l *Ledger) fail(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed = err
	}
	return err
}

// Fail keeps an error about the content of a piece, which Err returns if it is the first one. Fail returns the error with the names of
// the file and the stream.
func (l *Ledger) Fail(p *Piece, err error) error {
	return l.fail(fmt.Errorf("%s: %q: %w", p.file.Name, p.Stream, err))
}

// Want records that a stream with blocks has not ended, and that it needs about the given number of jobs. Err then returns a *More that
// asks for at least one more part, for at most two more rounds of parts, and for no part after the end of the stream.
func (l *Ledger) Want(s Stream, jobs int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	jobs = min(jobs, s.End)
	last, count := l.lastIndex(), l.part.Count
	wanted := last + 1
	for wanted < last+2*count {
		if _, end := (Part{wanted, count}).Block(s.Block, jobs); end >= jobs {
			break
		}
		wanted++
	}
	l.more = max(l.more, wanted)
}

// lastIndex returns the largest index of the parts of a replay.
func (l *Ledger) lastIndex() int {
	return slices.MaxFunc(l.files, func(a, b *File) int { return a.Index - b.Index }).Index
}

// More is the error that streams with blocks have not ended: they need the parts Have+1 to Want. Of is the number of parts in a round.
type More struct{ Have, Want, Of int }

// Error asks for the parts.
func (e *More) Error() string {
	next := fmt.Sprintf("--shard %d/%d", e.Want, e.Of)
	if e.Want > e.Have+1 {
		next = fmt.Sprintf("--shard %d/%d to %d/%d", e.Have+1, e.Of, e.Want, e.Of)
	}
	more := e.Want - e.Have
	return fmt.Sprintf("not decided by %s: want %d more, run %s (numbers beyond %d are further games), and merge all of them", noun.Count(e.Have, "shard"), more, next, e.Of)
}

// Err returns the reason why the results of a replay cannot be used: damaged or missing pieces, or a *More. It returns nil if they can.
func (l *Ledger) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil || l.more == 0 {
		return l.failed
	}
	return &More{Have: l.lastIndex(), Want: l.more, Of: l.part.Count}
}

// Join returns a ledger that replays the results in the files of one job. It returns an error if files are of different jobs, or if two files
// of the same part differ, or if parts are missing, unless allowMissing is set.
func Join(files []*File, allowMissing bool) (*Ledger, error) {
	if len(files) == 0 {
		return nil, fmt.Errorf("no shards")
	}
	fileOf, err := filesByPart(files)
	if err != nil {
		return nil, err
	}
	count := files[0].Count
	l := &Ledger{part: Part{1, count}, streams: make(map[string][]*Piece)}
	for _, index := range slices.Sorted(maps.Keys(fileOf)) {
		l.files = append(l.files, fileOf[index])
	}
	for index := 1; index <= max(count, l.lastIndex()); index++ {
		if fileOf[index] == nil {
			l.absent = append(l.absent, Part{index, count})
		}
	}
	if len(l.absent) > 0 && !allowMissing {
		return nil, fmt.Errorf("%s; --partial-result prints the result of the others", Missing(l.absent))
	}
	for _, file := range l.files {
		for _, piece := range file.pieces {
			l.streams[piece.Stream] = append(l.streams[piece.Stream], piece)
		}
	}
	return l, nil
}

// filesByPart returns the first file of each part, by the index of the part. It returns an error if files are of different jobs, or if two
// files of the same part differ.
func filesByPart(files []*File) (map[int]*File, error) {
	fileOf := make(map[int]*File)
	for _, file := range files {
		if err := files[0].differs(file); err != nil {
			return nil, err
		}
		other := fileOf[file.Index]
		if other == nil {
			fileOf[file.Index] = file
		} else if other.content != file.content {
			return nil, fmt.Errorf("%s and %s are both shard %v, and differ", other.Name, file.Name, file.Part)
		}
	}
	return fileOf, nil
}

// Missing returns a text that says which parts are missing. It names at most eight of them.
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
