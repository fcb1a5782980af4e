// Package logic says what a checked property asks. It takes the operators of package sema apart once, for every engine.
//
// [Of] classifies one operator of a property: its kind, its threshold, and its path formula or reward objective in a
// normal form. Operands stay expressions, which the reader passes to [Of] in turn: an expression is a graph, and its parts
// may be shared. [Read] does the same for the text of a property, before names are resolved.
//
// An engine evaluates, proves, samples or prints what it finds, and refuses the rest by the name that [Describe] gives.
package logic
