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
	Unused      Code = "unused"       // a constant or formula is not used
	NeverHolds  Code = "never-holds"  // a guard holds in no reachable state
	NeverReady  Code = "never-ready"  // a guard holds, but never when another module is ready for the action
	Overlap     Code = "overlap"      // two commands of a DTMC are enabled in one state
	LeavesRange Code = "leaves-range" // an update gives a variable a value outside of its range, in a reachable state
	StateError  Code = "state-error"  // the model has another error in a reachable state
	EmptyLabel  Code = "empty-label"  // a label holds in no reachable state
	FullLabel   Code = "full-label"   // a label holds in all reachable states
	Rounded     Code = "rounded-sum"  // probabilities sum to 1 in float64 arithmetic, but not exactly
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

// Sort sorts findings by file, position, code, message and state, and removes duplicates.
func Sort(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(first, second Finding) int {
		return cmp.Or(
			cmp.Compare(first.File, second.File),
			first.Pos.Compare(second.Pos),
			cmp.Compare(first.Code, second.Code),
			cmp.Compare(first.Message, second.Message),
			cmp.Compare(first.State, second.State),
		)
	})
	return slices.Compact(findings)
}

// Source is a file to check: a model or its properties.
type Source struct {
	Name string
	Text []byte
	Tree syntax.Node
	// Words are the names and comments of the text, if they are known already.
	Words iter.Seq2[syntax.Class, []byte]
}

// lexemes iterates over the class and text of each lexeme of the file.
func (s Source) lexemes() iter.Seq2[syntax.Class, []byte] {
	if s.Words != nil {
		return s.Words
	}
	return func(yield func(syntax.Class, []byte) bool) {
		for lexeme := range syntax.Lexemes(s.Text) {
			if !yield(lexeme.Class, s.Text[lexeme.Start.Offset:lexeme.Stop.Offset]) {
				return
			}
		}
	}
}

// Texts returns the findings that do not need the state space: unused constants and formulas, and guards that are always false. program may be
// nil.
func Texts(files []Source, program *sema.Program) []Finding {
	findings := unusedNames(files)
	if program != nil {
		findings = append(findings, falseGuards(files, program)...)
	}
	return Sort(findings)
}

// falseGuards finds the commands whose guards are false for all values of the variables. It ignores a guard that is written as false.
func falseGuards(files []Source, program *sema.Program) []Finding {
	var text []byte
	isModel := func(file Source) bool { return file.Name == program.File }
	if i := slices.IndexFunc(files, isModel); i >= 0 {
		text = files[i].Text
	}
	// A renamed module shares the text of its commands. A command is reported if its guard is false in all modules with this text.
	isAcceptable := make(map[syntax.Pos]bool) // by the position of the command
	for _, module := range program.Modules {
		for _, command := range module.Commands {
			isGuardAcceptable := !IsConst(command.Guard, false) || hasFalseLiteral(text, command.Pos)
			isAcceptable[command.Pos] = isAcceptable[command.Pos] || isGuardAcceptable
		}
	}
	var findings []Finding
	for pos, acceptable := range isAcceptable {
		if !acceptable {
			findings = append(findings, Finding{File: program.File, Pos: pos, Code: NeverHolds, Message: "the guard is false in every state"})
		}
	}
	return findings
}

// hasFalseLiteral reports whether the guard of the command at this position is written as false. The author then wants to disable the command.
func hasFalseLiteral(text []byte, pos syntax.Pos) bool {
	if int(pos.Offset) > len(text) {
		return false
	}
	_, afterAction, hasBracket := bytes.Cut(text[pos.Offset:], []byte("]"))
	guard, _, hasArrow := bytes.Cut(afterAction, []byte("->"))
	return hasBracket && hasArrow && string(bytes.Trim(guard, "() \t\r\n")) == "false"
}

// IsConst reports whether an expression is the Boolean constant value.
func IsConst(expr sema.Expr, value bool) bool {
	constant, ok := expr.(*sema.Const)
	return ok && constant.Type() == sema.Bool && constant.Val.Bool == value
}

// unusedNames finds constants and formulas whose names occur only in their declarations.
func unusedNames(files []Source) []Finding {
	occurrences := make(map[string]int) // of each declared name
	for _, file := range files {
		for _, declaration := range declarationsIn(file) {
			occurrences[declaration.name.Name] = 0
		}
	}
	if len(occurrences) == 0 {
		return nil
	}
	for _, file := range files {
		countOccurrences(file, occurrences)
	}
	var findings []Finding
	for _, file := range files {
		for _, declared := range declarationsIn(file) {
			if occurrences[declared.name.Name] == 1 { // only the declaration
				message := fmt.Sprintf("%s %s is used nowhere", declared.kind, declared.name.Name)
				findings = append(findings, Finding{File: file.Name, Pos: declared.name.Start, Code: Unused, Message: message})
			}
		}
	}
	return findings
}

// declaration is the declaration of a constant or a formula.
type declaration struct {
	kind string // "constant" or "formula"
	name *syntax.Ident
}

// declarationsIn returns the constants and formulas that a file declares.
func declarationsIn(file Source) []declaration {
	var declarations []declaration
	syntax.VisitItems(file.Tree, func(node syntax.Node) {
		switch node := node.(type) {
		case *syntax.ConstDecl:
			declarations = append(declarations, declaration{"constant", node.Name})
		case *syntax.FormulaDecl:
			declarations = append(declarations, declaration{"formula", node.Name})
		}
	})
	return declarations
}

// countOccurrences adds the occurrences of names in a file to counts. It counts only the names that are keys of this map.
func countOccurrences(file Source, counts map[string]int) {
	count := func(name []byte) {
		if _, isDeclared := counts[string(name)]; isDeclared {
			counts[string(name)]++
		}
	}
	for class, text := range file.lexemes() {
		switch {
		case class == syntax.Name:
			count(text)
		case class == syntax.Comment && bytes.Contains(text, []byte("RESULT")): // an expected result, as in RESULT (N=3): 1/6
			for _, name := range namesInResult(text) {
				count(name)
			}
		}
	}
}

// namesInResult returns the words of a comment with an expected result. Some of them may name constants.
func namesInResult(comment []byte) [][]byte {
	return bytes.FieldsFunc(comment, func(char rune) bool {
		isDigit := '0' <= char && char <= '9'
		isLetter := 'A' <= char && char <= 'Z' || 'a' <= char && char <= 'z'
		return !isDigit && !isLetter && char != '_'
	})
}

// ignoreDirective starts a comment that silences findings.
const ignoreDirective = "lint: ignore"

// Split divides findings into active and silenced findings. The comment "// lint: ignore" silences all findings on its line or on the next line.
// The comment "// lint: ignore CODE, CODE" silences only findings with these codes.
func Split(findings []Finding, files []Source) (active, silenced []Finding) {
	silencedByLine := make(map[string]map[int32][]string) // by file and line; "" stands for all codes
	for _, file := range files {
		if bytes.Contains(file.Text, []byte(ignoreDirective)) {
			silencedByLine[file.Name] = silencedCodes(file)
		}
	}
	for _, finding := range findings {
		codes := silencedByLine[finding.File][finding.Pos.Line]
		if slices.Contains(codes, "") || slices.Contains(codes, string(finding.Code)) {
			silenced = append(silenced, finding)
		} else {
			active = append(active, finding)
		}
	}
	return active, silenced
}

// silencedCodes returns the codes that comments silence on each line of a file; "" stands for all codes.
func silencedCodes(file Source) map[int32][]string {
	codesByLine := make(map[int32][]string)
	var codesAbove []string // the codes in comments on the lines directly above this line
	var lastLine int32
	isStartOfLine := true // the line has no token yet
	for lexeme := range syntax.Lexemes(file.Text) {
		line := lexeme.Start.Line
		if line > lastLine {
			isStartOfLine = true
		}
		if line > lastLine+1 {
			codesAbove = nil
		}
		lastLine = line
		isComment := lexeme.Class == syntax.Comment
		switch {
		case isComment && isStartOfLine: // the comment applies to the next line with a token
			codesAbove = append(codesAbove, codesInDirective(lexeme.Text)...)
		case isComment:
			codesByLine[line] = append(codesByLine[line], codesInDirective(lexeme.Text)...)
		case isStartOfLine:
			codesByLine[line] = append(codesByLine[line], codesAbove...)
			isStartOfLine, codesAbove = false, nil
		}
	}
	return codesByLine
}

// codesInDirective returns the codes that a comment "lint: ignore" silences; "" stands for all codes. It returns nil for any other comment.
func codesInDirective(comment string) []string {
	const separators = " \t,:"
	text := strings.TrimSpace(strings.TrimLeft(comment, "/"))
	arguments, isDirective := strings.CutPrefix(text, ignoreDirective)
	isLongerWord := arguments != "" && !strings.ContainsRune(" \t:", rune(arguments[0]))
	if !isDirective || isLongerWord {
		return nil
	}
	isSeparator := func(char rune) bool { return strings.ContainsRune(separators, char) }
	var codes []string
	for _, code := range strings.FieldsFunc(arguments, isSeparator) {
		if !slices.Contains(Codes(), Code(code)) {
			break // an explanation follows the codes
		}
		codes = append(codes, code)
	}
	if len(codes) == 0 {
		return []string{""}
	}
	return codes
}
