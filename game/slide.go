package game

// Slide moves a line of tile values (0 is an empty cell) towards its start and returns the line after the move, of the same length,
// and the score: the sum of the values of the merged tiles. Equal neighbours merge, the pair nearest the start first, and a merged
// tile does not merge again. line is not modified.
//
// It is written to be obviously right, not fast; any length and any value will do, and nothing overflows at 32768.
//
// Source: thesis section 3.1, figures 3.1 to 3.4.
func Slide(line []int) (slid []int, score int) {
	var tiles []int
	for _, value := range line {
		if value != 0 {
			tiles = append(tiles, value)
		}
	}
	for len(tiles) > 0 {
		if len(tiles) > 1 && tiles[0] == tiles[1] {
			slid = append(slid, 2*tiles[0])
			score += 2 * tiles[0]
			tiles = tiles[2:]
		} else {
			slid = append(slid, tiles[0])
			tiles = tiles[1:]
		}
	}
	for len(slid) < len(line) {
		slid = append(slid, 0)
	}
	return slid, score
}

// SlidePublished is Slide with two faults in lines of four cells, of which the thesis's Table 3.6 comes:
//
//	A  three tiles, the last cell empty, no merge: the third tile vanishes
//	B  four tiles, the first two merge, the last two differ: the last tile is doubled, which scores nothing
//
// Source: B is Table 3.5, cell 2, as printed; A is inferred. docs/thesis.md says what speaks for and against them.
func SlidePublished(line []int) (slid []int, score int) {
	slid, score = Slide(line)
	if len(line) != 4 {
		return slid, score
	}
	switch a, b, c, d := line[0], line[1], line[2], line[3]; {
	case a != 0 && b != 0 && c != 0 && d == 0 && score == 0:
		slid[2] = 0
	case a != 0 && a == b && c != 0 && d != 0 && c != d:
		slid[2] = 2 * d
	}
	return slid, score
}
