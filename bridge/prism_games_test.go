package bridge_test

import (
	"os"
	"strings"
	"testing"

	"tilecheck/bridge"
	"tilecheck/result"
	"tilecheck/runner"
)

// TestPRISMGames: PRISM-games gets a game with its coalitions, without switches for guaranteed values, and its answers are found
// although it prints no blank behind a coalition.
func TestPRISMGames(t *testing.T) {
	model, err := os.ReadFile("../examples/race.prism")
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := os.ReadFile("../testdata/logs/prism-games/race.log")
	if err != nil {
		t.Fatal(err)
	}
	job := runner.Job{File: "race.prism", Model: model, Props: []string{
		`<<attacker>> Pmax=? [ F "attacked" ]`, `<<1,2>> Pmax=? [ F<=3 "attacked" ]`, `Pmax=? [ F won=1 ]`, `<<attacker>> Pmax=? [ G F won=1 ]`,
	}}
	s := &script{answers: []string{string(recorded)}}
	vs, err := runner.Check(t.Context(), bridge.PRISMGames(s, bridge.Options{}), job)
	if err != nil {
		t.Fatal(err)
	}
	want := job.Props[0] + ": 0.4968746781349182\n" + job.Props[1] + ": 0.44999999999999996\n" + job.Props[2] + ": 0.5999994277954102\n" + job.Props[3] + ": unsupported\n"
	if got := summary(vs); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if v := vs[0]; v.Engine != "prism-games" || v.Tool != "prism-games 3.2.5-dev, a script" || v.Accuracy != result.Estimated {
		t.Errorf("%+v", v)
	}
	if got, want := strings.Join(s.commands[0].Args, " "), "model.prism properties.props -prop 1,2,3,4 -explicit -epsilon 1e-08"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := s.file(0, "properties.props"); !strings.Contains(got, job.Props[0]) {
		t.Errorf("properties %q", got)
	}
}

// TestGamesRefused: a game is unsupported on the other tools, which name PRISM-games, and PRISM-games has no fractions of games.
func TestGamesRefused(t *testing.T) {
	model, err := os.ReadFile("../examples/race.prism")
	if err != nil {
		t.Fatal(err)
	}
	job := runner.Job{File: "race.prism", Model: model, Props: []string{`Pmax=? [ F won=1 ]`}}
	exact := job
	exact.Numeric.Accuracy = result.Exact
	for _, tc := range []struct {
		engine  *bridge.Engine
		job     runner.Job
		message string
	}{
		{bridge.PRISM(&script{}, bridge.Options{}), job, "which prism is not asked about; the engines native and prism-games check it"},
		{bridge.Storm(&script{}, bridge.Options{}), job, "which storm is not asked about; the engines native and prism-games check it"},
		{bridge.PRISMGames(&script{}, bridge.Options{}), exact, "PRISM-games has no exact arithmetic"},
	} {
		vs, err := runner.Check(t.Context(), tc.engine, tc.job)
		if err != nil {
			t.Fatal(err)
		}
		if f := vs[0].Err; f == nil || f.Class != result.Unsupported || !strings.Contains(f.Message, tc.message) {
			t.Errorf("%s: %v, want %s", tc.engine.Name(), f, tc.message)
		}
	}
}
