//go:build !js

package native

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tilecheck/certify/orbits"
	"tilecheck/native/load"
	"tilecheck/native/prove"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/elimination"
	"tilecheck/prism/sema"
	"tilecheck/prism/symmetry"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// symmetricStates is an instance that checks each property on a reduced state space. Control states are eliminated and dead variables are reset. States that
// differ only by a permutation of interchangeable modules are represented by one of them. All this depends on the property.
type symmetricStates struct {
	*statesMethod
	model   *compile.Model
	reduced *sema.Program // without the eliminated control states; nil if there are none
	classes []symmetry.Class
	// permutations are used if there are no classes.
	permutations []symmetry.Permutation
	explored     *exploredModel // under this symmetry; nil until the first property
	fileModel    *exploredModel // the states of the certificate file; nil until a claim is accepted
}

// newSymmetricInstance returns an instance that checks each property of a model on a reduced state space.
func (method *statesMethod) newSymmetricInstance(model *compile.Model) (instance, error) {
	return &symmetricStates{statesMethod: method, model: model}, nil
}

// check implements instance. It checks a property on states that are reduced for this property: by eliminating control states, and by symmetry. If
// the property before had the same reduction, it uses the same states.
func (symmetric *symmetricStates) check(ctx context.Context, property *checkedProperty) result.Verdict {
	compiled := symmetric.model
	// First eliminate control states; then look for symmetry. A certificate is about the whole model up to symmetry, so it has all control states.
	var reduced *sema.Program
	if !symmetric.wantCertificates {
		reduced = elimination.Eliminate(ctx, &property.Instance)
	}
	if reduced != nil {
		var err error
		compiled, err = compile.Compile(reduced, compile.Options{NoFixDeadlocks: compiled.DeadlocksAreErrors()})
		if err != nil {
			return result.Verdict{Err: failure(err, result.Build, symmetric.file, syntax.Pos{})}
		}
		propertyOfReduced := *property
		propertyOfReduced.Program = reduced
		property = &propertyOfReduced
	}
	classes := symmetry.Find(property.Program, property.Expr)
	var permutations []symmetry.Permutation
	if len(classes) == 0 {
		permutations = symmetry.FindPermutations(property.Program, property.Expr)
	}
	// States that were explored for the property before are used again if the reduction is the same.
	if !symmetric.isExploredFor(reduced, classes, permutations) {
		if err := symmetric.explore(ctx, compiled, classes, permutations); err != nil {
			return result.Verdict{Err: failure(err, result.Build, symmetric.file, syntax.Pos{})}
		}
		symmetric.reduced = reduced
	}
	verdict := symmetric.withOutputs(symmetric.explored.check(ctx, property))
	verdict.Warnings = slices.Clip(verdict.Warnings)
	if reduced != nil {
		verdict.Warnings = append(verdict.Warnings, "reduced by elimination: states between others that the property does not distinguish are left out, and variables are reset that are written before they are read")
	}
	if reduced == nil || len(classes) > 0 || len(permutations) > 0 {
		verdict.Warnings = append(verdict.Warnings, symmetryNote(property.Program, classes, permutations))
	}
	return verdict
}

// isExploredFor reports whether the explored states can be used again for a property. reduced is the program without the control states that are
// eliminated for the property, or nil if there are none; states of such a program are not used again.
func (symmetric *symmetricStates) isExploredFor(reduced *sema.Program, classes []symmetry.Class, permutations []symmetry.Permutation) bool {
	return symmetric.explored != nil && reduced == nil && symmetric.reduced == nil &&
		slices.EqualFunc(classes, symmetric.classes, sameModules) &&
		slices.EqualFunc(permutations, symmetric.permutations, slices.Equal[symmetry.Permutation])
}

// explore explores the states of a model up to permutations, so that one state stands for all states that a permutation maps to it. It permutes the
// modules in each class or, if there are no classes, the variables.
func (symmetric *symmetricStates) explore(ctx context.Context, compiled *compile.Model, classes []symmetry.Class, permutations []symmetry.Permutation) error {
	symmetric.explored = nil // frees its memory
	options := symmetric.build
	options.Symmetry, options.Permutations = classes, permutations
	symmetric.classes, symmetric.permutations = classes, permutations
	if symmetric.wantCertificates {
		return symmetric.exploreForProofs(ctx, compiled, options)
	}
	space, err := explicit.Build(ctx, compiled, options)
	if err != nil {
		return err
	}
	symmetric.explored = symmetric.newExploredModel(space, nil)
	return nil
}

// exploreForProofs explores states with fractions. The certificates are about the whole model, of which the states must be a quotient; if that cannot be
// proven, there are no certificates.
func (symmetric *symmetricStates) exploreForProofs(ctx context.Context, compiled *compile.Model, options explicit.Options) error {
	space, inexactErr, err := load.Fractions(ctx, compiled, options)
	if err != nil {
		return err
	}
	method := symmetric.statesMethod
	if symmetric.outputs.Certificate != nil && symmetric.fileModel != nil { // the file has the states of an earlier property
		method = method.withoutProofs()
	}
	symmetric.explored = method.newExploredModel(space, inexactErr)
	proofs := symmetric.explored.proofs
	if proofs == nil || proofs.prover == nil || len(options.Symmetry)+len(options.Permutations) == 0 {
		return nil
	}
	proofs.prover.Symmetry = prove.Symmetry(space.Program(), options.Symmetry, options.Permutations)
	state := make([]int32, len(space.Program().Vars))
	quotient, err := orbits.NewQuotient(ctx, space.Program(), proofs.prover.Symmetry, proofs.prover.Model, func(index int) []int32 {
		return proofs.prover.State(state, index)
	})
	if err != nil {
		proofs.proverErr = fmt.Errorf("the symmetry is not proven: %w", err)
		return nil
	}
	proofs.quotient = quotient
	return nil
}

// withOutputs returns the verdict with warnings about its certificate. A certificate file has the states of the first accepted claim; properties with another
// symmetry get a warning.
func (symmetric *symmetricStates) withOutputs(verdict result.Verdict) result.Verdict {
	if symmetric.outputs.Certificate == nil || verdict.Err != nil {
		return verdict
	}
	if symmetric.fileModel != nil && symmetric.fileModel != symmetric.explored {
		return notProven(verdict, "the property has another symmetry than an earlier property, and a certificate file has the states of one, want --select")
	}
	if proofs := symmetric.explored.proofs; proofs != nil && len(proofs.claims) > 0 {
		symmetric.fileModel = symmetric.explored
	}
	return verdict
}

// acceptedProofs returns the certificates for the certificate file, or nil if no claim was accepted.
func (symmetric *symmetricStates) acceptedProofs() *certificates {
	if symmetric.fileModel == nil {
		return nil
	}
	return symmetric.fileModel.proofs
}

// sameModules reports whether two classes have the same modules.
func sameModules(left, right symmetry.Class) bool { return slices.Equal(left.Modules, right.Modules) }

// symmetryNote returns a warning that says how symmetry reduced the model: it names the interchangeable modules, or the number of permutations
// of variables.
func symmetryNote(program *sema.Program, classes []symmetry.Class, permutations []symmetry.Permutation) string {
	if len(permutations) > 0 {
		return fmt.Sprintf("reduced by symmetry: one state stands for all that differ by one of %d permutations of the variables", len(permutations)+1)
	}
	if len(classes) == 0 {
		return "not reduced by symmetry: no modules are interchangeable for this property"
	}
	var sets []string
	for _, class := range classes {
		var names []string
		for _, module := range class.Modules {
			names = append(names, program.Modules[module].Name)
		}
		sets = append(sets, strings.Join(names, ", "))
	}
	return fmt.Sprintf("reduced by symmetry: one state stands for all that differ by a permutation of the modules %s", strings.Join(sets, ", or of the modules "))
}
