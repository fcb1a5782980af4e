package runner

import "tilecheck/prism/syntax"

// readDRN recognizes no DRN file: the page of the playground has no files of other tools.
func readDRN(*Job) (tree *syntax.Model, isDRN bool, err error) { return nil, false, nil }
