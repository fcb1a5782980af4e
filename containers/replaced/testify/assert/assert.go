// Package assert is empty: tests of other modules name it, which nobody runs here.
package assert
