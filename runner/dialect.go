package runner

import "tilecheck/prism/syntax"

// UsesOperatorT reports whether a property has Storm's operator T, for expected times. It ignores texts that cannot be parsed; NewPlan returns an error for
// them later.
func (j *Job) UsesOperatorT() bool {
	if j.Dialect != syntax.Storm {
		return false
	}
	found := false
	for _, text := range append([]string{string(j.Properties)}, j.Props...) {
		tree, err := syntax.ParsePropertiesOf(j.Dialect, "", []byte(text))
		if err != nil {
			continue
		}
		found = found || tree.UsesTime()
	}
	return found
}
