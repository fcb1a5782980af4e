// Package expect reads the `// RESULT:` annotations of PRISM's test mode
// and compares verdicts with them by PRISM's rules.
//
//	es := expect.Parse(src, property)       // in the comment above a property
//	e, err := expect.Select(es, rules)      // the first whose conditions hold
//	fmt.Println(e.Judge(verdict, rules))    // PASS, FAIL: …, NOT TESTED, UNSUPPORTED: …
//
// The package runs no engines. The rules are
// those of PRISM 4.10 (ResultTesting.java, Property.java). The only
// deviation that a caller can ask for is [Rules.Relative].
package expect
