package native

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/result"
	"tilecheck/runner"
)

// written returns the states of a model through a file.
func written(t *testing.T, src string) *files.StateFiles {
	t.Helper()
	m, _, err := load.Model(t.Context(), runner.Job{File: "m.prism", Model: []byte(src)})
	if err != nil {
		t.Fatal(err)
	}
	space, err := explicit.Build(t.Context(), m, explicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := files.NewWriter(space, files.Options{Precision: files.MaxPrecision})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := w.UMB(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	given, err := files.Open(t.Context(), files.Sources{Transitions: files.Source{Name: "m.umb", Text: out.Bytes()}}, "umb", files.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return given
}

// What is sampled of files of states is what their text has: the exact value is in the
// interval, and another seed raises a false alarm with probability 1e-6 for each of 25. An MDP is
// compared with the DTMC of the same commands, which resolves them uniformly.
func TestSampledFiles(t *testing.T) {
	for _, m := range []struct {
		name, text, chain string
		props             []string
	}{
		{
			"overlaps, deadlocks, rewards of transitions", `dtmc
module m
  s : [0..5] init 0;
  [a] s=0 -> 0.3 : (s'=1) + 0.5 : (s'=2) + 0.2 : (s'=0);
  [b] s=1 -> 0.25 : (s'=3) + 0.75 : (s'=0);
  [c] s=1 -> 0.5 : (s'=4) + 0.5 : (s'=2);
  [a] s=2 -> 0.5 : (s'=4) + 0.5 : (s'=1);
  [d] s=4 -> true;
endmodule
label "end" = s=3 | s=4;
rewards "r" s<3 : 0.5; [a] true : 2; [c] s=1 : 3; s=3 : 7; endrewards
rewards [b] true : 1; endrewards`, "", []string{
				`P=? [ F s=3 ]`, `P=? [ s<2 U s=4 ]`, `P=? [ G<=4 s!=4 ]`, `P=? [ s!=1 W s=2 ]`, `P=? [ X s=1 ]`, `P=? [ F[3,5] "end" ]`, `P=? [ F "deadlock" ]`,
				`R{"r"}=? [ C<=9 ]`, `R{"r"}=? [ I=6 ]`, `R{2}=? [ C<=20 ]`, `R=? [ F s>0 ]`, `P=? [ !(s<2 U s=4) ]`, `P>=0.5 [ F s=4 ]`,
			},
		},
		{
			"schedulers", `mdp
module m
  s : [0..4] init 0;
  [a] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [b] s=0 -> (s'=3);
  [c] s=0 -> 0.2 : (s'=0) + 0.8 : (s'=1);
  [a] s=1 -> 0.125 : (s'=0) + 0.875 : (s'=4);
  [b] s=1 -> (s'=2);
  [c] s>1 -> true;
endmodule
rewards "r" [a] true : 5; [b] s=1 : 7; s=1 : 0.25; endrewards`, "dtmc", []string{
				`P=? [ F s=3 ]`, `P=? [ F<=3 s=2 ]`, `R{"r"}=? [ F s>1 ]`, `R{"r"}=? [ C<=5 ]`,
			},
		},
		{
			"jumps", `ctmc
module m
  s : [0..3] init 1;
  [up] s<2 -> 2 : (s'=s+1);
  [again] s<2 -> 1 : (s'=s+1);
  [down] s>0 & s<3 -> 4 : (s'=s-1);
  [end] s=2 -> 0.5 : (s'=3);
endmodule
rewards "r" [again] true : 5; s=1 : 0.25; s=3 : 1; endrewards`, "", []string{
				`P=? [ F<=1.5 s=3 ]`, `P=? [ F[0.5,2] s=0 ]`, `P=? [ s<2 U s=3 ]`, `P=? [ s>0 U s=3 ]`, `P=? [ X s=2 ]`, `R{"r"}=? [ C<=2 ]`, `R{"r"}=? [ I=1 ]`, `R{"r"}=? [ F s=3 ]`,
			},
		},
	} {
		job := runner.Job{
			File: "m.umb", States: written(t, m.text), Props: m.props, Settings: runner.Settings{
				Method:     runner.Sim,
				Simulation: runner.Simulation{Seed: 3, Confidence: 1 - 1e-6, Samples: 5000},
			},
		}
		sampled, err := runner.Check(t.Context(), New(), job)
		if err != nil {
			t.Fatal(err)
		}
		text := m.text
		if m.chain != "" {
			text = m.chain + text[3:]
		}
		exact, err := runner.Check(t.Context(), New(), runner.Job{File: "m.prism", Model: []byte(text), Props: m.props})
		if err != nil {
			t.Fatal(err)
		}
		for i := range exact {
			got, want := &sampled[i], &exact[i]
			switch {
			case got.Err != nil || want.Err != nil:
				t.Errorf("%s, %s: %v, %v", m.name, m.props[i], got.Err, want.Err)
			case got.Value.Kind == result.Boolean:
				if got.Value.Bool != want.Value.Bool {
					t.Errorf("%s, %s: %v, want %v", m.name, m.props[i], got.Value, want.Value)
				}
			case got.HalfWidth == nil || math.Abs(got.Value.Num-want.Value.Num) > *got.HalfWidth+1e-12 || got.Accuracy != result.Probable:
				t.Errorf("%s, %s: %v ± %v, want %v", m.name, m.props[i], got.Value.Num, got.HalfWidth, want.Value.Num)
			}
		}
	}
}

// A file has the path of its text where nothing but an order could tell them apart: the
// same numbers are drawn for the same purpose, whoever draws, and however many do.
func TestSampledFilesDrawAsTexts(t *testing.T) {
	job := runner.Job{
		File: "m.prism", Model: []byte("dtmc module m s : [0..6] init 0; [] s<5 -> 0.7 : (s'=s+1) + 0.3 : (s'=6); [] s>=5 -> true; endmodule rewards s<3 : 2; endrewards"),
		Props: []string{`P=? [ F s=5 ]`, `R=? [ C<=7 ]`}, Settings: runner.Settings{Method: runner.Sim, Simulation: runner.Simulation{Seed: 9, Samples: 500}},
	}
	want, err := runner.Check(t.Context(), New(), job)
	if err != nil {
		t.Fatal(err)
	}
	job.States, job.Model = written(t, string(job.Model)), nil
	for _, job.Simulation.Workers = range []int{1, 7} {
		got, err := runner.Check(t.Context(), New(), job)
		if err != nil || summary(got) != summary(want) {
			t.Errorf("found %s (%v), want %s", summary(got), err, summary(want))
		}
	}
}

// What has no sample paths is refused by name.
func TestSampledFilesRefused(t *testing.T) {
	for text, want := range map[string]string{
		"dtmc module m s : [0..2] init 0; [] s=0 -> [0.2,0.6] : (s'=1) + [0.3,0.9] : (s'=2); [] s>0 -> true; endmodule": "intervals",
		"dtmc module m s : [0..2]; [] s<3 -> true; endmodule init s<2 endinit":                                          "initial states",
	} {
		vs, err := runner.Check(t.Context(), New(), runner.Job{File: "m.umb", States: written(t, text), Props: []string{"P=? [ F s=1 ]"}, Settings: runner.Settings{Method: runner.CI}})
		if err != nil || vs[0].Err == nil || vs[0].Err.Class != result.Unsupported || !strings.Contains(vs[0].Err.Message, want) {
			t.Errorf("%s: %v %v, want %q", text, vs, err, want)
		}
	}
}
