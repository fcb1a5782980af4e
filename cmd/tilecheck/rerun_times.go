package main

import (
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// speeds matches a speed in a table, and its fields in JSON.
var speeds = regexp.MustCompile(`moves per second(",[^}]*|.*)`)

// times matches the texts that differ between runs with the same answers: durations in tables, and times in JSON.
var times = regexp.MustCompile(`(\\?<|&lt;)?\d+(\.\d+)?(ns|µs|ms|s|m|h)(\d+(\.\d+)?(ms|s|m))*\b|\btime(stamp)?="[^"]*"|` +
	`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC|` +
	`"([a-z_]*seconds|elapsed|run|started|created|version)": ?("[^"]*"|[-+0-9.e]+)|^\s*seconds\s+[-+0-9.e]+`)

// timeColumn matches the name of a column whose cells are numbers of seconds, or speeds. Markdown escapes the underscore.
var timeColumn = regexp.MustCompile(`^([a-z]+\\?_)*seconds$|^moves/s$`)

// columnRule matches the line between the header and the rows of a text table.
var columnRule = regexp.MustCompile(`^[-─]+( +[-─]+)*$`)

// withoutTimes returns the lines of an output with each time replaced by a fixed word. It also removes repeated blanks and dashes, because the
// widths of table columns depend on the times.
func withoutTimes(text []byte) []string {
	withoutSpeeds := speeds.ReplaceAllString(string(text), "SPEED")
	rows, isCSV := csvWithoutTimes(withoutSpeeds)
	if !isCSV {
		rows = rowsWithoutTimes(strings.Split(withoutSpeeds, "\n"))
	}
	var lines []string
	for _, line := range rows {
		line = times.ReplaceAllString(line, "TIME")
		words := strings.Fields(strings.ReplaceAll(line, "--", ""))
		if joined := strings.Trim(strings.Join(words, " "), "- "); joined != "" {
			lines = append(lines, joined)
		}
	}
	return lines
}

// csvWithoutTimes replaces the cells of the time columns in CSV. isCSV is false if the text is not CSV with several columns, one of them a time
// column.
func csvWithoutTimes(text string) (rows []string, isCSV bool) {
	header, _, _ := strings.Cut(text, "\n")
	names := strings.Split(header, ",")
	if len(names) < 2 || !slices.ContainsFunc(names, timeColumn.MatchString) {
		return nil, false
	}
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, false
	}
	rows = append(rows, header)
	for _, record := range records[1:] {
		for column, name := range records[0] {
			if timeColumn.MatchString(name) {
				record[column] = "TIME"
			}
		}
		rows = append(rows, strings.Join(record, ","))
	}
	return rows, true
}

// rowsWithoutTimes replaces the cells of the time columns in the tables of a text, which may be Markdown.
func rowsWithoutTimes(lines []string) []string {
	for lineIndex, header := range lines[:len(lines)-1] {
		rows := lines[lineIndex+2:]
		if end := slices.Index(rows, ""); end >= 0 {
			rows = rows[:end]
		}
		switch rule := strings.TrimRight(lines[lineIndex+1], " "); {
		case strings.HasPrefix(rule, "| :-") || strings.HasPrefix(rule, "| -"):
			replacePipedTimes(header, rows)
		case columnRule.MatchString(rule):
			replaceAlignedTimes(header, rule, rows)
		}
	}
	return lines
}

// replacePipedTimes replaces the cells below a time column, and to the right of its name, in the rows of a Markdown table.
func replacePipedTimes(header string, rows []string) {
	names := pipedCells(header)
	for rowIndex, row := range rows {
		cells := pipedCells(row)
		for column := range cells {
			isBelow := column < len(names) && timeColumn.MatchString(names[column])
			if isBelow || column > 0 && timeColumn.MatchString(cells[column-1]) {
				cells[column] = "TIME"
			}
		}
		rows[rowIndex] = strings.Join(cells, " | ")
	}
}

// pipedCells returns the cells in a row of a Markdown table, without blanks around them.
func pipedCells(row string) []string {
	const escapedPipe = "\x00"
	cells := strings.Split(strings.ReplaceAll(row, `\|`, escapedPipe), "|")
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(cell), escapedPipe, `\|`)
	}
	return cells
}

// dashes matches the dashes of one column in the rule of a text table.
var dashes = regexp.MustCompile(`-+`)

// replaceAlignedTimes replaces the cells below a time column in the rows of a text table. rule is the line of dashes below the header; its dashes show where
// each column begins and ends.
func replaceAlignedTimes(header, rule string, rows []string) {
	for _, columnSpan := range dashes.FindAllStringIndex(strings.ReplaceAll(rule, "─", "-"), -1) {
		start, end := columnSpan[0], columnSpan[1]
		if !timeColumn.MatchString(strings.TrimSpace(charactersOf(header, start, end))) {
			continue
		}
		for rowIndex, row := range rows {
			if cell := strings.TrimSpace(charactersOf(row, start, end)); cell != "" {
				rows[rowIndex] = charactersOf(row, 0, start) + fmt.Sprintf("%-*s", end-start, "TIME") + charactersOf(row, end, len(row))
			}
		}
	}
}

// charactersOf returns the characters of a row from start to end, as far as the row has them.
func charactersOf(row string, start, end int) string {
	runes := []rune(row)
	return string(runes[min(start, len(runes)):min(end, len(runes))])
}
