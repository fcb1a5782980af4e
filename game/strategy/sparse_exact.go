package strategy

import "tilecheck/game"

// sparseValues computes the distributions of what sparse draws.
type sparseValues struct {
	sparse
	known map[sparseNode]*distribution
	kept  float64 // machine words of known
}

// sparseNode is a canonical board depth moves before the end, with the player to move or a tile to come.
type sparseNode struct {
	board  game.Board
	depth  int
	toMove bool
}

// Chooser returns one that keeps what it computed, up to the bound of one call.
func (sp sparse) Chooser() Chooser {
	values := &sparseValues{sparse: sp, known: map[sparseNode]*distribution{}}
	return &ranker{rules: sp.rules, ties: sp.ties, scale: sp.scale(sp.depth), rest: func(next game.Board, b *budget) (*distribution, error) {
		if values.kept > maxWords {
			clear(values.known)
			values.kept = 0
		}
		return values.of(sparseNode{next, sp.depth, false}, b)
	}}
}

// of returns the distribution of sparse.best or, where the player is not to move, of sparse.rest.
func (s *sparseValues) of(node sparseNode, b *budget) (*distribution, error) {
	node.board, _ = s.rules.Canonical(node.board)
	if d, ok := s.known[node]; ok {
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
	s.known[node] = d
	s.kept += d.words()
	return d, nil
}

// rest is sparse.rest.
func (s *sparseValues) rest(next game.Board, depth int, b *budget) (*distribution, error) {
	if depth == 1 {
		return point(0), nil
	}
	var parts []part
	for board, weight := range spawns(s.rules, next) {
		d, err := s.of(sparseNode{board, depth - 1, true}, b)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{d, weight})
	}
	one, err := mixture(parts, b)
	if err != nil {
		return nil, err
	}
	return one.sum(s.n, b)
}

// best is sparse.best.
func (s *sparseValues) best(board game.Board, depth int, b *budget) (*distribution, error) {
	legal := s.rules.Legal(board)
	if legal == 0 {
		return point(0), nil
	}
	ds := make([]*distribution, legal.Len())
	for i := range ds {
		next, score, err := s.rules.Move(board, legal.At(i))
		if err != nil {
			return nil, err
		}
		rest, err := s.of(sparseNode{next, depth, false}, b)
		if err != nil {
			return nil, err
		}
		ds[i] = rest.shifted(s.scale(depth) * int64(score))
	}
	return maximum(ds, b)
}
