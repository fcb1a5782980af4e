package automata_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"tilecheck/native/space/automata"
)

// buchi is an automaton read from the format: the successors by state and
// letter.
type buchi struct {
	accepting map[int]bool
	edges     map[place][]int // pos is the letter
}

// readHOA reads what WriteHOA writes.
func readHOA(t *testing.T, text string) buchi {
	t.Helper()
	b := buchi{map[int]bool{}, map[place][]int{}}
	q := 0
	_, body, _ := strings.Cut(text, "--BODY--\n")
	for line := range strings.Lines(body) {
		switch {
		case strings.HasPrefix(line, "State:"):
			if _, err := fmt.Sscanf(line, "State: %d", &q); err != nil {
				t.Fatal(err)
			}
			b.accepting[q] = strings.Contains(line, "{0}")
		case line[0] == '[':
			label, target, _ := strings.Cut(line[1:], "] ")
			letter, to := 0, 0
			for i, part := range strings.Split(label, "&") {
				if part[0] != '!' {
					letter |= 1 << i
				}
			}
			if _, err := fmt.Sscan(target, &to); err != nil {
				t.Fatal(err)
			}
			key := place{letter, q}
			b.edges[key] = append(b.edges[key], to)
		}
	}
	return b
}

// accepts looks for a reachable cycle through an accepting state.
func (b buchi) accepts(w lasso) bool {
	reach := func(from []place) map[place]bool {
		seen := map[place]bool{}
		for len(from) > 0 {
			p := from[len(from)-1]
			from = from[:len(from)-1]
			for _, q := range b.edges[place{int(w.letters[p.pos]), p.state}] {
				if next := (place{w.next(p.pos), q}); !seen[next] {
					seen[next] = true
					from = append(from, next)
				}
			}
		}
		return seen
	}
	for p := range reach([]place{{0, 0}}) {
		if b.accepting[p.state] && reach([]place{p})[p] {
			return true
		}
	}
	return false
}

// TestHOA reads automata back and checks them as Büchi automata.
func TestHOA(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		f := randomFormula(r, 3)
		a, err := automata.New(f, automata.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := a.WriteHOA(&text, []string{"a", "b", "c"}); err != nil {
			t.Fatal(err)
		}
		if a.NumStates() > 60 {
			continue
		}
		b := readHOA(t, text.String())
		for range 10 {
			w := randomLasso(r)
			if want := w.truth(f)[0]; b.accepts(w) != want {
				t.Fatalf("%v: %v, want %v\n%s", f, w, want, text.String())
			}
		}
	}
}

func ExampleAutomaton_WriteHOA() {
	a, err := automata.New(finally(globally(automata.Atom(0))), automata.Limits{})
	if err == nil {
		err = a.WriteHOA(os.Stdout, []string{"safe"})
	}
	fmt.Println(err)
	// Output:
	// HOA: v1
	// States: 3
	// Start: 0
	// AP: 1 "safe"
	// acc-name: Buchi
	// Acceptance: 1 Inf(0)
	// properties: trans-labels explicit-labels state-acc
	// --BODY--
	// State: 0
	// [!0] 0
	// [0] 0
	// [0] 1
	// State: 1 {0}
	// [0] 1
	// State: 2
	// --END--
	// <nil>
}
