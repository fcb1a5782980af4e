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

// CheckedBound is the statement of a valid certificate.
type CheckedBound struct {
	Rows, Cols int
	Canonical  bool   // whether entries also hold for the images of their boards
	Max        int    // the winning tile
	Strategy   string // the strategy that the certificate was made from, for information only
	Entries    int
	Bound      Fixed // a lower bound of the probability of winning under optimal play from the random start
}

// CheckCertificate reads and checks a certificate. It uses no other part of the program: it has its own, simple implementation of the rules of the
// game. The error names the line with the mistake, or is an error of r or ctx.
//
// A certificate is valid if no entry's value exceeds the value of its move. That value is the mean, over all empty cells, of 9/10 of the value
// with a 2 there and 1/10 of the value with a 4. A board with the winning tile has the value 1 and a board without an entry has 0. With
// canonical boards an entry also holds for the images of its board; with raw ones it does not. Values depend on boards with larger sums
// only. By induction, no value exceeds the probability of winning under optimal play, and neither does the bound, which is the mean over
// the first two tiles. The checksum detects accidental changes.
func CheckCertificate(ctx context.Context, r io.Reader) (*CheckedBound, error) {
	k := &checker{in: bufio.NewScanner(r), hash: sha256.New(), values: map[int]map[cells]uint64{}, sum: 1 << 30}
	if err := k.run(ctx); err != nil {
		return nil, fmt.Errorf("line %d: %w", k.line, err)
	}
	return &k.CheckedBound, nil
}

// cells are the exponents of a board's tiles, row by row.
type cells [16]byte

type checker struct {
	CheckedBound
	in     *bufio.Scanner // lines have at most bufio.MaxScanTokenSize bytes, 64 kB
	line   int            // number of the current line, from 1
	hash   hash.Hash
	maxExp byte                     // exponent of the winning tile
	moves  map[string][][]int       // for each move the lines of cells, from the wall to which tiles move
	images [][]int                  // for each symmetry, the cell that each cell comes from; empty if boards are raw
	values map[int]map[cells]uint64 // values of the entries, by the sum of the tiles and the least image
	sum    int                      // sum of the tiles of the last entry
}

func (k *checker) run(ctx context.Context) error {
	if err := k.readHeader(); err != nil {
		return err
	}
	for {
		text, err := k.nextLine()
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if number, ended := strings.CutPrefix(text, "bound "); ended {
			return k.checkEnd(number)
		}
		if err := k.checkEntry(text); err != nil {
			return fmt.Errorf("%.60q: %w", text, err)
		}
	}
}

// nextLine returns the next line and adds it to the checksum.
func (k *checker) nextLine() (string, error) {
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

// readHeader reads the header, and sets the moves of the board and, if boards are canonical, its symmetries.
func (k *checker) readHeader() error {
	const format = "tilecheck certificate 2 board %dx%d boards %s max %d scale 1000000000000000 strategy %q"
	var lines []string
	for range 6 {
		text, err := k.nextLine()
		if err != nil {
			return err
		}
		lines = append(lines, text)
	}
	boards := ""
	_, err := fmt.Sscanf(strings.Join(lines, " "), format, &k.Rows, &k.Cols, &boards, &k.Max, &k.Strategy)
	k.Canonical = boards == "canonical"
	k.maxExp = byte(bits.TrailingZeros(uint(k.Max)))
	if err != nil || min(k.Rows, k.Cols) < 1 || max(k.Rows, k.Cols) > 16 || k.Rows*k.Cols < 2 || k.Rows*k.Cols > 16 ||
		k.maxExp < 2 || k.maxExp > 15 || k.Max != 1<<k.maxExp || !k.Canonical && boards != "raw" {
		return fmt.Errorf("found %.200q, want a header such as %q", strings.Join(lines, "\n"), format)
	}
	k.moves = map[string][][]int{}
	addLine := func(to, from string, n int, cell func(i int) int) {
		line := make([]int, n)
		for i := range line {
			line[i] = cell(i)
		}
		k.moves[to] = append(k.moves[to], slices.Clone(line))
		slices.Reverse(line)
		k.moves[from] = append(k.moves[from], line)
	}
	for r := range k.Rows {
		addLine("left", "right", k.Cols, func(c int) int { return r*k.Cols + c })
	}
	for c := range k.Cols {
		addLine("up", "down", k.Rows, func(r int) int { return r*k.Cols + c })
	}
	if k.Canonical {
		k.findImages()
	}
	return nil
}

// findImages sets the symmetries: the lines of cells from any wall, in either order, if they form a board of the same shape.
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

// checkEntry checks one entry and stores its value.
func (k *checker) checkEntry(text string) error {
	var b cells
	fields := strings.Split(text, " ")
	if len(fields) != 3 || len(fields[0]) != k.Rows*k.Cols || k.moves[fields[1]] == nil {
		return fmt.Errorf("want a board of %d tiles, a move and a value", k.Rows*k.Cols)
	}
	sum := 0
	for i, c := range fields[0] {
		b[i] = byte(strings.IndexRune("0123456789abcdef", c))
		if b[i] >= k.maxExp {
			return fmt.Errorf("tile %q, want an exponent below %d", c, k.maxExp)
		}
		sum += 1 << b[i] &^ 1
	}
	after := k.slide(b, k.moves[fields[1]])
	least := k.leastImage(b)
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
	value, err := k.parseValue(fields[2], k.mean(after, k.value))
	k.values[sum][least] = value
	k.sum = sum
	delete(k.values, sum+6) // a new tile adds 2 or 4, so later entries do not need this sum
	k.Entries++
	return err
}

// checkEnd checks the bound, the checksum and that nothing follows them.
func (k *checker) checkEnd(number string) error {
	bound, err := k.parseValue(number, k.mean(cells{}, func(first cells) uint64 { return k.mean(first, k.value) }))
	if err != nil {
		return fmt.Errorf("bound: %w", err)
	}
	k.Bound = Fixed(bound)
	want := fmt.Sprintf("sha256 %x", k.hash.Sum(nil))
	if text, err := k.nextLine(); err != nil || text != want {
		return cmp.Or(err, fmt.Errorf("found %.80q, want %q: some line was changed", text, want))
	}
	if text, err := k.nextLine(); !errors.Is(err, io.ErrUnexpectedEOF) {
		return cmp.Or(err, fmt.Errorf("found %.80q, want the end of the file", text))
	}
	return nil
}

// parseValue parses a value, which must not exceed most.
func (k *checker) parseValue(number string, most uint64) (uint64, error) {
	value, err := strconv.ParseUint(number, 10, 64)
	if err != nil || value > most {
		return 0, fmt.Errorf("value %.30s, want at most %d", number, most)
	}
	return value, nil
}

// slide moves the tiles of each line to its wall and merges pairs of equal tiles, beginning at the wall.
func (k *checker) slide(b cells, lines [][]int) (after cells) {
	for _, line := range lines {
		n, last := 0, byte(0) // number of tiles at the wall; the last one, or 0 if it must not merge again
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

// mean returns the expected value after a new tile, rounded down. It is the scale if b has the winning tile.
func (k *checker) mean(b cells, value func(cells) uint64) uint64 {
	if slices.Contains(b[:], k.maxExp) {
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

// value returns the value of a board with the player to move: the scale, the value of its entry, or 0.
func (k *checker) value(b cells) uint64 {
	if slices.Contains(b[:], k.maxExp) {
		return uint64(Scale)
	}
	sum := 0
	for _, tile := range b {
		sum += 1 << tile &^ 1
	}
	return k.values[sum][k.leastImage(b)]
}

// leastImage returns the least image of a board under the symmetries.
func (k *checker) leastImage(b cells) cells {
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
