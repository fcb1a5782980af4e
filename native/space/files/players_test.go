package files_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
)

// game is a .tra file with a state of each player, and state 2 without a line.
const game = "# Transitions (SMG)\n3:2 3 4\n0:1 0 1 0.5 a\n0:1 0 2 0.5 a\n0:1 1 0 1\n1:0 0 0 1 b\n"

// randomGame writes a game in which each state belongs to the player that the variable who says.
func randomGame(rng *rand.Rand) string {
	players := 2 + rng.IntN(2)
	var b strings.Builder
	fmt.Fprintf(&b, "smg\nglobal who : [0..%d];\nglobal x : [-1..3];\n", players-1)
	for p := range players {
		fmt.Fprintf(&b, "player p%d m%[1]d endplayer\nmodule m%[1]d\n", p)
		for range 1 + rng.IntN(3) {
			fmt.Fprintf(&b, "  [] who=%d & x<%d -> 1/%d:(who'=%d)&(x'=min(3,x+1)) + 1-1/%[3]d:(x'=%[5]d);\n", p, rng.IntN(5), 2+rng.IntN(7), rng.IntN(players), rng.IntN(5)-1)
		}
		b.WriteString("endmodule\n")
	}
	b.WriteString("label \"high\" = x>1;\nrewards \"r\" x=1 : 1/3; endrewards\n")
	return b.String()
}

// TestGameRoundTrip: a game that is written and read has the same states, players, choices and rewards, as .tra, .pexp and .umb.
func TestGameRoundTrip(t *testing.T) {
	games := 0
	for seed := range uint64(needs.Some(100)) {
		text := randomGame(rand.New(rand.NewPCG(seed, 43)))
		for _, exact := range []bool{false, true} {
			space, err := buildText(t.Context(), "game.prism", []byte(text), nil, explicit.Options{Exact: exact})
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			games++
			checkGameRoundTrip(t, space, exact)
			if t.Failed() {
				t.Fatalf("seed %d, exact %v:\n%s", seed, exact, text)
			}
		}
	}
	if games == 0 {
		t.Error("no game could be built")
	}
}

// checkGameRoundTrip writes a game in each format, reads it, and writes it again.
func checkGameRoundTrip(t *testing.T, space *explicit.Space, exact bool) {
	t.Helper()
	opts, read := files.Options{Precision: files.MaxPrecision, Fractions: exact, Zeros: true}, files.ReadOptions{Exact: exact}
	first := writeGame(t, space, opts)
	for _, format := range []struct {
		name  string
		read  func(name string) (*explicit.Space, error)
		names bool // the file has the names of the players
	}{
		{"tra", func(string) (*explicit.Space, error) { return files.Read(t.Context(), sources(first), read) }, false},
		{"pexp", func(name string) (*explicit.Space, error) {
			return files.ReadCombinedFile(t.Context(), files.Source{Name: name, Text: []byte(first[name])}, read)
		}, false},
		{"umb", func(name string) (*explicit.Space, error) {
			return files.ReadUMB(t.Context(), files.Source{Name: name, Text: []byte(first[name])}, read)
		}, true},
	} {
		again, err := format.read("out." + format.name)
		if err != nil {
			t.Errorf("%s: %v", format.name, err)
			return
		}
		if got, want := again.Model().Player, ownersInOrder(space); !slices.Equal(got, want) {
			t.Errorf("%s: the players of the states are %v, want %v", format.name, got, want)
		}
		if names := again.Program().Model().Players(); format.names && !slices.Equal(names, space.Program().Model().Players()) {
			t.Errorf("%s: the players are %v", format.name, names)
		}
		compareTexts(t, writeGame(t, again, opts), map[string]string{"out.tra": first["out.tra"], "out.sta": first["out.sta"], "out.lab": first["out.lab"], "out.srew": first["out.srew"]}, "")
	}
}

// ownersInOrder returns the players of the states in the order of the files.
func ownersInOrder(space *explicit.Space) []uint16 {
	var players []uint16
	for _, state := range space.Order() {
		players = append(players, space.Model().Player[state])
	}
	return players
}

// writeGame writes the formats of games.
func writeGame(t *testing.T, space *explicit.Space, opts files.Options) map[string]string {
	t.Helper()
	w, err := files.NewWriter(space, opts)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for name, write := range map[string]func(context.Context, io.Writer) error{
		"out.tra": w.Transitions, "out.sta": w.States, "out.lab": w.Labels, "out.pexp": w.Combined, "out.umb": w.UMB,
		"out.srew": func(ctx context.Context, out io.Writer) error { return w.StateRewards(ctx, out, 0) },
		"out.trew": func(ctx context.Context, out io.Writer) error { return w.TransitionRewards(ctx, out, 0) },
	} {
		var b bytes.Buffer
		if err := write(t.Context(), &b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		texts[name] = b.String()
	}
	return texts
}

// TestReadGame: the file says that it is a game by its header, or by the colon in its totals. A state without a line belongs to the first player.
func TestReadGame(t *testing.T) {
	_, withoutHeader, _ := strings.Cut(game, "\n")
	for _, text := range []string{game, withoutHeader} {
		space, err := files.Read(t.Context(), files.Sources{Transitions: files.Source{Name: "m.tra", Text: []byte(text)}}, files.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := space.Model().Player; !slices.Equal(got, []uint16{1, 0, 0}) {
			t.Errorf("players of the states: %v", got)
		}
		if got := space.Program().Model().Players(); !slices.Equal(got, []string{"player1", "player2"}) {
			t.Errorf("players: %v", got)
		}
	}
}

// TestGameErrors: what is wrong with the players of a .tra file is an error at its place.
func TestGameErrors(t *testing.T) {
	for _, x := range []struct{ old, with, want string }{
		{"3:2 3 4", "3 3 4", `m.tra:2:1: found "3", wanted a colon and a player behind the number, such as 0:1, in a game`},
		{"3:2 3 4", "3:0 3 4", `m.tra:2:3: found 0 players, wanted 1 to 65535`},
		{"3:2 3 4", "3:x 3 4", `m.tra:2:3: found "x", wanted a number of players: a whole number from 0 up`},
		{"3:2 3 4", "3:70000 3 4", `m.tra:2:3: found 70000 players, wanted 1 to 65535`},
		{"3:2 3 4", "3:2 4", `m.tra:2:1: found "3:2 4", wanted the number of states and the number of choices and the number of transitions: the model is of type SMG`},
		{"0:1 1 0", "0 1 0", `m.tra:5:1: found "0", wanted a colon and a player`},
		{"0:1 1 0", "0:2 1 0", `m.tra:5:3: found player 2, wanted one below 2`},
		{"0:1 1 0", "0:0 1 0", `m.tra:5:3: found player 0 of state 0, wanted 1 as before`},
		{"0:1 1 0", "5:1 1 0", `m.tra:5:1: found state 5, wanted one below 3`},
		{"(SMG)", "(MDP)", `m.tra:2:1: found "3:2", wanted a number of states`},
	} {
		text := strings.Replace(game, x.old, x.with, 1)
		_, err := files.Read(t.Context(), files.Sources{Transitions: files.Source{Name: "m.tra", Text: []byte(text)}}, files.ReadOptions{})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: error %v, want %s", x.with, err, x.want)
		}
	}
}
