// Package lint finds likely mistakes in a model that are not errors, and handles comments that
// silence findings.
//
// [Texts] needs only the texts and the values of constants. Package lint/states explores the reachable
// states; it makes a finding about all states only if it has visited all of them.
package lint
