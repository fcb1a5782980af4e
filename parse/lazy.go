package parse

import (
	"regexp"
	"sync"
)

// lazyRegexp returns a function that returns the regular expression of a text. The expression is compiled at the first call, so a program that reads no log
// does not compile it at its start.
func lazyRegexp(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
