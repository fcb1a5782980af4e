package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tilecheck/internal/needs"
)

// randomChoices is an MDP of some states with up to three choices, some of which have one action.
func randomChoices(rng *rand.Rand) string {
	var b strings.Builder
	b.WriteString("mdp\nmodule m\n s:[0..4];\n odd:bool init true;\n")
	for s := range 5 {
		for range 1 + rng.IntN(3) {
			p := fmt.Sprintf("0.%d", 1+rng.IntN(9))
			if rng.IntN(4) == 0 { // beyond the language's integers, as a fraction
				p += "23456789012345"
			}
			fmt.Fprintf(&b, " [%s] s=%d -> %s:(s'=%d)&(odd'=!odd) + 1-%s:(s'=%d);\n",
				[]string{"", "a", "b"}[rng.IntN(3)], s, p, rng.IntN(5), p, rng.IntN(5))
		}
	}
	b.WriteString(" [a] false -> true;\nendmodule\nrewards \"r\" [a] s>1 : 2; s=0 : 1; endrewards\n")
	return b.String()
}

// fractions returns the values of properties; nil stands for an error.
func fractions(t *testing.T, model string, flags ...string) []*big.Rat {
	t.Helper()
	code, out, stderr := tilecheck(t.Context(), append([]string{"check", model, "--exact", "--format", "json"}, flags...)...)
	var doc struct {
		Results []struct {
			Fraction string
			Value    any
			Kind     string
			Error    any
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v: %d %s %s", flags, code, out, stderr)
	}
	var values []*big.Rat
	for _, v := range doc.Results {
		x, _ := new(big.Rat).SetString(v.Fraction)
		if f, is := v.Value.(float64); is && x == nil {
			x = new(big.Rat).SetFloat64(f)
		}
		if v.Error != nil {
			x = nil
		}
		values = append(values, x)
	}
	return values
}

// randomGame returns the text of a game of the players p and q.
func randomGame(rng *rand.Rand) string {
	var b strings.Builder
	b.WriteString("smg\nplayer p [a] endplayer\nplayer q [b] endplayer\nmodule m\n s : [0..4];\n")
	for s := range 5 {
		action := []string{"a", "b"}[rng.IntN(2)]
		if s > 2 && rng.IntN(3) > 0 {
			fmt.Fprintf(&b, " [%s] s=%d -> true;\n", action, s)
			continue
		}
		for range 1 + rng.IntN(3) {
			denominator := 2 + rng.IntN(5)
			fmt.Fprintf(&b, " [%s] s=%d -> 1/%d:(s'=%d) + %d/%[3]d:(s'=%[6]d);\n", action, s, denominator, rng.IntN(5), denominator-1, rng.IntN(5))
		}
	}
	b.WriteString(" [a] false -> true;\n [b] false -> true;\nendmodule\nlabel \"odd\" = mod(s,2)=1;\n")
	return b.String()
}

// TestRememberedGames: the strategies of both sides for LTL, which have a memory, leave a chain that has the value of the game.
func TestRememberedGames(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 7))
	formulas := []string{
		"G F s=1", "F G \"odd\"", "(G F s=1) & (F G s!=2)", "(F s=3) & (G F s=1)", "(G F s=4) | (F G s<3)", "(F s=1) & (F s=2)", "!((F s=1) & (F s=3))",
		"F (s=2 & (X s=1))", "(F<=3 s=2) | (G \"odd\")", "(s<3 U s=1) & (F s=4)", "(G F s=0) => (G F s=3)",
	}
	dir := t.TempDir()
	model, chosen, left := filepath.Join(dir, "m.prism"), filepath.Join(dir, "x.json"), filepath.Join(dir, "x.prism")
	between := 0
	for range max(needs.Some(250), 25) {
		text := randomGame(rng)
		if err := os.WriteFile(model, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f := formulas[rng.IntN(len(formulas))]
		property := fmt.Sprintf("<<%s>> P%s=? [ %s ]", []string{"p", "p", "q", "q", "p,q"}[rng.IntN(5)], []string{"max", "min"}[rng.IntN(2)], f)
		want := fractions(t, model, "--prop", property, "--export-scheduler", chosen)[0]
		if code, _, stderr := tilecheck(t.Context(), "resolve", model, "--scheduler", chosen, "-o", left, "--quiet"); code != 0 {
			t.Fatalf("%s%s: %s", text, property, stderr)
		}
		if got := fractions(t, left, "--prop", fmt.Sprintf("P=? [ %s ]", f))[0]; got == nil || want == nil || got.Cmp(want) != 0 {
			t.Fatalf("%s%s: %v, the chain has %v", text, property, want, got)
		}
		if want.Sign() > 0 && !want.IsInt() {
			between++
		}
	}
	if between < 2 {
		t.Errorf("only %d values are between zero and one", between)
	}
}

// TestRememberedChains: the chain that a scheduler with a memory leaves, written as a model and
// read again, has the value that was computed for the best scheduler; the chain of several
// objectives has what was promised of each.
func TestRememberedChains(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	formulas := []string{
		"G F s=1", "F G odd", "(G F s=1) & (G F s=2)", "(F s=3) & (G F s=1) & (G F !odd)", "(F G s<3) | (G F s=4)", "G (s=1 => (F s=2))",
		"F<=3 s=2", "s<3 U<=4 s=1", "G<=2 odd", "F[1,3] s=2", "F<=1 s=1", "F (s=2 & (X s=1))", "(F<=3 s=2) | (G odd)", "(G F (s=0 & (X s=1))) & (F G s!=4)", "(F s=1) & (X X s=2)",
	}
	dir := t.TempDir()
	model, chosen, left := filepath.Join(dir, "m.prism"), filepath.Join(dir, "x.json"), filepath.Join(dir, "x.prism")
	resolve := func(property string) (value *big.Rat, ok bool) {
		t.Helper()
		v := fractions(t, model, "--prop", property, "--export-scheduler", chosen)
		if v[0] == nil {
			return nil, false
		}
		if code, _, stderr := tilecheck(t.Context(), "resolve", model, "--scheduler", chosen, "-o", left, "--quiet"); code != 0 {
			if strings.Contains(stderr, "a reward structure has rewards of actions") {
				return nil, false // a mixture, of which there is no chain
			}
			text, _ := os.ReadFile(model)
			t.Fatalf("%s%s: %s", text, property, stderr)
		}
		return v[0], true
	}
	compared := map[string]int{}
	for range max(needs.Some(60), 6) {
		text := randomChoices(rng)
		if err := os.WriteFile(model, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, g := formulas[rng.IntN(len(formulas))], formulas[rng.IntN(len(formulas))]
		for _, dir := range []string{"max", "min"} {
			want, ok := resolve(fmt.Sprintf("P%s=? [ %s ]", dir, f))
			got := fractions(t, left, "--prop", fmt.Sprintf("P=? [ %s ]", f))[0]
			if !ok || got == nil || got.Cmp(want) != 0 {
				t.Fatalf("%sP%s=? [ %s ]: %v, the chain has %v", text, dir, f, want, got)
			}
			compared["LTL"]++
		}
		for _, dir := range []string{"max", "min"} {
			if want, ok := resolve("R" + dir + "=? [ C<=3 ]"); ok {
				if got := fractions(t, left, "--prop", "R=? [ C<=3 ]")[0]; got == nil || got.Cmp(want) != 0 {
					t.Fatalf("%sR%s=? [ C<=3 ]: %v, the chain has %v", text, dir, want, got)
				}
				compared["rewards"]++
			}
		}
		bound := []string{"0.1", "0.4", "0.8"}[rng.IntN(3)]
		best, ok := resolve(fmt.Sprintf("multi(Pmax=? [ %s ], P>=%s [ %s ])", f, bound, g))
		if !ok {
			continue
		}
		got := fractions(t, left, "--prop", fmt.Sprintf("P=? [ %s ]", f), "--prop", fmt.Sprintf("P=? [ %s ]", g))
		least, _ := new(big.Rat).SetString(bound)
		// A file has the parts of a mixture as doubles.
		if off := new(big.Rat).Sub(got[0], best); off.Abs(off).Cmp(big.NewRat(1, 1e9)) > 0 || least.Sub(least, big.NewRat(1, 1e12)).Cmp(got[1]) > 0 {
			t.Fatalf("%smulti(Pmax=? [ %s ], P>=%s [ %s ]): %v, the chain has %v and %v", text, f, bound, g, best, got[0], got[1])
		}
		compared["multi"]++
	}
	if compared["LTL"] < 10 || compared["rewards"] < 6 || compared["multi"] < 2 {
		t.Errorf("compared %v", compared)
	}
}

// TestAccumulatedRewardChains: strategies of F0 are written, read back and resolved, and the chain has the value. Both players remember the reward.
// Let v(a) be the value of the gambler's state with the reward a, and w(a) that of the bank's. Then v(a) = max(a, 3/4 w(a+1)) and w(a) = min(v(a),
// (a+3)/3), so v(2) = 2, w(2) = 5/3, v(1) = 5/4 = w(1), and v(0) = 15/16: the bank ends the game with the reward 2, but not with 1.
func TestAccumulatedRewardChains(t *testing.T) {
	dir := t.TempDir()
	model, chosen, chain := filepath.Join(dir, "m.prism"), filepath.Join(dir, "x.json"), filepath.Join(dir, "x.prism")
	text := `smg
player gambler [risk], [stop] endplayer
player bank [fair], [end] endplayer
module m
  s : [0..3] init 0;
  [risk] s=0 -> 3/4:(s'=1) + 1/4:(s'=3);
  [stop] s=0 -> (s'=2);
  [fair] s=1 -> (s'=0);
  [end] s=1 -> 1/3:(s'=2) + 2/3:(s'=3);
endmodule
rewards [risk] true : 1; [end] true : 3; endrewards
`
	if err := os.WriteFile(model, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := big.NewRat(15, 16)
	for _, property := range []string{"<<gambler>> Rmax=? [ F0 s=2 ]", "<<bank>> Rmin=? [ F0 s=2 ]"} {
		got := fractions(t, model, "--prop", property, "--export-scheduler", chosen)[0]
		if got == nil || got.Cmp(want) != 0 {
			t.Errorf("%s is %v, want %v", property, got, want)
		}
		if code, _, stderr := tilecheck(t.Context(), "resolve", model, "--scheduler", chosen, "-o", chain, "--quiet"); code != 0 {
			t.Fatal(stderr)
		}
		// The mean reward of the paths that reach the target, times their probability.
		values := fractions(t, chain, "--dialect", "storm", "--prop", "R=? [ F s=2 || F s=2 ]", "--prop", "P=? [ F s=2 ]")
		if product := values[0].Mul(values[0], values[1]); product.Cmp(want) != 0 {
			t.Errorf("%s: the chain has %v, want %v", property, product, want)
		}
	}
}

// TestSurplusOfF0: the patient player attains the value of F0 also against a blocker who never lets the path reach the target. The blocker's
// choice increases the rewards, so the patient player waits for more of them, but not forever.
func TestSurplusOfF0(t *testing.T) {
	dir := t.TempDir()
	model, chosen, rest := filepath.Join(dir, "m.prism"), filepath.Join(dir, "x.json"), filepath.Join(dir, "x.prism")
	text := `smg
player patient [wait], [end] endplayer
player blocker [block], [let], [loop] endplayer
module m
  s : [0..2];
  [wait] s=0 -> (s'=1);
  [end] s=0 -> (s'=2);
  [block] s=1 -> (s'=0);
  [let] s=1 -> 1/4:(s'=0) + 3/4:(s'=2);
  [loop] s=2 -> true;
endmodule
rewards s=0 : 1; endrewards
`
	if err := os.WriteFile(model, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := big.NewRat(4, 3) // 1 + 1/4 + 1/16 + ...
	if got := fractions(t, model, "--prop", "<<patient>> Rmax=? [ F0 s=2 ]", "--export-scheduler", chosen)[0]; got == nil || got.Cmp(want) != 0 {
		t.Fatalf("the value is %v, want %v", got, want)
	}
	for follower, response := range map[string]string{"patient": "<<other>> Rmin=? [ F0 s=2 ]", "blocker": "<<other>> Rmax=? [ F0 s=2 ]"} {
		if code, _, stderr := tilecheck(t.Context(), "resolve", model, "--scheduler", chosen, "--player", follower, "-o", rest, "--quiet"); code != 0 {
			t.Fatal(stderr)
		}
		mdp, _ := os.ReadFile(rest)
		game := strings.Replace(string(mdp), "mdp", "smg\nplayer other [wait], [end], [block], [let], [loop] endplayer", 1)
		if err := os.WriteFile(rest, []byte(game), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := fractions(t, rest, "--prop", response)[0]; got == nil || got.Cmp(want) != 0 {
			t.Errorf("if %s follows, %s is %v, want %v\n%s", follower, response, got, want, game)
		}
	}
}

// TestResolvedPlayers: if the players of one side follow their strategy, the best response of the other side gives the value of the game. The
// strategies of most of the properties have memory.
func TestResolvedPlayers(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 8))
	objectives := []string{ // %s is for max or min
		"P%s=? [ F s=1 ]", "P%s=? [ G F s=1 ]", "P%s=? [ (G F s=1) & (F G s!=2) ]", "P%s=? [ (F s=3) & (G F s=1) ]", "P%s=? [ (F s=1) & (F s=2) ]",
		"P%s=? [ !((F s=1) & (F s=3)) ]", "P%s=? [ F (s=2 & (X s=1)) ]", `P%s=? [ (F<=3 s=2) | (G "odd") ]`, "P%s=? [ (G F s=0) => (G F s=3) ]",
		"P%s=? [ F<=3 s=2 ]", "P%s=? [ F<=0 s=2 ]", "P%s=? [ s<3 U[1,4] s=1 ]", `P%s=? [ G<=3 "odd" ]`, "P%s=? [ X s=1 ]",
		`R{"r"}%s=? [ C<=3 ]`, `R{"r"}%s=? [ I=2 ]`, `R{"r"}%s=? [ F0 s=3 ]`, `R{"r"}%s=? [ F0 s>2 ]`, `R{"r"}%s=? [ Fc s=3 ]`, `R{"r"}%s=? [ F s>2 ]`, `R{"r"}%s=? [ C ]`, `R{"r"}%s=? [ S ]`,
	}
	dir := t.TempDir()
	model, chosen, rest := filepath.Join(dir, "m.prism"), filepath.Join(dir, "x.json"), filepath.Join(dir, "x.prism")
	compared, between := map[string]int{}, 0
	for range max(needs.Some(300), 30) {
		text := randomGame(rng) + "rewards \"r\" [a] s<2 : 2; [b] s=1 : 1; s=2 : 1; endrewards\n"
		if err := os.WriteFile(model, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		objective, isMax, isP := objectives[rng.IntN(len(objectives))], rng.IntN(2) == 0, rng.IntN(2) == 0
		directions, players := map[bool]string{true: "max", false: "min"}, map[bool]string{true: "p", false: "q"}
		property := fmt.Sprintf("<<%s>> "+objective, players[isP], directions[isMax])
		values := fractions(t, model, "--prop", property, "--export-scheduler", chosen)
		if values[0] == nil {
			continue // infinite, or F0 without fractions
		}
		tolerance := new(big.Rat)
		if rng.IntN(3) == 0 { // strategies of bounds attain these
			tolerance.Add(big.NewRat(1, 1_000_000), tolerance.Mul(values[0], big.NewRat(1, 1_000_000)))
			if code, _, stderr := tilecheck(t.Context(), "check", model, "--prop", property, "--export-scheduler", chosen); code != 0 {
				t.Fatalf("%s%s: %s", text, property, stderr)
			}
		}
		for _, followsCoalition := range []bool{true, false} {
			follower := players[followsCoalition == isP]
			code, _, stderr := tilecheck(t.Context(), "resolve", model, "--scheduler", chosen, "--player", follower, "-o", rest, "--quiet")
			if strings.Contains(stderr, "a module cannot distinguish them") {
				continue // a strategy without memory blocks choices by their actions
			}
			if strings.Contains(objective, "F0") && strings.Contains(stderr, "found no memory after choice") {
				compared["infinite"]++ // another player can lead to an infinite value
				continue
			}
			if code != 0 {
				t.Fatalf("%s%s, %s follows: %s", text, property, follower, stderr)
			}
			response := fmt.Sprintf(objective, directions[isMax != followsCoalition])
			if strings.Contains(objective, "F0") || strings.Contains(objective, "Fc") { // for games only
				mdp, _ := os.ReadFile(rest)
				game := strings.Replace(string(mdp), "mdp", "smg\nplayer other [a], [b] endplayer", 1)
				if err := os.WriteFile(rest, []byte(game), 0o600); err != nil {
					t.Fatal(err)
				}
				response = "<<other>> " + response
			}
			got := fractions(t, rest, "--prop", response)
			isRight := len(got) == 1 && got[0] != nil
			if isRight {
				difference := new(big.Rat).Sub(got[0], values[0])
				isRight = difference.Abs(difference).Cmp(tolerance) <= 0
			}
			if !isRight {
				left, _ := os.ReadFile(rest)
				t.Fatalf("%s%s: %v; if %s follows, %s is %v\n%s", text, property, values[0], follower, response, got, left)
			}
			compared[objective]++
		}
		if values[0].Sign() > 0 && !values[0].IsInt() {
			between++
		}
	}
	if between < 5 || needs.Some(300) > 30 && len(compared) < len(objectives) {
		t.Errorf("only %d values are between zero and one; compared %v", between, compared)
	}
}

// TestResolveNamesNoPlaces: an error about the model that is made has no place in it, since nobody sees that text.
func TestResolveNamesNoPlaces(t *testing.T) {
	dir := t.TempDir()
	model, policy := filepath.Join(dir, "m.prism"), filepath.Join(dir, "p.prism")
	for file, text := range map[string]string{
		model: "mdp module m s:[0..1]; [a] s=0 -> (s'=1); [b] s=0 -> true; endmodule", policy: "module p\n  s : [0..1];\n  [a] true -> true;\nendmodule\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, _, stderr := tilecheck(t.Context(), "resolve", model, "--policy", policy)
	if code != 1 || !strings.Contains(stderr, `in "s : [0..1];"`) || strings.Contains(stderr, model+":") {
		t.Errorf("exit code %d, want 1 and the line that is wrong:\n%s", code, stderr)
	}
}
