package native_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"tilecheck/game"
	"tilecheck/internal/needs"
	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/stats"
)

// TestTable36 gets each of the 20 cells of the thesis's experiment in three
// ways and wants every two to agree: the native engine on the generated model,
// PRISM's simulator on the same model (the transcripts in testdata), and games
// counted on a bitboard, which has no model at all.
//
// A false alarm has probability at most 0.001 for all 60 comparisons together,
// by Bonferroni's inequality; the seeds are fixed.
func TestTable36(t *testing.T) {
	const comparisons = 60
	samples := int64(max(needs.Some(5000), 1500))
	confidence := stats.Confidence(stats.Alpha(stats.CompareConfidence) / comparisons)
	for i, named := range modelgen.ThesisPolicies() {
		best := bestTiles(t, named.Policy, int(samples), uint64(i))
		for _, tile := range []int{128, 256, 512, 1024, 2048} {
			t.Run(fmt.Sprintf("%s-%d", named.Name, tile), func(t *testing.T) {
				if tile == 256 || tile == 1024 {
					needs.Full(t)
				}
				counted := stats.Bernoulli{}
				for _, b := range best {
					counted.Add(b < tile)
				}
				estimates := []struct {
					name string
					b    stats.Bernoulli
				}{
					{"native", nativeLosses(t, named.Policy, tile, samples)},
					{"PRISM", recordedLosses(t, named.Name, tile)},
					{"bitboard", counted},
				}
				for i, x := range estimates {
					for _, y := range estimates[:i] {
						c, err := stats.Compare(stats.Sample{Bernoulli: x.b}, stats.Sample{Bernoulli: y.b}, confidence)
						if err != nil {
							t.Fatal(err)
						}
						if !c.Compatible {
							t.Errorf("%s has %d of %d, %s has %d of %d: p-value %g", x.name, x.b.K, x.b.N, y.name, y.b.K, y.b.N, c.PValue)
						}
					}
				}
			})
		}
	}
}

func nativeLosses(t *testing.T, policy modelgen.Policy, tile int, samples int64) stats.Bernoulli {
	t.Helper()
	model, err := modelgen.Build(modelgen.Config{Rows: 4, Cols: 4, Max: tile, Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := syntax.Fprint(&text, model, syntax.Options{}); err != nil {
		t.Fatal(err)
	}
	verdicts, err := runner.Check(t.Context(), native.New(), runner.Job{
		File: "2048.prism", Model: text.Bytes(), Props: []string{"Pmin=? [ F fail ]"}, Settings: runner.Settings{
			Method:     runner.CI,
			Simulation: runner.Simulation{Samples: samples, Seed: uint64(tile)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	v := verdicts[0]
	if v.Err != nil || v.Resolution != result.Uniform {
		t.Fatalf("error %v, resolution %v, want none and uniform", v.Err, v.Resolution)
	}
	return stats.Bernoulli{N: v.Samples, K: int64(math.Round(v.Value.Num * float64(v.Samples)))}
}

// recordedLosses reads what PRISM's simulator found on the same model.
func recordedLosses(t *testing.T, strategy string, tile int) stats.Bernoulli {
	t.Helper()
	log, err := os.ReadFile(filepath.Join("..", "testdata", "logs", "prism", "table36", fmt.Sprintf("%s-%d.log", strategy, tile)))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^Result: ([0-9.]+) \(\+/- `).FindSubmatch(log)
	n := regexp.MustCompile(`(?m)^Sampling complete: ([0-9]+) iterations`).FindSubmatch(log)
	if m == nil || n == nil {
		t.Fatalf("no result in\n%s", log)
	}
	mean, errMean := strconv.ParseFloat(string(m[1]), 64)
	samples, errSamples := strconv.ParseInt(string(n[1]), 10, 64)
	if errMean != nil || errSamples != nil {
		t.Fatal(errMean, errSamples)
	}
	return stats.Bernoulli{N: samples, K: int64(math.Round(mean * float64(samples)))}
}

// bestTiles plays games to 2048 or to the end and returns the best tile of
// each. Play does not depend on MAX before MAX is reached, so that a game is
// lost for MAX if and only if its best tile is smaller.
func bestTiles(t *testing.T, policy modelgen.Policy, games int, seed uint64) []int {
	t.Helper()
	rules, err := game.New(game.Shape{Rows: 4, Cols: 4})
	if err != nil {
		t.Fatal(err)
	}
	best := make([]int, games)
	for i := range best {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		choose := chooser(policy, rng)
		b := rules.Start(rng)
		for b.Max() < 11 && !rules.Lost(b) {
			next, _, err := rules.Move(b, choose(rules.Legal(b)))
			if err != nil {
				t.Fatal(err)
			}
			b = rules.AddRandom(next, rng)
		}
		best[i] = game.Value(b.Max())
	}
	return best
}

func chooser(policy modelgen.Policy, rng *rand.Rand) func(game.Moves) game.Dir {
	switch policy.Kind {
	case modelgen.PreferMoves:
		return preference(policy.First).Choose
	case modelgen.AlternateMoves:
		a := &game.Alternating{Lists: [2]game.Preference{preference(policy.First), preference(policy.Second)}}
		return a.Choose
	}
	return func(legal game.Moves) game.Dir { return legal.At(rng.IntN(legal.Len())) }
}

func preference(o modelgen.Order) game.Preference {
	dirs := map[modelgen.Move]game.Dir{
		modelgen.Left: game.Left, modelgen.Right: game.Right, modelgen.Up: game.Up, modelgen.Down: game.Down,
	}
	var p game.Preference
	for i, m := range o {
		p[i] = dirs[m]
	}
	return p
}
