//go:build !js

package runner

import (
	"tilecheck/prism/drn"
	"tilecheck/prism/syntax"
)

// readDRN translates the model of a job if it is a DRN file with parameters. If a property has Storm's operator T, it adds the reward structure of this
// operator.
func readDRN(job *Job) (tree *syntax.Model, isDRN bool, err error) {
	if !drn.HasFunctions(job.Model) {
		return nil, false, nil
	}
	if tree, err = drn.Read(job.File, job.Model); err == nil && job.UsesOperatorT() {
		tree.Items = append(tree.Items, drn.Time())
	}
	return tree, true, err
}
