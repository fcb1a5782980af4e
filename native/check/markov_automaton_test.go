package check_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/result"
)

// A server gets jobs of two kinds with rate 1 each; quick jobs take time 1/4 on average and slow ones 1/2, or half of the attempts at
// the fast mode fail at once. The repair module races in the same states, and its commands with an action need the server.
const server = `ma
module server
  s : [0..3];
  <> s=0 -> 1 : (s'=1) + 1 : (s'=2);
  [quick] s=1 -> (s'=3);
  [slow] s=2 -> (s'=3);
  [try] s=2 -> 1/2 : (s'=2) + 1/2 : (s'=0);
  <> s=3 & good -> 4 : (s'=0);
  <> s=3 & !good -> 2 : (s'=0);
endmodule
module machine
  good : bool init true;
  <> s=3 & good -> 1 : (good'=false);
  [slow] true -> true;
  [repair] !good & s=1 -> (good'=true);
endmodule
rewards "busy" s=3 : 1; endrewards
rewards "jobs" [quick] true : 1; [slow] true : 1; endrewards
rewards "breaks" [] s=3 : 5; endrewards`

// TestMarkovAutomaton has values by hand.
func TestMarkovAutomaton(t *testing.T) {
	for property, want := range map[string]string{
		`Tmin=? [ F s=3 ]`:                          "1/2",
		`Tmax=? [ F s=3 ]`:                          "1", // half of the jobs return at once
		`Pmax=? [ F s=3 ]`:                          "1",
		`Pmin=? [ F !good ]`:                        "1",
		`Pmax=? [ X X s=3 ]`:                        "1",
		`R{"busy"}min=? [ F s=0 & good ]`:           "0",
		`R{"jobs"}min=? [ F !good ]`:                "5",
		`R{"breaks"}max=? [ F !good ]`:              "25",
		`filter(max, Tmax=? [ F s=0 ], s=3 & good)`: "3/10", // 1/5 and, broken, 1/5 of 1/2
	} {
		checkStorm(t, server, property, want)
	}
	for property, want := range map[string]string{
		`Pmax=? [ G<=2 s<3 ]`:              "?this kind of bounds of a Markov automaton",
		`R{"busy"}max=? [ C<=-1 ]`:         "?time bound -1 of the C operator",
		`R{"busy"}max=? [ Cdiscount=1/2 ]`: "?this kind of bounds",
	} {
		checkStorm(t, server, property, want)
	}
	for text, want := range map[string]string{
		strings.Replace(server, "ma", "mdp", 1):                        "found a Markovian command (<>) in a model of type MDP, want it in a Markov automaton (ma)",
		strings.Replace(server, "<> s=0", "<a> s=0", 1):                `found the action "a" in a Markovian command, want <>`,
		server + "\nsystem server || machine endsystem":                "a system block of a Markov automaton is not supported",
		strings.Replace(server, "<> s=0", "[] s=0 -> true; <> s=0", 1): "some scheduler can stop the time",
	} {
		v, err := stormOrError(t, text, result.Bounded, `Smax=? [ s=0 ]`)
		if err == nil {
			err = v.Err
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, want %q", err, want)
		}
	}
}

// TestMarkovLongRun: a machine that is up for time 1/2 and then chooses a repair of time 1 or, at 10 per repair, of time 1/4.
func TestMarkovLongRun(t *testing.T) {
	const machine = `ma
module m
  s : [0..4];
  <> s=0 -> 2 : (s'=1);
  [cheap] s=1 -> (s'=2);
  [dear] s=1 -> 1/2 : (s'=3) + 1/2 : (s'=1);
  [end] s=1 -> (s'=4);
  <> s=2 -> 1 : (s'=0);
  <> s=3 -> 4 : (s'=0);
  <> s=4 -> 3 : true;
endmodule
rewards "cost" [dear] true : 5; s=2 : 3; [] s=0 : 1; endrewards
rewards "loss" s=2 : -1; endrewards`
	for property, want := range map[string]string{
		`Smax=? [ s=0 ]`:                   "2/3", // 1/2 of 3/4
		`LRAmin=? [ s=0 ]`:                 "0",
		`LRAmin=? [ s<4 ]`:                 "0",
		`Smax=? [ s=2 ]`:                   "2/3",
		`R{"cost"}max=? [ LRA ]`:           "44/3", // 1 + 10 in time 3/4
		`R{"cost"}min=? [ S ]`:             "0",
		`R{"cost"}max>=14 [ S ]`:           "true",
		`S<=2/3 [ s=0 ]`:                   "true",
		`S<2/3 [ s=0 ]`:                    "false",
		`S>=1 [ true ]`:                    "true", // the interval ends at 1, and contains it
		`S<1 [ s>=0 ]`:                     "false",
		`S>0 [ s=0 ]`:                      "false",
		`Pmax=? [ F S>=1/2 [ s=4 ] ]`:      "1",
		`filter(sum, Smax=? [ s=0 ], s<4)`: "8/3",
		`R{"loss"}max=? [ S ]`:             "?negative rewards",
	} {
		checkStorm(t, machine, property, want)
	}
}

// randomAutomaton is a Markov automaton. A state with rates is Markovian; the choices of an immediate state lead to itself, or to
// Markovian states and greater immediate ones.
type randomAutomaton struct {
	rates   []map[int]int   // of each state, by target
	choices [][]map[int]int // of each state, by target: the probability in eighths
	reward  []int           // of each state, per unit of time
	earned  []int           // of each choice number
}

// newRandomAutomaton returns an automaton with n states, of which 0 is initial.
func newRandomAutomaton(rng *rand.Rand, n, maxChoices int) *randomAutomaton {
	a := &randomAutomaton{rates: make([]map[int]int, n), choices: make([][]map[int]int, n), earned: []int{rng.IntN(3), rng.IntN(3), rng.IntN(3)}}
	for s := range n {
		a.reward = append(a.reward, rng.IntN(4))
		if s == n-1 || rng.IntN(2) == 0 {
			a.rates[s] = map[int]int{}
			for range 1 + rng.IntN(3) {
				a.rates[s][rng.IntN(n)] += 1 + rng.IntN(5)
			}
		}
	}
	for s := range n {
		for range 1 + rng.IntN(maxChoices) {
			if a.rates[s] != nil {
				break
			}
			choice := map[int]int{}
			for left := 8; left > 0; {
				part := 1 + rng.IntN(left)
				target := rng.IntN(n)
				if a.rates[target] == nil && (target < s || target == s && part > 6) {
					target = n - 1
				}
				choice[target] += part
				left -= part
			}
			if choice[s] == 8 {
				choice = map[int]int{n - 1: 8}
			}
			a.choices[s] = append(a.choices[s], choice)
		}
	}
	return a
}

// text returns the automaton in Storm's dialect; its Markovian commands are split at random, and race with commands that maximal
// progress disables.
func (a *randomAutomaton) text(rng *rand.Rand) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ma\nmodule m s:[0..%d];\n", len(a.rates)-1)
	for s := range a.rates {
		if a.rates[s] == nil {
			fmt.Fprintf(&b, "  <> s=%d -> 7:(s'=0);\n", s)
		}
		var updates []string
		for _, target := range slices.Sorted(maps.Keys(a.rates[s])) {
			updates = append(updates, fmt.Sprintf("%d:(s'=%d)", a.rates[s][target], target))
			if rng.IntN(2) == 0 {
				fmt.Fprintf(&b, "  <> s=%d -> %s;\n", s, strings.Join(updates, " + "))
				updates = nil
			}
		}
		if updates != nil {
			fmt.Fprintf(&b, "  <> s=%d -> %s;\n", s, strings.Join(updates, " + "))
		}
		for k, choice := range a.choices[s] {
			updates = nil
			for _, target := range slices.Sorted(maps.Keys(choice)) {
				updates = append(updates, fmt.Sprintf("%d/8:(s'=%d)", choice[target], target))
			}
			fmt.Fprintf(&b, "  [c%d] s=%d -> %s;\n", k, s, strings.Join(updates, " + "))
		}
	}
	b.WriteString("  [c0] false -> true; [c1] false -> true; [c2] false -> true;\nendmodule\nrewards \"r\"\n")
	for s, reward := range a.reward {
		fmt.Fprintf(&b, "  s=%d : %d;\n", s, reward)
	}
	for k, earned := range a.earned {
		fmt.Fprintf(&b, "  [c%d] true : %d;\n", k, earned)
	}
	b.WriteString("endrewards\n")
	return b.String()
}

// exitRate returns the sum of the rates of a state.
func (a *randomAutomaton) exitRate(s int) (sum float64) {
	for _, rate := range a.rates[s] {
		sum += float64(rate)
	}
	return sum
}

// schedulers calls visit with every memoryless deterministic scheduler.
func (a *randomAutomaton) schedulers(visit func(choice []int)) {
	choice := make([]int, len(a.rates))
	for {
		visit(choice)
		s := 0
		for ; s < len(choice); s++ {
			if choice[s]++; choice[s] < len(a.choices[s]) {
				break
			}
			choice[s] = 0
		}
		if s == len(choice) {
			return
		}
	}
}

// longRun returns the long-run average reward per unit of time from state 0: in each recurrent class the reward divided by the time,
// from the limit of the lazy chain.
func (a *randomAutomaton) longRun(choice []int, rewardOf func(s, c int) (perTime, once float64)) float64 {
	n := len(a.rates)
	chain, rewards, times := make([][]float64, n), make([]float64, n), make([]float64, n)
	for s := range n {
		chain[s] = make([]float64, n)
		chain[s][s] = 0.5
		perTime, once := rewardOf(s, choice[s])
		row, total := a.rates[s], a.exitRate(s)
		if row == nil {
			row, total = a.choices[s][choice[s]], 8
		} else {
			times[s] = 1 / total
		}
		rewards[s] = perTime*times[s] + once
		for target, weight := range row {
			chain[s][target] += float64(weight) / total / 2
		}
	}
	for range 60 {
		chain = squared(chain)
	}
	average := 0.0
	for s := range n {
		reward, time := 0.0, 0.0
		for t := range n {
			reward += chain[s][t] * rewards[t]
			time += chain[s][t] * times[t]
		}
		if chain[0][s] > 1e-12 {
			average += chain[0][s] * reward / time
		}
	}
	return average
}

// squared returns the square of a stochastic matrix, whose rows it normalizes.
func squared(matrix [][]float64) [][]float64 {
	n := len(matrix)
	product := make([][]float64, n)
	for i := range n {
		product[i] = make([]float64, n)
		sum := 0.0
		for j := range n {
			for k := range n {
				product[i][j] += matrix[i][k] * matrix[k][j]
			}
			sum += product[i][j]
		}
		for j := range n {
			product[i][j] /= sum
		}
	}
	return product
}

// within returns the optimal probability to reach the last state within a time, by steps that are so short that two jumps in one have
// a negligible probability. Its error is of the order of the squared rate times the time times the length of a step.
func (a *randomAutomaton) within(time float64, steps int, better func(x, y float64) bool) float64 {
	n := len(a.rates)
	values := make([]float64, n)
	values[n-1] = 1
	settle := func() {
		for s := n - 2; s >= 0; s-- {
			for k, choice := range a.choices[s] {
				sum, leaving := 0.0, 0.0
				for target, part := range choice {
					if target != s {
						sum += float64(part) * values[target]
						leaving += float64(part)
					}
				}
				if sum /= leaving; k == 0 || better(sum, values[s]) {
					values[s] = sum
				}
			}
		}
	}
	settle()
	for range steps {
		next := make([]float64, n)
		copy(next, values)
		for s := range n - 1 {
			if a.rates[s] == nil {
				continue
			}
			sum, exit := 0.0, a.exitRate(s)
			for target, rate := range a.rates[s] {
				sum += float64(rate) / exit * values[target]
			}
			stay := math.Exp(-exit * time / float64(steps))
			next[s] = stay*values[s] + (1-stay)*sum
		}
		values = next
		settle()
	}
	return values[0]
}

// TestRandomMarkovAutomata compares with all memoryless schedulers, and with short steps of time.
func TestRandomMarkovAutomata(t *testing.T) {
	less := func(x, y float64) bool { return x < y }
	greater := func(x, y float64) bool { return x > y }
	for seed := range needs.Models(t, 1000) {
		rng := rand.New(rand.NewPCG(seed, 44))
		n := 2 + rng.IntN(5)
		a := newRandomAutomaton(rng, n, 3)
		text := a.text(rng)
		low, high, rewardLow, rewardHigh := 1.0, 0.0, math.Inf(1), 0.0
		a.schedulers(func(choice []int) {
			part := a.longRun(choice, func(s, _ int) (float64, float64) {
				if s == n-1 {
					return 1, 0
				}
				return 0, 0
			})
			reward := a.longRun(choice, func(s, c int) (float64, float64) {
				if a.rates[s] != nil {
					return float64(a.reward[s]), 0
				}
				return 0, float64(a.earned[c])
			})
			low, high, rewardLow, rewardHigh = min(low, part), max(high, part), min(rewardLow, reward), max(rewardHigh, reward)
		})
		last := fmt.Sprintf("s=%d", n-1)
		for property, want := range map[string]float64{
			"Smin=? [ " + last + " ]": low,
			"Smax=? [ " + last + " ]": high,
			`R{"r"}min=? [ S ]`:       rewardLow,
			`R{"r"}max=? [ S ]`:       rewardHigh,
		} {
			exact := storm(t, text, result.Exact, property)[0]
			bounds := storm(t, text, result.Bounded, property)[0]
			if exact.Err != nil || bounds.Err != nil || exact.Value.Rat == nil {
				t.Fatalf("seed %d: %s: %v, %v\n%s", seed, property, exact.Err, bounds.Err, text)
			}
			fraction, _ := exact.Value.Rat.Float64()
			inside := bounds.Bound == nil && bounds.Value.Rat != nil && bounds.Value.Rat.Cmp(exact.Value.Rat) == 0 || bounds.Bound != nil && bounds.Bound.Lo <= fraction && fraction <= bounds.Bound.Hi && bounds.Bound.Hi-bounds.Bound.Lo <= 1e-7*bounds.Bound.Hi
			if math.Abs(fraction-want) > 1e-9*(1+want) || !inside {
				t.Fatalf("seed %d: %s: found %v and %v, want %v\n%s", seed, property, fraction, bounds.Bound, want, text)
			}
		}
		for property, better := range map[string]func(x, y float64) bool{"Pmin=? [ F<=0.3 " + last + " ]": less, "Pmax=? [ F<=0.3 " + last + " ]": greater} {
			v := storm(t, text, result.Bounded, property)[0]
			want := a.within(0.3, 3000, better)
			if v.Err != nil || v.Bound != nil && !(v.Bound.Lo <= want+0.01 && want-0.01 <= v.Bound.Hi) {
				t.Fatalf("seed %d: %s: found %v, %v, want %v\n%s", seed, property, v.Bound, v.Err, want, text)
			}
			if v.Bound == nil && math.Abs(ratFloat(v)-want) > 1e-9 {
				t.Fatalf("seed %d: %s: found %v, want %v\n%s", seed, property, v.Value, want, text)
			}
		}
	}
}

// ratFloat returns an exact value as a float64.
func ratFloat(v result.Verdict) float64 {
	if v.Value.Rat == nil {
		return math.NaN()
	}
	near, _ := v.Value.Rat.Float64()
	return near
}

// TestMarkovAutomatonInterval: the rate from s=0 to the state s=3, in which no time passes, is 2. The rate from s=1 to s=2 is 3.
func TestMarkovAutomatonInterval(t *testing.T) {
	const text = `ma module m s:[0..3]; <> s=0 -> 2:(s'=3); [a] s=3 -> (s'=1); [b] s=3 -> (s'=2); <> s=1 -> 3:(s'=2); <> s=2 -> 1:true; endmodule`
	inOne := 2 * (math.Exp(-2) - math.Exp(-3)) // with a, the probability of s=1 at time 1
	later := math.Exp(-2) * (1 - math.Exp(-2)) // s=3 is entered between the times 1 and 2
	for property, want := range map[string]float64{
		`Pmax=? [ F[1,2] s=1 ]`:         inOne + later,
		`Pmin=? [ F[1,2] s=1 ]`:         0,
		`Pmax=? [ F>=1 s=1 ]`:           inOne + math.Exp(-2),
		`Pmax=? [ F[1,1] s=1 ]`:         inOne,
		`Pmax=? [ (s=0|s=3) U>=1 s=1 ]`: math.Exp(-2),
		// Until time 1, a is better, and then b. For the minimum it is the other way round.
		`Pmax=? [ s!=2 U[1,2] s=2 ]`: inOne*(1-math.Exp(-3)) + later,
		`Pmin=? [ s!=2 U[1,2] s=2 ]`: math.Exp(-2) * (1 - 3*math.Exp(-2) + 2*math.Exp(-3)),
	} {
		v := storm(t, text, result.Bounded, property)[0]
		if v.Err != nil || v.Bound == nil || !(v.Bound.Lo <= want+1e-12 && want-1e-12 <= v.Bound.Hi && v.Bound.Hi-v.Bound.Lo < 1e-7) {
			t.Errorf("%s: found %v, %v, %v, want %v", property, v.Value, v.Bound, v.Err, want)
		}
	}
}

// TestMarkovAutomatonRewards has values by hand: the immediate state s=1 is left for s=2 after two attempts on average, or at once for the deadlock s=3.
func TestMarkovAutomatonRewards(t *testing.T) {
	const model = `ma module m s:[0..3]; <> s=0 -> 2:(s'=1); [try] s=1 -> 1/2:true + 1/2:(s'=2); [end] s=1 -> (s'=3); <> s=2 -> 3:(s'=3); endmodule
rewards "r" s=0 : 4; s=1 : 100; s=2 : 6; s=3 : 1; [try] true : 5; [end] true : 1; [] s=2 : 7; endrewards
rewards "loss" s=2 : -1; endrewards`
	const waiting = `ma module m s:[0..2]; <> s=0 -> 2:(s'=1); [wait] s=1 -> true; [go] s=1 -> (s'=2); <> s=2 -> 3:true; endmodule rewards "r" s=2 : 6; endrewards`
	in0, in2 := math.Exp(-2), 2*(math.Exp(-2)-math.Exp(-3)) // with the choice try, at time 1
	time0 := (1 - in0) / 2
	time2 := 2 * ((1-math.Exp(-2))/2 - (1-math.Exp(-3))/3)
	for property, want := range map[string]float64{
		`R{"r"}max=? [ I=1 ]`:                      4*in0 + 6*in2 + 1 - in0 - in2,
		`R{"r"}min=? [ I=1 ]`:                      4*in0 + 1 - in0,
		`R{"r"}max=? [ I=0 ]`:                      4,
		`R{"r"}max=? [ C<=1 ]`:                     4*time0 + (6+3*7)*time2 + 1 - time0 - time2 + 2*time0*10,
		`R{"r"}min=? [ C<=1 ]`:                     4*time0 + 1 - time0 + 2*time0,
		`R{"r"}min=? [ C<=0 ]`:                     0,
		`filter(max, R{"r"}max=? [ C<=0 ], s=1)`:   10,
		`filter(min, R{"r"}min=? [ C<=0 ], s=1)`:   1,
		`filter(max, R{"r"}max=? [ I=0 ], s=1)`:    6,
		`filter(max, R{"r"}max=? [ C<=1/2 ], s=3)`: 0.5,
	} {
		v := storm(t, model, result.Bounded, property)[0]
		low, high := ratFloat(v), ratFloat(v)
		if v.Bound != nil {
			low, high = v.Bound.Lo, v.Bound.Hi
		}
		if v.Err != nil || !(low <= want*(1+1e-12) && want*(1-1e-12) <= high && high-low <= 1e-7*want) {
			t.Errorf("%s: found %v, %v, %v, want %v", property, v.Value, v.Bound, v.Err, want)
		}
	}
	for property, want := range map[string]string{
		`R{"loss"}max=? [ I=1 ]`:                        "?negative rewards with the reward objective I",
		`R{"loss"}max=? [ C<=1 ]`:                       "?negative rewards with the reward objective C",
		`R{"r"}max=? [ C<=1 || F s=2 ]`:                 "?",
		`multi(R{"r"}max=? [ C<=1 ], P>=0.1 [ F s=2 ])`: "?C<=t of a Markov automaton",
	} {
		checkStorm(t, model, property, want)
	}
	checkStorm(t, waiting, `R{"r"}max=? [ I=1 ]`, "?some scheduler can stop the time")
	checkStorm(t, waiting, `R{"r"}min=? [ C<=1 ]`, "?some scheduler can stop the time")
}

// TestMarkovAutomatonWithoutChoices: without immediate states a Markov automaton is a CTMC.
func TestMarkovAutomatonWithoutChoices(t *testing.T) {
	for seed := range needs.Models(t, 1000) {
		rng := rand.New(rand.NewPCG(seed, 45))
		a := newRandomAutomaton(rng, 5, 1)
		for s := range a.rates {
			if a.rates[s] == nil {
				a.rates[s], a.choices[s] = map[int]int{rng.IntN(5): 1 + rng.IntN(5), rng.IntN(5): 2}, nil
			}
		}
		text := a.text(rng)
		chain := strings.NewReplacer("ma\n", "ctmc\n", "<>", "[]").Replace(text)
		for ours, theirs := range map[string]string{
			"Pmax=? [ F<=0.7 s=4 ]": "P=? [ F<=0.7 s=4 ]", "Pmin=? [ s!=3 U<=2 s=4 ]": "P=? [ s!=3 U<=2 s=4 ]",
			"Tmin=? [ F s=4 ]": "T=? [ F s=4 ]", `R{"r"}max=? [ F s=4 ]`: `R{"r"}=? [ F s=4 ]`,
			`R{"r"}max=? [ I=0.7 ]`: `R{"r"}=? [ I=0.7 ]`, `R{"r"}min=? [ C<=0.7 ]`: `R{"r"}=? [ C<=0.7 ]`,
			"Smax=? [ s=2 ]": "S=? [ s=2 ]", `R{"r"}max=? [ S ]`: `R{"r"}=? [ S ]`,
		} {
			found, want := storm(t, text, result.Bounded, ours)[0], storm(t, chain, result.Bounded, theirs)[0]
			if found.Err != nil || want.Err != nil {
				t.Fatalf("seed %d: %s: %v, %v\n%s", seed, ours, found.Err, want.Err, text)
			}
			if found.Bound != nil && want.Bound != nil && !(found.Bound.Lo <= want.Bound.Hi && want.Bound.Lo <= found.Bound.Hi && found.Bound.Hi-found.Bound.Lo <= 1e-7*found.Bound.Hi || math.IsInf(found.Bound.Lo, 1) && math.IsInf(want.Bound.Lo, 1)) {
				t.Fatalf("seed %d: %s: found %v, want %v\n%s", seed, ours, found.Bound, want.Bound, text)
			}
		}
	}
}
