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

// DefaultPrecision is the number of significant digits that PRISM writes. It is one less than a
// float64 needs, so its last one or two bits may be lost.
const DefaultPrecision = 16

// MaxPrecision is the number of digits with which every float64 is read back unchanged.
const MaxPrecision = 17

// Format is a variant of PRISM's files.
type Format int

const (
	// Plain is PRISM's explicit format. Read reads only this format.
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
	// NameOfT keeps the name of the reward structure of Storm's operator T, by which the reader of a certificate recognises it. Other readers get
	// the name of Program.RewardName.
	NameOfT bool
}

// Writer writes one state space. It is not safe for concurrent use.
type Writer struct {
	space        *explicit.Space
	model        *sparse.Model
	program      *sema.Program
	opts         Options
	stateOrder   []uint32 // stateOrder[k] is the state that is written as k
	stateNumbers []uint32 // the inverse of stateOrder
	rowBuffer    []int    // the transitions of the current row, reused
	// exitRates are written with a Markov automaton; nil for other models, and in formats that only express its embedded MDP.
	exitRates *explicit.ExitRates
}

// NewWriter returns a writer for a state space. It can write DTMCs, MDPs, CTMCs, LTSs, POMDPs, SMGs, and interval DTMCs and MDPs. Other
// types are a *compile.UnsupportedError.
func NewWriter(space *explicit.Space, opts Options) (*Writer, error) {
	program := cmp.Or(opts.Program, space.Program())
	switch program.Type {
	case syntax.DTMC, syntax.MDP, syntax.CTMC:
	case syntax.LTS, syntax.IDTMC, syntax.IMDP, syntax.POMDP, syntax.SMG:
		// PRISM's symbolic engines do not support these types.
		opts.Symbolic = false
		if opts.Format != Plain {
			return nil, &compile.UnsupportedError{File: program.File, Msg: fmt.Sprintf("%ss are exported in PRISM's explicit format only", program.Type)}
		}
	default:
		return nil, &compile.UnsupportedError{File: program.File, Msg: fmt.Sprintf("found a model of type %s, only DTMCs, MDPs, CTMCs, LTSs, IDTMCs, IMDPs, POMDPs and SMGs can be exported", program.Type)}
	}
	opts.Precision = cmp.Or(opts.Precision, DefaultPrecision)
	if opts.Precision < 1 || opts.Precision > MaxPrecision {
		return nil, fmt.Errorf("found precision %d, wanted 1 to %d significant digits", opts.Precision, MaxPrecision)
	}
	writer := &Writer{space: space, model: space.Model(), program: program, opts: opts, stateOrder: space.Order()}
	writer.stateNumbers = make([]uint32, len(writer.stateOrder))
	for number, state := range writer.stateOrder {
		writer.stateNumbers[state] = uint32(number)
	}
	return writer, nil
}

// printer writes the text of one file. The first error ends it.
type printer struct {
	*Writer
	observations *explicit.Observations // of a POMDP, for the .tra and .obs files
	// showsPlayers says that states are written with their player, as in the .tra file of a game.
	showsPlayers bool
	ctx          context.Context
	out          *bufio.Writer
	line         []byte
}

// printTo calls body with a printer that writes to out, and flushes the output.
func (writer *Writer) printTo(ctx context.Context, out io.Writer, body func(*printer) error) error {
	p := &printer{Writer: writer, ctx: ctx, out: bufio.NewWriterSize(out, 1<<16)}
	if err := body(p); err != nil {
		return err
	}
	return p.out.Flush()
}

// forEachState calls visit for every state, in the order of the file, with the number of the state in the file and its number in the model.
func (printer *printer) forEachState(visit func(number, state int) error) error {
	for number, state := range printer.stateOrder {
		if number%pollInterval == 0 && printer.ctx.Err() != nil {
			return printer.ctx.Err()
		}
		if err := visit(number, int(state)); err != nil {
			return err
		}
	}
	return nil
}

// writeComment writes a comment line, unless Options.NoHeaders is set.
func (printer *printer) writeComment(text string) {
	if !printer.opts.NoHeaders {
		printer.writeText("# " + text)
		printer.endLine()
	}
}

func (printer *printer) writeText(text string) { printer.line = append(printer.line, text...) }
func (printer *printer) writeInt(value int) {
	printer.line = strconv.AppendInt(printer.line, int64(value), 10)
}

func (printer *printer) writeNumber(value number) {
	printer.line = printer.appendNumber(printer.line, value)
}

func (printer *printer) writeTarget(transition int) {
	printer.writeInt(int(printer.stateNumbers[printer.model.Target[transition]]))
}

// writeSpaceAndInt writes a space and a number.
func (printer *printer) writeSpaceAndInt(value int) {
	printer.writeText(" ")
	printer.writeInt(value)
}

// endLine writes the current line to the output. If that fails, Flush returns the error later.
func (printer *printer) endLine() {
	printer.line = append(printer.line, '\n')
	_, _ = printer.out.Write(printer.line)
	printer.line = printer.line[:0]
}

// appendNumber appends a number to a text. A fraction is written as a fraction unless the model was rounded, and a float64 with the
// precision of the options.
func (writer *Writer) appendNumber(text []byte, value number) []byte {
	if value.fraction != nil && !writer.space.Rounded() {
		return append(text, value.fraction.RatString()...)
	}
	float := value.float
	if value.fraction != nil {
		float, _ = value.fraction.Float64()
	}
	if writer.opts.Symbolic {
		return strconv.AppendFloat(text, float, 'g', writer.opts.Precision, 64)
	}
	return appendFloat(text, writer.opts.Precision, float)
}

// transitionWeight returns the probability or rate of a transition, as a fraction in an exact model.
func (writer *Writer) transitionWeight(transition int) number {
	if writer.model.Exact() {
		return number{fraction: writer.model.Fraction(transition)}
	}
	return number{float: writer.model.Prob(transition)}
}

// unsupportedFormat returns the error that a format cannot express the type of the model. The error names other formats.
func (writer *Writer) unsupportedFormat(format string) error {
	alternatives := ".tra or .pexp"
	if writer.program.Type == syntax.SMG {
		alternatives = ".tra, .pexp or .umb"
	}
	return &compile.UnsupportedError{File: writer.program.File, Msg: fmt.Sprintf("found a model of type %s, which cannot be written as %s, only as %s", writer.program.Type, format, alternatives)}
}

// actionName returns the name of the action of a choice of an MDP, or of a transition of a Markov chain. It
// returns "" if there is no action, or if actions are not written.
func (writer *Writer) actionName(index int) string {
	if writer.opts.NoActions || writer.model.Actions == nil || writer.model.Actions[index] == sparse.NoAction {
		return ""
	}
	return writer.space.Program().Actions[writer.model.Actions[index]-1]
}

// isNondeterministic reports whether states have choices.
func (writer *Writer) isNondeterministic() bool { return writer.model.Kind == sparse.MDP }

// isProbabilistic reports whether transitions have weights.
func (writer *Writer) isProbabilistic() bool { return writer.program.Type != syntax.LTS }

// rewardAt returns the entry with an index in a list of rewards as a number. A list may be nil. A nil fraction stands for zero.
func rewardAt(values []float64, fractions []*big.Rat, index int) number {
	switch {
	case fractions != nil && fractions[index] != nil:
		return number{fraction: fractions[index]}
	case values != nil:
		return number{float: values[index]}
	}
	return number{}
}
