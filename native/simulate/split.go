package simulate

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"tilecheck/internal/shard"
	"tilecheck/prism/compile"
	"tilecheck/result"
	"tilecheck/stats"
)

// smallestBlock is the least number of samples that a part draws if the samples decide when to stop.
const smallestBlock = 1000

// stream returns the samples as parts share them. If their number is not known, a part of the first round draws a block: its share of half
// of what a probability takes at most.
func (c *check) stream() shard.Stream {
	if n, fixed := c.plan.Samples(); fixed {
		return shard.Stream{Name: c.opt.Stream, End: n}
	}
	of := int64(c.opt.Split.Part().Of)
	return shard.Stream{Name: c.opt.Stream, End: math.MaxInt64, Block: max(smallestBlock, c.plan.Likely()/(2*of))}
}

// summed reports whether a part records only the sum of its samples. It records each sample if any of them may be the last
// one, or if rewards are added, because sums of float64 numbers depend on the order.
func (c *check) summed() bool {
	_, fixed := c.plan.Samples()
	return fixed && !c.obj.Reward
}

// record draws and records the samples of one part.
func (c *check) record(ctx context.Context, s *sampler) error {
	return c.opt.Split.Do(ctx, c.stream(), func(piece *shard.Piece) (err error) {
		s.first, s.end = piece.First, piece.End
		data := func() ([]byte, error) { return json.Marshal(c.summary()) }
		if !c.summed() {
			log := newLog(c.obj.Reward)
			data = log.bytes
			counted := s.take
			s.take = func(o *compile.Outcome) bool {
				log.add(o)
				counted(o)
				return c.failed == nil
			}
		}
		if err := s.run(ctx); err != nil {
			return err
		}
		if n := c.stats().Count(); n > 0 {
			mean := c.stats().Mean()
			if !math.IsInf(mean, 0) && !math.IsNaN(mean) {
				piece.Mean = &mean
			}
		}
		piece.Data, err = data()
		return err
	})
}

// replay counts the samples of a piece, and reports whether more are wanted.
func (c *check) replay(p *shard.Piece) (more bool, err error) {
	if c.summed() {
		var sum summary
		err := p.Decode(&sum)
		if err == nil {
			err = sum.check(p.End - p.First)
		}
		if err != nil {
			return false, err
		}
		return c.add(&sum), nil
	}
	data, err := p.Load()
	if err != nil {
		return false, err
	}
	return readLog(data, p.End-p.First, c.obj.Reward, c.count)
}

// summary is the sum of samples, and the outcome that ended them, if there is one.
type summary struct {
	Samples   int64
	Successes int64
	Steps     int64
	MinSteps  int64
	MaxSteps  int64
	Nondet    int64
	Overlap   int64
	Failed    *pathEnd `json:",omitempty"`
}

// pathEnd is an outcome of a path without a value. The rewards and times of such a path are not used.
type pathEnd struct {
	Status  compile.Status
	Steps   int64
	Nondet  int64
	Overlap int64
	Err     *compile.StateError `json:",omitempty"`
}

func endOf(o *compile.Outcome) *pathEnd {
	return &pathEnd{o.Status, o.Steps, o.Nondet, o.Overlap, o.Err}
}

func (e *pathEnd) outcome() (*compile.Outcome, error) {
	o := &compile.Outcome{Status: e.Status, Steps: e.Steps, Nondet: e.Nondet, Overlap: e.Overlap, Err: e.Err}
	needs := o.Status == compile.Failed || o.Status == compile.Deadlocked
	if o.Status == compile.True || o.Status == compile.False || o.Status > compile.Failed || o.Steps < 0 || needs != (o.Err != nil) {
		return nil, fmt.Errorf("found a path that ended so: %+v", *e)
	}
	return o, nil
}

func (c *check) summary() *summary {
	s := &summary{
		Samples: c.truth.N, Successes: c.truth.K, Nondet: c.res.Nondet, Overlap: c.res.Overlap,
		Steps: c.steps.sum, MinSteps: c.steps.min, MaxSteps: c.steps.max,
	}
	if c.failed != nil {
		s.Failed = endOf(c.failed)
	}
	return s
}

func (s *summary) check(jobs int64) error {
	n := s.Samples
	switch {
	case n < 0 || n > jobs || s.Failed == nil && n != jobs || s.Failed != nil && n == jobs,
		s.Successes < 0 || s.Successes > n, s.Nondet < 0 || s.Nondet > n, s.Overlap < 0 || s.Overlap > n,
		s.MinSteps < 0 || s.MinSteps > s.MaxSteps || s.Steps < s.MaxSteps, n == 0 && s.Steps > 0:
		return fmt.Errorf("found what %d samples do not add up to: %+v", jobs, *s)
	}
	if s.Failed == nil {
		return nil
	}
	_, err := s.Failed.outcome()
	return err
}

// add counts the samples of a summary, and reports whether more are wanted.
func (c *check) add(s *summary) bool {
	c.truth.Merge(stats.Bernoulli{N: s.Samples, K: s.Successes})
	c.steps.merge(stepCount{s.Samples, s.Steps, s.MinSteps, s.MaxSteps})
	c.res.Nondet += s.Nondet
	c.res.Overlap += s.Overlap
	if s.Failed != nil {
		c.failed, _ = s.Failed.outcome() // checked
	}
	return c.failed == nil
}

// merge adds the lengths of other paths.
func (s *stepCount) merge(o stepCount) {
	switch {
	case o.n == 0:
	case s.n == 0:
		*s = o
	default:
		*s = stepCount{s.n + o.n, s.sum + o.sum, min(s.min, o.min), max(s.max, o.max)}
	}
}

// The first byte of a sample in a log.
const (
	isTrue = 1 << iota
	metChoice
	metOverlap
	isEnd // a pathEnd as JSON follows, and nothing behind it
	logBits
)

// sampleLog has samples one by one: a byte, the number of steps, and the reward.
type sampleLog struct {
	reward bool
	buf    bytes.Buffer
	zip    *flate.Writer
	line   []byte
	err    error
}

func newLog(reward bool) *sampleLog {
	l := &sampleLog{reward: reward}
	l.zip, l.err = flate.NewWriter(&l.buf, flate.BestSpeed)
	return l
}

func (l *sampleLog) add(o *compile.Outcome) {
	b := byte(0)
	if o.Status == compile.True {
		b |= isTrue
	}
	if o.Nondet > 0 {
		b |= metChoice
	}
	if o.Overlap > 0 {
		b |= metOverlap
	}
	l.line = l.line[:0]
	if o.Status != compile.True && o.Status != compile.False {
		text, err := json.Marshal(endOf(o))
		l.err = errors.Join(l.err, err)
		l.line = append(append(l.line, isEnd), text...)
	} else {
		l.line = binary.AppendUvarint(append(l.line, b), uint64(o.Steps))
		if l.reward {
			l.line = binary.LittleEndian.AppendUint64(l.line, math.Float64bits(o.Reward))
		}
	}
	if l.err == nil {
		_, l.err = l.zip.Write(l.line)
	}
}

func (l *sampleLog) bytes() ([]byte, error) {
	if l.err == nil {
		l.err = l.zip.Close()
	}
	return l.buf.Bytes(), l.err
}

// readLog gives the samples of a log of so many to take, until that returns false.
func readLog(data []byte, samples int64, reward bool, take func(*compile.Outcome) bool) (more bool, err error) {
	r := bufio.NewReader(flate.NewReader(bytes.NewReader(data)))
	for range samples {
		o, err := readSample(r, reward)
		if err != nil {
			return false, err
		}
		if !take(o) {
			return false, nil
		}
	}
	if _, err := r.ReadByte(); err != io.EOF {
		return false, fmt.Errorf("found more than %d samples", samples)
	}
	return true, nil
}

func readSample(r *bufio.Reader, reward bool) (*compile.Outcome, error) {
	b, err := r.ReadByte()
	if err != nil {
		return nil, fmt.Errorf("the samples end early: %w", err)
	}
	if b == isEnd {
		e := new(pathEnd)
		if err := json.NewDecoder(io.LimitReader(r, 1<<20)).Decode(e); err != nil {
			return nil, err
		}
		return e.outcome()
	}
	steps, err := binary.ReadUvarint(r)
	if err != nil || b >= isEnd || steps > math.MaxInt64 {
		return nil, fmt.Errorf("found a sample that is none: %d, %d steps, %w", b, steps, err)
	}
	o := &compile.Outcome{Status: compile.False, Steps: int64(steps)}
	if b&isTrue != 0 {
		o.Status = compile.True
	}
	if b&metChoice != 0 {
		o.Nondet = 1
	}
	if b&metOverlap != 0 {
		o.Overlap = 1
	}
	if reward {
		var bits [8]byte
		if _, err := io.ReadFull(r, bits[:]); err != nil {
			return nil, fmt.Errorf("the samples end early: %w", err)
		}
		o.Reward = math.Float64frombits(binary.LittleEndian.Uint64(bits[:]))
	}
	return o, nil
}

// lacking is the error of a check whose samples are not all there, given that of its plan.
func (c *check) lacking(err error) error {
	split := c.opt.Split
	if parts := split.Absent(); len(parts) > 0 {
		f := &result.Failure{Class: result.Interrupted, File: c.p.File, Pos: c.p.Pos}
		f.Message = fmt.Sprintf("%s: %d samples are there", shard.Missing(parts), c.res.Samples)
		if n, fixed := c.plan.Samples(); fixed {
			f.Message += fmt.Sprintf(" of %d", n)
		}
		return f
	}
	split.Want(c.stream(), c.plan.Forecast(c.stats()))
	return err
}
