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

// WriteHOA writes the automaton in the Hanoi Omega-Automata format, version 1. It is a nondeterministic Büchi
// automaton with state-based acceptance. A jump and the next letter become one transition. names has the names of
// all propositions.
func (automaton *Automaton) WriteHOA(output io.Writer, names []string) error {
	if len(names) > maxPropsHOA {
		return ErrTooLarge
	}
	transitions, err := automaton.transitions(1 << len(names))
	if err != nil {
		return err
	}
	out := bufio.NewWriter(output)
	fmt.Fprintf(out, "HOA: v1\nStates: %d\nStart: 0\nAP: %d", len(transitions), len(names))
	for _, name := range names {
		fmt.Fprint(out, " ", strconv.Quote(name))
	}
	fmt.Fprint(out, "\nacc-name: Buchi\nAcceptance: 1 Inf(0)\nproperties: trans-labels explicit-labels state-acc\n--BODY--\n")
	for number, successors := range transitions {
		automaton.writeState(out, number, successors, len(names))
	}
	fmt.Fprintln(out, "--END--")
	return out.Flush()
}

// writeState writes a state in the HOA format, with the mark {0} if it is accepting, and its transitions. successors has the successors of the state for
// each letter.
func (automaton *Automaton) writeState(out *bufio.Writer, number int, successors [][]int, numProps int) {
	fmt.Fprintf(out, "State: %d", number)
	if automaton.Accepting(number) {
		fmt.Fprint(out, " {0}")
	}
	fmt.Fprintln(out)
	for letter, targets := range successors {
		for _, target := range targets {
			fmt.Fprintf(out, "[%s] %d\n", letterLabel(uint64(letter), numProps), target)
		}
	}
}

// transitions returns the successors of every reachable state, by state and by letter. It omits successors that are Rejected.
func (automaton *Automaton) transitions(numLetters int) ([][][]int, error) {
	var allTransitions [][][]int
	for number := 0; number < automaton.NumStates(); number++ {
		successors := make([][]int, numLetters)
		for letter := range successors {
			var err error
			if successors[letter], err = automaton.successors(number, uint64(letter)); err != nil {
				return nil, err
			}
		}
		allTransitions = append(allTransitions, successors)
	}
	return allTransitions, nil
}

// successors returns the successors of a state for a letter. The automaton can read the letter in the state, or jump first and then read
// it. It omits successors that are Rejected.
func (automaton *Automaton) successors(number int, letter uint64) ([]int, error) {
	jumpTargets, err := automaton.Jumps(number)
	if err != nil {
		return nil, err
	}
	var targets []int
	for _, start := range append([]int{number}, jumpTargets...) {
		target, err := automaton.Step(start, letter)
		if err != nil {
			return nil, err
		}
		if automaton.Class(target) != Rejected && !slices.Contains(targets, target) {
			targets = append(targets, target)
		}
	}
	return targets, nil
}

// letterLabel returns the label of a transition in HOA's syntax that stands for one letter: a conjunction with a literal for each proposition, such as 0&!1,
// or t without propositions.
func letterLabel(letter uint64, numProps int) string {
	if numProps == 0 {
		return "t"
	}
	var literals []string
	for i := range numProps {
		literal := strconv.Itoa(i)
		if letter>>i&1 == 0 {
			literal = "!" + literal
		}
		literals = append(literals, literal)
	}
	return strings.Join(literals, "&")
}
