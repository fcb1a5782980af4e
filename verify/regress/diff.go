package regress

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Diff returns the changes of the file in the unified format, with three lines of context; empty if there are no changes.
func (f *BlessedFile) Diff() string {
	changes := compareLines(splitLines(f.Before), splitLines(f.After))
	var diff strings.Builder
	for i := 0; i < len(changes); i++ {
		if changes[i].kind == ' ' {
			continue
		}
		if diff.Len() == 0 {
			fmt.Fprintf(&diff, "--- %s\n+++ %s\n", f.Name, f.Name)
		}
		last := lastOfHunk(changes, i)
		end := min(last+1+contextLines, len(changes))
		writeHunk(&diff, changes[max(i-contextLines, 0):end])
		i = end - 1
	}
	return diff.String()
}

// lastOfHunk returns the index of the last changed line in a hunk, a group of changed lines. first is the index of its first changed line. Two
// changed lines are in one hunk if their context lines touch or overlap.
func lastOfHunk(changes []lineChange, first int) int {
	last := first
	for i := first; i < len(changes) && i-last <= 2*contextLines; i++ {
		if changes[i].kind != ' ' {
			last = i
		}
	}
	return last
}

// contextLines is the number of lines of context.
const contextLines = 3

// lineChange is a line of a comparison.
type lineChange struct {
	kind        byte // ' ' for a line of both texts, '-' for a deleted line, '+' for an inserted line
	old, edited int  // the line number in each text, from 1; a text without the line has the number of the previous line
	text        []byte
}

// splitLines returns the lines of a text with their line endings.
func splitLines(text []byte) [][]byte {
	var lines [][]byte
	for line := range bytes.Lines(text) {
		lines = append(lines, line)
	}
	return lines
}

// compareLines compares two texts line by line, by their longest common subsequence. The search takes quadratic time, so it excludes the equal
// lines at the start and at the end.
func compareLines(old, edited [][]byte) []lineChange {
	var changes []lineChange
	start := 0
	for start < len(old) && start < len(edited) && bytes.Equal(old[start], edited[start]) {
		changes = append(changes, lineChange{' ', start + 1, start + 1, old[start]})
		start++
	}
	endOld, endEdited := len(old), len(edited)
	for endOld > start && endEdited > start && bytes.Equal(old[endOld-1], edited[endEdited-1]) {
		endOld--
		endEdited--
	}
	changes = append(changes, compareMiddle(old[start:endOld], edited[start:endEdited], start)...)
	for i, line := range old[endOld:] {
		changes = append(changes, lineChange{' ', endOld + i + 1, endEdited + i + 1, line})
	}
	return changes
}

// compareMiddle compares two lists of lines by their longest common subsequence. offset is the number of lines before these lists in both texts.
func compareMiddle(old, edited [][]byte, offset int) []lineChange {
	common := commonLengths(old, edited)
	var changes []lineChange
	i, j := 0, 0
	for i < len(old) || j < len(edited) {
		switch {
		case i < len(old) && j < len(edited) && bytes.Equal(old[i], edited[j]):
			changes = append(changes, lineChange{' ', offset + i + 1, offset + j + 1, old[i]})
			i, j = i+1, j+1
		case j == len(edited) || i < len(old) && common[i+1][j] >= common[i][j+1]:
			changes = append(changes, lineChange{'-', offset + i + 1, offset + j, old[i]})
			i++
		default:
			changes = append(changes, lineChange{'+', offset + i, offset + j + 1, edited[j]})
			j++
		}
	}
	return changes
}

// commonLengths returns for all i and j the length of the longest common subsequence of old[i:] and edited[j:].
func commonLengths(old, edited [][]byte) [][]int {
	common := make([][]int, len(old)+1)
	for i := range common {
		common[i] = make([]int, len(edited)+1)
	}
	for i, oldLine := range slices.Backward(old) {
		for j, editedLine := range slices.Backward(edited) {
			if bytes.Equal(oldLine, editedLine) {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	return common
}

// hunkHeader returns the first line of a hunk, such as "@@ -3,7 +3,8 @@": the first line and the number of lines in the old and in the edited
// text.
func hunkHeader(changes []lineChange) string {
	oldCount, editedCount := 0, 0
	for _, change := range changes {
		if change.kind != '+' {
			oldCount++
		}
		if change.kind != '-' {
			editedCount++
		}
	}
	// A deleted or inserted line has, for the text without it, the number of the previous line.
	first := changes[0]
	oldStart, editedStart := first.old, first.edited
	if first.kind == '+' && oldCount > 0 {
		oldStart++
	}
	if first.kind == '-' && editedCount > 0 {
		editedStart++
	}
	return fmt.Sprintf("@@ -%s +%s @@\n", hunkRange(oldStart, oldCount), hunkRange(editedStart, editedCount))
}

// writeHunk writes a group of changed lines with its context in the unified format.
func writeHunk(out *strings.Builder, changes []lineChange) {
	out.WriteString(hunkHeader(changes))
	for _, change := range changes {
		line, endsWithNewline := bytes.CutSuffix(change.text, []byte("\n"))
		fmt.Fprintf(out, "%c%s\n", change.kind, line)
		if !endsWithNewline {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
}

// hunkRange returns the range of lines in a hunk header: start,count, or start alone if the count is 1.
func hunkRange(start, count int) string {
	if count == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, count)
}
