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
	kind                    byte // ' ' for a line of both texts, '-' for a deleted line, '+' for an inserted line
	oldNumber, editedNumber int  // the line number in each text, from 1; a text without the line has the number of the previous line
	text                    []byte
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
func compareLines(oldLines, editedLines [][]byte) []lineChange {
	var changes []lineChange
	start := 0
	for start < len(oldLines) && start < len(editedLines) && bytes.Equal(oldLines[start], editedLines[start]) {
		changes = append(changes, lineChange{' ', start + 1, start + 1, oldLines[start]})
		start++
	}
	oldEnd, editedEnd := len(oldLines), len(editedLines)
	for oldEnd > start && editedEnd > start && bytes.Equal(oldLines[oldEnd-1], editedLines[editedEnd-1]) {
		oldEnd--
		editedEnd--
	}
	changes = append(changes, compareMiddle(oldLines[start:oldEnd], editedLines[start:editedEnd], start)...)
	for i, line := range oldLines[oldEnd:] {
		changes = append(changes, lineChange{' ', oldEnd + i + 1, editedEnd + i + 1, line})
	}
	return changes
}

// compareMiddle compares two lists of lines by their longest common subsequence. offset is the number of equal lines before these lists in both
// texts.
func compareMiddle(oldLines, editedLines [][]byte, offset int) []lineChange {
	commonLengths := commonSuffixes(oldLines, editedLines)
	var changes []lineChange
	oldIndex, editedIndex := 0, 0
	for oldIndex < len(oldLines) || editedIndex < len(editedLines) {
		hasOld, hasEdited := oldIndex < len(oldLines), editedIndex < len(editedLines)
		switch {
		case hasOld && hasEdited && bytes.Equal(oldLines[oldIndex], editedLines[editedIndex]):
			changes = append(changes, lineChange{' ', offset + oldIndex + 1, offset + editedIndex + 1, oldLines[oldIndex]})
			oldIndex, editedIndex = oldIndex+1, editedIndex+1
		case !hasEdited || hasOld && commonLengths[oldIndex+1][editedIndex] >= commonLengths[oldIndex][editedIndex+1]: // without this old line, at least as many lines are common
			changes = append(changes, lineChange{'-', offset + oldIndex + 1, offset + editedIndex, oldLines[oldIndex]})
			oldIndex++
		default:
			changes = append(changes, lineChange{'+', offset + oldIndex, offset + editedIndex + 1, editedLines[editedIndex]})
			editedIndex++
		}
	}
	return changes
}

// commonSuffixes returns, for all i and j, the length of the longest common subsequence of oldLines[i:] and editedLines[j:].
func commonSuffixes(oldLines, editedLines [][]byte) [][]int {
	lengths := make([][]int, len(oldLines)+1)
	for i := range lengths {
		lengths[i] = make([]int, len(editedLines)+1)
	}
	for i, oldLine := range slices.Backward(oldLines) {
		for j, editedLine := range slices.Backward(editedLines) {
			if bytes.Equal(oldLine, editedLine) {
				lengths[i][j] = lengths[i+1][j+1] + 1
			} else {
				lengths[i][j] = max(lengths[i+1][j], lengths[i][j+1])
			}
		}
	}
	return lengths
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
	oldStart, editedStart := first.oldNumber, first.editedNumber
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
