package automata

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
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
	transitions, err := a.transitions(1 << len(names))
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "HOA: v1\nStates: %d\nStart: 0\nAP: %d", len(transitions), len(names))
	for _, name := range names {
		fmt.Fprint(out, " ", strconv.Quote(name))
	}
	fmt.Fprint(out, "\nacc-name: Buchi\nAcceptance: 1 Inf(0)\nproperties: trans-labels explicit-labels state-acc\n--BODY--\n")
	for q, successors := range transitions {
		a.writeState(out, q, successors, len(names))
	}
	fmt.Fprintln(out, "--END--")
	return out.Flush()
}

// writeState writes a state with its successors for each letter, a set of props propositions.
func (a *Automaton) writeState(out *bufio.Writer, q int, successors [][]int, props int) {
	fmt.Fprintf(out, "State: %d", q)
	if a.Accepting(q) {
		fmt.Fprint(out, " {0}")
	}
	fmt.Fprintln(out)
	for letter, targets := range successors {
		for _, target := range targets {
			fmt.Fprintf(out, "[%s] %d\n", label(uint64(letter), props), target)
		}
	}
}

// transitions returns the successors of every reachable state for each letter, except Rejected ones.
func (a *Automaton) transitions(letters int) ([][][]int, error) {
	var all [][][]int
	for q := 0; q < a.NumStates(); q++ {
		successors := make([][]int, letters)
		for letter := range successors {
			var err error
			if successors[letter], err = a.successors(q, uint64(letter)); err != nil {
				return nil, err
			}
		}
		all = append(all, successors)
	}
	return all, nil
}

// successors returns the states that the automaton can reach from state q with one letter, except Rejected ones. It reads the
// letter in q, or in a state to which it moves from q without reading a letter (a jump).
func (a *Automaton) successors(q int, letter uint64) ([]int, error) {
	jumpTargets, err := a.Jumps(q)
	if err != nil {
		return nil, err
	}
	var targets []int
	for _, from := range append([]int{q}, jumpTargets...) {
		target, err := a.Step(from, letter)
		if err != nil {
			return nil, err
		}
		if a.Class(target) != Rejected && !slices.Contains(targets, target) {
			targets = append(targets, target)
		}
	}
	return targets, nil
}

// label returns a letter in HOA's syntax: the conjunction of a literal for each of props propositions.
func label(letter uint64, props int) string {
	if props == 0 {
		return "t"
	}
	var literals []string
	for i := range props {
		literal := strconv.Itoa(i)
		if letter>>i&1 == 0 {
			literal = "!" + literal
		}
		literals = append(literals, literal)
	}
	return strings.Join(literals, "&")
}
