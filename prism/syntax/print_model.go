package syntax

import (
	"bytes"
	"slices"
	"strings"
)

func (p *printer) item(item Item) {
	switch n := item.(type) {
	case *TypeDecl:
		p.typeDecl(n)
	case *ConstDecl:
		p.constDecl(n)
	case *FormulaDecl:
		p.head(n.Notes, n.Doc, "")
		p.write("formula ")
		p.name(n.Name)
		p.define(n.X)
		p.tail(n.Notes)
	case *LabelDecl:
		p.head(n.Notes, n.Doc, "")
		p.write("label ")
		p.quoted(n.Name)
		p.define(n.X)
		p.tail(n.Notes)
	case *ObservableDecl:
		p.head(n.Notes, n.Doc, "")
		p.write("observable ")
		p.quoted(n.Name)
		p.define(n.X)
		p.tail(n.Notes)
	case *GlobalDecl:
		p.head(n.Notes, n.Doc, "")
		p.write("global ")
		v := *n.Var
		v.Doc, v.Notes = nil, Notes{} // the comments of a global are the item's
		p.varDecl(&v, "")
		p.tail(n.Notes)
	case *Module:
		p.module(n)
	case *RenamedModule:
		p.renamedModule(n)
	case *Rewards:
		p.rewards(n)
	case *InitBlock:
		p.head(n.Notes, n.Doc, "")
		p.write("init\n  ")
		p.expr(n.X, levelUntil)
		p.write("\nendinit\n")
		p.tail(n.Notes)
	case *Observables:
		p.head(n.Notes, n.Doc, "")
		p.write("observables")
		p.list(len(n.Names), " ", func(i int) { p.name(n.Names[i]) })
		p.writeIf(p.column() > 0, " ")
		p.write("endobservables\n")
		p.tail(n.Notes)
	case *System:
		p.system(n)
	case *Player:
		p.player(n)
	}
}

// define writes the right-hand side of a definition.
func (p *printer) define(x Expr) {
	p.write(" = ")
	p.expr(x, levelUntil)
	p.write(";\n")
}

func (p *printer) typeDecl(d *TypeDecl) {
	word := d.Word
	if modelTypeOf(keywordKind([]byte(word))) != d.Type || p.dialect == Storm {
		word = strings.ToLower(d.Type.String())
	}
	switch d.Type {
	case TypeNone, LTS:
		p.fail(d, "there is no keyword for model type %s", d.Type)
	case IDTMC, IMDP, IPOMDP: // intervals make the difference
		word = word[1:]
	}
	p.head(d.Notes, d.Doc, "")
	p.write(word + "\n")
	p.tail(d.Notes)
}

func (p *printer) constDecl(c *ConstDecl) {
	p.head(c.Notes, c.Doc, "")
	p.write("const ")
	if c.Typed || c.Type != ConstInt || p.dialect == Storm {
		p.write(c.Type.String() + " ")
	}
	p.name(c.Name)
	if c.Value != nil {
		p.define(c.Value)
	} else {
		p.write(";\n")
	}
	p.tail(c.Notes)
}

func (p *printer) varDecl(v *VarDecl, indent string) {
	p.head(v.Notes, v.Doc, indent)
	p.write(indent)
	p.name(v.Name)
	p.write(" : ")
	switch v.Type {
	case RangeVar:
		p.write("[")
		p.expr(v.Low, levelUntil)
		p.write("..")
		p.expr(v.High, levelUntil)
		p.write("]")
	case IntVar:
		p.write("int")
	case BoolVar:
		p.write("bool")
	case ClockVar:
		p.write("clock")
	}
	if v.Init != nil {
		p.write(" init ")
		p.expr(v.Init, levelUntil)
	}
	p.write(";\n")
	p.tail(v.Notes)
}

func (p *printer) module(m *Module) {
	p.head(m.Notes, m.Doc, "")
	p.write("module ")
	p.name(m.Name)
	p.behind(m.Head)
	for i, v := range m.Vars {
		p.gap(i > 0 && len(v.Detached) > 0)
		p.varDecl(v, "  ")
	}
	if m.Invariant != nil {
		p.gap(len(m.Vars) > 0)
		p.doc(m.InvariantDoc, "  ")
		p.write("  invariant\n    ")
		p.expr(m.Invariant, levelUntil)
		p.write("\n  endinvariant\n")
	}
	for i, c := range m.Commands {
		p.gap(i == 0 && (len(m.Vars) > 0 || m.Invariant != nil) || i > 0 && commented(c.Doc, c.Notes))
		p.command(c, "  ")
	}
	p.gap(len(m.Trailing) > 0)
	p.doc(m.Trailing, "  ")
	p.write("endmodule\n")
	p.tail(m.Notes)
}

// gap writes a blank line if the condition holds.
func (p *printer) gap(wanted bool) {
	if wanted {
		p.write("\n")
	}
}

func (p *printer) renamedModule(m *RenamedModule) {
	p.head(m.Notes, m.Doc, "")
	p.write("module ")
	p.name(m.Name)
	p.write(" = ")
	p.name(m.Base)
	p.write(" [")
	p.list(len(m.Renames), "", func(i int) {
		p.renamable(m.Renames[i].Old)
		p.write("=")
		p.renamable(m.Renames[i].New)
	})
	p.write("] endmodule\n")
	p.tail(m.Notes)
}

// renamable writes a name in a module renaming, where min and max may stand.
func (p *printer) renamable(id *Ident) {
	if id.Name == "min" || id.Name == "max" {
		p.write(id.Name)
		return
	}
	p.name(id)
}

// list writes n elements with commas: after lead on the line if they fit, else
// one a line.
func (p *printer) list(n int, lead string, element func(int)) {
	start := len(p.buf)
	p.write(lead)
	for i := range n {
		if i > 0 {
			p.write(", ")
		}
		element(i)
	}
	if p.column() <= lineWidth {
		return
	}
	p.buf = p.buf[:start]
	for i := range n {
		if i > 0 {
			p.write(",")
		}
		p.write("\n  ")
		element(i)
	}
	p.write("\n")
}

// column returns the number of bytes in the current line.
func (p *printer) column() int { return len(p.buf) - 1 - bytes.LastIndexByte(p.buf, '\n') }

func (p *printer) command(c *Command, indent string) {
	p.head(c.Notes, c.Doc, indent)
	p.write(indent)
	p.action(c.Action)
	p.expr(c.Guard, levelImplies)
	p.write(" ->")
	start := len(p.buf)
	nl := "\n" + indent
	p.updates(c.Updates, " ", " + ", " & ")
	if p.longSince(start) && len(c.Updates) > 1 {
		p.buf = p.buf[:start]
		p.updates(c.Updates, nl+"    ", nl+"  + ", " & ")
	}
	if p.longSince(start) && slices.ContainsFunc(c.Updates, func(u *Update) bool { return len(u.Assigns) > 1 }) {
		p.buf = p.buf[:start]
		p.updates(c.Updates, nl+"    ", nl+"  + ", nl+"      & ")
	}
	p.write(";\n")
	p.tail(c.Notes)
}

// longSince reports whether a line that was written at or after start is too
// long with a semicolon behind it.
func (p *printer) longSince(start int) bool {
	start = bytes.LastIndexByte(p.buf[:start], '\n') + 1
	for line := range bytes.SplitSeq(p.buf[start:], []byte{'\n'}) {
		if len(line) >= lineWidth {
			return true
		}
	}
	return false
}

// action writes [action] or [] and a blank.
func (p *printer) action(id *Ident) {
	p.write("[")
	if id != nil {
		p.name(id)
	}
	p.write("] ")
}

// updates writes alternatives with lead before the first, plus before the
// others, and and between the assignments of one.
func (p *printer) updates(us []*Update, lead, plus, and string) {
	for i, u := range us {
		if i > 0 {
			p.write(plus)
		} else {
			p.write(lead)
		}
		if u.Prob == nil && len(us) > 1 {
			p.write("1:")
		}
		p.update(u, and)
	}
}

func (p *printer) update(u *Update, and string) {
	switch {
	case u.ProbHigh != nil:
		p.write("[")
		p.expr(u.Prob, levelUntil)
		p.write(",")
		p.expr(u.ProbHigh, levelUntil)
		p.write("]:")
	case u.Prob != nil:
		start := len(p.buf)
		p.expr(u.Prob, levelImplies)
		if readsAsTrue(p.buf[start:], p.dialect) {
			p.bracket(start)
		}
		p.write(":")
	}
	if len(u.Assigns) == 0 {
		p.write("true")
	}
	for i, a := range u.Assigns {
		if i > 0 {
			p.write(and)
		}
		p.assign(a)
	}
}

// readsAsTrue reports whether a tool would read a probability as the update true. Storm ignores
// where the word ends.
func readsAsTrue(text []byte, d Dialect) bool {
	rest, found := bytes.CutPrefix(text, []byte("true"))
	return found && (d == Storm || len(rest) == 0 || !isLetter(rest[0]) && !isDigit(rest[0]))
}

// bracket puts parentheses round what was written since start.
func (p *printer) bracket(start int) {
	p.buf = append(p.buf, "()"...)
	copy(p.buf[start+1:], p.buf[start:len(p.buf)-2])
	p.buf[start], p.buf[len(p.buf)-1] = '(', ')'
}

func (p *printer) assign(a *Assign) {
	p.write("(")
	if !isWord(a.Name.Name) { // F' is a primed variable for PRISM, of which there can be none
		p.fail(a.Name, "%q is no identifier", a.Name.Name)
	}
	p.write(a.Name.Name)
	p.write("'=")
	p.expr(a.Value, levelUntil)
	p.write(")")
}

func (p *printer) rewards(r *Rewards) {
	p.head(r.Notes, r.Doc, "")
	p.write("rewards")
	if r.Name != nil {
		p.write(" ")
		p.quoted(r.Name)
	}
	p.behind(r.Head)
	for i, item := range r.Items {
		p.gap(i > 0 && commented(item.Doc, item.Notes))
		p.rewardItem(item, "  ")
	}
	p.gap(len(r.Trailing) > 0)
	p.doc(r.Trailing, "  ")
	p.write("endrewards\n")
	p.tail(r.Notes)
}

func (p *printer) rewardItem(r *RewardItem, indent string) {
	p.head(r.Notes, r.Doc, indent)
	p.write(indent)
	if r.Transition {
		p.action(r.Action)
	}
	p.expr(r.Guard, levelImplies)
	p.write(" : ")
	p.expr(r.Value, levelUntil)
	p.write(";\n")
	p.tail(r.Notes)
}

func (p *printer) system(s *System) {
	p.head(s.Notes, s.Doc, "")
	p.write("system")
	if s.Name != nil {
		p.write(" ")
		p.quoted(s.Name)
	}
	p.write("\n  ")
	p.sys(s.X, sysFull)
	p.write("\nendsystem\n")
	p.tail(s.Notes)
}

// The levels of process-algebra terms, loosest first.
const (
	sysFull = iota
	sysInterleaved
	sysParallel
	sysPostfix
	sysAtom
)

func sysLevel(x SysExpr) int {
	switch x.(type) {
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

// sys writes a term, in parentheses if it is looser than least.
func (p *printer) sys(x SysExpr, least int) {
	if sysLevel(x) < least {
		p.write("(")
		p.sys(x, sysFull)
		p.write(")")
		return
	}
	switch x := x.(type) {
	case *SysModule:
		p.name(x.Name)
	case *SysRef:
		p.quoted(x.Name)
	case *SysBrackets:
		p.write("(")
		p.sys(x.X, sysFull)
		p.write(")")
	case *SysFull:
		for i, operand := range x.Operands {
			p.writeIf(i > 0, " || ")
			p.sys(operand, sysParallel)
		}
	case *SysInterleaved:
		for i, operand := range x.Operands {
			p.writeIf(i > 0, " ||| ")
			p.sys(operand, interleavedLevel(x, i))
		}
	case *SysParallel:
		p.sys(x.X, sysPostfix)
		p.write(" |[")
		p.names(x.Actions)
		p.write("]| ")
		p.sys(x.Y, sysPostfix)
	case *SysHide:
		p.sys(x.X, sysPostfix)
		p.write(" / {")
		p.names(x.Actions)
		p.write("}")
	case *SysRename:
		p.sysRename(x)
	}
}

// interleavedLevel returns the loosest level of an operand: the last one may
// be X || Y, since ||| takes all that follows for its right operand.
func interleavedLevel(x *SysInterleaved, i int) int {
	if _, full := x.Operands[i].(*SysFull); full && i > 0 && i == len(x.Operands)-1 {
		return sysFull
	}
	return sysParallel
}

func (p *printer) sysRename(x *SysRename) {
	p.sys(x.X, sysPostfix)
	p.write(" {")
	for i, r := range x.Renames {
		switch {
		case i > 0 && p.dialect == Storm: // its grammar has no commas here
			p.write(" ")
		case i > 0:
			p.write(",")
		}
		p.name(r.Old)
		p.write("<-")
		p.name(r.New)
	}
	p.write("}")
}

func (p *printer) names(ids []*Ident) {
	for i, id := range ids {
		p.writeIf(i > 0, ",")
		p.name(id)
	}
}

func (p *printer) writeIf(wanted bool, text string) {
	if wanted {
		p.write(text)
	}
}
