package editor

import (
	"hash/maphash"
	"slices"

	"tilecheck/prism/syntax"
)

// environment holds hashes of the declarations that commands refer to. While these do not change, the errors and warnings of an unchanged
// command do not change.
type environment struct {
	text   []byte
	decls  map[string][]declared // by name
	kinds  map[string]uint64     // the hash of the meaning of each name, without the values of constants
	values map[string]uint64     // the same with the values of constants
	common uint64                // the hash of what affects every command; 0 if results must not be reused
}

// declared is the declaration of a constant, formula or variable, with the name of its module; "" for none.
type declared struct {
	syntax.Node
	module string
}

// state describes the environment of one command by two hashes. A hash is 0 if it is unknown.
type state struct {
	kinds  uint64 // of the meanings of the names in the command
	values uint64 // of kinds, and of the values of the constants that affect the command
	// sameResult says that the commands with the same values hash have warnings either all or none.
	sameResult bool
}

// environmentOf returns the environment of the commands of a model. text is the text of the model.
func environmentOf(model *syntax.Model, text []byte) *environment {
	env := &environment{text: text, decls: make(map[string][]declared), kinds: make(map[string]uint64), values: make(map[string]uint64), common: 1}
	modules := make(map[string]bool)
	var renamed []*syntax.RenamedModule
	numModules := 0
	for _, item := range model.Items {
		switch decl := item.(type) {
		case *syntax.TypeDecl:
			env.common = mix(env.common, env.textHash(decl))
		case *syntax.ConstDecl:
			env.add(decl.Name, decl, "")
		case *syntax.FormulaDecl:
			env.add(decl.Name, decl, "")
		case *syntax.GlobalDecl:
			env.add(decl.Var.Name, decl.Var, "")
		case *syntax.Module:
			modules[decl.Name.Name] = true
			numModules++
			for _, variable := range decl.Vars {
				env.add(variable.Name, variable, decl.Name.Name)
			}
		case *syntax.RenamedModule:
			modules[decl.Name.Name] = true
			numModules++
			renamed = append(renamed, decl)
		}
	}
	for _, decl := range renamed { // a renaming copies the commands of a module with other names
		env.common = mix(env.common, env.textHash(decl))
		for _, rename := range decl.Renames {
			env.common = mix(mix(env.common, env.valueHash(rename.Old.Name)), env.valueHash(rename.New.Name))
		}
	}
	if len(modules) < numModules { // two modules have the same name
		env.common = 0
	}
	return env
}

// add records the declaration of a name.
func (e *environment) add(id *syntax.Ident, declaration syntax.Node, module string) {
	e.decls[id.Name] = append(e.decls[id.Name], declared{declaration, module})
}

// textHash returns a hash of the text of a node.
func (e *environment) textHash(n syntax.Node) uint64 {
	return maphash.Bytes(seed, e.text[n.Pos().Offset:n.End().Offset])
}

// valueHash returns a hash of the meaning of a name, including the values of constants.
func (e *environment) valueHash(name string) uint64 { return e.nameHash(e.values, name, true) }

// kindHash returns a hash of the meaning of a name, without the values of constants.
func (e *environment) kindHash(name string) uint64 { return e.nameHash(e.kinds, name, false) }

// nameHash returns a hash of the declarations of a name and of all names in them. hashes caches the results by name.
func (e *environment) nameHash(hashes map[string]uint64, name string, withValues bool) uint64 {
	if hash, ok := hashes[name]; ok {
		return hash
	}
	hash := uint64(1)
	hashes[name] = hash // ends the recursion for a cyclic definition, which is an error
	for _, decl := range e.decls[name] {
		switch node := decl.Node.(type) {
		case *syntax.VarDecl: // its range does not matter
			hash = mix(mix(hash, uint64(node.Type)+2), maphash.String(seed, decl.module))
			continue
		case *syntax.ConstDecl:
			if !withValues {
				hash = mix(hash, ^uint64(node.Type))
				continue
			}
		}
		hash = mix(hash, e.textHash(decl.Node))
		syntax.Inspect(decl.Node, func(node syntax.Node) bool {
			if id, ok := node.(*syntax.Ident); ok {
				hash = mix(hash, e.nameHash(hashes, id.Name, withValues))
			}
			return true
		})
	}
	hashes[name] = hash
	return hash
}

// stateOf returns the hashes of the part of the environment that affects a command. The hash of the values is 0 if it is unknown which constants
// affect the command.
func (e *environment) stateOf(command textCommand) state {
	if e.common == 0 {
		return state{}
	}
	kinds := mix(e.common, maphash.String(seed, command.module))
	for _, name := range command.uses {
		kinds = mix(kinds, e.kindHash(name))
	}
	use := command.constantUse.Load()
	if kinds == 0 || use == nil || use.kinds != kinds {
		return state{kinds: kinds}
	}
	values := mix(e.common, kinds)
	for _, operation := range use.operations {
		values = mix(values, maphash.String(seed, operation))
	}
	for _, name := range use.names {
		values = mix(values, e.valueHash(name))
	}
	return state{kinds, values, use.decided}
}

// constantUse describes which constants affect the warnings of a command without errors. There are two such warnings: the guard is false in every
// state, and an operation on constants has another value in float64 arithmetic.
type constantUse struct {
	kinds uint64 // the state.kinds for which the description holds
	// operations are the texts of distinct operations on constants and literals, names the names in them.
	operations, names []string
	decided           bool // the operations and the values of the names determine whether there are warnings
}

// constantUseOf returns how a command uses constants. The result is valid as long as the kinds of the names in the command have this hash.
func (e *environment) constantUseOf(command *syntax.Command, kinds uint64) *constantUse {
	finder := constantFinder{environment: e, use: &constantUse{kinds: kinds, decided: true}, formulas: make(map[string]foldKind)}
	if finder.operand(command.Guard) == fixed { // it may be false
		finder.use.decided = false
	}
	for _, update := range command.Updates {
		finder.expression(update.Prob)
		finder.expression(update.ProbHigh)
		for _, assignment := range update.Assigns {
			finder.expression(assignment.Value)
		}
	}
	if !finder.use.decided { // the result may depend on any name in the command
		finder.use.operations, finder.use.names = nil, nil
		finder.addNames(command)
	}
	return finder.use
}

// constantFinder finds the operations on constants in a command, and records them in use.
type constantFinder struct {
	*environment
	use      *constantUse
	formulas map[string]foldKind // of the visited formulas; unknown for a formula that contains the visited one
}

// foldKind says what constant folding makes of an expression.
type foldKind uint8

const (
	unknown foldKind = iota
	fixed            // a value: the expression has only constants and literals
	varying          // an operation on variables, whatever the values of constants are
)

// expression visits an expression that is no operand of another one; it may be nil.
func (f *constantFinder) expression(x syntax.Expr) {
	if x != nil {
		f.addOperation(x, f.operand(x))
	}
}

// addOperation records an expression and its names if its kind is fixed and it is an operation. The caller ensures that it is not part of a
// larger operation on constants.
func (f *constantFinder) addOperation(expr syntax.Expr, kind foldKind) {
	expr = withoutParentheses(expr)
	if kind != fixed || f.isAtom(expr) {
		return
	}
	if text := string(f.text[expr.Pos().Offset:expr.End().Offset]); !slices.Contains(f.use.operations, text) {
		f.use.operations = append(f.use.operations, text)
		f.addNames(expr)
	}
}

// withoutParentheses returns an expression without the parentheses around it.
func withoutParentheses(expr syntax.Expr) syntax.Expr {
	for {
		paren, ok := expr.(*syntax.Paren)
		if !ok {
			return expr
		}
		expr = paren.X
	}
}

// isAtom reports whether an expression is a literal or the name of a constant.
func (f *constantFinder) isAtom(expr syntax.Expr) bool {
	switch expr := expr.(type) {
	case *syntax.IntLit, *syntax.DoubleLit, *syntax.BoolLit:
		return true
	case *syntax.Ident:
		return f.isConst(expr.Name)
	}
	return false
}

// isConst reports whether a name has exactly one declaration, and this declares a constant.
func (f *constantFinder) isConst(name string) bool {
	declarations := f.decls[name]
	if len(declarations) != 1 {
		return false
	}
	_, ok := declarations[0].Node.(*syntax.ConstDecl)
	return ok
}

// addNames records the names in a node.
func (f *constantFinder) addNames(node syntax.Node) {
	syntax.Inspect(node, func(node syntax.Node) bool {
		if id, ok := node.(*syntax.Ident); ok && !slices.Contains(f.use.names, id.Name) {
			f.use.names = append(f.use.names, id.Name)
		}
		return true
	})
}

// operand returns the foldKind of an expression, and records the operations on constants that are operands of operations on variables. Where
// it returns unknown, it clears use.decided.
func (f *constantFinder) operand(expr syntax.Expr) foldKind {
	switch expr := expr.(type) {
	case *syntax.IntLit, *syntax.DoubleLit, *syntax.BoolLit:
		return fixed
	case *syntax.Paren:
		return f.operand(expr.X)
	case *syntax.Ident:
		return f.ident(expr)
	case *syntax.Unary:
		return f.operand(expr.X)
	case *syntax.Binary:
		switch expr.Op {
		case syntax.OpAnd, syntax.OpOr, syntax.OpImplies, syntax.OpIff:
			return f.logical(expr)
		}
		return f.operands(expr.X, expr.Y)
	case *syntax.Cond:
		if f.operand(expr.Condition) != varying {
			break
		}
		for _, branch := range []syntax.Expr{expr.Then, expr.Else} {
			f.addOperation(branch, f.operand(branch))
		}
		return varying
	case *syntax.Call:
		return f.operands(expr.Args...)
	}
	f.use.decided = false
	return unknown
}

// logical returns the foldKind of a logical operation. It is unknown if only one operand is constant, because such an operand decides the result
// or is removed.
func (f *constantFinder) logical(operation *syntax.Binary) foldKind {
	leftKind, rightKind := f.operand(operation.X), f.operand(operation.Y)
	if leftKind == rightKind && leftKind != unknown {
		return leftKind
	}
	f.use.decided = false
	return unknown
}

// operands returns the foldKind of an operation that needs the values of all its operands.
func (f *constantFinder) operands(list ...syntax.Expr) foldKind {
	kinds := make([]foldKind, len(list))
	for i, operand := range list {
		kinds[i] = f.operand(operand)
	}
	switch {
	case slices.Contains(kinds, unknown):
		return unknown
	case !slices.Contains(kinds, varying):
		return fixed
	}
	for i, operand := range list {
		f.addOperation(operand, kinds[i])
	}
	return varying
}

// ident returns the foldKind of a name. A formula has the foldKind of its expression. A name without exactly one declaration, and a formula that contains
// itself, are unknown.
func (f *constantFinder) ident(id *syntax.Ident) foldKind {
	kind, isVisited := f.formulas[id.Name]
	if isVisited && kind != unknown {
		return kind
	}
	if declarations := f.decls[id.Name]; len(declarations) == 1 && !isVisited {
		switch decl := declarations[0].Node.(type) {
		case *syntax.VarDecl:
			return varying
		case *syntax.ConstDecl:
			return fixed
		case *syntax.FormulaDecl:
			f.formulas[id.Name] = unknown
			f.formulas[id.Name] = f.operand(decl.X)
			return f.formulas[id.Name]
		}
	}
	f.use.decided = false
	return unknown
}
