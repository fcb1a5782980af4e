package table

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// writeCSV writes records to w as CSV. A spreadsheet would execute a cell that looks like a formula: such a cell gets an apostrophe in front, which
// the spreadsheet hides. Numbers are not changed. A byte that is not UTF-8 becomes U+FFFD, as in JSON.
//
// Source: OWASP, "CSV Injection".
func writeCSV(w io.Writer, records [][]string) error {
	for _, record := range records {
		for i, cell := range record {
			if !utf8.ValidString(cell) {
				cell = string([]rune(cell))
			}
			if isFormula(cell) {
				cell = "'" + cell
			}
			record[i] = cell
		}
	}
	return csv.NewWriter(w).WriteAll(records)
}

// isFormula reports whether a cell is a text that a spreadsheet evaluates. One
// that was quoted already counts, so that who removes an apostrophe gets back
// what there was.
func isFormula(cell string) bool {
	rest := strings.TrimLeft(cell, "'")
	if rest == "" || !strings.ContainsAny(firstRune(rest), "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20") {
		return false
	}
	return !isNumber(cell)
}

// isNumber reports whether a cell is a decimal number or a fraction.
func isNumber(cell string) bool {
	numerator, denominator, fraction := strings.Cut(cell, "/")
	_, err := strconv.ParseFloat(numerator, 64)
	return err == nil && (!fraction || denominator != "" && strings.Trim(denominator, "0123456789") == "")
}

// firstRune returns the first character of a text.
func firstRune(text string) string {
	for i := range text {
		if i > 0 {
			return text[:i]
		}
	}
	return text
}
