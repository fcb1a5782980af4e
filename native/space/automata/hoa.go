package automata

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// maxPropsHOA limits the propositions of an automaton in this format: n propositions have 2^n letters.
const maxPropsHOA = 16

// WriteHOA writes the whole automaton in the Hanoi Omega-Automata format, version 1, as a
// nondeterministic Büchi automaton with state-based acceptance. A jump is combined with the letter
// after it. names are the propositions, at least as many as the formula has.
func (a *Automaton) WriteHOA(w io.Writer, names []string) error {
	if len(names) > maxPropsHOA {
		return ErrTooLarge
	}
	edges, err := a.transitions(1 << len(names))
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "HOA: v1\nStates: %d\nStart: 0\nAP: %d", len(edges), len(names))
	for _, n := range names {
		fmt.Fprint(out, " ", strconv.Quote(n))
	}
	fmt.Fprint(out, "\nacc-name: Buchi\nAcceptance: 1 Inf(0)\nproperties: trans-labels explicit-labels state-acc\n--BODY--\n")
	for q, successors := range edges {
		fmt.Fprintf(out, "State: %d", q)
		if a.Accepting(q) {
			fmt.Fprint(out, " {0}")
		}
		fmt.Fprintln(out)
		for letter, targets := range successors {
			for _, target := range targets {
				fmt.Fprintf(out, "[%s] %d\n", label(uint64(letter), len(names)), target)
			}
		}
	}
	fmt.Fprintln(out, "--END--")
	return out.Flush()
}

// transitions returns the successors of every state for each letter, except Rejected ones. A transition may
// begin with a jump. All reachable states are explored.
func (a *Automaton) transitions(letters int) ([][][]int, error) {
	var out [][][]int
	for q := 0; q < a.NumStates(); q++ {
		jumps, err := a.Jumps(q)
		if err != nil {
			return nil, err
		}
		successors := make([][]int, letters)
		for letter := range successors {
			for _, from := range append([]int{q}, jumps...) {
				to, err := a.Step(from, uint64(letter))
				if err != nil {
					return nil, err
				}
				if a.Class(to) != Rejected && !slices.Contains(successors[letter], to) {
					successors[letter] = append(successors[letter], to)
				}
			}
		}
		out = append(out, successors)
	}
	return out, nil
}

// label returns a letter in HOA's syntax: the conjunction of a literal for each of props propositions.
func label(letter uint64, props int) string {
	if props == 0 {
		return "t"
	}
	text := ""
	for i := range props {
		if i > 0 {
			text += "&"
		}
		if letter>>i&1 == 0 {
			text += "!"
		}
		text += strconv.Itoa(i)
	}
	return text
}
