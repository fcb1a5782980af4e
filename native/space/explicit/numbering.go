package explicit

// Numbering numbers lists of words, all as long, in the order in which they come first.
// It is not safe for concurrent use.
type Numbering struct{ store *store }

// NewNumbering returns one for lists of so many words.
func NewNumbering(words int) *Numbering { return &Numbering{newStore(words)} }

// Len is how many lists there are.
func (n *Numbering) Len() int { return n.store.n }

// At returns the list with a number. It must not be changed.
func (n *Numbering) At(i int) []uint64 { return n.store.at(i) }

// Add returns the number of a list, which is copied if it is new.
func (n *Numbering) Add(list []uint64) int {
	i, _ := n.store.add(list)
	return i
}
