// Package sema resolves PRISM models and properties: formulas, module
// renaming, names, constants, types. It turns the tree of package syntax into
// an immutable [Program] with numbered variables, actions and labels.
//
// It is not an engine: a Program says what every command means, not which
// states are reachable, and a model that no engine can run (timed automata,
// partial observability, intervals) is resolved like any other.
//
// A reader needs four calls. [CheckModel] does what PRISM does when it has
// parsed a model file, with the same errors at the same places.
// [Model.CheckProperties] does the same for a properties file.
// [Model.Instantiate] gives the constants values and returns the Program;
// [Properties.Instantiate] returns properties over it. Constants from the
// command line, with ranges, are parsed by [ParseConsts] and enumerated by an
// [Experiment].
//
// [Eval] is the reference evaluator of expressions over one state, with the
// arithmetic of PRISM's explicit engine; [EvalExact] is the same in rational
// arithmetic as far as that goes.
//
// Errors in a file are a [syntax.ErrorList] whose first entry is where and why
// PRISM 4.10 refuses the file; the others follow in the order in which PRISM
// would meet them. Where we are stricter or more lenient than PRISM on purpose
// is listed, with reasons, in differences_test.go.
package sema
