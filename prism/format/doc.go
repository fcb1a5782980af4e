// Package format lays out model and property files as package syntax prints trees, and
// keeps what a tree does not have: where lines are broken and comments stand.
//
// [Source] changes white space and nothing else. Every declaration, command and
// property begins a line, indented by what it is in; blanks between tokens are
// those of [syntax.Fprint]; line ends within a statement stay where they are, and
// so do blank lines, no more than one; comments behind statements in
// consecutive lines are aligned. A command in one line that is too long is
// broken as Fprint does it.
//
// It is no pretty-printer of trees that were built: that is Fprint, whose
// output it leaves as it is.
package format
