package simulate

import (
	"context"
	"testing"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/sema/sematest"
)

// model is a compiled model and what is needed to read properties over it.
type model struct {
	prog *sema.Program
	*compile.Model
}

func load(t testing.TB, src string, consts ...string) *model {
	t.Helper()
	return loadWith(t, compile.Options{}, src, consts...)
}

func loadWith(t testing.TB, opt compile.Options, src string, consts ...string) *model {
	t.Helper()
	program := sematest.Program(t, src, consts...)
	m, err := compile.Compile(program, opt)
	must(t, err)
	return &model{program, m}
}

// property reads the first property of the text of a properties file.
func (m *model) property(t testing.TB, text string) *Property {
	t.Helper()
	props, program := sematest.Properties(t, m.prog, text)
	return &Property{Property: props[0], Program: program, File: "m.props"}
}

func (m *model) check(t testing.TB, text string, opts Options) *Result {
	t.Helper()
	return Check(context.Background(), m.Model, m.property(t, text), opts)
}

// interpreted makes a check use the interpreter, which has nothing to compile.
type interpreted struct{ *compile.Model }

func (m interpreted) NewRunner(_ context.Context, mon compile.Monitor) (compile.BatchRunner, error) {
	return m.NewInterpreter(mon)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const (
	// die is the die of Knuth and Yao: P(F s=7 & d=i) = 1/6, 11/3 flips.
	die = `dtmc
module die
  s : [0..7] init 0;
  d : [0..6] init 0;
  [] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [] s=1 -> 0.5 : (s'=3) + 0.5 : (s'=4);
  [] s=2 -> 0.5 : (s'=5) + 0.5 : (s'=6);
  [] s=3 -> 0.5 : (s'=1) + 0.5 : (s'=7) & (d'=1);
  [] s=4 -> 0.5 : (s'=7) & (d'=2) + 0.5 : (s'=7) & (d'=3);
  [] s=5 -> 0.5 : (s'=7) & (d'=4) + 0.5 : (s'=7) & (d'=5);
  [] s=6 -> 0.5 : (s'=2) + 0.5 : (s'=7) & (d'=6);
  [] s=7 -> (s'=7);
endmodule
rewards "flips" s<7 : 1; endrewards
label "done" = s=7;
`
	// ruin is a gambler who owns x of N and wins a round with probability p.
	ruin = `dtmc
const int N; const int start; const double p;
module gambler
  x : [0..N] init start;
  [] x>0 & x<N -> p : (x'=x+1) + 1-p : (x'=x-1);
  [] x=0 | x=N -> true;
endmodule
rewards "rounds" x>0 & x<N : 1; endrewards
`
	// queue is M/M/1/K with arrivals and departures as two modules.
	queue = `ctmc
const int K; const double lambda; const double mu;
module queue
  q : [0..K] init 0;
  [] q<K -> lambda : (q'=q+1);
  [serve] q>0 -> mu : (q'=q-1);
endmodule
rewards "length" q>0 : q; endrewards
rewards "served" [serve] true : 1; endrewards
`
	// decay jumps once, at rate 2.
	decay = `ctmc
module atom
  gone : bool init false;
  [] !gone -> 2 : (gone'=true);
  [] gone -> 1 : true;
endmodule
rewards "alive" !gone : 3; endrewards
`
)
