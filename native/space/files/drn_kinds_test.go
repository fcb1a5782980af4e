package files_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/explicit/explicittest"
	"tilecheck/native/space/files"
	"tilecheck/prism/syntax"
)

// drnOf returns a space in the DRN format, without comments.
func drnOf(t *testing.T, space *explicit.Space) string {
	t.Helper()
	writer, err := files.NewWriter(space, files.Options{NoHeaders: true, NoValuations: true})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := writer.DRN(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// readDRN reads a file in the DRN format.
func readDRN(t *testing.T, text string) *explicit.Space {
	t.Helper()
	space, err := files.ReadDRN(t.Context(), files.Source{Name: "m.drn", Text: []byte(text)}, files.ReadOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return space
}

// TestKindsOfDRN writes models of the kinds that DRN has beside chains and MDPs, and reads them.
func TestKindsOfDRN(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ source, contains string }{
		{"mdp module m s:[0..2]; [a] s=0 -> [0.25,0.5]:(s'=1)+[0.5,0.75]:(s'=2); [b] s=0 -> (s'=2); [] s>0 -> true; endmodule rewards \"r\" s=0 : 2; endrewards", "\t\t1 : [0.25, 0.5]\n"},
		{"dtmc module m s:[0..2]; [] s=0 -> [0.25,0.5]:(s'=1)+[0.5,0.75]:(s'=2); [] s>0 -> true; endmodule", "@value_type: double-interval\n"},
		{"pomdp observables o endobservables module m s:[0..3]; o:[0..1]; [a] s=0 -> 0.5:(s'=1)+0.5:(s'=2)&(o'=1); [b] s=0 -> (s'=2)&(o'=1); [a] s=1 -> (s'=0); [b] s=1 -> (s'=3); [c] s=2 -> true; [a] s=3 -> true; [b] s=3 -> true; endmodule", " {1}"},
	} {
		text := drnOf(t, explicittest.Space(t, tt.source, explicit.Options{}))
		if !strings.Contains(text, tt.contains) {
			t.Errorf("%s\nhas no %q", text, tt.contains)
		}
		space := readDRN(t, text)
		if again := drnOf(t, space); again != text {
			t.Errorf("%s\nwas read as\n%s", text, again)
		}
		if _, err := files.ReadDRN(t.Context(), files.Source{Name: "m.drn", Text: []byte(text)}, files.ReadOptions{Type: space.Program().Type}); err != nil {
			t.Error(err)
		}
	}
}

// preambleOf returns the lines before the states of a DRN file.
func preambleOf(kind, values string, states, choices string) string {
	return "@type: " + kind + "\n@value_type: " + values + "\n@parameters\n\n@reward_models\nr\n@nr_states\n" + states + "\n@nr_choices\n" + choices + "\n@model\n"
}

// TestMarkovAutomatonOfDRN reads a Markov automaton as Storm writes it: its time and its reward per unit of time.
func TestMarkovAutomatonOfDRN(t *testing.T) {
	t.Parallel()
	space := readDRN(t, preambleOf("Markov Automaton", "double", "3", "4")+
		"state 0 !0 [5] init\n\taction a [1]\n\t\t1 : 1\n\taction b [0]\n\t\t2 : 1\nstate 1 !4 [6]\n\taction 0 [2]\n\t\t1 : 0.25\n\t\t2 : 0.75\nstate 2 !1 [0] goal\n\taction 0 [0]\n\t\t2 : 1\n")
	if space.Program().Type != syntax.MDP || len(space.Program().Rewards) != 2 {
		t.Fatalf("%v with %d reward structures", space.Program().Type, len(space.Program().Rewards))
	}
	for i, want := range [][]float64{{0, 1.5, 0}, {0, 0.25, 1}} {
		reward, err := space.Reward(i)
		if err != nil {
			t.Fatal(err)
		}
		for state, value := range want {
			if reward.State[state] != value {
				t.Errorf("structure %d has %v in state %d, want %v", i, reward.State[state], state, value)
			}
		}
	}
	if len(space.Warnings()) == 0 || !strings.Contains(space.Warnings()[0], "Markov automaton") {
		t.Errorf("warnings %q", space.Warnings())
	}
}

// TestKindsOfDRNErrors has files that are wrong.
func TestKindsOfDRNErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		preambleOf("POMDP", "double", "1", "1") + "state 0 [0] init\n\taction 0\n\t\t0 : 1\n":                                  "12:9: found \"[0] init\", wanted the observation, such as {3}, in a POMDP and only there",
		preambleOf("MDP", "double", "1", "1") + "state 0 {0} init\n\taction 0\n\t\t0 : 1\n":                                    "wanted the observation, such as {3}, in a POMDP and only there",
		preambleOf("POMDP", "double", "1", "1") + "state 0 {7} init\n\taction 0\n\t\t0 : 1\n":                                  "found observation 7",
		preambleOf("CTMC", "double-interval", "1", "1") + "state 0 !1 init\n\taction 0\n\t\t0 : [1, 1]\n":                      "found intervals, which only DTMCs and MDPs can have",
		preambleOf("MDP", "double-interval", "1", "1") + "state 0 init\n\taction 0\n\t\t0 : 1\n":                               "wanted an interval such as [0.1,0.3]",
		preambleOf("MDP", "double-interval", "1", "1") + "state 0 init\n\taction 0\n\t\t0 : [0.1, 0.3]\n":                      "wanted an interval that contains 1",
		preambleOf("Markov Automaton", "double", "1", "1") + "state 0 init\n\taction 0\n\t\t0 : 1\n":                           "wanted the exit rate",
		preambleOf("Markov Automaton", "double", "1", "1") + "state 0 !-2 init\n\taction 0\n\t\t0 : 1\n":                       "found exit rate -2, wanted none below 0",
		preambleOf("CTMC", "double", "1", "1") + "state 0 !2 init\n\taction 0\n\t\t0 : 1\n":                                    "12:9: found exit rate 2, wanted 1, the sum of the rates",
		preambleOf("CTMC", "double", "2", "2") + "state 0 !2 init\n\taction 0\n\t\t1 : 1\nstate 1 !1\n\taction 0\n\t\t1 : 1\n": "12:9: found exit rate 2, wanted 1, the sum of the rates",
		preambleOf("Markov Automaton", "parametric", "1", "1") + "state 0 !2 init\n\taction 0\n\t\t0 : 1\n":                    "2:1: found a model with parameters, wanted one without",
		preambleOf("STPG", "double", "1", "1") + "state 0 init\n\taction 0\n\t\t0 : 1\n":                                       "only DTMCs, MDPs, CTMCs, POMDPs and Markov automata can be read",
	} {
		_, err := files.ReadDRN(t.Context(), files.Source{Name: "m.drn", Text: []byte(text)}, files.ReadOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v, want %q", text, err, want)
		}
	}
}

// TestMarkovAutomatonOfUMB reads a Markov automaton that Storm 1.14.0 wrote: from state 0, which takes no time, states with the exit rates
// 2, 3 and 3.
func TestMarkovAutomatonOfUMB(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/markov.storm.umb")
	if err != nil {
		t.Fatal(err)
	}
	space, err := files.ReadUMB(t.Context(), files.Source{Name: "m.umb", Text: text}, files.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	reward, err := space.Reward(0)
	if err != nil || space.Program().Type != syntax.MDP {
		t.Fatalf("%v, %v", space.Program().Type, err)
	}
	for state, want := range []float64{0, 1. / 2, 1. / 3, 1. / 3} {
		if reward.State[state] != want {
			t.Errorf("the time of state %d is %v, want %v", state, reward.State[state], want)
		}
	}
	if len(space.Warnings()) == 0 || !strings.Contains(space.Warnings()[0], "Markov automaton") {
		t.Errorf("warnings %q", space.Warnings())
	}
}
