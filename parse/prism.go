package parse

import (
	"bytes"
	"fmt"
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

// line parses a line of the log. isCut says that the end of the line was dropped.
func (parser *prismParser) line(line string, isCut bool) {
	if parser.message != nil && parser.continueMessage(line) {
		return
	}
	if isSeparator(line) {
		parser.endSection()
		return
	}
	if parser.results != nil && parser.parseValuation(line, isCut) {
		return
	}
	if parser.listing && parser.parseListed(line) {
		return
	}
	if parser.inHead && parser.parseConstantsLine(line) {
		return
	}
	key, value, hasColon := strings.Cut(line, ":")
	if hasColon && parser.parseKeyLine(key, strings.TrimLeft(value, " "), line, isCut) {
		return
	}
	parser.otherLine(line)
}

// isSeparator reports whether a line is the row of dashes between sections.
func isSeparator(line string) bool {
	return len(line) >= 20 && strings.Trim(line, "-") == ""
}

// endSection ends the lists of the section before a row of dashes.
func (parser *prismParser) endSection() {
	parser.endResults()
	parser.separated, parser.inHead, parser.listing = true, false, false
}

// parseKeyLine parses a line of the form "Key: value". It returns false if the key is unknown.
func (parser *prismParser) parseKeyLine(key, value, line string, isCut bool) bool {
	switch key {
	case "Version":
		parser.parseVersion(value)
	case "Command line":
		if parser.log.Command == "" && parser.reserve(len(value)) {
			parser.log.Command = strings.TrimPrefix(value, "prism ")
		}
	case "Model checking":
		parser.parseHeading(value, isCut, nil)
	case "Simulating":
		parser.parseHeading(value, isCut, &Simulation{})
	case "Error":
		if parser.results == nil {
			parser.message = new(strings.Builder)
			parser.message.WriteString(clip(value, maxText))
		}
	case "Warning":
		parser.addWarning(value)
	case "Testing result":
		if i := max(parser.open, parser.last); i >= 0 && parser.reserve(len(value)) {
			parser.log.Properties[i].Testing = clip(value, maxText)
		}
	case "Results":
		parser.beginResults()
	case "Type", "Modules", "Actions", "Variables", "Labels", "Rewards":
		parser.parseModelLine(key, value)
	case "Time for model construction":
		if build := parser.lastBuild(); build != nil {
			build.Seconds = leadingDecimal(value)
		}
	case "States", "Transitions", "Choices":
		parser.parseSize(key, value)
	default:
		return parser.parseResultLine(line, isCut) || parser.beginList(line) || parser.parseDetail(key, value)
	}
	return true
}

// parseVersion parses the version of PRISM. It ignores lines after the first lines of the log.
func (parser *prismParser) parseVersion(text string) {
	if parser.phase != starting || parser.log.Version != "" {
		return
	}
	const maxVersion = 80
	version, _, _ := strings.Cut(text, " ") // PRISM-games adds "(based on PRISM 4.10.2-dev)"
	parser.log.Version = clip(version, maxVersion)
}

// parseDetail parses a line of the form "Key: value" below a heading. It returns false if the key is unknown.
func (parser *prismParser) parseDetail(key, value string) bool {
	property := parser.current()
	if property == nil {
		return parser.parseReachability(key, value)
	}
	switch key {
	case "Engine":
		property.Engine = strings.ToLower(clip(value, 80))
	case "Time for model checking":
		property.Seconds = leadingDecimal(value)
	case "Simulation method", "Simulation method parameters", "Simulation parameters", "Sampling complete", "Path length statistics":
		if property.Simulation == nil {
			return false
		}
		parser.parseSimulation(property, key, value)
	default:
		return parser.parseReachability(key, value) || parser.parseIteration(key, value)
	}
	return true
}

// parseSimulation parses a line about the samples of a property.
func (parser *prismParser) parseSimulation(property *Property, key, value string) {
	simulation := property.Simulation
	switch key {
	case "Simulation method":
		simulation.Method, _, _ = strings.Cut(clip(value, 80), " ")
	case "Simulation method parameters":
		if parser.reserve(len(value)) {
			simulation.Parameters = parseConstants(clip(value, maxText))
		}
	case "Simulation parameters":
		if length, ok := strings.CutPrefix(value, "max path length="); ok {
			simulation.MaxPath = leadingCount(length)
		}
	case "Sampling complete":
		simulation.Samples = leadingCount(value)
		if seconds, ok := between(value, " in ", " seconds"); ok {
			simulation.Seconds = leadingDecimal(seconds)
		}
		parser.reportProgress(progress.Percent, 100, 100)
	case "Path length statistics":
		simulation.Steps = parsePathLengths(value)
	}
}

// parsePathLengths parses a text such as "average 1.8e+02, min 66, max 276". It returns nil for another form.
func parsePathLengths(text string) *result.Steps {
	mean, hasMean := between(text, "average ", ",")
	low, hasLow := between(text, "min ", ",")
	_, high, hasHigh := strings.Cut(text, "max ")
	if !hasMean || !hasLow || !hasHigh {
		return nil
	}
	return &result.Steps{Min: leadingCount(low), Max: leadingCount(high), Mean: leadingDecimal(mean)}
}

// parseReachability parses the line about the iterations of the symbolic reachability. It returns false for other lines.
func (parser *prismParser) parseReachability(key, value string) bool {
	build := parser.lastBuild()
	if key != "Reachability (BFS)" || build == nil {
		return false
	}
	build.Iterations = leadingCount(value)
	return true
}

// parseIteration parses a line such as "Jacobi: 12 iterations in 0.00 seconds (…)". It returns false for other lines, and for the graph algorithms,
// which print the same form.
func (parser *prismParser) parseIteration(key, value string) bool {
	count := leadingCount(value)
	if count == 0 || !strings.Contains(value, " iterations in ") || strings.HasPrefix(key, "Prob") || strings.HasPrefix(key, "CTL") {
		return false
	}
	parser.recordIteration(key, count)
	return true
}

var tookIterations = lazyRegexp(`^(.{1,200}) took ([0-9]{1,18}) iter(?:ation)?s\b`)

// otherLine parses a line without a known key.
func (parser *prismParser) otherLine(line string) {
	switch {
	case line == gamesBanner && parser.phase == starting && parser.log.Version == "":
		parser.log.Tool = PRISMGames
	case line == "":
		parser.endResults()
		parser.warningContinues = false
		return
	case strings.Contains(line, "java.lang.OutOfMemoryError"): // can be at the end of another line if both streams are merged
		parser.heap = true
	case parser.warningContinues && strings.HasPrefix(line, "Your minimum rewards"):
		parser.continueWarning(line)
	case strings.HasPrefix(line, "Parsing "):
		parser.parseParsing(line)
	case strings.HasPrefix(line, "Building model"):
		parser.beginBuild(line)
	case strings.HasPrefix(line, "Computing reachable"):
		parser.unfinished([]byte(strings.TrimSuffix(line, " states") + " "))
	case strings.HasPrefix(line, "Starting iterations"):
		parser.reportProgress(progress.Iterations, 0, 0)
	case strings.HasPrefix(line, "CUDD internal error"):
		parser.exception = "CUDD internal error"
	case strings.HasPrefix(line, "java.lang.StackOverflowError"):
		parser.stack = true
	case strings.Contains(line, " took "):
		if match := tookIterations().FindStringSubmatch(line); match != nil && !strings.HasPrefix(line, "Prob") {
			parser.recordIteration(match[1], leadingCount(match[2]))
		}
	}
	parser.recordException(line)
}

var exceptionLine = lazyRegexp(`^[a-z]\w*(\.\w+)+(Exception|Error)\b`)

// recordException records the first line of a stack trace.
func (parser *prismParser) recordException(line string) {
	if len(line) < maxText && exceptionLine().MatchString(line) {
		parser.exception = line
	}
}

// parseParsing parses a line such as: Parsing PRISM model file "m.nm"...
func (parser *prismParser) parseParsing(line string) {
	file, ok := between(line, `file "`, `"...`)
	switch {
	case parser.phase > parsingProperties || !ok: // not in the first lines of the log
	case strings.HasPrefix(line, "Parsing properties file"):
		parser.phase, parser.propsFile = parsingProperties, clip(file, maxText)
	case strings.HasPrefix(line, "Parsing PRISM model file"), strings.HasPrefix(line, "Parsing model file"):
		parser.phase = parsingModel
		parser.log.Model.File = clip(file, maxText)
	}
}

// parseModelLine parses a line about the model that PRISM prints before the first state space.
func (parser *prismParser) parseModelLine(key, value string) {
	model := &parser.log.Model
	if key == "Type" {
		parser.typed = true
		if model.Type == "" {
			model.Type, _, _ = strings.Cut(clip(value, 80), " ")
			parser.phase = max(parser.phase, parsingProperties)
		}
		return
	}
	if parser.begun || len(parser.log.Builds) > 0 || !parser.reserve(2*len(value)) {
		return
	}
	switch key {
	case "Modules":
		model.Modules = strings.Fields(value)
	case "Actions":
		model.Actions = strings.Fields(value)
	case "Variables":
		model.Variables = strings.Fields(value)
	case "Labels":
		model.Labels = withoutQuotes(strings.Fields(value))
	case "Rewards":
		model.Rewards = withoutQuotes(strings.Fields(value))
	}
}

// beginBuild parses a line such as "Building model (engine:explicit)..." and records a new state space.
func (parser *prismParser) beginBuild(line string) {
	if !parser.typed || !parser.reserve(recordCost) {
		return
	}
	engine, _ := between(line, "(engine:", ")")
	parser.log.Builds = append(parser.log.Builds, Build{Engine: clip(engine, 80)})
	if property := parser.current(); property != nil {
		property.Engine = clip(engine, 80)
	}
	parser.phase, parser.inHead = building, true
	parser.reportProgress(progress.States, 0, 0)
}

// parseSize parses the number of states, transitions or choices of the last state space.
func (parser *prismParser) parseSize(key, value string) {
	build := parser.lastBuild()
	if build == nil {
		return
	}
	if key == "States" {
		if build.done {
			return
		}
		build.done, parser.phase = true, running
		if initial, ok := between(value, "(", " initial"); ok {
			build.Initial = leadingCount(initial)
		}
	}
	count, ok := parseCount(value)
	if !ok {
		parser.warnOnce(&build.Warnings, key+": "+clip(value, 80)+": more than are counted")
		return
	}
	switch key {
	case "States":
		build.States = count
	case "Transitions":
		build.Transitions = count
	case "Choices":
		build.Choices = count
	}
}

// parseHeading parses the heading of a property and begins it. simulation is nil unless PRISM samples the property. isCut says that the end of the
// line was dropped.
func (parser *prismParser) parseHeading(line string, isCut bool, simulation *Simulation) {
	if !parser.typed || parser.open >= 0 && !parser.separated { // not a heading of the user's property
		return
	}
	parser.closeWithoutResult()
	parser.phase = running
	name, text := splitName(line)
	if simulation != nil { // PRISM prints the text without the name
		text, name = line, parser.nameOf(line)
	}
	parser.beginProperty(Property{Name: name, Text: text, Build: -1, Simulation: simulation})
	parser.begun, parser.inHead, parser.separated, parser.last = true, true, false, -1
	if property := parser.current(); property != nil && isCut {
		parser.warnOnce(&property.Warnings, "the property is longer than is kept")
	}
}

// nameOf returns the name of the listed property with a text. It returns an empty name if several listed properties have the text, or none.
func (parser *prismParser) nameOf(text string) string {
	name, count := "", 0
	for _, listed := range parser.log.Listed {
		if listed.Text == text {
			name = listed.Name
			count++
		}
	}
	if count != 1 {
		return ""
	}
	return name
}

// closeWithoutResult ends a property that got neither result nor error.
func (parser *prismParser) closeWithoutResult() {
	if property := parser.current(); property != nil {
		property.Err = &result.Failure{Class: result.Other, Message: "PRISM printed no result"}
	}
	parser.open, parser.last = -1, -1
}

// parseConstantsLine parses a line with constants directly below a heading or below the first line of a construction. It returns false for other
// lines.
func (parser *prismParser) parseConstantsLine(line string) bool {
	if text, ok := strings.CutPrefix(line, "Model constants: "); ok {
		parser.modelConstants(text)
		return true
	}
	if text, ok := strings.CutPrefix(line, "Property constants: "); ok {
		if property := parser.current(); property != nil && parser.reserve(2*len(text)) {
			property.Constants, property.constantsText = parseConstants(text), text
		}
		return true
	}
	parser.inHead = false
	return false
}

// modelConstants sets the constants of the model for the state space that PRISM is building, otherwise for the current property.
func (parser *prismParser) modelConstants(text string) {
	build, property := parser.lastBuild(), parser.current()
	switch {
	case parser.phase == building && parser.reserve(2*len(text)):
		build.Constants, build.constantsText = parseConstants(text), text
	case parser.phase != building && property != nil && parser.reserve(2*len(text)):
		property.Model, property.modelText = parseConstants(text), text
	}
}

var listedLine = lazyRegexp(`^\([0-9]+\) `)

// parseListed parses a line of the list of properties. It returns false for other lines, which end the list.
func (parser *prismParser) parseListed(line string) bool {
	number := listedLine().FindString(line)
	if number == "" {
		parser.listing = false
		return false
	}
	if parser.reserve(len(line)) {
		name, text := splitName(line[len(number):])
		parser.log.Listed = append(parser.log.Listed, Listed{name, text})
	}
	return true
}

var resultForm = lazyRegexp(`^Result(?: \(([^()]{1,200})\))?: (.*)$`)

var countForm = lazyRegexp(`^[0-9]+ propert(y|ies)$`)

// beginList parses the line that begins the list of properties, such as "2 properties:". It returns false for other lines.
func (parser *prismParser) beginList(line string) bool {
	key, rest, _ := strings.Cut(line, ":")
	if rest != "" || parser.begun || !parser.typed || len(parser.log.Listed) > 0 || !countForm().MatchString(key) {
		return false
	}
	parser.listing, parser.phase = true, running
	return true
}

// parseResultLine parses the result of the current property. It returns false for other lines. A second, different result removes the value of the
// property.
func (parser *prismParser) parseResultLine(line string, isCut bool) bool {
	if !strings.HasPrefix(line, "Result") {
		return false
	}
	match := resultForm().FindStringSubmatch(line)
	switch {
	case match == nil || !parser.typed:
		return false
	case parser.open >= 0:
		property := parser.current()
		property.Heading = match[1]
		parser.parseAnswer(property, match[2], isCut)
		parser.closeProperty()
	case parser.last >= 0 && !parser.separated:
		property := &parser.log.Properties[parser.last]
		if property.ValueText != match[2] {
			parser.withdraw(property)
		}
	default:
		parser.warnOnce(&parser.log.Warnings, "a result that belongs to no property: "+clip(match[2], 200))
	}
	return true
}

// withdraw removes a value that a second result contradicts.
func (parser *prismParser) withdraw(property *Property) {
	property.Value, property.Bound, property.HalfWidth, property.Accuracy, property.Confidence = result.Value{}, nil, nil, result.Unknown, 0
	property.Err = &result.Failure{Class: result.Other, Message: "PRISM printed two results"}
}

// closeProperty closes the current property and records the state space that it was checked on.
func (parser *prismParser) closeProperty() {
	property := parser.current()
	if build := parser.lastBuild(); property.Simulation == nil && build != nil && build.done && build.constantsText == property.modelText {
		property.Build = len(parser.log.Builds) - 1
		if property.Engine == "" {
			property.Engine = build.Engine
		}
	}
	parser.last, parser.open = parser.open, -1
}

// parseAnswer parses the text of a result and sets the value of the property, or its failure. isCut says that the end of the line was dropped.
func (parser *prismParser) parseAnswer(property *Property, text string, isCut bool) {
	if isCut {
		property.Err = &result.Failure{Class: result.Unsupported, Message: fmt.Sprintf("the result is on a line of more than %d bytes", parser.opts.MaxLine)}
		return
	}
	if !parser.reserve(4 * len(text)) {
		return
	}
	parsed, err := prismAnswer(text)
	setAnswer(property, parsed, err)
	for _, remark := range parsed.remarks {
		parser.warnOnce(&property.Warnings, "PRISM remarks on the result: "+remark)
	}
}

// setAnswer sets the value of a property from an answer, or its failure.
func setAnswer(property *Property, parsed answer, err error) {
	property.ValueText = parsed.text
	if err != nil {
		property.Err = &result.Failure{Class: result.Unsupported, Message: err.Error()}
		return
	}
	property.Value, property.Accuracy, property.Bound, property.HalfWidth, property.Confidence = parsed.value, parsed.accuracy, parsed.bound, parsed.halfWidth, parsed.confidence
}

// beginResults begins the list of results of an experiment. Each line of the list becomes a property in place of the current one.
func (parser *prismParser) beginResults() {
	property := parser.current()
	if property == nil || property.Simulation == nil {
		return
	}
	parser.results = &experiment{head: *property, first: parser.open}
	parser.log.Properties = parser.log.Properties[:parser.open]
	parser.open = -1
}

// parseValuation reads a line of an experiment that has the values of the constants and the result, such as "k=1 : 0.4 (+/- …)". It returns false for
// other lines.
func (parser *prismParser) parseValuation(line string, isCut bool) bool {
	constants, value, ok := strings.Cut(line, " : ")
	if !ok || !parser.reserve(recordCost+4*len(line)) {
		return false
	}
	property := parser.results.head
	simulation := *property.Simulation
	property.Simulation, property.Warnings, property.Constants, property.constantsText = &simulation, slices.Clone(property.Warnings), parseConstants(constants), constants
	if message, failed := strings.CutPrefix(value, "Error: "); failed {
		property.Err = parser.newFailure(strings.TrimSuffix(message, "."))
	} else {
		parser.parseAnswer(&property, value, isCut)
	}
	parser.log.Properties = append(parser.log.Properties, property)
	return true
}

// endResults ends the list of results. If the list is empty, the property stays current.
func (parser *prismParser) endResults() {
	if parser.results == nil {
		return
	}
	if len(parser.log.Properties) == parser.results.first {
		parser.log.Properties = append(parser.log.Properties, parser.results.head)
		parser.open = parser.results.first
	} else {
		parser.last = -1 // a further result would not belong to this property
	}
	parser.results = nil
}

// unfinished reads progress from an incomplete line.
func (parser *prismParser) unfinished(line []byte) {
	tail := line[max(0, len(line)-32):]
	end := bytes.LastIndexByte(tail, ' ')
	if end < 0 || parser.opts.Progress == nil {
		return
	}
	token := tail[bytes.LastIndexByte(tail[:end], ' ')+1 : end]
	switch {
	case bytes.HasPrefix(line, []byte("Sampling progress: [")):
		if count := leadingCount(string(token)); count > 0 && bytes.HasSuffix(token, []byte("%")) {
			parser.reportProgress(progress.Percent, count, 100)
		}
	case bytes.HasPrefix(line, []byte("Computing reachable")):
		if count := leadingCount(string(token)); count > 0 {
			parser.reportProgress(progress.States, count, 0)
		}
	}
}
