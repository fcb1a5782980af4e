package editor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tilecheck/editor"
)

const model = `mdp
const int N = 2*3; // how many
const double p;
formula low = x<N;
module M
  x : [0..N] init 0;
  [go] low -> p:(x'=x+1) + 1-p:true;
  [stop] x=N -> (x'=0);
endmodule
module K = M [x=y, go=stay] endmodule
label "end" = x=N & y=N;
rewards "steps"
  [go] true : 1;
endrewards
`

const props = `const int k = 3;
"one": Pmax=? [ F<=k "end" ];
R{"steps"}min=? [ F x=N ];
filter(max, "one", x=0);
`

func open(t *testing.T, opts editor.Options) *editor.Files {
	t.Helper()
	return editor.New(opts).With("d/m.prism", []byte(model)).With("d/m.props", []byte(props))
}

// place is the offset of a part of a text, behind the text before it.
func place(t *testing.T, text, before, what string) int {
	t.Helper()
	i := strings.Index(text, before+what)
	if i < 0 {
		t.Fatalf("no %q", before+what)
	}
	return i + len(before)
}

// Where names are declared, by hand; an empty want is none.
func TestDefinition(t *testing.T) {
	files := open(t, editor.Options{})
	texts := map[string]string{"d/m.prism": model, "d/m.props": props}
	tests := []struct{ file, before, what, in, wantBefore string }{
		{"d/m.prism", "x<", "N", "d/m.prism", "const int "},
		{"d/m.prism", "[go] ", "low", "d/m.prism", "formula "},
		{"d/m.prism", "p:(", "x", "d/m.prism", "M\n  "},
		{"d/m.prism", "x=N & ", "y", "d/m.prism", "[x="},
		{"d/m.prism", "K = ", "M", "d/m.prism", "module "},
		{"d/m.prism", "K = M [", "x", "d/m.prism", "M\n  "},
		{"d/m.prism", "y, ", "go", "d/m.prism", "  ["},
		{"d/m.prism", "rewards \"steps\"\n  [", "go", "d/m.prism", "  ["},
		{"d/m.props", "F<=", "k", "d/m.props", "int "},
		{"d/m.props", "F<=k \"", "end", "d/m.prism", "label \""},
		{"d/m.props", "{\"", "steps", "d/m.prism", "rewards \""},
		{"d/m.props", "max, \"", "one", "d/m.props", "\""},
		{"d/m.props", "F x=", "N", "d/m.prism", "const int "},
		{"d/m.props", "", "filter", "", ""},
	}
	for _, test := range tests {
		at := place(t, texts[test.file], test.before, test.what)
		got, ok := files.Definition(test.file, at)
		if ok != (test.in != "") {
			t.Errorf("%s: %s%s: %v, %v", test.file, test.before, test.what, got, ok)
			continue
		}
		if want := texts[test.in]; ok && (got.File != test.in || got.From != place(t, want, test.wantBefore, test.what)) {
			t.Errorf("%s: %s%s is declared in %s at %d", test.file, test.before, test.what, got.File, got.From)
		}
	}
}

func TestReferences(t *testing.T) {
	files := open(t, editor.Options{})
	for what, want := range map[string]int{"N": 7, "p;": 3, "low": 2, "end\"": 2, "steps": 2, "M\n": 2} {
		got := files.References("d/m.prism", strings.Index(model, what))
		if len(got) != want {
			t.Errorf("%s is in %d places, want %d: %v", what, len(got), want, got)
		}
		name := strings.TrimRight(what, ";\"\n")
		for _, l := range got {
			if text := string(files.Text(l.File)[l.From:l.To]); text != name {
				t.Errorf("%s: a reference to %q", what, text)
			}
		}
	}
}

func TestHover(t *testing.T) {
	files := open(t, editor.Options{Consts: []string{"p=1/4"}})
	for what, wants := range map[string][]string{
		"N;":   {"const int N = 2*3;", "value 6", "constant, used 6 times"},
		"p;":   {"const double p;", "value 0.25", "used twice"},
		"x=N ": {"x : [0..N] init 0;", "variable of module `M`", "used 9 times"},
		"low ": {"formula low = x<N;", "formula, used once"},
		"go] ": {"action [go]", "used twice"},
	} {
		got, at, ok := files.Hover(t.Context(), "d/m.prism", strings.Index(model, what))
		if !ok || at.From != strings.Index(model, what) {
			t.Errorf("%s: %v at %v", what, ok, at)
		}
		for _, want := range wants {
			if !strings.Contains(got, strings.ReplaceAll(want, "used twice", "used 2 times")) {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
	}
}

// Comments directly above a declaration are shown with it, or else the one behind it in its line.
func TestHoverComments(t *testing.T) {
	const text = `dtmc
// far away

// How many
//   are there.
const int N = 2; // not this one
const double p = 0.5; // How likely.
module M // The walker.
  x : [0..N]; y : bool; // Only y.
  // About z.
  z : bool;
  [] true -> p:(x'=0) + 1-p:(y'=z);
endmodule
`
	files := editor.New(editor.Options{}).With("m.prism", []byte(text))
	for what, want := range map[string]string{
		"N]": "How many\nare there.", "p:(": "How likely.", "M //": "The walker.", "x'": "", "y'": "Only y.", "z);": "About z.",
	} {
		got, _, ok := files.Hover(t.Context(), "m.prism", strings.Index(text, what))
		_, behind, _ := strings.Cut(got, "\n```\n")
		comment, _, found := strings.Cut(behind, "\n\n")
		if strings.HasPrefix(comment, "value") {
			comment, found = "", false
		}
		if !ok || comment != want && (found || want != "") {
			t.Errorf("%s: %q, want the comment %q", what, got, want)
		}
	}
}

// What the operators of properties mean: the same letter in different places, bounds and filters.
func TestHoverOperators(t *testing.T) {
	const text = `Pmin=? [ F<=10 x=1 ];
P>=0.5 [ (x=0) R[1,(2+3)] (y) ];
R{"steps"}max=? [ F x=2 ];
R=? [ C<=7 ];
R=? [ S ];
S=? [ x=3 ];
filter(avg, P=? [ X x=4 ], x=5);
R=? [ Cdiscount=0.5 ];
R=? [ C<=8 discount=0.9 ];
P=? [ F x=6 || G x<7 ];
multilex(Pmax=? [ F x=7 ], Rmin=? [ C ]);
quantile(min B, Pmax>=0.5 [ F{"steps"}<=B x=8 ]);
`
	files := editor.New(editor.Options{}).With("m.prism", []byte("dtmc\nmodule M x:[0..9]; y:bool; endmodule\n")).With("m.props", []byte(text))
	for what, want := range map[string]string{
		"Pmin": "Smallest probability", "F<=10": "The bound `<=10` counts steps", "P>=": "at least p", "R[1": "Release", "[1,(": "", "R{": "Expected reward",
		"F x=2": "Reward until", "C<=7": "Cumulative reward", "S ]": "Long-run average", "S=?": "Steady state", "filter": "makes one value", "avg": "the mean of the values",
		"X x": "next state", "9": "",
		"Cdiscount": "Discounted reward", "discount=0.9": "Discount factor", "|| G": "Condition", "multilex": "Lexicographic", "quantile": "least bounds on rewards",
	} {
		got, at, ok := files.Hover(t.Context(), "m.props", strings.Index(text, what))
		if ok != (want != "") || !strings.Contains(got, want) || ok && at.From != strings.Index(text, what) {
			t.Errorf("%s: %q at %v, want %q", what, got, at, want)
		}
	}
	if got, _, _ := files.Hover(t.Context(), "m.props", strings.Index(text, "R[1")); !strings.Contains(got, "`[1,(2+3)]`") {
		t.Errorf("the bound of a release: %q", got)
	}
}

// A renaming changes every place, and nothing else.
func TestRename(t *testing.T) {
	files := open(t, editor.Options{})
	edits, err := files.Rename(t.Context(), "d/m.props", place(t, props, "F x=", "N"), "size")
	if err != nil || len(edits) != 7 {
		t.Fatalf("%v, %v", edits, err)
	}
	after, err := files.Apply(edits)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files.Names() {
		want := strings.ReplaceAll(string(files.Text(file)), "N", "size")
		if got := string(after.Text(file)); got != want {
			t.Errorf("%s\n%s\nwant\n%s", file, got, want)
		}
	}
}

// What would change a meaning is refused, with the reason.
func TestRenameRefused(t *testing.T) {
	files := open(t, editor.Options{})
	tests := []struct{ file, before, what, to, want string }{
		{"d/m.prism", "const int ", "N", "p", "error"},
		{"d/m.prism", "const int ", "N", "module", "no keyword"},
		{"d/m.prism", "const int ", "N", "a b", "want a name"},
		{"d/m.prism", "const int ", "N", "", "want a name"},
		{"d/m.prism", "const int ", "N", "k", "error"},
		{"d/m.prism", "", "mdp", "dtmc", "no name"},
		{"d/m.prism", "  [", "go", "stop", "something else"},
		{"d/m.props", "const int ", "k", "x", "error"},
		{"d/m.props", "", "\"one", "end", "error"},
	}
	for _, test := range tests {
		text := string(files.Text(test.file))
		edits, err := files.Rename(t.Context(), test.file, place(t, text, test.before, test.what)+strings.Count(test.what, `"`), test.to)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s to %s: %v, %v, want %q", test.what, test.to, edits, err, test.want)
		}
	}
	broken := files.With("d/m.props", []byte("P=? [ F N= ]"))
	if _, err := broken.Rename(t.Context(), "d/m.prism", place(t, model, "const int ", "N"), "size"); err == nil {
		t.Error("a file with an error is renamed in")
	}
}

// What can stand at the end of a text, of a list of words that are looked for. By the
// grammar in docs/language.md.
func TestComplete(t *testing.T) {
	limitedText := []string{"N", "x", "x'", "low", "go", "end", "steps", "one", "M", "true", "module", "endmodule", "dtmc", "bool", "int", "Pmax", "F", "U", "multilex", "Cdiscount", "discount", "const", "rewards", "min", "filter", "endrewards", "init"}
	tests := []struct{ file, text, want string }{
		{"m.prism", model + "", "module const rewards dtmc init"},
		{"m.prism", model + "mo", "module const rewards dtmc init"},
		{"m.prism", model + "const ", "bool int"},
		{"m.prism", model + "const int ", ""},
		{"m.prism", model + "formula f = ", "N x low true min"},
		{"m.prism", model + "module Z ", "endmodule"},
		{"m.prism", model + "module Z z : ", "bool int"},
		{"m.prism", model + "module Z z : bool ", "init"},
		{"m.prism", model + "module Z = ", "M"},
		{"m.prism", model + "module Z [", "go"},
		{"m.prism", model + "module Z [] ", "N x low true min"},
		{"m.prism", model + "module Z [] true -> (", "N x x' low true min"},
		{"m.prism", model + "module Z [] true -> (x'=", "N x low true min"},
		{"m.prism", model + "module Z [] true -> true; ", "endmodule"},
		{"m.prism", model + "rewards \"r\" ", "N x low true min endrewards"},
		{"m.prism", model + "// ", ""},
		{"m.props", props + "", "N x low true Pmax const min filter multilex Cdiscount discount"},
		{"m.props", props + "Pmax=? [ ", "N x low true Pmax F min filter multilex Cdiscount discount"},
		{"m.props", props + "Pmax=? [ F \"", "end one init"},
		{"m.props", props + "R{\"", "steps"},
		{"m.props", props + "Pmax=? [ x=1 ", "U"},
	}
	for _, test := range tests {
		files := editor.New(editor.Options{}).With("m.prism", []byte(model)).With("m.props", []byte(props)).With(test.file, []byte(test.text))
		_, found := files.Complete(test.file, len(test.text))
		var got []string
		for _, word := range limitedText {
			if slices.ContainsFunc(found, func(c editor.Completion) bool { return c.Text == word }) {
				got = append(got, word)
			}
		}
		want := strings.Fields(test.want)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("behind %q: %q, want %q", test.text[max(len(test.text)-20, 0):], got, want)
		}
	}
}

// The usual mistakes, what is offered, and the text after it, which has no such mistake.
func TestFixes(t *testing.T) {
	const head = "dtmc module M alpha : [0..2];\n"
	tests := []struct{ text, title, want string }{
		{"[] alpha==1 -> true; endmodule", "Write = for ==", "[] alpha=1 -> true; endmodule"},
		{"[] alpha=1 && true -> true; endmodule", "Write & for &&", "[] alpha=1 & true -> true; endmodule"},
		{"[] alpha=1 || true -> true; endmodule", "Write | for ||", "[] alpha=1 | true -> true; endmodule"},
		{"[] true -> (alpha'=1)\nendmodule", "Insert ;", "[] true -> (alpha'=1);\nendmodule"},
		{"[] true -> (alpha=1); endmodule", "Write alpha'", "[] true -> (alpha'=1); endmodule"},
		{"[] alfa=1 -> true; endmodule", "Write alpha", "[] alpha=1 -> true; endmodule"},
		{"endmodule label end = true;", "Put the label in quotes", "endmodule label \"end\" = true;"},
		{"[] true -> true; endmodule rewards rounds\n true : 1; endrewards", "Put the name in quotes", "[] true -> true; endmodule rewards \"rounds\"\n true : 1; endrewards"},
		{"[] true -> true; endmodule rewards rounds [] true : 1; endrewards", "Put the name in quotes", "[] true -> true; endmodule rewards \"rounds\" [] true : 1; endrewards"},
		{"[] true -> true; endmodule", "", ""},
	}
	for _, test := range tests {
		files := editor.New(editor.Options{}).With("m.prism", []byte(head+test.text))
		fixes, err := files.Fixes(t.Context(), "m.prism", editor.Range{From: 0, To: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if test.title == "" {
			if len(fixes) > 0 {
				t.Errorf("%s: %v", test.text, fixes)
			}
			continue
		}
		if len(fixes) == 0 || fixes[0].Title != test.title {
			found, _ := files.Diagnostics(t.Context(), "m.prism")
			t.Errorf("%s: %v of %v, want %q", test.text, fixes, found, test.title)
			continue
		}
		after, err := files.Apply(fixes[0].Edits)
		if err != nil || string(after.Text("m.prism")) != head+test.want {
			t.Errorf("%s becomes %s, %v", test.text, after.Text("m.prism"), err)
		}
	}
}

func TestOutline(t *testing.T) {
	files := open(t, editor.Options{})
	var got []string
	for _, file := range files.Names() {
		for _, s := range files.Symbols(file) {
			got = append(got, fmt.Sprintf("%v %s", s.Kind, s.Name))
			for _, inside := range s.Inside {
				got = append(got, fmt.Sprintf("- %v %s %s", inside.Kind, inside.Name, inside.Detail))
			}
		}
	}
	want := []string{
		"constant N", "constant p", "formula low", "module M", "- variable x [0..N]", "module K", "label end", "reward structure steps",
		"constant k", "property one", "property R{\"steps\"}min=? [ F x=N ]", "property filter(max,\"one\",x=0)",
	}
	if len(got) != len(want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for i := range want {
		if strings.ReplaceAll(got[i], " ", "") != strings.ReplaceAll(want[i], " ", "") {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
	lenses := files.Lenses("d/m.props")
	if len(lenses) != 3 || lenses[0].Property != "one" || lenses[1].Property != "2" || files.Lenses("d/m.prism")[0].Command != "simulate" {
		t.Errorf("%v", lenses)
	}
}

// Every byte that is no white space is in one token, and names have their kinds.
func TestTokens(t *testing.T) {
	files := open(t, editor.Options{})
	kinds := make(map[string]editor.Kind)
	for _, file := range files.Names() {
		text, at := files.Text(file), 0
		for _, token := range files.Tokens(file) {
			if gap := strings.TrimSpace(string(text[at:token.From])); gap != "" {
				t.Errorf("%s: %q is no token", file, gap)
			}
			kinds[string(text[token.From:token.To])] = token.Kind
			at = token.To
		}
		if rest := strings.TrimSpace(string(text[at:])); rest != "" {
			t.Errorf("%s: %q is no token", file, rest)
		}
	}
	for name, want := range map[string]editor.Kind{
		"N": editor.Constant, "low": editor.Formula, "x": editor.Variable, "x'": editor.Variable, "y": editor.Variable, "go": editor.Action, "stay": editor.Action,
		"M": editor.Module, "end": editor.Label, "one": editor.Property, "steps": editor.RewardStruct, "module": editor.NoKind,
	} {
		if kinds[name] != want {
			t.Errorf("%s is a %v, want a %v", name, kinds[name], want)
		}
	}
}

// The tokens of a part are those of the whole text that have something in it.
func TestTokensIn(t *testing.T) {
	files := open(t, editor.Options{})
	for _, file := range files.Names() {
		all, n := files.Tokens(file), len(files.Text(file))
		for from := range n + 1 {
			for _, to := range []int{0, from, from + 1, from + 17, n, n + 1} {
				var want []editor.Token
				for _, token := range all {
					if token.From < to && token.To > from {
						want = append(want, token)
					}
				}
				if got := files.TokensIn(file, editor.Range{From: from, To: to}); !slices.Equal(got, want) {
					t.Fatalf("%s from %d to %d: %v, want %v", file, from, to, got, want)
				}
			}
		}
	}
}

// A snapshot stays as it is, and properties find their model.
func TestFiles(t *testing.T) {
	one := open(t, editor.Options{})
	two := one.With("d/other.prism", []byte("dtmc")).With("d/m.props", []byte("P=? [ F q=1 ]")).Without("d/m.prism")
	if got := one.Names(); !slices.Equal(got, []string{"d/m.prism", "d/m.props"}) {
		t.Errorf("the first has %q", got)
	}
	if got := two.ModelOf("d/m.props"); got != "d/other.prism" {
		t.Errorf("the model is %q", got)
	}
	found, err := one.Diagnostics(t.Context(), "d/m.props")
	if err != nil || len(found) > 0 {
		t.Errorf("the first has %v, %v", found, err)
	}
	for name, want := range map[string]string{"m.prism.props": "m.prism", "m.props": "m.prism", "z.props": "", "e/z.props": "e/o.nm"} {
		files := editor.New(editor.Options{})
		for _, file := range []string{"m.prism", "m2.prism", "e/o.nm", name} {
			files = files.With(file, nil)
		}
		if got := files.ModelOf(name); got != want {
			t.Errorf("the model of %s is %q, want %q", name, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	lines := editor.NewLines([]byte("a\r\nbé😀c\n\nd"))
	for _, test := range []struct{ offset, line, bytes, utf16 int }{
		{0, 0, 0, 0}, {1, 0, 1, 1}, {3, 1, 0, 0}, {4, 1, 1, 1}, {6, 1, 3, 2}, {10, 1, 7, 4}, {11, 1, 8, 5}, {12, 2, 0, 0}, {13, 3, 0, 0}, {14, 3, 1, 1},
	} {
		line, col := lines.Position(test.offset)
		line16, col16 := lines.UTF16(test.offset)
		if line != test.line || col != test.bytes || line16 != test.line || col16 != test.utf16 {
			t.Errorf("%d is %d:%d and %d:%d", test.offset, line, col, line16, col16)
		}
		if got, got16 := lines.Offset(line, col), lines.FromUTF16(line, col16); got != test.offset || got16 != test.offset {
			t.Errorf("%d:%d is %d and %d, want %d", line, col, got, got16, test.offset)
		}
	}
	if lines.Offset(99, 0) != 14 || lines.Offset(1, 99) != 11 || lines.Offset(-1, -1) != 0 || lines.FromUTF16(0, 99) != 1 {
		t.Error("places outside of the text are not at its ends")
	}
}
