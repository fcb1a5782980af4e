package tiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
)

// Scale is the number of a probability of 1 in certificates of bounds.
const Scale = 1_000_000_000_000_000

// Bound is the statement of a valid certificate of package game/induced.
type Bound struct {
	Rows, Cols int
	Canonical  bool   // whether entries also hold for the images of their boards
	Max        int    // the winning tile
	Strategy   string // the strategy that the certificate was made from, for information only
	Boards     int    // boards in the certificate
	Lower      uint64 // a lower bound of the probability of winning under optimal play from the random start, in units of 1/Scale
}

// Probability returns the bound as a fraction.
func (b *Bound) Probability() *big.Rat { return big.NewRat(int64(b.Lower), Scale) }

// CheckBound reads and checks a certificate of a lower bound. The error names the line with the mistake, or is an error of r or ctx.
//
// A certificate is valid if no entry's value exceeds the value of its move. That value is the mean, over all empty cells, of 9/10 of the value
// with a 2 there and 1/10 of the value with a 4. A board with the winning tile has the value 1 and a board without an entry has 0. With
// canonical boards an entry also holds for the images of its board; with raw ones it does not. Values depend on boards with larger sums
// only. By induction, no value exceeds the probability of winning under optimal play, and neither does the bound, which is the mean over
// the first two tiles. The checksum detects accidental changes.
func CheckBound(ctx context.Context, r io.Reader) (*Bound, error) {
	k := &boundChecker{lines: newLines(ctx, r), sum: aboveAllSums, layers: layers{}}
	if err := k.checkFile(); err != nil {
		return nil, k.wrap(err)
	}
	return &k.Bound, nil
}

type boundChecker struct {
	*lines
	Bound
	*rules
	maxExp board
	layers layers // values of the entries
	sum    int    // sum of the tiles of the last entry
}

// checkFile reads and checks the lines of the certificate.
func (k *boundChecker) checkFile() error {
	if err := k.readHeader(); err != nil {
		return err
	}
	for {
		text, err := k.nextLine()
		if err != nil {
			return err
		}
		if number, ended := strings.CutPrefix(string(text), "bound "); ended {
			if err := k.checkStart(number); err != nil {
				return err
			}
			return k.checkEnd()
		}
		if err := k.checkEntry(string(text)); err != nil {
			return fmt.Errorf("%.60q: %w", text, err)
		}
	}
}

// readHeader reads the first six lines: the shape of the board, the kind of its entries, the winning tile and the strategy.
func (k *boundChecker) readHeader() error {
	boards := ""
	const format = "tilecheck certificate 2 board %dx%d boards %s max %d scale 1000000000000000 strategy %q"
	err := k.header(6, format, &k.Rows, &k.Cols, &boards, &k.Max, &k.Strategy)
	if err != nil {
		return err
	}
	k.Canonical = boards == "canonical"
	if !k.Canonical && boards != "raw" {
		return fmt.Errorf("boards %.20q, want raw or canonical", boards)
	}
	if k.rules, err = newRules(k.Rows, k.Cols, k.Canonical); err != nil {
		return err
	}
	k.maxExp, err = exponentOf(k.Max)
	return err
}

// moveLetter returns the capital first letter of the name of a move, or 0 for another name.
func moveLetter(name string) byte {
	switch name {
	case "left", "right", "up", "down":
		return name[0] - 'a' + 'A'
	}
	return 0
}

// checkEntry checks a line with a board, a move and a value, such as "0012 left 42", and stores the value of the board. The value must not
// exceed the value of the move.
func (k *boundChecker) checkEntry(text string) error {
	fields := strings.Split(text, " ")
	if len(fields) != 3 || len(fields[0]) != k.cells || moveLetter(fields[1]) == 0 {
		return fmt.Errorf("want a board of %d tiles, a move and a value", k.cells)
	}
	b, err := k.parseBoard(fields[0])
	if err != nil {
		return err
	}
	if err := k.beginLayer(b.sum()); err != nil {
		return err
	}
	representative, afterstate := k.leastImage(b), k.slide(b, moveLetter(fields[1]))
	if afterstate == b {
		return errors.New("the move is not legal")
	}
	if _, isStored := k.layers[k.sum].lookUp(representative); isStored {
		return errors.New("the board, or a symmetric one, was there already")
	}
	maxValue := uint64(Scale) // the value of a move that wins
	if !afterstate.hasTile(k.maxExp) {
		maxValue = k.mean(afterstate, k.sum, k.valueOf)
	}
	value, err := parseValue(fields[2], maxValue)
	if err != nil {
		return err
	}
	k.layers[k.sum].addBoard(representative, value)
	k.Boards++
	return nil
}

// parseBoard returns the board whose cells have the given digits, which are exponents of tiles. Each exponent must be less than that of the
// winning tile.
func (k *boundChecker) parseBoard(digits string) (board, error) {
	b := board(0)
	for i := range k.cells {
		exp := digit(digits[i])
		if exp >= k.maxExp {
			return 0, fmt.Errorf("tile %q, want an exponent below %d", digits[i], k.maxExp)
		}
		b |= exp << (4 * i)
	}
	return b, nil
}

// beginLayer begins a new layer if sum, the sum of a board's tiles, is less than the sum of the current layer. A greater sum is an error.
func (k *boundChecker) beginLayer(sum int) error {
	if sum > k.sum {
		return fmt.Errorf("the sum of the tiles is %d after %d, want them descending", sum, k.sum)
	}
	if sum < k.sum {
		k.layers.addLayer(sum, false)
		k.sum = sum
	}
	return nil
}

// checkStart checks the bound at the end of the certificate. It must not exceed the expected value over the first two tiles.
func (k *boundChecker) checkStart(number string) (err error) {
	afterFirst := func(images *[8]board, sum, cell int, exp board) uint64 {
		if exp >= k.maxExp {
			return Scale
		}
		return k.mean(images[0]|exp<<(4*cell), sum, k.valueOf)
	}
	if k.Lower, err = parseValue(number, k.mean(0, 0, afterFirst)); err != nil {
		return fmt.Errorf("bound: %w", err)
	}
	return nil
}

// parseValue parses a value, which must not exceed maxValue.
func parseValue(number string, maxValue uint64) (uint64, error) {
	value, err := strconv.ParseUint(number, 10, 64)
	if err != nil || value > maxValue {
		return 0, fmt.Errorf("value %.30s, want at most %d", number, maxValue)
	}
	return value, nil
}

// mean returns the mean value over the new tiles on an afterstate, rounded down: a 2 with probability 9/10, a 4 with probability 1/10, on each empty
// cell alike. sum is the sum of the afterstate's tiles. The function valueOf gets the images of the afterstate, the sum with the new tile, and the cell and
// the exponent of the new tile.
func (k *boundChecker) mean(afterstate board, sum int, valueOf func(images *[8]board, sum, cell int, exp board) uint64) uint64 {
	images := k.imagesOf(afterstate)
	total, empty := uint64(0), uint64(0)
	for cell := range k.cells {
		if afterstate.exponentAt(cell) != 0 {
			continue
		}
		empty++
		total += 9*valueOf(&images, sum+2, cell, 1) + valueOf(&images, sum+4, cell, 2)
	}
	return total / (10 * empty) // each of the empty cells has the total weight 9+1
}

// valueOf returns the value of a board with a new tile in a cell: 1 if the new tile is the winning tile, and otherwise the value of the entry, or 0
// without an entry. images are the images of the board, and sum is the sum of the tiles with the new tile.
func (k *boundChecker) valueOf(images *[8]board, sum, cell int, exp board) uint64 {
	if exp >= k.maxExp {
		return Scale
	}
	value, _ := k.layers[sum].lookUp(k.leastImageWithTile(images, cell, exp))
	return value
}
