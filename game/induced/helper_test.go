package induced_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"tilecheck/game"
	"tilecheck/game/induced"
	"tilecheck/game/strategy"
)

// setting is a small game.
type setting struct{ rows, cols, exp int }

func (s setting) String() string { return fmt.Sprintf("%dx%d-%d", s.rows, s.cols, 1<<s.exp) }

func (s setting) options(t testing.TB) induced.Options {
	t.Helper()
	rules, err := game.New(game.Shape{Rows: s.rows, Cols: s.cols})
	if err != nil {
		t.Fatal(err)
	}
	return induced.Options{Rules: rules, Max: s.exp}
}

func parse(t testing.TB, spec string, opt induced.Options) strategy.Strategy {
	t.Helper()
	s, err := strategy.Parse(spec, strategy.Setting{Rules: opt.Rules, Max: opt.Max})
	if err != nil {
		t.Fatal(err)
	}
	if err := strategy.Prepare(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// remembered is a strategy that is asked once about each board: tests look at the same boards several times, and searching takes most of
// their time. Its choosers share what they know, so only one goroutine may have any.
type remembered struct {
	strategy.Strategy
	chooser strategy.Chooser
	choices map[induced.State][]strategy.Choice
	moves   *sync.Map // of players, from boards to moves: they are not those of the choosers
}

func remember(s strategy.Strategy) remembered {
	return remembered{s, s.Chooser(), map[induced.State][]strategy.Choice{}, new(sync.Map)}
}

func (r remembered) Chooser() strategy.Chooser { return r }

func (r remembered) Decide(b game.Board, legal game.Moves, memory int) ([]strategy.Choice, error) {
	key := induced.State{Board: b, Memory: memory}
	if choices, known := r.choices[key]; known {
		return choices, nil
	}
	choices, err := r.chooser.Decide(b, legal, memory)
	r.choices[key] = choices
	return choices, err
}

func (r remembered) Player() strategy.Player {
	if !r.Deterministic() || r.Memory() > 1 {
		return r.Strategy.Player()
	}
	return rememberingPlayer{r.Strategy.Player(), r.moves}
}

type rememberingPlayer struct {
	strategy.Player
	moves *sync.Map
}

func (p rememberingPlayer) Choose(b game.Board, legal game.Moves, rng *rand.Rand) (game.Dir, error) {
	if d, known := p.moves.Load(b); known {
		return d.(game.Dir), nil
	}
	d, err := p.Player.Choose(b, legal, rng)
	if err == nil {
		p.moves.Store(b, d)
	}
	return d, err
}

// specs returns a strategy of every family and some with other options.
func specs() []string {
	var all []string
	for _, e := range strategy.List() {
		if strings.HasPrefix(e.Example, "exec:") || strings.HasPrefix(e.Example, "ntuple:") {
			continue // a program, or a file
		}
		all = append(all, e.Example)
	}
	more := []string{
		"pref:down,right,up,left", "alt:left,down,right,up/right,up,left,down",
		"sparse:depth=2,n=2", "sparse:depth=1,n=1,ties=first", "mc:runs=2,value=sum", "mc:runs=3,value=max,ties=first",
		"expectimax:eval=snake,depth=2", "expectimax:eval=diagonal,depth=3", "expectimax:eval=cs221,depth=variable", "expectimax:eval=modern,depth=3",
		"optimal:objective=score", "optimal:objective=moves",
	}
	for _, spec := range more {
		if !slices.Contains(all, spec) {
			all = append(all, spec)
		}
	}
	return all
}

// listed returns the strategies of tilecheck strategies on a board, and two that are as different from the other ones, each once.
func listed(t testing.TB, g setting) []string {
	t.Helper()
	var all []string
	for _, e := range strategy.List() {
		if strings.HasPrefix(e.Example, "exec:") || strings.HasPrefix(e.Example, "ntuple:") {
			continue // a program, or a file
		}
		all = append(all, e.Example)
	}
	all = append(all, "expectimax:eval=diagonal,depth=2", "expectimax:eval=cs221,depth=variable", "mc:runs=5,value=sum", "sparse:depth=2,n=2")
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(spec string) bool {
		same := parse(t, spec, g.options(t)).String()
		twice := seen[same]
		seen[same] = true
		return twice
	})
}

// slow is the game once more, on boards as lists of values, with nothing but game.Slide: the oracle of the chain.
type slow struct {
	shape game.Shape
	max   int
	p2    *big.Rat
	known map[string]values
}

// values are the probability of winning, the expected score and the expected number of moves.
type values [3]*big.Rat

func newSlow(opt induced.Options) *slow {
	p2 := opt.P2
	if p2 == nil {
		p2 = big.NewRat(9, 10)
	}
	return &slow{shape: opt.Rules.Shape(), max: 1 << opt.Max, p2: p2, known: map[string]values{}}
}

// move slides a board; legal is false when that changes nothing.
func (s *slow) move(board []int, d game.Dir) (after []int, score int, legal bool) {
	after = make([]int, len(board))
	lines, length, step, stride := s.shape.Rows, s.shape.Cols, 1, s.shape.Cols
	if d == game.Up || d == game.Down {
		lines, length, step, stride = s.shape.Cols, s.shape.Rows, s.shape.Cols, 1
	}
	for i := range lines {
		var cells, tiles []int
		for j := range length {
			cells = append(cells, i*stride+j*step)
		}
		if d == game.Right || d == game.Down {
			slices.Reverse(cells)
		}
		for _, c := range cells {
			tiles = append(tiles, board[c])
		}
		out, gained := game.Slide(tiles)
		score += gained
		for j, c := range cells {
			after[c] = out[j]
		}
	}
	return after, score, !slices.Equal(after, board)
}

// spawned is the mean of a value over the new tile.
func (s *slow) spawned(board []int, value func([]int) values) values {
	sum := values{new(big.Rat), new(big.Rat), new(big.Rat)}
	empty := int64(0)
	for _, v := range board {
		if v == 0 {
			empty++
		}
	}
	p4 := new(big.Rat).Sub(big.NewRat(1, 1), s.p2)
	for i, v := range board {
		for tile, p := range map[int]*big.Rat{2: s.p2, 4: p4} {
			if v != 0 || p.Sign() == 0 {
				continue
			}
			next := slices.Clone(board)
			next[i] = tile
			for k, x := range value(next) {
				share := new(big.Rat).Mul(p, big.NewRat(1, empty))
				sum[k].Add(sum[k], share.Mul(share, x))
			}
		}
	}
	return sum
}

// start is the value of the game.
func (s *slow) start(value func([]int) values) values {
	return s.spawned(make([]int, s.shape.Cells()), func(first []int) values {
		if slices.Contains(first, s.max) {
			return value(first)
		}
		return s.spawned(first, value)
	})
}

// end returns the values of a game that is over, and the legal moves of one that is not.
func (s *slow) end(board []int) (v values, legal []game.Dir) {
	v = values{new(big.Rat), new(big.Rat), new(big.Rat)}
	if slices.Contains(board, s.max) {
		v[0].SetInt64(1)
		return v, nil
	}
	for _, d := range []game.Dir{game.Left, game.Right, game.Up, game.Down} {
		if _, _, ok := s.move(board, d); ok {
			legal = append(legal, d)
		}
	}
	return v, legal
}

// played is the values of a board for a strategy.
func (s *slow) played(t testing.TB, c strategy.Chooser, board []int, memory int) values {
	key := fmt.Sprint(board, memory)
	if v, known := s.known[key]; known {
		return v
	}
	v, dirs := s.end(board)
	if dirs == nil {
		return v
	}
	packed, err := s.shape.Board(board)
	if err != nil {
		t.Fatal(err)
	}
	legal := game.Moves(0)
	for _, d := range dirs {
		legal |= 1 << d
	}
	choices, err := c.Decide(packed, legal, memory)
	if err != nil {
		t.Fatal(err)
	}
	for _, choice := range choices {
		after, score, _ := s.move(board, choice.Dir)
		next := func(b []int) values { return s.played(t, c, b, choice.Memory) }
		var sub values
		if slices.Contains(after, s.max) {
			sub = next(after)
		} else {
			sub = s.spawned(after, next)
		}
		sub[1] = new(big.Rat).Add(sub[1], big.NewRat(int64(score), 1))
		sub[2] = new(big.Rat).Add(sub[2], big.NewRat(1, 1))
		for k := range v {
			v[k].Add(v[k], new(big.Rat).Mul(choice.Prob, sub[k]))
		}
	}
	s.known[key] = v
	return v
}

// optimal is the greatest probability of winning from a board.
func (s *slow) optimal(board []int) values {
	key := fmt.Sprint(board)
	if v, known := s.known[key]; known {
		return v
	}
	v, dirs := s.end(board)
	for _, d := range dirs {
		after, _, _ := s.move(board, d)
		sub := values{big.NewRat(1, 1)}
		if !slices.Contains(after, s.max) {
			sub = s.spawned(after, s.optimal)
		}
		if sub[0].Cmp(v[0]) > 0 {
			v[0] = sub[0]
		}
	}
	s.known[key] = v
	return v
}

func nameOf(spec string) string { return strings.NewReplacer("/", "|", ":", "_").Replace(spec) }
