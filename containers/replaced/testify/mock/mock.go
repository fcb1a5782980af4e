// Package mock is empty: tests of other modules name it, which nobody runs here.
package mock
