package orbits

import (
	"fmt"
	"slices"
	"strings"

	"tilecheck/certify/certificate"
	"tilecheck/internal/noun"
	"tilecheck/prism/sema"
)

// permutation is a permutation of the variables and actions of a program.
type permutation struct {
	name      string // for errors
	variables []int  // the image of each variable, by slot
	actions   map[int]int
}

// identity returns the permutation that changes nothing.
func identity(program *sema.Program) *permutation {
	images := make([]int, len(program.Vars))
	for slot := range images {
		images[slot] = slot
	}
	return &permutation{name: "the identity", variables: images, actions: map[int]int{}}
}

// variable returns the image of a variable.
func (p *permutation) variable(slot int) int { return p.variables[slot] }

// action returns the image of an action.
func (p *permutation) action(action int) int {
	if image, ok := p.actions[action]; ok {
		return image
	}
	return action
}

// check returns an error unless the images are a permutation of the variables and one of the actions.
func (p *permutation) check(program *sema.Program) error {
	isImage := make([]bool, len(p.variables))
	for _, image := range p.variables {
		if isImage[image] {
			return fmt.Errorf("%s maps two variables to %s, want one", p.name, program.Vars[image].Name)
		}
		isImage[image] = true
	}
	isActionImage := map[int]bool{}
	for _, image := range p.actions {
		if _, ok := p.actions[image]; !ok || isActionImage[image] {
			return fmt.Errorf("%s maps two actions to %s, want one", p.name, program.Actions[image])
		}
		isActionImage[image] = true
	}
	return nil
}

// group has the permutations that a certificate claims. canonical composes them.
type group struct {
	classes      [][][]int // the blocks of each class, as slots of variables
	permutations []*permutation
	generators   []*permutation // permutations, and for each class the swaps of its first block with the others
}

// names has the slot of each variable of a program, and the number of each action, by name.
type names struct{ variables, actions map[string]int }

// newNames returns the names of a program.
func newNames(program *sema.Program) names {
	found := names{map[string]int{}, map[string]int{}}
	for slot := range program.Vars {
		found.variables[program.Vars[slot].Name] = slot
	}
	for action, name := range program.Actions {
		found.actions[name] = action
	}
	return found
}

// newGroup reads the symmetry of a certificate. It is an error if a variable or action is not in the program, or if a map is not a permutation.
func newGroup(program *sema.Program, symmetry *certificate.Symmetry) (*group, error) {
	result, names := &group{}, newNames(program)
	for i, class := range symmetry.Classes {
		if err := result.addClass(program, names, class); err != nil {
			return nil, fmt.Errorf("class %d: %w", i, err)
		}
	}
	for i, images := range symmetry.Permutations {
		added := identity(program)
		added.name = fmt.Sprintf("permutation %d", i)
		for from, to := range images {
			slot, isKnown := names.variables[from]
			image, isImageKnown := names.variables[to]
			if !isKnown || !isImageKnown {
				return nil, fmt.Errorf("%s: found a map of %q to %q, want variables of the model", added.name, from, to)
			}
			added.variables[slot] = image
		}
		result.permutations, result.generators = append(result.permutations, added), append(result.generators, added)
	}
	for _, generator := range result.generators {
		if err := generator.check(program); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// addClass adds a class, with the swaps of its first block with all others, which generate all permutations of the blocks.
func (group *group) addClass(program *sema.Program, names names, class certificate.Class) error {
	var blocks, actions [][]int
	isTaken := map[int]bool{}
	for i := range class {
		slots, err := lookUp(names.variables, class[i].Variables, "variable")
		if err != nil {
			return err
		}
		blockActions, err := lookUp(names.actions, class[i].Actions, "action")
		if err != nil {
			return err
		}
		for _, slot := range slots {
			if isTaken[slot] {
				return fmt.Errorf("the variable %s is in two blocks, or twice in one, want it once", program.Vars[slot].Name)
			}
			isTaken[slot] = true
		}
		blocks, actions = append(blocks, slots), append(actions, blockActions)
		if len(slots) != len(blocks[0]) || len(blockActions) != len(actions[0]) {
			return fmt.Errorf("block %d has %s and %s, want %d and %d as in block 0", i, noun.Count(len(slots), "variable"), noun.Count(len(blockActions), "action"), len(blocks[0]), len(actions[0]))
		}
	}
	for i := 1; i < len(blocks); i++ {
		swap := identity(program)
		swap.name = fmt.Sprintf("the swap of %s and %s", strings.Join(class[0].Variables, ", "), strings.Join(class[i].Variables, ", "))
		for k, slot := range blocks[0] {
			swap.variables[slot], swap.variables[blocks[i][k]] = blocks[i][k], slot
		}
		for k, action := range actions[0] {
			swap.actions[action], swap.actions[actions[i][k]] = actions[i][k], action
		}
		group.generators = append(group.generators, swap)
	}
	group.classes = append(group.classes, blocks)
	return nil
}

// lookUp returns the numbers of names.
func lookUp(numbers map[string]int, names []string, kind string) ([]int, error) {
	var found []int
	for _, name := range names {
		number, ok := numbers[name]
		if !ok {
			return nil, fmt.Errorf("found the %s %q, want one of the model", kind, name)
		}
		found = append(found, number)
	}
	return found, nil
}

// canonical replaces a valuation by another one of its orbit. It sorts the blocks of each class. Then it replaces the valuation by its least image under the
// permutations, until no image is less. If there are no permutations, or only permutations that form a group, all states of an orbit give the same valuation.
func (group *group) canonical(state []int32) {
	for _, blocks := range group.classes {
		local := make([][]int32, len(blocks))
		for i, slots := range blocks {
			for _, slot := range slots {
				local[i] = append(local[i], state[slot])
			}
		}
		slices.SortFunc(local, slices.Compare)
		for i, slots := range blocks {
			for k, slot := range slots {
				state[slot] = local[i][k]
			}
		}
	}
	image, least := make([]int32, len(state)), slices.Clone(state)
	for isLess := len(group.permutations) > 0; isLess; {
		isLess = false
		for _, permutation := range group.permutations {
			for slot, value := range state {
				image[permutation.variables[slot]] = value
			}
			if slices.Compare(image, least) < 0 {
				copy(least, image)
				isLess = true
			}
		}
		copy(state, least)
	}
}
