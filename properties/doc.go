// Package properties is the catalogue of properties that make sense for the models of package modelgen: what to ask, what the answer
// means, and what it is known to be on small boards.
//
//	p, ok := properties.Find("loss")
//	fmt.Println(p.Text) // Pmin=? [ F "fail" ]
//	want, ok := p.Expect(properties.Instance{Rows: 2, Cols: 2, Max: 16, Spawn: "uniform", Policy: "none"})
//
// It is data. It parses nothing and checks nothing, and it knows the models by the names of their configurations only.
package properties
