package strategy

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"tilecheck/game"
)

// random makes each legal move with the same probability.
type random struct{}

func parseRandom(spec, args string, _ Setting) (Strategy, error) {
	return random{}, newOptions(spec, args).done()
}

func (random) String() string      { return "random" }
func (random) Deterministic() bool { return false }
func (random) Memory() int         { return 1 }
func (r random) Player() Player    { return r }
func (r random) Chooser() Chooser  { return r }
func (random) Start()              {}

func (random) Choose(_ game.Board, legal game.Moves, rng *rand.Rand) (game.Dir, error) {
	return legal.At(rng.IntN(legal.Len())), nil
}

func (random) Decide(_ game.Board, legal game.Moves, _ int) ([]Choice, error) {
	var out []Choice
	for i := range legal.Len() {
		out = append(out, Choice{Dir: legal.At(i), Prob: big.NewRat(1, int64(legal.Len()))})
	}
	return out, nil
}

// preference makes the first legal move of a list.
type preference game.Preference

func parsePreference(spec, args string, _ Setting) (Strategy, error) {
	list, err := parseOrder(spec, args)
	return preference(list), err
}

func (p preference) String() string    { return "pref:" + orderText(game.Preference(p)) }
func (preference) Deterministic() bool { return true }
func (preference) Memory() int         { return 1 }
func (p preference) Player() Player    { return deterministicPlayer(p.choose) }
func (p preference) Chooser() Chooser  { return deterministicPlayer(p.choose) }

func (p preference) choose(_ game.Board, legal game.Moves) (game.Dir, error) {
	return game.Preference(p).Choose(legal), nil
}

// alternating switches between two lists. Its memory is 1 while it uses the second list.
type alternating [2]game.Preference

// parseAlternating parses two lists of directions, separated by a slash.
func parseAlternating(spec, args string, _ Setting) (Strategy, error) {
	first, second, ok := strings.Cut(args, "/")
	if !ok {
		return nil, &SpecError{spec, "one list", "two lists separated by a slash"}
	}
	firstList, err := parseOrder(spec, first)
	if err != nil {
		return nil, err
	}
	secondList, err := parseOrder(spec, second)
	return alternating{firstList, secondList}, err
}

func (a alternating) String() string {
	return "alt:" + orderText(a[0]) + "/" + orderText(a[1])
}
func (alternating) Deterministic() bool { return true }
func (alternating) Memory() int         { return 2 }
func (a alternating) Player() Player    { return &alternator{game.Alternating{Lists: a}} }
func (a alternating) Chooser() Chooser  { return a }

// Decide returns the move from the list that the memory selects. The memory is 1 while the second list is in use.
func (a alternating) Decide(_ game.Board, legal game.Moves, memory int) ([]Choice, error) {
	lists := game.Alternating{Lists: a, Switched: memory == 1}
	dir := lists.Choose(legal)
	newMemory := 0
	if lists.Switched {
		newMemory = 1
	}
	return singleChoice(dir, newMemory), nil
}

type alternator struct{ lists game.Alternating }

func (a *alternator) Start() { a.lists.Switched = false }

func (a *alternator) Choose(_ game.Board, legal game.Moves, _ *rand.Rand) (game.Dir, error) {
	return a.lists.Choose(legal), nil
}

// parseOrder parses the four directions, each once, separated by commas.
func parseOrder(spec, text string) (game.Preference, error) {
	const want = "each of left, up, right, down once, separated by commas"
	var list []game.Dir
	for word := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(directions(), func(dir game.Dir) bool { return dir.String() == word })
		if i < 0 || slices.Contains(list, game.Dir(i)) {
			return game.Preference{}, &SpecError{spec, fmt.Sprintf("found %q in the list %q", word, text), want}
		}
		list = append(list, game.Dir(i))
	}
	if len(list) != len(game.Preference{}) {
		return game.Preference{}, &SpecError{spec, fmt.Sprintf("the list %q has %d moves", text, len(list)), want}
	}
	return game.Preference(list), nil
}

func orderText(p game.Preference) string {
	names := make([]string, len(p))
	for i, d := range p {
		names[i] = d.String()
	}
	return strings.Join(names, ",")
}

// directions returns all directions in the order of game.Dir.
func directions() []game.Dir { return []game.Dir{game.Left, game.Right, game.Up, game.Down} }
