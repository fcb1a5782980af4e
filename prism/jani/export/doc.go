// Package export writes programs of package sema as JANI models (jani-model,
// version 1), with properties.
//
// Each module becomes an automaton with one location, and each synchronisation of
// modules becomes a synchronisation vector. Labels and reward structures become transient
// variables. Several initial states become a restriction of variables without
// initial values. Constants and formulas are expanded, so the
// document is about one valuation of all constants but those that stay open. Numbers are written exactly, as fractions if needed.
//
// Package jani reads such a document as a model with the same states. The export refuses
// what JANI cannot express: the whole model if it has observables or
// intervals, otherwise the single property.
package export
