package syntax_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

func TestReadStorm(t *testing.T) {
	for text, want := range map[string]string{
		`Tmin=? [ F "a" ]`: `Tmin=? [ F "a" ]`,
		`const int T; T=? [ F<=T "a" ]; R=? [ C<=T ]`:           `T=? [ F<=T "a" ]; R=? [ C<=T ]`,
		`Pmax=? [ F{"r"}<=2 "a" ]`:                              `Pmax=? [ F^{rew{"r"}<=2} "a" ]`,
		`Pmax=? [ "b" U^{rew{"r"}<2, steps>=3,time[1,2]} "a" ]`: `Pmax=? [ "b" U^{rew{"r"}<2,steps>=3,time[1,2]} "a" ]`,
		`Pmax=? [ F^{steps<=2} "a" ]`:                           `Pmax=? [ F<=2 "a" ]`,
		`Pmax=? [ F^{rew<=2+3} "a" | "b" ]`:                     `Pmax=? [ F^{rew<=2+3} "a"|"b" ]`,
		`LRA=? [ "a" ]`:                                         `S=? [ "a" ]`,
		`LRAmax=? [ "a" & LRA>=1/2 [ "b" ] ]`:                   `Smax=? [ "a"&S>=1/2 [ "b" ] ]`,
		`Smin=? [ "a" ]`:                                        `Smin=? [ "a" ]`,
		`R{"r"}max=? [ LRA ]; Rmin=? [ MP ]`:                    `R{"r"}max=? [ S ]; Rmin=? [ S ]`,
		`const int LRA; P=? [ F LRA>=2 ]; R=? [ C<=LRA ]`:       `P=? [ F LRA>=2 ]; R=? [ C<=LRA ]`,
		// Bounds as Storm prints them, without braces, and with braces alone.
		`Pmax=? [ "b" Usteps<=3 "a" ]`:                `Pmax=? [ "b" U<=3 "a" ]`,
		`Pmax=? [ Fsteps<=4 "a" ]`:                    `Pmax=? [ F<=4 "a" ]`,
		`Pmax=? [ F{steps<=3} "a" ]`:                  `Pmax=? [ F<=3 "a" ]`,
		`Pmax=? [ Ftime[1,2] "a" ]`:                   `Pmax=? [ F[1,2] "a" ]`,
		`Pmax=? [ F{"r"}<=3,{"q"}<=4 "a" ]`:           `Pmax=? [ F^{rew{"r"}<=3,rew{"q"}<=4} "a" ]`,
		`Pmax=? [ "b" Urew{"r"}<=3,steps<=4 "a" ]`:    `Pmax=? [ "b" U^{rew{"r"}<=3,steps<=4} "a" ]`,
		`Pmax=? [ F<=3,{"q"}>4 "a" ]`:                 `Pmax=? [ F^{time<=3,rew{"q"}>4} "a" ]`,
		`Rmax=? [ Csteps<=3 ]; Rmax=? [ C{time<=2} ]`: `Rmax=? [ C<=3 ]; Rmax=? [ C<=2 ]`,
		`const int Fsteps; P=? [ F Fsteps<=4 ]`:       `P=? [ F Fsteps<=4 ]`,
		`const int Usteps; P=? [ F Usteps<=4 & "a" ]`: `P=? [ F Usteps<=4&"a" ]`,
		// A bound with an extremum: of all schedulers, or not of all that it does not hold.
		`Pmin>=0.4 [ F "a" ]; Pmax<0.4 [ F "a" ]`:                          `P>=0.4 [ F "a" ]; P<0.4 [ F "a" ]`,
		`Pmax>=0.4 [ F "a" ]; Pmin<0.4 [ F "a" ]`:                          `!P<0.4 [ F "a" ]; !P>=0.4 [ F "a" ]`,
		`P max>1/2 [ F Rmin<=2 [ F "a" ] ]`:                                `!P<=1/2 [ F !R>2 [ F "a" ] ]`,
		`R{"r"}max=? [ Cdiscount = 9/10 ]; R=? [ Csteps<=5 discount=0.9 ]`: `R{"r"}max=? [ Cdiscount=9/10 ]; R=? [ C<=5 discount=0.9 ]`,
		// Conditions.
		`P=? [F "a"||F "b"]; Pmax>=1/2 [ "a" U "b" || X "a" | "b" {"a"}{max} ]`: `P=? [ F "a" || F "b" ]; !P<1/2 [ "a" U "b" || X "a"|"b" {"a"}{max} ]`,
		`R{"r"}=? [ C || F "b" ]`:                      `R{"r"}=? [ C || F "b" ]`,
		`LRAmax>=0.5 [ "a" ]; Tmin<=3 [ F "a" ]`:       `!S<0.5 [ "a" ]; !T>3 [ F "a" ]`,
		`P=? [ F ExactlyOneOf("a", "b") ]`:             `P=? [ F ((("a")?1:0)+(("b")?1:0)=1) ]`,
		`P=? [ F AtMostOneOf("a", "b")&"a" ]`:          `P=? [ F ((("a")?1:0)+(("b")?1:0)<=1)&"a" ]`,
		`P=? [ G AtLeastOneOf("a") ]`:                  `P=? [ G ((("a")?1:0)>=1) ]`,
		`multi(Pmin=? [ F "b" ], Pmax>=0.4 [ F "a" ])`: `multi(Pmin=? [ F "b" ], P>=0.4 [ F "a" ])`,
		`multi(Pmin<=0.4 [ F Pmax>=0.4 [ X "a" ] ])`:   `multi(P<=0.4 [ F !P<0.4 [ X "a" ] ])`,
	} {
		for range 2 { // what was printed is read as the same
			props, err := syntax.ParsePropertiesOf(syntax.Storm, "p", []byte(text))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			var found []string
			for _, x := range props.Items {
				if p, ok := x.(*syntax.Property); ok {
					found = append(found, syntax.ExprString(p.X))
				}
			}
			if got := strings.Join(found, "; "); got != want {
				t.Errorf("%s: found %s, want %s", text, got, want)
			}
			for i := range text { // no part of it is more than an error
				if _, err := syntax.ParsePropertiesOf(syntax.Storm, "p", []byte(text[i:])); err != nil && !strings.HasPrefix(err.Error(), "p:") {
					t.Errorf("%s: %v", text[i:], err)
				}
				if _, err := syntax.ParsePropertiesOf(syntax.Storm, "p", []byte(text[:i])); err != nil && !strings.HasPrefix(err.Error(), "p:") {
					t.Errorf("%s: %v", text[:i], err)
				}
			}
			if strings.Contains(text, "const") {
				break
			}
			text = want
		}
	}
	for text, want := range map[string]string{
		`Pmax=? [ F^{money<=2} "a" ]`:    `p:1:13: found "money", want "rew", "steps" or "time"`,
		`Pmax=? [ F^{rew{"r"}} "a" ]`:    `p:1:21: found "}", want a bound such as <=2 or [1,2]`,
		`Pmax=? [ F^{rew{"r"}<=1 "a" ]`:  `p:1:25: found '"', want "}"`,
		`T=? F "a"`:                      `p:1:5: found "F", want "["`,
		`R=? [ Cdiscount= ]`:             `p:1:18: found "]"`,
		`R=? [ C discount=0.9 ]`:         `p:1:9: found "discount", want "]"`,
		`R=? [ C{"r"}<=3 discount=0.9 ]`: `p:1:17: found "discount", want "]"`,
		`R=? [ C<=5 discount<=0.9 ]`:     `p:1:12: found "discount", want "]"`,
		`R=? [ C{"r"}<3 ]`:               `p:1:8: lower and strict bounds are not supported with C, want C<=k`,
		`R=? [ C>=3 ]`:                   `p:1:8: lower and strict bounds are not supported with C, want C<=k`,
		`P=? [ F ("a" || F "b") ]`:       `p:1:14: found "|", want ")"`,
		`P=? [ F "a" || F "b" || "a" ]`:  `p:1:22: found "|", want "]"`,
		`P=? [ F "a" | | F "b" ]`:        `p:1:15: found "|", want an expression; "or" is a single "|"; a condition`,
		`LRAmax=? "a"`:                   `p:1:10: found '"', want "["`,
	} {
		if _, err := syntax.ParsePropertiesOf(syntax.Storm, "p", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: found %v, want %s", text, err, want)
		}
	}
}

// TestEcho: PRISM is asked about a reward structure, Storm about time.
func TestEcho(t *testing.T) {
	props, err := syntax.ParsePropertiesOf(syntax.Storm, "p", []byte(`Tmax=? [ F "a" ]`))
	if err != nil {
		t.Fatal(err)
	}
	x := props.Items[0].(*syntax.Property).X
	const asked = `R{"` + syntax.TimeRewards + `"}max=? [ F "a" ]`
	if got := syntax.Echo(x); got != asked {
		t.Errorf("echo %s, want %s", got, asked)
	}
	for dialect, want := range map[syntax.Dialect]string{syntax.PRISM: asked, syntax.Storm: `Tmax=? [ F "a" ]`} {
		var b strings.Builder
		if err := syntax.Fprint(&b, x, syntax.Options{Dialect: dialect}); err != nil || b.String() != want {
			t.Errorf("%v: found %s, %v, want %s", dialect, b.String(), err, want)
		}
	}
}

// TestPrintStorm: Storm's own operators are printed for it, and refused for PRISM.
func TestPrintStorm(t *testing.T) {
	for text, want := range map[string]string{
		`P=? [ F "a" || G<=3 "b" ]`:        `P=? [ F "a" || !(F<=3 (!"b")) ]`,
		`R{"r"}=? [ F "a" || F "b" ]`:      `R{"r"}=? [ F "a" || F "b" ]`,
		`R{"r"}max=? [ Cdiscount=9/10 ]`:   `R{"r"}max=? [ Cdiscount=9/10.0 ]`,
		`Rmax=? [ C<=2*3 discount=1-0.5 ]`: `Rmax=? [ C<=2*3 discount=1-0.5 ]`,
	} {
		props, err := syntax.ParsePropertiesOf(syntax.Storm, "p", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		x := props.Items[0].(*syntax.Property).X
		var b strings.Builder
		if err := syntax.Fprint(&b, x, syntax.Options{Dialect: syntax.Storm}); err != nil || b.String() != want {
			t.Errorf("found %s, %v, want %s", b.String(), err, want)
		}
		if err := syntax.Fprint(&b, x, syntax.Options{}); err == nil || !strings.Contains(err.Error(), "PRISM cannot express ") {
			t.Errorf("%s for PRISM: %v", text, err)
		}
	}
}

// What only Storm has stays an error, which says so.
func TestStormOnly(t *testing.T) {
	for _, text := range []string{`T=? [ F "a" ]`, `Pmax=? [ F{"r"}<=2 "a" ]`, `Pmax=? [ F^{steps<=2} "a" ]`, `Smax=? [ "a" ]`, `LRA=? [ "a" ]`, `LRAmin=? [ "a" ]`, `Pmax>=0.5 [ F "a" ]`, `P=? [ F{steps<=3} "a" ]`, `P=? [ F "a" || F "b" ]`} {
		if _, err := syntax.ParseProperties("p", []byte(text)); err == nil || !strings.Contains(err.Error(), "Storm's dialect accepts it (--dialect storm)") {
			t.Errorf("%s: found %v", text, err)
		}
	}
	if _, err := syntax.ParseProperties("p", []byte(`P=? [ F "a"`)); err == nil || strings.Contains(err.Error(), "Storm") {
		t.Errorf("an error in both dialects: %v", err)
	}
	// The hint is at the first error that only PRISM's dialect has, beside errors of both dialects.
	const operand, condition = "P=? [ G (a => X b) ];\n", "P=? [ F a || F b ];\n"
	for text, want := range map[string]int{operand + condition + condition: 1, condition + operand: 0} {
		_, err := syntax.ParseProperties("p", []byte(text))
		for i, line := range strings.Split(fmt.Sprint(err), "\n") {
			if hasHint := strings.HasSuffix(line, "; Storm's dialect accepts it (--dialect storm)"); hasHint != (i == want) {
				t.Errorf("error %d of\n%sis %s, want a hint only at error %d", i, text, line, want)
			}
		}
	}
}

// TestHintInModels: the hint stands at the first error that Storm's dialect does not have, for random texts of words that the dialects read differently.
func TestHintInModels(t *testing.T) {
	statements := []string{
		"const int R = 1;\n", "const int R = ;\n", "const int N = 1;\n", "const N = ;\n", "label done = true;\n", "label \"done\" = R;\n", "label \"done\" = true;\n",
		"module m\n  F : bool;\n  [] F -> true;\nendmodule\n", "module m\n  F : bool // no semicolon\n  [] F -> (F'=1) + (F'=2);\n",
		"rewards \"C\" [A] true : R; endrewards\n", "formula f = a && b;\n", "// comment\n", "endmodule\n", "pmax=?\n",
	}
	const hint = "; Storm's dialect accepts it (--dialect storm)"
	random := rand.New(rand.NewPCG(45, 1))
	hints := 0
	for range 5000 {
		text := "mdp\n"
		for range 1 + random.IntN(6) {
			text += statements[random.IntN(len(statements))]
		}
		text = text[:len(text)-random.IntN(2)*random.IntN(min(8, len(text)-3))]
		_, err := syntax.ParseModel("m", []byte(text))
		found, _ := err.(syntax.ErrorList)
		_, err = syntax.ParseModelOf(syntax.Storm, "m", []byte(text))
		ofStorm, _ := err.(syntax.ErrorList)
		isSame := true // so far, as in Storm's dialect
		for i, current := range found {
			message, hasHint := strings.CutSuffix(current.Msg, hint)
			isSame = isSame && i < len(ofStorm) && ofStorm[i].Pos == current.Pos && ofStorm[i].Msg == message
			if hasHint {
				hints++
			}
			if isSame && hasHint || !isSame && !hasHint && (i >= len(ofStorm) || ofStorm[i].Pos.Compare(current.Pos) > 0) && !strings.Contains(message, "--dialect storm") {
				t.Fatalf("%s\nerrors\n%v\nerrors in Storm's dialect\n%v", text, found, ofStorm)
			}
			if !isSame {
				break
			}
		}
	}
	if hints < 1000 {
		t.Errorf("%d hints", hints)
	}
}

// TestReadStormModel: Storm reserves fewer words than PRISM, and its labels need no quotes.
func TestReadStormModel(t *testing.T) {
	const text = `mdp
const int R = 1;
module clock
  s : [0..1];
  x : clock;
  F : bool;
  [A] s=0 & !F -> (s'=R) & (F'=true);
endmodule
rewards "C" [A] true : R; endrewards
label done = s=1;
`
	m, err := syntax.ParseModelOf(syntax.Storm, "m", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if v := m.Items[2].(*syntax.Module).Vars; v[1].Type != syntax.ClockVar || v[2].Name.Name != "F" {
		t.Errorf("variables %+v", v)
	}
	var b strings.Builder
	if err := syntax.Fprint(&b, m, syntax.Options{Dialect: syntax.Storm}); err != nil {
		t.Fatal(err)
	}
	again, err := syntax.ParseModelOf(syntax.Storm, "m", []byte(b.String()))
	if err != nil || !strings.Contains(b.String(), "const int R = 1;") || len(again.Items) != len(m.Items) {
		t.Errorf("printed\n%s%v", b.String(), err)
	}
	if _, err := syntax.ParseModel("m", []byte(text)); err == nil || !strings.Contains(err.Error(), `m:2:11: found keyword "R", want a constant name; PRISM reserves "R"; Storm's dialect accepts it`) {
		t.Errorf("PRISM's dialect: %v", err)
	}
	for i := range text { // no part of it is more than an error
		_, _ = syntax.ParseModelOf(syntax.Storm, "m", []byte(text[:i]))
	}
}

// TestOtherTools: what only other tools have in the language is named, once, whatever follows.
func TestOtherTools(t *testing.T) {
	const rest = "\nplayer p m endplayer\nmodule m\n  s : [0..1];\n  <> s=0 -> 2:(s'=1);\nendmodule\n"
	for text, want := range map[string]string{
		"csg" + rest:                         `m:1:1: found "csg": a concurrent stochastic game: not supported, PRISM-games has it`,
		"stpg" + rest:                        `m:1:1: found "stpg": a two-player game in the form of STPGs: not supported, PRISM-games has it`,
		"tptg" + rest:                        `m:1:1: found "tptg": a turn-based probabilistic timed game: not supported, PRISM-games has it`,
		"ctmdp" + rest:                       `m:1:1: found "ctmdp": continuous-time Markov decision processes are not supported`,
		"dtmc\nhole int h in {1..3};" + rest: `m:2:1: found "hole": holes, of PAYNT's sketches, are not supported`,
	} {
		for _, dialect := range []syntax.Dialect{syntax.PRISM, syntax.Storm} {
			_, err := syntax.ParseModelOf(dialect, "m", []byte(text))
			if errs, ok := err.(syntax.ErrorList); !ok || len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), want) {
				t.Errorf("%v: found %v, want %s", dialect, err, want)
			}
		}
	}
	if _, err := syntax.ParseModel("m", []byte("ma"+rest)); err == nil || !strings.HasPrefix(err.Error(), `m:1:1: found "ma": Markov automata are read in Storm's dialect (--dialect storm)`) || strings.Count(err.Error(), "--dialect storm") != 1 {
		t.Errorf("a Markov automaton in PRISM's dialect: %v", err)
	}
	if _, err := syntax.ParseModel("m", []byte("dtmc module m ma : [0..1]; hole : [0..1]; [smg] ma=0 -> (hole'=1); endmodule")); err != nil {
		t.Errorf("as names: %v", err)
	}
}

// TestSecondUpdate: an assignment behind + has its parentheses.
func TestSecondUpdate(t *testing.T) {
	_, err := syntax.ParseModel("m", []byte("dtmc module m x:[0..1]; y:[0..1]; [] x=0 -> 0.5:(x'=1) + 0.5:(x'=0) + (y'=1); endmodule"))
	if err == nil || !strings.HasPrefix(err.Error(), `m:1:72: found "y'", want an expression; an update behind + needs a probability`) {
		t.Error(err)
	}
}

// TestMarkovAutomaton: the model type and the Markovian commands are printed as they were read.
func TestMarkovAutomaton(t *testing.T) {
	const text = "ma\n\nmodule m\n  s : [0..1];\n  <> s=0 -> 2:(s'=1) + 3:(s'=0);\n  [a] s=1 -> (s'=0);\nendmodule\n"
	model, err := syntax.ParseModelOf(syntax.Storm, "m", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	if err := syntax.Fprint(&printed, model, syntax.Options{Dialect: syntax.Storm}); err != nil {
		t.Fatal(err)
	}
	again, err := syntax.ParseModelOf(syntax.Storm, "m", []byte(printed.String()))
	if err != nil || !syntax.Equal(model, again) {
		t.Errorf("found %s, %v, want %s", printed.String(), err, text)
	}
}
