package files_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/prism/syntax"
)

const (
	goodTra  = "# Transitions (DTMC)\n3 4\n0 1 0.5\n0 2 0.5\n1 1 1\n2 0 1\n"
	goodMDP  = "# Transitions (MDP)\n3 4 5\n0 0 1 0.5 a\n0 0 2 0.5 a\n0 1 1 1\n1 0 1 1\n2 0 0 1\n"
	goodSta  = "# States\n(x,b)\n0:(0,false)\n1:(-1,true)\n2:(2,true)\n"
	goodLab  = "# Labels\n0=\"init\" 1=\"deadlock\" 2=\"goal\"\n0: 0\n2: 2\n"
	goodSrew = "# Reward structure \"r\"\n# State rewards\n3 2\n0 1.5\n2 1e-3\n"
	goodTrew = "# Reward structure \"r\"\n# Transition rewards\n3 2\n0 1 2\n2 0 1/3\n"
	mdpTrew  = "# Transition rewards\n3 4 3\n0 0 1 2\n0 0 2 2\n2 0 0 7\n"
)

// bundle is the text of all files; empty ones are left out.
type bundle struct{ tra, sta, lab, srew, trew string }

func (b bundle) sources() files.Sources {
	source := func(name, text string) *files.Source { return &files.Source{Name: "m." + name, Text: []byte(text)} }
	out := files.Sources{Transitions: *source("tra", b.tra)}
	if b.sta != "" {
		out.States = source("sta", b.sta)
	}
	if b.lab != "" {
		out.Labels = source("lab", b.lab)
	}
	if b.srew != "" {
		out.StateRewards = []files.Source{*source("srew", b.srew)}
	}
	if b.trew != "" {
		out.TransitionRewards = []files.Source{*source("trew", b.trew)}
	}
	return out
}

func TestGood(t *testing.T) {
	for _, b := range []bundle{
		{goodTra, goodSta, goodLab, goodSrew, goodTrew},
		{goodMDP, goodSta, goodLab, goodSrew, mdpTrew},
		{tra: goodTra},
		{tra: "2 1\n0 1 1\n"},
		{tra: "# a comment\n\n1 1\r\n0 0 1\r\n"},
	} {
		if _, err := files.Read(t.Context(), b.sources(), files.ReadOptions{}); err != nil {
			t.Error(err)
		}
	}
}

// TestTinyNumbers: a number that is not 0 and whose double is 0 is refused by name
// in every file, with fractions and without.
func TestTinyNumbers(t *testing.T) {
	drn := "@type: DTMC\n@parameters\n\n@reward_models\nr\n@nr_states\n2\n@nr_choices\n2\n@model\nstate 0 [REWARD] init\n\taction 0 [0]\n\t\t0 : PROB\n\t\t1 : 1\nstate 1 [0]\n\taction 0 [0]\n\t\t1 : 1\n"
	for _, tiny := range []string{"1e-400", "0." + strings.Repeat("0", 400) + "1", "1/1" + strings.Repeat("0", 400), "1e-4000000000"} {
		for _, exact := range []bool{false, true} {
			opt := files.ReadOptions{Exact: exact}
			drnOf := func(reward, prob string) files.Sources {
				text := strings.NewReplacer("REWARD", reward, "PROB", prob).Replace(drn)
				return files.Sources{Transitions: files.Source{Name: "m.drn", Text: []byte(text)}}
			}
			for at, open := range map[string]func() error{
				"m.tra:3:5: ": func() error {
					_, err := files.Open(t.Context(), bundle{tra: strings.Replace(goodTra, "0.5", tiny, 1)}.sources(), "tra", opt)
					return err
				},
				"m.srew:4:3: ": func() error {
					_, err := files.Open(t.Context(), bundle{tra: goodTra, srew: strings.Replace(goodSrew, "1.5", tiny, 1)}.sources(), "tra", opt)
					return err
				},
				"m.trew:5:5: ": func() error {
					_, err := files.Open(t.Context(), bundle{tra: goodTra, trew: strings.Replace(goodTrew, "1/3", tiny, 1)}.sources(), "tra", opt)
					return err
				},
				"m.drn:11:10: ": func() error {
					_, err := files.Open(t.Context(), drnOf(tiny, "1"), "drn", opt)
					return err
				},
				"m.drn:13:7: ": func() error {
					_, err := files.Open(t.Context(), drnOf("0", tiny), "drn", opt)
					return err
				},
			} {
				if err := open(); err == nil || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), "not too small for a float64") {
					t.Errorf("%.20s, fractions %v: error %v, want it at %s", tiny, exact, err, at)
				}
			}
		}
	}
}

// Every corrupt file is refused, at the place and with the reason.
func TestErrors(t *testing.T) {
	replaced := func(text, old, with string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("no %q in %q", old, text)
		}
		return strings.Replace(text, old, with, 1)
	}
	tra := func(old, with string) bundle { return bundle{tra: replaced(goodTra, old, with)} }
	mdp := func(old, with string) bundle { return bundle{tra: replaced(goodMDP, old, with)} }
	sta := func(old, with string) bundle { return bundle{tra: goodTra, sta: replaced(goodSta, old, with)} }
	lab := func(old, with string) bundle { return bundle{tra: goodTra, lab: replaced(goodLab, old, with)} }
	srew := func(old, with string) bundle { return bundle{tra: goodTra, srew: replaced(goodSrew, old, with)} }
	trew := func(old, with string) bundle { return bundle{tra: goodTra, trew: replaced(goodTrew, old, with)} }
	mtrew := func(old, with string) bundle { return bundle{tra: goodMDP, trew: replaced(mdpTrew, old, with)} }
	tests := []struct {
		b    bundle
		want string
	}{
		{bundle{tra: "\n"}, `m.tra:2:1: found the end of the file, wanted the numbers of states and transitions`},
		{bundle{}, `m.tra:1:1: found the end of the file`},
		{tra("3 4\n", "3 5\n"), `m.tra:7:1: found 4 transitions, wanted 5 as the first line says`},
		{tra("3 4\n", "2 4\n"), `m.tra:4:3: found state 2, wanted one below 2`},
		{tra("3 4\n", "0 4\n"), `m.tra:2:1: found 0 states, wanted at least one`},
		{tra("3 4\n", "-3 4\n"), `m.tra:2:1: found "-3", wanted a number of states: a whole number from 0 up`},
		{tra("3 4\n", "99999999999 4\n"), `m.tra:2:1: found "99999999999", wanted a number of states`},
		{tra("3 4\n", "3 4 5\n"), `m.tra:2:1: found "3 4 5", wanted the number of states and the number of transitions: the model is of type DTMC`},
		{tra("DTMC", "CSG"), `m.tra:1:16: found a model of type "CSG", only DTMCs, MDPs, CTMCs, POMDPs, SMGs, LTSs, IDTMCs and IMDPs can be read`},
		{tra("# Transitions (DTMC)", "# States"), `m.tra:1:1: found the header of a file of states, wanted transitions`},
		{tra("0.5", "0.4"), `m.tra:3:1: the probabilities from here on sum to 0.9, wanted 1`},
		{tra("0.5", "-0.5"), `m.tra:3:5: found probability -0.5, wanted more than 0 and at most 1`},
		{tra("0.5", "0"), `m.tra:3:5: found probability 0, wanted more than 0`},
		{tra("0.5", "1.5"), `m.tra:3:5: found probability 1.5`},
		{tra("0.5", "NaN"), `m.tra:3:5: found "NaN", wanted a probability or rate, a finite number`},
		{tra("0.5", "Infinity"), `m.tra:3:5: found "Infinity", wanted`},
		{tra("0.5", "0x1p-1"), `m.tra:3:5: found "0x1p-1", wanted`},
		{tra("0.5", "1e999"), `m.tra:3:5: found "1e999", wanted a probability or rate, one that is not too large for a float64`},
		{tra("0.5", "1e-999"), `m.tra:3:5: found "1e-999", wanted a probability or rate, one that is not too small`},
		{tra("0.5", "1/0"), `m.tra:3:5: found "1/0", wanted`},
		{tra("0 2 0.5", "0 1 0.5"), `m.tra:4:3: found a second transition to state 1, wanted one`},
		{tra("0 2 0.5", "0 2"), `m.tra:4:1: found 2 entries, wanted state, target, probability and perhaps an action`},
		{tra("0 2 0.5", "0 2 0.5 a b"), `m.tra:4:1: found 5 entries`},
		{tra("0 2 0.5", "0 2 0.5 1a"), `m.tra:4:9: found "1a", wanted the name of an action`},
		{tra("1 1 1\n2 0 1", "2 0 1\n1 1 1"), `m.tra:6:1: found state 1 after state 2, wanted rows in the order of states`},
		{tra("2 0 1\n", "2 0 1"), `m.tra:6:6: the last line does not end: the file may be truncated`},
		{mdp("3 4 5", "3 3 5"), `m.tra:8:1: found 4 choices, wanted 3 as the first line says`},
		{mdp("0 1 1 1", "0 2 1 1"), `m.tra:5:3: found choice 2 of state 0, wanted 0 or 1: choices in order`},
		{mdp("0.5 a\n0 1", "0.5 b\n0 1"), `m.tra:4:1: found another action for choice 0 of state 0, wanted one`},
		{sta("2:(2", "3:(2"), `m.sta:5:1: found state 3, wanted one below 3`},
		{sta("1:(-1", "2:(-1"), `m.sta:4:1: found state 2, wanted state 1: every state once and in order`},
		{sta("2:(2,true)\n", ""), `m.sta:5:1: found 2 states, wanted 3 as in the transitions`},
		{sta("-1,true", "0,false"), `m.sta:4:1: found the values of state 0 again in state 1, wanted each once`},
		{sta("-1,true", "-1,1"), `m.sta:4:7: found "1", wanted true or false as before: "b" is Boolean`},
		{sta("-1,true", "x,true"), `m.sta:4:4: found "x", wanted an integer of 32 bits for "x"`},
		{sta("-1,true", "4294967296,true"), `m.sta:4:4: found "4294967296", wanted an integer of 32 bits`},
		{sta("-1,true", "-1"), `m.sta:4:3: found 1 value, wanted 2`},
		{sta("(-1,true)", "-1,true"), `m.sta:4:3: found "-1,true", wanted values in parentheses`},
		{sta("(x,b)", "(x,x)"), `m.sta:2:4: found variable "x" again, wanted each once`},
		{sta("(x,b)", "(x,2b)"), `m.sta:2:4: found "2b", wanted the name of a variable`},
		{sta("(x,b)", "(x,module)"), `m.sta:2:4: found "module", wanted the name of a variable`},
		{sta("(x,b)", "()"), `m.sta:2:1: found no variables, wanted at least one`},
		{sta("# States", "# Labels"), `m.sta:1:1: found the header of a file of labels, wanted states`},
		{lab("2: 2", "3: 2"), `m.lab:4:1: found state 3, wanted one below 3`},
		{lab("2: 2", "2: 3"), `m.lab:4:4: found label 3, wanted one below 3`},
		{lab("2: 2", "2: 2 2"), `m.lab:4:6: found label 2 again for state 2, wanted each once`},
		{lab("2: 2", "0: 2"), `m.lab:4:1: found state 0 after state 0, wanted states in order and each once`},
		{lab("0: 0", "0: 1"), `m.lab:5:1: found no state with the label "init", wanted at least one`},
		{lab("0: 0", "0: 0 1"), `m.lab: state 0 has the label "deadlock" and transitions to other states`},
		{lab(`2="goal"`, `2="init"`), `m.lab:2:23: found label "init" again, wanted each once`},
		{lab(`2="goal"`, `3="goal"`), `m.lab:2:23: found label 3, wanted 2: labels in order`},
		{lab(`2="goal"`, `2="goal`), `m.lab:2:23: found "2=\"goal", wanted a label such as 2="name"`},
		{srew("3 2", "4 2"), `m.srew:3:1: found 4 states, wanted 3 as in the transitions`},
		{srew("3 2", "3 1"), `m.srew:6:1: found 2 rewards, wanted 1 as the first line says`},
		{srew("2 1e-3", "0 1e-3"), `m.srew:5:1: found state 0 after state 0, wanted states in order and each once`},
		{srew("# State rewards", "# Transition rewards"), `m.srew:2:1: found the header of a file of transition rewards, wanted state rewards`},
		{srew(`"r"`, `"r`), `m.srew:1:1: found "\"r", wanted the name of a reward structure in quotes`},
		{trew("2 0 1/3", "2 1 1/3"), `m.trew:5:3: found a reward of going from state 2 to 1, but there is no such transition`},
		{trew("2 0 1/3", "0 1 1/3"), `m.trew:5:1: found a second reward of going from state 0 to 1, wanted one`},
		{trew("3 2", "3 4 2"), `m.trew:3:1: found 3 totals, wanted 2`},
		{mtrew("0 0 2 2", "0 0 2 3"), `m.trew:4:7: found another reward for the same choice, wanted one: rewards that depend on the target are not supported`},
		{mtrew("3\n0 0 1 2\n", "2\n"), `m.trew:5:1: found rewards for 1 of the 2 transitions of choice 0 of state 0, wanted one for each`},
		{mtrew("2 0 0 7", "2 1 0 7"), `m.trew:5:3: found choice 1, wanted one below 1`},
		{bundle{tra: goodTra, srew: goodSrew, trew: strings.Replace(goodTrew, `"r"`, `"s"`, 1)}, `m.trew:1:1: found rewards of "s", wanted rewards of "r" as in m.srew`},
	}
	for _, test := range tests {
		_, err := files.Read(t.Context(), test.b.sources(), files.ReadOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%+v:\n got %v\nwant %s", test.b, err, test.want)
		}
	}
}

func TestSeveralErrors(t *testing.T) {
	b := bundle{
		tra: "3 4\n0 1 0.5\n0 9 0.5\n1 1 x\n2 0 1\n",
		sta: "(x)\n0:(0)\n1:(y)\n2:(z)\n",
		lab: "0=\"init\"\n0: 0\n7: 0\n",
	}
	_, err := files.Read(t.Context(), b.sources(), files.ReadOptions{})
	list, ok := errors.AsType[syntax.ErrorList](err)
	if !ok || len(list) != 5 {
		t.Fatalf("found %v, wanted five errors", err)
	}
	many := "1 1\n" + strings.Repeat("9 9 9\n", 1000)
	_, err = files.Read(t.Context(), bundle{tra: many}.sources(), files.ReadOptions{})
	if list, _ := errors.AsType[syntax.ErrorList](err); len(list) != 10 {
		t.Errorf("found %d errors, wanted the first ten", len(list))
	}
}

func TestModelType(t *testing.T) {
	tests := []struct {
		tra  string
		asks syntax.ModelType
		want syntax.ModelType
	}{
		{"2 2\n0 1 1\n1 0 1\n", 0, syntax.DTMC},
		{"2 2\n0 1 1\n1 0 3/2\n", 0, syntax.CTMC},
		{"2 2\n0 1 1\n1 0 1\n", syntax.CTMC, syntax.CTMC},
		{"# Transitions (CTMC)\n2 2\n0 1 1\n1 0 1\n", 0, syntax.CTMC},
		{"# Transitions (CTMC)\n2 2\n0 1 1\n1 0 1\n", syntax.DTMC, syntax.DTMC},
		{"2 2 2\n0 0 1 1\n1 0 0 1\n", 0, syntax.MDP},
	}
	for _, test := range tests {
		s, err := files.Read(t.Context(), bundle{tra: test.tra}.sources(), files.ReadOptions{Type: test.asks})
		if err != nil || s.Program().Type != test.want {
			t.Errorf("%q: %v, wanted %s", test.tra, err, test.want)
		}
	}
}

func TestDeadlocks(t *testing.T) {
	b := bundle{tra: "3 2\n0 1 0.5\n0 2 0.5\n", lab: "0=\"init\" 1=\"deadlock\"\n0: 0\n1: 1\n"}
	s, err := files.Read(t.Context(), b.sources(), files.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d := s.Model().Deadlocks; d == nil || d.Count() != 2 || d.Has(0) {
		t.Error("wanted deadlocks in states 1 and 2")
	}
	_, err = files.Read(t.Context(), b.sources(), files.ReadOptions{NoFixDeadlocks: true})
	if _, ok := errors.AsType[*explicit.DeadlockError](err); !ok {
		t.Errorf("found %v, wanted a deadlock", err)
	}
}

func TestLimit(t *testing.T) {
	_, err := files.Read(t.Context(), bundle{tra: "2000000000 1\n0 0 1\n"}.sources(), files.ReadOptions{})
	if _, ok := errors.AsType[*explicit.LimitError](err); !ok {
		t.Errorf("found %v, wanted a limit", err)
	}
}

// Sums that are a little off are allowed and widen the bounds.
func TestInexactSums(t *testing.T) {
	b := bundle{tra: "2 3\n0 0 0.3333333\n0 1 0.6666666\n1 1 1\n"}
	s, err := files.Read(t.Context(), b.sources(), files.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if e := s.Model().RelErr; e < 1e-7 || e > 2e-7 {
		t.Errorf("error %g, wanted that of the sum", e)
	}
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "differ from 1 by up to") {
		t.Errorf("warnings %q", w)
	}
	if _, err = files.Read(t.Context(), b.sources(), files.ReadOptions{Exact: true}); err == nil || !strings.Contains(err.Error(), "exactly") {
		t.Errorf("found %v, wanted a refusal", err)
	}
}

func TestDRNErrors(t *testing.T) {
	good, err := os.ReadFile("testdata/good.drn")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ old, with, want string }{
		{"@type: MDP", "@type: SMG", `m.drn:2:1: found a model of type "SMG", only DTMCs, MDPs, CTMCs, POMDPs and Markov automata can be read`},
		{"@type: MDP", "@type: MDP\n@type: DTMC", `m.drn:3:1: found a second @type, wanted one`},
		{"@type: MDP\n", "", `m.drn:11:1: found no @type, wanted one before @model`},
		{"@type: MDP", "@type: DTMC", `m.drn:18:9: found a second action, wanted one per state in a DTMC`},
		{"double", "parametric", `m.drn:3:1: found a model with parameters, wanted one without`},
		{"@parameters\n", "@parameters\np q", `m.drn:5:1: found a model with parameters, wanted one without`},
		{"@parameters\n", "@placeholders\n$0 : 1/2\n", `m.drn:5:1: found a model with parameters, wanted one without`},
		{"@nr_states\n4", "@nr_states\n5", `m.drn:31:1: found 4 states, wanted 5 as @nr_states says`},
		{"@nr_choices\n5", "@nr_choices\n6", `m.drn:31:1: found 5 choices, wanted 6 as @nr_choices says`},
		{"@model\n", "", `m.drn:12:1: found "state 0 [0] init", wanted a keyword such as @type: or @model`},
		{"state 1", "state 2", `m.drn:21:7: found state 2, wanted state 1: every state once and in order`},
		{"state 1 [0]", "state 1 [0, 1]", `m.drn:21:9: found 2 rewards, wanted 1: one per name after @reward_models`},
		{"state 1 [0]", "state 1 [0", `m.drn:21:9: found no ], wanted one after the rewards`},
		{"state 1 [0]", "state 1 !2 [0]", `m.drn:21:9: found "!2 [0]", wanted the exit rate`},
		{"0 [0] init", "0 [0] start", `m.drn:31:1: found no state with the label init, wanted at least one`},
		{"0 [0] init", `0 [0] init "two`, `m.drn:13:18: found "\"two", wanted a label with a quote at both ends`},
		{"0 [0] init", `0 [0] init deadlock`, `m.drn:16:3: found a transition to state 1, wanted none to other states: state 0 has the label deadlock`},
		{"\t\t2 : 0.7", "\t\t2 : 0.6", `m.drn:15:9: the probabilities from here on sum to 0.9, wanted 1`},
		{"\t\t2 : 0.7", "\t\t2 0.7", `m.drn:17:3: found "2 0.7", wanted state, action or a transition such as 3 : 0.25`},
		{"\t\t2 : 0.7", "\t\t1 : 0.7", `m.drn:17:3: found a second transition to state 1, wanted one`},
		{"\t\t2 : 0.7", "\t\t4 : 0.7", `m.drn:17:3: found state 4, wanted one below 4`},
	}
	for _, test := range tests {
		text := strings.Replace(string(good), test.old, test.with, 1)
		if text == string(good) {
			t.Fatalf("no %q", test.old)
		}
		_, err := files.ReadDRN(t.Context(), files.Source{Name: "m.drn", Text: []byte(text)}, files.ReadOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q:\n got %v\nwant %s", test.with, err, test.want)
		}
	}
}

// The file is as Storm writes it: a space after the names, comments, __NOLABEL__.
func TestStormDRN(t *testing.T) {
	text, err := os.ReadFile("testdata/good.drn")
	if err != nil {
		t.Fatal(err)
	}
	s, err := files.ReadDRN(t.Context(), files.Source{Name: "m.drn", Text: text}, files.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := s.Model()
	if m.NumStates() != 4 || m.NumChoices() != 5 || m.NumTransitions() != 8 {
		t.Errorf("%d states, %d choices, %d transitions", m.NumStates(), m.NumChoices(), m.NumTransitions())
	}
	if a := s.Program().Actions; len(a) != 3 || a[2] != "c" {
		t.Errorf("actions %q", a)
	}
	if r, err := s.Reward(0); err != nil || r.Name != "cost" || r.State[2] != 1 || r.Choice[0] != 2 {
		t.Errorf("rewards %v %v", r, err)
	}
}
