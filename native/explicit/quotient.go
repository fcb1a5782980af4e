package explicit

import "tilecheck/native/explicit/sparse"

// Quotient returns a space of some of the states: of each block of a partition one, with
// the choices, transitions and rewards of the blocks instead of its own. m is an exact
// model. What is evaluated in a state is so in the one that stands for its block.
// Rewards has those of some structures of the program, by index.
func (s *Space) Quotient(states []uint32, m *sparse.Model, rewards map[int]*sparse.Reward) *Space {
	out := &Space{
		compiled: s.compiled, codec: s.codec, store: newStore(s.codec.words), model: m,
		overlaps: s.overlaps, fallback: s.fallback, differ: s.differ, imported: s.imported,
		blocks: &blocks{rewards},
	}
	for _, i := range states {
		out.store.add(s.store.at(int(i)))
	}
	return out
}

// blocks is what a Space knows that is a quotient.
type blocks struct{ rewards map[int]*sparse.Reward }
