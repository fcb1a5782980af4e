package strategy

import "tilecheck/game"

// sparseDistributions computes the exact distributions of the values that sparse draws.
type sparseDistributions struct {
	sparse
	cache       map[sparseKey]*distribution
	cachedWords float64 // machine words of cache
}

// sparseKey is a canonical board depth moves before the end, either with the player to move or before a new tile.
type sparseKey struct {
	board  game.Board
	depth  int
	toMove bool
}

// Chooser returns a Chooser with a cache of distributions, which is cleared when it exceeds maxWords.
func (sp sparse) Chooser() Chooser {
	values := &sparseDistributions{sparse: sp, cache: map[sparseKey]*distribution{}}
	return &moveRanker{rules: sp.rules, ties: sp.ties, scoreScale: sp.scale(sp.depth), restOfValue: func(next game.Board, b *workLimit) (*distribution, error) {
		if values.cachedWords > maxWords {
			clear(values.cache)
			values.cachedWords = 0
		}
		return values.distributionOf(sparseKey{next, sp.depth, false}, b)
	}}
}

// distributionOf returns the distribution of sparse.best if the player is to move, otherwise of sparse.rest.
func (s *sparseDistributions) distributionOf(node sparseKey, b *workLimit) (*distribution, error) {
	node.board, _ = s.rules.Canonical(node.board)
	if d, ok := s.cache[node]; ok {
		return d, nil
	}
	compute := s.rest
	if node.toMove {
		compute = s.best
	}
	d, err := compute(node.board, node.depth, b)
	if err != nil {
		return nil, err
	}
	s.cache[node] = d
	s.cachedWords += d.size()
	return d, nil
}

// rest computes the distribution of sparse.rest.
func (s *sparseDistributions) rest(next game.Board, depth int, b *workLimit) (*distribution, error) {
	if depth == 1 {
		return constant(0), nil
	}
	var parts []mixturePart
	for board, weight := range spawns(s.rules, next) {
		d, err := s.distributionOf(sparseKey{board, depth - 1, true}, b)
		if err != nil {
			return nil, err
		}
		parts = append(parts, mixturePart{d, weight})
	}
	one, err := mixture(parts, b)
	if err != nil {
		return nil, err
	}
	return one.sum(s.tiles, b)
}

// best computes the distribution of sparse.best.
func (s *sparseDistributions) best(board game.Board, depth int, b *workLimit) (*distribution, error) {
	legal := s.rules.Legal(board)
	if legal == 0 {
		return constant(0), nil
	}
	ds := make([]*distribution, legal.Len())
	for i := range ds {
		next, score, err := s.rules.Move(board, legal.At(i))
		if err != nil {
			return nil, err
		}
		rest, err := s.distributionOf(sparseKey{next, depth, false}, b)
		if err != nil {
			return nil, err
		}
		ds[i] = rest.shifted(s.scale(depth) * int64(score))
	}
	return maximum(ds, b)
}
