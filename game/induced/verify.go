package induced

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// CheckedBound is what a valid certificate proves.
type CheckedBound struct {
	Rows, Cols int
	Canonical  bool   // whether entries are about the images of their boards too
	Max        int    // the tile that wins
	Strategy   string // what the certificate was made from; nothing depends on it
	Entries    int
	Bound      Fixed // no more than the greatest probability of winning from the random start
}

// CheckCertificate reads a certificate and checks it. It trusts no other part of the program: the rules of the game are written down again
// here, in the plainest way. The error has the line of what is wrong, or is that of r or ctx.
//
// A certificate is valid when no entry's value is more than that of its move: over all empty cells, the mean of 9/10 of the value of the
// board with a 2 there and 1/10 of that with a 4. A board with the winning tile is worth 1 and one without an entry 0. With canonical
// boards an entry is about the images of its board too; with raw ones no symmetry is used. Values rest on boards with larger sums. So by induction none is more than the best player's probability of winning
// from there, and neither is the bound, the mean over the first two tiles. The checksum is against accidents.
func CheckCertificate(ctx context.Context, r io.Reader) (*CheckedBound, error) {
	k := &checker{in: bufio.NewScanner(r), hash: sha256.New(), values: map[int]map[cells]uint64{}, sum: 1 << 30}
	if err := k.check(ctx); err != nil {
		return nil, fmt.Errorf("line %d: %w", k.line, err)
	}
	return &k.CheckedBound, nil
}

// cells are the exponents of a board's tiles, row by row.
type cells [16]byte

type checker struct {
	CheckedBound
	in     *bufio.Scanner // of lines of at most bufio.MaxScanTokenSize, 64 kB
	line   int            // being read, from 1
	hash   hash.Hash
	exp    byte                     // of the winning tile
	moves  map[string][][]int       // the cells of each line, from the wall on
	images [][]int                  // for each symmetry where each cell comes from; none when boards are raw
	values map[int]map[cells]uint64 // of the entries, by the sum of the tiles and the least image of those in images
	sum    int                      // of the tiles of the last entry
}

func (k *checker) check(ctx context.Context) error {
	if err := k.header(); err != nil {
		return err
	}
	for {
		text, err := k.next()
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if number, ended := strings.CutPrefix(text, "bound "); ended {
			return k.end(number)
		}
		if err := k.entry(text); err != nil {
			return fmt.Errorf("%.60q: %w", text, err)
		}
	}
}

// next returns the next line and adds it to the checksum.
func (k *checker) next() (string, error) {
	k.line++
	if !k.in.Scan() {
		if err := k.in.Err(); errors.Is(err, bufio.ErrTooLong) {
			return "", fmt.Errorf("it is longer than %d kB", bufio.MaxScanTokenSize>>10)
		}
		return "", cmp.Or(k.in.Err(), io.ErrUnexpectedEOF)
	}
	text := k.in.Text()
	io.WriteString(k.hash, text+"\n")
	return text, nil
}

// header reads the first lines and lists the moves of the board, and its symmetries unless boards are raw.
func (k *checker) header() error {
	const format = "tilecheck certificate 2 board %dx%d boards %s max %d scale 1000000000000000 strategy %q"
	var lines []string
	for range 6 {
		text, err := k.next()
		if err != nil {
			return err
		}
		lines = append(lines, text)
	}
	boards := ""
	_, err := fmt.Sscanf(strings.Join(lines, " "), format, &k.Rows, &k.Cols, &boards, &k.Max, &k.Strategy)
	k.Canonical = boards == "canonical"
	k.exp = byte(bits.TrailingZeros(uint(k.Max)))
	if err != nil || min(k.Rows, k.Cols) < 1 || max(k.Rows, k.Cols) > 16 || k.Rows*k.Cols < 2 || k.Rows*k.Cols > 16 ||
		k.exp < 2 || k.exp > 15 || k.Max != 1<<k.exp || !k.Canonical && boards != "raw" {
		return fmt.Errorf("found %.200q, want a header such as %q", strings.Join(lines, "\n"), format)
	}
	k.moves = map[string][][]int{}
	add := func(to, from string, n int, cell func(i int) int) {
		line := make([]int, n)
		for i := range line {
			line[i] = cell(i)
		}
		k.moves[to] = append(k.moves[to], slices.Clone(line))
		slices.Reverse(line)
		k.moves[from] = append(k.moves[from], line)
	}
	for r := range k.Rows {
		add("left", "right", k.Cols, func(c int) int { return r*k.Cols + c })
	}
	for c := range k.Cols {
		add("up", "down", k.Rows, func(r int) int { return r*k.Cols + c })
	}
	if k.Canonical {
		k.findImages()
	}
	return nil
}

// findImages lists the symmetries: the lines of cells, from any wall, in either order, where they make a board of the same shape.
func (k *checker) findImages() {
	rows, cols := k.moves["left"], k.moves["up"]
	for _, lines := range [][][]int{rows, k.moves["right"], cols, k.moves["down"]} {
		if len(lines) == k.Rows && len(lines[0]) == k.Cols {
			k.images = append(k.images, slices.Concat(lines...))
			slices.Reverse(lines)
			k.images = append(k.images, slices.Concat(lines...))
			slices.Reverse(lines)
		}
	}
}

// entry checks one board and takes note of its value.
func (k *checker) entry(text string) error {
	var b cells
	fields := strings.Split(text, " ")
	if len(fields) != 3 || len(fields[0]) != k.Rows*k.Cols || k.moves[fields[1]] == nil {
		return fmt.Errorf("want a board of %d tiles, a move and a value", k.Rows*k.Cols)
	}
	sum := 0
	for i, c := range fields[0] {
		b[i] = byte(strings.IndexRune("0123456789abcdef", c))
		if b[i] >= k.exp {
			return fmt.Errorf("tile %q, want an exponent below %d", c, k.exp)
		}
		sum += 1 << b[i] &^ 1
	}
	after := k.slide(b, k.moves[fields[1]])
	least := k.least(b)
	if k.values[sum] == nil {
		k.values[sum] = map[cells]uint64{}
	}
	switch _, twice := k.values[sum][least]; {
	case sum > k.sum:
		return fmt.Errorf("the sum of the tiles is %d after %d, want them descending", sum, k.sum)
	case twice:
		return errors.New("the board, or a symmetric one, was there already")
	case after == b:
		return errors.New("the move is not legal")
	}
	value, err := k.atMost(fields[2], k.mean(after, k.value))
	k.values[sum][least] = value
	k.sum = sum
	delete(k.values, sum+6) // a new tile adds 2 or 4
	k.Entries++
	return err
}

// end checks the bound and that nothing but the checksum follows.
func (k *checker) end(number string) error {
	bound, err := k.atMost(number, k.mean(cells{}, func(first cells) uint64 { return k.mean(first, k.value) }))
	if err != nil {
		return fmt.Errorf("bound: %w", err)
	}
	k.Bound = Fixed(bound)
	want := fmt.Sprintf("sha256 %x", k.hash.Sum(nil))
	if text, err := k.next(); err != nil || text != want {
		return cmp.Or(err, fmt.Errorf("found %.80q, want %q: some line was changed", text, want))
	}
	if text, err := k.next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		return cmp.Or(err, fmt.Errorf("found %.80q, want the end of the file", text))
	}
	return nil
}

// atMost reads a value that must not be more than what the rules allow.
func (k *checker) atMost(number string, most uint64) (uint64, error) {
	value, err := strconv.ParseUint(number, 10, 64)
	if err != nil || value > most {
		return 0, fmt.Errorf("value %.30s, want at most %d", number, most)
	}
	return value, nil
}

// slide moves the tiles of each line to its wall, merging pairs of equal ones from there on.
func (k *checker) slide(b cells, lines [][]int) (after cells) {
	for _, line := range lines {
		n, last := 0, byte(0) // tiles at the wall; the last one if it may merge
		for _, cell := range line {
			switch tile := b[cell]; {
			case tile == 0:
			case tile == last:
				after[line[n-1]]++
				last = 0
			default:
				after[line[n]] = tile
				n++
				last = tile
			}
		}
	}
	return after
}

// mean is the expected value after a new tile, rounded down; the scale when the board has the winning tile without one.
func (k *checker) mean(b cells, value func(cells) uint64) uint64 {
	if slices.Contains(b[:], k.exp) {
		return uint64(Scale)
	}
	total, empty := uint64(0), uint64(0)
	for i := range k.Rows * k.Cols {
		if b[i] == 0 {
			with2, with4 := b, b
			with2[i], with4[i] = 1, 2
			total += 9*value(with2) + value(with4)
			empty++
		}
	}
	return total / (10 * empty)
}

// value is what is known about a board with the player to move.
func (k *checker) value(b cells) uint64 {
	if slices.Contains(b[:], k.exp) {
		return uint64(Scale)
	}
	sum := 0
	for _, tile := range b {
		sum += 1 << tile &^ 1
	}
	return k.values[sum][k.least(b)]
}

// least is the least image of a board under the symmetries.
func (k *checker) least(b cells) cells {
	least := b
	for _, image := range k.images {
		var other cells
		for i, from := range image {
			other[i] = b[from]
		}
		if bytes.Compare(other[:], least[:]) < 0 {
			least = other
		}
	}
	return least
}
