//go:build !js

package native

import (
	"tilecheck/native/simulate"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
)

// steps returns the source from which paths are sampled: the explored states of the model, or its compiled commands.
func (sampled *sampled) steps() simulate.Steps {
	switch model := sampled.model.(type) {
	case *explicit.Space:
		return simulate.Steps{Source: explicit.NewSteps(model), Compiled: model.Compiled()}
	case *compile.Model:
		return simulate.Steps{Source: simulate.FromModel(model), Compiled: model}
	}
	return simulate.Steps{}
}
