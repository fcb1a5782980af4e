package bridge_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"tilecheck/bridge"
	"tilecheck/native/space/files"
	"tilecheck/result"
	"tilecheck/runner"
)

// TestStormGiven asks Storm, which knows no variables of states from a file, about
// conditions on them: labels stand for these.
func TestStormGiven(t *testing.T) {
	models := map[string]string{
		"dtmc": strings.Replace(gambler, "const int k;\n", "", 1) + "label \"rich\" = s>2;\n",
		"mdp": `mdp
module m
  x : [0..3]; on : bool;
  [a] x<3 -> 0.25:(x'=x+1) + 0.75:(on'=!on);
  [b] x<3 & on -> (x'=0);
endmodule
rewards "cost" [a] true : 2; on : 1; endrewards
rewards x=1 : 3; endrewards
`,
		"ctmc": "ctmc\nmodule q\n n:[0..3];\n [] n<3 -> 2:(n'=n+1);\n [] n>0 -> 3:(n'=n-1);\nendmodule\nrewards \"full\" n=3 : 1; endrewards\n",
	}
	common := "const int T; const int T2 = 2;\n\"named\": "
	properties := map[string][]string{
		"dtmc": {
			"P=? [ F s=T ]", "P=? [ !\"rich\" U (s=0 | s=T) ]", "P>=0.4 [ F \"good\" ]", "filter(max, P=? [ F s=4 ], s<T2)", `R{"steps"}=? [ F "poor" ]`,
			"P=? [ F P>=0.4 [ F s=4 ] ]", "filter(count, P>=0.5 [ F s=4 ])", "P=? [ F \"deadlock\" ]", "P=? [ F<=T s>T2 & s<fixed ]", "s=2", "filter(avg, s+P=? [ F s=4 ], s>0)",
		},
		"mdp": {
			"Pmax=? [ !on U x=2 ]", "Pmin=? [ F x=T2 & on ]", `R{"cost"}min=? [ F x=3 ]`, "R{2}max=? [ C<=T ]", "Pmax=? [ F<=T x=3 ]",
			"multi(Pmax=? [ F x=3 ], R{\"cost\"}<=20 [ C ])", "filter(min, Pmin=? [ F x=3 ], x>0 & on)", "P>=0.5 [ G x<3 ]",
		},
		"ctmc": {"P=? [ F<=0.5 n=T2 ]", "S=? [ n>T2 ]", `R{"full"}=? [ S ]`, "P=? [ n<2 U[0.1,1] n=3 ]"},
	}
	same := 0
	for kind, text := range models {
		space, err := build(t.Context(), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		w, err := files.NewWriter(space, files.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var umb bytes.Buffer
		if err := w.UMB(t.Context(), &umb); err != nil {
			t.Fatal(err)
		}
		given, err := files.Open(t.Context(), files.Sources{Transitions: files.Source{Name: "m.umb", Text: umb.Bytes()}}, "umb", files.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, accuracy := range []result.Accuracy{result.Bounded, result.Exact} {
			job := runner.Job{
				File: "m.umb", States: given, Consts: []string{"T=3:4"}, Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: accuracy}},
				Properties: []byte(common + "true;\nlabel \"good\" = s=4 & s>2;\nlabel \"poor\" = s=0 | s=4;\n"),
			}
			if kind != "dtmc" {
				job.Properties = []byte(common + "true;\n")
			}
			job.Props = properties[kind]
			same += differences(t, &emulator{}, kind, job)
		}
	}
	if t.Logf("%d answers are the same", same); same < 55 {
		t.Error("too few were answered")
	}
}

// What Storm gets of states from a file has the labels, and its properties no variables.
func TestStormGivenCommand(t *testing.T) {
	space, err := build(t.Context(), []byte(strings.Replace(gambler, "const int k;\n", "", 1)+"label \"tilecheck_states_1\" = s=0;\n"))
	if err != nil {
		t.Fatal(err)
	}
	e := &emulator{}
	vs, err := runner.Check(t.Context(), bridge.Storm(e, bridge.Options{}), runner.Job{States: space, Props: []string{"P=? [ F s=4 & s>2 ]"}})
	if err != nil || vs[0].Err != nil || vs[0].Value.Num != 0.5 {
		t.Fatal(err, vs)
	}
	c := e.commands[0]
	if !slices.Equal(c.Args[:4], []string{"--explicit-umb", "model.umb", "--prop", "properties.props"}) {
		t.Errorf("%q", c.Args)
	}
	if props := string(c.Files[1].Data); !strings.Contains(props, `P=? [ F "tilecheck_states_1_" ]`) {
		t.Errorf("%s", props)
	}
	if index := c.Files[0].Data; !bytes.Contains(index, []byte(`"alias": "tilecheck_states_1_"`)) {
		t.Error("the file of states does not have the label")
	}
}
