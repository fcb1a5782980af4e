package crosscheck_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/bridge"
	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/runner"
	"tilecheck/runner/local"
)

// prismGames returns the engine of the PRISM-games of this machine.
func prismGames(t *testing.T) runner.Engine {
	t.Helper()
	cmd, err := local.New(needs.PRISMGamesTool(t))
	if err != nil {
		t.Fatal(err)
	}
	return bridge.PRISMGames(cmd, bridge.Options{})
}

// gamesPerModel is the number of games in one model: the constant game selects one, so PRISM-games starts once for all of them.
const gamesPerModel = 100

// gameStates is the number of states of each random game.
const gameStates = 6

// randomGames returns a model of games of the players p and q. Each state has one to three choices, all of one player, and
// each choice leads to one or two states. The last state is absorbing and without reward: PRISM-games 3.2.5 also counts rewards
// behind the target when it decides whether the value of R [ Fc ... ] is infinite.
func randomGames(r *rand.Rand) string {
	var b strings.Builder
	fmt.Fprintf(&b, "smg\nconst int game;\nplayer p [a] endplayer\nplayer q [b] endplayer\nmodule m\n s:[0..%d];\n", gameStates-1)
	var rewards strings.Builder
	for game := range gamesPerModel {
		fmt.Fprintf(&b, " [a] game=%d & s=%d -> true;\n", game, gameStates-1)
		for s := range gameStates - 1 {
			action := []string{"a", "b"}[r.IntN(2)]
			for range 1 + r.IntN(3) {
				weight := 1 + r.IntN(9)
				update := fmt.Sprintf("0.%d:(s'=%d) + 0.%d:(s'=%d)", weight, r.IntN(gameStates), 10-weight, r.IntN(gameStates))
				if r.IntN(3) == 0 {
					update = fmt.Sprintf("(s'=%d)", r.IntN(gameStates))
				}
				fmt.Fprintf(&b, " [%s] game=%d & s=%d -> %s;\n", action, game, s, update)
			}
			if reward := r.IntN(4); reward > 0 {
				fmt.Fprintf(&rewards, " game=%d & s=%d : %d;\n", game, s, reward)
			}
		}
	}
	fmt.Fprintf(&b, "endmodule\nrewards \"r\"\n%sendrewards\n", &rewards)
	return b.String()
}

// gameProperties are the properties of each random game. R [ F0 ... ] is missing: PRISM-games 3.2.5 computes one value
// iteration for each sum of past rewards, and ends after 2147483647 of them if the coalition reaches the target surely and
// with unbounded rewards.
var gameProperties = [...]string{
	`<<p>> Pmax=? [ F s=5 ]`,
	`<<p>> Pmin=? [ F s>3 ]`,
	`<<q>> Pmax=? [ s!=2 U s=5 ]`,
	`<<q>> Pmin=? [ F<=6 s=4 ]`,
	`<<p>> Pmax=? [ X s>2 ]`,
	`<<p>> Pmax=? [ G s!=3 ]`,
	`<<p>> P>=0.37 [ F s=4 ]`,
	`<<p,q>> Pmax=? [ F s=5 ]`,
	`<<>> Pmax=? [ F s=5 ]`,
	`Pmin=? [ F s=5 ]`,
	`<<p>> R{"r"}min=? [ F s>3 ]`,
	`<<q>> R{"r"}max=? [ F s>2 ]`,
	`<<p>> R{"r"}max=? [ Fc s=5 ]`,
	`<<q>> R{"r"}min=? [ Fc s=5 ]`,
	`<<p>> R{"r"}max=? [ C<=5 ]`,
}

// comparison is what became of the comparisons of one property.
type comparison struct{ same, unknown, failed, different int }

// TestRandomGames compares PRISM-games with native on random games.
func TestRandomGames(t *testing.T) {
	theirs, ours := prismGames(t), native.New()
	games := needs.Number(t, "TILECHECK_GAMES", 300)
	counts := make([]comparison, len(gameProperties))
	for model := uint64(0); model*gamesPerModel < games; model++ {
		text := randomGames(rand.New(rand.NewPCG(43, model)))
		job := runner.Job{File: "games.prism", Model: []byte(text), Props: gameProperties[:], Consts: []string{fmt.Sprintf("game=0:%d", gamesPerModel-1)}}
		a, err := runner.Check(t.Context(), ours, job)
		if err != nil {
			t.Fatal(err)
		}
		b, err := runner.Check(t.Context(), theirs, job)
		if err != nil {
			t.Fatal(err)
		}
		if len(a) != gamesPerModel*len(gameProperties) || len(a) != len(b) {
			t.Fatalf("%d and %d verdicts", len(a), len(b))
		}
		for i := range a {
			compareGame(t, model, &counts[i%len(gameProperties)], &a[i], &b[i])
		}
	}
	for i, c := range counts {
		t.Logf("%s: %+v", gameProperties[i], c)
		if c.same == 0 {
			t.Errorf("%s: PRISM-games and native never agree", gameProperties[i])
		}
	}
}

// compareGame compares two verdicts on a game and counts the outcome. Two different answers are an error.
func compareGame(t *testing.T, model uint64, counts *comparison, ours, theirs *result.Verdict) {
	t.Helper()
	if ours.Err != nil {
		t.Errorf("model %d, %v: native: %s: %v", model, ours.Constants, ours.Property, ours.Err)
		return
	}
	if theirs.Err != nil {
		counts.failed++
		if theirs.Err.Class != result.NonConverge && theirs.Err.Class != result.Unsupported {
			t.Errorf("model %d, %v: PRISM-games: %s: %v", model, theirs.Constants, theirs.Property, theirs.Err)
		}
		return
	}
	switch o := agree.Verdicts("native", ours, "prism-games", theirs, agree.Question{}, agree.Options{}); o.Relation {
	case agree.Same:
		counts.same++
	case agree.Different:
		counts.different++
		t.Errorf("model %d, %v: %s: %s", model, ours.Constants, ours.Property, o.Reason)
	default:
		counts.unknown++
		t.Logf("model %d, %v: %s: undecided: %s", model, ours.Constants, ours.Property, o.Reason)
	}
}
