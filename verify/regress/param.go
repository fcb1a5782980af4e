package regress

import (
	"slices"

	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// settle gives parameters on which nothing depends a value: the result of such a model is
// no function but a number, which -param computes with fractions. What cannot be parsed
// has its error elsewhere.
func (s *subject) settle() {
	if s.switches.Params == "" || s.dependsOn(s.switches.Params) {
		return
	}
	values := parameters(s.switches.Params)
	s.job.Consts = append(slices.Clone(s.job.Consts), values...)
	s.switches.Consts = append(slices.Clone(s.switches.Consts), values...)
	s.switches.Params, s.switches.Exact = "", true
	s.job.Numeric.Accuracy = result.Exact
}

// dependsOn reports whether an expression of the model or of the properties names a parameter.
func (s *subject) dependsOn(params string) bool {
	model, err := syntax.ParseModel("", s.model)
	if err != nil {
		return true
	}
	props, err := syntax.ParseProperties("", s.props)
	if err != nil {
		return true
	}
	var names []string
	for _, p := range parameters(params) {
		names = append(names, p[:len(p)-len("=0")])
	}
	found := false
	for _, tree := range []syntax.Node{model, props} {
		syntax.Inspect(tree, func(n syntax.Node) bool {
			id, ok := n.(*syntax.Ident)
			found = found || ok && slices.Contains(names, id.Name)
			return !found
		})
	}
	return found
}
