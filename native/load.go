package native

import (
	"fmt"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Load reads a model and compiles it under the values that consts gives to its
// undefined constants, each element as PRISM's -const. There must be one
// valuation: a range of several values is refused. The warnings are about the
// definitions; diagnostics of the file are a syntax.ErrorList.
func Load(file string, src []byte, consts []string) (m *compile.Model, warnings []error, err error) {
	tree, err := syntax.ParseModel(file, src)
	if err != nil {
		return nil, nil, err
	}
	model, err := sema.CheckModel(tree)
	if err != nil {
		return nil, nil, err
	}
	defs, err := sema.ParseConsts(consts)
	if err != nil {
		return nil, nil, err
	}
	experiment, err := model.Experiment(nil, nil, defs)
	if err != nil {
		return nil, nil, err
	}
	var values []sema.Valuation
	for v := range experiment.Models() {
		if values = append(values, v); len(values) > 1 {
			return nil, nil, fmt.Errorf("the constants have several values (%s and %s among them), want one of each", values[0], values[1])
		}
	}
	prog, err := model.Instantiate(values[0].Map())
	if err != nil {
		return nil, nil, err
	}
	m, err = compile.Compile(prog, compile.Options{})
	return m, append(experiment.Warnings, prog.Warnings...), err
}
