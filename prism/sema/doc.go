// Package sema resolves PRISM models and properties: formulas, module
// renaming, names, constants, types. It turns the tree of package syntax into
// an immutable [Program] with numbered variables, actions and labels.
//
// This package does not explore state spaces. It resolves models of every type, including timed
// automata, partially observable models and interval models.
//
// A caller needs four functions. [CheckModel] makes the checks that PRISM makes after it has
// parsed a model file, with the same errors at the same positions.
// [Model.CheckProperties] does the same for a properties file.
// [Model.Instantiate] gives the constants values and returns the Program;
// [Properties.Instantiate] returns properties over it. Constants from the
// command line, with ranges, are parsed by [ParseConsts] and enumerated by an
// [Experiment].
//
// [Eval] is the reference evaluator of expressions over one state, with the
// arithmetic of PRISM's explicit engine. [EvalExact] uses rational arithmetic where possible.
//
// Errors in a file are a [syntax.ErrorList]. Its first entry is the error that
// PRISM 4.10 reports; the others follow in the order in which PRISM
// would find them. The file differences_test.go lists, with reasons, where this package is
// stricter or more lenient than PRISM on purpose.
package sema
