package strategy_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tilecheck/game"
)

func newRand(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(2048, stream)) }

// The moves of the Player are distributed as Decide says: on every reachable board of 2x2 it moves 300 times, and one chi-squared test
// is made of all boards together. A new seed fails with probability 1e-6 for each strategy.
func TestPlayersAgreeWithChoosers(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 2, Cols: 2})
	boards := reachable(rules)
	for i, spec := range []string{
		"random", "sparse:depth=1", "sparse:depth=2,n=1", "sparse:depth=2,n=3,ties=first", "sparse:depth=3,n=2",
		"mc:runs=1", "mc:runs=4,value=max", "mc:runs=4,value=max,ties=first", "mc:runs=3,value=sum",
	} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			s, rng := parse(t, rules, spec), newRand(uint64(i))
			player, chooser := s.Player(), s.Chooser()
			var test chiSquared
			for _, b := range boards {
				legal := rules.Legal(b)
				choices, err := chooser.Decide(b, legal, 0)
				if err != nil {
					t.Fatal(err)
				}
				const draws = 300
				var expected, observed [4]float64
				for _, c := range choices {
					p, _ := c.Prob.Float64()
					expected[c.Dir] = draws * p
				}
				player.Start()
				for range draws {
					d, err := player.Choose(b, legal, rng)
					if err != nil {
						t.Fatal(err)
					}
					observed[d]++
				}
				test.add(t, expected[:], observed[:])
			}
			const limit = 4.75 // a normal variable is above it with probability 1e-6
			if z := test.z(); z > limit || test.degrees < 100 {
				t.Errorf("chi squared is %.1f with %d degrees of freedom, z = %.2f, want at most %.2f", test.sum, test.degrees, z, limit)
			}
		})
	}
}

// chiSquared adds up the statistics of independent samples.
type chiSquared struct {
	sum     float64
	degrees int
}

// add counts a sample. Cells with fewer than five expected are put together, or with the largest.
func (c *chiSquared) add(t *testing.T, expected, observed []float64) {
	t.Helper()
	var rareExpected, rareObserved float64
	var e, o []float64
	for i := range expected {
		switch {
		case expected[i] == 0 && observed[i] > 0:
			t.Fatalf("move %v was made, which has probability 0", game.Dir(i))
		case expected[i] < 5:
			rareExpected, rareObserved = rareExpected+expected[i], rareObserved+observed[i]
		default:
			e, o = append(e, expected[i]), append(o, observed[i])
		}
	}
	if rareExpected >= 5 {
		e, o = append(e, rareExpected), append(o, rareObserved)
	} else {
		e[0], o[0] = e[0]+rareExpected, o[0]+rareObserved
	}
	for i := range e {
		c.sum += (o[i] - e[i]) * (o[i] - e[i]) / e[i]
	}
	c.degrees += len(e) - 1
}

// z returns the statistic as a standard normal variable.
//
// Source: Wilson and Hilferty, The distribution of chi-square, 1931.
func (c *chiSquared) z() float64 {
	v := 2 / (9 * float64(c.degrees))
	return (math.Cbrt(c.sum/float64(c.degrees)) - (1 - v)) / math.Sqrt(v)
}
