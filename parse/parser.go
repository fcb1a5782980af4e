package parse

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"tilecheck/internal/progress"
	"tilecheck/result"
)

// Options bound what a parser keeps. The zero value is a default for each.
type Options struct {
	// MaxLine is how many bytes of a line are looked at; 0 means 1 MiB. A result on a longer line is refused.
	MaxLine int
	// MaxKept is about how many bytes of text the log may hold; 0 means 64 MiB.
	// What comes after is not recorded, and Log.Err says so.
	MaxKept int
	// Progress, when not nil, is told how far the run is, from within Write. How
	// often depends on how the output was cut.
	Progress func(progress.Progress)
}

// End is how the process ended, as far as its owner knows. The zero value is
// that nothing is known.
type End struct {
	// Known says that the process ended by itself with Code, or, when a signal
	// ended it, with 128 and its number as shells and containers have it, or with
	// a negative Code when the number is not known.
	Known bool
	Code  int
	// Stopped is why the owner ended the process, if it did: result.Timeout,
	// result.Interrupted, result.Memory for a container's limit.
	Stopped result.Class
}

// Parser reads the output of one run. Standard output is written to the parser
// and standard error to [Parser.Stderr]; two goroutines may do that at the same
// time.
type Parser struct {
	out, err lines
	tool     machine
	rec      *recorder
}

// machine understands the lines of one tool.
type machine interface {
	// line is called for every line of standard output without its end; cut
	// says that its tail was dropped.
	line(s string, cut bool)
	// unfinished is shown the line under way, for progress only.
	unfinished(b []byte)
	// finish is called once, with the last line if that never ended.
	finish(end End, tail string, stderr *stderrFacts)
}

// NewPRISM returns a parser of PRISM's output.
func NewPRISM(opts Options) *Parser {
	rec := newRecorder(PRISM, opts)
	return newParser(rec, &prismMachine{recorder: rec, last: -1})
}

// NewStorm returns a parser of Storm's output.
func NewStorm(opts Options) *Parser {
	rec := newRecorder(Storm, opts)
	return newParser(rec, &stormMachine{recorder: rec})
}

func newParser(rec *recorder, m machine) *Parser {
	limit := rec.opts.MaxLine
	return &Parser{out: lines{max: limit}, err: lines{max: limit}, tool: m, rec: rec}
}

// Write reads standard output. It never fails.
func (p *Parser) Write(b []byte) (int, error) {
	p.out.write(b, func(line []byte, cut bool) {
		if p.rec.full {
			return
		}
		p.tool.line(clean(line), cut)
	})
	if p.rec.opts.Progress != nil && len(p.out.pending) > 0 {
		p.tool.unfinished(p.out.pending)
	}
	return len(b), nil
}

// Stderr returns what standard error is written to.
func (p *Parser) Stderr() io.Writer { return (*stderr)(p) }

// Finish returns the record. Nothing may be written after it.
func (p *Parser) Finish(end End) *Log {
	tail := bytes.TrimSuffix(p.out.pending, []byte{'\r'})
	facts := &p.rec.stderr
	facts.line(clean(p.err.pending))
	p.tool.finish(end, clean(tail), facts)
	p.rec.close()
	return &p.rec.log
}

type stderr Parser

func (s *stderr) Write(b []byte) (int, error) {
	s.err.write(b, func(line []byte, _ bool) { s.rec.stderr.line(clean(line)) })
	return len(b), nil
}

// Limits of what one property, build or failure may hold.
const (
	maxWarnings   = 64
	maxIterations = 64
	maxText       = 8 << 10  // of a warning or message
	recordCost    = 1 << 10  // of a property or build beside its text
	maxDigits     = 1 << 17  // of an exact number
	maxAbsent     = 1 << 22  // valuations times listed properties
	defaultLine   = 1 << 20  // Options.MaxLine
	defaultKept   = 64 << 20 // Options.MaxKept
)

// recorder is what the two machines share: the log and its limits.
type recorder struct {
	log    Log
	opts   Options
	stderr stderrFacts
	// open is the index of the property that has neither result nor error yet, -1 if there is none.
	open int
	kept int
	full bool
	said progress.Progress
}

func newRecorder(tool Tool, opts Options) *recorder {
	if opts.MaxLine <= 0 {
		opts.MaxLine = defaultLine
	}
	if opts.MaxKept <= 0 {
		opts.MaxKept = defaultKept
	}
	return &recorder{log: Log{Tool: tool}, opts: opts, open: -1}
}

// spend accounts for what is about to be recorded. Once the limit is passed
// the rest of the output is not looked at.
func (r *recorder) spend(n int) bool {
	r.kept += n
	if r.kept > r.opts.MaxKept {
		r.full = true
	}
	return !r.full
}

// begin records a property and makes it the open one.
func (r *recorder) begin(p Property) {
	if !r.spend(recordCost + len(p.Text) + len(p.Name)) {
		r.open = -1
		return
	}
	r.log.Properties = append(r.log.Properties, p)
	r.open = len(r.log.Properties) - 1
	r.progress(progress.Progress{Property: p.Text, Unit: progress.States})
}

// current returns the open property, nil if there is none.
func (r *recorder) current() *Property {
	if r.open < 0 {
		return nil
	}
	return &r.log.Properties[r.open]
}

// build returns the last state space, nil if there is none.
func (r *recorder) build() *Build {
	if len(r.log.Builds) == 0 {
		return nil
	}
	return &r.log.Builds[len(r.log.Builds)-1]
}

// warn adds a warning to a list that is kept short and without repetitions.
func (r *recorder) warn(list *[]string, text string) {
	text = clip(text, maxText)
	switch {
	case slices.Contains(*list, text) || len(*list) > maxWarnings || !r.spend(len(text)):
	case len(*list) == maxWarnings:
		*list = append(*list, "more warnings than are kept")
	default:
		*list = append(*list, text)
	}
}

func (r *recorder) iterated(method string, count int64) {
	p := r.current()
	if p != nil && len(p.Iterations) < maxIterations && r.spend(len(method)) {
		p.Iterations = append(p.Iterations, Iteration{clip(method, maxText), count})
	}
}

func (r *recorder) progress(p progress.Progress) {
	if r.opts.Progress == nil || p == r.said {
		return
	}
	r.said = p
	r.opts.Progress(p)
}

// place is progress at the property under way.
func (r *recorder) place(unit progress.Unit, done, target int64) {
	p := progress.Progress{Unit: unit, Done: done, Target: target}
	if c := r.current(); c != nil {
		p.Property = c.Text
	}
	r.progress(p)
}

// close leaves no property without either a value or a failure.
func (r *recorder) close() {
	if r.full {
		r.log.Err = &result.Failure{Class: result.Other, Message: fmt.Sprintf("the output names more than is kept (%d bytes): the rest was not read", r.opts.MaxKept)}
	}
	for i := range r.log.Properties {
		p := &r.log.Properties[i]
		if p.Err == nil && p.Value.Kind == result.NoValue {
			p.Err = r.log.Err
		}
		if p.Err == nil && p.Value.Kind == result.NoValue {
			p.Err = &result.Failure{Class: result.Other, Message: "no result was printed"}
		}
	}
}
