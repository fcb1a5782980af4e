package explicit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/simulate"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// throughUMB writes the states of a model, and reads them.
func throughUMB(t *testing.T, src string) *explicit.Space {
	t.Helper()
	var out bytes.Buffer
	w, err := files.NewWriter(build(t, src, explicit.Options{}), files.Options{})
	if err == nil {
		err = w.UMB(t.Context(), &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	space, err := files.ReadUMB(t.Context(), files.Source{Name: "m.umb", Text: out.Bytes()}, files.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// drawn is a path as a table.
func drawn(t *testing.T, src simulate.Source, opt simulate.PathOptions) (string, *simulate.Path) {
	t.Helper()
	var out strings.Builder
	p := simulate.Walk(t.Context(), src, opt)
	if err := simulate.WriteTable(&out, p, simulate.TableOptions{Probs: true, Rewards: true}); err != nil {
		t.Fatal(err)
	}
	return out.String(), p
}

// A model with one path has it in its file, with its actions, probabilities,
// rewards and end.
func TestStepsOfOnePath(t *testing.T) {
	for _, tt := range []struct {
		src string
		end simulate.PathEnd
	}{
		{`dtmc
module m s : [-1..2] init -1; b : bool init false; [go] s<1 -> (s'=s+1) & (b'=!b); [on] s=1 -> (s'=2); endmodule
rewards "x" s=0 : 3; [go] true : 0.5; endrewards rewards b : 0.25; endrewards`, simulate.AtDeadlock},
		{`mdp
module m s : [0..2] init 0; [go] s<2 -> (s'=s+1); [stay] s=2 -> true; endmodule
rewards "x" [go] s=1 : 2; [stay] true : 7; endrewards`, simulate.AtLoop},
		{`ctmc
module m s : [0..3] init 0; [go] s<2 -> 0.5 : (s'=s+1); [on] s=2 -> 3 : (s'=3); endmodule
rewards s=2 : 3; [on] true : 0.5; endrewards`, simulate.AtDeadlock},
	} {
		opt := simulate.PathOptions{Steps: 9, Rewards: true, Seed: 4}
		want, model := drawn(t, simulate.FromModel(compiled(t, tt.src)), opt)
		steps := explicit.NewSteps(throughUMB(t, tt.src))
		got, p := drawn(t, steps, opt)
		if got != want || p.End != tt.end || model.End != tt.end || p.Err != nil {
			t.Errorf("%s:\nends %v, %v (%v), want %v\n%s\nwant\n%s", tt.src, p.End, model.End, p.Err, tt.end, got, want)
		}
		if again, _ := drawn(t, steps, opt); again != got {
			t.Errorf("%s: another path from the same seed:\n%s", tt.src, again)
		}
	}
}

// Paths of a file have the distribution of those of the model: of all that is
// shown of three steps, and of the time.
func TestStepsHaveTheDistributionOfTheModel(t *testing.T) {
	for name, src := range map[string]string{
		"die": `dtmc
module die
  s : [0..4] init 0;
  [a] s=0 -> 0.1 : (s'=1) + 0.2 : (s'=2) + 0.7 : (s'=3);
  [b] s>0 & s<4 -> s/4 : (s'=4) + 1-s/4 : (s'=0);
endmodule
rewards s<4 : s; [b] true : 2; endrewards`,
		"overlap": `dtmc
module m
  s : [0..2] init 0;
  [a] s=0 -> 0.3 : (s'=1) + 0.7 : (s'=2);
  [b] s=0 -> (s'=1);
  [c] s>0 -> (s'=0);
endmodule
rewards [a] true : 5; [b] true : 7; s=1 : 0.25; endrewards`,
		"mdp": `mdp
module m
  s : [0..3] init 0;
  [a] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [b] s=0 -> (s'=3);
  [c] s=0 -> 0.2 : (s'=0) + 0.8 : (s'=1);
  [a] s>0 & s<3 -> (s'=0);
endmodule
rewards [a] true : 5; [b] true : 7; s=1 : 0.25; endrewards`,
		"ctmc": `ctmc
module m
  s : [0..2] init 1;
  [up] s<2 -> 2 : (s'=s+1);
  [again] s<2 -> 1 : (s'=s+1);
  [down] s>0 -> 4 : (s'=s-1);
endmodule
rewards [again] true : 5; s=1 : 0.25; endrewards`,
	} {
		n := needs.OrFull(5000, 20000)
		draw := func(src simulate.Source) (map[string]float64, float64) {
			paths, time := make(map[string]float64), 0.0
			for i := range uint64(n) {
				p, observationText := simulate.Walk(t.Context(), src, simulate.PathOptions{Steps: 3, Rewards: true, Index: i}), ""
				for v := range p.Visits() {
					if v.Incoming != nil {
						observationText += simulate.ActionText(src.Program(), v.Incoming)
						if src.Program().Type != syntax.DTMC { // where those of overlapping commands are added up
							observationText += fmt.Sprint(v.Incoming.Probability)
						}
						observationText += fmt.Sprint(v.Incoming.Rewards)
						time += v.Incoming.Time
					}
					observationText += fmt.Sprint(v.State, v.Rewards)
				}
				if p.Err != nil {
					t.Fatal(p.Err)
				}
				paths[observationText+p.End.String()] += 1 / float64(n)
			}
			return paths, time / float64(n)
		}
		want, wantTime := draw(simulate.FromModel(compiled(t, src)))
		got, time := draw(explicit.NewSteps(throughUMB(t, src)))
		for path := range want {
			p, q := want[path], got[path]
			if math.Abs(p-q) > 5*math.Sqrt((p+q)/float64(n)) {
				t.Errorf("%s: %s has the share %v, want about %v", name, path, q, p)
			}
			delete(got, path)
		}
		for path, q := range got {
			if q > 25/float64(n) {
				t.Errorf("%s: %s has the share %v, want none", name, path, q)
			}
		}
		if len(want) < 4 || math.Abs(time-wantTime) > 5*wantTime/math.Sqrt(float64(n)) {
			t.Errorf("%s: %d paths, which take %v, want %v", name, len(want), time, wantTime)
		}
	}
}

// The files of an LTS have no probabilities, and others more initial states than
// a path has, or weights that are no doubles.
func TestStepsOfImports(t *testing.T) {
	imported := func(typ syntax.ModelType, m *sparse.Model) *explicit.Steps {
		t.Helper()
		space, err := explicit.Import(&explicit.Imported{
			File: "m.umb", Type: typ, Actions: []string{"go"}, Model: m, Warnings: []string{"beware"},
			Vars: []sema.Variable{{Name: "x", Type: sema.Int, High: 1}}, Valuation: explicit.FlatValuation([]int32{0, 1}, 1),
		})
		if err != nil {
			t.Fatal(err)
		}
		return explicit.NewSteps(space)
	}
	lts := &sparse.Model{
		Kind: sparse.MDP, FirstChoice: []uint32{0, 2, 3}, FirstTransition: []uint32{0, 1, 2, 3}, Target: []uint32{1, 0, 1}, WeightIndex: make([]uint32, 3), Weights: []float64{1},
		Actions: []sparse.Action{1, sparse.NoAction, sparse.NoAction}, Initial: []uint32{0}, Deadlocks: sparse.NewSet(2),
	}
	lts.Deadlocks.Add(1)
	src := imported(syntax.LTS, lts)
	text, p := drawn(t, src, simulate.PathOptions{Deadlock: true, Seed: 2})
	last := text[strings.LastIndex(strings.TrimSpace(text), "\n")+1:]
	if p.End != simulate.AtDeadlock || !strings.HasPrefix(last, "[go] 1.0 ") || !strings.HasSuffix(last, " 1\n") || len(src.Warnings()) != 1 {
		t.Errorf("%s ends: %v", text, p.End)
	}
	several, tiny := *lts, *lts
	several.Initial = []uint32{0, 1}
	tiny.Weights = []float64{1e-300}
	for want, m := range map[string]*sparse.Model{"found 2 initial states, a random path wants a single one": &several, "outside the range of float64": &tiny} {
		_, p := drawn(t, imported(syntax.MDP, m), simulate.PathOptions{Steps: 1})
		if f, ok := errors.AsType[*result.Failure](p.Err); !ok || p.End != simulate.AtError || f.File != "m.umb" || !strings.Contains(f.Message, want) {
			t.Errorf("%v %v, want %s", p.End, p.Err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p = simulate.Walk(ctx, src, simulate.PathOptions{Steps: 1})
	for range p.Visits() {
	}
	if p.End != simulate.AtRequest {
		t.Errorf("ends: %v, want interrupted", p.End)
	}
}
