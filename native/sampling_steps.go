//go:build !js

package native

import (
	"tilecheck/native/simulate"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
)

// steps returns a source of steps of the model: from its explored states, or from its compiled commands.
func (sampled *sampled) steps() simulate.Steps {
	switch model := sampled.model.(type) {
	case *explicit.Space:
		return simulate.Steps{Source: explicit.NewSteps(model), Compiled: model.Compiled()}
	case *compile.Model:
		return simulate.Steps{Source: simulate.FromModel(model), Compiled: model}
	}
	return simulate.Steps{}
}
