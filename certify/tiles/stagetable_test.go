package tiles

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
)

// everyBoard computes values of stages by recursion over boards, whether or not a board can be one after a move: without layers, halves or groups.
type everyBoard struct {
	*stageRules
	maxExp int
	stages []stageLine
	values map[stagedCells]uint32
}

type stagedCells struct {
	stage int
	cells stageBoard
}

// belongs reports whether a board belongs to a stage.
func (e *everyBoard) belongs(stage int, b stageBoard) bool {
	s := &e.stages[stage]
	var found, columns [4][]int
	for cell := range 16 {
		if exponent := int(b >> (4 * cell) & 15); exponent >= s.small {
			found[cell/4], columns[cell/4] = append(found[cell/4], exponent), append(columns[cell/4], cell%4)
		}
	}
	if !slices.Equal(found[0], s.locked[:s.upper]) || !slices.Equal(found[1], s.locked[s.upper:]) || len(found[2])+len(found[3]) > 0 {
		return false
	}
	if s.columns == nil || s.upper == 0 {
		return true
	}
	first, last := columns[0][0], columns[0][s.upper-1]
	return slices.Contains(s.columns, first) && last-first == s.upper-1
}

// continues reports whether a stage has the same locked tiles in the same rows as the one before it.
func (e *everyBoard) continues(stage int) bool {
	return stage > 0 && stage < len(e.stages) && e.stages[stage].upper == e.stages[stage-1].upper && slices.Equal(e.stages[stage].locked, e.stages[stage-1].locked)
}

// mean returns the mean value over the new tiles.
func (e *everyBoard) mean(stage int, b stageBoard) uint32 {
	total, weight := uint64(0), uint64(0)
	for row := range e.rows {
		for col := range e.cols {
			if bit := 16*row + 4*col; b>>bit&15 == 0 {
				total += 9*uint64(e.value(stage, b|1<<bit)) + uint64(e.value(stage, b|2<<bit))
				weight += 10
			}
		}
	}
	return uint32(total / max(1, weight))
}

// value returns the value of a board that belongs to a stage.
func (e *everyBoard) value(stage int, b stageBoard) (best uint32) {
	key := stagedCells{stage, b}
	if known, ok := e.values[key]; ok {
		return known
	}
	if b.smallSum(e.stages[stage].small) <= e.stages[stage].maxSum/2 {
		columns := b.transposed()
		for i, moved := range []stageBoard{b.mapRows(e.toFirst), b.mapRows(e.toLast), columns.mapColumns(e.upwards), columns.mapColumns(e.downwards)} {
			if moved != b {
				best = max(best, e.afterMove(stage, moved, i == 3))
			}
		}
	}
	e.values[key] = best
	return best
}

// greaterMean returns what a board counts that belongs to the stage.
func (e *everyBoard) greaterMean(stage int, b stageBoard) uint32 {
	mean := e.mean(stage, b)
	if e.continues(stage+1) && e.belongs(stage+1, b) {
		mean = max(mean, e.mean(stage+1, b))
	}
	return mean
}

// afterMove returns what a board after a move counts.
func (e *everyBoard) afterMove(stage int, moved stageBoard, isDown bool) (best uint32) {
	s := &e.stages[stage]
	if moved.tilesFrom(e.maxExp) > 0 {
		return StageScale
	}
	number := e.numImages()
	if len(s.locked) > 1 {
		number = 2
		if isDown {
			moved = e.upsideDown(moved)
			if !e.belongs(stage, moved) {
				return 0
			}
		}
	}
	for i := range number {
		if image := e.image(moved, i); e.belongs(stage, image) {
			return e.greaterMean(stage, image)
		}
	}
	last := min(stage+stagesAhead, len(e.stages)-1)
	locksSmall := slices.ContainsFunc(e.stages[stage+1:last+1], func(next stageLine) bool { return next.small < s.small })
	if moved.tilesFrom(s.small) == len(s.locked) && !locksSmall {
		return 0
	}
	for next := stage + 1; next <= last; next++ {
		for i := range number {
			if image := e.image(moved, i); !e.continues(next) && e.belongs(next, image) {
				best = max(best, e.mean(next, image))
			}
		}
	}
	return best
}

// startValue returns the value of the game: the mean over the first two tiles.
func (e *everyBoard) startValue() uint32 {
	total := uint64(0)
	for row := range e.rows {
		for col := range e.cols {
			for exponent, weight := range map[int]uint64{1: 9, 2: 1} {
				if b := stageBoard(exponent) << (16*row + 4*col); e.belongs(0, b) {
					total += weight * uint64(e.mean(0, b))
				}
			}
		}
	}
	return uint32(total / uint64(10*e.rows*e.cols))
}

// certificate returns a certificate of the stages with a bound.
func (e *everyBoard) certificate(bound uint32) string {
	var text strings.Builder
	fmt.Fprintf(&text, "tilecheck stages 1\nboard %dx%d\nmax %d\nscale 2147483648\n", e.rows, e.cols, 1<<e.maxExp)
	for _, s := range e.stages {
		columns := "any"
		if s.columns != nil {
			columns = strings.Trim(strings.ReplaceAll(fmt.Sprint(s.columns), " ", ","), "[]")
		}
		fmt.Fprintf(&text, "stage small %d sum %d columns %s upper %d locked", 1<<s.small, s.maxSum, columns, s.upper)
		for _, exponent := range s.locked {
			fmt.Fprint(&text, " ", 1<<exponent)
		}
		text.WriteString("\n")
	}
	fmt.Fprintf(&text, "bound %d\n", bound)
	return text.String() + fmt.Sprintf("sha256 %x\n", sha256.Sum256([]byte(text.String())))
}

// randomStages returns stages that need not lead anywhere.
func randomStages(random *rand.Rand, cols, maxExp, greatestSum int) (stages []stageLine) {
	for i := range 1 + random.IntN(6) {
		s := stageLine{small: 3 + random.IntN(maxExp-2), maxSum: greatestSum - 2*random.IntN(greatestSum/4+1)}
		if before := len(stages) - 1; i > 0 && random.IntN(2) == 0 { // it locks the tile that the stage before it makes
			s.locked = append(slices.Clone(stages[before].locked), stages[before].small)
			s.small = slices.Min(s.locked)
		}
		for s.small < maxExp && i > 0 && len(s.locked) < 3 && random.IntN(3) == 0 {
			s.locked = append(s.locked, s.small+random.IntN(maxExp-s.small))
		}
		if len(s.locked) > 3 || slices.Contains(s.locked, maxExp) {
			s.locked = nil
		}
		slices.Sort(s.locked)
		slices.Reverse(s.locked)
		n := len(s.locked)
		s.upper = max(n-cols, min(cols, random.IntN(n+1)))
		for column := range cols {
			if s.upper > 0 && random.IntN(4) > 0 {
				s.columns = append(s.columns, column)
			}
		}
		stages = append(stages, s)
		if random.IntN(4) == 0 { // continues with a smaller sum
			s.maxSum = 2 * random.IntN(s.maxSum/2+1)
			stages = append(stages, s)
		}
	}
	return stages
}

// TestEveryBoard checks random stages by values of all their boards. A value that is used but was left out would be an access out of range, or change
// the greatest bound that is accepted.
func TestEveryBoard(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	positive, numLists := 0, needs.Some(400)
	for i := range numLists {
		x := []struct{ rows, cols, maxExp, greatestSum int }{{2, 2, 5, 32}, {2, 3, 4, 24}, {3, 2, 4, 24}, {3, 3, 4, 16}, {2, 4, 4, 16}, {4, 2, 4, 16}}[i%6]
		e := &everyBoard{stageRules: newStageRules(x.rows, x.cols), maxExp: x.maxExp, values: map[stagedCells]uint32{}}
		e.stages = randomStages(random, x.cols, x.maxExp, x.greatestSum)
		bound := e.startValue()
		if _, err := CheckStages(t.Context(), strings.NewReader(e.certificate(bound)), 2); err != nil {
			t.Fatalf("%s%v", e.certificate(bound), err)
		}
		if _, err := CheckStages(t.Context(), strings.NewReader(e.certificate(bound+1)), 2); err == nil {
			t.Fatalf("%sa bound that is too great was accepted", e.certificate(bound+1))
		}
		if bound > 0 {
			positive++
		}
	}
	if positive < numLists/5 {
		t.Errorf("only %d of %d bounds are positive", positive, numLists)
	}
}

// BenchmarkCheckStages has the time of a board in ns/board.
func BenchmarkCheckStages(b *testing.B) {
	e := &everyBoard{stageRules: newStageRules(4, 4), maxExp: 5, stages: []stageLine{
		{small: 4, maxSum: 24},
		{small: 4, maxSum: 24, columns: []int{0, 1}, upper: 1, locked: []int{4}},
		{small: 4, maxSum: 16, upper: 2, locked: []int{4, 4}},
	}}
	text, boards := e.certificate(0), uint64(0)
	for b.Loop() {
		checked, err := CheckStages(b.Context(), strings.NewReader(text), 0)
		if err != nil {
			b.Fatal(err)
		}
		boards += checked.Boards
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(boards), "ns/board")
}
