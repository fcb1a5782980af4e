package format_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/prism/format"
	"tilecheck/prism/syntax"
)

// The layout by hand: what a reader of the package comment expects.
func TestLayout(t *testing.T) {
	const src = `

dtmc   // a chain
const int   N=5;const double  p = 1/3 ; // both
// far


// near
formula f = ( s>0
 & s < N
)
  | s=2;
module  M   // the module

  s:[0..N]init 0; // place
  longer : bool; // other


  // first
  [ a ]s=0->p : (s'=1)
   + 1-p : (s'=2)
    & (longer'=true); // done
  [] s>0 & longer & s>0 & longer & s>0 & longer & s>0 & longer -> 0.5:(s'=1) & (longer'=true) + 0.5:(s'=2);
  //[] true -> true;

endmodule
module M2=M[s=t,
longer=shorter]endmodule
rewards "r" [a] true:1; endrewards
init s=0 endinit
`
	const want = `dtmc // a chain
const int N = 5;
const double p = 1/3; // both
// far

// near
formula f = (s>0
    & s<N
)
    | s=2;
module M // the module
  s : [0..N] init 0; // place
  longer : bool;     // other

  // first
  [a] s=0 -> p:(s'=1)
    + 1-p:(s'=2)
        & (longer'=true); // done
  [] s>0 & longer & s>0 & longer & s>0 & longer & s>0 & longer ->
      0.5:(s'=1) & (longer'=true)
    + 0.5:(s'=2);
  //[] true -> true;
endmodule
module M2 = M [s=t,
  longer=shorter] endmodule
rewards "r"
  [a] true : 1;
endrewards
init
  s=0
endinit
`
	if got := string(checkFormat(t, "m.prism", []byte(src))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	windows := strings.ReplaceAll(src, "\n", "\r\n")
	if got := string(checkFormat(t, "m.prism", []byte(windows))); got != strings.ReplaceAll(want, "\n", "\r\n") {
		t.Errorf("with CR LF it is\n%s", got)
	}
}

func TestLayoutOfProperties(t *testing.T) {
	const src = `const int k;"one" : P=?[F<=k s=1] // RESULT: 1/2
Pmax=?[ G !"a" ] ;;


// RESULT: 1
P>=1 [ F s=1 &
 s=2 ]; R{"x"} min  =? [ C ] // last`
	const want = `const int k;
"one": P=? [ F<=k s=1 ] // RESULT: 1/2
Pmax=? [ G !"a" ];;

// RESULT: 1
P>=1 [ F s=1 &
    s=2 ];
R{"x"}min=? [ C ] // last
`
	if got := string(checkFormat(t, "m.props", []byte(src))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

const everything = `mdp
const int N = 2; const double q; formula f = x<N; label "l" = f & true;
global g : bool init false;
module M x : [0..N] init 1; c : clock; invariant x<3 endinvariant
[go] f & !(g) -> 0.5:(x'=1)&(g'=true) + 0.5:true; [] x=2 -> true; endmodule
module O = M [x=y, c=d, go=stop] endmodule
rewards "r" x=1 : 2; [go] true : max(x, 1); endrewards
init x=0 | x=1 endinit
observables x endobservables observable "o" = x>1;
system "T" (M || O) / {go} endsystem`

const everyProperty = `const int k; label "a" = x=1;
"p": Pmax=? [ X "a" ]; R{"r"}<2 [ C<=k ] filter(max, P=? [ F<=k x=1 {"a"}{max} ], x<2);
multi(P>=0.5 [ F x=1 ], R{"r"}max=? [ C ])
A [ G x>0 ]; <<1,p>> Pmin=? [ x=0 U[1,k] x=2 ];; S=? [ x=1 ? x=2 : x=3 ]`

// A comment between any two tokens survives laying out and printing, and so does one
// behind each of them at once.
func TestCommentsAnywhere(t *testing.T) {
	for name, text := range map[string]string{"m.prism": everything, "m.props": everyProperty} {
		lexemes := slices.Collect(syntax.Lexemes([]byte(text)))
		all := "// top\n"
		for i, l := range lexemes {
			all += fmt.Sprintf("%s // behind %d\n\n  // above %d\n", l.Text, i, i)
			at := int(l.Stop.Offset)
			for _, comment := range []string{" // one\n", "\n\n//one\n\n", "\n// one\n// two\n"} {
				src := []byte(text[:at] + comment + text[at:])
				checkFormat(t, name, src)
				checkPrint(t, name, src)
			}
		}
		checkFormat(t, name, []byte(all))
		checkPrint(t, name, []byte(all))
	}
}

// What does not parse is left to the parser's errors, and a file without anything stays empty.
func TestRefused(t *testing.T) {
	for name, src := range map[string]string{"m.prism": "dtmc module", "m.props": "P=? [ F ]", "x.txt": "module"} {
		_, err := format.Source(syntax.PRISM, name, []byte(src))
		if list, ok := err.(syntax.ErrorList); !ok || list[0].File != name {
			t.Errorf("%s: %v, want a list of errors", name, err)
		}
	}
	if out, err := format.Source(syntax.PRISM, "m.prism", nil); err != nil || len(out) > 0 {
		t.Errorf("nothing is laid out as %q, %v", out, err)
	}
}

// What only Storm has is laid out so that it reads back as the same properties.
func TestStorm(t *testing.T) {
	const text = "P=? [ F x=1||G x<3 ];\nRmin=?[Cdiscount=0.9];\nR{\"r\"}=? [ C<=3 discount=1/2 ];\nR=? [ F x=1 || F x=2 ];\nmultilex(Pmax=? [F x=1],Rmin=? [ C ]);\nquantile(min  B,K, P>=0.5 [F{\"r\"}<=B,steps<=K x=1]);\n"
	tree, err := syntax.ParsePropertiesOf(syntax.Storm, "m.props", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	once, err := format.Source(syntax.Storm, "m.props", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	again, err := syntax.ParsePropertiesOf(syntax.Storm, "m.props", once)
	if err != nil || !syntax.Equal(tree, again) {
		t.Errorf("laid out it is another text, or %v:\n%s", err, once)
	}
	if twice, err := format.Source(syntax.Storm, "m.props", once); err != nil || string(twice) != string(once) {
		t.Errorf("laid out twice: %v\n%s", err, twice)
	}
}

// Our own examples are as we lay them out.
func TestExamples(t *testing.T) {
	n := 0
	for _, folder := range []string{"../../examples", "../../serve/examples"} {
		paths, err := filepath.Glob(folder + "/*.pr*")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			out, err := format.Source(syntax.PRISM, path, text)
			if err != nil || string(out) != string(text) {
				t.Errorf("%s: laid out it is another text, or %v", path, err)
			}
			n++
		}
	}
	if n < 8 {
		t.Errorf("%d examples", n)
	}
}
