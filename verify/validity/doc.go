// Package validity checks a model independently of the engines: in every
// reachable state, updates must stay in the range of their variables, and probabilities
// must be nonnegative numbers with sum one. Tools accept models that violate
// this; Storm ignores a sum below one.
//
//	checker := validity.New()
//	engine = checker.Beside(engine)
//
// A Checker remembers its results, so that a model for several
// engines is checked once. It checks no property.
package validity
