// Package validity checks a model before any engine is believed: that in every
// reachable state no update leaves the range of its variable, and probabilities
// are numbers, not negative, and sum to one. Tools accept models that are wrong
// in this sense; Storm even drops what is missing of a sum.
//
//	checker := validity.New()
//	engine = checker.Beside(engine)
//
// A Checker remembers what it found, so that a model that goes to several
// engines is checked once. It checks no property.
package validity
