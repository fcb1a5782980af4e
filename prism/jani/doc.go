// Package jani reads models and properties of jani-model, version 1
// (jani-spec.org), into the tree of package syntax: what a model checker of
// PRISM's language makes of the tree is what the JANI model means.
//
// [Read] is the whole of it. It reads JSON with positions, checks the form of
// the document, and translates: locations become variables, every
// synchronisation vector an action of its own, sequential assignments what they
// come to, functions and arrays of known length what they stand for, rewards on
// edges rewards of actions. Automata whose common writing PRISM's modules do
// not allow are merged into one module, unless that would be too large. Types and values are the business of
// package sema, whose diagnostics have the places in the JSON text.
//
// Models of type dtmc, mdp, ctmc, lts, ma and pta are read. What has continuous
// variables is refused by name, and so are non-transient real variables and arrays
// whose length is not known. A property that PRISM's
// language has no form for is refused alone, and costs the others nothing.
//
// It does not write JANI, and it does not look at values of constants.
package jani
