package tiles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// StageScale is the number of a probability of 1 in certificates of stages.
const StageScale = 1 << 31

// Stages is the statement of a valid certificate of package game/stages.
type Stages struct {
	Rows, Cols int
	Max        int    // the winning tile
	Stages     int    // number of stages
	Boards     uint64 // of all stages; values that no move leads to were not computed
	Lower      uint32 // a lower bound of the probability of winning under optimal play from the random start, in units of 1/StageScale
}

// Probability returns the bound as a fraction.
func (s *Stages) Probability() *big.Rat { return big.NewRat(int64(s.Lower), StageScale) }

// CheckStages reads a certificate of stages, and computes the values of all their boards. The error names the line with the mistake, or is an error of
// r or ctx. The result does not depend on the number of workers; 0 means one for each processor.
//
// A stage line has a greatest sum and some locked tiles. A board belongs to the stage if its tiles from the value "small" on are exactly the locked
// ones: "upper" of them in row 0 from left to right, the others in row 1 from left to right. With numbers of columns, those of row 0 have no gaps
// between them, and begin in one of the columns. The other tiles are small. The value of a board is 0 if the sum of its small tiles exceeds that of
// the stage. Otherwise it is the best of its legal moves, where the board after the move counts
//
//   - 1 if it has the winning tile;
//   - if it belongs to the stage, or for a move down with two or more locked tiles if its reflection does, the mean over the new tiles; if the next
//     stage has the same locked tiles and the board belongs to it, too, the greater mean;
//   - else, if an image of it belongs to the stage, the same for the image;
//   - else the greatest mean over the new tiles on one of its images that belongs to one of the next 16 stages, in that stage. Not counted are those
//     that have the same locked tiles in the same rows as the stage before them. It counts 0 if the move has changed the number of tiles from the
//     value "small" on in none of these ways: the number is that of the locked tiles, and none of the next 16 stages locks a tile that is small here.
//
// With two or more locked tiles, images are the board and its reflection with the columns reversed; after a move down that the second item does not
// cover, the board counts 0. A mean is rounded down. The sum of the tiles grows, so by induction no value exceeds the probability of winning under
// optimal play, for any list of stages. The bound must not exceed the mean over the first two tiles, in the first stage.
func CheckStages(ctx context.Context, r io.Reader, workers int) (*Stages, error) {
	k := &stageChecker{lines: newLines(ctx, r), workers: cmp.Or(workers, runtime.GOMAXPROCS(0))}
	if err := k.checkFile(); err != nil {
		return nil, k.wrap(err)
	}
	return &k.Stages, nil
}

// stagesAhead is how many of the next stages are looked at after a move.
const stagesAhead = 16

// stageLine is a line of a certificate of stages. Tiles are exponents.
type stageLine struct {
	small, sum, upper int
	columns           []int // nil for any
	locked            []int
}

// stageChecker checks a certificate of stages.
type stageChecker struct {
	*lines
	Stages
	workers int
	maxExp  int
	stages  []stageLine
	bound   uint64
}

// checkFile reads the certificate and compares its bound with the value of the first two tiles.
func (k *stageChecker) checkFile() error {
	const format = "tilecheck stages 1 board %dx%d max %d scale 2147483648"
	if err := k.header(4, format, &k.Rows, &k.Cols, &k.Max); err != nil {
		return err
	}
	if min(k.Rows, k.Cols) < 2 || max(k.Rows, k.Cols) > 4 {
		return fmt.Errorf("board %dx%d, want 2 to 4 rows and columns", k.Rows, k.Cols)
	}
	exponent, err := exponentOf(k.Max)
	if err != nil {
		return err
	}
	k.maxExp = int(exponent)
	if err := k.readStages(); err != nil {
		return err
	}
	if err := k.checkEnd(); err != nil {
		return err
	}
	return k.checkBound()
}

// readStages reads the lines of the stages and the bound.
func (k *stageChecker) readStages() error {
	for {
		text, err := k.nextLine()
		if err != nil {
			return err
		}
		if number, ended := strings.CutPrefix(string(text), "bound "); ended {
			if k.bound, err = parseValue(number, StageScale); err != nil {
				return err
			}
			if len(k.stages) == 0 {
				return errors.New("found the bound, want a stage")
			}
			return nil
		}
		line, err := k.parseStage(string(text))
		if err != nil {
			return fmt.Errorf("%.80q: %w", text, err)
		}
		k.stages = append(k.stages, line)
	}
}

// parseStage parses a line such as "stage small 16 sum 48 columns 0,1 upper 1 locked 32 16".
func (k *stageChecker) parseStage(text string) (line stageLine, err error) {
	fields := strings.Fields(text)
	if len(fields) < 10 || fields[0] != "stage" || fields[1] != "small" || fields[3] != "sum" || fields[5] != "columns" || fields[7] != "upper" || fields[9] != "locked" {
		return line, errors.New("want stage small TILE sum N columns LIST upper N locked TILES")
	}
	if line.small, err = k.parseTile(fields[2]); err != nil {
		return line, err
	}
	if line.small < 3 { // new tiles must be small
		return line, fmt.Errorf("small %s, want at least 8", fields[2])
	}
	if line.sum, err = strconv.Atoi(fields[4]); err != nil || line.sum < 0 || line.sum > 1<<14 || line.sum%2 != 0 {
		return line, fmt.Errorf("sum %.20q, want an even number from 0 to 16384", fields[4])
	}
	for _, field := range fields[10:] {
		tile, err := k.parseTile(field)
		if err != nil {
			return line, err
		}
		if tile < line.small || tile >= k.maxExp {
			return line, fmt.Errorf("locked tile %s, want one from the greatest small tile to the winning tile", field)
		}
		line.locked = append(line.locked, tile)
	}
	line.upper, err = strconv.Atoi(fields[8])
	if err != nil || line.upper < 0 || line.upper > min(k.Cols, len(line.locked)) || len(line.locked)-line.upper > k.Cols {
		return line, fmt.Errorf("upper %.20q, want the number of locked tiles in row 0", fields[8])
	}
	line.columns, err = k.parseColumns(fields[6])
	return line, err
}

// parseTile returns the exponent of a tile from 4 to the winning one.
func (k *stageChecker) parseTile(text string) (int, error) {
	value, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("tile %.20q, want a number", text)
	}
	exponent, err := exponentOf(value)
	if err == nil && int(exponent) > k.maxExp {
		err = fmt.Errorf("tile %d, want at most %d", value, k.Max)
	}
	return int(exponent), err
}

// parseColumns returns the columns of a list such as 0,1, or nil for "any".
func (k *stageChecker) parseColumns(text string) (columns []int, err error) {
	if text == "any" {
		return nil, nil
	}
	for field := range strings.SplitSeq(text, ",") {
		column, err := strconv.Atoi(field)
		if err != nil || column < 0 || column >= k.Cols {
			return nil, fmt.Errorf("columns %.40q, want any, or numbers from 0 to %d", text, k.Cols-1)
		}
		columns = append(columns, column)
	}
	return columns, nil
}

// checkBound computes the values of all stages, from the last one to the first.
func (k *stageChecker) checkBound() error {
	board := newStageBoard(k.Rows, k.Cols)
	computed := make([]*stageTable, len(k.stages))
	buffers := new(stageBuffers)
	for number, line := range slices.Backward(k.stages) {
		last := min(number+stagesAhead, len(k.stages)-1)
		table, err := k.newTable(board, &line, computed[number+1:last+1])
		if err != nil {
			return fmt.Errorf("stage %d: %w", number+1, err)
		}
		table.continues = number > 0 && line.sameLocked(&k.stages[number-1])
		if err := table.compute(k.ctx, k.workers, k.greatestAfterMove(number), buffers); err != nil {
			return context.Cause(k.ctx)
		}
		computed[number] = table
		if number+1 < len(computed) && computed[number+1].continues {
			computed[number+1].means = nil // only this stage leads to it
		}
		if last+1 < len(computed) {
			computed[last+1] = nil
		}
		k.Boards += table.boards
	}
	k.Stages.Stages = len(k.stages)
	if value := computed[0].firstTiles(); k.bound > uint64(value) {
		return fmt.Errorf("the bound is %d, want at most %d, the value of the first stage", k.bound, value)
	}
	k.Lower = uint32(k.bound)
	return nil
}

// newTable makes the table of a stage. It shares the bottoms of the next stage with the same small tiles.
func (k *stageChecker) newTable(board *stageBoard, line *stageLine, later []*stageTable) (*stageTable, error) {
	if i := slices.IndexFunc(later, func(next *stageTable) bool { return next.small == line.small }); i >= 0 {
		return newStageTable(board, line, k.maxExp, later[i].bottoms, later)
	}
	bottoms, err := newStageBottoms(board, line.small)
	if err != nil {
		return nil, err
	}
	return newStageTable(board, line, k.maxExp, bottoms, later)
}

// greatestAfterMove returns half of the greatest sum of small tiles on a board after a move of an earlier stage, or with the first tile.
func (k *stageChecker) greatestAfterMove(number int) int {
	greatest := 2
	for _, earlier := range k.stages[max(0, number-stagesAhead):number] {
		greatest = max(greatest, earlier.lockedSum()+earlier.sum/2-k.stages[number].lockedSum())
	}
	return greatest
}

// sameLocked reports whether two stages have the same locked tiles in the same rows.
func (s *stageLine) sameLocked(other *stageLine) bool {
	return s.upper == other.upper && slices.Equal(s.locked, other.locked)
}

// lockedSum returns the sum of the locked tiles, halved, because all sums are even.
func (s *stageLine) lockedSum() (sum int) {
	for _, exponent := range s.locked {
		sum += 1 << (exponent - 1)
	}
	return sum
}
