// Package lint finds what is no error in a model and yet likely a mistake, and knows which
// findings a comment silences.
//
// [Texts] looks at the texts and at what follows from the values of constants alone; what
// holds in the reachable states is found by package lint/states. A finding that says
// something of all states is never made from some of them.
package lint
