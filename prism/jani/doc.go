// Package jani reads models and properties in jani-model, version 1 (jani-spec.org), and
// translates them to the syntax tree of PRISM's language. The meaning of the tree is that of the
// JANI model.
//
// [Read] does everything: it parses JSON with positions, checks the structure of the document, and
// translates. Locations become variables, and every synchronisation vector becomes an action.
// Sequential assignments, functions and arrays of known length are expanded; rewards on edges
// become rewards of actions. Automata with common writes that PRISM's modules do not allow are
// merged into one module, unless that would be too large. Package sema checks types and values;
// its errors have positions in the JSON text.
//
// Models of type dtmc, mdp, ctmc, lts, ma and pta are supported, and sta (stochastic timed
// automata) that draw numbers from finite distributions only. Continuous variables,
// non-transient real variables, and arrays of unknown length are rejected by name. A property that
// PRISM's language cannot express is rejected alone.
//
// Package export writes JANI.
package jani
