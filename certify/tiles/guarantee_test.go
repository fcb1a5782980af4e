package tiles_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tilecheck/certify/tiles"
	"tilecheck/game"
	"tilecheck/game/guarantee"
)

// guaranteed decides by exhaustive recursion, without symmetries, whether a tile is guaranteed.
func guaranteed(t *testing.T, shape game.Shape, maxExp int) bool {
	t.Helper()
	rules, err := game.New(shape)
	if err != nil {
		t.Fatal(err)
	}
	known := map[game.Board]bool{}
	var wins func(b game.Board) bool
	spawned := func(after game.Board, all func(b game.Board) bool) bool {
		for i := range rules.NumEmptyCells(after) {
			for exp := 1; exp <= 2; exp++ {
				if !all(rules.Spawn(after, i, exp)) {
					return false
				}
			}
		}
		return true
	}
	wins = func(b game.Board) bool {
		if b.AtLeast(maxExp) {
			return true
		}
		if answer, found := known[b]; found {
			return answer
		}
		answer := false
		legal := rules.Legal(b)
		for i := range legal.Len() {
			after, _, err := rules.Move(b, legal.At(i))
			if err != nil {
				t.Fatal(err)
			}
			answer = answer || after.AtLeast(maxExp) || spawned(after, wins)
		}
		known[b] = answer
		return answer
	}
	return spawned(0, func(first game.Board) bool { return first.AtLeast(maxExp) || spawned(first, wins) })
}

// certificateOf searches a tile and returns the certificate of the answer.
func certificateOf(t *testing.T, shape game.Shape, maxExp int) (found *guarantee.Found, text []byte) {
	t.Helper()
	rules, err := game.New(shape)
	if err != nil {
		t.Fatal(err)
	}
	found, err = guarantee.Search(t.Context(), guarantee.Options{Rules: rules, Max: maxExp})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := found.WriteCertificate(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return found, out.Bytes()
}

// TestGuarantee: the search finds what exhaustive recursion finds, and its certificates are accepted.
func TestGuarantee(t *testing.T) {
	for _, shape := range []game.Shape{{Rows: 1, Cols: 2}, {Rows: 1, Cols: 5}, {Rows: 2, Cols: 2}, {Rows: 2, Cols: 3}, {Rows: 3, Cols: 2}} {
		for maxExp := 2; maxExp <= 6; maxExp++ {
			found, text := certificateOf(t, shape, maxExp)
			want := guaranteed(t, shape, maxExp)
			if found.Guaranteed != want {
				t.Errorf("%s to %d: guaranteed is %v, want %v", shape, 1<<maxExp, found.Guaranteed, want)
			}
			checked, err := tiles.CheckGuarantee(t.Context(), bytes.NewReader(text))
			if err != nil {
				t.Fatalf("%s to %d: %v\n%s", shape, 1<<maxExp, err, text)
			}
			if checked.Rows != shape.Rows || checked.Cols != shape.Cols || checked.Max != 1<<maxExp || checked.Guaranteed != want {
				t.Errorf("%s to %d: the certificate says %+v, want %v", shape, 1<<maxExp, *checked, want)
			}
		}
	}
}

// TestLargestTiles: the largest guaranteed tile of boards, and the refutation of the next one, both with certificates.
func TestLargestTiles(t *testing.T) {
	for _, x := range []struct {
		shape  game.Shape
		maxExp int
		want   bool
	}{
		{game.Shape{Rows: 2, Cols: 4}, 5, true},
		{game.Shape{Rows: 2, Cols: 4}, 6, false},
		{game.Shape{Rows: 3, Cols: 3}, 5, true},
		{game.Shape{Rows: 3, Cols: 3}, 6, false},
	} {
		found, text := certificateOf(t, x.shape, x.maxExp)
		checked, err := tiles.CheckGuarantee(t.Context(), bytes.NewReader(text))
		if err != nil || found.Guaranteed != x.want || checked.Guaranteed != x.want {
			t.Errorf("%s to %d: guaranteed is %v, want %v; the certificate: %v", x.shape, 1<<x.maxExp, found.Guaranteed, x.want, err)
		}
	}
}

// sign replaces the last line by the right checksum.
func sign(lines []string) []byte {
	if n := len(lines); n > 0 && strings.HasPrefix(lines[n-1], "sha256 ") {
		lines = lines[:n-1]
	}
	body := strings.Join(lines, "\n") + "\n"
	return fmt.Appendf([]byte(body), "sha256 %x\n", sha256.Sum256([]byte(body)))
}

// mutate changes a line or two: a byte, a place, a copy, a loss, the game or the side.
func mutate(rng *rand.Rand, lines []string, header [][]string) []string {
	lines = slices.Clone(lines)
	i, j := rng.IntN(len(lines)), rng.IntN(len(lines))
	switch rng.IntN(6) {
	case 0:
		if b := []byte(lines[i]); len(b) > 0 {
			b[rng.IntN(len(b))] = "0123456789abcdefLRUD- "[rng.IntN(22)]
			lines[i] = string(b)
		}
	case 1:
		lines = slices.Delete(lines, i, i+1)
	case 2:
		lines = slices.Insert(lines, i, lines[j])
	case 3:
		lines[i], lines[j] = lines[j], lines[i]
	case 4: // a number
		at := strings.LastIndexByte(lines[i], ' ') + 1
		if v, err := strconv.ParseUint(lines[i][at:], 10, 64); err == nil && at > 0 {
			lines[i] = lines[i][:at] + strconv.FormatUint(v+uint64(rng.IntN(4))-2, 10)
		}
	case 5: // another game
		which := rng.IntN(len(header))
		if 1+which < len(lines) {
			lines[1+which] = header[which][rng.IntN(len(header[which]))]
		}
	}
	if len(lines) < 4 {
		return []string{"", "", "", ""}
	}
	return lines
}

// fixCount sets the number of boards, so that a change of the boards is not rejected because of it.
func fixCount(lines []string) []string {
	boards := 0
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "boards "):
			lines[i] = fmt.Sprintf("boards %d", boards)
		case !strings.Contains(line, " "):
			boards++
		}
	}
	return lines
}

// TestGuaranteeMutations: a changed certificate is rejected, or what it claims is true: of 3,000 random changes, 2,000 of them with the right checksum
// and number of boards.
func TestGuaranteeMutations(t *testing.T) {
	var all [][]byte
	for _, x := range []struct {
		shape  game.Shape
		maxExp int
	}{{game.Shape{Rows: 2, Cols: 2}, 3}, {game.Shape{Rows: 2, Cols: 2}, 4}, {game.Shape{Rows: 2, Cols: 3}, 4}, {game.Shape{Rows: 2, Cols: 3}, 5}} {
		_, text := certificateOf(t, x.shape, x.maxExp)
		all = append(all, text)
	}
	truth := map[tiles.Guarantee]bool{}
	rng := rand.New(rand.NewPCG(43, 1))
	rejected := 0
	for i := range 3000 {
		lines := strings.Split(strings.TrimSuffix(string(all[rng.IntN(len(all))]), "\n"), "\n")
		before := strings.Join(lines, "\n")
		for range 1 + rng.IntN(2) {
			lines = mutate(rng, lines, [][]string{{"board 2x2", "board 2x3", "board 3x2"}, {"max 4", "max 8", "max 16", "max 32"}, {"side player", "side spawner"}})
		}
		if i%3 > 0 {
			lines = fixCount(lines)
		}
		text := []byte(strings.Join(lines, "\n") + "\n")
		changed := strings.Join(lines, "\n") != before
		if i%3 > 0 {
			text = sign(lines)
		}
		c, err := tiles.CheckGuarantee(t.Context(), bytes.NewReader(text))
		if err != nil {
			rejected++
			continue
		}
		if changed && i%3 == 0 {
			t.Fatalf("change %d is accepted although the checksum is another:\n%s", i, text)
		}
		key := tiles.Guarantee{Rows: c.Rows, Cols: c.Cols, Max: c.Max}
		want, known := truth[key]
		if !known {
			want = guaranteed(t, game.Shape{Rows: c.Rows, Cols: c.Cols}, bits.TrailingZeros(uint(c.Max)))
			truth[key] = want
		}
		if c.Guaranteed != want {
			t.Errorf("change %d is accepted and false: %+v\n%s", i, *c, text)
		}
	}
	if rejected < 1000 || rejected > 2990 {
		t.Errorf("%d of 3000 changes are rejected, want a test that sees both", rejected)
	}
}

// TestGuaranteeLosses: no board of a player's certificate can be left out.
func TestGuaranteeLosses(t *testing.T) {
	_, text := certificateOf(t, game.Shape{Rows: 2, Cols: 3}, 4)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := 4; i < len(lines)-2; i++ {
		if strings.Contains(lines[i], " ") || len(lines[i+1]) < len(lines[i]) { // the next board would get other digits
			continue
		}
		fewer := fixCount(slices.Delete(slices.Clone(lines), i, i+1))
		if c, err := tiles.CheckGuarantee(t.Context(), bytes.NewReader(sign(fewer))); err == nil {
			t.Errorf("accepted without line %d, %q: %+v", i+1, lines[i], *c)
		}
	}
}

// TestGuaranteeErrors: texts that are no certificates, and the end of the context.
func TestGuaranteeErrors(t *testing.T) {
	_, text := certificateOf(t, game.Shape{Rows: 2, Cols: 2}, 3)
	for _, x := range []struct{ from, to, want string }{
		{"guarantee 1", "guarantee 2", "line 4: found "},
		{"board 2x2", "board 4x5", "line 4: board 4x5"},
		{"max 8", "max 12", "line 4: tile 12"},
		{"side player", "side both", `line 4: side "both"`},
		{"sum 4", "sum four", `sum "four"`},
	} {
		changed := strings.Replace(string(text), x.from, x.to, 1)
		_, err := tiles.CheckGuarantee(t.Context(), strings.NewReader(changed))
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: error %v, want %s", x.to, err, x.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	long := strings.Repeat("sum 4\n", 5000)
	if _, err := tiles.CheckGuarantee(ctx, strings.NewReader(string(text[:strings.Index(string(text), "sum ")])+"sum 9000\n"+long)); err == nil {
		t.Error("no error")
	}
	rules, err := game.New(game.Shape{Rows: 3, Cols: 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := guarantee.Search(ctx, guarantee.Options{Rules: rules, Max: 5}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled search: %v", err)
	}
	var limit *guarantee.LimitError
	if _, err := guarantee.Search(t.Context(), guarantee.Options{Rules: rules, Max: 5, Memory: 3600}); !errors.As(err, &limit) {
		t.Errorf("limited search: %v", err)
	}
}
