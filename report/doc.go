// Package report prints answers: verdicts, comparisons and runs of tests, by
// way of package table, and comparisons as plots. It computes no answers and
// decides nothing about them, and imports no engine.
//
//	report.Verdicts(os.Stdout, format, verdicts, table.Options{Width: 100})
//	comparison.Write(os.Stdout, format, opt)
//	chart, err := comparison.Chart() // for package plot
//
// # Numbers
//
// People get the digits that the interval justifies: up to the place of the
// second significant digit of its half-width, six significant digits where
// there is no interval, eight at most. The ends of intervals are rounded
// outwards, so a printed interval always contains the one that was proven or
// estimated. "0.444 +/- 0.041" is the tool's own nominal half-width, rounded to
// nearest. An exact value is the fraction, if short, and its decimal
// expansion, with "~" before it when that is rounded. Machines get every digit:
// a number in JSON and CSV reads back as the same float64.
//
// # JSON and CSV
//
// A command prints one object, {"tilecheck", "command", "summary", "results",
// "notes"}: docs/json.md is the contract, and package report/schema has a schema
// of every command. What does not apply to a result is absent, never null, empty
// or zero. JSON has no NaN and no infinities: they are the strings "NaN",
// "Infinity" and "-Infinity".
//
// CSV has the fields of results as columns, all of them whether used or not,
// nested ones joined as in error_class. Constants are "N=3,p=0.5" and warnings are
// joined by "; ".
package report
