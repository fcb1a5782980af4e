package symmetry

import (
	"fmt"
	"slices"
	"strings"

	"tilecheck/prism/sema"
)

// Permutation is a permutation of the variables of a program: the value of variable i becomes the value of variable Permutation[i].
type Permutation []int

// maxPermutations is the largest group of permutations that is used. A state is compared with its image under each of them.
const maxPermutations = 64

// FindPermutations returns a group of permutations of variables, such as the rotations of a ring. Each permutation preserves the commands of each
// module and the values of the properties. The identity is omitted. It returns nil if no other permutation is found, if the group is large, and
// in the cases in which [Find] returns nil.
//
// Candidates are found by partition refinement: one variable is singled out, and then variables are distinguished by the texts of the commands in
// which they occur. Each candidate is compared with the program.
//
// Source: McKay and Piperno, Practical graph isomorphism II, Journal of Symbolic Computation 60, 2014, for refinement.
func FindPermutations(program *sema.Program, properties ...sema.Expr) []Permutation {
	finder := newFinderFor(program, properties)
	if finder == nil {
		return nil
	}
	colors := &coloring{finder: finder, numbers: map[string]int{}, commands: commandsByVariable(program)}
	stableColors := colors.refineColors(colors.initialColors())
	class := largestClass(stableColors)
	if len(class) < 2 {
		return nil
	}
	firstColors := colors.singleOut(stableColors, class[0])
	var generators []Permutation
	for _, other := range class[1:] {
		generator := matching(firstColors, colors.singleOut(stableColors, other))
		if generator != nil && finder.isSymmetry(generator) {
			generators = append(generators, generator)
		}
	}
	return generateGroup(generators)
}

// isSymmetry reports whether a permutation preserves the commands of each module, the rewards, and the observed formulas.
func (f *finder) isSymmetry(permutation Permutation) bool {
	images := map[int]int{}
	for variable, image := range permutation {
		images[variable] = image
	}
	renamed := newRenaming(f.program, images, nil)
	for module, texts := range f.commandTexts(renamed) {
		if !slices.Equal(texts, f.moduleTexts[module]) {
			return false
		}
	}
	return slices.Equal(f.textsOfRewards(renamed), f.rewardTexts) && f.preservesObserved(renamed)
}

// generateGroup returns all compositions of the generators, without the identity. It returns nil if there are maxPermutations or more.
func generateGroup(generators []Permutation) []Permutation {
	var group []Permutation
	isElement := map[string]bool{}
	addPermutation := func(permutation Permutation) {
		key := fmt.Sprint(permutation)
		if !isElement[key] && !permutation.isIdentity() {
			isElement[key] = true
			group = append(group, permutation)
		}
	}
	for _, generator := range generators {
		addPermutation(generator)
	}
	// Compose each element with each generator, until this gives no new element.
	for i := 0; i < len(group) && len(group) < maxPermutations; i++ {
		for _, generator := range generators {
			addPermutation(group[i].then(generator))
		}
	}
	if len(group) >= maxPermutations {
		return nil
	}
	return group
}

// then returns the permutation that applies p, and then next.
func (p Permutation) then(next Permutation) Permutation {
	result := make(Permutation, len(p))
	for i, to := range p {
		result[i] = next[to]
	}
	return result
}

// isIdentity reports whether a permutation maps every variable to itself.
func (p Permutation) isIdentity() bool {
	for i, to := range p {
		if i != to {
			return false
		}
	}
	return true
}

// coloring gives variables colors, which are numbers. Variables that a permutation maps to each other have equal colors.
type coloring struct {
	*finder
	numbers  map[string]int    // the color for each text that describes variables
	commands [][]*sema.Command // for each variable, the commands in which it occurs
}

// commandsByVariable returns, for each variable, the commands in which it occurs. A command occurs once in a list.
func commandsByVariable(program *sema.Program) [][]*sema.Command {
	commands := make([][]*sema.Command, len(program.Vars))
	for i := range program.Modules {
		for j := range program.Modules[i].Commands {
			command := &program.Modules[i].Commands[j]
			for variable := range variablesOfCommand(command) {
				commands[variable] = append(commands[variable], command)
			}
		}
	}
	return commands
}

// variablesOfCommand returns the variables that a command reads or writes.
func variablesOfCommand(command *sema.Command) map[int]bool {
	variables := map[int]bool{}
	addVariables := func(expr sema.Expr) {
		sema.Inspect(expr, func(operand sema.Expr) bool {
			if variable, ok := operand.(*sema.Var); ok {
				variables[variable.Slot] = true
			}
			return true
		})
	}
	addVariables(command.Guard)
	for _, update := range command.Updates {
		addVariables(update.Prob)
		for _, assignment := range update.Assigns {
			variables[assignment.Slot] = true
			addVariables(assignment.Value)
		}
	}
	return variables
}

// colorFor returns the color of the variables that a text describes. A new text gets the next number as its color.
func (c *coloring) colorFor(text string) int {
	number, ok := c.numbers[text]
	if !ok {
		number = len(c.numbers)
		c.numbers[text] = number
	}
	return number
}

// initialColors returns a color for each variable. Two variables have the same color if their types, ranges, initial values and modules are equal.
func (c *coloring) initialColors() []int {
	colors := make([]int, len(c.program.Vars))
	for i := range c.program.Vars {
		variable := &c.program.Vars[i]
		colors[i] = c.colorFor(fmt.Sprint("variable ", variable.Type, variable.IsBounded, variable.Low, variable.High, variable.Init, variable.Module))
	}
	return colors
}

// singleOut returns the refined colors after one variable has got a color that no other variable has.
func (c *coloring) singleOut(colors []int, variable int) []int {
	changed := slices.Clone(colors)
	changed[variable] = c.colorFor(fmt.Sprint("single ", colors[variable]))
	return c.refineColors(changed)
}

// refineColors splits the colors: two variables keep the same color if the texts of their commands are equal. It repeats this until no color is split.
func (c *coloring) refineColors(colors []int) []int {
	for {
		nextColors := make([]int, len(colors))
		for variable := range colors {
			nextColors[variable] = c.colorFor(c.colorText(colors, variable))
		}
		if countColors(nextColors) == countColors(colors) {
			return colors
		}
		colors = nextColors
	}
}

// colorText returns a text that consists of the color of a variable and the commands in which the variable occurs. In the commands, the number -1 stands for this
// variable, and the color of each other variable stands for the other variable.
func (c *coloring) colorText(colors []int, variable int) string {
	const thisVariable = -1 // no color
	numberOfVariable := map[int]int{}
	for other, color := range colors {
		numberOfVariable[other] = color
	}
	numberOfVariable[variable] = thisVariable
	renamed := newRenaming(c.program, numberOfVariable, nil)
	commandTexts := make([]string, len(c.commands[variable]))
	for i, command := range c.commands[variable] {
		commandTexts[i] = renamed.commandText(command)
	}
	slices.Sort(commandTexts) // the order of the commands does not matter
	return fmt.Sprint(colors[variable], " ", strings.Join(commandTexts, "; "))
}

// countColors returns the number of different colors.
func countColors(colors []int) int {
	sorted := slices.Sorted(slices.Values(colors))
	return len(slices.Compact(sorted))
}

// largestClass returns the variables with the most frequent color, in ascending order. If several colors are equally frequent, it is the color
// that occurs first.
func largestClass(colors []int) []int {
	variablesOfColor := map[int][]int{}
	for variable, color := range colors {
		variablesOfColor[color] = append(variablesOfColor[color], variable)
	}
	var largest []int
	for _, color := range colors {
		if len(variablesOfColor[color]) > len(largest) {
			largest = variablesOfColor[color]
		}
	}
	return largest
}

// matching returns the permutation that maps each variable to the variable with the same color in another coloring. It returns nil if the two
// colorings use different colors, or if two variables have the same color.
func matching(fromColors, toColors []int) Permutation {
	variableOfColor := map[int]int{}
	for i, color := range toColors {
		if _, ok := variableOfColor[color]; ok {
			return nil
		}
		variableOfColor[color] = i
	}
	permutation := make(Permutation, len(fromColors))
	isTaken := make([]bool, len(fromColors))
	for i, color := range fromColors {
		image, ok := variableOfColor[color]
		if !ok || isTaken[image] {
			return nil
		}
		permutation[i], isTaken[image] = image, true
	}
	return permutation
}
