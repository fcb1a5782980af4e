package parse

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/progress"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// stormParser parses the output of the storm binary, versions 1.12.0 and 1.14.0. Log messages go to standard output, too.
type stormParser struct {
	*recorder
	switches    stormOptions
	inputParsed bool // errors before that are errors of the model
	inModel     bool // between the lines of dashes that describe the model
	inLabel     bool // in the list of labels
	// firstError is the first error since the last heading; later errors repeat it.
	firstError string
	fatal      *result.Failure
	hasResult  bool // the current property has its result
}

// stormOptions are the switches that determine the meaning of a number, since Storm does not print the accuracy of a result.
type stormOptions struct {
	exact, sound, absolute, timed bool
	// unclearPrecision says that a precision was given for one module only, so it is not
	// known which precision applies.
	unclearPrecision bool
	precision        float64
	multi            float64 // the separate precision of multi-objective queries
	file             string  // of the model
}

func readStormOptions(command string) stormOptions {
	o := stormOptions{precision: 1e-6, multi: 1e-4}
	args := words(command)
	for i, a := range args {
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch a {
		case "--exact", "--general:exact":
			o.exact = next != "floats"
		case "--sound", "--general:sound":
			o.sound = true
		case "--absolute":
			o.absolute = true
		case "--timeout", "-t", "--resources:timeout":
			o.timed = true
		case "--precision", "-eps", "--general:precision":
			p, err := strconv.ParseFloat(next, 64)
			o.precision, o.unclearPrecision = p, o.unclearPrecision || err != nil || !(p > 0 && p < 1)
		case "--multiobjective:precision":
			p, err := strconv.ParseFloat(next, 64)
			if o.multi = p; err != nil || !(p > 0) {
				o.multi = 1
			}
		case "--prism", "--jani", "--io:prism", "--explicit-drn":
			o.file = clip(next, maxText)
		default:
			o.unclearPrecision = o.unclearPrecision || strings.HasPrefix(a, "--") && strings.HasSuffix(a, ":precision")
		}
	}
	return o
}

// bound returns the interval that a sound method guarantees around a number, widened by the rounding error of Storm's printing.
func (o stormOptions) bound(v result.Value) *result.Interval {
	x := v.Num
	if v.Kind != result.Number || o.unclearPrecision || math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	d := o.precision
	if !o.absolute {
		d *= math.Abs(x) / (1 - o.precision) // |x - truth| <= precision * |truth|
	}
	if x != 0 {
		digits := max(10, math.Ceil(-math.Log10(o.precision))+4)
		d += math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-digits+1)
	}
	return intervalAround(x, d)
}

var (
	stormBanner   = regexp.MustCompile(`^Storm ([0-9]+\.[0-9][^\n]{0,60})$`)
	stormHeading  = regexp.MustCompile(`^Model checking property "([^"]*)": (.*) \.\.\.$`)
	stormResult   = regexp.MustCompile(`^Result( till abort)? \((for (?:initial|'.*') states)\): (.*)$`)
	stormMessage  = regexp.MustCompile(`^ ?(ERROR|WARN|INFO|DEBUG|TRACE) \([^()]*:[0-9]+\): (.*)$`)
	stormLabel    = regexp.MustCompile(`^   \* (.*) -> ([0-9]{1,18}) (?:item|state)\(s\)`)
	stormProgress = regexp.MustCompile(`^Completed ([0-9]{1,18}) (.*?) (?:\(out of ([0-9]{1,18})\) )?in [0-9]+s`)
	stormExplored = regexp.MustCompile(`^Explored ([0-9]{1,18}) states in `)
)

func (m *stormParser) line(s string, cut bool) {
	if strings.Trim(s, "- ") == "" && strings.HasPrefix(s, "----") {
		m.inModel, m.inLabel = !m.inModel, false
		return
	}
	if m.inLabel && m.label(s) {
		return
	}
	switch {
	case strings.HasPrefix(s, "Model checking property"):
		m.heading(s)
	case strings.HasPrefix(s, "Result"):
		m.result(s, cut)
	case strings.HasPrefix(s, "ERROR"), strings.HasPrefix(s, " WARN"), strings.HasPrefix(s, "WARN"):
		m.message(s)
	default:
		m.otherLine(s)
	}
}

func (m *stormParser) otherLine(s string) {
	key, rest, ok := strings.Cut(s, ":")
	rest = strings.TrimLeft(rest, " \t")
	if ok && (m.preamble(key, rest) || m.inModel && m.size(key, rest)) {
		return
	}
	if g := stormBanner.FindStringSubmatch(s); g != nil && m.log.Version == "" {
		m.log.Version = g[1]
		return
	}
	m.progressLine(s)
}

func (m *stormParser) preamble(key, rest string) bool {
	switch key {
	case "Command line arguments":
		if m.log.Command == "" && m.reserve(len(rest)) {
			m.log.Command = rest
			m.switches = readStormOptions(rest)
			m.log.Model.File = m.switches.file
		}
	case "Time for model input parsing":
		m.inputParsed = true
		m.reportProgress(progress.States, 0, 0)
	case "Time for model construction":
		if m.reserve(recordCost) {
			m.log.Builds = append(m.log.Builds, Build{Seconds: leadingDecimal(rest)})
		}
	case "Time for model checking":
		if i := len(m.log.Properties) - 1; i >= 0 {
			m.log.Properties[i].Seconds = leadingDecimal(rest)
		}
	default:
		return false
	}
	return true
}

// size parses the description of the model. It is printed again after a reduction, which counts as a further build.
func (m *stormParser) size(key, rest string) bool {
	b := m.build()
	if key == "Model type" && m.reserve(recordCost) {
		kind, repr, _ := strings.Cut(rest, " ")
		if b == nil || b.States > 0 {
			m.log.Builds = append(m.log.Builds, Build{})
			b = m.build()
		}
		b.Engine = clip(strings.Trim(repr, "() "), 80)
		m.log.Model.Type = clip(kind, 80)
		return true
	}
	if b == nil {
		return false
	}
	switch key {
	case "States":
		b.States = leadingCount(rest)
	case "Transitions":
		b.Transitions = leadingCount(rest)
	case "Choices":
		b.Choices = leadingCount(rest)
	case "Reward Models":
		if rest != "none" && m.reserve(len(rest)) {
			m.log.Model.Rewards = splitNames(rest)
		}
	case "State Labels", "Labels":
		m.inLabel, m.log.Model.Labels = true, nil
	default:
		return false
	}
	return true
}

func splitNames(s string) []string {
	var out []string
	for name := range strings.SplitSeq(s, ",") {
		out = append(out, strings.TrimSpace(name))
	}
	return out
}

// label parses a line of the list of labels, and reports whether s was one.
func (m *stormParser) label(s string) bool {
	name, ok := strings.CutPrefix(s, "   * ")
	if !ok {
		m.inLabel = false
		return false
	}
	n := int64(-1)
	if g := stormLabel.FindStringSubmatch(s); g != nil {
		name, n = g[1], leadingCount(g[2])
	}
	b := m.build()
	switch {
	case name == "init" && n >= 0:
		b.Initial = n
	case name == "deadlock" && n >= 0:
		b.Deadlocks = n
	case m.reserve(len(name)):
		m.log.Model.Labels = append(m.log.Model.Labels, clip(name, maxText))
	}
	return true
}

func (m *stormParser) heading(s string) {
	g := stormHeading.FindStringSubmatch(s)
	if g == nil || !m.inputParsed { // before that, the line is part of the printed command line
		return
	}
	m.closeWithoutResult()
	m.firstError, m.hasResult = "", false
	m.begin(Property{Name: g[1], Text: g[2], Build: -1})
	if p := m.current(); p != nil && len(m.log.Builds) > 0 {
		p.Engine = m.build().Engine
	}
}

// closeWithoutResult ends a property that got neither result nor error.
func (m *stormParser) closeWithoutResult() {
	if p := m.current(); p != nil {
		p.Err = &result.Failure{Class: result.Other, Message: "Storm printed no result"}
		m.open = -1
	}
}

func (m *stormParser) result(s string, cut bool) {
	g := stormResult.FindStringSubmatch(s)
	p := m.current()
	switch {
	case g == nil && p == nil:
		return
	case g == nil:
		p.ValueText = clip(s, maxText)
		m.closeWithFailure(&result.Failure{Class: result.Unsupported, Message: "a result of a form that is not read: " + clip(s, 200)})
		return
	case p == nil:
		m.secondResult(g[3])
		return
	}
	p.Heading = clip(g[2], maxText)
	if strings.HasPrefix(g[3], "ERROR (") {
		m.message(g[3])
		return
	}
	if g[1] != "" {
		p.ValueText = clip(g[3], maxText)
		f := result.Failure{Class: result.Timeout, Message: "aborted before the end: the value so far is no result"}
		if c := signalOf(&m.stderr); c != nil {
			f.Class = c.Class
		}
		m.closeWithFailure(&f)
		return
	}
	if cut {
		m.closeWithFailure(&result.Failure{Class: result.Unsupported, Message: "the result is on a line longer than is read"})
		return
	}
	m.setResult(p, g[3])
}

func signalOf(f *stderrFacts) *result.Failure {
	if f.signal == 0 {
		return nil
	}
	return signalFailure(f.signal)
}

// setResult parses the value and assigns it to the property.
func (m *stormParser) setResult(p *Property, s string) {
	if !m.reserve(4 * len(s)) {
		return
	}
	opts := m.switches
	if slices.ContainsFunc(p.Warnings, unsound) || unsound(m.firstError) {
		opts.sound = false
	}
	a, err := stormAnswer(s, opts)
	switch objectives := strings.HasPrefix(p.Text, "multi("); {
	case objectives && s == "":
		err = errForm("found a Pareto curve, which is not read")
	case objectives && err == nil:
		opts.objectives(p, &a)
	}
	setAnswer(p, a, err)
	m.doubt(p)
	if i := notConverged(p.Warnings); err == nil && i >= 0 {
		// Storm prints the number in spite of the warning.
		p.Value, p.Accuracy, p.Bound = result.Value{}, result.Unknown, nil
		p.Err = &result.Failure{Class: result.NonConverge, Message: p.Warnings[i]}
	}
	if len(m.log.Builds) > 0 {
		p.Build = len(m.log.Builds) - 1
	}
	m.open, m.hasResult = -1, true
}

// doubt records a message before the value that casts doubt on it: an error, or a warning about the value.
func (m *stormParser) doubt(p *Property) {
	if m.firstError != "" && !unsound(m.firstError) {
		p.Doubt = m.firstError
	}
	for _, w := range p.Warnings {
		if p.Doubt == "" && containsAny(w, "unreliable", "incorrect") {
			p.Doubt = w
		}
	}
}

// objectives corrects the answer of a multi-objective query. --exact and --sound have no effect on Storm's approximation of Pareto
// curves: values have the error of its precision, and a point on the curve may be reported as infeasible. For an infeasible query
// Storm prints false where PRISM returns NaN.
func (o stormOptions) objectives(p *Property, a *answer) {
	a.accuracy, a.bound, a.value.Rat = result.Estimated, nil, nil
	switch {
	case a.value.Kind == result.Number:
		if o.multi < 1 {
			a.accuracy, a.bound = result.Claimed, intervalAround(a.value.Num, 2*o.multi)
		}
	case a.value.Kind != result.Boolean || a.value.Bool:
		return
	default:
		p.Doubt = "Storm calls infeasible what may lie on the Pareto curve"
		if strings.Contains(p.Text, "=?") {
			a.value = result.Value{Kind: result.Number, Num: math.NaN()}
		}
	}
}

// unsound recognises warnings that Storm used another method than the one asked for.
func unsound(warning string) bool {
	return containsAny(warning, "switching to", "Switching to", "sound", "guarantee")
}

func notConverged(warnings []string) int {
	for i, w := range warnings {
		if strings.Contains(w, "did not converge") {
			return i
		}
	}
	return -1
}

// secondResult handles a second result line under one heading.
func (m *stormParser) secondResult(s string) {
	if i := len(m.log.Properties) - 1; m.hasResult && i >= 0 && m.log.Properties[i].ValueText != s {
		p := &m.log.Properties[i]
		p.Value, p.Bound, p.Accuracy = result.Value{}, nil, result.Unknown
		p.Err = &result.Failure{Class: result.Other, Message: "Storm printed two results"}
		return
	}
	m.warn(&m.log.Warnings, "a result that belongs to no property: "+clip(s, 200))
}

// closeWithFailure closes the current property with a failure.
func (m *stormParser) closeWithFailure(f *result.Failure) {
	if p := m.current(); p != nil {
		p.Err = f
		m.open, m.hasResult = -1, false
	}
}

// message parses a line of Storm's log.
func (m *stormParser) message(s string) {
	g := stormMessage.FindStringSubmatch(s)
	if g == nil {
		m.stderr.line(s)
		return
	}
	text := clip(strings.TrimSuffix(strings.TrimSpace(g[2]), ", here:"), maxText)
	switch {
	case g[1] == "WARN":
		m.warningLine(text)
	case g[1] != "ERROR":
	case strings.Contains(text, "caused Storm to terminate"):
		m.terminate(text)
	case strings.HasPrefix(text, "Property is unsupported by selected engine/settings"):
		if m.open >= 0 {
			m.closeWithFailure(m.refusal(text))
		}
	case strings.HasPrefix(text, "Unable to parse command line options"):
		m.fatal = &result.Failure{Class: result.Other, Message: m.firstErrorOr(text)}
	case m.firstError == "" && m.reserve(len(text)):
		m.firstError = text
	}
}

// or returns the first error of the section, or text if there was none.
func (m *stormParser) firstErrorOr(text string) string {
	if m.firstError != "" {
		return m.firstError
	}
	return text
}

// warningLine records a warning. "Cannot handle property: NotSupportedException: …" is the reason of the error that follows.
func (m *stormParser) warningLine(text string) {
	if why, ok := strings.CutPrefix(text, "Cannot handle property: "); ok {
		m.firstError = why
		return
	}
	list := &m.log.Warnings
	if p := m.current(); p != nil {
		list = &p.Warnings
	}
	m.warn(list, text)
}

// refusal is the failure of a property that Storm skipped.
func (m *stormParser) refusal(text string) *result.Failure {
	kind, msg := exception(m.firstErrorOr(text))
	f := &result.Failure{Class: stormClass(kind, msg), Message: msg}
	if f.Class == result.Other {
		f.Class = result.Unsupported
	}
	return f
}

// exception splits "WrongFormatException: message".
func exception(s string) (kind, msg string) {
	kind, msg, ok := strings.Cut(s, ": ")
	if !ok || !strings.HasSuffix(kind, "Exception") || strings.Contains(kind, " ") {
		return "", s
	}
	return kind, msg
}

// terminate parses the last message of a run that ended with an exception.
func (m *stormParser) terminate(text string) {
	_, cause, _ := strings.Cut(text, "exception is: ")
	kind, msg := exception(cause)
	if msg == "" || msg == "std::exception" {
		msg = m.firstErrorOr(text)
	}
	f := &result.Failure{Class: stormClass(kind, msg), Message: clip(msg, maxText), Pos: stormPosition(msg)}
	if !m.inputParsed {
		f.File = m.log.Model.File
	}
	m.fatal = f
	m.closeWithFailure(f)
}

// stormPosition reads "Parsing error at 1:39:".
func stormPosition(s string) syntax.Pos {
	at, ok := between(s, "Parsing error at ", ": ")
	line, column, ok2 := strings.Cut(at, ":")
	if l, c := leadingCount(line), leadingCount(column); ok && ok2 && l > 0 && l < 1<<31 && c > 0 && c < 1<<31 {
		return syntax.Pos{Line: int32(l), Col: int32(c)}
	}
	return syntax.Pos{}
}

func (m *stormParser) progressLine(s string) {
	if m.opts.Progress == nil {
		return
	}
	if g := stormProgress.FindStringSubmatch(s); g != nil {
		m.reportProgress(progress.Iterations, leadingCount(g[1]), leadingCount(g[3]))
	} else if g := stormExplored.FindStringSubmatch(s); g != nil {
		m.reportProgress(progress.States, leadingCount(g[1]), 0)
	}
}

func (m *stormParser) unfinished(b []byte) {
	if bytes.HasPrefix(b, []byte("Completed ")) && len(b) < 512 {
		m.progressLine(string(b))
	}
}

func (m *stormParser) finish(end End, tail string, facts *stderrFacts) {
	cause := ending(end, facts)
	if cause == nil && end.Known && (end.Code == sigalrm || end.Code == sigterm || end.Code == sigxcpu) {
		cause = signalFailure(end.Code) // Storm exits with the number of the signal that it received
	}
	switch f := m.fatal; {
	case f != nil && f.Class == result.Interrupted && cause != nil:
		m.recordAbort(f, cause.Class)
	case f != nil && f.Class == result.Interrupted && m.switches.timed:
		m.recordAbort(f, result.Timeout)
	case f != nil:
		m.log.Err = f
	case cause != nil:
		m.log.Err = cause
	case tail != "", m.open >= 0, m.log.Version != "" && !m.inputParsed && !end.Known:
		m.log.Err = &result.Failure{Class: result.Truncated, Message: "the output ends in the middle"}
	case end.Known && end.Code != 0:
		m.log.Err = &result.Failure{Class: result.Other, Message: "exit code " + strconv.Itoa(end.Code) + ": " + m.firstErrorOr("no message")}
	}
	if m.log.Err == nil && m.firstError != "" && len(m.log.Properties) == 0 {
		m.log.Failures = append(m.log.Failures, &result.Failure{Class: result.Other, Message: m.firstError})
	}
	if m.open >= 0 {
		f := *m.log.Err
		m.closeWithFailure(&f)
	}
}

// recordAbort sets the reason of an aborted run.
func (m *stormParser) recordAbort(f *result.Failure, why result.Class) {
	f.Class = why
	m.log.Err = f
}
