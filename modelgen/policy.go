package modelgen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Move is a direction to slide the tiles to.
type Move uint8

// The moves, in the order of the commands in the model and of the numbers that the random policy draws.
const (
	Left Move = iota
	Up
	Right
	Down
	numMoves = 4
)

// moveNames returns the names of the moves, in the order of the constants.
func moveNames() []string { return []string{"left", "up", "right", "down"} }

// String returns the action of the move: "left", "up", "right" or "down".
func (m Move) String() string { return nameOf(moveNames(), int(m), "Move") }

// vertical reports whether the move slides along columns.
func (m Move) vertical() bool { return m == Up || m == Down }

// canMove returns the name of the formula that says whether the move is legal.
func (m Move) canMove() string { return "can_" + m.String() }

// allMoves returns the moves in the order of the constants.
func allMoves() []Move { return []Move{Left, Up, Right, Down} }

// Order is a preference list: every move once, the most wanted first.
type Order [numMoves]Move

// String returns the moves separated by commas.
func (o Order) String() string {
	names := make([]string, len(o))
	for i, move := range o {
		names[i] = move.String()
	}
	return strings.Join(names, ",")
}

// PolicyKind is the kind of a Policy.
type PolicyKind uint8

// The kinds of policy.
const (
	// NoPolicy leaves the moves to the scheduler.
	NoPolicy PolicyKind = iota
	// RandomMoves takes each legal move with the same probability.
	RandomMoves
	// PreferMoves takes the first legal move of First.
	PreferMoves
	// AlternateMoves takes the first legal move of First, until that is the first of the list, then of Second, until that is the first of
	// the list, then of First again.
	AlternateMoves
)

// Policy says how the policy manager, the model's second module, chooses among the legal moves.
// With the zero value there is no such module and a scheduler chooses. Policies are comparable;
// lists that the kind does not use are zero.
//
// Source: thesis section 3.7.
type Policy struct {
	Kind          PolicyKind
	First, Second Order
}

// NamedPolicy is a policy under the name that the thesis gives it.
type NamedPolicy struct {
	Name   string
	Policy Policy
}

// ThesisPolicies returns the policies of the thesis's experiment, in the order of the columns of Table 3.6.
//
// Source: thesis section 3.8.1.
func ThesisPolicies() []NamedPolicy {
	opposite := Order{Up, Down, Left, Right}
	orthogonal := Order{Left, Up, Down, Right}
	return []NamedPolicy{
		{"random", Policy{Kind: RandomMoves}},
		{"opposite", Policy{Kind: PreferMoves, First: opposite}},
		{"orthogonal", Policy{Kind: PreferMoves, First: orthogonal}},
		{"alternating", Policy{Kind: AlternateMoves, First: Order{Up, Left, Down, Right}, Second: orthogonal}},
	}
}

// ParsePolicy parses the text of a policy: "none", "random", "pref:" and an order, "alt:" and two orders separated by a slash, or the name of a
// policy of the thesis. An order names every move once, separated by commas. The error is a *FieldError.
func ParsePolicy(text string) (Policy, error) {
	if text == "none" {
		return Policy{}, nil
	}
	for _, named := range ThesisPolicies() {
		if text == named.Name {
			return named.Policy, nil
		}
	}
	kind, lists, _ := strings.Cut(text, ":")
	switch kind {
	case "pref":
		first, err := parseOrder(lists)
		return Policy{Kind: PreferMoves, First: first}.orZero(err)
	case "alt":
		return parseAlternating(text, lists)
	}
	return Policy{}, &FieldError{"policy", strconv.Quote(text), "none, random, opposite, orthogonal, alternating, " +
		"pref:left,up,down,right (in any order) or alt: with two such lists separated by a slash"}
}

// parseAlternating parses two orders separated by a slash. text is the whole policy, for the error.
func parseAlternating(text, lists string) (Policy, error) {
	firstText, secondText, ok := strings.Cut(lists, "/")
	if !ok {
		return Policy{}, &FieldError{"policy", strconv.Quote(text), "two lists separated by a slash after alt:"}
	}
	first, err := parseOrder(firstText)
	if err != nil {
		return Policy{}, err
	}
	second, err := parseOrder(secondText)
	return Policy{Kind: AlternateMoves, First: first, Second: second}.orZero(err)
}

// orZero returns the policy, or the zero policy if there is an error.
func (p Policy) orZero(err error) (Policy, error) {
	if err != nil {
		return Policy{}, err
	}
	return p, nil
}

// parseOrder parses a preference list. It returns an error if a move is missing: if only this move were legal, the game would neither continue nor end.
func parseOrder(text string) (Order, error) {
	var order Order
	fieldError := func(found string) (Order, error) {
		return Order{}, &FieldError{"policy", found, "each of left, up, right, down once, separated by commas"}
	}
	words := strings.Split(text, ",")
	var moves []Move
	for _, word := range words {
		number := slices.Index(moveNames(), word)
		if number < 0 {
			return fieldError(fmt.Sprintf("a list with the move %q", word))
		}
		if slices.Contains(moves, Move(number)) {
			return fieldError(fmt.Sprintf("a list with %s twice", word))
		}
		moves = append(moves, Move(number))
	}
	for _, move := range allMoves() {
		if !slices.Contains(moves, move) {
			return fieldError("a list without " + move.String())
		}
	}
	copy(order[:], moves)
	return order, nil
}

// String returns a text that ParsePolicy parses: "none", "random", "pref:left,up,down,right" and so on.
func (p Policy) String() string {
	switch p.Kind {
	case NoPolicy:
		return "none"
	case RandomMoves:
		return "random"
	case PreferMoves:
		return "pref:" + p.First.String()
	case AlternateMoves:
		return "alt:" + p.First.String() + "/" + p.Second.String()
	}
	return fmt.Sprintf("PolicyKind(%d)", p.Kind)
}

// validate returns an error for a policy that ParsePolicy cannot return.
func (p Policy) validate() error {
	parsed, err := ParsePolicy(p.String())
	if err == nil && parsed != p {
		err = &FieldError{"policy", p.String(), "no list where the kind of policy has none"}
	}
	return err
}
