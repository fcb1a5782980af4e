package attack

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// timedAutomaton is a probabilistic timed automaton with closed constraints, which do not compare clocks. Its optima are those of clocks that
// advance by half a unit: corner points are whole numbers (Kwiatkowska, Norman, Parker and Sproston 2006).
type timedAutomaton struct {
	clocks     int
	invariants [][]int // by location and clock: the greatest value; unbounded if there is none
	edges      [][]edge
	rates      vector // the reward of a unit of time in each location
	sets       map[string][]bool
}

const unbounded = -1

// edge is a command of a location.
type edge struct {
	lower, upper []int // by clock; unbounded for no upper bound
	row          []branch
	resets       [][]bool // by branch and clock
	reward       *big.Rat
}

// timedAutomaton returns a random automaton. When an invariant ends, a command is enabled, and a branch resets the clocks of the next invariant.
func (r maker) timedAutomaton() *timedAutomaton {
	n := 3 + r.IntN(2)
	a := &timedAutomaton{clocks: pick(r, 1, 1, 2), edges: make([][]edge, n), sets: map[string][]bool{"a": r.set(n), "b": r.set(n)}}
	for range n {
		limits := make([]int, a.clocks)
		for x := range limits {
			limits[x] = pick(r, unbounded, r.IntN(4))
		}
		a.invariants, a.rates = append(a.invariants, limits), append(a.rates, r.amount())
	}
	for s := range n {
		for range r.IntN(3) {
			e := r.edge(a, n)
			for x := range a.clocks {
				if e.lower[x] = r.IntN(4) * r.IntN(2); r.one(3) {
					e.upper[x] = e.lower[x] + r.IntN(3)
				}
			}
			a.edges[s] = append(a.edges[s], e)
		}
		if slices.Max(a.invariants[s]) > unbounded {
			a.edges[s] = append(a.edges[s], r.edge(a, n))
		}
	}
	return a
}

// edge returns a command without a guard.
func (r maker) edge(a *timedAutomaton, n int) edge {
	e := edge{lower: make([]int, a.clocks), upper: make([]int, a.clocks), row: r.distribution(n), reward: r.amount()}
	for x := range e.upper {
		e.upper[x] = unbounded
	}
	for _, b := range e.row {
		resets := make([]bool, a.clocks)
		for x := range resets {
			resets[x] = a.invariants[b.target][x] != unbounded || r.one(3)
		}
		e.resets = append(e.resets, resets)
	}
	return e
}

// text writes the automaton in PRISM's language.
func (a *timedAutomaton) text() string {
	var b, moves, times strings.Builder
	fmt.Fprintf(&b, "pta\nmodule m\n l : [0..%d];\n", len(a.edges)-1)
	var invariants []string
	for x := range a.clocks {
		fmt.Fprintf(&b, " x%d : clock;\n", x)
		for s := range a.edges {
			if limit := a.invariants[s][x]; limit != unbounded {
				invariants = append(invariants, fmt.Sprintf("(l=%d => x%d<=%d)", s, x, limit))
			}
		}
	}
	if invariants != nil {
		fmt.Fprintf(&b, " invariant %s endinvariant\n", strings.Join(invariants, " & "))
	}
	for s, edges := range a.edges {
		fmt.Fprintf(&times, " l=%d : %s;\n", s, number(a.rates[s]))
		for i, e := range edges {
			guard := fmt.Sprintf("l=%d", s)
			for x := range a.clocks {
				if e.lower[x] > 0 {
					guard += fmt.Sprintf(" & x%d>=%d", x, e.lower[x])
				}
				if e.upper[x] != unbounded {
					guard += fmt.Sprintf(" & x%d<=%d", x, e.upper[x])
				}
			}
			var updates []string
			for k, b := range e.row {
				update := fmt.Sprintf("%s:(l'=%d)", number(b.weight), b.target)
				for x, reset := range e.resets[k] {
					if reset {
						update += fmt.Sprintf("&(x%d'=0)", x)
					}
				}
				updates = append(updates, update)
			}
			fmt.Fprintf(&b, " [c%d] %s -> %s;\n", i, guard, strings.Join(updates, " + "))
			fmt.Fprintf(&moves, " [c%d] l=%d : %s;\n", i, s, number(e.reward))
		}
	}
	fmt.Fprintf(&b, "endmodule\nrewards \"time\"\n%sendrewards\nrewards \"moves\"\n%sendrewards\n", times.String(), moves.String())
	locations := &system{width: 1}
	for _, name := range []string{"a", "b"} {
		fmt.Fprintf(&b, "label %q = %s;\n", name, strings.ReplaceAll(locations.members(a.sets[name]), "x=", "l="))
	}
	return b.String()
}

// configuration is a location with the clocks in half units, and the time since the beginning.
type configuration struct{ location, first, second, time int }

// explored is the MDP of an automaton.
type explored struct {
	*system
	configurations []configuration
	limit          int
}

// explore returns the MDP in which time advances by half units, up to a limit. Rewards are of time or of moves.
func (a *timedAutomaton) explore(limit int, ofTime bool) *explored {
	const greatest = 2*6 + 1 // more than twice every constant of a constraint
	e := &explored{system: &system{kind: "mdp"}, configurations: []configuration{{}}, limit: 2 * limit}
	index := map[configuration]int{{}: 0}
	find := func(c configuration) int {
		c.first, c.second, c.time = min(c.first, greatest), min(c.second, greatest), min(c.time, e.limit+1)
		if a.clocks == 1 {
			c.second = 0
		}
		s, ok := index[c]
		if !ok {
			s = len(e.configurations)
			index[c], e.configurations = s, append(e.configurations, c)
		}
		return s
	}
	for s := 0; s < len(e.configurations); s++ {
		c := e.configurations[s]
		var choices []choice
		if later := (configuration{c.location, c.first + 1, c.second + 1, c.time + 1}); a.allows(a.invariants[c.location], later) {
			reward := new(big.Rat)
			if ofTime {
				reward = quo(a.rates[c.location], big.NewRat(2, 1))
			}
			choices = append(choices, choice{vertices: [][]branch{{{find(later), one(), ""}}}, reward: reward})
		}
		for _, edge := range a.edges[c.location] {
			if !a.allows(edge.upper, c) || !a.reaches(edge.lower, c) {
				continue
			}
			var row []branch
			for k, b := range edge.row {
				next := configuration{b.target, c.first, c.second, c.time}
				if edge.resets[k][0] {
					next.first = 0
				}
				if a.clocks > 1 && edge.resets[k][1] {
					next.second = 0
				}
				row = append(row, branch{find(next), b.weight, ""})
			}
			reward := edge.reward
			if ofTime {
				reward = new(big.Rat)
			}
			choices = append(choices, choice{vertices: [][]branch{row}, reward: reward})
		}
		e.choices, e.reward, e.owner = append(e.choices, choices), append(e.reward, new(big.Rat)), append(e.owner, 0)
	}
	return e
}

// allows reports whether the clocks are within upper bounds, and reaches whether they are within lower ones.
func (a *timedAutomaton) allows(upper []int, c configuration) bool {
	return (upper[0] == unbounded || c.first <= 2*upper[0]) && (a.clocks == 1 || upper[1] == unbounded || c.second <= 2*upper[1])
}

func (a *timedAutomaton) reaches(lower []int, c configuration) bool {
	return c.first >= 2*lower[0] && (a.clocks == 1 || c.second >= 2*lower[1])
}

// in returns the states in a set of locations.
func (e *explored) in(locations []bool) []bool {
	var set []bool
	for _, c := range e.configurations {
		set = append(set, locations[c.location])
	}
	return set
}

// timedInstance returns a timed automaton with questions.
func (r maker) timedInstance() *instance {
	a := r.timedAutomaton()
	i := &instance{kind: "pta", file: "m.prism", text: a.text(), only: []string{"default", "exact", "certify", "changed certificates", "reduce", "epsilon 1e-05", "epsilon 1e-10", "zones", "regions"}}
	for range 4 {
		isMax := r.one(2)
		path, operator, x := "F \"a\"", "P", new(big.Rat)
		switch kind := r.IntN(5); {
		case kind == 0 && a.clocks == 1:
			limit := r.IntN(5)
			path = fmt.Sprintf("F<=%d \"a\"", limit)
			e := a.explore(limit, false)
			target := e.in(a.sets["a"])
			for s, c := range e.configurations {
				target[s] = target[s] && c.time <= e.limit
			}
			x = e.optimalReach(all(isMax), target)[0]
		case kind == 1:
			path = `"b" U "a"`
			e := a.explore(0, false)
			left, right := e.in(a.sets["b"]), e.in(a.sets["a"])
			for s := range e.choices {
				if !left[s] && !right[s] {
					e.choices[s] = []choice{{vertices: [][]branch{{{s, one(), ""}}}, reward: new(big.Rat)}}
				}
			}
			x = e.optimalReach(all(isMax), right)[0]
		case kind >= 3:
			name := pick(r, "time", "moves")
			operator = fmt.Sprintf("R{%q}", name)
			e := a.explore(0, name == "time")
			x = e.optimalReward(isMax, e.in(a.sets["a"]))[0]
		default:
			e := a.explore(0, false)
			x = e.optimalReach(all(isMax), e.in(a.sets["a"]))[0]
		}
		i.questions = append(i.questions, r.optimumQuestion(isMax, operator+"%s [ "+path+" ]", x))
	}
	return i
}
