package explicit

// Numbering assigns consecutive numbers to distinct lists of 64-bit words, in the order in which the
// lists are added. All lists have the same length. It is not safe for concurrent use.
type Numbering struct{ store *store }

// NewNumbering returns an empty Numbering of lists with the given number of words.
func NewNumbering(wordsPerState int) *Numbering { return &Numbering{newStore(wordsPerState)} }

// Len returns the number of distinct lists.
func (n *Numbering) Len() int { return n.store.numStates }

// At returns list number i, which the caller must not change.
func (n *Numbering) At(i int) []uint64 { return n.store.packedState(i) }

// Add returns the number of a list and copies the list if it is new.
func (n *Numbering) Add(list []uint64) int {
	i, _ := n.store.addState(list)
	return i
}
