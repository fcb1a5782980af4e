package game

import "math/bits"

// Preference is an order of the four directions, the most wanted first. Each direction must be in it once.
//
// Source: thesis section 3.7, listed preference.
type Preference [4]Dir

// Choose returns the first direction of the list that is legal. It panics when none is.
func (p Preference) Choose(legal Moves) Dir {
	// legal in the order of the list: a loop would be mispredicted half of the time.
	legalInOrder := legal>>(p[0]&3)&1 | legal>>(p[1]&3)&1<<1 | legal>>(p[2]&3)&1<<2 | legal>>(p[3]&3)&1<<3
	if legalInOrder == 0 {
		panic("game: choice from no legal move")
	}
	return p[bits.TrailingZeros8(uint8(legalInOrder))&3]
}

// Alternating is two preference lists, one in use at a time; taking the first direction of the list in use switches to the other. It is
// the player's only memory: a new game starts with Switched false.
//
// Source: thesis section 3.7; Switched is the negation of its variable turn.
type Alternating struct {
	Lists    [2]Preference
	Switched bool // Lists[1] is in use
}

// Choose returns the first legal direction of the current list. If this is the first direction in the list, the other list becomes current. Choose
// panics if no direction is legal.
func (a *Alternating) Choose(legal Moves) Dir {
	list := &a.Lists[0]
	if a.Switched {
		list = &a.Lists[1]
	}
	dir := list.Choose(legal)
	if dir == list[0] {
		a.Switched = !a.Switched
	}
	return dir
}
