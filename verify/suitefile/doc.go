// Package suitefile reads tilecheck.yaml, the file that defines the tests of a
// directory: models, properties, engines, and expectations
// beyond the RESULT annotations (docs/test.md).
//
// A suite file may come with an untrusted pull request. So reading one takes bounded time and
// memory, and every error has a place. The package
// runs no tests; it lists them for package verify/regress.
package suitefile
