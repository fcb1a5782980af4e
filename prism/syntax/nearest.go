package syntax

import "iter"

// Nearest returns the first of the declared names that is most similar to an undeclared one; "" if
// all differ in more than two letters.
func Nearest(name string, declared iter.Seq[string]) string {
	best, least := "", 3
	for other := range declared {
		if len(other) > len(name)+2 || len(name) > len(other)+2 {
			continue
		}
		if n := distance(name, other); n < least && n < len(name) {
			best, least = other, n
		}
	}
	return best
}

// distance returns the number of letters to insert, remove, replace or exchange with their
// neighbour to turn a into b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			changed := 1
			if a[i] == b[j] {
				changed = 0
			}
			row[j+1] = min(row[j]+1, last[j+1]+1, last[j]+changed)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
