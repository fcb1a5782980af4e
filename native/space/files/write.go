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

// DefaultPrecision is the number of significant digits that PRISM writes. The last one or two bits
// of a float64 may be lost.
const DefaultPrecision = 16

// MaxPrecision is the number of digits with which every float64 is read back unchanged.
const MaxPrecision = 17

// Format is a variant of PRISM's files.
type Format int

const (
	// Plain is PRISM's explicit format, the only one that is read again.
	Plain Format = iota
	// Rows writes the transitions of a state, or in an MDP of a choice, on one line, such as
	// 0.5:1 0.5:2. It affects .tra and .trew files, which then have no comments and, in a
	// Markov chain, no actions.
	Rows
	// Matlab writes MATLAB code for sparse matrices, with indices from 1 and without comments
	// and actions.
	Matlab
)

// Options configures a Writer. The zero value writes what PRISM's explicit engine writes.
type Options struct {
	// Program defines the labels to write and the names of the reward structures; nil means
	// the program of the space. A program from sema.Properties.Instantiate also has the
	// labels of a properties file.
	Program *sema.Program
	// Precision is the number of significant digits of a float64, from 1 to MaxPrecision;
	// 0 means DefaultPrecision. Fractions are never rounded.
	Precision int
	// NoHeaders omits the comments at the top of PRISM's files.
	NoHeaders bool
	// NoValuations omits the values of the variables from DOT, DRN and UMB.
	NoValuations bool
	// NoActions omits the actions.
	NoActions bool
	// Format is the variant of PRISM's files; DOT and DRN have no variants.
	Format Format
	// Symbolic writes PRISM's files as PRISM's symbolic engines do: actions in reverse order,
	// transitions of a Markov chain sorted by action before target, numbers as C prints them.
	// It also repeats their mistakes: in MATLAB code the second of two transitions with the
	// same target replaces the first, and the comment of a .sta file is not a MATLAB comment.
	// Without Symbolic, transitions that differ only in an action are merged where no action
	// is written: their weights are added, and their reward is the mean. Equal choices of a
	// state are written once in both cases, although the symbolic engines keep them.
	Symbolic bool
	// Fractions writes an interval model to UMB with fractions. PRISM reads floating-point
	// numbers only.
	Fractions bool
	// Raw writes UMB files without compression. Version is the version of tilecheck in them.
	Raw     bool
	Version string
	// Zeros writes transition rewards of 0 that a reader needs in order to assign the other
	// rewards to transitions with the same target. PRISM omits them and cannot read its own
	// files back.
	Zeros bool
}

// Writer writes one state space. It is not safe for concurrent use.
type Writer struct {
	space   *explicit.Space
	model   *sparse.Model
	program *sema.Program
	opts    Options
	order   []uint32 // order[k] is the state that is written as k
	row     []int    // scratch
	numbers []uint32 // the inverse of order
}

// NewWriter returns a writer for DTMCs, MDPs, CTMCs, LTSs, POMDPs, SMGs, and interval DTMCs and MDPs.
// Other types are a *compile.UnsupportedError. LTSs, POMDPs, SMGs and interval models are written as
// PRISM's explicit engine does, because its other engines do not support them.
func NewWriter(s *explicit.Space, opts Options) (*Writer, error) {
	p := cmp.Or(opts.Program, s.Program())
	switch p.Type {
	case syntax.DTMC, syntax.MDP, syntax.CTMC:
	case syntax.LTS, syntax.IDTMC, syntax.IMDP, syntax.POMDP, syntax.SMG:
		opts.Symbolic = false
		if opts.Format != Plain {
			return nil, &compile.UnsupportedError{File: p.File, Msg: fmt.Sprintf("%ss are exported in PRISM's explicit format only", p.Type)}
		}
	default:
		return nil, &compile.UnsupportedError{File: p.File, Msg: fmt.Sprintf("found a model of type %s, only DTMCs, MDPs, CTMCs, LTSs, IDTMCs, IMDPs, POMDPs and SMGs can be exported", p.Type)}
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

// printer writes the text of one file. The first error ends it.
type printer struct {
	*Writer
	seen *explicit.Observations // of a POMDP, for the .tra and .obs files
	// players says that states are written with their player, as in the .tra file of a game.
	players bool
	ctx     context.Context
	out     *bufio.Writer
	line    []byte
}

// print calls body with a printer and flushes the output.
func (w *Writer) print(ctx context.Context, out io.Writer, body func(*printer) error) error {
	p := &printer{Writer: w, ctx: ctx, out: bufio.NewWriterSize(out, 1<<16)}
	if err := body(p); err != nil {
		return err
	}
	return p.out.Flush()
}

// states calls visit for every state i, with its number k in the file, in order.
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

// end writes the line. Flush returns the error, if any.
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
	return appendFloat(dst, w.opts.Precision, n.f)
}

func (w *Writer) weightOf(t int) number {
	if w.model.Exact() {
		return number{r: w.model.Rat(t)}
	}
	return number{f: w.model.Prob(t)}
}

// requirePlainWeights returns an error for intervals, observations and players, which the format does not
// have.
func (w *Writer) requirePlainWeights(format string) error {
	if w.model.Intervals() || w.program.Type == syntax.POMDP || w.program.Type == syntax.SMG {
		return &compile.UnsupportedError{File: w.program.File, Msg: fmt.Sprintf("found a model of type %s, which is not written as %s, want .tra or .pexp", w.program.Type, format)}
	}
	return nil
}

// action returns the action of a choice of an MDP, or of a transition of a Markov chain; "" if
// there is none or actions are not written.
func (w *Writer) action(i int) string {
	if w.opts.NoActions || w.model.Actions == nil || w.model.Actions[i] == sparse.NoAction {
		return ""
	}
	return w.space.Program().Actions[w.model.Actions[i]-1]
}

func (w *Writer) nondeterministic() bool { return w.model.Kind == sparse.MDP }

// probabilistic reports whether transitions have weights.
func (w *Writer) probabilistic() bool { return w.program.Type != syntax.LTS }

// rewardOf returns entry i of a reward whose slices may be nil.
func rewardOf(values []float64, rats []*big.Rat, i int) number {
	switch {
	case rats != nil && rats[i] != nil:
		return number{r: rats[i]}
	case values != nil:
		return number{f: values[i]}
	}
	return number{}
}
