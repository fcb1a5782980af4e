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

// StageBound is the statement of a valid certificate of package game/stages.
type StageBound struct {
	Rows, Cols int
	Max        int    // the winning tile
	Stages     int    // number of stages
	Boards     uint64 // boards of all stages, with those whose value is not needed
	Lower      uint32 // a lower bound of the probability of winning under optimal play from the random start, in units of 1/StageScale
}

// Probability returns the bound as a fraction.
func (s *StageBound) Probability() *big.Rat { return big.NewRat(int64(s.Lower), StageScale) }

// CheckStages reads a certificate of stages, and computes the values of all their boards. The error names the line with the mistake, or is an error of
// r or ctx. The result does not depend on the number of workers; 0 means one for each processor.
//
// A board belongs to a stage if its tiles from the value "small" on are exactly the locked ones: "upper" of them in row 0 from left to right, the others
// in row 1 from left to right. If the columns are numbers, the locked tiles of row 0 lie side by side, and the first one lies in one of these columns.
// All other tiles are small.
//
// A board of a stage has the value 0 if the sum of its small tiles exceeds "sum". Otherwise its value is the greatest number that a board after a legal
// move counts; without a legal move, it is 0. The first of these rules that applies says what a board after a move counts:
//
//   - It counts 1 if it has the winning tile.
//   - If it belongs to the stage, it counts the mean value over the new tiles. If it belongs to the next stage, too, and that has the same locked tiles in
//     the same rows, it counts the greater of the two means. After a move down with two or more locked tiles, this rule is for the board with the rows in
//     the opposite order, and if that does not belong to the stage, the board counts 0.
//   - If an image of it belongs to the stage, it counts the same as the image.
//   - It counts 0 if it has as many tiles from the value "small" on as the stage has locked ones, and none of the next 16 stages has a lesser value "small".
//   - It counts the greatest mean over the new tiles on the board, or on an image, in those of the next 16 stages to which this belongs. Stages with the same
//     locked tiles in the same rows as the stage before them are left out. It counts 0 if no stage is left.
//
// With two or more locked tiles, the only image of a board is the one with the columns in the opposite order; otherwise all symmetric boards are images. A
// mean is rounded down. The sum of the tiles grows, so by induction from great sums to small ones, no value exceeds the probability of winning under optimal
// play, for any list of stages. The bound must not exceed the mean value over the first two tiles, in the first stage.
func CheckStages(ctx context.Context, r io.Reader, workers int) (*StageBound, error) {
	k := &stageChecker{lines: newLines(ctx, r), workers: cmp.Or(workers, runtime.GOMAXPROCS(0))}
	if err := k.checkFile(); err != nil {
		return nil, k.wrap(err)
	}
	return &k.StageBound, nil
}

// stagesAhead is the number of next stages whose values a board after a move can count.
const stagesAhead = 16

// stageLine is the line of a stage. Tiles are exponents.
type stageLine struct {
	small, maxSum, upper int
	columns              []int // nil for any
	locked               []int
}

// stageChecker checks a certificate of stages.
type stageChecker struct {
	*lines
	StageBound
	workers int
	maxExp  int // exponent of the winning tile
	stages  []stageLine
	bound   uint64
}

// stageHeaderLines is the number of lines before the first stage.
const stageHeaderLines = 4

// checkFile reads and checks the certificate. It computes values only if the checksum is right.
func (k *stageChecker) checkFile() error {
	const format = "tilecheck stages 1 board %dx%d max %d scale 2147483648"
	if err := k.header(stageHeaderLines, format, &k.Rows, &k.Cols, &k.Max); err != nil {
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
	if line.small < 3 {
		return line, fmt.Errorf("small %s, want at least 8: new tiles are small", fields[2])
	}
	if line.maxSum, err = strconv.Atoi(fields[4]); err != nil || line.maxSum < 0 || line.maxSum > 1<<14 || line.maxSum%2 != 0 {
		return line, fmt.Errorf("sum %.20q, want an even number from 0 to 16384", fields[4])
	}
	for _, field := range fields[10:] {
		tile, err := k.parseTile(field)
		if err != nil {
			return line, err
		}
		if tile < line.small || tile >= k.maxExp {
			return line, fmt.Errorf("locked tile %s, want at least %s and less than the winning tile %d", field, fields[2], k.Max)
		}
		line.locked = append(line.locked, tile)
	}
	line.upper, err = strconv.Atoi(fields[8])
	if err != nil || line.upper < 0 || line.upper > min(k.Cols, len(line.locked)) || len(line.locked)-line.upper > k.Cols {
		return line, fmt.Errorf("upper %.20q, want the number of locked tiles in row 0: rows 0 and 1 have at most %d each of the %d", fields[8], k.Cols, len(line.locked))
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

// checkBound computes the values of all stages, from the last one to the first, and compares the bound with the value of the first two tiles.
func (k *stageChecker) checkBound() error {
	rules := newStageRules(k.Rows, k.Cols)
	computed := make([]*stageTable, len(k.stages))
	buffers := new(stageBuffers)
	for number, line := range slices.Backward(k.stages) {
		if k.ctx.Err() != nil { // a stage without boards has nothing to compute
			return context.Cause(k.ctx)
		}
		k.line = stageHeaderLines + number + 1
		last := min(number+stagesAhead, len(k.stages)-1)
		table, err := k.newTable(rules, &line, computed[number+1:last+1])
		if err != nil {
			return err
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
	k.Stages = len(k.stages)
	k.line = stageHeaderLines + len(k.stages) + 1
	if value := computed[0].startValue(); k.bound > uint64(value) {
		return fmt.Errorf("the bound is %d, want at most %d, the value of the first stage", k.bound, value)
	}
	k.Lower = uint32(k.bound)
	return nil
}

// newTable makes the table of a stage. It shares the bottoms of the next stage with the same small tiles.
func (k *stageChecker) newTable(rules *stageRules, line *stageLine, later []*stageTable) (*stageTable, error) {
	if i := slices.IndexFunc(later, func(next *stageTable) bool { return next.small == line.small }); i >= 0 {
		return newStageTable(rules, line, k.maxExp, later[i].bottoms, later)
	}
	bottoms, err := newStageBottoms(rules, line.small)
	if err != nil {
		return nil, err
	}
	return newStageTable(rules, line, k.maxExp, bottoms, later)
}

// greatestAfterMove returns the greatest sum of small tiles, halved, of the afterstates by which the game enters a stage: a move of an earlier stage, or the
// first tile.
func (k *stageChecker) greatestAfterMove(number int) int {
	greatest := 2 // a first tile of 4
	for _, earlier := range k.stages[max(0, number-stagesAhead):number] {
		greatest = max(greatest, earlier.lockedSum()+earlier.maxSum/2-k.stages[number].lockedSum())
	}
	return greatest
}

// sameLocked reports whether two stages have the same locked tiles in the same rows.
func (s *stageLine) sameLocked(other *stageLine) bool {
	return s.upper == other.upper && slices.Equal(s.locked, other.locked)
}

// lockedSum returns half of the sum of the locked tiles.
func (s *stageLine) lockedSum() (sum int) {
	for _, exponent := range s.locked {
		sum += 1 << (exponent - 1)
	}
	return sum
}
