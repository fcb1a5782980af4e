package parse_test

import (
	"fmt"
	"io"

	"tilecheck/parse"
)

func Example() {
	p := parse.NewPRISM(parse.Options{})
	_, _ = io.WriteString(p, `PRISM
=====

Version: 4.10.2-dev

Parsing PRISM model file "die.pm"...

Type:        DTMC

2 properties:
(1) "six": P=? [ F d=6 ]
(2) "far": P=? [ F<=k d=6 ]

---------------------------------------------------------------------

Model checking: "six": P=? [ F d=6 ]

Result: 0.16666650772094727 (+/- 1.6E-6 estimated; rel err 9.5E-6)

---------------------------------------------------------------------

Model checking: "far": P=? [ F<=k d=6 ]

Result: 0.1`)
	log := p.Finish(parse.End{Known: true, Code: 137})
	for _, v := range log.Verdicts() {
		fmt.Println(v.Name, v.Value.Num, v.Accuracy, v.Err != nil)
	}
	fmt.Println(log.Err.Class)
	// Output:
	// six 0.16666650772094727 estimated false
	// far 0 unknown true
	// killed
}
