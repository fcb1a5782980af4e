// Package number writes numbers for people: with the digits that an interval
// justifies, fractions, percentages and durations. What programs read is
// package result's.
package number
