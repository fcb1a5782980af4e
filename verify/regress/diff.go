package regress

import (
	"bytes"
	"fmt"
	"strings"
)

// Diff returns the changes in the unified format, with three lines of context;
// empty if there are none.
func (f *BlessedFile) Diff() string {
	old, now := splitLines(f.Before), splitLines(f.After)
	ops := compareLines(old, now)
	var out strings.Builder
	for i := 0; i < len(ops); {
		if ops[i].kind == ' ' {
			i++
			continue
		}
		from, to := max(i-around, 0), i
		for last := i; to < len(ops) && to-last <= 2*around; to++ {
			if ops[to].kind != ' ' {
				last = to
			}
			i = last + 1
		}
		to = min(i+around, len(ops))
		if out.Len() == 0 {
			fmt.Fprintf(&out, "--- %s\n+++ %s\n", f.Name, f.Name)
		}
		hunk(&out, ops[from:to])
		i = to
	}
	return out.String()
}

// around is the number of lines of context.
const around = 3

// op is a line of a comparison: equal, deleted or inserted. Lines are counted from 1.
type op struct {
	kind     byte
	old, now int
	text     []byte
}

func splitLines(text []byte) [][]byte {
	var out [][]byte
	for line := range bytes.Lines(text) {
		out = append(out, line)
	}
	return out
}

// compareLines compares line by line, by the longest common subsequence.
func compareLines(old, now [][]byte) []op {
	var head []op
	i, j := 0, 0
	for ; i < len(old) && j < len(now) && bytes.Equal(old[i], now[j]); i, j = i+1, j+1 {
		head = append(head, op{' ', i + 1, j + 1, old[i]})
	}
	endOld, endNow := len(old), len(now)
	for endOld > i && endNow > j && bytes.Equal(old[endOld-1], now[endNow-1]) {
		endOld, endNow = endOld-1, endNow-1
	}
	head = append(head, middle(old[i:endOld], now[j:endNow], i, j)...)
	for k := range len(old) - endOld {
		head = append(head, op{' ', endOld + k + 1, endNow + k + 1, old[endOld+k]})
	}
	return head
}

// middle compares the lines between the equal ends.
func middle(old, now [][]byte, i0, j0 int) []op {
	common := make([][]int, len(old)+1) // length of the longest common subsequence of the ends
	for i := range common {
		common[i] = make([]int, len(now)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if bytes.Equal(old[i], now[j]) {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []op
	i, j := 0, 0
	for i < len(old) || j < len(now) {
		switch {
		case i < len(old) && j < len(now) && bytes.Equal(old[i], now[j]):
			out = append(out, op{' ', i0 + i + 1, j0 + j + 1, old[i]})
			i, j = i+1, j+1
		case j == len(now) || i < len(old) && common[i+1][j] >= common[i][j+1]:
			out = append(out, op{'-', i0 + i + 1, j0 + j, old[i]})
			i++
		default:
			out = append(out, op{'+', i0 + i, j0 + j + 1, now[j]})
			j++
		}
	}
	return out
}

// hunk prints one group of changes.
func hunk(out *strings.Builder, ops []op) {
	first := ops[0]
	oldStart, nowStart, oldCount, nowCount := first.old, first.now, 0, 0
	for _, o := range ops {
		if o.kind != '+' {
			oldCount++
		}
		if o.kind != '-' {
			nowCount++
		}
	}
	if first.kind == '+' && oldCount > 0 { // counted from the line before
		oldStart++
	}
	if first.kind == '-' && nowCount > 0 {
		nowStart++
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(oldStart, oldCount), span(nowStart, nowCount))
	for _, o := range ops {
		out.WriteByte(o.kind)
		out.Write(bytes.TrimSuffix(o.text, []byte("\n")))
		out.WriteByte('\n')
		if !bytes.HasSuffix(o.text, []byte("\n")) {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
}

func span(start, count int) string {
	if count == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, count)
}
