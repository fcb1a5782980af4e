// Package lint finds likely mistakes in a model that are not errors, and handles comments that
// silence findings.
//
// [Texts] uses only the texts and the values of constants; package lint/states finds mistakes that
// show in the reachable states. A finding about all states is only made if all states are known.
package lint
