// Package bench has the records of measured runs: reading and writing them as JSON lines, tables, and the page that shows them.
// Package verify/bench makes the records.
package bench
