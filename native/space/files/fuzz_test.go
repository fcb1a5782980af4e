package files_test

import (
	"bytes"
	"os"
	"testing"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
)

// What a reader accepts is written in a form that it accepts again, as the same.
func again(t *testing.T, s *explicit.Space) {
	w, err := files.NewWriter(s, files.Options{Precision: files.MaxPrecision})
	if err != nil {
		t.Fatal(err)
	}
	var tra, sta, lab bytes.Buffer
	if err := w.Transitions(t.Context(), &tra); err != nil {
		t.Fatal(err)
	}
	if err := w.States(t.Context(), &sta); err != nil {
		t.Fatal(err)
	}
	if err := w.Labels(t.Context(), &lab); err != nil {
		t.Fatal(err)
	}
	second, err := files.Read(t.Context(), bundle{tra: tra.String(), sta: sta.String(), lab: lab.String()}.sources(), files.ReadOptions{Exact: s.Model().Exact()})
	if err != nil {
		t.Fatalf("%v\n%s\n%s\n%s", err, tra.String(), sta.String(), lab.String())
	}
	if w, err = files.NewWriter(second, files.Options{Precision: files.MaxPrecision}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := w.Transitions(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if line, g, x := firstDifference(out.String(), tra.String()); line > 0 {
		t.Errorf("line %d: %q, wanted %q", line, g, x)
	}
}

func FuzzTransitions(f *testing.F) {
	for _, text := range []string{goodTra, goodMDP, "2 1\n0 1 1\n", "# Transitions (CTMC)\n1 2\n0 0 1e-300 a\n0 0 1/3 b\n", "3 4\n0 1 0.33333333\n0 2 0.66666666\n1 1 1\n2 0 1\n"} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, exact bool) {
		s, err := files.Read(t.Context(), bundle{tra: text}.sources(), files.ReadOptions{Exact: exact, MaxStates: 1000})
		if err == nil {
			again(t, s)
		}
	})
}

func FuzzStates(f *testing.F) {
	f.Add(goodSta)
	f.Add("(x)\n0:(2147483646)\n1:(-2147483647)\n2:(0)\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := files.Read(t.Context(), bundle{tra: goodTra, sta: text}.sources(), files.ReadOptions{})
		if err == nil {
			again(t, s)
		}
	})
}

func FuzzLabels(f *testing.F) {
	f.Add(goodLab)
	f.Add("0=\"init\" 1=\"two words\"\n0: 0 1\n1: 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := files.Read(t.Context(), bundle{tra: goodTra, lab: text}.sources(), files.ReadOptions{})
		if err == nil {
			again(t, s)
		}
	})
}

func FuzzRewards(f *testing.F) {
	f.Add(goodSrew, mdpTrew, false)
	f.Add(goodSrew, mdpTrew, true)
	f.Fuzz(func(t *testing.T, srew, trew string, exact bool) {
		s, err := files.Read(t.Context(), bundle{tra: goodMDP, srew: srew, trew: trew}.sources(), files.ReadOptions{Exact: exact})
		if err != nil {
			return
		}
		for i := range s.Program().Rewards {
			r, err := s.Reward(i)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range append(append([]float64{}, r.State...), r.Choice...) {
				if !(x >= 0) {
					t.Errorf("reward %v", x)
				}
			}
		}
	})
}

func FuzzDRN(f *testing.F) {
	good, err := os.ReadFile("testdata/good.drn")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(good), false)
	f.Add(string(good), true)
	f.Add("@type: CTMC\n@parameters\n\n@reward_models\n\n@nr_states\n1\n@model\nstate 0 !1/3 [1] init\n\taction 0 [2]\n\t\t0 : 1/3\n", true)
	f.Fuzz(func(t *testing.T, text string, exact bool) {
		s, err := files.ReadDRN(t.Context(), files.Source{Name: "m.drn", Text: []byte(text)}, files.ReadOptions{Exact: exact, MaxStates: 1000})
		if err == nil {
			again(t, s)
		}
	})
}

func FuzzCombined(f *testing.F) {
	for _, text := range []string{
		"# Transitions (DTMC)\n2 2\n0 1 1\n1 1 1\n\n# States\n(x)\n0:(3)\n1:(4)\n\n# Labels\n0=\"init\" 1=\"deadlock\"\n0: 0\n\n# Reward structure \"r\"\n# State rewards\n2 1\n1 5\n",
		"# Transitions (MDP)\n1 1 1\n0 0 0 1 a\n\n# Reward structure\n# Transition rewards\n1 1 1\n0 0 0 2\n\n# Reward structure\n# State rewards\n1 0\n",
		"1 1\n0 0 1\n# Labels\n0=\"init\"\n0: 0\n", "# Reward structure\n", "# States\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := files.ReadCombinedFile(t.Context(), files.Source{Name: "a.pexp", Text: []byte(text)}, files.ReadOptions{MaxStates: 1000})
		if err == nil {
			again(t, s)
		}
	})
}
