package parse

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"tilecheck/internal/progress"
	"tilecheck/result"
)

// Options limit what a parser keeps. Zero fields mean the defaults.
type Options struct {
	// MaxLine is the number of bytes of a line that are read; 0 means 1 MiB. A result on a longer line is refused.
	MaxLine int
	// MaxKept is the approximate number of bytes that the log may hold; 0 means 64 MiB.
	// Later output is not recorded, and Log.Err says so.
	MaxKept int
	// Progress, if not nil, is called from within Write with the progress of the run. How
	// often depends on the sizes of the writes.
	Progress func(progress.Progress)
}

// End says how the process ended. The zero value means that nothing is known.
type End struct {
	// Known says that the process ended by itself, and Code is known. If a signal
	// ended it, Code is 128 plus the signal's number, as in shells and containers, or
	// negative if the number is unknown.
	Known bool
	Code  int
	// Stopped is the reason if the caller stopped the process: result.Timeout,
	// result.Interrupted, result.Memory for a container's limit.
	Stopped result.Class
}

// Parser reads the output of one run. Write standard output to the parser and standard error to [Parser.Stderr]; two
// goroutines may do that concurrently.
type Parser struct {
	out, err lines
	tool     lineParser
	rec      *recorder
}

// lineParser parses the lines of one tool.
type lineParser interface {
	// line is called for every line of standard output, without end-of-line characters; isCut
	// says that the end of the line was dropped.
	line(text string, isCut bool)
	// unfinished is called with an incomplete line, for progress only.
	unfinished(b []byte)
	// finish is called once; tail is the last line if it is incomplete.
	finish(end End, tail string, stderr *stderrFacts)
}

// NewPRISM returns a parser of the output of PRISM or PRISM-games. The banner of the output determines which of them it is.
func NewPRISM(opts Options) *Parser {
	recorder := newRecorder(PRISM, opts)
	return newParser(recorder, &prismParser{recorder: recorder, last: -1})
}

// NewStorm returns a parser of Storm's output.
func NewStorm(opts Options) *Parser {
	recorder := newRecorder(Storm, opts)
	return newParser(recorder, &stormParser{recorder: recorder})
}

// newParser returns a parser that passes lines to lineParser and records the log with recorder.
func newParser(recorder *recorder, lineParser lineParser) *Parser {
	limit := recorder.opts.MaxLine
	return &Parser{out: lines{max: limit}, err: lines{max: limit}, tool: lineParser, rec: recorder}
}

// Write reads standard output. It never returns an error.
func (p *Parser) Write(data []byte) (int, error) {
	p.out.write(data, func(line []byte, isCut bool) {
		if p.rec.full {
			return
		}
		p.tool.line(clean(line), isCut)
	})
	if p.rec.opts.Progress != nil && len(p.out.pending) > 0 {
		p.tool.unfinished(p.out.pending)
	}
	return len(data), nil
}

// Stderr returns the writer for standard error.
func (p *Parser) Stderr() io.Writer { return (*stderr)(p) }

// Finish returns the log. Nothing may be written after it.
func (p *Parser) Finish(end End) *Log {
	tail := bytes.TrimSuffix(p.out.pending, []byte{'\r'})
	facts := &p.rec.stderr
	facts.line(clean(p.err.pending))
	p.tool.finish(end, clean(tail), facts)
	p.rec.close()
	return &p.rec.log
}

type stderr Parser

func (s *stderr) Write(data []byte) (int, error) {
	s.err.write(data, func(line []byte, _ bool) { s.rec.stderr.line(clean(line)) })
	return len(data), nil
}

// Limits for one property, build or failure.
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

// recorder is the common part of the two line parsers: the log and its limits.
type recorder struct {
	log    Log
	opts   Options
	stderr stderrFacts
	// open is the index of the property that has neither result nor error yet, -1 if there is none.
	open         int
	kept         int
	full         bool
	lastProgress progress.Progress
}

// newRecorder returns a recorder for the log of a tool. It replaces zero options by the defaults.
func newRecorder(tool Tool, opts Options) *recorder {
	if opts.MaxLine <= 0 {
		opts.MaxLine = defaultLine
	}
	if opts.MaxKept <= 0 {
		opts.MaxKept = defaultKept
	}
	return &recorder{log: Log{Tool: tool}, opts: opts, open: -1}
}

// reserve counts the bytes of something that is to be recorded. It returns false if the log exceeds its limit: then nothing more is recorded.
func (r *recorder) reserve(size int) bool {
	r.kept += size
	if r.kept > r.opts.MaxKept {
		r.full = true
	}
	return !r.full
}

// beginProperty records a property and makes it the current one. If the log exceeds its limit, there is no current property.
func (r *recorder) beginProperty(property Property) {
	if !r.reserve(recordCost + len(property.Text) + len(property.Name)) {
		r.open = -1
		return
	}
	r.log.Properties = append(r.log.Properties, property)
	r.open = len(r.log.Properties) - 1
	r.sendProgress(progress.Progress{Property: property.Text, Unit: progress.States})
}

// current returns the property without a result so far; nil if there is none.
func (r *recorder) current() *Property {
	if r.open < 0 {
		return nil
	}
	return &r.log.Properties[r.open]
}

// lastBuild returns the state space that was built last; nil if there is none.
func (r *recorder) lastBuild() *Build {
	if len(r.log.Builds) == 0 {
		return nil
	}
	return &r.log.Builds[len(r.log.Builds)-1]
}

// warnOnce adds a warning to a list, unless the list has it or is full.
func (r *recorder) warnOnce(list *[]string, text string) {
	text = clip(text, maxText)
	if slices.Contains(*list, text) || len(*list) > maxWarnings || !r.reserve(len(text)) {
		return
	}
	if len(*list) == maxWarnings {
		text = "more warnings than are kept"
	}
	*list = append(*list, text)
}

// recordIteration adds an iterative computation to the current property.
func (r *recorder) recordIteration(method string, count int64) {
	property := r.current()
	if property != nil && len(property.Iterations) < maxIterations && r.reserve(len(method)) {
		property.Iterations = append(property.Iterations, Iteration{clip(method, maxText), count})
	}
}

// sendProgress calls Options.Progress, unless the progress is the same as before.
func (r *recorder) sendProgress(progress progress.Progress) {
	if r.opts.Progress == nil || progress == r.lastProgress {
		return
	}
	r.lastProgress = progress
	r.opts.Progress(progress)
}

// reportProgress reports the progress of the current property, if there is one: done of target units. target is 0 if it is unknown.
func (r *recorder) reportProgress(unit progress.Unit, done, target int64) {
	report := progress.Progress{Unit: unit, Done: done, Target: target}
	if property := r.current(); property != nil {
		report.Property = property.Text
	}
	r.sendProgress(report)
}

// close adds a failure to every property that has neither a value nor a failure.
func (r *recorder) close() {
	if r.full {
		r.log.Err = &result.Failure{Class: result.Other, Message: fmt.Sprintf("the output names more than is kept (%d bytes): the rest was not read", r.opts.MaxKept)}
	}
	for i := range r.log.Properties {
		property := &r.log.Properties[i]
		if property.Err == nil && property.Value.Kind == result.NoValue {
			property.Err = cmp.Or(r.log.Err, &result.Failure{Class: result.Other, Message: "no result was printed"})
		}
	}
}
