// Package result has the answers of engines: a [Verdict] has the value of one property, its accuracy and warnings. It computes nothing;
// engines fill verdicts in, and package report prints them.
package result
