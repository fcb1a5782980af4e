// Package export writes programs of package sema as JANI models (jani-model,
// version 1), with properties.
//
// Each module becomes an automaton with one location, each way of modules to
// move together a synchronisation vector, labels and reward structures transient
// variables, and several initial states a restriction of variables without
// initial values. What constants and formulas stand for is written out: the
// document is of one valuation. Numbers are written as the fractions they are.
//
// Package jani reads what is written here as a model with the same states. What
// JANI has no form for is refused: the whole model for clocks, observables and
// intervals, else the one property.
package export
