package files

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math/big"
	"strconv"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// DefaultPrecision is the number of significant digits that PRISM writes.
// With it the last bit or two of a double may change on the way back.
const DefaultPrecision = 16

// MaxPrecision is the number of digits with which every double is read back as
// it was.
const MaxPrecision = 17

// Format is how PRISM's files are written.
type Format int

const (
	// Plain is PRISM's explicit format, the only one that is read again.
	Plain Format = iota
	// Rows has the transitions of a state, in an MDP of a choice, on one line,
	// as 0.5:1 0.5:2. It changes .tra and .trew files and leaves out their
	// comments and, in a Markov chain, their actions.
	Rows
	// Matlab is MATLAB code that makes sparse matrices, with indices from 1. It
	// leaves out the comments and the actions.
	Matlab
)

// Options changes what a Writer writes. The zero value is the default of PRISM's
// explicit engine.
type Options struct {
	// Program has the labels to write, and the names of the reward structures; nil means those of the space. One that
	// sema.Properties.Instantiate returned has the labels of a properties file, too.
	Program *sema.Program
	// Precision is the number of significant digits of doubles, 1 to
	// MaxPrecision; 0 means DefaultPrecision. Fractions are always written whole.
	Precision int
	// NoHeaders leaves out the comments at the top of PRISM's files.
	NoHeaders bool
	// NoValuations leaves the values of the variables out of DOT, DRN and UMB.
	NoValuations bool
	// NoActions leaves out the actions.
	NoActions bool
	// Format is the format of PRISM's files; DOT and DRN have none.
	Format Format
	// Symbolic writes PRISM's files as PRISM's symbolic engines do, from which
	// Rows and Matlab come: actions in the reverse of their order, those of a
	// Markov chain before targets, numbers as C writes them, and mistakes, too. A
	// reader of MATLAB code that has two transitions with one target takes the
	// second for both, and a comment of a .sta file is none in MATLAB. Without it,
	// transitions that only an action tells apart are one where no action is
	// written: their weights are added up, and their reward is the mean. Equal
	// choices of a state are one with and without it; the symbolic engines have both.
	Symbolic bool
	// Fractions writes those of a model with intervals, which always has them, to UMB:
	// PRISM reads doubles only.
	Fractions bool
	// Raw leaves UMB files uncompressed, and Version is what they say of who wrote them.
	Raw     bool
	Version string
	// Zeros writes transition rewards of 0 where without them nobody could tell
	// which of several transitions, with one target and different actions and
	// weights, earn the others. PRISM leaves them out, and cannot read its files back.
	Zeros bool
}

// Writer writes one state space. It is not safe for concurrent use.
type Writer struct {
	space   *explicit.Space
	model   *sparse.Model
	program *sema.Program
	opts    Options
	order   []uint32 // state by the number it is written with
	row     []int    // scratch
	numbers []uint32 // the inverse of order
}

// NewWriter returns a writer of DTMCs, MDPs, CTMCs, LTSs, POMDPs, and DTMCs and MDPs with
// intervals; other types of models are refused with a *compile.UnsupportedError. LTSs,
// which have no probabilities, observations and intervals are written as PRISM's
// explicit engine does, which is the only one that has them.
func NewWriter(s *explicit.Space, opts Options) (*Writer, error) {
	p := cmp.Or(opts.Program, s.Program())
	switch p.Type {
	case syntax.DTMC, syntax.MDP, syntax.CTMC:
	case syntax.LTS, syntax.IDTMC, syntax.IMDP, syntax.POMDP:
		opts.Symbolic = false
		if opts.Format != Plain {
			return nil, &compile.UnsupportedError{File: p.File, Msg: fmt.Sprintf("%ss are exported in PRISM's explicit format only", p.Type)}
		}
	default:
		return nil, &compile.UnsupportedError{File: p.File, Msg: fmt.Sprintf("found a model of type %s, only DTMCs, MDPs, CTMCs, LTSs, IDTMCs, IMDPs and POMDPs can be exported", p.Type)}
	}
	opts.Precision = cmp.Or(opts.Precision, DefaultPrecision)
	if opts.Precision < 1 || opts.Precision > MaxPrecision {
		return nil, fmt.Errorf("precision %d, want 1 to %d significant digits", opts.Precision, MaxPrecision)
	}
	w := &Writer{space: s, model: s.Model(), program: p, opts: opts, order: s.Order()}
	w.numbers = make([]uint32, len(w.order))
	for k, i := range w.order {
		w.numbers[i] = uint32(k)
	}
	return w, nil
}

// printer collects the text of one file. The first error ends everything.
type printer struct {
	*Writer
	seen *explicit.Observations // of a partially observable model, in its transitions
	ctx  context.Context
	out  *bufio.Writer
	line []byte
}

// print runs a function that prints, and flushes.
func (w *Writer) print(ctx context.Context, out io.Writer, body func(*printer) error) error {
	p := &printer{Writer: w, ctx: ctx, out: bufio.NewWriterSize(out, 1<<16)}
	if err := body(p); err != nil {
		return err
	}
	return p.out.Flush()
}

// states calls a function for every state, in the order of the file.
func (p *printer) states(visit func(k, i int) error) error {
	for k, i := range p.order {
		if k&0xfff == 0 {
			if err := p.ctx.Err(); err != nil {
				return err
			}
		}
		if err := visit(k, int(i)); err != nil {
			return err
		}
	}
	return nil
}

func (p *printer) header(text string) {
	if !p.opts.NoHeaders {
		p.text("# " + text)
		p.end()
	}
}

func (p *printer) text(s string) { p.line = append(p.line, s...) }
func (p *printer) int(i int)     { p.line = strconv.AppendInt(p.line, int64(i), 10) }
func (p *printer) num(n number)  { p.line = p.appendNumber(p.line, n) }
func (p *printer) target(t int)  { p.int(int(p.numbers[p.model.Target[t]])) }

// spaced writes a space and a number.
func (p *printer) spaced(i int) {
	p.text(" ")
	p.int(i)
}

// end writes the line. An error of the writer comes back from Flush.
func (p *printer) end() {
	p.line = append(p.line, '\n')
	_, _ = p.out.Write(p.line)
	p.line = p.line[:0]
}

func (w *Writer) appendNumber(dst []byte, n number) []byte {
	switch {
	case n.r != nil && !w.space.Rounded():
		return append(dst, n.r.RatString()...)
	case n.r != nil:
		n.f, _ = n.r.Float64()
	}
	if w.opts.Symbolic {
		return strconv.AppendFloat(dst, n.f, 'g', w.opts.Precision, 64)
	}
	return appendDouble(dst, w.opts.Precision, n.f)
}

func (w *Writer) weightOf(t int) number {
	if w.model.Exact() {
		return number{r: w.model.Rat(t)}
	}
	return number{f: w.model.Prob(t)}
}

// onlyNumbers refuses intervals and observations in formats that have none.
func (w *Writer) onlyNumbers(format string) error {
	if w.model.Intervals() || w.program.Type == syntax.POMDP {
		return &compile.UnsupportedError{File: w.program.File, Msg: fmt.Sprintf("found a model of type %s, which is not written as %s, want .tra or .pexp", w.program.Type, format)}
	}
	return nil
}

// action returns the name of the action of a choice of an MDP or of a
// transition of a Markov chain, and "" if it has none or none is written.
func (w *Writer) action(i int) string {
	if w.opts.NoActions || w.model.Actions == nil || w.model.Actions[i] == sparse.NoAction {
		return ""
	}
	return w.space.Program().Actions[w.model.Actions[i]-1]
}

func (w *Writer) nondeterministic() bool { return w.model.Kind == sparse.MDP }

// probabilistic reports whether transitions have weights.
func (w *Writer) probabilistic() bool { return w.program.Type != syntax.LTS }

// rewardOf returns entry i of a reward that may be nil.
func rewardOf(values []float64, rats []*big.Rat, i int) number {
	switch {
	case rats != nil && rats[i] != nil:
		return number{r: rats[i]}
	case values != nil:
		return number{f: values[i]}
	}
	return number{}
}
