// Package expect reads the `// RESULT:` annotations that PRISM's test mode
// knows, and judges verdicts by them as PRISM does.
//
//	es := expect.Parse(src, property)       // in the comment above a property
//	e, err := expect.Select(es, rules)      // the first that fits the constants
//	fmt.Println(e.Judge(verdict, rules))    // PASS, FAIL: …, NOT TESTED, UNSUPPORTED: …
//
// It runs nothing, and does not know where verdicts come from. The rules are
// those of PRISM 4.10 (ResultTesting.java, Property.java); the one thing it can
// do differently is [Rules.Relative].
package expect
