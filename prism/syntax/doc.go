// Package syntax reads and writes the PRISM language: model files and
// properties files, as PRISM 4.10 understands them.
//
// [ParseModel], [ParseProperties], [ParseProperty] and [ParseExpr] turn text
// into a tree whose nodes know where they stand; an error is an [ErrorList]
// with the first entry where PRISM itself reports its syntax error. [Fprint]
// turns a tree into text again, for PRISM or in the dialect of Storm, and
// [ExprString] into the form in which PRISM echoes properties. In between,
// [Walk] and [Inspect] visit a tree, [Rewrite] and [Clone] copy it, and [Equal]
// compares two. Trees are not modified in place, by this package or others.
//
// The grammar is all that is checked here. Names, types, repeated declarations
// and constants are the business of package sema, which accepts what this
// package parses or says why PRISM would not. Whatever two tools read
// differently is settled when a tree is printed.
//
// Two things differ from PRISM on purpose: a tab counts as one column, and
// after the first error the parser goes on to find more of them.
package syntax
