package play

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tilecheck/game"
)

// record plays and writes a record.
func record(t testing.TB, opt Options) ([]Played, string) {
	t.Helper()
	var b bytes.Buffer
	r, err := NewRecorder(&b, opt.Match, opt.Strategy.String())
	if err != nil {
		t.Fatal(err)
	}
	opt.Record = true
	all := games(t, opt)
	for i := range all {
		if err := r.Write(&all[i]); err != nil {
			t.Fatal(err)
		}
	}
	return all, b.String()
}

// What is written is read back, for matches of every kind.
func TestRecordRoundTrip(t *testing.T) {
	for _, m := range []Match{
		square(4, 11, true, 3),
		square(4, 6, false, 1<<64-1),
		square(2, 2, false, 0),
		{Shape: game.Shape{Rows: 1, Cols: 3}, PlayOn: true, Seed: 4},
	} {
		opt := Options{Match: m, Strategy: parse(t, m, "random"), Games: 25}
		want, text := record(t, opt)
		var got []Played
		h, err := ReadRecord(strings.NewReader(text), "r", func(p *Played) error {
			got = append(got, *p)
			return nil
		})
		if err != nil {
			t.Errorf("%v: %v", m, err)
			continue
		}
		if h.Match != m || h.Strategy != "random" || !h.Seeded {
			t.Errorf("header %+v, want %+v", h, m)
		}
		if !slices.EqualFunc(got, want, func(a, b Played) bool {
			return a.same(b.Game) && a.Transcript.Start == b.Transcript.Start && slices.Equal(a.Transcript.Steps, b.Transcript.Steps)
		}) {
			t.Errorf("%v: other games are read than were written", m)
		}
	}
}

// head begins a record on 2x2 whose tiles come from nowhere.
const head = "tilecheck record 1\nstrategy pref:left,up,down,right\nboard 2x2\nmax 8\nwin stop\nseed none\n"

// A game by hand: 2 2 / . . moves left to 4 . and a 4 comes to cell 1; 4 4 / . . moves left to 8 and wins.
const byHand = "game 5\nstart 0:2 1:2\nL1+ L\nend score 12 moves 2 tiles 3 largest 8 won 2\n"

func TestReadRecordByHand(t *testing.T) {
	var got Played
	_, err := ReadRecord(strings.NewReader(head+"\n# by hand\n"+byHand), "r", func(p *Played) error {
		got = *p
		return nil
	})
	want := Game{Index: 5, Score: 12, Moves: 2, Spawns: 3, Max: 3, Won: true, WinMoves: 2}
	if err != nil || got.Game != want {
		t.Errorf("%+v, %v, want %+v", got.Game, err, want)
	}
}

func TestReadRecordErrors(t *testing.T) {
	swap := func(old, replacement string) string {
		if !strings.Contains(head+byHand, old) {
			t.Fatalf("%q is not in the record", old)
		}
		return strings.Replace(head+byHand, old, replacement, 1)
	}
	for _, test := range []struct{ text, want string }{
		{"", `r:1:1: found "", want "tilecheck record 1"`},
		{"tilecheck record 2\n", `r:1:1: found "tilecheck record 2"`},
		{"tilecheck record 1\nstrategy x", `r:2:11: the file ends here, want board`},
		{swap("board 2x2", "bored 2x2"), `r:3:1: found "bored 2x2", want board and its value`},
		{swap("board 2x2", "board 2x2x"), `r:3:7: found "2x2x", want rows x columns`},
		{swap("board 2x2", "board 9x9"), `r:3:7: `},
		{swap("max 8", "max 9"), `r:4:5: found "9", want a power of two`},
		{swap("max 8", "max 2"), `r:6:1: `},
		{swap("win stop", "win  draw"), `r:5:6: found "draw", want stop or play on`},
		{swap("seed none", "seed -1"), `r:6:6: found "-1", want a number or none`},
		{swap("game 5", "game five"), `r:7:6: found "five", want the number of the game`},
		{swap("game 5", "play 5"), `r:7:1: found "play 5", want game and its number`},
		{swap("start 0:2 1:2", "L1"), `r:8:1: found "L1", want start and two tiles`},
		{swap("0:2 1:2", "0:2 16:2"), `r:8:11: found "16:2", want the number of a cell`},
		{swap("0:2 1:2", "0:2 9:2"), `r:8:1: start: tile 2 in cell 9`},
		{swap("0:2 1:2", "0:2 1:8"), `r:8:1: start: tile 8 in cell 1, want a 2 or a 4`},
		{swap("0:2 1:2", "0:2 1:3"), `r:8:11: found "3", want a power of two`},
		{swap("0:2 1:2", "0:2"), `r:8:1: start: 1 tiles, want 2`},
		{swap("L1+ L", "X1+ L"), `r:9:1: found "X1+", want a move such as L3 or U12+, or end`},
		{swap("L1+ L", "L1+ Lx"), `r:9:5: found "Lx", want the number of a cell after "L"`},
		{swap("L1+ L", "L1+ U"), `r:9:5: up is not legal, want one of left,right,down`},
		{swap("L1+ L", "L0+ L"), `r:9:1: the new tile is in cell 0, where 4 is, want an empty cell`},
		{swap("L1+ L", "L7+ L"), `r:9:1: the new tile is in cell 7, want 0 to 3`},
		{swap("L1+ L", "L L"), `r:9:1: no new tile, want one`},
		{swap("L1+ L", "L1+ L1"), `r:9:5: the move wins the game, want no new tile after it`},
		{swap("L1+ L", "L1+ L U2"), `r:9:7: the game ended before it`},
		{swap("L1+ L", "L1+"), `r:10:1: the record ends here, want a game that is over: left,right,down is legal`},
		{swap("score 12", "score 16"), `r:10:11: found "16", but the moves come to "end score 12`},
		{swap(" won 2", ""), `r:10:39: the line ends here, but the moves come to`},
		{swap("won 2", "won 2 overflow"), `r:10:46: found "overflow", but`},
		{strings.TrimSuffix(swap("end score", "# end score"), "\n"), `r:10:`},
		{swap("seed none", "seed 1"), `r:8:1: the board is not the one that the seed gives`},
	} {
		_, err := ReadRecord(strings.NewReader(test.text), "r", func(*Played) error { return nil })
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("found %v, want %s", err, test.want)
		}
	}
	stop := errors.New("stop")
	if _, err := ReadRecord(strings.NewReader(head+byHand), "r", func(*Played) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v, want the error of the function", err)
	}
}

// A legal tile that is not the one of the seed is found.
func TestReadRecordKnowsTheSeed(t *testing.T) {
	m := square(4, 11, true, 8)
	_, text := record(t, Options{Match: m, Strategy: parse(t, m, "opposite"), Games: 1})
	lines := strings.Split(text, "\n")
	// Make the first new tile a 4 if it is a 2, and the other way round.
	first, rest, _ := strings.Cut(lines[9], " ")
	if bare, four := strings.CutSuffix(first, "+"); four {
		first = bare
	} else {
		first += "+"
	}
	lines[9] = first + " " + rest
	_, err := ReadRecord(strings.NewReader(strings.Join(lines, "\n")), "r", func(*Played) error { return nil })
	if err == nil || !strings.HasPrefix(err.Error(), "r:10:1: the new tile is not the one that the seed gives") {
		t.Errorf("%v, want that the first tile is not of the seed", err)
	}
}

// Whatever the text, there is an error with a place in it, or games that obey the rules.
func FuzzReadRecord(f *testing.F) {
	f.Add(head + byHand)
	m := square(3, 5, false, 2)
	_, text := record(f, Options{Match: m, Strategy: parse(f, m, "random"), Games: 2})
	f.Add(text)
	f.Add("tilecheck record 1\nstrategy\n")
	f.Fuzz(func(t *testing.T, text string) {
		var all []Played
		h, err := ReadRecord(strings.NewReader(text), "r", func(p *Played) error {
			all = append(all, *p)
			return nil
		})
		if err != nil {
			if e, ok := errors.AsType[*ReadError](err); !ok || e.Line < 1 || e.Col < 1 || e.Line > strings.Count(text, "\n")+2 {
				t.Fatalf("%v: no place in the text", err)
			}
			return
		}
		for _, p := range all {
			if _, err := h.Match.Replay(p.Transcript, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestReplayShowsFrames(t *testing.T) {
	m := square(2, 3, false, 0)
	start, err := m.Shape.Parse("2 2 / . .")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	g, err := m.Replay(&Transcript{Start: start, Steps: []Step{{game.Left, 1, 2}, {Dir: game.Left}}}, func(f Frame) {
		shown = append(shown, fmt.Sprintf("%d %v %d %q", f.Moves, f.Dir, f.Score, m.Shape.FormatWide(f.Board)))
	})
	want := []string{`0 left 0 "2 2\n. .\n"`, `1 left 4 "4 4\n. .\n"`, `2 left 12 "8 .\n. .\n"`}
	if err != nil || !slices.Equal(shown, want) || g.Score != 12 || g.Max != 3 {
		t.Errorf("%+v %q, %v, want %q", g, shown, err, want)
	}
	_, err = m.Replay(&Transcript{Start: start, Steps: []Step{{game.Up, 1, 2}}}, nil)
	if e, ok := errors.AsType[*StepError](err); !ok || e.Step != 1 {
		t.Errorf("%v, want an error at move 1", err)
	}
}
