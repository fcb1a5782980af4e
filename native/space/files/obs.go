package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// computeObservations computes the observations of a POMDP for the file. They are nil for other models.
func (printer *printer) computeObservations() (err error) {
	printer.observations, err = printer.space.Observations(printer.ctx)
	if wrong, ok := errors.AsType[*explicit.ChoicesError](err); ok {
		return fmt.Errorf("%s: %w", wrong.File, wrong)
	}
	return err
}

// importedObservations returns the observation of each state of a POMDP, and a text for each observation. The texts are the values in the
// .obs file, or numbers if obsFile is nil.
func (file *traFile) importedObservations(obsFile *staFile) *explicit.Observations {
	observations := &explicit.Observations{}
	for observation := range file.declaredTotals.numObservations {
		text := strconv.Itoa(observation)
		if obsFile != nil {
			text = obsFile.valueText(observation)
		}
		observations.Texts = append(observations.Texts, text)
	}
	for _, observation := range file.stateObservations {
		observations.ByState = append(observations.ByState, uint32(observation))
	}
	return observations
}

// valueText returns the values of the variables in a state or an observation, separated by commas, such as "0,true".
func (file *staFile) valueText(index int) string {
	var texts []string
	for slot, variable := range file.variables {
		value := file.values[index*len(file.variables)+slot]
		text := strconv.Itoa(int(value))
		if variable.Type == sema.Bool {
			text = strconv.FormatBool(value != 0)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ",")
}

// varNames returns the names of the variables.
func (file *staFile) varNames() []string {
	var names []string
	for _, variable := range file.variables {
		names = append(names, variable.Name)
	}
	return names
}

// writeInitialObservations writes a line of a POMDP's .tra file for each initial state, with its observation. Other states have theirs in
// the lines of the transitions to them.
func (printer *printer) writeInitialObservations() {
	if printer.observations == nil {
		return
	}
	for _, state := range printer.model.Initial {
		printer.writeText("- -")
		printer.writeSpaceAndInt(int(printer.stateNumbers[state]))
		printer.writeText(" -")
		printer.writeSpaceAndInt(int(printer.observations.ByState[state]))
		printer.endLine()
	}
}

// Observations writes PRISM's .obs file. It has the names of the observables and, for each observation, a line with their values. If the
// model is not a POMDP, the error is a *compile.UnsupportedError.
func (writer *Writer) Observations(ctx context.Context, out io.Writer) error {
	if writer.program.Type != syntax.POMDP {
		return &compile.UnsupportedError{File: writer.program.File, Msg: fmt.Sprintf("found a model of type %s, only POMDPs have observations", writer.program.Type)}
	}
	return writer.printTo(ctx, out, func(printer *printer) error {
		if err := printer.computeObservations(); err != nil {
			return err
		}
		printer.writeComment("Observations")
		var names []string
		for _, observable := range printer.program.Observables {
			names = append(names, observable.Name)
		}
		printer.writeText("(" + strings.Join(names, ",") + ")")
		printer.endLine()
		for observation, text := range printer.observations.Texts {
			printer.writeInt(observation)
			printer.writeText(":(" + text + ")")
			printer.endLine()
		}
		return nil
	})
}
