package sema

import (
	"slices"

	"tilecheck/prism/syntax"
)

// selectSystem selects the system block that composes the modules: the block without a name, or else the first. It returns false if there is
// no block, and after an error.
func (c *checker) selectSystem() bool {
	numbers, ok := c.numberSystems()
	if !ok {
		return false
	}
	if c.system == nil && len(c.items.systems) > 0 {
		c.system = c.items.systems[0]
	}
	if i := firstCycle(c.systemReferences(numbers)); i >= 0 {
		block := c.items.systems[i]
		c.addError(phaseSystem, block.X.Pos(), "cyclic dependency from references in system...endsystem definition %q", block.Name.Name)
		c.system = nil
	}
	return c.system != nil
}

// systemReferences returns, for each system block, the numbers of the blocks that it refers to. numbers has the numbers by name.
func (c *checker) systemReferences(numbers map[string]int) [][]int {
	references := make([][]int, len(c.items.systems))
	for i, block := range c.items.systems {
		visitTerms(block.X, func(term syntax.SysExpr) {
			reference, isReference := term.(*syntax.SysRef)
			if !isReference {
				return
			}
			if number, ok := numbers[reference.Name.Name]; ok {
				references[i] = append(references[i], number)
			}
		})
	}
	return references
}

// numberSystems returns the numbers of the system blocks by name, and selects the block without a name. ok is false after an error: two blocks have the same
// name, or two blocks have no name.
func (c *checker) numberSystems() (numbers map[string]int, ok bool) {
	numbers = make(map[string]int)
	for i, block := range c.items.systems {
		if block.Name == nil {
			if c.system != nil {
				c.addError(phaseSystem, block.X.Pos(), "there can be at most one unnamed system...endsystem construct")
				return nil, false
			}
			c.system = block
			continue
		}
		if _, ok := numbers[block.Name.Name]; ok {
			c.addError(phaseSystem, block.X.Pos(), "duplicated system...endsystem name %q", block.Name.Name)
			return nil, false
		}
		numbers[block.Name.Name] = i
	}
	return numbers, true
}

// visitTerms calls visit for a process-algebra term and all terms in it.
func visitTerms(term syntax.SysExpr, visit func(syntax.SysExpr)) {
	visit(term)
	for _, operand := range termOperands(term) {
		visitTerms(operand, visit)
	}
}

// termOperands returns the operands of a process-algebra term.
func termOperands(term syntax.SysExpr) []syntax.SysExpr {
	switch term := term.(type) {
	case *syntax.SysBrackets:
		return []syntax.SysExpr{term.X}
	case *syntax.SysFull:
		return term.Operands
	case *syntax.SysInterleaved:
		return term.Operands
	case *syntax.SysParallel:
		return []syntax.SysExpr{term.X, term.Y}
	case *syntax.SysHide:
		return []syntax.SysExpr{term.X}
	case *syntax.SysRename:
		return []syntax.SysExpr{term.X}
	}
	return nil
}

// dereference returns the term of the system block that a reference names; false if there is no such block. It returns any other term unchanged.
func (c *checker) dereference(term syntax.SysExpr) (syntax.SysExpr, bool) {
	reference, ok := term.(*syntax.SysRef)
	if !ok {
		return term, true
	}
	for _, system := range c.items.systems {
		if system.Name != nil && system.Name.Name == reference.Name.Name {
			return system.X, true
		}
	}
	return nil, false
}

// addRenamedActions gives indices to the new action names in the renamings of a term.
func (c *checker) addRenamedActions(term syntax.SysExpr) {
	term, ok := c.dereference(term)
	if !ok {
		return
	}
	if renaming, ok := term.(*syntax.SysRename); ok {
		for _, rename := range renaming.Renames {
			c.addAction(rename.New.Name)
		}
	}
	for _, operand := range termOperands(term) {
		c.addRenamedActions(operand)
	}
}

// checkSystem checks the actions and references in a term of the system block. Like PRISM, it does not check referenced blocks.
func (c *checker) checkSystem(term syntax.SysExpr) {
	for _, operand := range termOperands(term) {
		c.checkSystem(operand)
	}
	switch term := term.(type) {
	case *syntax.SysRef:
		if _, ok := c.dereference(term); !ok {
			c.resolver.semanticError(term, "reference to system %s which does not exist", term.Name.Name)
		}
	case *syntax.SysParallel:
		c.checkSystemActions(term, term.Actions)
	case *syntax.SysHide:
		c.checkSystemActions(term, term.Actions)
	case *syntax.SysRename:
		var renamedActions []*syntax.Ident
		for _, rename := range term.Renames {
			renamedActions = append(renamedActions, rename.Old)
		}
		c.checkSystemActions(term, renamedActions)
	}
}

// checkSystemActions checks that the actions in a term are actions of the model, without duplicates.
func (c *checker) checkSystemActions(term syntax.SysExpr, actions []*syntax.Ident) {
	for i, action := range actions {
		switch {
		case c.actionIndex(action.Name) == UnknownAction:
			c.resolver.semanticError(term, "invalid action %q in \"system\" construct", action.Name)
		case slices.ContainsFunc(actions[:i], func(earlier *syntax.Ident) bool { return action.Name == earlier.Name }):
			c.resolver.semanticError(term, "duplicated action %q in parallel composition in \"system\" construct", action.Name)
		}
	}
}

// resolveSystemBlock resolves the system block and checks that each module appears in it once.
func (c *checker) resolveSystemBlock() {
	moduleUses := make([]int, len(c.modules))
	resolved := c.resolveSystem(c.system.X, moduleUses)
	for i, module := range c.modules {
		switch {
		case moduleUses[i] == 0:
			c.resolver.semanticError(c.system.X, "module %s does not appear in the \"system\" construct", module.name.Name)
		case moduleUses[i] > 1:
			c.resolver.semanticError(c.system.X, "module %s appears more than once in the \"system\" construct", module.name.Name)
		}
	}
	c.model.system = resolved
}

// resolveSystem resolves a process-algebra term and counts the uses of each module. It returns nil if a block or module does not exist. It
// drops actions without a command, because they have no effect.
func (c *checker) resolveSystem(term syntax.SysExpr, moduleUses []int) System {
	term, ok := c.dereference(term)
	if !ok {
		return nil
	}
	if reference, ok := term.(*syntax.SysModule); ok {
		return c.resolveSystemModule(reference, moduleUses)
	}
	var operands []System
	for _, operand := range termOperands(term) {
		operands = append(operands, c.resolveSystem(operand, moduleUses))
	}
	switch term := term.(type) {
	case *syntax.SysFull:
		return &SysParallel{Operands: operands, IsAlphabetised: true}
	case *syntax.SysInterleaved:
		return &SysParallel{Operands: operands}
	case *syntax.SysParallel:
		return &SysParallel{Operands: operands, Actions: c.actionIndices(term.Actions)}
	case *syntax.SysHide:
		return &SysHide{operands[0], c.actionIndices(term.Actions)}
	case *syntax.SysRename:
		return c.resolveRenaming(term, operands[0])
	}
	return operands[0] // brackets
}

// resolveRenaming resolves a renaming of actions in a term. It omits actions that no command has.
func (c *checker) resolveRenaming(term *syntax.SysRename, operand System) System {
	renaming := &SysRename{X: operand}
	for _, pair := range term.Renames {
		oldAction, newAction := c.actionIndex(pair.Old.Name), c.actionIndex(pair.New.Name)
		if oldAction >= 0 {
			renaming.From, renaming.To = append(renaming.From, oldAction), append(renaming.To, newAction)
		}
	}
	return renaming
}

// resolveSystemModule resolves a module in a process-algebra term and counts its use. It reports an error and returns nil if there is no
// such module.
func (c *checker) resolveSystemModule(reference *syntax.SysModule, moduleUses []int) System {
	hasName := func(module *module) bool { return module.name.Name == reference.Name.Name }
	i := slices.IndexFunc(c.modules, hasName)
	if i < 0 {
		c.addError(phaseOurs, reference.Pos(), "no such module %s in the \"system\" construct", reference.Name.Name)
		return nil
	}
	moduleUses[i]++
	return SysModule{i}
}

// actionIndices returns the indices of the named actions. It omits actions that no command has.
func (c *checker) actionIndices(names []*syntax.Ident) []int {
	var indices []int
	for _, action := range names {
		if i := c.actionIndex(action.Name); i >= 0 {
			indices = append(indices, i)
		}
	}
	return indices
}
