package simulate

import "tilecheck/prism/compile"

// Steps draws paths state by state: the source of the steps, and the model that evaluates expressions in its states.
type Steps struct {
	Source   Source
	Compiled *compile.Model
}
