// Package foreign translates command lines of PRISM, of Storm and of earlier versions of
// tilecheck to command lines of tilecheck.
package foreign

import (
	"math/big"
	"path/filepath"
	"slices"
	"strings"
)

// Reading is a possible translation of a command line.
type Reading struct {
	Words []string // the command line of tilecheck; empty if there is no translation
	// File is the file to which the other program would write the output; empty if it would print it.
	File string
	// Dropped are the switches that the translation leaves out because they are not needed.
	Dropped []DroppedSwitch
}

// DroppedSwitch is a switch that is not needed, as it was written, with the reason.
type DroppedSwitch struct{ Text, Reason string }

// translateOldCompare translates a command line of an earlier version of tilecheck, in which compare had the flag --preset
// instead of subcommands. It returns the possible translations, first the one that keeps all words; nil if the command is not
// compare.
func translateOldCompare(args []string) [][]string {
	if len(args) == 0 || args[0] != "compare" {
		return nil
	}
	command, args := splitCompareCommand(args[1:])
	var flags []string
	for i := 0; i < len(args); i++ {
		name, value, hasValue := strings.Cut(args[i], "=")
		switch {
		case name == "--preset" && hasValue:
			command = []string{"compare", "document", value}
		case name == "--preset" && i+1 < len(args):
			i++
			command = []string{"compare", "document", args[i]}
		case name == "--samples": // now --games
			flags = append(flags, "--games"+strings.TrimPrefix(args[i], name))
		default:
			flags = append(flags, args[i])
		}
	}
	translations := [][]string{slices.Concat(command, flags)}
	if isPreset := len(command) == 3; isPreset { // perhaps it does not accept the flags
		translations = append(translations, command)
	}
	return translations
}

// splitCompareCommand returns the command `compare document` or `compare players` that the arguments of compare ask for, and the
// arguments without the name of a subcommand.
func splitCompareCommand(args []string) (command, otherArgs []string) {
	command = []string{"compare", "players"}
	if len(args) == 0 {
		return command, nil
	}
	switch args[0] {
	case "document":
		return []string{"compare", "document"}, args[1:]
	case "models", "players":
		return command, args[1:]
	}
	return command, args
}

// translation is a command line of PRISM or Storm that is being translated.
type translation struct {
	switches     map[string]*Switch // by name, without dashes
	isStorm      bool               // the command line is for Storm
	command      string             // the command that a switch needs; empty if none does
	files        []string           // the files for tilecheck, in order
	stateFiles   []string           // the files of an explicit state space
	flags        []string           // the flags for tilecheck
	commandFlags []string           // those of the flags that belong to command
	outputFile   string             // the file to which the other program would write; empty for standard output
	needs        []string           // Switch.Needs of the switches
	dropped      []DroppedSwitch
}

// translate translates the switches of PRISM and Storm in a command line. commands are the names of tilecheck's commands. If the
// command line does not begin with one of them, translate adds the command that the switches need, or check. If a switch needs
// a command and onlyCommand is set, the translation keeps only the model, the constants and the flags of this command. The
// translation has no words if a switch cannot be translated, or if the command line begins with a misspelt command.
func translate(args, commands []string, onlyCommand bool) Reading {
	t := &translation{switches: byName()}
	t.isStorm = slices.ContainsFunc(args, t.isStormInput)
	command := ""
	if len(args) > 0 && slices.Contains(commands, args[0]) {
		command, args = args[0], args[1:]
	}
	for len(args) > 0 {
		numWords, ok := t.translateWord(args)
		if !ok {
			return Reading{}
		}
		args = args[numWords:]
	}
	if !t.addNeeds() || !t.addStateFiles() {
		return Reading{}
	}
	switch {
	case t.command != "" && onlyCommand:
		command, t.files, t.flags = t.command, t.files[:min(1, len(t.files))], t.commandFlags
	case t.command != "":
		command = t.command
	case command == "" && t.beginsWithMisspeltCommand():
		return Reading{}
	case command == "":
		command = "check"
	}
	return Reading{Words: slices.Concat([]string{command}, t.files, t.flags), File: t.outputFile, Dropped: t.dropped}
}

// isStormInput reports whether a word is a switch of Storm that names the model.
func (t *translation) isStormInput(word string) bool {
	known := t.switches[nameOf(word)]
	return strings.HasPrefix(word, "--") && known != nil && known.NamesModel
}

// beginsWithMisspeltCommand reports whether the first file does not look like a file: it has neither an extension nor a directory.
func (t *translation) beginsWithMisspeltCommand() bool {
	return len(t.files) > 0 && t.files[0] != "-" && !strings.ContainsAny(t.files[0], `./\`)
}

// addStateFiles replaces the model by the files of a state space, if there are any. It returns false if tilecheck cannot read these files
// together.
func (t *translation) addStateFiles() (ok bool) {
	if len(t.stateFiles) == 0 {
		return true
	}
	stateSpace, ok := joinStateFiles(t.stateFiles)
	if ok {
		t.files = append([]string{stateSpace}, slices.DeleteFunc(t.files, isModelFile)...)
	}
	return ok
}

// addNeeds adds the words without which other words have no effect, unless they are there. It returns false if only the user can choose
// them.
func (t *translation) addNeeds() (ok bool) {
	for _, need := range t.needs {
		flag, value, _ := strings.Cut(need, " ")
		switch {
		case slices.Contains(t.flags, flag):
		case value == strings.ToUpper(value):
			return false
		default:
			t.flags = append(t.flags, flag, value)
		}
	}
	return true
}

// translateWord translates the first word of a command line, with the words that are its arguments. It returns the number of these words. ok is
// false if the word is a switch without a counterpart.
func (t *translation) translateWord(args []string) (numWords int, ok bool) {
	word := args[0]
	if !strings.HasPrefix(word, "-") || word == "-" {
		t.files = append(t.files, word)
		return 1, true
	}
	name, value, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
	if strings.Contains(name, ":") { // the value is the one of an option, as in -ii:upper=3
		hasValue = false
	}
	if strings.HasPrefix(word, "--") && isSetting(name) { // it changes no answer
		numWords = 1 + countValues(args[1:])
		t.drop(args[:numWords], ownMethod)
		return numWords, true
	}
	knownSwitch := t.switches[nameOf(word)]
	switch {
	case knownSwitch == nil || knownSwitch.Names[0] == "engine" && !t.isStorm: // perhaps a flag of tilecheck
		t.flags = append(t.flags, word)
		return 1, true
	case !hasValue && len(args) <= knownSwitch.NumArguments: // arguments are missing
		t.flags = append(t.flags, word)
		return 1, true
	case knownSwitch.Reason != "" && !knownSwitch.IsNeedless:
		return 0, false
	case hasValue && knownSwitch.NumArguments == 0:
		t.flags = append(t.flags, word)
		return 1, true
	}
	values, numWords := []string{value}, 1
	if !hasValue {
		values, numWords = args[1:1+knownSwitch.NumArguments], 1+knownSwitch.NumArguments
	}
	if knownSwitch.IsNeedless {
		t.drop(args[:numWords], knownSwitch.Reason)
	}
	numOptional, ok := t.addSwitch(knownSwitch, values, args[numWords:])
	return numWords + numOptional, ok
}

// drop records a switch that is not needed, with its arguments.
func (t *translation) drop(words []string, reason string) {
	t.dropped = append(t.dropped, DroppedSwitch{strings.Join(words, " "), reason})
}

// addSwitch adds the translation of a switch with its arguments. following has the words after them. addSwitch returns how many of
// these words are optional arguments of the switch. ok is false if the switch cannot be translated.
func (t *translation) addSwitch(knownSwitch *Switch, values, following []string) (numOptional int, ok bool) {
	name := knownSwitch.Names[0]
	switch {
	case name == "simpath":
		return 0, t.addSimpath(knownSwitch, values)
	case name == "epsilon" && strings.Trim(values[0], "abcdefghijklmnopqrstuvwxyz-") == "": // Storm's -e selects the engine
		t.drop([]string{"-e", values[0]}, ownMethod)
		return 0, true
	case knownSwitch.NamesStates:
		t.stateFiles = append(t.stateFiles, values[0])
		return 0, true
	case t.isStorm && (name == "property" || name == "janiproperty"): // the names of properties may follow
		if countValues(following) > 0 {
			t.flags = append(t.flags, "--select", following[0])
			numOptional = 1
		}
	case len(following) > 0 && slices.Contains(strings.Fields(knownSwitch.OptionalValues), following[0]):
		numOptional = 1
	}
	if knownSwitch.Command != "" {
		t.command = knownSwitch.Command
	}
	if knownSwitch.Needs != "" {
		t.needs = append(t.needs, knownSwitch.Needs)
	}
	t.addWords(knownSwitch, values)
	return numOptional, true
}

// addWords adds the words of tilecheck's command line that stand for a switch with its arguments.
func (t *translation) addWords(knownSwitch *Switch, values []string) {
	name := knownSwitch.Names[0]
	isFile := strings.HasPrefix(knownSwitch.Words, "{")
	belongsToCommand := knownSwitch.Command != "" || knownSwitch.FitsAnyCommand || name == "const"
	for word := range strings.FieldsSeq(knownSwitch.Words) {
		word = insertValues(word, name, values)
		if isFile {
			t.files = append(t.files, word)
			continue
		}
		t.flags = append(t.flags, word)
		if belongsToCommand {
			t.commandFlags = append(t.commandFlags, word)
		}
	}
}

// insertValues replaces {1} in a word by the first argument of a switch, {1-} by one minus this argument, and {2} and {2-} likewise.
func insertValues(word, switchName string, values []string) string {
	for i, value := range values {
		number := string(rune('1' + i))
		word = strings.ReplaceAll(word, "{"+number+"}", convertValue(switchName, value))
		word = strings.ReplaceAll(word, "{"+number+"-}", complement(value))
	}
	return word
}

// addSimpath adds the translation of PRISM's switch -simpath with its two arguments, the options and the output file. It returns false if an
// option cannot be translated.
func (t *translation) addSimpath(knownSwitch *Switch, values []string) (ok bool) {
	if len(values) != 2 {
		return false
	}
	flags, ok := translateSimpathOptions(values[0])
	if !ok {
		return false
	}
	t.command = knownSwitch.Command
	t.flags = append(t.flags, flags...)
	t.commandFlags = append(t.commandFlags, flags...)
	if values[1] != "stdout" {
		t.outputFile = values[1]
	}
	return true
}

// complement returns 1 - x for a decimal number x, because PRISM has error probabilities where tilecheck has confidences. It returns other
// texts unchanged.
func complement(number string) string {
	probability, ok := new(big.Rat).SetString(number)
	if !ok {
		return number
	}
	digits, _ := probability.FloatPrec()
	return probability.Sub(big.NewRat(1, 1), probability).FloatString(digits)
}

// nameOf returns the name of a switch: the word without dashes, without a value, and without options after a colon.
func nameOf(word string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	name, _, _ = strings.Cut(name, ":")
	return name
}

// countValues returns the number of words before the next switch.
func countValues(words []string) int {
	nextSwitch := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, "-") })
	if nextSwitch < 0 {
		return len(words)
	}
	return nextSwitch
}

// isModelFile reports whether the name of a file has an extension of PRISM or JANI models.
func isModelFile(file string) bool {
	return slices.Contains([]string{".prism", ".nm", ".pm", ".sm", ".jani"}, filepath.Ext(file))
}

// joinStateFiles returns the name that tilecheck uses for several files of one state space: "m.tra,sta" for m.tra and m.sta. ok is
// false if the names differ in more than the extension, or one has none.
func joinStateFiles(files []string) (name string, ok bool) {
	if len(files) == 1 {
		return files[0], true
	}
	base := strings.TrimSuffix(files[0], filepath.Ext(files[0]))
	var extensions []string
	for _, file := range files {
		extension := filepath.Ext(file)
		if extension == "" || strings.TrimSuffix(file, extension) != base {
			return "", false
		}
		extensions = append(extensions, strings.TrimPrefix(extension, "."))
	}
	return base + "." + strings.Join(extensions, ","), true
}

// translateSimpathOptions translates the options of PRISM's switch -simpath to flags. ok is false if an option is unknown.
func translateSimpathOptions(options string) (flags []string, ok bool) {
	flagOf := map[string]string{
		"loopcheck=false": "--no-loop-check", "probs=true": "--probs", "rewards=true": "--rewards", "changes=true": "--changes", "deadlock": "--deadlock",
	}
	for _, option := range splitOptions(options) {
		name, value, _ := strings.Cut(option, "=")
		isNumber := strings.Trim(option, "0123456789") == ""
		switch {
		case flagOf[option] != "":
			flags = append(flags, flagOf[option])
		case name == "time":
			flags = append(flags, "--time", value)
		case name == "vars":
			flags = append(flags, "--vars", strings.Trim(value, "()"))
		case isNumber:
			flags = append(flags, "--steps", option)
		case name == "sep", value == "true", value == "false": // the separator of the output, or a default
		default:
			return nil, false
		}
	}
	return append(flags, "--format", "csv"), true
}

// splitOptions splits a text at the commas outside parentheses.
func splitOptions(text string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		return c == ',' && depth == 0
	})
}

// convertValue converts the argument of a switch to the form that tilecheck wants: a time limit has the unit s, the name of exported files has no
// extension, and a file for a chain that is not called .tra has the type.
func convertValue(switchName, value string) string {
	switch switchName {
	case "timeout":
		if strings.Trim(value, "0123456789") == "" {
			return value + "s"
		}
	case "exportstates", "exporttrans", "exportlabels", "exportrewards", "exportstaterewards", "exporttransrewards",
		"exporttransdot", "exporttransdotstates", "exportdot", "exportexplicit":
		return strings.TrimSuffix(value, filepath.Ext(value))
	case "exportadv", "exportadvmdp":
		if filepath.Ext(value) != ".tra" { // then the name does not say that the file has the induced chain
			return value + ":type=induced"
		}
	}
	return value
}

// Readings returns the possible translations of a command line of PRISM, of Storm or of an earlier version of tilecheck, the likeliest
// first. commands are the names of tilecheck's commands. A translation may have no words, or the same words as the command line.
func Readings(args, commands []string) []Reading {
	var readings []Reading
	for _, words := range translateOldCompare(args) {
		readings = append(readings, Reading{Words: words})
	}
	return append(readings, translate(args, commands, false), translate(args, commands, true))
}

// Absent returns the first switch of PRISM or Storm in a command line that cannot be translated, and the word that names it
// there. It returns nil if there is no such switch.
func Absent(args []string) (word string, missing *Switch) {
	switches := byName()
	for _, arg := range args {
		knownSwitch := switches[nameOf(arg)]
		if strings.HasPrefix(arg, "-") && knownSwitch != nil && knownSwitch.Reason != "" && !knownSwitch.IsNeedless {
			return arg, knownSwitch
		}
	}
	return "", nil
}

// Lookup returns the switch with a name, which may have dashes; nil if there is none.
func Lookup(name string) *Switch { return byName()[nameOf(name)] }
