// Package syntax reads and writes the PRISM language: model files and
// properties files, as PRISM 4.10 understands them.
//
// [ParseModel], [ParseProperties], [ParseProperty] and [ParseExpr] turn text
// into a tree whose nodes have positions. An error is an [ErrorList], whose first entry is at the
// position where PRISM itself reports its syntax error. [Fprint]
// turns a tree into text again, for PRISM or in the dialect of Storm. [ExprString] returns a property
// in the form in which PRISM echoes it. [Walk] and [Inspect] visit a tree, [Rewrite] and [Clone] copy
// it, and [Equal] compares two trees. Neither this package nor others modify a tree in place.
//
// This package checks the grammar only. Package sema checks names, types, repeated declarations and
// constants, as PRISM does. Where Storm reads a text differently, [Fprint] writes one with the same
// meaning.
//
// Two things differ from PRISM on purpose: a tab counts as one column, and
// the parser continues after the first error to find more of them.
package syntax
