package parse

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tilecheck/internal/progress"
	"tilecheck/result"
)

// prismParser parses PRISM's log, version 4.10.2-dev at git 9486c774 and, where the output of earlier versions differs and is
// known, those versions. It also parses the log of PRISM-games 3.2.5, which begins with another banner.
type prismParser struct {
	*recorder
	phase     phase
	propsFile string
	// typed says that the model's "Type:" line was seen. Before it no line counts as a
	// heading, because the printed command line may contain anything, even line breaks.
	typed bool
	// separated says that a line of dashes followed the last heading. A
	// heading without such a line is internal to PRISM: the digital clocks translation
	// checks its own property below the user's heading.
	separated        bool
	begun            bool // a heading was seen
	inHead           bool // directly below a heading
	last             int  // the last property that ended in this section; -1 if there is none
	listing          bool // in the list "N properties:"
	results          *experiment
	message          *strings.Builder // the current error message
	warningContinues bool             // the last line was a warning that has a second line
	exception        string           // the first line of the last stack trace
	stack            bool
	heap             bool
	broken           map[string]*result.Failure // by model constants: why their state space could not be built
}

// gamesBanner is the first line of PRISM-games.
const gamesBanner = "PRISM-games"

// experiment is the list "Results:" of a simulation for several valuations.
type experiment struct {
	head  Property // the common data of all valuations
	first int      // index of the first
}

func (m *prismParser) line(s string, cut bool) {
	if m.message != nil && m.continueMessage(s) {
		return
	}
	if isSeparator(s) {
		m.section()
		return
	}
	if m.results != nil && m.valuation(s, cut) {
		return
	}
	if m.listing && m.listed(s) {
		return
	}
	if m.inHead && m.constantsLine(s) {
		return
	}
	key, rest, colon := strings.Cut(s, ":")
	if colon && m.keyLine(key, strings.TrimLeft(rest, " "), s, cut) {
		return
	}
	m.otherLine(s)
}

// isSeparator recognises the line of 69 dashes between sections; older
// versions had a different number.
func isSeparator(s string) bool {
	return len(s) >= 20 && strings.Trim(s, "-") == ""
}

// section ends the lists that the previous section left open.
func (m *prismParser) section() {
	m.endResults()
	m.separated, m.inHead, m.listing = true, false, false
}

// keyLine parses a line of the form "Key: rest", and reports whether the line was one.
func (m *prismParser) keyLine(key, rest, line string, cut bool) bool {
	switch key {
	case "Version":
		m.version(rest)
	case "Command line":
		if m.log.Command == "" && m.reserve(len(rest)) {
			m.log.Command = strings.TrimPrefix(rest, "prism ")
		}
	case "Model checking":
		m.heading(rest, cut, nil)
	case "Simulating":
		m.heading(rest, cut, &Simulation{})
	case "Error":
		if m.results == nil {
			m.message = new(strings.Builder)
			m.message.WriteString(clip(rest, maxText))
		}
	case "Warning":
		m.warning(rest)
	case "Testing result":
		if i := max(m.open, m.last); i >= 0 && m.reserve(len(rest)) {
			m.log.Properties[i].Testing = clip(rest, maxText)
		}
	case "Results":
		m.beginResults()
	case "Type", "Modules", "Actions", "Variables", "Labels", "Rewards":
		m.model(key, rest)
	case "Time for model construction":
		if build := m.build(); build != nil {
			build.Seconds = leadingDecimal(rest)
		}
	case "States", "Transitions", "Choices":
		m.size(key, rest)
	default:
		return m.resultLine(line, cut) || m.detail(key, rest)
	}
	return true
}

// version parses the version of PRISM, which is in the first lines of a log.
func (m *prismParser) version(text string) {
	if m.phase != starting || m.log.Version != "" {
		return
	}
	const maxVersion = 80
	version, _, _ := strings.Cut(text, " ") // PRISM-games adds "(based on PRISM 4.10.2-dev)"
	m.log.Version = clip(version, maxVersion)
}

// detail parses the lines below a heading.
func (m *prismParser) detail(key, rest string) bool {
	p := m.current()
	if p == nil {
		return m.reachability(key, rest)
	}
	switch key {
	case "Engine":
		p.Engine = strings.ToLower(clip(rest, 80))
	case "Time for model checking":
		p.Seconds = leadingDecimal(rest)
	case "Simulation method", "Simulation method parameters", "Simulation parameters", "Sampling complete", "Path length statistics":
		if p.Simulation == nil {
			return false
		}
		m.simulation(p, key, rest)
	default:
		return m.reachability(key, rest) || m.iteration(key, rest)
	}
	return true
}

func (m *prismParser) simulation(p *Property, key, rest string) {
	s := p.Simulation
	switch key {
	case "Simulation method":
		s.Method, _, _ = strings.Cut(clip(rest, 80), " ")
	case "Simulation method parameters":
		if m.reserve(len(rest)) {
			s.Parameters = parseConstants(clip(rest, maxText))
		}
	case "Simulation parameters":
		if n, ok := strings.CutPrefix(rest, "max path length="); ok {
			s.MaxPath = leadingCount(n)
		}
	case "Sampling complete":
		s.Samples = leadingCount(rest)
		if t, ok := between(rest, " in ", " seconds"); ok {
			s.Seconds = leadingDecimal(t)
		}
		m.reportProgress(progress.Percent, 100, 100)
	case "Path length statistics":
		s.Steps = pathLengths(rest)
	}
}

// pathLengths reads "average 1.8e+02, min 66, max 276".
func pathLengths(s string) *result.Steps {
	mean, ok1 := between(s, "average ", ",")
	low, ok2 := between(s, "min ", ",")
	_, high, ok3 := strings.Cut(s, "max ")
	if !ok1 || !ok2 || !ok3 {
		return nil
	}
	return &result.Steps{Min: leadingCount(low), Max: leadingCount(high), Mean: leadingDecimal(mean)}
}

// reachability parses the symbolic engine's line.
func (m *prismParser) reachability(key, rest string) bool {
	b := m.build()
	if key != "Reachability (BFS)" || b == nil {
		return false
	}
	b.Iterations = leadingCount(rest)
	return true
}

// iteration parses "Jacobi: 12 iterations in 0.00 seconds (…)". It ignores the graph algorithms, which print the same line.
func (m *prismParser) iteration(key, rest string) bool {
	n := leadingCount(rest)
	if n == 0 || !strings.Contains(rest, " iterations in ") || strings.HasPrefix(key, "Prob") || strings.HasPrefix(key, "CTL") {
		return false
	}
	m.recordIteration(key, n)
	return true
}

var tookIterations = regexp.MustCompile(`^(.{1,200}) took ([0-9]{1,18}) iter(?:ation)?s\b`)

// otherLine parses the lines without a key.
func (m *prismParser) otherLine(s string) {
	switch {
	case s == gamesBanner && m.phase == starting && m.log.Version == "":
		m.log.Tool = PRISMGames
	case s == "":
		m.endResults()
		m.warningContinues = false
		return
	case strings.Contains(s, "java.lang.OutOfMemoryError"): // can be at the end of another line if both streams are merged
		m.heap = true
	case m.warningContinues && strings.HasPrefix(s, "Your minimum rewards"):
		m.continueWarning(s)
	case strings.HasPrefix(s, "Parsing "):
		m.parsing(s)
	case strings.HasPrefix(s, "Building model"):
		m.beginBuild(s)
	case strings.HasPrefix(s, "Computing reachable"):
		m.unfinished([]byte(strings.TrimSuffix(s, " states") + " "))
	case strings.HasPrefix(s, "Starting iterations"):
		m.reportProgress(progress.Iterations, 0, 0)
	case strings.HasPrefix(s, "CUDD internal error"):
		m.exception = "CUDD internal error"
	case strings.HasPrefix(s, "java.lang.StackOverflowError"):
		m.stack = true
	case strings.Contains(s, " took "):
		if g := tookIterations.FindStringSubmatch(s); g != nil && !strings.HasPrefix(s, "Prob") {
			m.recordIteration(g[1], leadingCount(g[2]))
		}
	}
	m.recordException(s)
}

var exceptionLine = regexp.MustCompile(`^[a-z]\w*(\.\w+)+(Exception|Error)\b`)

// recordException records the first line of a stack trace.
func (m *prismParser) recordException(s string) {
	if len(s) < maxText && exceptionLine.MatchString(s) {
		m.exception = s
	}
}

// parsing reads "Parsing PRISM model file "m.nm"..."; before 4.10.2 it was "Parsing model file".
func (m *prismParser) parsing(s string) {
	file, ok := between(s, `file "`, `"...`)
	switch {
	case m.phase > parsingProperties || !ok:
	case strings.HasPrefix(s, "Parsing properties file"):
		m.phase, m.propsFile = parsingProperties, clip(file, maxText)
	case strings.HasPrefix(s, "Parsing PRISM model file"), strings.HasPrefix(s, "Parsing model file"):
		m.phase = parsingModel
		m.log.Model.File = clip(file, maxText)
	}
}

// model parses the information about the model before the first state space.
func (m *prismParser) model(key, rest string) {
	t := &m.log.Model
	if key == "Type" {
		m.typed = true
		if t.Type == "" {
			t.Type, _, _ = strings.Cut(clip(rest, 80), " ")
			m.phase = max(m.phase, parsingProperties)
		}
		return
	}
	if m.begun || len(m.log.Builds) > 0 || !m.reserve(2*len(rest)) {
		return
	}
	switch key {
	case "Modules":
		t.Modules = strings.Fields(rest)
	case "Actions":
		t.Actions = strings.Fields(rest)
	case "Variables":
		t.Variables = strings.Fields(rest)
	case "Labels":
		t.Labels = unquoted(strings.Fields(rest))
	case "Rewards":
		t.Rewards = unquoted(strings.Fields(rest))
	}
}

// beginBuild reads "Building model (engine:explicit)...".
func (m *prismParser) beginBuild(s string) {
	if !m.typed || !m.reserve(recordCost) {
		return
	}
	engine, _ := between(s, "(engine:", ")")
	m.log.Builds = append(m.log.Builds, Build{Engine: clip(engine, 80)})
	if p := m.current(); p != nil {
		p.Engine = clip(engine, 80)
	}
	m.phase, m.inHead = building, true
	m.reportProgress(progress.States, 0, 0)
}

// size reads the counts of the state space.
func (m *prismParser) size(key, rest string) {
	b := m.build()
	if b == nil {
		return
	}
	if key == "States" {
		if b.done {
			return
		}
		b.done, m.phase = true, running
		if initial, ok := between(rest, "(", " initial"); ok {
			b.Initial = leadingCount(initial)
		}
	}
	n, ok := parseCount(rest)
	if !ok {
		m.warn(&b.Warnings, key+": "+clip(rest, 80)+": more than are counted")
		return
	}
	switch key {
	case "States":
		b.States = n
	case "Transitions":
		b.Transitions = n
	case "Choices":
		b.Choices = n
	}
}

// heading begins a property.
func (m *prismParser) heading(s string, cut bool, sim *Simulation) {
	if !m.typed || m.open >= 0 && !m.separated {
		return
	}
	m.closeWithoutResult()
	m.phase = running
	name, text := splitName(s)
	if sim != nil { // simulation echoes the text alone
		text, name = s, m.nameOf(s)
	}
	m.begin(Property{Name: name, Text: text, Build: -1, Simulation: sim})
	m.begun, m.inHead, m.separated, m.last = true, true, false, -1
	if p := m.current(); p != nil && cut {
		m.warn(&p.Warnings, "the property is longer than is kept")
	}
}

// nameOf returns the name of the only listed property with this text.
func (m *prismParser) nameOf(text string) string {
	name, found := "", 0
	for _, l := range m.log.Listed {
		if l.Text == text {
			name = l.Name
			found++
		}
	}
	if found != 1 {
		return ""
	}
	return name
}

// closeWithoutResult ends a property that got neither result nor error.
func (m *prismParser) closeWithoutResult() {
	if p := m.current(); p != nil {
		p.Err = &result.Failure{Class: result.Other, Message: "PRISM printed no result"}
	}
	m.open, m.last = -1, -1
}

// constantsLine parses the constants directly below a heading or below the first line of a construction. It reports whether s was
// such a line.
func (m *prismParser) constantsLine(s string) bool {
	text, ok := strings.CutPrefix(s, "Model constants: ")
	if ok && m.phase == building {
		if b := m.build(); m.reserve(2 * len(text)) {
			b.Constants, b.constantsText = parseConstants(text), text
		}
		return true
	}
	p := m.current()
	if ok {
		if p != nil && m.reserve(2*len(text)) {
			p.Model, p.modelText = parseConstants(text), text
		}
		return true
	}
	if text, ok = strings.CutPrefix(s, "Property constants: "); ok {
		if p != nil && m.reserve(2*len(text)) {
			p.Constants, p.constantsText = parseConstants(text), text
		}
		return true
	}
	m.inHead = false
	return false
}

var listedLine = regexp.MustCompile(`^\([0-9]+\) `)

// listed reads a line of the list of properties, and reports whether s was one.
func (m *prismParser) listed(s string) bool {
	n := listedLine.FindString(s)
	if n == "" {
		m.listing = false
		return false
	}
	if m.reserve(len(s)) {
		name, text := splitName(s[len(n):])
		m.log.Listed = append(m.log.Listed, Listed{name, text})
	}
	return true
}

var resultForm = regexp.MustCompile(`^Result(?: \(([^()]{1,200})\))?: (.*)$`)

var countForm = regexp.MustCompile(`^[0-9]+ propert(y|ies)$`)

// resultLine reads the result of the open property. It also recognises the
// line that begins the list of properties.
func (m *prismParser) resultLine(s string, cut bool) bool {
	if !strings.HasPrefix(s, "Result") {
		if key, rest, _ := strings.Cut(s, ":"); rest == "" && !m.begun && m.typed && len(m.log.Listed) == 0 && countForm.MatchString(key) {
			m.listing, m.phase = true, running
			return true
		}
		return false
	}
	g := resultForm.FindStringSubmatch(s)
	switch {
	case g == nil || !m.typed:
		return false
	case m.open >= 0:
		p := m.current()
		p.Heading = g[1]
		m.answer(p, g[2], cut)
		m.closeProperty()
	case m.last >= 0 && !m.separated:
		p := &m.log.Properties[m.last]
		if p.ValueText != g[2] {
			m.withdraw(p)
		}
	default:
		m.warn(&m.log.Warnings, "a result that belongs to no property: "+clip(g[2], 200))
	}
	return true
}

// withdraw removes a value that a second one contradicts.
func (m *prismParser) withdraw(p *Property) {
	p.Value, p.Bound, p.HalfWidth, p.Accuracy, p.Confidence = result.Value{}, nil, nil, result.Unknown, 0
	p.Err = &result.Failure{Class: result.Other, Message: "PRISM printed two results"}
}

// closeProperty closes the current property and records the state space that it was checked on.
func (m *prismParser) closeProperty() {
	p := m.current()
	if b := m.build(); p.Simulation == nil && b != nil && b.done && b.constantsText == p.modelText {
		p.Build = len(m.log.Builds) - 1
		if p.Engine == "" {
			p.Engine = b.Engine
		}
	}
	m.last, m.open = m.open, -1
}

// answer parses a result line and assigns its content to the property.
func (m *prismParser) answer(p *Property, s string, cut bool) {
	if cut {
		p.Err = &result.Failure{Class: result.Unsupported, Message: fmt.Sprintf("the result is on a line of more than %d bytes", m.opts.MaxLine)}
		return
	}
	if !m.reserve(4 * len(s)) {
		return
	}
	a, err := prismAnswer(s)
	setAnswer(p, a, err)
	for _, r := range a.remarks {
		m.warn(&p.Warnings, "PRISM remarks on the result: "+r)
	}
}

// setAnswer assigns an answer to the property.
func setAnswer(p *Property, a answer, err error) {
	p.ValueText = a.text
	if err != nil {
		p.Err = &result.Failure{Class: result.Unsupported, Message: err.Error()}
		return
	}
	p.Value, p.Accuracy, p.Bound, p.HalfWidth, p.Confidence = a.value, a.accuracy, a.bound, a.halfWidth, a.confidence
}

// beginResults starts the list of an experiment. The current property is replaced by one property for each line.
func (m *prismParser) beginResults() {
	p := m.current()
	if p == nil || p.Simulation == nil {
		return
	}
	m.results = &experiment{head: *p, first: m.open}
	m.log.Properties = m.log.Properties[:m.open]
	m.open = -1
}

// valuation reads "k=1 : 0.4 (+/- …)", and reports whether s was such a line.
func (m *prismParser) valuation(s string, cut bool) bool {
	at, rest, ok := strings.Cut(s, " : ")
	if !ok || !m.reserve(recordCost+4*len(s)) {
		return false
	}
	p := m.results.head
	sim := *p.Simulation
	p.Simulation, p.Warnings, p.Constants, p.constantsText = &sim, slices.Clone(p.Warnings), parseConstants(at), at
	if msg, failed := strings.CutPrefix(rest, "Error: "); failed {
		p.Err = m.failure(strings.TrimSuffix(msg, "."))
	} else {
		m.answer(&p, rest, cut)
	}
	m.log.Properties = append(m.log.Properties, p)
	return true
}

// endResults ends the list. If it was empty, the current property stays.
func (m *prismParser) endResults() {
	if m.results == nil {
		return
	}
	if len(m.log.Properties) == m.results.first {
		m.log.Properties = append(m.log.Properties, m.results.head)
		m.open = m.results.first
	} else {
		m.last = -1 // a further result would not belong to this property
	}
	m.results = nil
}

// unfinished reads progress from an incomplete line.
func (m *prismParser) unfinished(b []byte) {
	tail := b[max(0, len(b)-32):]
	end := bytes.LastIndexByte(tail, ' ')
	if end < 0 || m.opts.Progress == nil {
		return
	}
	token := tail[bytes.LastIndexByte(tail[:end], ' ')+1 : end]
	switch {
	case bytes.HasPrefix(b, []byte("Sampling progress: [")):
		if n := leadingCount(string(token)); n > 0 && bytes.HasSuffix(token, []byte("%")) {
			m.reportProgress(progress.Percent, n, 100)
		}
	case bytes.HasPrefix(b, []byte("Computing reachable")):
		if n := leadingCount(string(token)); n > 0 {
			m.reportProgress(progress.States, n, 0)
		}
	}
}
