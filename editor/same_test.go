package editor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/editor"
	"tilecheck/internal/needs"
)

// said is all that is said of a file, in words.
func said(t *testing.T, f *editor.Files, name string, at int) []string {
	t.Helper()
	found, err := f.Diagnostics(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	say := func(x ...any) { out = append(out, fmt.Sprintln(x...)) }
	for _, d := range found {
		say(d, d.Range, d.Severity, d.Code)
	}
	for _, x := range f.Tokens(name) {
		say(x)
	}
	text, in, ok := f.Hover(t.Context(), name, at)
	say(text, in, ok)
	from, words := f.Complete(name, at)
	say(from, words)
	say(f.References(name, at), f.Lenses(name))
	layout, err := f.Format(name)
	say(string(layout), err)
	for _, x := range f.Symbols(name) {
		say(x)
	}
	return out
}

// What is said of a text that was changed is what is said of it when it is opened. The
// models have what commands depend on: formulas of formulas, constants with and without values,
// renamed modules, clocks, guards that are false, values that doubles and fractions tell apart.
func TestSameAsFresh(t *testing.T) {
	r := rand.New(rand.NewPCG(needs.Number(t, "TILECHECK_SEED", 1), 1))
	texts := append(models(t), model, strings.Replace(model, "const double p;", "const double p = 0.5;", 1), env, valued, valued+"module K = M [x=y, b=c, N=Q] endmodule\n")
	words := []string{
		"module", "endmodule", "endmodule module Z z : bool;", "(", ")", "[", "]", "'", "=", "->", ";", ":", "x", "x'", "N", "k", "low", "far", "0.5", "//", "\n", " ", "&", "init", "formula",
		"formula low = y;", "const int N = 3;", "const double p = 0.1;", "global g : [0..2];", "rewards", "endrewards", "[a] true -> true;", "[] false -> (x'=1);", "invariant", "\r\n", "é", "+ 0.5:true",
	}
	for i := range needs.Some(300) {
		text := texts[r.IntN(len(texts))]
		if i%2 == 0 {
			text = texts[len(texts)-1-r.IntN(5)]
		}
		files := editor.New(editor.Options{})
		if i%4 < 2 {
			files = files.With("m.props", []byte(props))
		}
		files = files.With("m.prism", []byte(text))
		var undo []string
		for range 12 {
			said(t, files, "m.prism", 0)
			undo = append(undo, text)
			at := r.IntN(len(text) + 1)
			end := min(at+r.IntN(12), len(text))
			switch r.IntN(9) {
			case 0, 1:
				text = text[:at] + words[r.IntN(len(words))] + text[at:]
			case 2:
				text = text[:at] + text[end:]
			case 3:
				text = text[:end] + text[at:]
			case 4:
				text = undo[r.IntN(len(undo))]
			case 5: // a line elsewhere
				lines := strings.SplitAfter(text, "\n")
				from, to := r.IntN(len(lines)), r.IntN(len(lines))
				text = strings.Join(slices.Insert(lines, to, lines[from]), "")
			case 8: // one of commands that differ in their literals alone
				lines := strings.SplitAfter(text, "\n")
				alike := []string{"  [] true -> (x'=N-1);\n", "  [] false -> (x'=N-1);\n", "  [] x=1 -> (x'=N-1);\n", "  [] x=ceil(0.1*3/0.1) -> (x'=N-1);\n"}
				if at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "  []") }); at >= 0 {
					text = strings.Join(slices.Insert(lines, at, alike[r.IntN(len(alike))]), "")
				}
			case 6, 7: // a value of a constant, or another number at the beginning
				head := text[:min(len(text), 200)]
				if from := r.IntN(len(head) + 1); strings.ContainsAny(head[from:], "0123456789") {
					at = from + strings.IndexAny(head[from:], "0123456789")
					text = text[:at] + string(rune('0'+r.IntN(8))) + text[at+1:]
				}
				if r.IntN(4) == 0 {
					text = strings.NewReplacer("true;", "false;", "false;", "true;").Replace(head) + text[len(head):]
				}
			}
			files = files.With("m.prism", []byte(text))
			if r.IntN(4) == 0 {
				continue // a text that nobody has asked about
			}
			fresh := editor.New(editor.Options{}).With("m.prism", []byte(text))
			if i%4 < 2 {
				fresh = fresh.With("m.props", []byte(props))
			}
			at = r.IntN(len(text) + 1)
			got, want := said(t, files, "m.prism", at), said(t, fresh, "m.prism", at)
			if i%4 < 2 {
				got, want = append(got, said(t, files, "m.props", 0)...), append(want, said(t, fresh, "m.props", 0)...)
			}
			for j := range min(len(got), len(want)) {
				if got[j] != want[j] {
					t.Fatalf("round %d: after an edit\n%sand fresh\n%sof\n%s\nwhich was\n%s", i, got[j], want[j], text, undo[len(undo)-1])
				}
			}
			if len(got) != len(want) {
				t.Fatalf("round %d: %d things, and fresh %d", i, len(got), len(want))
			}
		}
	}
}

// A command that comes to stand in a comment is none, also where the one before stands for it.
func TestCommentedOut(t *testing.T) {
	text := strings.Replace(model, "  [stop]", "  [go] low -> (x'=x);\n  [go] x<2 -> (x'=x);\n  [stop]", 1)
	files := editor.New(editor.Options{}).With("m.prism", []byte(text))
	said(t, files, "m.prism", 0)
	at := place(t, text, "(x'=x);\n  ", "[go] x<2")
	files = files.With("m.prism", []byte(text[:at]+"// "+text[at:]))
	if hover, _, ok := files.Hover(t.Context(), "m.prism", at+len("// [go] ")); ok {
		t.Errorf("in a comment is %q", hover)
	}
}

// Commands that only literals tell apart do not stand for each other when a constant changes.
func TestLiterals(t *testing.T) {
	text := "dtmc\nconst int N = 3;\nmodule M\n  x : [0..9] init 0;\n  [] 1=1 -> (x'=N-1);\n  [] 1=2 -> (x'=N-1);\nendmodule\n"
	files := editor.New(editor.Options{}).With("m.prism", []byte(text))
	said(t, files, "m.prism", 0)
	for _, value := range []string{"4", "5"} {
		files = files.With("m.prism", []byte(strings.Replace(text, "= 3", "= "+value, 1)))
		found, err := files.Diagnostics(t.Context(), "m.prism")
		if err != nil || len(found) != 1 || found[0].Pos.Line != 6 {
			t.Errorf("with %s: %v, %v, want that the guard of line 6 is false", value, found, err)
		}
	}
}

// valued has what depends on the values of constants: guards that are false, operations of which doubles have another
// result, those within formulas, conditions and functions, one command beside others with the same.
const valued = `dtmc
const int N = 3;
const int Q = 2;
const bool on = true;
const double p = 0.5;
formula last = N-1;
formula at = x=last;
formula odd = mod(x+Q,2)=1;
formula off = on & N>2;
module M
  x : [0..9] init 0;
  b : bool;
  [] x<N-1 -> p:(x'=min(x+1,N-1)) + (1-p):true;
  [] x=N-1 -> p:(x'=min(x+1,N-1)) + (1-p):(x'=0);
  [] x=Q*2 -> (x'=x);
  [] x=ceil(0.1*Q/0.1) -> (x'=x);
  [] x>ceil(0.1*Q/0.1) -> (x'=x);
  [] x=mod(N,7)+4*1 -> true;
  [] N>2 -> true;
  [] N>2 & x=1 -> true;
  [] N>2 | x=1 -> true;
  [] on -> true;
  [] !on & b -> true;
  [] b=on -> (b'=!on);
  [] b=(N>4) -> (b'=N>4);
  [] at & !b -> (x'=last+1);
  [] odd -> (x'=N);
  [] off -> true;
  [] b & off -> true;
  [] x=(b ? N+1 : Q*2) -> (x'=b ? N : 0);
  [] (on ? x=1 : x=2) -> true;
  [] (N>2 ? true : false) -> true;
  [] x=1 -> 1/N:true + (1-1/N):(x'=(N)) ;
  [] x=mod(1,Q-2) -> true;
  [] max(x,N)>=N -> true;
  [] pow(Q,2)=4 -> true;
endmodule
`

const env = `dtmc
const int N = 2*3;
const int k = N-1;
const double p = 0.5;
formula low = x<N;
formula far = !low & x>k & x!=round(0.1*3/0.3+0.5);
global g : [0..3];
module M
  x : [0..N] init 0;
  b : bool;
  [a] low & !b -> p:(x'=x+1) + 1-p:(b'=true);
  [a] far -> (x'=0);
  [] N=7 -> (x'=1);
  [] b & g<3 -> (g'=g+1) & (b'=false);
  [] x=k -> // a comment
    0.5:(x'=0) + // and another one
    0.5:true;
  [c] false | low -> true;
endmodule
module K = M [x=y, b=c, a=d] endmodule
module L
  z : [0..1];
  [a] z=0 -> (z'=1); [a] z=1 -> (z'=0);
  [d] low -> p:(z'=0) + (1-p):(z'=1);
  [e] k>3 -> (z'=1-z);
endmodule
label "end" = x=N & y=N;
rewards
  [a] low : k;
endrewards
`
