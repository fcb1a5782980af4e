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
	return &moveRanker{rules: sp.rules, ties: sp.ties, scoreScale: sp.scale(sp.depth), restOfValue: func(next game.Board, limit *workLimit) (*distribution, error) {
		if values.cachedWords > maxWords {
			clear(values.cache)
			values.cachedWords = 0
		}
		return values.distributionOf(sparseKey{next, sp.depth, false}, limit)
	}}
}

// distributionOf returns the distribution of the value of a node of the search: of the value that sparse.best draws if the player moves, otherwise of
// the value that sparse.rest draws.
func (s *sparseDistributions) distributionOf(node sparseKey, limit *workLimit) (*distribution, error) {
	node.board, _ = s.rules.Canonical(node.board)
	if result, ok := s.cache[node]; ok {
		return result, nil
	}
	compute := s.rest
	if node.toMove {
		compute = s.best
	}
	result, err := compute(node.board, node.depth, limit)
	if err != nil {
		return nil, err
	}
	s.cache[node] = result
	s.cachedWords += result.size()
	return result, nil
}

// rest computes the distribution of the value that sparse.rest draws.
func (s *sparseDistributions) rest(next game.Board, depth int, limit *workLimit) (*distribution, error) {
	if depth == 1 {
		return constant(0), nil
	}
	var parts []mixturePart
	for board, weight := range spawns(s.rules, next) {
		part, err := s.distributionOf(sparseKey{board, depth - 1, true}, limit)
		if err != nil {
			return nil, err
		}
		parts = append(parts, mixturePart{part, weight})
	}
	ofOneTile, err := mixture(parts, limit)
	if err != nil {
		return nil, err
	}
	return ofOneTile.sum(s.tiles, limit)
}

// best computes the distribution of the value that sparse.best draws.
func (s *sparseDistributions) best(board game.Board, depth int, limit *workLimit) (*distribution, error) {
	legal := s.rules.Legal(board)
	if legal == 0 {
		return constant(0), nil
	}
	distributions := make([]*distribution, legal.Len())
	for i := range distributions {
		next, score, err := s.rules.Move(board, legal.At(i))
		if err != nil {
			return nil, err
		}
		restDistribution, err := s.distributionOf(sparseKey{next, depth, false}, limit)
		if err != nil {
			return nil, err
		}
		distributions[i] = restDistribution.shifted(s.scale(depth) * int64(score))
	}
	return maximum(distributions, limit)
}
