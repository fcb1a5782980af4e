package automata_test

import (
	"fmt"

	"tilecheck/native/space/automata"
)

// Reading letters, and guessing.
func Example() {
	request, grant := automata.Atom(0), automata.Atom(1)
	f := automata.Unary(automata.Globally, automata.Binary(automata.Implies, request, automata.Unary(automata.Finally, grant)))
	a, err := automata.New(f, automata.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	q := a.Initial()
	for _, letter := range []uint64{0b00, 0b01, 0b00, 0b10} {
		q, err = a.Step(q, letter)
		fmt.Println(q, a.Class(q) == automata.Open, err)
	}
	jumps, err := a.Jumps(q) // grants without end, or no request any more
	fmt.Println(len(jumps), err)
	// Output:
	// 0 true <nil>
	// 1 true <nil>
	// 1 true <nil>
	// 0 true <nil>
	// 2 <nil>
}
