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

// importedObservations returns the observations of the states. Their texts are the values in the .obs file, or
// numbers if obs is nil.
func (file *traFile) importedObservations(obs *staFile) *explicit.Observations {
	observations := &explicit.Observations{}
	for observation := range file.totals.observations {
		text := strconv.Itoa(observation)
		if obs != nil {
			text = obs.valueText(observation)
		}
		observations.Texts = append(observations.Texts, text)
	}
	for _, observation := range file.stateObservations {
		observations.ByState = append(observations.ByState, uint32(observation))
	}
	return observations
}

// valueText returns the values of a state or observation, separated by commas.
func (file *staFile) valueText(index int) string {
	var texts []string
	for i, variable := range file.vars {
		value := file.values[index*len(file.vars)+i]
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
	var out []string
	for _, variable := range file.vars {
		out = append(out, variable.Name)
	}
	return out
}

// writeInitialObservations writes a line with the observation of each initial state.
func (printer *printer) writeInitialObservations() {
	if printer.observations == nil {
		return
	}
	for _, i := range printer.model.Initial {
		printer.write("- -")
		printer.writeSpaceInt(int(printer.stateNumbers[i]))
		printer.write(" -")
		printer.writeSpaceInt(int(printer.observations.ByState[i]))
		printer.endLine()
	}
}

// Observations writes PRISM's .obs file. It has the observables and their values in every observation. The
// error is a *compile.UnsupportedError if the model is not a POMDP.
func (writer *Writer) Observations(ctx context.Context, out io.Writer) error {
	if writer.program.Type != syntax.POMDP {
		return &compile.UnsupportedError{File: writer.program.File, Msg: fmt.Sprintf("found a model of type %s, only POMDPs have observations", writer.program.Type)}
	}
	return writer.printTo(ctx, out, func(p *printer) error {
		if err := p.computeObservations(); err != nil {
			return err
		}
		p.writeComment("Observations")
		var names []string
		for _, observable := range p.program.Observables {
			names = append(names, observable.Name)
		}
		p.write("(" + strings.Join(names, ",") + ")")
		p.endLine()
		for k, text := range p.observations.Texts {
			p.writeInt(k)
			p.write(":(" + text + ")")
			p.endLine()
		}
		return nil
	})
}
