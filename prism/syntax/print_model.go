package syntax

import (
	"bytes"
	"slices"
	"strings"
)

// declaration writes a declaration of a model or properties file.
func (p *printer) declaration(item Item) {
	switch n := item.(type) {
	case *TypeDecl:
		p.typeDecl(n)
	case *ConstDecl:
		p.constDecl(n)
	case *FormulaDecl:
		p.commentsAbove(n.Notes, n.Doc, "")
		p.write("formula ")
		p.name(n.Name)
		p.definition(n.X)
		p.commentBehind(n.Notes)
	case *LabelDecl:
		p.commentsAbove(n.Notes, n.Doc, "")
		p.write("label ")
		p.quoted(n.Name)
		p.definition(n.X)
		p.commentBehind(n.Notes)
	case *ObservableDecl:
		p.commentsAbove(n.Notes, n.Doc, "")
		p.write("observable ")
		p.quoted(n.Name)
		p.definition(n.X)
		p.commentBehind(n.Notes)
	case *GlobalDecl:
		p.globalDecl(n)
	case *Module:
		p.module(n)
	case *RenamedModule:
		p.renamedModule(n)
	case *Rewards:
		p.rewards(n)
	case *InitBlock:
		p.initBlock(n)
	case *Observables:
		p.observables(n)
	case *System:
		p.system(n)
	case *Player:
		p.player(n)
	}
}

// definition writes " = ", the expression, a semicolon and a line end.
func (p *printer) definition(expr Expr) {
	p.write(" = ")
	p.expr(expr, levelUntil)
	p.write(";\n")
}

// globalDecl writes the declaration of a global variable.
func (p *printer) globalDecl(decl *GlobalDecl) {
	p.commentsAbove(decl.Notes, decl.Doc, "")
	p.write("global ")
	variable := *decl.Var
	variable.Doc, variable.Notes = nil, Notes{} // the whole declaration has the comments
	p.varDecl(&variable, "")
	p.commentBehind(decl.Notes)
}

// initBlock writes `init expr endinit`.
func (p *printer) initBlock(block *InitBlock) {
	p.commentsAbove(block.Notes, block.Doc, "")
	p.write("init\n  ")
	p.expr(block.X, levelUntil)
	p.write("\nendinit\n")
	p.commentBehind(block.Notes)
}

// observables writes the observable variables of a POMDP on one line if they fit.
func (p *printer) observables(block *Observables) {
	p.commentsAbove(block.Notes, block.Doc, "")
	p.write("observables")
	p.commaList(len(block.Names), " ", func(i int) { p.name(block.Names[i]) })
	p.writeIf(p.column() > 0, " ")
	p.write("endobservables\n")
	p.commentBehind(block.Notes)
}

// typeDecl writes the keyword of a model type.
func (p *printer) typeDecl(decl *TypeDecl) {
	word := decl.Word
	if modelTypeOf(keywordKind([]byte(word))) != decl.Type || p.dialect == Storm {
		word = strings.ToLower(decl.Type.String())
	}
	switch decl.Type {
	case TypeNone, LTS:
		p.fail(decl, "there is no keyword for model type %s", decl.Type)
	case IDTMC, IMDP, IPOMDP: // an interval model has the keyword of the model without intervals
		word = word[1:]
	}
	p.commentsAbove(decl.Notes, decl.Doc, "")
	p.write(word + "\n")
	p.commentBehind(decl.Notes)
}

// constDecl writes the declaration of a constant.
func (p *printer) constDecl(constant *ConstDecl) {
	p.commentsAbove(constant.Notes, constant.Doc, "")
	p.write("const ")
	if constant.HasType || constant.Type != ConstInt || p.dialect == Storm {
		p.write(constant.Type.String() + " ")
	}
	p.name(constant.Name)
	if constant.Value != nil {
		p.definition(constant.Value)
	} else {
		p.write(";\n")
	}
	p.commentBehind(constant.Notes)
}

// varDecl writes the declaration of a variable.
func (p *printer) varDecl(variable *VarDecl, indent string) {
	p.commentsAbove(variable.Notes, variable.Doc, indent)
	p.write(indent)
	p.name(variable.Name)
	p.write(" : ")
	switch variable.Type {
	case RangeVar:
		p.write("[")
		p.expr(variable.Low, levelUntil)
		p.write("..")
		p.expr(variable.High, levelUntil)
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
		p.expr(variable.Init, levelUntil)
	}
	p.write(";\n")
	p.commentBehind(variable.Notes)
}

// module writes a module with blank lines between its parts.
func (p *printer) module(module *Module) {
	p.commentsAbove(module.Notes, module.Doc, "")
	p.write("module ")
	p.name(module.Name)
	p.endLine(module.Head)
	for i, decl := range module.Vars {
		p.blankLineIf(i > 0 && len(decl.Detached) > 0)
		p.varDecl(decl, "  ")
	}
	if module.Invariant != nil {
		p.blankLineIf(len(module.Vars) > 0)
		p.commentLines(module.InvariantDoc, "  ")
		p.write("  invariant\n    ")
		p.expr(module.Invariant, levelUntil)
		p.write("\n  endinvariant\n")
	}
	hasDeclarations := len(module.Vars) > 0 || module.Invariant != nil
	for i, command := range module.Commands {
		if i == 0 {
			p.blankLineIf(hasDeclarations)
		} else {
			p.blankLineIf(hasCommentAbove(command.Doc, command.Notes))
		}
		p.command(command, "  ")
	}
	p.blankLineIf(len(module.Trailing) > 0)
	p.commentLines(module.Trailing, "  ")
	p.write("endmodule\n")
	p.commentBehind(module.Notes)
}

// blankLineIf writes a blank line if the condition holds.
func (p *printer) blankLineIf(wanted bool) {
	if wanted {
		p.write("\n")
	}
}

// renamedModule writes `module name = base [ old=new, ... ] endmodule`.
func (p *printer) renamedModule(module *RenamedModule) {
	p.commentsAbove(module.Notes, module.Doc, "")
	p.write("module ")
	p.name(module.Name)
	p.write(" = ")
	p.name(module.Base)
	p.write(" [")
	p.commaList(len(module.Renames), "", func(i int) {
		p.renamable(module.Renames[i].Old)
		p.write("=")
		p.renamable(module.Renames[i].New)
	})
	p.write("] endmodule\n")
	p.commentBehind(module.Notes)
}

// renamable writes a name in a module renaming, such as the name of a variable or of the function min.
func (p *printer) renamable(ident *Ident) {
	if ident.Name == "min" || ident.Name == "max" {
		p.write(ident.Name)
		return
	}
	p.name(ident)
}

// commaList writes count elements with commas between them. They are on the current line after separator if they fit, or else on a line each.
func (p *printer) commaList(count int, separator string, writeElement func(int)) {
	start := len(p.buf)
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
	p.buf = p.buf[:start]
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
func (p *printer) column() int { return len(p.buf) - 1 - bytes.LastIndexByte(p.buf, '\n') }

// command writes a command on one line if it fits. A long command has one update on each line, or even one assignment.
func (p *printer) command(command *Command, indent string) {
	p.commentsAbove(command.Notes, command.Doc, indent)
	p.write(indent)
	if command.Markovian {
		p.write("<> ")
	} else {
		p.action(command.Action)
	}
	p.expr(command.Guard, levelImplies)
	p.write(" ->")
	start := len(p.buf)
	newLine := "\n" + indent
	hasSeveralAssigns := func(update *Update) bool { return len(update.Assigns) > 1 }
	p.updates(command.Updates, " ", " + ", " & ")
	if p.hasLongLine(start) && len(command.Updates) > 1 {
		p.buf = p.buf[:start]
		p.updates(command.Updates, newLine+"    ", newLine+"  + ", " & ")
	}
	if p.hasLongLine(start) && slices.ContainsFunc(command.Updates, hasSeveralAssigns) {
		p.buf = p.buf[:start]
		p.updates(command.Updates, newLine+"    ", newLine+"  + ", newLine+"      & ")
	}
	p.write(";\n")
	p.commentBehind(command.Notes)
}

// hasLongLine reports whether a line of the text since start is too long for a semicolon at its end.
func (p *printer) hasLongLine(start int) bool {
	start = bytes.LastIndexByte(p.buf[:start], '\n') + 1
	for line := range bytes.SplitSeq(p.buf[start:], []byte{'\n'}) {
		if len(line) >= lineWidth {
			return true
		}
	}
	return false
}

// action writes [action] or [] and a blank.
func (p *printer) action(ident *Ident) {
	p.write("[")
	if ident != nil {
		p.name(ident)
	}
	p.write("] ")
}

// updates writes the updates of a command. The separators are beforeFirst and between for updates, and conjunction for assignments.
func (p *printer) updates(updates []*Update, beforeFirst, between, conjunction string) {
	for i, update := range updates {
		if i > 0 {
			p.write(between)
		} else {
			p.write(beforeFirst)
		}
		if update.Prob == nil && len(updates) > 1 {
			p.write("1:")
		}
		p.update(update, conjunction)
	}
}

// update writes the probability and the assignments of an update. conjunction separates the assignments.
func (p *printer) update(update *Update, conjunction string) {
	switch {
	case update.ProbHigh != nil:
		p.write("[")
		p.expr(update.Prob, levelUntil)
		p.write(",")
		p.expr(update.ProbHigh, levelUntil)
		p.write("]:")
	case update.Prob != nil:
		start := len(p.buf)
		p.expr(update.Prob, levelImplies)
		if readsAsTrue(p.buf[start:], p.dialect) {
			p.parenthesizeFrom(start)
		}
		p.write(":")
	}
	if len(update.Assigns) == 0 {
		p.write("true")
	}
	for i, assign := range update.Assigns {
		if i > 0 {
			p.write(conjunction)
		}
		p.assign(assign)
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
	p.buf = append(p.buf, "()"...)
	copy(p.buf[start+1:], p.buf[start:len(p.buf)-2])
	p.buf[start], p.buf[len(p.buf)-1] = '(', ')'
}

// assign writes an assignment (x'=expr).
func (p *printer) assign(assign *Assign) {
	p.write("(")
	if !isWord(assign.Name.Name) { // a keyword is allowed, because PRISM parses F' as a primed variable
		p.fail(assign.Name, "%q is not an identifier", assign.Name.Name)
	}
	p.write(assign.Name.Name)
	p.write("'=")
	p.expr(assign.Value, levelUntil)
	p.write(")")
}

// rewards writes a reward structure.
func (p *printer) rewards(rewards *Rewards) {
	p.commentsAbove(rewards.Notes, rewards.Doc, "")
	p.write("rewards")
	if rewards.Name != nil {
		p.write(" ")
		p.quoted(rewards.Name)
	}
	p.endLine(rewards.Head)
	for i, item := range rewards.Items {
		p.blankLineIf(i > 0 && hasCommentAbove(item.Doc, item.Notes))
		p.rewardItem(item, "  ")
	}
	p.blankLineIf(len(rewards.Trailing) > 0)
	p.commentLines(rewards.Trailing, "  ")
	p.write("endrewards\n")
	p.commentBehind(rewards.Notes)
}

// rewardItem writes one line of a reward structure.
func (p *printer) rewardItem(item *RewardItem, indent string) {
	p.commentsAbove(item.Notes, item.Doc, indent)
	p.write(indent)
	if item.Transition {
		p.action(item.Action)
	}
	p.expr(item.Guard, levelImplies)
	p.write(" : ")
	p.expr(item.Value, levelUntil)
	p.write(";\n")
	p.commentBehind(item.Notes)
}

// system writes a system block.
func (p *printer) system(system *System) {
	p.commentsAbove(system.Notes, system.Doc, "")
	p.write("system")
	if system.Name != nil {
		p.write(" ")
		p.quoted(system.Name)
	}
	p.write("\n  ")
	p.systemTerm(system.X, sysFull)
	p.write("\nendsystem\n")
	p.commentBehind(system.Notes)
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

// systemTerm writes a process-algebra term, in parentheses if it binds less tightly than minLevel.
func (p *printer) systemTerm(term SysExpr, minLevel int) {
	if sysLevel(term) < minLevel {
		p.write("(")
		p.systemTerm(term, sysFull)
		p.write(")")
		return
	}
	switch term := term.(type) {
	case *SysModule:
		p.name(term.Name)
	case *SysRef:
		p.quoted(term.Name)
	case *SysBrackets:
		p.write("(")
		p.systemTerm(term.X, sysFull)
		p.write(")")
	case *SysFull:
		for i, operand := range term.Operands {
			p.writeIf(i > 0, " || ")
			p.systemTerm(operand, sysParallel)
		}
	case *SysInterleaved:
		for i, operand := range term.Operands {
			p.writeIf(i > 0, " ||| ")
			p.systemTerm(operand, interleavedOperandLevel(term, i))
		}
	case *SysParallel:
		p.systemTerm(term.X, sysPostfix)
		p.write(" |[")
		p.commaNames(term.Actions)
		p.write("]| ")
		p.systemTerm(term.Y, sysPostfix)
	case *SysHide:
		p.systemTerm(term.X, sysPostfix)
		p.write(" / {")
		p.commaNames(term.Actions)
		p.write("}")
	case *SysRename:
		p.sysRename(term)
	}
}

// interleavedOperandLevel returns the loosest level of operand i of ||| that needs no parentheses. The last operand may be X || Y.
func interleavedOperandLevel(term *SysInterleaved, i int) int {
	if _, isFull := term.Operands[i].(*SysFull); isFull && i > 0 && i == len(term.Operands)-1 {
		return sysFull
	}
	return sysParallel
}

// sysRename writes a renaming of actions {a<-b, ...}.
func (p *printer) sysRename(term *SysRename) {
	p.systemTerm(term.X, sysPostfix)
	p.write(" {")
	for i, rename := range term.Renames {
		switch {
		case i > 0 && p.dialect == Storm: // its grammar has no commas here
			p.write(" ")
		case i > 0:
			p.write(",")
		}
		p.name(rename.Old)
		p.write("<-")
		p.name(rename.New)
	}
	p.write("}")
}

// commaNames writes names with commas between them.
func (p *printer) commaNames(idents []*Ident) {
	for i, ident := range idents {
		p.writeIf(i > 0, ",")
		p.name(ident)
	}
}

// writeIf writes a text if the condition holds.
func (p *printer) writeIf(wanted bool, text string) {
	if wanted {
		p.write(text)
	}
}
