package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Code is the kind of a finding, as written in comments that silence it.
type Code string

// The codes. docs/editors.md has an example of each.
const (
	Unused      Code = "unused"       // a constant or formula is used nowhere
	NeverHolds  Code = "never-holds"  // a guard holds in no reachable state
	NeverReady  Code = "never-ready"  // a guard holds, but never when another module is ready for the action
	Overlap     Code = "overlap"      // two commands of a DTMC are enabled in one state
	LeavesRange Code = "leaves-range" // an update gives a variable a value outside of its range, in a reachable state
	StateError  Code = "state-error"  // a state in which the model has another error
	EmptyLabel  Code = "empty-label"  // a label holds in no reachable state
	FullLabel   Code = "full-label"   // a label holds in all of them
	Rounded     Code = "rounded-sum"  // probabilities sum to 1 as doubles, and not by their text
	Deadlock    Code = "deadlock"     // a reachable state has no choice
)

// Codes returns all codes.
func Codes() []Code {
	return []Code{Unused, NeverHolds, NeverReady, Overlap, LeavesRange, StateError, EmptyLabel, FullLabel, Rounded, Deadlock}
}

// Finding is a warning.
type Finding struct {
	File    string
	Pos     syntax.Pos
	Code    Code
	Message string
	State   string // an example state, "(s=2)"; empty if the finding is about all states or none
}

// Sort sorts findings by position, code and message, and removes duplicates.
func Sort(list []Finding) []Finding {
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File), a.Pos.Compare(b.Pos), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message), cmp.Compare(a.State, b.State),
		)
	})
	return slices.Compact(list)
}

// Source is a file to check: a model or its properties.
type Source struct {
	Name string
	Text []byte
	Tree syntax.Node
	// Words are the names and comments of the text, if they are known already.
	Words iter.Seq2[syntax.Class, []byte]
}

func (s Source) words() iter.Seq2[syntax.Class, []byte] {
	if s.Words != nil {
		return s.Words
	}
	return func(yield func(syntax.Class, []byte) bool) {
		for l := range syntax.Lexemes(s.Text) {
			if !yield(l.Class, s.Text[l.Start.Offset:l.Stop.Offset]) {
				return
			}
		}
	}
}

// Texts returns the findings that do not need the state space: unused constants and formulas, and
// commands whose guards are constantly false. program may be nil if constants have no values.
func Texts(files []Source, program *sema.Program) []Finding {
	out := unused(files)
	if program == nil {
		return Sort(out)
	}
	var text []byte // of the model
	for _, f := range files {
		if f.Name == program.File {
			text = f.Text
		}
	}
	possible := make(map[syntax.Pos]bool) // several modules may share a text
	for _, m := range program.Modules {
		for _, c := range m.Commands {
			possible[c.Pos] = possible[c.Pos] || !IsConst(c.Guard, false) || falseLiteral(text, c.Pos)
		}
	}
	for at, can := range possible {
		if !can {
			out = append(out, Finding{File: program.File, Pos: at, Code: NeverHolds, Message: "the guard is false in every state"})
		}
	}
	return Sort(out)
}

// falseLiteral reports whether the guard at a position is the literal false. Such a command states
// that its module never takes part in an action. It reads the text, because the tree in an editor
// may contain stub commands.
func falseLiteral(text []byte, at syntax.Pos) bool {
	if int(at.Offset) > len(text) {
		return false
	}
	_, rest, ok := bytes.Cut(text[at.Offset:], []byte("]"))
	guard, _, arrow := bytes.Cut(rest, []byte("->"))
	return ok && arrow && string(bytes.Trim(guard, "() \t\r\n")) == "false"
}

// IsConst reports whether an expression is the constant value.
func IsConst(e sema.Expr, value bool) bool {
	c, ok := e.(*sema.Const)
	return ok && c.Type() == sema.Bool && c.Val.Bool == value
}

// unused finds declared names that occur nowhere else.
func unused(files []Source) []Finding {
	count := make(map[string]*int) // of names that are declared
	for _, f := range files {
		eachItem(f.Tree, func(n syntax.Node) {
			switch n := n.(type) {
			case *syntax.ConstDecl:
				count[n.Name.Name] = new(int)
			case *syntax.FormulaDecl:
				count[n.Name.Name] = new(int)
			}
		})
	}
	stands := func(name []byte) {
		if n := count[string(name)]; n != nil {
			*n++
		}
	}
	for _, f := range files {
		if len(count) == 0 {
			break
		}
		for class, text := range f.words() {
			switch {
			case class == syntax.Name:
				stands(text)
			case class == syntax.Comment && bytes.Contains(text, []byte("RESULT")):
				for _, name := range namesInResult(text) {
					stands(name)
				}
			}
		}
	}
	var out []Finding
	add := func(f Source, id *syntax.Ident, what string) {
		if *count[id.Name] == 1 {
			out = append(out, Finding{File: f.Name, Pos: id.Start, Code: Unused, Message: fmt.Sprintf("%s %s is used nowhere", what, id.Name)})
		}
	}
	for _, f := range files {
		eachItem(f.Tree, func(n syntax.Node) {
			switch n := n.(type) {
			case *syntax.ConstDecl:
				add(f, n.Name, "constant")
			case *syntax.FormulaDecl:
				add(f, n.Name, "formula")
			}
		})
	}
	return out
}

// namesInResult returns the names in a comment with an expected result, such as RESULT
// (exact=true): 1/6, because it uses constants.
func namesInResult(comment []byte) [][]byte {
	return bytes.FieldsFunc(comment, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

func eachItem(tree syntax.Node, visit func(syntax.Node)) {
	switch tree := tree.(type) {
	case *syntax.Model:
		for _, item := range tree.Items {
			visit(item)
		}
	case *syntax.Properties:
		for _, item := range tree.Items {
			visit(item)
		}
	}
}

// directive starts a comment that silences findings.
const directive = "lint: ignore"

// Split divides findings into active ones and those that comments silence: "// lint: ignore" or
// "// lint: ignore CODE, CODE" in the line of the finding or directly above it.
func Split(list []Finding, files []Source) (active, silenced []Finding) {
	ignored := make(map[string]map[int32][]string)
	for _, f := range files {
		if bytes.Contains(f.Text, []byte(directive)) {
			ignored[f.Name] = directives(f)
		}
	}
	for _, x := range list {
		codes := ignored[x.File][x.Pos.Line]
		if slices.Contains(codes, "") || slices.Contains(codes, string(x.Code)) {
			silenced = append(silenced, x)
		} else {
			active = append(active, x)
		}
	}
	return active, silenced
}

// directives returns the silenced codes by line; "" stands for all codes.
func directives(f Source) map[int32][]string {
	out := make(map[int32][]string)
	var above []string
	var lastLine int32
	own := true // no token is in the line yet
	for l := range syntax.Lexemes(f.Text) {
		line := l.Start.Line
		if line > lastLine {
			if own = true; line > lastLine+1 {
				above = nil
			}
		}
		if l.Class != syntax.Comment {
			if own {
				out[line] = append(out[line], above...)
			}
			own, above, lastLine = false, nil, line
			continue
		}
		codes := codesOf(l.Text)
		if own {
			above = append(above, codes...)
		} else {
			out[line] = append(out[line], codes...)
		}
		lastLine = line
	}
	return out
}

// codesOf returns the codes that a comment silences.
func codesOf(comment string) []string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimLeft(comment, "/")), directive)
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' && rest[0] != ':' {
		return nil
	}
	codes := strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == ':' })
	known := []string{}
	for _, c := range codes {
		if !slices.Contains(Codes(), Code(c)) {
			break // words that say why
		}
		known = append(known, c)
	}
	if len(known) == 0 {
		return []string{""}
	}
	return known
}
