// Package require has the checks that the helpers of testcontainers-go make in tests. See
// README.md two folders above.
package require

import "reflect"

// TestingT is a test.
type TestingT interface {
	Errorf(format string, args ...any)
	FailNow()
}

// NoError ends the test if there is an error.
func NoError(t TestingT, err error, msg ...any) { NoErrorf(t, err, "%v", msg) }

// NoErrorf ends the test with a message if there is an error.
func NoErrorf(t TestingT, err error, format string, args ...any) {
	if err != nil {
		t.Errorf("unexpected error: %v", err)
		t.Errorf(format, args...)
		t.FailNow()
	}
}

// Zero ends the test if x is not the zero value of its type.
func Zero(t TestingT, x any, msg ...any) {
	if x != nil && !reflect.ValueOf(x).IsZero() {
		t.Errorf("found %v, want the zero value: %v", x, msg)
		t.FailNow()
	}
}
