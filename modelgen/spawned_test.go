package modelgen

import (
	"bytes"
	"testing"

	"tilecheck/prism/syntax"
)

// Models in which the scheduler places new tiles are known as such when they are read again, whatever their kind and policy; others are not.
func TestSchedulerSpawns(t *testing.T) {
	random := Policy{Kind: RandomMoves}
	for _, tc := range []struct {
		cfg  Config
		want bool
	}{
		{Config{Rows: 2, Cols: 2, Max: 8}, true},
		{Config{Rows: 1, Cols: 4, Max: 8, Policy: random, Updates: UpdatesPublished}, true},
		{Config{Kind: Combined, Rows: 2, Cols: 2, Max: 8}, true},
		{Config{Kind: Prototype, Rows: 2, Cols: 2, Max: 8}, true},
		{Config{Rows: 2, Cols: 2, Max: 8, Spawn: SpawnModule}, false},
		{Config{Rows: 2, Cols: 2, Max: 8, Spawn: SpawnUniform}, false},
		{Config{Kind: DTMC, Rows: 2, Cols: 2, Max: 8, Spawn: SpawnUniform, Policy: random}, false},
		{Config{Kind: POMDP, Rows: 2, Cols: 2, Max: 8, Spawn: SpawnUniform}, false},
	} {
		for _, dialect := range []syntax.Dialect{syntax.PRISM, syntax.Storm} {
			var text bytes.Buffer
			if err := syntax.Fprint(&text, build(t, tc.cfg), syntax.Options{Dialect: dialect}); err != nil {
				t.Fatal(err)
			}
			m, err := syntax.ParseModel("m", text.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			if got := SchedulerSpawns(m); got != tc.want {
				t.Errorf("%v: %t, want %t", tc.cfg.Args(), got, tc.want)
			}
		}
	}
	other, err := syntax.ParseModel("m", []byte("mdp module m v_0:[0..1]; [v_0_init] true -> true; [v_1_init] true -> (v_0'=1); endmodule"))
	if err != nil {
		t.Fatal(err)
	}
	if SchedulerSpawns(other) {
		t.Error("a model that is no game is taken for one")
	}
}
