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
	texts := append(models(t), model, strings.Replace(model, "const double p;", "const double p = 0.5;", 1), around)
	words := []string{
		"module", "endmodule", "endmodule module Z z : bool;", "(", ")", "[", "]", "'", "=", "->", ";", ":", "x", "x'", "N", "k", "low", "far", "0.5", "//", "\n", " ", "&", "init", "formula",
		"formula low = y;", "const int N = 3;", "const double p = 0.1;", "global g : [0..2];", "rewards", "endrewards", "[a] true -> true;", "[] false -> (x'=1);", "invariant", "\r\n", "é", "+ 0.5:true",
	}
	for i := range needs.Some(300) {
		text := texts[r.IntN(len(texts))]
		if i%2 == 0 {
			text = texts[len(texts)-1-r.IntN(3)]
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
			switch r.IntN(6) {
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

const around = `dtmc
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
