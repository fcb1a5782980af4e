// Package suitefile reads tilecheck.yaml, the file that says what to test in a
// directory: which models and properties, on which engines, and what to expect of
// them beyond their RESULT annotations (docs/test.md).
//
// A suite file comes with a pull request, so reading one takes bounded time and
// memory whatever is in it, and every mistake is told with its place. The package
// runs nothing; it lists tests for package verify/regress.
package suitefile
