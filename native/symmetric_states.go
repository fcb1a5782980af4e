//go:build !js

package native

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
}

// newSymmetricInstance returns an instance that checks each property of a model on a reduced state space.
func (method *statesMethod) newSymmetricInstance(model *compile.Model) (instance, error) {
	return &symmetricStates{statesMethod: method, model: model}, nil
}

// check implements instance. It explores the states again if the property has other eliminated control states, interchangeable modules, or permutations of
// variables than the property before.
func (symmetric *symmetricStates) check(ctx context.Context, property *checkedProperty) result.Verdict {
	program, compiled := property.Program, symmetric.model
	reduced := elimination.Eliminate(ctx, &property.Instance)
	if reduced != nil {
		var err error
		if compiled, err = compile.Compile(reduced, compile.Options{NoFixDeadlocks: compiled.DeadlocksAreErrors()}); err != nil {
			return result.Verdict{Err: failure(err, result.Build, symmetric.file, syntax.Pos{})}
		}
		eliminated := *property
		eliminated.Program, program, property = reduced, reduced, &eliminated
	}
	classes := symmetry.Find(program, property.Expr)
	var permutations []symmetry.Permutation
	if len(classes) == 0 {
		permutations = symmetry.FindPermutations(program, property.Expr)
	}
	isKnown := reduced == nil && symmetric.reduced == nil && slices.EqualFunc(classes, symmetric.classes, sameModules) &&
		slices.EqualFunc(permutations, symmetric.permutations, slices.Equal[symmetry.Permutation])
	if symmetric.explored == nil || !isKnown {
		symmetric.explored = nil // frees its memory
		opts := symmetric.build
		opts.Symmetry, opts.Permutations = classes, permutations
		space, err := explicit.Build(ctx, compiled, opts)
		if err != nil {
			return result.Verdict{Err: failure(err, result.Build, symmetric.file, syntax.Pos{})}
		}
		symmetric.reduced, symmetric.classes, symmetric.permutations, symmetric.explored = reduced, classes, permutations, symmetric.newExploredModel(space, nil)
	}
	verdict := symmetric.explored.check(ctx, property)
	verdict.Warnings = slices.Clip(verdict.Warnings)
	if reduced != nil {
		verdict.Warnings = append(verdict.Warnings, "reduced by elimination: states between others that the property does not distinguish are left out, and variables are reset that are written before they are read")
	}
	if reduced == nil || len(classes) > 0 || len(permutations) > 0 {
		verdict.Warnings = append(verdict.Warnings, symmetryNote(program, classes, permutations))
	}
	return verdict
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
