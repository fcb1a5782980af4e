package certificate

// Symmetry says that the model of a file is a quotient: each of its states stands for all states of the whole model that the permutations map to it.
// Package certify/orbits checks that against the text of the model; the file alone does not prove it.
type Symmetry struct {
	Classes      []Class       `json:"classes,omitempty"`
	Permutations []Permutation `json:"permutations,omitempty"`
}

// Class is a list of blocks, such as the interchangeable modules of a model. All permutations of the blocks are claimed to be symmetries. A permutation moves
// each variable and each action of a block to the one at the same position of another block.
type Class []Block

// Block has the names of variables and of actions.
type Block struct {
	Variables []string `json:"variables"`
	Actions   []string `json:"actions,omitempty"`
}

// Permutation maps names of variables to names of variables: the value of a variable becomes the value of its image. A variable without an entry is its own image.
type Permutation map[string]string
