package game

// Slide moves a line of tile values (0 is an empty cell) towards its start and returns the line after the move, of the same length,
// and the score: the sum of the values of the merged tiles. Equal neighbours merge, the pair nearest the start first, and a merged
// tile does not merge again. line is not modified.
//
// It is written to be obviously right, not fast; any length and any value will do, and nothing overflows at 32768.
//
// Source: thesis section 3.1, figures 3.1 to 3.4.
func Slide(line []int) (out []int, score int) {
	var tiles []int
	for _, v := range line {
		if v != 0 {
			tiles = append(tiles, v)
		}
	}
	for len(tiles) > 0 {
		if len(tiles) > 1 && tiles[0] == tiles[1] {
			out = append(out, 2*tiles[0])
			score += 2 * tiles[0]
			tiles = tiles[2:]
		} else {
			out = append(out, tiles[0])
			tiles = tiles[1:]
		}
	}
	for len(out) < len(line) {
		out = append(out, 0)
	}
	return out, score
}
