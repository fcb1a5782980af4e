// Package result is the vocabulary of answers: a [Verdict] is what one engine
// says about one property, how accurate that is, and what it does not say.
// It computes nothing; engines fill verdicts and package report prints them.
package result
