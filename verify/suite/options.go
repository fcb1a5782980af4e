package suite

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// Options has the values of the switches that say what to compute. Other switches, such as PRISM's engines, are only in Switches.
type Options struct {
	// Model and Props are the files of the run; each is empty if there is none.
	Model, Props string
	Consts       []string         // arguments of -const
	Select       []string         // -property: names, or numbers from 1
	Type         syntax.ModelType // -dtmc, -mdp, -ctmc; TypeNone to leave the model's
	Exact        bool             // -exact
	Fair         bool             // -fair
	// DigitalClocks is -ptamethod digital.
	DigitalClocks bool
	// NoFixDeadlocks is -nofixdl, and NoProbChecks is -noprobchecks.
	NoFixDeadlocks, NoProbChecks bool
	// Params are the parameters of -param, as written.
	Params string
	// Simulation is nil without -sim.
	Simulation *Simulation
	// Transient is the time of -transient; Steady is -steadystate.
	Transient string
	Steady    bool
	// Imports and Exports are the switches of that kind, each with its arguments.
	Imports, Exports [][]string
	// Switches are all switches, in order.
	Switches []Switch
}

// Simulation has the values of the switches that begin with -sim; zero means not given.
type Simulation struct {
	Method                                        string
	Samples, PathLength, MinSamples               int64
	Error, HalfWidth, Approximation, MaxRewardSum float64 // -simconf, -simwidth, -simapprox, -simmaxrwd
}

// Options interprets PRISM's switches in the arguments of the run. It returns a *syntax.Error, with a position, for an unknown switch.
//
// Source: PrismCL.java and PrismSettings.java of PRISM 4.10.
func (r Run) Options() (Options, error) {
	reader := &optionReader{Options: &Options{Model: r.Model, Props: r.Props}, run: r}
	reader.splitArgs()
	for i := range reader.Switches {
		reader.readSwitch(&reader.Switches[i])
	}
	return *reader.Options, reader.err
}

// optionReader interprets the switches of a run. It keeps the first error.
type optionReader struct {
	*Options
	run     Run
	current int // index of the current switch among the arguments
	err     error
}

// fail records an error at the current switch, if it is the first one.
func (r *optionReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = r.run.errorAt(r.current, fmt.Sprintf(format, args...))
	}
}

// splitArgs splits the arguments into switches and files. The first file is the model and the second one the properties file; the first is the
// properties file if a switch imports the model.
func (r *optionReader) splitArgs() {
	args := r.run.Args
	var fileArgs []int
	for argIndex := 0; argIndex < len(args); argIndex++ {
		if !strings.HasPrefix(args[argIndex], "-") {
			fileArgs = append(fileArgs, argIndex)
			continue
		}
		option := r.nextSwitch(args, argIndex)
		r.Switches = append(r.Switches, option)
		argIndex += len(option.Words) - 1
	}
	importsModel := slices.ContainsFunc(r.Switches, func(option Switch) bool {
		return option.Import() && option.Name() != "importresults" && option.Name() != "importpepa"
	})
	for _, argIndex := range fileArgs {
		r.current = argIndex
		r.addFile(args[argIndex], importsModel)
	}
}

// addFile stores a file argument as the model or, if there already is a model or it is imported, as the properties file.
func (r *optionReader) addFile(word string, importsModel bool) {
	switch name := path.Join(r.run.Dir, word); {
	case r.Model == "" && !importsModel:
		r.Model = name
	case r.Props == "":
		r.Props = name
	default:
		r.fail("found one more file, %q, want at most a model and a properties file", word)
	}
}

// nextSwitch returns the switch at an index of the arguments, with the arguments of this switch. It records an error for an unknown switch or a
// missing argument.
func (r *optionReader) nextSwitch(args []string, index int) Switch {
	r.current = index
	option := Switch{Words: args[index : index+1 : index+1], index: index}
	count, ok := arity(option.Name())
	if !ok {
		r.fail("unknown switch %q", args[index])
	}
	end := index + 1 + count
	if end > len(args) {
		r.fail("switch %s has too few arguments, want %d", args[index], count)
		end = len(args)
	}
	option.Words = args[index:end:end]
	return option
}

// readSwitch stores the meaning of a switch in the options. It ignores a switch with missing arguments, because nextSwitch has already recorded
// an error.
func (r *optionReader) readSwitch(option *Switch) {
	count, _ := arity(option.Name())
	if len(option.Words) != 1+count {
		return
	}
	r.current = option.index
	switch name := option.Name(); name {
	case "const":
		r.Consts = append(r.Consts, option.Words[1])
	case "property", "prop":
		r.Select = append(r.Select, strings.Split(option.Words[1], ",")...)
	case "dtmc", "mdp", "ctmc":
		r.Type = map[string]syntax.ModelType{"dtmc": syntax.DTMC, "mdp": syntax.MDP, "ctmc": syntax.CTMC}[name]
	case "exact":
		r.Exact = true
	case "fair":
		r.Fair = true
	case "ptamethod":
		r.DigitalClocks = option.Words[1] == "digital"
	case "nofixdl":
		r.NoFixDeadlocks = true
	case "noprobchecks":
		r.NoProbChecks = true
	case "param":
		r.Params = option.Words[1]
	case "transient", "tr":
		r.Transient = option.Words[1]
	case "steadystate", "ss":
		r.Steady = true
	default:
		r.readPrefixedSwitch(option)
	}
}

// readPrefixedSwitch stores the meaning of a switch that begins with import, export or sim in the options. It ignores other switches.
func (r *optionReader) readPrefixedSwitch(option *Switch) {
	if option.Ignored() {
		return
	}
	switch {
	case option.Import():
		r.Imports = append(r.Imports, option.Words)
	case option.Export():
		r.Exports = append(r.Exports, option.Words)
	case strings.HasPrefix(option.Name(), "sim"):
		r.readSimulation(option)
	}
}

// readSimulation stores the meaning of a switch of the simulator in the options.
func (r *optionReader) readSimulation(option *Switch) {
	if r.Simulation == nil {
		r.Simulation = &Simulation{}
	}
	simulation := r.Simulation
	switch option.Name() {
	case "simmethod":
		simulation.Method = option.Words[1]
	case "simsamples":
		simulation.Samples = r.parseInteger(option.Words[1])
	case "simvar":
		simulation.MinSamples = r.parseInteger(option.Words[1])
	case "simpathlen":
		simulation.PathLength = r.parseInteger(option.Words[1])
	case "simconf":
		simulation.Error = r.parseNumber(option.Words[1])
	case "simwidth":
		simulation.HalfWidth = r.parseNumber(option.Words[1])
	case "simapprox":
		simulation.Approximation = r.parseNumber(option.Words[1])
	case "simmaxrwd":
		simulation.MaxRewardSum = r.parseNumber(option.Words[1])
	}
}

// parseInteger parses an integer, or records an error.
func (r *optionReader) parseInteger(word string) int64 {
	integer, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		r.fail("found %q, want an integer", word)
	}
	return integer
}

// parseNumber parses a number, or records an error.
func (r *optionReader) parseNumber(word string) float64 {
	number, err := strconv.ParseFloat(word, 64)
	if err != nil {
		r.fail("found %q, want a number", word)
	}
	return number
}
