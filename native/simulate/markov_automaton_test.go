package simulate

import (
	"math"
	"testing"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// TestTimesOfMarkovAutomaton: no time passes in the immediate state 1; state 0 takes 1/4 on average, and state 2 takes 2. The mean of n times
// with the mean m deviates by more than 5m/sqrt(n) with a probability below 1e-6.
func TestTimesOfMarkovAutomaton(t *testing.T) {
	tree, err := syntax.ParseModelOf(syntax.Storm, "m.prism", []byte(`ma
module m
  s : [0..2];
  <> s=0 -> 3 : (s'=1) + 1 : (s'=2);
  [] s=1 -> 1/2 : (s'=0) + 1/2 : (s'=2);
  <> s=2 -> 1/2 : true;
endmodule`))
	must(t, err)
	model, err := sema.CheckModel(tree)
	must(t, err)
	program, err := model.Instantiate(nil)
	must(t, err)
	compiled, err := compile.Compile(program, compile.Options{})
	must(t, err)
	var total, count [3]float64
	for index := range uint64(400) {
		path := Walk(t.Context(), FromModel(compiled), PathOptions{Steps: 20, Seed: 1, Index: index})
		for visit := range path.Visits() {
			if visit.Outgoing != nil {
				total[visit.State[0]] += visit.Outgoing.Time
				count[visit.State[0]]++
			}
		}
		if path.Err != nil || path.End != AtLength {
			t.Fatalf("path %d ends with %v, %v", index, path.End, path.Err)
		}
	}
	for state, mean := range []float64{1. / 4, 0, 2} {
		if found := total[state] / count[state]; !(math.Abs(found-mean) <= 5*mean/math.Sqrt(count[state])) {
			t.Errorf("state %d takes %v on average, want %v", state, found, mean)
		}
	}
}
