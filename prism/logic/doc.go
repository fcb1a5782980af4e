// Package logic classifies the operators of a property, for all engines alike.
//
// [Of] classifies one operator: its kind, its threshold, and its path formula or reward objective in a
// normal form. Operands remain expressions, which the caller passes to [Of] in turn, because they may be
// shared parts of a graph. [Read] does the same for the text of a property, before names are resolved.
//
// An engine reports an operator that it does not support with the description that [Describe] returns.
package logic
