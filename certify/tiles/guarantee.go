package tiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Guarantee is the statement of a valid certificate of package game/guarantee.
type Guarantee struct {
	Rows, Cols int
	Max        int  // the winning tile
	Guaranteed bool // the player can reach the tile for any placement of new tiles
	Boards     int  // boards in the certificate
}

// CheckGuarantee reads and checks a certificate of a guaranteed tile, or of one that is not. The error names the line with the mistake, or is an
// error of r or ctx.
//
// The lines list a set of boards without the winning tile. Each board also stands for its images under the symmetries. If the side is the player,
// each board has a legal move. The move makes the winning tile, or every new tile, a 2 or a 4 in any empty cell, is the winning tile or leads to a
// board of the set. All first two tiles lead to boards of the set, too. Each new tile increases the sum of the tiles, and the sum of a board without
// the winning tile is bounded. So a player who makes these moves makes the winning tile.
//
// If the side is the spawner, no move of a board makes the winning tile. After each legal move some new tile leads to a board of the set. Some first
// two tiles lead to a board of the set, too. So a spawner who places these tiles prevents the winning tile until no move is left.
//
// Sums descend, so the boards with greater sums are known before they are needed. Only the layers that a new tile can lead to are kept.
func CheckGuarantee(ctx context.Context, r io.Reader) (*Guarantee, error) {
	k := &guaranteeChecker{lines: newLines(ctx, r), sum: aboveAllSums, sets: layers{}}
	if err := k.checkFile(); err != nil {
		return nil, k.wrap(err)
	}
	return &k.Guarantee, nil
}

type guaranteeChecker struct {
	*lines
	Guarantee
	*rules
	maxExp     board
	sets       layers  // the boards of the certificate
	sum        int     // of the current layer
	lastDigits []board // of the last board, row by row
	lastBoard  board   // with its digits in the order of the text, the first one highest
}

// checkFile reads and checks the lines of the certificate.
func (checker *guaranteeChecker) checkFile() error {
	if err := checker.readHeader(); err != nil {
		return err
	}
	for {
		line, err := checker.nextLine()
		if err != nil {
			return err
		}
		if sum, isSum := strings.CutPrefix(string(line), "sum "); isSum {
			if err := checker.beginSum(sum); err != nil {
				return err
			}
			continue
		}
		if number, isSum := strings.CutPrefix(string(line), "boards "); isSum { // the last line
			if number != strconv.Itoa(checker.Boards) {
				return fmt.Errorf("found %.40q, want %d boards", line, checker.Boards)
			}
			if err := checker.checkStart(); err != nil {
				return err
			}
			return checker.checkEnd()
		}
		if err := checker.checkEntry(line); err != nil {
			return fmt.Errorf("%.40q: %w", line, err)
		}
	}
}

// readHeader reads the first line, with the size of the board, the winning tile and the side that has the guarantee.
func (checker *guaranteeChecker) readHeader() error {
	side := ""
	err := checker.header(4, "tilecheck guarantee 1 board %dx%d max %d side %s", &checker.Rows, &checker.Cols, &checker.Max, &side)
	if err != nil {
		return err
	}
	checker.Guaranteed = side == "player"
	if !checker.Guaranteed && side != "spawner" {
		return fmt.Errorf("side %q, want player or spawner", side)
	}
	if checker.rules, err = newRules(checker.Rows, checker.Cols, true); err != nil {
		return err
	}
	checker.maxExp, err = exponentOf(checker.Max)
	return err
}

// beginSum begins the boards whose tiles have the sum in text. The sums of a certificate must decrease.
func (checker *guaranteeChecker) beginSum(text string) error {
	sum, err := strconv.Atoi(text)
	if err != nil || sum < 4 || sum >= checker.sum {
		return fmt.Errorf("sum %.20q, want one of at least 4 and below the one before", text)
	}
	checker.sum, checker.lastDigits, checker.lastBoard = sum, nil, 0
	checker.sets.addLayer(sum, true)
	return nil
}

// readBoard returns the board with the given digits. If digits are missing at the beginning, they are the same as in the previous board.
func (checker *guaranteeChecker) readBoard(text []byte) (board, error) {
	missing := checker.cells - len(text)
	if missing < 0 || missing > 0 && checker.lastDigits == nil {
		return 0, fmt.Errorf("want a board of %d tiles", checker.cells)
	}
	if checker.lastDigits == nil {
		checker.lastDigits = make([]board, checker.cells)
	}
	for i, c := range text {
		exp := digit(c)
		if exp >= checker.maxExp {
			return 0, fmt.Errorf("tile %q, want an exponent below %d", c, checker.maxExp)
		}
		checker.lastDigits[missing+i] = exp
	}
	var b, textOrder board
	for i, exp := range checker.lastDigits {
		b |= exp << (4 * i)
		textOrder = textOrder<<4 | exp
	}
	if textOrder <= checker.lastBoard {
		return 0, errors.New("want the boards of a sum in ascending order")
	}
	checker.lastBoard = textOrder
	if b.sum() != checker.sum {
		return 0, fmt.Errorf("the sum of the tiles is %d, want %d", b.sum(), checker.sum)
	}
	return b, nil
}

// checkEntry checks a line with a board, and adds the board to the set of its sum. If the player has the guarantee, the board is followed by a
// move.
func (checker *guaranteeChecker) checkEntry(text []byte) error {
	set := checker.sets[checker.sum]
	if set == nil {
		return errors.New("want the sum of the tiles before the boards")
	}
	move := byte(0)
	if n := len(text); checker.Guaranteed && n > 0 {
		text, move = text[:n-1], text[n-1]
	}
	b, err := checker.readBoard(text)
	if err != nil {
		return err
	}
	if checker.Guaranteed {
		err = checker.checkMove(b, move)
	} else {
		err = checker.checkAnswers(b)
	}
	if err != nil {
		return err
	}
	if !set.addBoard(checker.leastImage(b), 0) {
		return errors.New("the board, or a symmetric one, was there already")
	}
	checker.Boards++
	return nil
}

// checkMove returns an error unless a move of the player wins at once, or leads to a board of the certificate for every new tile.
func (checker *guaranteeChecker) checkMove(b board, move byte) error {
	if checker.rules.lines[move] == nil {
		return errors.New("want a move, L, R, U or D, behind the board")
	}
	afterstate := checker.slide(b, move)
	if afterstate == b {
		return errors.New("the move is not legal")
	}
	if afterstate.hasTile(checker.maxExp) || checker.hasPositions(afterstate, checker.sum, true) {
		return nil
	}
	return errors.New("the certificate has not all boards to which the move can lead")
}

// checkAnswers returns an error unless, for every legal move of the player, the move does not win and some new tile leads to a board of the
// certificate.
func (checker *guaranteeChecker) checkAnswers(b board) error {
	for _, move := range []byte("LRUD") {
		afterstate := checker.slide(b, move)
		if afterstate == b { // the move is not legal
			continue
		}
		if afterstate.hasTile(checker.maxExp) {
			return fmt.Errorf("the move %c wins", move)
		}
		if !checker.hasPositions(afterstate, checker.sum, false) {
			return fmt.Errorf("the certificate has no board to which the move %c can lead", move)
		}
	}
	return nil
}

// hasPositions reports whether new tiles lead to boards of the certificate: every new tile if wantsAll is true, else at least one. If the player has the
// guarantee, a new tile that is the winning tile also counts. sum is the sum of the afterstate's tiles.
func (checker *guaranteeChecker) hasPositions(afterstate board, sum int, wantsAll bool) bool {
	images := checker.imagesOf(afterstate)
	for i := range checker.cells {
		if afterstate.exponentAt(i) != 0 {
			continue
		}
		for exp := board(1); exp <= 2; exp++ {
			isWinning := checker.Guaranteed && exp >= checker.maxExp
			if !isWinning && exp < checker.maxExp {
				_, isWinning = checker.sets[sum+1<<exp].lookUp(checker.leastImageWithTile(&images, i, exp))
			}
			if isWinning != wantsAll {
				return isWinning
			}
		}
	}
	return wantsAll
}

// checkStart returns an error unless the first two tiles lead to boards of the certificate: for every pair of tiles if the player has the
// guarantee, for some pair if the spawner has it.
func (checker *guaranteeChecker) checkStart() error {
	for i := range checker.cells {
		for exp := board(1); exp <= 2; exp++ {
			won := exp >= checker.maxExp
			isWinning := won
			if !won {
				isWinning = checker.hasPositions(exp<<(4*i), 1<<exp, checker.Guaranteed)
			}
			if checker.Guaranteed && !isWinning {
				return errors.New("the certificate has not all boards after the first two tiles")
			}
			if !checker.Guaranteed && isWinning && !won {
				return nil
			}
		}
	}
	if !checker.Guaranteed {
		return errors.New("the certificate has no board after the first two tiles")
	}
	return nil
}
