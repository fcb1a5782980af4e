package explicit

import (
	"math/big"
	"testing"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/sema/sematest"
)

// TestFractionCache compares cached values with those of EvalExact. The weights depend on x<y, on x=3 and on z>=900, so they are computed at most
// once for each of the eight combinations of these conditions. The range of z is too large for classes of its values.
func TestFractionCache(t *testing.T) {
	const text = `dtmc
formula total = (x<y?3:1) + (x=3?1/3:0) + (z>=900?4:0);
module m
  x : [0..9]; y : [0..9]; z : [0..99999]; b : bool;
  [] true -> (x<y?3:1)/total : (b'=!b) + ((x=3?1/3:0)+(z>=900?4:0))/total : (z'=z);
endmodule`
	model, err := compile.Compile(sematest.Program(t, text), compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	command := &model.Program().Modules[0].Commands[0]
	exprs := []sema.Expr{command.Updates[0].Prob, command.Updates[1].Prob}
	cache, err := newFractionCache(model, exprs)
	if err != nil {
		t.Fatal(err)
	}
	evaluate := func(state []int32) ([]*big.Rat, error) {
		var values []*big.Rat
		encloser := sema.NewEncloser(state)
		for _, expr := range exprs {
			value, err := encloser.Enclose(expr)
			if err != nil {
				return nil, err
			}
			values = append(values, value.Rat)
		}
		return values, nil
	}
	numComputed := 0
	for i := range 2000 {
		state := []int32{int32(i % 10), int32(i / 10 % 10), int32(i * 47), int32(i % 2)}
		values, err := cache.get(state, func() ([]*big.Rat, error) {
			numComputed++
			return evaluate(state)
		})
		if err != nil {
			t.Fatal(err)
		}
		for j, expr := range exprs {
			if want, _, err := sema.EvalExact(expr, state); err != nil || values[j].Cmp(want.Rat) != 0 {
				t.Fatalf("state %v: got %v for update %d, want %v (%v)", state, values[j], j, want.Rat, err)
			}
		}
	}
	if numComputed > 8 {
		t.Errorf("the values were computed %d times, want at most once for each combination of three conditions", numComputed)
	}
}

// TestFractionCacheFailingCondition has a condition without a value where y is 0. The cache must not store anything for such a state.
func TestFractionCacheFailingCondition(t *testing.T) {
	const text = `dtmc
module m
  x : [0..9]; y : [0..9];
  [] y>0 -> (mod(x,y)=1?1/3:2/3) : true + (mod(x,y)=1?2/3:1/3) : (x'=0);
endmodule`
	model, err := compile.Compile(sematest.Program(t, text), compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cache, err := newFractionCache(model, []sema.Expr{model.Program().Modules[0].Commands[0].Updates[0].Prob})
	if err != nil {
		t.Fatal(err)
	}
	numComputed := 0
	for _, state := range [][]int32{{5, 0}, {5, 0}, {5, 4}, {9, 8}} {
		_, err := cache.get(state, func() ([]*big.Rat, error) { numComputed++; return nil, nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	if numComputed != 3 {
		t.Errorf("computed %d values, want 3: two where the condition fails, one where it holds", numComputed)
	}
}
