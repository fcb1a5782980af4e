//go:build !js

package native

import (
	"context"
	"fmt"
	"slices"

	"tilecheck/internal/noun"
	"tilecheck/native/space/boxes"
	"tilecheck/prism/compile"
	"tilecheck/result"
)

// boxStates is an instance that checks each property on boxes of states that behave in the same way. The boxes depend on the property.
type boxStates struct {
	*statesMethod
	model       *compile.Model
	manyInitial *compile.ManyInitialError // see newBoxInstance
}

// newBoxInstance returns an instance that checks properties on boxes. manyInitial says that the model has too many initial states for an exploration; nil if
// the job wants boxes.
func (method *statesMethod) newBoxInstance(model *compile.Model, manyInitial *compile.ManyInitialError) (instance, error) {
	return &boxStates{statesMethod: method, model: model, manyInitial: manyInitial}, nil
}

// check implements instance. It builds boxes, sets of states that behave in the same way with respect to the property, and checks the property on the
// model whose states are the boxes.
func (states *boxStates) check(ctx context.Context, property *checkedProperty) result.Verdict {
	options := boxes.Options{MaxStates: states.build.MaxStates, MaxMemory: states.build.MaxMemory}
	built, err := boxes.Build(ctx, states.model, &property.Instance, options)
	if err != nil {
		return result.Verdict{Err: states.failure(err, property)}
	}
	translated := *property
	translated.Program, translated.Expr = built.Space.Program(), built.Property
	verdict := states.newExploredModel(built.Space, nil).check(ctx, &translated)
	verdict.Warnings = append(slices.Clip(verdict.Warnings), fmt.Sprintf("answered on %s of states that behave in the same way; %s between them were followed and not stored",
		noun.Count(built.Boxes, "box"), noun.Count(built.Steps, "step")))
	return verdict
}

// failure returns the failure for an error of the boxes. If the model was not supposed to be explored by boxes, it also has the reason why it was.
func (states *boxStates) failure(err error, property *checkedProperty) *result.Failure {
	failed := failure(err, result.Build, property.File, property.Pos)
	if states.manyInitial != nil && failed.Class == result.Unsupported {
		failed.Message = fmt.Sprintf("the model has %s; %s", states.manyInitial.Msg, failed.Message)
	}
	return failed
}
