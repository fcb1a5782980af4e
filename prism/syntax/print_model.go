package syntax

import (
	"bytes"
	"slices"
	"strings"
)

// writeDeclaration writes a declaration of a model or properties file.
func (p *printer) writeDeclaration(item Item) {
	switch n := item.(type) {
	case *TypeDecl:
		p.writeTypeDecl(n)
	case *ConstDecl:
		p.writeConstDecl(n)
	case *FormulaDecl:
		p.writeCommentsAbove(n.Notes, n.Doc, "")
		p.write("formula ")
		p.writeName(n.Name)
		p.writeDefinition(n.X)
		p.addCommentBehind(n.Notes)
	case *LabelDecl:
		p.writeCommentsAbove(n.Notes, n.Doc, "")
		p.write("label ")
		p.writeQuoted(n.Name)
		p.writeDefinition(n.X)
		p.addCommentBehind(n.Notes)
	case *ObservableDecl:
		p.writeCommentsAbove(n.Notes, n.Doc, "")
		p.write("observable ")
		p.writeQuoted(n.Name)
		p.writeDefinition(n.X)
		p.addCommentBehind(n.Notes)
	case *GlobalDecl:
		p.writeGlobalDecl(n)
	case *Module:
		p.writeModule(n)
	case *RenamedModule:
		p.writeRenamedModule(n)
	case *Rewards:
		p.writeRewards(n)
	case *InitBlock:
		p.writeInitBlock(n)
	case *Observables:
		p.writeObservables(n)
	case *System:
		p.writeSystem(n)
	case *Player:
		p.writePlayer(n)
	}
}

// writeDefinition writes " = ", the expression, a semicolon and a line end.
func (p *printer) writeDefinition(expr Expr) {
	p.write(" = ")
	p.writeExpr(expr, levelUntil)
	p.write(";\n")
}

// writeGlobalDecl writes the declaration of a global variable.
func (p *printer) writeGlobalDecl(declaration *GlobalDecl) {
	p.writeCommentsAbove(declaration.Notes, declaration.Doc, "")
	p.write("global ")
	variable := *declaration.Var
	variable.Doc, variable.Notes = nil, Notes{} // the whole declaration has the comments
	p.writeVarDecl(&variable, "")
	p.addCommentBehind(declaration.Notes)
}

// writeInitBlock writes `init expr endinit`.
func (p *printer) writeInitBlock(block *InitBlock) {
	p.writeCommentsAbove(block.Notes, block.Doc, "")
	p.write("init\n  ")
	p.writeExpr(block.X, levelUntil)
	p.write("\nendinit\n")
	p.addCommentBehind(block.Notes)
}

// writeObservables writes the block of observable variables of a POMDP, on one line if it fits.
func (p *printer) writeObservables(block *Observables) {
	p.writeCommentsAbove(block.Notes, block.Doc, "")
	p.write("observables")
	p.writeCommaList(len(block.Names), " ", func(i int) { p.writeName(block.Names[i]) })
	p.writeIf(p.column() > 0, " ")
	p.write("endobservables\n")
	p.addCommentBehind(block.Notes)
}

// writeTypeDecl writes the keyword of a model type. It keeps the word of the source if the word means this type.
func (p *printer) writeTypeDecl(declaration *TypeDecl) {
	word := declaration.Word
	if modelTypeOf(keywordKind([]byte(word))) != declaration.Type || p.dialect == Storm {
		word = strings.ToLower(declaration.Type.String())
	}
	switch declaration.Type {
	case TypeNone, LTS:
		p.recordError(declaration, "there is no keyword for model type %s", declaration.Type)
	case IDTMC, IMDP, IPOMDP: // an interval model has the keyword of the model without intervals
		word = word[1:]
	}
	p.writeCommentsAbove(declaration.Notes, declaration.Doc, "")
	p.write(word + "\n")
	p.addCommentBehind(declaration.Notes)
}

// writeConstDecl writes the declaration of a constant.
func (p *printer) writeConstDecl(constant *ConstDecl) {
	p.writeCommentsAbove(constant.Notes, constant.Doc, "")
	p.write("const ")
	if constant.HasType || constant.Type != ConstInt || p.dialect == Storm {
		p.write(constant.Type.String() + " ")
	}
	p.writeName(constant.Name)
	if constant.Value != nil {
		p.writeDefinition(constant.Value)
	} else {
		p.write(";\n")
	}
	p.addCommentBehind(constant.Notes)
}

// writeVarDecl writes the declaration of a variable.
func (p *printer) writeVarDecl(variable *VarDecl, indent string) {
	p.writeCommentsAbove(variable.Notes, variable.Doc, indent)
	p.write(indent)
	p.writeName(variable.Name)
	p.write(" : ")
	switch variable.Type {
	case RangeVar:
		p.write("[")
		p.writeExpr(variable.Low, levelUntil)
		p.write("..")
		p.writeExpr(variable.High, levelUntil)
		p.write("]")
	case IntVar:
		p.write("int")
	case BoolVar:
		p.write("bool")
	case ClockVar:
		p.write("clock")
	}
	if variable.Init != nil {
		p.write(" init ")
		p.writeExpr(variable.Init, levelUntil)
	}
	p.write(";\n")
	p.addCommentBehind(variable.Notes)
}

// writeModule writes a module with blank lines between its parts.
func (p *printer) writeModule(module *Module) {
	p.writeCommentsAbove(module.Notes, module.Doc, "")
	p.write("module ")
	p.writeName(module.Name)
	p.endLine(module.Head)
	for i, declaration := range module.Vars {
		p.writeBlankLineIf(i > 0 && len(declaration.Detached) > 0)
		p.writeVarDecl(declaration, "  ")
	}
	if module.Invariant != nil {
		p.writeBlankLineIf(len(module.Vars) > 0)
		p.writeCommentLines(module.InvariantDoc, "  ")
		p.write("  invariant\n    ")
		p.writeExpr(module.Invariant, levelUntil)
		p.write("\n  endinvariant\n")
	}
	hasDeclarations := len(module.Vars) > 0 || module.Invariant != nil
	for i, command := range module.Commands {
		if i == 0 {
			p.writeBlankLineIf(hasDeclarations)
		} else {
			p.writeBlankLineIf(hasCommentAbove(command.Doc, command.Notes))
		}
		p.writeCommand(command, "  ")
	}
	p.writeBlankLineIf(len(module.Trailing) > 0)
	p.writeCommentLines(module.Trailing, "  ")
	p.write("endmodule\n")
	p.addCommentBehind(module.Notes)
}

// writeBlankLineIf writes a blank line if the condition holds.
func (p *printer) writeBlankLineIf(wanted bool) {
	if wanted {
		p.write("\n")
	}
}

// writeRenamedModule writes `module name = base [ old=new, ... ] endmodule`.
func (p *printer) writeRenamedModule(module *RenamedModule) {
	p.writeCommentsAbove(module.Notes, module.Doc, "")
	p.write("module ")
	p.writeName(module.Name)
	p.write(" = ")
	p.writeName(module.Base)
	p.write(" [")
	p.writeCommaList(len(module.Renames), "", func(i int) {
		p.writeRenamable(module.Renames[i].Old)
		p.write("=")
		p.writeRenamable(module.Renames[i].New)
	})
	p.write("] endmodule\n")
	p.addCommentBehind(module.Notes)
}

// writeRenamable writes a name in a module renaming, such as the name of a variable or of the function min.
func (p *printer) writeRenamable(ident *Ident) {
	if ident.Name == "min" || ident.Name == "max" {
		p.write(ident.Name)
		return
	}
	p.writeName(ident)
}

// writeCommaList writes count elements with commas between them. They are on the current line after separator if they fit, or else on a line each.
func (p *printer) writeCommaList(count int, separator string, writeElement func(int)) {
	start := len(p.text)
	p.write(separator)
	for i := range count {
		if i > 0 {
			p.write(", ")
		}
		writeElement(i)
	}
	if p.column() <= lineWidth {
		return
	}
	p.text = p.text[:start]
	for i := range count {
		if i > 0 {
			p.write(",")
		}
		p.write("\n  ")
		writeElement(i)
	}
	p.write("\n")
}

// column returns the number of bytes in the current line.
func (p *printer) column() int { return len(p.text) - 1 - bytes.LastIndexByte(p.text, '\n') }

// writeCommand writes a command on one line if it fits. A long command has one update on each line, or even one assignment.
func (p *printer) writeCommand(command *Command, indent string) {
	p.writeCommentsAbove(command.Notes, command.Doc, indent)
	p.write(indent)
	if command.Markovian {
		p.write("<> ")
	} else {
		p.writeAction(command.Action)
	}
	p.writeExpr(command.Guard, levelImplies)
	p.write(" ->")
	start := len(p.text)
	newLine := "\n" + indent
	hasSeveralAssigns := func(update *Update) bool { return len(update.Assigns) > 1 }
	p.writeUpdates(command.Updates, " ", " + ", " & ")
	if p.hasLongLine(start) && len(command.Updates) > 1 {
		p.text = p.text[:start]
		p.writeUpdates(command.Updates, newLine+"    ", newLine+"  + ", " & ")
	}
	if p.hasLongLine(start) && slices.ContainsFunc(command.Updates, hasSeveralAssigns) {
		p.text = p.text[:start]
		p.writeUpdates(command.Updates, newLine+"    ", newLine+"  + ", newLine+"      & ")
	}
	p.write(";\n")
	p.addCommentBehind(command.Notes)
}

// hasLongLine reports whether a line of the text since start is too long for a semicolon at its end.
func (p *printer) hasLongLine(start int) bool {
	start = bytes.LastIndexByte(p.text[:start], '\n') + 1
	for line := range bytes.SplitSeq(p.text[start:], []byte{'\n'}) {
		if len(line) >= lineWidth {
			return true
		}
	}
	return false
}

// writeAction writes [action] or [] and a blank.
func (p *printer) writeAction(ident *Ident) {
	p.write("[")
	if ident != nil {
		p.writeName(ident)
	}
	p.write("] ")
}

// writeUpdates writes the updates of a command. It writes beforeFirst before the first update, between before the others, and conjunction between
// two assignments.
func (p *printer) writeUpdates(updates []*Update, beforeFirst, between, conjunction string) {
	for i, update := range updates {
		if i > 0 {
			p.write(between)
		} else {
			p.write(beforeFirst)
		}
		if update.Prob == nil && len(updates) > 1 {
			p.write("1:")
		}
		p.writeUpdate(update, conjunction)
	}
}

// writeUpdate writes the probability and the assignments of an update. conjunction separates the assignments.
func (p *printer) writeUpdate(update *Update, conjunction string) {
	switch {
	case update.ProbHigh != nil:
		p.write("[")
		p.writeExpr(update.Prob, levelUntil)
		p.write(",")
		p.writeExpr(update.ProbHigh, levelUntil)
		p.write("]:")
	case update.Prob != nil:
		start := len(p.text)
		p.writeExpr(update.Prob, levelImplies)
		if readsAsTrue(p.text[start:], p.dialect) {
			p.parenthesizeFrom(start)
		}
		p.write(":")
	}
	if len(update.Assigns) == 0 {
		p.write("true")
	}
	for i, assignment := range update.Assigns {
		if i > 0 {
			p.write(conjunction)
		}
		p.writeAssign(assignment)
	}
}

// readsAsTrue reports whether a tool would read a probability as the update true.
func readsAsTrue(probability []byte, dialect Dialect) bool {
	afterTrue, startsWithTrue := bytes.CutPrefix(probability, []byte("true"))
	isWholeWord := len(afterTrue) == 0 || !isLetter(afterTrue[0]) && !isDigit(afterTrue[0])
	return startsWithTrue && (isWholeWord || dialect == Storm) // Storm does so even for longer words, such as true_rate
}

// parenthesizeFrom puts parentheses around the text that was written since start.
func (p *printer) parenthesizeFrom(start int) {
	p.text = append(p.text, "()"...)
	copy(p.text[start+1:], p.text[start:len(p.text)-2])
	p.text[start], p.text[len(p.text)-1] = '(', ')'
}

// writeAssign writes an assignment (x'=expr).
func (p *printer) writeAssign(assignment *Assign) {
	p.write("(")
	if !isWord(assignment.Name.Name) { // a keyword is allowed, because PRISM parses F' as a primed variable
		p.recordError(assignment.Name, "%q is not an identifier", assignment.Name.Name)
	}
	p.write(assignment.Name.Name)
	p.write("'=")
	p.writeExpr(assignment.Value, levelUntil)
	p.write(")")
}

// writeRewards writes a reward structure.
func (p *printer) writeRewards(rewards *Rewards) {
	p.writeCommentsAbove(rewards.Notes, rewards.Doc, "")
	p.write("rewards")
	if rewards.Name != nil {
		p.write(" ")
		p.writeQuoted(rewards.Name)
	}
	p.endLine(rewards.Head)
	for i, item := range rewards.Items {
		p.writeBlankLineIf(i > 0 && hasCommentAbove(item.Doc, item.Notes))
		p.writeRewardItem(item, "  ")
	}
	p.writeBlankLineIf(len(rewards.Trailing) > 0)
	p.writeCommentLines(rewards.Trailing, "  ")
	p.write("endrewards\n")
	p.addCommentBehind(rewards.Notes)
}

// writeRewardItem writes one line of a reward structure.
func (p *printer) writeRewardItem(item *RewardItem, indent string) {
	p.writeCommentsAbove(item.Notes, item.Doc, indent)
	p.write(indent)
	if item.IsTransition {
		p.writeAction(item.Action)
	}
	p.writeExpr(item.Guard, levelImplies)
	p.write(" : ")
	p.writeExpr(item.Value, levelUntil)
	p.write(";\n")
	p.addCommentBehind(item.Notes)
}

// writeSystem writes a system block.
func (p *printer) writeSystem(system *System) {
	p.writeCommentsAbove(system.Notes, system.Doc, "")
	p.write("system")
	if system.Name != nil {
		p.write(" ")
		p.writeQuoted(system.Name)
	}
	p.write("\n  ")
	p.writeSystemTerm(system.X, sysFull)
	p.write("\nendsystem\n")
	p.addCommentBehind(system.Notes)
}

// The levels of process-algebra terms, loosest first.
const (
	sysFull = iota
	sysInterleaved
	sysParallel
	sysPostfix
	sysAtom
)

// sysLevel returns how tightly the outermost operator of a process-algebra term binds.
func sysLevel(term SysExpr) int {
	switch term.(type) {
	case *SysFull:
		return sysFull
	case *SysInterleaved:
		return sysInterleaved
	case *SysParallel:
		return sysParallel
	case *SysHide, *SysRename:
		return sysPostfix
	}
	return sysAtom
}

// writeSystemTerm writes a process-algebra term, in parentheses if it binds less tightly than minLevel.
func (p *printer) writeSystemTerm(term SysExpr, minLevel int) {
	if sysLevel(term) < minLevel {
		p.write("(")
		p.writeSystemTerm(term, sysFull)
		p.write(")")
		return
	}
	switch term := term.(type) {
	case *SysModule:
		p.writeName(term.Name)
	case *SysRef:
		p.writeQuoted(term.Name)
	case *SysBrackets:
		p.write("(")
		p.writeSystemTerm(term.X, sysFull)
		p.write(")")
	case *SysFull:
		for i, operand := range term.Operands {
			p.writeIf(i > 0, " || ")
			p.writeSystemTerm(operand, sysParallel)
		}
	case *SysInterleaved:
		for i, operand := range term.Operands {
			p.writeIf(i > 0, " ||| ")
			p.writeSystemTerm(operand, interleavedOperandLevel(term, i))
		}
	case *SysParallel:
		p.writeSystemTerm(term.X, sysPostfix)
		p.write(" |[")
		p.writeCommaNames(term.Actions)
		p.write("]| ")
		p.writeSystemTerm(term.Y, sysPostfix)
	case *SysHide:
		p.writeSystemTerm(term.X, sysPostfix)
		p.write(" / {")
		p.writeCommaNames(term.Actions)
		p.write("}")
	case *SysRename:
		p.writeSysRename(term)
	}
}

// interleavedOperandLevel returns the loosest level of operand i of ||| that needs no parentheses. The last operand may be X || Y.
func interleavedOperandLevel(term *SysInterleaved, i int) int {
	if _, isFull := term.Operands[i].(*SysFull); isFull && i > 0 && i == len(term.Operands)-1 {
		return sysFull
	}
	return sysParallel
}

// writeSysRename writes a renaming of actions {a<-b, ...}.
func (p *printer) writeSysRename(term *SysRename) {
	p.writeSystemTerm(term.X, sysPostfix)
	p.write(" {")
	for i, rename := range term.Renames {
		switch {
		case i > 0 && p.dialect == Storm: // its grammar has no commas here
			p.write(" ")
		case i > 0:
			p.write(",")
		}
		p.writeName(rename.Old)
		p.write("<-")
		p.writeName(rename.New)
	}
	p.write("}")
}

// writeCommaNames writes names with commas between them.
func (p *printer) writeCommaNames(idents []*Ident) {
	for i, ident := range idents {
		p.writeIf(i > 0, ",")
		p.writeName(ident)
	}
}

// writeIf writes a text if the condition holds.
func (p *printer) writeIf(wanted bool, text string) {
	if wanted {
		p.write(text)
	}
}
